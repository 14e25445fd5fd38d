//! Copies elements between a strided layout and a row, by size only: 1, 2, 4 or 8 bytes.
//!
//! Only this file and `kernel/source.rs` walk strides. Here `ndarray` walks over what is written: it merges axes
//! and loops over the longest one.

use kps_compute::DType;
use ndarray::{ArrayViewD, ArrayViewMutD, Axis, IxDyn, ShapeBuilder};

use super::kernel::source::Source;
use super::kernel::{self, with_size};
use super::layout::Layout;
use crate::value::Result;
use crate::vm::{STRETCH, checkpoint};

/// The elements in the order of their indices.
pub fn gather(bytes: &[u8], dtype: DType, layout: &Layout) -> Result<Vec<u8>> {
    match layout.n_elements() {
        0 => Ok(Vec::new()),
        n => Source::strided(bytes, dtype, layout).to_row(n),
    }
}

/// Stores a row of elements, in the order of their indices, at their places. No place occurs twice.
pub fn scatter(bytes: &mut [u8], size: usize, layout: &Layout, row: &[u8]) -> Result<()> {
    if layout.is_contiguous() {
        return kernel::copy_to(row, &mut bytes[layout.offset..layout.offset + row.len()]);
    }
    each_stretch(layout, size, |part, at| {
        let row = &row[at * size..(at + part.n_elements()) * size];
        with_size!(size, N => {
            let source = ArrayViewD::from_shape(IxDyn(&part.shape), row.as_chunks::<N>().0).expect("the row has all elements");
            view_mut::<N>(bytes, part).assign(&source);
        });
    })
}

/// Stores the same element at every place.
pub fn fill(bytes: &mut [u8], size: usize, layout: &Layout, element: &[u8]) -> Result<()> {
    each_stretch(layout, size, |part, _| {
        with_size!(size, N => {
            let element = *element.first_chunk::<N>().expect("an element has its size");
            view_mut::<N>(bytes, part).fill(element);
        });
    })
}

/// Calls `act` with parts of a layout, none of them of many more elements than a stretch, and the index of
/// the first element of each. Polls for interrupts in between.
fn each_stretch(layout: &Layout, size: usize, mut act: impl FnMut(&Layout, usize)) -> Result<()> {
    fn divide(layout: &Layout, size: usize, at: usize, act: &mut dyn FnMut(&Layout, usize)) -> Result<()> {
        let n = layout.n_elements();
        let Some(axis) = layout.shape.iter().position(|len| *len > 1).filter(|_| n > STRETCH) else {
            checkpoint()?;
            if n > 0 {
                act(layout, at);
            }
            return Ok(());
        };
        let len = layout.shape[axis];
        let step = (STRETCH / (n / len)).max(1);
        for from in (0..len).step_by(step) {
            let mut part = layout.clone();
            part.slice(axis, size, from as i64, 1, step.min(len - from));
            divide(&part, size, at + from * (n / len), act)?;
        }
        Ok(())
    }
    divide(layout, size, 0, &mut act)
}

/// The elements at these byte offsets.
pub fn gather_at(bytes: &[u8], size: usize, offsets: &[usize]) -> Result<Vec<u8>> {
    kernel::build(offsets.len(), size, |range, places| {
        with_size!(size, N => places.fill_bytes(offsets[range].iter().map(|&offset| {
            bytes[offset..].first_chunk::<N>().expect("the element is within the bytes")
        })))
    })
}

/// Stores a row of elements at these byte offsets, in order.
pub fn scatter_at(bytes: &mut [u8], size: usize, offsets: &[usize], row: &[u8]) -> Result<()> {
    for (row, offsets) in row.chunks(STRETCH * size).zip(offsets.chunks(STRETCH)) {
        checkpoint()?;
        with_size!(size, N => {
            for (element, &offset) in row.as_chunks::<N>().0.iter().zip(offsets) {
                bytes[offset..offset + N].copy_from_slice(element);
            }
        });
    }
    Ok(())
}

fn view_mut<'a, const N: usize>(bytes: &'a mut [u8], layout: &Layout) -> ArrayViewMutD<'a, [u8; N]> {
    let plan = Plan::new(layout, N);
    let (elements, _) = bytes[plan.range.clone()].as_chunks_mut::<N>();
    let shape = IxDyn(&plan.shape).strides(IxDyn(&plan.strides));
    let mut view = ArrayViewMutD::from_shape(shape, elements).expect("the layout is within its bytes");
    for &axis in &plan.backwards {
        view.invert_axis(Axis(axis));
    }
    view
}

/// A layout in `ndarray`'s form: strides from the lowest element on, none of them negative.
struct Plan {
    shape: Vec<usize>,
    strides: Vec<usize>,
    backwards: Vec<usize>,
    range: std::ops::Range<usize>,
}

impl Plan {
    fn new(layout: &Layout, size: usize) -> Plan {
        let axes = layout.shape.iter().zip(&layout.strides);
        Plan {
            // An axis that repeats its elements has one of them here: assigning repeats it.
            shape: axes.map(|(&len, &stride)| if stride == 0 { 1 } else { len }).collect(),
            strides: layout.strides.iter().map(|stride| stride.unsigned_abs()).collect(),
            backwards: (0..layout.n_axes()).filter(|&axis| layout.strides[axis] < 0).collect(),
            range: layout.byte_range(size),
        }
    }
}
