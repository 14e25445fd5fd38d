//! Where the elements of a view lie in the memory of its tensor.
//!
//! A layout maps the indices of an array to places in the flat memory: `start + sum(index[k] * strides[k])`.
//! Transposing, slicing and broadcasting make another layout over the same memory, and copy nothing.

use smallvec::SmallVec;

use crate::errors::{self, Result};
use crate::shape::{self, Shape};

pub type Strides = SmallVec<[isize; 4]>;

/// Places of elements; all are counted in elements, not in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub shape: Shape,
    /// The distance of neighbours along each axis; 0 along an axis that repeats its elements.
    pub strides: Strides,
    /// The place of the first element.
    pub start: usize,
}

/// One part of an index: `x[3, 1:9:2, :, None]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// One element along the axis, which disappears.
    At(i64),
    /// Elements from `start` on, `step` apart: as Python's `slice.indices` gives them.
    Slice { start: usize, step: isize, len: usize },
    /// The whole axis.
    All,
    /// A new axis of length 1.
    New,
}

impl Layout {
    /// Elements one behind the other, the last axis innermost, from `start` on.
    pub fn contiguous(shape: &[usize], start: usize) -> Layout {
        let mut strides: Strides = SmallVec::from_elem(1, shape.len());
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis].max(1) as isize;
        }
        Layout { shape: shape.into(), strides, start }
    }

    pub fn size(&self) -> usize {
        shape::size(&self.shape)
    }

    /// Whether the elements lie one behind the other in the order of the indices.
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        for (len, stride) in self.shape.iter().zip(&self.strides).rev() {
            if *len != 1 && *stride != expected {
                return false;
            }
            expected *= *len as isize;
        }
        true
    }

    /// Whether several indices may mean one element.
    pub fn repeats(&self) -> bool {
        self.shape.iter().zip(&self.strides).any(|(len, stride)| *len > 1 && *stride == 0)
    }

    /// The axes in another order: axis `k` of the result is `order[k]` here.
    pub fn permuted(&self, order: &[usize]) -> Layout {
        Layout {
            shape: order.iter().map(|axis| self.shape[*axis]).collect(),
            strides: order.iter().map(|axis| self.strides[*axis]).collect(),
            start: self.start,
        }
    }

    /// The view with this shape, to which the axes are broadcast.
    pub fn broadcast_to(&self, to: &[usize]) -> Result<Layout> {
        let misfit = || errors::not_broadcast_to(&self.shape, to);
        let added = to.len().checked_sub(self.shape.len()).ok_or_else(misfit)?;
        let strides = to.iter().enumerate().map(|(axis, len)| match axis.checked_sub(added) {
            Some(own) if self.shape[own] == *len => Ok(self.strides[own]),
            Some(own) if self.shape[own] != 1 => Err(misfit()),
            _ => Ok(0),
        });
        Ok(Layout { shape: to.into(), strides: strides.collect::<Result<_>>()?, start: self.start })
    }

    /// The same elements in another shape; `None` if no strides give their order.
    pub fn reshaped(&self, to: &[usize]) -> Option<Layout> {
        if self.is_contiguous() {
            return Some(Layout::contiguous(to, self.start));
        }
        // Axes of 1 have no say. Both sides are matched in groups of axes with as many elements.
        let from: Vec<(usize, isize)> = self
            .shape
            .iter()
            .copied()
            .zip(self.strides.iter().copied())
            .filter(|(len, _)| *len != 1)
            .collect();
        let mut strides = SmallVec::from_elem(0, to.len());
        let (mut i, mut j) = (0, 0);
        while i < from.len() {
            let (first, mut have, mut need) = (i, from[i].0, 1);
            let own = j;
            while need != have {
                if need < have {
                    need *= *to.get(j)?;
                    j += 1;
                } else {
                    i += 1;
                    have *= from.get(i)?.0;
                }
            }
            if !from[first..=i].windows(2).all(|pair| pair[0].1 == pair[1].1 * pair[1].0 as isize) {
                return None;
            }
            let mut stride = from[i].1;
            for axis in (own..j).rev() {
                strides[axis] = stride;
                stride *= to[axis] as isize;
            }
            i += 1;
        }
        Some(Layout { shape: to.into(), strides, start: self.start })
    }

    /// The view that an index selects; axes that it does not name are whole.
    pub fn indexed(&self, parts: &[Part]) -> Result<Layout> {
        let named = parts.iter().filter(|part| **part != Part::New).count();
        if named > self.shape.len() {
            return Err(errors::too_many_indices(named, self.shape.len()));
        }
        let rest = self.shape.len() - named;
        let mut view = Layout { shape: Shape::new(), strides: Strides::new(), start: self.start };
        let mut at = self.start as isize;
        let mut axis = 0;
        for part in parts.iter().copied().chain(std::iter::repeat_n(Part::All, rest)) {
            if part == Part::New {
                view.shape.push(1);
                view.strides.push(0);
                continue;
            }
            let (len, stride) = (self.shape[axis], self.strides[axis]);
            match part {
                Part::At(index) => {
                    let counted = if index < 0 { index + len as i64 } else { index };
                    let inside = usize::try_from(counted).ok().filter(|index| *index < len);
                    let index = inside.ok_or_else(|| errors::index_out_of_range(index, axis, len))?;
                    at += index as isize * stride;
                }
                Part::Slice { start, step, len } => {
                    if len > 0 {
                        at += start as isize * stride;
                    }
                    view.shape.push(len);
                    view.strides.push(stride * step);
                }
                Part::All | Part::New => {
                    view.shape.push(len);
                    view.strides.push(stride);
                }
            }
            axis += 1;
        }
        view.start = usize::try_from(at).expect("an element of the view lies in the memory");
        Ok(view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_reshaped_where_strides_can_say_it() {
        let grid = Layout::contiguous(&[4, 6], 0);
        let columns =
            grid.indexed(&[Part::All, Part::Slice { start: 0, step: 2, len: 3 }]).expect("in range");
        assert_eq!(columns.reshaped(&[12]).map(|view| view.strides), Some(Strides::from_slice(&[2])));
        let transposed = grid.permuted(&[1, 0]);
        assert_eq!(transposed.reshaped(&[24]), None);
        assert_eq!(
            transposed.reshaped(&[2, 3, 4]).map(|view| view.strides),
            Some(Strides::from_slice(&[3, 1, 6]))
        );
    }
}
