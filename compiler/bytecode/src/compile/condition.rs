//! Conditions: expressions of which only the truth matters, and their branches.

use kps_syntax::ast::*;

use super::Compiler;
use super::expr::small_int;
use crate::emit::Label;
use crate::op::{Op, WHEN_TRUE};

fn test_opcode(op: CompareOp) -> Option<(Op, Op)> {
    Some(match op {
        CompareOp::Eq => (Op::TestEq, Op::TestEqInt),
        CompareOp::NotEq => (Op::TestNotEq, Op::TestNotEqInt),
        CompareOp::Less => (Op::TestLess, Op::TestLessInt),
        CompareOp::LessEq => (Op::TestLessEq, Op::TestLessEqInt),
        CompareOp::Greater => (Op::TestGreater, Op::TestGreaterInt),
        CompareOp::GreaterEq => (Op::TestGreaterEq, Op::TestGreaterEqInt),
        CompareOp::Is | CompareOp::IsNot | CompareOp::In | CompareOp::NotIn => return None,
    })
}

impl<'a> Compiler<'a> {
    /// Jumps to `label` if the truth of `test` is `when`; continues otherwise. What is definitely assigned
    /// afterwards holds on both paths.
    pub(super) fn branch(&mut self, test: &'a Expr, label: Label, when: bool) {
        match &test.kind {
            ExprKind::True | ExprKind::False => {
                if matches!(test.kind, ExprKind::True) == when {
                    self.emitter().span = test.span;
                    self.emitter().jump(label);
                }
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.branch(operand, label, !when),
            ExprKind::Bool { op, values } => self.branch_bool(*op, values, label, when),
            ExprKind::Compare { left, comparisons } if comparisons.len() == 1 => {
                self.branch_compare(test, left, &comparisons[0], label, when);
            }
            _ => self.branch_value(test, label, when),
        }
    }

    fn branch_value(&mut self, test: &'a Expr, label: Label, when: bool) {
        let mark = self.frame.emitter.mark();
        let value = self.expr(test);
        self.emitter().span = test.span;
        let op = if when { Op::JumpIfTrue } else { Op::JumpIfFalse };
        self.emitter().jump_with(op, value.register, value.first(), label);
        self.frame.emitter.release(mark);
    }

    fn branch_bool(&mut self, op: BoolOp, values: &'a [Expr], label: Label, when: bool) {
        // The truth of a value that decides the whole at once.
        let deciding = op == BoolOp::Or;
        let end = self.emitter().label();
        let mut after_first = None;
        for (at, value) in values.iter().enumerate() {
            let is_last = at + 1 == values.len();
            if is_last || deciding == when {
                self.branch(value, label, when);
            } else {
                self.branch(value, end, deciding);
            }
            if at == 0 {
                after_first = Some(self.frame.emitter.flow.clone());
            }
        }
        self.emitter().place(end);
        self.frame.emitter.flow = after_first.expect("there are two values at least");
    }

    fn branch_compare(
        &mut self,
        test: &'a Expr,
        left: &'a Expr,
        comparison: &'a Comparison,
        label: Label,
        when: bool,
    ) {
        let Some((op, short)) = test_opcode(comparison.op) else {
            return self.branch_value(test, label, when);
        };
        let mark = self.frame.emitter.mark();
        let when = if when { WHEN_TRUE } else { 0 };
        let left = self.stable(left);
        if let Some(int) = small_int(&comparison.right) {
            self.emitter().span = test.span;
            self.emitter().abcx(short, left.register, 0, int as u16, left.first() | when);
        } else {
            let right = self.expr(&comparison.right);
            self.emitter().span = test.span;
            let flags = left.first() | right.second() | when;
            self.emitter().abcx(op, left.register, right.register, 0, flags);
        }
        self.emitter().jump(label);
        self.frame.emitter.release(mark);
    }
}
