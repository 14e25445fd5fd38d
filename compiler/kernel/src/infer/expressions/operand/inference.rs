//! Operands as nodes, and their types.

use kps_syntax::Span;

use super::{Facts, Operand, Place, Static};
use crate::constant::{Constant, Literal};
use crate::errors;
use crate::errors::Found;
use crate::infer::Ctx;
use crate::ir::{Node, NodeId, NodeKind, Origin, Stmt};
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    /// A node, computed here. Constants are not statements.
    pub fn node(&mut self, kind: NodeKind, ty: impl Into<Type>, span: Span) -> NodeId {
        let id = NodeId(self.f.func.nodes.len() as u32);
        let is_constant = matches!(kind, NodeKind::Constant(_));
        let facts = self.facts_of(&kind);
        let origin = Origin::Source;
        self.f.func.nodes.push(Node { kind, ty: ty.into(), span, name: None, origin });
        self.f.facts.push(facts);
        if !is_constant {
            self.f.block.push(Stmt::Eval(id));
        }
        id
    }

    pub fn constant(&mut self, constant: Constant, span: Span) -> NodeId {
        self.node(NodeKind::Constant(constant), constant.scalar(), span)
    }

    pub fn bool_constant(&mut self, value: bool, span: Span) -> Operand {
        Operand::Node(self.constant(Constant::bool(value), span))
    }

    pub fn ty(&self, node: NodeId) -> &Type {
        self.f.func.ty(node)
    }

    pub fn facts(&self, node: NodeId) -> Facts {
        self.f.facts[node.idx()]
    }

    pub fn set_facts(&mut self, node: NodeId, facts: Facts) {
        self.f.facts[node.idx()] = facts;
    }

    pub fn is_guessed(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Node(node) if self.facts(*node).guessed)
    }

    fn facts_of(&self, kind: &NodeKind) -> Facts {
        let mut guessed = false;
        kind.operands(&mut |operand| guessed |= self.facts(operand).guessed);
        // The results of comparisons, subscripts and tests do not depend on the guess.
        if matches!(kind, NodeKind::Compare(..) | NodeKind::BufferLoad { .. } | NodeKind::LoadElement { .. })
        {
            guessed = false;
        }
        Facts { guessed }
    }

    /// A numeric operand as a node. A literal gets its default type. An operand without a value at run time is
    /// an error.
    pub fn materialize(&mut self, operand: &Operand, span: Span) -> Option<NodeId> {
        match operand {
            Operand::Node(node) => Some(*node),
            Operand::Literal(literal) => self.literal_as(*literal, literal.default_scalar(), span),
            Operand::Error => None,
            _ => {
                self.error(errors::not_a_value(self.at(span), &self.describe(operand)));
                None
            }
        }
    }

    /// A literal as a constant of `scalar`, or the error that it does not fit.
    pub fn literal_as(&mut self, literal: Literal, scalar: Scalar, span: Span) -> Option<NodeId> {
        match literal.fit(scalar) {
            Some(constant) => {
                self.remark_adopted(literal, scalar, span);
                Some(self.constant(constant, span))
            }
            None => {
                self.error(errors::literal_does_not_fit(self.at(span), literal, scalar));
                None
            }
        }
    }

    /// The type of an operand with a value at run time. A literal has its default type.
    pub fn value_type(&self, operand: &Operand) -> Option<Type> {
        match operand {
            Operand::Node(node) => Some(self.ty(*node).clone()),
            Operand::Literal(literal) => Some(literal.default_scalar().into()),
            Operand::Place(place) => Some(place.ty.clone()),
            Operand::Scattered(scattered) => Some(scattered.ty()),
            Operand::Tuple(items) => {
                let types: Option<Vec<Type>> = items.iter().map(|item| self.value_type(item)).collect();
                types.map(Type::tuple)
            }
            _ => None,
        }
    }

    /// A description of an operand for a message: its type if it has one.
    pub fn describe(&self, operand: &Operand) -> Found {
        match operand {
            Operand::Node(node) => Found::Value(self.ty(*node).clone()),
            Operand::Literal(literal) => Found::from(*literal),
            Operand::Place(place) if self.is_coop(operand) => Found::Coop(self.coop_shape(place)),
            Operand::Place(place) => Found::Value(place.ty.clone()),
            Operand::Scattered(scattered) => Found::Value(scattered.ty()),
            Operand::Buffer(buffer) => Found::Array(self.buffer_array(*buffer)),
            Operand::Row(row) => Found::Array(self.row_array(row)),
            Operand::Tuple(items) => Found::Tuple(items.len()),
            Operand::Static(entity) => match entity {
                Static::Type(ty) => Found::Type(ty.clone()),
                Static::Generic(name) => Found::Generic(name),
                Static::Function(function) => Found::Function(function.def.name.name.clone()),
                Static::Closure(closure) => closure.describe(),
                Static::Sequence(sequence) => Found::Sequence(sequence.kind()),
                Static::Builtin(function) => Found::Function(function.name().into()),
                Static::Module(_, Some(module)) => module.describe(),
                Static::Module(name, None) => Found::Module(name.clone()),
                Static::Texture(texture) => Found::Texture(self.interface[*texture].ty),
                Static::Sampler(_) => Found::Sampler,
                Static::None => Found::Nothing,
            },
            Operand::Error => Found::Value(Type::Error),
        }
    }

    /// The operand as `to`, if the conversion never loses a value. Otherwise `None`.
    pub fn try_convert(&mut self, operand: &Operand, to: &Type, span: Span) -> Option<NodeId> {
        match operand {
            Operand::Literal(literal) => {
                let constant = literal.fit(to.scalar()?)?;
                self.remark_adopted(*literal, constant.scalar(), span);
                let node = self.constant(constant, span);
                Some(self.splat_to(node, to, span))
            }
            Operand::Node(node) => {
                let from = self.ty(*node).clone();
                if from == *to {
                    return Some(*node);
                }
                let (a, b) = (from.scalar()?, to.scalar()?);
                let same_shape = from.n_components() == to.n_components();
                if same_shape && let Some(element) = self.adopted_as(operand, b, span) {
                    return Some(element);
                }
                let is_weak = self.weak_side(operand).is_some_and(|weak| self.fits(&weak, to));
                if same_shape && (a.is_exact_in(b) || is_weak) {
                    return Some(self.coerce(*node, b, span));
                }
                if self.facts(*node).guessed && same_shape {
                    self.f.assumed.used_guess = true;
                    return Some(self.coerce(*node, b, span));
                }
                None
            }
            Operand::Place(place) if place.ty.has_rows_of(to) => {
                Some(self.load_whole(&Place { ty: to.clone(), ..place.clone() }, span))
            }
            Operand::Place(place) => self.table_adopted_as(place, to, span),
            Operand::Tuple(items) => self.pack(items, to, span),
            _ => None,
        }
    }

    /// Converts only the scalar type. Constants are folded.
    pub fn convert(&mut self, node: NodeId, to: Scalar, span: Span) -> NodeId {
        let from = self.ty(node).clone();
        if from.scalar() == Some(to) {
            return node;
        }
        if let Some(constant) = self.f.func.constant(node) {
            return self.constant(constant.cast(to), span);
        }
        self.node(NodeKind::Convert(node), from.with_scalar(to), span)
    }

    /// Splats a scalar, if `to` is a vector.
    pub fn splat_to(&mut self, node: NodeId, to: &Type, span: Span) -> NodeId {
        if to.is_vector() && !self.ty(node).is_vector() {
            let scalar = self.ty(node).scalar().expect("only scalars are splatted");
            return self.node(NodeKind::Splat(node), to.with_scalar(scalar), span);
        }
        node
    }
}
