//! What lowering and the passes behind it know of places of the source. `explain` hands it out.

use kps_syntax::Span;

use crate::signature::Capability;
use crate::types::{Scalar, Type};

/// Something known of a piece of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    pub span: Span,
    pub kind: RemarkKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum RemarkKind {
    /// The type of an expression, as an annotation says it; `int` and `float` for literals that take
    /// the type of what they meet.
    Type(String),
    /// A variable gets a value of this type.
    Assigned(String),
    /// The value is known before the kernel runs.
    Known(String),
    /// The value becomes another type, and nobody wrote so.
    Converted { from: Type, to: Type },
    /// A literal takes the type of what it meets.
    Taken(Scalar),
    /// Computed in a wider type and rounded back.
    ComputedIn { wide: Scalar, ty: Type },
    /// Loaded or stored at an index that is tested first, or proven to need no test.
    Index(IndexTest),
    /// A load that gives every invocation of a workgroup the same.
    Uniform,
    /// Calls a function of the script: its place in [`Explanation::functions`](crate::Explanation::functions).
    Calls(usize),
    /// The device has no instruction for this, so all matrices of the kernel are emulated.
    Emulates,
    /// Not every device has what this needs.
    Needs(Capability),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexTest {
    /// Out of range it reads 0.
    TestedLoad,
    /// Out of range nothing is stored.
    TestedStore,
    /// Out of range nothing happens, and 0 comes out.
    TestedAtomic,
    Proven,
}
