//! The walk over a record: the state at each event, and the mistakes that it shows.

use std::rc::Rc;

use kps_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use super::join::Aliases;
use super::record::{Copied, Event, Join, Named, Point, Record, Var, Writer, Written};
use super::reports::Mistake;
use super::state::{CopyKind, ListCopy, NameState, Stale, State, Stored, may_lie_in, may_overlap};
use super::{ListEffects, Recorded};
use crate::ir::{Home, Local, LocalId, Place, Root};
use crate::types::Type;

pub(super) struct Walk<'a> {
    record: &'a Record,
    pub function: &'a Recorded<'a>,
    /// The number of the event.
    at: usize,
    pub state: Rc<State>,
    /// The states at forks and at the ends of paths.
    saved: FxHashMap<Point, Rc<State>>,
    heads: FxHashMap<Point, Head>,
    /// Lists over which loops go at this point.
    pub iterated: Vec<(Place, Span)>,
    /// Each mistake with the first event that shows it.
    mistakes: FxHashMap<Mistake, (usize, Diagnostic)>,
    effects: ListEffects,
}

/// The head of a loop.
struct Head {
    /// Before the loop.
    entry: Rc<State>,
    /// At the head, as far as the walk knows the rounds.
    state: Rc<State>,
    aliases: Vec<Aliases>,
}

impl<'a> Walk<'a> {
    pub fn new(record: &'a Record, function: &'a Recorded<'a>) -> Walk<'a> {
        Walk {
            record,
            function,
            at: 0,
            state: Rc::default(),
            saved: FxHashMap::default(),
            heads: FxHashMap::default(),
            iterated: Vec::new(),
            mistakes: FxHashMap::default(),
            effects: ListEffects::default(),
        }
    }

    pub fn run(mut self) -> (Vec<Diagnostic>, ListEffects) {
        while let Some(event) = self.record.events().get(self.at) {
            self.event(event);
            self.at += 1;
        }
        let mut mistakes: Vec<(usize, Diagnostic)> = self.mistakes.into_values().collect();
        mistakes.sort_by_key(|(at, _)| *at);
        (mistakes.into_iter().map(|(_, mistake)| mistake).collect(), self.effects)
    }

    fn here(&self) -> Point {
        Point::of(self.at)
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::Fork | Event::PathEnd => drop(self.saved.insert(self.here(), Rc::clone(&self.state))),
            Event::Rewind(fork) => self.state = Rc::clone(&self.saved[fork]),
            Event::Join(join) => {
                let paths: Vec<Rc<State>> = self.ends(join).collect();
                if !paths.is_empty() {
                    self.state = Rc::new(self.joined(join, &paths, &mut Vec::new()));
                }
            }
            Event::Head(join) => self.enter(join),
            Event::LoopEnd(head) => self.close(*head),
            Event::Iterates(list, span) => self.iterated.push((list.clone(), *span)),
            Event::IterationsEnd(n) => self.iterated.truncate(self.iterated.len() - n),
            Event::Named(var, named) => {
                let name = NameState { named: Rc::clone(named), stale: None };
                self.change().names.insert(*var, name);
            }
            Event::Unnamed(var) => drop(self.change().names.remove(var)),
            Event::Read(var, span) => self.read(*var, *span),
            Event::Made(list) => self.change().forget(*list),
            Event::Copied { list, at, kind } => self.copied(*list, *at, kind),
            Event::Written(written) => self.written(written),
            Event::Replaced { place, by } => self.replaced(place, *by),
            Event::Stored { list, into, at } => self.stored(list, into, *at),
            Event::Returned(list) => self.effects.returns_shared |= self.is_reachable_by_caller(list),
            Event::ReturnedPart => self.effects.returns_shared = true,
        }
    }

    fn change(&mut self) -> &mut State {
        Rc::make_mut(&mut self.state)
    }

    pub fn local(&self, local: LocalId) -> &Local {
        &self.function.locals[local.idx()]
    }

    pub fn report(&mut self, mistake: Mistake, diagnostic: Diagnostic) {
        if self.record.is_muted(self.at) {
            return;
        }
        // When a loop is repeated, more is known.
        let is_first = self.mistakes.get(&mistake).is_none_or(|(first, _)| self.at <= *first);
        if is_first {
            self.mistakes.insert(mistake, (self.at, diagnostic));
        }
    }

