//! True results of `math` functions that are written in the kernel language: splitting of floats, sums and
//! products of lists, integer functions.
//!
//! Each type has results of its own, computed step by step.

use crate::number::Float;
use crate::rows::{Exact, FloatRow, Host, IntRow, Test, int, test};

use Host::{None, Other, Same};

const fn float(call: &'static str, host: Host, exact: fn(Float, [f64; 3]) -> f64) -> FloatRow {
    FloatRow { call, host, exact: Exact::OfEach(exact) }
}

/// Also for vectors.
pub const FLOATS: &[FloatRow] = &[
    float("math.nextafter(x, y)", Same, next_after),
    float("math.ulp(x)", Same, |float, [x, ..]| if x.is_finite() { float.format().unit(x) } else { x.abs() }),
    float("T(math.frexp(x)[1])", Other("math.frexp(x)[1]"), |_, [x, ..]| {
        if x.is_finite() { f64::from(libm::frexp(x).1) } else { 0.0 }
    }),
];

pub const FLOATS_OF_NUMBERS: &[FloatRow] = &[
    float("math.modf(x)[0]", Same, |_, [x, ..]| {
        let part = if x.is_infinite() { 0.0 } else { x - x.trunc() };
        part.copysign(x)
    }),
    float("math.modf(x)[1]", Same, |_, [x, ..]| x.trunc()),
    float("math.fsum((x, y, z))", Same, sum_rounded_once),
    // The host's compensates for rounding, from Python 3.12 on.
    float("sum((x, y, z))", Other("0 + x + y + z"), |float, [x, y, z]| {
        float.round(float.round(0.0 + x + y) + z)
    }),
    float("math.prod((x, y, z))", Same, |float, [x, y, z]| float.round(float.round(x * y) * z)),
    float("math.prod((x, y), start=z)", Same, |float, [x, y, z]| float.round(float.round(z * x) * y)),
    // The host's rounds once.
    float("math.sumprod((x, y), (y, z))", None, |float, [x, y, z]| {
        float.round(0.0 + float.round(x * y) + float.round(y * z))
    }),
    float("math.dist((x, y), (y, z))", Same, |float, [x, y, z]| float.round(x - y).hypot(float.round(y - z))),
    float("math.hypot(x, y, z)", Same, |_, [x, y, z]| x.hypot(y).hypot(z)),
];

pub const FLOAT_TESTS: &[Test<f64>] = &[
    test("math.isclose(x, y)", Same, |x, y, _| is_close(x, y, 1e-9, 0.0)),
    test("math.isclose(x, y, rel_tol=0.25)", Same, |x, y, _| is_close(x, y, 0.25, 0.0)),
    // No difference rounds to this tolerance.
    test("math.isclose(x, y, rel_tol=0.0, abs_tol=1.75)", Same, |x, y, _| is_close(x, y, 0.0, 1.75)),
];

/// The remainder limits arguments that would take too long.
pub const INTS: &[IntRow] = &[
    int("math.gcd(x, y)", Same, |_, x, y, _| common_divisor(x, y)),
    int("math.gcd(x, y, z)", Same, |_, x, y, z| common_divisor(common_divisor(x, y), z)),
    // The host has none for a negative number.
    int("math.isqrt(x)", Same, |_, x, _, _| if x > 0 { x.isqrt() } else { 0 }),
    int("math.factorial(x % 40)", Same, |_, x, _, _| arrangements(x.rem_euclid(40), x.rem_euclid(40))),
    int("math.perm(x % 40)", Same, |_, x, _, _| arrangements(x.rem_euclid(40), x.rem_euclid(40))),
    int("math.perm(x % 40, y % 40)", Same, |_, x, y, _| arrangements(x.rem_euclid(40), y.rem_euclid(40))),
    int("math.perm(x, y % 8)", Same, |_, x, y, _| arrangements(x, y.rem_euclid(8))),
    int("math.prod((x, y, z))", Same, |_, x, y, z| x.wrapping_mul(y).wrapping_mul(z)),
    int("math.prod((x, y), start=z)", Same, |_, x, y, z| x.wrapping_mul(y).wrapping_mul(z)),
    // Python has it from 3.12 on.
    int("T(math.sumprod((x, y), (y, z)))", None, |_, x, y, z| {
        x.wrapping_mul(y).wrapping_add(y.wrapping_mul(z))
    }),
];

