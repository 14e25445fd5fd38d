//! Sorts, searches, counts, and compares whole arrays.

use kps_compute::DType;
use kps_compute::element::to_bytes;

use super::array::NdArray;
use super::kernel::cast::cast_row;
use super::kernel::compare::Compare;
use super::kernel::count;
use super::kernel::order::{self, Side};
use super::kernel::{Places, check_room, load_all, row_of, working_dtype, zip};
use super::layout::{broadcast_shapes, contiguous_strides};
use super::methods::unravel;
use super::operand::{self, Operand};
use super::promote::promote_types;
use super::reduce::axis;
use super::strided;
use super::{complex_math, operators};
use crate::value::{Args, NativeDef, Result, Value};
use crate::vm::{Vm, collect_all};

pub static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("sort", sort),
    NativeDef::function("argsort", argsort),
    NativeDef::function("unique", unique),
    NativeDef::function("nonzero", nonzero),
    NativeDef::function("flatnonzero", flatnonzero),
    NativeDef::function("argwhere", argwhere),
    NativeDef::function("count_nonzero", count_nonzero),
    NativeDef::function("searchsorted", searchsorted),
    NativeDef::function("bincount", bincount),
    NativeDef::function("diff", diff),
    NativeDef::function("median", median),
    NativeDef::function("isin", isin),
    NativeDef::function("allclose", allclose),
    NativeDef::function("isclose", isclose),
    NativeDef::function("array_equal", array_equal),
    NativeDef::function("array_equiv", array_equiv),
];

/// The elements with an axis moved to the end, in a type that can be ordered, and its length.
struct Runs {
    dtype: DType,
    /// The axes in the order in which the row has them.
    order: Vec<usize>,
    shape: Vec<usize>,
    row: Vec<u8>,
    len: usize,
}

fn runs(array: &NdArray, at: i64) -> Result<Runs> {
    let axis = axis(at, array.shape().len())?;
    let mut order: Vec<usize> = (0..array.shape().len()).filter(|other| *other != axis).collect();
    order.push(axis);
    let moved = array.clone().with_layout(array.layout().permute(&order));
    let dtype = working_dtype(array.dtype());
    let row = moved.row_as(dtype)?;
    Ok(Runs { dtype, order, shape: moved.shape().to_vec(), row, len: array.shape()[axis] })
}

impl Runs {
    /// A row in this order as an array with its axes back in place.
    fn put_back(&self, dtype: DType, row: Vec<u8>) -> Result<NdArray> {
        let array = NdArray::from_row(dtype, &self.shape, row);
        if self.order.is_sorted() {
            return Ok(array);
        }
        let mut back = vec![0; self.order.len()];
        for (at, &axis) in self.order.iter().enumerate() {
            back[axis] = at;
        }
        let moved = array.clone().with_layout(array.layout().permute(&back));
        Ok(NdArray::from_row(dtype, moved.shape(), moved.to_contiguous_bytes()?))
    }
}

fn sorted(array: &NdArray, at: i64) -> Result<NdArray> {
    let runs = runs(array, at)?;
    let sorted = order::sort(runs.dtype, &runs.row, runs.len)?;
    runs.put_back(array.dtype(), cast_row(sorted, runs.dtype, array.dtype())?)
}

/// An array with an axis: flat if that is None.
fn along(vm: &mut Vm, array: NdArray, at: Option<&Value>) -> Result<(NdArray, i64)> {
    match at {
        Some(Value::None) => {
            let row = array.to_contiguous_bytes()?;
            Ok((NdArray::from_row(array.dtype(), &[array.size()], row), 0))
        }
        Some(at) => Ok((array, vm.index(at)?)),
        None => Ok((array, -1)),
    }
}

fn sort(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("sort");
    let array = operand::to_array(vm, parser.required("a")?, None)?;
    let at = parser.optional("axis")?;
    let _kind = parser.optional("kind")?;
    parser.finish()?;
    let (array, at) = along(vm, array, at)?;
    sorted(&array, at).map(Value::native)
}

pub fn sort_in_place(vm: &mut Vm, args: &Args) -> Result {
    let array = args.this::<NdArray>()?;
    let mut parser = args.method_parser("sort");
    let at = parser.optional("axis")?.map_or(Ok(-1), |at| vm.index(at))?;
    let _kind = parser.optional("kind")?;
    parser.finish()?;
    sorted(array, at)?.with_row(|row| array.write_row(row))??;
    Ok(Value::None)
}

