//! Lints for parallel code: axes in the wrong order, a missing `barrier()`, work that every invocation repeats,
//! elements that all invocations write, and indices out of range for one of them.
//!
//! In goes the definition of a kernel, out come warnings. A lint fires only if the text proves it. Lints that depend on
//! the number of invocations apply to kernels that the script only calls as `k(..)`, over the elements of the first
//! array. PyShader's kernels, which count workgroups, are never checked.

use kps_syntax::ast::{BinaryOp, Branch, CompareOp, Expr, ExprKind, FunctionDef, Name, Stmt, StmtKind};
use kps_syntax::scope::{Assigns, assigned_names};
use kps_syntax::{Diagnostic, Diagnostics, Part, Source, Span};
use memchr::memmem;
use rustc_hash::FxHashMap;

use crate::env::KernelEnv;
use crate::errors;
use crate::resolve::int_literal;
use crate::signature::Form;
use crate::template::{KernelTemplate, ParamKind};

pub(super) fn lints(template: &KernelTemplate, env: &dyn KernelEnv) -> Diagnostics {
    let KernelTemplate { def, source, options, params, .. } = template;
    let mut found = Diagnostics::new();
    if options.form != Form::Kernel {
        return found;
    }
    let arrays = params.iter().filter_map(|param| match &param.kind {
        ParamKind::Array(array) => Some(Array { name: &param.name.name, rank: array.rank }),
        _ => None,
    });
    let ids = Ids::of(def, env);
    let kernel =
        Kernel { source, ids, arrays: arrays.collect(), is_of_one: options.local_size == Some([1; 3]) };
    kernel.missing_barriers(&def.body, &mut found);
    // The first array counts the invocations, if nothing before it may be one.
    let first = params.iter().find(|param| !matches!(param.kind, ParamKind::Scalar(_) | ParamKind::Const(_)));
    let first =
        kernel.arrays.first().filter(|array| first.is_some_and(|param| param.name.name == *array.name));
    if let Some(first) = first
        && is_only_called(def, source)
    {
        found.extend(kernel.swapped_axes(&def.body));
        found.extend(kernel.all_by_each(def, env, first));
        kernel.changed_by_all(&def.body, &mut found);
        if first.rank == 1 {
            kernel.neighbours(&def.body, first, &mut found);
        }
    }
    found
}

/// Whether the script uses a kernel only in calls `k(..)`.
fn is_only_called(def: &FunctionDef, source: &Source) -> bool {
    let (name, text) = (def.name.name.as_bytes(), source.text());
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut outside = memmem::find_iter(text.as_bytes(), name)
        .map(|at| (at, &text[..at], &text[at + name.len()..]))
        .filter(|(_, before, after)| !before.ends_with(is_letter) && !after.starts_with(is_letter))
        .filter(|(at, before, _)| !def.span.range().contains(at) && !before.ends_with('.'))
        .peekable();
    outside.peek().is_some() && outside.all(|(.., after)| after.starts_with('('))
}

struct Array<'a> {
    name: &'a Name,
    rank: u8,
}

/// An axis of `global_id` or of `local_id`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Id {
    is_global: bool,
    axis: u8,
}

/// The names and expressions that are ids in a kernel.
struct Ids {
    /// Variables that are assigned once, from one.
    names: FxHashMap<Name, Id>,
    /// The script defines these names itself.
    are_shadowed: bool,
}

