//! NVIDIA's compiler computes ints of 8 and 16 bits in 32 bits, and a widening returns the number before it was
//! truncated. So they are widened by arithmetic on their bits.

use crate::ir::{Kernel, WidenBy};

pub(super) fn apply(kernel: &mut Kernel) {
    kernel.conversions.narrow_ints = WidenBy::Arithmetic;
}
