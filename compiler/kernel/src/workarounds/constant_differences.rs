//! NVIDIA's compiler folds the difference of two f32 constants wrongly where it is a tie. So a precise kernel launders
//! its f32 constants, and those of bf16, which is computed as f32.

use super::float_constants;
use crate::ir::Kernel;
use crate::types::Scalar;

pub(super) fn apply(kernel: &mut Kernel) {
    float_constants::hide(kernel, |scalar| matches!(scalar, Scalar::F32 | Scalar::Bf16));
}
