//! Legalisation: lowering emits what the script means, and these passes rewrite what the target lacks.
//!
//! In go a kernel and a target; out comes an equivalent kernel of operations that the emitter has for the target. What
//! is left of the others is refused by `verify`.
//!
//! | Pass | Rewrites |
//! |---|---|
//! | `narrow_floats` | arithmetic of `bf16` and `f16` that is computed in f32 |

pub(crate) mod narrow_floats;

use super::FunctionRemark;
use crate::ir::Kernel;

/// Legalises a kernel. Gives remarks on what was rewritten, which tell a reader of the source about its cost.
pub(crate) fn apply(kernel: &mut Kernel) -> Vec<FunctionRemark> {
    let mut remarks = Vec::new();
    narrow_floats::apply(kernel, &mut remarks);
    remarks
}
