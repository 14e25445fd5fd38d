//! The semantics of operators and protocols, one file per family, as methods of [`crate::vm::Vm`].
//!
//! Each tries, in this order: the built-in types, the hooks of host objects, the dunder methods of script
//! classes.

mod attribute;
mod binary;
mod class;
mod compare;
mod hash;
mod item;
mod iterate;
pub(crate) mod long;
mod mapping;
pub mod number;
pub(crate) mod order;
mod repr;

pub(crate) use attribute::is_data_descriptor;
pub(crate) use iterate::step_of;

/// The side of a binary operation that an operand is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}
