//! What depends on the statements around: `return` outside a function, `break` outside a loop, `yield`
//! and `await` where nothing can wait, patterns behind one that matches everything.

use crate::Diagnostic;
use crate::ast::*;
use crate::errors;
use crate::source::{Source, Span};

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
        let scope = context.scope;
        match &stmt.kind {
            StmtKind::Expr(value) => self.expr(value, scope),
            StmtKind::Assign { targets, value } => {
                self.exprs(targets, scope);
                self.expr(value, scope);
            }
            StmtKind::AugAssign { target, value, .. } => self.exprs([target, value], scope),
            StmtKind::AnnAssign { target, annotation, value } => {
                self.exprs([target, annotation], scope);
                self.exprs(value, scope);
            }
            StmtKind::TypeAlias { value, .. } => self.expr(value, scope),
            StmtKind::Delete(targets) => self.exprs(targets, scope),
            StmtKind::Return(value) => {
                if !matches!(scope, Scope::Function | Scope::AsyncFunction) {
                    self.report(errors::return_outside(self.word(stmt.span, "return")));
                }
                self.exprs(value, scope);
            }
            StmtKind::Raise { exception, cause } => self.exprs(exception.iter().chain(cause), scope),
            StmtKind::Nonlocal(_) if scope == Scope::Module => {
                self.report(errors::nonlocal_outside(self.word(stmt.span, "nonlocal")));
            }
            StmtKind::Break if !context.in_loop => {
                self.report(errors::outside_loop(self.source.at(stmt.span), "break"));
            }
            StmtKind::Continue if !context.in_loop => {
                self.report(errors::outside_loop(self.source.at(stmt.span), "continue"));
            }
            StmtKind::Assert { test, message } => self.exprs([test].into_iter().chain(message), scope),
            StmtKind::ImportFrom(ImportFrom { names: ImportedNames::Star(span), .. })
                if scope != Scope::Module =>
            {
                self.report(errors::star_import_inside(self.source.at(*span)));
            }
            StmtKind::If { branches, orelse } => {
                for branch in branches {
                    self.expr(&branch.test, scope);
                    self.block(&branch.body, context);
                }
                self.block(orelse, context);
            }
            StmtKind::While { test, body, orelse } => {
                self.expr(test, scope);
                self.block(body, Context { in_loop: true, ..context });
                self.block(orelse, context);
            }
            StmtKind::For { target, iter, body, orelse, is_async } => {
                if *is_async {
                    self.check_async(stmt.span, "async for", scope);
                }
                self.exprs([target, iter], scope);
                self.block(body, Context { in_loop: true, ..context });
                self.block(orelse, context);
            }
            StmtKind::With { items, body, is_async } => {
                if *is_async {
                    self.check_async(stmt.span, "async with", scope);
                }
                for item in items {
                    self.expr(&item.context, scope);
                    self.exprs(&item.target, scope);
                }
                self.block(body, context);
            }
            StmtKind::Try(try_) => {
                self.block(&try_.body, context);
                for handler in &try_.handlers {
                    self.exprs(&handler.exception, scope);
                    self.block(&handler.body, context);
                }
                self.block(&try_.orelse, context);
                self.block(&try_.finally, context);
            }
            StmtKind::Match { subject, cases } => {
                self.expr(subject, scope);
                self.check_cases(cases);
                for case in cases {
                    captures::check(self.source, &case.pattern, self.diagnostics);
                    self.exprs(&case.guard, scope);
                    self.block(&case.body, context);
                }
            }
            StmtKind::Function(def) => self.function(def, scope),
            StmtKind::Class(def) => {
                self.exprs(&def.decorators, scope);
                self.arguments(&def.arguments, scope);
                self.block(&def.body, Context { scope: Scope::Class, in_loop: false });
            }
            _ => {}
        }
    }

    fn function(&mut self, def: &FunctionDef, scope: Scope) {
        self.exprs(&def.decorators, scope);
        self.params(&def.params, scope);
        self.exprs(&def.returns, scope);
        let inside = if def.is_async { Scope::AsyncFunction } else { Scope::Function };
        self.block(&def.body, Context { scope: inside, in_loop: false });
    }

    fn params(&mut self, params: &Parameters, scope: Scope) {
        for param in params.iter() {
            self.exprs(param.annotation.iter().chain(&param.default), scope);
        }
    }

    fn arguments(&mut self, arguments: &[Argument], scope: Scope) {
        for argument in arguments {
            match &argument.kind {
                ArgumentKind::Positional(value) | ArgumentKind::Spread(value) => self.expr(value, scope),
                ArgumentKind::Keyword(_, value) | ArgumentKind::KeywordSpread(value) => {
                    self.expr(value, scope)
                }
            }
        }
    }

    fn exprs<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>, scope: Scope) {
        for expr in exprs {
            self.expr(expr, scope);
        }
    }

    fn boxed<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Box<Expr>>, scope: Scope) {
        for expr in exprs {
            self.expr(expr, scope);
        }
    }

    fn expr(&mut self, expr: &Expr, scope: Scope) {
        match &expr.kind {
            ExprKind::FString(parts) => self.fstring(parts, scope),
            ExprKind::Bool { values, .. } => self.exprs(values, scope),
            ExprKind::Walrus { value, .. } => self.expr(value, scope),
            ExprKind::Binary { left, right, .. } => self.boxed([left, right], scope),
            ExprKind::Unary { operand, .. } => self.expr(operand, scope),
            ExprKind::Compare { left, comparisons } => {
                self.expr(left, scope);
                self.exprs(comparisons.iter().map(|comparison| &comparison.right), scope);
            }
            ExprKind::Lambda(lambda) => {
                self.params(&lambda.params, scope);
                self.expr(&lambda.body, Scope::Lambda);
            }
            ExprKind::IfElse { test, then, orelse } => self.boxed([test, then, orelse], scope),
            ExprKind::List(elements) | ExprKind::Tuple(elements) | ExprKind::Set(elements) => {
                self.exprs(elements, scope);
            }
            ExprKind::Dict(items) => {
                for item in items {
                    match item {
                        DictItem::Pair(key, value) => self.exprs([key, value], scope),
                        DictItem::Spread(mapping) => self.expr(mapping, scope),
                    }
                }
            }
            ExprKind::ListComp { element, clauses } | ExprKind::SetComp { element, clauses } => {
                self.comprehension([element], clauses, expr.span, scope);
            }
            // A generator may wait wherever it is made: whoever runs it waits.
            ExprKind::Generator { element, clauses } => {
                let inside = Scope::Comprehension { can_await: true };
                self.clauses(clauses, scope, inside);
                self.expr(element, inside);
            }
            ExprKind::DictComp { key, value, clauses } => {
                self.comprehension([key, value], clauses, expr.span, scope);
            }
            ExprKind::Call { func, args } => {
                self.expr(func, scope);
                self.arguments(args, scope);
            }
            ExprKind::Attribute { value, .. } | ExprKind::Starred(value) => self.expr(value, scope),
            ExprKind::Subscript { value, index } => self.boxed([value, index], scope),
            ExprKind::Slice { lower, upper, step } => {
                self.boxed([lower, upper, step].into_iter().flatten(), scope)
            }
            ExprKind::Yield(value) => {
                self.check_yield(expr, scope);
                self.boxed(value, scope);
            }
            ExprKind::YieldFrom(value) => {
                self.check_yield(expr, scope);
                self.expr(value, scope);
            }
            ExprKind::Await(value) => {
                if !scope.can_await() {
                    self.report(errors::await_outside(self.word(expr.span, "await"), "await"));
                }
                self.expr(value, scope);
            }
            _ => {}
        }
    }

    fn comprehension<'e>(
        &mut self,
        elements: impl IntoIterator<Item = &'e Box<Expr>>,
        clauses: &[Comprehension],
        span: Span,
        scope: Scope,
    ) {
        let can_await = scope.can_await();
        if !can_await && clauses.iter().any(|clause| clause.is_async) {
            self.report(errors::await_outside(self.source.at(span), "async for"));
        }
        let inside = Scope::Comprehension { can_await };
        self.clauses(clauses, scope, inside);
        self.boxed(elements, inside);
    }

    /// The first iterable is computed outside, everything else inside.
    fn clauses(&mut self, clauses: &[Comprehension], scope: Scope, inside: Scope) {
        for (idx, clause) in clauses.iter().enumerate() {
            self.expr(&clause.target, inside);
            self.expr(&clause.iter, if idx == 0 { scope } else { inside });
            self.exprs(&clause.conditions, inside);
        }
    }

    fn fstring(&mut self, parts: &[FStringPart], scope: Scope) {
        for part in parts {
            if let FStringPart::Value(value) = part {
                self.expr(&value.expr, scope);
                self.fstring(value.spec.as_deref().unwrap_or_default(), scope);
            }
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

    /// A pattern that matches everything must come last, unless a guard holds it back.
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
