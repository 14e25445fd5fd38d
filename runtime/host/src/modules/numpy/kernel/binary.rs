//! Operations on two rows of one type.

use kps_compute::{DType, Element};

use super::{Loop2, elements, map, with_int, zip};

/// An operation on two elements of one type whose result has the same type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    /// Only of floats: integers are converted first.
    Divide,
    FloorDivide,
    Remainder,
    /// As C's: with the sign of the dividend.
    Fmod,
    Power,
    Minimum,
    Maximum,
    Fmin,
    Fmax,
    And,
    Or,
    Xor,
    LeftShift,
    RightShift,
    Arctan2,
    Hypot,
    Copysign,
    Logaddexp,
    Nextafter,
    Gcd,
    Lcm,
}

impl Binary {
    /// Whether elements may be reduced in any order.
    pub fn is_commutative(self) -> bool {
        use Binary::*;
        matches!(self, Add | Multiply | Minimum | Maximum | Fmin | Fmax | And | Or | Xor | Gcd | Lcm)
    }
}

/// The loop over elements of a type. The caller must not pass an operation that the type lacks.
pub fn binary(op: Binary, dtype: DType) -> Loop2 {
    with_int!(dtype, T => ints::<T>(op), float F => floats::<F>(op))
}

fn ints<T: Int>(op: Binary) -> Loop2 {
    match op {
        Binary::Add => |left, right, places| zip(left, right, places, T::add),
        Binary::Subtract => |left, right, places| zip(left, right, places, T::sub),
        Binary::Multiply => |left, right, places| zip(left, right, places, T::mul),
        Binary::FloorDivide => |left, right, places| zip(left, right, places, T::floor_div),
        Binary::Remainder => |left, right, places| zip(left, right, places, T::floor_mod),
        Binary::Fmod => |left, right, places| zip(left, right, places, T::rem),
        Binary::Power => |left, right, places| zip(left, right, places, T::power),
        Binary::Minimum | Binary::Fmin => {
            |left, right, places| zip(left, right, places, |l: T, r: T| if r < l { r } else { l })
        }
        Binary::Maximum | Binary::Fmax => {
            |left, right, places| zip(left, right, places, |l: T, r: T| if r > l { r } else { l })
        }
        Binary::And => |left, right, places| zip(left, right, places, T::and),
        Binary::Or => |left, right, places| zip(left, right, places, T::or),
        Binary::Xor => |left, right, places| zip(left, right, places, T::xor),
        Binary::LeftShift => |left, right, places| zip(left, right, places, T::shift_left),
        Binary::RightShift => |left, right, places| zip(left, right, places, T::shift_right),
        Binary::Gcd => |left, right, places| zip(left, right, places, T::gcd),
        Binary::Lcm => |left, right, places| zip(left, right, places, T::lcm),
        Binary::Divide
        | Binary::Arctan2
        | Binary::Hypot
        | Binary::Copysign
        | Binary::Logaddexp
        | Binary::Nextafter => unreachable!("{op:?} is for floats"),
    }
}

fn floats<T: Float>(op: Binary) -> Loop2 {
    match op {
        Binary::Add => |left, right, places| zip(left, right, places, T::add),
        Binary::Subtract => |left, right, places| zip(left, right, places, T::sub),
        Binary::Multiply => |left, right, places| zip(left, right, places, T::mul),
        Binary::Divide => |left, right, places| zip(left, right, places, T::div),
        Binary::FloorDivide => |left, right, places| zip(left, right, places, T::floor_div),
        Binary::Remainder => |left, right, places| zip(left, right, places, T::floor_mod),
        Binary::Fmod => |left, right, places| zip(left, right, places, T::rem),
        Binary::Power => |left, right, places| {
            let is_square = elements::<T>(right).fold(true, |all, exponent| all & exponent.is_two());
            match is_square {
                true => map(left, places, |x: T| x.mul(x)),
                false => zip(left, right, places, T::power),
            }
        },
        // A NaN on either side is the result.
        Binary::Minimum => |left, right, places| {
            zip(left, right, places, |l: T, r: T| if l <= r || l.is_nan() { l } else { r })
        },
        Binary::Maximum => |left, right, places| {
            zip(left, right, places, |l: T, r: T| if l >= r || l.is_nan() { l } else { r })
        },
        Binary::Fmin => |left, right, places| {
            zip(left, right, places, |l: T, r: T| if l <= r || r.is_nan() { l } else { r })
        },
        Binary::Fmax => |left, right, places| {
            zip(left, right, places, |l: T, r: T| if l >= r || r.is_nan() { l } else { r })
        },
        Binary::Arctan2 => |left, right, places| zip(left, right, places, T::atan2),
        Binary::Hypot => |left, right, places| zip(left, right, places, T::hypot),
        Binary::Copysign => |left, right, places| zip(left, right, places, T::copysign),
        Binary::Logaddexp => |left, right, places| zip(left, right, places, T::log_add_exp),
        Binary::Nextafter => |left, right, places| zip(left, right, places, T::next_after),
        Binary::And
        | Binary::Or
        | Binary::Xor
        | Binary::LeftShift
        | Binary::RightShift
        | Binary::Gcd
        | Binary::Lcm => unreachable!("{op:?} is for integers"),
    }
}

