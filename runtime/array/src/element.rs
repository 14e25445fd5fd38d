//! The type of an array's elements: a number type of kernels, or complex numbers, which are pairs of floats.
//!
//! A kernel has a vector of two floats for a complex number. In memory, its real part comes before its imaginary part.

use std::fmt;

use kps_compute::Number;
use kps_scalar::{Kind, Scalar};

/// The type of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    Real(Scalar),
    /// Two `f32`.
    Complex64,
    /// Two `f64`.
    Complex128,
}

/// A number that is known when an expression is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    Real(Number),
    Complex { re: f64, im: f64 },
}

impl ElementType {
    /// The complex type whose parts have this type, or `f32` for types that are no parts.
    pub fn complex_of(part: Scalar) -> ElementType {
        if part == Scalar::F64 { ElementType::Complex128 } else { ElementType::Complex64 }
    }

    /// The type with this name: `complex64`, `float32`, `f32`.
    pub fn parse(name: &str) -> Option<ElementType> {
        match name {
            "complex64" => Some(ElementType::Complex64),
            "complex128" => Some(ElementType::Complex128),
            name => Scalar::parse(name).map(ElementType::Real),
        }
    }

    /// The type of the numbers in memory: that of the parts of complex numbers.
    pub fn part(self) -> Scalar {
        match self {
            ElementType::Real(scalar) => scalar,
            ElementType::Complex64 => Scalar::F32,
            ElementType::Complex128 => Scalar::F64,
        }
    }

    /// Numbers in memory of one element.
    pub fn n_parts(self) -> usize {
        if self.is_complex() { 2 } else { 1 }
    }

    /// Bytes of one element.
    pub fn size(self) -> usize {
        self.n_parts() * self.part().size()
    }

    /// The type of numbers without an imaginary part; `None` for complex numbers.
    pub fn real(self) -> Option<Scalar> {
        match self {
            ElementType::Real(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The kind of real numbers; `None` for complex numbers.
    pub fn kind(self) -> Option<Kind> {
        self.real().map(Scalar::kind)
    }

    pub fn is_complex(self) -> bool {
        !matches!(self, ElementType::Real(_))
    }

    pub fn is_float(self) -> bool {
        self.real().is_some_and(Scalar::is_float)
    }

    pub fn is_int(self) -> bool {
        self.real().is_some_and(Scalar::is_int)
    }

    /// The name in NumPy: `float32`, `complex64`.
    pub fn numpy_name(self) -> &'static str {
        match self {
            ElementType::Real(scalar) => scalar.numpy_name(),
            ElementType::Complex64 => "complex64",
            ElementType::Complex128 => "complex128",
        }
    }

    /// The name in messages: `f32`, `complex64`.
    pub fn name(self) -> &'static str {
        match self {
            ElementType::Real(scalar) => scalar.name(),
            complex => complex.numpy_name(),
        }
    }

    /// The type in kernels: `f32`, `vec2`.
    pub fn in_kernels(self) -> &'static str {
        match self {
            ElementType::Real(scalar) => scalar.name(),
            ElementType::Complex64 => "vec2",
            ElementType::Complex128 => "dvec2",
        }
    }
}

impl From<Scalar> for ElementType {
    fn from(scalar: Scalar) -> ElementType {
        ElementType::Real(scalar)
    }
}

impl PartialEq<Scalar> for ElementType {
    fn eq(&self, other: &Scalar) -> bool {
        self.real() == Some(*other)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Constant {
    pub fn is_complex(self) -> bool {
        matches!(self, Constant::Complex { .. })
    }

    /// The number, if it is real.
    pub fn real(self) -> Option<Number> {
        match self {
            Constant::Real(number) => Some(number),
            Constant::Complex { .. } => None,
        }
    }
}

impl From<Number> for Constant {
    fn from(number: Number) -> Constant {
        Constant::Real(number)
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constant::Real(number) => write!(f, "{number}"),
            Constant::Complex { re, im } => write!(f, "({re}{im:+}j)"),
        }
    }
}
