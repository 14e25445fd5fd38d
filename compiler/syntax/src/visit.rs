//! Visits the direct parts of statements, patterns, targets and expressions, in the order of evaluation.
//!
//! A pass handles the nodes that concern it, and visits the parts of all others by these functions; no other
//! code lists the parts of a node. Bodies of functions and classes are never parts: they are separate scopes,
//! and each pass decides what to do with them. Bounds of type parameters are excluded: nothing evaluates
//! them.

use crate::ast::*;
use crate::source::Span;

/// A part of a statement.
#[derive(Clone, Copy)]
pub enum Part<'t> {
    /// An expression that is evaluated, or deleted.
    Expr(&'t Expr),
    /// `a.b` or `a[i]`, which is assigned to.
    Place(&'t Expr),
    /// A name that is bound, or declared `global` or `nonlocal`, with its place.
    Name(&'t Name, Span),
    /// A block that belongs to the same scope.
    Block(&'t [Stmt]),
}

impl Stmt {
    /// Targets and patterns are split into names, places and expressions. The name in `x += 1` is an
    /// expression, too.
    pub fn each_part<'t>(&'t self, visit: &mut dyn FnMut(Part<'t>)) {
        match &self.kind {
            StmtKind::Expr(expr) => visit(Part::Expr(expr)),
            StmtKind::Assign { targets, value } => {
                visit(Part::Expr(value));
                targets.iter().for_each(|target| target.each_target(visit));
            }
            StmtKind::AugAssign { target, value, .. } => match &target.kind {
                ExprKind::Name(name) => {
                    visit(Part::Expr(target));
                    visit(Part::Expr(value));
                    visit(Part::Name(name, target.span));
                }
                _ => {
                    visit(Part::Place(target));
                    visit(Part::Expr(value));
                }
            },
            StmtKind::AnnAssign { target, annotation, value } => {
                visit(Part::Expr(annotation));
                exprs(value, visit);
                target.each_target(visit);
            }
            StmtKind::TypeAlias { name, value, .. } => {
                visit(Part::Expr(value));
                ident(name, visit);
            }
            StmtKind::Delete(targets) => exprs(targets, visit),
            StmtKind::Return(value) => exprs(value, visit),
            StmtKind::Raise { exception, cause } => exprs(exception.iter().chain(cause), visit),
            StmtKind::Global(names) | StmtKind::Nonlocal(names) => {
                names.iter().for_each(|name| ident(name, visit));
            }
            StmtKind::Assert { test, message } => exprs([test].into_iter().chain(message), visit),
            StmtKind::Import(imports) => imports.iter().for_each(|import| ident(import.bound(), visit)),
            StmtKind::ImportFrom(import) => {
                if let ImportedNames::Names(imports) = &import.names {
                    imports.iter().for_each(|import| ident(import.bound(), visit));
                }
            }
            StmtKind::If { branches, orelse } => {
                for branch in branches {
                    visit(Part::Expr(&branch.test));
                    visit(Part::Block(&branch.body));
                }
                visit(Part::Block(orelse));
            }
            StmtKind::While { test, body, orelse } => {
                visit(Part::Expr(test));
                visit(Part::Block(body));
                visit(Part::Block(orelse));
            }
            StmtKind::For { target, iter, body, orelse, .. } => {
                visit(Part::Expr(iter));
                target.each_target(visit);
                visit(Part::Block(body));
                visit(Part::Block(orelse));
            }
            StmtKind::With { items, body, .. } => {
                for item in items {
                    visit(Part::Expr(&item.context));
                    item.target.iter().for_each(|target| target.each_target(visit));
                }
                visit(Part::Block(body));
            }
            StmtKind::Try(of) => {
                visit(Part::Block(&of.body));
                for handler in &of.handlers {
                    exprs(&handler.exception, visit);
                    handler.name.iter().for_each(|name| ident(name, visit));
                    visit(Part::Block(&handler.body));
                }
                visit(Part::Block(&of.orelse));
                visit(Part::Block(&of.finally));
            }
            StmtKind::Match { subject, cases } => {
                visit(Part::Expr(subject));
                for case in cases {
                    case.pattern.each_part(visit);
                    exprs(&case.guard, visit);
                    visit(Part::Block(&case.body));
                }
            }
            StmtKind::Function(def) => {
                exprs(&def.decorators, visit);
                def.params.each_expr(&mut |expr| visit(Part::Expr(expr)));
                exprs(&def.returns, visit);
                ident(&def.name, visit);
            }
            StmtKind::Class(def) => {
                exprs(&def.decorators, visit);
                exprs(def.arguments.iter().map(Argument::value), visit);
                ident(&def.name, visit);
            }
            StmtKind::Pass | StmtKind::Break | StmtKind::Continue | StmtKind::Error => {}
        }
    }

    /// The expressions in a statement itself, including places that it assigns to.
    pub fn each_expr<'t>(&'t self, visit: &mut dyn FnMut(&'t Expr)) {
        self.each_part(&mut |part| {
            if let Part::Expr(expr) | Part::Place(expr) = part {
                visit(expr);
            }
        });
    }

    /// The blocks of a statement that belong to the same scope, empty ones included.
    pub fn blocks(&self) -> Vec<&[Stmt]> {
        let mut blocks = Vec::new();
        self.each_part(&mut |part| {
            if let Part::Block(block) = part {
                blocks.push(block);
            }
        });
        blocks
    }
}

impl Pattern {
    /// The names that a pattern binds and the expressions in it, at any depth.
    pub fn each_part<'t>(&'t self, visit: &mut dyn FnMut(Part<'t>)) {
        match &self.kind {
            PatternKind::Capture(name) | PatternKind::Star(Some(name)) => ident(name, visit),
            PatternKind::Value(value) | PatternKind::Singleton(value) => visit(Part::Expr(value)),
            PatternKind::Sequence(patterns) | PatternKind::Or(patterns) => {
                patterns.iter().for_each(|pattern| pattern.each_part(visit));
            }
            PatternKind::Mapping { items, rest } => {
                for (key, pattern) in items {
                    visit(Part::Expr(key));
                    pattern.each_part(visit);
                }
                rest.iter().for_each(|name| ident(name, visit));
            }
            PatternKind::Class { class, positional, keywords } => {
                visit(Part::Expr(class));
                let keywords = keywords.iter().map(|(_, pattern)| pattern);
                positional.iter().chain(keywords).for_each(|pattern| pattern.each_part(visit));
            }
            PatternKind::As { pattern, name } => {
                pattern.each_part(visit);
                ident(name, visit);
            }
            PatternKind::Wildcard | PatternKind::Star(None) | PatternKind::Error => {}
        }
    }
}

impl Expr {
    /// The names and places in the target of an assignment, in order.
    pub fn each_target<'t>(&'t self, visit: &mut dyn FnMut(Part<'t>)) {
        match &self.kind {
            ExprKind::Name(name) => visit(Part::Name(name, self.span)),
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                items.iter().for_each(|item| item.each_target(visit));
            }
            ExprKind::Starred(inner) => inner.each_target(visit),
            _ => visit(Part::Place(self)),
        }
    }

    /// The direct parts, as [`ExprKind::each_child`] has them.
    #[inline]
    pub fn each_child<'t>(&'t self, visit: &mut (impl FnMut(&'t Expr) + ?Sized)) {
        self.kind.each_child(visit);
    }
}

impl ExprKind {
    /// The direct parts, the insides of lambdas and comprehensions included; names that these bind are expressions.
    #[inline]
    pub fn each_child<'t>(&'t self, visit: &mut (impl FnMut(&'t Expr) + ?Sized)) {
        // The most common expressions are handled first: passes visit all of them many times.
        match self {
            ExprKind::Name(_) | ExprKind::Int(_) | ExprKind::Float(_) => {}
            ExprKind::Attribute { value, .. } => visit(value),
            ExprKind::Binary { left, right, .. } => {
                visit(left);
                visit(right);
            }
            ExprKind::Call { func, args } => {
                visit(func);
                args.iter().map(Argument::value).for_each(visit);
            }
            ExprKind::Subscript { value, index } => {
                visit(value);
                visit(index);
            }
            _ => self.each_child_of_others(&mut |child| visit(child)),
        }
    }

    fn each_child_of_others<'t>(&'t self, visit: &mut dyn FnMut(&'t Expr)) {
        match self {
            ExprKind::Bool { values, .. }
            | ExprKind::List(values)
            | ExprKind::Tuple(values)
            | ExprKind::Set(values) => values.iter().for_each(visit),
            ExprKind::Walrus { value, .. }
            | ExprKind::Starred(value)
            | ExprKind::YieldFrom(value)
            | ExprKind::Await(value)
            | ExprKind::Unary { operand: value, .. } => visit(value),
            ExprKind::Yield(value) => value.iter().for_each(|value| visit(value)),
            ExprKind::Compare { left, comparisons } => {
                visit(left);
                comparisons.iter().map(|comparison| &comparison.right).for_each(visit);
            }
            ExprKind::Lambda(lambda) => {
                lambda.params.each_expr(visit);
                visit(&lambda.body);
            }
            ExprKind::IfElse { test, then, orelse } => {
                visit(test);
                visit(then);
                visit(orelse);
            }
            ExprKind::Dict(items) => items.iter().for_each(|item| match item {
                DictItem::Pair(key, value) => {
                    visit(key);
                    visit(value);
                }
                DictItem::Spread(mapping) => visit(mapping),
            }),
            ExprKind::ListComp { element, clauses }
            | ExprKind::SetComp { element, clauses }
            | ExprKind::Generator { element, clauses } => {
                clauses.iter().for_each(|clause| clause.each_expr(visit));
                visit(element);
            }
            ExprKind::DictComp { key, value, clauses } => {
                clauses.iter().for_each(|clause| clause.each_expr(visit));
                visit(key);
                visit(value);
            }
            ExprKind::Slice { lower, upper, step } => {
                [lower, upper, step].into_iter().flatten().for_each(|bound| visit(bound));
            }
            ExprKind::FString(parts) => values(parts, visit),
            ExprKind::None
            | ExprKind::True
            | ExprKind::False
            | ExprKind::Ellipsis
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Imaginary(_)
            | ExprKind::Str(_)
            | ExprKind::Bytes(_)
            | ExprKind::Name(_)
            | ExprKind::Attribute { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Call { .. }
            | ExprKind::Subscript { .. }
            | ExprKind::Error => {}
        }
    }
}

impl Parameters {
    /// Annotations and defaults.
    pub fn each_expr<'t>(&'t self, visit: &mut dyn FnMut(&'t Expr)) {
        self.iter().flat_map(|param| param.annotation.iter().chain(&param.default)).for_each(visit);
    }
}

impl Comprehension {
    /// Its iterable, its target and its conditions.
    pub fn each_expr<'t>(&'t self, visit: &mut dyn FnMut(&'t Expr)) {
        [&self.iter, &self.target].into_iter().chain(&self.conditions).for_each(visit);
    }
}

/// The values in an f-string, and in their format specs.
fn values<'t>(parts: &'t [FStringPart], visit: &mut dyn FnMut(&'t Expr)) {
    for part in parts {
        if let FStringPart::Value(value) = part {
            visit(&value.expr);
            value.spec.iter().for_each(|spec| values(spec, visit));
        }
    }
}

fn exprs<'t>(exprs: impl IntoIterator<Item = &'t Expr>, visit: &mut dyn FnMut(Part<'t>)) {
    exprs.into_iter().for_each(|expr| visit(Part::Expr(expr)));
}

fn ident<'t>(ident: &'t Ident, visit: &mut dyn FnMut(Part<'t>)) {
    visit(Part::Name(&ident.name, ident.span));
}
