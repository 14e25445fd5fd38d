//! `array[index]` in all its forms, read and assigned.
//!
//! An index becomes a [`Selection`]: a view if it has only ints, slices, `...` and None, and a list of
//! elements if it has arrays of ints or of bools.

use std::borrow::Cow;
use std::rc::Rc;

use kps_compute::{DType, Element};

use super::array::NdArray;
use super::errors;
use super::kernel::{self, count};
use super::layout::{Layout, broadcast_shapes};
use super::operand::{self, Operand};
use super::operators::check_room;
use super::scalar::Scalar;
use super::strided;
use crate::value::{Result, Value};
use crate::vm::{Vm, collect_all};

/// The result of an index.
pub enum Selection {
    View(Layout),
    /// The byte offsets of the elements, in the order of their indices.
    Elements {
        shape: Vec<usize>,
        offsets: Vec<usize>,
    },
}

/// One part of an index, its arrays already looked at.
enum Part {
    Int(i64),
    Slice(Value),
    NewAxis,
    Ellipsis,
    Ints {
        shape: Vec<usize>,
        /// Of `i64`.
        row: Rc<Vec<u8>>,
    },
    /// A mask over as many axes as it has.
    Mask {
        shape: Vec<usize>,
        truths: Rc<Vec<u8>>,
    },
}

impl Part {
    /// The number of the array's axes that it indexes.
    fn n_axes(&self) -> usize {
        match self {
            Part::Int(_) | Part::Slice(_) | Part::Ints { .. } => 1,
            Part::NewAxis | Part::Ellipsis => 0,
            Part::Mask { shape, .. } => shape.len(),
        }
    }

    fn is_array(&self) -> bool {
        matches!(self, Part::Ints { .. } | Part::Mask { .. })
    }
}

/// `array[index]`.
pub fn get(vm: &mut Vm, this: &Value, array: &NdArray, index: &Value) -> Result {
    if let Some(at) = index.as_int().filter(|_| !matches!(index, Value::Bool(_)))
        && let Some(&len) = array.shape().first()
    {
        return array.item(this, position(at, 0, len)?);
    }
    match select(vm, (array.layout(), array.dtype().size()), index)? {
        Selection::View(layout) if layout.shape.is_empty() && !has_ellipsis(index) => {
            array.scalar_at(layout.offset).map(Value::native)
        }
        Selection::View(layout) => Ok(Value::native(array.view(this, layout))),
        Selection::Elements { shape, offsets } => {
            let row = array.gather_at(&offsets)?;
            if shape.is_empty() {
                return Ok(Value::native(Scalar::load(array.dtype(), &row)));
            }
            Ok(Value::native(NdArray::from_row(array.dtype(), &shape, row)))
        }
    }
}

/// `array[..., 0]` stays an array without axes.
fn has_ellipsis(index: &Value) -> bool {
    match index {
        Value::Ellipsis => true,
        Value::Tuple(parts) => parts.iter().any(|part| matches!(part, Value::Ellipsis)),
        _ => false,
    }
}

/// `array[index] = value`.
pub fn set(vm: &mut Vm, array: &NdArray, index: &Value, value: &Value) -> Result<()> {
    if array.is_read_only() {
        return Err(errors::read_only());
    }
    let selection = select(vm, (array.layout(), array.dtype().size()), index)?;
    let value = match value.as_str() {
        // As NumPy reads it: `a[0] = "1.5"`.
        Some(_) => return Err(errors::not_a_number(value)),
        None => operand::required(vm, value)?,
    };
    assign(array, selection, &value)
}

/// Assigns everywhere: `array[...] = value`, `array.fill(value)`.
pub fn set_all(array: &NdArray, value: &Operand) -> Result<()> {
    assign(array, Selection::View(array.layout().clone()), value)
}

fn assign(array: &NdArray, selection: Selection, value: &Operand) -> Result<()> {
    let dtype = array.dtype();
    let row = value.shared_row_as(dtype)?;
    let shape = match &selection {
        Selection::View(layout) => &layout.shape[..],
        Selection::Elements { shape, .. } => shape,
    };
    if value.size() == 1
        && value.shape().len() <= shape.len()
        && let Selection::View(layout) = &selection
    {
        return array.clone().with_layout(layout.clone()).fill(&row);
    }
    let row = stretch(row, dtype, value.shape(), shape)?;
    match selection {
        Selection::View(layout) => array.clone().with_layout(layout).write_row(&row),
        Selection::Elements { offsets, .. } => array.write_at(&offsets, &row),
    }
}

