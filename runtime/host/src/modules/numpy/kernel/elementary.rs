//! Elementary functions of 32-bit floats, in loops that the compiler turns into vectors.
//!
//! They compute in 64 bits: an argument is reduced to a short interval (Muller, "Elementary Functions", 2016,
//! chapter 11), where a polynomial that interpolates the function at Chebyshev's nodes is off by less than 1e-11.
//! So results are within 0.501 units in the last place, and almost always the nearest float. Sines and cosines of
//! larger numbers than [`SMALL`] are those of the standard library.

use std::f64::consts::{FRAC_2_PI, LN_2, LOG2_E, LOG10_E};

use super::places::{Filled, Places, vectorised};
use super::unary::Unary;
use super::{Loop1, elements, map};

/// The loop of a function over `f32`; `None` if it has none of its own.
pub fn loop_of(op: Unary) -> Option<Loop1> {
    Some(match op {
        Unary::Exp => |row, places| map(row, places, exp),
        Unary::Exp2 => |row, places| map(row, places, exp2),
        Unary::Log => |row, places| map(row, places, |x| log(x) as f32),
        Unary::Log2 => |row, places| map(row, places, |x| (log(x) * LOG2_E) as f32),
        Unary::Log10 => |row, places| map(row, places, |x| (log(x) * LOG10_E) as f32),
        Unary::Sin => |row, places| map_small(row, places, |x| sine(x, 0), f32::sin),
        Unary::Cos => |row, places| map_small(row, places, |x| sine(x, 1), f32::cos),
        _ => return None,
    })
}

/// Adding it to a small number rounds that to an integer, in the low bits of the sum.
const ROUNDS: f64 = 1.5 * (1u64 << 52) as f64;

/// Fused multiplications and additions are part of the definition: a processor that lacks them is slow, and has the
/// same results.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let (last, others) = coefficients.split_last().expect("a polynomial has coefficients");
    others.iter().rev().fold(*last, |sum, coefficient| sum.mul_add(x, *coefficient))
}

/// `x` is the sum of a multiple of the logarithm of 2 and a rest, whose exponential is near 1.
#[inline(always)]
fn exp(x: f32) -> f32 {
    let x = limited(x, 150.0);
    let shifted = x.mul_add(LOG2_E, ROUNDS);
    scaled_exp((ROUNDS - shifted).mul_add(LN_2, x), shifted)
}

#[inline(always)]
fn exp2(x: f32) -> f32 {
    let x = limited(x, 200.0);
    let shifted = x + ROUNDS;
    scaled_exp((x - (shifted - ROUNDS)) * LN_2, shifted)
}

/// Limited to where the result is neither zero nor infinite in 64 bits; a NaN stays.
#[inline(always)]
fn limited(x: f32, most: f32) -> f64 {
    let x = if x > most { most } else { x };
    f64::from(if x < -most { -most } else { x })
}

/// The exponential of a number of at most half the logarithm of 2, times a power of 2.
#[inline(always)]
fn scaled_exp(x: f64, power: f64) -> f32 {
    const COEFFICIENTS: [f64; 9] = [
        0.9999999999999997,
        0.9999999999797881,
        0.4999999999981226,
        0.16666666891025447,
        0.041666666884409655,
        0.008333266101649174,
        0.0013888822618480182,
        0.0001991586501751841,
        2.487574513433026e-5,
    ];
    // The power is added to the exponent.
    f64::from_bits(polynomial(x, COEFFICIENTS).to_bits().wrapping_add(power.to_bits() << 52)) as f32
}

/// The natural logarithm: that of a number between the roots of 1/2 and 2, and of a power of 2.
#[inline(always)]
fn log(x: f32) -> f64 {
    const ROOT_OF_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    // The integer in the low bits of this float is its distance from it.
    const BASE: f64 = (1u64 << 52) as f64;
    /// Of the inverse hyperbolic tangent, divided by its argument, in the square of that.
    const COEFFICIENTS: [f64; 6] = [
        0.9999999999999729,
        0.333333333398206,
        0.19999997444890977,
        0.14286082792232596,
        0.1108714615936186,
        0.09803648482933829,
    ];
    let wide = f64::from(x);
    let biased = (wide.to_bits().wrapping_add(ONE - ROOT_OF_HALF)) >> 52;
    let power = f64::from_bits(biased | BASE.to_bits()) - (BASE + 1023.0);
    let mantissa = f64::from_bits(wide.to_bits().wrapping_sub((biased << 52).wrapping_sub(ONE)));
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let finite = power.mul_add(LN_2, 2.0 * ratio * polynomial(ratio * ratio, COEFFICIENTS));
    match x {
        _ if x > 0.0 && x < f32::INFINITY => finite,
        0.0 => f64::NEG_INFINITY,
        _ if x < 0.0 => f64::NAN,
        _ => wide,
    }
}

