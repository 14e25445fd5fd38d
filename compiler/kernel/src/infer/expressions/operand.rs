//! Operands: what an expression yields during inference.
//!
//! Most operands are nodes. A literal stays a literal until something gives it a type. Arrays, tuples,
//! functions and types are known statically and never become nodes.

mod inference;

use std::rc::Rc;

use kps_syntax::ast::Name;

use crate::builtins::Function;
use crate::constant::Literal;
use crate::env::{EnvModule, HelperFunction};
use crate::infer::calls::closures::Closure;
use crate::infer::control::sequences::Sequence;
use crate::infer::places::gather_scatter::ScatteredVector;
use crate::ir::{BufferId, NodeId, Place, SamplerId, TextureId};
use crate::types::Type;

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
