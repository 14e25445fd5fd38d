//! `if`, loops, and the exits from them.

use kps_syntax::Span;
use kps_syntax::ast::*;

use super::{Block, Compiler};
use crate::emit::{Label, Operand, RegionId};
use crate::errors;
use crate::op::Op;

impl<'a> Compiler<'a> {
    pub(super) fn if_stmt(&mut self, branches: &'a [Branch], orelse: &'a [Stmt]) {
        let end = self.emitter().label();
        let mut after = None;
        for (at, branch) in branches.iter().enumerate() {
            let next = self.emitter().label();
            self.branch(&branch.test, next, false);
            let before = self.frame.emitter.flow.clone();
            self.block(&branch.body);
            let is_last = at + 1 == branches.len() && orelse.is_empty();
            if !is_last && !self.frame.emitter.flow.is_dead {
                self.emitter().jump(end);
            }
            let flow = std::mem::replace(&mut self.frame.emitter.flow, before);
            join(&mut after, flow);
            self.emitter().place(next);
        }
        self.block(orelse);
        if let Some(after) = after {
            self.frame.emitter.flow.join(&after);
        }
        self.emitter().place(end);
    }

    pub(super) fn while_stmt(&mut self, test: &'a Expr, body: &'a [Stmt], orelse: &'a [Stmt]) {
        let span = self.frame.emitter.span;
        let (condition, end) = (self.emitter().label(), self.emitter().label());
        let is_endless = matches!(test.kind, ExprKind::True)
            || matches!(&test.kind, ExprKind::Int(int) if int != &num_bigint::BigInt::ZERO);
        if !is_endless {
            self.emitter().jump(condition);
        }
        let before = self.frame.emitter.flow.clone();
        let start = self.emitter().here();
        if is_endless {
            self.emitter().place(condition);
        }
        self.push_block(Block::Loop { start: condition, end, iteration: None }, span);
        self.block(body);
        self.frame.blocks.pop();
        self.frame.emitter.flow = before;
        if is_endless {
            self.emitter().jump(start);
        } else {
            self.emitter().place(condition);
            self.branch(test, start, true);
        }
        self.block(orelse);
        self.emitter().place(end);
    }

    pub(super) fn for_stmt(
        &mut self,
        target: &'a Expr,
        iter: &'a Expr,
        body: &'a [Stmt],
        orelse: &'a [Stmt],
    ) {
        let span = self.frame.emitter.span;
        let iteration = self.emitter().alloc_row(3);
        let value = self.expr(iter);
        self.emitter().span = iter.span;
        self.emitter().abcx(Op::GetIter, iteration, value.register, 0, value.first());
        let (next, end) = (self.emitter().label(), self.emitter().label());
        self.emitter().jump(next);
        let before = self.frame.emitter.flow.clone();
        let start = self.emitter().here();
        let item = self.loop_target(target);
        self.push_block(Block::Loop { start: next, end, iteration: Some(iteration) }, span);
        self.block(body);
        self.frame.blocks.pop();
        self.frame.emitter.flow = before.clone();
        self.emitter().place(next);
        self.emitter().span = iter.span;
        self.emitter().abc(Op::ForIter, iteration, item, 0);
        self.emitter().jump(start);
        self.block(orelse);
        self.frame.emitter.flow = before;
        self.emitter().place(end);
    }

    /// The register for each item: the variable itself, or a temporary that is stored first.
    pub(super) fn loop_target(&mut self, target: &'a Expr) -> u16 {
        if let ExprKind::Name(name) = &target.kind
            && let Some(register) = self.local_register(name)
        {
            self.emitter().set_assigned(register);
            return register;
        }
        let item = self.emitter().alloc();
        self.store(target, Operand::temporary(item));
        item
    }

    pub(super) fn break_stmt(&mut self, span: Span) {
        match self.innermost_loop() {
            None => self.report(errors::break_outside_loop("break", self.location(span))),
            Some(at) => {
                let Block::Loop { end, iteration, .. } = self.frame.blocks[at] else {
                    unreachable!("the block is a loop")
                };
                self.leave(at + 1, |this| {
                    if let Some(iteration) = iteration {
                        this.emitter().abc(Op::Clear, iteration, 3, 0);
                    }
                    this.emitter().jump(end);
                });
            }
        }
    }

    pub(super) fn continue_stmt(&mut self, span: Span) {
        match self.innermost_loop() {
            None => self.report(errors::break_outside_loop("continue", self.location(span))),
            Some(at) => {
                let Block::Loop { start, .. } = self.frame.blocks[at] else {
                    unreachable!("the block is a loop")
                };
                self.leave(at + 1, |this| this.emitter().jump(start));
            }
        }
    }

    fn innermost_loop(&self) -> Option<usize> {
        self.frame.blocks.iter().rposition(|block| matches!(block, Block::Loop { .. }))
    }

    pub(super) fn return_stmt(&mut self, value: Option<&'a Expr>, span: Span) {
        if self.scopes[self.frame.scope].kind != crate::scope::ScopeKind::Function {
            return self.report(errors::return_outside_function(self.location(span)));
        }
        let mut value = match value {
            Some(value) => self.expr(value),
            None => self.load_none(),
        };
        let has_cleanup =
            self.frame.blocks.iter().any(|block| !matches!(block, Block::Loop { .. } | Block::Try { .. }));
        if has_cleanup && !value.ends {
            // Cleanup code on the exit path may change the variable.
            let copy = self.emitter().alloc();
            self.emitter().abc(Op::Move, copy, value.register, 0);
            value = Operand::temporary(copy);
        }
        self.leave(0, |this| {
            this.emitter().span = span;
            this.emitter().abcx(Op::Return, value.register, 0, 0, value.first());
        });
    }

    /// Leaves all blocks from `depth` on: their cleanup runs, innermost first, outside of the regions that
    /// are left. Then `exit` emits the jump of the statement.
    fn leave(&mut self, depth: usize, exit: impl FnOnce(&mut Self)) {
        let blocks = self.frame.blocks.clone();
        let flow = self.frame.emitter.flow.clone();
        let mut left: Vec<RegionId> = Vec::new();
        for at in (depth..blocks.len()).rev() {
            self.frame.blocks.truncate(at);
            if let Block::Try { region } | Block::Finally { region, .. } | Block::With { region, .. } =
                blocks[at]
            {
                self.emitter().close_region(region);
                left.push(region);
            }
            self.cleanup(&blocks[at]);
        }
        exit(self);
        for region in left {
            self.emitter().reopen_region(region);
        }
        self.frame.blocks = blocks;
        self.frame.emitter.flow = flow;
        self.frame.emitter.flow.is_dead = true;
    }

    fn cleanup(&mut self, block: &Block<'a>) {
        match block {
            Block::Loop { .. } | Block::Try { .. } => {}
            Block::Finally { body, .. } => self.block(body),
            Block::Handler { exception, name } => self.end_handler(*exception, *name),
            Block::With { manager, .. } => {
                self.emitter().abc(Op::WithExit, *manager, 0, 0);
            }
        }
    }

    /// Starts at a label whose flow is given: handlers start with what was definitely assigned before their
    /// body.
    pub(super) fn start_at(&mut self, label: Label, flow: crate::emit::Flow) {
        self.frame.emitter.flow = flow;
        self.emitter().place(label);
    }
}

/// Joins one path with those that already reach a place.
pub(super) fn join(after: &mut Option<crate::emit::Flow>, flow: crate::emit::Flow) {
    match after {
        Some(after) => after.join(&flow),
        None => *after = Some(flow),
    }
}
