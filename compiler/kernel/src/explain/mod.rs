//! Remarks on a kernel's source: the type of each expression, implicit conversions, which indices are tested, which
//! loads are uniform, and which places need which device feature.
//!
//! In goes what `specialize` takes; out comes its module with the remarks, as data. A kernel with mistakes has no
//! explanation: its mistakes come out, the same as from `specialize`. See `kernel_types` for its types.

mod assembly;
mod indices;

use kps_syntax::ast::FunctionDef;
use kps_syntax::{Diagnostics, Location};

use crate::env::KernelEnv;
use crate::infer::{Collect, FunctionTypes};
use crate::ir::{Function, FunctionId, Kernel, NodeKind, Stmt, walk};
use crate::remark::{self, ExplainedFunction, FunctionRemark, Remark, RemarkKind};
use crate::signature::{CapabilityUse, KernelModule, Signature, Target};
use crate::template::KernelTemplate;
use crate::{analysis, emit, pipeline, workarounds};

pub use assembly::assembly_of_line;

/// A compiled kernel with remarks on its source.
#[derive(Clone, Debug)]
pub struct Explanation {
    pub module: KernelModule,
    /// Invocations of a workgroup in launches of one, two and three axes, where they are left to these.
    pub local_sizes_by_rank: Option<[[u32; 3]; 3]>,
    /// Invocations of a subgroup, if the kernel requires a number.
    pub subgroup_size: Option<u32>,
    /// The kernel itself, then the functions that it calls, once for each signature, in the order of
    /// the source.
    pub functions: Vec<ExplainedFunction>,
}

/// Compiles a kernel, with remarks on its source.
pub(crate) fn explain(
    template: &KernelTemplate,
    env: &dyn KernelEnv,
    signature: &Signature,
    target: &Target,
) -> Result<Explanation, Diagnostics> {
    let mut inferred = pipeline::inferred(template, env, signature, Collect::Types)?;
    let mut types = std::mem::take(&mut inferred.types);
    let lowered = pipeline::verified(inferred, template, env, target)?;
    for id in types.iter_mut().filter_map(|types| types.id.as_mut()) {
        *id = lowered.ids[id.idx()];
    }
    let (kernel, of_passes) = (lowered.kernel, lowered.remarks);
    let kernel = workarounds::apply(kernel, target.workarounds)?;
    let module = emit::emit(&kernel, target);
    let functions = functions(kernel.get(), types, &of_passes, &module.capabilities);
    Ok(Explanation {
        module,
        local_sizes_by_rank: template.local_sizes_by_rank(),
        subgroup_size: template.options.subgroup_size,
        functions,
    })
}

fn functions(
    kernel: &Kernel,
    types: Vec<FunctionTypes>,
    of_passes: &[FunctionRemark],
    uses: &[CapabilityUse],
) -> Vec<ExplainedFunction> {
    let reached = kernel.reached();
    let shown = types.into_iter().filter_map(|found| found.id.map(|id| (id, found)));
    let shown: Vec<(FunctionId, FunctionTypes)> = shown.filter(|(id, _)| reached[id.idx()]).collect();
    let order: Vec<FunctionId> = shown.iter().map(|(id, _)| *id).collect();
    let differing = analysis::differing(kernel);
    let has_matrices = kernel.has_matrices();
    let explained = shown.into_iter().map(|(id, FunctionTypes { def, function: typed, .. })| {
        let function = &kernel.functions[id.idx()];
        let differs = differing.get(&id).map_or(&[][..], |differs| differs);
        let of_passes = of_passes.iter().filter(|(of, _)| *of == id);
        let mut remarks: Vec<Remark> = of_passes.map(|(_, remark)| remark.clone()).collect();
        remarks.extend(typed.remarks);
        if has_matrices {
            remarks.iter_mut().for_each(remark::of_subgroup);
        }
        indices::remark(kernel, function, differs, &mut remarks);
        remark_calls(function, &order, &mut remarks);
        remark_needs(function, &def, uses, &mut remarks);
        remark_needs_of_library(kernel, function, uses, &mut remarks);
        let signature = match id.idx() == kernel.functions.len() - 1 {
            true => String::new(),
            false => remark::signature_of(&def, &function.result, &remarks),
        };
        ExplainedFunction { signature, remarks: remark::in_order(remarks), ..typed }
    });
    remark::without_duplicates(explained.collect())
}

fn remark_calls(function: &Function, order: &[FunctionId], remarks: &mut Vec<Remark>) {
    walk(&function.body, &mut |stmt| {
        let Stmt::Eval(node) = stmt else { return };
        let node = function.node(*node);
        let NodeKind::Call { function: callee, .. } = node.kind else { return };
        if let Some(at) = order.iter().position(|known| *known == callee) {
            remarks.push(Remark { span: node.span, kind: RemarkKind::Calls(at) });
        }
    });
}

/// Whether a place is in the definition of a function.
fn is_in(function: &Function, def: &FunctionDef, at: &Location) -> bool {
    at.source == function.source && def.span.start <= at.span.start && at.span.end <= def.span.end
}

fn remark_needs(function: &Function, def: &FunctionDef, uses: &[CapabilityUse], remarks: &mut Vec<Remark>) {
    for found in uses {
        let here = found.places.iter().filter(|place| is_in(function, def, place));
        remarks
            .extend(here.map(|place| Remark { span: place.span, kind: RemarkKind::Needs(found.capability) }));
    }
}

/// The capabilities of a library function are recorded at its first call. Every other call needs them, too.
fn remark_needs_of_library(
    kernel: &Kernel,
    function: &Function,
    uses: &[CapabilityUse],
    remarks: &mut Vec<Remark>,
) {
    walk(&function.body, &mut |stmt| {
        let Stmt::Eval(node) = stmt else { return };
        let node = function.node(*node);
        let NodeKind::Call { function: callee, .. } = node.kind else { return };
        let Some(first) = &kernel.functions[callee.idx()].called_for else { return };
        let needed = uses.iter().filter(|found| found.places.contains(first));
        remarks.extend(
            needed.map(|found| Remark { span: node.span, kind: RemarkKind::Needs(found.capability) }),
        );
    });
}