pub fn argsort(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("argsort");
    let array = operand::to_array(vm, parser.required("a")?, None)?;
    let at = parser.optional("axis")?;
    let _kind = parser.optional("kind")?;
    let _stable = parser.keyword_only("stable");
    parser.finish()?;
    let (array, at) = along(vm, array, at)?;
    let runs = runs(&array, at)?;
    let indices = order::argsort(runs.dtype, &runs.row, runs.len)?;
    let row = row_of(indices.len(), |at| indices[at] as i64)?;
    drop(indices);
    runs.put_back(DType::I64, row).map(Value::native)
}

fn unique(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("unique");
    let array = operand::to_array(vm, parser.required("ar")?, None)?;
    let mut wants = [false; 3];
    for (want, name) in wants.iter_mut().zip(["return_index", "return_inverse", "return_counts"]) {
        *want = parser.optional(name)?.map_or(Ok(false), |wanted| vm.truth(wanted))?;
    }
    parser.finish()?;
    let n = array.size();
    let dtype = working_dtype(array.dtype());
    let row = array.row_as(dtype)?;
    // Positions, sorted elements, and the results.
    check_room(4 * n * size_of::<usize>())?;
    let (order, sorted) = if wants.contains(&true) {
        let order = order::argsort(dtype, &row, n)?;
        let offsets = collect_all(order.iter().map(|at| at * dtype.size()))?;
        (order, strided::gather_at(&row, dtype.size(), &offsets)?)
    } else {
        (Vec::new(), order::sort(dtype, &row, n)?)
    };
    let starts = order::runs(dtype, &sorted)?;
    let firsts = collect_all(starts.iter().map(|start| start * dtype.size()))?;
    let values = cast_row(strided::gather_at(&sorted, dtype.size(), &firsts)?, dtype, array.dtype())?;
    let mut results = vec![Value::native(NdArray::from_row(array.dtype(), &[starts.len()], values))];
    if wants[0] {
        results.push(index_array(starts.iter().map(|&start| order[start]))?);
    }
    let ends: Vec<usize> = starts.iter().copied().skip(1).chain([n]).collect();
    if wants[1] {
        let mut inverse = vec![0; n];
        for (group, (&start, &end)) in starts.iter().zip(&ends).enumerate() {
            order[start..end].iter().for_each(|&at| inverse[at] = group);
        }
        let row = to_bytes(&inverse.iter().map(|&group| group as i64).collect::<Vec<_>>());
        results.push(Value::native(NdArray::from_row(DType::I64, array.shape(), row)));
    }
    if wants[2] {
        results.push(index_array(starts.iter().zip(&ends).map(|(start, end)| end - start))?);
    }
    if results.len() == 1 { Ok(results.remove(0)) } else { Ok(Value::tuple(results)) }
}

/// An array of one axis that holds indices or counts.
fn index_array(indices: impl Iterator<Item = usize>) -> Result {
    let indices = collect_all(indices.map(|index| index as i64))?;
    Ok(Value::native(NdArray::from_row(DType::I64, &[indices.len()], to_bytes(&indices))))
}

/// The flat indices of elements that are not zero.
fn places(operand: &Operand) -> Result<Vec<usize>> {
    operand.with_row(DType::Bool, operand.shape(), count::places)?
}

/// An array of indices per axis.
pub fn nonzero(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("nonzero")?;
    let operand = operand::required(vm, value)?;
    if operand.shape().is_empty() {
        return Err(crate::errors::value_error(
            "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead. If the context of this error is of the form `arr[nonzero(cond)]`, just use `arr[cond]`.",
        ));
    }
    let places = places(&operand)?;
    let axes = operand.shape().iter().zip(contiguous_strides(operand.shape()));
    let arrays: Result<Vec<Value>> =
        axes.map(|(len, stride)| index_array(places.iter().map(|at| at / stride as usize % len))).collect();
    Ok(Value::tuple(arrays?))
}

fn flatnonzero(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("flatnonzero")?;
    let operand = operand::required(vm, value)?;
    index_array(places(&operand)?.into_iter())
}

fn argwhere(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("argwhere")?;
    let operand = operand::required(vm, value)?;
    let places = places(&operand)?;
    let n_axes = operand.shape().len();
    let indices = places.iter().flat_map(|&at| unravel(at, operand.shape()));
    let row = to_bytes(&collect_all(indices.map(|at| at as i64))?);
    Ok(Value::native(NdArray::from_row(DType::I64, &[places.len(), n_axes], row)))
}

