//! Elements, components and swizzles: reading them, and the indices that assignments share.
//!
//! A constant index is checked here, and counts from the end where it is negative. One that is known
//! only at run time is tested by what is emitted: out of range reads 0 and drops writes.

use std::rc::Rc;

use kps_syntax::Span;
use kps_syntax::ast::{Expr, ExprKind, Ident};

use super::Ctx;
use super::operand::{Operand, Place, Static};
use crate::builtins::{self, Builtin};
use crate::constant::{Constant, Literal};
use crate::env::EnvValue;
use crate::errors;
use crate::ir::{BinaryOp, BufferId, NodeId, NodeKind};
use crate::suggest;
use crate::types::{Scalar, Type};

pub(crate) enum Index {
    /// Checked, counted from the start.
    Known(u32),
    Node(NodeId),
}

impl Ctx<'_> {
    pub fn subscript(&mut self, expr: &Expr, value: &Expr, index: &Expr) -> Operand {
        let span = expr.span;
        let container = self.expr(value);
        match container {
            Operand::Error => {
                self.expr(index);
                Operand::Error
            }
            Operand::Buffer(buffer) => match self.buffer_index(buffer, index) {
                Some(index) => self.load_buffer(buffer, index, span),
                None => Operand::Error,
            },
            Operand::Place(place) => match self.expr_element(&place, index, span) {
                Some(place) => self.load_place(&place, span),
                None => Operand::Error,
            },
            Operand::Node(node) if self.ty(node).is_vector() => {
                let n = self.ty(node).n_components();
                let scalar = self.ty(node).scalar().expect("vectors have one");
                match self.component_index(index, n) {
                    Some(Index::Known(component)) => self.load_components(node, &[component], span),
                    Some(Index::Node(index)) => {
                        let kind = NodeKind::ExtractAt { vector: node, index };
                        Operand::Node(self.node(kind, scalar, span))
                    }
                    None => Operand::Error,
                }
            }
            Operand::Tuple(items) => self.tuple_item(&items, index, span),
            Operand::Static(Static::Generic(_) | Static::Type(_)) => self.type_operand(expr),
            operand => {
                let (text, what) = (self.f.source.slice(value.span).to_owned(), self.describe(&operand));
                self.fail(errors::not_indexable(self.at(span), &text, &what))
            }
        }
    }

    fn tuple_item(&mut self, items: &Rc<[Operand]>, index: &Expr, span: Span) -> Operand {
        let operand = self.expr(index);
        match self.known_int(&operand) {
            Some(at) => {
                let from_start = if at < 0 { at + items.len() as i128 } else { at };
                match usize::try_from(from_start).ok().and_then(|at| items.get(at)) {
                    Some(item) => item.clone(),
                    None => {
                        self.fail(errors::index_out_of_range(self.at(index.span), at, items.len(), "tuple"))
                    }
                }
            }
            None if operand.is_error() => Operand::Error,
            None => self.fail(errors::tuple_index(self.at(span))),
        }
    }

    /// An int known now.
    pub fn known_int(&self, operand: &Operand) -> Option<i128> {
        match operand {
            Operand::Literal(Literal::Int(value)) => Some(*value),
            Operand::Node(node) => match self.ty(*node) {
                Type::Scalar(scalar) if scalar.is_int() => {
                    self.f.func.constant(*node).and_then(Constant::as_int)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// An index operand: an int of any type.
    fn index_node(&mut self, operand: &Operand, span: Span) -> Option<NodeId> {
        match operand {
            Operand::Error => None,
            Operand::Node(node) if matches!(self.ty(*node), Type::Scalar(scalar) if scalar.is_int()) => {
                let is_narrow = self.ty(*node).scalar().is_some_and(|scalar| scalar.bits() < 32);
                // A length need not fit a narrow type.
                Some(if is_narrow { self.convert(*node, Scalar::I32, span) } else { *node })
            }
            Operand::Literal(Literal::Int(_)) => self.materialize(operand, span),
            operand => {
                let (text, what) = (self.f.source.slice(span).to_owned(), self.describe(operand));
                self.error(errors::index_type(self.at(span), &text, &what));
                None
            }
        }
    }

    /// The index into a buffer; a negative constant counts from its end.
    pub fn buffer_index(&mut self, buffer: BufferId, index: &Expr) -> Option<NodeId> {
        let span = index.span;
        if let ExprKind::Tuple(items) = &index.kind {
            let name = self.buffers[buffer.idx()].name.clone();
            self.error(errors::too_many_indices(self.at(span), &name, items.len()));
            return None;
        }
        let operand = self.expr(index);
        match self.known_int(&operand) {
            Some(value) if value < 0 => {
                let len = self.node(NodeKind::BufferLen(buffer), Type::I32, span);
                let Some(constant) = Literal::Int(value).fit(Scalar::I32) else {
                    self.error(errors::literal_does_not_fit(self.at(span), Literal::Int(value), Scalar::I32));
                    return None;
                };
                let offset = self.constant(constant, span);
                Some(self.node(NodeKind::Binary(BinaryOp::Add, len, offset), Type::I32, span))
            }
            _ => self.index_node(&operand, span),
        }
    }

    pub fn component_index(&mut self, index: &Expr, n: u8) -> Option<Index> {
        let operand = self.expr(index);
        self.fixed_index(&operand, u32::from(n), index.span, "vector")
    }

    /// An index into something of a known length.
    fn fixed_index(&mut self, operand: &Operand, len: u32, span: Span, what: &str) -> Option<Index> {
        let Some(value) = self.known_int(operand) else {
            return self.index_node(operand, span).map(Index::Node);
        };
        let from_start = if value < 0 { value + i128::from(len) } else { value };
        match u32::try_from(from_start) {
            Ok(at) if at < len => Some(Index::Known(at)),
            _ => {
                self.error(errors::index_out_of_range(self.at(span), value, len as usize, what));
                None
            }
        }
    }

    /// The place of one element of a local array.
    pub fn expr_element(&mut self, place: &Place, index: &Expr, span: Span) -> Option<Place> {
        let Type::Array(array) = place.ty.clone() else {
            // An element that is a vector: its components are no places.
            return None;
        };
        if let ExprKind::Tuple(items) = &index.kind {
            self.error(errors::list_index_tuple(self.at(span), items.len()));
            return None;
        }
        let operand = self.expr(index);
        let node = match self.fixed_index(&operand, array.len, index.span, "list")? {
            Index::Known(at) => self.constant(Constant::i32(at as i32), index.span),
            Index::Node(node) => node,
        };
        Some(element_place(place, node, array.element.clone()))
    }

    /// An element as an operand: a value, or an array within the array.
    pub fn element_of(&mut self, place: &Place, index: NodeId, span: Span) -> Operand {
        let Type::Array(array) = place.ty.clone() else { return Operand::Error };
        let element = element_place(place, index, array.element.clone());
        self.load_place(&element, span)
    }

    pub fn known_element(&mut self, place: &Place, at: u32, span: Span) -> Operand {
        let index = self.constant(Constant::i32(at as i32), span);
        self.element_of(place, index, span)
    }

    pub fn load_place(&mut self, place: &Place, span: Span) -> Operand {
        match place.ty {
            Type::Array(_) => Operand::Place(place.clone()),
            _ => Operand::Node(self.load_whole(place, span)),
        }
    }

    /// All of a place as one value.
    pub fn load_whole(&mut self, place: &Place, span: Span) -> NodeId {
        let kind = if place.path.is_empty() {
            NodeKind::Load(place.local)
        } else {
            NodeKind::LoadElement { local: place.local, path: place.path.to_vec() }
        };
        self.node(kind, place.ty.clone(), span)
    }

    pub fn load_buffer(&mut self, buffer: BufferId, index: NodeId, span: Span) -> Operand {
        let element = self.buffers[buffer.idx()].element.clone();
        Operand::Node(self.node(NodeKind::BufferLoad { buffer, index }, element, span))
    }

    pub fn load_components(&mut self, vector: NodeId, components: &[u32], span: Span) -> Operand {
        let scalar = self.ty(vector).scalar().expect("components are of vectors");
        let node = match components {
            [component] => self.node(NodeKind::Extract(vector, *component), scalar, span),
            _ => {
                let ty = Type::of(components.len() as u8, scalar);
                self.node(NodeKind::Swizzle(vector, components.to_vec()), ty, span)
            }
        };
        Operand::Node(node)
    }

    pub fn attribute(&mut self, value: &Expr, attr: &Ident, span: Span) -> Operand {
        let operand = self.expr(value);
        match operand {
            Operand::Error => Operand::Error,
            Operand::Node(node) if self.ty(node).is_vector() => {
                let ty = self.ty(node).clone();
                match self.swizzle(&attr.name, ty.n_components(), attr.span, &ty) {
                    Some(components) => self.load_components(node, &components, span),
                    None => Operand::Error,
                }
            }
            Operand::Buffer(buffer) if &*attr.name == "shape" => {
                let len = self.node(NodeKind::BufferLen(buffer), Type::I32, span);
                Operand::Tuple(Rc::new([Operand::Node(len)]))
            }
            Operand::Buffer(buffer) if &*attr.name == "size" => {
                Operand::Node(self.node(NodeKind::BufferLen(buffer), Type::I32, span))
            }
            Operand::Static(Static::Module(name, module)) => self.member(&name, module, attr, span),
            operand => {
                let what = self.describe(&operand);
                self.fail(errors::no_attribute(self.at(attr.span), &attr.name, &what))
            }
        }
    }

    fn member(
        &mut self,
        module: &kps_syntax::ast::Name,
        env: Option<crate::env::EnvModule>,
        attr: &Ident,
        span: Span,
    ) -> Operand {
        if builtins::is_our_module(module) {
            match builtins::member(&attr.name) {
                Some(Builtin::Module) => return Operand::Static(Static::Module(attr.name.clone(), None)),
                Some(builtin) => return self.builtin(&builtin, span),
                None if &*attr.name == "Array" => return Operand::Static(Static::Generic("Array")),
                None => {}
            }
        }
        let value: Option<EnvValue> = env.and_then(|env| env.members.get(&attr.name));
        match value {
            Some(value) => self.captured(&attr.name, value, span),
            None => {
                let nearest = suggest::nearest(&attr.name, builtins::member_names());
                self.fail(errors::unknown_member(self.at(attr.span), module, &attr.name, nearest))
            }
        }
    }

    /// The components that `xyzw`, `rgba` or `stpq` letters choose, one set at a time.
    pub fn swizzle(&mut self, letters: &str, n: u8, span: Span, ty: &Type) -> Option<Vec<u32>> {
        let components = ["xyzw", "rgba", "stpq"].into_iter().find_map(|set| {
            letters.chars().map(|letter| set.find(letter).map(|at| at as u32)).collect::<Option<Vec<_>>>()
        });
        match components {
            Some(components) if (1..=4).contains(&components.len()) => {
                if components.iter().all(|component| *component < u32::from(n)) {
                    return Some(components);
                }
                self.error(errors::swizzle_too_wide(self.at(span), letters, ty));
                None
            }
            _ => {
                self.error(errors::unknown_swizzle(self.at(span), letters, ty));
                None
            }
        }
    }
}

fn element_place(place: &Place, index: NodeId, ty: Type) -> Place {
    let path = place.path.iter().copied().chain([index]).collect();
    Place { local: place.local, path, ty }
}
