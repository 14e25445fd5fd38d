//! `match`: the patterns in order, each as tests that jump past its block on failure. Names are bound after
//! the whole pattern has matched, so a partial match does not change them.

use kps_syntax::Span;
use kps_syntax::ast::*;

use super::Compiler;
use super::control::join;
use crate::emit::{Label, Operand, Register, row};
use crate::errors;
use crate::op::{ENDS_B, Op};
use crate::program::Constant;

/// Items on either side of a star, and positional attributes, are counted in a byte.
const MAX_IN_A_BYTE: usize = 255;

/// The bindings of a pattern: the names, each with the register of its value.
type Bound<'a> = Vec<(&'a Ident, Register)>;

impl<'a> Compiler<'a> {
    pub(super) fn match_stmt(&mut self, subject: &'a Expr, cases: &'a [MatchCase]) {
        let value = self.emitter().alloc();
        self.expr_to(subject, value);
        let end = self.emitter().label();
        let mut after = None;
        for case in cases {
            let next = self.emitter().label();
            let before = self.frame.emitter.flow.clone();
            let n_parts = self.case(case, value, next);
            if !self.frame.emitter.flow.is_dead {
                self.emitter().jump(end);
            }
            let flow = std::mem::replace(&mut self.frame.emitter.flow, before);
            join(&mut after, flow);
            self.emitter().place(next);
            self.clear_parts(n_parts);
        }
        if cases.last().is_some_and(takes_everything) {
            self.frame.emitter.flow.is_dead = true;
        }
        if let Some(after) = after {
            self.frame.emitter.flow.join(&after);
        }
        self.emitter().place(end);
        self.emitter().abc(Op::Clear, value, 1, 0);
    }

    /// One case; returns the number of registers above the subject that contain parts of it after a failed
    /// match.
    fn case(&mut self, case: &'a MatchCase, value: Register, next: Label) -> usize {
        let mark = self.frame.emitter.mark();
        let mut bound = Bound::new();
        self.pattern(&case.pattern, value, next, &mut bound);
        for (name, register) in bound {
            self.emitter().span = name.span;
            self.store_name(&name.name, Operand::variable(register));
        }
        let n_parts = self.frame.emitter.mark() - mark;
        self.frame.emitter.release(mark);
        self.clear_parts(n_parts);
        if let Some(guard) = &case.guard {
            self.branch(guard, next, false);
        }
        self.block(&case.body);
        n_parts
    }

    /// Empties the registers above the subject, so that no part of it lives longer than it is looked at.
    fn clear_parts(&mut self, n_parts: usize) {
        if n_parts > 0 {
            let first = self.frame.emitter.mark() as Register;
            self.emitter().abc(Op::Clear, first, n_parts as u16, 0);
        }
    }

