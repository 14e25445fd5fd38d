//! NVIDIA's compiler crashes on some kernels that return inside loops or nested branches. So the kernel becomes a
//! function that the entry point calls.

use crate::ir::{Block, Entry, Kernel, Stmt};

pub(super) fn apply(kernel: &mut Kernel) {
    let main = kernel.functions.last().expect("a verified kernel has its own function");
    if ends_within(&main.body, 0) {
        kernel.entry = Entry::Wrapper;
    }
}

/// Whether an invocation may end within a loop, or in a choice within another.
fn ends_within(block: &Block, depth: u32) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Return(..) | Stmt::End(_) => depth >= 2,
        Stmt::If { then, orelse, .. } => ends_within(then, depth + 1) || ends_within(orelse, depth + 1),
        Stmt::Loop(parts) => ends_within(&parts.test, depth + 2) || ends_within(&parts.body, depth + 2),
        _ => false,
    })
}
