//! The distributions of `random`, each with the method that CPython documents, so that the numbers agree.

use std::f64::consts::{E, PI, TAU};

use super::random::{Random, this};
use crate::builtins::float::to_f64;
use crate::errors;
use crate::value::{Args, Result, Value};
use crate::vm::Vm;

/// Two parameters, with the names and defaults that they have.
fn two(
    vm: &mut Vm,
    args: &Args,
    function: &str,
    names: [&str; 2],
    defaults: [Option<f64>; 2],
) -> Result<[f64; 2]> {
    let mut parser = args.method_parser(function);
    let mut values = [0.0; 2];
    for ((place, name), default) in values.iter_mut().zip(names).zip(defaults) {
        *place = match default {
            Some(default) => parser.optional(name)?.map_or(Ok(default), |value| to_f64(vm, value))?,
            None => to_f64(vm, parser.required(name)?)?,
        };
    }
    parser.finish()?;
    Ok(values)
}

pub fn uniform(vm: &mut Vm, args: &Args) -> Result {
    let [low, high] = two(vm, args, "uniform", ["a", "b"], [None; 2])?;
    Ok(Value::Float(low + (high - low) * this(args)?.next()))
}

pub fn triangular(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("triangular");
    let low = parser.optional("low")?.map_or(Ok(0.0), |value| to_f64(vm, value))?;
    let high = parser.optional("high")?.map_or(Ok(1.0), |value| to_f64(vm, value))?;
    let mode = crate::builtins::support::given(parser.optional("mode")?);
    parser.finish()?;
    let mode = mode.map(|value| to_f64(vm, value)).transpose()?;
    let u = this(args)?.next();
    if high == low {
        return Ok(Value::Float(low));
    }
    let turn = mode.map_or(0.5, |mode| (mode - low) / (high - low));
    Ok(Value::Float(if u > turn {
        high + (low - high) * ((1.0 - u) * (1.0 - turn)).sqrt()
    } else {
        low + (high - low) * (u * turn).sqrt()
    }))
}

/// Two normal numbers at a time (Box and Muller): the second one waits for the next call.
pub fn gauss(vm: &mut Vm, args: &Args) -> Result {
    let [mu, sigma] = two(vm, args, "gauss", ["mu", "sigma"], [Some(0.0), Some(1.0)])?;
    let random = this(args)?;
    let z = random.gauss_next.take().unwrap_or_else(|| {
        let angle = random.next() * TAU;
        let radius = (-2.0 * (1.0 - random.next()).ln()).sqrt();
        random.gauss_next.set(Some(angle.sin() * radius));
        angle.cos() * radius
    });
    Ok(Value::Float(mu + z * sigma))
}

/// Kinderman and Monahan's ratio of uniform numbers.
fn normal(random: &Random, mu: f64, sigma: f64) -> f64 {
    let magic = 4.0 * (-0.5_f64).exp() / 2.0_f64.sqrt();
    loop {
        let u = random.next();
        let v = 1.0 - random.next();
        let z = magic * (u - 0.5) / v;
        if z * z / 4.0 <= -v.ln() {
            return mu + z * sigma;
        }
    }
}

pub fn normalvariate(vm: &mut Vm, args: &Args) -> Result {
    let [mu, sigma] = two(vm, args, "normalvariate", ["mu", "sigma"], [Some(0.0), Some(1.0)])?;
    Ok(Value::Float(normal(this(args)?, mu, sigma)))
}

pub fn lognormvariate(vm: &mut Vm, args: &Args) -> Result {
    let [mu, sigma] = two(vm, args, "lognormvariate", ["mu", "sigma"], [None; 2])?;
    Ok(Value::Float(normal(this(args)?, mu, sigma).exp()))
}

pub fn expovariate(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("expovariate");
    let lambda = parser.optional("lambd")?.map_or(Ok(1.0), |value| to_f64(vm, value))?;
    parser.finish()?;
    let log = (1.0 - this(args)?.next()).ln();
    if lambda == 0.0 {
        return Err(errors::zero_division("float division by zero"));
    }
    Ok(Value::Float(-log / lambda))
}

