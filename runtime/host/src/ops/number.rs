//! Arithmetic on bool, int and float: pure functions, exact where Python is exact.

use std::cmp::Ordering;
use std::hash::Hasher;

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use siphasher::sip::SipHasher13;

use crate::builtins::complex::Complex;
use crate::errors;
use crate::ops::long;
use crate::value::{BinaryOp, Raise, Result, Value};

/// The most bits of an int: a mistake such as `9 ** 9 ** 9` ends in an error, not in the swap space.
const MAX_BITS: u64 = 1 << 26;

/// 2 ** 53: below it, every int is a float.
const EXACT: i64 = 1 << 53;

/// A number of any kind.
#[derive(Clone)]
pub enum Number<'a> {
    Int(i64),
    Big(&'a BigInt),
    Float(f64),
}

pub fn number(value: &Value) -> Option<Number<'_>> {
    match value {
        Value::Int(int) => Some(Number::Int(*int)),
        Value::Float(float) => Some(Number::Float(*float)),
        Value::Bool(truth) => Some(Number::Int(*truth as i64)),
        Value::BigInt(big) => Some(Number::Big(big)),
        _ => None,
    }
}

impl Number<'_> {
    pub fn to_f64(&self) -> Result<f64> {
        match self {
            Number::Int(int) => Ok(*int as f64),
            Number::Float(float) => Ok(*float),
            Number::Big(big) => big_to_f64(big),
        }
    }
}

fn big_to_f64(big: &BigInt) -> Result<f64> {
    match big.to_f64() {
        Some(float) if float.is_finite() => Ok(float),
        _ => Err(errors::overflow_error("int too large to convert to float")),
    }
}

/// The value as an int of any size, when it is an int or a bool.
pub fn to_big(value: &Value) -> Option<BigInt> {
    match value {
        Value::Int(int) => Some(BigInt::from(*int)),
        Value::Bool(truth) => Some(BigInt::from(*truth as u8)),
        Value::BigInt(big) => Some((**big).clone()),
        _ => None,
    }
}

/// Whether a number on the left handles an instance of a class derived from a number on the right: ints
/// handle only ints.
pub fn takes(left: &Value, right: &Value) -> bool {
    let is_int = |value: &Value| matches!(value, Value::Int(_) | Value::Bool(_) | Value::BigInt(_));
    match left {
        Value::Float(_) => matches!(right.base_value(), Value::Float(_)) || is_int(right.base_value()),
        left => is_int(left) && is_int(right.base_value()),
    }
}

/// `==` of two numbers; `None` if one is not a number.
pub fn equal(left: &Value, right: &Value) -> Option<bool> {
    Some(order(&number(left)?, &number(right)?) == Some(Ordering::Equal))
}

/// The order of two numbers, exact between ints and floats; `None` if one is NaN.
pub fn order(left: &Number, right: &Number) -> Option<Ordering> {
    match (left, right) {
        (Number::Int(left), Number::Int(right)) => Some(left.cmp(right)),
        (Number::Float(left), Number::Float(right)) => left.partial_cmp(right),
        (Number::Int(int), Number::Float(float)) => order_int_float(*int, *float),
        (Number::Float(float), Number::Int(int)) => order_int_float(*int, *float).map(Ordering::reverse),
        (Number::Big(left), Number::Big(right)) => Some(left.cmp(right)),
        (Number::Big(big), Number::Int(_)) => Some(sign_order(big)),
        (Number::Int(_), Number::Big(big)) => Some(sign_order(big).reverse()),
        (Number::Big(big), Number::Float(float)) => order_big_float(big, *float),
        (Number::Float(float), Number::Big(big)) => order_big_float(big, *float).map(Ordering::reverse),
    }
}

/// A big int is outside of i64, so its sign decides.
fn sign_order(big: &BigInt) -> Ordering {
    if big.sign() == Sign::Minus { Ordering::Less } else { Ordering::Greater }
}

fn order_int_float(int: i64, float: f64) -> Option<Ordering> {
    if int.abs_diff(0) <= EXACT as u64 {
        return (int as f64).partial_cmp(&float);
    }
    if float.is_nan() {
        return None;
    }
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if float >= LIMIT {
        return Some(Ordering::Less);
    }
    if float < -LIMIT {
        return Some(Ordering::Greater);
    }
    // The fraction decides between an int and a float of the same whole part.
    Some(int.cmp(&(float.trunc() as i64)).then(0.0.partial_cmp(&float.fract()).unwrap_or(Ordering::Equal)))
}

fn order_big_float(big: &BigInt, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    match float_to_big(float) {
        Some(whole) => Some(big.cmp(&whole)),
        None => Some(if float > 0.0 { Ordering::Less } else { Ordering::Greater }),
    }
}

