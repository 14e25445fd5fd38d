//! The locals of lists.

use std::sync::Arc;

use kps_syntax::Span;
use kps_syntax::ast::{FunctionDef, Name};

use super::PartUses;
use crate::aliases::Event;
use crate::infer::FunctionState;
use crate::infer::places::vars::Var;
use crate::ir::{Home, Local, LocalId};
use crate::types::Type;

impl FunctionState<'_> {
    fn part_uses(&self) -> &PartUses {
        let of_def = |def: &Arc<FunctionDef>| PartUses::of(def, self.vars.scope());
        self.lists.part_uses.get_or_init(|| self.def.as_ref().map(of_def).unwrap_or_default())
    }

    /// Whether changes to a part of a variable must be seen through other names, or through this one.
    pub fn is_changed_in_part(&self, var: Var) -> bool {
        self.part_uses().changed.contains(&var)
    }

    pub fn is_aliased_member(&self, var: Var, member: &Name) -> bool {
        self.part_uses().aliased_members.contains(&(var, Arc::clone(member)))
    }

    /// The local of a list. Another walk over the function gives it the same one, since corrections name lists.
    pub fn list_local(&mut self, name: &str, ty: Type, span: Span) -> LocalId {
        let key = (Name::from(name), ty, span);
        let memory = &mut self.lists.memory;
        let n_before = memory.n_made.entry(key.clone()).or_default();
        *n_before += 1;
        let known = memory.locals.get(&key).and_then(|made| made.get(*n_before - 1).copied());
        let local = known.unwrap_or_else(|| {
            let (name, ty, span) = key.clone();
            self.func.locals.push(Local { name, ty, span, home: Home::Own });
            let local = LocalId(self.func.locals.len() as u32 - 1);
            memory.locals.entry(key).or_default().push(local);
            local
        });
        self.lists.record.push(Event::Made(local));
        local
    }
}
