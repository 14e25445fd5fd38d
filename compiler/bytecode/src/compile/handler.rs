//! `try` and `with`: protected regions of code, and the handling of exceptions in them.
//!
//! Entering a region costs nothing: a table lists the protected instructions. The body of a `finally` is
//! compiled once for every exit.

use kps_syntax::Span;
use kps_syntax::ast::*;

use super::control::join;
use super::{Block, Compiler};
use crate::emit::{Operand, Register};
use crate::errors;
use crate::op::{ENDS_B, Op};
use crate::program::HandlerKind;

impl<'a> Compiler<'a> {
    pub(super) fn try_stmt(&mut self, stmt: &'a Try, span: Span) {
        if stmt.is_star {
            return self.report(errors::except_star(self.location(span)));
        }
        if stmt.finally.is_empty() {
            return self.try_except(stmt, span);
        }
        let exception = self.emitter().alloc();
        let (handler, end) = (self.emitter().label(), self.emitter().label());
        let before = self.frame.emitter.flow.clone();
        let region = self.emitter().open_region(handler, exception, HandlerKind::Cleanup);
        self.push_block(Block::Finally { region, body: &stmt.finally }, span);
        if stmt.handlers.is_empty() {
            self.block(&stmt.body);
            self.block(&stmt.orelse);
        } else {
            self.try_except(stmt, span);
        }
        self.frame.blocks.pop();
        self.emitter().close_region(region);
        self.block(&stmt.finally);
        self.emitter().jump(end);
        let after = self.frame.emitter.flow.clone();

        self.start_at(handler, before);
        let start = self.frame.emitter.pc();
        self.push_block(Block::Handler { exception, name: None }, span);
        self.block(&stmt.finally);
        self.frame.blocks.pop();
        self.emitter().abc(Op::Reraise, exception, 0, 0);
        self.emitter().handled_since(start, exception);
        self.emitter().place(end);
        self.frame.emitter.flow = after;
    }

    fn try_except(&mut self, stmt: &'a Try, span: Span) {
        let exception = self.emitter().alloc();
        let (handler, end) = (self.emitter().label(), self.emitter().label());
        let before = self.frame.emitter.flow.clone();
        let region = self.emitter().open_region(handler, exception, HandlerKind::Except);
        self.push_block(Block::Try { region }, span);
        self.block(&stmt.body);
        self.frame.blocks.pop();
        self.emitter().close_region(region);
        self.block(&stmt.orelse);
        self.emitter().jump(end);
        let mut after = Some(self.frame.emitter.flow.clone());

        self.start_at(handler, before.clone());
        let start = self.frame.emitter.pc();
        for (at, except) in stmt.handlers.iter().enumerate() {
            let next = self.emitter().label();
            self.emitter().span = except.span;
            match &except.exception {
                Some(pattern) => self.match_exception(exception, pattern, next),
                None if at + 1 < stmt.handlers.len() => {
                    self.report(errors::default_except_last(self.location(except.span)));
                }
                None => {}
            }
            self.handler_body(exception, except);
            self.emitter().jump(end);
            let flow = std::mem::replace(&mut self.frame.emitter.flow, before.clone());
            join(&mut after, flow);
            self.emitter().place(next);
        }
        if stmt.handlers.last().is_none_or(|last| last.exception.is_some()) {
            self.emitter().abc(Op::Reraise, exception, 0, 0);
        }
        self.emitter().handled_since(start, exception);
        self.emitter().place(end);
        self.frame.emitter.flow = after.expect("the body's own way was noted");
    }

    fn match_exception(&mut self, exception: Register, pattern: &'a Expr, next: crate::emit::Label) {
        let mark = self.frame.emitter.mark();
        let matches = self.emitter().alloc();
        let pattern_value = self.expr(pattern);
        self.emitter().span = pattern.span;
        let flags = pattern_value.second();
        self.emitter().abcx(Op::MatchException, matches, exception, pattern_value.register, flags);
        self.emitter().jump_with(Op::JumpIfFalse, matches, ENDS_B, next);
        self.frame.emitter.release(mark);
    }

    fn handler_body(&mut self, exception: Register, except: &'a Handler) {
        if let Some(name) = &except.name {
            self.emitter().span = name.span;
            self.store_name(&name.name, Operand::variable(exception));
        }
        self.push_block(Block::Handler { exception, name: except.name.as_ref() }, except.span);
        self.block(&except.body);
        self.frame.blocks.pop();
        if !self.frame.emitter.flow.is_dead {
            self.end_handler(exception, except.name.as_ref());
        }
    }

    /// The exception is dropped, and so is its name, whether the body deleted it or not.
    pub(super) fn end_handler(&mut self, exception: Register, name: Option<&'a Ident>) {
        if let Some(name) = name {
            let none = self.load_none();
            self.store_name(&name.name, none);
            self.delete_name(&name.name);
        }
        self.emitter().abc(Op::Clear, exception, 1, 0);
    }

    pub(super) fn with_stmt(&mut self, items: &'a [WithItem], body: &'a [Stmt], span: Span) {
        let Some((item, others)) = items.split_first() else { return self.block(body) };
        // Manager, exit, value or exception, and whether the exception is handled.
        let manager = self.emitter().alloc_row(4);
        self.expr_to(&item.context, manager);
        self.emitter().span = item.context.span;
        self.emitter().abc(Op::WithEnter, manager, 0, 0);
        let (handler, handled, end) =
            (self.emitter().label(), self.emitter().label(), self.emitter().label());
        let before = self.frame.emitter.flow.clone();
        let region = self.emitter().open_region(handler, manager + 2, HandlerKind::Cleanup);
        self.push_block(Block::With { region, manager }, span);
        match &item.target {
            Some(target) => self.store(target, Operand::temporary(manager + 2)),
            None => {
                self.emitter().abc(Op::Clear, manager + 2, 1, 0);
            }
        }
        self.with_stmt(others, body, span);
        self.frame.blocks.pop();
        self.emitter().close_region(region);
        self.emitter().span = item.context.span;
        self.emitter().abc(Op::WithExit, manager, 0, 0);
        self.emitter().jump(end);

        self.start_at(handler, before.clone());
        let start = self.frame.emitter.pc();
        self.emitter().abc(Op::WithExcept, manager, 0, 0);
        self.emitter().jump_with(Op::JumpIfTrue, manager + 3, 0, handled);
        self.emitter().abc(Op::Reraise, manager + 2, 0, 0);
        self.emitter().handled_since(start, manager + 2);
        self.emitter().place(handled);
        self.emitter().abc(Op::Clear, manager, 4, 0);
        self.emitter().place(end);
        self.frame.emitter.flow = before;
    }
}
