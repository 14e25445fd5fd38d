//! Operands: what an expression yields during inference.
//!
//! Most operands are nodes. A literal stays a literal until something gives it a type. Arrays, tuples,
//! functions and types are known statically and never become nodes.

use std::rc::Rc;

use kps_syntax::Span;
use kps_syntax::ast::Name;

use super::Ctx;
use super::closures::Closure;
use super::gather_scatter::ScatteredVector;
use super::sequences::Sequence;
use crate::builtins::Function;
use crate::constant::{Constant, Literal};
use crate::env::{EnvModule, HelperFunction};
use crate::errors;
use crate::errors::Found;
use crate::ir::{
    BoundsCheck, BufferId, ElementIndex, LocalId, Node, NodeId, NodeKind, Origin, SamplerId, Step, Stmt,
    TextureId,
};
use crate::types::{Scalar, Type};

#[derive(Clone)]
pub(crate) enum Operand {
    Node(NodeId),
    /// Weak: it adopts the type of the other operand.
    Literal(Literal),
    /// An array in memory, by reference. Within a chain of subscripts and members, any place in memory.
    Place(Place),
    /// A row or a swizzle in memory, within a chain of subscripts and members.
    Scattered(Rc<ScatteredVector>),
    Buffer(BufferId),
    /// `A[i]` of an array with several axes.
    Row(Row),
    Tuple(Rc<[Operand]>),
    Static(Static),
    /// A mistake was reported.
    Error,
}

/// A place in memory: a root and the steps from it.
#[derive(Clone, PartialEq)]
pub(crate) struct Place {
    pub root: Root,
    pub path: Rc<[Step]>,
    pub ty: Type,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Root {
    Local(LocalId),
    /// An element of a buffer.
    Element(BufferId, ElementIndex),
}

impl Place {
    pub fn local(local: LocalId, ty: Type) -> Place {
        Place { root: Root::Local(local), path: Rc::new([]), ty }
    }

    pub fn element(buffer: BufferId, index: ElementIndex, ty: Type) -> Place {
        Place { root: Root::Element(buffer, index), path: Rc::new([]), ty }
    }

    /// What loads all of it.
    pub fn load(&self) -> NodeKind {
        let path = self.path.to_vec();
        match &self.root {
            Root::Local(local) if path.is_empty() => NodeKind::Load(*local),
            Root::Local(local) => NodeKind::LoadElement { local: *local, path },
            Root::Element(buffer, index) => {
                let (buffer, index) = (*buffer, index.clone());
                NodeKind::BufferLoad { buffer, index, path, bounds: BoundsCheck::Device }
            }
        }
    }

    /// The place one step further.
    pub fn part(&self, step: Step, ty: Type) -> Place {
        let path = self.path.iter().copied().chain([step]).collect();
        Place { root: self.root.clone(), path, ty }
    }
}

/// An array within a buffer: the rest after its first axes are indexed.
#[derive(Clone, PartialEq)]
pub(crate) struct Row {
    pub buffer: BufferId,
    /// Ints along the first axes, less than all axes of the buffer.
    pub indices: Rc<[NodeId]>,
}

impl Row {
    /// The number of indexed axes.
    pub fn axis(&self) -> u8 {
        self.indices.len() as u8
    }

    /// The row with its indices replaced by others.
    pub fn with_indices(&self, mut next: impl FnMut() -> NodeId) -> Row {
        Row { buffer: self.buffer, indices: self.indices.iter().map(|_| next()).collect() }
    }
}

/// A named thing without a value at run time.
#[derive(Clone)]
pub(crate) enum Static {
    Type(Type),
    /// `Vector`, `Array`: types once they have arguments.
    Generic(&'static str),
    Function(HelperFunction),
    /// A lambda or a nested function.
    Closure(Rc<Closure>),
    Builtin(Function),
    /// `range(..)`, `enumerate(..)` and similar calls: what a loop iterates over.
    Sequence(Rc<Sequence>),
    /// `None` for a built-in module.
    Module(Name, Option<EnvModule>),
    Texture(TextureId),
    Sampler(SamplerId),
    /// The result of a function without a result.
    None,
}

/// What is known of a node besides its type.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Facts {
    /// Its type is a guess for a literal that a loop carries. Another pass may widen it.
    pub guessed: bool,
}

impl Operand {
    pub fn is_error(&self) -> bool {
        matches!(self, Operand::Error)
    }

    /// Whether a mistake was reported about it or about a part of it.
    pub fn has_error(&self) -> bool {
        match self {
            Operand::Tuple(items) => items.iter().any(Operand::has_error),
            operand => operand.is_error(),
        }
    }

    pub fn int(value: i128) -> Operand {
        Operand::Literal(Literal::Int(value))
    }
}

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
            Operand::Place(_) if self.is_coop(operand) => {
                Found::Coop(self.coop_of(operand).map(|coop| coop.shape()))
            }
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
                Static::Texture(texture) => Found::Texture(self.textures[texture.idx()].ty),
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
