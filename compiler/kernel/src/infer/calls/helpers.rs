//! Functions called from a kernel. Each is compiled once for every signature that it is called with.
//!
//! Numbers are passed by value, lists by reference. Literals, buffers, types and functions are part of the
//! signature, so a weak literal stays weak inside. The diagnostics of a compilation are stored with it. They
//! are reported once, if the finished kernel calls the function.

mod inference;

use std::sync::Arc;

use kps_syntax::ast::{FunctionDef, Stmt as AstStmt};
use kps_syntax::{Diagnostic, Location};
use rustc_hash::FxHashMap;

use super::argument_passing::ArgKey;
use crate::aliases::ListEffects;
use crate::env::KernelEnv;
use crate::infer::expressions::operand::Operand;
use crate::infer::expressions::weak_types::WeakValues;
use crate::ir::{Function, FunctionId, NodeId};
use crate::signature::DefIdentity;
use crate::types::{Scalar, Type};

/// A function compiled for one signature.
struct Instance {
    /// `None` if it has mistakes.
    compiled: Option<Compiled>,
    diagnostics: Vec<Diagnostic>,
    /// The instances that it calls.
    calls: Vec<usize>,
}

#[derive(Clone)]
struct Compiled {
    id: FunctionId,
    result: Type,
    /// Whether it writes to each of its references.
    writes: Vec<bool>,
    /// It returns a changed `self` in an additional reference.
    changes_self: bool,
    lists: ListEffects,
    /// Arguments that it needs in wider types, where they are weak: the place among the arguments, and the type.
    demanded_args: Vec<(u32, Scalar)>,
    /// The possible results, if all are weak.
    weak: Option<WeakValues>,
}

#[derive(PartialEq, Eq, Hash)]
struct InstanceKey {
    def: DefIdentity,
    /// The identity of its environment: one definition may make several functions.
    env: usize,
    args: Vec<ArgKey>,
    style: CallStyle,
    /// The type of its result, if that is weak.
    result: Option<Scalar>,
}

/// How a function is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CallStyle {
    Function,
    /// On a struct, its first argument. The caller sees assignments to members of that.
    Method,
}

/// The results of a call.
pub(crate) struct Called {
    pub result: Operand,
    /// The struct on which a method was called, if the method changed it.
    pub changed_self: Option<NodeId>,
}

impl Called {
    const ERROR: Called = Called { result: Operand::Error, changed_self: None };
}

/// A function being inferred.
struct Active {
    def: Arc<FunctionDef>,
    /// The identity of its environment: one definition may make several functions.
    env: usize,
    /// The functions that were passed to it. With others it is a different function.
    given: Vec<DefIdentity>,
    /// The place of the call.
    location: Location,
}

impl Active {
    fn kernel(def: &Arc<FunctionDef>, env: &dyn KernelEnv, location: Location) -> Active {
        Active { def: Arc::clone(def), env: env.identity(), given: Vec::new(), location }
    }
}

/// The functions of a kernel: those that are complete, and those being inferred.
pub(crate) struct Functions {
    /// Callees first.
    complete: Vec<Function>,
    /// The id of the first one.
    first: FunctionId,
    instances: Vec<Instance>,
    /// The instance that was compiled to each function.
    compiled_in: FxHashMap<FunctionId, usize>,
    instance_of: FxHashMap<InstanceKey, usize>,
    /// The stack of functions being inferred.
    active: Vec<Active>,
}

impl Functions {
    pub fn of_kernel(def: &Arc<FunctionDef>, env: &dyn KernelEnv, location: Location) -> Functions {
        Functions {
            complete: Vec::new(),
            first: FunctionId(0),
            instances: Vec::new(),
            compiled_in: FxHashMap::default(),
            instance_of: FxHashMap::default(),
            active: vec![Active::kernel(def, env, location)],
        }
    }

    /// Adds a complete function.
    pub fn add(&mut self, function: Function) -> FunctionId {
        let id = self.next_id();
        self.complete.push(function);
        id
    }

    /// The number of the function after the complete ones.
    pub fn next_id(&self) -> FunctionId {
        FunctionId(self.first.0 + self.complete.len() as u32)
    }

    /// Numbers functions from this id, before there is one.
    pub fn begin_at(&mut self, first: FunctionId) {
        self.first = first;
    }

    pub fn into_complete(self) -> Vec<Function> {
        self.complete
    }

    /// Takes a complete function, and leaves an empty one in its place.
    pub fn take(&mut self, at: usize) -> Option<Function> {
        let function = self.complete.get_mut(at)?;
        let empty = Function::new(function.name.clone(), function.source.clone(), function.span);
        Some(std::mem::replace(function, empty))
    }

    /// The body of the innermost function being inferred.
    pub fn active_body(&self) -> &[AstStmt] {
        self.active.last().map_or(&[], |active| &active.def.body)
    }
}
