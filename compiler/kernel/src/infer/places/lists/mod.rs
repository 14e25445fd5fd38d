//! The lists of a function: which memory each is, which names may alias it, and which are constant tables.
//!
//! In: the lists that expressions make, name, store and pass. Out: their memory, the lists that paths have in common,
//! and a record of all that for the alias analysis (`aliases/`), which finds where a script could notice a copy.

mod inference;
mod phis;
mod recording;
mod tables;

use std::cell::OnceCell;

use kps_syntax::Span;
use kps_syntax::ast::{FunctionDef, Name};
use kps_syntax::scope::Scope;
use rustc_hash::{FxHashMap, FxHashSet};

use self::tables::Table;
use super::vars::Var;
use crate::aliases::{ListEffects, Record};
use crate::infer::expressions::operand::Operand;
use crate::ir::LocalId;
use crate::resolve::{passed_members, receivers};
use crate::types::Type;

pub(crate) use self::phis::{ListJoin, list_of};
pub(crate) use self::recording::places_in;
pub(crate) use self::tables::scalar_of_large;

/// What is known of the lists of a function at one point of it.
#[derive(Clone, Default)]
pub(crate) struct Lists {
    /// What the function does with lists, for the alias analysis.
    pub record: Record,
    /// What that analysis says of the whole function.
    effects: ListEffects,
    /// Lists that loops carry, made at their heads.
    carried: FxHashSet<LocalId>,
    /// The part of a list that was last assigned to each variable.
    named_parts: FxHashMap<Var, Span>,
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

    /// A captured list.
    pub fn captured(&self, name: &Name) -> Option<&Operand> {
        self.captured.get(name)
    }

    /// What the callers of a complete function must know.
    pub fn effects(&self) -> ListEffects {
        self.effects
    }
}