impl Ids {
    fn of(def: &FunctionDef, env: &dyn KernelEnv) -> Ids {
        let scope = def.scope();
        let mut n_assigned = vec![0; scope.names().len()];
        let mut count = |name: &Name| n_assigned[scope.get(name).expect("the scope has them") as usize] += 1;
        assigned_names(&def.body, &mut |name, assigns| {
            if let Assigns::Name(_) = assigns {
                count(name);
            }
        });
        def.params.iter().for_each(|param| count(&param.name.name));
        let is_shadowed = |name: &str| scope.get(name).is_some() || env.get(name).is_some();
        let are_shadowed =
            ["global_id", "local_id", "barrier", "shared", "range", "len"].into_iter().any(is_shadowed);
        let mut ids = Ids { names: FxHashMap::default(), are_shadowed };
        let mut assigned = Vec::new();
        each_stmt(&def.body, &mut |stmt| {
            let StmtKind::Assign { targets, value } = &stmt.kind else { return };
            for target in targets {
                match (&target.kind, &value.kind) {
                    (ExprKind::Tuple(targets), ExprKind::Tuple(values)) if targets.len() == values.len() => {
                        assigned.extend(targets.iter().zip(values));
                    }
                    _ => assigned.push((target, value)),
                }
            }
        });
        for (target, value) in assigned {
            if let (ExprKind::Name(name), Some(id)) = (&target.kind, ids.id(value))
                && scope.get(name).is_some_and(|var| n_assigned[var as usize] == 1)
            {
                ids.names.insert(name.clone(), id);
            }
        }
        ids
    }

    /// The id that an expression is.
    fn id(&self, expr: &Expr) -> Option<Id> {
        match &expr.kind {
            ExprKind::Name(name) => self.names.get(name).copied(),
            ExprKind::Attribute { value, attr } if !self.are_shadowed => {
                let ExprKind::Name(vector) = &value.kind else { return None };
                let is_global = match &**vector {
                    "global_id" => true,
                    "local_id" => false,
                    _ => return None,
                };
                let axis = ["x", "y", "z"].iter().position(|axis| **axis == *attr.name)?;
                Some(Id { is_global, axis: axis as u8 })
            }
            _ => None,
        }
    }

    fn mentions(&self, expr: &Expr) -> bool {
        let mut found = self.id(expr).is_some();
        expr.each_child(&mut |child| found |= self.mentions(child));
        found
    }
}

struct Kernel<'a> {
    source: &'a Source,
    ids: Ids,
    arrays: Vec<Array<'a>>,
    /// Workgroups have one invocation.
    is_of_one: bool,
}

