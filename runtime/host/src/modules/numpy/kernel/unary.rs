//! Operations on the elements of one row.

use kps_compute::{DType, Element};

use super::binary::Int;
use super::{copy, map, with_int, zeros};
use crate::value::Result;

/// An operation that keeps the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Negative,
    Positive,
    Absolute,
    Sign,
    Square,
    Invert,
    /// Of integers; the result is a row of u8.
    BitwiseCount,
    // Of integers: the same value. Of floats: rounded.
    Floor,
    Ceil,
    Trunc,
    Rint,
    // Only of floats: integers are converted first.
    Reciprocal,
    Sqrt,
    Cbrt,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log10,
    Log1p,
    Sin,
    Cos,
    Tan,
    Arcsin,
    Arccos,
    Arctan,
    Sinh,
    Cosh,
    Tanh,
    Arcsinh,
    Arccosh,
    Arctanh,
    Degrees,
    Radians,
}

/// A question about each element, answered by a row of bools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    IsNan,
    IsInf,
    IsFinite,
    Signbit,
    /// Whether it is zero.
    Not,
}

pub fn unary(op: Unary, dtype: DType, row: &[u8]) -> Result<Vec<u8>> {
    with_int!(dtype, T => ints::<T>(op, row), float F => floats::<F>(op, row))
}

fn ints<T: Int>(op: Unary, row: &[u8]) -> Result<Vec<u8>> {
    match op {
        Unary::Negative => map(row, T::neg),
        Unary::Absolute => map(row, T::abs),
        Unary::Sign => map(row, T::signum),
        Unary::Square => map(row, |int: T| int.mul(int)),
        Unary::Invert => map(row, T::not),
        Unary::BitwiseCount => map(row, T::count_ones),
        Unary::Positive | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Rint => copy(row),
        _ => unreachable!("{op:?} is for floats"),
    }
}

fn floats<T: Element + num_traits::Float>(op: Unary, row: &[u8]) -> Result<Vec<u8>> {
    match op {
        Unary::Negative => map(row, |x: T| -x),
        Unary::Positive => copy(row),
        Unary::Absolute => map(row, T::abs),
        Unary::Sign => map(row, |x: T| if x.is_zero() || x.is_nan() { x } else { x.signum() }),
        Unary::Square => map(row, |x: T| x * x),
        Unary::Floor => map(row, T::floor),
        Unary::Ceil => map(row, T::ceil),
        Unary::Trunc => map(row, T::trunc),
        Unary::Rint => map(row, round_half_even::<T>),
        Unary::Reciprocal => map(row, T::recip),
        Unary::Sqrt => map(row, T::sqrt),
        Unary::Cbrt => map(row, T::cbrt),
        Unary::Exp => map(row, T::exp),
        Unary::Exp2 => map(row, T::exp2),
        Unary::Expm1 => map(row, T::exp_m1),
        Unary::Log => map(row, T::ln),
        Unary::Log2 => map(row, T::log2),
        Unary::Log10 => map(row, T::log10),
        Unary::Log1p => map(row, T::ln_1p),
        Unary::Sin => map(row, T::sin),
        Unary::Cos => map(row, T::cos),
        Unary::Tan => map(row, T::tan),
        Unary::Arcsin => map(row, T::asin),
        Unary::Arccos => map(row, T::acos),
        Unary::Arctan => map(row, T::atan),
        Unary::Sinh => map(row, T::sinh),
        Unary::Cosh => map(row, T::cosh),
        Unary::Tanh => map(row, T::tanh),
        Unary::Arcsinh => map(row, T::asinh),
        Unary::Arccosh => map(row, T::acosh),
        Unary::Arctanh => map(row, T::atanh),
        Unary::Degrees => map(row, T::to_degrees),
        Unary::Radians => map(row, T::to_radians),
        Unary::Invert | Unary::BitwiseCount => unreachable!("floats have no bitwise operations"),
    }
}

/// Adding and subtracting a number without fraction bits rounds half to even.
fn round_half_even<T: num_traits::Float>(x: T) -> T {
    let no_fraction = T::epsilon().recip();
    if x.is_nan() || x.abs() >= no_fraction {
        return x;
    }
    let shift = no_fraction.copysign(x);
    ((x + shift) - shift).copysign(x)
}

pub fn test(op: Test, dtype: DType, row: &[u8]) -> Result<Vec<u8>> {
    with_int!(dtype,
        T => match op {
            Test::IsNan | Test::IsInf => zeros(row.len() / size_of::<T>()),
            Test::IsFinite => map(row, |_: T| true),
            Test::Signbit => map(row, |int: T| int < T::default()),
            Test::Not => map(row, |int: T| int == T::default()),
        },
        float F => match op {
            Test::IsNan => map(row, F::is_nan),
            Test::IsInf => map(row, F::is_infinite),
            Test::IsFinite => map(row, F::is_finite),
            Test::Signbit => map(row, F::is_sign_negative),
            Test::Not => map(row, |x: F| x == 0.0),
        }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_to_the_even_neighbour() {
        fn check(x: f64, expect: f64) {
            assert_eq!(round_half_even(x).to_bits(), expect.to_bits(), "{x}");
        }
        check(0.5, 0.0);
        check(1.5, 2.0);
        check(-0.5, -0.0);
        check(-2.5, -2.0);
        check(1e300, 1e300);
        check(4503599627370495.5, 4503599627370496.0);
    }
}