/// The row of an array in a larger shape; leading axes of length 1 that are too many are dropped.
fn stretch(row: Rc<Vec<u8>>, dtype: DType, from: &[usize], to: &[usize]) -> Result<Rc<Vec<u8>>> {
    if from == to {
        return Ok(row);
    }
    let n_extra = from.len().saturating_sub(to.len());
    let error = || errors::not_assigned(from, to);
    if from[..n_extra].iter().any(|&len| len != 1) {
        return Err(error());
    }
    let layout = Layout::contiguous(&from[n_extra..]).broadcast_to(to).ok_or_else(error)?;
    check_room(to, dtype)?;
    strided::gather(&row, dtype, &layout).map(Rc::new)
}

/// The elements that an index selects: their shape, and their byte offsets.
pub fn elements(vm: &mut Vm, array: &NdArray, index: &Value) -> Result<(Vec<usize>, Vec<usize>)> {
    elements_of(vm, (array.layout(), array.dtype().size()), index)
}

/// The same for elements with this layout, each of a size in bytes.
pub fn elements_of(
    vm: &mut Vm,
    (layout, size): (&Layout, usize),
    index: &Value,
) -> Result<(Vec<usize>, Vec<usize>)> {
    match select(vm, (layout, size), index)? {
        Selection::Elements { shape, offsets } => Ok((shape, offsets)),
        Selection::View(layout) => {
            if check_room(&layout.shape, DType::I64)? == 0 {
                return Ok((layout.shape.to_vec(), Vec::new()));
            }
            let all: Vec<Vec<usize>> = layout.shape.iter().map(|&len| (0..len).collect()).collect();
            let offsets = layout.bytes_of(&all, size)?;
            Ok((layout.shape.to_vec(), offsets))
        }
    }
}

fn position(at: i64, axis: usize, len: usize) -> Result<usize> {
    let from_start = if at < 0 { at.checked_add_unsigned(len as u64) } else { Some(at) };
    match from_start {
        Some(at) if (0..len as i64).contains(&at) => Ok(at as usize),
        _ => Err(errors::index_out_of_bounds(at, axis, len)),
    }
}

/// For elements with this layout, each of a size in bytes.
pub fn select(vm: &mut Vm, (layout, size): (&Layout, usize), index: &Value) -> Result<Selection> {
    let mut parts = Vec::new();
    match index {
        Value::Tuple(items) => {
            for item in items.iter() {
                parts.push(part(vm, item)?);
            }
        }
        item => parts.push(part(vm, item)?),
    }
    let n_indexed: usize = parts.iter().map(Part::n_axes).sum();
    let n_axes = layout.n_axes();
    if n_indexed > n_axes {
        return Err(errors::too_many_indices(n_axes, n_indexed));
    }
    match parts.iter().filter(|part| matches!(part, Part::Ellipsis)).count() {
        0 => parts.push(Part::Ellipsis),
        1 => {}
        _ => return Err(errors::two_ellipses()),
    }
    Picker::new((layout, size), n_axes - n_indexed).pick_all(vm, parts)
}

fn part(vm: &mut Vm, item: &Value) -> Result<Part> {
    match item {
        Value::None => return Ok(Part::NewAxis),
        Value::Ellipsis => return Ok(Part::Ellipsis),
        Value::Slice(_) => return Ok(Part::Slice(item.clone())),
        Value::Bool(truth) => {
            return Ok(Part::Mask { shape: Vec::new(), truths: vec![u8::from(*truth)].into() });
        }
        Value::Str(_) | Value::Float(_) => return Err(errors::bad_index()),
        _ => {}
    }
    let is_array = matches!(item, Value::List(_) | Value::Tuple(_)) || item.downcast::<NdArray>().is_some();
    if !is_array && let Some(int) = vm.try_index(item)? {
        return Ok(Part::Int(int));
    }
    let Some(operand) = operand::from_value(vm, item)? else { return Err(errors::bad_index()) };
    let shape = operand.shape().to_vec();
    match operand.dtype() {
        DType::Bool => Ok(Part::Mask { shape, truths: operand.shared_row_as(DType::Bool)? }),
        // An empty list is of floats, and means no index at all.
        dtype
            if dtype.is_int() || operand.size() == 0 && matches!(item, Value::List(_) | Value::Tuple(_)) =>
        {
            let row = operand.shared_row_as(DType::I64)?;
            match (&operand, shape.is_empty()) {
                (Operand::Array(_), true) => Ok(Part::Int(i64::load(&row))),
                _ => Ok(Part::Ints { shape, row }),
            }
        }
        _ => Err(errors::bad_index()),
    }
}

