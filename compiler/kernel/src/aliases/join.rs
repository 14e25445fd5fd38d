//! Joins of paths: what holds on any of them holds after the join.
//!
//! Where paths give a variable different lists, it gets a list of its own, to which each path copies. After the join,
//! that list may alias each list that the variable could have named, and each name of those.

use std::rc::Rc;

use kps_syntax::Span;

use super::record::{Join, Named, Var};
use super::state::{CopyKind, ListCopy, NameState, Stale, State, may_overlap};
use super::walk::Walk;
use crate::ir::{Home, LocalId, Place, Root};

/// The lists that a joined list may alias, since it is a copy of them.
#[derive(Clone, Default)]
pub(super) struct Aliases {
    /// Lists of other variables, each with where this variable was assigned.
    vars: Vec<(Var, Span)>,
    /// Lists that need no variable to be reached: the caller's, those in memory, those that a loop goes over.
    external: Vec<(Place, Span)>,
    /// Set if no name may write to the list.
    read_only: Option<ListCopy>,
}

impl Aliases {
    fn add(&mut self, other: Aliases) {
        for (var, span) in other.vars {
            if !self.vars.iter().any(|(known, _)| *known == var) {
                self.vars.push((var, span));
            }
        }
        for (place, span) in other.external {
            if !self.external.iter().any(|(known, _)| *known == place) {
                self.external.push((place, span));
            }
        }
        self.read_only = self.read_only.take().or(other.read_only);
    }
}

impl Walk<'_> {
    /// The state where these paths join. `aliases` has those that are known of each copied list, and gets the others.
    pub(super) fn joined(&self, join: &Join, paths: &[Rc<State>], aliases: &mut Vec<Aliases>) -> State {
        aliases.resize_with(join.copied.len(), Aliases::default);
        for (var, known) in join.copied.iter().zip(&mut *aliases) {
            paths.iter().for_each(|path| known.add(self.aliases_of(*var, path)));
        }
        let mut joined = common(paths);
        for (var, named) in &join.names {
            let stale = paths.iter().find_map(|path| path.names.get(var)?.stale.clone());
            let is_copied = join.copied.contains(var);
            let stale = stale.or_else(|| if is_copied { stored_on_a_path(*var, paths) } else { None });
            match named {
                Some(named) => drop(joined.names.insert(*var, NameState { named: Rc::clone(named), stale })),
                None => drop(joined.names.remove(var)),
            }
        }
        let named =
            join.copied.iter().filter_map(|var| joined.names.get(var).map(|name| Rc::clone(&name.named)));
        let lists: Vec<(Rc<Named>, LocalId)> =
            named.filter_map(|named| Some((Rc::clone(&named), named.list()?))).collect();
        lists.iter().for_each(|(_, list)| joined.forget(*list));
        for ((named, list), aliases) in lists.iter().zip(aliases) {
            if let Some(copy) = self.copy_of_aliases(named, *list, aliases.clone(), &joined) {
                joined.copies.insert(*list, copy);
            }
        }
        joined
    }

    /// What the list of a variable may alias at the end of a path.
    fn aliases_of(&self, var: Var, path: &State) -> Aliases {
        let Some(NameState { named, stale: None }) = path.names.get(&var) else { return Aliases::default() };
        let (list, span) = (&named.place, named.span);
        let lists = path.originals(std::slice::from_ref(list));
        let is_among = |place: &Place| lists.iter().any(|list| may_overlap(list, place));
        let is_alias = |place: &Place| path.originals(std::slice::from_ref(place)).iter().any(is_among);
        let others = path.readable().filter(|(other, _)| *other != var);
        let vars =
            others.filter(|(_, other)| is_alias(&other.place)).map(|(other, _)| (other, span)).collect();
        let is_external = |place: &&Place| match place.root {
            Root::Local(local) => self.local(local).home == Home::Caller,
            Root::Element(..) => true,
        };
        let iterated =
            self.iterated.iter().map(|(iterated, _)| iterated).filter(|iterated| is_among(iterated));
        let external =
            lists.iter().filter(is_external).chain(iterated).map(|place| (place.clone(), span)).collect();
        let read_only = path.copy_at(list).filter(|copy| copy.is_read_only()).cloned();
        Aliases { vars, external, read_only }
    }

    /// A write to a joined list, or to a list that it may alias, makes the other one outdated.
    fn copy_of_aliases(
        &self,
        copy: &Named,
        list: LocalId,
        aliases: Aliases,
        joined: &State,
    ) -> Option<ListCopy> {
        let ty = &copy.place.ty;
        let named = aliases.vars.into_iter().filter_map(|(other, given)| {
            let other = &joined.names.get(&other).filter(|name| name.stale.is_none())?.named;
            if other.place.root == Root::Local(list) {
                return None;
            }
            let name = &other.name;
            let what = match (other.place.ty == *ty, other.place.path.is_empty()) {
                (true, _) => format!("the list of `{name}`"),
                (false, true) => format!("a part of `{name}`"),
                (false, false) => format!("the list of which `{name}` is a part"),
            };
            Some((other.place.clone(), given, what))
        });
        let external = aliases.external.into_iter().map(|(place, given)| {
            let what = self.describe_external(&place);
            (place, given, what)
        });
        let all: Vec<(Place, Span, String)> = named.chain(external).collect();
        let Some((_, given, what)) = all.first() else { return aliases.read_only };
        let kind = CopyKind::MayAlias {
            name: copy.name.clone(),
            what: what.as_str().into(),
            of: all.iter().map(|(place, ..)| place.clone()).collect(),
            is_read_only: aliases.read_only.is_some(),
        };
        Some(ListCopy { at: *given, kind })
    }

    /// A description of a list that needs no variable to be reached.
    fn describe_external(&self, list: &Place) -> String {
        match list.root {
            Root::Element(buffer, _) => format!("the list in `{}`", (self.function.array_name)(buffer)),
            Root::Local(local) if self.local(local).home == Home::Caller => {
                "the list that the function was given".to_owned()
            }
            Root::Local(_) => "the list that a loop goes over".to_owned(),
        }
    }
}

/// The names that all paths have in common, and what any path knows of lists.
fn common(paths: &[Rc<State>]) -> State {
    let (first, rest) = paths.split_first().expect("a join has paths");
    let mut joined = State::clone(first);
    for path in rest.iter().filter(|path| !Rc::ptr_eq(path, first)) {
        joined.names.retain(|var, name| {
            let Some(other) = path.names.get(var).filter(|other| other.named.place == name.named.place)
            else {
                return false;
            };
            name.stale = name.stale.take().or_else(|| other.stale.clone());
            true
        });
        joined.add_lists(&path.copies, &path.stored);
    }
    joined
}

/// A list that was stored into another one on a path cannot be copied for the variable.
fn stored_on_a_path(var: Var, paths: &[Rc<State>]) -> Option<Rc<Stale>> {
    let is_stored = |path: &Rc<State>| path.place_of(var).is_some_and(|list| path.is_stored(list));
    if !paths.iter().any(is_stored) {
        return None;
    }
    let mut spans = paths.iter().filter_map(|path| Some(path.names.get(&var)?.named.span));
    let first = spans.next()?;
    let second = spans.find(|span| *span != first).unwrap_or(first);
    let (first, second) = if first.start > second.start { (second, first) } else { (first, second) };
    Some(Rc::new(Stale::Lists { first, second }))
}
