//! The functions of `math` on many floats, exact to the last bit: fsum, prod, sumprod, hypot, dist.

use crate::builtins::float::to_f64;
use crate::errors;
use crate::value::{Args, BinaryOp, Result, Value};
use crate::vm::Vm;

/// `fsum`: the exact sum, rounded once. Shewchuk, "Adaptive Precision Floating-Point Arithmetic" (1997).
pub fn fsum(vm: &mut Vm, args: &Args) -> Result {
    let [items] = args.exactly("fsum")?;
    let iter = vm.iter(items)?;
    let mut sum = ExactSum::default();
    while let Some(item) = vm.next(&iter)? {
        vm.poll()?;
        sum.add(to_f64(vm, &item)?)?;
    }
    sum.total().map(Value::Float)
}

/// A sum as floats that do not overlap, the smallest first.
#[derive(Default)]
struct ExactSum {
    partials: Vec<f64>,
    /// The sum of the terms that are not finite.
    special: f64,
    infinite: f64,
}

impl ExactSum {
    fn add(&mut self, item: f64) -> Result<()> {
        let mut x = item;
        let mut kept = 0;
        for at in 0..self.partials.len() {
            let (high, low) = two_sum(x, self.partials[at]);
            if low != 0.0 {
                self.partials[kept] = low;
                kept += 1;
            }
            x = high;
        }
        self.partials.truncate(kept);
        if x == 0.0 {
            return Ok(());
        }
        if x.is_finite() {
            self.partials.push(x);
            return Ok(());
        }
        if item.is_finite() {
            return Err(errors::overflow_error("intermediate overflow in fsum"));
        }
        if item.is_infinite() {
            self.infinite += item;
        }
        self.special += item;
        self.partials.clear();
        Ok(())
    }

    fn total(mut self) -> Result<f64> {
        if self.special != 0.0 {
            if self.infinite.is_nan() {
                return Err(errors::value_error("-inf + inf in fsum"));
            }
            return Ok(self.special);
        }
        let Some(mut high) = self.partials.pop() else { return Ok(0.0) };
        let mut low = 0.0;
        while let Some(next) = self.partials.pop() {
            (high, low) = two_sum(high, next);
            if low != 0.0 {
                break;
            }
        }
        // A tie was rounded to even without the lower digits.
        let beneath = self.partials.last().copied().unwrap_or(0.0);
        if low < 0.0 && beneath < 0.0 || low > 0.0 && beneath > 0.0 {
            let twice = low * 2.0;
            let rounded = high + twice;
            if twice == rounded - high {
                high = rounded;
            }
        }
        Ok(high)
    }
}

/// The rounded sum and the rounding error.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let (large, small) = if a.abs() < b.abs() { (b, a) } else { (a, b) };
    let sum = large + small;
    (sum, small - (sum - large))
}

pub fn prod(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("prod");
    let items = parser.positional("iterable")?;
    let start = parser.keyword_only("start").cloned();
    parser.finish()?;
    let mut product = start.unwrap_or(Value::Int(1));
    let iter = vm.iter(items)?;
    while let Some(item) = vm.next(&iter)? {
        vm.poll()?;
        product = vm.binary(BinaryOp::Mul, &product, &item)?;
    }
    Ok(product)
}

/// `sumprod`: floats are summed exactly, other numbers by their own operators.
pub fn sumprod(vm: &mut Vm, args: &Args) -> Result {
    let [left, right] = args.exactly("sumprod")?;
    let (left, right) = (vm.collect(left)?, vm.collect(right)?);
    if left.len() != right.len() {
        return Err(errors::value_error("Inputs are not the same length"));
    }
    let all_floats = left.iter().chain(&right).all(|item| matches!(item, Value::Float(_)));
    let mut total = Value::Int(0);
    let mut exact = ExactSum::default();
    for (left, right) in left.iter().zip(&right) {
        vm.poll()?;
        match (left, right) {
            (Value::Float(left), Value::Float(right)) if all_floats => {
                let product = left * right;
                exact.add(product)?;
                exact.add(left.mul_add(*right, -product))?;
            }
            _ => {
                let product = vm.binary(BinaryOp::Mul, left, right)?;
                total = vm.binary(BinaryOp::Add, &total, &product)?;
            }
        }
    }
    if all_floats && !left.is_empty() { exact.total().map(Value::Float) } else { Ok(total) }
}

pub fn hypot(vm: &mut Vm, args: &Args) -> Result {
    if args.has_keywords() {
        return Err(errors::no_keywords("hypot"));
    }
    let sides: Result<Vec<f64>> = args.positional().iter().map(|value| to_f64(vm, value)).collect();
    Ok(Value::Float(norm(&sides?)))
}

pub fn dist(vm: &mut Vm, args: &Args) -> Result {
    let [p, q] = args.exactly("dist")?;
    let (p, q) = (vm.collect(p)?, vm.collect(q)?);
    if p.len() != q.len() {
        return Err(errors::value_error("both points must have the same number of dimensions"));
    }
    let mut sides = Vec::with_capacity(p.len());
    for (p, q) in p.iter().zip(&q) {
        sides.push(to_f64(vm, p)? - to_f64(vm, q)?);
    }
    Ok(Value::Float(norm(&sides)))
}

/// The length of a vector: squares summed in twice the precision, then the root corrected once.
fn norm(sides: &[f64]) -> f64 {
    if sides.iter().any(|side| side.is_infinite()) {
        return f64::INFINITY;
    }
    if sides.iter().any(|side| side.is_nan()) {
        return f64::NAN;
    }
    let longest = sides.iter().fold(0.0_f64, |longest, side| longest.max(side.abs()));
    if longest == 0.0 || sides.len() == 1 {
        return longest;
    }
    // A power of two scales the sides to about 1, so that no square overflows or underflows.
    let (_, exponent) = libm::frexp(longest);
    let (mut sum, mut rest) = (0.0, 0.0);
    for side in sides {
        let side = libm::ldexp(side.abs(), -exponent);
        let square = side * side;
        let (high, low) = two_sum(sum, square);
        sum = high;
        rest += low + side.mul_add(side, -square);
    }
    let root = (sum + rest).sqrt();
    let error = (-root).mul_add(root, sum) + rest;
    libm::ldexp(root + error / (2.0 * root), exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_round_once() {
        fn check(items: &[f64], expect: f64) {
            let mut sum = ExactSum::default();
            for &item in items {
                sum.add(item).expect("no partial sum overflows");
            }
            assert_eq!(sum.total().expect("the sum is finite"), expect);
        }
        check(&[0.1; 10], 1.0);
        check(&[1e100, 1.0, -1e100], 1.0);
        check(&[1e16, 1.0, 1e-16], 10000000000000002.0);
        check(&[], 0.0);
    }

    #[test]
    fn norms_neither_overflow_nor_vanish() {
        fn check(sides: &[f64], expect: f64) {
            assert_eq!(norm(sides), expect);
        }
        check(&[3.0, 4.0], 5.0);
        check(&[3e300, 4e300], 5e300);
        check(&[3e-310, 4e-310], 5e-310);
        check(&[f64::NAN, f64::INFINITY], f64::INFINITY);
    }
}
