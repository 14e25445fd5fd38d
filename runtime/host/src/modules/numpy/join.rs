//! Joins, splits, repeats and selects from arrays.

use kps_compute::DType;

use super::array::NdArray;
use super::kernel::source;
use super::layout::Layout;
use super::operand::{self, Operand};
use super::operators::{self, OpResult, check_room};
use super::promote::{Kind, promote, promote_types};
use super::reduce::axis;
use super::shape::array_argument;
use super::{dtype, errors, kernel};
use crate::value::{Args, NativeDef, Result, Value};
use crate::vm::Vm;

pub static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("concatenate", concatenate),
    NativeDef::function("stack", stack),
    NativeDef::function("vstack", vstack),
    NativeDef::function("hstack", hstack),
    NativeDef::function("column_stack", column_stack),
    NativeDef::function("append", append),
    NativeDef::function("split", split),
    NativeDef::function("array_split", array_split),
    NativeDef::function("repeat", repeat),
    NativeDef::function("tile", tile),
    NativeDef::function("roll", roll),
    NativeDef::function("take", take),
    NativeDef::function("where", where_function),
    NativeDef::function("pad", pad),
];

/// Concatenates arrays along an axis.
pub fn join(arrays: &[NdArray], axis: usize, wanted: Option<DType>) -> Result<NdArray> {
    let first = arrays.first().ok_or_else(errors::nothing_to_concatenate)?;
    for (at, array) in arrays.iter().enumerate().skip(1) {
        if array.shape().len() != first.shape().len() {
            return Err(errors::concatenate_axes(at, first.shape().len(), array.shape().len()));
        }
        for (along, (&len, &expected)) in array.shape().iter().zip(first.shape()).enumerate() {
            if along != axis && len != expected {
                return Err(errors::concatenate_lengths(along, expected, at, len));
            }
        }
    }
    let natural = arrays.iter().map(NdArray::dtype).reduce(promote_types).unwrap_or(DType::F64);
    let dtype = wanted.unwrap_or(natural);
    let mut shape = first.shape().to_vec();
    shape[axis] = arrays.iter().fold(0, |len: usize, array| len.saturating_add(array.shape()[axis]));
    let n_bytes = check_room(&shape, dtype)?;
    let n_blocks: usize = shape[..axis].iter().product();
    let mut joined = kernel::empty(n_bytes)?;
    if n_blocks == 1 {
        for array in arrays {
            array.append_to(dtype, &mut joined)?;
        }
        return Ok(NdArray::from_row(dtype, &shape, joined));
    }
    let mut rows = Vec::new();
    for array in arrays {
        rows.push(array.row_as(dtype)?);
    }
    for block in 0..n_blocks {
        for row in &rows {
            let len = row.len() / n_blocks;
            joined.extend_from_slice(&row[block * len..(block + 1) * len]);
        }
    }
    Ok(NdArray::from_row(dtype, &shape, joined))
}

fn arrays_of(vm: &mut Vm, value: &Value) -> Result<Vec<NdArray>> {
    let items = vm.collect(value)?;
    items.iter().map(|item| operand::to_array(vm, item, None)).collect()
}

fn concatenate(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("concatenate");
    let arrays = arrays_of(vm, parser.required("arrays")?)?;
    let along = parser.optional("axis")?;
    let wanted = parser.keyword_only("dtype");
    parser.finish()?;
    let wanted = dtype::from_argument(vm, wanted)?;
    let first = arrays.first().ok_or_else(errors::nothing_to_concatenate)?;
    if first.shape().is_empty() {
        return Err(errors::concatenate_zero_axes());
    }
    if matches!(along, Some(Value::None)) {
        return join(&flattened(&arrays)?, 0, wanted).map(Value::native);
    }
    let along = along.map_or(Ok(0), |along| vm.index(along))?;
    let axis = axis(along, first.shape().len())?;
    join(&arrays, axis, wanted).map(Value::native)
}

fn flattened(arrays: &[NdArray]) -> Result<Vec<NdArray>> {
    let flat = |array: &NdArray| -> Result<NdArray> {
        Ok(NdArray::from_row(array.dtype(), &[array.size()], array.to_contiguous_bytes()?))
    };
    arrays.iter().map(flat).collect()
}

fn stack_along(arrays: &[NdArray], along: i64) -> Result {
    let first = arrays.first().ok_or_else(errors::nothing_to_stack)?;
    if arrays.iter().any(|array| array.shape() != first.shape()) {
        return Err(errors::stack_mismatch());
    }
    let axis = axis(along, first.shape().len() + 1)?;
    let expanded: Vec<NdArray> = arrays.iter().map(|array| with_new_axis(array, axis)).collect();
    join(&expanded, axis, None).map(Value::native)
}

