//! The module `math`: CPython's functions, its results and its messages.
//!
//! Functions of one float share a rule: a new NaN is a domain error, a new infinity from a finite number a
//! range error. `math_int.rs` has the functions of ints.

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};

use super::{math_int, math_step, math_sum};
use crate::builtins::float::to_f64;
use crate::builtins::int::truncate;
use crate::errors;
use crate::ops::number;
use crate::value::{Args, Module, NativeDef, NativeModule, Raise, Result, Value};
use crate::vm::Vm;

pub static MODULE: NativeModule = NativeModule {
    functions: FUNCTIONS,
    init: Some(init),
    ..NativeModule::new("math").doc("Functions and constants of real numbers.")
};

fn init(_: &mut Vm, module: &Module) -> Result<()> {
    module.set("pi", std::f64::consts::PI);
    module.set("e", std::f64::consts::E);
    module.set("tau", std::f64::consts::TAU);
    module.set("inf", f64::INFINITY);
    module.set("nan", f64::NAN);
    Ok(())
}

static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("sqrt", |vm, args| unary(vm, args, "sqrt", f64::sqrt, AtPole::Domain)),
    NativeDef::function("cbrt", |vm, args| unary(vm, args, "cbrt", f64::cbrt, AtPole::Domain)),
    NativeDef::function("exp", |vm, args| unary(vm, args, "exp", f64::exp, AtPole::Range)),
    NativeDef::function("exp2", |vm, args| unary(vm, args, "exp2", f64::exp2, AtPole::Range)),
    NativeDef::function("expm1", |vm, args| unary(vm, args, "expm1", f64::exp_m1, AtPole::Range)),
    NativeDef::function("log1p", |vm, args| unary(vm, args, "log1p", f64::ln_1p, AtPole::Domain)),
    NativeDef::function("sin", |vm, args| unary(vm, args, "sin", f64::sin, AtPole::Domain)),
    NativeDef::function("cos", |vm, args| unary(vm, args, "cos", f64::cos, AtPole::Domain)),
    NativeDef::function("tan", |vm, args| unary(vm, args, "tan", f64::tan, AtPole::Domain)),
    NativeDef::function("asin", |vm, args| unary(vm, args, "asin", f64::asin, AtPole::Domain)),
    NativeDef::function("acos", |vm, args| unary(vm, args, "acos", f64::acos, AtPole::Domain)),
    NativeDef::function("atan", |vm, args| unary(vm, args, "atan", f64::atan, AtPole::Domain)),
    NativeDef::function("sinh", |vm, args| unary(vm, args, "sinh", f64::sinh, AtPole::Range)),
    NativeDef::function("cosh", |vm, args| unary(vm, args, "cosh", f64::cosh, AtPole::Range)),
    NativeDef::function("tanh", |vm, args| unary(vm, args, "tanh", f64::tanh, AtPole::Domain)),
    NativeDef::function("asinh", |vm, args| unary(vm, args, "asinh", libm::asinh, AtPole::Domain)),
    NativeDef::function("acosh", |vm, args| unary(vm, args, "acosh", acosh, AtPole::Domain)),
    NativeDef::function("atanh", |vm, args| unary(vm, args, "atanh", libm::atanh, AtPole::Domain)),
    NativeDef::function("erf", |vm, args| unary(vm, args, "erf", libm::erf, AtPole::Domain)),
    NativeDef::function("erfc", |vm, args| unary(vm, args, "erfc", libm::erfc, AtPole::Domain)),
    NativeDef::function("fabs", |vm, args| unary(vm, args, "fabs", f64::abs, AtPole::Domain)),
    NativeDef::function("degrees", |vm, args| unary(vm, args, "degrees", degrees, AtPole::Inf)),
    NativeDef::function("radians", |vm, args| unary(vm, args, "radians", radians, AtPole::Inf)),
    NativeDef::function("gamma", gamma),
    NativeDef::function("lgamma", lgamma),
    NativeDef::function("log", log),
    NativeDef::function("log2", |vm, args| log_of_one(vm, args, "log2", f64::log2)),
    NativeDef::function("log10", |vm, args| log_of_one(vm, args, "log10", f64::log10)),
    NativeDef::function("pow", pow),
    NativeDef::function("atan2", |vm, args| binary(vm, args, "atan2", f64::atan2)),
    NativeDef::function("copysign", |vm, args| binary(vm, args, "copysign", f64::copysign)),
    NativeDef::function("fmod", fmod),
    NativeDef::function("remainder", remainder),
    NativeDef::function("nextafter", math_step::next_after),
    NativeDef::function("ulp", ulp),
    NativeDef::function("modf", modf),
    NativeDef::function("frexp", frexp),
    NativeDef::function("ldexp", ldexp),
    NativeDef::function("isnan", |vm, args| Ok(Value::Bool(only(vm, args, "isnan")?.is_nan()))),
    NativeDef::function("isinf", |vm, args| Ok(Value::Bool(only(vm, args, "isinf")?.is_infinite()))),
    NativeDef::function("isfinite", |vm, args| Ok(Value::Bool(only(vm, args, "isfinite")?.is_finite()))),
    NativeDef::function("isclose", isclose),
    NativeDef::function("floor", |vm, args| whole(vm, args, "floor", "__floor__", f64::floor)),
    NativeDef::function("ceil", |vm, args| whole(vm, args, "ceil", "__ceil__", f64::ceil)),
    NativeDef::function("trunc", |vm, args| whole(vm, args, "trunc", "__trunc__", f64::trunc)),
    NativeDef::function("fsum", math_sum::fsum),
    NativeDef::function("prod", math_sum::prod),
    NativeDef::function("sumprod", math_sum::sumprod),
    NativeDef::function("hypot", math_sum::hypot),
    NativeDef::function("dist", math_sum::dist),
    NativeDef::function("gcd", math_int::gcd),
    NativeDef::function("lcm", math_int::lcm),
    NativeDef::function("factorial", math_int::factorial),
    NativeDef::function("comb", math_int::comb),
    NativeDef::function("perm", math_int::perm),
    NativeDef::function("isqrt", math_int::isqrt),
];

