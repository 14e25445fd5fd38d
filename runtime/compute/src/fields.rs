//! Checks the numbers of one element: their types and offsets in a buffer and in a tensor of records.
//!
//! If all numbers of a buffer have one type, only that type is checked. If they have several, the tensor must
//! have records or bytes. Each number of a record must have the offset and type that the module reads.

use std::ops::ControlFlow;

use kps_device::interface::{Block, MemberType, Step, Visit};
use kps_scalar::Scalar;

use crate::DType;
use crate::error::{ComputeError, Result};
use crate::kernel::holds;
use crate::tensor::Tensor;

/// A number of a record, and its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub offset: usize,
    pub dtype: DType,
}

/// A number of a buffer that the tensor lacks.
struct Unfit {
    /// The path of members.
    name: String,
    offset: usize,
    scalar: Scalar,
}

/// Checks that the tensor has every number that the buffer is read as.
pub(crate) fn check(layout: &Block, parameter: impl Fn() -> String, tensor: &Tensor) -> Result<()> {
    let unfit = match tensor.fields() {
        Some(fields) => {
            let at = |offset: usize| fields.iter().find(|field| field.offset == offset);
            let fits = |offset: usize, scalar| at(offset).is_some_and(|field| holds(field.dtype, scalar));
            element_unfit(layout, &fits)
        }
        // Bytes can represent any numbers.
        None if tensor.dtype() == DType::U8 => None,
        None => first(|visit| layout.each_number(visit), &|_, scalar| holds(tensor.dtype(), scalar)),
    };
    let Some(Unfit { name, offset, scalar }) = unfit else { return Ok(()) };
    let given = match tensor.fields() {
        Some(fields) => fields.iter().find(|field| field.offset == offset).map(|field| field.dtype),
        None => Some(tensor.dtype()),
    };
    Err(ComputeError::ParameterField {
        parameter: parameter(),
        tensor: tensor.label().to_owned(),
        name,
        offset,
        expected: scalar,
        given,
        is_record: tensor.fields().is_some(),
    })
}

/// Checks the elements of the run-time array at the block's end, or else the whole block.
fn element_unfit(layout: &Block, fits: &dyn Fn(usize, Scalar) -> bool) -> Option<Unfit> {
    match layout.members.last() {
        Some(array) if let MemberType::Array { len: None, element, .. } = &array.ty => {
            let mut found = first(|visit| element.each_number(visit), fits)?;
            let names = [array.name.as_deref().unwrap_or_default(), &found.name];
            found.name = join(names.into_iter().filter(|name| !name.is_empty()));
            Some(found)
        }
        _ => first(|visit| layout.each_number(visit), fits),
    }
}

/// The first visited number that does not fit.
fn first<'b>(
    each_number: impl FnOnce(&mut Visit<'_, 'b, Unfit>) -> ControlFlow<Unfit>,
    fits: &dyn Fn(usize, Scalar) -> bool,
) -> Option<Unfit> {
    let unfit = each_number(&mut |way, offset, scalar| {
        if fits(offset, scalar) {
            return ControlFlow::Continue(());
        }
        let names = way.iter().filter_map(|step| match step {
            Step::Member(member, _) => member.name.as_deref(),
            Step::Part(_) => None,
        });
        ControlFlow::Break(Unfit { name: join(names), offset, scalar })
    });
    unfit.break_value()
}

fn join<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.collect::<Vec<_>>().join(".")
}
