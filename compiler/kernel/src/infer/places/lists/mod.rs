//! The lists of a function: which memory each is, which names may alias it, and which are constant tables.
//!
//! In: the lists that expressions make, name, store and pass. Out: the errors where a script could notice that a list
//! was copied, and the lists that paths have in common.

mod aliases;
mod inference;
mod phis;
mod tables;

use std::cell::OnceCell;

use kps_syntax::Span;
use kps_syntax::ast::{FunctionDef, Name};
use kps_syntax::scope::Scope;
use rustc_hash::{FxHashMap, FxHashSet};

use self::aliases::Copied;
use self::tables::Table;
use super::vars::Var;
use crate::infer::expressions::operand::Operand;
use crate::ir::{LocalId, Place};
use crate::resolve::{passed_members, receivers};
use crate::types::Type;

pub(crate) use self::aliases::Stored;
pub(crate) use self::phis::{CarriedList, ListJoin, list_of};
pub(crate) use self::tables::scalar_of_large;

/// What is known of the lists of a function at one point of it.
#[derive(Clone, Default)]
pub(crate) struct Lists {
    /// Lists that are copies of others.
    copies: FxHashMap<LocalId, Copied>,
    /// Lists that were stored into others.
    stored: Vec<Stored>,
    /// Lists over which loops iterate at this point.
    iterated: Vec<(Place, Span)>,
    /// Lists that loops carry, made at their heads.
    carried: FxHashSet<LocalId>,
    /// The part of a list that was last assigned to each variable.
    named_parts: FxHashMap<Var, Span>,
    /// Whether the function returns a list to which its caller has another reference.
    returns_shared: bool,
    /// Whether the function replaces a list or struct inside an argument.
    replaces_parts: bool,
    /// Captured lists, in locals of their own.
    captured: FxHashMap<Name, Operand>,
    /// Captured lists and lists of the function whose numbers are all weak.
    tables: FxHashMap<LocalId, Table>,
    /// The number of subscripts with which the function reads each name, computed on demand.
    reading_depths: OnceCell<FxHashMap<Name, usize>>,
    part_uses: OnceCell<PartUses>,
    memory: ListMemory,
}

/// What a function does with parts of its variables, computed on demand.
#[derive(Clone, Default)]
struct PartUses {
    /// Variables of which the function assigns a part, or on which it calls methods.
    changed: FxHashSet<Var>,
    /// Variables and names of members to which the function gives other names, or which it passes on.
    aliased_members: FxHashSet<(Var, Name)>,
}

impl PartUses {
    fn of(def: &FunctionDef, scope: &Scope) -> PartUses {
        let mut uses = PartUses::default();
        let mut changed = |name: &Name| uses.changed.extend(scope.get(name));
        receivers(&def.body, &mut changed);
        scope.changed_in_part().iter().for_each(changed);
        passed_members(&def.body, &mut |name, member| {
            uses.aliased_members.extend(scope.get(name).map(|var| (var, member.clone())));
        });
        uses
    }
}

/// The locals of lists.
#[derive(Clone, Default)]
struct ListMemory {
    /// Those that any walk made, by what they are for.
    locals: FxHashMap<ListKey, Vec<LocalId>>,
    /// How many of each this walk made.
    n_made: FxHashMap<ListKey, usize>,
    /// Those that this walk made, in order.
    made: Vec<LocalId>,
}

/// The name, the type and the place of a list.
type ListKey = (Name, Type, Span);

impl Lists {
    /// Goes on after another walk over the function: its lists keep their locals.
    pub fn keep_memory(&mut self, walked: Lists) {
        self.memory.locals = walked.memory.locals;
        self.reading_depths = walked.reading_depths;
        self.part_uses = walked.part_uses;
    }

    /// The lists made so far, in order.
    pub fn made(&self) -> &[LocalId] {
        &self.memory.made
    }

    /// The lists that were stored into others at this point.
    pub fn stored(&self) -> &[Stored] {
        &self.stored
    }

    pub fn set_stored(&mut self, stored: Vec<Stored>) {
        self.stored = stored;
    }

    /// A loop begins to go over a list.
    pub fn begin_iteration(&mut self, list: Place, span: Span) {
        self.iterated.push((list, span));
    }

    /// The number of lists over which loops iterate.
    pub fn n_iterated(&self) -> usize {
        self.iterated.len()
    }

    /// The loops over all lists but the first ones end.
    pub fn end_iterations(&mut self, n_left: usize) {
        self.iterated.truncate(n_left);
    }

    /// A captured list.
    pub fn captured(&self, name: &Name) -> Option<&Operand> {
        self.captured.get(name)
    }

    /// The function returns a list to which its caller has another reference.
    pub fn note_returned_shared(&mut self) {
        self.returns_shared = true;
    }

    pub fn returns_shared(&self) -> bool {
        self.returns_shared
    }

    pub fn replaces_parts(&self) -> bool {
        self.replaces_parts
    }
}
