//! Access paths: memory that other invocations see, passed as an argument. That is workgroup memory and
//! elements of buffers.
//!
//! A function is compiled for each such array, and gets only the indices of a part as arguments. So it loads
//! exactly what it reads and stores exactly what it changes.

mod inference;

use crate::ir::{BufferId, SharedId};
use crate::types::Type;

/// The root and the steps to a part of memory, without the indices.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct AccessPath {
    root: AccessRoot,
    steps: Vec<AccessStep>,
    /// The type of the part.
    ty: Type,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum AccessRoot {
    Workgroup(SharedId),
    /// The types of the indices that are passed.
    Element(BufferId, Vec<Type>),
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum AccessStep {
    Part(u32),
    /// The index is passed, and has this type.
    At(Type),
}
