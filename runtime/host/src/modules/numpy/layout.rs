//! The memory layout of an array: shape, strides and offset, and the views that change only these.
//!
//! No function here accesses elements. Callers check indices.

use smallvec::{SmallVec, smallvec};

use crate::value::Result;
use crate::vm::collect_all;

/// A number for each axis. Those of most arrays need no allocation.
pub type Axes<T> = SmallVec<[T; 4]>;

/// The shape of an array over some bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    pub shape: Axes<usize>,
    /// In elements, from one index to the next; negative for a reversed axis, 0 for a broadcast one.
    pub strides: Axes<isize>,
    /// In bytes, to the element with all indices 0.
    pub offset: usize,
}

impl Clone for Layout {
    /// A copy of bytes, which the derived function is not.
    fn clone(&self) -> Layout {
        let (shape, strides) = (Axes::from_slice(&self.shape), Axes::from_slice(&self.strides));
        Layout { shape, strides, offset: self.offset }
    }
}

impl Layout {
    /// Contiguous with the last axis fastest, from the first byte on.
    pub fn contiguous(shape: &[usize]) -> Layout {
        Layout { shape: Axes::from_slice(shape), strides: contiguous_strides(shape), offset: 0 }
    }

    pub fn n_axes(&self) -> usize {
        self.shape.len()
    }

    pub fn n_elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the elements are contiguous in the order of their indices.
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        for (&len, &stride) in self.shape.iter().zip(&self.strides).rev() {
            if len == 0 {
                return true;
            }
            if len != 1 {
                if stride != expected {
                    return false;
                }
                expected *= len as isize;
            }
        }
        true
    }

    /// Whether the elements are contiguous with the first axis fastest.
    pub fn is_fortran(&self) -> bool {
        let reversed: Vec<usize> = (0..self.n_axes()).rev().collect();
        self.permute(&reversed).is_contiguous()
    }

    /// The same elements broadcast to a larger shape; `None` if the shapes are incompatible.
    pub fn broadcast_to(&self, shape: &[usize]) -> Option<Layout> {
        let n_new = shape.len().checked_sub(self.n_axes())?;
        let mut strides: Axes<isize> = smallvec![0; n_new];
        for ((&len, &stride), &wanted) in self.shape.iter().zip(&self.strides).zip(&shape[n_new..]) {
            match len {
                len if len == wanted => strides.push(stride),
                1 => strides.push(0),
                _ => return None,
            }
        }
        Some(Layout { shape: Axes::from_slice(shape), strides, offset: self.offset })
    }

    /// Axis `i` of the result is axis `order[i]`.
    pub fn permute(&self, order: &[usize]) -> Layout {
        Layout {
            shape: order.iter().map(|&axis| self.shape[axis]).collect(),
            strides: order.iter().map(|&axis| self.strides[axis]).collect(),
            offset: self.offset,
        }
    }

    /// `n` indices of an axis from `start` on in steps of `step`.
    pub fn slice(&mut self, axis: usize, size: usize, start: i64, step: i64, n: usize) {
        if n > 0 {
            self.advance(axis, size, start as isize);
        }
        // A step beyond the axis leaves one item, whose stride is irrelevant.
        self.strides[axis] = self.strides[axis].wrapping_mul(step as isize);
        self.shape[axis] = n;
    }

    /// One index of an axis, which then is gone.
    pub fn pick(&mut self, axis: usize, size: usize, index: usize) {
        self.advance(axis, size, index as isize);
        self.shape.remove(axis);
        self.strides.remove(axis);
    }

    fn advance(&mut self, axis: usize, size: usize, index: isize) {
        let bytes = self.strides[axis] * index * size as isize;
        self.offset =
            self.offset.checked_add_signed(bytes).expect("an index within the array stays in its bytes");
    }

    /// A new axis of length 1.
    pub fn insert_axis(&mut self, axis: usize) {
        self.shape.insert(axis, 1);
        self.strides.insert(axis, 0);
    }

    /// The same elements in another shape of the same size; `None` if that needs a copy.
    pub fn reshape(&self, shape: &[usize]) -> Option<Layout> {
        if self.is_contiguous() {
            let strides = contiguous_strides(shape);
            return Some(Layout { shape: Axes::from_slice(shape), strides, offset: self.offset });
        }
        let strides = regroup(&self.without_ones(), shape)?;
        Some(Layout { shape: Axes::from_slice(shape), strides, offset: self.offset })
    }

    fn without_ones(&self) -> Vec<(usize, isize)> {
        let axes = self.shape.iter().copied().zip(self.strides.iter().copied());
        axes.filter(|&(len, _)| len != 1).collect()
    }

    /// The byte of the element that has these indices.
    pub fn byte_of(&self, indices: &[usize], size: usize) -> usize {
        let steps: isize = indices.iter().zip(&self.strides).map(|(&at, &stride)| at as isize * stride).sum();
        self.offset
            .checked_add_signed(steps * size as isize)
            .expect("an index within the array stays in its bytes")
    }

    /// The first byte of all elements and the one after the last; the array is not empty.
    pub fn byte_range(&self, size: usize) -> std::ops::Range<usize> {
        let (mut low, mut high) = (0isize, 0isize);
        for (&len, &stride) in self.shape.iter().zip(&self.strides) {
            let last = (len as isize - 1) * stride;
            low += last.min(0);
            high += last.max(0);
        }
        let at = |steps: isize| {
            self.offset.checked_add_signed(steps * size as isize).expect("elements are within the bytes")
        };
        at(low)..at(high) + size
    }

    /// The byte offsets of the elements, with the given indices along each axis.
    pub fn bytes_of(&self, indices: &[Vec<usize>], size: usize) -> Result<Vec<usize>> {
        let mut offsets = vec![self.offset];
        for (picked, &stride) in indices.iter().zip(&self.strides) {
            let step = stride * size as isize;
            let of_picked =
                |from: usize| picked.iter().map(move |&at| from.wrapping_add_signed(at as isize * step));
            offsets = collect_all(offsets.iter().flat_map(|&from| of_picked(from)))?;
        }
        Ok(offsets)
    }
}

