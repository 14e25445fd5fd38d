//! Assignment: names, elements, members, components and swizzles, and the augmented forms.
//!
//! What lies in memory is stored to where it lies. A variable that is a vector or a struct becomes a
//! new value with one part replaced.

use std::rc::Rc;

use kps_syntax::Span;
use kps_syntax::ast::{BinaryOp as AstBinaryOp, Expr, ExprKind, Ident, Name};

use super::Ctx;
use super::index::is_indexable;
use super::items::{SET_ITEM, StructItem};
use super::matrix_parts::MatrixIndex;
use super::operand::{Operand, Place};
use super::scattered::Scattered;
use super::shape::{Indexed, is_array_attribute};
use super::vars::Binding;
use crate::check::{TypeExpr, TypeReader};
use crate::env::EnvValue;
use crate::errors;
use crate::ir::{NodeId, NodeKind, Step, Touch};
use crate::template::{Param, ParamKind};
use crate::types::Type;

/// What an assignment writes to, its indices computed once.
pub(super) enum Target<'e> {
    Name(&'e Name, Span),
    /// What lies in memory.
    Place(Place, Span),
    /// One part of a value that is itself a target.
    Part(Box<Target<'e>>, Step, Span),
    /// Components of a vector that is itself a target.
    Components(Box<Target<'e>>, Vec<u32>, Span),
    /// An element, a row or a column of a matrix that is itself a target.
    MatrixPart(Box<Target<'e>>, MatrixIndex, Span),
    /// An item of a struct that has items by its methods.
    Item(StructItem<'e>, Span),
    /// Components that lie apart in memory.
    Scattered(Rc<Scattered>, Span),
    /// What holds arrays and cannot be assigned itself.
    Holder(Operand, Span),
    Tuple(&'e [Expr], Span),
    Error,
}

impl Ctx<'_> {
    pub fn assign(&mut self, targets: &[Expr], value: &Expr) {
        let operand = self.expr(value);
        if let Some(error) = self.unassignable(&operand, value.span) {
            self.error(error);
            return self.poison_targets(targets);
        }
        for target in targets {
            let operand = self.read_before_stores(target, &operand, value.span);
            self.assign_display(target, operand, value);
        }
    }

    /// `a, b = x, y` gives each target the value that stands in its place.
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

    /// A name that was to get a value after a mistake is not "unset" as well.
    fn poison_targets(&mut self, targets: &[Expr]) {
        for target in targets {
            self.assign_target(target, Operand::Error, target.span);
        }
    }

    pub fn unassignable(&self, operand: &Operand, span: Span) -> Option<kps_syntax::Diagnostic> {
        match operand {
            Operand::Static(super::operand::Static::None) => {
                Some(errors::no_value(self.at(span), self.f.source.slice(span)))
            }
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
        let target = self.target(target);
        self.tell_target(&target, Touch::Write);
        self.store(target, operand, value_span);
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
        let place = self.target(target);
        self.tell_target(&place, Touch::Both);
        let current = self.load_target(&place);
        let operand = self.expr(value);
        if current.has_error() || operand.has_error() {
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

    pub(super) fn target<'e>(&mut self, expr: &'e Expr) -> Target<'e> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Name(name) if self.is_uniform(name) => {
                self.error(errors::assign_uniform(self.at(span), name));
                Target::Error
            }
            ExprKind::Name(name) if self.is_table(name) => {
                self.error(errors::assign_captured(self.at(span), name));
                Target::Error
            }
            ExprKind::Name(name) => match self.cell_named(name) {
                Some(place) => Target::Place(place, span),
                None => Target::Name(name, span),
            },
            ExprKind::Tuple(items) | ExprKind::List(items) => Target::Tuple(items, span),
            ExprKind::Attribute { value, attr } => self.attribute_target(value, attr, span),
            ExprKind::Subscript { value, index } => self.element_target(value, index, span),
            _ => {
                self.error(errors::not_assignable(self.at(span), self.f.source.slice(span)));
                Target::Error
            }
        }
    }

    /// Whether a name is a list of the host's.
    fn is_table(&self, name: &Name) -> bool {
        self.f.scope.get(name).is_none() && matches!(self.f.env.get().get(name), Some(EnvValue::List(_)))
    }

    fn is_uniform(&self, name: &str) -> bool {
        let is_it =
            |param: &Param| matches!(param.kind, ParamKind::Uniform { .. }) && &*param.name.name == name;
        self.f.is_kernel && self.template.params.iter().any(is_it)
    }

    /// The struct of a buffer that a parameter stands for.
    pub fn cell_named(&self, name: &Name) -> Option<Place> {
        match &self.f.vars[self.f.scope.get(name)? as usize] {
            Binding::Bound { operand: Operand::Place(place), .. } if matches!(place.ty, Type::Struct(_)) => {
                Some(place.clone())
            }
            _ => None,
        }
    }

    /// What a target lies in: itself a target, or what an expression gives.
    fn container_target<'e>(&mut self, value: &'e Expr) -> Target<'e> {
        match &value.kind {
            ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Subscript { .. } => {
                match self.nested(value.span, Target::Error, |ctx| ctx.target(value)) {
                    Target::Item(_, span) => {
                        let text = self.f.source.slice(span);
                        self.error(errors::part_of_item(self.at(span), text));
                        Target::Error
                    }
                    target => target,
                }
            }
            _ => match self.expr(value) {
                Operand::Place(place) => Target::Place(place, value.span),
                Operand::Error => Target::Error,
                operand @ (Operand::Buffer(_) | Operand::Row(_) | Operand::Tuple(_)) => {
                    Target::Holder(operand, value.span)
                }
                _ => {
                    self.error(errors::not_assignable(self.at(value.span), self.f.source.slice(value.span)));
                    Target::Error
                }
            },
        }
    }

    fn attribute_target<'e>(&mut self, value: &'e Expr, attr: &Ident, span: Span) -> Target<'e> {
        let inner = self.container_target(value);
        if matches!(inner, Target::Error) {
            return inner;
        }
        match self.target_type(&inner) {
            Some(ty @ Type::Vector(..)) => self.component_target(inner, attr, &ty, span),
            Some(ty @ Type::Struct(_)) => self.member_target(inner, attr, ty, span),
            Some(ty) => {
                self.error(errors::no_attribute(self.at(attr.span), &attr.name, &format!("`{ty}`")));
                Target::Error
            }
            None => {
                let operand = self.expr(value);
                if !operand.has_error() {
                    let what = self.describe(&operand);
                    self.error(match is_array_attribute(&attr.name) {
                        true => errors::array_attribute_assigned(self.at(span), &what, &attr.name),
                        false => errors::no_attribute(self.at(attr.span), &attr.name, &what),
                    });
                }
                Target::Error
            }
        }
    }

    fn component_target<'e>(&mut self, inner: Target<'e>, attr: &Ident, ty: &Type, span: Span) -> Target<'e> {
        let Some(components) = self.swizzle(&attr.name, ty.n_components(), attr.span, ty) else {
            return Target::Error;
        };
        if (1..components.len()).any(|at| components[..at].contains(&components[at])) {
            self.error(errors::repeated_component(self.at(attr.span), &attr.name));
            return Target::Error;
        }
        match (inner, &components[..]) {
            (Target::Scattered(vector, _), components) => {
                memory_target(vector.components(components).into_operand(), span)
            }
            (inner, [component]) => part_target(inner, ty, Step::Part(*component), span),
            (Target::Place(place, _), components) => {
                memory_target(Scattered::of_vector(&place, components).into_operand(), span)
            }
            (inner, _) => Target::Components(Box::new(inner), components, span),
        }
    }

    fn member_target<'e>(&mut self, inner: Target<'e>, attr: &Ident, ty: Type, span: Span) -> Target<'e> {
        let Type::Struct(of) = &ty else { return Target::Error };
        match self.member_of(of, attr) {
            Some(at) => part_target(inner, &ty, Step::Part(at), span),
            None => Target::Error,
        }
    }

    fn element_target<'e>(&mut self, value: &'e Expr, index: &'e Expr, span: Span) -> Target<'e> {
        let inner = self.container_target(value);
        let container = match &inner {
            Target::Error => return Target::Error,
            Target::Name(name, at) => self.name_operand(name, *at),
            Target::Place(place, _) => Operand::Place(place.clone()),
            Target::Holder(operand, _) => operand.clone(),
            // Its type alone counts here: the value is loaded when it is stored to.
            _ => Operand::Error,
        };
        if let Some(ty) = self.matrix_type(&inner, &container) {
            return match (self.matrix_index(&ty, index, value.span), container) {
                (Some(at), Operand::Place(matrix)) => {
                    memory_target(self.matrix_place(&matrix, &at, (value.span, span)), span)
                }
                (Some(at), _) => Target::MatrixPart(Box::new(inner), at, span),
                (None, _) => Target::Error,
            };
        }
        if let Target::Scattered(vector, _) = &inner {
            return match self.step_into(&vector.ty(), index) {
                Some(step) => memory_target(self.scattered_element(vector, step, (value.span, span)), span),
                None => Target::Error,
            };
        }
        if let Target::Part(..) | Target::Components(..) | Target::MatrixPart(..) = inner {
            return match self.target_type(&inner) {
                Some(Type::Struct(of)) if of.method(SET_ITEM).is_some() => {
                    let receiver = self.part(value);
                    self.item_target(receiver, value, index, span)
                }
                Some(ty) if is_indexable(&ty) => match self.step_into(&ty, index) {
                    Some(step) => part_target(inner, &ty, step, span),
                    None => Target::Error,
                },
                ty => {
                    let what = ty.map_or("`?`".to_owned(), |ty| format!("`{ty}`"));
                    let text = self.f.source.slice(value.span);
                    self.error(errors::not_indexable(self.at(span), text, &what));
                    Target::Error
                }
            };
        }
        match container {
            Operand::Buffer(_) | Operand::Row(_) => match self.array_element(&container, index) {
                Some(Indexed::Element(buffer, index)) => {
                    Target::Place(self.buffer_place(buffer, index), span)
                }
                Some(Indexed::Row(row)) => Target::Holder(Operand::Row(row), span),
                None => Target::Error,
            },
            Operand::Place(place) if is_indexable(&place.ty) => match self.element_place(&place, index) {
                Some(place) => Target::Place(place, span),
                None => Target::Error,
            },
            Operand::Node(node) if is_indexable(self.ty(node)) => {
                let ty = self.ty(node).clone();
                match self.step_into(&ty, index) {
                    Some(step) => part_target(inner, &ty, step, span),
                    None => Target::Error,
                }
            }
            Operand::Tuple(items) => match self.tuple_item(&items, index, span) {
                Operand::Place(place) => Target::Place(place, span),
                Operand::Error => Target::Error,
                item @ (Operand::Buffer(_) | Operand::Row(_) | Operand::Tuple(_)) => {
                    Target::Holder(item, span)
                }
                _ => {
                    self.error(errors::tuple_item_assigned(self.at(span), self.f.source.slice(span)));
                    Target::Error
                }
            },
            Operand::Error => Target::Error,
            receiver if self.struct_method(&receiver, SET_ITEM) => {
                self.item_target(receiver, value, index, span)
            }
            Operand::Place(place) if matches!(place.ty, Type::Tuple(_)) => {
                self.error(errors::tuple_item_assigned(self.at(span), self.f.source.slice(span)));
                Target::Error
            }
            operand => {
                let what = self.describe(&operand);
                self.error(errors::not_indexable(self.at(span), self.f.source.slice(value.span), &what));
                Target::Error
            }
        }
    }

    /// The type of a target that holds a matrix.
    fn matrix_type(&mut self, target: &Target, container: &Operand) -> Option<Type> {
        let ty = match container {
            Operand::Node(node) => self.ty(*node).clone(),
            Operand::Place(place) => place.ty.clone(),
            _ => self.target_type(target)?,
        };
        ty.is_matrix().then_some(ty)
    }

    /// The type of what a target holds now; `None` where it holds no value.
    pub(super) fn target_type(&mut self, target: &Target) -> Option<Type> {
        match target {
            Target::Name(name, span) => {
                let operand = self.name_operand(name, *span);
                self.value_type(&operand)
            }
            Target::Place(place, _) => Some(place.ty.clone()),
            Target::Part(inner, Step::Part(at), _) => self.target_type(inner)?.part(*at),
            Target::Part(inner, Step::At(_), _) => self.target_type(inner)?.part(0),
            Target::Components(inner, components, _) => {
                let scalar = self.target_type(inner)?.scalar()?;
                Some(Type::of(components.len() as u8, scalar))
            }
            Target::MatrixPart(inner, at, _) => at.part_type(&self.target_type(inner)?),
            Target::Scattered(vector, _) => Some(vector.ty()),
            Target::Holder(operand, _) => self.value_type(operand),
            Target::Item(..) | Target::Tuple(..) | Target::Error => None,
        }
    }

    pub(super) fn load_target(&mut self, target: &Target) -> Operand {
        match target {
            Target::Name(name, span) => self.name_operand(name, *span),
            Target::Place(place, span) => self.load_place(place, *span),
            Target::Scattered(vector, span) => Operand::Node(self.load_scattered(vector, *span)),
            Target::Part(_, _, span) | Target::Components(_, _, span) | Target::MatrixPart(_, _, span) => {
                match self.load_node(target) {
                    Some(node) => self.value(node, *span),
                    None => Operand::Error,
                }
            }
            Target::Holder(operand, _) => operand.clone(),
            Target::Item(item, span) => self.load_item(item, *span),
            Target::Tuple(..) | Target::Error => Operand::Error,
        }
    }

    /// What a target holds as one value, an array too.
    fn load_node(&mut self, target: &Target) -> Option<NodeId> {
        match target {
            Target::Name(name, span) => match self.name_operand(name, *span) {
                Operand::Node(node) => Some(node),
                Operand::Place(place) => Some(self.load_whole(&place, *span)),
                _ => None,
            },
            Target::Place(place, span) => Some(self.load_whole(place, *span)),
            Target::Scattered(vector, span) => Some(self.load_scattered(vector, *span)),
            Target::Part(inner, step, span) => {
                let whole = self.load_node(inner)?;
                let (kind, at) = match *step {
                    Step::Part(at) => (NodeKind::Extract(whole, at), at),
                    Step::At(index) => (NodeKind::ExtractAt { whole, index }, 0),
                };
                let ty = self.ty(whole).part(at)?;
                Some(self.node(kind, ty, *span))
            }
            Target::Components(inner, components, span) => {
                let vector = self.load_node(inner)?;
                match self.load_components(vector, components, *span) {
                    Operand::Node(node) => Some(node),
                    _ => None,
                }
            }
            Target::MatrixPart(inner, at, span) => {
                let matrix = self.load_node(inner)?;
                Some(self.matrix_part(matrix, at, *span))
            }
            Target::Item(..) | Target::Holder(..) | Target::Tuple(..) | Target::Error => None,
        }
    }

    pub(super) fn store(&mut self, target: Target, operand: Operand, value_span: Span) {
        match target {
            Target::Name(name, span) => match self.f.scope.get(name) {
                Some(var) if var >= self.f.n_own => {
                    self.error(errors::assign_captured_part(self.at(span), name));
                }
                Some(var) => self.assign_var(var, operand, span),
                None => self.error(errors::assign_captured(self.at(span), name)),
            },
            Target::Place(place, span) => {
                if let Some(value) = self.stored_value(&operand, &place.ty, span, value_span) {
                    self.copy_written(&place, span);
                    self.store_whole(&place, value, span);
                    self.trace_store(&place, value, span);
                    self.part_replaced(&place, span);
                }
            }
            Target::Part(inner, step, span) => self.store_part(*inner, step, &operand, span, value_span),
            Target::Components(inner, components, span) => {
                self.store_swizzle(*inner, &components, &operand, span, value_span);
            }
            Target::Scattered(to, span) => self.store_scattered(&to, &operand, span, value_span),
            Target::MatrixPart(inner, at, span) => {
                self.store_matrix_part(*inner, &at, &operand, span, value_span);
            }
            Target::Tuple(items, span) => self.unpack(items, &operand, span, value_span),
            Target::Item(item, span) => self.store_item(item, operand, span, value_span),
            Target::Holder(Operand::Row(row), span) => {
                let (text, name) = (self.f.source.slice(span), &self.buffers[row.buffer.idx()].name);
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
        self.store(inner, Operand::Node(changed), span);
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
        self.store(inner, Operand::Node(matrix), span);
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
        self.store(inner, Operand::Node(whole), span);
    }
}

/// What lies in memory, as a target.
fn memory_target<'e>(operand: Operand, span: Span) -> Target<'e> {
    match operand {
        Operand::Place(place) => Target::Place(place, span),
        Operand::Scattered(vector) => Target::Scattered(vector, span),
        _ => Target::Error,
    }
}

/// A step further: within memory it leads to another place.
fn part_target<'e>(inner: Target<'e>, ty: &Type, step: Step, span: Span) -> Target<'e> {
    let at = match step {
        Step::Part(at) => at,
        Step::At(_) => 0,
    };
    match (inner, ty.part(at)) {
        (Target::Place(place, _), Some(part)) => Target::Place(place.part(step, part), span),
        (inner, Some(_)) => Target::Part(Box::new(inner), step, span),
        (_, None) => Target::Error,
    }
}
