//! Structs: construction, members, comparison, and calls of methods.
//!
//! A struct is a value. A method also gets `self` by value. If it assigns to members of `self`, it returns the
//! changed struct to its caller, who stores it to where the method was called on.

pub(super) mod accessors;
pub(super) mod dunders;
mod inference;

use std::collections::HashMap;

use crate::infer::places::vars::Var;
use crate::ir::{Block, Function, LocalId, Loop, NodeId, Stmt};

/// The state of `self` in a method.
#[derive(Clone)]
pub(crate) struct MethodState {
    var: Var,
    /// `None` if the struct is in memory of the caller, where the method changes it directly.
    given: Option<GivenStruct>,
}

/// A struct that was passed to a method by value.
#[derive(Clone)]
struct GivenStruct {
    now: SelfValue,
    /// The caller's local for the changed struct.
    out: LocalId,
    changed: bool,
}

/// Where a method stores the struct that it was passed.
#[derive(Clone, Copy)]
enum SelfValue {
    Value(NodeId),
    /// In memory of its own, since it contains arrays.
    Local(LocalId),
}

impl MethodState {
    /// The caller's local for the changed struct, if the method changed it. `n_writes` counts the writes to
    /// each local of the method. If the struct is unchanged, the stores to the local are removed.
    pub fn changed(&self, func: &mut Function, n_writes: &HashMap<LocalId, usize>) -> Option<LocalId> {
        let given = self.given.as_ref().filter(|given| given.changed)?;
        if let SelfValue::Local(local) = given.now
            // The first write initialised it.
            && n_writes.get(&local).is_none_or(|n| *n <= 1)
        {
            drop_stores(&mut func.body, given.out);
            return None;
        }
        Some(given.out)
    }
}

fn drop_stores(block: &mut Block, to: LocalId) {
    block.retain(|stmt| !matches!(stmt, Stmt::Store { local, .. } if *local == to));
    for stmt in block {
        match stmt {
            Stmt::If { then, orelse, .. } => {
                [then, orelse].into_iter().for_each(|block| drop_stores(block, to))
            }
            Stmt::Loop(parts) => {
                let Loop { test, body, step, .. } = &mut **parts;
                [test, body, step].into_iter().for_each(|block| drop_stores(block, to));
            }
            _ => {}
        }
    }
}
