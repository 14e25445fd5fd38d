//! Assignment: names, tuples, elements, components and swizzles, and the augmented forms.

use std::rc::Rc;

use kps_syntax::Span;
use kps_syntax::ast::{BinaryOp as AstBinaryOp, Expr, ExprKind, Ident, Name};

use super::Ctx;
use super::index::Index;
use super::operand::{Operand, Place};
use crate::check::{TypeExpr, TypeReader};
use crate::errors;
use crate::ir::{BufferId, NodeId, NodeKind, Stmt};
use crate::types::{Scalar, Type};

/// What an assignment writes to, its indices computed once.
enum Target<'e> {
    Name(&'e Name, Span),
    Element(Place, Span),
    BufferElement(BufferId, NodeId, Span),
    /// Components of a vector that is itself a target.
    Components(Box<Target<'e>>, Vec<u32>, Span),
    /// One component, chosen at run time.
    ComponentAt(Box<Target<'e>>, NodeId, Span),
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
            self.assign_target(target, operand.clone(), value.span);
        }
    }

    /// A name that was to get a value after a mistake is not "unset" as well.
    fn poison_targets(&mut self, targets: &[Expr]) {
        for target in targets {
            self.assign_target(target, Operand::Error, target.span);
        }
    }

    fn unassignable(&self, operand: &Operand, span: Span) -> Option<kps_syntax::Diagnostic> {
        match operand {
            Operand::Static(super::operand::Static::None) => {
                Some(errors::no_value(self.at(span), self.f.source.slice(span)))
            }
            _ => None,
        }
    }

    pub fn assign_target(&mut self, target: &Expr, operand: Operand, value_span: Span) {
        let target = self.target(target);
        self.store(target, operand, value_span);
    }

    pub fn ann_assign(&mut self, target: &Expr, annotation: &Expr, value: Option<&Expr>) {
        let env = self.f.env.clone();
        let ty = match (TypeReader { source: &self.f.source.clone(), env: env.get() }).read(annotation) {
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
            Some(ty) if !operand.is_error() => self.expect(&operand, &ty, value.span),
            _ => Operand::Error,
        };
        self.assign_target(target, operand, value.span);
    }

    /// The operand as `ty`, or the error that shows the cast.
    pub fn expect(&mut self, operand: &Operand, ty: &Type, span: Span) -> Operand {
        match operand {
            Operand::Error => Operand::Error,
            Operand::Place(place) if place.ty == *ty => operand.clone(),
            Operand::Literal(literal) if matches!(ty, Type::Scalar(_)) => {
                let scalar = ty.scalar().expect("matched a scalar");
                match literal.fit(scalar) {
                    Some(constant) => Operand::Node(self.constant(constant, span)),
                    None => {
                        self.error(errors::literal_does_not_fit(self.at(span), *literal, scalar));
                        Operand::Error
                    }
                }
            }
            operand => match self.try_convert_whole(operand, ty, span) {
                Some(node) => Operand::Node(node),
                None => {
                    let (text, found) = (self.f.source.slice(span).to_owned(), self.describe(operand));
                    self.error(errors::expected_type(self.at(span), &text, ty, &found));
                    Operand::Error
                }
            },
        }
    }

    /// Without making a vector of a scalar.
    fn try_convert_whole(&mut self, operand: &Operand, ty: &Type, span: Span) -> Option<NodeId> {
        let from = self.value_type(operand)?;
        (from.n_components() == ty.n_components()).then(|| self.try_convert(operand, ty, span))?
    }

    pub fn aug_assign(&mut self, target: &Expr, op: AstBinaryOp, op_span: Span, value: &Expr, span: Span) {
        if let ExprKind::Tuple(_) | ExprKind::List(_) = target.kind {
            return self.error(errors::augmented_tuple(self.at(target.span)));
        }
        let place = self.target(target);
        let current = self.load_target(&place);
        let operand = self.expr(value);
        if current.is_error() || operand.is_error() {
            return self.store(place, Operand::Error, span);
        }
        let result = self.binary(op, &current, &operand, op_span, (target.span, value.span));
        self.store(place, result, span);
    }

    fn target<'e>(&mut self, expr: &'e Expr) -> Target<'e> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Name(name) => Target::Name(name, span),
            ExprKind::Tuple(items) | ExprKind::List(items) => Target::Tuple(items, span),
            ExprKind::Attribute { value, attr } => self.component_target(value, attr, span),
            ExprKind::Subscript { value, index } => self.element_target(value, index, span),
            _ => {
                self.error(errors::not_assignable(self.at(span), self.f.source.slice(span)));
                Target::Error
            }
        }
    }

    fn component_target<'e>(&mut self, value: &'e Expr, attr: &Ident, span: Span) -> Target<'e> {
        let inner = self.target(value);
        if matches!(inner, Target::Error) {
            return inner;
        }
        let Some(ty) = self.target_type(&inner) else {
            let operand = self.expr(value);
            if !operand.is_error() {
                let what = self.describe(&operand);
                self.error(errors::no_attribute(self.at(attr.span), &attr.name, &what));
            }
            return Target::Error;
        };
        let Type::Vector(n, _) = ty else {
            self.error(errors::no_attribute(self.at(attr.span), &attr.name, &format!("`{ty}`")));
            return Target::Error;
        };
        let Some(components) = self.swizzle(&attr.name, n, attr.span, &ty) else { return Target::Error };
        if (1..components.len()).any(|at| components[..at].contains(&components[at])) {
            self.error(errors::repeated_component(self.at(attr.span), &attr.name));
            return Target::Error;
        }
        Target::Components(Box::new(inner), components, span)
    }

    fn element_target<'e>(&mut self, value: &'e Expr, index: &'e Expr, span: Span) -> Target<'e> {
        let container = self.expr(value);
        match container {
            Operand::Buffer(buffer) => match self.buffer_index(buffer, index) {
                Some(index) => Target::BufferElement(buffer, index, span),
                None => Target::Error,
            },
            Operand::Place(place) => match self.expr_element(&place, index, span) {
                Some(place) => Target::Element(place, span),
                None => Target::Error,
            },
            Operand::Node(node) if self.ty(node).is_vector() => {
                let n = self.ty(node).n_components();
                let inner = self.target(value);
                match self.component_index(index, n) {
                    Some(Index::Known(component)) => {
                        Target::Components(Box::new(inner), vec![component], span)
                    }
                    Some(Index::Node(index)) => Target::ComponentAt(Box::new(inner), index, span),
                    None => Target::Error,
                }
            }
            Operand::Error => Target::Error,
            Operand::Tuple(_) => {
                self.error(errors::not_assignable(self.at(span), self.f.source.slice(span)));
                Target::Error
            }
            operand => {
                let what = self.describe(&operand);
                self.error(errors::not_indexable(self.at(span), self.f.source.slice(value.span), &what));
                Target::Error
            }
        }
    }

    /// The type of what a target holds now; `None` where it holds no number.
    fn target_type(&mut self, target: &Target) -> Option<Type> {
        match target {
            Target::Name(name, span) => {
                let operand = self.name_operand(name, *span);
                self.value_type(&operand)
            }
            Target::Element(place, _) => Some(place.ty.clone()),
            Target::BufferElement(buffer, ..) => Some(self.buffers[buffer.idx()].element.clone()),
            Target::Components(inner, components, _) => {
                let scalar = self.target_type(inner)?.scalar()?;
                Some(Type::of(components.len() as u8, scalar))
            }
            Target::ComponentAt(inner, ..) => Some(self.target_type(inner)?.scalar()?.into()),
            Target::Tuple(..) | Target::Error => None,
        }
    }

    fn load_target(&mut self, target: &Target) -> Operand {
        match target {
            Target::Name(name, span) => self.name_operand(name, *span),
            Target::Element(place, span) => self.load_place(place, *span),
            Target::BufferElement(buffer, index, span) => self.load_buffer(*buffer, *index, *span),
            Target::Components(inner, components, span) => {
                let vector = self.load_target(inner);
                match vector {
                    Operand::Node(vector) => self.load_components(vector, components, *span),
                    _ => Operand::Error,
                }
            }
            Target::ComponentAt(inner, index, span) => match self.load_target(inner) {
                Operand::Node(vector) => {
                    let scalar = self.ty(vector).scalar().unwrap_or(Scalar::I32);
                    let kind = NodeKind::ExtractAt { vector, index: *index };
                    Operand::Node(self.node(kind, scalar, *span))
                }
                _ => Operand::Error,
            },
            Target::Tuple(..) | Target::Error => Operand::Error,
        }
    }

    fn store(&mut self, target: Target, operand: Operand, value_span: Span) {
        match target {
            Target::Name(name, span) => match self.f.scope.get(name) {
                Some(var) => self.assign_var(var, operand, span),
                None => self.error(errors::assign_captured(self.at(span), name)),
            },
            Target::Element(place, span) => self.store_element(&place, &operand, span, value_span),
            Target::BufferElement(buffer, index, span) => {
                let element = self.buffers[buffer.idx()].element.clone();
                if let Some(value) = self.stored_value(&operand, &element, span, value_span) {
                    self.f.block.push(Stmt::BufferStore { buffer, index, value, span });
                }
            }
            Target::Components(inner, components, span) => {
                self.store_components(*inner, &components, &operand, span, value_span);
            }
            Target::ComponentAt(inner, index, span) => {
                let Operand::Node(vector) = self.load_target(&inner) else { return };
                let ty = self.ty(vector).clone();
                let element = Type::Scalar(ty.scalar().unwrap_or(Scalar::I32));
                let Some(value) = self.stored_value(&operand, &element, span, value_span) else { return };
                let vector = self.node(NodeKind::InsertAt { vector, value, index }, ty, span);
                self.store(*inner, Operand::Node(vector), span);
            }
            Target::Tuple(items, span) => self.unpack(items, &operand, span, value_span),
            Target::Error => {}
        }
    }

    fn store_components(
        &mut self,
        inner: Target,
        components: &[u32],
        operand: &Operand,
        span: Span,
        value_span: Span,
    ) {
        let Operand::Node(mut vector) = self.load_target(&inner) else { return };
        let ty = self.ty(vector).clone();
        let Some(scalar) = ty.scalar() else { return };
        let wanted = Type::of(components.len() as u8, scalar);
        let Some(value) = self.stored_value(operand, &wanted, span, value_span) else {
            return self.store(inner, Operand::Error, span);
        };
        for (at, component) in components.iter().enumerate() {
            let part = match components.len() {
                1 => value,
                _ => self.node(NodeKind::Extract(value, at as u32), scalar, span),
            };
            let kind = NodeKind::Insert { vector, value: part, component: *component };
            vector = self.node(kind, ty.clone(), span);
        }
        self.store(inner, Operand::Node(vector), span);
    }

    fn store_element(&mut self, place: &Place, operand: &Operand, span: Span, value_span: Span) {
        if let Type::Array(_) = place.ty {
            return self.error(errors::not_yet(self.at(span), "assigning a list to an element"));
        }
        if let Some(value) = self.stored_value(operand, &place.ty, span, value_span) {
            let (local, path) = (place.local, place.path.to_vec());
            self.f.block.push(Stmt::StoreElement { local, path, value, span });
        }
    }

    /// What goes into an element of type `ty`.
    fn stored_value(&mut self, operand: &Operand, ty: &Type, span: Span, value_span: Span) -> Option<NodeId> {
        match operand {
            Operand::Error => return None,
            Operand::Literal(literal) => {
                let scalar = ty.scalar()?;
                if ty.is_vector() || literal.fit(scalar).is_none() {
                    let error = match ty.is_vector() {
                        true => self.stored_type_error(operand, ty, span, value_span),
                        false => errors::literal_does_not_fit(self.at(value_span), *literal, scalar),
                    };
                    self.error(error);
                    return None;
                }
            }
            _ => {}
        }
        let converted = self.try_convert_whole(operand, ty, value_span);
        if converted.is_none() {
            let error = self.stored_type_error(operand, ty, span, value_span);
            self.error(error);
        }
        converted
    }

    fn stored_type_error(
        &self,
        operand: &Operand,
        ty: &Type,
        span: Span,
        value_span: Span,
    ) -> kps_syntax::Diagnostic {
        let (value, target) = (self.f.source.slice(value_span), self.f.source.slice(span));
        let found = self.describe(operand);
        errors::stored_type(self.at(value_span), self.at(span), (value, &found), (target, ty))
    }

    fn unpack(&mut self, items: &[Expr], operand: &Operand, span: Span, value_span: Span) {
        let parts: Rc<[Operand]> = match operand {
            Operand::Error => items.iter().map(|_| Operand::Error).collect(),
            Operand::Tuple(parts) => Rc::clone(parts),
            Operand::Node(node) if self.ty(*node).is_vector() => {
                let n = self.ty(*node).n_components();
                (0..u32::from(n)).map(|at| self.load_components(*node, &[at], value_span)).collect()
            }
            Operand::Place(place) => match place.ty.clone() {
                Type::Array(array) if array.len as usize == items.len() => {
                    (0..array.len).map(|at| self.known_element(place, at, value_span)).collect()
                }
                Type::Array(array) => {
                    let error = errors::unpack_count(self.at(span), items.len(), array.len as usize);
                    return self.error(error);
                }
                _ => return,
            },
            operand => {
                let what = self.describe(operand);
                self.error(errors::not_unpackable(self.at(value_span), &what, items.len()));
                items.iter().map(|_| Operand::Error).collect()
            }
        };
        if parts.len() != items.len() {
            self.error(errors::unpack_count(self.at(span), items.len(), parts.len()));
            return items.iter().for_each(|item| self.assign_target(item, Operand::Error, span));
        }
        for (item, part) in items.iter().zip(parts.iter()) {
            self.assign_target(item, part.clone(), value_span);
        }
    }
}
