//! Instrumentation: what a kernel reports besides its results.
//!
//! In go a legal kernel and a target; out comes the kernel with the records that it writes for the host, and with checks
//! for a device that has them. `records` makes records of messages, of `print` and `assert`. `trace` makes them of
//! assignments, for a target that follows one invocation. `checks` states each operation that may fail. A kernel that
//! needs none of these stays as it is.

mod checks;
mod records;
mod trace;

use crate::ir::build::Builder;
use crate::ir::{BinaryOp, Kernel, NodeId, NodeKind, Stmt, walk};
use crate::signature::Target;
use crate::types::{Scalar, Type};

pub(super) fn apply(kernel: &mut Kernel, target: &Target) {
    if target.checks {
        checks::apply(kernel, target);
    }
    if let Some(invocation) = target.trace {
        trace::apply(kernel, invocation);
    }
    if has_messages(kernel) {
        records::apply(kernel);
    }
}

fn has_messages(kernel: &Kernel) -> bool {
    kernel.functions.iter().any(|function| {
        let mut has_any = false;
        walk(&function.body, &mut |stmt| has_any |= matches!(stmt, Stmt::Message(_)));
        has_any
    })
}

/// A sum or difference, of any type of numbers. That of bf16 is computed in f32.
fn arithmetic(builder: &mut Builder, op: BinaryOp, a: NodeId, b: NodeId) -> NodeId {
    if builder.ty(a) != Type::Scalar(Scalar::Bf16) {
        return builder.binary(op, a, b);
    }
    let [a, b] = [a, b].map(|x| builder.node(NodeKind::Convert(x), Scalar::F32));
    let made = builder.binary(op, a, b);
    builder.node(NodeKind::Convert(made), Scalar::Bf16)
}