/// The whole part of a finite float.
pub fn float_to_big(float: f64) -> Option<BigInt> {
    num_traits::FromPrimitive::from_f64(float)
}

/// `left op right` for two numbers; `None` if one is not a number or the operator is not numeric.
pub fn arithmetic(op: BinaryOp, left: &Value, right: &Value) -> Option<Result> {
    let (left_number, right_number) = (number(left)?, number(right)?);
    let is_float = matches!(left_number, Number::Float(_)) || matches!(right_number, Number::Float(_));
    match op {
        BinaryOp::MatMul => None,
        BinaryOp::LeftShift
        | BinaryOp::RightShift
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
            if is_float =>
        {
            None
        }
        _ if is_float => Some(float_arithmetic(op, &left_number, &right_number)),
        _ => Some(match (&left_number, &right_number) {
            (Number::Int(l), Number::Int(r)) => small_arithmetic(op, *l, *r, both_bool(left, right)),
            _ => big_arithmetic(op, &to_big(left)?, &to_big(right)?),
        }),
    }
}

fn both_bool(left: &Value, right: &Value) -> bool {
    matches!((left, right), (Value::Bool(_), Value::Bool(_)))
}

fn float_arithmetic(op: BinaryOp, left: &Number, right: &Number) -> Result {
    let (left, right) = (left.to_f64()?, right.to_f64()?);
    // The power of a negative number by a fraction is complex.
    let is_finite = left.is_finite() && right.is_finite();
    if op == BinaryOp::Pow && left < 0.0 && is_finite && right.fract() != 0.0 {
        let [base, exponent] = [left, right].map(|re| Complex { re, im: 0.0 });
        return base.power(exponent).map(Complex::value);
    }
    float_op(op, left, right).map(Value::Float)
}

pub fn float_op(op: BinaryOp, left: f64, right: f64) -> Result<f64> {
    Ok(match op {
        BinaryOp::Add => left + right,
        BinaryOp::Sub => left - right,
        BinaryOp::Mul => left * right,
        BinaryOp::Div if right == 0.0 => return Err(errors::zero_division("float division by zero")),
        BinaryOp::Div => left / right,
        BinaryOp::FloorDiv if right == 0.0 => {
            return Err(errors::zero_division("float floor division by zero"));
        }
        BinaryOp::FloorDiv => floor_div(left, right),
        BinaryOp::Mod if right == 0.0 => return Err(errors::zero_division("float modulo")),
        BinaryOp::Mod => floor_mod(left, right),
        BinaryOp::Pow => return float_pow(left, right),
        _ => unreachable!("bit operators are not for floats"),
    })
}

/// Python's `%` of floats: the sign of the divisor.
pub fn floor_mod(left: f64, right: f64) -> f64 {
    let rem = left % right;
    if rem == 0.0 {
        return 0.0_f64.copysign(right);
    }
    if (rem < 0.0) != (right < 0.0) { rem + right } else { rem }
}

/// Python's `//` of floats, consistent with [`floor_mod`].
pub fn floor_div(left: f64, right: f64) -> f64 {
    let mut rem = left % right;
    let mut quotient = (left - rem) / right;
    if rem != 0.0 && (rem < 0.0) != (right < 0.0) {
        rem += right;
        quotient -= 1.0;
    }
    let _ = rem;
    if quotient == 0.0 {
        return 0.0_f64.copysign(left / right);
    }
    let floor = quotient.floor();
    if quotient - floor > 0.5 { floor + 1.0 } else { floor }
}

fn float_pow(left: f64, right: f64) -> Result<f64> {
    if left == 0.0 && right < 0.0 && right.is_finite() {
        return Err(errors::zero_division("0.0 cannot be raised to a negative power"));
    }
    let power = left.powf(right);
    if power.is_infinite() && left.is_finite() && right.is_finite() {
        return Err(errors::overflow_error("(34, 'Numerical result out of range')"));
    }
    Ok(power)
}

