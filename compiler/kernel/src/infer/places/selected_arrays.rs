//! Names for one of several arrays, selected at run time: `src, dst = dst, src` in a loop, `t = a if c else b`.
//!
//! Vulkan shaders cannot select between pointers without optional features. So such a name is a number, the id
//! of the array, and phis carry it like any number. Reading the name yields a choice of the function
//! (`BufferId::Choice`), which inference treats like a parameter. `passes/legalise/selected_arrays.rs` turns its accesses
//! into branches over the arrays.

mod inference;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::vars::{Binding, Var};
use crate::ir::{BufferId, NodeId};

/// An access becomes a branch for each array, up to this many.
pub(crate) const MAX_ARRAYS: usize = 8;

/// A set of arrays that a name may refer to: its points-to set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ArraySetId(u32);

/// The sets of arrays.
pub(crate) type ArraySets = Vec<Rc<[BufferId]>>;

/// The choices of a function, by the set of arrays and the node with the id of the array.
pub(crate) type FunctionChoices = FxHashMap<(ArraySetId, NodeId), BufferId>;

/// Why no name can refer to all of some arrays.
pub(crate) enum NoArraySet {
    /// Their elements or numbers of axes differ.
    Unlike,
    TooMany,
}

/// The binding of a name at a join of paths with different arrays. Its number is in a variable.
pub(crate) struct JoinedArrays {
    pub binding: Binding,
    pub selector: (Var, Binding),
}
