//! Plain walks over expressions and statements, and the names that a function takes from outside.

use kps_syntax::Span;
use kps_syntax::ast::{
    ArgumentKind, Expr, ExprKind, FStringPart, FunctionDef, Name, Parameters, Pattern, PatternKind, Stmt,
    StmtKind,
};

use rustc_hash::FxHashSet;

use super::scope::{Scope, root_name};

/// The names that a function takes from outside, dotted where it names a member: `N`, `config.N`.
pub(crate) fn free_names(def: &FunctionDef) -> Vec<Name> {
    free_paths(def).into_iter().map(|(path, _)| path).collect()
}

/// The variables around a nested function that it uses, each with the place of its first use. Defaults are computed
/// around it, where they may read a name that is a parameter as well: `def f(i=i)`.
pub(crate) fn captured_names(def: &FunctionDef, around: &Scope) -> Vec<(Name, Span)> {
    let mut seen = FxHashSet::default();
    let mut free = Free { scopes: Vec::new(), paths: Vec::new(), seen: FxHashSet::default() };
    def.params.iter().flat_map(|param| &param.annotation).for_each(|expr| free.expr(expr));
    free.results_and_body(def);
    let heads = free.paths.into_iter().map(|(path, span)| match path.split_once('.') {
        Some((head, _)) => (Name::from(head), span),
        None => (path, span),
    });
    heads.filter(|(name, _)| around.contains(name) && seen.insert(name.clone())).collect()
}

/// Free names, dotted, each with the place of its first use.
pub(crate) fn free_paths(def: &FunctionDef) -> Vec<(Name, Span)> {
    let mut free = Free { scopes: Vec::new(), paths: Vec::new(), seen: FxHashSet::default() };
    free.function(def);
    free.paths
}

/// Collects what no scope around a name defines.
struct Free {
    scopes: Vec<Scope>,
    paths: Vec<(Name, Span)>,
    seen: FxHashSet<Name>,
}

impl Free {
    fn function(&mut self, def: &FunctionDef) {
        self.params(&def.params);
        self.results_and_body(def);
    }

    fn results_and_body(&mut self, def: &FunctionDef) {
        def.returns.iter().for_each(|expr| self.expr(expr));
        self.scopes.push(Scope::of(def));
        self.block(&def.body);
        self.scopes.pop();
    }

    /// Annotations and defaults belong to the scope around a function.
    fn params(&mut self, params: &Parameters) {
        let parts = params.iter().flat_map(|param| param.annotation.iter().chain(&param.default));
        parts.for_each(|expr| self.expr(expr));
    }

    fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            exprs_of_stmt(stmt, &mut |expr| self.expr(expr));
            match &stmt.kind {
                StmtKind::Function(def) => self.function(def),
                _ => blocks_of_stmt(stmt, &mut |body| self.block(body)),
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        if let Some(head) = head_of_path(expr) {
            // Most are local, and need no path.
            if !self.is_local(head) {
                self.path(expr);
            }
            return;
        }
        if let ExprKind::Lambda(lambda) = &expr.kind {
            self.params(&lambda.params);
            self.scopes.push(Scope::of_lambda(lambda));
            self.expr(&lambda.body);
            self.scopes.pop();
            return;
        }
        children(expr, &mut |child| self.expr(child));
    }

    fn path(&mut self, expr: &Expr) {
        let path = dotted_path(expr);
        if !self.seen.contains(&path) {
            self.seen.insert(Name::clone(&path));
            self.paths.push((path, expr.span));
        }
    }

    fn is_local(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.contains(name))
    }
}

/// `a` of `a.b.c`, if the expression is nothing but names and dots.
fn head_of_path(mut expr: &Expr) -> Option<&Name> {
    loop {
        match &expr.kind {
            ExprKind::Name(name) => return Some(name),
            ExprKind::Attribute { value, .. } => expr = value,
            _ => return None,
        }
    }
}

/// `a.b.c` as text, of an expression that has a head.
fn dotted_path(expr: &Expr) -> Name {
    match &expr.kind {
        ExprKind::Name(name) => Name::clone(name),
        ExprKind::Attribute { value, attr } => format!("{}.{}", dotted_path(value), attr.name).into(),
        _ => unreachable!("only names and dots lead to a head"),
    }
}