    /// The states of the paths that the walk has reached.
    fn ends(&self, join: &Join) -> impl Iterator<Item = Rc<State>> {
        join.paths.iter().filter_map(|end| self.saved.get(end).cloned())
    }

    /// Enters a loop. If an outer loop repeats it, it begins with what it knew.
    fn enter(&mut self, join: &Join) {
        let head = self.here();
        let known = self.heads.remove(&head);
        let (mut aliases, known) =
            known.map_or_else(Default::default, |head| (head.aliases, Some(head.state)));
        let entry = Rc::clone(&self.state);
        self.state = Rc::new(self.at_head(join, &entry, known, &mut aliases));
        self.heads.insert(head, Head { entry, state: Rc::clone(&self.state), aliases });
    }

    fn at_head(
        &self,
        join: &Join,
        entry: &Rc<State>,
        known: Option<Rc<State>>,
        aliases: &mut Vec<Aliases>,
    ) -> State {
        let paths: Vec<Rc<State>> = [Rc::clone(entry)].into_iter().chain(self.ends(join)).collect();
        let mut joined = self.joined(join, &paths, aliases);
        if let Some(known) = known {
            joined.extend(&known);
        }
        joined
    }

    /// Repeats the loop if its rounds change the state at its head.
    fn close(&mut self, head: Point) {
        let Event::Head(join) = &self.record.events()[head.idx()] else { unreachable!("a loop has a head") };
        let Head { entry, state, mut aliases } = self.heads.remove(&head).expect("the walk entered the loop");
        let joined = Rc::new(self.at_head(join, &entry, Some(Rc::clone(&state)), &mut aliases));
        if joined != state {
            self.at = head.idx();
            self.state = Rc::clone(&joined);
        }
        self.heads.insert(head, Head { entry, state: joined, aliases });
    }

    fn read(&mut self, var: Var, span: Span) {
        let Some(NameState { named, stale: Some(stale) }) = self.state.names.get(&var).cloned() else {
            return;
        };
        let mistake = self.stale_read(&named, &stale, span);
        self.report(Mistake::Read(var, stale.by()), mistake);
        // A write through this name is no second mistake.
        if let Root::Local(local) = named.place.root {
            self.change().copies.remove(&local);
        }
    }

    fn copied(&mut self, list: LocalId, at: Span, kind: &Copied) {
        let kind = match kind {
            Copied::OfShared(of) if !of.iter().any(|list| self.is_shared(list)) => return,
            Copied::OfShared(of) | Copied::Of(of) => CopyKind::Of(self.state.originals(of).into()),
            Copied::Captured => CopyKind::Captured,
            Copied::Given => CopyKind::Given,
            Copied::OfOneRow => CopyKind::OfOneRow,
        };
        self.change().copies.insert(list, ListCopy { at, kind });
    }

    fn written(&mut self, written: &Written) {
        let Written { place, at, by, is_matrix } = written;
        self.copy_written(place, *at, *is_matrix);
        match by {
            Writer::Store => self.original_written(place, *at),
            Writer::Call(call) => {
                self.stored_written(place, place.path.len() + 1, *call);
                self.original_written(place, *call);
            }
        }
    }

    /// Reports a write to a copy, once for each copy.
    fn copy_written(&mut self, place: &Place, at: Span, is_matrix: bool) {
        let Root::Local(local) = place.root else { return };
        if !self.state.copies.contains_key(&local) {
            return;
        }
        let copy = self.change().copies.remove(&local).expect("checked above");
        let mistake = self.written_copy(local, &copy, at, is_matrix);
        self.report(Mistake::Copy(local), mistake);
    }

