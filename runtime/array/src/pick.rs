//! Elements that arrays of indices pick: `x[rows, columns]`, read and assigned.
//!
//! The indices of all axes are broadcast together, as NumPy does. Their axes take the place of the axes that they
//! index, or come first if these are not neighbours.

use smallvec::SmallVec;

use crate::array::{Array, Expression, Operand, View};
use crate::errors::{self, Result};
use crate::expression;
use crate::layout::{Layout, Part, Strides};
use crate::promote::Kinds;
use crate::shape::{self, Shape};

/// One part of an index that may pick.
#[derive(Clone)]
pub enum IndexPart {
    Whole(Part),
    /// Ints, which may count from the end. One out of range reads 0, and writes nothing.
    Picks(Array),
}

/// The elements that an index picks from an array.
#[derive(Clone)]
pub(crate) struct Picking {
    pub source: Array,
    /// The places of the elements, but for the axes that are indexed: in the shape of the result.
    pub layout: Layout,
    pub picks: SmallVec<[Pick; 2]>,
}

/// The indices of one axis.
#[derive(Clone)]
pub(crate) struct Pick {
    /// Of a shape that broadcasts to the result's.
    pub indices: Array,
    /// The distance of neighbours along the axis.
    pub stride: isize,
    /// The length of the axis.
    pub len: usize,
}

impl Array {
    /// The elements that an index with arrays picks.
    pub fn picked(&self, parts: &[IndexPart]) -> Result<Array> {
        let shape = Picking::shape_of(self, parts)?;
        if shape::size(&shape) == 0 || self.size() == 0 {
            return Array::uninitialised(self.engine(), self.dtype(), &shape);
        }
        let picking = Picking::of(self, parts)?;
        Array::pending(self.engine(), self.dtype(), picking.layout.shape.clone(), Expression::Pick(picking))
    }

    /// Assigns to the elements that an index with arrays picks. Of several values for one element, any may stay.
    pub fn put(&self, parts: &[IndexPart], values: Operand) -> Result<()> {
        let shape = Picking::shape_of(self, parts)?;
        if shape::size(&shape) == 0 || self.size() == 0 {
            return Ok(());
        }
        let picking = Picking::of(self, parts)?;
        let target = self.view()?.expect("it has elements");
        if target.layout.repeats() {
            return Err(errors::is_read_only());
        }
        let values = match values {
            Operand::Number(number) => Array::filled(self.engine(), self.dtype(), &shape, number)?,
            Operand::Array(array) if array.shape() != shape.as_slice() => array.broadcast_to(&shape)?,
            Operand::Array(array) => array,
        };
        let target = View { layout: picking.layout.clone(), ..target };
        expression::store_at(&values.converted(self.dtype())?, &target, &picking)
    }
}

impl Picking {
    fn shape_of(array: &Array, parts: &[IndexPart]) -> Result<Shape> {
        Ok(Selected::of(&Layout::contiguous(array.shape(), 0), parts)?.shape)
    }

    fn of(array: &Array, parts: &[IndexPart]) -> Result<Picking> {
        let view = array.view()?.expect("it has elements");
        let selected = Selected::of(&view.layout, parts)?;
        let mut picks = SmallVec::new();
        for (indices, stride, len) in selected.picks {
            let mut places = vec![Part::All; indices.ndim()];
            places.extend(std::iter::repeat_n(Part::New, selected.n_behind));
            picks.push(Pick { indices: indices.indexed(&places)?, stride, len });
        }
        let source = Array::of_view(array.engine(), view);
        Ok(Picking { source, layout: selected.layout, picks })
    }
}

/// An index, applied to a layout.
struct Selected {
    shape: Shape,
    layout: Layout,
    /// The indices of an axis, with the axis's stride and length.
    picks: Vec<(Array, isize, usize)>,
    /// Axes of the result behind those of the indices.
    n_behind: usize,
}

impl Selected {
    fn of(layout: &Layout, parts: &[IndexPart]) -> Result<Selected> {
        let whole: Vec<Part> = parts
            .iter()
            .map(|part| match part {
                IndexPart::Whole(part) => *part,
                IndexPart::Picks(_) => Part::All,
            })
            .collect();
        let view = layout.indexed(&whole)?;
        // The axes of the view that arrays index, and the common shape of these arrays.
        let mut picked = Vec::new();
        let mut common = Shape::new();
        let mut axis = 0;
        for part in parts {
            match part {
                IndexPart::Picks(indices) if !indices.dtype().is_int() => {
                    return Err(errors::wrong_kind("an index", Kinds::Ints, indices.dtype()));
                }
                IndexPart::Picks(indices) => {
                    common = shape::broadcast(&common, indices.shape())?;
                    picked.push((axis, indices.clone()));
                    axis += 1;
                }
                IndexPart::Whole(Part::At(_)) => {}
                IndexPart::Whole(_) => axis += 1,
            }
        }
        let is_picked = |axis: usize| picked.iter().any(|(known, _)| *known == axis);
        let are_neighbours = picked.windows(2).all(|pair| pair[1].0 == pair[0].0 + 1);
        let first = if are_neighbours { picked[0].0 } else { 0 };
        let others: Vec<usize> = (0..view.shape.len()).filter(|axis| !is_picked(*axis)).collect();
        let mut shape = Shape::new();
        let mut strides = Strides::new();
        let mut place = |axes: &[usize]| {
            for axis in axes {
                shape.push(view.shape[*axis]);
                strides.push(view.strides[*axis]);
            }
        };
        let (before, behind) = others.split_at(first.min(others.len()));
        place(before);
        place(behind);
        for (at, len) in common.iter().enumerate() {
            shape.insert(before.len() + at, *len);
            strides.insert(before.len() + at, 0);
        }
        let layout = Layout { shape: shape.clone(), strides, start: view.start };
        let picks = picked.into_iter().map(|(axis, indices)| (indices, view.strides[axis], view.shape[axis]));
        Ok(Selected { shape, layout, picks: picks.collect(), n_behind: behind.len() })
    }
}
