//! Views between complex numbers and their parts: the same memory, as complex numbers or as floats with a last axis of
//! two.

use crate::array::{Array, View};
use crate::element::ElementType;
use crate::errors::{self, Result};
use crate::layout::Layout;

impl Array {
    /// A view of complex numbers as floats: a new last axis has the real and the imaginary part.
    pub fn as_parts(&self) -> Result<Array> {
        let dtype = self.dtype();
        if !dtype.is_complex() {
            return Err(errors::not_for("view_as_real", dtype));
        }
        let mut shape = self.shape().to_vec();
        shape.push(2);
        let Some(View { tensor, layout, .. }) = self.view()? else {
            return Array::uninitialised(self.engine(), dtype.part(), &shape);
        };
        let strides = layout.strides.iter().map(|stride| 2 * stride).chain([1]).collect();
        let layout = Layout { shape: shape.into(), strides, start: 2 * layout.start };
        Ok(Array::of_view(self.engine(), View { tensor, dtype: dtype.part().into(), layout }))
    }

    /// A view of floats, whose last axis has the real and the imaginary part, as complex numbers. A copy if the parts
    /// do not lie side by side.
    pub fn of_parts(&self) -> Result<Array> {
        let part = self.dtype().real().filter(|part| ElementType::complex_of(*part).part() == *part);
        let (Some(part), Some((2, shape))) = (part, self.shape().split_last()) else {
            return Err(errors::no_parts(self.dtype(), self.shape()));
        };
        let dtype = ElementType::complex_of(part);
        let Some(View { tensor, layout, .. }) = self.view()? else {
            return Array::uninitialised(self.engine(), dtype, shape);
        };
        let Layout { strides, start, .. } = layout;
        let (side, outer) = strides.split_last().expect("there is a last axis");
        let are_whole = outer.iter().all(|stride| stride % 2 == 0) && start % 2 == 0;
        if *side != 1 || !are_whole {
            return self.copy()?.of_parts();
        }
        let strides = outer.iter().map(|stride| stride / 2).collect();
        let layout = Layout { shape: shape.into(), strides, start: start / 2 };
        Ok(Array::of_view(self.engine(), View { tensor, dtype, layout }))
    }
}