/// Whether an expression has this name in it.
pub(crate) fn mentions(expr: &Expr, name: &Name) -> bool {
    if let ExprKind::Name(found) = &expr.kind {
        return found == name;
    }
    let mut is_there = false;
    children(expr, &mut |child| is_there = is_there || mentions(child, name));
    is_there
}

/// Calls `visit` for the direct parts of an expression that kernels may have.
pub(crate) fn children(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    match &expr.kind {
        ExprKind::Bool { values, .. } | ExprKind::List(values) | ExprKind::Tuple(values) => {
            values.iter().for_each(visit);
        }
        ExprKind::Binary { left, right, .. } => {
            visit(left);
            visit(right);
        }
        ExprKind::Unary { operand, .. } | ExprKind::Starred(operand) => visit(operand),
        ExprKind::Walrus { value, .. } => visit(value),
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
        ExprKind::FString(parts) => parts_of(parts, visit),
        ExprKind::Attribute { value, .. } => visit(value),
        ExprKind::Subscript { value, index } => {
            visit(value);
            visit(index);
        }
        _ => {}
    }
}

/// The values in an f-string, and in their format specs.
fn parts_of(parts: &[FStringPart], visit: &mut dyn FnMut(&Expr)) {
    for part in parts {
        if let FStringPart::Value(value) = part {
            visit(&value.expr);
            value.spec.iter().for_each(|spec| parts_of(spec, visit));
        }
    }
}

/// Calls `visit` for every expression that stands in a statement itself, not for the parts of it, and
/// not for those in its blocks.
pub(super) fn exprs_of_stmt(stmt: &Stmt, visit: &mut dyn FnMut(&Expr)) {
    match &stmt.kind {
        StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) => visit(expr),
        StmtKind::Assign { targets, value } => {
            visit(value);
            targets.iter().for_each(visit);
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
        StmtKind::Assert { test, message } => {
            visit(test);
            message.iter().for_each(visit);
        }
        StmtKind::If { branches, .. } => branches.iter().for_each(|branch| visit(&branch.test)),
        StmtKind::While { test, .. } => visit(test),
        StmtKind::For { target, iter, .. } => {
            visit(iter);
            visit(target);
        }
        StmtKind::Match { subject, cases } => {
            visit(subject);
            for case in cases {
                pattern_exprs(&case.pattern, visit);
                case.guard.iter().for_each(&mut *visit);
            }
        }
        _ => {}
    }
}

/// Calls `visit` for every block of a statement; a function's body is its own.
pub(super) fn blocks_of_stmt(stmt: &Stmt, visit: &mut dyn FnMut(&[Stmt])) {
    match &stmt.kind {
        StmtKind::If { branches, orelse } => {
            branches.iter().for_each(|branch| visit(&branch.body));
            visit(orelse);
        }
        StmtKind::While { body, orelse, .. } | StmtKind::For { body, orelse, .. } => {
            visit(body);
            visit(orelse);
        }
        StmtKind::Match { cases, .. } => cases.iter().for_each(|case| visit(&case.body)),
        _ => {}
    }
}

/// Calls `found` for the variable at the root of whatever a method is called on: `p` of `p.a.step()`.
pub(crate) fn receivers(body: &[Stmt], found: &mut dyn FnMut(&Name)) {
    for stmt in body {
        exprs_of_stmt(stmt, &mut |expr| receivers_in(expr, found));
        blocks_of_stmt(stmt, &mut |body| receivers(body, found));
    }
}

/// The names on which an expression calls methods.
pub(crate) fn receivers_in(expr: &Expr, found: &mut dyn FnMut(&Name)) {
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
        PatternKind::Or(patterns) | PatternKind::Sequence(patterns) => {
            patterns.iter().for_each(|pattern| pattern_exprs(pattern, visit));
        }
        PatternKind::As { pattern, .. } => pattern_exprs(pattern, visit),
        _ => {}
    }
}
