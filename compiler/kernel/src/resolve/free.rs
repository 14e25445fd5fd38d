//! The free names of a function, and the names in an expression.

use std::sync::Arc;

use kps_syntax::ast::{ArgumentKind, Expr, ExprKind, FunctionDef, Name, Parameters, Stmt, StmtKind};
use kps_syntax::scope::{Scope, root_name};
use kps_syntax::{Part, Span};
use rustc_hash::FxHashSet;

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

/// The names that a function takes from outside, dotted where it names a member, `N`, `config.N`, each with the place
/// of its first use.
pub(crate) fn free_paths(def: &FunctionDef) -> Vec<(Name, Span)> {
    let mut free = Free { scopes: Vec::new(), paths: Vec::new(), seen: FxHashSet::default() };
    free.function(def);
    free.paths
}

/// Collects the names that no enclosing scope defines.
struct Free {
    scopes: Vec<Arc<Scope>>,
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
        self.scopes.push(def.scope());
        self.block(&def.body);
        self.scopes.pop();
    }

    /// Annotations and defaults belong to the scope around a function.
    fn params(&mut self, params: &Parameters) {
        params.each_expr(&mut |expr| self.expr(expr));
    }

    fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Function(def) => self.function(def),
                _ => stmt.each_part(&mut |part| match part {
                    Part::Expr(expr) | Part::Place(expr) => self.expr(expr),
                    Part::Block(body) => self.block(body),
                    Part::Name(..) => {}
                }),
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
            self.scopes.push(Arc::new(Scope::of_lambda(lambda)));
            self.expr(&lambda.body);
            self.scopes.pop();
            return;
        }
        expr.each_child(&mut |child| self.expr(child));
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
    expr.each_child(&mut |child| is_there = is_there || mentions(child, name));
    is_there
}

/// Calls `found` for the variable at the root of whatever a method is called on: `p` of `p.a.step()`.
pub(crate) fn receivers(body: &[Stmt], found: &mut dyn FnMut(&Name)) {
    for stmt in body {
        stmt.each_part(&mut |part| match part {
            Part::Expr(expr) | Part::Place(expr) => receivers_in(expr, found),
            Part::Block(body) => receivers(body, found),
            Part::Name(..) => {}
        });
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
    expr.each_child(&mut |child| receivers_in(child, found));
}

/// Calls `found` with a variable and its member, for each member that is assigned to a name or passed to a function,
/// as a whole or in part: `p` and `a` of `x = p.a[0]`.
pub(crate) fn passed_members(body: &[Stmt], found: &mut dyn FnMut(&Name, &Name)) {
    for stmt in body {
        if let StmtKind::Assign { value, .. } | StmtKind::AnnAssign { value: Some(value), .. } = &stmt.kind {
            part_of_variable(value, found);
        }
        stmt.each_part(&mut |part| match part {
            Part::Expr(expr) | Part::Place(expr) => passed_in(expr, found),
            Part::Block(body) => passed_members(body, found),
            Part::Name(..) => {}
        });
    }
}

/// The same for an expression.
fn passed_in(expr: &Expr, found: &mut dyn FnMut(&Name, &Name)) {
    match &expr.kind {
        ExprKind::Call { args, .. } => args.iter().for_each(|arg| match &arg.kind {
            ArgumentKind::Positional(value) | ArgumentKind::Keyword(_, value) => {
                part_of_variable(value, found)
            }
            ArgumentKind::Spread(_) | ArgumentKind::KeywordSpread(_) => {}
        }),
        ExprKind::Walrus { value, .. } => part_of_variable(value, found),
        _ => {}
    }
    expr.each_child(&mut |child| passed_in(child, found));
}

fn part_of_variable(value: &Expr, found: &mut dyn FnMut(&Name, &Name)) {
    match &value.kind {
        ExprKind::Tuple(items) | ExprKind::List(items) => {
            items.iter().for_each(|item| part_of_variable(item, found));
        }
        ExprKind::IfElse { then, orelse, .. } => {
            part_of_variable(then, found);
            part_of_variable(orelse, found);
        }
        ExprKind::Attribute { value, attr } => match &value.kind {
            ExprKind::Name(name) => found(name, &attr.name),
            _ => part_of_variable(value, found),
        },
        ExprKind::Subscript { value, .. } => part_of_variable(value, found),
        _ => {}
    }
}