/// Only if the result fits the type: the host's ints are unbounded, and these functions divide in between, so
/// results that are too large do not wrap around.
pub const FITTING_INTS: &[IntRow] = &[
    int("math.lcm(x, y)", Same, |_, x, y, _| common_multiple(x, y)),
    int("math.lcm(x, y, z)", Same, |_, x, y, z| common_multiple(common_multiple(x, y), z)),
    int("math.comb(x % 64, y % 64)", Same, |_, x, y, _| combinations(x.rem_euclid(64), y.rem_euclid(64))),
    int("math.comb(x, y % 4)", Same, |_, x, y, _| combinations(x, y.rem_euclid(4))),
];

fn next_after(float: Float, [x, y, _]: [f64; 3]) -> f64 {
    let bits = float.to_bits(x);
    match x.partial_cmp(&y) {
        Option::None => f64::NAN,
        Some(std::cmp::Ordering::Equal) => y,
        Some(_) if x == 0.0 => float.format().unit(0.0).copysign(y),
        // Magnitudes compare as their bits do, whatever the sign.
        Some(_) if (x < y) == (x > 0.0) => float.of_bits(bits + 1),
        Some(_) => float.of_bits(bits - 1),
    }
}

/// Narrow floats are sums in f32. The sum of two is rounded to odd, so that rounding it again equals a single
/// rounding. S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
/// rounding to odd", 2008.
fn sum_rounded_once(float: Float, numbers: [f64; 3]) -> f64 {
    let naive: f64 = numbers.iter().sum();
    if numbers.iter().any(|number| !number.is_finite()) {
        return naive;
    }
    // Halves of halves do not overflow, and lose far less than the last place.
    let scale = if numbers.iter().any(|number| number.abs() > 1e300) { 0.25 } else { 1.0 };
    let [x, y, z] = numbers.map(|number| number * scale);
    let (high, low) = two_sum(y, z);
    let (top, rest) = two_sum(x, high);
    let below = sum_to_odd(rest, low);
    let sum = match float {
        Float::F64 => top + below,
        Float::F32 => float.round(sum_to_odd(top, below)),
        Float::F16 | Float::Bf16 => Float::F32.round(sum_to_odd(top, below)),
    };
    // A sum of zeros is 0.
    sum / scale + 0.0
}

/// The sum and its rounding error (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// The sum, rounded to odd.
fn sum_to_odd(a: f64, b: f64) -> f64 {
    let (sum, lost) = two_sum(a, b);
    match lost {
        0.0 => sum,
        _ if sum.to_bits() & 1 == 1 => sum,
        _ if lost > 0.0 => sum.next_up(),
        _ => sum.next_down(),
    }
}

fn is_close(x: f64, y: f64, relative: f64, absolute: f64) -> bool {
    let is_near = || (x - y).abs() <= (relative * x.abs().max(y.abs())).max(absolute);
    x == y || x.is_finite() && y.is_finite() && is_near()
}

fn common_divisor(x: i128, y: i128) -> i128 {
    if y == 0 { x.abs() } else { common_divisor(y, x % y) }
}

fn common_multiple(x: i128, y: i128) -> i128 {
    if x == 0 || y == 0 { 0 } else { (x / common_divisor(x, y)).saturating_mul(y).saturating_abs() }
}

/// The number of arrangements of k out of n.
fn arrangements(n: i128, k: i128) -> i128 {
    if k > n { 0 } else { (0..k).fold(1i128, |product, at| product.wrapping_mul(n - at)) }
}

/// The number of combinations of k out of n; a number beyond every type if there are too many to compute.
fn combinations(n: i128, k: i128) -> i128 {
    if k > n { 0 } else { (0..k).fold(1i128, |product, at| product.saturating_mul(n - at) / (at + 1)) }
}
