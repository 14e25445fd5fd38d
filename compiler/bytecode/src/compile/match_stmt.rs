//! `match`: the patterns in their order, each a row of tests that jump past its block where one fails.

use kps_syntax::ast::*;

use super::Compiler;
use super::control::meet;
use crate::emit::{Label, Operand, Register};
use crate::errors;
use crate::op::{ENDS_B, Op};

impl<'a> Compiler<'a> {
    pub(super) fn match_stmt(&mut self, subject: &'a Expr, cases: &'a [MatchCase]) {
        let value = self.emitter().alloc();
        self.expr_to(subject, value);
        let end = self.emitter().label();
        let mut after = None;
        for case in cases {
            let next = self.emitter().label();
            let before = self.frame.emitter.flow.clone();
            self.case(case, value, next);
            if !self.frame.emitter.flow.is_dead {
                self.emitter().jump(end);
            }
            let flow = std::mem::replace(&mut self.frame.emitter.flow, before);
            meet(&mut after, flow);
            self.emitter().place(next);
        }
        if cases.last().is_some_and(takes_everything) {
            self.frame.emitter.flow.is_dead = true;
        }
        if let Some(after) = after {
            self.frame.emitter.flow.meet(&after);
        }
        self.emitter().place(end);
        self.emitter().abc(Op::Clear, value, 1, 0);
    }

    fn case(&mut self, case: &'a MatchCase, value: Register, next: Label) {
        self.pattern(&case.pattern, value, next);
        if let Some(guard) = &case.guard {
            self.branch(guard, next, false);
        }
        self.block(&case.body);
    }

    /// Goes on where `value` matches, with the pattern's names bound, and to `next` where it does not.
    fn pattern(&mut self, pattern: &'a Pattern, value: Register, next: Label) {
        self.emitter().span = pattern.span;
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Error => {}
            PatternKind::Capture(name) => self.store_name(&name.name, Operand::variable(value)),
            PatternKind::As { pattern, name } => {
                self.pattern(pattern, value, next);
                self.store_name(&name.name, Operand::variable(value));
            }
            PatternKind::Or(patterns) => self.alternatives(patterns, value, next),
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
            PatternKind::Sequence(_)
            | PatternKind::Star(_)
            | PatternKind::Mapping { .. }
            | PatternKind::Class { .. } => {
                let help = "take values and names in patterns, and look into the object in the block";
                self.report(errors::not_yet("a pattern with parts", help, self.location(pattern.span)));
            }
        }
    }

    fn alternatives(&mut self, patterns: &'a [Pattern], value: Register, next: Label) {
        let Some((last, others)) = patterns.split_last() else { return };
        let matched = self.emitter().label();
        for pattern in others {
            let other = self.emitter().label();
            self.pattern(pattern, value, other);
            self.emitter().jump(matched);
            self.emitter().place(other);
        }
        self.pattern(last, value, next);
        self.emitter().place(matched);
    }
}

/// Whether nothing gets past a case.
fn takes_everything(case: &MatchCase) -> bool {
    case.guard.is_none() && matches!(case.pattern.kind, PatternKind::Wildcard | PatternKind::Capture(_))
}
