//! What inference records of lists for the alias analysis, and rules about copies that need no analysis.

use std::rc::Rc;

use kps_syntax::Span;
use kps_syntax::ast::{Expr, ExprKind, Name};

use crate::aliases::{self, Copied, Event, Named, Recorded, Writer, Written, may_overlap};
use crate::errors;
use crate::infer::Ctx;
use crate::infer::calls::argument_passing::ListArg;
use crate::infer::expressions::operand::Operand;
use crate::infer::places::vars::{Binding, Var};
use crate::ir::{BufferId, NodeId, NodeKind, Place, Root};
use crate::types::Type;

impl Ctx<'_> {
    /// The list, part or value with lists in it that a variable names with this binding.
    pub fn named_by(&self, var: Var, binding: &Binding) -> Option<Rc<Named>> {
        let Binding::Bound { operand: Operand::Place(place), span } = binding else { return None };
        let part = self.f.lists.named_parts.get(&var).copied();
        Some(Rc::new(Named { name: self.var_name(var), place: place.clone(), span: *span, part }))
    }

    /// A variable gets this binding.
    pub fn record_binding(&mut self, var: Var, binding: &Binding) {
        if let Some(named) = self.named_by(var, binding) {
            self.f.lists.record.push(Event::Named(var, named));
        } else if let Binding::Bound { operand: Operand::Place(_), .. } = self.f.vars[var] {
            self.f.lists.record.push(Event::Unnamed(var));
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

    /// The lists in an operand are copies.
    pub fn record_copied(&mut self, copy: &Operand, at: Span, kind: Copied) {
        match copy {
            Operand::Place(Place { root: Root::Local(list), .. }) => {
                self.f.lists.record.push(Event::Copied { list: *list, at, kind });
            }
            Operand::Tuple(items) => items.iter().for_each(|item| self.record_copied(item, at, kind.clone())),
            _ => {}
        }
    }

    /// The lists in an operand are copies of others, if there are other references to one of those.
    pub fn record_copied_of_shared<'o>(
        &mut self,
        copy: &Operand,
        at: Span,
        of: impl IntoIterator<Item = &'o Operand>,
    ) {
        let of = places_in(of);
        if !of.is_empty() {
            self.record_copied(copy, at, Copied::OfShared(of));
        }
    }

    pub fn record_written(&mut self, place: &Place, at: Span, by: Writer) {
        let is_matrix = self.is_coop_type(&place.ty);
        let written = Written { place: place.clone(), at, by, is_matrix };
        self.f.lists.record.push(Event::Written(Box::new(written)));
    }

    /// A whole part of a list or an array is replaced.
    pub fn record_replaced(&mut self, place: &Place, by: Span) {
        if matches!(place.ty, Type::Array(_) | Type::Struct(_)) {
            self.f.lists.record.push(Event::Replaced { place: place.clone(), by });
        }
    }

    /// A list is stored into another list.
    pub fn record_stored(&mut self, list: &Place, into: &Place, at: Span) {
        if let Type::Array(_) = into.ty {
            self.f.lists.record.push(Event::Stored { list: list.clone(), into: into.clone(), at });
        }
    }

    pub fn record_returned(&mut self, operand: &Operand) {
        match operand {
            Operand::Place(place) => {
                self.f.lists.record.push(Event::Returned(place.clone()));
            }
            Operand::Node(node) if self.is_part_of_a_value(*node) => {
                self.f.lists.record.push(Event::ReturnedPart);
            }
            Operand::Tuple(items) => items.iter().for_each(|item| self.record_returned(item)),
            _ => {}
        }
    }

    /// Finds the mistakes in a complete function that its record shows.
    pub fn check_aliases(&mut self) {
        if self.budget.end.is_some() {
            return;
        }
        let record = std::mem::take(&mut self.f.lists.record);
        let array_name = |buffer: BufferId| -> Name { self.array_name(buffer).clone() };
        let function =
            Recorded { source: &self.f.source, locals: &self.f.func.locals, array_name: &array_name };
        let (mistakes, effects) = aliases::check(&record, &function);
        self.f.diagnostics.extend(mistakes);
        self.f.lists.effects = effects;
    }

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

    /// Whether a list is a part of a named struct, or comes from outside this expression.
    pub fn is_part_of_a_value(&self, list: NodeId) -> bool {
        let NodeKind::Extract(whole, _) = self.f.func.nodes[list.idx()].kind else { return false };
        let of = &self.f.func.nodes[whole.idx()];
        let is_fresh = of.name.is_none() && matches!(of.kind, NodeKind::Call { .. } | NodeKind::Construct(_));
        matches!(self.ty(list), Type::Array(_)) && !is_fresh
    }
}

/// The lists in operands.
pub(crate) fn places_in<'o>(operands: impl IntoIterator<Item = &'o Operand>) -> Vec<Place> {
    let mut places = Vec::new();
    for operand in operands {
        match operand {
            Operand::Place(place) => places.push(place.clone()),
            Operand::Tuple(items) => places.extend(places_in(&**items)),
            _ => {}
        }
    }
    places
}
