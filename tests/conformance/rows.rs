//! The rows of the table: the kernel's expression for an operator or a function, the host's expression, and
//! the true result.
//!
//! Ints are computed in 128 bits and wrap around. Floats are computed in f64, which is exact enough for every
//! narrower type. For f64 itself, the standard library's functions are accurate to about half a unit.

use crate::number::Float;

/// The host's expression of the row.
#[derive(Clone, Copy, Debug)]
pub enum Host {
    /// The same as the kernel's.
    Same,
    Other(&'static str),
    /// The host has no such function, or one with another meaning.
    None,
}

pub struct IntRow {
    pub call: &'static str,
    pub host: Host,
    /// For a type with so many bits; the caller wraps the result.
    pub exact: fn(u32, i128, i128, i128) -> i128,
}

pub struct FloatRow {
    pub call: &'static str,
    pub host: Host,
    pub exact: Exact,
}

/// The true result of a row of floats.
#[derive(Clone, Copy)]
pub enum Exact {
    /// Independent of the type; the caller rounds it.
    OfAll(fn(f64, f64, f64) -> f64),
    /// For each type, step by step.
    OfEach(fn(Float, [f64; 3]) -> f64),
}

/// Rows whose result is a bool.
pub struct Test<T> {
    pub call: &'static str,
    pub host: Host,
    pub exact: fn(T, T, T) -> bool,
}

use Host::{None, Other, Same};

pub const fn int(call: &'static str, host: Host, exact: fn(u32, i128, i128, i128) -> i128) -> IntRow {
    IntRow { call, host, exact }
}

const fn float(call: &'static str, host: Host, exact: fn(f64, f64, f64) -> f64) -> FloatRow {
    FloatRow { call, host, exact: Exact::OfAll(exact) }
}

pub const fn test<T>(call: &'static str, host: Host, exact: fn(T, T, T) -> bool) -> Test<T> {
    Test { call, host, exact }
}

pub const INTS: &[IntRow] = &[
    int("x + y", Same, |_, x, y, _| x + y),
    int("x - y", Same, |_, x, y, _| x - y),
    int("x * y", Same, |_, x, y, _| x.wrapping_mul(y)),
    int("x // y", Same, |_, x, y, _| floor_div(x, y)),
    int("x % y", Same, |_, x, y, _| if y == 0 { 0 } else { x - floor_div(x, y) * y }),
    int("tdiv(x, y)", None, |_, x, y, _| if y == 0 { 0 } else { x / y }),
    int("trem(x, y)", None, |_, x, y, _| if y == 0 { 0 } else { x % y }),
    int("x & y", Same, |_, x, y, _| x & y),
    int("x | y", Same, |_, x, y, _| x | y),
    int("x ^ y", Same, |_, x, y, _| x ^ y),
    int("x << y", Other("x << y % BITS"), |bits, x, y, _| x << y.rem_euclid(i128::from(bits))),
    int("x >> y", Other("x >> y % BITS"), |bits, x, y, _| x >> y.rem_euclid(i128::from(bits))),
    int("x << 3", Same, |_, x, _, _| x << 3),
    int("x >> 3", Same, |_, x, _, _| x >> 3),
    int("~x", Same, |_, x, _, _| !x),
    int("-x", Same, |_, x, _, _| -x),
    int("+x", Same, |_, x, _, _| x),
    int("x ** 2", Same, |_, x, _, _| x.wrapping_mul(x)),
    int("x ** 5", Same, |_, x, _, _| power(x, 5)),
    int("x ** y", Other("x ** y if 0 <= y < 70 else None"), |_, x, y, _| power(x, y)),
    int("x // 7", Same, |_, x, _, _| floor_div(x, 7)),
    int("x % 7", Same, |_, x, _, _| x - floor_div(x, 7) * 7),
    int("x // 8", Same, |_, x, _, _| x >> 3),
    int("x % 8", Same, |_, x, _, _| x & 7),
    int("100 // x", Same, |_, x, _, _| floor_div(100, x)),
    int("100 % x", Same, |_, x, _, _| if x == 0 { 0 } else { 100 - floor_div(100, x) * x }),
    int("min(x, y)", Same, |_, x, y, _| x.min(y)),
    int("max(x, y)", Same, |_, x, y, _| x.max(y)),
    int("min(x, y, z)", Same, |_, x, y, z| x.min(y).min(z)),
    int("max(x, y, z)", Same, |_, x, y, z| x.max(y).max(z)),
    int("abs(x)", Same, |_, x, _, _| x.abs()),
    int("sign(x)", Other("(x > 0) - (x < 0)"), |_, x, _, _| x.signum()),
    int("clamp(x, y, z)", Other("min(max(x, y), z)"), |_, x, y, z| x.max(y).min(z)),
    int("pow(x, 5, y)", Other("pow(x, 5, y) if y != 0 else 0"), |_, x, y, _| power_modulo(x, 5, y)),
    int("round(x, -1)", Same, |_, x, _, _| round_to_ten(x)),
    int("T(popcount(x))", Other("bin(x & (1 << BITS) - 1).count('1')"), |bits, x, _, _| ones(bits, x)),
    int("T(clz(x))", Other("BITS - (x & (1 << BITS) - 1).bit_length()"), |bits, x, _, _| {
        leading_zeros(bits, x)
    }),
    int("T(ctz(x))", Other("(x & -x).bit_length() - 1 if x else BITS"), |bits, x, _, _| {
        trailing_zeros(bits, x)
    }),
    int("reverse_bits(x)", None, reversed),
    int("T(x.bit_count())", Other("x.bit_count()"), |_, x, _, _| i128::from(x.unsigned_abs().count_ones())),
    int("T(x.bit_length())", Other("x.bit_length()"), |_, x, _, _| {
        i128::from(128 - x.unsigned_abs().leading_zeros())
    }),
    int("sum((x, y, z))", Same, |_, x, y, z| x + y + z),
    int("dot(vec2(x, y), vec2(y, z))", None, |_, x, y, z| x.wrapping_mul(y).wrapping_add(y.wrapping_mul(z))),
];

/// Only for signed types.
pub const SIGNED_INTS: &[IntRow] = &[
    int("x // -7", Same, |_, x, _, _| floor_div(x, -7)),
    int("x % -7", Same, |_, x, _, _| x - floor_div(x, -7) * -7),
    int("x // -1", Same, |_, x, _, _| -x),
    int("x % -8", Same, |_, x, _, _| x - floor_div(x, -8) * -8),
];

pub const INT_TESTS: &[Test<i128>] = &[
    test("x == y", Same, |x, y, _| x == y),
    test("x != y", Same, |x, y, _| x != y),
    test("x < y", Same, |x, y, _| x < y),
    test("x <= y", Same, |x, y, _| x <= y),
    test("x > y", Same, |x, y, _| x > y),
    test("x >= y", Same, |x, y, _| x >= y),
    test("bool(x)", Same, |x, _, _| x != 0),
    test("x < y < z", Same, |x, y, z| x < y && y < z),
    test("x < y and y < z", Same, |x, y, z| x < y && y < z),
    test("x < y or y < z", Same, |x, y, z| x < y || y < z),
    test("not x < y", Same, |x, y, _| x >= y),
    test("all((x < y, y < z))", Same, |x, y, z| x < y && y < z),
    test("any((x < y, y < z))", Same, |x, y, z| x < y || y < z),
    test("x in (y, z)", Same, |x, y, z| x == y || x == z),
    test("x == y if x < z else x < y", Same, |x, y, z| if x < z { x == y } else { x < y }),
];

pub const FLOAT_TESTS: &[Test<f64>] = &[
    test("x == y", Same, |x, y, _| x == y),
    test("x != y", Same, |x, y, _| x != y),
    test("x < y", Same, |x, y, _| x < y),
    test("x <= y", Same, |x, y, _| x <= y),
    test("x > y", Same, |x, y, _| x > y),
    test("x >= y", Same, |x, y, _| x >= y),
    test("bool(x)", Same, |x, _, _| x != 0.0),
    test("isnan(x)", Other("math.isnan(x)"), |x, _, _| x.is_nan()),
    test("isinf(x)", Other("math.isinf(x)"), |x, _, _| x.is_infinite()),
    test("isfinite(x)", Other("math.isfinite(x)"), |x, _, _| x.is_finite()),
    test("x < y < z", Same, |x, y, z| x < y && y < z),
    test("x < y and y < z", Same, |x, y, z| x < y && y < z),
    test("x < y or y < z", Same, |x, y, z| x < y || y < z),
    test("not x < y", Same, |x, y, _| x.is_nan() || y.is_nan() || x >= y),
    test("all((x < y, y < z))", Same, |x, y, z| x < y && y < z),
    test("any((x < y, y < z))", Same, |x, y, z| x < y || y < z),
    // The host also tests the identity of a NaN.
    test("x in (y, z)", None, |x, y, z| x == y || x == z),
    test("x == y if x < z else x < y", Same, |x, y, z| if x < z { x == y } else { x < y }),
];

/// Of bools.
pub const BOOL_TESTS: &[Test<bool>] = &[
    test("x and y", Same, |x, y, _| x && y),
    test("x or y", Same, |x, y, _| x || y),
    test("not x", Same, |x, _, _| !x),
    test("x and y or z", Same, |x, y, z| x && y || z),
    test("x & y", Same, |x, y, _| x & y),
    test("x | y", Same, |x, y, _| x | y),
    test("x ^ y", Same, |x, y, _| x ^ y),
    test("x &= y", None, |x, y, _| x & y),
    test("x |= y", None, |x, y, _| x | y),
    test("x ^= y", None, |x, y, _| x ^ y),
    test("x == y", Same, |x, y, _| x == y),
    test("x != y", Same, |x, y, _| x != y),
    test("x in (y, z)", Same, |x, y, z| x == y || x == z),
    test("y if x else z", Same, |x, y, z| if x { y } else { z }),
];

/// Other expressions with the meaning of a row.
pub const EQUIVALENT_CALLS: &[(&str, &str)] = &[
    ("x += y", "x + y"),
    ("x -= y", "x - y"),
    ("x *= y", "x * y"),
    ("x /= y", "x / y"),
    ("x //= y", "x // y"),
    ("x %= y", "x % y"),
    ("x **= y", "x ** y"),
    ("x &= y", "x & y"),
    ("x |= y", "x | y"),
    ("x ^= y", "x ^ y"),
    ("x <<= y", "x << y"),
    ("x >>= y", "x >> y"),
    ("pow(x, y)", "x ** y"),
    ("divmod(x, y)[0]", "x // y"),
    ("divmod(x, y)[1]", "x % y"),
    ("y if y < x else x", "min(x, y)"),
    ("y if y > x else x", "max(x, y)"),
    ("min((x, y, z))", "min(x, y, z)"),
    ("max((x, y, z))", "max(x, y, z)"),
    ("math.dist(vec2(x, y), vec2(y, z))", "distance(vec2(x, y), vec2(y, z))"),
    ("vec2(x, y) @ vec2(y, z)", "dot(vec2(x, y), vec2(y, z))"),
];

/// One for every operator and for every call under `floats` in the rows of kernel functions.
pub const FLOATS: &[FloatRow] = &[
    float("x + y", Same, |x, y, _| x + y),
    float("x - y", Same, |x, y, _| x - y),
    float("x * y", Same, |x, y, _| x * y),
    float("x + 0.0", Same, |x, _, _| x + 0.0),
    float("0.0 - x", Same, |x, _, _| 0.0 - x),
    float("x * 0.0", Same, |x, _, _| x * 0.0),
    float("x / y", Same, |x, y, _| x / y),
    float("x // y", Same, float_floor_div),
    float("x % y", Same, float_floor_mod),
    float("fmod(x, y)", Other("math.fmod(x, y)"), |x, y, _| x % y),
    float("trem(x, y)", Other("math.fmod(x, y)"), |x, y, _| x % y),
    // The host's powers of a negative base with a fractional exponent are complex.
    float("x ** y", Other("x ** y if x >= 0 or y == y // 1 else None"), |x, y, _| x.powf(y)),
    float("x ** 2", Same, |x, _, _| x * x),
    float("x ** 3", Same, |x, _, _| x * x * x),
    float("x ** -1", Same, |x, _, _| 1.0 / x),
    float("x ** 0.5", Other("x ** 0.5 if not x < 0 else None"), |x, _, _| x.powf(0.5)),
    float("-x", Same, |x, _, _| -x),
    float("abs(x)", Same, |x, _, _| x.abs()),
    float("sign(x)", None, |x, _, _| if x == 0.0 { x } else { x.signum() }),
    float("min(x, y)", Same, |x, y, _| if y < x { y } else { x }),
    float("max(x, y)", Same, |x, y, _| if y > x { y } else { x }),
    float("clamp(x, y, z)", Other("min(max(x, y), z)"), |x, y, z| {
        let raised = if y > x { y } else { x };
        if z < raised { z } else { raised }
    }),
    float("nmin(x, y)", None, |x, y, _| if y < x || x.is_nan() { y } else { x }),
    float("nmax(x, y)", None, |x, y, _| if y > x || x.is_nan() { y } else { x }),
    float("nclamp(x, y, z)", None, |x, y, z| {
        let raised = if y > x || x.is_nan() { y } else { x };
        if z < raised || raised.is_nan() { z } else { raised }
    }),
    float("copysign(x, y)", Other("math.copysign(x, y)"), |x, y, _| x.copysign(y)),
    float("step(x, y)", None, |x, y, _| if y < x { 0.0 } else { 1.0 }),
    // The host's returns an int.
    float("floor(x)", None, |x, _, _| x.floor()),
    float("ceil(x)", None, |x, _, _| x.ceil()),
    float("trunc(x)", None, |x, _, _| x.trunc()),
    float("round(x)", None, |x, _, _| x.round_ties_even()),
    float("fract(x)", None, |x, _, _| x - x.floor()),
    float("fma(x, y, z)", None, |x, y, z| x.mul_add(y, z)),
    float("sqrt(x)", Other("math.sqrt(x)"), |x, _, _| x.sqrt()),
    float("inversesqrt(x)", None, |x, _, _| 1.0 / x.sqrt()),
    float("exp(x)", Other("math.exp(x)"), |x, _, _| x.exp()),
    float("exp2(x)", Other("math.exp2(x)"), |x, _, _| x.exp2()),
    float("expm1(x)", Other("math.expm1(x)"), |x, _, _| x.exp_m1()),
    float("log(x)", Other("math.log(x)"), |x, _, _| x.ln()),
    float("log(x, y)", Other("math.log(x, y)"), |x, y, _| x.ln() / y.ln()),
    float("log2(x)", Other("math.log2(x)"), |x, _, _| x.log2()),
    float("log10(x)", Other("math.log10(x)"), |x, _, _| x.log10()),
    float("log1p(x)", Other("math.log1p(x)"), |x, _, _| x.ln_1p()),
    float("cbrt(x)", Other("math.cbrt(x)"), |x, _, _| x.cbrt()),
    float("hypot(x, y)", Other("math.hypot(x, y)"), |x, y, _| x.hypot(y)),
    float("sin(x)", Other("math.sin(x)"), |x, _, _| x.sin()),
    float("cos(x)", Other("math.cos(x)"), |x, _, _| x.cos()),
    float("tan(x)", Other("math.tan(x)"), |x, _, _| x.tan()),
    float("asin(x)", Other("math.asin(x)"), |x, _, _| x.asin()),
    float("acos(x)", Other("math.acos(x)"), |x, _, _| x.acos()),
    float("atan(x)", Other("math.atan(x)"), |x, _, _| x.atan()),
    float("atan2(x, y)", Other("math.atan2(x, y)"), |x, y, _| x.atan2(y)),
    float("sinh(x)", Other("math.sinh(x)"), |x, _, _| x.sinh()),
    float("cosh(x)", Other("math.cosh(x)"), |x, _, _| x.cosh()),
    float("tanh(x)", Other("math.tanh(x)"), |x, _, _| x.tanh()),
    float("asinh(x)", Other("math.asinh(x)"), |x, _, _| asinh(x)),
    float("acosh(x)", Other("math.acosh(x)"), |x, _, _| acosh(x)),
    float("atanh(x)", Other("math.atanh(x)"), |x, _, _| x.abs().atanh().copysign(x)),
    float("math.erf(x)", Same, |x, _, _| libm::erf(x)),
    float("math.erfc(x)", Same, |x, _, _| libm::erfc(x)),
    // The host's is some units off between the poles.
    float("math.gamma(x)", None, |x, _, _| gamma(x)),
    float("math.lgamma(x)", None, |x, _, _| libm::lgamma(x)),
    float("math.remainder(x, y)", Same, |x, y, _| libm::remainder(x, y)),
    float("math.frexp(x)[0]", Same, |x, _, _| if x.is_finite() { libm::frexp(x).0 } else { x }),
    float("math.ldexp(x, 3)", Same, |x, _, _| x * 8.0),
    float("math.ldexp(x, -140)", Same, |x, _, _| libm::ldexp(x, -140)),
    float("round(x, 2)", Same, |x, _, _| match x.is_finite() {
        true => format!("{x:.2}").parse().expect("it was a number"),
        false => x,
    }),
    float("degrees(x)", Other("math.degrees(x)"), |x, _, _| x * (180.0 / std::f64::consts::PI)),
    float("radians(x)", Other("math.radians(x)"), |x, _, _| x * (std::f64::consts::PI / 180.0)),
    float("mix(x, y, z)", Other("x * (1 - z) + y * z"), |x, y, z| x * (1.0 - z) + y * z),
    float("smooth_step(x, y, z)", None, |x, y, z| {
        let t = ((z - x) / (y - x)).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    }),
    float("dot(vec2(x, y), vec2(y, z))", Other("x * y + y * z"), |x, y, z| x * y + y * z),
    float("length(vec2(x, y))", None, |x, y, _| (x * x + y * y).sqrt()),
    float("distance(vec2(x, y), vec2(y, z))", None, |x, y, z| ((x - y) * (x - y) + (y - z) * (y - z)).sqrt()),
    float("normalize(vec2(x, y)).x", None, |x, y, _| x / (x * x + y * y).sqrt()),
    float("cross(vec3(x, y, z), vec3(z, x, y)).x", None, |x, y, z| y * y - x * z),
    float("reflect(vec2(x, y), vec2(y, z)).x", None, |x, y, z| x - 2.0 * (y * x + z * y) * y),
    float("refract(vec2(x, y), vec2(y, z), z).x", None, |x, y, z| {
        let dot = y * x + z * y;
        let inside = 1.0 - z * z * (1.0 - dot * dot);
        if inside < 0.0 { 0.0 } else { z * x - (z * dot + inside.sqrt()) * y }
    }),
    float("face_forward(vec2(x, y), vec2(y, z), vec2(z, x)).x", None, |x, y, z| {
        if z * y + x * z < 0.0 { x } else { -x }
    }),
];

fn floor_div(x: i128, y: i128) -> i128 {
    match y {
        0 => 0,
        y if x % y != 0 && (x < 0) != (y < 0) => x / y - 1,
        y => x / y,
    }
}

/// By repeated squaring, wrapping; 0 for a negative exponent.
fn power(base: i128, exponent: i128) -> i128 {
    let (mut product, mut square, mut left) = (i128::from(exponent >= 0), base, exponent.max(0));
    while left > 0 {
        if left & 1 == 1 {
            product = product.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left >>= 1;
    }
    product
}

/// Python's: the remainder has the divisor's sign, also for zeros. By zero it is 0, as for ints.
fn float_floor_mod(x: f64, y: f64, _: f64) -> f64 {
    let remainder = x % y;
    match y {
        0.0 => 0.0,
        _ if remainder == 0.0 => 0f64.copysign(y),
        _ if (remainder < 0.0) != (y < 0.0) => remainder + y,
        _ => remainder,
    }
}

/// Python's, but a zero quotient has the sign of `/`.
fn float_floor_div(x: f64, y: f64, _: f64) -> f64 {
    let remainder = x % y;
    let adjusts = remainder != 0.0 && (remainder < 0.0) != (y < 0.0);
    let quotient = ((x - remainder) / y).round_ties_even() - if adjusts { 1.0 } else { 0.0 };
    match y {
        0.0 => 0.0,
        _ if quotient == 0.0 => 0f64.copysign(x / y),
        _ => quotient,
    }
}

/// The standard library's overflows where the logarithm does not.
fn asinh(x: f64) -> f64 {
    if x.abs() > 1e9 { (x.abs().ln() + std::f64::consts::LN_2).copysign(x) } else { x.asinh() }
}

/// The standard library's is imprecise near 1.
fn acosh(x: f64) -> f64 {
    match x {
        x if x < 1.0 => f64::NAN,
        x if x > 1e9 => x.ln() + std::f64::consts::LN_2,
        x => (x - 1.0 + ((x - 1.0) * (x + 1.0)).sqrt()).ln_1p(),
    }
}

/// An infinity with the sign of a zero, and NaN at the other poles.
fn gamma(x: f64) -> f64 {
    match x {
        0.0 => 1.0 / x,
        x if x < 0.0 && x.fract() == 0.0 || x == f64::NEG_INFINITY => f64::NAN,
        x => libm::tgamma(x),
    }
}

/// With the sign of m; 0 by 0.
fn power_modulo(x: i128, n: u32, m: i128) -> i128 {
    if m == 0 {
        return 0;
    }
    let (base, size) = (x.rem_euclid(m).unsigned_abs(), m.unsigned_abs());
    let rest = (0..n).fold(1 % size, |product, _| product * base % size) as i128;
    if m < 0 && rest != 0 { rest + m } else { rest }
}

/// Ties to even.
fn round_to_ten(x: i128) -> i128 {
    let below = floor_div(x, 10);
    let rest = x - below * 10;
    let is_up = rest > 5 || rest == 5 && below % 2 != 0;
    (below + i128::from(is_up)) * 10
}

/// The bits of an int, the lowest first.
fn bits_of(bits: u32, x: i128) -> impl DoubleEndedIterator<Item = bool> {
    (0..bits).map(move |at| x >> at & 1 == 1)
}

fn ones(bits: u32, x: i128) -> i128 {
    bits_of(bits, x).filter(|one| *one).count() as i128
}

fn leading_zeros(bits: u32, x: i128) -> i128 {
    bits_of(bits, x).rev().take_while(|one| !one).count() as i128
}

fn trailing_zeros(bits: u32, x: i128) -> i128 {
    bits_of(bits, x).take_while(|one| !one).count() as i128
}

fn reversed(bits: u32, x: i128, _: i128, _: i128) -> i128 {
    bits_of(bits, x).fold(0, |reversed, one| reversed << 1 | i128::from(one))
}