impl Kernel<'_> {
    fn text(&self, expr: &Expr) -> &str {
        self.source.slice(expr.span)
    }

    /// `a[global_id.x, global_id.y]`, if no array is indexed in the other order.
    fn swapped_axes(&self, body: &[Stmt]) -> Option<Diagnostic> {
        let (mut first, mut is_right) = (None, false);
        each_expr(body, &mut |expr| {
            let Some((name, index)) = subscript(expr) else { return };
            let ExprKind::Tuple(items) = &index.kind else { return };
            let is_array = self.arrays.iter().any(|array| array.name == name && array.rank == 2);
            let axes: Option<Vec<Id>> = items.iter().map(|item| self.ids.id(item)).collect();
            match axes.as_deref() {
                Some([Id { is_global: true, axis: 0 }, Id { is_global: true, axis: 1 }]) if is_array => {
                    first.get_or_insert((name.clone(), index.span, (items[0].span, items[1].span)));
                }
                Some([Id { axis: 1, .. }, Id { axis: 0, .. }]) => is_right = true,
                _ => {}
            }
        });
        let (name, at, (row, column)) = first.filter(|_| !is_right)?;
        let indices = (self.source.slice(row), self.source.slice(column));
        Some(errors::swapped_axes(self.source.at(at), &name, indices))
    }

    /// A loop over the whole array that sets the domain, in a kernel that never uses ids.
    fn all_by_each(&self, def: &FunctionDef, env: &dyn KernelEnv, first: &Array) -> Option<Diagnostic> {
        let (mut is_apart, mut whole) = (false, None);
        each_expr(&def.body, &mut |expr| match &expr.kind {
            // Ids, atomics and operations of groups.
            ExprKind::Name(name) => {
                is_apart |= name.contains("_id")
                    || ["subgroup", "atomic", "barrier", "shared", "uniform"]
                        .iter()
                        .any(|word| name.starts_with(word));
            }
            // A function of the script may have them.
            ExprKind::Call { func, .. } => {
                is_apart |= match &func.kind {
                    ExprKind::Name(name) => env.get(name).is_some(),
                    ExprKind::Attribute { .. } => false,
                    _ => true,
                };
            }
            _ => {}
        });
        each_stmt(&def.body, &mut |stmt| match &stmt.kind {
            StmtKind::For { iter, .. } if is_whole(iter, first.name) => {
                whole.get_or_insert(iter.span);
            }
            StmtKind::Function(_) => is_apart = true,
            _ => {}
        });
        let at = whole.filter(|_| !is_apart && !self.ids.are_shadowed)?;
        Some(errors::all_by_each(self.source.at(at), first.name, &def.name.name))
    }

    /// `total[0] += x[i]`, where nothing chooses one invocation.
    fn changed_by_all(&self, body: &[Stmt], found: &mut Diagnostics) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::AugAssign { target, op, value, .. } => {
                    let Some((name, index)) = subscript(target) else { continue };
                    let is_array = self.arrays.iter().any(|array| array.name == name);
                    let is_fixed = match &index.kind {
                        ExprKind::Tuple(items) => items.iter().all(|item| int_literal(item).is_some()),
                        _ => int_literal(index).is_some(),
                    };
                    if is_array && is_fixed && self.ids.mentions(value) {
                        let texts = (self.text(index), self.text(value));
                        found.push(errors::changed_by_all(self.source.at(stmt.span), name, *op, texts));
                    }
                }
                StmtKind::If { branches, .. } if branches.iter().any(|branch| self.chooses(branch)) => {
                    let is_left = branches.iter().any(|branch| branch.body.iter().any(leaves));
                    // The rest is for those that did not leave here.
                    match is_left {
                        true => return,
                        false => continue,
                    }
                }
                StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::If { .. } => {
                    stmt.blocks().into_iter().for_each(|block| self.changed_by_all(block, found));
                }
                _ => {}
            }
        }
    }

    /// Whether a test may select few invocations: it compares ids with `==`, `!=` or a number, or it has a call.
    fn chooses(&self, branch: &Branch) -> bool {
        fn any(expr: &Expr, is_choice: &dyn Fn(&Expr) -> bool) -> bool {
            let mut found = is_choice(expr);
            expr.each_child(&mut |child| found |= any(child, is_choice));
            found
        }
        any(&branch.test, &|expr| match &expr.kind {
            ExprKind::Compare { left, comparisons } => {
                let sides = || [&**left].into_iter().chain(comparisons.iter().map(|at| &at.right));
                let is_equal = comparisons.iter().any(|at| matches!(at.op, CompareOp::Eq | CompareOp::NotEq));
                let has_ids = sides().any(|side| self.ids.mentions(side));
                has_ids && (is_equal || sides().any(|side| int_literal(side).is_some()))
            }
            ExprKind::Call { .. } => true,
            _ => false,
        })
    }

    /// `x[i + 1]` for every element of `x`, without a test before it.
    fn neighbours(&self, body: &[Stmt], first: &Array, found: &mut Diagnostics) {
        for stmt in body {
            let value = match &stmt.kind {
                StmtKind::Assign { value, .. } | StmtKind::AugAssign { value, .. } => value,
                StmtKind::Expr(value) => value,
                StmtKind::For { .. } => continue,
                // After a test, only invocations with the neighbour may be left.
                _ => return,
            };
            each_unconditional(value, &mut |expr| {
                let Some((name, index)) = subscript(expr).filter(|(name, _)| *name == first.name) else {
                    return;
                };
                let ExprKind::Binary { op, left, right, .. } = &index.kind else { return };
                let is_first = self.ids.id(left) == Some(Id { is_global: true, axis: 0 });
                let is_past = match op {
                    BinaryOp::Add => true,
                    BinaryOp::Sub => false,
                    _ => return,
                };
                if is_first && int_literal(right) == Some(1) {
                    let at = self.source.at(expr.span);
                    found.push(errors::neighbour_outside(at, name, self.text(index), is_past));
                }
            });
        }
    }

    /// Memory of the workgroup that is written at an index of one's own and read at another's, with no barrier between.
    fn missing_barriers(&self, body: &[Stmt], found: &mut Diagnostics) {
        if self.is_of_one || self.ids.are_shadowed {
            return;
        }
        let mut shared: Vec<&Name> = Vec::new();
        self.shared_arrays(body, &mut shared);
        if !shared.is_empty() {
            self.missing_in_block(body, &shared, found);
        }
    }

    fn shared_arrays<'s>(&self, body: &'s [Stmt], shared: &mut Vec<&'s Name>) {
        for stmt in body {
            if let StmtKind::Assign { targets, value } = &stmt.kind
                && let [Expr { kind: ExprKind::Name(name), .. }] = &targets[..]
                && let ExprKind::Call { func, .. } = &value.kind
                && matches!(&func.kind, ExprKind::Name(name) if &**name == "shared")
            {
                shared.push(name);
            }
        }
    }

    fn missing_in_block(&self, body: &[Stmt], shared: &[&Name], found: &mut Diagnostics) {
        let mut written: Vec<(&Name, &Expr, Span)> = Vec::new();
        for stmt in body {
            match &stmt.kind {
                StmtKind::Assign { targets, value } => {
                    self.reads(value, &written, None, found);
                    if calls(value) {
                        written.clear();
                    }
                    for target in targets {
                        if let Some((name, index)) = subscript(target)
                            && shared.contains(&name)
                            && self.is_own(index)
                        {
                            written.push((name, index, stmt.span));
                        }
                    }
                }
                StmtKind::For { target, iter, body, .. } => {
                    let has_barrier = body.iter().any(stmt_calls);
                    if let (ExprKind::Name(counter), false) = (&target.kind, has_barrier || !is_range(iter)) {
                        for stmt in body {
                            if let StmtKind::Assign { value, .. } | StmtKind::AugAssign { value, .. } =
                                &stmt.kind
                            {
                                self.reads(value, &written, Some(counter), found);
                            }
                        }
                    }
                    self.missing_in_block(body, shared, found);
                    written.clear();
                }
                StmtKind::If { .. } | StmtKind::While { .. } => {
                    stmt.blocks().into_iter().for_each(|block| self.missing_in_block(block, shared, found));
                    written.clear();
                }
                StmtKind::AugAssign { value, .. } => {
                    self.reads(value, &written, None, found);
                    if calls(value) {
                        written.clear();
                    }
                }
                StmtKind::Pass => {}
                _ => written.clear(),
            }
        }
    }

    /// An index made of the invocation's own ids.
    fn is_own(&self, index: &Expr) -> bool {
        let is_local = |expr: &Expr| self.ids.id(expr).is_some_and(|id| !id.is_global);
        match &index.kind {
            ExprKind::Tuple(items) => items.iter().all(is_local),
            _ => is_local(index),
        }
    }

    fn reads(
        &self,
        value: &Expr,
        written: &[(&Name, &Expr, Span)],
        counter: Option<&Name>,
        found: &mut Diagnostics,
    ) {
        each_unconditional(value, &mut |expr| {
            let Some((name, index)) = subscript(expr) else { return };
            for (array, own, at) in written.iter().filter(|(array, ..)| *array == name) {
                let (read, own) = (parts(index), parts(own));
                let is_other = read.len() == own.len()
                    && read
                        .iter()
                        .zip(own)
                        .any(|(read, own)| self.is_surely_other(read, self.ids.id(own), counter));
                let is_reported =
                    found.iter().any(|known| known.labels.len() > 1 && known.labels[1].location.span == *at);
                if is_other && !is_reported {
                    let (read, written) = (self.source.at(expr.span), self.source.at(*at));
                    found.push(errors::missing_barrier(read, written, array));
                }
            }
        });
    }

    /// Whether an index leads to an element of another invocation, for some of them at least.
    fn is_surely_other(&self, read: &Expr, own: Option<Id>, counter: Option<&Name>) -> bool {
        let is_number = |expr: &Expr| int_literal(expr).is_some_and(|n| n != 0);
        match &read.kind {
            ExprKind::Name(name) => Some(name) == counter,
            ExprKind::Binary {
                op: BinaryOp::Add | BinaryOp::Sub | BinaryOp::BitXor, left, right, ..
            } => {
                let is_of = |side: &Expr| self.ids.id(side) == own;
                is_of(left) && is_number(right) || is_number(left) && is_of(right)
            }
            ExprKind::Binary { op: BinaryOp::Mod, left, .. } if !matches!(left.kind, ExprKind::Name(_)) => {
                self.is_surely_other(left, own, counter)
            }
            _ => false,
        }
    }
}

