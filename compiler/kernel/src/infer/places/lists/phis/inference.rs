//! Lists where paths join.

use kps_syntax::Span;

use super::{JoinedList, ListJoin, list_of, place_of};
use crate::infer::Ctx;
use crate::infer::assumptions::Hint;
use crate::infer::control::joins::same_place;
use crate::infer::control::reference_phis::is_alike_place;
use crate::infer::expressions::operand::Operand;
use crate::infer::places::vars::{Binding, FlowPath, Var, binding_span};
use crate::ir::{CarryId, LocalId, Place, Root};
use crate::types::Type;

impl Ctx<'_> {
    /// What becomes of a variable with a list on each path. `None` if it needs no list of its own.
    pub fn list_join(&self, var: Var, paths: &[FlowPath]) -> Option<ListJoin> {
        let bindings = paths.iter().map(|path| path.binding(var, &self.f.vars));
        let places: Vec<&Place> = bindings.map(list_of).collect::<Option<_>>()?;
        let is_like_first = |place: &Place| match paths.iter().all(|path| path.carry.is_some()) {
            true => is_alike_place(places[0], place),
            false => same_place(places[0], place),
        };
        let is_known =
            |(place, path): (&&Place, &FlowPath)| is_like_first(place) && !self.is_overwritten(place, path);
        if places.iter().zip(paths).all(is_known) {
            return None;
        }
        let is_possible =
            |(place, path): (&&Place, &FlowPath)| path.carry.is_some() || self.is_carried_for(var, place);
        let ty = self.own_list_type(&places).filter(|_| places.iter().zip(paths).all(is_possible));
        Some(ty.map_or(ListJoin::Conflict, ListJoin::Copy))
    }

    /// Whether the path ends with a store to the list, which the next round of a loop reads.
    fn is_overwritten(&self, list: &Place, path: &FlowPath) -> bool {
        let is_of_list = |local: LocalId| list.root == Root::Local(local);
        path.carry.is_some_and(|carry| {
            self.f.func.carries[carry.idx()].iter().any(|(stored, _)| is_of_list(*stored))
        })
    }

    /// Whether a loop carries the list for this variable alone, so that paths out of the loop may store to it.
    fn is_carried_for(&self, var: Var, list: &Place) -> bool {
        let Root::Local(local) = list.root else { return false };
        let is_anothers = |(other, binding): (Var, &Binding)| {
            other != var && place_of(binding).is_some_and(|place| place.root == list.root)
        };
        list.path.is_empty() && self.f.lists.carried.contains(&local) && !self.f.vars.iter().any(is_anothers)
    }

    /// The type of a list to which all of these can be copied.
    fn own_list_type(&self, lists: &[&Place]) -> Option<Type> {
        let is_copied = |list: &&Place| {
            let is_of_subgroup = self.is_coop_type(&list.ty) || self.is_coop_row(&list.ty);
            !is_of_subgroup && self.shared_id(list).is_none()
        };
        let ty = self.join_lists(lists)?;
        lists.iter().all(is_copied).then_some(ty)
    }

    /// Gives variables lists of their own at a join. Names that share a list on all paths still share one.
    pub fn copy_joined_lists(&mut self, lists: Vec<(Var, Type)>, paths: &[FlowPath]) -> Vec<JoinedList> {
        let mut all: Vec<JoinedList> = Vec::with_capacity(lists.len());
        for (var, ty) in lists {
            let bindings: Vec<Binding> =
                paths.iter().map(|path| path.binding(var, &self.f.vars).clone()).collect();
            let places: Vec<Place> = bindings.iter().filter_map(list_of).cloned().collect();
            let is_same = |joined: &&JoinedList| {
                joined.list.ty == ty && joined.places.iter().zip(&places).all(|(a, b)| same_place(a, b))
            };
            let span = binding_span(&bindings[0]);
            let list = match all.iter().find(is_same) {
                Some(joined) => joined.list.clone(),
                None => self.joined_list(var, ty, &places, paths, span),
            };
            for ((path, place), binding) in paths.iter().zip(&places).zip(&bindings) {
                if let Some(carry) = path.carry {
                    self.carry_list(carry, &list, place, binding_span(binding));
                }
            }
            all.push(JoinedList { var, list, span, places });
        }
        all
    }

    /// A path without stores leaves a loop at its head, with the list that the loop carries.
    fn joined_list(&mut self, var: Var, ty: Type, places: &[Place], paths: &[FlowPath], span: Span) -> Place {
        match places.iter().zip(paths).find(|(_, path)| path.carry.is_none()) {
            Some((carried, _)) => carried.clone(),
            None => {
                let name = self.var_name(var);
                Place::local(self.new_local(&name, ty.clone(), span), ty)
            }
        }
    }

    /// Copies a list at the end of a path.
    fn carry_list(&mut self, carry: CarryId, to: &Place, from: &Place, at: Span) {
        let Root::Local(local) = to.root else { return };
        if same_place(to, from) {
            return;
        }
        let from = Operand::Place(from.clone());
        let value =
            self.at_path_end(carry, |ctx| ctx.try_convert(&from, &to.ty, at)).expect("it fits the type");
        let stores = &mut self.f.func.carries[carry.idx()];
        if !stores.iter().any(|(stored, _)| *stored == local) {
            stores.push((local, value));
        }
    }

    /// A list for what a loop carries, initialized with the list from before the loop. `None` if none is
    /// needed, or if it has another type than an earlier pass found.
    pub fn list_at_head(&mut self, var: Var, entry: &Binding, loop_start: u32) -> Option<Binding> {
        let ty = self.carried_type(var, loop_start)?;
        let span = binding_span(entry);
        let takes_it = |place: &&Place| {
            self.own_list_type(&[place]).is_some() && (place.ty == ty || self.table_fits(place, &ty))
        };
        let Some(place) = list_of(entry).filter(takes_it).cloned() else {
            self.f.assumed.forget((loop_start, var), span);
            return None;
        };
        let name = self.var_name(var);
        let local = self.new_local(&name, ty.clone(), span);
        self.f.lists.carried.insert(local);
        let list = Place::local(local, ty);
        let carry = self.new_carry();
        self.carry_list(carry, &list, &place, span);
        Some(Binding::Bound { operand: Operand::Place(list), span })
    }

    /// The type of the list that the loop carries for a variable, as an earlier walk found it.
    fn carried_type(&self, var: Var, loop_start: u32) -> Option<Type> {
        match self.f.assumed.head((loop_start, var)) {
            Some(Hint::List(ty)) => Some(ty.clone()),
            _ => None,
        }
    }

    /// Copies a list for the next round, where a round binds its variable to another one. Returns false if no
    /// round does that, or if the loop cannot carry the list.
    pub fn close_list(
        &mut self,
        (var, head): (Var, &Binding),
        paths: (&[FlowPath], &[FlowPath]),
        span: Span,
    ) -> bool {
        self.close_list_of((var, head), paths, span).is_some()
    }

    fn close_list_of(
        &mut self,
        (var, head): (Var, &Binding),
        (rounds, leaving): (&[FlowPath], &[FlowPath]),
        span: Span,
    ) -> Option<()> {
        let at = (span.start, var);
        let list = list_of(head)?;
        let given = rounds.iter().chain(leaving).filter_map(|path| path.changed(var)).map(list_of);
        let given: Vec<&Place> = given.collect::<Option<_>>()?;
        let known = self.carried_type(var, span.start);
        if known.is_none() && given.iter().all(|given| same_place(given, list)) {
            return None;
        }
        match (self.own_list_type(&[&[list][..], &given].concat()), known) {
            (Some(ty), Some(_)) if ty == list.ty => {}
            _ if self.f.assumed.gives_up() => return None,
            (Some(ty), None) => {
                self.f.assumed.correct(at, Hint::List(ty), span);
                return Some(());
            }
            (None, None) => return None,
            // A later walk gave it another type.
            (_, Some(_)) => {
                self.f.assumed.forget(at, span);
                return Some(());
            }
        }
        for path in rounds {
            let binding = path.binding(var, &self.f.vars).clone();
            if let (Some(carry), Some(given)) = (path.carry, list_of(&binding)) {
                self.carry_list(carry, list, given, binding_span(&binding));
            }
        }
        Some(())
    }
}
