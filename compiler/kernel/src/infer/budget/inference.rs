//! Steps that inference spends.

use std::sync::Arc;

use kps_syntax::Span;
use kps_syntax::ast::FunctionDef;

use crate::errors;
use crate::infer::expressions::operand::{Operand, Static};
use crate::infer::{Ctx, MAX_ARRAY_LEN};

const MAX_STEPS: u32 = 1 << 20;

/// A function costs more than its expressions.
const STEPS_OF_FUNCTION: u32 = 32;

/// Forms of one function.
const MAX_FORMS: u32 = 4096;

/// Parts of one value: as many as a list has.
const MAX_PARTS: usize = MAX_ARRAY_LEN as usize;

/// Steps between checks for cancellation: a power of two.
const STEPS_BETWEEN: u32 = 64;

impl Ctx<'_> {
    /// Spends steps at this place. Returns whether inference continues.
    pub fn spend(&mut self, n_steps: u32, span: Span) -> bool {
        if self.budget.is_spent() {
            return false;
        }
        let before = self.budget.n_steps / STEPS_BETWEEN;
        self.budget.n_steps += n_steps;
        if self.budget.n_steps > MAX_STEPS {
            let most = self.budget.forms.values().max_by_key(|(_, n)| *n);
            let most = most.map(|(def, n)| (&*def.name.name, *n));
            self.budget.end = Some(errors::too_large(self.at(span), MAX_STEPS, &self.f.func.name, most));
        } else if self.budget.n_steps / STEPS_BETWEEN != before && self.kernel_env.is_cancelled() {
            self.budget.end = Some(errors::cancelled(self.at(span)));
        }
        !self.budget.is_spent()
    }

    /// The same for one more form of a function that is called at this place.
    pub fn spend_function(&mut self, def: &Arc<FunctionDef>, span: Span) -> bool {
        let (_, n) = self.budget.forms.entry(Arc::as_ptr(def)).or_insert_with(|| (Arc::clone(def), 0));
        *n += 1;
        if *n > MAX_FORMS && !self.budget.is_spent() {
            self.budget.end = Some(errors::too_many_forms(self.at(span), &def.name.name, MAX_FORMS));
        }
        self.spend(STEPS_OF_FUNCTION, span)
    }

    /// The operand, unless it has too many parts. Its parts count as steps.
    pub fn of_bounded_size(&mut self, operand: Operand, span: Span) -> Operand {
        let mut n_left = MAX_PARTS;
        if count_down(&operand, &mut n_left).is_none() {
            return self.fail(errors::too_many_parts(self.at(span), MAX_PARTS));
        }
        match self.spend((MAX_PARTS - n_left) as u32 / 4, span) {
            true => operand,
            false => Operand::Error,
        }
    }
}

/// Subtracts the number of parts of an operand from `n_left`. `None` if that is not enough.
fn count_down(operand: &Operand, n_left: &mut usize) -> Option<()> {
    *n_left = n_left.checked_sub(1)?;
    match operand {
        Operand::Tuple(items) => items.iter().try_for_each(|item| count_down(item, n_left)),
        Operand::Static(Static::Closure(closure)) => {
            let parts = closure.values.iter().flat_map(|values| values.iter());
            let parts = parts.chain(closure.defaults.iter().flatten());
            parts.into_iter().try_for_each(|part| count_down(part, n_left))
        }
        _ => Some(()),
    }
}
