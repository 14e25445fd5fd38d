//! Cooperative matrices: whether the subgroup holds those of a kernel, or every invocation has their rows.
//!
//! In go operations on whole matrices ([`CoopOp`](crate::ir::CoopOp)) and types of rows that know what a matrix is for
//! ([`ArrayType::purpose`](crate::types::ArrayType::purpose)). Out comes a kernel with instructions and [`Type::Coop`],
//! or with calls of functions on plain arrays. So the matrices of a kernel are never mixed. Lowering gets the functions
//! that were called.
//!
//! The subgroup holds them if the target has an instruction for each operation, and the kernel does nothing else with a
//! matrix: it reads no row, and compares, selects or converts none.

mod emulated;
mod native;

use kps_syntax::Span;

use crate::infer::LibraryFunctions;
use crate::ir::build::rewrite_stmts;
use crate::ir::{
    Arg, AtomicPlace, Block, CallArg, Function, FunctionId, Kernel, Node, NodeId, NodeKind, Origin, Step,
    Stmt, walk,
};
use crate::remark::{FunctionRemark, Remark, RemarkKind};
use crate::signature::Target;
use crate::types::Type;

/// Legalises the matrices of an inferred kernel. Gives remarks on what has no instruction.
pub(crate) fn apply(
    kernel: &mut Kernel,
    target: &Target,
    library: &mut LibraryFunctions,
) -> Vec<FunctionRemark> {
    let mut causes = Vec::new();
    if !kernel.functions.iter().any(uses_matrices) {
        return causes;
    }
    drop_unreached(kernel);
    let mut is_native = has_instructions(kernel, target);
    if is_native {
        causes = self::causes(kernel, target);
        is_native = causes.is_empty() && has_room(kernel, target) && !has_narrow_atomics(kernel);
    }
    let numbers = match is_native {
        true => native::add_numbers(kernel, native::moved_scalars(kernel)),
        false => Vec::new(),
    };
    library.see_arrays(kernel);
    let mut functions = std::mem::take(&mut kernel.functions);
    for function in &mut functions {
        retype(function, is_native);
        rewrite_stmts(function, &mut |builder, stmt| {
            let Stmt::Coop(mut op) = stmt else { return builder.stmt(stmt) };
            op.types_mut(&mut |ty| *ty = legal(ty, is_native));
            (builder.span, builder.origin) = (op.span, Origin::Source);
            match is_native {
                true => native::expand(*op, builder, (kernel, &numbers), library),
                false => emulated::expand(*op, builder, library),
            }
        });
    }
    let main = functions.last_mut().expect("the kernel itself is the last one");
    native::write_numbers(main, kernel.local_size, &numbers, library);
    kernel.functions = functions;
    causes
}

fn uses_matrices(function: &Function) -> bool {
    let mut has_operations = false;
    walk(&function.body, &mut |stmt| has_operations |= matches!(stmt, Stmt::Coop(_)));
    has_operations || function.locals.iter().any(|local| local.ty.holds_coops())
}

/// Empties functions that were inferred on a guess that was wrong.
fn drop_unreached(kernel: &mut Kernel) {
    let reached = kernel.reached();
    for (function, _) in kernel.functions.iter_mut().zip(reached).filter(|(_, reached)| !*reached) {
        if uses_matrices(function) {
            *function = Function::new(function.name.clone(), function.source.clone(), function.span);
            function.body = vec![Stmt::Return(None, function.span)];
        }
    }
}

/// Gives all values and locals of a function legal types.
fn retype(function: &mut Function, is_native: bool) {
    let args = function.args.iter_mut().filter_map(|arg| match arg {
        Arg::Value { ty, .. } => Some(ty),
        Arg::Reference(_) => None,
    });
    let locals = function.locals.iter_mut().map(|local| &mut local.ty);
    let nodes = function.nodes.iter_mut().map(|node| &mut node.ty);
    for ty in args.chain([&mut function.result]).chain(locals).chain(nodes) {
        *ty = legal(ty, is_native);
    }
}

fn legal(ty: &Type, is_native: bool) -> Type {
    match is_native {
        true => ty.with_coops(&Type::Coop).unwrap_or_else(|| ty.clone()),
        false => ty.with_plain_rows(),
    }
}

// The target.

/// Whether the target has instructions for some matrices, in workgroups like those of the kernel. Checks and traces
/// look at single elements.
fn has_instructions(kernel: &Kernel, target: &Target) -> bool {
    let products = target.matrices;
    let subgroup_size = kernel.subgroup_size.unwrap_or(products.subgroup_size).max(1);
    let whole_subgroups = kernel.local_size[0].is_multiple_of(subgroup_size);
    !products.has_none() && whole_subgroups && !target.checks && target.trace.is_none()
}

/// Whether its shared memory fits, with what the instructions read there.
fn has_room(kernel: &Kernel, target: &Target) -> bool {
    let numbers = native::moved_scalars(kernel).into_iter().map(native::type_of_numbers);
    let types = kernel.shared.iter().map(|shared| shared.ty.clone()).chain(numbers);
    let n_bytes: u64 = types.map(|ty| u64::from(ty.packed_size())).sum();
    n_bytes <= u64::from(target.matrices.max_shared)
}

