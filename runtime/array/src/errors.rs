//! What can go wrong with arrays, with one constructor for each mistake.

use kps_compute::{ComputeError, Number};
use kps_scalar::Scalar;
use kps_syntax::{Diagnostics, Location};

use crate::element::{Constant, ElementType};
use crate::promote::Kinds;

pub type Result<T, E = ArrayError> = std::result::Result<T, E>;

/// An error of an array: a mistake of the program, or of the device.
#[derive(Debug, thiserror::Error)]
pub enum ArrayError {
    /// An operation does not take these types.
    #[error("{message}")]
    Type { message: String, help: Option<String> },
    /// Shapes or values do not fit.
    #[error("{message}")]
    Value { message: String, help: Option<String> },
    #[error("{message}")]
    Index { message: String },
    /// A number is out of the range of a type.
    #[error("{message}")]
    Overflow { message: String },
    #[error(transparent)]
    Compute(#[from] ComputeError),
    /// An array could not be computed.
    #[error("{error}")]
    Computing {
        error: Box<ArrayError>,
        /// The expression that made the array.
        origin: Location,
    },
    /// A generated kernel was refused by the compiler: a defect of this crate.
    #[error("the kernel of an expression does not compile:\n{text}\n{}", .mistakes.iter().map(|mistake| mistake.message.as_str()).collect::<Vec<_>>().join("\n"))]
    Kernel { text: String, mistakes: Diagnostics },
}

impl ArrayError {
    fn ty(message: String) -> ArrayError {
        ArrayError::Type { message, help: None }
    }

    fn value(message: String) -> ArrayError {
        ArrayError::Value { message, help: None }
    }

    /// Adds the expression that could not be computed, if none is known.
    pub(crate) fn computing(self, origin: Option<&Location>) -> ArrayError {
        match (self, origin) {
            (error @ ArrayError::Computing { .. }, _) | (error, None) => error,
            (error, Some(origin)) => ArrayError::Computing { error: Box::new(error), origin: origin.clone() },
        }
    }

    /// The error for whoever only knows tensors.
    pub(crate) fn into_compute(self) -> ComputeError {
        match self {
            ArrayError::Compute(error) => error,
            ArrayError::Computing { error, .. } => error.into_compute(),
            other => ComputeError::Expression { message: other.to_string() },
        }
    }

