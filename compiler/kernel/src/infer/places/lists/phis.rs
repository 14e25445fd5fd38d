//! Phis of lists: at joins, and at the head of a loop whose rounds bind a variable to another list.
//!
//! A name refers to a list. Where paths with different lists join, the name gets a list of its own, to which
//! each path copies. A loop head does the same. A path reads all lists before it writes one, so two names may
//! swap theirs. The script must not see that lists are copied. A write to a list that another name may alias is
//! an error of `aliases.rs`. This module determines which names those are.
//!
//! Never here: lists in workgroup memory, of which each invocation would make its own copy, matrices of
//! subgroups, and lists that were stored into others.

mod inference;

use kps_syntax::Span;

use super::aliases::Copied;
use crate::infer::expressions::operand::Operand;
use crate::infer::places::vars::{Binding, Var};
use crate::ir::Place;
use crate::types::Type;

/// A list that a loop carries, as an earlier pass found it.
#[derive(Clone)]
pub(crate) struct CarriedList {
    ty: Type,
    /// Where a round assigns another list to the variable.
    given: Span,
    /// On the back edges.
    aliases: ListAliases,
}

/// The lists that a joined list may alias, since it is a copy of them.
#[derive(Clone, Default)]
pub(crate) struct ListAliases {
    /// Lists of other variables, each with where this variable was assigned.
    vars: Vec<(Var, Span)>,
    /// Lists that need no variable to be reached: the caller's, those in memory, those that a loop iterates
    /// over.
    external: Vec<(Place, Span)>,
    /// Set if no name may write to the list.
    read_only: Option<Copied>,
}

/// What becomes of a list at a join.
pub(crate) enum ListJoin {
    /// The variable gets its own list, of this type.
    Copy(Type),
    /// The list cannot be copied.
    Conflict,
}

/// A variable that gets its own list at a join.
pub(crate) struct JoinedList {
    pub var: Var,
    pub list: Place,
    span: Span,
    /// Its list on each path.
    places: Vec<Place>,
    aliases: ListAliases,
}

impl JoinedList {
    pub fn binding(&self) -> Binding {
        Binding::Bound { operand: Operand::Place(self.list.clone()), span: self.span }
    }
}

/// The list to which a variable is bound.
pub(crate) fn list_of(binding: &Binding) -> Option<&Place> {
    place_of(binding).filter(|place| matches!(place.ty, Type::Array(_)))
}

/// The list, or the value with lists in it, to which a variable is bound.
fn place_of(binding: &Binding) -> Option<&Place> {
    match binding {
        Binding::Bound { operand: Operand::Place(place), .. } => Some(place),
        _ => None,
    }
}