fn count_nonzero(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("count_nonzero");
    let operand = operand::required(vm, parser.required("a")?)?;
    let at = parser.optional("axis")?;
    parser.finish()?;
    let truths =
        Operand::Array(NdArray::from_row(DType::Bool, operand.shape(), operand.row_as(DType::Bool)?));
    let axes = super::reduce::axes(vm, at, operand.shape().len())?;
    let made = super::reduce::reduce(super::reduce::Reduction::Sum, &truths, &axes, false, None)?;
    Ok(made.into_value())
}

pub fn searchsorted(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("searchsorted");
    let sorted = operand::required(vm, parser.required("a")?)?;
    let wanted = operand::required(vm, parser.required("v")?)?;
    let side = parser.optional("side")?.and_then(Value::as_str).unwrap_or("left");
    parser.finish()?;
    let side = if side == "right" { Side::Right } else { Side::Left };
    let dtype = working_dtype(promote_types(sorted.dtype(), wanted.dtype()));
    let found = order::search(dtype, &sorted.row_as(dtype)?, &wanted.row_as(dtype)?, side)?;
    Ok(operators::wrap(DType::I64, wanted.shape(), to_bytes(&found)))
}

/// How often each of the numbers 0, 1, 2.. occurs.
fn bincount(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("bincount");
    let array = operand::required(vm, parser.required("x")?)?;
    let weights = parser.optional("weights")?;
    let n_least = parser.optional("minlength")?.map_or(Ok(0), |n| vm.index(n))?;
    parser.finish()?;
    if array.dtype().is_float() && array.size() > 0 {
        return Err(crate::errors::type_error(
            "Cannot cast array data from dtype('float64') to dtype('int64') according to the rule 'safe'",
        ));
    }
    let row = array.shared_row_as(DType::I64)?;
    let bounds = count::bounds(&row)?;
    if bounds.is_some_and(|(least, _)| least < 0) {
        return Err(crate::errors::value_error("'list' argument must have no negative elements"));
    }
    let n = usize::try_from(n_least).unwrap_or(0).max(bounds.map_or(0, |(_, most)| most as usize + 1));
    operators::check_room(&[n], DType::I64)?;
    let Some(weights) = weights.cloned().and_then(Value::not_none) else {
        let counts = count::counts(&row, n)?;
        return Ok(Value::native(NdArray::from_row(DType::I64, &[n], to_bytes(&counts))));
    };
    let numbers = load_all::<i64>(&row)?;
    let weights = load_all::<f64>(&operand::required(vm, &weights)?.row_as(DType::F64)?)?;
    if weights.len() != numbers.len() {
        return Err(crate::errors::value_error("The weights and list don't have the same length."));
    }
    let mut sums = vec![0f64; n];
    numbers.iter().zip(weights).for_each(|(number, weight)| sums[*number as usize] += weight);
    Ok(Value::native(NdArray::from_row(DType::F64, &[n], to_bytes(&sums))))
}

/// Differences of neighbours along the last axis.
fn diff(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("diff");
    let mut array = operand::to_array(vm, parser.required("a")?, None)?;
    let times = parser.optional("n")?.map_or(Ok(1), |n| vm.index(n))?;
    let at = parser.optional("axis")?.map_or(Ok(-1), |at| vm.index(at))?;
    parser.finish()?;
    let axis = axis(at, array.shape().len())?;
    for _ in 0..times.min(array.shape()[axis] as i64) {
        let n = array.shape()[axis].saturating_sub(1);
        let part = |start: i64| {
            let mut layout = array.layout().clone();
            layout.slice(axis, array.dtype().size(), start, 1, n);
            Operand::Array(array.clone().with_layout(layout))
        };
        let (later, earlier) = (part(1), part(0));
        let made = match array.dtype() {
            DType::Bool => operators::apply_compare(Compare::NotEqual, &later, &earlier)?,
            _ => operators::apply_binary(
                "subtract",
                super::kernel::binary::Binary::Subtract,
                &later,
                &earlier,
            )?,
        };
        array = made.into_array();
    }
    Ok(Value::native(array))
}

