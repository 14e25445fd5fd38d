//! float: its constructor and methods.

use num_bigint::BigInt;
use num_traits::{One, ToPrimitive};

use super::support::str_arg;
use super::{bytes, protocol};
use crate::errors;
use crate::ops::number;
use crate::text::digits::parse_float;
use crate::value::{Args, NativeDef, Result, Value};
use crate::vm::Vm;

pub static METHODS: &[NativeDef] = &[
    NativeDef::method("is_integer", is_integer),
    NativeDef::method("as_integer_ratio", as_integer_ratio),
    NativeDef::method("hex", hex),
    NativeDef::static_method("fromhex", fromhex),
    NativeDef::method("conjugate", dunder_float),
    NativeDef::getter("real", dunder_float),
    NativeDef::getter("imag", |_, _| Ok(Value::Float(0.0))),
    NativeDef::method("__float__", dunder_float),
    NativeDef::method("__int__", dunder_int),
    NativeDef::method("__trunc__", dunder_int),
    NativeDef::method("__bool__", protocol::bool),
    NativeDef::method("__format__", protocol::format),
    NativeDef::method("__abs__", super::arithmetic::dunder_abs),
    NativeDef::method("__add__", protocol::add),
    NativeDef::method("__radd__", protocol::radd),
    NativeDef::method("__sub__", protocol::sub),
    NativeDef::method("__rsub__", protocol::rsub),
    NativeDef::method("__mul__", protocol::mul),
    NativeDef::method("__rmul__", protocol::rmul),
    NativeDef::method("__truediv__", protocol::truediv),
    NativeDef::method("__rtruediv__", protocol::rtruediv),
    NativeDef::method("__floordiv__", protocol::floordiv),
    NativeDef::method("__mod__", protocol::modulo),
    NativeDef::method("__pow__", protocol::pow),
    NativeDef::method("__neg__", protocol::neg),
    NativeDef::method("__pos__", protocol::pos),
    NativeDef::method("__lt__", protocol::lt),
    NativeDef::method("__le__", protocol::le),
    NativeDef::method("__gt__", protocol::gt),
    NativeDef::method("__ge__", protocol::ge),
];

/// `float(value)`.
pub fn new(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("float");
    let value = parser.optional_positional();
    parser.finish()?;
    let Some(value) = value else { return Ok(Value::Float(0.0)) };
    if let Some(text) = value.as_str() {
        return Ok(Value::Float(parse_float(text)?));
    }
    if let Some(bytes) = bytes::like(value) {
        let text: String = bytes.iter().map(|&byte| byte as char).collect();
        return Ok(Value::Float(parse_float(&text)?));
    }
    match number_of(vm, value)? {
        Some(float) => Ok(Value::Float(float)),
        None => Err(errors::type_error(format!(
            "float() argument must be a string or a real number, not '{}'",
            value.type_name()
        ))),
    }
}

/// The value as a float, for functions of numbers: `math.sqrt`, `%f`.
pub fn to_f64(vm: &mut Vm, value: &Value) -> Result<f64> {
    match value {
        Value::Float(float) => Ok(*float),
        Value::Int(int) => Ok(*int as f64),
        other => number_of(vm, other)?.ok_or_else(|| errors::not_a_number(other)),
    }
}

/// The float value of a number or of an object with `__float__` or `__index__`.
fn number_of(vm: &mut Vm, value: &Value) -> Result<Option<f64>> {
    if let Some(number) = number::number(value.base_value()) {
        return number.to_f64().map(Some);
    }
    let class = vm.class_of(value);
    if let Some(function) = class.lookup_text("__float__") {
        let float = vm.call_method_value(&function, value, &[])?;
        return match float.base_value() {
            Value::Float(float) => Ok(Some(*float)),
            other => Err(errors::type_error(format!(
                "{}.__float__ returned non-float (type {})",
                value.type_name(),
                other.type_name()
            ))),
        };
    }
    Ok(vm.try_index(value)?.map(|int| int as f64))
}

