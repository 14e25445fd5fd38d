//! What the functions of `math` in the library take. They are written without types, so what a call gives them is
//! judged here, where the script calls them.

use kps_syntax::Span;

use super::Ctx;
use super::calls::Arguments;
use super::operand::{Operand, Static};
use super::sequences::Spanned;
use crate::constant::Literal;
use crate::errors;
use crate::library::Takes;
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    /// Reports what the function does not take; an int that is to be a float becomes one.
    pub fn takes_arguments(&mut self, name: &str, args: &mut Arguments, span: Span) -> bool {
        // The library knows what it does.
        let is_of_script = self.f.func.called_for.is_none();
        let Some(takes) = Takes::of(name).filter(|_| is_of_script) else { return true };
        let keywords = args.keywords.iter().filter(|(keyword, ..)| &*keyword.name != "start");
        let given: Vec<Spanned> = args
            .positional
            .iter()
            .cloned()
            .chain(keywords.map(|(_, given, at)| (given.clone(), *at)))
            .collect();
        if given.iter().any(|(operand, _)| operand.has_error()) {
            return false;
        }
        let called = self.f.source.slice(span).split('(').next().unwrap_or(name).trim_end().to_owned();
        if let Some((wrong, at)) = given.iter().find(|(operand, _)| !self.is_taken(takes, operand)) {
            let what = self.describe(wrong);
            let ty = self.value_type(wrong);
            self.error(errors::math_takes(self.at(*at), &called, takes, &what, ty.as_ref()));
            return false;
        }
        if name == "sumprod"
            && let [Some(n), Some(m)] = [0, 1].map(|at| self.n_items(&given.get(at)?.0))
            && n != m
        {
            self.error(errors::unlike_lengths(self.at(span), &called, n, m));
            return false;
        }
        if takes == Takes::Floats {
            for (operand, at) in &mut args.positional {
                if let Operand::Node(node) = operand
                    && self.ty(*node).scalar().is_some_and(Scalar::is_int)
                {
                    *operand = Operand::Node(self.convert(*node, Scalar::F32, *at));
                }
            }
        }
        true
    }

    fn is_taken(&self, takes: Takes, operand: &Operand) -> bool {
        let scalar = match operand {
            Operand::Literal(Literal::Int(_)) => return takes != Takes::Items,
            Operand::Literal(Literal::Float(_)) => return matches!(takes, Takes::Numbers | Takes::Floats),
            Operand::Node(_) => match self.value_type(operand) {
                Some(Type::Scalar(scalar)) => scalar,
                Some(ty) => return takes == Takes::Items && ty.n_parts().is_some(),
                None => return true,
            },
            Operand::Static(entity) => {
                return takes == Takes::Items && matches!(entity, Static::Sequence(_));
            }
            _ => return takes == Takes::Items,
        };
        match takes {
            Takes::WholeNumbers => scalar.is_int(),
            Takes::Numbers | Takes::Floats => scalar != Scalar::Bool,
            Takes::Items => false,
        }
    }

    /// `None` where only the launch tells.
    fn n_items(&self, operand: &Operand) -> Option<u32> {
        match operand {
            Operand::Tuple(items) => Some(items.len() as u32),
            operand => self.value_type(operand)?.n_parts(),
        }
    }
}
