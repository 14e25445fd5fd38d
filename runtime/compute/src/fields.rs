//! The numbers of one element, each in its place: as a module reads a buffer, and as a tensor of records holds it.
//!
//! A buffer whose numbers are all of one type is checked by that type alone. Where they are of several, a tensor of
//! numbers cannot be what the module reads, unless it holds bytes; and in a record each has to lie where the module
//! looks for it.

use kps_device::interface::{Block, Member, MemberType, Scalar};

use crate::dtype::DType;
use crate::error::{ComputeError, Result};
use crate::kernel::holds;
use crate::tensor::Tensor;

/// A number of a record, and the bytes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub offset: usize,
    pub dtype: DType,
}

/// A number of a buffer that the tensor does not have.
struct Unfit {
    /// The names of the members that lead to it, from the innermost on.
    names: Vec<String>,
    offset: usize,
    scalar: Scalar,
}

/// Checks that every number that a buffer is read as is one of the tensor's.
pub(crate) fn check(layout: &Block, parameter: impl Fn() -> String, tensor: &Tensor) -> Result<()> {
    let unfit = match tensor.fields() {
        Some(fields) => {
            let at = |offset: usize| fields.iter().find(|field| field.offset == offset);
            let fits = |offset: usize, scalar| at(offset).is_some_and(|field| holds(field.dtype, scalar));
            element_unfit(layout, &fits)
        }
        // Bytes are any numbers.
        None if tensor.dtype() == DType::U8 => None,
        None => members_unfit(&layout.members, 0, &|_, scalar| holds(tensor.dtype(), scalar)),
    };
    let Some(Unfit { mut names, offset, scalar }) = unfit else { return Ok(()) };
    names.reverse();
    let given = match tensor.fields() {
        Some(fields) => fields.iter().find(|field| field.offset == offset).map(|field| field.dtype),
        None => Some(tensor.dtype()),
    };
    Err(ComputeError::ParameterField {
        parameter: parameter(),
        tensor: tensor.label().to_owned(),
        name: names.join("."),
        offset,
        expected: scalar.into(),
        given,
        is_record: tensor.fields().is_some(),
    })
}

/// Of the run-time array at the end of the block, whose elements are the tensor's; else of the whole block.
fn element_unfit(layout: &Block, fits: &dyn Fn(usize, Scalar) -> bool) -> Option<Unfit> {
    match layout.members.last() {
        Some(array) if let MemberType::Array { len: None, element, .. } = &array.ty => {
            let mut found = unfit(element, 0, fits)?;
            found.names.extend(array.name.clone());
            Some(found)
        }
        _ => members_unfit(&layout.members, 0, fits),
    }
}

fn members_unfit(members: &[Member], base: usize, fits: &dyn Fn(usize, Scalar) -> bool) -> Option<Unfit> {
    members.iter().find_map(|member| {
        let mut found = unfit(&member.ty, base + member.offset as usize, fits)?;
        found.names.extend(member.name.clone());
        Some(found)
    })
}

fn unfit(ty: &MemberType, base: usize, fits: &dyn Fn(usize, Scalar) -> bool) -> Option<Unfit> {
    let scalars = |n: u32, scalar: Scalar, base: usize| {
        let mut offsets = (0..n).map(|at| base + (at * scalar.size()) as usize);
        let offset = offsets.find(|offset| !fits(*offset, scalar))?;
        Some(Unfit { names: Vec::new(), offset, scalar })
    };
    match ty {
        MemberType::Scalar(scalar) => scalars(1, *scalar, base),
        MemberType::Vector { n, scalar } => scalars(*n, *scalar, base),
        MemberType::Matrix { columns, rows, scalar, stride, row_major } => {
            let (n_lines, n) = if *row_major { (*rows, *columns) } else { (*columns, *rows) };
            (0..n_lines).find_map(|line| scalars(n, *scalar, base + (line * stride) as usize))
        }
        MemberType::Array { len, stride, element } => {
            let starts = (0..len.unwrap_or(1)).map(|at| base + (at * stride) as usize);
            starts.into_iter().find_map(|start| unfit(element, start, fits))
        }
        MemberType::Struct(block) => members_unfit(&block.members, base, fits),
    }
}