fn median(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("median");
    let array = operand::to_array(vm, parser.required("a")?, None)?;
    let at = parser.optional("axis")?.cloned().unwrap_or(Value::None);
    parser.finish()?;
    let dtype = if array.dtype().is_float() { array.dtype() } else { DType::F64 };
    let array = NdArray::from_row(dtype, array.shape(), array.row_as(dtype)?);
    let (array, at) = along(vm, array, Some(&at))?;
    let runs = runs(&array, at)?;
    let sorted = order::sort(runs.dtype, &runs.row, runs.len)?;
    let middle = |run: &[f64]| match run.len() {
        0 => f64::NAN,
        // NaN is sorted to the end.
        n if run[n - 1].is_nan() => f64::NAN,
        n if n % 2 == 1 => run[n / 2],
        n => (run[n / 2 - 1] + run[n / 2]) / 2.0,
    };
    let floats = load_all::<f64>(&cast_row(sorted, runs.dtype, DType::F64)?)?;
    let shape = &runs.shape[..runs.shape.len() - 1];
    operators::check_room(shape, DType::F64)?;
    let medians: Vec<f64> = match runs.len {
        0 => vec![f64::NAN; shape.iter().product()],
        len => floats.chunks_exact(len).map(middle).collect(),
    };
    let row = cast_row(to_bytes(&medians), DType::F64, dtype)?;
    Ok(operators::wrap(dtype, shape, row))
}

fn isin(vm: &mut Vm, args: &Args) -> Result {
    let [elements, wanted] = args.exactly("isin")?;
    let (elements, wanted) = (operand::required(vm, elements)?, operand::required(vm, wanted)?);
    let dtype = working_dtype(promote_types(elements.dtype(), wanted.dtype()));
    let sorted = order::sort(dtype, &wanted.row_as(dtype)?, wanted.size())?;
    let row = elements.row_as(dtype)?;
    let left = order::search(dtype, &sorted, &row, Side::Left)?;
    let right = order::search(dtype, &sorted, &row, Side::Right)?;
    let truths = left.iter().zip(right).map(|(left, right)| u8::from(*left != right)).collect();
    Ok(operators::wrap(DType::Bool, elements.shape(), truths))
}

/// Whether elements are equal within `atol + rtol * |b|`.
fn close(vm: &mut Vm, args: &Args, name: &str) -> Result<operators::OpResult> {
    let mut parser = args.parser(name);
    let (left, right) = (parser.required("a")?, parser.required("b")?);
    let relative = operand::one_f64(vm, parser.optional("rtol")?, 1e-5)?;
    let absolute = operand::one_f64(vm, parser.optional("atol")?, 1e-8)?;
    let equal_nan = parser.optional("equal_nan")?.map_or(Ok(false), |equal| vm.truth(equal))?;
    parser.finish()?;
    if complex_math::is_complex(vm, left)? || complex_math::is_complex(vm, right)? {
        return complex_math::close(vm, [left, right], (relative, absolute), equal_nan);
    }
    let (left, right) = (operand::required(vm, left)?, operand::required(vm, right)?);
    let shape = operators::common_shape(&[left.shape(), right.shape()], DType::F64)?;
    let is_close = |left: f64, right: f64| {
        if !left.is_finite() || !right.is_finite() {
            return left == right || equal_nan && left.is_nan() && right.is_nan();
        }
        (left - right).abs() <= absolute + relative * right.abs()
    };
    let func = |left: &[u8], right: &[u8], places: Places| zip(left, right, places, is_close);
    let row = operators::loop_over(func, size_of::<bool>(), DType::F64, [&left, &right], &shape)?;
    Ok(operators::OpResult { dtype: DType::Bool, shape, row })
}

fn isclose(vm: &mut Vm, args: &Args) -> Result {
    Ok(close(vm, args, "isclose")?.into_value())
}

fn allclose(vm: &mut Vm, args: &Args) -> Result {
    let made = close(vm, args, "allclose")?;
    Ok(Value::Bool(made.row.iter().all(|truth| *truth != 0)))
}

fn array_equal(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("array_equal");
    let (left, right) = (parser.required("a1")?, parser.required("a2")?);
    parser.finish()?;
    if complex_math::is_complex(vm, left)? || complex_math::is_complex(vm, right)? {
        return complex_math::are_equal(vm, left, right).map(Value::Bool);
    }
    let (left, right) = (operand::required(vm, left)?, operand::required(vm, right)?);
    if left.shape() != right.shape() {
        return Ok(Value::Bool(false));
    }
    let made = operators::apply_compare(Compare::Equal, &left, &right)?;
    Ok(Value::Bool(made.row.iter().all(|truth| *truth != 0)))
}

/// Whether two arrays are equal once they are broadcast to a common shape.
fn array_equiv(vm: &mut Vm, args: &Args) -> Result {
    let [left, right] = args.exactly("array_equiv")?;
    let (left, right) = (operand::required(vm, left)?, operand::required(vm, right)?);
    if broadcast_shapes(&[left.shape(), right.shape()]).is_none() {
        return Ok(Value::Bool(false));
    }
    let made = operators::apply_compare(Compare::Equal, &left, &right)?;
    Ok(Value::Bool(made.row.iter().all(|truth| *truth != 0)))
}
