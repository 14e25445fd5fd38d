//! How arguments are passed: what the compiled form of a function depends on, what is passed at run time, and
//! what the parameters are inside the function.
//!
//! A number is passed by value, a list by reference. A tuple and the captures of a nested function are split.
//! Their parts are passed one by one, in the same order on both sides.

use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::Span;
use kps_syntax::ast::Name;

use super::Ctx;
use super::access_paths::AccessPath;
use super::closures::Closure;
use super::operand::{Operand, Place, Root, Row, Static};
use super::selected_arrays::ArraySetId;
use super::weak_types::WeakValues;
use crate::builtins::Function;
use crate::constant::{Constant, Literal};
use crate::ir::{Arg, BufferId, CallArg, LocalId, SamplerId, Stmt, TextureId};
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
    /// With its captures, then its defaults.
    Closure(DefIdentity, Vec<ArgKey>),
    /// A parameter of a nested function without a default.
    Absent,
}

impl ArgKey {
    /// Adds the functions that are passed, and those that they capture.
    pub fn functions(&self, found: &mut Vec<DefIdentity>) {
        match self {
            ArgKey::Function(def, _) => found.push(def.clone()),
            ArgKey::Closure(def, parts) => {
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
                ArgKey::Closure(DefIdentity(Arc::clone(&closure.def)), parts)
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

impl Ctx<'_> {
    /// An operand as the callee sees it. It was made passable.
    pub fn passed(&self, operand: &Operand) -> Passed {
        let all = |operands: &[Operand]| operands.iter().map(|operand| self.passed(operand)).collect();
        match operand {
            Operand::Node(node) => {
                if let Some(constant) = self.f.func.constant(*node) {
                    return Passed::Constant(constant);
                }
                let ty = self.ty(*node).clone();
                match self.values_of_node(operand) {
                    Some(WeakValues { numbers, .. }) => Passed::Weak { ty, numbers },
                    None => Passed::Value(ty),
                }
            }
            Operand::Row(row) => {
                let array_set = self.selection_of(row.buffer).map(|(array_set, _)| array_set);
                Passed::Row(
                    row.clone(),
                    array_set,
                    row.indices.iter().map(|node| self.ty(*node).clone()).collect(),
                )
            }
            Operand::Buffer(buffer) if self.is_selected(*buffer) => {
                let (array_set, _) = self.selection_of(*buffer).expect("checked above");
                Passed::Selected(array_set)
            }
            Operand::Place(place) => match self.access_path(place) {
                Some(part) => Passed::Memory(part),
                None => Passed::Array(place.ty.clone()),
            },
            Operand::Tuple(items) => Passed::Tuple(all(items)),
            Operand::Static(Static::Closure(closure)) => Passed::Closure {
                closure: Rc::clone(closure),
                values: all(closure.values.as_ref().expect("a closure that is passed was made passable")),
                defaults: closure
                    .defaults
                    .iter()
                    .map(|default| Some(self.passed(default.as_ref()?)))
                    .collect(),
            },
            operand => Passed::Static(operand.clone()),
        }
    }

    /// Adds the run-time arguments of an operand, in order. Parts of lists are passed in locals, and copied
    /// back if the function writes to them. `writes` says so of each reference.
    pub fn push_args(&mut self, operand: &Operand, writes: &[bool], at: Span, outgoing: &mut OutgoingArgs) {
        let args = &mut outgoing.args;
        match operand {
            Operand::Node(node) if self.f.func.constant(*node).is_none() => {
                args.push(CallArg::Value(*node));
            }
            Operand::Place(place) if self.access_path(place).is_some() => self.pass_indices(place, args),
            Operand::Place(place) => {
                let n_references = args.iter().filter(|arg| matches!(arg, CallArg::Reference(_))).count();
                let is_written = writes.get(n_references).copied().unwrap_or(true);
                outgoing.lists.push(ListArg { place: place.clone(), is_written, at });
                let local = match place.root {
                    Root::Local(local) if place.path.is_empty() => {
                        if is_written {
                            self.copy_written(place, at);
                        }
                        local
                    }
                    _ => {
                        let local = self.new_local("kps.part", place.ty.clone(), at);
                        let value = self.load_whole(place, at);
                        self.f.block.push(Stmt::Store { local, value, span: at });
                        if is_written {
                            self.copy_written(place, at);
                            outgoing.copies.push((place.clone(), local));
                        }
                        local
                    }
                };
                outgoing.args.push(CallArg::Reference(local));
            }
            Operand::Buffer(buffer) => {
                args.extend(self.selection_of(*buffer).map(|(_, selector)| CallArg::Value(selector)));
            }
            Operand::Row(row) => {
                args.extend(self.selection_of(row.buffer).map(|(_, selector)| CallArg::Value(selector)));
                args.extend(row.indices.iter().copied().map(CallArg::Value));
            }
            Operand::Tuple(items) => {
                items.iter().for_each(|item| self.push_args(item, writes, at, outgoing));
            }
            Operand::Static(Static::Closure(closure)) => {
                let values = closure.values.clone().expect("a closure that is passed was made passable");
                let defaults = Rc::clone(&closure.defaults);
                let parts = values.iter().chain(defaults.iter().flatten());
                parts.for_each(|part| self.push_args(part, writes, at, outgoing));
            }
            _ => {}
        }
    }

    /// The parameter in the callee, with new arguments for what is passed at run time.
    pub fn received(&mut self, passed: &Passed, name: &Name, span: Span) -> Operand {
        match passed {
            Passed::Constant(constant) => Operand::Node(self.constant(*constant, span)),
            Passed::Value(ty) => Operand::Node(self.value_arg(name, ty, span)),
            Passed::Weak { ty, numbers } => {
                let node = self.value_arg(name, ty, span);
                self.note_weak_arg(node, numbers);
                Operand::Node(node)
            }
            Passed::Array(ty) => {
                let local = self.reference(name, ty.clone(), span);
                self.f.func.args.push(Arg::Reference(local));
                Operand::Place(Place::local(local, ty.clone()))
            }
            Passed::Selected(array_set) => Operand::Buffer(self.received_array(*array_set, name, span)),
            Passed::Row(row, array_set, types) => {
                let buffer =
                    array_set.map_or(row.buffer, |array_set| self.received_array(array_set, name, span));
                let mut types = types.iter();
                let mut number = || {
                    let ty = types.next().expect("a type for each index");
                    self.value_arg(name, ty, span)
                };
                Operand::Row(Row { buffer, ..row.with_indices(&mut number) })
            }
            Passed::Memory(part) => Operand::Place(self.bind_access_path(part, name, span)),
            Passed::Tuple(items) => {
                Operand::Tuple(items.iter().map(|item| self.received(item, name, span)).collect())
            }
            Passed::Closure { closure, values, defaults } => {
                let values = values.iter().map(|value| self.received(value, name, span)).collect();
                let defaults = defaults
                    .iter()
                    .map(|default| Some(self.received(default.as_ref()?, name, span)))
                    .collect();
                Operand::Static(Static::Closure(Rc::new(closure.with_values(values, defaults))))
            }
            Passed::Static(operand) => operand.clone(),
        }
    }
}
