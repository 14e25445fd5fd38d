//! Elements moved between a strided layout and a row of them, by size alone: 1, 2, 4 or 8 bytes.
//!
//! Everything else works on rows of elements, one after the other; here is the only place that walks
//! strides. Walking is `ndarray`'s work: it merges axes and loops over the longest one.

use ndarray::{ArrayViewD, ArrayViewMutD, Axis, IxDyn, ShapeBuilder};

use super::layout::Layout;

/// Evaluates an expression with the constant `N` standing for a size.
macro_rules! with_size {
    ($size:expr, $N:ident => $body:expr) => {
        match $size {
            1 => {
                const $N: usize = 1;
                $body
            }
            2 => {
                const $N: usize = 2;
                $body
            }
            4 => {
                const $N: usize = 4;
                $body
            }
            8 => {
                const $N: usize = 8;
                $body
            }
            size => unreachable!("no element has {size} bytes"),
        }
    };
}

/// The elements in the order of their indices.
pub fn gather(bytes: &[u8], size: usize, layout: &Layout) -> Vec<u8> {
    let n = layout.n_elements();
    if n == 0 {
        return Vec::new();
    }
    if layout.is_contiguous() {
        return bytes[layout.offset..layout.offset + n * size].to_vec();
    }
    let mut row = vec![0; n * size];
    with_size!(size, N => {
        let source = view::<N>(bytes, layout);
        let (places, _) = row.as_chunks_mut::<N>();
        let mut target = ArrayViewMutD::from_shape(IxDyn(&layout.shape), places).expect("the row has one place per element");
        target.assign(&source);
    });
    row
}

/// Puts a row of elements, in the order of their indices, to their places. No place is there twice.
pub fn scatter(bytes: &mut [u8], size: usize, layout: &Layout, row: &[u8]) {
    let n = layout.n_elements();
    if n == 0 {
        return;
    }
    if layout.is_contiguous() {
        bytes[layout.offset..layout.offset + n * size].copy_from_slice(row);
        return;
    }
    with_size!(size, N => {
        let source = ArrayViewD::from_shape(IxDyn(&layout.shape), row.as_chunks::<N>().0).expect("the row has all elements");
        view_mut::<N>(bytes, layout).assign(&source);
    });
}

/// Puts the same element to every place.
pub fn fill(bytes: &mut [u8], size: usize, layout: &Layout, element: &[u8]) {
    if layout.n_elements() == 0 {
        return;
    }
    with_size!(size, N => {
        let element = *element.first_chunk::<N>().expect("an element has its size");
        view_mut::<N>(bytes, layout).fill(element);
    });
}

/// The elements that begin at these bytes.
pub fn gather_at(bytes: &[u8], size: usize, offsets: &[usize]) -> Vec<u8> {
    let mut row = vec![0; offsets.len() * size];
    with_size!(size, N => {
        for (place, &offset) in row.as_chunks_mut::<N>().0.iter_mut().zip(offsets) {
            *place = *bytes[offset..].first_chunk::<N>().expect("the element lies within the bytes");
        }
    });
    row
}

/// Puts a row of elements to the places that begin at these bytes, the first one first.
pub fn scatter_at(bytes: &mut [u8], size: usize, offsets: &[usize], row: &[u8]) {
    with_size!(size, N => {
        for (element, &offset) in row.as_chunks::<N>().0.iter().zip(offsets) {
            bytes[offset..offset + N].copy_from_slice(element);
        }
    });
}

fn view<'a, const N: usize>(bytes: &'a [u8], layout: &Layout) -> ArrayViewD<'a, [u8; N]> {
    let plan = Plan::new(layout, N);
    let (elements, _) = bytes[plan.range.clone()].as_chunks::<N>();
    let shape = IxDyn(&plan.shape).strides(IxDyn(&plan.strides));
    let mut view = ArrayViewD::from_shape(shape, elements).expect("the layout lies within its bytes");
    for &axis in &plan.backwards {
        view.invert_axis(Axis(axis));
    }
    view
}

fn view_mut<'a, const N: usize>(bytes: &'a mut [u8], layout: &Layout) -> ArrayViewMutD<'a, [u8; N]> {
    let plan = Plan::new(layout, N);
    let (elements, _) = bytes[plan.range.clone()].as_chunks_mut::<N>();
    let shape = IxDyn(&plan.shape).strides(IxDyn(&plan.strides));
    let mut view = ArrayViewMutD::from_shape(shape, elements).expect("the layout lies within its bytes");
    for &axis in &plan.backwards {
        view.invert_axis(Axis(axis));
    }
    view
}

/// A layout as `ndarray` takes it: strides from the lowest element on, none of them negative.
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
