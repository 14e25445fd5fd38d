//! `abs`, `divmod`, `pow`, `round`, `sum`.

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};

use super::int;
use super::support::given;
use crate::errors;
use crate::ops::long;
use crate::ops::number;
use crate::text;
use crate::value::{Args, BinaryOp, NativeDef, Result, Value};
use crate::vm::Vm;

pub static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("abs", abs).doc("(x, /)", "The size of a number, without its sign."),
    NativeDef::function("divmod", divmod)
        .doc("(x, y, /)", "Divides, and returns quotient and remainder as a tuple."),
    NativeDef::function("pow", pow)
        .doc("(base, exp, mod=None)", "Raises to a power; with `mod`, computes the power modulo it."),
    NativeDef::function("round", round)
        .doc("(number, ndigits=None)", "Rounds to so many digits behind the point, ties to even."),
    NativeDef::function("sum", sum).doc("(iterable, /, start=0)", "Adds the items to `start`."),
];

fn abs(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("abs")?;
    if let Some(function) = own_method(vm, value, "__abs__") {
        return vm.call_method_value(&function, value, &[]);
    }
    magnitude(value.base_value())
        .ok_or_else(|| errors::type_error(format!("bad operand type for abs(): '{}'", value.type_name())))
}

fn magnitude(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Float(float) => Value::Float(float.abs()),
        Value::Int(int) => Value::from(int.unsigned_abs()),
        other => Value::big(number::to_big(other)?.abs()),
    })
}

pub fn dunder_abs(_: &mut Vm, args: &Args) -> Result {
    let receiver = args.receiver()?;
    magnitude(receiver).ok_or_else(|| errors::wrong_receiver(receiver))
}

/// A method that an object defines itself, in a script or as a host type.
fn own_method(vm: &mut Vm, value: &Value, name: &str) -> Option<Value> {
    match value {
        Value::Native(_) => vm.class_of(value).lookup_text(name),
        _ => vm.script_method(value, name),
    }
}

fn divmod(vm: &mut Vm, args: &Args) -> Result {
    let [left, right] = args.exactly("divmod")?;
    for (this, other, method) in [(left, right, "__divmod__"), (right, left, "__rdivmod__")] {
        if let Some(value) = vm.call_operator(this, method, other)? {
            return Ok(value);
        }
    }
    // Arrays and the like divide by their own operators.
    let may_divide =
        |value: &Value| matches!(value, Value::Native(_)) || number::number(value.base_value()).is_some();
    if !may_divide(left) || !may_divide(right) {
        return Err(errors::unsupported_operands("divmod()", left, right));
    }
    let quotient = vm.binary(BinaryOp::FloorDiv, left, right).map_err(|raise| {
        // CPython names the function where floats are divided.
        let is_float = matches!(left, Value::Float(_)) || matches!(right, Value::Float(_));
        if is_float && raise.is(crate::value::ExceptionKind::ZeroDivisionError) {
            return errors::zero_division("float divmod()");
        }
        raise
    })?;
    Ok(Value::tuple([quotient, vm.binary(BinaryOp::Mod, left, right)?]))
}

fn pow(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("pow");
    let base = parser.required("base")?;
    let exponent = parser.required("exp")?;
    let modulus = given(parser.optional("mod")?);
    parser.finish()?;
    let Some(modulus) = modulus else { return vm.binary(BinaryOp::Pow, base, exponent) };
    if let Some(function) = own_method(vm, base, "__pow__") {
        let value = vm.call_method_value(&function, base, &[exponent.clone(), modulus.clone()])?;
        if !matches!(value, Value::NotImplemented) {
            return Ok(value);
        }
    }
    let ints = [base, exponent, modulus].map(|value| number::to_big(value.base_value()));
    let [Some(base), Some(exponent), Some(modulus)] = ints else {
        return Err(errors::type_error("pow() 3rd argument not allowed unless all arguments are integers"));
    };
    Ok(Value::big(mod_pow(&base, &exponent, &modulus)?))
}

/// `base ** exponent % modulus`, the result with the modulus's sign.
fn mod_pow(base: &BigInt, exponent: &BigInt, modulus: &BigInt) -> Result<BigInt> {
    if modulus.is_zero() {
        return Err(errors::value_error("pow() 3rd argument cannot be 0"));
    }
    if !exponent.is_negative() {
        return long::mod_pow(base, exponent, modulus);
    }
    match long::mod_inverse(base, modulus)? {
        Some(inverse) => long::mod_pow(&inverse, &-exponent, modulus),
        None => Err(errors::value_error("base is not invertible for the given modulus")),
    }
}

fn round(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("round");
    let value = parser.required("number")?;
    let n_decimals = given(parser.optional("ndigits")?);
    parser.finish()?;
    if let Some(function) = own_method(vm, value, "__round__") {
        return vm.call_method_value(&function, value, n_decimals.map_or(&[], std::slice::from_ref));
    }
    let n_decimals = match n_decimals {
        // An int of any size: how far it is out of range does not matter.
        Some(n_decimals) => {
            let n_decimals = int::required(vm, n_decimals)?;
            Some(n_decimals.to_i64().unwrap_or(if n_decimals.is_negative() { i64::MIN } else { i64::MAX }))
        }
        None => None,
    };
    match (value.base_value(), n_decimals) {
        (Value::Float(float), None) => Ok(Value::big(int::truncate(float.round_ties_even())?)),
        (Value::Float(float), Some(n_decimals)) => Ok(Value::Float(text::float::round(*float, n_decimals)?)),
        (Value::Int(int), None | Some(0..)) => Ok(Value::Int(*int)),
        (other, n_decimals) => match number::to_big(other) {
            Some(big) => Ok(Value::big(text::int::round(&big, n_decimals.unwrap_or(0))?)),
            None => {
                Err(errors::type_error(format!("type {} doesn't define __round__ method", value.type_name())))
            }
        },
    }
}

fn sum(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("sum");
    let items = parser.positional("iterable")?;
    let start = parser.optional("start")?.cloned();
    parser.finish()?;
    match &start {
        Some(Value::Str(_)) => {
            return Err(errors::type_error("sum() can't sum strings [use ''.join(seq) instead]"));
        }
        Some(Value::Bytes(_)) => {
            return Err(errors::type_error("sum() can't sum bytes [use b''.join(seq) instead]"));
        }
        _ => {}
    }
    let mut total = start.unwrap_or(Value::Int(0));
    let iter = vm.iter(items)?;
    while let Some(item) = vm.next(&iter)? {
        vm.poll()?;
        total = match (&total, &item) {
            (Value::Float(left), Value::Float(right)) => Value::Float(left + right),
            _ => vm.binary(BinaryOp::Add, &total, &item)?,
        };
    }
    Ok(total)
}
