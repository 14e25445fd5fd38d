//! Views: `x.view(uvec4)`, the memory of an array as elements of another type.
//!
//! A view is an array of the kernel like its parameters, with one axis. It has as many elements as lie within the memory
//! as a whole.

use kps_syntax::ast::{Argument, Ident};
use kps_syntax::{Diagnostic, Span};

use crate::builtins::VIEW;
use crate::errors;
use crate::infer::Ctx;
use crate::infer::expressions::operand::{Operand, Static};
use crate::ir::BufferId;
use crate::types::Type;

impl Ctx<'_> {
    /// `x.view(T)`. `None` for another method or receiver.
    pub fn call_view(
        &mut self,
        receiver: &Operand,
        attr: &Ident,
        args: &[Argument],
        span: Span,
    ) -> Option<Operand> {
        if *attr.name != *VIEW {
            return None;
        }
        let array = match receiver {
            Operand::Buffer(buffer) => *buffer,
            Operand::Row(_) => {
                let what = self.describe(receiver);
                return Some(self.fail(errors::view_of_a_part(self.at(span), &what)));
            }
            Operand::Place(place) if matches!(place.ty, Type::Array(_)) => {
                let what = self.describe(receiver);
                return Some(self.fail(errors::view_of_a_list(self.at(span), &what)));
            }
            _ => return None,
        };
        let args = self.arguments(args);
        Some(match self.only_positional(args, VIEW).as_deref() {
            None | Some([(Operand::Error, _)]) => Operand::Error,
            Some([(Operand::Static(Static::Type(ty)), at)]) => match self.viewed(array, ty, *at) {
                Some(view) => Operand::Buffer(view),
                None => Operand::Error,
            },
            _ => self.fail(errors::view_without_type(self.at(span))),
        })
    }

    /// The view of an array with elements of this type. `None` after a mistake.
    fn viewed(&mut self, array: BufferId, element: &Type, at: Span) -> Option<BufferId> {
        if self.is_selected(array) {
            let name = self.array_name(array).clone();
            self.error(errors::view_of_a_choice(self.at(at), &name));
            return None;
        }
        let of = self.interface[array].clone();
        if let Some(mistake) = self.unfit_view(&of.element, element, at) {
            self.error(mistake);
            return None;
        }
        let memory = of.view_of.unwrap_or(array);
        let is_same = self.interface[memory].element == *element && self.interface[memory].rank == 1;
        Some(if is_same { memory } else { self.interface.view(memory, element) })
    }

    /// The mistake in a view of elements of one type as another one.
    fn unfit_view(&self, from: &Type, to: &Type, at: Span) -> Option<Diagnostic> {
        if !to.has_layout() {
            return Some(errors::no_layout(self.at(at), to));
        }
        let (from_size, to_size) = (from.packed_size(), to.packed_size());
        let (less, more) = (from_size.min(to_size), from_size.max(to_size));
        (less == 0 || more % less != 0).then(|| errors::view_sizes(self.at(at), from, to))
    }
}