/// The meaning of an infinite result for a finite argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtPole {
    Domain,
    Range,
    /// The infinity itself.
    Inf,
}

pub fn domain_error() -> Raise {
    errors::value_error("math domain error")
}

fn range_error() -> Raise {
    errors::overflow_error("math range error")
}

/// The one argument of a function of floats.
fn only(vm: &mut Vm, args: &Args, function: &str) -> Result<f64> {
    let [x] = args.exactly(&format!("math.{function}"))?;
    to_f64(vm, x)
}

fn unary(vm: &mut Vm, args: &Args, function: &str, apply: fn(f64) -> f64, at_pole: AtPole) -> Result {
    let x = only(vm, args, function)?;
    checked(x, apply(x), at_pole).map(Value::Float)
}

fn checked(x: f64, result: f64, at_pole: AtPole) -> Result<f64> {
    if result.is_nan() && !x.is_nan() {
        return Err(domain_error());
    }
    if result.is_infinite() && x.is_finite() {
        return match at_pole {
            AtPole::Domain => Err(domain_error()),
            AtPole::Range => Err(range_error()),
            AtPole::Inf => Ok(result),
        };
    }
    Ok(result)
}

/// The library function returns numbers far below its domain.
fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

fn degrees(x: f64) -> f64 {
    x * (180.0 / std::f64::consts::PI)
}

fn radians(x: f64) -> f64 {
    x * (std::f64::consts::PI / 180.0)
}

fn two(vm: &mut Vm, args: &Args, function: &str) -> Result<(f64, f64)> {
    let [x, y] = args.exactly(function)?;
    Ok((to_f64(vm, x)?, to_f64(vm, y)?))
}

fn binary(vm: &mut Vm, args: &Args, function: &str, apply: fn(f64, f64) -> f64) -> Result {
    let (x, y) = two(vm, args, function)?;
    Ok(Value::Float(apply(x, y)))
}

fn gamma(vm: &mut Vm, args: &Args) -> Result {
    let x = only(vm, args, "gamma")?;
    if x == 0.0 || x == f64::NEG_INFINITY || x < 0.0 && x.fract() == 0.0 {
        return Err(domain_error());
    }
    checked(x, libm::tgamma(x), AtPole::Range).map(Value::Float)
}

fn lgamma(vm: &mut Vm, args: &Args) -> Result {
    let x = only(vm, args, "lgamma")?;
    if x.is_infinite() {
        return Ok(Value::Float(f64::INFINITY));
    }
    if x <= 0.0 && x.fract() == 0.0 {
        return Err(domain_error());
    }
    checked(x, libm::lgamma(x), AtPole::Range).map(Value::Float)
}

/// A logarithm; ints may be larger than any float.
fn log_of(vm: &mut Vm, value: &Value, log: fn(f64) -> f64) -> Result<f64> {
    if let Value::BigInt(big) = value.base_value() {
        return log_of_big(big, log);
    }
    let x = to_f64(vm, value)?;
    if x <= 0.0 { Err(domain_error()) } else { Ok(log(x)) }
}

fn log_of_big(big: &BigInt, log: fn(f64) -> f64) -> Result<f64> {
    if big.is_negative() {
        return Err(domain_error());
    }
    if let Some(float) = big.to_f64().filter(|float| float.is_finite()) {
        return Ok(log(float));
    }
    // The mantissa is between a half and one.
    let n_bits = big.bits();
    let mantissa = (big >> (n_bits - 64)).to_f64().unwrap_or(f64::INFINITY) / 2.0_f64.powi(64);
    Ok(log(mantissa) + log(2.0) * n_bits as f64)
}

fn log(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("log");
    let x = parser.positional("x")?;
    let base = parser.optional_positional();
    parser.finish()?;
    let numerator = log_of(vm, x, f64::ln)?;
    let Some(base) = base else { return Ok(Value::Float(numerator)) };
    let denominator = log_of(vm, base, f64::ln)?;
    if denominator == 0.0 {
        return Err(errors::zero_division("float division by zero"));
    }
    Ok(Value::Float(numerator / denominator))
}

