//! The variables of a function: the current binding of each.
//!
//! In straight-line code, a variable is bound to the operand that was assigned last, of whatever type. A log
//! records every change. So a branch can be undone, and its changes go into the join as a [`FlowPath`]
//! (`joins.rs`).

mod inference;

use std::ops::Index;
use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::Span;
use kps_syntax::ast::{BoolOp, Name};
use kps_syntax::scope::Scope;
use rustc_hash::FxHashMap;

use super::selected_arrays::ArraySetId;
use crate::aliases::Point;
use crate::errors::Found;
use crate::infer::expressions::operand::{Facts, Operand};
use crate::infer::expressions::weak_types::WeakPhi;
use crate::ir::{BufferId, CarryId, LocalId, NodeId};
use crate::types::{Scalar, Type};

/// A variable of the function, by its number in the scope. Higher numbers are items of tuples and marks of
/// outputs.
pub(crate) type Var = u32;

#[derive(Clone)]
pub(crate) enum Binding {
    Unset,
    /// Assigned on some of the paths to here, but not on all.
    Maybe {
        assigned: Span,
        missing: Missing,
        /// The test that distinguishes the paths, if there is one.
        assigned_when: Option<Rc<AssignedWhen>>,
    },
    Conflict(Rc<Conflict>),
    Bound {
        operand: Operand,
        span: Span,
    },
    /// In a local to which the paths to here stored.
    Stored {
        local: LocalId,
        facts: Facts,
        span: Span,
        /// Set if all stored values are weak.
        weak: Option<WeakPhi>,
    },
    /// A tuple or a row of an array. Each item of a tuple, and each number of a row, is a variable of its own,
    /// so paths join item by item.
    Items {
        items: Rc<[Var]>,
        of: Whole,
        span: Span,
    },
    /// A mistake about it was reported.
    Error,
}

/// What is split into items.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whole {
    Tuple,
    /// Its items are its indices, which have this type.
    Row {
        buffer: BufferId,
        index: Scalar,
    },
    /// One of several arrays. Its number selects the array.
    Selected(ArraySetId),
}

/// The path on which a variable has no value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing {
    pub span: Span,
    pub text: &'static str,
}

/// Why a variable cannot be read although it was assigned.
#[derive(Debug)]
pub(crate) enum Conflict {
    /// Two assignments give it different types.
    Types { first: (Span, Found), second: (Span, Found) },
    /// Two assignments give it rows of one array, with indices of these types.
    Rows { first: (Span, Scalar), second: (Span, Scalar) },
    /// Two assignments give it lists that cannot be copied.
    Lists { first: Span, second: Span, are_shared: bool },
    /// Its assignments give it more arrays than one name can select from.
    Arrays { first: Span, second: Span },
}

/// One of the paths into a join: its changes since the fork, and the place of its stores.
#[derive(Clone)]
pub(crate) struct FlowPath {
    pub changes: Vec<(Var, Binding)>,
    /// `None` if nothing needs to be stored.
    pub carry: Option<CarryId>,
    pub missing: Missing,
    /// Its end in the record of lists.
    pub end: Point,
}

impl FlowPath {
    /// The binding of the variable at the end of this path, if it changed.
    pub fn changed(&self, var: Var) -> Option<&Binding> {
        let at = self.changes.binary_search_by_key(&var, |(changed, _)| *changed).ok()?;
        Some(&self.changes[at].1)
    }

    pub fn binding<'a>(&'a self, var: Var, base: &'a Variables) -> &'a Binding {
        self.changed(var).unwrap_or(&base[var])
    }
}

/// The results of `and` and `or` in one function.
#[derive(Clone, Default)]
pub(crate) struct Tests {
    /// The loads of them, with both sides.
    sides: FxHashMap<NodeId, (BoolOp, [NodeId; 2])>,
}

impl Tests {
    pub fn note(&mut self, test: NodeId, op: BoolOp, sides: [NodeId; 2]) {
        self.sides.insert(test, (op, sides));
    }

    pub fn sides_of(&self, test: NodeId) -> Option<(BoolOp, [NodeId; 2])> {
        self.sides.get(&test).copied()
    }
}

/// The binding that a variable has if a test has a given result.
pub(crate) struct AssignedWhen {
    pub test: NodeId,
    pub holds: bool,
    pub binding: Binding,
}

/// The variables of a function at one point of it.
#[derive(Clone, Default)]
pub(crate) struct Variables {
    scope: Arc<Scope>,
    /// Variables of the scope from this one on belong to enclosing functions.
    n_own: Var,
    bindings: Vec<Binding>,
    /// The variables of the items of tuples, numbered after those of the scope.
    items: FxHashMap<(Var, usize), Var>,
    item_names: Vec<Name>,
    /// The previous binding for each change, to undo it.
    log: Vec<(Var, Binding)>,
    /// The local of a variable for each type that it has where paths join.
    locals: FxHashMap<(Var, Type), LocalId>,
    /// The types of assigned values, by the place of the assignment.
    assigned_types: Vec<(Span, Type)>,
}

impl Variables {
    pub fn of(scope: Arc<Scope>, n_own: Var) -> Variables {
        let bindings = vec![Binding::Unset; scope.names().len()];
        Variables { scope, n_own, bindings, ..Variables::default() }
    }

    /// Goes on after another walk over the function: variables and locals keep their numbers.
    pub fn keep_numbers(&mut self, walked: Variables) {
        self.bindings.resize(walked.bindings.len(), Binding::Unset);
        self.items = walked.items;
        self.item_names = walked.item_names;
        self.locals = walked.locals;
    }

    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    pub fn named(&self, name: &str) -> Option<Var> {
        self.scope.get(name)
    }

    /// The name of a variable of the source. `None` for items and marks.
    pub fn name_in_source(&self, var: Var) -> Option<&Name> {
        self.scope.names().get(var as usize)
    }

    /// Whether it belongs to the function itself, and not to an enclosing one.
    pub fn is_own(&self, var: Var) -> bool {
        var < self.n_own || self.name_in_source(var).is_none()
    }

    pub fn iter(&self) -> impl Iterator<Item = (Var, &Binding)> {
        (0..).zip(&self.bindings)
    }

    /// A variable without a name in the source.
    fn add(&mut self, name: &str) -> Var {
        let var = self.bindings.len() as Var;
        self.bindings.push(Binding::Unset);
        self.item_names.push(name.into());
        var
    }
}

impl Index<Var> for Variables {
    type Output = Binding;

    fn index(&self, var: Var) -> &Binding {
        &self.bindings[var as usize]
    }
}

/// Where paths fork: the number of changes in the log, and the point in the record of lists.
#[derive(Clone, Copy)]
pub(crate) struct Fork {
    n_changes: usize,
    lists: Point,
}

pub(crate) fn binding_span(binding: &Binding) -> Span {
    match binding {
        Binding::Bound { span, .. } | Binding::Stored { span, .. } | Binding::Items { span, .. } => *span,
        Binding::Maybe { assigned, .. } => *assigned,
        Binding::Conflict(conflict) => match **conflict {
            Conflict::Types { first: (span, _), .. }
            | Conflict::Rows { first: (span, _), .. }
            | Conflict::Lists { first: span, .. }
            | Conflict::Arrays { first: span, .. } => span,
        },
        Binding::Unset | Binding::Error => Span::default(),
    }
}
