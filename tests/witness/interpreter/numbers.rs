//! Arithmetic on single numbers: rules 4, 5, 10 and 11 of the language, each where it applies.
//!
//! Ints are computed exactly and wrap around. Floats are computed in f64 and rounded once to their type. For
//! `+ - * /` and the square root of narrower types, that equals the type's own arithmetic.

use kps_kernel::ir::{AtomicOp, BinaryOp, BitsOp, CompareOp, FloatFn, UnaryOp};
use kps_kernel::{Constant, Kind, Scalar};

use super::{Stop, Value};

/// An int of any size, wrapped around to the type.
fn wrap(scalar: Scalar, value: i128) -> Value {
    Value::Int(Constant::int(scalar, value).as_int().expect("an int type"))
}

/// A float rounded to the type, ties to even.
fn round(scalar: Scalar, value: f64) -> Value {
    Value::Float(Constant::float(scalar, value).as_float().expect("a float type"))
}

pub fn unary(op: UnaryOp, scalar: Scalar, a: &Value) -> Value {
    match (op, a) {
        (UnaryOp::Not, a) => Value::Bool(!a.as_bool()),
        (UnaryOp::Invert, a) => wrap(scalar, !a.as_int()),
        (UnaryOp::Negate, Value::Float(a)) => Value::Float(-a),
        (UnaryOp::Negate, a) => wrap(scalar, -a.as_int()),
    }
}

pub fn bits(op: BitsOp, a: &Value) -> Value {
    let a = a.as_int() as u32;
    let bits = match op {
        BitsOp::CountOnes => a.count_ones(),
        BitsOp::HighestOne => 31_u32.wrapping_sub(a.leading_zeros()),
        BitsOp::Reverse => a.reverse_bits(),
    };
    Value::Int(i128::from(bits))
}

pub fn binary(op: BinaryOp, scalar: Scalar, a: &Value, b: &Value) -> Value {
    match scalar.kind() {
        Kind::Bool => Value::Bool(of_bools(op, a.as_bool(), b.as_bool())),
        Kind::Float => round(scalar, of_floats(op, a.as_float(), b.as_float())),
        _ => wrap(scalar, of_ints(op, scalar, a.as_int(), b.as_int())),
    }
}

/// Whether a product of floats is exact, so that fusing it with a sum has the same result.
pub fn is_exact(op: Option<BinaryOp>, operands: &[&Value], result: &Value) -> bool {
    match (op, operands, result) {
        (Some(BinaryOp::Mul), [Value::Float(a), Value::Float(b)], Value::Float(result)) => {
            a.mul_add(*b, -result) == 0.0
        }
        _ => true,
    }
}

fn of_bools(op: BinaryOp, a: bool, b: bool) -> bool {
    match op {
        BinaryOp::And => a && b,
        BinaryOp::Or => a || b,
        BinaryOp::Xor => a != b,
        _ => panic!("{op:?} of bools, which `verify` refuses"),
    }
}

fn of_ints(op: BinaryOp, scalar: Scalar, a: i128, b: i128) -> i128 {
    let amount = b & i128::from(scalar.bits() - 1);
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        // The product of two u64 needs all 128 bits; only the low 64 count.
        BinaryOp::Mul => a.wrapping_mul(b),
        // Division by zero gives 0. MIN // -1 wraps around.
        _ if b == 0 && is_division(op) => 0,
        BinaryOp::FloorDiv => a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0),
        BinaryOp::FloorMod => a.rem_euclid(b) + if b < 0 && a.rem_euclid(b) != 0 { b } else { 0 },
        BinaryOp::PlainDiv | BinaryOp::PlainMod if a < 0 || b < 0 => {
            panic!("a division that was proven to be of ints that are not negative is one of {a} by {b}")
        }
        BinaryOp::PlainDiv | BinaryOp::TruncDiv => a / b,
        BinaryOp::PlainMod | BinaryOp::TruncRem => a % b,
        BinaryOp::ShiftLeft => a << amount,
        BinaryOp::ShiftRight => a >> amount,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Div => panic!("`/` of ints, which `verify` refuses"),
    }
}

fn is_division(op: BinaryOp) -> bool {
    use BinaryOp as B;
    matches!(op, B::FloorDiv | B::FloorMod | B::PlainDiv | B::PlainMod | B::TruncDiv | B::TruncRem)
}

fn of_floats(op: BinaryOp, a: f64, b: f64) -> f64 {
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::TruncRem => a % b,
        BinaryOp::FloorDiv => (a / b).floor(),
        BinaryOp::FloorMod => {
            let rest = a % b;
            if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
        }
        _ => panic!("{op:?} of floats, which `verify` refuses"),
    }
}

pub fn compare(op: CompareOp, a: &Value, b: &Value) -> bool {
    // A NaN is unordered: all comparisons except `!=` are false.
    let order = match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (a, b) => Some(a.as_int().cmp(&b.as_int())),
    };
    match op {
        CompareOp::Equal => order.is_some_and(|order| order.is_eq()),
        CompareOp::NotEqual => order.is_none_or(|order| order.is_ne()),
        CompareOp::Less => order.is_some_and(|order| order.is_lt()),
        CompareOp::LessEqual => order.is_some_and(|order| order.is_le()),
        CompareOp::Greater => order.is_some_and(|order| order.is_gt()),
        CompareOp::GreaterEqual => order.is_some_and(|order| order.is_ge()),
    }
}