/// Works through the parts of an index, from the first axis to the last.
struct Picker {
    /// Bytes of an element.
    size: usize,
    /// The remaining layout; axes before `axis` are done.
    layout: Layout,
    axis: usize,
    /// The axis of the array itself, for messages.
    source_axis: usize,
    n_under_ellipsis: usize,
    /// Axes of `layout` that arrays of indices pick from, with the indices.
    picked: Vec<Picked>,
}

struct Picked {
    axis: usize,
    shape: Vec<usize>,
    indices: Vec<usize>,
}

impl Picker {
    fn new((layout, size): (&Layout, usize), n_under_ellipsis: usize) -> Picker {
        Picker { size, layout: layout.clone(), axis: 0, source_axis: 0, n_under_ellipsis, picked: Vec::new() }
    }

    fn pick_all(mut self, vm: &mut Vm, parts: Vec<Part>) -> Result<Selection> {
        let size = self.size;
        // Beside arrays, an int is an array of one index.
        let any_array = parts.iter().any(Part::is_array);
        let mut is_split = false;
        let mut last_array = None;
        for (at, part) in parts.into_iter().enumerate() {
            if part.is_array() || any_array && matches!(part, Part::Int(_)) {
                is_split |= last_array.is_some_and(|last| last + 1 != at);
                last_array = Some(at);
            }
            match part {
                Part::Int(int) if any_array => self.pick_indices(Vec::new(), &int.to_le_bytes())?,
                Part::Int(int) => {
                    let at = position(int, self.source_axis, self.layout.shape[self.axis])?;
                    self.layout.pick(self.axis, size, at);
                    self.source_axis += 1;
                }
                Part::Slice(slice) => self.slice(vm, &slice, size)?,
                Part::NewAxis => {
                    self.layout.insert_axis(self.axis);
                    self.axis += 1;
                }
                Part::Ellipsis => {
                    self.axis += self.n_under_ellipsis;
                    self.source_axis += self.n_under_ellipsis;
                }
                Part::Ints { shape, row } => self.pick_indices(shape, &row)?,
                Part::Mask { shape, truths } => self.pick_mask(&shape, &truths)?,
            }
        }
        if !any_array {
            return Ok(Selection::View(self.layout));
        }
        self.elements(is_split)
    }

    fn slice(&mut self, vm: &mut Vm, slice: &Value, size: usize) -> Result<()> {
        let Value::Slice(slice) = slice else { unreachable!("only slices come here") };
        let span = slice.span(vm, self.layout.shape[self.axis])?;
        self.layout.slice(self.axis, size, span.start, span.step, span.n);
        self.axis += 1;
        self.source_axis += 1;
        Ok(())
    }

    /// Picks by a row of `i64`.
    fn pick_indices(&mut self, shape: Vec<usize>, row: &[u8]) -> Result<()> {
        let len = self.layout.shape[self.axis];
        let n = row.len() / size_of::<i64>();
        let int = |at: usize| i64::load(&row[at * size_of::<i64>()..]);
        let from_start = |int: i64| if int < 0 { int.wrapping_add_unsigned(len as u64) } else { int };
        let indices = kernel::vec_of(n, |at| from_start(int(at)) as usize)?;
        // An index that is too small has become a large one.
        if let Some(at) = kernel::find(&indices, |index| *index >= len) {
            position(int(at), self.source_axis, len)?;
        }
        self.picked.push(Picked { axis: self.axis, shape, indices });
        self.axis += 1;
        self.source_axis += 1;
        Ok(())
    }

    /// A mask selects as an array of indices per axis does.
    fn pick_mask(&mut self, shape: &[usize], truths: &[u8]) -> Result<()> {
        for (at, &mask_len) in shape.iter().enumerate() {
            let len = self.layout.shape[self.axis + at];
            if len != mask_len {
                return Err(errors::mask_mismatch(self.source_axis + at, len, mask_len));
            }
        }
        if shape.is_empty() {
            // A single bool: a new axis of one item or of none.
            self.layout.insert_axis(self.axis);
            let indices = if truths[0] != 0 { vec![0] } else { Vec::new() };
            self.picked.push(Picked { axis: self.axis, shape: vec![indices.len()], indices });
            self.axis += 1;
            return Ok(());
        }
        let places = count::places(truths)?;
        let mut stride = truths.len();
        for &len in shape {
            stride = stride.checked_div(len).unwrap_or(0);
            let indices = match shape.len() {
                1 => places.clone(),
                _ => kernel::vec_of(places.len(), |at| places[at] / stride.max(1) % len.max(1))?,
            };
            self.picked.push(Picked { axis: self.axis, shape: vec![places.len()], indices });
            self.axis += 1;
            self.source_axis += 1;
        }
        Ok(())
    }

