//! Remarks on a kernel's source: the type of each expression, implicit conversions, which indices are tested, which
//! loads are uniform, and which places need which device feature.
//!
//! In goes what `specialize` takes; out comes its module with the remarks, as data. A kernel with mistakes has no
//! explanation: its mistakes come out, the same as from `specialize`.

mod assembly;
mod indices;

use kps_syntax::ast::{FunctionDef, Name};
use kps_syntax::{Diagnostics, Location, Source, Span};

use crate::env::KernelEnv;
use crate::infer::Remarked;
use crate::ir::{Function, FunctionId, Kernel, LocalId, NodeKind, Stmt, walk};
use crate::passes::FunctionRemark;
use crate::remark::{IndexTest, Remark, RemarkKind, RemarkType};
use crate::signature::{CapabilityUse, KernelModule, Signature, Target};
use crate::template::KernelTemplate;
use crate::types::Type;
use crate::{analysis, emit, infer};

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

#[derive(Clone, Debug)]
pub struct ExplainedFunction {
    pub name: Name,
    pub source: Source,
    /// From the first decorator to the end of the body.
    pub span: Span,
    /// From `def` to the colon.
    pub header: Span,
    /// The types of this specialisation: `(f32, Array(4, f32)) -> f32`. Empty for the kernel itself.
    pub signature: String,
    /// By place; where two begin together, the longer one first.
    pub remarks: Vec<Remark>,
}

/// Compiles a kernel, with remarks on its source.
pub(crate) fn explain(
    template: &KernelTemplate,
    env: &dyn KernelEnv,
    signature: &Signature,
    target: &Target,
) -> Result<Explanation, Diagnostics> {
    let (inferred, remarked) = infer::infer_remarked(template, env, signature);
    let (kernel, of_passes) = crate::verified(inferred, template, target)?;
    let kernel = crate::workarounds::apply(kernel, target.workarounds)?;
    let module = emit::emit(&kernel, target);
    let functions = functions(kernel.get(), remarked, &of_passes, &module.capabilities);
    Ok(Explanation {
        module,
        local_sizes_by_rank: template.local_sizes_by_rank(),
        subgroup_size: template.options.subgroup_size,
        functions,
    })
}

fn functions(
    kernel: &Kernel,
    remarked: Vec<Remarked>,
    of_passes: &[FunctionRemark],
    uses: &[CapabilityUse],
) -> Vec<ExplainedFunction> {
    let reached = kernel.reached();
    let is_shown = |found: &Remarked| {
        let function = &kernel.functions[found.id.idx()];
        reached[found.id.idx()] && function.called_for.is_none()
    };
    let mut shown: Vec<Remarked> = remarked.into_iter().filter(is_shown).collect();
    let main = kernel.functions.len() - 1;
    // The kernel first; functions of other sources last.
    let home = kernel.functions[main].source.clone();
    shown.sort_by_key(|found| {
        let is_external = kernel.functions[found.id.idx()].source != home;
        (found.id.idx() != main, is_external, found.def.span.start, found.id)
    });
    let order: Vec<_> = shown.iter().map(|found| found.id).collect();
    let differing = analysis::differing(kernel);
    let has_matrices = kernel.has_matrices();
    let explained = shown.into_iter().map(|found| {
        let function = &kernel.functions[found.id.idx()];
        let differs = differing.get(&found.id).map_or(&[][..], |differs| differs);
        let of_passes = of_passes.iter().filter(|(id, _)| *id == found.id);
        let mut remarks: Vec<Remark> = of_passes.map(|(_, remark)| remark.clone()).collect();
        remarks.extend(found.remarks);
        if has_matrices {
            remarks.iter_mut().for_each(of_subgroup);
        }
        indices::remark(kernel, function, differs, &mut remarks);
        remark_calls(function, &order, &mut remarks);
        remark_needs(function, &found.def, uses, &mut remarks);
        remark_needs_of_library(kernel, function, uses, &mut remarks);
        resolve_literals(function, &mut remarks);
        let signature = match found.id.idx() == main {
            true => String::new(),
            false => signature_of(function, &found.def, &remarks),
        };
        ExplainedFunction {
            name: function.name.clone(),
            source: function.source.clone(),
            span: found.def.span,
            header: found.def.header,
            signature,
            remarks: in_order(remarks),
        }
    });
    without_duplicates(explained.collect())
}

