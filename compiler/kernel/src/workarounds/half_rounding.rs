//! NVIDIA's compiler omits the rounding to f16 if the result is widened again. So the rounded bits are combined with
//! those of an opaque zero.

use crate::ir::{Kernel, RoundBy};
use crate::stages::Stage;

pub(super) fn apply(kernel: &mut Kernel) {
    if kernel.stage == Stage::Compute {
        kernel.conversions.f16 = RoundBy::OpaqueBits;
    }
}
