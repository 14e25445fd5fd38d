//! The meaning of a type expression: a value's type, an array in a buffer, or a constant.

use std::fmt;

use crate::types::{Scalar, Type};

/// The meaning of a type expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeExpr {
    Value(Type),
    /// `Array[T]`, `Array[T, 2]`: any number of elements, in a buffer.
    Buffer(ArrayParam),
    /// `const[T]`.
    Const(Scalar),
}

/// Axes that an array has at most.
pub const MAX_RANK: u8 = 8;

/// The type of an array parameter in a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrayParam {
    pub element: Type,
    /// Axes, 1 to [`MAX_RANK`]. Elements along the last one are contiguous.
    pub rank: u8,
    pub reach: Reach,
    /// The width of its counts: `len` and `.shape`.
    pub counts: Width,
    /// Whether an i32 counts its bytes, and so the elements of any view of it.
    pub bytes: Width,
}

/// How a module accesses an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Reach {
    /// Through a descriptor.
    #[default]
    Binding,
    /// Through its address: it has more bytes than a descriptor of the device reaches.
    Address,
}

/// Whether an i32 counts the invocations along an axis of the domain, or the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Width {
    #[default]
    Narrow,
    /// An i64 does.
    Wide,
}

impl Width {
    /// Of counts up to this one.
    pub fn of(count: u64) -> Width {
        if i32::try_from(count).is_ok() { Width::Narrow } else { Width::Wide }
    }

    pub(crate) fn signed(self) -> Scalar {
        match self {
            Width::Narrow => Scalar::I32,
            Width::Wide => Scalar::I64,
        }
    }

    pub(crate) fn unsigned(self) -> Scalar {
        self.signed().as_unsigned()
    }
}

impl ArrayParam {
    /// What an array has after a dot.
    pub const ATTRIBUTES: [&str; 3] = ["shape", "size", "ndim"];

    /// With one axis.
    pub fn flat(element: Type) -> ArrayParam {
        ArrayParam::new(element, 1)
    }

    pub fn new(element: Type, rank: u8) -> ArrayParam {
        ArrayParam { element, rank, reach: Reach::Binding, counts: Width::Narrow, bytes: Width::Narrow }
    }

    /// Whether a parameter that is declared as this one may be given `other`.
    pub(crate) fn takes(&self, other: &ArrayParam) -> bool {
        (&self.element, self.rank) == (&other.element, other.rank)
    }
}

impl fmt::Display for ArrayParam {
    /// In the form of an annotation: `Array[f32]`, `Array[f32, 2]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rank {
            1 => write!(f, "Array[{}]", self.element),
            rank => write!(f, "Array[{}, {rank}]", self.element),
        }
    }
}
