//! The short ways of instructions, inlined into the loop: names, cached attributes, items, loops. Those of numbers are
//! in the loop itself.
//!
//! Each gives whether there was a short way and it was gone; otherwise nothing has happened, and the step of the
//! same name does the whole instruction. Instructions are taken by reference: taken by value, they would be put
//! together and apart again at each step of the loop.

mod attributes;
mod items;
mod iterate;
mod names;

pub(super) use attributes::{load_attr, load_method};
pub(super) use items::{append, list_to_tuple, load_item};
pub(super) use iterate::next_item;
pub(super) use names::{load_cell, load_free, load_global, store_cell, store_free, store_global};
