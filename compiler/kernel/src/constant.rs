//! Compile-time values: typed constants and weakly typed literals.

use std::fmt;

use half::{bf16, f16};
use kps_scalar::{Kind, Scalar};
use num_traits::ToPrimitive;

/// A typed scalar; equal constants have equal bits, so NaNs compare by their payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Constant {
    scalar: Scalar,
    /// An int sign- or zero-extended to 64 bits; a float's own bits, zero-extended.
    bits: u64,
}

impl Constant {
    pub fn bool(value: bool) -> Constant {
        Constant { scalar: Scalar::Bool, bits: u64::from(value) }
    }

    pub fn i32(value: i32) -> Constant {
        Constant::int(Scalar::I32, i128::from(value))
    }

    pub fn u32(value: u32) -> Constant {
        Constant::int(Scalar::U32, i128::from(value))
    }

    /// An int of type `scalar`, wrapped to its width.
    pub fn int(scalar: Scalar, value: i128) -> Constant {
        let unused = 64 - scalar.bits();
        let bits = if scalar.is_signed() {
            (((value as i64) << unused) >> unused) as u64
        } else {
            ((value as u64) << unused) >> unused
        };
        Constant { scalar, bits }
    }

    /// A float of type `scalar`, rounded to it once.
    pub fn float(scalar: Scalar, value: f64) -> Constant {
        let bits = match scalar {
            Scalar::F64 => value.to_bits(),
            Scalar::F16 => u64::from(f16::from_f32(rounded_to_odd(value)).to_bits()),
            Scalar::Bf16 => u64::from(bf16::from_f32(rounded_to_odd(value)).to_bits()),
            _ => u64::from((value as f32).to_bits()),
        };
        Constant { scalar, bits }
    }

    /// The scalar with these bits, an int's sign- or zero-extended.
    pub fn of_bits(scalar: Scalar, bits: u64) -> Constant {
        Constant { scalar, bits }
    }

    /// Zero, or false.
    pub fn zero(scalar: Scalar) -> Constant {
        Constant { scalar, bits: 0 }
    }

    pub fn scalar(self) -> Scalar {
        self.scalar
    }

    pub fn bits(self) -> u64 {
        self.bits
    }

    /// The value of an int or bool.
    pub fn as_int(self) -> Option<i128> {
        match self.scalar.kind() {
            Kind::Signed => Some(i128::from(self.bits as i64)),
            Kind::Unsigned | Kind::Bool => Some(i128::from(self.bits)),
            Kind::Float => None,
        }
    }

    pub fn as_float(self) -> Option<f64> {
        match self.scalar {
            Scalar::F32 => Some(f64::from(f32::from_bits(self.bits as u32))),
            Scalar::F64 => Some(f64::from_bits(self.bits)),
            Scalar::F16 => Some(f16::from_bits(self.bits as u16).to_f64()),
            Scalar::Bf16 => Some(bf16::from_bits(self.bits as u16).to_f64()),
            _ => None,
        }
    }

    /// This value as another scalar type, by the rules of a cast: ints wrap, floats saturate.
    pub fn cast(self, to: Scalar) -> Constant {
        match (self.as_int(), self.as_float(), to.kind()) {
            (Some(value), _, Kind::Bool) => Constant::bool(value != 0),
            (_, Some(value), Kind::Bool) => Constant::bool(value != 0.0),
            (Some(value), _, Kind::Float) => Constant::float(to, int_to_float(value, to)),
            (_, Some(value), Kind::Float) => Constant::float(to, value),
            (Some(value), _, _) => Constant::int(to, value),
            (_, Some(value), _) => Constant::int(to, saturate(value, to)),
            (None, None, _) => Constant::zero(to),
        }
    }
}

/// An f64 that rounds to the correct float of type `to`. Without this, a 64-bit int would be rounded twice, to f64
/// and to f32. For narrow floats the bits after the first 53 become one sticky bit.
fn int_to_float(value: i128, to: Scalar) -> f64 {
    match to {
        Scalar::F64 => value as f64,
        Scalar::F32 => f64::from(value as f32),
        _ => {
            let n_dropped = (128 - value.unsigned_abs().leading_zeros()).saturating_sub(52);
            let kept = value >> n_dropped;
            let is_inexact = kept << n_dropped != value;
            (kept | i128::from(is_inexact)) as f64 * f64::from(n_dropped).exp2()
        }
    }
}

