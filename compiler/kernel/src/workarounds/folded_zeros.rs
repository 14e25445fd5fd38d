//! Lavapipe's `lp_build_add`, `lp_build_mul`, `lp_build_sub` and `lp_build_div` take shortcuts for operands that are
//! the constant 0.0, and lose signs of zeros, infinities and NaNs. So a precise kernel launders its float constants.

use super::float_constants;
use crate::ir::Kernel;
use crate::types::Scalar;

pub(super) fn apply(kernel: &mut Kernel) {
    float_constants::hide(kernel, Scalar::is_float);
}
