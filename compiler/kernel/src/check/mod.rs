//! The check of a kernel at its definition, as far as no launch is needed.
//!
//! In goes a decorated function with its environment; out comes its template, or all mistakes in the order of the
//! source, type errors included. Lints of parallel code are warnings.

mod further;
mod invocations;

use std::sync::Arc;

use kps_syntax::ast::FunctionDef;
use kps_syntax::{Diagnostics, Source};

use crate::env::KernelEnv;
use crate::resolve::resolve;
use crate::signature::KernelOptions;
use crate::template::KernelTemplate;

pub(crate) fn check(
    def: &Arc<FunctionDef>,
    source: &Source,
    env: &dyn KernelEnv,
    options: KernelOptions,
) -> Result<KernelTemplate, Diagnostics> {
    let mut template = resolve(def, source, env, options);
    let lints = invocations::lints(&template, env);
    template.warnings.extend(lints);
    template.warnings = std::mem::take(&mut template.warnings).in_order();
    match template.warnings.has_errors() {
        true => Err(further::mistakes(template, env)),
        false => Ok(template),
    }
}