    /// A list, or a value with lists in it, is written. Names of its copies are outdated.
    fn original_written(&mut self, written: &Place, by: Span) {
        self.stored_written(written, written.path.len(), by);
        let copy_of_written = |state: &State, place: &Place| {
            state.copy_at(place).filter(|copy| copy.may_be_copy_of(written)).cloned()
        };
        let walked = self.iterated.iter().find(|(walked, _)| copy_of_written(&self.state, walked).is_some());
        if let Some((_, walked)) = walked.cloned() {
            self.report(Mistake::Iterated(walked), self.walked_written(walked, by));
        }
        let outdated =
            |(var, named): (Var, &Rc<Named>)| Some((var, copy_of_written(&self.state, &named.place)?));
        let outdated: Vec<(Var, ListCopy)> = self.state.readable().filter_map(outdated).collect();
        for (var, copy) in outdated {
            let stale = Stale::Outdated { copied: copy.at, may_alias: copy.alias_text(), by };
            self.change().make_stale(var, stale);
        }
    }

    /// Reports a write to a list that was stored into another one, or to its copy there. The write is `depth` steps
    /// below the root.
    fn stored_written(&mut self, written: &Place, depth: usize, by: Span) {
        let is_inside = |whole: &Place| depth > whole.path.len() && may_overlap(written, whole);
        let is_one_of_two = |stored: &Stored| match is_inside(&stored.into) {
            true => self.has_other_references(&stored.list),
            false => is_inside(&stored.list),
        };
        if let Some(found) = self.state.stored.iter().position(is_one_of_two) {
            let Stored { at, .. } = self.change().stored.swap_remove(found);
            self.report(Mistake::Stored(at), self.written_stored(at, by));
        }
    }

    /// A whole part of a list or an array is replaced. Names of anything inside it are stale.
    fn replaced(&mut self, replaced: &Place, by: Span) {
        self.effects.replaces_parts |= match replaced.root {
            Root::Local(local) => self.local(local).home != Home::Own,
            Root::Element(..) => true,
        };
        let state = self.change();
        state.stored.retain(|stored| stored.list != *replaced && stored.into != *replaced);
        let lies_in = |place: &Place| matches!(place.ty, Type::Array(_)) && may_lie_in(place, replaced);
        let named = state.readable().filter(|(_, named)| lies_in(&named.place));
        let named: Vec<Var> = named.map(|(var, _)| var).collect();
        named.into_iter().for_each(|var| state.make_stale(var, Stale::Replaced { by }));
        if let Some((_, walked)) =
            self.iterated.iter().find(|(place, _)| may_lie_in(place, replaced)).cloned()
        {
            self.report(Mistake::Iterated(walked), self.walked_replaced(walked, by));
        }
    }

    /// A list to which other names refer is stored into another list.
    fn stored(&mut self, list: &Place, into: &Place, at: Span) {
        let is_own = |place: &Place| matches!(place.root, Root::Local(local) if !matches!(self.local(local).home, Home::Workgroup(_)));
        if !is_own(list) || !is_own(into) {
            return;
        }
        let also_in = self.state.stored.iter().filter(|stored| stored.list == *list);
        let mut lists: Vec<Place> = also_in.map(|stored| stored.into.clone()).collect();
        lists.extend(self.state.originals(std::slice::from_ref(list)));
        let stored = lists.into_iter().map(|list| Stored { list, into: into.clone(), at });
        self.change().stored.extend(stored);
    }

    /// Whether a value made of a list would share the list, in Python, with another name.
    fn is_shared(&self, list: &Place) -> bool {
        self.has_other_references(list) || self.state.copy_at(list).is_some()
    }

    /// Whether there are other references to a list: it or a copy of it has a name, or it is in memory that others see.
    fn has_other_references(&self, list: &Place) -> bool {
        let Root::Local(local) = list.root else { return true };
        let is_captured =
            matches!(self.state.copies.get(&local), Some(ListCopy { kind: CopyKind::Captured, .. }));
        is_captured
            || self.local(local).home != Home::Own
            || self.state.readable().any(|(_, named)| {
                let copy = self.state.copy_at(&named.place);
                named.place.root == list.root || copy.is_some_and(|copy| copy.may_be_copy_of(list))
            })
    }

    /// Whether the caller of the function has another reference to the list.
    fn is_reachable_by_caller(&self, list: &Place) -> bool {
        match list.root {
            Root::Local(local) => {
                self.state.copies.contains_key(&local) || self.local(local).home != Home::Own
            }
            Root::Element(..) => true,
        }
    }
}
