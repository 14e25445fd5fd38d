//! int and bool: the constructor of int, methods, and `bin`, `oct`, `hex`, `chr`, `ord`.

use num_bigint::{BigInt, Sign};
use num_traits::{Signed, ToPrimitive, Zero};

use super::support::{flag, index, str_arg};
use super::{bytes, protocol};
use crate::errors;
use crate::ops::number::{self, Number};
use crate::text;
use crate::text::int::max_str_digits;
use crate::value::{Args, NativeDef, Result, Value};
use crate::vm::Vm;

pub static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("bin", bin).doc("(number, /)", "The digits of an int in base 2, behind `0b`."),
    NativeDef::function("oct", oct).doc("(number, /)", "The digits of an int in base 8, behind `0o`."),
    NativeDef::function("hex", hex).doc("(number, /)", "The digits of an int in base 16, behind `0x`."),
    NativeDef::function("chr", chr).doc("(i, /)", "The character with this code point, from 0 to 0x10ffff."),
    NativeDef::function("ord", ord).doc("(c, /)", "The code point of a character."),
];

pub static METHODS: &[NativeDef] = &[
    NativeDef::method("bit_length", bit_length),
    NativeDef::method("bit_count", bit_count),
    NativeDef::method("to_bytes", to_bytes),
    NativeDef::static_method("from_bytes", from_bytes),
    NativeDef::method("as_integer_ratio", as_integer_ratio),
    NativeDef::method("is_integer", |_, args| this(args).map(|_| Value::Bool(true))),
    NativeDef::method("conjugate", plain),
    NativeDef::getter("real", plain),
    NativeDef::getter("numerator", plain),
    NativeDef::getter("imag", |_, _| Ok(Value::Int(0))),
    NativeDef::getter("denominator", |_, _| Ok(Value::Int(1))),
    NativeDef::method("__int__", plain),
    NativeDef::method("__index__", plain),
    NativeDef::method("__float__", super::float::dunder_float),
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
    NativeDef::method("__and__", protocol::and),
    NativeDef::method("__or__", protocol::or),
    NativeDef::method("__xor__", protocol::xor),
    NativeDef::method("__lshift__", protocol::lshift),
    NativeDef::method("__rshift__", protocol::rshift),
    NativeDef::method("__neg__", protocol::neg),
    NativeDef::method("__pos__", protocol::pos),
    NativeDef::method("__invert__", protocol::invert),
    NativeDef::method("__lt__", protocol::lt),
    NativeDef::method("__le__", protocol::le),
    NativeDef::method("__gt__", protocol::gt),
    NativeDef::method("__ge__", protocol::ge),
];

/// `int(value)`, `int(text, base)`.
pub fn new(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("int");
    let value = parser.optional_positional();
    let base = parser.optional("base")?;
    parser.finish()?;
    let Some(value) = value else {
        return match base {
            Some(_) => Err(errors::type_error("int() missing string argument")),
            None => Ok(Value::Int(0)),
        };
    };
    let text = match value.as_str() {
        Some(text) => Some(text.to_owned()),
        None => bytes::like(value).map(|bytes| bytes.iter().map(|&byte| byte as char).collect()),
    };
    if let Some(text) = text {
        let base = base.map_or(Ok(10), |base| index(vm, base))?;
        // A value that is not a base at all gets the message for a base that is too large.
        let base = u32::try_from(base).unwrap_or(u32::MAX);
        return Ok(Value::big(text::int::parse(&text, base, max_str_digits())?));
    }
    if base.is_some() {
        return Err(errors::type_error("int() can't convert non-string with explicit base"));
    }
    match number::number(value.base_value()) {
        Some(Number::Int(int)) => return Ok(Value::Int(int)),
        Some(Number::Big(big)) => return Ok(Value::big(big.clone())),
        Some(Number::Float(float)) => return Ok(Value::big(truncate(float)?)),
        None => {}
    }
    let class = vm.class_of(value);
    for method in ["__int__", "__index__", "__trunc__"] {
        let Some(function) = class.lookup_text(method) else { continue };
        let int = vm.call_method_value(&function, value, &[])?;
        return match number::to_big(int.base_value()) {
            Some(big) => Ok(Value::big(big)),
            None => {
                let given = int.type_name();
                Err(errors::type_error(format!("{method} returned non-int (type {given})")))
            }
        };
    }
    Err(errors::type_error(format!(
        "int() argument must be a string, a bytes-like object or a real number, not '{}'",
        value.type_name()
    )))
}

/// The whole part of a float.
pub fn truncate(float: f64) -> Result<BigInt> {
    if float.is_nan() {
        return Err(errors::value_error("cannot convert float NaN to integer"));
    }
    number::float_to_big(float)
        .ok_or_else(|| errors::overflow_error("cannot convert float infinity to integer"))
}

