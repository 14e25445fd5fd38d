//! Remarks: facts about places of the source, from inference and later passes. `explain` returns them.

use std::fmt;

use kps_syntax::Span;

use crate::constant::LiteralKind;
use crate::signature::{ArrayParam, Capability};
use crate::textures::TextureType;
use crate::types::{Scalar, Type};

/// Something known of a piece of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    pub span: Span,
    pub kind: RemarkKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum RemarkKind {
    /// The type of an expression.
    Type(RemarkType),
    /// A variable gets a value of this type.
    Assigned(RemarkType),
    /// The value is known before the kernel runs.
    Known(String),
    /// An implicit conversion of the value.
    Converted { from: Type, to: Type },
    /// A literal adopts the type of its operand.
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
    /// It needs a feature that not every device has.
    Needs(Capability),
}

/// The type of a place. Its text is that of an annotation.
#[derive(Clone, Debug, PartialEq)]
pub enum RemarkType {
    Value(Type),
    /// A weakly typed literal, or a variable with one: it adopts the type of the other operand.
    Weak(LiteralKind),
    Array(ArrayParam),
    Image(TextureType),
    Sampler,
    Function,
}

impl fmt::Display for RemarkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RemarkType::Value(ty) => ty.fmt(f),
            RemarkType::Weak(kind) => f.write_str(kind.name()),
            RemarkType::Array(array) => array.fmt(f),
            RemarkType::Image(ty) => write!(f, "Image[\"{ty}\"]"),
            RemarkType::Sampler => f.write_str("Sampler"),
            RemarkType::Function => f.write_str("a function"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexTest {
    /// Out of range it reads 0.
    TestedLoad,
    /// Out of range nothing is stored.
    TestedStore,
    /// Out of range it has no effect, and gives 0.
    TestedAtomic,
    Proven,
}
