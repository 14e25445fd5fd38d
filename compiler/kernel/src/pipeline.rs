//! The order of the phases: checks and compiles a kernel.
//!
//! In goes a definition or a template; out comes what the last phase made, or all mistakes of the phases that ran.

use std::sync::Arc;

use kps_syntax::ast::FunctionDef;
use kps_syntax::{Diagnostic, Diagnostics, Severity, Source};

use crate::env::KernelEnv;
use crate::infer::{Collect, Inferred, LibraryFunctions};
use crate::ir::FunctionId;
use crate::remark::FunctionRemark;
use crate::signature::{KernelModule, KernelOptions, Signature, Target};
use crate::template::KernelTemplate;
use crate::verify::Verified;
use crate::{analysis, emit, errors, infer, ir, lower, passes, verify, workarounds};

/// The template of a kernel, or its mistakes: those of the definition, and the type errors that inference finds as far
/// as the parameters are declared.
pub(crate) fn check(
    def: &Arc<FunctionDef>,
    source: &Source,
    env: &dyn KernelEnv,
    options: KernelOptions,
) -> Result<KernelTemplate, Diagnostics> {
    let template = crate::check::check(def, source, env, options);
    if !template.has_mistakes() {
        return Ok(template);
    }
    let mut inferred = infer::infer_partial(&template, env, None, Collect::Nothing);
    let library = LibraryFunctions::new(&template, env, inferred.kernel.functions.len());
    lower(&mut inferred, library);
    Err(with_mistakes_of(&template, mistakes(inferred)))
}

/// Compiles a kernel for one signature.
pub(crate) fn specialize(
    template: &KernelTemplate,
    env: &dyn KernelEnv,
    signature: &Signature,
    target: &Target,
) -> Result<KernelModule, Diagnostics> {
    let mut inferred = inferred(template, env, signature, Collect::Nothing)?;
    let warnings = std::mem::take(&mut inferred.warnings);
    let kernel = verified(inferred, template, env, target)?.kernel;
    ensure_not_cancelled(template, env)?;
    let kernel = workarounds::apply(kernel, target.workarounds)?;
    let mut module = emit::emit(&kernel, target);
    ensure_not_cancelled(template, env)?;
    module.warnings = warnings.in_order();
    Ok(module)
}

/// The mistakes of a kernel that do not depend on its parameters, its `const`s or the values of captured names.
pub(crate) fn mistakes_of_any(template: &KernelTemplate, env: &dyn KernelEnv) -> Diagnostics {
    let mut inferred = infer::infer_partial(template, env, None, Collect::Nothing);
    lower_and_run_passes(&mut inferred, template, env, &Target::portable());
    mistakes(inferred)
}

/// The typed form of a kernel for one signature, without workarounds for drivers: for tools that run it or look at it.
pub(crate) fn typed(
    template: &KernelTemplate,
    env: &dyn KernelEnv,
    signature: &Signature,
    target: &Target,
) -> Result<Verified<ir::Kernel>, Diagnostics> {
    let inferred = inferred(template, env, signature, Collect::Nothing)?;
    let kernel = verified(inferred, template, env, target)?.kernel;
    ensure_not_cancelled(template, env)?;
    Ok(kernel)
}

/// The kernel after inference. A template with mistakes is refused.
pub(crate) fn inferred(
    template: &KernelTemplate,
    env: &dyn KernelEnv,
    signature: &Signature,
    collect: Collect,
) -> Result<Inferred, Diagnostics> {
    match template.has_mistakes() {
        true => Err(template.warnings.clone()),
        false => Ok(infer::infer(template, env, signature, collect)),
    }
}

/// The mistakes of a definition, with those that inference found in the same kernel. Nothing is reported twice, and
/// nothing follows from a reported mistake.
pub(crate) fn with_mistakes_of(template: &KernelTemplate, found: Diagnostics) -> Diagnostics {
    let mut reported = template.warnings.clone();
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

/// Between two phases: an error if the host has cancelled the compilation.
fn ensure_not_cancelled(template: &KernelTemplate, env: &dyn KernelEnv) -> Result<(), Diagnostics> {
    match env.is_cancelled() {
        true => Err(errors::cancelled(template.source.at(template.def.name.span)).into()),
        false => Ok(()),
    }
}

/// Lowers an inferred kernel, and runs the passes on it. Gives remarks on what was rewritten, and the id of each
/// function that was inferred.
pub(crate) fn lower_and_run_passes(
    inferred: &mut Inferred,
    template: &KernelTemplate,
    env: &dyn KernelEnv,
    target: &Target,
) -> (Vec<FunctionRemark>, Vec<FunctionId>) {
    let mut library = LibraryFunctions::new(template, env, inferred.kernel.functions.len());
    // ORDER: matrices need functions of the library, which are lowered and ordered with all others.
    let of_matrices = passes::legalise::matrices::apply(&mut inferred.kernel, target, &mut library);
    let (mut remarks, ids) = lower(inferred, library);
    remarks.extend(of_matrices.into_iter().map(|(id, remark)| (ids[id.idx()], remark)));
    let header = template.source.at(template.def.header);
    remarks.extend(passes::run(&mut inferred.kernel, target, header, &mut inferred.mistakes));
    (remarks, ids)
}

/// Lowers an inferred kernel. Gives remarks on what was rewritten, and the id of each function that was inferred.
fn lower(inferred: &mut Inferred, library: LibraryFunctions) -> (Vec<FunctionRemark>, Vec<FunctionId>) {
    let lower::Lowered { remarks, mistakes, ids } = lower::lower(&mut inferred.kernel, library);
    inferred.mistakes.extend(mistakes);
    (remarks, ids)
}

/// A kernel that can be emitted.
pub(crate) struct Lowered {
    pub kernel: Verified<ir::Kernel>,
    /// Remarks on what was rewritten.
    pub remarks: Vec<FunctionRemark>,
    /// The id of each function that was inferred.
    pub ids: Vec<FunctionId>,
}

/// Lowers an inferred kernel, runs the passes on it and verifies it.
pub(crate) fn verified(
    mut inferred: Inferred,
    template: &KernelTemplate,
    env: &dyn KernelEnv,
    target: &Target,
) -> Result<Lowered, Diagnostics> {
    let (remarks, ids) = lower_and_run_passes(&mut inferred, template, env, target);
    if !inferred.mistakes.is_empty() {
        return Err(mistakes(inferred));
    }
    let kernel = verify::verify(inferred.kernel)?;
    analysis::check(kernel.get())?;
    Ok(Lowered { kernel, remarks, ids })
}

/// The mistakes that inference and the passes found, and those that the analysis finds in the rest of the kernel.
pub(crate) fn mistakes(inferred: Inferred) -> Diagnostics {
    let Inferred { kernel, mut mistakes, is_whole, .. } = inferred;
    // The rest of a kernel with mistakes need not be well-formed.
    if is_whole
        && let Ok(kernel) = verify::verify(kernel)
        && let Err(found) = analysis::check(kernel.get())
    {
        mistakes.extend(found);
    }
    mistakes.in_order()
}