fn saturate(value: f64, to: Scalar) -> i128 {
    let (min, max) = to.int_range().expect("floats saturate to int types only");
    if value.is_nan() { 0 } else { (value as i128).clamp(min, max) }
}

/// The kind of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralKind {
    Int,
    Float,
}

impl LiteralKind {
    pub fn name(self) -> &'static str {
        match self {
            LiteralKind::Int => "int",
            LiteralKind::Float => "float",
        }
    }
}

/// A literal that has no type yet: it takes the other side's.
#[derive(Clone, Copy, Debug)]
pub enum Literal {
    Int(i128),
    Float(f64),
}

/// By bits, so that a literal can be part of a key.
impl PartialEq for Literal {
    fn eq(&self, other: &Literal) -> bool {
        match (self, other) {
            (Literal::Int(a), Literal::Int(b)) => a == b,
            (Literal::Float(a), Literal::Float(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        }
    }
}

impl Eq for Literal {}

impl std::hash::Hash for Literal {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        match self {
            Literal::Int(value) => value.hash(state),
            Literal::Float(value) => value.to_bits().hash(state),
        }
    }
}

impl Literal {
    pub fn kind(self) -> LiteralKind {
        match self {
            Literal::Int(_) => LiteralKind::Int,
            Literal::Float(_) => LiteralKind::Float,
        }
    }

    /// The type it takes alone.
    pub fn default_scalar(self) -> Scalar {
        match self {
            Literal::Int(_) => Scalar::I32,
            Literal::Float(_) => Scalar::F32,
        }
    }

    pub fn to_f64(self) -> f64 {
        match self {
            Literal::Int(value) => value.to_f64().unwrap_or(f64::NAN),
            Literal::Float(value) => value,
        }
    }

    /// As a constant of type `scalar`; `None` where it does not fit: an int out of range, or that a float type would
    /// round, a float that is not an int, a finite float past the largest one.
    pub fn fit(self, scalar: Scalar) -> Option<Constant> {
        match (self, scalar.kind()) {
            (_, Kind::Bool) => None,
            (Literal::Int(value), Kind::Signed | Kind::Unsigned) => {
                let (min, max) = scalar.int_range()?;
                (min..=max).contains(&value).then(|| Constant::int(scalar, value))
            }
            (Literal::Int(value), Kind::Float) => {
                let is_exact =
                    |constant: &Constant| constant.as_float().is_some_and(|it| it as i128 == value);
                self.rounded(scalar).filter(is_exact)
            }
            (Literal::Float(_), Kind::Signed | Kind::Unsigned) => None,
            (Literal::Float(value), Kind::Float) => finite(value, scalar),
        }
    }
}

impl Literal {
    /// As a constant of a float type, rounded; `None` where it is past the largest one.
    pub fn rounded(self, float: Scalar) -> Option<Constant> {
        match self {
            Literal::Int(value) => finite(int_to_float(value, float), float),
            Literal::Float(value) => finite(value, float),
        }
    }
}

/// Rounds to odd: toward zero, with the last bit set if the result is inexact. A second rounding, to 16 bits, is then
/// correct. (`half` itself reads only the upper half of an f64.)
fn rounded_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) == value || value.is_nan() {
        return nearest;
    }
    let is_past = f64::from(nearest).abs() > value.abs();
    f32::from_bits((nearest.to_bits() - u32::from(is_past)) | 1)
}

/// `None` where a finite value becomes infinite.
fn finite(value: f64, scalar: Scalar) -> Option<Constant> {
    let constant = Constant::float(scalar, value);
    let overflowed = value.is_finite() && constant.as_float().is_some_and(f64::is_infinite);
    (!overflowed).then_some(constant)
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Int(value) => write!(f, "{value}"),
            Literal::Float(value) => write!(f, "{value:?}"),
        }
    }
}
