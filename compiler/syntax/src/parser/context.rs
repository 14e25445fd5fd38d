//! Checks that depend on the enclosing statements: `return` outside a function, `break` outside a loop,
//! `yield` and `await` where nothing can suspend, patterns after one that matches everything.

use crate::Diagnostic;
use crate::ast::*;
use crate::errors;
use crate::source::{Source, Span};
use crate::visit::Part;

use super::captures;

/// Reports every statement and expression that its surroundings do not allow.
pub(super) fn check(source: &Source, body: &[Stmt], diagnostics: &mut Vec<Diagnostic>) {
    let mut walk = Walk { source, diagnostics };
    walk.block(body, Context { scope: Scope::Module, in_loop: false });
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Module,
    Class,
    Function,
    AsyncFunction,
    Lambda,
    /// The inside of a comprehension, in an async function or not.
    Comprehension {
        can_await: bool,
    },
}

impl Scope {
    fn can_await(self) -> bool {
        matches!(self, Scope::AsyncFunction | Scope::Comprehension { can_await: true })
    }
}

#[derive(Clone, Copy)]
struct Context {
    scope: Scope,
    in_loop: bool,
}

struct Walk<'a> {
    source: &'a Source,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Walk<'_> {
    fn block(&mut self, body: &[Stmt], context: Context) {
        for stmt in body {
            self.stmt(stmt, context);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, context: Context) {
        self.check_stmt(stmt, context);
        let in_loop = Context { in_loop: true, ..context };
        match &stmt.kind {
            StmtKind::While { test, body, orelse } => {
                self.expr(test, context.scope);
                self.block(body, in_loop);
                self.block(orelse, context);
            }
            StmtKind::For { target, iter, body, orelse, .. } => {
                self.exprs([target, iter], context.scope);
                self.block(body, in_loop);
                self.block(orelse, context);
            }
            StmtKind::Function(def) => {
                self.parts(stmt, context);
                let inside = if def.is_async { Scope::AsyncFunction } else { Scope::Function };
                self.block(&def.body, Context { scope: inside, in_loop: false });
            }
            StmtKind::Class(def) => {
                self.parts(stmt, context);
                self.block(&def.body, Context { scope: Scope::Class, in_loop: false });
            }
            _ => self.parts(stmt, context),
        }
    }

    fn parts(&mut self, stmt: &Stmt, context: Context) {
        stmt.each_part(&mut |part| match part {
            Part::Expr(expr) | Part::Place(expr) => self.expr(expr, context.scope),
            Part::Block(body) => self.block(body, context),
            Part::Name(..) => {}
        });
    }

    /// Whether a statement is allowed in its context.
    fn check_stmt(&mut self, stmt: &Stmt, Context { scope, in_loop }: Context) {
        match &stmt.kind {
            StmtKind::Return(_) if !matches!(scope, Scope::Function | Scope::AsyncFunction) => {
                self.report(errors::return_outside(self.word(stmt.span, "return")));
            }
            StmtKind::Nonlocal(_) if scope == Scope::Module => {
                self.report(errors::nonlocal_outside(self.word(stmt.span, "nonlocal")));
            }
            StmtKind::Break if !in_loop => {
                self.report(errors::outside_loop(self.source.at(stmt.span), "break"));
            }
            StmtKind::Continue if !in_loop => {
                self.report(errors::outside_loop(self.source.at(stmt.span), "continue"));
            }
            StmtKind::ImportFrom(ImportFrom { names: ImportedNames::Star(span), .. })
                if scope != Scope::Module =>
            {
                self.report(errors::star_import_inside(self.source.at(*span)));
            }
            StmtKind::For { is_async: true, .. } => self.check_async(stmt.span, "async for", scope),
            StmtKind::With { is_async: true, .. } => self.check_async(stmt.span, "async with", scope),
            StmtKind::Match { cases, .. } => {
                self.check_cases(cases);
                cases.iter().for_each(|case| captures::check(self.source, &case.pattern, self.diagnostics));
            }
            _ => {}
        }
    }

    fn exprs<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>, scope: Scope) {
        exprs.into_iter().for_each(|expr| self.expr(expr, scope));
    }

    fn expr(&mut self, expr: &Expr, scope: Scope) {
        match &expr.kind {
            ExprKind::Lambda(lambda) => {
                lambda.params.each_expr(&mut |expr| self.expr(expr, scope));
                self.expr(&lambda.body, Scope::Lambda);
            }
            ExprKind::ListComp { element, clauses } | ExprKind::SetComp { element, clauses } => {
                self.comprehension(&[element], clauses, expr.span, scope);
            }
            ExprKind::DictComp { key, value, clauses } => {
                self.comprehension(&[key, value], clauses, expr.span, scope);
            }
            // A generator may suspend wherever it is created: whoever runs it waits.
            ExprKind::Generator { element, clauses } => {
                let inside = Scope::Comprehension { can_await: true };
                self.clauses(clauses, scope, inside);
                self.expr(element, inside);
            }
            ExprKind::Await(value) => {
                if !scope.can_await() {
                    self.report(errors::await_outside(self.word(expr.span, "await"), "await"));
                }
                self.expr(value, scope);
            }
            _ => {
                if let ExprKind::Yield(_) | ExprKind::YieldFrom(_) = expr.kind {
                    self.check_yield(expr, scope);
                }
                expr.each_child(&mut |child| self.expr(child, scope));
            }
        }
    }

    fn comprehension(&mut self, elements: &[&Expr], clauses: &[Comprehension], span: Span, scope: Scope) {
        let can_await = scope.can_await();
        if !can_await && clauses.iter().any(|clause| clause.is_async) {
            self.report(errors::await_outside(self.source.at(span), "async for"));
        }
        let inside = Scope::Comprehension { can_await };
        self.clauses(clauses, scope, inside);
        self.exprs(elements.iter().copied(), inside);
    }

    /// The first iterable is evaluated outside, all else inside.
    fn clauses(&mut self, clauses: &[Comprehension], scope: Scope, inside: Scope) {
        for (idx, clause) in clauses.iter().enumerate() {
            self.expr(&clause.target, inside);
            self.expr(&clause.iter, if idx == 0 { scope } else { inside });
            self.exprs(&clause.conditions, inside);
        }
    }

    fn check_yield(&mut self, expr: &Expr, scope: Scope) {
        let at = self.source.at(expr.span);
        match scope {
            Scope::Module | Scope::Class => self.report(errors::yield_outside(at)),
            Scope::Comprehension { .. } => self.report(errors::yield_in_comprehension(at)),
            Scope::Function | Scope::AsyncFunction | Scope::Lambda => {}
        }
    }

    fn check_async(&mut self, span: Span, what: &'static str, scope: Scope) {
        if !scope.can_await() {
            self.report(errors::await_outside(self.word(span, "async"), what));
        }
    }

    /// A pattern that matches everything must come last, unless it has a guard.
    fn check_cases(&mut self, cases: &[MatchCase]) {
        let [before @ .., _] = cases else { return };
        let catches_all = |case: &&MatchCase| case.guard.is_none() && pattern_name(&case.pattern).is_some();
        if let Some(case) = before.iter().find(catches_all) {
            let name = pattern_name(&case.pattern).unwrap_or("_");
            self.report(errors::unreachable_cases(self.source.at(case.pattern.span), name));
        }
    }

    /// The keyword at the start of `span`.
    fn word(&self, span: Span, keyword: &str) -> crate::Location {
        self.source.at(Span::new(span.start, span.start + keyword.len() as u32))
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}

/// The name of a pattern that matches everything.
fn pattern_name(pattern: &Pattern) -> Option<&str> {
    match &pattern.kind {
        PatternKind::Wildcard => Some("_"),
        PatternKind::Capture(name) => Some(&name.name),
        PatternKind::As { pattern, .. } => pattern_name(pattern),
        _ => None,
    }
}
