//! The fixpoint of a loop: what each variable is at the head of the loop, and whether its rounds agree with
//! that.
//!
//! In: the bindings before the loop and at the end of a round. Out: stores to the locals that carry the
//! variables, or [`Hint`]s for another pass. Never here: lowering itself. `loops.rs` repeats it as long as
//! there are new hints.

use std::rc::Rc;

use kps_syntax::Span;
use rustc_hash::FxHashMap;

use super::Ctx;
use super::assigning_tests::without_assigned_when;
use super::joins::same_static;
use super::list_phis::CarriedList;
use super::operand::Facts;
use super::selected_arrays::ArraySetId;
use super::vars::{Binding, Conflict, FlowPath, Var, Whole, binding_span};
use super::weak_types::{WeakSide, WeakValues, scalar_alone};
use crate::constant::Literal;
use crate::ir::CarryId;
use crate::types::{Scalar, Type};

/// What an earlier pass over a loop found about a variable that it carries.
#[derive(Clone)]
pub(crate) enum Hint {
    /// The type that it needs.
    Type(Type),
    /// The guess was right. It is no longer a guess.
    Confirmed,
    /// It needs its own list.
    List(CarriedList),
    /// It is one of these arrays.
    Arrays(ArraySetId),
    Conflict(Rc<Conflict>),
    /// A round assigns it a value of which nothing is known.
    Unknown,
}

/// Whether the bindings at the head of a loop agree with the end of its rounds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fixpoint {
    Reached,
    /// A type was wrong.
    NotReached,
    /// All types are right, but a round leaves a variable without a known value.
    WithUnknown,
}

