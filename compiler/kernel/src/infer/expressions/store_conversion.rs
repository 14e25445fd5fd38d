//! Conversion of a value to the type of its destination. It must not lose a value. Otherwise it is an error
//! that shows the cast to write. Nothing here knows the destination itself.

use kps_syntax::{Diagnostic, Span};

use super::operand::Operand;
use crate::env::EnvValue;
use crate::errors;
use crate::infer::Ctx;
use crate::infer::places::vars::Binding;
use crate::ir::{NodeId, Root};
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    /// The operand as `ty`, or the error that shows the cast.
    pub fn expect(&mut self, operand: &Operand, ty: &Type, span: Span) -> Operand {
        match (self.converted(operand, ty, span), operand) {
            (Some(operand), _) => operand,
            (None, Operand::Error) => Operand::Error,
            (None, Operand::Literal(literal)) if matches!(ty, Type::Scalar(_)) => {
                let scalar = ty.scalar().expect("matched a scalar");
                self.fail(errors::literal_does_not_fit(self.at(span), *literal, scalar))
            }
            (None, operand) => {
                let (text, found) = (self.f.source.slice(span).to_owned(), self.describe(operand));
                let beyond = self.unfit_int(operand, ty);
                let beyond = beyond.map(|beyond| errors::may_not_fit(self.at(span), &text, beyond));
                let beyond = beyond.or_else(|| self.out_of_range_error(operand, ty, span));
                self.fail(beyond.unwrap_or_else(|| errors::expected_type(self.at(span), &text, ty, &found)))
            }
        }
    }

    /// The operand as `ty`, if no value is lost.
    pub fn converted(&mut self, operand: &Operand, ty: &Type, span: Span) -> Option<Operand> {
        match operand {
            Operand::Error => None,
            Operand::Place(place) if place.ty.has_rows_of(ty) => Some(operand.clone()),
            Operand::Literal(literal) if matches!(ty, Type::Scalar(_)) => {
                let scalar = ty.scalar()?;
                let constant = literal.fit(scalar)?;
                self.remark_adopted(*literal, scalar, span);
                Some(Operand::Node(self.constant(constant, span)))
            }
            operand => self.try_convert_whole(operand, ty, span).map(Operand::Node),
        }
    }

    /// Does not splat a scalar to a vector.
    fn try_convert_whole(&mut self, operand: &Operand, ty: &Type, span: Span) -> Option<NodeId> {
        let from = self.value_type(operand)?;
        (from.n_components() == ty.n_components()).then(|| self.try_convert(operand, ty, span))?
    }

    /// The value to store in an element of type `ty`.
    pub fn stored_value(
        &mut self,
        operand: &Operand,
        ty: &Type,
        span: Span,
        value_span: Span,
    ) -> Option<NodeId> {
        match operand {
            Operand::Error => return None,
            Operand::Literal(literal) if ty.scalar().is_some() => {
                let scalar = ty.scalar()?;
                if ty.is_vector() || literal.fit(scalar).is_none() {
                    let error = match ty.is_vector() {
                        true => self.stored_type_error(operand, ty, span, value_span),
                        false => errors::literal_does_not_fit(self.at(value_span), *literal, scalar),
                    };
                    self.error(error);
                    return None;
                }
            }
            _ => {}
        }
        let converted = self.try_convert_whole(operand, ty, value_span);
        if converted.is_none() {
            let beyond = self.out_of_range_error(operand, ty, value_span);
            let error = beyond.unwrap_or_else(|| self.stored_type_error(operand, ty, span, value_span));
            self.error(error);
        }
        converted
    }

    fn stored_type_error(&self, operand: &Operand, ty: &Type, span: Span, value_span: Span) -> Diagnostic {
        let (value, target) = (self.f.source.slice(value_span), self.f.source.slice(span));
        if let Some(beyond) = self.unfit_int(operand, ty).filter(|_| value_span != span) {
            return errors::may_not_fit(self.at(value_span), value, beyond);
        }
        let found = self.describe(operand);
        let error = match self.augmented_parts(span, value_span) {
            _ if value_span == span => errors::item_type(self.at(span), target, ty, &found),
            Some((symbol, right)) => {
                let right = (self.at(right), self.f.source.slice(right), &found);
                let error = errors::augmented_type((self.at(span), target, ty), symbol, right);
                match self.list_begun_with_ints(target, operand) {
                    Some((name, items)) => error.help(errors::begin_with_floats(name, &items)),
                    None => error,
                }
            }
            None if self.is_coop_row(ty) && matches!(self.value_type(operand), Some(Type::Scalar(_))) => {
                return errors::coop_row_stored(self.at(value_span), self.at(span), value, target);
            }
            None => {
                let (value, target) = ((value, &found), (target, ty));
                return errors::stored_type(self.at(value_span), self.at(span), value, target);
            }
        };
        let error = match self.captured_f64_in(value_span).filter(|_| is_f64_for_narrower(self, operand, ty))
        {
            Some(array) => errors::captured_f64(error, &array),
            None => error,
        };
        let is_number = |ty: &Type| ty.scalar().is_some();
        match is_number(ty) && self.value_type(operand).is_none_or(|found| is_number(&found)) {
            true => error,
            // There is no cast from or to a struct, a list or a tuple.
            false => Diagnostic { help: None, ..error },
        }
    }

    /// The name of an f64 array of the script in this text.
    fn captured_f64_in(&self, text: Span) -> Option<String> {
        let is_f64 = |value: &EnvValue| {
            let mut value = value;
            while let EnvValue::List(items) = value {
                value = items.first()?;
            }
            match value {
                EnvValue::Constant(constant) => Some(constant.scalar()),
                EnvValue::Numbers(ty, _) => ty.scalar(),
                _ => None,
            }
        };
        errors::words_of(self.f.source.slice(text))
            .find(|name| {
                let value = self.f.env.get().get(name).filter(|_| self.f.vars.named(name).is_none());
                value.is_some_and(|value| is_f64(&value) == Some(Scalar::F64))
            })
            .map(str::to_owned)
    }

    /// The list of an element, and its items as written, if those are ints and the value is a float.
    fn list_begun_with_ints<'t>(&self, target: &'t str, value: &Operand) -> Option<(&'t str, String)> {
        let is_float = self.value_type(value).and_then(|ty| ty.scalar()).is_some_and(Scalar::is_float);
        let (name, _) = target.split_once('[')?;
        let Binding::Bound { operand: Operand::Place(place), .. } = &self.f.vars[self.f.vars.named(name)?]
        else {
            return None;
        };
        let Root::Local(local) = place.root else { return None };
        let items = self.f.source.slice(self.f.func.local(local).span);
        (is_float && errors::is_list_of_ints(items)).then(|| (name, items.to_owned()))
    }

    /// The operator and the right side of `target op= value`. The span of the value covers the whole statement.
    fn augmented_parts(&self, target: Span, value: Span) -> Option<(&str, Span)> {
        if value.start != target.start {
            return None;
        }
        let rest = self.f.source.slice(Span { start: target.end, ..value });
        let (operator, right) = errors::operator_and_value(rest)?;
        Some((operator, Span { start: value.end - right.len() as u32, ..value }))
    }
}

/// Whether an f64 is stored in a narrower float.
fn is_f64_for_narrower(ctx: &Ctx, operand: &Operand, ty: &Type) -> bool {
    let found = ctx.value_type(operand).and_then(|ty| ty.scalar());
    found == Some(Scalar::F64) && ty.scalar().is_some_and(|scalar| scalar.is_float() && scalar != Scalar::F64)
}
