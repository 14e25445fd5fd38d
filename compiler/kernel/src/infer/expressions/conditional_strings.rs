//! Conditional strings in `print`: `print("even" if n % 2 == 0 else "odd")`.
//!
//! A kernel has no string values. So the statement is inferred once for each string, under an `if`.

use kps_syntax::ast::{Argument, ArgumentKind, Expr, ExprKind, FStringPart};

use crate::env::EnvValue;
use crate::infer::Ctx;

impl Ctx<'_> {
    /// Calls `build` with the arguments of a statement, once for each combination of strings. The tests are
    /// evaluated first.
    pub(in crate::infer) fn for_each_text(
        &mut self,
        args: &[Argument],
        build: &mut dyn FnMut(&mut Self, &[Argument]),
    ) {
        let values = args.iter().filter_map(|arg| match &arg.kind {
            ArgumentKind::Positional(value) => Some(value),
            _ => None,
        });
        let Some(choice) = values.filter_map(|value| self.text_choice(value)).next() else {
            return build(self, args);
        };
        let ExprKind::IfElse { test, then, orelse } = &choice.kind else { return };
        let with = |selected: &Expr| -> Vec<Argument> {
            let mut args = args.to_vec();
            args.iter_mut().for_each(|arg| put(arg, choice, selected));
            args
        };
        let (then, orelse) = (with(then), with(orelse));
        let condition = self.condition(test);
        // Two closures need it, but only one runs at a time.
        let build = std::cell::RefCell::new(build);
        self.branch(
            &condition,
            choice.span,
            |ctx| ctx.for_each_text(&then, &mut **build.borrow_mut()),
            |ctx| ctx.for_each_text(&orelse, &mut **build.borrow_mut()),
        );
    }

    /// The first conditional string in an argument of `print`.
    fn text_choice<'e>(&self, value: &'e Expr) -> Option<&'e Expr> {
        match &value.kind {
            ExprKind::IfElse { .. } if self.is_text(value) => Some(value),
            ExprKind::FString(parts) => parts.iter().find_map(|part| match part {
                FStringPart::Value(field) => self.text_choice(&field.expr),
                FStringPart::Literal(_) => None,
            }),
            _ => None,
        }
    }

    pub(in crate::infer) fn is_text(&self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Str(_) | ExprKind::FString(_) => true,
            ExprKind::IfElse { then, orelse, .. } => self.is_text(then) && self.is_text(orelse),
            _ => matches!(self.script_value(value), Some(EnvValue::Str(_))),
        }
    }
}

/// Replaces a conditional string by one of its strings.
fn put(arg: &mut Argument, choice: &Expr, selected: &Expr) {
    fn within(value: &mut Expr, choice: &Expr, selected: &Expr) {
        if value.span == choice.span {
            *value = selected.clone();
        } else if let ExprKind::FString(parts) = &mut value.kind {
            for part in parts {
                if let FStringPart::Value(field) = part {
                    within(&mut field.expr, choice, selected);
                }
            }
        }
    }
    if let ArgumentKind::Positional(value) = &mut arg.kind {
        within(value, choice, selected);
    }
}