/// Atomic operations store narrow numbers of a workgroup in another format than matrices load.
fn has_narrow_atomics(kernel: &Kernel) -> bool {
    let is_narrow = |function: &Function, node: &Node| match &node.kind {
        NodeKind::Atomic(atomic) => match &atomic.place {
            AtomicPlace::Shared { local, .. } => {
                let numbers = function.local(*local).ty.numbers();
                numbers.first().is_some_and(|(_, scalar)| scalar.bits() < 32)
            }
            AtomicPlace::Buffer { .. } => false,
        },
        _ => false,
    };
    kernel.functions.iter().any(|function| function.nodes.iter().any(|node| is_narrow(function, node)))
}

// The kernel.

/// The places that have no instruction.
fn causes(kernel: &Kernel, target: &Target) -> Vec<FunctionRemark> {
    let mut causes = Vec::new();
    for (id, _) in (0..).zip(kernel.reached()).filter(|(_, reached)| *reached) {
        let mut search =
            Search { kernel, function: &kernel.functions[id as usize], target, found: Vec::new() };
        search.block(&search.function.body);
        let remark = |span| (FunctionId(id), Remark { span, kind: RemarkKind::Emulates });
        causes.extend(innermost(search.found).into_iter().map(remark));
    }
    causes
}

/// The places that contain no other one: `m[1]` of `m[1][2]`.
fn innermost(mut places: Vec<Span>) -> Vec<Span> {
    places.sort_unstable_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    places.dedup();
    let contains_next = |at: usize| places.get(at + 1).is_some_and(|next| next.end <= places[at].end);
    (0..places.len()).filter(|at| !contains_next(*at)).map(|at| places[at]).collect()
}

struct Search<'k> {
    kernel: &'k Kernel,
    function: &'k Function,
    target: &'k Target,
    found: Vec<Span>,
}

impl<'k> Search<'k> {
    fn block(&mut self, block: &'k Block) {
        block.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &'k Stmt) {
        let function = self.function;
        match stmt {
            Stmt::Eval(id) => {
                let node = function.node(*id);
                if !self.has_instruction(node) {
                    self.found.push(node.span);
                }
            }
            Stmt::Coop(op) => {
                self.require(native::has_instruction(op, function, self.kernel, self.target), op.span);
            }
            Stmt::Store { local, value, span } => {
                self.require(function.local(*local).ty == *function.ty(*value), *span);
            }
            Stmt::StoreElement { local, path, value, span } => {
                let is_part = is_part(&function.local(*local).ty, path, function.ty(*value));
                self.require(is_part, *span);
            }
            Stmt::Carry(carry) => {
                for (local, value) in &function.carries[carry.idx()] {
                    let is_same = function.local(*local).ty == *function.ty(*value);
                    self.require(is_same, function.node(*value).span);
                }
            }
            Stmt::Return(Some(value), span) => {
                self.require(function.result == *function.ty(*value), *span);
            }
            Stmt::If { then, orelse, .. } => {
                self.block(then);
                self.block(orelse);
            }
            Stmt::Loop(parts) => {
                self.block(&parts.test);
                self.block(&parts.body);
                self.block(&parts.step);
            }
            _ => {}
        }
    }

    fn require(&mut self, holds: bool, span: Span) {
        if !holds {
            self.found.push(span);
        }
    }

    fn has_instruction(&self, node: &Node) -> bool {
        let of = |node: NodeId| self.function.ty(node);
        let products = &self.target.matrices;
        if let Some(coop) = node.ty.coop()
            && !products.take(&coop)
        {
            return false;
        }
        match &node.kind {
            NodeKind::Load(local) => self.function.local(*local).ty == node.ty,
            NodeKind::LoadElement { local, path } => is_part(&self.function.local(*local).ty, path, &node.ty),
            NodeKind::Construct(parts) => {
                let fits = |(part, at): (&NodeId, u32)| node.ty.part(at).as_ref() == Some(of(*part));
                node.ty.coop().is_none() && parts.iter().zip(0..).all(fits)
            }
            NodeKind::Extract(whole, at) => {
                of(*whole).coop().is_none() && of(*whole).part(*at).as_ref() == Some(&node.ty)
            }
            NodeKind::Call { function, args } => {
                let callee = &self.kernel.functions[function.idx()];
                let fits = |(arg, given): (&Arg, &CallArg)| match (arg, given) {
                    (Arg::Value { ty, .. }, CallArg::Value(value)) => of(*value) == ty,
                    (Arg::Reference(local), CallArg::Reference(given)) => {
                        callee.local(*local).ty == self.function.local(*given).ty
                    }
                    _ => false,
                };
                callee.result == node.ty && callee.args.iter().zip(args).all(fits)
            }
            kind => {
                let mut is_plain = !node.ty.holds_coops();
                kind.operands(&mut |operand| is_plain &= !of(operand).holds_coops());
                is_plain
            }
        }
    }
}

/// Whether a path leads to a whole part of this type.
fn is_part(whole: &Type, path: &[Step], part: &Type) -> bool {
    if !whole.holds_coops() {
        return true;
    }
    let mut ty = whole.clone();
    for step in path {
        match ty.part(step.part()) {
            Some(inner) if ty.coop().is_none() => ty = inner,
            _ => return false,
        }
    }
    ty == *part
}