fn with_new_axis(array: &NdArray, axis: usize) -> NdArray {
    let mut layout = array.layout().clone();
    layout.insert_axis(axis);
    array.clone().with_layout(layout)
}

fn stack(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("stack");
    let arrays = arrays_of(vm, parser.required("arrays")?)?;
    let along = parser.optional("axis")?;
    parser.finish()?;
    let along = along.map_or(Ok(0), |along| vm.index(along))?;
    stack_along(&arrays, along)
}

fn at_least(array: &NdArray, n_axes: usize) -> NdArray {
    let mut layout = array.layout().clone();
    while layout.n_axes() < n_axes {
        layout.insert_axis(0);
    }
    array.clone().with_layout(layout)
}

fn vstack(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("vstack")?;
    let arrays: Vec<NdArray> = arrays_of(vm, value)?.iter().map(|array| at_least(array, 2)).collect();
    join(&arrays, 0, None).map(Value::native)
}

fn hstack(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("hstack")?;
    let arrays: Vec<NdArray> = arrays_of(vm, value)?.iter().map(|array| at_least(array, 1)).collect();
    let axis = if arrays.first().is_some_and(|first| first.shape().len() > 1) { 1 } else { 0 };
    join(&arrays, axis, None).map(Value::native)
}

fn column_stack(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("column_stack")?;
    let as_column = |array: NdArray| match array.shape().len() {
        0 | 1 => with_new_axis(&at_least(&array, 1), 1),
        _ => array,
    };
    let arrays: Vec<NdArray> = arrays_of(vm, value)?.into_iter().map(as_column).collect();
    join(&arrays, 1, None).map(Value::native)
}

fn append(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("append");
    let array = operand::to_array(vm, parser.required("arr")?, None)?;
    let values = operand::to_array(vm, parser.required("values")?, None)?;
    let along = parser.optional("axis")?;
    parser.finish()?;
    match along {
        None | Some(Value::None) => join(&flattened(&[array, values])?, 0, None),
        Some(along) => {
            let axis = axis(vm.index(along)?, array.shape().len())?;
            join(&[array, values], axis, None)
        }
    }
    .map(Value::native)
}

fn split(vm: &mut Vm, args: &Args) -> Result {
    parts(vm, args, "split")
}

/// As `split`, but the parts may have different lengths.
fn array_split(vm: &mut Vm, args: &Args) -> Result {
    parts(vm, args, "array_split")
}

fn parts(vm: &mut Vm, args: &Args, name: &str) -> Result {
    let mut parser = args.parser(name);
    let value = parser.required("ary")?;
    let sections = parser.required("indices_or_sections")?;
    let along = parser.optional("axis")?;
    parser.finish()?;
    let (owner, array) = array_argument(vm, value)?;
    let along = along.map_or(Ok(0), |along| vm.index(along))?;
    let axis = axis(along, array.shape().len())?;
    let len = array.shape()[axis];
    let mut cuts = vec![0];
    match vm.try_index(sections)? {
        Some(n) => {
            let n = usize::try_from(n).ok().filter(|n| *n > 0);
            let n = n.ok_or_else(|| crate::errors::value_error("number sections must be larger than 0."))?;
            if name == "split" && !len.is_multiple_of(n) {
                return Err(crate::errors::value_error("array split does not result in an equal division"));
            }
            check_room(&[n, size_of::<NdArray>()], DType::I8)?;
            // The first parts get one more if the length is not divisible.
            cuts.extend((1..=n).map(|at| at * (len / n) + at.min(len % n)));
        }
        None => {
            for cut in vm.collect(sections)? {
                let cut = vm.index(&cut)?;
                let from_start = if cut < 0 { cut + len as i64 } else { cut };
                cuts.push(usize::try_from(from_start).unwrap_or(0).min(len));
            }
            cuts.push(len);
        }
    }
    let parts = cuts.windows(2).map(|pair| {
        let mut layout = array.layout().clone();
        let n = pair[1].saturating_sub(pair[0]);
        layout.slice(axis, array.dtype().size(), pair[0] as i64, 1, n);
        Value::native(array.view(&owner, layout))
    });
    Ok(Value::list(parts.collect()))
}

/// Elements picked along an axis by their indices.
fn pick(array: &NdArray, axis: usize, indices: &[usize]) -> Result<NdArray> {
    let mut shape = array.shape().to_vec();
    shape[axis] = indices.len();
    check_room(&shape, DType::I64)?;
    if shape.contains(&0) {
        return Ok(NdArray::from_row(array.dtype(), &shape, Vec::new()));
    }
    let mut picked: Vec<Vec<usize>> = array.shape().iter().map(|&len| (0..len).collect()).collect();
    picked[axis] = indices.to_vec();
    let row = array.gather_at(&array.layout().bytes_of(&picked, array.dtype().size())?)?;
    Ok(NdArray::from_row(array.dtype(), &shape, row))
}

