//! What each variable is at the head of a loop, and whether its rounds agree with that.
//!
//! In: the bindings before the loop and at the end of a round. Out: stores to the locals that carry the
//! variables, or a [`Hint`] for another walk (`assumptions.rs`).

use std::rc::Rc;

use kps_syntax::Span;
use rustc_hash::FxHashMap;

use super::assigning_tests::without_assigned_when;
use super::joins::same_static;
use super::loops::LoopParts;
use crate::aliases::{Event, Join, Point};
use crate::constant::Literal;
use crate::infer::Ctx;
use crate::infer::assumptions::{Hint, WeakKey};
use crate::infer::expressions::operand::Facts;
use crate::infer::expressions::weak_types::{WeakPhi, WeakSide, WeakValues};
use crate::infer::places::lists::list_of;
use crate::infer::places::vars::{Binding, FlowPath, Var, Whole, binding_span};
use crate::ir::CarryId;
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    /// Puts the variables that the loop carries into locals. Returns the binding of each at the head, and the head in
    /// the record of lists.
    pub(in crate::infer) fn enter_head(
        &mut self,
        changed: &[Var],
        constants: &FxHashMap<Var, Vec<Literal>>,
        parts: &LoopParts,
    ) -> (Vec<(Var, Binding, Option<WeakSide>)>, Point) {
        let span = parts.span;
        let mut heads = Vec::with_capacity(changed.len());
        let floats = self.guessed_floats(parts, changed);
        self.f.assumed.note_heads(changed.len());
        let mut copied = Vec::new();
        for &var in changed {
            let entry = self.f.vars[var].clone();
            let float = floats.iter().find(|(known, _)| *known == var).map(|(_, scalar)| *scalar);
            let head = self.head_binding(var, &entry, constants.get(&var), float, span);
            if let (Some(before), Some(list)) = (list_of(&entry), list_of(&head))
                && before.root != list.root
            {
                copied.push(var);
            }
            self.rebind(var, head.clone());
            if let (Binding::Items { items, of: Whole::Selected(_), .. }, Binding::Bound { .. }) =
                (&head, &entry)
            {
                heads.push((var, head.clone(), None));
                heads.push((items[0], self.f.vars[items[0]].clone(), None));
                continue;
            }
            heads.push((var, head, self.weak_binding(&entry)));
        }
        let names = changed.iter().map(|var| (*var, self.named_by(*var, &self.f.vars[*var]))).collect();
        let head = self.f.lists.record.push(Event::Head(Box::new(Join { paths: Vec::new(), names, copied })));
        (heads, head)
    }

    fn head_binding(
        &mut self,
        var: Var,
        entry: &Binding,
        given: Option<&Vec<Literal>>,
        float: Option<Scalar>,
        span: Span,
    ) -> Binding {
        let hint = self.f.assumed.head((span.start, var)).cloned();
        if let (
            Some(Hint::Conflict(conflict)),
            Binding::Bound { .. }
            | Binding::Stored { .. }
            | Binding::Items { of: Whole::Selected(_) | Whole::Row { .. }, .. },
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
        if let (Some(weak), Some(given), None) = (&weak, given, &hint) {
            return self.weak_head(var, entry, weak.clone(), given);
        }
        let known = self.stored_type(entry);
        let (ty, guessed) = match (weak, known, hint) {
            (None, None, _) => return without_assigned_when(entry),
            (Some(_), _, Some(Hint::Type(ty))) => (ty, false),
            (_, Some((_, true)), Some(Hint::Type(ty))) => (ty, true),
            (Some(weak), _, hint) => {
                let is_confirmed = matches!(hint, Some(Hint::Confirmed));
                if !is_confirmed {
                    self.f.assumed.note_guess((span.start, var));
                }
                let float = float.filter(|float| self.fits(&weak, &Type::from(*float)));
                (float.unwrap_or_else(|| self.own_scalar(&weak)).into(), !is_confirmed)
            }
            (None, Some((ty, guessed)), _) => (ty, guessed),
        };
        let entry_span = binding_span(entry);
        let local = self.local_of(var, &ty, entry_span);
        let carry = self.new_carry();
        self.carry(carry, local, entry);
        Binding::Stored { local, facts: Facts { guessed }, span: entry_span, weak: None }
    }

    /// The head of a variable that has only weak numbers before the loop and in its rounds.
    fn weak_head(&mut self, var: Var, entry: &Binding, weak: WeakSide, given: &[Literal]) -> Binding {
        let key = WeakKey::Var(var);
        let literals = given.iter().map(|literal| WeakSide::Literal(*literal));
        let sides: Vec<WeakSide> = literals.chain([weak]).collect();
        let ty = self.weak_type(&sides, Some(key));
        let values: Vec<WeakValues> = sides.iter().map(|side| self.weak_values(side)).collect();
        let values = WeakValues::any_of(&values, ty.scalar().expect("weak numbers are scalars"));
        let span = binding_span(entry);
        let local = self.local_of(var, &ty, span);
        let carry = self.new_carry();
        self.carry(carry, local, entry);
        Binding::Stored { local, facts: Facts::default(), span, weak: Some(WeakPhi { key, values }) }
    }

    /// Stores the values that each round passes to the next. Corrects a type at the head that was wrong.
    /// `leaving` are the exits that join the exit at the head, which has no stores.
    pub(in crate::infer) fn close_rounds(
        &mut self,
        heads: &[(Var, Binding, Option<WeakSide>)],
        paths: &[FlowPath],
        leaving: &[FlowPath],
        span: Span,
    ) {
        for (var, head, entry) in heads {
            let at = (span.start, *var);
            if let Some(arrays) = self.arrays_fixpoint((*var, head), (paths, leaving)) {
                if let Err(needed) = arrays {
                    let hint = match needed {
                        Ok(array_set) => Hint::Arrays(array_set),
                        Err(conflict) => Hint::Conflict(Rc::new(conflict)),
                    };
                    self.f.assumed.correct(at, hint, span);
                }
                continue;
            }
            if self.close_list((*var, head), (paths, leaving), span) {
                continue;
            }
            for path in paths {
                let Some(back) = path.changed(*var) else { continue };
                let hint = match self.carry_back(head, entry.as_ref(), back, path.carry) {
                    None if self.is_weak_round(head, back) => continue,
                    None => Hint::Confirmed,
                    Some(Hint::Type(_)) if self.f.assumed.gives_up() => {
                        Hint::Conflict(Rc::new(self.conflict(head, back)))
                    }
                    Some(hint) => hint,
                };
                if let Hint::Type(ty) = &hint {
                    self.retype(*var, ty);
                }
                self.f.assumed.correct(at, hint, span);
                break;
            }
        }
    }

    /// For the rest of this walk, a variable has the type that it gets in the next one.
    fn retype(&mut self, var: Var, ty: &Type) {
        let Binding::Stored { span, .. } = self.f.vars[var] else { return };
        let local = self.local_of(var, ty, span);
        let facts = Facts { guessed: true };
        self.set(var, Binding::Stored { local, facts, span, weak: None });
    }

    /// One variable on a back edge. Returns a hint if its type differs from the head's.
    fn carry_back(
        &mut self,
        head: &Binding,
        entry: Option<&WeakSide>,
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
                    (Some(weak), _) if self.fits(&weak, &ty) => (ty.clone(), false),
                    (Some(weak), _) => (self.own_scalar(&weak).into(), false),
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
                        self.f.assumed.used_guess = true;
                        None
                    }
                    _ => conflict(self),
                }
            }
            _ => conflict(self),
        }
    }

    /// Whether a variable that is weak at the head is weak after a round.
    fn is_weak_round(&self, head: &Binding, back: &Binding) -> bool {
        !matches!(head, Binding::Stored { weak: Some(_), .. }) || self.weak_binding(back).is_some()
    }

    /// The types of a complete loop are no guesses, unless an outer loop still guesses.
    pub(in crate::infer) fn confirm_types(&mut self, changed: &[Var]) {
        let is_guessing = self.f.vars.iter().any(|(_, binding)| {
            matches!(binding, Binding::Stored { facts: Facts { guessed: true, .. }, .. })
        }) && !self.f.loops.is_empty();
        if is_guessing {
            return;
        }
        for &var in changed {
            if let Binding::Stored { local, span, weak, .. } = self.f.vars[var].clone() {
                let facts = Facts { guessed: false };
                self.set(var, Binding::Stored { local, facts, span, weak });
            }
        }
    }
}

/// Whether this one of two guesses is at least as general as the other. Every int converts to a float. i32 is
/// the default type of an int of which nothing else is known.
pub(in crate::infer) fn is_better_guess(this: &Type, other: &Type) -> bool {
    let (Some(a), Some(b)) = (this.scalar(), other.scalar()) else { return true };
    match (a.is_int(), b.is_int()) {
        (false, true) => true,
        (true, false) => false,
        _ if a.widens_to(b) => false,
        _ => b.widens_to(a) || b == Scalar::I32,
    }
}
