//! The names that a function's body assigns: those are local, all others come from outside.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ast::{Expr, ExprKind, FunctionDef, Ident, Lambda, Name, Parameters, Pattern, Stmt};
use crate::source::Span;
use crate::visit::Part;

/// A function's own names, numbered: parameters first, then in the order of first assignment.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    names: Vec<Name>,
    numbers: FxHashMap<Name, u32>,
    /// Names of which a part is assigned, `v.x = ..`, local or not; once for each assignment.
    changed_in_part: Vec<Name>,
}

/// Most functions have no more names than that.
const USUAL_NAMES: usize = 14;

impl Scope {
    fn of(def: &FunctionDef) -> Scope {
        let mut scope = Scope::of_params(&def.params);
        assigned_names(&def.body, &mut |name, assigns| match assigns {
            Assigns::Name(_) => scope.add(name),
            Assigns::Part => scope.changed_in_part.push(Name::clone(name)),
        });
        scope
    }

    pub fn of_lambda(lambda: &Lambda) -> Scope {
        let mut scope = Scope::of_params(&lambda.params);
        walrus_names(&lambda.body, &mut |target| scope.add(&target.name));
        scope
    }

    fn of_params(params: &Parameters) -> Scope {
        let numbers = FxHashMap::with_capacity_and_hasher(USUAL_NAMES, Default::default());
        let mut scope =
            Scope { names: Vec::with_capacity(USUAL_NAMES), numbers, changed_in_part: Vec::new() };
        params.iter().for_each(|param| scope.add(&param.name.name));
        scope
    }

    pub fn add(&mut self, name: &Name) {
        if !self.numbers.contains_key(name) {
            self.numbers.insert(Name::clone(name), self.names.len() as u32);
            self.names.push(Name::clone(name));
        }
    }

    pub fn get(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    pub fn contains(&self, name: &str) -> bool {
        self.numbers.contains_key(name)
    }

    pub fn names(&self) -> &[Name] {
        &self.names
    }

    pub fn changed_in_part(&self) -> &[Name] {
        &self.changed_in_part
    }
}

impl FunctionDef {
    /// The names that its body assigns, computed once.
    pub fn scope(&self) -> Arc<Scope> {
        Arc::clone(self.scope.get_or_init(|| Arc::new(Scope::of(self))))
    }
}

/// How a statement changes a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Assigns {
    /// `v = ..`, and its place: it also makes the name local.
    Name(Span),
    /// `v.x = ..`, `v[i] = ..`.
    Part,
}

/// Calls `found` for every name that `body` assigns, once for each assignment. Names in statements that
/// kernels do not support are local too, so that only the statement is reported, not each of its names.
pub fn assigned_names(body: &[Stmt], found: &mut dyn FnMut(&Name, Assigns)) {
    for stmt in body {
        stmt.each_part(&mut |part| match part {
            Part::Name(name, span) => found(name, Assigns::Name(span)),
            Part::Block(body) => assigned_names(body, found),
            Part::Expr(expr) => walruses(expr, found),
            Part::Place(place) => {
                walruses(place, found);
                root_name(place).iter().for_each(|name| found(name, Assigns::Part));
            }
        });
    }
}

fn walruses(expr: &Expr, found: &mut dyn FnMut(&Name, Assigns)) {
    walrus_names(expr, &mut |target| found(&target.name, Assigns::Name(target.span)));
}

/// Calls `found` for every name that an expression assigns with `:=`; a lambda's are its own.
pub fn walrus_names(expr: &Expr, found: &mut dyn FnMut(&Ident)) {
    match &expr.kind {
        ExprKind::Lambda(_) => return,
        ExprKind::Walrus { target, .. } => found(target),
        _ => {}
    }
    expr.each_child(&mut |child| walrus_names(child, found));
}

/// `a` of `a[i].pos.xy`.
pub fn root_name(mut expr: &Expr) -> Option<&Name> {
    loop {
        match &expr.kind {
            ExprKind::Name(name) => return Some(name),
            ExprKind::Attribute { value, .. } | ExprKind::Subscript { value, .. } => expr = value,
            _ => return None,
        }
    }
}

/// Calls `found` for every name that a pattern binds.
pub fn pattern_names(pattern: &Pattern, found: &mut dyn FnMut(&Name)) {
    pattern.each_part(&mut |part| {
        if let Part::Name(name, _) = part {
            found(name);
        }
    });
}