/// The array itself with an axis given, else flat with its only one.
fn along(vm: &mut Vm, array: NdArray, at: Option<&Value>) -> Result<(NdArray, usize)> {
    match at {
        None | Some(Value::None) => {
            let flat = NdArray::from_row(array.dtype(), &[array.size()], array.to_contiguous_bytes()?);
            Ok((flat, 0))
        }
        Some(at) => {
            let axis = axis(vm.index(at)?, array.shape().len())?;
            Ok((array, axis))
        }
    }
}

pub fn repeat(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("repeat");
    let array = operand::to_array(vm, parser.required("a")?, None)?;
    let times = operand::required(vm, parser.required("repeats")?)?;
    let at = parser.optional("axis")?;
    parser.finish()?;
    let (array, axis) = along(vm, array, at)?;
    let times = kernel::load_all::<i64>(&times.row_as(DType::I64)?)?;
    let len = array.shape()[axis];
    if times.iter().any(|times| *times < 0) {
        return Err(crate::errors::value_error("repeats may not contain negative values."));
    }
    if times.len() != 1 && times.len() != len {
        return Err(errors::not_broadcast(&[&[len], &[times.len()]]));
    }
    let total = if times.len() == 1 {
        times[0] as i128 * len as i128
    } else {
        times.iter().map(|&times| times as i128).sum()
    };
    check_room(&[usize::try_from(total).unwrap_or(usize::MAX)], DType::I64)?;
    let times_of = |at: usize| times[if times.len() == 1 { 0 } else { at }] as usize;
    let indices: Vec<usize> = (0..len).flat_map(|at| std::iter::repeat_n(at, times_of(at))).collect();
    pick(&array, axis, &indices).map(Value::native)
}

fn tile(vm: &mut Vm, args: &Args) -> Result {
    let [value, times] = args.exactly("tile")?;
    let array = operand::to_array(vm, value, None)?;
    let mut times = super::create::shape(vm, times)?;
    let n_axes = times.len().max(array.shape().len());
    let mut array = at_least(&array, n_axes);
    while times.len() < n_axes {
        times.insert(0, 1);
    }
    for (axis, times) in times.into_iter().enumerate() {
        let len = array.shape()[axis];
        check_room(&[len, times], DType::I64)?;
        let indices: Vec<usize> = (0..if len == 0 { 0 } else { times }).flat_map(|_| 0..len).collect();
        array = pick(&array, axis, &indices)?;
    }
    Ok(Value::native(array))
}

fn roll(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("roll");
    let array = operand::to_array(vm, parser.required("a")?, None)?;
    let by = parser.required("shift")?;
    let at = parser.optional("axis")?;
    parser.finish()?;
    let by = vm.index(by)?;
    let shape = array.shape().to_vec();
    let (array, axis) = along(vm, array, at)?;
    let len = array.shape()[axis];
    let start = if len == 0 { 0 } else { (len - by.rem_euclid(len as i64) as usize) % len };
    check_room(&[len], DType::I64)?;
    let indices: Vec<usize> = (start..len).chain(0..start).collect();
    let rolled = pick(&array, axis, &indices)?;
    Ok(Value::native(NdArray::from_row(rolled.dtype(), &shape, rolled.to_contiguous_bytes()?)))
}

pub fn take(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("take");
    let array = operand::to_array(vm, parser.required("a")?, None)?;
    let indices = operand::required(vm, parser.required("indices")?)?;
    let at = parser.optional("axis")?;
    parser.finish()?;
    let (array, axis) = along(vm, array, at)?;
    let len = array.shape()[axis];
    let mut places = Vec::new();
    for at in kernel::load_all::<i64>(&indices.row_as(DType::I64)?)? {
        let from_start = if at < 0 { at + len as i64 } else { at };
        if !(0..len as i64).contains(&from_start) {
            return Err(errors::index_out_of_bounds(at, axis, len));
        }
        places.push(from_start as usize);
    }
    let picked = pick(&array, axis, &places)?;
    let shape = [&array.shape()[..axis], indices.shape(), &array.shape()[axis + 1..]].concat();
    Ok(operators::wrap(picked.dtype(), &shape, picked.to_contiguous_bytes()?))
}

