//! Comprehensions: loops in the enclosing frame, with separate variables.

use kps_syntax::ast::*;

use super::Compiler;
use crate::emit::{Operand, Register};
use crate::errors;
use crate::op::Op;
use crate::scope::node;

impl<'a> Compiler<'a> {
    /// A list, set or dict comprehension.
    pub(super) fn comprehension(&mut self, expr: &'a Expr, dest: Register) {
        let (build, clauses) = match &expr.kind {
            ExprKind::ListComp { clauses, .. } => (Op::BuildList, clauses),
            ExprKind::SetComp { clauses, .. } => (Op::BuildSet, clauses),
            ExprKind::DictComp { clauses, .. } => (Op::BuildDict, clauses),
            _ => unreachable!("only comprehensions come here"),
        };
        let Some(first) = clauses.first() else { return };
        let iterable = self.emitter().alloc();
        self.expr_to(&first.iter, iterable);
        self.emitter().abc(build, dest, dest, 0);

        let outer = self.scope;
        let flow = self.frame.emitter.flow.clone();
        let scope = self.scopes.at(node(&**clauses));
        let names = self.scopes[scope].locals.clone();
        let variables = self.emitter().alloc_row(names.len());
        for (at, name) in names.iter().enumerate() {
            let register = variables + at as u16;
            self.emitter().set_unassigned(register);
            self.emitter().add_variable(scope, name, register);
            if self.scopes[scope].captured.contains(name) {
                self.emitter().abc(Op::MakeCell, register, 0, 0);
            }
        }
        self.scope = scope;
        self.clauses(clauses, Some(iterable), &mut |this: &mut Self| this.add_element(expr, dest));
        self.scope = outer;
        self.frame.emitter.flow = flow;
        for name in &names {
            self.emitter().remove_variable(scope, name);
        }
        if !names.is_empty() {
            self.emitter().abc(Op::Clear, variables, names.len() as u16, 0);
        }
    }

    fn add_element(&mut self, expr: &'a Expr, dest: Register) {
        match &expr.kind {
            ExprKind::ListComp { element, .. } => {
                let value = self.expr(element);
                self.emitter().abcx(Op::ListAppend, dest, value.register, 0, value.first());
            }
            ExprKind::SetComp { element, .. } => {
                let value = self.expr(element);
                self.emitter().span = element.span;
                self.emitter().abcx(Op::SetAdd, dest, value.register, 0, value.first());
            }
            ExprKind::DictComp { key, value, .. } => {
                let (key_value, value) = (self.stable(key), self.expr(value));
                let flags = key_value.first() | value.second();
                self.emitter().span = key.span;
                self.emitter().abcx(Op::DictInsert, dest, key_value.register, value.register, flags);
            }
            _ => unreachable!("only comprehensions come here"),
        }
    }

    /// Nested loops, with `body` in the innermost. The first iterable may be in a register already.
    pub(super) fn clauses(
        &mut self,
        clauses: &'a [Comprehension],
        iterable: Option<Register>,
        body: &mut dyn FnMut(&mut Self),
    ) {
        let Some((clause, others)) = clauses.split_first() else {
            let mark = self.frame.emitter.mark();
            body(self);
            self.frame.emitter.release(mark);
            return;
        };
        if clause.is_async {
            return self.report(errors::async_code(self.location(clause.span)));
        }
        let mark = self.frame.emitter.mark();
        let iteration = self.emitter().alloc_row(3);
        let value = match iterable {
            Some(register) => Operand::temporary(register),
            None => self.expr(&clause.iter),
        };
        self.emitter().span = clause.iter.span;
        self.emitter().abcx(Op::GetIter, iteration, value.register, 0, value.first());
        let next = self.emitter().label();
        self.emitter().jump(next);
        let start = self.emitter().here();
        let item = self.loop_target(&clause.target);
        for condition in &clause.conditions {
            self.branch(condition, next, false);
        }
        self.clauses(others, None, body);
        self.emitter().place(next);
        self.emitter().span = clause.iter.span;
        self.emitter().abc(Op::ForIter, iteration, item, 0);
        self.emitter().jump(start);
        self.frame.emitter.release(mark);
    }
}
