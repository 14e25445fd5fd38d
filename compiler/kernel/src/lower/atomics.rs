//! Atomic operations: `atomic_add(a, i, v)` on arrays of the device and of the workgroup.

use kps_syntax::Span;
use kps_syntax::ast::{Argument, ArgumentKind, Expr};

use super::Ctx;
use super::operand::{Operand, Root, Static};
use crate::builtins::{AtomicOp, Call, GroupFunction};
use crate::errors;
use crate::ir::{Atomic, AtomicPlace, Buffer, NodeId, NodeKind, part_at};
use crate::signature::Reach;
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    pub fn atomic_call(&mut self, op: AtomicOp, name: &str, args: &[Argument], span: Span) -> Operand {
        let Some(args) = self.atomic_arguments(op, name, args, span) else { return Operand::Error };
        let place = self.atomic_place(name, args[0], args[1]);
        let values: Vec<(Operand, Span)> =
            args[2..].iter().map(|value| (self.expr(value), value.span)).collect();
        let Some((place, element)) = place else { return Operand::Error };
        if let Some(error) = self.atomic_refused(op, name, &element, args[0].span) {
            return self.fail(error);
        }
        let mut nodes: Vec<NodeId> = Vec::new();
        for (value, value_span) in &values {
            match self.stored_value(value, &element, args[0].span, *value_span) {
                Some(node) => nodes.push(node),
                None => return Operand::Error,
            }
        }
        let value = nodes.last().copied();
        let expected = (op == AtomicOp::CompareExchange).then(|| nodes[0]);
        let result = if op == AtomicOp::Store { Type::Void } else { element };
        let atomic = Atomic { op, place, value, expected };
        let node = self.node(NodeKind::Atomic(Box::new(atomic.clone())), result.clone(), span);
        self.trace_atomic(&atomic, node, span);
        match result {
            Type::Void => Operand::Static(Static::None),
            _ => Operand::Node(node),
        }
    }

    fn atomic_arguments<'e>(
        &mut self,
        op: AtomicOp,
        name: &str,
        args: &'e [Argument],
        span: Span,
    ) -> Option<Vec<&'e Expr>> {
        let mut exprs = Vec::new();
        for arg in args {
            match &arg.kind {
                ArgumentKind::Positional(expr) => exprs.push(expr),
                ArgumentKind::Keyword(keyword, _) => {
                    self.error(errors::keyword_argument(self.at(keyword.span), name, &keyword.name));
                    return None;
                }
                ArgumentKind::Spread(value) => {
                    self.error(errors::spread_argument(self.at(value.span), name));
                    return None;
                }
                // `check` refused it.
                ArgumentKind::KeywordSpread(_) => return None,
            }
        }
        let wanted = match op {
            AtomicOp::Load => "an array and an index",
            AtomicOp::CompareExchange => "an array, an index, what is expected and the new value",
            _ => "an array, an index and a value",
        };
        let call = Call::of_group(GroupFunction::Atomic(op));
        if !call.takes(exprs.len()) {
            // What lacks may be any of them.
            let line = match (self.texts_of(&exprs).as_slice(), call.most) {
                // Two indices.
                ([array, row, column, rest @ ..], most) if exprs.len() == most + 1 => {
                    let rest: String = rest.iter().map(|text| format!(", {text}")).collect();
                    format!("{name}({array}, ({row}, {column}){rest})")
                }
                _ => call.line(name, &[]),
            };
            self.error(errors::argument_count_range(self.at(span), name, wanted, exprs.len(), &line));
            return None;
        }
        Some(exprs)
    }

    fn texts_of(&self, exprs: &[&Expr]) -> Vec<&str> {
        exprs.iter().map(|expr| self.f.source.slice(expr.span)).collect()
    }

    /// The element that is meant, and its type.
    fn atomic_place(&mut self, name: &str, array: &Expr, index: &Expr) -> Option<(AtomicPlace, Type)> {
        match self.expr(array) {
            Operand::Error => None,
            container @ (Operand::Buffer(_) | Operand::Row(_)) => {
                let (buffer, index) = self.one_element(&container, array.span, index)?;
                let element = self.buffers[buffer.idx()].element.clone();
                Some((AtomicPlace::Buffer { buffer, index, path: Vec::new() }, element))
            }
            Operand::Place(place)
                if matches!(place.root, Root::Element(..)) || self.shared_id(&place).is_some() =>
            {
                let element = self.element_place(&place, index)?;
                let path = element.path.to_vec();
                let place = match element.root {
                    Root::Element(buffer, index) => AtomicPlace::Buffer { buffer, index, path },
                    Root::Local(local) => AtomicPlace::Shared { local, path },
                };
                Some((place, element.ty))
            }
            Operand::Place(_) => {
                let text = self.f.source.slice(array.span);
                self.error(errors::atomic_own_memory(self.at(array.span), text));
                None
            }
            operand => {
                let what = self.describe(&operand);
                self.error(errors::atomic_place(self.at(array.span), name, &what));
                None
            }
        }
    }

    /// Arrays of which narrow numbers are changed atomically are reached by address: what is changed is the
    /// word around the number, which no binding need hold as a whole. So are those in whose elements floats are
    /// changed: those are seen as ints, and a second variable sees whole elements only.
    pub fn reach_atomics_by_address(&mut self) {
        let functions = self.functions.iter().chain([&self.f.func]);
        for node in functions.flat_map(|function| &function.nodes) {
            if let NodeKind::Atomic(atomic) = &node.kind
                && let AtomicPlace::Buffer { buffer, path, .. } = &atomic.place
                && let Buffer { element, reach, .. } = &mut self.buffers[buffer.idx()]
                && let Some(scalar) = part_at(element, path).scalar()
                && (scalar.bits() < 32 || scalar.is_float() && !path.is_empty())
            {
                *reach = Reach::Address;
            }
        }
    }

    fn atomic_refused(
        &self,
        op: AtomicOp,
        name: &str,
        element: &Type,
        span: Span,
    ) -> Option<kps_syntax::Diagnostic> {
        let is_bitwise = matches!(op, AtomicOp::And | AtomicOp::Or | AtomicOp::Xor);
        match element {
            Type::Scalar(scalar) if *scalar == Scalar::Bool || scalar.is_float() && is_bitwise => {
                Some(errors::atomic_element(self.at(span), name, element))
            }
            Type::Scalar(_) => None,
            _ => Some(errors::atomic_element(self.at(span), name, element)),
        }
    }
}
