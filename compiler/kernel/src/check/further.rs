//! The mistakes that types show in a kernel which has others already.
//!
//! In goes the template of a kernel with what `check` told of it; out come these mistakes and those that
//! lowering finds in the rest, as far as the parameters are annotated. What `check` told is not told
//! again, and lowering says nothing of what it touched.

use kps_syntax::{Diagnostic, Diagnostics, Severity};

use crate::env::KernelEnv;
use crate::lower;
use crate::template::KernelTemplate;

pub(super) fn mistakes(template: KernelTemplate, env: &dyn KernelEnv) -> Diagnostics {
    let found = crate::mistakes(lower::lower_partial(&template, env));
    let mut told = template.warnings;
    let is_new = |mistake: &Diagnostic| !told.iter().any(|known| tells(known, mistake));
    let new: Vec<Diagnostic> = found.into_iter().filter(is_new).collect();
    told.extend(new);
    told.in_order()
}

/// Whether one mistake is about the place of the other: then that one is the same, or comes of it.
fn tells(known: &Diagnostic, mistake: &Diagnostic) -> bool {
    // Each of the calls in a cycle may be named as its first.
    let is_recursion = |of: &Diagnostic| of.code == "kernel/recursion";
    let is_same_cycle = is_recursion(known) && is_recursion(mistake);
    known.severity == Severity::Error && (is_same_cycle || known.overlaps(mistake))
}
