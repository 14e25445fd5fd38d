//! What is known of lists at one point of a function.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::rc::Rc;

use kps_syntax::Span;
use kps_syntax::ast::Name;

use super::Var;
use super::record::Named;
use crate::ir::{LocalId, Place, Root, Step};

#[derive(Clone, Default, PartialEq)]
pub(super) struct State {
    pub names: BTreeMap<Var, NameState>,
    /// Lists that are copies of others.
    pub copies: BTreeMap<LocalId, ListCopy>,
    /// Lists that were stored into others.
    pub stored: Vec<Stored>,
}

#[derive(Clone, PartialEq)]
pub(super) struct NameState {
    pub named: Rc<Named>,
    /// Set if it must not be read.
    pub stale: Option<Rc<Stale>>,
}

/// Why a name must not be read.
#[derive(PartialEq)]
pub(super) enum Stale {
    /// It names a part of a list that was replaced since.
    Replaced { by: Span },
    /// It names a copy of a list that was written since, or of a list that it may alias, which the text describes.
    Outdated { copied: Span, may_alias: Option<Name>, by: Span },
    /// Paths give it lists of which one is stored in another list.
    Lists { first: Span, second: Span },
}

/// A list that is a copy, where other names refer to the original.
#[derive(Clone, PartialEq)]
pub(super) struct ListCopy {
    pub at: Span,
    pub kind: CopyKind,
}

#[derive(Clone, PartialEq)]
pub(super) enum CopyKind {
    Of(Rc<[Place]>),
    /// After a join, where one path gave the name the list that `what` describes. Another path may have given it a
    /// list that `is_read_only`.
    MayAlias {
        name: Name,
        what: Name,
        of: Rc<[Place]>,
        is_read_only: bool,
    },
    Captured,
    Given,
    OfOneRow,
}

/// A list that was stored into another list or a struct, as a copy.
#[derive(Clone, PartialEq)]
pub(super) struct Stored {
    pub list: Place,
    pub into: Place,
    pub at: Span,
}

impl ListCopy {
    /// A description of the list that it may alias.
    pub fn alias_text(&self) -> Option<Name> {
        match &self.kind {
            CopyKind::MayAlias { what, .. } => Some(what.clone()),
            _ => None,
        }
    }

    /// Whether no name may write to it.
    pub fn is_read_only(&self) -> bool {
        match self.kind {
            CopyKind::Captured | CopyKind::Given | CopyKind::OfOneRow => true,
            CopyKind::MayAlias { is_read_only, .. } => is_read_only,
            CopyKind::Of(_) => false,
        }
    }

    /// The lists of which it is a copy.
    pub fn of(&self) -> &[Place] {
        match &self.kind {
            CopyKind::Of(of) | CopyKind::MayAlias { of, .. } => of,
            CopyKind::Captured | CopyKind::Given | CopyKind::OfOneRow => &[],
        }
    }

    /// Adds what the same list may be a copy of on another path.
    fn add(&mut self, other: &ListCopy) {
        let is_new = |place: &&Place| !self.of().contains(place);
        let new: Vec<Place> = other.of().iter().filter(is_new).cloned().collect();
        let read_only = self.is_read_only() || other.is_read_only();
        if self.of().is_empty() && !new.is_empty() {
            *self = other.clone();
        } else if let CopyKind::Of(of) | CopyKind::MayAlias { of, .. } = &mut self.kind
            && !new.is_empty()
        {
            *of = of.iter().cloned().chain(new).collect();
        }
        if let CopyKind::MayAlias { is_read_only, .. } = &mut self.kind {
            *is_read_only = read_only;
        }
    }

    pub fn may_be_copy_of(&self, written: &Place) -> bool {
        self.of().iter().any(|place| may_overlap(place, written))
    }
}

impl Stored {
    /// Whether either of the two lists of this store may overlap `list`.
    pub fn overlaps(&self, list: &Place) -> bool {
        may_overlap(&self.list, list) || may_overlap(&self.into, list)
    }

    fn is_about(&self, local: LocalId) -> bool {
        [&self.list, &self.into].iter().any(|place| place.root == Root::Local(local))
    }
}

impl State {
    /// What a variable names, if it may be read.
    pub fn place_of(&self, var: Var) -> Option<&Place> {
        self.names.get(&var).filter(|name| name.stale.is_none()).map(|name| &name.named.place)
    }

    /// The names that may be read.
    pub fn readable(&self) -> impl Iterator<Item = (Var, &Rc<Named>)> {
        self.names.iter().filter(|(_, name)| name.stale.is_none()).map(|(var, name)| (*var, &name.named))
    }

    pub fn make_stale(&mut self, var: Var, stale: Stale) {
        if let Some(name) = self.names.get_mut(&var) {
            name.stale.get_or_insert_with(|| Rc::new(stale));
        }
    }

    /// The copy that is in a list of the function, or contains it.
    pub fn copy_at(&self, place: &Place) -> Option<&ListCopy> {
        match place.root {
            Root::Local(local) => self.copies.get(&local),
            Root::Element(..) => None,
        }
    }

    /// Whether this list, or a list that contains it, was stored into another one.
    pub fn is_stored(&self, list: &Place) -> bool {
        self.stored.iter().any(|stored| stored.overlaps(list))
    }

    /// Goes on from what was known at the same point before, to which this only adds.
    pub fn extend(&mut self, known: &State) {
        for (var, name) in &mut self.names {
            let known = || known.names.get(var).and_then(|known| known.stale.clone());
            name.stale = name.stale.take().or_else(known);
        }
        let copies = std::mem::replace(&mut self.copies, known.copies.clone());
        let stored = std::mem::replace(&mut self.stored, known.stored.clone());
        self.add_lists(&copies, &stored);
    }

    /// Adds the copies and the stored lists that hold on another path.
    pub fn add_lists(&mut self, copies: &BTreeMap<LocalId, ListCopy>, stored: &[Stored]) {
        for (list, copy) in copies {
            match self.copies.entry(*list) {
                Entry::Vacant(entry) => drop(entry.insert(copy.clone())),
                Entry::Occupied(mut entry) => entry.get_mut().add(copy),
            }
        }
        for stored in stored {
            if !self.stored.contains(stored) {
                self.stored.push(stored.clone());
            }
        }
    }

    /// A list is another one from here on.
    pub fn forget(&mut self, list: LocalId) {
        self.copies.remove(&list);
        self.stored.retain(|stored| !stored.is_about(list));
    }

    /// The lists, and the lists that these are copies of.
    pub fn originals(&self, lists: &[Place]) -> Vec<Place> {
        let copied = lists.iter().filter_map(|list| self.copy_at(list)).flat_map(ListCopy::of);
        lists.iter().chain(copied).cloned().collect()
    }
}

/// Whether two places may have memory in common.
pub(crate) fn may_overlap(a: &Place, b: &Place) -> bool {
    let same_root = match (&a.root, &b.root) {
        (Root::Element(a, _), Root::Element(b, _)) => a == b,
        (a, b) => a == b,
    };
    let may_be_same = |(a, b): (&Step, &Step)| match (a, b) {
        (Step::Part(a), Step::Part(b)) => a == b,
        _ => true,
    };
    same_root && a.path.iter().zip(&*b.path).all(may_be_same)
}

/// Whether a part may be inside another place, or equal to it. A whole local is not a part.
pub(super) fn may_lie_in(part: &Place, whole: &Place) -> bool {
    let is_part = !part.path.is_empty() || matches!(part.root, Root::Element(..));
    is_part && part.path.len() >= whole.path.len() && may_overlap(part, whole)
}
