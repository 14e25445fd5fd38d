//! Functions of `f32` for usual arguments, as `f64` arithmetic without calls or branches. The compiler
//! vectorises them for several lanes, and a single lane gets the same bits.
//!
//! Each reduces its argument to a small interval, and evaluates a minimax polynomial there: the one of its
//! degree with the smallest maximum relative error, from Remez' exchange algorithm (E. Ya. Remez, 1934;
//! computed with 40 digits). The first term is that of the Taylor series, so results near zero are precise.
//! Rounding the result to `f32` costs half a unit in the last place. All other errors together are less than
//! a hundredth of one, which is 6e-10 of the result. No sum is contracted, so the bits are the same on every
//! machine.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E, PI, SQRT_2};

/// Adding it to a number of at most 2^50 leaves the nearest integer in the low bits.
const TO_WHOLE: f64 = 1.5 * (1u64 << 52) as f64;
/// The bits of a float's mantissa.
const FRACTION: u64 = (1 << 52) - 1;
/// `PI / 2` in two parts. The first has 25 bits, so its product with an integer of 27 bits is exact. The
/// second adds bits beyond the 53 of a float.
const FRAC_PI_2_HIGH: f64 = f64::from_bits(FRAC_PI_2.to_bits() & !((1 << 28) - 1));
const FRAC_PI_2_LOW: f64 = FRAC_PI_2 - FRAC_PI_2_HIGH + 6.123_233_995_736_766e-17;
const TWO_TO_52: f64 = (1u64 << 52) as f64;
/// Angles up to here are reduced in two steps.
const MAX_ANGLE: f32 = (1u32 << 27) as f32;
/// Powers of e and of 2 with a larger exponent are zero or infinite in `f32`.
const MAX_EXPONENT: f32 = 200.0;
/// The tangent of `PI / 8`.
const TAN_PI_8: f64 = SQRT_2 - 1.0;

#[inline(always)]
pub fn is_angle(x: f32) -> bool {
    x.abs() <= MAX_ANGLE
}

#[inline(always)]
pub fn is_exponent(x: f32) -> bool {
    x.abs() <= MAX_EXPONENT
}

#[inline(always)]
pub fn is_positive(x: f32) -> bool {
    (x > 0.0) & (x < f32::INFINITY)
}

#[inline(always)]
pub fn is_base(x: f32, y: f32) -> bool {
    is_positive(x) & y.is_finite()
}

#[inline(always)]
pub fn is_cosine(x: f32) -> bool {
    x.abs() <= 1.0
}

#[inline(always)]
pub fn is_hyperbolic_cosine(x: f32) -> bool {
    (1.0..f32::INFINITY).contains(&x)
}

#[inline(always)]
pub fn is_hyperbolic_tangent(x: f32) -> bool {
    x.abs() < 1.0
}

#[inline(always)]
pub fn is_finite(x: f32) -> bool {
    x.abs() < f32::INFINITY
}

#[inline(always)]
pub fn is_point(y: f32, x: f32) -> bool {
    is_finite(x) & is_finite(y) & ((x != 0.0) | (y != 0.0))
}

/// `c[0] + c[1] x + ..` by Horner's scheme.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, c: [f64; N]) -> f64 {
    let mut sum = c[N - 1];
    let mut i = N - 1;
    while i > 0 {
        i -= 1;
        sum = sum * x + c[i];
    }
    sum
}

/// An angle as quarter turns and a remainder between -PI / 4 and PI / 4. The low bits of the first are the
/// number of quarters.
#[inline(always)]
fn quarters(x: f32) -> (u64, f64) {
    let x = f64::from(x);
    let shifted = x * std::f64::consts::FRAC_2_PI + TO_WHOLE;
    let n = shifted - TO_WHOLE;
    (shifted.to_bits(), x - n * FRAC_PI_2_HIGH - n * FRAC_PI_2_LOW)
}

/// The sine of a small angle, with relative error 5.2e-12.
#[inline(always)]
fn small_sin(r: f64) -> f64 {
    const C: [f64; 5] = [
        1.0,
        -0.166_666_666_407_969_7,
        0.008_333_329_304_835_862,
        -0.000_198_393_122_680_583_16,
        2.718_121_618_372_754_8e-6,
    ];
    r * polynomial(r * r, C)
}

