//! Where a driver gives other results than the language specifies, permitted or not. A kernel that reaches
//! such a case may differ on Vulkan.
//!
//! | What | Who | Smallest kernel |
//! |---|---|---|
//! | A subnormal number is taken for zero | rule 11 lets any device | `out[i] = x[i] * 1e-30` |
//! | `x + 0.0` is `x`, where -0.0 should become 0.0 | Mesa's gallivm (`lp_build_add`) | `out[i] = x[i] + 0.0` |
//! | `0.0 - x` is `-x`, where 0.0 - 0.0 should be 0.0 | the same, as `0.0 + -x` | `out[i] = 0.0 - x[i]` |
//! | `0.0 * x` is 0.0, where `x` is negative, infinite or NaN | `lp_build_mul` | `out[i] = 0.0 * x[i]` |
//! | `x / 0.0` is undefined, and `0.0 / x` is 0.0 | `lp_build_div` | `out[i] = x[i] / 0.0` |
//! | `x - x` is 0.0, where `x` is infinite or NaN | `lp_build_sub` | `out[i] = x[i] - x[i]` |
//! | `-1.0 if c else 0.0` is -0.0, where `c` is false | Mesa's NIR, as `-float(c)` | `out[i] = -1.0 if x[i] > 0.0 else 0.0` |
//! | `x / y` and `sqrt(x)` of f32 and narrower are near the true result | Vulkan's table lets any device; lavapipe rounds them right | `out[i] = sqrt(x[i])` |
//!
//! Only lavapipe is excused for Mesa's shortcuts. Mesa applies them to zeros that are constant after inlining
//! and unrolling, which the source does not show. So the interpreter inspects the values instead. It cannot know
//! which selects become arithmetic, so for these the results are inspected ([`ZEROS`]).
//! Precise kernels launder the zeros that are written (the workaround `folded-zeros`), not those that result.

use kps_kernel::Scalar;
use kps_kernel::ir::BinaryOp;

use crate::interpreter::{Notes, Value};

const SUBNORMAL: &str = "subnormal numbers";
/// Drivers that may not round correctly.
const BOUND: &str = "quotients and roots, which have a bound";
/// On lavapipe, only the sign of zeros differs.
const ZEROS: &str = "signs of zeros in Mesa";
const SHORT_CUT: &str = "short cuts of Mesa";

/// Why a driver's results may differ.
pub fn excuse(notes: &Notes, is_lavapipe: bool, is_of_zeros: bool) -> Option<&'static str> {
    let excuses = [
        (notes.has_subnormal, SUBNORMAL),
        (notes.has_short_cut && is_lavapipe, SHORT_CUT),
        (notes.has_bound && !is_lavapipe, BOUND),
        (is_of_zeros && is_lavapipe, ZEROS),
    ];
    excuses.into_iter().find_map(|(holds, why)| holds.then_some(why))
}

pub fn is_subnormal(scalar: Scalar, value: &Value) -> bool {
    let Value::Float(value) = value else { return false };
    let smallest = match scalar {
        Scalar::F16 => 2f64.powi(-14),
        Scalar::F64 => f64::MIN_POSITIVE,
        _ => f64::from(f32::MIN_POSITIVE),
    };
    *value != 0.0 && value.abs() < smallest
}

/// Whether the shortcut for a constant zero, or for equal operands, would change the result.
pub fn takes_short_cut(op: Option<BinaryOp>, operands: &[&Value], result: &Value) -> bool {
    let (Some(op), [Value::Float(a), Value::Float(b)]) = (op, operands) else { return false };
    let (a, b) = (*a, *b);
    let is_plain_zero = matches!(result, Value::Float(result) if result.to_bits() == 0);
    match op {
        BinaryOp::Add => a == 0.0 && b == 0.0 && a.is_sign_negative() != b.is_sign_negative(),
        BinaryOp::Mul => (a == 0.0 || b == 0.0) && !is_plain_zero,
        BinaryOp::Div => b == 0.0 || (a == 0.0 && !is_plain_zero),
        BinaryOp::Sub => (a == 0.0 || !a.is_finite()) && (a == b || a.is_nan() && b.is_nan()),
        _ => false,
    }
}