/// The typed kernel has rows in place of the matrices that a subgroup holds.
fn of_subgroup(remark: &mut Remark) {
    if let RemarkKind::Type(RemarkType::Value(ty)) | RemarkKind::Assigned(RemarkType::Value(ty)) =
        &mut remark.kind
        && let Some(legal) = ty.with_coops(&Type::Coop)
    {
        *ty = legal;
    }
}

/// `(f32, Array(4, f32)) -> f32`, from the types of its parameters.
fn signature_of(function: &Function, def: &FunctionDef, remarks: &[Remark]) -> String {
    let type_of = |at: Span| {
        remarks.iter().find_map(|remark| match &remark.kind {
            RemarkKind::Assigned(ty) if remark.span == at => Some(ty.to_string()),
            _ => None,
        })
    };
    let params = def.params.iter().map(|param| type_of(param.name.span).unwrap_or_else(|| "..".to_owned()));
    let params: Vec<String> = params.collect();
    let params = params.join(", ");
    match function.result {
        Type::Void => format!("({params})"),
        ref result => format!("({params}) -> {result}"),
    }
}

/// Merges functions with the same remarks that were compiled more than once, for different function arguments.
fn without_duplicates(functions: Vec<ExplainedFunction>) -> Vec<ExplainedFunction> {
    let mut kept: Vec<ExplainedFunction> = Vec::with_capacity(functions.len());
    let mut place = Vec::with_capacity(functions.len());
    for function in functions {
        let first = kept.iter().position(|known| is_duplicate(known, &function));
        place.push(first.unwrap_or(kept.len()));
        if first.is_none() {
            kept.push(function);
        }
    }
    for remark in kept.iter_mut().flat_map(|function| &mut function.remarks) {
        if let RemarkKind::Calls(callee) = &mut remark.kind {
            *callee = place[*callee];
        }
    }
    kept
}

fn is_duplicate(a: &ExplainedFunction, b: &ExplainedFunction) -> bool {
    let said = |function: &ExplainedFunction| {
        let is_call = |remark: &Remark| matches!(remark.kind, RemarkKind::Calls(_));
        function.remarks.iter().filter(|remark| !is_call(remark)).cloned().collect::<Vec<_>>()
    };
    (&a.source, a.span, &a.signature) == (&b.source, b.span, &b.signature) && said(a) == said(b)
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

/// A variable that starts as a literal and is stored in memory has the type of that memory, and more than one value.
fn resolve_literals(function: &Function, remarks: &mut Vec<Remark>) {
    let mut changing = Vec::new();
    for remark in remarks.iter_mut() {
        let RemarkKind::Assigned(ty) = &mut remark.kind else { continue };
        let name = function.source.slice(remark.span);
        let mut kept = stored(function).filter(|local| *function.local(*local).name == *name);
        if let Some(local) = kept.next() {
            changing.push(remark.span);
            if matches!(ty, RemarkType::Weak(_)) && kept.next().is_none() {
                *ty = RemarkType::Value(function.local(local).ty.clone());
            }
        }
    }
    let is_changing =
        |remark: &Remark| matches!(remark.kind, RemarkKind::Known(_)) && changing.contains(&remark.span);
    remarks.retain(|remark| !is_changing(remark));
}

/// The locals that something stores to.
fn stored(function: &Function) -> impl Iterator<Item = LocalId> {
    let mut stored: Vec<LocalId> = function.carries.iter().flatten().map(|(local, _)| *local).collect();
    walk(&function.body, &mut |stmt| {
        if let Stmt::Store { local, .. } = stmt {
            stored.push(*local);
        }
    });
    stored.sort_unstable();
    stored.dedup();
    stored.into_iter()
}

/// By place, without duplicates. Remarks of a later pass over a loop come last.
fn in_order(remarks: Vec<Remark>) -> Vec<Remark> {
    let mut ordered: Vec<Remark> = Vec::with_capacity(remarks.len());
    for remark in remarks {
        if !ordered.contains(&remark) {
            ordered.push(remark);
        }
    }
    ordered.sort_by_key(|remark| (remark.span.start, std::cmp::Reverse(remark.span.end)));
    ordered
}