fn log_of_one(vm: &mut Vm, args: &Args, function: &str, log: fn(f64) -> f64) -> Result {
    let [x] = args.exactly(function)?;
    log_of(vm, x, log).map(Value::Float)
}

fn pow(vm: &mut Vm, args: &Args) -> Result {
    let (x, y) = two(vm, args, "pow")?;
    let power = x.powf(y);
    if x.is_finite() && y.is_finite() {
        if power.is_nan() || x == 0.0 && y < 0.0 {
            return Err(domain_error());
        }
        if power.is_infinite() {
            return Err(range_error());
        }
    }
    Ok(Value::Float(power))
}

fn fmod(vm: &mut Vm, args: &Args) -> Result {
    let (x, y) = two(vm, args, "fmod")?;
    let rem = x % y;
    if rem.is_nan() && !x.is_nan() && !y.is_nan() {
        return Err(domain_error());
    }
    Ok(Value::Float(rem))
}

/// IEEE 754's remainder: the difference to the nearest multiple, ties to the even one.
fn remainder(vm: &mut Vm, args: &Args) -> Result {
    let (x, y) = two(vm, args, "remainder")?;
    if x.is_nan() || y.is_nan() {
        return Ok(Value::Float(x + y));
    }
    if x.is_infinite() || y == 0.0 {
        return Err(domain_error());
    }
    if y.is_infinite() {
        return Ok(Value::Float(x));
    }
    let (magnitude, divisor) = (x.abs(), y.abs());
    let rem = magnitude % divisor;
    let complement = divisor - rem;
    let nearest = if rem < complement {
        rem
    } else if rem > complement {
        -complement
    } else {
        // Half way: the multiple below is even when twice the divisor leaves this same rest.
        rem - 2.0 * ((0.5 * (magnitude - rem)) % divisor)
    };
    Ok(Value::Float(nearest * 1.0_f64.copysign(x)))
}

fn ulp(vm: &mut Vm, args: &Args) -> Result {
    let x = only(vm, args, "ulp")?.abs();
    Ok(Value::Float(match x {
        x if x.is_nan() || x.is_infinite() => x,
        f64::MAX => x - x.next_down(),
        x => x.next_up() - x,
    }))
}

fn modf(vm: &mut Vm, args: &Args) -> Result {
    let x = only(vm, args, "modf")?;
    let fraction = if x.is_infinite() { 0.0 } else { x.fract() };
    Ok(Value::tuple([fraction.copysign(x), x.trunc()].map(Value::Float)))
}

fn frexp(vm: &mut Vm, args: &Args) -> Result {
    let x = only(vm, args, "frexp")?;
    let (mantissa, exponent) = if x == 0.0 || !x.is_finite() { (x, 0) } else { libm::frexp(x) };
    Ok(Value::tuple([Value::Float(mantissa), Value::Int(exponent as i64)]))
}

fn ldexp(vm: &mut Vm, args: &Args) -> Result {
    let [x, exponent] = args.exactly("ldexp")?;
    let x = to_f64(vm, x)?;
    let Some(exponent) = number::to_big(exponent.base_value()) else {
        return Err(errors::type_error("Expected an int as second argument to ldexp."));
    };
    if x == 0.0 || !x.is_finite() {
        return Ok(Value::Float(x));
    }
    let scaled = libm::ldexp(x, exponent.clamp((-5000).into(), 5000.into()).to_i32().unwrap_or(0));
    if scaled.is_infinite() { Err(range_error()) } else { Ok(Value::Float(scaled)) }
}

fn isclose(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("isclose");
    let (a, b) = (parser.required("a")?, parser.required("b")?);
    let (relative, absolute) = (parser.keyword_only("rel_tol"), parser.keyword_only("abs_tol"));
    parser.finish()?;
    let (a, b) = (to_f64(vm, a)?, to_f64(vm, b)?);
    let relative = relative.map_or(Ok(1e-9), |value| to_f64(vm, value))?;
    let absolute = absolute.map_or(Ok(0.0), |value| to_f64(vm, value))?;
    if relative < 0.0 || absolute < 0.0 {
        return Err(errors::value_error("tolerances must be non-negative"));
    }
    let difference = (a - b).abs();
    let is_close = a == b
        || !a.is_infinite()
            && !b.is_infinite()
            && (difference <= (relative * b).abs()
                || difference <= (relative * a).abs()
                || difference <= absolute);
    Ok(Value::Bool(is_close))
}

/// `floor`, `ceil`, `trunc`: an int, by the object's method if it has one.
fn whole(vm: &mut Vm, args: &Args, function: &str, method: &str, apply: fn(f64) -> f64) -> Result {
    let [x] = args.exactly(function)?;
    if let Some(big) = number::to_big(x.base_value()) {
        return Ok(Value::big(big));
    }
    if let Value::Instance(_) | Value::Native(_) = x
        && let Some(found) = vm.class_of(x).lookup_text(method)
    {
        return vm.call_method_value(&found, x, &[]);
    }
    let x = to_f64(vm, x)?;
    Ok(Value::big(truncate(apply(x))?))
}