/// The cosine of a small angle, with relative error 6.4e-11.
#[inline(always)]
fn small_cos(r: f64) -> f64 {
    const C: [f64; 5] = [
        1.0,
        -0.499_999_996_944_809_34,
        0.041_666_620_357_434_95,
        -0.001_388_668_165_487_908_3,
        2.438_356_782_580_179_3e-5,
    ];
    polynomial(r * r, C)
}

/// The sine after some quarter turns.
#[inline(always)]
fn turned(n: u64, r: f64) -> f64 {
    let value = if n & 1 == 0 { small_sin(r) } else { small_cos(r) };
    f64::from_bits(value.to_bits() ^ (n & 2) << 62)
}

#[inline(always)]
pub fn sin(x: f32) -> f32 {
    let (n, r) = quarters(x);
    turned(n, r) as f32
}

#[inline(always)]
pub fn cos(x: f32) -> f32 {
    let (n, r) = quarters(x);
    turned(n.wrapping_add(1), r) as f32
}

#[inline(always)]
pub fn tan(x: f32) -> f32 {
    let (n, r) = quarters(x);
    let (sin, cos) = (small_sin(r), small_cos(r));
    let odd = n & 1 != 0;
    let (above, below) = if odd { (-cos, sin) } else { (sin, cos) };
    (above / below) as f32
}

/// `e^z - 1` for a `z` of at most half the logarithm of 2, with relative error 2.4e-10.
#[inline(always)]
fn small_power(z: f64) -> f64 {
    const C: [f64; 7] = [
        1.0,
        0.500_000_004_413_536,
        0.166_666_663_705_108_85,
        0.041_666_361_042_270_26,
        0.008_333_389_376_552_706,
        0.001_394_061_659_981_568_1,
        0.000_198_458_611_624_760_95,
    ];
    z * polynomial(z, C)
}

/// `2^k` and `e^z - 1`, where `x` is `k` times the logarithm of 2 and `z`, which is small.
#[inline(always)]
fn power(x: f64) -> (f64, f64) {
    let shifted = x * LOG2_E + TO_WHOLE;
    (two_to(shifted), small_power(x - (shifted - TO_WHOLE) * LN_2))
}

/// 2 to the power of the integer in the low bits.
#[inline(always)]
fn two_to(shifted: f64) -> f64 {
    f64::from_bits((shifted.to_bits() << 52).wrapping_add(1.0f64.to_bits()))
}

#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let (scale, less_one) = power(f64::from(x));
    (scale + scale * less_one) as f32
}

#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    wide_exp2(f64::from(x)) as f32
}

#[inline(always)]
fn wide_exp2(x: f64) -> f64 {
    let shifted = x + TO_WHOLE;
    let scale = two_to(shifted);
    scale + scale * small_power((x - (shifted - TO_WHOLE)) * LN_2)
}

/// `e^|x| - 1`, precise also near zero.
#[inline(always)]
fn grown(x: f32) -> f64 {
    let (scale, less_one) = power(f64::from(x.abs()));
    scale * less_one + (scale - 1.0)
}

#[inline(always)]
pub fn sinh(x: f32) -> f32 {
    let grown = grown(x);
    (0.5 * (grown + grown / (grown + 1.0))).copysign(f64::from(x)) as f32
}

#[inline(always)]
pub fn cosh(x: f32) -> f32 {
    let power = grown(x) + 1.0;
    (0.5 * (power + 1.0 / power)) as f32
}

#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let grown = grown(2.0 * x);
    (grown / (grown + 2.0)).copysign(f64::from(x)) as f32
}

/// The exponent of 2, and the logarithm of the mantissa, which is between sqrt(1/2) and sqrt(2). Its relative
/// error is 3e-14, because `pow` multiplies it by up to 128.
#[inline(always)]
fn parts_of_log(x: f64) -> (f64, f64) {
    const C: [f64; 6] = [
        2.0,
        0.666_666_666_757_683_4,
        0.399_999_956_328_995_1,
        0.285_721_079_920_919_44,
        0.221_762_370_783_695_93,
        0.195_834_605_211_935_44,
    ];
    let root = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    let moved = x.to_bits().wrapping_add(1.0f64.to_bits() - root);
    let whole = f64::from_bits((moved >> 52) | TWO_TO_52.to_bits()) - (TWO_TO_52 + 1023.0);
    let left = f64::from_bits((moved & FRACTION) + root);
    let s = (left - 1.0) / (left + 1.0);
    (whole, s * polynomial(s * s, C))
}

