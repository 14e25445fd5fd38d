//! Atomic operations: `atomic_add(a, i, v)` on buffers and workgroup arrays, and `atomic_add(cells[i].count,
//! v)` on members of their elements.

use kps_syntax::Span;
use kps_syntax::ast::{ArgumentKind, Expr, ExprKind};

use super::TreeCall;
use crate::builtins::{Param, count_in_words, line, takes};
use crate::errors;
use crate::infer::Ctx;
use crate::infer::expressions::operand::{Operand, Static};
use crate::infer::places::targets::Target;
use crate::infer::places::vars::Binding;
use crate::ir::{Atomic, AtomicOp, AtomicPlace, NodeId, NodeKind, Place, Root};
use crate::types::{Scalar, Type};

/// The arguments of an atomic operation: an array and an index, or a member of an element, then values.
struct Arguments<'e> {
    whole: &'e Expr,
    index: Option<&'e Expr>,
    values: Vec<&'e Expr>,
}

impl Ctx<'_> {
    pub fn atomic_call(&mut self, op: AtomicOp, call: &TreeCall) -> Operand {
        let (name, span) = (call.name, call.span);
        let Some(Arguments { whole, index, values }) = self.atomic_arguments(call) else {
            return Operand::Error;
        };
        let place = match index {
            Some(index) => self.atomic_element(name, whole, index),
            None => self.atomic_member(name, whole),
        };
        let values: Vec<(Operand, Span)> =
            values.into_iter().map(|value| (self.expr(value), value.span)).collect();
        let Some((place, element)) = place else { return Operand::Error };
        if let Some(error) = self.atomic_refused(op, name, &element, whole.span) {
            return self.fail(error);
        }
        let mut nodes: Vec<NodeId> = Vec::new();
        for (value, value_span) in &values {
            match self.stored_value(value, &element, whole.span, *value_span) {
                Some(node) => nodes.push(node),
                None => return Operand::Error,
            }
        }
        let value = nodes.last().copied();
        let old = match element {
            Type::Vector(..) => self.atomic_vector(op, &place, value, &element, span),
            _ => {
                let expected = (op == AtomicOp::CompareExchange).then(|| nodes[0]);
                self.atomic(Atomic { op, place, value, expected }, &element, span)
            }
        };
        match op {
            AtomicOp::Store => Operand::Static(Static::None),
            _ => Operand::Node(old),
        }
    }

    fn atomic(&mut self, atomic: Atomic, element: &Type, span: Span) -> NodeId {
        let result = if atomic.op == AtomicOp::Store { Type::Void } else { element.clone() };
        self.node(NodeKind::Atomic(Box::new(atomic)), result, span)
    }

    /// An operation on each component, one after the other. Returns the vector of the old ones.
    fn atomic_vector(
        &mut self,
        op: AtomicOp,
        place: &AtomicPlace,
        value: Option<NodeId>,
        vector: &Type,
        span: Span,
    ) -> NodeId {
        let component = vector.part(0).expect("a vector has components");
        let mut olds = Vec::new();
        for at in 0..vector.n_components().into() {
            let value = value.map(|value| self.node(NodeKind::Extract(value, at), component.clone(), span));
            let atomic = Atomic { op, place: place.part(at), value, expected: None };
            olds.push(self.atomic(atomic, &component, span));
        }
        match op {
            AtomicOp::Store => olds[0],
            _ => self.node(NodeKind::Construct(olds), vector.clone(), span),
        }
    }

    fn atomic_arguments<'e>(&mut self, call: &TreeCall<'e>) -> Option<Arguments<'e>> {
        let TreeCall { function, name, args, span } = *call;
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
        let params = function.row().params;
        let is_member = matches!(exprs.first(), Some(Expr { kind: ExprKind::Attribute { .. }, .. }))
            && exprs.len() + 1 == params.len();
        if !is_member && !takes(params, exprs.len()) {
            let line = self.atomic_line(name, &exprs, params);
            let wanted = &count_in_words(params);
            self.error(errors::argument_count_range(self.at(span), name, wanted, exprs.len(), &line));
            return None;
        }
        let mut exprs = exprs.into_iter();
        let whole = exprs.next()?;
        let index = if is_member { None } else { Some(exprs.next()?) };
        Some(Arguments { whole, index, values: exprs.collect() })
    }

    /// The call to write instead of one with too many or too few arguments.
    fn atomic_line(&self, name: &str, exprs: &[&Expr], params: &[Param]) -> String {
        let texts = self.texts_of(exprs);
        let rest = |rest: &[&str]| -> String { rest.iter().map(|text| format!(", {text}")).collect() };
        match (exprs, &texts[..]) {
            // The element itself.
            ([Expr { kind: ExprKind::Subscript { value, index }, .. }, ..], [_, values @ ..])
                if exprs.len() + 1 == params.len() =>
            {
                let [array, index_text] = [value.span, index.span].map(|span| self.f.source.slice(span));
                let is_bare_tuple = matches!(index.kind, ExprKind::Tuple(_)) && !index_text.starts_with('(');
                let index = if is_bare_tuple { format!("({index_text})") } else { index_text.to_owned() };
                format!("{name}({array}, {index}{})", rest(values))
            }
            // Two indices, for an array with two axes.
            (_, [array, row, column, values @ ..])
                if exprs.len() == params.len() + 1 && self.rank_of(exprs[0]) != Some(1) =>
            {
                format!("{name}({array}, ({row}, {column}){})", rest(values))
            }
            // Any argument may be missing.
            _ => line(params, name, &[]),
        }
    }

    /// The number of axes of an array, by its name.
    fn rank_of(&self, expr: &Expr) -> Option<u8> {
        let ExprKind::Name(name) = &expr.kind else { return None };
        let var = self.f.vars.named(name)?;
        match &self.f.vars[var] {
            Binding::Bound { operand: Operand::Buffer(buffer), .. } => Some(self.array(*buffer).rank),
            _ => None,
        }
    }

    fn texts_of(&self, exprs: &[&Expr]) -> Vec<&str> {
        exprs.iter().map(|expr| self.f.source.slice(expr.span)).collect()
    }

    /// A number inside an element of an array, and its type.
    fn atomic_member(&mut self, name: &str, member: &Expr) -> Option<(AtomicPlace, Type)> {
        match self.target(member) {
            Target::Error => None,
            Target::Place(place, _)
                if matches!(place.root, Root::Element(..)) || self.shared_id(&place).is_some() =>
            {
                Some(atomic_place(place))
            }
            _ => {
                let text = self.f.source.slice(member.span);
                self.error(errors::atomic_own_member(self.at(member.span), name, text));
                None
            }
        }
    }

    /// The element of an array at an index, and its type.
    fn atomic_element(&mut self, name: &str, array: &Expr, index: &Expr) -> Option<(AtomicPlace, Type)> {
        match self.expr(array) {
            Operand::Error => None,
            container @ (Operand::Buffer(_) | Operand::Row(_)) => {
                let (buffer, index) = self.one_element(&container, array.span, index)?;
                let element = self.array(buffer).element.clone();
                Some((AtomicPlace::Buffer { buffer, index, path: Vec::new() }, element))
            }
            Operand::Place(place)
                if matches!(place.root, Root::Element(..)) || self.shared_id(&place).is_some() =>
            {
                Some(atomic_place(self.element_place(&place, index)?))
            }
            Operand::Place(place) => {
                let text = self.f.source.slice(array.span);
                let is_given = matches!(place.root, Root::Local(list) if self.f.lists.record.is_given(list));
                let given = is_given.then_some(&place.ty);
                self.error(errors::atomic_own_memory(self.at(array.span), text, given));
                None
            }
            operand => match self.read_place(array, &operand) {
                Some(whole) => self.atomic_component(name, &whole, array, index),
                None => {
                    let what = self.describe(&operand);
                    self.error(errors::atomic_place(self.at(array.span), name, &what));
                    None
                }
            },
        }
    }

    /// The place of the vector or matrix that was just read, in memory that others see.
    fn read_place(&self, expr: &Expr, read: &Operand) -> Option<Place> {
        // A name has a value of its own.
        let is_read_here = matches!(expr.kind, ExprKind::Attribute { .. } | ExprKind::Subscript { .. });
        let Operand::Node(node) = read else { return None };
        let ty = self.ty(*node).clone();
        let is_whole = ty.is_matrix() || matches!(ty, Type::Vector(..));
        let (root, path) = match &self.f.func.node(*node).kind {
            NodeKind::BufferLoad { buffer, index, path, .. } => (Root::Element(*buffer, index.clone()), path),
            NodeKind::LoadElement { local, path } => (Root::Local(*local), path),
            _ => return None,
        };
        let place = Place { root, path: path.as_slice().into(), ty };
        let is_seen = matches!(place.root, Root::Element(..)) || self.shared_id(&place).is_some();
        (is_read_here && is_whole && is_seen).then_some(place)
    }

    /// A number of a vector or a matrix.
    fn atomic_component(
        &mut self,
        name: &str,
        whole: &Place,
        text: &Expr,
        index: &Expr,
    ) -> Option<(AtomicPlace, Type)> {
        if !whole.ty.is_matrix() {
            let step = self.step_into(&whole.ty, index)?;
            return Some(atomic_place(whole.part(step, whole.ty.part(0)?)));
        }
        let at = self.matrix_index(&whole.ty, index, text.span)?;
        match self.matrix_place(whole, &at, (text.span, text.span.to(index.span))) {
            Operand::Place(part) => Some(atomic_place(part)),
            Operand::Scattered(row) => {
                let error = errors::atomic_element(self.at(index.span), name, &row.ty());
                self.error(error);
                None
            }
            _ => None,
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
        let is_arithmetic = matches!(op, AtomicOp::Add | AtomicOp::Sub | AtomicOp::Min | AtomicOp::Max);
        let is_taken = match element {
            Type::Scalar(Scalar::Bool) => !is_arithmetic,
            Type::Scalar(scalar) => !(scalar.is_float() && is_bitwise),
            // Components change one by one, so no other vector would be compared as a whole.
            Type::Vector(_, scalar) if op != AtomicOp::CompareExchange => {
                return self.atomic_refused(op, name, &Type::Scalar(*scalar), span);
            }
            _ => false,
        };
        (!is_taken).then(|| errors::atomic_element(self.at(span), name, element))
    }
}

fn atomic_place(place: Place) -> (AtomicPlace, Type) {
    let path = place.path.to_vec();
    let at = match place.root {
        Root::Element(buffer, index) => AtomicPlace::Buffer { buffer, index, path },
        Root::Local(local) => AtomicPlace::Shared { local, path },
    };
    (at, place.ty)
}
