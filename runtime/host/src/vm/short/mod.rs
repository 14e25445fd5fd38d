//! The fast paths of instructions, inlined into the loop: names, cached attributes, items, loops. Those of
//! numbers are in the loop itself.
//!
//! Each returns whether it executed the instruction. Otherwise nothing has happened, and the step with the
//! same name executes the whole instruction. Instructions are passed by reference: passed by value, they
//! would be packed and unpacked at each step of the loop.

mod attributes;
mod items;
mod iterate;
mod names;

pub(super) use attributes::{load_attr, load_method};
pub(super) use items::{append, list_to_tuple, load_item};
pub(super) use iterate::next_item;
pub(super) use names::{load_cell, load_free, load_global, store_cell, store_free, store_global};
