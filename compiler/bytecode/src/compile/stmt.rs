//! Statements.

use kps_syntax::ast::*;

use super::Compiler;
use crate::emit::{MAX_INSTRUCTIONS, Operand};
use crate::errors;
use crate::op::{ENDS_B, Op};
use crate::program::Constant;
use crate::scope::Meaning;

impl<'a> Compiler<'a> {
    pub(super) fn block(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            // The bodies of nested `finally` blocks double with every level.
            if self.frame.emitter.pc() as usize > MAX_INSTRUCTIONS {
                return;
            }
            let mark = self.frame.emitter.mark();
            self.emitter().span = stmt.span;
            self.stmt(stmt);
            self.frame.emitter.release(mark);
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) => self.expr_stmt(expr),
            StmtKind::Assign { targets, value } => self.assign(targets, value),
            StmtKind::AugAssign { target, op, value, .. } => self.aug_assign(target, *op, value, stmt.span),
            StmtKind::AnnAssign { target, annotation, value } => {
                if let Some(value) = value {
                    self.assign(std::slice::from_ref(target), value);
                }
                if let (true, ExprKind::Name(name)) = (self.keeps_annotations(), &target.kind) {
                    self.annotate(name, annotation);
                }
            }
            StmtKind::TypeAlias { name, type_params, value } if !type_params.is_empty() => {
                let register = self.emitter().alloc();
                self.with_type_params(type_params, stmt.span, register, None, |this, made| {
                    this.expr_to(value, made);
                });
                self.store_name(&name.name, Operand::temporary(register));
            }
            StmtKind::TypeAlias { name, value, .. } => {
                let value = self.expr(value);
                self.store_name(&name.name, value);
            }
            StmtKind::Delete(targets) => targets.iter().for_each(|target| self.delete(target)),
            StmtKind::Return(value) => self.return_stmt(value.as_ref(), stmt.span),
            StmtKind::Raise { exception, cause } => self.raise(exception.as_ref(), cause.as_ref()),
            // Both did their work when the names were resolved.
            StmtKind::Global(_) | StmtKind::Nonlocal(_) => {}
            StmtKind::Pass | StmtKind::Error => {}
            StmtKind::Break => self.break_stmt(stmt.span),
            StmtKind::Continue => self.continue_stmt(stmt.span),
            StmtKind::Assert { test, message } => self.assert(test, message.as_ref()),
            StmtKind::Import(names) => names.iter().for_each(|name| self.import(name)),
            StmtKind::ImportFrom(import) => self.import_from(import),
            StmtKind::If { branches, orelse } => self.if_stmt(branches, orelse),
            StmtKind::While { test, body, orelse } => self.while_stmt(test, body, orelse),
            StmtKind::For { is_async: true, .. } | StmtKind::With { is_async: true, .. } => {
                self.report(errors::async_code(self.location(stmt.span)));
            }
            StmtKind::For { target, iter, body, orelse, .. } => self.for_stmt(target, iter, body, orelse),
            StmtKind::With { items, body, .. } => self.with_stmt(items, body, stmt.span),
            StmtKind::Try(stmt_try) => self.try_stmt(stmt_try, stmt.span),
            StmtKind::Match { subject, cases } => self.match_stmt(subject, cases),
            StmtKind::Function(def) => self.function_stmt(def),
            StmtKind::Class(def) => self.class_stmt(def),
        }
    }

    /// An unused value is dropped at once.
    fn expr_stmt(&mut self, expr: &'a Expr) {
        if super::expr::constant(expr).is_some() {
            return;
        }
        let value = self.expr(expr);
        if value.ends {
            self.emitter().abc(Op::Clear, value.register, 1, 0);
        }
    }

    /// In the body of a class, unless that declares `__annotations__` to be another one's.
    fn keeps_annotations(&self) -> bool {
        let meaning = self.scopes.meaning(self.frame.scope, "__annotations__");
        self.is_in_class_body() && matches!(meaning, Meaning::Local(_))
    }

    /// `name: annotation` in a class body is remembered in `__annotations__`.
    fn annotate(&mut self, name: &Name, annotation: &'a Expr) {
        let key = self.emitter().alloc();
        let name = self.mangled(name);
        self.emitter().load_constant(key, Constant::Str(name));
        let value = if self.annotations_are_text {
            let register = self.emitter().alloc();
            let text = self.annotation_text(annotation);
            self.emitter().load_constant(register, text);
            Operand::temporary(register)
        } else {
            self.expr(annotation)
        };
        let register = self.variable(self.frame.scope, "__annotations__");
        self.emitter().span = annotation.span;
        let flags = Operand::temporary(key).first() | value.second();
        self.emitter().abcx(Op::DictInsert, register, key, value.register, flags);
    }

    fn raise(&mut self, exception: Option<&'a Expr>, cause: Option<&'a Expr>) {
        let span = self.frame.emitter.span;
        match (exception, cause) {
            (None, _) => {
                self.emitter().abc(Op::RaiseBare, 0, 0, 0);
            }
            (Some(exception), None) => {
                let value = self.expr(exception);
                self.emitter().span = span;
                self.emitter().abcx(Op::Raise, value.register, 0, 0, value.first());
            }
            (Some(exception), Some(cause)) => {
                let row = self.emitter().alloc_row(2);
                self.expr_to(exception, row);
                self.expr_to(cause, row + 1);
                self.emitter().span = span;
                self.emitter().abc(Op::RaiseFrom, row, row + 1, 0);
            }
        }
        self.frame.emitter.flow.is_dead = true;
    }

    fn assert(&mut self, test: &'a Expr, message: Option<&'a Expr>) {
        let span = self.frame.emitter.span;
        let holds = self.emitter().label();
        self.branch(test, holds, true);
        let flow = self.frame.emitter.flow.clone();
        match message {
            Some(message) => {
                let register = self.emitter().alloc();
                self.expr_to(message, register);
                self.emitter().span = span;
                self.emitter().abcx(Op::AssertFail, register, 0, 0, ENDS_B);
            }
            None => {
                self.emitter().span = span;
                self.emitter().abc(Op::AssertFail, 0, 0, 0);
            }
        }
        self.frame.emitter.flow = flow;
        self.emitter().place(holds);
    }

    fn import(&mut self, import: &'a ImportName) {
        let name = self.mangled(&dotted(&import.path).into());
        let name = self.name_constant(&name);
        let register = self.emitter().alloc();
        self.emitter().span = import.span;
        let wants_last = import.alias.is_some() as u8;
        self.emitter().abcx(Op::Import, register, name, 0, wants_last);
        self.store_name(&import.bound().name, Operand::temporary(register));
    }

    fn import_from(&mut self, import: &'a ImportFrom) {
        let span = self.frame.emitter.span;
        let path = dotted(&import.path);
        if path == "__future__" {
            return;
        }
        let name = self.name_constant(&path);
        let module = self.emitter().alloc();
        self.emitter().abcx(Op::Import, module, name, import.level as u16, 1);
        match &import.names {
            ImportedNames::Star(_) => {
                self.emitter().abc(Op::ImportStar, module, 0, 0);
            }
            ImportedNames::Names(names) => {
                for import in names {
                    let name = self.mangled(&import.path[0].name);
                    let name = self.name_constant(&name);
                    let value = self.emitter().alloc();
                    self.emitter().span = import.span;
                    self.emitter().abc(Op::ImportFrom, value, module, name);
                    self.store_name(&import.bound().name, Operand::temporary(value));
                }
                self.emitter().span = span;
                self.emitter().abc(Op::Clear, module, 1, 0);
            }
        }
    }
}