    /// Continues if `value` matches, and jumps to `next` otherwise.
    fn pattern(&mut self, pattern: &'a Pattern, value: Register, next: Label, bound: &mut Bound<'a>) {
        self.emitter().span = pattern.span;
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Error => {}
            PatternKind::Capture(name) => bound.push((name, value)),
            PatternKind::As { pattern, name } => {
                self.pattern(pattern, value, next, bound);
                bound.push((name, value));
            }
            PatternKind::Or(patterns) => self.alternatives(patterns, value, next, bound),
            PatternKind::Value(expected) => {
                let mark = self.frame.emitter.mark();
                let expected = self.expr(expected);
                self.emitter().span = pattern.span;
                self.emitter().abcx(Op::TestEq, value, expected.register, 0, expected.second());
                self.emitter().jump(next);
                self.frame.emitter.release(mark);
            }
            PatternKind::Singleton(expected) => {
                let mark = self.frame.emitter.mark();
                let is_it = self.emitter().alloc();
                let expected = self.expr(expected);
                self.emitter().span = pattern.span;
                self.emitter().abcx(Op::Is, is_it, value, expected.register, expected.second());
                self.emitter().jump_with(Op::JumpIfFalse, is_it, ENDS_B, next);
                self.frame.emitter.release(mark);
            }
            PatternKind::Sequence(items) => self.sequence(items, pattern.span, value, next, bound),
            PatternKind::Star(_) => self.report(errors::lone_star(self.location(pattern.span))),
            PatternKind::Mapping { items, rest } => self.mapping(items, rest.as_ref(), value, next, bound),
            PatternKind::Class { class, positional, keywords } => {
                let attributes = (positional.as_slice(), keywords.as_slice());
                self.class(class, attributes, pattern.span, value, next, bound);
            }
        }
    }

    fn sequence(
        &mut self,
        items: &'a [Pattern],
        span: Span,
        value: Register,
        next: Label,
        bound: &mut Bound<'a>,
    ) {
        let is_star = |pattern: &Pattern| matches!(pattern.kind, PatternKind::Star(_));
        let star = items.iter().position(is_star);
        let (counts, has_star) = match star {
            None => (items.len() as u16, 0),
            Some(before) => {
                let after = items.len() - before - 1;
                if before.max(after) > MAX_IN_A_BYTE {
                    return self.report(errors::too_large("patterns beside a star", self.location(span)));
                }
                // `*_` binds nothing, so no list is built for it.
                let is_unnamed = matches!(items[before].kind, PatternKind::Star(None));
                (before as u16 | (after as u16) << 8, if is_unnamed { 2 } else { 1 })
            }
        };
        let first = self.emitter().alloc_row(items.len());
        self.emitter().abcx(Op::MatchSequence, first, value, counts, has_star);
        self.emitter().jump(next);
        for (item, register) in items.iter().zip(row(first, items.len())) {
            match &item.kind {
                PatternKind::Star(name) => bound.extend(name.iter().map(|name| (name, register))),
                _ => self.pattern(item, register, next, bound),
            }
        }
    }

    fn mapping(
        &mut self,
        items: &'a [(Expr, Pattern)],
        rest: Option<&'a Ident>,
        value: Register,
        next: Label,
        bound: &mut Bound<'a>,
    ) {
        let span = self.emitter().span;
        for (at, (key, _)) in items.iter().enumerate() {
            if items[..at].iter().any(|(earlier, _)| is_same_literal(earlier, key)) {
                self.report(errors::duplicate_key(self.location(key.span)));
            }
        }
        let first = self.emitter().alloc_row(items.len() + 1);
        for ((key, _), register) in items.iter().zip(row(first, items.len())) {
            self.expr_to(key, register);
        }
        self.emitter().span = span;
        let n_items = items.len() as u16;
        self.emitter().abcx(Op::MatchMapping, first, value, n_items, rest.is_some() as u8);
        self.emitter().jump(next);
        for ((_, pattern), register) in items.iter().zip(row(first, items.len())) {
            self.pattern(pattern, register, next, bound);
        }
        bound.extend(rest.map(|name| (name, first.wrapping_add(n_items))));
    }

    fn class(
        &mut self,
        class: &'a Expr,
        (positional, keywords): (&'a [Pattern], &'a [(Ident, Pattern)]),
        span: Span,
        value: Register,
        next: Label,
        bound: &mut Bound<'a>,
    ) {
        if positional.len() > MAX_IN_A_BYTE {
            return self.report(errors::too_large("patterns of a class", self.location(span)));
        }
        let n_parts = positional.len() + keywords.len();
        let first = self.emitter().alloc_row(n_parts.max(1));
        self.expr_to(class, first);
        let names = keywords.iter().map(|(name, _)| Constant::Str(name.name.clone())).collect();
        let names = self.emitter().constant(Constant::Tuple(names));
        let names = self.narrow(names as usize, "patterns of classes");
        self.emitter().span = span;
        self.emitter().abcx(Op::MatchClass, first, value, names, positional.len() as u8);
        self.emitter().jump(next);
        let patterns = positional.iter().chain(keywords.iter().map(|(_, pattern)| pattern));
        for (pattern, register) in patterns.zip(row(first, n_parts)) {
            self.pattern(pattern, register, next, bound);
        }
    }

    /// The first alternative that matches; all of them store their bindings in the same registers.
    fn alternatives(&mut self, patterns: &'a [Pattern], value: Register, next: Label, bound: &mut Bound<'a>) {
        let Some((last, others)) = patterns.split_last() else { return };
        let mut names = Vec::new();
        names_of(last, &mut names);
        let first = self.emitter().alloc_row(names.len());
        let matched = self.emitter().label();
        for pattern in others {
            let other = self.emitter().label();
            self.alternative(pattern, value, other, (&names, first));
            self.emitter().jump(matched);
            self.emitter().place(other);
        }
        self.alternative(last, value, next, (&names, first));
        self.emitter().place(matched);
        let registers = row(first, names.len());
        bound.extend(names.into_iter().zip(registers));
    }

    /// One alternative, whose bindings are stored in consecutive registers.
    fn alternative(
        &mut self,
        pattern: &'a Pattern,
        value: Register,
        next: Label,
        (names, first): (&[&'a Ident], Register),
    ) {
        let mut bound = Bound::new();
        self.pattern(pattern, value, next, &mut bound);
        for (name, to) in names.iter().zip(row(first, names.len())) {
            for (_, from) in bound.iter().filter(|(known, _)| known.name == name.name) {
                self.emitter().abc(Op::Move, to, *from, 0);
            }
        }
    }
}

/// The names that a pattern binds.
fn names_of<'a>(pattern: &'a Pattern, names: &mut Vec<&'a Ident>) {
    match &pattern.kind {
        PatternKind::Wildcard | PatternKind::Error | PatternKind::Value(_) | PatternKind::Singleton(_) => {}
        PatternKind::Capture(name) => names.push(name),
        PatternKind::Star(name) => names.extend(name),
        PatternKind::Sequence(patterns) => patterns.iter().for_each(|pattern| names_of(pattern, names)),
        PatternKind::Mapping { items, rest } => {
            items.iter().for_each(|(_, pattern)| names_of(pattern, names));
            names.extend(rest);
        }
        PatternKind::Class { positional, keywords, .. } => {
            positional.iter().for_each(|pattern| names_of(pattern, names));
            keywords.iter().for_each(|(_, pattern)| names_of(pattern, names));
        }
        PatternKind::As { pattern, name } => {
            names_of(pattern, names);
            names.push(name);
        }
        // They bind the same ones.
        PatternKind::Or(patterns) => patterns.iter().take(1).for_each(|pattern| names_of(pattern, names)),
    }
}

/// Whether two keys are certainly equal.
fn is_same_literal(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Int(a), ExprKind::Int(b)) => a == b,
        (ExprKind::Float(a), ExprKind::Float(b)) => a == b,
        (ExprKind::Str(a), ExprKind::Str(b)) => a == b,
        (ExprKind::Bytes(a), ExprKind::Bytes(b)) => a == b,
        (ExprKind::None, ExprKind::None)
        | (ExprKind::True, ExprKind::True)
        | (ExprKind::False, ExprKind::False) => true,
        _ => false,
    }
}

/// Whether nothing gets past a case.
fn takes_everything(case: &MatchCase) -> bool {
    case.guard.is_none() && matches!(case.pattern.kind, PatternKind::Wildcard | PatternKind::Capture(_))
}
