//! Legalisation: the typed kernel says what the script means, and these passes rewrite what the target lacks.
//!
//! In go a kernel and a target; out comes an equivalent kernel of operations that the emitter has for the target. What
//! is left of the others is refused by `verify`.
//!
//! | Pass | Rewrites |
//! |---|---|
//! | `matrices` | cooperative matrices, which a subgroup holds or every invocation emulates; before lowering |
//! | `selected_arrays` | accesses to one of several arrays, which the script selects at run time |
//! | `atomics_by_address` | bindings of arrays whose atomic operations need an address |
//! | `narrow_floats` | arithmetic of `bf16` and `f16` that is computed in f32 |

mod atomics_by_address;
pub(crate) mod matrices;
pub(crate) mod narrow_floats;
mod selected_arrays;

use crate::ir::Kernel;
use crate::remark::FunctionRemark;

/// Legalises a kernel. Gives remarks on what was rewritten, which tell a reader of the source about its cost.
pub(crate) fn apply(kernel: &mut Kernel) -> Vec<FunctionRemark> {
    let mut remarks = Vec::new();
    // ORDER: the other passes see one array for each access.
    selected_arrays::apply(kernel);
    atomics_by_address::apply(kernel);
    narrow_floats::apply(kernel, &mut remarks);
    remarks
}
