//! The patterns of `case`.

use crate::ast::{BinaryOp, Expr, ExprKind, Ident, Pattern, PatternKind};
use crate::errors;
use crate::source::Span;

use super::Builder;
use super::operations::sign;

impl Builder<'_> {
    pub fn pattern(&mut self, start: u32, kind: PatternKind, end: u32) -> Box<Pattern> {
        let span = Span::new(start, end);
        let kind = match kind {
            PatternKind::Or(alternatives) => self.alternatives(alternatives),
            PatternKind::Sequence(patterns) => {
                self.check_stars(&patterns);
                PatternKind::Sequence(patterns)
            }
            kind => kind,
        };
        Box::new(Pattern { span, kind })
    }

    fn check_stars(&mut self, patterns: &[Pattern]) {
        let mut stars = patterns.iter().filter(|pattern| matches!(pattern.kind, PatternKind::Star(_)));
        if let (Some(first), Some(second)) = (stars.next(), stars.next()) {
            self.report(errors::second_star_pattern(self.at(second.span), self.at(first.span)));
        }
    }

    /// A name or `_` matches everything, so no alternative after it is ever tried.
    fn alternatives(&mut self, alternatives: Vec<Pattern>) -> PatternKind {
        let n_before = alternatives.len() - 1;
        let catches_all = |pattern: &&Pattern| match &pattern.kind {
            PatternKind::As { pattern, .. } => is_irrefutable(pattern),
            _ => is_irrefutable(pattern),
        };
        match alternatives[..n_before].iter().find(catches_all) {
            Some(Pattern { span, .. }) => {
                self.report(errors::unreachable_alternatives(self.at(*span), self.source.slice(*span)));
                PatternKind::Error
            }
            None => PatternKind::Or(alternatives),
        }
    }

    pub fn star_pattern(&mut self, start: u32, name: Ident, end: u32) -> Box<Pattern> {
        let name = (&*name.name != "_").then_some(name);
        self.pattern(start, PatternKind::Star(name), end)
    }

    /// `case *rest:` without a comma.
    pub fn lone_star_pattern(&mut self, start: u32, name: Ident, end: u32) -> Box<Pattern> {
        self.report(errors::lone_star_pattern(self.at(Span::new(start, end)), &name.name));
        self.pattern(start, PatternKind::Error, end)
    }

    /// `(pattern)`: a star in parentheses is refused.
    pub fn group_pattern(&mut self, start: u32, pattern: Pattern, end: u32) -> Box<Pattern> {
        let span = Span::new(start, end);
        if let PatternKind::Star(name) = &pattern.kind {
            let name = name.as_ref().map_or("_", |name| &name.name);
            self.report(errors::lone_star_pattern(self.at(pattern.span), name));
        }
        Box::new(Pattern { span, kind: pattern.kind })
    }

    pub fn as_pattern(&mut self, start: u32, pattern: Box<Pattern>, name: Ident, end: u32) -> Box<Pattern> {
        if &*name.name == "_" {
            self.report(errors::wildcard_target(self.at(name.span)));
        }
        self.pattern(start, PatternKind::As { pattern, name }, end)
    }

    /// A number, a string, or `None`, `True`, `False`.
    pub fn literal_pattern(&mut self, value: Expr) -> Box<Pattern> {
        let Span { start, end } = value.span;
        let kind = match value.kind {
            ExprKind::None | ExprKind::True | ExprKind::False => PatternKind::Singleton(value),
            ExprKind::FString(_) => {
                self.report(errors::fstring_pattern(self.at(value.span)));
                PatternKind::Error
            }
            _ => PatternKind::Value(value),
        };
        self.pattern(start, kind, end)
    }

    /// A bare name captures, a dotted one is a value.
    pub fn name_pattern(&mut self, expr: Expr) -> Box<Pattern> {
        let Span { start, end } = expr.span;
        let kind = match expr.kind {
            ExprKind::Name(name) if &*name == "_" => PatternKind::Wildcard,
            ExprKind::Name(name) => PatternKind::Capture(Ident { name, span: expr.span }),
            _ => PatternKind::Value(expr),
        };
        self.pattern(start, kind, end)
    }

    pub fn class_pattern(
        &mut self,
        class: Expr,
        args: Vec<(Option<Ident>, Pattern)>,
        end: u32,
    ) -> Box<Pattern> {
        let start = class.span.start;
        let mut positional = Vec::new();
        let mut keywords: Vec<(Ident, Pattern)> = Vec::new();
        let mut reported = false;
        for (name, pattern) in args {
            match name {
                Some(name) => {
                    keywords.push((name, pattern));
                }
                None => {
                    if let (Some((first, _)), false) = (keywords.first(), reported) {
                        reported = true;
                        let (at, first) = (self.at(pattern.span), self.at(first.span));
                        self.report(errors::positional_pattern_after_keyword(at, first));
                    }
                    positional.push(pattern);
                }
            }
        }
        self.check_repeated_attributes(&keywords);
        self.pattern(start, PatternKind::Class { class, positional, keywords }, end)
    }

    fn check_repeated_attributes(&mut self, keywords: &[(Ident, Pattern)]) {
        let mut names: Vec<&Ident> = keywords.iter().map(|(name, _)| name).collect();
        names.sort_by(|a, b| a.name.cmp(&b.name).then(a.span.cmp(&b.span)));
        for pair in names.windows(2) {
            if pair[0].name == pair[1].name {
                let (first, again) = (self.at(pair[0].span), self.at(pair[1].span));
                self.report(errors::repeated_pattern_keyword(again, &pair[1].name, first));
            }
        }
    }

    pub fn mapping_pattern(
        &mut self,
        start: u32,
        items: Vec<(Option<Expr>, Pattern)>,
        end: u32,
    ) -> Box<Pattern> {
        let mut pairs = Vec::with_capacity(items.len());
        let mut rest: Option<(Option<Ident>, Span)> = None;
        for (key, pattern) in items {
            if let Some((_, first)) = &rest {
                self.report(errors::pattern_after_rest(self.at(pattern.span), self.at(*first)));
                break;
            }
            match (key, pattern.kind) {
                (Some(key), kind) => {
                    self.check_pattern_key(&key);
                    pairs.push((key, Pattern { span: pattern.span, kind }));
                }
                (None, PatternKind::Star(name)) => {
                    if name.is_none() {
                        self.report(errors::wildcard_rest(self.at(pattern.span)));
                    }
                    rest = Some((name, pattern.span));
                }
                (None, _) => unreachable!("only `**name` has no key"),
            }
        }
        let rest = rest.and_then(|(name, _)| name);
        self.pattern(start, PatternKind::Mapping { items: pairs, rest }, end)
    }

    fn check_pattern_key(&mut self, key: &Expr) {
        match key.kind {
            ExprKind::Name(_) => {
                self.report(errors::name_as_pattern_key(self.at(key.span), self.source.slice(key.span)))
            }
            ExprKind::FString(_) => self.report(errors::fstring_pattern(self.at(key.span))),
            _ => {}
        }
    }

    /// `-1` in a pattern.
    pub fn signed(&mut self, op: BinaryOp, op_span: Span, number: Expr) -> Expr {
        let span = op_span.to(number.span);
        if op == BinaryOp::Add || !is_number(&number) {
            self.report(errors::pattern_sign(self.at(span)));
        }
        self.expr(span, ExprKind::Unary { op: sign(op), operand: Box::new(number) })
    }

    /// `1 + 2j` in a pattern.
    pub fn complex(&mut self, left: Expr, op: BinaryOp, op_span: Span, right: Expr) -> Expr {
        let span = left.span.to(right.span);
        let is_real = match &left.kind {
            ExprKind::Unary { operand, .. } => is_number(operand),
            _ => is_number(&left),
        };
        if !is_real || !matches!(right.kind, ExprKind::Imaginary(_)) {
            self.report(errors::pattern_arithmetic(self.at(span)));
        }
        let (left, right) = (Box::new(left), Box::new(right));
        self.expr(span, ExprKind::Binary { op, op_span, left, right })
    }
}

fn is_number(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Imaginary(_))
}

fn is_irrefutable(pattern: &Pattern) -> bool {
    matches!(pattern.kind, PatternKind::Capture(_) | PatternKind::Wildcard)
}
