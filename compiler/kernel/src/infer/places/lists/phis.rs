//! Phis of lists: at joins, and at the head of a loop whose rounds bind a variable to another list.
//!
//! A name refers to a list. Where paths with different lists join, the name gets a list of its own, to which
//! each path copies. A loop head does the same. A path reads all lists before it writes one, so two names may
//! swap theirs. The alias analysis reports where the script could notice the copies.
//!
//! Never here: lists in workgroup memory, of which each invocation would make its own copy, and matrices of
//! subgroups.

mod inference;

use kps_syntax::Span;

use crate::infer::expressions::operand::Operand;
use crate::infer::places::vars::{Binding, Var};
use crate::ir::Place;
use crate::types::Type;

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