#[inline(always)]
pub fn log(x: f32) -> f32 {
    let (whole, log) = parts_of_log(f64::from(x));
    (whole * LN_2 + log) as f32
}

/// The logarithm of `1 + t`, precise also for small `t`: the rounding error of the sum is added to the
/// logarithm, as the first term of its series.
#[inline(always)]
fn log_beyond_1(t: f64) -> f64 {
    let sum = 1.0 + t;
    let (whole, log) = parts_of_log(sum);
    whole * LN_2 + (log + (t - (sum - 1.0)) / sum)
}

/// Uses `x + sqrt(x^2 + 1) - 1` as a sum of positive numbers.
#[inline(always)]
pub fn asinh(x: f32) -> f32 {
    let size = f64::from(x.abs());
    let square = size * size;
    log_beyond_1(size + square / (1.0 + (1.0 + square).sqrt())).copysign(f64::from(x)) as f32
}

#[inline(always)]
pub fn acosh(x: f32) -> f32 {
    let beyond = f64::from(x) - 1.0;
    log_beyond_1(beyond + (beyond * (beyond + 2.0)).sqrt()) as f32
}

/// Half the logarithm of `(1 + x) / (1 - x)`.
#[inline(always)]
pub fn atanh(x: f32) -> f32 {
    let size = f64::from(x.abs());
    (0.5 * log_beyond_1(2.0 * size / (1.0 - size))).copysign(f64::from(x)) as f32
}

#[inline(always)]
pub fn log2(x: f32) -> f32 {
    wide_log2(f64::from(x)) as f32
}

#[inline(always)]
fn wide_log2(x: f64) -> f64 {
    let (whole, log) = parts_of_log(x);
    whole + log * LOG2_E
}

#[inline(always)]
pub fn pow(x: f32, y: f32) -> f32 {
    let exponent = f64::from(y) * wide_log2(f64::from(x));
    let most = f64::from(MAX_EXPONENT);
    let exponent = if exponent > most { most } else { exponent };
    let exponent = if exponent < -most { -most } else { exponent };
    wide_exp2(exponent) as f32
}

/// The angle of a point in the first quadrant, with relative error 2.3e-11.
#[inline(always)]
fn angle(y: f64, x: f64) -> f64 {
    const C: [f64; 7] = [
        1.0,
        -0.333_333_324_991_447_24,
        0.199_999_039_090_617_73,
        -0.142_820_077_751_800_78,
        0.110_446_917_158_346_04,
        -0.084_762_693_687_272_35,
        0.047_440_482_895_969_95,
    ];
    let (steep, middle) = (x < TAN_PI_8 * y, y > TAN_PI_8 * x);
    let (above, below, turn) = if middle { (y - x, y + x, FRAC_PI_4) } else { (y, x, 0.0) };
    let (above, below, turn) = if steep { (-x, y, FRAC_PI_2) } else { (above, below, turn) };
    let z = above / below;
    turn + z * polynomial(z * z, C)
}

#[inline(always)]
fn wide_atan2(y: f64, x: f64) -> f64 {
    let first = angle(y.abs(), x.abs());
    let angle = if x.is_sign_negative() { PI - first } else { first };
    angle.copysign(y)
}

#[inline(always)]
pub fn atan(x: f32) -> f32 {
    wide_atan2(f64::from(x), 1.0) as f32
}

#[inline(always)]
pub fn atan2(y: f32, x: f32) -> f32 {
    wide_atan2(f64::from(y), f64::from(x)) as f32
}

/// The other coordinate on the unit circle.
#[inline(always)]
fn beside(x: f64) -> f64 {
    ((1.0 - x) * (1.0 + x)).sqrt()
}

#[inline(always)]
pub fn asin(x: f32) -> f32 {
    let x = f64::from(x);
    wide_atan2(x, beside(x)) as f32
}

#[inline(always)]
pub fn acos(x: f32) -> f32 {
    let x = f64::from(x);
    wide_atan2(beside(x), x) as f32
}
