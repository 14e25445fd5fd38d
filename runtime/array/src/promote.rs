//! The type of a result, by the types of its operands.
//!
//! The rules are those of the Python array API standard, and where that leaves a choice, those of PyTorch:
//! a Python number takes the type of the array beside it, an int beside a float is that float, and a quotient
//! of ints is an `f32`.

use std::fmt;

use kps_compute::Number;
use kps_scalar::{Kind, Scalar};

use crate::element::{Constant, ElementType};
use crate::errors::{self, Result};

/// The type of a float where no operand has one.
pub const DEFAULT_FLOAT: Scalar = Scalar::F32;
/// The type of an int where no operand has one.
pub const DEFAULT_INT: Scalar = Scalar::I32;

/// Kinds of numbers, in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinds {
    Ints,
    Floats,
    IntsOrBools,
}

impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kinds::Ints => "ints",
            Kinds::Floats => "floats",
            Kinds::IntsOrBools => "ints or bools",
        })
    }
}

/// An operand as far as its type matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OperandType {
    Array(ElementType),
    /// A number of the script, which has a kind and no type.
    Number(Constant),
}

/// The smallest type for the elements of both.
///
/// ```
/// use kps_array::ElementType::{Complex64, Complex128};
/// use kps_array::promote::common;
/// use kps_scalar::Scalar::*;
/// assert_eq!(common(I32, F16).unwrap(), F16);
/// assert_eq!(common(U8, I8).unwrap(), I16);
/// assert_eq!(common(F16, Bf16).unwrap(), F32);
/// assert!(common(U64, I8).is_err());
/// assert_eq!(common(Complex64, I64).unwrap(), Complex64);
/// assert_eq!(common(Complex64, F64).unwrap(), Complex128);
/// ```
pub fn common(left: impl Into<ElementType>, right: impl Into<ElementType>) -> Result<ElementType> {
    let (left, right) = (left.into(), right.into());
    match (left.real(), right.real()) {
        (Some(left), Some(right)) => common_real(left, right).map(ElementType::Real),
        _ => common_real(left.part(), right.part()).map(ElementType::complex_of),
    }
}

fn common_real(left: Scalar, right: Scalar) -> Result<Scalar> {
    if left == right {
        return Ok(left);
    }
    let wider = if left.bits() >= right.bits() { left } else { right };
    Ok(match (left.kind(), right.kind()) {
        (Kind::Bool, _) => right,
        (_, Kind::Bool) => left,
        // f16 and bf16: neither holds the other's numbers.
        (Kind::Float, Kind::Float) if left.bits() == right.bits() => Scalar::F32,
        (Kind::Float, Kind::Float) => wider,
        (Kind::Float, _) => left,
        (_, Kind::Float) => right,
        (of_left, of_right) if of_left == of_right => wider,
        _ => {
            let (signed, unsigned) = if left.is_signed() { (left, right) } else { (right, left) };
            match unsigned.bits() {
                bits if bits < signed.bits() => signed,
                64 => return Err(errors::no_common_type(left, right)),
                bits => Scalar::uint(2 * bits).as_signed(),
            }
        }
    })
}

/// The type of the elements of all operands together; a number alone has a default type.
pub fn common_of(operands: &[OperandType]) -> Result<ElementType> {
    let mut result: Option<ElementType> = None;
    for operand in operands {
        if let OperandType::Array(ty) = operand {
            result = Some(result.map_or(Ok(*ty), |known| common(known, *ty))?);
        }
    }
    Ok(operands
        .iter()
        .fold(result, |known, operand| match operand {
            OperandType::Array(_) => known,
            OperandType::Number(number) => Some(with_number(known, *number)),
        })
        .unwrap_or(DEFAULT_FLOAT.into()))
}

/// The type of an array together with a number of the script.
fn with_number(array: Option<ElementType>, number: Constant) -> ElementType {
    let default = match (number, array) {
        (Constant::Complex { .. }, _) => {
            return ElementType::complex_of(array.map_or(DEFAULT_FLOAT, ElementType::part));
        }
        (Constant::Real(_), Some(array)) if array.is_complex() || array.is_float() => return array,
        (Constant::Real(Number::Bool(_)), None) => Scalar::Bool,
        (Constant::Real(Number::Bool(_)), Some(array)) => return array,
        (Constant::Real(Number::Int(_)), Some(array)) if array != Scalar::Bool => return array,
        (Constant::Real(Number::Int(_)), _) => DEFAULT_INT,
        (Constant::Real(Number::Float(_)), _) => DEFAULT_FLOAT,
    };
    default.into()
}

/// The type in which a function of floats computes.
pub fn as_float(ty: impl Into<ElementType>) -> ElementType {
    let ty = ty.into();
    if ty.is_float() || ty.is_complex() { ty } else { DEFAULT_FLOAT.into() }
}

/// The type of the parts of complex numbers that are made of such numbers.
pub fn as_part(ty: ElementType) -> Result<Scalar> {
    match ty.real() {
        Some(real) => Ok(ElementType::complex_of(real).part()),
        None => Err(errors::not_for("complex", ty)),
    }
}

/// The type of the sum or product of elements: ints are added as 64-bit ones.
pub fn as_sum(ty: Scalar) -> Scalar {
    match ty.kind() {
        Kind::Bool | Kind::Signed => Scalar::I64,
        Kind::Unsigned => Scalar::U64,
        Kind::Float => ty,
    }
}

/// A number of the script as an element of this type. An error if an int is out of its range, or if a complex number
/// would become a real one.
pub fn fitting(number: Constant, ty: ElementType) -> Result<Constant> {
    match (number, ty) {
        (Constant::Real(number), ElementType::Real(ty)) => fitting_real(number, ty).map(Constant::Real),
        (Constant::Real(number), _) => Ok(Constant::Complex { re: number.as_f64(), im: 0.0 }),
        (Constant::Complex { re, im }, ElementType::Real(Scalar::Bool)) => {
            Ok(Number::Bool(re != 0.0 || im != 0.0).into())
        }
        (Constant::Complex { .. }, ElementType::Real(_)) => Err(errors::complex_number_as(number, ty)),
        (Constant::Complex { .. }, _) => Ok(number),
    }
}

/// A real number as an element of this type. An int type drops the fraction of a float.
pub fn fitting_real(number: Number, ty: Scalar) -> Result<Number> {
    match (number, ty.int_range()) {
        (Number::Int(value), Some((least, most))) if !(least..=most).contains(&value) => {
            Err(errors::number_out_of_range(number, ty))
        }
        (Number::Int(value), None) if ty == Scalar::Bool => Ok(Number::Bool(value != 0)),
        (Number::Int(value), None) => Ok(Number::Float(value as f64)),
        (Number::Float(value), None) if ty == Scalar::Bool => Ok(Number::Bool(value != 0.0)),
        (Number::Float(value), Some(_)) if !value.is_finite() => Err(errors::not_an_int(number, ty)),
        (Number::Float(value), Some(_)) => fitting_real(Number::Int(value as i128), ty),
        (Number::Bool(value), Some(_)) => Ok(Number::Int(value.into())),
        (Number::Bool(value), None) if ty != Scalar::Bool => Ok(Number::Float(f64::from(u8::from(value)))),
        _ => Ok(number),
    }
}
