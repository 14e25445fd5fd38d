//! NVIDIA's compiler folds the difference of two f32 constants wrongly where it is a tie. So no f32 is a constant in a
//! precise kernel, and no bf16, which is computed as an f32.

use super::float_constants;
use crate::ir::Kernel;
use crate::types::Scalar;

pub(super) fn apply(kernel: &mut Kernel) {
    float_constants::hide(kernel, |scalar| matches!(scalar, Scalar::F32 | Scalar::Bf16));
}