/// `name[index]`.
fn subscript(expr: &Expr) -> Option<(&Name, &Expr)> {
    let ExprKind::Subscript { value, index } = &expr.kind else { return None };
    match &value.kind {
        ExprKind::Name(name) => Some((name, index)),
        _ => None,
    }
}

/// The index of each axis.
fn parts(index: &Expr) -> Vec<&Expr> {
    match &index.kind {
        ExprKind::Tuple(items) => items.iter().collect(),
        _ => vec![index],
    }
}

/// Whether an iterable is an array as a whole, or counts all of its elements.
fn is_whole(iter: &Expr, array: &Name) -> bool {
    let is_array = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(name) if name == array);
    let call = |expr: &Expr, wanted: &str| match &expr.kind {
        ExprKind::Call { func, args } if args.len() == 1 => {
            matches!(&func.kind, ExprKind::Name(name) if &**name == wanted).then(|| args[0].value().clone())
        }
        _ => None,
    };
    is_array(iter)
        || call(iter, "enumerate").is_some_and(|of| is_array(&of))
        || call(iter, "range").and_then(|n| call(&n, "len")).is_some_and(|of| is_array(&of))
}

fn is_range(iter: &Expr) -> bool {
    matches!(&iter.kind, ExprKind::Call { func, .. }
        if matches!(&func.kind, ExprKind::Name(name) if &**name == "range"))
}

