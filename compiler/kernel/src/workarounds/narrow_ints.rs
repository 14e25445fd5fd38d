//! NVIDIA's compiler computes ints of 8 and 16 bits in 32 and widens one to what it was before it was made narrow. So
//! they are widened by arithmetic on their bits.

use crate::ir::{Kernel, WidenBy};

pub(super) fn apply(kernel: &mut Kernel) {
    kernel.conversions.narrow_ints = WidenBy::Arithmetic;
}
