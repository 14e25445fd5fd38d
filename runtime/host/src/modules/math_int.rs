//! The functions of `math` on ints: gcd, lcm, factorial, comb, perm, isqrt.

use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::builtins::int::required;
use crate::errors;
use crate::ops::long;
use crate::value::{Args, Result, Value};
use crate::vm::Vm;

/// No result grows past this many bits: the limit of int arithmetic.
const MAX_BITS: u64 = 1 << 26;

fn fold(
    vm: &mut Vm,
    args: &Args,
    function: &str,
    start: u32,
    step: fn(&BigInt, &BigInt) -> Result<BigInt>,
) -> Result {
    if args.has_keywords() {
        return Err(errors::no_keywords(function));
    }
    let mut result = BigInt::from(start);
    for value in args.positional() {
        vm.poll()?;
        let int = required(vm, value)?;
        result = step(&result, &int)?;
        check_bits(&result)?;
    }
    Ok(Value::big(result.abs()))
}

fn check_bits(int: &BigInt) -> Result<()> {
    if int.bits() > MAX_BITS {
        return Err(errors::memory_error("the result has too many digits"));
    }
    Ok(())
}

pub fn gcd(vm: &mut Vm, args: &Args) -> Result {
    fold(vm, args, "gcd", 0, long::gcd)
}

pub fn lcm(vm: &mut Vm, args: &Args) -> Result {
    fold(vm, args, "lcm", 1, least_common_multiple)
}

fn least_common_multiple(left: &BigInt, right: &BigInt) -> Result<BigInt> {
    let divisor = long::gcd(left, right)?;
    if divisor.is_zero() {
        return Ok(divisor);
    }
    long::mul(&long::div_mod_floor(left, &divisor)?.0, right)
}

/// The product of `first..=last`, halved again and again so that factors are of like size.
fn product(vm: &mut Vm, first: u64, last: u64) -> Result<BigInt> {
    if first > last {
        return Ok(BigInt::one());
    }
    if last - first < 8 {
        return Ok((first..=last).map(BigInt::from).product());
    }
    vm.poll()?;
    let middle = first + (last - first) / 2;
    let product = long::mul(&product(vm, first, middle)?, &product(vm, middle + 1, last)?)?;
    check_bits(&product)?;
    Ok(product)
}

pub fn factorial(vm: &mut Vm, args: &Args) -> Result {
    let [n] = args.exactly("factorial")?;
    let n = required(vm, n)?;
    if n.is_negative() {
        return Err(errors::value_error("factorial() not defined for negative values"));
    }
    let Some(n) = n.to_i64() else {
        return Err(errors::overflow_error(format!("factorial() argument should not exceed {}", i64::MAX)));
    };
    Ok(Value::big(product(vm, 1, n as u64)?))
}

/// `n` and `k`, not negative.
fn two(vm: &mut Vm, n: &Value, k: &Value) -> Result<(BigInt, BigInt)> {
    let (n, k) = (required(vm, n)?, required(vm, k)?);
    for (name, int) in [("n", &n), ("k", &k)] {
        if int.is_negative() {
            return Err(errors::value_error(format!("{name} must be a non-negative integer")));
        }
    }
    Ok((n, k))
}

/// `n * (n - 1) * ..`, `k` factors.
fn falling(vm: &mut Vm, n: &BigInt, k: u64) -> Result<BigInt> {
    if k == 0 {
        return Ok(BigInt::one());
    }
    if let Some(n) = n.to_u64() {
        return product(vm, n - k + 1, n);
    }
    let mut result = BigInt::one();
    for step in 0..k {
        vm.poll()?;
        result = long::mul(&result, &(n - step))?;
        check_bits(&result)?;
    }
    Ok(result)
}

fn too_many(name: &str) -> crate::value::Raise {
    errors::overflow_error(format!("{name} must not exceed {}", i64::MAX))
}

pub fn perm(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("perm");
    let n = parser.positional("n")?;
    let k = parser.optional_positional();
    parser.finish()?;
    let (n, k) = two(vm, n, crate::builtins::support::given(k).unwrap_or(n))?;
    if k > n {
        return Ok(Value::Int(0));
    }
    let k = k.to_i64().ok_or_else(|| too_many("k"))?;
    Ok(Value::big(falling(vm, &n, k as u64)?))
}

pub fn comb(vm: &mut Vm, args: &Args) -> Result {
    let [n, k] = args.exactly("comb")?;
    let (n, k) = two(vm, n, k)?;
    if k > n {
        return Ok(Value::Int(0));
    }
    let k = k.clone().min(&n - &k);
    let k = k.to_i64().ok_or_else(|| too_many("min(n - k, k)"))?;
    let numerator = falling(vm, &n, k as u64)?;
    let denominator = product(vm, 1, k as u64)?;
    Ok(Value::big(long::div_mod_floor(&numerator, &denominator)?.0))
}

pub fn isqrt(vm: &mut Vm, args: &Args) -> Result {
    let [n] = args.exactly("isqrt")?;
    let n = required(vm, n)?;
    if n.is_negative() {
        return Err(errors::value_error("isqrt() argument must be nonnegative"));
    }
    Ok(Value::big(if n.is_zero() { n } else { long::sqrt(&n)? }))
}
