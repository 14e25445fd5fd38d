//! Converts `f64` to the floats of 16 bits with a single rounding to nearest, ties to even. The conversions
//! of `half` use the upper half of the bits only, so they mistake numbers near a tie for the tie.

use half::{bf16, f16};

pub fn to_f16(value: f64) -> f16 {
    f16::from_f32(rounded_to_odd(value))
}

pub fn to_bf16(value: f64) -> bf16 {
    bf16::from_f32(rounded_to_odd(value))
}

/// Rounds to odd: toward zero, with the last bit set if bits were lost. Rounding that again to at least two
/// bits fewer equals a single rounding (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums",
/// 2008).
fn rounded_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) == value || value.is_nan() {
        return nearest;
    }
    let is_past = f64::from(nearest).abs() > value.abs();
    f32::from_bits((nearest.to_bits() - u32::from(is_past)) | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks numbers at distance `step` from the tie between 1 and its upper neighbour.
    fn check(step: f64, narrow: impl Fn(f64) -> f64) {
        let tie = 1.0 + step / 2.0;
        assert_eq!(narrow(tie), 1.0);
        assert_eq!(narrow(tie.next_up()), 1.0 + step);
        assert_eq!(narrow(tie.next_down()), 1.0);
        assert_eq!(narrow(-tie.next_up()), -1.0 - step);
        assert_eq!(narrow(1.0 + step * 1.5), 1.0 + step * 2.0);
        assert_eq!(narrow((1.0 + step * 1.5).next_down()), 1.0 + step);
        assert_eq!(narrow(1e300), f64::INFINITY);
        assert_eq!(narrow(-1e-300), 0.0);
        assert!(narrow(f64::NAN).is_nan());
    }

    #[test]
    fn numbers_beside_a_tie_round_to_their_side() {
        check(2f64.powi(-10), |x| to_f16(x).to_f64());
        check(2f64.powi(-7), |x| to_bf16(x).to_f64());
        // Below the smallest number, and beyond the largest.
        assert_eq!(to_f16(2f64.powi(-25)).to_f64(), 0.0);
        assert_eq!(to_f16(2f64.powi(-25).next_up()).to_f64(), 2f64.powi(-24));
        assert_eq!(to_f16(65519.999).to_f64(), 65504.0);
        assert_eq!(to_f16(65520.0).to_f64(), f64::INFINITY);
    }
}
