//! Type errors of a kernel that already has errors.
//!
//! In goes the template of a kernel with the diagnostics of `check`; out come these and the ones that inference finds,
//! as far as the parameters are annotated. Nothing is reported twice, and nothing follows from a reported mistake.

use kps_syntax::{Diagnostic, Diagnostics, Severity};

use crate::env::KernelEnv;
use crate::infer;
use crate::template::KernelTemplate;

pub(super) fn mistakes(template: KernelTemplate, env: &dyn KernelEnv) -> Diagnostics {
    let found = crate::mistakes(infer::infer_partial(&template, env));
    let mut reported = template.warnings;
    let is_new = |mistake: &Diagnostic| !reported.iter().any(|known| covers(known, mistake));
    let new: Vec<Diagnostic> = found.into_iter().filter(is_new).collect();
    reported.extend(new);
    reported.in_order()
}

/// Whether one mistake is at the place of the other, which then is the same mistake or follows from it.
fn covers(known: &Diagnostic, mistake: &Diagnostic) -> bool {
    // Each of the calls in a cycle may be named as its first.
    let is_recursion = |of: &Diagnostic| of.code == "kernel/recursion";
    let is_same_cycle = is_recursion(known) && is_recursion(mistake);
    known.severity == Severity::Error && (is_same_cycle || known.overlaps(mistake))
}