fn small_arithmetic(op: BinaryOp, left: i64, right: i64, both_bool: bool) -> Result {
    let small = match op {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Sub => left.checked_sub(right),
        BinaryOp::Mul => left.checked_mul(right),
        BinaryOp::Div => return small_divide(left, right),
        BinaryOp::FloorDiv => {
            if right == 0 {
                return Err(errors::zero_division("integer division or modulo by zero"));
            }
            left.checked_div_euclid(right).map(|_| Integer::div_floor(&left, &right))
        }
        BinaryOp::Mod => {
            if right == 0 {
                return Err(errors::zero_division("integer modulo by zero"));
            }
            Some(if right == -1 { 0 } else { Integer::mod_floor(&left, &right) })
        }
        BinaryOp::Pow => return small_pow(left, right),
        BinaryOp::LeftShift if right < 0 => return Err(negative_shift()),
        BinaryOp::LeftShift if left == 0 => Some(0),
        BinaryOp::LeftShift if right < 63 => {
            let shifted = left << right;
            (shifted >> right == left).then_some(shifted)
        }
        BinaryOp::LeftShift => None,
        BinaryOp::RightShift if right < 0 => return Err(negative_shift()),
        BinaryOp::RightShift => Some(left >> right.min(63)),
        BinaryOp::BitAnd if both_bool => return Ok(Value::Bool(left & right != 0)),
        BinaryOp::BitOr if both_bool => return Ok(Value::Bool(left | right != 0)),
        BinaryOp::BitXor if both_bool => return Ok(Value::Bool(left ^ right != 0)),
        BinaryOp::BitAnd => Some(left & right),
        BinaryOp::BitOr => Some(left | right),
        BinaryOp::BitXor => Some(left ^ right),
        BinaryOp::MatMul => unreachable!("numbers have no matrix product"),
    };
    match small {
        Some(int) => Ok(Value::Int(int)),
        None => big_arithmetic(op, &BigInt::from(left), &BigInt::from(right)),
    }
}

fn negative_shift() -> Raise {
    errors::value_error("negative shift count")
}

fn small_divide(left: i64, right: i64) -> Result {
    if right == 0 {
        return Err(errors::zero_division("division by zero"));
    }
    if left.unsigned_abs() <= EXACT as u64 && right.unsigned_abs() <= EXACT as u64 {
        return Ok(Value::Float(left as f64 / right as f64));
    }
    true_divide(&BigInt::from(left), &BigInt::from(right)).map(Value::Float)
}

fn small_pow(base: i64, exponent: i64) -> Result {
    if exponent < 0 {
        if base == 0 {
            return Err(errors::zero_division("0.0 cannot be raised to a negative power"));
        }
        return float_pow(base as f64, exponent as f64).map(Value::Float);
    }
    match u32::try_from(exponent).ok().and_then(|exponent| base.checked_pow(exponent)) {
        Some(power) => Ok(Value::Int(power)),
        None => big_pow(&BigInt::from(base), &BigInt::from(exponent)),
    }
}

fn big_arithmetic(op: BinaryOp, left: &BigInt, right: &BigInt) -> Result {
    Ok(Value::big(match op {
        BinaryOp::Add => left + right,
        BinaryOp::Sub => left - right,
        BinaryOp::Mul => {
            check_bits(left.bits() + right.bits())?;
            long::mul(left, right)?
        }
        BinaryOp::Div => return true_divide(left, right).map(Value::Float),
        BinaryOp::FloorDiv if right.is_zero() => {
            return Err(errors::zero_division("integer division or modulo by zero"));
        }
        BinaryOp::FloorDiv => long::div_mod_floor(left, right)?.0,
        BinaryOp::Mod if right.is_zero() => return Err(errors::zero_division("integer modulo by zero")),
        BinaryOp::Mod => long::div_mod_floor(left, right)?.1,
        BinaryOp::Pow => return big_pow(left, right),
        BinaryOp::LeftShift => {
            if right.is_negative() {
                return Err(negative_shift());
            }
            let shift = right.to_u64().unwrap_or(u64::MAX);
            check_bits(left.bits().saturating_add(shift))?;
            left << shift
        }
        BinaryOp::RightShift => {
            if right.is_negative() {
                return Err(negative_shift());
            }
            left >> right.to_u64().unwrap_or(u64::MAX).min(MAX_BITS + 64)
        }
        BinaryOp::BitAnd => left & right,
        BinaryOp::BitOr => left | right,
        BinaryOp::BitXor => left ^ right,
        BinaryOp::MatMul => unreachable!("numbers have no matrix product"),
    }))
}

fn check_bits(n_bits: u64) -> Result<()> {
    if n_bits > MAX_BITS {
        return Err(errors::memory_error(format!("an int of more than {MAX_BITS} bits is too large")));
    }
    Ok(())
}

fn big_pow(base: &BigInt, exponent: &BigInt) -> Result {
    if exponent.is_negative() {
        let (base, exponent) = (big_to_f64(base)?, big_to_f64(exponent)?);
        return float_pow(base, exponent).map(Value::Float);
    }
    if base.abs().is_one() || base.is_zero() {
        let is_negative = base.is_negative() && exponent.is_odd();
        let magnitude = if base.is_zero() && !exponent.is_zero() { 0 } else { 1 };
        return Ok(Value::Int(if is_negative { -magnitude } else { magnitude }));
    }
    let exponent = exponent.to_u32().unwrap_or(u32::MAX);
    check_bits((base.bits() - 1).saturating_mul(exponent as u64))?;
    Ok(Value::big(long::pow(base, exponent)?))
}

