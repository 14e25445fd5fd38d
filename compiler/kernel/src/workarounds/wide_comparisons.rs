//! Mesa 22.3 folds `i64(x) < 100` to false if it sees the conversion. So an i32 is extended by arithmetic.

use crate::ir::{Kernel, WidenBy};

pub(super) fn apply(kernel: &mut Kernel) {
    kernel.conversions.i32 = WidenBy::Arithmetic;
}
