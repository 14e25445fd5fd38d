//! Targets of assignment, unpacking and deletion.

use kps_syntax::Span;
use kps_syntax::ast::*;

use super::Compiler;
use super::expr::Mode;
use crate::emit::{Operand, row};
use crate::errors;
use crate::op::Op;

/// `UnpackStar` counts the targets on either side of the star in a byte.
const MAX_BESIDE_STAR: usize = 255;

impl<'a> Compiler<'a> {
    pub(super) fn assign(&mut self, targets: &'a [Expr], value: &'a Expr) {
        if let ([target], ExprKind::Tuple(values)) = (targets, &value.kind)
            && let ExprKind::Tuple(names) = &target.kind
            && self.assign_pairwise(names, values)
        {
            return;
        }
        if let [target] = targets
            && let ExprKind::Name(name) = &target.kind
            && let Some(register) = self.local_register(name)
        {
            self.expr_to(value, register);
            self.emitter().set_assigned(register);
            return;
        }
        let value = self.expr(value);
        let Some((last, others)) = targets.split_last() else { return };
        for target in others {
            self.store(target, Operand::variable(value.register));
        }
        self.store(last, value);
    }

    /// `a, b = b, a`: no tuple is created. False if there are stars.
    fn assign_pairwise(&mut self, targets: &'a [Expr], values: &'a [Expr]) -> bool {
        let is_starred = |expr: &Expr| matches!(expr.kind, ExprKind::Starred(_));
        if targets.len() != values.len() || targets.iter().chain(values).any(is_starred) {
            return false;
        }
        let first = self.emitter().mark() as u16;
        for value in values {
            self.push(value);
        }
        for (target, register) in targets.iter().zip(row(first, targets.len())) {
            self.store(target, Operand::temporary(register));
        }
        true
    }

    /// Stores a value in a target. A temporary ends with it.
    pub(super) fn store(&mut self, target: &'a Expr, value: Operand) {
        let mark = self.frame.emitter.mark();
        self.emitter().span = target.span;
        match &target.kind {
            ExprKind::Name(name) => self.store_name(name, value),
            ExprKind::Attribute { value: object, attr } => {
                let object = self.expr(object);
                let site = self.site(&attr.name);
                self.emitter().span = target.span;
                let flags = object.first() | value.second();
                self.emitter().abcx(Op::StoreAttr, object.register, value.register, site, flags);
            }
            ExprKind::Subscript { value: object, index } => {
                let object = self.stable(object);
                let index = self.index(index);
                self.emitter().span = target.span;
                self.store_item(object, index, value);
            }
            ExprKind::Tuple(targets) | ExprKind::List(targets) => self.unpack(targets, value, target.span),
            ExprKind::Starred(_) => self.report(errors::lone_star(self.location(target.span))),
            // A syntax error was reported for it.
            ExprKind::Error => {}
            _ => self.report(errors::cannot_assign(self.location(target.span))),
        }
        self.frame.emitter.release(mark);
    }

    fn store_item(&mut self, object: Operand, index: Operand, value: Operand) {
        let flags = object.ends as u8 | (index.ends as u8) << 1 | (value.ends as u8) << 2;
        self.emitter().abcx(Op::StoreItem, object.register, index.register, value.register, flags);
    }

    fn unpack(&mut self, targets: &'a [Expr], value: Operand, span: Span) {
        let stars: Vec<usize> =
            (0..targets.len()).filter(|&at| matches!(targets[at].kind, ExprKind::Starred(_))).collect();
        if let [_, second, ..] = stars[..] {
            return self.report(errors::two_stars(self.location(targets[second].span)));
        }
        let first = self.emitter().alloc_row(targets.len());
        match stars.first() {
            None => {
                self.emitter().abcx(Op::Unpack, first, value.register, targets.len() as u16, value.first());
            }
            Some(&before) => {
                let after = targets.len() - before - 1;
                if before.max(after) > MAX_BESIDE_STAR {
                    return self.report(errors::too_large("targets beside a star", self.location(span)));
                }
                let counts = before as u16 | (after as u16) << 8;
                self.emitter().abcx(Op::UnpackStar, first, value.register, counts, value.first());
            }
        }
        for (target, register) in targets.iter().zip(row(first, targets.len())) {
            let target = match &target.kind {
                ExprKind::Starred(inner) => inner,
                _ => target,
            };
            self.store(target, Operand::temporary(register));
        }
    }

    /// `target op= value`.
    pub(super) fn aug_assign(&mut self, target: &'a Expr, op: BinaryOp, value: &'a Expr, span: Span) {
        match &target.kind {
            ExprKind::Name(name) => {
                self.emitter().span = target.span;
                if let Some(register) = self.local_register(name).filter(|_| !self.is_in_class_body()) {
                    let current = self.name(name);
                    self.binary_with(op, current, value, register, span, Mode::InPlace);
                    return;
                }
                let register = self.emitter().alloc();
                self.name_to(name, register);
                let current = Operand::temporary(register);
                self.binary_with(op, current, value, register, span, Mode::InPlace);
                self.store_name(name, current);
            }
            ExprKind::Attribute { value: object, attr } => {
                let object = self.stable(object);
                let register = self.emitter().alloc();
                let site = self.site(&attr.name);
                self.emitter().span = target.span;
                self.emitter().abc(Op::LoadAttr, register, object.register, site);
                let current = Operand::temporary(register);
                self.binary_with(op, current, value, register, span, Mode::InPlace);
                let site = self.site(&attr.name);
                let flags = object.first() | current.second();
                self.emitter().abcx(Op::StoreAttr, object.register, register, site, flags);
            }
            ExprKind::Subscript { value: object, index } => {
                let object = self.stable(object);
                let index = match &index.kind {
                    ExprKind::Slice { .. } => self.index(index),
                    _ => self.stable(index),
                };
                let register = self.emitter().alloc();
                self.emitter().span = target.span;
                self.emitter().abc(Op::LoadItem, register, object.register, index.register);
                let current = Operand::temporary(register);
                self.binary_with(op, current, value, register, span, Mode::InPlace);
                self.emitter().span = target.span;
                self.store_item(object, index, current);
            }
            ExprKind::Error => {}
            _ => self.report(errors::cannot_assign(self.location(target.span))),
        }
    }

    pub(super) fn is_in_class_body(&self) -> bool {
        self.is_class_name(self.frame.scope)
    }

    pub(super) fn delete(&mut self, target: &'a Expr) {
        let mark = self.frame.emitter.mark();
        self.emitter().span = target.span;
        match &target.kind {
            ExprKind::Name(name) => self.delete_name(name),
            ExprKind::Attribute { value, attr } => {
                let object = self.expr(value);
                let site = self.site(&attr.name);
                self.emitter().span = target.span;
                self.emitter().abcx(Op::DeleteAttr, object.register, 0, site, object.first());
            }
            ExprKind::Subscript { value, index } => {
                let object = self.stable(value);
                let index = self.index(index);
                self.emitter().span = target.span;
                let flags = object.first() | index.second();
                self.emitter().abcx(Op::DeleteItem, object.register, index.register, 0, flags);
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().for_each(|item| self.delete(item)),
            ExprKind::Error => {}
            _ => self.report(errors::cannot_delete(self.location(target.span))),
        }
        self.frame.emitter.release(mark);
    }
}