/// Whether something is called that may have a barrier: `barrier()`, or a function that is not in this text.
fn calls(expr: &Expr) -> bool {
    let mut found = matches!(&expr.kind, ExprKind::Call { .. });
    expr.each_child(&mut |child| found |= calls(child));
    found
}

fn stmt_calls(stmt: &Stmt) -> bool {
    let mut found = false;
    each_expr(std::slice::from_ref(stmt), &mut |expr| {
        found |= matches!(&expr.kind, ExprKind::Call { func, .. }
            if matches!(&func.kind, ExprKind::Name(name) if &**name == "barrier"));
    });
    found
}

fn leaves(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue)
}

fn each_stmt<'s>(body: &'s [Stmt], visit: &mut dyn FnMut(&'s Stmt)) {
    for stmt in body {
        visit(stmt);
        stmt.blocks().into_iter().for_each(|block| each_stmt(block, visit));
    }
}

fn each_expr(body: &[Stmt], visit: &mut dyn FnMut(&Expr)) {
    fn in_expr(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
        visit(expr);
        expr.each_child(&mut |child| in_expr(child, visit));
    }
    for stmt in body {
        stmt.each_part(&mut |part| match part {
            Part::Expr(expr) | Part::Place(expr) => in_expr(expr, visit),
            Part::Name(..) => {}
            Part::Block(body) => each_expr(body, visit),
        });
    }
}

/// The parts of an expression that are computed whatever the others give.
fn each_unconditional(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    if !matches!(expr.kind, ExprKind::IfElse { .. } | ExprKind::Bool { .. } | ExprKind::Lambda(_)) {
        expr.each_child(&mut |child| each_unconditional(child, visit));
    }
}
