//! Assignment to names, elements, members, components and swizzles, and augmented assignment.
//!
//! In: a statement whose left sides `targets.rs` reads. Out: stores. A target in memory is stored to directly.
//! A variable that is a vector or a struct becomes a new value with one part replaced.

use kps_syntax::Span;
use kps_syntax::ast::{BinaryOp as AstBinaryOp, Expr, ExprKind};

use super::targets::Target;
use crate::aliases::Writer;
use crate::builtins::Function;
use crate::env::EnvValue;
use crate::errors;
use crate::infer::Ctx;
use crate::infer::expressions::matrix_parts::MatrixIndex;
use crate::infer::expressions::operand::{Operand, Static};
use crate::ir::{NodeId, NodeKind, Step, Touch};
use crate::resolve::TypeReader;
use crate::type_expr::TypeExpr;
use crate::types::Type;

impl Ctx<'_> {
    pub fn assign(&mut self, targets: &[Expr], value: &Expr) {
        let operand = self.expr(value);
        if let Some(error) = self.unassignable(&operand, value) {
            self.error(error);
            return self.poison_targets(targets);
        }
        for target in targets {
            let is_display = matches!(target.kind, ExprKind::Tuple(_) | ExprKind::List(_));
            let operand = match is_display {
                true => self.read_before_stores(target, &operand, value.span),
                false => operand.clone(),
            };
            self.assign_display(target, operand, value);
        }
    }

    /// `a, b = x, y` assigns the items one by one.
    fn assign_display(&mut self, target: &Expr, operand: Operand, value: &Expr) {
        let is_starred = |expr: &Expr| matches!(expr.kind, ExprKind::Starred(_));
        match (&target.kind, &value.kind, &operand) {
            (
                ExprKind::Tuple(targets) | ExprKind::List(targets),
                ExprKind::Tuple(values) | ExprKind::List(values),
                Operand::Tuple(items),
            ) if targets.len() == values.len() && !targets.iter().chain(values).any(is_starred) => {
                for ((target, item), value) in targets.iter().zip(items.iter()).zip(values) {
                    self.assign_display(target, item.clone(), value);
                }
            }
            _ => self.assign_target(target, operand, value.span),
        }
    }

    /// After a mistake, names that it would have assigned are not reported as unset.
    fn poison_targets(&mut self, targets: &[Expr]) {
        for target in targets {
            self.assign_target(target, Operand::Error, target.span);
        }
    }

    /// The operand of an operator. A call may have no result.
    pub fn operand_value(&mut self, expr: &Expr) -> Operand {
        let operand = self.expr(expr);
        let mistake = match expr.kind {
            ExprKind::Call { .. } => self.unassignable(&operand, expr),
            _ => None,
        };
        mistake.map_or(operand, |mistake| self.fail(mistake))
    }

    pub fn unassignable(&mut self, operand: &Operand, value: &Expr) -> Option<kps_syntax::Diagnostic> {
        let Operand::Static(Static::None) = operand else { return None };
        let builtin = match &value.kind {
            ExprKind::Call { func, args } => self.builtin_called(func).map(|function| (function, args)),
            _ => None,
        };
        let (at, source) = (self.at(value.span), &self.f.source);
        let text = source.slice(value.span);
        Some(match builtin {
            Some((function, args)) => {
                let changed = function.changes().and_then(|at| args.get(at));
                let changed = changed.map(|arg| source.slice(arg.span));
                errors::builtin_gives_no_value(at, text, changed)
            }
            None => errors::no_value(at, text),
        })
    }

    /// The built-in function that is called by name.
    fn builtin_called(&mut self, func: &Expr) -> Option<Function> {
        let ExprKind::Name(_) = &func.kind else { return None };
        match self.expr(func) {
            Operand::Static(Static::Builtin(function)) => Some(function),
            _ => None,
        }
    }

    pub fn assign_target(&mut self, target: &Expr, operand: Operand, value_span: Span) {
        if let ExprKind::Name(name) = &target.kind
            && self.is_self(name)
        {
            return self.error(errors::assign_self(self.at(target.span), name));
        }
        self.note_named_part(target, &operand, value_span);
        let place = self.target(target);
        self.report_target(&place, Touch::Write);
        self.store(place, operand, value_span);
        self.mark_part(target);
    }

    pub fn ann_assign(&mut self, target: &Expr, annotation: &Expr, value: Option<&Expr>) {
        let env = self.f.env.clone();
        let ty = match (TypeReader {
            source: &self.f.source.clone(),
            env: env.get(),
            ints: &|name| self.named_int(name),
        })
        .read(annotation)
        {
            Ok(TypeExpr::Value(ty)) => Some(ty),
            Ok(_) => {
                let text = self.f.source.slice(annotation.span).to_owned();
                self.error(errors::not_a_value_type(self.at(annotation.span), &text));
                None
            }
            // Reported by `check`.
            Err(_) => None,
        };
        let Some(value) = value else { return };
        let operand = self.expr(value);
        let operand = match ty {
            Some(ty) if !operand.has_error() => self.expect(&operand, &ty, value.span),
            _ => Operand::Error,
        };
        self.assign_target(target, operand, value.span);
    }

    pub fn aug_assign(&mut self, target: &Expr, op: AstBinaryOp, op_span: Span, value: &Expr, span: Span) {
        if let ExprKind::Tuple(_) | ExprKind::List(_) = target.kind {
            return self.error(errors::augmented_tuple(self.at(target.span)));
        }
        self.report_unwritten(target);
        let place = self.target(target);
        self.report_target(&place, Touch::Both);
        let current = self.load_target(&place);
        let operand = self.expr(value);
        if current.has_error() || operand.has_error() || matches!(place, Target::Holder(..)) {
            return self.store(place, Operand::Error, span);
        }
        let spans = (target.span, value.span);
        if let Operand::Place(matrix) = &current
            && self.is_coop(&current)
        {
            return self.coop_aug_assign(op, matrix, &operand, op_span, spans);
        }
        let in_place = self.struct_in_place(op, (&current, target.span), (&operand, value.span));
        let result = in_place.unwrap_or_else(|| self.binary(op, &current, &operand, op_span, spans));
        self.store(place, result, span);
    }

    pub(in crate::infer) fn store(&mut self, target: Target, operand: Operand, value_span: Span) {
        match target {
            Target::Name(name, span) => match self.f.vars.named(name) {
                Some(var) if !self.f.vars.is_own(var) => {
                    self.error(errors::assign_captured_part(self.at(span), name));
                }
                Some(var) => self.assign_var(var, operand, span),
                None => {
                    let value = self.f.env.get().get(name);
                    let is_struct = matches!(value, Some(EnvValue::Numbers(Type::Struct(_), _)));
                    self.error(errors::assign_captured(self.at(span), name, is_struct));
                }
            },
            Target::Place(place, span) => {
                if let Some(value) = self.stored_value(&operand, &place.ty, span, value_span) {
                    self.record_written(&place, span, Writer::Store);
                    self.store_whole(&place, value, span);
                    self.mark_place(&place, value, span);
                    self.record_replaced(&place, span);
                    if let Operand::Place(list) = &operand {
                        self.record_stored(list, &place, value_span);
                    }
                }
            }
            Target::Part(inner, step, span) => self.store_part(*inner, step, &operand, span, value_span),
            Target::Components(inner, components, span) => {
                self.store_swizzle(*inner, &components, &operand, span, value_span);
            }
            Target::Scattered(to, span) => self.scatter(&to, &operand, span, value_span),
            Target::MatrixPart(inner, at, span) => {
                self.store_matrix_part(*inner, &at, &operand, span, value_span);
            }
            Target::Tuple(items, span) => self.unpack(items, &operand, span, value_span),
            Target::Item(item, span) => self.store_item(item, operand, span, value_span),
            Target::Holder(Operand::Row(row), span) => {
                let (text, name) = (self.f.source.slice(span), self.array_name(row.buffer));
                let n_missing = self.row_array(&row).rank;
                self.error(errors::assign_row(self.at(span), text, name, n_missing));
            }
            Target::Holder(_, span) => {
                self.error(errors::not_assignable(self.at(span), self.f.source.slice(span)));
            }
            Target::Error => {}
        }
    }

    /// A value with one part replaced.
    fn store_part(&mut self, inner: Target, step: Step, operand: &Operand, span: Span, value_span: Span) {
        let Some(whole) = self.load_node(&inner) else { return };
        let ty = self.ty(whole).clone();
        let part_ty = match step {
            Step::Part(at) => ty.part(at),
            Step::At(_) => ty.part(0),
        };
        let Some(part_ty) = part_ty else { return };
        let Some(value) = self.stored_value(operand, &part_ty, span, value_span) else {
            return self.store(inner, Operand::Error, span);
        };
        let kind = match step {
            Step::Part(part) => NodeKind::Insert { whole, value, part },
            Step::At(index) => NodeKind::InsertAt { whole, value, index },
        };
        let changed = self.node(kind, ty, span);
        self.store_replaced(inner, changed, span);
    }

    fn store_matrix_part(
        &mut self,
        inner: Target,
        at: &MatrixIndex,
        operand: &Operand,
        span: Span,
        value_span: Span,
    ) {
        let Some(matrix) = self.load_node(&inner) else { return };
        let Some(part) = at.part_type(self.ty(matrix)) else { return };
        let Some(value) = self.stored_value(operand, &part, span, value_span) else {
            return self.store(inner, Operand::Error, span);
        };
        let matrix = self.with_matrix_part(matrix, at, value, span);
        self.store_replaced(inner, matrix, span);
    }

    fn store_swizzle(
        &mut self,
        inner: Target,
        components: &[u32],
        operand: &Operand,
        span: Span,
        value_span: Span,
    ) {
        let Some(ty) = self.target_type(&inner) else { return };
        let Some(scalar) = ty.scalar() else { return };
        let wanted = Type::of(components.len() as u8, scalar);
        let Some(value) = self.stored_value(operand, &wanted, span, value_span) else {
            return self.store(inner, Operand::Error, span);
        };
        let parts: Vec<NodeId> = (0..components.len() as u32)
            .map(|at| self.node(NodeKind::Extract(value, at), scalar, span))
            .collect();
        let Some(mut whole) = self.load_node(&inner) else { return };
        for (value, part) in parts.into_iter().zip(components) {
            whole = self.node(NodeKind::Insert { whole, value, part: *part }, ty.clone(), span);
        }
        self.store_replaced(inner, whole, span);
    }
}