    /// The elements that all index arrays select jointly. Their axes replace the index arrays, or come first
    /// if other parts separate the arrays.
    fn elements(self, is_split: bool) -> Result<Selection> {
        let size = self.size;
        let shapes: Vec<&[usize]> = self.picked.iter().map(|picked| &picked.shape[..]).collect();
        let shape = broadcast_shapes(&shapes).ok_or_else(|| errors::indices_not_broadcast(&shapes))?;
        let n: usize = shape.iter().product();
        let lens = self.layout.shape.iter().enumerate();
        let rest_lens = lens.filter(|(axis, _)| !self.picked.iter().any(|picked| picked.axis == *axis));
        let all: Vec<usize> = shape.iter().copied().chain(rest_lens.map(|(_, len)| *len)).collect();
        check_room(&all, DType::I64)?;
        let is_empty = all.contains(&0);
        // The picks, the indices spread over them, and the places of all elements.
        check_room(&[4, n.max(all.iter().product())], DType::I64)?;
        let mut spread_picks = Vec::with_capacity(self.picked.len());
        for picked in &self.picked {
            let stride = self.layout.strides[picked.axis] * size as isize;
            spread_picks.push((spread(&picked.indices, &picked.shape, &shape)?, stride));
        }
        let pick = |at: usize| -> isize {
            spread_picks.iter().map(|(indices, stride)| indices[at] as isize * stride).sum()
        };
        let is_picked = |axis: &usize| self.picked.iter().any(|picked| picked.axis == *axis);
        let rest: Vec<usize> = (0..self.layout.n_axes()).filter(|axis| !is_picked(axis)).collect();
        let n_front = if is_split { 0 } else { self.picked[0].axis };
        let (front, back) = rest.split_at(n_front.min(rest.len()));
        let len = |axis: &usize| self.layout.shape[*axis];
        let made = front.iter().map(len).chain(shape.iter().copied()).chain(back.iter().map(len)).collect();
        if is_empty {
            return Ok(Selection::Elements { shape: made, offsets: Vec::new() });
        }
        if rest.is_empty() {
            let offset = self.layout.offset;
            let offsets = kernel::vec_of(n, |at| offset.wrapping_add_signed(pick(at)))?;
            return Ok(Selection::Elements { shape: made, offsets });
        }
        let picks = kernel::vec_of(n, pick)?;
        let front_offsets = self.rest_offsets(front, self.layout.offset)?;
        let back_offsets = self.rest_offsets(back, 0)?;
        let back_offsets = &back_offsets;
        let of_pick = |from| back_offsets.iter().map(move |to| (from + to) as usize);
        let offsets = front_offsets.iter().flat_map(|from| picks.iter().map(move |pick| from + pick));
        Ok(Selection::Elements { shape: made, offsets: collect_all(offsets.flat_map(of_pick))? })
    }

    fn rest_offsets(&self, axes: &[usize], start: usize) -> Result<Vec<isize>> {
        let size = self.size as isize;
        let mut offsets = vec![start as isize];
        for &axis in axes {
            let (len, stride) = (self.layout.shape[axis] as isize, self.layout.strides[axis] * size);
            offsets =
                collect_all(offsets.iter().flat_map(|from| (0..len).map(move |at| from + at * stride)))?;
        }
        Ok(offsets)
    }
}

/// Indices of one shape in a larger one.
fn spread<'i>(indices: &'i [usize], from: &[usize], to: &[usize]) -> Result<Cow<'i, [usize]>> {
    if from == to {
        return Ok(indices.into());
    }
    let layout = Layout::contiguous(from).broadcast_to(to).expect("the shapes were found to broadcast");
    let all: Vec<Vec<usize>> = to.iter().map(|&len| (0..len).collect()).collect();
    Ok(collect_all(layout.bytes_of(&all, 1)?.into_iter().map(|at| indices[at]))?.into())
}
