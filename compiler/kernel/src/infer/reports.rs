//! What a device that checks may report: which indices a kernel asks for.
//!
//! For an index into a vector, matrix or array that is a value (`v[i]`, `m[i, j]`, `v.xy[i] = x`), inference
//! adds a statement with the requested index before the access, unless every index is a constant. Indices into
//! memory are in the accesses themselves.

use kps_syntax::Span;

use crate::constant::Constant;
use crate::infer::Ctx;
use crate::infer::expressions::matrix_parts::MatrixIndex;
use crate::infer::places::targets::Target;
use crate::ir::{Step, Stmt, Touch, ValueIndex};
use crate::types::Type;

impl Ctx<'_> {
    /// Reports the indices of a target that is part of a value, with the access that they are for.
    pub(super) fn report_target(&mut self, target: &Target, touch: Touch) {
        if let Target::Scattered(scattered, _) = target {
            for tested in &scattered.tested {
                self.report_axes(&tested.axes, touch, tested.places);
            }
        }
        let (Target::Part(inner, ..) | Target::Components(inner, ..) | Target::MatrixPart(inner, ..)) =
            target
        else {
            return;
        };
        self.report_target(inner, touch);
        let (Some(name), Some(ty)) = (inner.span(), self.target_type(inner)) else { return };
        match target {
            Target::Part(_, step, span) => self.report_element(&ty, *step, touch, (name, *span)),
            Target::MatrixPart(_, at, span) => self.report_matrix_part(&ty, at, touch, (name, *span)),
            _ => {}
        }
    }

    /// Reports an index into a value of this type, which is written at `name`.
    pub fn report_element(&mut self, ty: &Type, at: Step, touch: Touch, places: (Span, Span)) {
        self.report_axes(&[(at, ty.n_parts().unwrap_or(0))], touch, places);
    }

    pub fn report_matrix_part(&mut self, ty: &Type, at: &MatrixIndex, touch: Touch, places: (Span, Span)) {
        self.report_axes(&at.axes(ty), touch, places);
    }

    pub fn report_axes(&mut self, axes: &[(Step, u32)], touch: Touch, (name, span): (Span, Span)) {
        if axes.iter().all(|(step, _)| matches!(step, Step::Part(_))) {
            return;
        }
        let index = |ctx: &mut Self, step: Step| match step {
            Step::Part(at) => ctx.constant(Constant::i32(at as i32), span),
            Step::At(index) => index,
        };
        let axes = axes.iter().map(|&(step, len)| (index(self, step), len)).collect();
        self.f.block.push(Stmt::Index(Box::new(ValueIndex { whole: name, touch, axes, span })));
    }
}

impl Target<'_> {
    /// Where the target is written.
    fn span(&self) -> Option<Span> {
        match self {
            Target::Name(_, span)
            | Target::Place(_, span)
            | Target::Part(_, _, span)
            | Target::Components(_, _, span)
            | Target::MatrixPart(_, _, span)
            | Target::Item(_, span)
            | Target::Scattered(_, span)
            | Target::Holder(_, span)
            | Target::Tuple(_, span) => Some(*span),
            Target::Error => None,
        }
    }
}
