//! Lowering: the typed kernel as it is inferred in, a kernel of primitive operations out.
//!
//! A node of the inferred kernel is an operation of the script, such as `log10(x)`. Lowering computes those that are no
//! single operation of the emitter, the same way for every target. What only some targets lack is left to
//! `passes/legalise`. It never sees a syntax tree, decides no type of the script, and reports no mistake. A kernel with
//! mistakes passes through, too: every id exists, and nothing else is certain.
//!
//! Each function is walked once, in the order of its statements. What a node needs is evaluated right before it, and
//! its last step takes its place, so that no other node changes.
//!
//! | Chapter | Computes |
//! |---|---|
//! | `formulas` | functions of floats that GLSL.std.450 lacks, by operations on one type |

mod formulas;

use crate::ir::build::rewrite_function;
use crate::ir::{Function, FunctionId, Kernel, NodeKind};
use crate::remark::FunctionRemark;

/// Lowers a kernel. Gives remarks on what is computed in a wider type.
pub(crate) fn lower(kernel: &mut Kernel) -> Vec<FunctionRemark> {
    let mut remarks = Vec::new();
    for (function, id) in
        kernel.functions.iter_mut().zip(0..).filter(|(function, _)| needs_lowering(function))
    {
        rewrite_function(function, &mut |builder, node| {
            let remark = formulas::expand(builder, node);
            remarks.extend(remark.map(|remark| (FunctionId(id), remark)));
        });
    }
    remarks
}

fn needs_lowering(function: &Function) -> bool {
    function.nodes.iter().any(|node| matches!(node.kind, NodeKind::Formula(..)))
}
