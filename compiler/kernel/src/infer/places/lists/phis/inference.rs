//! Lists where paths join.

use std::rc::Rc;

use kps_syntax::Span;

use super::super::aliases::{Copied, Stored, may_overlap};
use super::{CarriedList, JoinedList, ListAliases, ListJoin, list_of, place_of};
use crate::infer::Ctx;
use crate::infer::assumptions::Hint;
use crate::infer::control::joins::same_place;
use crate::infer::control::reference_phis::is_alike_place;
use crate::infer::expressions::operand::Operand;
use crate::infer::places::vars::{Binding, Conflict, FlowPath, Var, binding_span};
use crate::ir::{CarryId, Home, LocalId, Place, Root};
use crate::types::Type;

impl ListAliases {
    /// Adds the other's lists. Returns whether any was new.
    fn add(&mut self, other: ListAliases) -> bool {
        let mut is_new = self.read_only.is_none() && other.read_only.is_some();
        for (var, span) in other.vars {
            if !self.vars.iter().any(|(known, _)| *known == var) {
                self.vars.push((var, span));
                is_new = true;
            }
        }
        for (place, span) in other.external {
            if !self.external.iter().any(|(known, _)| is_alike_place(known, &place)) {
                self.external.push((place, span));
                is_new = true;
            }
        }
        self.read_only = self.read_only.take().or(other.read_only);
        is_new
    }
}

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
        let is_possible = |(place, path): (&&Place, &FlowPath)| {
            !is_stored(place, &path.stored) && (path.carry.is_some() || self.is_carried_for(var, place))
        };
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
        list.path.is_empty()
            && self.f.lists.carried.contains(&local)
            && !self.f.vars.iter().any(is_anothers)
            && !self.f.lists.iterated.iter().any(|(iterated, _)| iterated.root == list.root)
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
            let mut aliases = ListAliases::default();
            for ((path, place), binding) in paths.iter().zip(&places).zip(&bindings) {
                aliases.add(self.aliases_on(var, |var| path.binding(var, &self.f.vars)));
                path.carry
                    .into_iter()
                    .for_each(|carry| self.carry_list(carry, &list, place, binding_span(binding)));
            }
            all.push(JoinedList { var, list, span, places, aliases });
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

    /// What the list of a variable may alias on a path with these bindings.
    fn aliases_on<'b>(&self, var: Var, binding: impl Fn(Var) -> &'b Binding) -> ListAliases {
        let Some(list) = place_of(binding(var)) else { return ListAliases::default() };
        let lists = self.originals(&Operand::Place(list.clone()));
        let is_among = |place: &Place| lists.iter().any(|list| may_overlap(list, place));
        let is_alias = |other: &Var| {
            let place = (*other != var).then(|| place_of(binding(*other))).flatten();
            let place = place.map(|place| self.originals(&Operand::Place(place.clone())));
            place.is_some_and(|places| places.iter().any(is_among))
        };
        let span = binding_span(binding(var));
        let vars =
            self.f.vars.iter().map(|(other, _)| other).filter(is_alias).map(|other| (other, span)).collect();
        let is_external = |place: &&Place| match place.root {
            Root::Local(local) => self.f.func.local(local).home == Home::Caller,
            Root::Element(..) => true,
        };
        let iterated =
            self.f.lists.iterated.iter().map(|(iterated, _)| iterated).filter(|iterated| is_among(iterated));
        let copied = match list.root {
            Root::Local(local) => self.f.lists.copies.get(&local),
            Root::Element(..) => None,
        };
        let read_only = copied.filter(|copied| copied.is_read_only()).cloned();
        let external =
            lists.iter().filter(is_external).chain(iterated).map(|place| (place.clone(), span)).collect();
        ListAliases { vars, external, read_only }
    }

    /// After the join, a write to the list or to a list that it may alias makes the other one outdated.
    pub fn note_aliases(&mut self, joined: JoinedList) {
        self.note_aliases_of(joined.var, &joined.list, joined.aliases);
    }

    fn note_aliases_of(&mut self, var: Var, list: &Place, aliases: ListAliases) {
        let Root::Local(local) = list.root else { return };
        let named = aliases.vars.into_iter().filter_map(|(other, given)| {
            let place = place_of(&self.f.vars[other]).filter(|place| place.root != list.root)?;
            let name = self.var_name(other);
            let what = match (place.ty == list.ty, place.path.is_empty()) {
                (true, _) => format!("the list of `{name}`"),
                (false, true) => format!("a part of `{name}`"),
                (false, false) => format!("the list of which `{name}` is a part"),
            };
            Some((place.clone(), given, what))
        });
        let external = aliases.external.into_iter().map(|(place, given)| {
            let what = self.describe_external(&place);
            (place, given, what)
        });
        let all: Vec<(Place, Span, String)> = named.chain(external).collect();
        let copied = match all.first() {
            Some((_, given, other)) => {
                let words = [self.var_name(var), other.as_str().into()];
                let of = all.iter().map(|(place, ..)| place.clone()).collect();
                Some(Copied::may_alias(words, of, aliases.read_only.is_some(), *given))
            }
            None => aliases.read_only,
        };
        match copied {
            Some(copied) => drop(self.f.lists.copies.insert(local, copied)),
            None => drop(self.f.lists.copies.remove(&local)),
        }
    }

    /// A description of a list that needs no variable to be reached.
    fn describe_external(&self, list: &Place) -> String {
        match list.root {
            Root::Element(buffer, _) => format!("the list in `{}`", self.array_name(buffer)),
            Root::Local(local) if self.f.func.local(local).home == Home::Caller => {
                "the list that the function was given".to_owned()
            }
            Root::Local(_) => "the list that a loop goes over".to_owned(),
        }
    }

    /// What the lists that a loop carries may alias, before anything is bound at the head.
    pub fn aliases_before_loop(&self, changed: &[Var], loop_start: u32) -> Vec<(Var, ListAliases)> {
        let carried = changed.iter().filter_map(|var| Some((*var, self.carried_list(*var, loop_start)?)));
        let with_entry = carried.map(|(var, list)| {
            let mut aliases = list.aliases.clone();
            aliases.add(self.aliases_on(var, |var| &self.f.vars[var]));
            (var, aliases)
        });
        with_entry.collect()
    }

    fn carried_list(&self, var: Var, loop_start: u32) -> Option<&CarriedList> {
        match self.f.assumed.head((loop_start, var)) {
            Some(Hint::List(list)) => Some(list),
            _ => None,
        }
    }

    /// A list for what a loop carries, initialized with the list from before the loop. `None` if none is
    /// needed, or if it has another type than an earlier pass found.
    pub fn list_at_head(&mut self, var: Var, entry: &Binding, loop_start: u32) -> Option<Binding> {
        let CarriedList { ty, given, .. } = self.carried_list(var, loop_start)?.clone();
        let span = binding_span(entry);
        if list_of(entry).is_some_and(|list| is_stored(list, &self.f.lists.stored)) {
            let conflict = Conflict::Lists { first: span, second: given, are_shared: false };
            return Some(Binding::Conflict(Rc::new(conflict)));
        }
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

    /// Called when everything is bound at the head.
    pub fn note_aliases_at_head(&mut self, aliases: Vec<(Var, ListAliases)>) {
        for (var, aliases) in aliases {
            if let Some(list) = list_of(&self.f.vars[var]).cloned() {
                self.note_aliases_of(var, &list, aliases);
            }
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
        let gives_up = self.f.assumed.gives_up();
        let list = list_of(head)?;
        let changed = rounds.iter().chain(leaving).filter_map(|path| Some((path, path.changed(var)?)));
        let given_at =
            changed.clone().next().map_or(binding_span(head), |(_, binding)| binding_span(binding));
        let given =
            changed.map(|(path, binding)| list_of(binding).filter(|list| !is_stored(list, &path.stored)));
        let given: Vec<&Place> = given.collect::<Option<_>>()?;
        let known = self.carried_list(var, span.start).map(|list| list.aliases.clone());
        if known.is_none() && given.iter().all(|given| same_place(given, list)) {
            return None;
        }
        let ty = self.own_list_type(&[&[list][..], &given].concat());
        let (ty, mut aliases) = match (ty, known) {
            (Some(ty), Some(aliases)) if ty == list.ty => (ty, aliases),
            _ if gives_up => return None,
            (Some(ty), None) => {
                let list = CarriedList { ty, given: given_at, aliases: ListAliases::default() };
                self.f.assumed.correct(at, Hint::List(list), span);
                return Some(());
            }
            (None, None) => return None,
            // A later walk gave it another type.
            (_, Some(_)) => {
                self.f.assumed.forget(at, span);
                return Some(());
            }
        };
        let mut is_new = false;
        for path in rounds {
            let binding = |var: Var| path.binding(var, &self.f.vars);
            let mut of_round = self.aliases_on(var, binding);
            of_round.vars.retain(|(other, _)| place_of(&self.f.vars[*other]).is_some());
            is_new |= aliases.add(of_round);
            let (binding, list) = (binding(var).clone(), list.clone());
            if let (Some(carry), Some(given)) = (path.carry, list_of(&binding)) {
                self.carry_list(carry, &list, given, binding_span(&binding));
            }
        }
        if is_new && gives_up {
            return None;
        }
        if is_new {
            let list = CarriedList { ty, given: given_at, aliases };
            self.f.assumed.correct(at, Hint::List(list), span);
        }
        Some(())
    }
}

/// Whether a list was stored into another one, or contains one that was.
fn is_stored(list: &Place, stored: &[Stored]) -> bool {
    stored.iter().any(|stored| stored.overlaps(list))
}
