//! Cooperative matrices: whether the subgroup holds those of a kernel, or every invocation has their rows.
//!
//! In go operations in two forms ([`CoopForms`]) and types of rows that know what a matrix is for
//! ([`ArrayType::purpose`](crate::types::ArrayType::purpose)). Out comes a kernel with one form of all, and either
//! [`Type::Coop`] or plain arrays. So the matrices of a kernel are never mixed.
//!
//! The subgroup holds them if the target has an instruction for each operation, and the kernel does nothing else with a
//! matrix: it reads no row, and compares, selects or converts none.

use kps_syntax::Span;

use crate::ir::{
    Arg, AtomicPlace, Block, CallArg, CoopForms, Function, FunctionId, Home, Kernel, Local, Node, NodeId,
    NodeKind, SharedId, Step, Stmt, walk,
};
use crate::matrices::Product;
use crate::remark::{FunctionRemark, Remark, RemarkKind};
use crate::signature::Target;
use crate::types::Type;

pub(super) fn apply(kernel: &mut Kernel, target: &Target, remarks: &mut Vec<FunctionRemark>) {
    if !kernel.uses_matrices {
        return;
    }
    let mut is_native = has_instructions(kernel, target);
    if is_native {
        let causes = causes(kernel, target);
        is_native = causes.is_empty() && has_room(kernel, target) && !has_narrow_atomics(kernel);
        remarks.extend(causes);
    }
    for function in &mut kernel.functions {
        let body = std::mem::take(&mut function.body);
        function.body = keep(function, body, is_native);
    }
    drop_unreached(kernel);
    for function in &mut kernel.functions {
        retype(function, &mut |ty| {
            let legal = if is_native { ty.with_coops(&Type::Coop) } else { Some(ty.with_plain_rows()) };
            *ty = legal.unwrap_or_else(|| ty.clone());
        });
    }
    if !is_native {
        drop_shared(kernel);
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
    let n_shared: u64 = kernel.shared.iter().map(|shared| u64::from(shared.ty.packed_size())).sum();
    n_shared <= u64::from(target.matrices.max_shared)
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
            Stmt::Coop(forms) => match &forms.native {
                Some(native) => self.block(native),
                None => self.found.push(forms.span),
            },
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
            NodeKind::CoopMultiplyAdd { sum, a, b } => match [*sum, *a, *b].map(|node| of(node).coop()) {
                [Some(c), Some(a), Some(b)] => {
                    let (m, n) = (c.rows, c.columns);
                    let product = Product { m, n, k: a.columns, factor: a.scalar, sum: c.scalar };
                    // In a precise kernel every sum is computed in source order.
                    let is_in_order = self.kernel.precise && c.scalar.is_float();
                    (b.rows, b.columns) == (a.columns, n) && products.has(product) && !is_in_order
                }
                _ => false,
            },
            NodeKind::Splat(_)
            | NodeKind::CoopLoad(_)
            | NodeKind::CoopLength(_)
            | NodeKind::Unary(..)
            | NodeKind::Binary(..)
            | NodeKind::Convert(_)
                if node.ty.coop().is_some() || !node.ty.holds_coops() =>
            {
                true
            }
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

/// Whether a path leads to a whole part of this type, or to a component that an invocation holds of a matrix.
fn is_part(whole: &Type, path: &[Step], part: &Type) -> bool {
    if !whole.holds_coops() {
        return true;
    }
    if let (Some(coop), [Step::At(_)]) = (whole.coop(), path) {
        return *part == coop.scalar.into();
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

// The legal kernel.

/// The statements with one form of each operation.
fn keep(function: &mut Function, before: Block, is_native: bool) -> Block {
    let mut after = Block::with_capacity(before.len());
    for stmt in before {
        match stmt {
            Stmt::Coop(forms) => {
                let CoopForms { native, emulated, .. } = *forms;
                let native = native.unwrap_or_default();
                let (kept, dropped) = if is_native { (native, emulated) } else { (emulated, native) };
                let mut unused = Vec::new();
                walk(&dropped, &mut |stmt| {
                    if let Stmt::Eval(node) = stmt {
                        unused.push(*node);
                    }
                });
                function.forget_nodes(unused);
                after.extend(kept);
            }
            Stmt::If { condition, then, orelse, span } => {
                let then = keep(function, then, is_native);
                let orelse = keep(function, orelse, is_native);
                after.push(Stmt::If { condition, then, orelse, span });
            }
            Stmt::Loop(mut parts) => {
                for block in [&mut parts.test, &mut parts.body, &mut parts.step] {
                    *block = keep(function, std::mem::take(block), is_native);
                }
                after.push(Stmt::Loop(parts));
            }
            stmt => after.push(stmt),
        }
    }
    after
}

/// Empties functions of the form that was dropped.
fn drop_unreached(kernel: &mut Kernel) {
    let reached = kernel.reached();
    for (function, _) in kernel.functions.iter_mut().zip(reached).filter(|(_, reached)| !*reached) {
        let mut holds_coops = false;
        retype(function, &mut |ty| holds_coops |= ty.holds_coops());
        if holds_coops {
            let (name, source, span) = (function.name.clone(), function.source.clone(), function.span);
            let called_for = function.called_for.take();
            *function = Function { called_for, ..Function::new(name, source, span) };
            function.body = vec![Stmt::Return(None, span)];
        }
    }
}

/// Visits all types of a function.
fn retype(function: &mut Function, visit: &mut dyn FnMut(&mut Type)) {
    for arg in &mut function.args {
        if let Arg::Value { ty, .. } = arg {
            visit(ty);
        }
    }
    visit(&mut function.result);
    function.locals.iter_mut().for_each(|local| visit(&mut local.ty));
    function.nodes.iter_mut().for_each(|node| visit(&mut node.ty));
}

/// Removes the shared memory that only instructions read. Locals for it are unused.
fn drop_shared(kernel: &mut Kernel) {
    let mut n_kept = 0;
    let places: Vec<Option<SharedId>> = kernel
        .shared
        .iter()
        .map(|shared| {
            let place = (!shared.is_for_matrices).then_some(SharedId(n_kept));
            n_kept += u32::from(place.is_some());
            place
        })
        .collect();
    kernel.shared.retain(|shared| !shared.is_for_matrices);
    let locals = kernel.functions.iter_mut().flat_map(|function| &mut function.locals);
    for Local { home, .. } in locals {
        if let Home::Workgroup(id) = home {
            *home = places[id.idx()].map_or(Home::Own, Home::Workgroup);
        }
    }
}
