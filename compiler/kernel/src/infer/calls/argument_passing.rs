//! How arguments are passed: what the compiled form of a function depends on, what is passed at run time, and
//! what the parameters are inside the function.
//!
//! A number is passed by value, a list by reference. A tuple and the captures of a nested function are split.
//! Their parts are passed one by one, in the same order on both sides.

mod inference;

use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::Span;
use kps_syntax::ast::Name;

use super::closures::Closure;
use crate::builtins::Function;
use crate::constant::{Constant, Literal};
use crate::infer::expressions::operand::{Operand, Row, Static};
use crate::infer::places::access_paths::AccessPath;
use crate::infer::places::selected_arrays::ArraySetId;
use crate::ir::{BufferId, CallArg, LocalId, Place, SamplerId, TextureId};
use crate::signature::DefIdentity;
use crate::types::Type;

/// The part of an argument on which the compiled function depends.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum ArgKey {
    Value(Type),
    Literal(Literal),
    /// One of these, as a number of this type.
    Weak(Type, Rc<[Literal]>),
    Constant(Constant),
    Array(Type),
    /// A part of memory that other invocations see.
    Memory(AccessPath),
    Buffer(BufferId),
    /// A selected array. Its id is passed.
    Selected(ArraySetId),
    /// Its buffer, and the types of its indices.
    Row(BufferId, Vec<Type>),
    /// A row of a selected array.
    SelectedRow(ArraySetId, Vec<Type>),
    Texture(TextureId),
    Sampler(SamplerId),
    Type(Type),
    /// A function of the script: its definition, and the identity of its environment.
    Function(DefIdentity, usize),
    Builtin(Function),
    /// Its name and identity.
    Module(Name, usize),
    Tuple(Vec<ArgKey>),
    /// A nested function: its definition, the identity of its environment, its captures, then its defaults.
    Closure(DefIdentity, usize, Vec<ArgKey>),
    /// A parameter of a nested function without a default.
    Absent,
}

impl ArgKey {
    /// Adds the functions that are passed, and those that they capture.
    pub fn functions(&self, found: &mut Vec<DefIdentity>) {
        match self {
            ArgKey::Function(def, _) => found.push(def.clone()),
            ArgKey::Closure(def, _, parts) => {
                found.push(def.clone());
                parts.iter().for_each(|part| part.functions(found));
            }
            ArgKey::Tuple(parts) => parts.iter().for_each(|part| part.functions(found)),
            _ => {}
        }
    }
}

/// An argument as the callee sees it.
pub(crate) enum Passed {
    Value(Type),
    /// A weak number.
    Weak {
        ty: Type,
        numbers: Rc<[Literal]>,
    },
    Constant(Constant),
    Array(Type),
    Memory(AccessPath),
    /// A selected array, by its id.
    Selected(ArraySetId),
    /// Its indices, with their types. For a row of a selected array, the id of the array comes first.
    Row(Row, Option<ArraySetId>, Vec<Type>),
    Tuple(Vec<Passed>),
    Closure {
        closure: Rc<Closure>,
        values: Vec<Passed>,
        defaults: Vec<Option<Passed>>,
    },
    /// The same everywhere.
    Static(Operand),
}

impl Passed {
    pub fn key(&self) -> Option<ArgKey> {
        let keys = |parts: &[Passed]| parts.iter().map(Passed::key).collect::<Option<Vec<ArgKey>>>();
        Some(match self {
            Passed::Value(ty) => ArgKey::Value(ty.clone()),
            Passed::Weak { ty, numbers } => ArgKey::Weak(ty.clone(), Rc::clone(numbers)),
            Passed::Constant(constant) => ArgKey::Constant(*constant),
            Passed::Array(ty) => ArgKey::Array(ty.clone()),
            Passed::Memory(part) => ArgKey::Memory(part.clone()),
            Passed::Selected(array_set) => ArgKey::Selected(*array_set),
            Passed::Row(row, None, types) => ArgKey::Row(row.buffer, types.clone()),
            Passed::Row(_, Some(array_set), types) => ArgKey::SelectedRow(*array_set, types.clone()),
            Passed::Tuple(items) => ArgKey::Tuple(keys(items)?),
            Passed::Closure { closure, values, defaults } => {
                let mut parts = keys(values)?;
                for default in defaults {
                    parts.push(default.as_ref().map_or(Some(ArgKey::Absent), Passed::key)?);
                }
                ArgKey::Closure(DefIdentity(Arc::clone(&closure.def)), closure.env_identity(), parts)
            }
            Passed::Static(operand) => match operand {
                Operand::Literal(literal) => ArgKey::Literal(*literal),
                Operand::Buffer(buffer) => ArgKey::Buffer(*buffer),
                Operand::Static(Static::Texture(texture)) => ArgKey::Texture(*texture),
                Operand::Static(Static::Sampler(sampler)) => ArgKey::Sampler(*sampler),
                Operand::Static(Static::Type(ty)) => ArgKey::Type(ty.clone()),
                Operand::Static(Static::Function(function)) => {
                    ArgKey::Function(DefIdentity(Arc::clone(&function.def)), function.env.identity())
                }
                Operand::Static(Static::Builtin(function)) => ArgKey::Builtin(*function),
                Operand::Static(Static::Module(name, module)) => {
                    let identity = module.as_ref().map_or(0, |module| module.members.identity());
                    ArgKey::Module(name.clone(), identity)
                }
                _ => return None,
            },
        })
    }
}

/// The arguments of a call.
#[derive(Default)]
pub(crate) struct OutgoingArgs {
    pub args: Vec<CallArg>,
    /// Parts of lists that are passed in a local of their own, and copied back after the call.
    pub copies: Vec<(Place, LocalId)>,
    pub lists: Vec<ListArg>,
}

/// A list of the invocation, or a part of one, as an argument.
pub(crate) struct ListArg {
    pub place: Place,
    pub is_written: bool,
    pub at: Span,
}
