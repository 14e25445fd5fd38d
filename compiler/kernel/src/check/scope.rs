//! Which names a function's body assigns: those are its own, all others come from outside.

use kps_syntax::Span;
use kps_syntax::ast::{
    Expr, ExprKind, FunctionDef, Ident, ImportName, ImportedNames, Lambda, Name, Parameters, Pattern,
    PatternKind, Stmt, StmtKind,
};
use rustc_hash::FxHashMap;

use super::visit::{children, exprs_of_stmt};

/// A function's own names, numbered: parameters first, then in the order of first assignment.
#[derive(Default)]
pub(crate) struct Scope {
    names: Vec<Name>,
    numbers: FxHashMap<Name, u32>,
}

impl Scope {
    pub fn of(def: &FunctionDef) -> Scope {
        let mut scope = Scope::of_params(&def.params);
        assigned_names(&def.body, &mut |name, assigns| {
            if matches!(assigns, Assigns::Name(_)) {
                scope.add(name);
            }
        });
        scope
    }

    pub fn of_lambda(lambda: &Lambda) -> Scope {
        let mut scope = Scope::of_params(&lambda.params);
        walrus_names(&lambda.body, &mut |target| scope.add(&target.name));
        scope
    }

    fn of_params(params: &Parameters) -> Scope {
        let mut scope = Scope::default();
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
}

/// How a statement gives a variable a new value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assigns {
    /// `v = ..`, and where that is written: it also makes the name the function's own.
    Name(Span),
    /// `v.x = ..`, `v[i] = ..`.
    Part,
}

/// Calls `found` for every name that `body` assigns, each as often as it does.
pub(crate) fn assigned_names(body: &[Stmt], found: &mut dyn FnMut(&Name, Assigns)) {
    for stmt in body {
        exprs_of_stmt(stmt, &mut |expr| walrus_names(expr, &mut |target| found_ident(target, found)));
        match &stmt.kind {
            StmtKind::Function(def) => found_ident(&def.name, found),
            StmtKind::Assign { targets, .. } => {
                targets.iter().for_each(|target| target_names(target, found));
            }
            StmtKind::AugAssign { target, .. } | StmtKind::AnnAssign { target, .. } => {
                target_names(target, found);
            }
            StmtKind::If { branches, orelse } => {
                for branch in branches {
                    assigned_names(&branch.body, found);
                }
                assigned_names(orelse, found);
            }
            StmtKind::While { body, orelse, .. } => {
                assigned_names(body, found);
                assigned_names(orelse, found);
            }
            StmtKind::For { target, body, orelse, .. } => {
                target_names(target, found);
                assigned_names(body, found);
                assigned_names(orelse, found);
            }
            StmtKind::Match { cases, .. } => {
                for case in cases {
                    pattern_names(&case.pattern, found);
                    assigned_names(&case.body, found);
                }
            }
            _ => names_of_refused(stmt, found),
        }
    }
}

/// The names that a statement binds which kernels do not have. They are the function's own all the same,
/// so that nobody is told of the statement and of each of its names.
fn names_of_refused(stmt: &Stmt, found: &mut dyn FnMut(&Name, Assigns)) {
    match &stmt.kind {
        StmtKind::With { items, body, .. } => {
            let targets = items.iter().filter_map(|item| item.target.as_ref());
            targets.for_each(|target| target_names(target, found));
            assigned_names(body, found);
        }
        StmtKind::Try(parts) => {
            for handler in &parts.handlers {
                handler.name.iter().for_each(|name| found_ident(name, found));
                assigned_names(&handler.body, found);
            }
            let blocks = [&parts.body, &parts.orelse, &parts.finally];
            blocks.into_iter().for_each(|body| assigned_names(body, found));
        }
        StmtKind::Class(def) => found_ident(&def.name, found),
        StmtKind::TypeAlias { name, .. } => found_ident(name, found),
        StmtKind::Global(names) | StmtKind::Nonlocal(names) => {
            names.iter().for_each(|name| found_ident(name, found));
        }
        StmtKind::Import(imports) => imports.iter().for_each(|import| imported_name(import, found)),
        StmtKind::ImportFrom(import) => {
            if let ImportedNames::Names(imports) = &import.names {
                imports.iter().for_each(|import| imported_name(import, found));
            }
        }
        _ => {}
    }
}

fn imported_name(import: &ImportName, found: &mut dyn FnMut(&Name, Assigns)) {
    let name = import.alias.as_ref().or(import.path.first());
    name.iter().for_each(|name| found_ident(name, found));
}

fn found_ident(ident: &Ident, found: &mut dyn FnMut(&Name, Assigns)) {
    found(&ident.name, Assigns::Name(ident.span));
}

/// Calls `found` for every name that an expression assigns with `:=`; a lambda's are its own.
pub(crate) fn walrus_names(expr: &Expr, found: &mut dyn FnMut(&Ident)) {
    match &expr.kind {
        ExprKind::Lambda(_) => return,
        ExprKind::Walrus { target, .. } => found(target),
        _ => {}
    }
    children(expr, &mut |child| walrus_names(child, found));
}

fn target_names(target: &Expr, found: &mut dyn FnMut(&Name, Assigns)) {
    match &target.kind {
        ExprKind::Name(name) => found(name, Assigns::Name(target.span)),
        ExprKind::Tuple(items) | ExprKind::List(items) => {
            items.iter().for_each(|item| target_names(item, found));
        }
        ExprKind::Starred(inner) => target_names(inner, found),
        ExprKind::Attribute { value, .. } | ExprKind::Subscript { value, .. } => {
            if let Some(name) = root_name(value) {
                found(name, Assigns::Part);
            }
        }
        _ => {}
    }
}

/// `a` of `a[i].pos.xy`.
pub(super) fn root_name(mut expr: &Expr) -> Option<&Name> {
    loop {
        match &expr.kind {
            ExprKind::Name(name) => return Some(name),
            ExprKind::Attribute { value, .. } | ExprKind::Subscript { value, .. } => expr = value,
            _ => return None,
        }
    }
}

pub(crate) fn pattern_names(pattern: &Pattern, found: &mut dyn FnMut(&Name, Assigns)) {
    match &pattern.kind {
        PatternKind::Capture(ident) => found_ident(ident, found),
        PatternKind::As { pattern, name } => {
            pattern_names(pattern, found);
            found_ident(name, found);
        }
        PatternKind::Or(patterns) | PatternKind::Sequence(patterns) => {
            patterns.iter().for_each(|pattern| pattern_names(pattern, found));
        }
        PatternKind::Star(name) => name.iter().for_each(|name| found_ident(name, found)),
        PatternKind::Mapping { items, rest } => {
            items.iter().for_each(|(_, pattern)| pattern_names(pattern, found));
            rest.iter().for_each(|name| found_ident(name, found));
        }
        PatternKind::Class { positional, keywords, .. } => {
            let patterns = positional.iter().chain(keywords.iter().map(|(_, pattern)| pattern));
            patterns.for_each(|pattern| pattern_names(pattern, found));
        }
        PatternKind::Wildcard | PatternKind::Value(_) | PatternKind::Singleton(_) | PatternKind::Error => {}
    }
}
