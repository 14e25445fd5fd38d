//! Operations on whole cooperative matrices, as the script has them and as instructions do them.

use kps_syntax::Span;

use super::{BinaryOp, BufferId, LocalId, NodeId, Place};
use crate::types::Type;

/// An operation on a whole cooperative matrix, or on a list of rows in place of one. Legalisation expands it.
#[derive(Debug, Clone)]
pub struct CoopOp {
    pub kind: CoopKind,
    /// The matrix that is computed, or that is read by `Store` and `Part`. It is in memory of the invocation.
    pub matrix: CoopMatrix,
    pub span: Span,
}

/// A matrix of an operation, as the source names it.
#[derive(Debug, Clone)]
pub struct CoopMatrix {
    pub place: Place,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum CoopKind {
    /// The matrix is new, of zeros.
    Zero,
    Fill(NodeId),
    /// A product is added.
    MultiplyAdd(CoopMatrix, CoopMatrix),
    Load(CoopArray),
    Store(CoopArray),
    /// The matrix is new, a sum or a difference.
    Sum(BinaryOp, CoopMatrix, CoopMatrix),
    /// The matrix is new, a product or a quotient of a matrix and a number.
    Scaled(BinaryOp, CoopMatrix, NodeId),
    /// The matrix is new.
    Negated(CoopMatrix),
    /// The matrix is new, another one in its own scalar type.
    Converted(CoopMatrix),
    /// A part of the matrix is about to be accessed. It computes nothing.
    Part,
}

/// The elements of an array that a matrix is loaded from or stored to. Some may be out of range.
#[derive(Debug, Clone)]
pub struct CoopArray {
    pub array: Array,
    /// Numbers in each element of the array: more than one where these are vectors, which lie along a line.
    pub width: u32,
    /// The index of the first element: a signed int, of 32 or 64 bits.
    pub start: NodeId,
    /// Elements from line to line: a signed int, of 32 or 64 bits.
    pub stride: NodeId,
    pub lines: CoopLines,
}

/// An array of one axis.
#[derive(Debug, Clone)]
pub enum Array {
    Buffer(BufferId),
    Place(Place),
}

impl CoopOp {
    /// The place that it writes.
    pub(crate) fn written(&self) -> Option<&Place> {
        match &self.kind {
            CoopKind::Part | CoopKind::Store(CoopArray { array: Array::Buffer(_), .. }) => None,
            CoopKind::Store(CoopArray { array: Array::Place(place), .. }) => Some(place),
            _ => Some(&self.matrix.place),
        }
    }

    /// Calls `visit` for the type of each matrix, to replace it.
    pub(crate) fn types_mut(&mut self, visit: &mut dyn FnMut(&mut Type)) {
        visit(&mut self.matrix.place.ty);
        match &mut self.kind {
            CoopKind::MultiplyAdd(a, b) | CoopKind::Sum(_, a, b) => {
                visit(&mut a.place.ty);
                visit(&mut b.place.ty);
            }
            CoopKind::Scaled(_, of, _) | CoopKind::Negated(of) | CoopKind::Converted(of) => {
                visit(&mut of.place.ty);
            }
            CoopKind::Zero | CoopKind::Fill(_) | CoopKind::Load(_) | CoopKind::Store(_) | CoopKind::Part => {}
        }
    }
}

/// The memory of a cooperative matrix.
#[derive(Debug, Clone)]
pub struct CoopPlace {
    pub memory: CoopMemory,
    /// Of its first element, inside.
    pub start: NodeId,
    /// Elements from line to line; its type is that of `start`.
    pub stride: NodeId,
    pub lines: CoopLines,
}

#[derive(Debug, Clone, Copy)]
pub enum CoopMemory {
    Buffer(BufferId),
    /// The local is a shared array of the workgroup.
    Shared(LocalId),
}

/// The contiguous lines of a cooperative matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoopLines {
    Rows,
    Columns,
}

impl CoopLines {
    pub(crate) fn choose<T>(self, rows: T, columns: T) -> T {
        match self {
            CoopLines::Rows => rows,
            CoopLines::Columns => columns,
        }
    }
}