pub fn gammavariate(vm: &mut Vm, args: &Args) -> Result {
    let [alpha, beta] = two(vm, args, "gammavariate", ["alpha", "beta"], [None; 2])?;
    if alpha <= 0.0 || beta <= 0.0 {
        return Err(errors::value_error("gammavariate: alpha and beta must be > 0.0"));
    }
    Ok(Value::Float(gamma(vm, this(args)?, alpha, beta)?))
}

fn gamma(vm: &mut Vm, random: &Random, alpha: f64, beta: f64) -> Result<f64> {
    if alpha > 1.0 {
        return gamma_above_one(vm, random, alpha, beta);
    }
    if alpha == 1.0 {
        return Ok(-(1.0 - random.next()).ln() * beta);
    }
    // Ahrens and Dieter's GS, for alpha below 1.
    loop {
        vm.poll()?;
        let u = random.next();
        let b = (E + alpha) / E;
        let p = b * u;
        let x = if p <= 1.0 { p.powf(1.0 / alpha) } else { -((b - p) / alpha).ln() };
        let v = random.next();
        let accept = if p > 1.0 { v <= x.powf(alpha - 1.0) } else { v <= (-x).exp() };
        if accept {
            return Ok(x * beta);
        }
    }
}

/// Cheng's method, "The generation of Gamma variables with non-integral shape parameters" (1977).
fn gamma_above_one(vm: &mut Vm, random: &Random, alpha: f64, beta: f64) -> Result<f64> {
    let log4 = 4.0_f64.ln();
    let magic = 1.0 + 4.5_f64.ln();
    let inverse = (2.0 * alpha - 1.0).sqrt();
    let b = alpha - log4;
    let c = alpha + inverse;
    loop {
        vm.poll()?;
        let u = random.next();
        if !(1e-7 < u && u < 0.9999999) {
            continue;
        }
        let w = 1.0 - random.next();
        let v = (u / (1.0 - u)).ln() / inverse;
        let x = alpha * v.exp();
        let z = u * u * w;
        let r = b + c * v - x;
        if r + magic - 4.5 * z >= 0.0 || r >= z.ln() {
            return Ok(x * beta);
        }
    }
}

pub fn betavariate(vm: &mut Vm, args: &Args) -> Result {
    let [alpha, beta] = two(vm, args, "betavariate", ["alpha", "beta"], [None; 2])?;
    if alpha <= 0.0 || beta <= 0.0 {
        return Err(errors::value_error("gammavariate: alpha and beta must be > 0.0"));
    }
    let random = this(args)?;
    let y = gamma(vm, random, alpha, 1.0)?;
    if y == 0.0 {
        return Ok(Value::Float(0.0));
    }
    Ok(Value::Float(y / (y + gamma(vm, random, beta, 1.0)?)))
}

pub fn paretovariate(vm: &mut Vm, args: &Args) -> Result {
    let [alpha] = args.rest().exactly("paretovariate")?;
    let alpha = to_f64(vm, alpha)?;
    let u = 1.0 - this(args)?.next();
    Ok(Value::Float(u.powf(-1.0 / alpha)))
}

pub fn weibullvariate(vm: &mut Vm, args: &Args) -> Result {
    let [alpha, beta] = two(vm, args, "weibullvariate", ["alpha", "beta"], [None; 2])?;
    let u = 1.0 - this(args)?.next();
    Ok(Value::Float(alpha * (-u.ln()).powf(1.0 / beta)))
}

/// Fisher's method for angles, "Statistical Analysis of Circular Data" (1993).
pub fn vonmisesvariate(vm: &mut Vm, args: &Args) -> Result {
    let [mu, kappa] = two(vm, args, "vonmisesvariate", ["mu", "kappa"], [None; 2])?;
    let random = this(args)?;
    if kappa <= 1e-6 {
        return Ok(Value::Float(TAU * random.next()));
    }
    let s = 0.5 / kappa;
    let r = s + (1.0 + s * s).sqrt();
    let z = loop {
        vm.poll()?;
        let z = (PI * random.next()).cos();
        let d = z / (r + z);
        let u = random.next();
        if u < 1.0 - d * d || u <= (1.0 - d) * d.exp() {
            break z;
        }
    };
    let q = 1.0 / r;
    let angle = ((q + z) / (1.0 + q * z)).acos();
    let turned = if random.next() > 0.5 { mu + angle } else { mu - angle };
    Ok(Value::Float(turned.rem_euclid(TAU)))
}
