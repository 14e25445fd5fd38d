//! Rows of `math` functions that are written in the kernel language, and so have no entry in the table of
//! intrinsics: splitting of floats, sums and products of lists, integer functions.
//!
//! Their bounds are here; the page of intrinsics describes some of them. They are exact, or as exact as their
//! operators, which are computed here step by step.

use kps_kernel::intrinsics::{Bound, Domain, Intrinsic, Rough, Source};

use crate::number::Float;
use crate::rows::{Exact, FloatRow, Host, IntRow, Test, int, test};

use Host::{None, Other, Same};

const WHOLE_NUMBERS_AND_LISTS: &str = include_str!("../../compiler/kernel/src/library/numbers.kps");

/// A row with its guarantee.
pub struct Row {
    pub row: FloatRow,
    pub promise: Intrinsic,
}

/// Exact on every device.
const fn exact(call: &'static str, host: Host, exact: fn(Float, [f64; 3]) -> f64) -> Row {
    made(call, host, exact, (Domain::Everywhere, Bound::Exact), Bound::Exact)
}

/// Composed of operators: as exact as these are on a Vulkan device, and each rounded correctly on the CPU
/// device.
const fn steps(
    call: &'static str,
    host: Host,
    exact: fn(Float, [f64; 3]) -> f64,
    formula: fn([Rough; 3]) -> Rough,
) -> Row {
    made(call, host, exact, (Domain::Numbers, Bound::Steps(call, formula)), Bound::Exact)
}

const fn made(
    call: &'static str,
    host: Host,
    exact: fn(Float, [f64; 3]) -> f64,
    (domain, vulkan): (Domain, Bound),
    builtin: Bound,
) -> Row {
    let row = FloatRow { call, host, exact: Exact::OfEach(exact) };
    let promise = Intrinsic { call, domain, vulkan, source: Source::Formula, builtin, double: Option::None };
    Row { row, promise }
}

/// Also for vectors.
pub const FLOATS: &[Row] = &[
    exact("math.nextafter(x, y)", Same, next_after),
    exact("math.ulp(x)", Same, |float, [x, ..]| if x.is_finite() { float.format().unit(x) } else { x.abs() }),
    exact("T(math.frexp(x)[1])", Other("math.frexp(x)[1]"), |_, [x, ..]| {
        if x.is_finite() { f64::from(libm::frexp(x).1) } else { 0.0 }
    }),
];

pub const FLOATS_OF_NUMBERS: &[Row] = &[
    exact("math.modf(x)[0]", Same, |_, [x, ..]| {
        let part = if x.is_infinite() { 0.0 } else { x - x.trunc() };
        part.copysign(x)
    }),
    exact("math.modf(x)[1]", Same, |_, [x, ..]| x.trunc()),
    exact("math.fsum((x, y, z))", Same, sum_rounded_once),
    // The host's compensates for rounding, from Python 3.12 on.
    steps(
        "sum((x, y, z))",
        Other("0 + x + y + z"),
        |float, [x, y, z]| float.round(float.round(0.0 + x + y) + z),
        |[x, y, z]| x + y + z,
    ),
    steps(
        "math.prod((x, y, z))",
        Same,
        |float, [x, y, z]| float.round(float.round(x * y) * z),
        |[x, y, z]| x * y * z,
    ),
    steps(
        "math.prod((x, y), start=z)",
        Same,
        |float, [x, y, z]| float.round(float.round(z * x) * y),
        |[x, y, z]| z * x * y,
    ),
    // The host's rounds once.
    steps(
        "math.sumprod((x, y), (y, z))",
        None,
        |float, [x, y, z]| float.round(0.0 + float.round(x * y) + float.round(y * z)),
        |[x, y, z]| x * y + y * z,
    ),
    // As exact as `hypot` of correctly rounded differences.
    made(
        "math.dist((x, y), (y, z))",
        Same,
        |float, [x, y, z]| float.round(x - y).hypot(float.round(y - z)),
        (Domain::Numbers, Bound::Steps("hypot(x - y, y - z)", |[x, y, z]| hypot(x - y, y - z))),
        Bound::Ulp(3.0),
    ),
    // Rounded twice.
    made(
        "math.hypot(x, y, z)",
        Same,
        |_, [x, y, z]| x.hypot(y).hypot(z),
        (Domain::Numbers, Bound::Steps("hypot(hypot(x, y), z)", |[x, y, z]| hypot(hypot(x, y), z))),
        Bound::Ulp(6.0),
    ),
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

/// The calls of all rows in this file.
pub fn calls() -> impl Iterator<Item = &'static str> {
    let floats = FLOATS.iter().chain(FLOATS_OF_NUMBERS).map(|row| row.row.call);
    let ints = INTS.iter().chain(FITTING_INTS).map(|row| row.call);
    floats.chain(ints).chain(FLOAT_TESTS.iter().map(|test| test.call))
}

/// The functions that the kernel library defines.
pub fn functions() -> impl Iterator<Item = &'static str> {
    let lines = WHOLE_NUMBERS_AND_LISTS.lines();
    lines.filter_map(|line| Some(line.strip_prefix("def ")?.split_once('(')?.0))
}

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

fn hypot(x: Rough, y: Rough) -> Rough {
    let (large, small) = if x.value.abs() < y.value.abs() { (y, x) } else { (x, y) };
    let ratio = small / large;
    large * (x.constant(1.0) + ratio * ratio).sqrt()
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
