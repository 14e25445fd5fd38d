//! Assignment targets: which target an expression names, its current value, and its type.
//!
//! In: the left side. Out: a [`Target`] with its indices computed once, so that an augmented assignment reads
//! and writes the same place. Nothing is written here.

use std::rc::Rc;

use kps_syntax::Span;
use kps_syntax::ast::{Expr, ExprKind, Ident, Name};

use super::gather_scatter::ScatteredVector;
use super::index::is_indexable;
use super::shape::{Indexed, is_array_attribute};
use super::vars::Binding;
use crate::env::EnvValue;
use crate::errors::{self, Found};
use crate::infer::Ctx;
use crate::infer::expressions::matrix_parts::MatrixIndex;
use crate::infer::expressions::operand::Operand;
use crate::infer::structs::accessors::{SET_ITEM, StructItem};
use crate::ir::{NodeId, NodeKind, Place, Step};
use crate::template::{Param, ParamKind};
use crate::types::Type;

/// The target of an assignment, with its indices computed once.
pub(in crate::infer) enum Target<'e> {
    Name(&'e Name, Span),
    /// A place in memory.
    Place(Place, Span),
    /// One part of a value that is itself a target.
    Part(Box<Target<'e>>, Step, Span),
    /// Components of a vector that is itself a target.
    Components(Box<Target<'e>>, Vec<u32>, Span),
    /// An element, a row or a column of a matrix that is itself a target.
    MatrixPart(Box<Target<'e>>, MatrixIndex, Span),
    /// A subscript or property of a struct with accessor methods.
    Item(StructItem<'e>, Span),
    /// Components that are not adjacent in memory.
    Scattered(Rc<ScatteredVector>, Span),
    /// A container of arrays, which cannot be assigned itself.
    Holder(Operand, Span),
    Tuple(&'e [Expr], Span),
    Error,
}

impl Ctx<'_> {
    pub(in crate::infer) fn target<'e>(&mut self, expr: &'e Expr) -> Target<'e> {
        let target = self.target_of(expr);
        self.remark_target(expr.span, &target);
        target
    }

    fn target_of<'e>(&mut self, expr: &'e Expr) -> Target<'e> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Name(name) if self.is_uniform(name) => {
                self.error(errors::assign_uniform(self.at(span), name));
                Target::Error
            }
            ExprKind::Name(name) if self.is_captured_list(name) => {
                if let Operand::Place(list) = self.name_operand(name, span) {
                    let copy = errors::copied_list("own", name, &list.ty);
                    self.error(errors::captured_list_written(self.at(span), name, None, &list.ty, &copy));
                }
                Target::Error
            }
            ExprKind::Name(name) => {
                match self.cell_named(name).filter(|cell| self.access_path(cell).is_some()) {
                    Some(place) => Target::Place(place, span),
                    None => Target::Name(name, span),
                }
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => Target::Tuple(items, span),
            ExprKind::Attribute { value, attr } => self.attribute_target(value, attr, span),
            ExprKind::Subscript { value, index } => self.element_target(value, index, span),
            // The parser reported it.
            ExprKind::Error => Target::Error,
            _ => {
                self.error(errors::not_assignable(self.at(span), self.f.source.slice(span)));
                Target::Error
            }
        }
    }

    /// Whether a name is a list of the host.
    fn is_captured_list(&self, name: &Name) -> bool {
        self.f.vars.named(name).is_none() && matches!(self.f.env.get().get(name), Some(EnvValue::List(_)))
    }

    fn is_uniform(&self, name: &str) -> bool {
        let is_it =
            |param: &Param| matches!(param.kind, ParamKind::Uniform { .. }) && &*param.name.name == name;
        self.f.is_kernel && self.template.params.iter().any(is_it)
    }

    /// The struct in memory to which a name refers.
    pub fn cell_named(&self, name: &Name) -> Option<Place> {
        match &self.f.vars[self.f.vars.named(name)?] {
            Binding::Bound { operand: Operand::Place(place), .. } if matches!(place.ty, Type::Struct(_)) => {
                Some(place.clone())
            }
            _ => None,
        }
    }

    /// The container of a target: itself a target, or the value of an expression.
    fn container_target<'e>(&mut self, value: &'e Expr) -> Target<'e> {
        match &value.kind {
            ExprKind::Name(name) if !self.is_uniform(name) && self.cell_named(name).is_some() => {
                Target::Place(self.cell_named(name).expect("checked above"), value.span)
            }
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

    fn attribute_target<'e>(&mut self, value: &'e Expr, attr: &'e Ident, span: Span) -> Target<'e> {
        let inner = self.container_target(value);
        if matches!(inner, Target::Error) {
            return inner;
        }
        match self.target_type(&inner) {
            Some(ty @ Type::Vector(..)) => self.component_target(inner, attr, &ty, span),
            Some(Type::Struct(of)) if of.setter(&attr.name).is_some() => {
                self.property_target(value, attr, span)
            }
            Some(ty @ Type::Struct(_)) => self.member_target(inner, attr, ty, span),
            Some(ty) => {
                self.error(errors::no_attribute(self.at(attr.span), &attr.name, &Found::Value(ty)));
                Target::Error
            }
            None => {
                let operand = self.expr(value);
                if !operand.has_error() {
                    let what = self.describe(&operand);
                    self.error(match is_array_attribute(&attr.name) {
                        _ if matches!(what, Found::Object(_)) => errors::assign_captured_attribute(
                            self.at(span),
                            self.f.source.slice(value.span),
                            &attr.name,
                        ),
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
                memory_target(ScatteredVector::of_vector(&place, components).into_operand(), span)
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
            // Only its type is needed here. The value is loaded when it is stored to.
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
                    let what = Found::Value(ty.unwrap_or(Type::Error));
                    self.error(errors::not_indexable(self.at(span), (value, index), &what));
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
            Operand::Place(place) if is_indexable(&place.ty) => {
                self.note_matrix_part(&place, span);
                match self.element_place(&place, index) {
                    Some(place) => Target::Place(place, span),
                    None => Target::Error,
                }
            }
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
                self.error(errors::not_indexable(self.at(span), (value, index), &what));
                Target::Error
            }
        }
    }

    /// The type of a target that is a matrix.
    fn matrix_type(&mut self, target: &Target, container: &Operand) -> Option<Type> {
        let ty = match container {
            Operand::Node(node) => self.ty(*node).clone(),
            Operand::Place(place) => place.ty.clone(),
            _ => self.target_type(target)?,
        };
        ty.is_matrix().then_some(ty)
    }

    /// The type of the current value of a target. `None` if it has no value.
    pub(in crate::infer) fn target_type(&mut self, target: &Target) -> Option<Type> {
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

    pub(in crate::infer) fn load_target(&mut self, target: &Target) -> Operand {
        match target {
            Target::Name(name, span) => match self.name_operand(name, *span) {
                Operand::Place(place) => self.load_place(&place, *span),
                operand => operand,
            },
            Target::Place(place, span) => self.load_place(place, *span),
            Target::Scattered(vector, span) => Operand::Node(self.gather(vector, *span)),
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

    /// The current value of a target, also of an array.
    pub(in crate::infer) fn load_node(&mut self, target: &Target) -> Option<NodeId> {
        match target {
            Target::Name(name, span) => match self.name_operand(name, *span) {
                Operand::Node(node) => Some(node),
                Operand::Place(place) => Some(self.load_whole(&place, *span)),
                _ => None,
            },
            Target::Place(place, span) => Some(self.load_whole(place, *span)),
            Target::Scattered(vector, span) => Some(self.gather(vector, *span)),
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
}

/// A place in memory, as a target.
fn memory_target<'e>(operand: Operand, span: Span) -> Target<'e> {
    match operand {
        Operand::Place(place) => Target::Place(place, span),
        Operand::Scattered(vector) => Target::Scattered(vector, span),
        _ => Target::Error,
    }
}

/// A step further. Within memory it leads to another place.
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