impl Ctx<'_> {
    /// Puts the variables that the loop carries into locals. Returns the binding of each at the head.
    pub(super) fn enter_head(
        &mut self,
        changed: &[Var],
        constants: &FxHashMap<Var, Vec<Literal>>,
        span: Span,
    ) -> Vec<(Var, Binding, Option<WeakSide>)> {
        let mut heads = Vec::with_capacity(changed.len());
        let aliases = self.aliases_before_loop(changed, span.start);
        for &var in changed {
            let entry = self.f.vars[var as usize].clone();
            let head = self.head_binding(var, &entry, constants.get(&var), span);
            self.set(var, head.clone());
            if let (Binding::Items { items, of: Whole::Selected(_), .. }, Binding::Bound { .. }) =
                (&head, &entry)
            {
                heads.push((var, head.clone(), None));
                heads.push((items[0], self.f.vars[items[0] as usize].clone(), None));
                continue;
            }
            heads.push((var, head, self.weak_binding(&entry)));
        }
        self.note_aliases_at_head(aliases);
        heads
    }

    fn head_binding(
        &mut self,
        var: Var,
        entry: &Binding,
        given: Option<&Vec<Literal>>,
        span: Span,
    ) -> Binding {
        let hint = self.f.hints.get(&(span.start, var)).cloned();
        if let (
            Some(Hint::Conflict(conflict)),
            Binding::Bound { .. } | Binding::Stored { .. } | Binding::Items { of: Whole::Selected(_), .. },
        ) = (&hint, entry)
        {
            return Binding::Conflict(Rc::clone(conflict));
        }
        if let Some(Hint::Arrays(array_set)) = hint
            && let Some(arrays) = self.arrays_at_head(var, entry, array_set)
        {
            return arrays;
        }
        if matches!(hint, Some(Hint::Unknown)) {
            return Binding::Error;
        }
        if let Some(list) = self.list_at_head(var, entry, span.start) {
            return list;
        }
        let weak = self.weak_binding(entry);
        if let (Some(weak), Some(given), None) = (weak, given, &hint) {
            return self.weak_head(var, entry, weak, given);
        }
        let known = self.stored_type(entry);
        let (ty, guessed) = match (weak, known, hint) {
            (None, None, _) => return without_assigned_when(entry),
            (Some(_), _, Some(Hint::Type(ty))) => (ty, false),
            (_, Some((_, true)), Some(Hint::Type(ty))) => (ty, true),
            (Some(weak), _, hint) => {
                let is_confirmed = matches!(hint, Some(Hint::Confirmed));
                (self.own_scalar(weak).into(), !is_confirmed)
            }
            (None, Some((ty, guessed)), _) => (ty, guessed),
        };
        let entry_span = binding_span(entry);
        let local = self.local_of(var, &ty, entry_span);
        let carry = self.new_carry();
        self.carry(carry, local, entry);
        Binding::Stored { local, facts: Facts { nonneg: false, guessed }, span: entry_span, weak: None }
    }

    /// The head of a variable that has only weak numbers before the loop and in its rounds.
    fn weak_head(&mut self, var: Var, entry: &Binding, weak: WeakSide, given: &[Literal]) -> Binding {
        let values = [self.weak_values(weak), WeakValues::of_numbers(given.into())];
        let scalar = scalar_alone(&values);
        let span = binding_span(entry);
        let local = self.local_of(var, &scalar.into(), span);
        let carry = self.new_carry();
        self.carry(carry, local, entry);
        let values = WeakValues::any_of(&values, scalar);
        let merge = self.add_phi_of(local, vec![(carry, weak)], values, span);
        Binding::Stored { local, facts: Facts::default(), span, weak: Some(merge) }
    }

    /// Stores the values that each round passes to the next. If a type at the head was wrong, a hint says what
    /// it should be. Unknown values are considered only if all types are right, since a wrong type may be their
    /// cause. `leaving` are the exits that join the exit at the head, which has no stores.
    pub(super) fn fixpoint(
        &mut self,
        heads: &[(Var, Binding, Option<WeakSide>)],
        paths: &[FlowPath],
        leaving: &[FlowPath],
        span: Span,
        give_up: bool,
    ) -> Fixpoint {
        let mut fixpoint = Fixpoint::Reached;
        let mut unknown = Vec::new();
        for (var, head, entry) in heads {
            if let Some(arrays) = self.arrays_fixpoint((*var, head), (paths, leaving)) {
                if let Err(needed) = arrays {
                    let hint = match needed {
                        Ok(array_set) => Hint::Arrays(array_set),
                        Err(conflict) => Hint::Conflict(Rc::new(conflict)),
                    };
                    self.f.hints.insert((span.start, *var), hint);
                    fixpoint = Fixpoint::NotReached;
                }
                continue;
            }
            if let Some(is_right) = self.list_fixpoint((*var, head), (paths, leaving), span.start, give_up) {
                if !is_right {
                    fixpoint = Fixpoint::NotReached;
                }
                continue;
            }
            for path in paths {
                let Some(back) = path.changed(*var) else { continue };
                let hint = match self.carry_back(head, *entry, back, path.carry) {
                    None if self.weak_path(head, back, path.carry) => continue,
                    None => Hint::Confirmed,
                    Some(Hint::Unknown) => {
                        unknown.push(*var);
                        break;
                    }
                    Some(Hint::Type(_)) if give_up => Hint::Conflict(Rc::new(self.conflict(head, back))),
                    Some(hint) => hint,
                };
                self.f.hints.insert((span.start, *var), hint);
                fixpoint = Fixpoint::NotReached;
                break;
            }
        }
        if fixpoint == Fixpoint::Reached && !unknown.is_empty() {
            self.f.hints.extend(unknown.into_iter().map(|var| ((span.start, var), Hint::Unknown)));
            fixpoint = Fixpoint::WithUnknown;
        }
        fixpoint
    }

    /// A variable without a known value in an inner loop may have one if types change.
    pub(super) fn forget_unknown_within(&mut self, span: Span) {
        let is_within = |start: u32| span.start < start && start < span.end;
        self.f.hints.retain(|(start, _), hint| !is_within(*start) || !matches!(hint, Hint::Unknown));
    }

    /// One variable on a back edge. Returns a hint if its type differs from the head's.
    fn carry_back(
        &mut self,
        head: &Binding,
        entry: Option<WeakSide>,
        back: &Binding,
        carry: Option<CarryId>,
    ) -> Option<Hint> {
        let conflict = |ctx: &Self| Some(Hint::Conflict(Rc::new(ctx.conflict(head, back))));
        match (head, back) {
            (Binding::Unset | Binding::Maybe { .. } | Binding::Conflict(_) | Binding::Error, _) => None,
            (_, Binding::Error) => Some(Hint::Unknown),
            (_, Binding::Conflict(found)) => Some(Hint::Conflict(Rc::clone(found))),
            (Binding::Bound { operand: a, .. }, Binding::Bound { operand: b, .. }) if same_static(a, b) => {
                None
            }
            (Binding::Items { items: a, of: in_a, .. }, Binding::Items { items: b, of: in_b, .. })
                if (a, in_a) == (b, in_b) =>
            {
                None
            }
            (Binding::Stored { local, facts, .. }, back) => {
                let ty = self.f.func.local(*local).ty.clone();
                let (back_ty, back_guessed) = match (self.weak_binding(back), self.stored_type(back)) {
                    (Some(weak), _) if self.fits(weak, &ty) => (ty.clone(), false),
                    (Some(weak), _) => (self.own_scalar(weak).into(), false),
                    (None, Some(known)) => known,
                    (None, None) => return conflict(self),
                };
                if back_ty == ty {
                    if let Some(carry) = carry {
                        self.carry(carry, *local, back);
                    }
                    return None;
                }
                let fits = |to: &Type| match entry {
                    Some(weak) => self.fits(weak, to),
                    None => facts.guessed,
                };
                match (facts.guessed, back_guessed) {
                    (true, _) if fits(&back_ty) => Some(Hint::Type(back_ty)),
                    (false, true) => {
                        self.f.used_guess = true;
                        None
                    }
                    _ => conflict(self),
                }
            }
            _ => conflict(self),
        }
    }

    /// Adds a back edge to a weak phi at a loop head. Returns whether its value is weak.
    fn weak_path(&mut self, head: &Binding, back: &Binding, carry: Option<CarryId>) -> bool {
        let Binding::Stored { weak: Some(merge), .. } = head else { return true };
        match (self.weak_binding(back), carry) {
            (Some(WeakSide::Phi(back)), _) if back == *merge => true,
            (Some(weak), Some(carry)) => {
                self.add_path(*merge, carry, weak);
                true
            }
            _ => false,
        }
    }

    /// Names of parts of lists that a round replaces. The next round must not read them.
    pub(super) fn replaced_in_rounds(&mut self, changed: &[Var], paths: &[FlowPath], span: Span) -> Vec<Var> {
        let mut replaced = Vec::new();
        for (var, binding) in paths.iter().flat_map(|path| &path.changes) {
            if let Binding::Conflict(conflict) = binding
                && matches!(**conflict, Conflict::Replaced { .. } | Conflict::Outdated { .. })
                && !changed.contains(var)
                && !replaced.contains(var)
            {
                self.f.hints.insert((span.start, *var), Hint::Conflict(Rc::clone(conflict)));
                replaced.push(*var);
            }
        }
        replaced
    }

    /// If an error was not reported only because of a guess that is now known to be right, makes the guesses of
    /// this loop confirmed for another pass.
    pub(super) fn confirm_guesses(&mut self, heads: &[(Var, Binding, Option<WeakSide>)], span: Span) -> bool {
        if !self.f.used_guess {
            return false;
        }
        let mut has_confirmed = false;
        for (var, head, entry) in heads {
            if entry.is_some() && matches!(head, Binding::Stored { facts: Facts { guessed: true, .. }, .. }) {
                self.f.hints.insert((span.start, *var), Hint::Confirmed);
                has_confirmed = true;
            }
        }
        has_confirmed
    }

    /// The types of a complete loop are no guesses, unless an outer loop still guesses.
    pub(super) fn confirm_types(&mut self, changed: &[Var]) {
        let is_guessing = self
            .f
            .vars
            .iter()
            .any(|binding| matches!(binding, Binding::Stored { facts: Facts { guessed: true, .. }, .. }))
            && !self.f.loops.is_empty();
        if is_guessing {
            return;
        }
        for &var in changed {
            if let Binding::Stored { local, facts, span, weak } = self.f.vars[var as usize] {
                let facts = Facts { guessed: false, ..facts };
                self.set(var, Binding::Stored { local, facts, span, weak });
            }
        }
    }
}

/// Whether this one of two guesses is at least as general as the other. Every int converts to a float. i32 is
/// the default type of an int of which nothing else is known.
pub(super) fn is_better_guess(this: &Type, other: &Type) -> bool {
    let (Some(a), Some(b)) = (this.scalar(), other.scalar()) else { return true };
    match (a.is_int(), b.is_int()) {
        (false, true) => true,
        (true, false) => false,
        _ if a.widens_to(b) => false,
        _ => b.widens_to(a) || b == Scalar::I32,
    }
}