/// The float nearest to the exact quotient.
fn true_divide(left: &BigInt, right: &BigInt) -> Result<f64> {
    if right.is_zero() {
        return Err(errors::zero_division("division by zero"));
    }
    if left.is_zero() {
        return Ok(0.0);
    }
    let is_negative = left.is_negative() != right.is_negative();
    let (left, right) = (left.magnitude(), right.magnitude());
    // Scale so that the quotient has at least 66 bits. The remainder makes the lowest one sticky, so rounding
    // to 53 bits rounds only once.
    let shift = 66 - (left.bits() as i64 - right.bits() as i64);
    let (scaled_left, scaled_right) = if shift >= 0 {
        (left << shift as u64, right.clone())
    } else {
        (left.clone(), right << (-shift) as u64)
    };
    let (mut quotient, rem) = long::div_rem(&scaled_left, &scaled_right)?;
    if !rem.is_zero() {
        quotient.set_bit(0, true);
    }
    let mantissa = quotient.to_f64().unwrap_or(f64::INFINITY);
    let float = scale_by_power(mantissa, -shift);
    if float.is_infinite() {
        return Err(errors::overflow_error("integer division result too large for a float"));
    }
    Ok(if is_negative { -float } else { float })
}

/// `float * 2 ** exponent`, in steps that do not overflow on the way.
pub fn scale_by_power(mut float: f64, mut exponent: i64) -> f64 {
    while exponent > 1000 {
        float *= 2f64.powi(1000);
        exponent -= 1000;
        if float.is_infinite() {
            return float;
        }
    }
    while exponent < -1000 {
        float *= 2f64.powi(-1000);
        exponent += 1000;
        if float == 0.0 {
            return float;
        }
    }
    float * 2f64.powi(exponent as i32)
}

/// Hashes are numbers modulo this prime, so that equal numbers of any type have equal hashes.
const HASH_PRIME: u64 = (1 << 61) - 1;

#[inline]
pub fn hash_int(int: i64) -> i64 {
    if (0..HASH_PRIME as i64).contains(&int) {
        return int;
    }
    let magnitude = (int.unsigned_abs() % HASH_PRIME) as i64;
    not_minus_one(if int < 0 { -magnitude } else { magnitude })
}

/// The hash of an int in hash tables: [`hash_int`] for ints that are their own hash. Multiples of the prime
/// share one Python hash, and would collide in a table.
#[inline]
pub fn key_of_int(int: i64) -> i64 {
    if int.unsigned_abs() < HASH_PRIME { hash_int(int) } else { key_of_digits(int < 0, [int.unsigned_abs()]) }
}

fn key_of_digits(is_negative: bool, digits: impl IntoIterator<Item = u64>) -> i64 {
    let mut hasher = SipHasher13::new_with_keys(0, u64::from(is_negative));
    digits.into_iter().for_each(|digit| hasher.write_u64(digit));
    hasher.finish() as i64
}

/// The same of an int of any size.
pub fn key_of_big(big: &BigInt) -> i64 {
    match i64::try_from(big) {
        Ok(int) => key_of_int(int),
        Err(_) => key_of_digits(big.is_negative(), big.iter_u64_digits()),
    }
}

/// The same for a float: that of the equal int, if there is one.
pub fn key_of_float(float: f64) -> i64 {
    let is_own_hash = float.abs() < HASH_PRIME as f64 || float.fract() != 0.0;
    match float_to_big(float) {
        Some(whole) if !is_own_hash => key_of_big(&whole),
        _ => hash_float(float),
    }
}

pub fn hash_big(big: &BigInt) -> i64 {
    let rem = (big.magnitude() % HASH_PRIME).to_i64().unwrap_or(0);
    not_minus_one(if big.is_negative() { -rem } else { rem })
}

/// CPython's hash of a float: its exact value modulo the prime.
pub fn hash_float(float: f64) -> i64 {
    if float.is_nan() {
        return 0;
    }
    if float.is_infinite() {
        return if float > 0.0 { 314_159 } else { -314_159 };
    }
    if float.fract() == 0.0 && float.abs() < EXACT as f64 {
        return hash_int(float as i64);
    }
    let bits = float.abs().to_bits();
    let biased = (bits >> 52) as i64;
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, exponent) =
        if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
    // 2 ** 61 is 1 modulo the prime, so a power of two is a rotation of 61 bits.
    let turn = exponent.rem_euclid(61) as u32;
    let hash = mantissa % HASH_PRIME;
    let rotated = (((hash as u128) << turn) % HASH_PRIME as u128) as i64;
    not_minus_one(if float < 0.0 { -rotated } else { rotated })
}

fn not_minus_one(hash: i64) -> i64 {
    if hash == -1 { -2 } else { hash }
}