/// Ints wrap around. Floats are truncated and saturate, and NaN gives 0. Any number but 0 is true.
pub fn convert(to: Scalar, a: &Value) -> Value {
    match (to.kind(), a) {
        (Kind::Bool, Value::Bool(a)) => Value::Bool(*a),
        (Kind::Bool, Value::Int(a)) => Value::Bool(*a != 0),
        (Kind::Bool, a) => Value::Bool(a.as_float() != 0.0),
        (Kind::Float, Value::Float(a)) => round(to, *a),
        (Kind::Float, Value::Bool(a)) => Value::Float(f64::from(u8::from(*a))),
        (Kind::Float, a) => int_to_float(to, a.as_int()),
        (_, Value::Bool(a)) => Value::Int(i128::from(*a)),
        (_, Value::Int(a)) => wrap(to, *a),
        (_, a) => {
            let (min, max) = to.int_range().expect("an int type");
            // Rust's own cast also saturates, and maps NaN to 0.
            Value::Int((a.as_float() as i128).clamp(min, max))
        }
    }
}

/// Rounded once: the bits that a narrow float loses are kept as a sticky bit, the last of 33.
fn int_to_float(to: Scalar, value: i128) -> Value {
    match to {
        Scalar::F64 => Value::Float(value as f64),
        Scalar::F32 => Value::Float(f64::from(value as f32)),
        _ => {
            let n_dropped = (128 - value.unsigned_abs().leading_zeros()).saturating_sub(32);
            let high = value >> n_dropped;
            let is_inexact = high << n_dropped != value;
            round(to, (high | i128::from(is_inexact)) as f64 * f64::from(n_dropped).exp2())
        }
    }
}

pub fn bitcast(from: Scalar, to: Scalar, a: &Value) -> Result<Value, Stop> {
    match a {
        Value::Float(value) if value.is_nan() => Err(Stop::Open("the bits of a NaN")),
        a => Ok(Value::number(to, a.bits(from))),
    }
}

pub fn abs(scalar: Scalar, a: &Value) -> Value {
    match a {
        Value::Float(a) => Value::Float(a.abs()),
        a => wrap(scalar, a.as_int().abs()),
    }
}

pub fn copy_sign(magnitude: f64, sign: f64) -> Result<Value, Stop> {
    match magnitude.is_nan() || sign.is_nan() {
        true => Err(Stop::Open("the sign of a NaN")),
        false => Ok(Value::Float(magnitude.copysign(sign))),
    }
}

pub fn sign(a: &Value) -> Result<Value, Stop> {
    match a {
        Value::Float(a) if a.is_nan() => Err(Stop::Open("the sign of a NaN")),
        Value::Float(a) if *a == 0.0 => Err(Stop::Open("the sign of a zero")),
        Value::Float(a) => Ok(Value::Float(a.signum())),
        a => Ok(Value::Int(a.as_int().signum())),
    }
}

/// The functions that are exact on every device.
pub fn float_function(function: FloatFn, scalar: Scalar, args: &[f64]) -> Result<Value, Stop> {
    let result = match (function, args) {
        (FloatFn::Round, [a]) => a.round_ties_even(),
        (FloatFn::Trunc, [a]) => a.trunc(),
        (FloatFn::Floor, [a]) => a.floor(),
        (FloatFn::Ceil, [a]) => a.ceil(),
        (FloatFn::Fract, [a]) => a - a.floor(),
        (FloatFn::Sqrt, [a]) => a.sqrt(),
        (FloatFn::Fma, [a, b, c]) => return Ok(fused(scalar, *a, *b, *c)),
        (FloatFn::NMin, [a, b]) => other_than_nan(*a, *b, f64::min)?,
        (FloatFn::NMax, [a, b]) => other_than_nan(*a, *b, f64::max)?,
        (FloatFn::NClamp, [x, low, high]) => {
            let at_least = other_than_nan(*x, *low, f64::max)?;
            other_than_nan(at_least, *high, f64::min)?
        }
        _ => return Err(Stop::NotHere(format!("{function:?}, which has a bound"))),
    };
    Ok(round(scalar, result))
}

/// Rounded once: the product of two f32 is exact in f64, but the sum is not.
fn fused(scalar: Scalar, a: f64, b: f64, c: f64) -> Value {
    match scalar {
        Scalar::F64 => Value::Float(a.mul_add(b, c)),
        _ => Value::Float(f64::from((a as f32).mul_add(b as f32, c as f32))),
    }
}

fn other_than_nan(a: f64, b: f64, choose: fn(f64, f64) -> f64) -> Result<f64, Stop> {
    match a == 0.0 && b == 0.0 && a.is_sign_negative() != b.is_sign_negative() {
        true => Err(Stop::Open("which of two zeros is less")),
        false => Ok(choose(a, b)),
    }
}

/// The new value of an element; `None` if it does not change.
pub fn atomic(
    op: AtomicOp,
    scalar: Scalar,
    old: &Value,
    value: Option<&Value>,
    expected: Option<&Value>,
) -> Option<Value> {
    let value = || value.expect("only a load has no value");
    let with = |op| Some(binary(op, scalar, old, value()));
    let unless = |holds: CompareOp| if compare(holds, old, value()) { None } else { Some(value().clone()) };
    match op {
        AtomicOp::Add => with(BinaryOp::Add),
        AtomicOp::Sub => with(BinaryOp::Sub),
        AtomicOp::And => with(BinaryOp::And),
        AtomicOp::Or => with(BinaryOp::Or),
        AtomicOp::Xor => with(BinaryOp::Xor),
        AtomicOp::Min => unless(CompareOp::LessEqual),
        AtomicOp::Max => unless(CompareOp::GreaterEqual),
        AtomicOp::Exchange | AtomicOp::Store => Some(value().clone()),
        AtomicOp::CompareExchange => {
            let expected = expected.expect("a compare-exchange says what it expects");
            (old.bits(scalar) == expected.bits(scalar)).then(|| value().clone())
        }
        AtomicOp::Load => None,
    }
}
