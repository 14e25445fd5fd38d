//! Operations on the elements of one row.

use kps_compute::{DType, Element};

use super::binary::Int;
use super::{Loop1, elementary, map, with_int};

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

/// The loop over elements of a type. The caller must not pass an operation that the type lacks.
pub fn unary(op: Unary, dtype: DType) -> Loop1 {
    if let (DType::F32, Some(func)) = (dtype, elementary::loop_of(op)) {
        return func;
    }
    with_int!(dtype, T => ints::<T>(op), float F => floats::<F>(op))
}

fn ints<T: Int>(op: Unary) -> Loop1 {
    match op {
        Unary::Negative => |row, places| map(row, places, T::neg),
        Unary::Absolute => |row, places| map(row, places, T::abs),
        Unary::Sign => |row, places| map(row, places, T::signum),
        Unary::Square => |row, places| map(row, places, |int: T| int.mul(int)),
        Unary::Invert => |row, places| map(row, places, T::not),
        Unary::BitwiseCount => |row, places| map(row, places, T::count_ones),
        Unary::Positive | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Rint => {
            |row, places| places.copy(row)
        }
        _ => unreachable!("{op:?} is for floats"),
    }
}

fn floats<T: Element + num_traits::Float>(op: Unary) -> Loop1 {
    match op {
        Unary::Negative => |row, places| map(row, places, |x: T| -x),
        Unary::Positive => |row, places| places.copy(row),
        Unary::Absolute => |row, places| map(row, places, T::abs),
        Unary::Sign => {
            |row, places| map(row, places, |x: T| if x.is_zero() || x.is_nan() { x } else { x.signum() })
        }
        Unary::Square => |row, places| map(row, places, |x: T| x * x),
        Unary::Floor => |row, places| map(row, places, T::floor),
        Unary::Ceil => |row, places| map(row, places, T::ceil),
        Unary::Trunc => |row, places| map(row, places, T::trunc),
        Unary::Rint => |row, places| map(row, places, round_half_even::<T>),
        Unary::Reciprocal => |row, places| map(row, places, T::recip),
        Unary::Sqrt => |row, places| map(row, places, T::sqrt),
        Unary::Cbrt => |row, places| map(row, places, T::cbrt),
        Unary::Exp => |row, places| map(row, places, T::exp),
        Unary::Exp2 => |row, places| map(row, places, T::exp2),
        Unary::Expm1 => |row, places| map(row, places, T::exp_m1),
        Unary::Log => |row, places| map(row, places, T::ln),
        Unary::Log2 => |row, places| map(row, places, T::log2),
        Unary::Log10 => |row, places| map(row, places, T::log10),
        Unary::Log1p => |row, places| map(row, places, T::ln_1p),
        Unary::Sin => |row, places| map(row, places, T::sin),
        Unary::Cos => |row, places| map(row, places, T::cos),
        Unary::Tan => |row, places| map(row, places, T::tan),
        Unary::Arcsin => |row, places| map(row, places, T::asin),
        Unary::Arccos => |row, places| map(row, places, T::acos),
        Unary::Arctan => |row, places| map(row, places, T::atan),
        Unary::Sinh => |row, places| map(row, places, T::sinh),
        Unary::Cosh => |row, places| map(row, places, T::cosh),
        Unary::Tanh => |row, places| map(row, places, T::tanh),
        Unary::Arcsinh => |row, places| map(row, places, T::asinh),
        Unary::Arccosh => |row, places| map(row, places, T::acosh),
        Unary::Arctanh => |row, places| map(row, places, T::atanh),
        Unary::Degrees => |row, places| map(row, places, T::to_degrees),
        Unary::Radians => |row, places| map(row, places, T::to_radians),
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

pub fn test(op: Test, dtype: DType) -> Loop1 {
    with_int!(dtype,
        T => match op {
            Test::IsNan | Test::IsInf => |row, places| map(row, places, |_: T| false),
            Test::IsFinite => |row, places| map(row, places, |_: T| true),
            Test::Signbit => |row, places| map(row, places, |int: T| int < T::default()),
            Test::Not => |row, places| map(row, places, |int: T| int == T::default()),
        },
        float F => match op {
            Test::IsNan => |row, places| map(row, places, F::is_nan),
            Test::IsInf => |row, places| map(row, places, F::is_infinite),
            Test::IsFinite => |row, places| map(row, places, F::is_finite),
            Test::Signbit => |row, places| map(row, places, F::is_sign_negative),
            Test::Not => |row, places| map(row, places, |x: F| x == 0.0),
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