fn this(args: &Args) -> Result<f64> {
    match args.receiver()? {
        Value::Float(float) => Ok(*float),
        other => match number::number(other) {
            Some(number) => number.to_f64(),
            None => Err(errors::wrong_receiver(other)),
        },
    }
}

pub fn dunder_float(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::Float(this(args)?))
}

fn dunder_int(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::big(super::int::truncate(this(args)?)?))
}

fn is_integer(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("float.is_integer")?;
    let float = this(args)?;
    Ok(Value::Bool(float.is_finite() && float.fract() == 0.0))
}

/// A finite float as `mantissa * 2^exponent`, the mantissa odd or zero.
fn decompose(float: f64) -> (u64, i64) {
    let bits = float.abs().to_bits();
    let biased = (bits >> 52) as i64;
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, exponent) =
        if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
    if mantissa == 0 {
        return (0, 0);
    }
    let n_zeros = mantissa.trailing_zeros();
    (mantissa >> n_zeros, exponent + n_zeros as i64)
}

fn as_integer_ratio(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("float.as_integer_ratio")?;
    let float = this(args)?;
    if float.is_nan() {
        return Err(errors::value_error("cannot convert NaN to integer ratio"));
    }
    if float.is_infinite() {
        return Err(errors::overflow_error("cannot convert Infinity to integer ratio"));
    }
    let (mantissa, exponent) = decompose(float);
    let numerator = BigInt::from(mantissa) << exponent.max(0) as u64;
    let denominator = BigInt::one() << (-exponent).max(0) as u64;
    let numerator = if float < 0.0 { -numerator } else { numerator };
    Ok(Value::tuple([Value::big(numerator), Value::big(denominator)]))
}

fn hex(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("float.hex")?;
    let float = this(args)?;
    if !float.is_finite() {
        return Ok(Value::str(crate::text::float::repr(float)));
    }
    let sign = if float.is_sign_negative() { "-" } else { "" };
    if float == 0.0 {
        return Ok(Value::str(format!("{sign}0x0.0p+0")));
    }
    let bits = float.to_bits();
    let biased = (bits >> 52 & 0x7ff) as i64;
    let fraction = bits & ((1 << 52) - 1);
    let (whole, exponent) = if biased == 0 { (0, -1022) } else { (1, biased - 1023) };
    Ok(Value::str(format!("{sign}0x{whole}.{fraction:013x}p{exponent:+}")))
}

fn fromhex(_: &mut Vm, args: &Args) -> Result {
    let [text] = args.exactly("fromhex")?;
    let text = str_arg(text, "fromhex", 1)?;
    let float = parse_hex(text);
    float.map(Value::Float).ok_or_else(|| errors::value_error("invalid hexadecimal floating-point string"))
}

fn parse_hex(text: &str) -> Option<f64> {
    let lower = text.trim().to_ascii_lowercase();
    let unsigned = lower.strip_prefix(['+', '-']).unwrap_or(&lower);
    let sign = if lower.starts_with('-') { -1.0 } else { 1.0 };
    if matches!(unsigned, "inf" | "infinity" | "nan") {
        return Some(sign * unsigned.parse::<f64>().ok()?);
    }
    let body = unsigned.strip_prefix("0x").unwrap_or(unsigned);
    let (mantissa, exponent) = body.split_once('p').unwrap_or((body, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() {
        return None;
    }
    let value = BigInt::parse_bytes(digits.as_bytes(), 16)?;
    let exponent = exponent.parse::<i64>().ok()?.checked_sub(4 * fraction.len() as i64)?;
    // Excess digits are merged into one sticky digit that records whether they were all zero.
    let excess = (value.bits() as i64 - 66).max(0);
    let mut kept: BigInt = &value >> excess as u64;
    if (&kept << excess as u64) != value {
        kept.set_bit(0, true);
    }
    Some(sign * number::scale_by_power(kept.to_f64()?, exponent.saturating_add(excess)))
}
