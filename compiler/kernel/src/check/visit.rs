//! Plain walks over expressions and statements, and the names that a function takes from outside.

use std::collections::HashSet;

use kps_syntax::ast::{
    ArgumentKind, Expr, ExprKind, FunctionDef, Name, Pattern, PatternKind, Stmt, StmtKind,
};

use super::scope::{Scope, root_name};

/// The names that a function takes from outside, dotted where it names a member: `N`, `config.N`.
pub(crate) fn free_names(def: &FunctionDef) -> Vec<Name> {
    let scope = Scope::of(def);
    let mut names = Vec::new();
    let mut seen = HashSet::new();
    let mut add = |expr: &Expr| {
        if let Some(path) = dotted_path(expr)
            && !scope.contains(path.split('.').next().unwrap_or(&path))
            && seen.insert(path.clone())
        {
            names.push(Name::from(path));
        }
    };
    let annotations = def.params.iter().flat_map(|param| param.annotation.iter().chain(&param.default));
    annotations.chain(&def.returns).for_each(|expr| names_in(expr, &mut add));
    exprs_of(&def.body, &mut |expr| names_in(expr, &mut add));
    names
}

/// Calls `found` for every name and every dotted path, outermost only.
fn names_in(expr: &Expr, found: &mut dyn FnMut(&Expr)) {
    if dotted_path(expr).is_some() {
        return found(expr);
    }
    children(expr, &mut |child| names_in(child, found));
}

/// `a.b.c` as text, if the expression is nothing but names and dots.
fn dotted_path(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name.to_string()),
        ExprKind::Attribute { value, attr } => Some(format!("{}.{}", dotted_path(value)?, attr.name)),
        _ => None,
    }
}

/// Calls `visit` for the direct parts of an expression that kernels may have.
pub(super) fn children(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    match &expr.kind {
        ExprKind::Bool { values, .. } | ExprKind::List(values) | ExprKind::Tuple(values) => {
            values.iter().for_each(visit);
        }
        ExprKind::Binary { left, right, .. } => {
            visit(left);
            visit(right);
        }
        ExprKind::Unary { operand, .. } | ExprKind::Starred(operand) => visit(operand),
        ExprKind::Compare { left, comparisons } => {
            visit(left);
            comparisons.iter().for_each(|comparison| visit(&comparison.right));
        }
        ExprKind::IfElse { test, then, orelse } => {
            visit(test);
            visit(then);
            visit(orelse);
        }
        ExprKind::Call { func, args } => {
            visit(func);
            for arg in args {
                match &arg.kind {
                    ArgumentKind::Positional(value)
                    | ArgumentKind::Keyword(_, value)
                    | ArgumentKind::Spread(value)
                    | ArgumentKind::KeywordSpread(value) => visit(value),
                }
            }
        }
        ExprKind::Attribute { value, .. } => visit(value),
        ExprKind::Subscript { value, index } => {
            visit(value);
            visit(index);
        }
        _ => {}
    }
}

/// Calls `visit` for every expression that stands in a statement, not for the parts of it.
fn exprs_of(body: &[Stmt], visit: &mut dyn FnMut(&Expr)) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) => visit(expr),
            StmtKind::Assign { targets, value } => {
                visit(value);
                targets.iter().for_each(&mut *visit);
            }
            StmtKind::AugAssign { target, value, .. } => {
                visit(value);
                visit(target);
            }
            StmtKind::AnnAssign { target, annotation, value } => {
                visit(annotation);
                value.iter().for_each(&mut *visit);
                visit(target);
            }
            StmtKind::If { branches, orelse } => {
                for branch in branches {
                    visit(&branch.test);
                    exprs_of(&branch.body, visit);
                }
                exprs_of(orelse, visit);
            }
            StmtKind::While { test, body, orelse } => {
                visit(test);
                exprs_of(body, visit);
                exprs_of(orelse, visit);
            }
            StmtKind::For { target, iter, body, orelse, .. } => {
                visit(iter);
                visit(target);
                exprs_of(body, visit);
                exprs_of(orelse, visit);
            }
            StmtKind::Match { subject, cases } => {
                visit(subject);
                for case in cases {
                    pattern_exprs(&case.pattern, visit);
                    case.guard.iter().for_each(&mut *visit);
                    exprs_of(&case.body, visit);
                }
            }
            _ => {}
        }
    }
}

/// Calls `found` for the variable at the root of whatever a method is called on: `p` of `p.a.step()`.
pub(crate) fn receivers(body: &[Stmt], found: &mut dyn FnMut(&Name)) {
    exprs_of(body, &mut |expr| receivers_in(expr, found));
}

fn receivers_in(expr: &Expr, found: &mut dyn FnMut(&Name)) {
    if let ExprKind::Call { func, .. } = &expr.kind
        && let ExprKind::Attribute { value, .. } = &func.kind
        && let Some(name) = root_name(value)
    {
        found(name);
    }
    children(expr, &mut |child| receivers_in(child, found));
}

fn pattern_exprs(pattern: &Pattern, visit: &mut dyn FnMut(&Expr)) {
    match &pattern.kind {
        PatternKind::Value(value) => visit(value),
        PatternKind::Or(patterns) => patterns.iter().for_each(|pattern| pattern_exprs(pattern, visit)),
        PatternKind::As { pattern, .. } => pattern_exprs(pattern, visit),
        _ => {}
    }
}
