//! What the operators and the protocols mean, one file per family, as methods of [`crate::vm::Vm`].
//!
//! Each asks, in this order: the built-in types, the hooks of host objects, the dunder methods of
//! classes that scripts wrote.

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

/// On which side of a binary operation an operand stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}
