//! Variables and memory: what names refer to, and how elements and parts are read and assigned.
//!
//! In: names, subscripts, members and assignment targets. Out: bindings of variables (`vars.rs`), and loads and stores of
//! places. A place is a list, an element of an array or workgroup memory, or a part of one.

pub(super) mod access_paths;
pub(super) mod assign;
pub(super) mod assignments;
pub(super) mod gather_scatter;
pub(super) mod index;
pub(super) mod lists;
pub(super) mod selected_arrays;
pub(super) mod shape;
pub(super) mod shared;
pub(super) mod targets;
pub(super) mod vars;
pub(super) mod views;
