//! Expressions: displays, comprehensions, trailers, `lambda` and others.

use std::sync::Arc;

use crate::ast::{Argument, Comprehension, DictItem, Expr, ExprKind, Ident, Lambda};
use crate::errors;
use crate::source::Span;

use super::{Builder, ParamItem};

/// An item between the commas of `{..}`.
pub(crate) enum BraceItem {
    Element(Expr),
    Pair(Expr, Box<Expr>),
    /// `**mapping`.
    Spread(Expr),
}

impl BraceItem {
    fn span(&self) -> Span {
        match self {
            BraceItem::Element(expr) | BraceItem::Spread(expr) => expr.span,
            BraceItem::Pair(key, value) => key.span.to(value.span),
        }
    }
}

impl Builder<'_> {
    pub fn name(&mut self, span: Span) -> Expr {
        let name = self.intern(span);
        Expr { span, kind: ExprKind::Name(name), depth: 0 }
    }

    /// `(expr)`: the parentheses belong to its span.
    pub fn group(&mut self, start: u32, expr: Expr, end: u32) -> Expr {
        let span = Span::new(start, end);
        if let ExprKind::Starred(_) = expr.kind {
            let at = self.at(expr.span);
            self.report(errors::lone_star(at));
            return Expr { span, kind: ExprKind::Error, depth: 0 };
        }
        Expr { span, ..expr }
    }

    pub fn tuple(&mut self, start: u32, elements: Vec<Expr>, end: u32) -> Expr {
        self.expr(Span::new(start, end), ExprKind::Tuple(elements))
    }

    pub fn list(&mut self, start: u32, elements: Vec<Expr>, end: u32) -> Expr {
        self.expr(Span::new(start, end), ExprKind::List(elements))
    }

    pub fn starred(&mut self, start: u32, expr: Expr) -> Expr {
        let span = Span::new(start, expr.span.end);
        self.expr(span, ExprKind::Starred(Box::new(expr)))
    }

    pub fn walrus(&mut self, target: Expr, value: Expr) -> Expr {
        let span = target.span.to(value.span);
        match target.kind {
            ExprKind::Name(name) if !self.text[target.span.range()].starts_with('(') => {
                let target = Ident { name, span: target.span };
                self.expr(span, ExprKind::Walrus { target, value: Box::new(value) })
            }
            _ => {
                let at = self.at(target.span);
                self.report(errors::walrus_target(at, self.describe(&target)));
                Expr { span, kind: ExprKind::Error, depth: 0 }
            }
        }
    }

    pub fn if_else(&mut self, test: Expr, then: Expr, orelse: Expr) -> Expr {
        let span = then.span.to(orelse.span);
        let (test, then, orelse) = (Box::new(test), Box::new(then), Box::new(orelse));
        self.expr(span, ExprKind::IfElse { test, then, orelse })
    }

    pub fn lambda(&mut self, start: u32, params: Vec<ParamItem>, body: Expr) -> Expr {
        let params = self.parameters(params);
        let span = Span::new(start, body.span.end);
        self.expr(span, ExprKind::Lambda(Arc::new(Lambda { params, body })))
    }

    pub fn yield_(&mut self, start: u32, value: Option<Expr>, end: u32) -> Expr {
        if let Some(value) = &value {
            self.check_value(value);
        }
        self.expr(Span::new(start, end), ExprKind::Yield(value.map(Box::new)))
    }

    pub fn yield_from(&mut self, start: u32, value: Expr) -> Expr {
        let span = Span::new(start, value.span.end);
        self.expr(span, ExprKind::YieldFrom(Box::new(value)))
    }

    pub fn attribute(&mut self, value: Expr, attr: Ident) -> Expr {
        let span = value.span.to(attr.span);
        self.expr(span, ExprKind::Attribute { value: Box::new(value), attr })
    }

    pub fn call(&mut self, func: Expr, args: Vec<Argument>, end: u32) -> Expr {
        self.check_arguments(&args);
        let span = Span::new(func.span.start, end);
        self.expr(span, ExprKind::Call { func: Box::new(func), args })
    }

    pub fn subscript(&mut self, value: Expr, index: Expr, end: u32) -> Expr {
        // A single star makes a tuple, as in `Array[*shape]`.
        let index = match index.kind {
            ExprKind::Starred(_) => self.tuple(index.span.start, vec![index.clone()], index.span.end),
            _ => index,
        };
        let span = Span::new(value.span.start, end);
        self.expr(span, ExprKind::Subscript { value: Box::new(value), index: Box::new(index) })
    }

    pub fn slice(
        &mut self,
        start: u32,
        lower: Option<Box<Expr>>,
        upper: Option<Box<Expr>>,
        step: Option<Box<Expr>>,
        end: u32,
    ) -> Expr {
        self.expr(Span::new(start, end), ExprKind::Slice { lower, upper, step })
    }

    /// `{}`.
    pub fn dict(&mut self, start: u32, end: u32) -> Expr {
        self.leaf(start, ExprKind::Dict(Vec::new()), end)
    }

    /// `{..}` with items: a set if the first one is an element, otherwise a dict.
    pub fn braces(&mut self, start: u32, items: Vec<BraceItem>, end: u32) -> Expr {
        let span = Span::new(start, end);
        match items.first() {
            Some(BraceItem::Element(_)) => self.set(span, items),
            _ => self.filled_dict(span, items),
        }
    }

    fn set(&mut self, span: Span, items: Vec<BraceItem>) -> Expr {
        let mut elements = Vec::with_capacity(items.len());
        let mut reported = false;
        for item in items {
            match item {
                BraceItem::Element(element) => elements.push(element),
                other if !reported => {
                    reported = true;
                    let at = self.at(other.span());
                    self.report(errors::pair_in_set(at));
                }
                _ => {}
            }
        }
        self.expr(span, ExprKind::Set(elements))
    }

    fn filled_dict(&mut self, span: Span, items: Vec<BraceItem>) -> Expr {
        let mut pairs = Vec::with_capacity(items.len());
        let mut reported = false;
        for item in items {
            match item {
                BraceItem::Pair(key, value) => {
                    pairs.push(DictItem::Pair(key, *value));
                }
                BraceItem::Spread(mapping) => {
                    pairs.push(DictItem::Spread(mapping));
                }
                BraceItem::Element(element) if !reported => {
                    reported = true;
                    let at = self.at(element.span);
                    self.report(errors::element_in_dict(at));
                }
                BraceItem::Element(_) => {}
            }
        }
        self.expr(span, ExprKind::Dict(pairs))
    }

    pub fn list_comp(&mut self, start: u32, element: Expr, clauses: Vec<Comprehension>, end: u32) -> Expr {
        self.check_comprehended(&element);
        let kind = ExprKind::ListComp { element: Box::new(element), clauses };
        self.expr(Span::new(start, end), kind)
    }

    pub fn generator(&mut self, start: u32, element: Expr, clauses: Vec<Comprehension>, end: u32) -> Expr {
        self.check_comprehended(&element);
        let kind = ExprKind::Generator { element: Box::new(element), clauses };
        self.expr(Span::new(start, end), kind)
    }

    pub fn brace_comp(&mut self, start: u32, item: BraceItem, clauses: Vec<Comprehension>, end: u32) -> Expr {
        let span = Span::new(start, end);
        match item {
            BraceItem::Element(element) => {
                self.check_comprehended(&element);
                self.expr(span, ExprKind::SetComp { element: Box::new(element), clauses })
            }
            BraceItem::Pair(key, value) => {
                self.expr(span, ExprKind::DictComp { key: Box::new(key), value, clauses })
            }
            BraceItem::Spread(mapping) => {
                let at = self.at(mapping.span);
                self.report(errors::spread_in_comprehension(at, "**"));
                Expr { span, kind: ExprKind::Error, depth: 0 }
            }
        }
    }

    fn check_comprehended(&mut self, element: &Expr) {
        if let ExprKind::Starred(_) = element.kind {
            let at = self.at(element.span);
            self.report(errors::spread_in_comprehension(at, "*"));
        }
    }

    pub fn clause(
        &mut self,
        start: u32,
        is_async: Option<()>,
        target: Expr,
        iter: Expr,
    ) -> Box<Comprehension> {
        self.check_for_target(&target);
        let span = Span::new(start, iter.span.end);
        Box::new(Comprehension { target, iter, conditions: Vec::new(), is_async: is_async.is_some(), span })
    }

    pub fn condition(&mut self, clauses: &mut [Comprehension], condition: Expr) {
        if let Some(clause) = clauses.last_mut() {
            clause.span.end = condition.span.end;
            clause.conditions.push(condition);
        }
    }

    /// Refuses expressions that are only allowed in brackets: a bare `*a`, and `:=` without parentheses.
    pub(super) fn check_value(&mut self, value: &Expr) {
        match &value.kind {
            ExprKind::Starred(_) => {
                let at = self.at(value.span);
                self.report(errors::lone_star(at));
            }
            ExprKind::Walrus { .. } if !self.in_parens(value) => {
                let at = self.at(value.span);
                self.report(errors::bare_walrus(at, self.source.slice(value.span)));
            }
            ExprKind::Tuple(elements) if !self.in_parens(value) => {
                let is_bare = |element: &&Expr| {
                    matches!(element.kind, ExprKind::Walrus { .. }) && !self.in_parens(element)
                };
                if let Some(walrus) = elements.iter().find(is_bare) {
                    let at = self.at(walrus.span);
                    self.report(errors::bare_walrus(at, self.source.slice(walrus.span)));
                }
            }
            _ => {}
        }
    }
}
