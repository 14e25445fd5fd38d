//! NVIDIA's compiler leaves out the rounding to f16 of what is widened again. So a float that is rounded to f16 goes
//! through its bits, joined with those of an opaque zero.

use crate::ir::{Kernel, RoundBy};
use crate::stages::Stage;

pub(super) fn apply(kernel: &mut Kernel) {
    if kernel.stage == Stage::Compute {
        kernel.conversions.f16 = RoundBy::OpaqueBits;
    }
}