    fn with_help(self, text: impl Into<String>) -> ArrayError {
        match self {
            ArrayError::Type { message, .. } => ArrayError::Type { message, help: Some(text.into()) },
            ArrayError::Value { message, .. } => ArrayError::Value { message, help: Some(text.into()) },
            other => other,
        }
    }
}

/// `(2, 3)`, and `(2,)` for one axis.
pub fn shape_text(shape: &[usize]) -> String {
    match shape {
        [only] => format!("({only},)"),
        shape => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

pub fn not_broadcast(left: &[usize], right: &[usize]) -> ArrayError {
    let (left, right) = (shape_text(left), shape_text(right));
    ArrayError::value(format!("shapes {left} and {right} do not fit together"))
        .with_help("axes are compared from the last one on: they must be equal, or one of them 1")
}

pub fn not_broadcast_to(from: &[usize], to: &[usize]) -> ArrayError {
    ArrayError::value(format!("an array of shape {} does not fit shape {}", shape_text(from), shape_text(to)))
        .with_help("axes are compared from the last one on: each must be equal, or 1")
}

pub fn not_reshaped(from: &[usize], to: &str) -> ArrayError {
    ArrayError::value(format!("an array of shape {} cannot have the shape {to}", shape_text(from)))
}

pub fn too_large(shape: &[usize]) -> ArrayError {
    ArrayError::value(format!("an array of shape {} is larger than any memory", shape_text(shape)))
}

pub fn negative_power(ty: ElementType) -> ArrayError {
    ArrayError::value(format!("a negative power of an `{ty}` is not an int"))
        .with_help("make the base a float: x.astype(f32) ** -1")
}

pub fn reshape_copies(from: &[usize], to: &[usize]) -> ArrayError {
    let (from, to) = (shape_text(from), shape_text(to));
    ArrayError::value(format!("the view of shape {from} takes the shape {to} only as a copy"))
}

pub fn axis_out_of_range(axis: i64, ndim: usize) -> ArrayError {
    ArrayError::Index { message: format!("axis {axis} is out of range for an array with {ndim} axes") }
}

pub fn axis_twice(axis: usize) -> ArrayError {
    ArrayError::value(format!("axis {axis} is named twice"))
}

pub fn not_a_permutation(axes: &[i64], ndim: usize) -> ArrayError {
    ArrayError::value(format!("{axes:?} does not name each of the {ndim} axes once"))
}

pub fn index_out_of_range(index: i64, axis: usize, len: usize) -> ArrayError {
    ArrayError::Index {
        message: format!("index {index} is out of range for axis {axis} with {len} elements"),
    }
}

pub fn too_many_indices(given: usize, ndim: usize) -> ArrayError {
    let axes = if ndim == 1 { "axis" } else { "axes" };
    ArrayError::Index { message: format!("{given} indices for an array with {ndim} {axes}") }
}

pub fn step_of_zero() -> ArrayError {
    ArrayError::value("the step of a slice is not 0".to_owned())
}

pub fn not_for(op: &str, ty: ElementType) -> ArrayError {
    let error = ArrayError::ty(format!("`{op}` does not take `{ty}`"));
    match (op, ty) {
        ("subtract", ElementType::Real(Scalar::Bool)) => {
            error.with_help("`^` is true where two bools differ")
        }
        ("negative", ElementType::Real(Scalar::Bool)) => error.with_help("`~` negates a bool"),
        (op, ty) if ty.is_complex() && ORDERS.contains(&op) => {
            error.with_help("complex numbers have no order; compare `kp.abs(x)` or `kp.real(x)`")
        }
        _ => error,
    }
}

/// Operations that need an order of numbers.
const ORDERS: [&str; 10] = [
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "maximum",
    "minimum",
    "max",
    "min",
    "argmax",
    "argmin",
];

pub fn complex_to_real(from: ElementType, to: ElementType) -> ArrayError {
    ArrayError::ty(format!("`{from}` does not become `{to}`, which has no imaginary part"))
        .with_help("take a part of it first: `kp.real(x)`, `kp.imag(x)`, `kp.abs(x)`")
}

pub fn complex_number_as(number: Constant, ty: ElementType) -> ArrayError {
    ArrayError::ty(format!("`{ty}` has no imaginary part for {number}"))
        .with_help("convert the array: `x.astype(\"complex64\")`")
}

pub fn no_parts(ty: ElementType, shape: &[usize]) -> ArrayError {
    ArrayError::ty(format!("an array of `{ty}` and shape {} has no pairs of floats", shape_text(shape)))
        .with_help("its type is `f32` or `f64`, and its last axis has the real and the imaginary part")
}

pub fn no_common_type(left: Scalar, right: Scalar) -> ArrayError {
    ArrayError::ty(format!("there is no type for both `{left}` and `{right}`"))
        .with_help("convert one of them first: `x.astype(i64)`")
}

pub fn number_out_of_range(number: Number, ty: Scalar) -> ArrayError {
    let range = ty.int_range().map(|(least, most)| format!(": it holds {least} to {most}"));
    ArrayError::Overflow { message: format!("{number} does not fit `{ty}`{}", range.unwrap_or_default()) }
}

pub fn not_an_int(number: Number, ty: Scalar) -> ArrayError {
    ArrayError::value(format!("{number} is no `{ty}`"))
}

pub fn would_change_type(op: &str, target: ElementType, result: ElementType) -> ArrayError {
    let error = ArrayError::ty(format!("`{op}` gives `{result}`, which an array of `{target}` cannot hold"));
    error.with_help(match result.is_complex() {
        true => format!("make a new array: `x = x {op} y`"),
        false => format!("convert it: `.astype({target})`, or make a new array: `x = x {op} y`"),
    })
}

pub fn is_read_only() -> ArrayError {
    ArrayError::value("an array that repeats elements cannot be written".to_owned())
        .with_help("copy it first: `x.copy()`")
}

pub fn not_in_one_piece(shape: &[usize]) -> ArrayError {
    ArrayError::value(format!(
        "the elements of this view of shape {} are not in one piece in memory",
        shape_text(shape)
    ))
    .with_help("copy it: `part = x[::2].copy()`, and back: `x[::2] = part`")
}

pub fn empty_reduction(op: &str) -> ArrayError {
    ArrayError::value(format!("`{op}` of no elements has no value"))
}

pub fn other_manager() -> ArrayError {
    ArrayError::value("the arrays of one expression belong to different managers".to_owned())
        .with_help("copy one of them: `mgr.tensor_t(x.numpy())`")
}

/// For operations that need a certain kind of numbers.
pub fn wrong_kind(op: &str, wanted: Kinds, ty: ElementType) -> ArrayError {
    ArrayError::ty(format!("`{op}` takes {wanted}, not `{ty}`"))
}
