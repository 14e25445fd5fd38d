//! Which lists may alias, and writes to them.

use std::rc::Rc;

use kps_syntax::ast::{Expr, ExprKind};
use kps_syntax::{Diagnostic, Span};

use super::{Copied, CopyKind, Stored, may_overlap};
use crate::errors;
use crate::infer::Ctx;
use crate::infer::calls::argument_passing::ListArg;
use crate::infer::expressions::operand::Operand;
use crate::infer::places::vars::{Binding, Conflict, FlowPath, Var};
use crate::ir::{Home, LocalId, NodeId, NodeKind, Place, Root};
use crate::types::{Kind, Scalar, Type};

impl Ctx<'_> {
    /// The value of an assignment to `target`, loaded before anything is stored: `m[0], m[1] = m[1], m[0]`
    /// swaps.
    pub fn read_before_stores(&mut self, target: &Expr, operand: &Operand, span: Span) -> Operand {
        match (&target.kind, operand) {
            (ExprKind::Tuple(targets) | ExprKind::List(targets), Operand::Tuple(items))
                if targets.len() == items.len() =>
            {
                let pairs = targets.iter().zip(items.iter());
                Operand::Tuple(
                    pairs.map(|(target, item)| self.read_before_stores(target, item, span)).collect(),
                )
            }
            // After a star, too, only an item that is assigned to a name stays where it is.
            (ExprKind::Tuple(_) | ExprKind::List(_), _) | (ExprKind::Name(_) | ExprKind::Starred(_), _) => {
                operand.clone()
            }
            (_, Operand::Place(place)) if matches!(place.ty, Type::Array(_)) && !self.is_table(place) => {
                Operand::Node(self.load_whole(place, span))
            }
            _ => operand.clone(),
        }
    }

    /// Records the part of a list that is assigned to a name.
    pub fn note_named_part(&mut self, target: &Expr, operand: &Operand, value: Span) {
        if let (ExprKind::Name(name), Operand::Place(_)) = (&target.kind, operand)
            && let Some(var) = self.f.vars.named(name)
        {
            self.f.lists.named_parts.insert(var, value);
        }
    }

    /// Called where a whole part of a list or an array is replaced. Names of anything inside it become
    /// conflicts.
    pub fn part_replaced(&mut self, replaced: &Place, by: Span) {
        if !matches!(replaced.ty, Type::Array(_) | Type::Struct(_)) {
            return;
        }
        self.f.lists.stored.retain(|stored| stored.list != *replaced && stored.into != *replaced);
        self.f.lists.replaces_parts |= match replaced.root {
            Root::Local(local) => self.f.func.local(local).home != Home::Own,
            Root::Element(..) => true,
        };
        if let Some((_, walked)) = self.f.lists.iterated.iter().find(|(place, _)| may_lie_in(place, replaced))
        {
            let text = self.f.source.slice(*walked).to_owned();
            self.error(errors::walked_list_replaced(self.at(by), self.at(*walked), &text));
        }
        let lies_in = |binding: &Binding| match binding {
            Binding::Bound { operand: Operand::Place(place), span }
                if matches!(place.ty, Type::Array(_)) && may_lie_in(place, replaced) =>
            {
                Some(*span)
            }
            _ => None,
        };
        let named: Vec<(Var, Span)> =
            self.f.vars.iter().filter_map(|(var, binding)| Some((var, lies_in(binding)?))).collect();
        for (var, named) in named {
            let part = self.f.lists.named_parts.get(&var).copied().filter(|part| *part != named);
            self.set(var, Binding::Conflict(Rc::new(Conflict::Replaced { named, part, by })));
        }
    }

    /// Records that a list is a copy of lists that other names refer to.
    pub fn note_copy(&mut self, copy: &Operand, of: &[&Operand], at: Span) {
        match copy {
            Operand::Place(Place { root: Root::Local(local), .. }) => {
                let of = of.iter().flat_map(|of| self.originals(of)).collect();
                self.f.lists.copies.insert(*local, Copied { at, kind: CopyKind::OfOthers(of) });
            }
            Operand::Tuple(items) => items.iter().for_each(|item| self.note_copy(item, of, at)),
            _ => {}
        }
    }

    /// Records that a part of one list was copied into another, if other names refer to the first list.
    pub fn note_copy_of_rows(&mut self, copy: &Operand, of: &Place, at: Span) {
        let holds_copies = matches!(of.root, Root::Local(local) if self.f.lists.copies.contains_key(&local));
        let original = Operand::Place(of.clone());
        if holds_copies || self.has_other_references(&original) {
            self.note_copy(copy, &[&original], at);
        }
    }

    /// Records that in Python some rows of a list would be one object.
    pub fn note_one_row(&mut self, list: &Operand, at: Span) {
        if let Operand::Place(Place { root: Root::Local(local), .. }) = list {
            self.f.lists.copies.insert(*local, Copied { at, kind: CopyKind::OfOneRow });
        }
    }

    /// Records that a list is one of the script's, which is mentioned at `at`.
    pub fn note_captured(&mut self, list: &Operand, at: Span) {
        if let Operand::Place(Place { root: Root::Local(local), .. }) = list {
            self.f.lists.copies.insert(*local, Copied { at, kind: CopyKind::Captured });
        }
    }

    /// Records that a list is a parameter that a launch passes by value.
    pub fn note_given_list(&mut self, list: &Operand, param: Span) {
        if let Operand::Place(Place { root: Root::Local(local), .. }) = list {
            self.f.lists.copies.insert(*local, Copied { at: param, kind: CopyKind::Given });
        }
    }

    /// Whether a launch passes the list by value.
    pub fn is_given(&self, list: &Place) -> bool {
        let copied = |local| self.f.lists.copies.get(&local).map(|copied| &copied.kind);
        matches!(list.root, Root::Local(local) if matches!(copied(local), Some(CopyKind::Given)))
    }

    /// Records that a list is a copy of a table, if that table is one of the script's.
    pub fn note_copied_table(&mut self, list: &Operand, table: LocalId) {
        if let Some(&Copied { at, kind: CopyKind::Captured }) = self.f.lists.copies.get(&table) {
            self.note_captured(list, at);
        }
    }

    /// Records that a list to which other names refer was stored into another list.
    pub fn note_stored(&mut self, list: &Place, into: &Place, at: Span) {
        let is_own = |place: &Place| {
            matches!(place.root, Root::Local(local)
                if !matches!(self.f.func.local(local).home, Home::Workgroup(_)))
        };
        if !is_own(list) || !is_own(into) || !matches!(into.ty, Type::Array(_)) {
            return;
        }
        let also_in = self.f.lists.stored.iter().filter(|stored| stored.list == *list);
        let mut lists: Vec<Place> = also_in.map(|stored| stored.into.clone()).collect();
        lists.extend(self.originals(&Operand::Place(list.clone())));
        let stored = lists.into_iter().map(|list| Stored { list, into: into.clone(), at });
        self.f.lists.stored.extend(stored);
    }

    /// At a join: a list is stored in another if it is so on any path.
    pub fn join_stored(&mut self, paths: &[FlowPath]) {
        if paths.is_empty() {
            return;
        }
        let mut joined: Vec<Stored> = Vec::new();
        for stored in paths.iter().flat_map(|path| &path.stored) {
            if !joined.contains(stored) {
                joined.push(stored.clone());
            }
        }
        self.f.lists.stored = joined;
    }

    /// The stores of earlier rounds of a loop into lists from before the loop: a round makes its own lists
    /// anew. `None` if all of them are known.
    pub fn stored_by_rounds(rounds: &[FlowPath], known: &[Stored], older: &[LocalId]) -> Option<Vec<Stored>> {
        let is_older = |place: &Place| matches!(place.root, Root::Local(local) if older.contains(&local));
        let is_new =
            |stored: &&Stored| is_older(&stored.list) && is_older(&stored.into) && !known.contains(stored);
        let new: Vec<Stored> = rounds.iter().flat_map(|path| &path.stored).filter(is_new).cloned().collect();
        (!new.is_empty()).then_some(new)
    }

    /// A function wrote into a list argument.
    pub fn written_by_call(&mut self, list: &Place, call: Span) {
        self.stored_written(list, list.path.len() + 1, call);
        self.original_written(list, call);
    }

    /// Reports a write to a list that was stored into another one, or to its copy there. The write is `depth`
    /// steps below the root.
    fn stored_written(&mut self, written: &Place, depth: usize, by: Span) {
        let is_inside = |whole: &Place| depth > whole.path.len() && may_overlap(written, whole);
        let is_one_of_two = |stored: &Stored| match is_inside(&stored.into) {
            true => self.has_other_references(&Operand::Place(stored.list.clone())),
            false => is_inside(&stored.list),
        };
        if let Some(found) = self.f.lists.stored.iter().position(is_one_of_two) {
            let Stored { at, .. } = self.f.lists.stored.swap_remove(found);
            let text = self.f.source.slice(at).to_owned();
            self.error(errors::stored_list_written(self.at(by), self.at(at), &text));
        }
    }

    /// Reports a write to a copy, once for each copy.
    pub fn copy_written(&mut self, place: &Place, at: Span) {
        let Root::Local(local) = place.root else { return };
        let Some(Copied { at: copied, kind }) = self.f.lists.copies.remove(&local) else { return };
        let text = self.f.source.slice(copied).to_owned();
        self.error(match kind {
            CopyKind::Captured => self.captured_list_written(local, at, copied),
            CopyKind::Given => {
                let ty = self.f.func.local(local).ty.clone();
                let copy = self.line_that_copies(local, at, copied);
                errors::given_list_written(self.at(at), self.at(copied), &text, &ty, &copy)
            }
            CopyKind::OfOthers(_) if self.is_coop_type(&place.ty) => {
                errors::coop_copy_written(self.at(at), self.at(copied), &text)
            }
            CopyKind::OfOthers(_) => errors::copy_written(self.at(at), self.at(copied), &text),
            CopyKind::MayAlias { name, what, .. } => {
                errors::perhaps_one_written(self.at(at), self.at(copied), &name, &what)
            }
            CopyKind::OfOneRow => errors::one_row_written(
                self.at(at),
                self.at(copied),
                &text,
                rows_of(&self.f.func.local(local).ty),
            ),
        });
    }

    pub fn captured_list_written(&self, list: LocalId, at: Span, captured: Span) -> Diagnostic {
        let copy = self.line_that_copies(list, at, captured);
        let mention = (captured.start != at.start).then(|| self.at(captured));
        let mut element = &self.f.func.local(list).ty;
        while let Type::Array(array) = element {
            element = &array.element;
        }
        // Floats of the host are f64, but few kernels use f64.
        let element = if *element == Type::from(Scalar::F64) { Type::F32 } else { element.clone() };
        errors::captured_list_written(self.at(at), self.f.source.slice(captured), mention, &element, &copy)
    }

    /// A line of source that copies the list. It uses the name by which the list is written, if it has one.
    fn line_that_copies(&self, list: LocalId, at: Span, mention: Span) -> String {
        let slice = |span| self.f.source.slice(span);
        let base = errors::root_of(slice(at));
        let var = self.f.vars.named(base);
        match var.map(|var| &self.f.vars[var]) {
            Some(Binding::Bound { operand: Operand::Place(place), span })
                if place.root == Root::Local(list) =>
            {
                let part =
                    var.and_then(|var| self.f.lists.named_parts.get(&var)).filter(|part| *part != span);
                let (name, text) = part.map_or(("own", base), |part| (base, slice(*part)));
                errors::copied_list(name, text, &place.ty)
            }
            _ => errors::copied_list("own", slice(mention), &self.f.func.local(list).ty),
        }
    }

    /// Called where a list, or a value with lists in it, is written. Names of its copies become conflicts.
    pub fn original_written(&mut self, written: &Place, by: Span) {
        self.stored_written(written, written.path.len(), by);
        if self.f.lists.copies.is_empty() {
            return;
        }
        let is_of = |copied: &Copied| copied.of().iter().any(|place| may_overlap(place, written));
        let is_copy_of_written = |(walked, _): &&(Place, Span)| match walked.root {
            Root::Local(local) => self.f.lists.copies.get(&local).is_some_and(is_of),
            Root::Element(..) => false,
        };
        if let Some((_, walked)) = self.f.lists.iterated.iter().find(is_copy_of_written) {
            let text = self.f.source.slice(*walked).to_owned();
            self.error(errors::walked_list_written(self.at(by), self.at(*walked), &text));
        }
        let outdated = |binding: &Binding| match binding {
            Binding::Bound { operand: Operand::Place(Place { root: Root::Local(local), .. }), .. } => self
                .f
                .lists
                .copies
                .get(local)
                .filter(|copied| is_of(copied))
                .map(|copied| (copied.at, copied.alias_text())),
            _ => None,
        };
        let vars = self.f.vars.iter();
        let found: Vec<(Var, _)> =
            vars.filter_map(|(var, binding)| Some((var, outdated(binding)?))).collect();
        for (var, (copied, may_alias)) in found {
            self.set(var, Binding::Conflict(Rc::new(Conflict::Outdated { copied, may_alias, by })));
        }
    }

    /// A part of a list is copied into a function and back. So no other argument may alias it if the function
    /// writes to either.
    pub fn overlapping_list_args(&mut self, given: &[ListArg]) {
        for (n_before, later) in given.iter().enumerate() {
            let is_twice = |earlier: &&ListArg| {
                let some_copied = !earlier.place.path.is_empty() || !later.place.path.is_empty();
                some_copied
                    && (earlier.is_written || later.is_written)
                    && may_overlap(&earlier.place, &later.place)
            };
            if let Some(earlier) = given[..n_before].iter().find(is_twice) {
                let text = self.f.source.slice(later.at).to_owned();
                let error = errors::part_given_twice(self.at(later.at), self.at(earlier.at), &text);
                return self.error(error);
            }
        }
    }

    /// The lists in an operand, and the lists that these are copies of.
    pub fn originals(&self, operand: &Operand) -> Vec<Place> {
        let mut places = places_in(operand);
        for at in 0..places.len() {
            if let Root::Local(local) = places[at].root
                && let Some(copied) = self.f.lists.copies.get(&local)
            {
                places.extend(copied.of().iter().cloned());
            }
        }
        places
    }

    /// Whether a value made of a list would share the list, in Python, with another name.
    pub fn is_shared(&self, list: &Operand) -> bool {
        let is_copy = |place: &Place| {
            matches!(place.root, Root::Local(local)
                if self.f.lists.copies.get(&local).is_some_and(|copied| !copied.of().is_empty()))
        };
        self.has_other_references(list) || matches!(list, Operand::Place(place) if is_copy(place))
    }

    /// Whether there are other references to a list: it has a name, or is in memory that others see.
    pub fn has_other_references(&self, list: &Operand) -> bool {
        let Operand::Place(place) = list else { return false };
        let Root::Local(local) = place.root else { return true };
        let is_captured =
            matches!(self.f.lists.copies.get(&local), Some(Copied { kind: CopyKind::Captured, .. }));
        let names_it = |binding: &Binding| match binding {
            Binding::Bound { operand: Operand::Place(named), .. } => named.root == place.root,
            _ => false,
        };
        is_captured
            || self.f.func.local(local).home != Home::Own
            || self.f.vars.iter().any(|(_, binding)| names_it(binding))
    }

    /// Whether the caller of a function has another reference to the list that it returns.
    pub fn is_reachable_by_caller(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Place(Place { root: Root::Local(local), .. }) => {
                self.f.lists.copies.contains_key(local) || self.f.func.local(*local).home != Home::Own
            }
            Operand::Place(_) => true,
            Operand::Node(node) => self.is_part_of_a_value(*node),
            Operand::Tuple(items) => items.iter().any(|item| self.is_reachable_by_caller(item)),
            _ => false,
        }
    }

    /// Whether a list is a part of a named struct, or comes from outside this expression.
    pub fn is_part_of_a_value(&self, list: NodeId) -> bool {
        let NodeKind::Extract(whole, _) = self.f.func.nodes[list.idx()].kind else { return false };
        let of = &self.f.func.nodes[whole.idx()];
        let is_fresh = of.name.is_none() && matches!(of.kind, NodeKind::Call { .. } | NodeKind::Construct(_));
        matches!(self.ty(list), Type::Array(_)) && !is_fresh
    }
}

fn places_in(operand: &Operand) -> Vec<Place> {
    match operand {
        Operand::Place(place) => vec![place.clone()],
        Operand::Tuple(items) => items.iter().flat_map(places_in).collect(),
        _ => Vec::new(),
    }
}

/// Whether a part may be inside another place, or equal to it. A whole local is not a part.
fn may_lie_in(part: &Place, whole: &Place) -> bool {
    let is_part = !part.path.is_empty() || matches!(part.root, Root::Element(..));
    is_part && part.path.len() >= whole.path.len() && may_overlap(part, whole)
}

/// The numbers of rows and columns of a list of lists, and a zero of its element type.
fn rows_of(ty: &Type) -> (u32, u32, &'static str) {
    let Type::Array(rows) = ty else { return (1, 1, "0") };
    let (n_columns, element) = match &rows.element {
        Type::Array(row) => (row.len, &row.element),
        element => (1, element),
    };
    let zero = match element.scalar().map(Scalar::kind) {
        Some(Kind::Float) => "0.0",
        Some(Kind::Bool) => "False",
        _ => "0",
    };
    (rows.len, n_columns, zero)
}
