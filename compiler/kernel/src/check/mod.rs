//! The check of a kernel at its definition, as far as no launch is needed.
//!
//! In goes a decorated function with its environment; out comes its template. Its warnings are the lints of parallel
//! code and the mistakes of the definition, in the order of the source. Types of expressions are never here.

mod invocations;

use std::sync::Arc;

use kps_syntax::Source;
use kps_syntax::ast::FunctionDef;

use crate::env::KernelEnv;
use crate::resolve::resolve;
use crate::signature::KernelOptions;
use crate::template::KernelTemplate;

pub(crate) fn check(
    def: &Arc<FunctionDef>,
    source: &Source,
    env: &dyn KernelEnv,
    options: KernelOptions,
) -> KernelTemplate {
    let mut template = resolve(def, source, env, options);
    let lints = invocations::lints(&template, env);
    template.warnings.extend(lints);
    template.warnings = std::mem::take(&mut template.warnings).in_order();
    template
}