/// Integers that wrap around; dividing by zero results in 0.
pub trait Int: Element + PartialOrd + Default {
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn floor_div(self, other: Self) -> Self;
    fn floor_mod(self, other: Self) -> Self;
    fn rem(self, other: Self) -> Self;
    /// A negative exponent results in 0: the caller refuses it.
    fn power(self, exponent: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn not(self) -> Self;
    /// Shifting by the width or more, or by a negative amount, shifts all bits out.
    fn shift_left(self, by: Self) -> Self;
    fn shift_right(self, by: Self) -> Self;
    fn gcd(self, other: Self) -> Self;
    fn lcm(self, other: Self) -> Self;
    fn neg(self) -> Self;
    fn abs(self) -> Self;
    /// Of its size: the sign is no bit of it.
    fn count_ones(self) -> u8;
    fn signum(self) -> Self;
}

macro_rules! int {
    ($($ty:ident $unsigned:ident),*) => {$(
        #[allow(unused_comparisons, clippy::absurd_extreme_comparisons, reason = "unsigned types are never below 0")]
        impl Int for $ty {
            #[inline]
            fn count_ones(self) -> u8 {
                // A number of bits fits a u8.
                <$ty>::count_ones(Int::abs(self)) as u8
            }

            #[inline]
            fn add(self, other: $ty) -> $ty {
                self.wrapping_add(other)
            }

            #[inline]
            fn sub(self, other: $ty) -> $ty {
                self.wrapping_sub(other)
            }

            #[inline]
            fn mul(self, other: $ty) -> $ty {
                self.wrapping_mul(other)
            }

            #[inline]
            fn floor_div(self, other: $ty) -> $ty {
                if other == 0 {
                    return 0;
                }
                let quotient = self.wrapping_div(other);
                let has_rest = self.wrapping_rem(other) != 0;
                if has_rest && (self < 0) != (other < 0) { quotient - 1 } else { quotient }
            }

            #[inline]
            fn floor_mod(self, other: $ty) -> $ty {
                if other == 0 {
                    return 0;
                }
                let rest = self.wrapping_rem(other);
                if rest != 0 && (rest < 0) != (other < 0) { rest + other } else { rest }
            }

            #[inline]
            fn rem(self, other: $ty) -> $ty {
                if other == 0 { 0 } else { self.wrapping_rem(other) }
            }

            fn power(self, exponent: $ty) -> $ty {
                let (mut base, mut exponent, mut power) = (self, exponent, 1 as $ty);
                while exponent > 0 {
                    if exponent & 1 == 1 {
                        power = power.wrapping_mul(base);
                    }
                    exponent >>= 1;
                    base = base.wrapping_mul(base);
                }
                power
            }

            #[inline]
            fn and(self, other: $ty) -> $ty {
                self & other
            }

            #[inline]
            fn or(self, other: $ty) -> $ty {
                self | other
            }

            #[inline]
            fn xor(self, other: $ty) -> $ty {
                self ^ other
            }

            #[inline]
            fn not(self) -> $ty {
                !self
            }

            #[inline]
            fn shift_left(self, by: $ty) -> $ty {
                if by < 0 || by as u64 >= <$ty>::BITS as u64 { 0 } else { self << by }
            }

            #[inline]
            fn shift_right(self, by: $ty) -> $ty {
                if by < 0 || by as u64 >= <$ty>::BITS as u64 { if self < 0 { !0 } else { 0 } } else { self >> by }
            }

            fn gcd(self, other: $ty) -> $ty {
                let (mut a, mut b) = (Int::abs(self) as $unsigned, Int::abs(other) as $unsigned);
                while b != 0 {
                    (a, b) = (b, a % b);
                }
                a as $ty
            }

            fn lcm(self, other: $ty) -> $ty {
                let gcd = Int::gcd(self, other) as $unsigned;
                if gcd == 0 {
                    return 0;
                }
                (Int::abs(self) as $unsigned / gcd).wrapping_mul(Int::abs(other) as $unsigned) as $ty
            }

            #[inline]
            fn neg(self) -> $ty {
                self.wrapping_neg()
            }

            #[inline]
            fn abs(self) -> $ty {
                if self < 0 { self.wrapping_neg() } else { self }
            }

            #[inline]
            fn signum(self) -> $ty {
                if self < 0 { (0 as $ty).wrapping_sub(1) } else { (self > 0) as $ty }
            }
        }
    )*};
}

int!(i8 u8, i16 u16, i32 u32, i64 u64, u8 u8, u16 u16, u32 u32, u64 u64);

pub trait Float: Element + PartialOrd {
    const ZERO: Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn floor_div(self, other: Self) -> Self;
    fn floor_mod(self, other: Self) -> Self;
    fn rem(self, other: Self) -> Self;
    fn power(self, exponent: Self) -> Self;
    fn atan2(self, other: Self) -> Self;
    fn hypot(self, other: Self) -> Self;
    fn copysign(self, sign: Self) -> Self;
    fn log_add_exp(self, other: Self) -> Self;
    fn next_after(self, towards: Self) -> Self;
    fn is_nan(self) -> bool;
    fn is_two(self) -> bool;
}

macro_rules! float {
    ($($ty:ident),*) => {$(
        impl Float for $ty {
            const ZERO: $ty = 0.0;

            #[inline]
            fn add(self, other: $ty) -> $ty {
                self + other
            }

            #[inline]
            fn sub(self, other: $ty) -> $ty {
                self - other
            }

            #[inline]
            fn mul(self, other: $ty) -> $ty {
                self * other
            }

            #[inline]
            fn div(self, other: $ty) -> $ty {
                self / other
            }

            fn floor_div(self, other: $ty) -> $ty {
                let rest = self % other;
                if other == 0.0 || rest.is_nan() {
                    return if other == 0.0 { self / other } else { <$ty>::NAN };
                }
                let mut quotient = (self - rest) / other;
                if rest != 0.0 && (other < 0.0) != (rest < 0.0) {
                    quotient -= 1.0;
                }
                if quotient == 0.0 {
                    return (0.0 as $ty).copysign(self / other);
                }
                let floor = quotient.floor();
                if quotient - floor > 0.5 { floor + 1.0 } else { floor }
            }

            fn floor_mod(self, other: $ty) -> $ty {
                let rest = self % other;
                if rest == 0.0 {
                    return rest.copysign(other);
                }
                if (other < 0.0) != (rest < 0.0) && !rest.is_nan() { rest + other } else { rest }
            }

            #[inline]
            fn rem(self, other: $ty) -> $ty {
                self % other
            }

            #[inline]
            fn power(self, exponent: $ty) -> $ty {
                if exponent == 2.0 { self * self } else { self.powf(exponent) }
            }

            fn atan2(self, other: $ty) -> $ty {
                self.atan2(other)
            }

            fn hypot(self, other: $ty) -> $ty {
                self.hypot(other)
            }

            #[inline]
            fn copysign(self, sign: $ty) -> $ty {
                self.copysign(sign)
            }

            fn log_add_exp(self, other: $ty) -> $ty {
                let (low, high) = if self < other { (self, other) } else { (other, self) };
                if low == high { high + (2.0 as $ty).ln() } else { high + (low - high).exp().ln_1p() }
            }

            fn next_after(self, towards: $ty) -> $ty {
                if self.is_nan() || towards.is_nan() {
                    <$ty>::NAN
                } else if self < towards {
                    self.next_up()
                } else if self > towards {
                    self.next_down()
                } else {
                    towards
                }
            }

            #[inline]
            fn is_nan(self) -> bool {
                self.is_nan()
            }

            #[inline]
            fn is_two(self) -> bool {
                self == 2.0
            }
        }
    )*};
}

float!(f32, f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_and_division_floors() {
        assert_eq!(Int::floor_div(-7i32, 2), -4);
        assert_eq!(Int::floor_mod(-7i32, 2), 1);
        assert_eq!(Int::floor_mod(7i32, -2), -1);
        assert_eq!(Int::floor_div(i8::MIN, -1), i8::MIN);
        assert_eq!(Int::floor_div(5u8, 0), 0);
        assert_eq!(Int::power(3u8, 6), 217);
        assert_eq!(Int::shift_left(1i32, 40), 0);
        assert_eq!(Int::shift_right(-1i32, 40), -1);
        assert_eq!(Int::signum(-5i8), -1);
        assert_eq!(Int::lcm(4i32, -6), 12);
    }

    #[test]
    fn float_division_floors() {
        assert_eq!(Float::floor_div(-7.0f64, 2.0), -4.0);
        assert_eq!(Float::floor_mod(-7.0f64, 2.0), 1.0);
        assert_eq!(Float::floor_div(1.0f64, 0.0), f64::INFINITY);
        assert!(Float::floor_mod(1.0f64, 0.0).is_nan());
        assert_eq!(Float::floor_mod(-1.0f32, f32::INFINITY), f32::INFINITY);
    }
}
