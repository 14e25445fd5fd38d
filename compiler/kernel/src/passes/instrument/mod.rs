//! Instrumentation: what a kernel reports besides its results.
//!
//! In go a legal kernel and a target; out comes the kernel with the records that it writes for the host. `records` makes
//! them of messages, of `print` and `assert`. `trace` makes them of assignments, for a target that follows one
//! invocation. A kernel without either stays as it is.

mod records;
mod trace;

use crate::ir::{Kernel, Stmt, walk};
use crate::signature::Target;

pub(super) fn apply(kernel: &mut Kernel, target: &Target) {
    if target.trace.is_some() {
        trace::apply(kernel);
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