/// The value as an int of any size, asking `__index__`.
pub fn required(vm: &mut Vm, value: &Value) -> Result<BigInt> {
    match number::to_big(value.base_value()) {
        Some(big) => Ok(big),
        None => vm.index(value).map(BigInt::from),
    }
}

fn this(args: &Args) -> Result<BigInt> {
    let receiver = args.receiver()?;
    number::to_big(receiver).ok_or_else(|| errors::wrong_receiver(receiver))
}

fn plain(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::big(this(args)?))
}

fn bit_length(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("int.bit_length")?;
    Ok(Value::from(this(args)?.bits()))
}

fn bit_count(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("int.bit_count")?;
    Ok(Value::from(this(args)?.magnitude().count_ones()))
}

fn as_integer_ratio(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("int.as_integer_ratio")?;
    Ok(Value::tuple([Value::big(this(args)?), Value::Int(1)]))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Big,
}

fn byte_order(value: Option<&Value>, function: &str) -> Result<ByteOrder> {
    match value.map_or(Ok("big"), |value| str_arg(value, function, 2))? {
        "little" => Ok(ByteOrder::Little),
        "big" => Ok(ByteOrder::Big),
        _ => Err(errors::value_error("byteorder must be either 'little' or 'big'")),
    }
}

fn to_bytes(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("to_bytes");
    let length = parser.optional("length")?;
    let order = parser.optional("byteorder")?;
    let signed = parser.keyword_only("signed");
    parser.finish()?;
    let length = length.map_or(Ok(1), |length| index(vm, length))?;
    let Ok(length) = usize::try_from(length) else {
        return Err(errors::value_error("length argument must be non-negative"));
    };
    text::check_length(length)?;
    let order = byte_order(order, "to_bytes")?;
    let signed = flag(vm, signed, false)?;
    let int = this(args)?;
    if int.is_negative() && !signed {
        return Err(errors::overflow_error("can't convert negative int to unsigned"));
    }
    let (mut digits, filler) = if signed {
        (int.to_signed_bytes_le(), if int.is_negative() { 0xff } else { 0 })
    } else {
        (int.to_bytes_le().1, 0)
    };
    if int.is_zero() {
        digits.clear();
    }
    if digits.len() > length {
        return Err(errors::overflow_error("int too big to convert"));
    }
    digits.resize(length, filler);
    if order == ByteOrder::Big {
        digits.reverse();
    }
    Ok(Value::bytes(digits))
}

fn from_bytes(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("from_bytes");
    let source = parser.required("bytes")?;
    let order = parser.optional("byteorder")?;
    let signed = parser.keyword_only("signed");
    parser.finish()?;
    let order = byte_order(order, "from_bytes")?;
    let signed = flag(vm, signed, false)?;
    let mut digits = match bytes::like(source) {
        Some(bytes) => bytes,
        None => bytes::from_items(vm, source)?,
    };
    if order == ByteOrder::Big {
        digits.reverse();
    }
    let int = if signed {
        BigInt::from_signed_bytes_le(&digits)
    } else {
        BigInt::from_bytes_le(Sign::Plus, &digits)
    };
    Ok(Value::big(int))
}

fn with_prefix(vm: &mut Vm, args: &Args, function: &str, radix: u32, prefix: &str) -> Result {
    let [value] = args.exactly(function)?;
    let int = required(vm, value)?;
    let sign = if int.is_negative() { "-" } else { "" };
    Ok(Value::str(format!("{sign}{prefix}{}", int.magnitude().to_str_radix(radix))))
}

fn bin(vm: &mut Vm, args: &Args) -> Result {
    with_prefix(vm, args, "bin", 2, "0b")
}

fn oct(vm: &mut Vm, args: &Args) -> Result {
    with_prefix(vm, args, "oct", 8, "0o")
}

fn hex(vm: &mut Vm, args: &Args) -> Result {
    with_prefix(vm, args, "hex", 16, "0x")
}

fn chr(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("chr")?;
    let code = required(vm, value)?;
    match code.to_u32() {
        Some(code @ 0..0x110000) => char::from_u32(code)
            .map(|c| Value::str(c.to_string()))
            .ok_or_else(|| errors::value_error("chr() of a surrogate: strings hold whole characters only")),
        _ => Err(errors::value_error("chr() arg not in range(0x110000)")),
    }
}

fn ord(_: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("ord")?;
    let one_of = |n_items: usize| {
        errors::type_error(format!("ord() expected a character, but string of length {n_items} found"))
    };
    if let Some(text) = value.as_str() {
        let mut chars = text.chars();
        return match (chars.next(), chars.next()) {
            (Some(c), None) => Ok(Value::Int(c as i64)),
            _ => Err(one_of(text.chars().count())),
        };
    }
    match bytes::like(value) {
        Some(bytes) => match bytes[..] {
            [byte] => Ok(Value::Int(byte as i64)),
            _ => Err(one_of(bytes.len())),
        },
        None => {
            let given = value.type_name();
            Err(errors::type_error(format!("ord() expected string of length 1, but {given} found")))
        }
    }
}