/// The sine of `x` plus a number of right angles, for an `x` that is at most [`SMALL`].
#[inline(always)]
fn sine(x: f32, n_right_angles: u64) -> f32 {
    /// The first 33 bits of a right angle.
    const RIGHT_ANGLE: f64 = 1.5707963267341256;
    const REST: f64 = 6.077100506506192e-11;
    /// Of the sine, divided by its argument, in the square of that.
    const SINE: [f64; 5] = [
        0.9999999999956681,
        -0.1666666663156062,
        0.008333328779546133,
        -0.0001983920134057577,
        2.71733766842087e-6,
    ];
    const COSINE: [f64; 6] = [
        0.9999999999999435,
        -0.4999999999934662,
        0.041666666543474284,
        -0.001388888037728825,
        2.4798926095039792e-5,
        -2.7173275455787824e-7,
    ];
    let wide = f64::from(x);
    let shifted = wide.mul_add(FRAC_2_PI, ROUNDS);
    let n = ROUNDS - shifted;
    let angle = n.mul_add(REST, n.mul_add(RIGHT_ANGLE, wide));
    let square = angle * angle;
    let quadrant = shifted.to_bits().wrapping_add(n_right_angles);
    let (sine, cosine) = (angle * polynomial(square, SINE), polynomial(square, COSINE));
    let magnitude = if quadrant & 1 == 0 { sine } else { cosine };
    f64::from_bits(magnitude.to_bits() ^ (quadrant & 2) << 62) as f32
}

const SMALL: f32 = (1 << 19) as f32;

/// Maps a chunk by a function of small numbers, and by another one of larger ones, infinities and NaN.
#[inline(always)]
fn map_small(
    row: &[u8],
    places: Places<'_>,
    func: impl Fn(f32) -> f32 + Copy,
    of_large: fn(f32) -> f32,
) -> Filled {
    let are_small = || elements::<f32>(row).fold(true, |all, x| all & (x.abs() <= SMALL));
    match vectorised(are_small) {
        true => map(row, places, func),
        false => map(row, places, |x: f32| if x.abs() <= SMALL { func(x) } else { of_large(x) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::numpy::kernel::append;
    use kps_compute::element::{from_bytes, to_bytes};

    /// Results of the loop are the nearest floats to exact ones, or a neighbour that is as near but for a thousandth.
    #[track_caller]
    fn check(op: Unary, exact: fn(f64) -> f64, arguments: impl Iterator<Item = f32>) {
        let arguments: Vec<f32> = arguments.collect();
        let mut row = Vec::new();
        let func = loop_of(op).expect("the function has a loop");
        append(&mut row, arguments.len() * 4, |places| func(&to_bytes(&arguments), places));
        for (x, result) in arguments.into_iter().zip(from_bytes::<f32>(&row)) {
            let exact = exact(x.into());
            let nearest = exact as f32;
            if result.to_bits() == nearest.to_bits() || result.is_nan() && nearest.is_nan() {
                continue;
            }
            let ulp = f64::from(nearest.abs().next_up()) - f64::from(nearest.abs());
            assert!((f64::from(result) - exact).abs() <= 0.501 * ulp, "{op:?} of {x}: {result}, not {exact}");
        }
    }

    fn all_sizes() -> impl Iterator<Item = f32> {
        let special = [0.0, -0.0, 1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE, 1e-45];
        (0..1u32 << 16).map(|bits| f32::from_bits(bits << 16 | bits & 0x1ff)).chain(special)
    }

    #[test]
    fn results_are_the_nearest_floats() {
        check(Unary::Exp, f64::exp, all_sizes());
        check(Unary::Exp, f64::exp, (-12000..12000).map(|at| at as f32 / 113.0));
        check(Unary::Exp2, f64::exp2, (-16000..16000).map(|at| at as f32 / 97.0));
        check(Unary::Log, f64::ln, all_sizes());
        check(Unary::Log, f64::ln, (1..20000).map(|at| at as f32 / 10000.0));
        check(Unary::Log2, f64::log2, (-149..128).map(|power| (power as f32).exp2()));
        check(Unary::Log10, f64::log10, all_sizes());
        check(Unary::Sin, f64::sin, (-20000..20000).map(|at| at as f32 / 31.0));
        check(Unary::Cos, f64::cos, (-20000..20000).map(|at| at as f32 * 26.0));
        check(Unary::Sin, f64::sin, all_sizes().filter(|x| x.abs() <= SMALL || x.is_nan()));
    }
}