pub fn contiguous_strides(shape: &[usize]) -> Axes<isize> {
    let mut strides: Axes<isize> = smallvec![0; shape.len()];
    let mut stride = 1isize;
    for (place, &len) in strides.iter_mut().zip(shape).rev() {
        *place = stride;
        stride = stride.saturating_mul(len.max(1) as isize);
    }
    strides
}

/// Strides of `shape` over axes with arbitrary strides. Groups of old axes must match groups of new ones in
/// size. A group of old axes must have no gaps.
fn regroup(axes: &[(usize, isize)], shape: &[usize]) -> Option<Axes<isize>> {
    let mut strides: Axes<isize> = smallvec![0; shape.len()];
    let (mut old, mut new) = (0, 0);
    while old < axes.len() && new < shape.len() {
        let (old_start, new_start) = (old, new);
        let (mut old_size, mut new_size) = (axes[old].0, shape[new]);
        while old_size != new_size {
            if old_size < new_size {
                old += 1;
                old_size *= axes.get(old)?.0;
            } else {
                new += 1;
                new_size *= shape.get(new)?;
            }
        }
        let is_dense = |pair: &[(usize, isize)]| pair[0].1 == pair[1].1 * pair[1].0 as isize;
        if !axes[old_start..=old].windows(2).all(is_dense) {
            return None;
        }
        let mut stride = axes[old].1;
        for axis in (new_start..=new).rev() {
            strides[axis] = stride;
            stride *= shape[axis] as isize;
        }
        (old, new) = (old + 1, new + 1);
    }
    Some(strides)
}

/// The shape that all of the shapes broadcast to.
pub fn broadcast_shapes(shapes: &[&[usize]]) -> Option<Axes<usize>> {
    let n_axes = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut result: Axes<usize> = smallvec![1; n_axes];
    for shape in shapes {
        for (wanted, &len) in result.iter_mut().rev().zip(shape.iter().rev()) {
            match (*wanted, len) {
                (1, len) => *wanted = len,
                (_, 1) => {}
                (wanted, len) if wanted == len => {}
                _ => return None,
            }
        }
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_reshaped_without_a_copy_where_its_axes_are_dense() {
        fn check(shape: &[usize], strides: &[isize], wanted: &[usize], expect: Option<&[isize]>) {
            let layout =
                Layout { shape: Axes::from_slice(shape), strides: Axes::from_slice(strides), offset: 0 };
            assert_eq!(layout.reshape(wanted).map(|layout| layout.strides).as_deref(), expect);
        }
        check(&[2, 3], &[3, 1], &[3, 2], Some(&[2, 1]));
        check(&[3, 2], &[1, 3], &[6], None);
        check(&[4, 6], &[12, 2], &[24], Some(&[2]));
        check(&[4, 6], &[12, 2], &[2, 2, 3, 2], Some(&[24, 12, 4, 2]));
        check(&[4], &[-1], &[2, 2], Some(&[-2, -1]));
        check(&[1, 3], &[7, 2], &[3, 1], Some(&[2, 0]));
    }

    #[test]
    fn shapes_broadcast_from_their_last_axis() {
        fn check(shapes: &[&[usize]], expect: Option<&[usize]>) {
            assert_eq!(broadcast_shapes(shapes).as_deref(), expect);
        }
        check(&[&[3, 1], &[4]], Some(&[3, 4]));
        check(&[&[2], &[3]], None);
        check(&[&[], &[0, 2]], Some(&[0, 2]));
        check(&[&[1], &[0]], Some(&[0]));
        check(&[&[5, 1, 2], &[3, 1], &[1]], Some(&[5, 3, 2]));
    }
}