fn where_function(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("where");
    let condition = parser.required("condition")?;
    let chosen = parser.optional_positional();
    let other = parser.optional_positional();
    parser.finish()?;
    match (chosen, other) {
        (Some(chosen), Some(other)) => {
            let condition = operand::required(vm, condition)?;
            let (chosen, other) = (operand::required(vm, chosen)?, operand::required(vm, other)?);
            let made = choose(&condition, &chosen, &other)?;
            Ok(Value::native(made.into_array()))
        }
        (None, None) => super::search::nonzero(vm, args),
        _ => Err(crate::errors::value_error("either both or neither of x and y should be given")),
    }
}

/// Elements of one operand where a condition is true, of another one otherwise.
pub fn choose(condition: &Operand, chosen: &Operand, other: &Operand) -> Result<OpResult> {
    let dtype = match (chosen.kind(), other.kind()) {
        (Kind::WeakInt, Kind::WeakInt) => DType::I64,
        (left, right) => promote(left, right),
    };
    let shapes = [condition.shape(), chosen.shape(), other.shape()];
    let shape = operators::common_shape(&shapes, dtype)?;
    let row = choose_as(dtype, condition, chosen, other, &shape)?;
    Ok(OpResult { dtype, shape, row })
}

/// The same as elements of a type, in a shape that the operands broadcast to.
pub fn choose_as(
    dtype: DType,
    condition: &Operand,
    chosen: &Operand,
    other: &Operand,
    shape: &[usize],
) -> Result<Vec<u8>> {
    let n: usize = shape.iter().product();
    if n == 0 {
        return Ok(Vec::new());
    }
    condition.with_source(DType::Bool, shape, |truths| {
        chosen.with_source(dtype, shape, |chosen| {
            other.with_source(dtype, shape, |other| {
                let sources = [&truths, &chosen, &other];
                source::map(sources, n, dtype.size(), |rows, places| {
                    kernel::choose(dtype.size(), rows, places)
                })
            })
        })
    })???
}

/// A frame of constants around an array.
fn pad(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("pad");
    let array = operand::to_array(vm, parser.required("array")?, None)?;
    let widths = operand::to_array(vm, parser.required("pad_width")?, Some(DType::I64))?;
    let mode = parser.optional("mode")?.and_then(Value::as_str).unwrap_or("constant").to_owned();
    let constant = parser.optional("constant_values")?;
    parser.finish()?;
    let n_axes = array.shape().len();
    let layout = widths.layout().broadcast_to(&[n_axes, 2]);
    let layout = layout.ok_or_else(|| errors::not_broadcast(&[widths.shape(), &[n_axes, 2]]))?;
    let widths = kernel::load_all::<i64>(&widths.with_layout(layout).to_contiguous_bytes()?)?;
    if widths.iter().any(|width| *width < 0) {
        return Err(crate::errors::value_error("index can't contain negative values"));
    }
    if mode == "edge" {
        return pad_with_edges(array, &widths);
    }
    if mode != "constant" {
        let raise = crate::errors::value_error(format!("mode '{mode}' is not supported"));
        return Err(raise.help("the modes are 'constant' and 'edge'"));
    }
    let constant = match constant {
        Some(constant) => operand::required(vm, constant)?.row_as(array.dtype())?,
        None => super::array::element(array.dtype(), 0),
    };
    let lens = array.shape().iter().zip(widths.chunks(2));
    let shape: Vec<usize> =
        lens.map(|(len, width)| len.saturating_add(width[0].saturating_add(width[1]) as usize)).collect();
    let padded = super::create::filled(array.dtype(), &shape, &constant[..array.dtype().size()])?;
    let mut inner: Layout = padded.layout().clone();
    for axis in 0..n_axes {
        inner.slice(axis, array.dtype().size(), widths[2 * axis], 1, array.shape()[axis]);
    }
    padded.clone().with_layout(inner).write_row(&array.to_contiguous_bytes()?)?;
    Ok(Value::native(padded))
}

fn pad_with_edges(mut array: NdArray, widths: &[i64]) -> Result {
    for axis in 0..array.shape().len() {
        let len = array.shape()[axis] as i64;
        if len == 0 {
            return Err(crate::errors::value_error(format!(
                "can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
            )));
        }
        let ends = widths[2 * axis].saturating_add(widths[2 * axis + 1]);
        check_room(&[usize::try_from(len.saturating_add(ends)).unwrap_or(usize::MAX)], DType::I64)?;
        let places = (-widths[2 * axis]..len.saturating_add(widths[2 * axis + 1]))
            .map(|at| at.clamp(0, len - 1) as usize);
        array = pick(&array, axis, &places.collect::<Vec<_>>())?;
    }
    Ok(Value::native(array))
}
