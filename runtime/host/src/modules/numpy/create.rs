//! Functions that create arrays.

use kps_compute::{DType, Written};

use super::array::NdArray;
use super::complex::ComplexArray;
use super::kernel::cast::{cast, cast_row};
use super::kernel::{self, row_of};
use super::layout::Layout;
use super::operand::{self, Operand};
use super::operators::check_room;
use super::order::Order;
use super::promote::{Kind, promote};
use super::records::RecordArray;
use super::{complex, dtype, errors, records, strided};
use crate::builtins::complex::Complex;
use crate::value::{Args, NativeDef, Result, Value};
use crate::vm::Vm;

pub static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("array", array),
    NativeDef::function("asarray", asarray),
    NativeDef::function("ascontiguousarray", ascontiguousarray),
    NativeDef::function("asanyarray", asarray),
    NativeDef::function("asfortranarray", asfortranarray),
    NativeDef::function("copy", super::methods::copy),
    NativeDef::function("zeros", zeros),
    NativeDef::function("empty", empty),
    NativeDef::function("ones", ones),
    NativeDef::function("full", full),
    NativeDef::function("zeros_like", zeros_like),
    NativeDef::function("empty_like", empty_like),
    NativeDef::function("ones_like", ones_like),
    NativeDef::function("full_like", full_like),
    NativeDef::function("arange", arange),
    NativeDef::function("linspace", linspace),
    NativeDef::function("logspace", logspace),
    NativeDef::function("eye", eye),
    NativeDef::function("identity", eye),
    NativeDef::function("frombuffer", frombuffer),
    NativeDef::function("fromiter", fromiter),
    NativeDef::function("meshgrid", meshgrid),
    NativeDef::function("indices", indices),
];

/// A shape: an int or a sequence of them.
pub fn shape(vm: &mut Vm, value: &Value) -> Result<Vec<usize>> {
    let lens = match value {
        Value::List(_) | Value::Tuple(_) => vm.collect(value)?,
        other if other.downcast::<NdArray>().is_some_and(|array| !array.shape().is_empty()) => {
            vm.collect(other)?
        }
        other => vec![other.clone()],
    };
    if lens.len() > operand::MAX_AXES {
        return Err(errors::too_many_axes());
    }
    let mut shape = Vec::with_capacity(lens.len());
    for len in &lens {
        shape.push(usize::try_from(vm.index(len)?).map_err(|_| errors::negative_axis())?);
    }
    Ok(shape)
}

/// An array of one element everywhere.
pub fn filled(dtype: DType, shape: &[usize], element: &[u8]) -> Result<NdArray> {
    let n_bytes = check_room(shape, dtype)?;
    let row = match element.iter().all(|byte| *byte == 0) {
        true => kernel::zeros(n_bytes)?,
        false => kernel::row_of_equal(element, n_bytes / dtype.size())?,
    };
    Ok(NdArray::from_row(dtype, shape, row))
}

fn array(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("array");
    let object = parser.required("object")?;
    let wanted = parser.optional("dtype")?;
    let copies = parser.keyword_only("copy");
    let order = Order::from_argument(parser.keyword_only("order"), Order::K)?;
    let _subclasses = parser.keyword_only("subok");
    let n_least = parser.keyword_only("ndmin");
    parser.finish()?;
    if let Some(of) = records::wanted(vm, wanted)? {
        return records::make(vm, &of, object);
    }
    if let Some(ty) = complex::wanted(vm, wanted, Some(object))? {
        return complex::make(vm, ty, object);
    }
    let dtype = dtype::from_argument(vm, wanted)?;
    if matches!(copies, Some(Value::Bool(false) | Value::None)) {
        return as_array(vm, object, dtype, order);
    }
    let array = operand::to_array(vm, object, dtype)?.copied_in(order)?;
    let mut layout = array.layout().clone();
    if let Some(n_least) = n_least {
        let n_least = usize::try_from(vm.index(n_least)?).unwrap_or(0).min(operand::MAX_AXES);
        while layout.n_axes() < n_least {
            layout.insert_axis(0);
        }
    }
    Ok(Value::native(array.with_layout(layout)))
}

fn as_array(vm: &mut Vm, object: &Value, dtype: Option<DType>, order: Order) -> Result {
    if let Some(array) = object.downcast::<NdArray>()
        && !array.is_in_form_of_list()
        && dtype.is_none_or(|dtype| dtype == array.dtype())
        && (order == Order::K || array.layout() == array.clone().in_order(order)?.layout())
    {
        return Ok(object.clone());
    }
    operand::to_array(vm, object, dtype)?.in_order(order).map(Value::native)
}

fn asarray(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("asarray");
    let object = parser.required("a")?;
    let wanted = parser.optional("dtype")?;
    let order = Order::from_argument(parser.optional("order")?, Order::K)?;
    let copies = parser.keyword_only("copy");
    parser.finish()?;
    if let Some(ty) = complex::wanted(vm, wanted, Some(object))? {
        return match object.downcast::<ComplexArray>() {
            Some(array) if array.element_type() == ty && copies.is_none() => Ok(object.clone()),
            _ => complex::make(vm, ty, object),
        };
    }
    let dtype = dtype::from_argument(vm, wanted)?;
    match copies {
        Some(Value::Bool(true)) => operand::to_array(vm, object, dtype)?.copied_in(order).map(Value::native),
        _ => as_array(vm, object, dtype, order),
    }
}

fn in_order(vm: &mut Vm, args: &Args, name: &str, order: Order) -> Result {
    let mut parser = args.parser(name);
    let object = parser.required("a")?;
    let wanted = parser.optional("dtype")?;
    parser.finish()?;
    let dtype = dtype::from_argument(vm, wanted)?;
    as_array(vm, object, dtype, order)
}

fn ascontiguousarray(vm: &mut Vm, args: &Args) -> Result {
    in_order(vm, args, "ascontiguousarray", Order::C)
}

fn asfortranarray(vm: &mut Vm, args: &Args) -> Result {
    in_order(vm, args, "asfortranarray", Order::F)
}

fn with_shape(vm: &mut Vm, args: &Args, name: &str, number: i64) -> Result {
    let mut parser = args.parser(name);
    let shape = shape(vm, parser.required("shape")?)?;
    let wanted = parser.optional("dtype")?;
    let order = Order::from_argument(parser.optional("order")?, Order::C)?;
    parser.finish()?;
    if number == 0
        && let Some(of) = records::wanted(vm, wanted)?
    {
        return records::zeros(&of, &shape);
    }
    if let Some(ty) = complex::wanted(vm, wanted, None)? {
        return complex::filled(ty, &shape, Complex { re: number as f64, im: 0.0 });
    }
    let dtype = dtype::from_argument(vm, wanted)?.unwrap_or(DType::F64);
    let element = super::array::element(dtype, number);
    filled_in(dtype, &shape, &element, order).map(Value::native)
}

/// The same with elements in this memory order.
fn filled_in(dtype: DType, shape: &[usize], element: &[u8], order: Order) -> Result<NdArray> {
    if order != Order::F {
        return filled(dtype, shape, element);
    }
    let reversed: Vec<usize> = shape.iter().rev().copied().collect();
    Ok(filled(dtype, &reversed, element)?.arranged(Order::F))
}

fn zeros(vm: &mut Vm, args: &Args) -> Result {
    with_shape(vm, args, "zeros", 0)
}

fn empty(vm: &mut Vm, args: &Args) -> Result {
    zeros(vm, args).map(forgotten)
}

/// `np.empty` also allocates zeros, so that no foreign bytes are visible. They are only marked as undefined.
fn forgotten(made: Value) -> Value {
    let array = made.downcast::<NdArray>().map(NdArray::storage);
    if let Some(storage) = array.or_else(|| made.downcast::<RecordArray>().map(RecordArray::storage)) {
        storage.forget_but(Written::Nothing);
    }
    made
}

fn ones(vm: &mut Vm, args: &Args) -> Result {
    with_shape(vm, args, "ones", 1)
}

fn full(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("full");
    let shape = shape(vm, parser.required("shape")?)?;
    let value = parser.required("fill_value")?;
    let wanted = parser.optional("dtype")?;
    let order = Order::from_argument(parser.optional("order")?, Order::C)?;
    parser.finish()?;
    if let (Some(ty), Some(number)) = (complex::wanted(vm, wanted, Some(value))?, Complex::of(value)?) {
        return complex::filled(ty, &shape, number);
    }
    let value = operand::required(vm, value)?;
    let dtype = dtype::from_argument(vm, wanted)?.unwrap_or(value.dtype());
    fill_with(dtype, &shape, &value, order)
}

fn fill_with(dtype: DType, shape: &[usize], value: &Operand, order: Order) -> Result {
    check_room(shape, dtype)?;
    let row = value.row_as(dtype)?;
    if value.size() == 1 {
        return filled_in(dtype, shape, &row, order).map(Value::native);
    }
    let layout = Layout::contiguous(value.shape()).broadcast_to(shape);
    let layout = layout.ok_or_else(|| errors::not_assigned(value.shape(), shape))?;
    let array = NdArray::from_row(dtype, shape, strided::gather(&row, dtype, &layout)?);
    array.in_order(order).map(Value::native)
}

/// The properties that a new array copies.
struct Like {
    dtype: DType,
    shape: Vec<usize>,
    order: Order,
}

fn like(vm: &mut Vm, args: &Args, name: &str, takes_value: bool) -> Result<(Like, Option<Operand>)> {
    let mut parser = args.parser(name);
    let model = operand::required(vm, parser.required("a")?)?;
    let value = if takes_value { Some(parser.required("fill_value")?) } else { None };
    let wanted = parser.optional("dtype")?;
    let order = Order::from_argument(parser.optional("order")?, Order::K)?;
    let _subclasses = parser.optional("subok")?;
    let given_shape = parser.optional("shape")?.filter(|shape| !shape.is_none());
    parser.finish()?;
    let order = match (order, &model) {
        (Order::K | Order::A, Operand::Array(array))
            if array.layout().is_fortran() && !array.layout().is_contiguous() =>
        {
            Order::F
        }
        (Order::F, _) => Order::F,
        _ => Order::C,
    };
    let dtype = dtype::from_argument(vm, wanted)?.unwrap_or(model.dtype());
    let shape = match given_shape {
        Some(given) => shape(vm, given)?,
        None => model.shape().to_vec(),
    };
    let value = value.map(|value| operand::required(vm, value)).transpose()?;
    Ok((Like { dtype, shape, order }, value))
}

fn zeros_like(vm: &mut Vm, args: &Args) -> Result {
    let (Like { dtype, shape, order }, _) = like(vm, args, "zeros_like", false)?;
    filled_in(dtype, &shape, &super::array::element(dtype, 0), order).map(Value::native)
}

fn empty_like(vm: &mut Vm, args: &Args) -> Result {
    zeros_like(vm, args).map(forgotten)
}

fn ones_like(vm: &mut Vm, args: &Args) -> Result {
    let (Like { dtype, shape, order }, _) = like(vm, args, "ones_like", false)?;
    filled_in(dtype, &shape, &super::array::element(dtype, 1), order).map(Value::native)
}

fn full_like(vm: &mut Vm, args: &Args) -> Result {
    let (Like { dtype, shape, order }, value) = like(vm, args, "full_like", true)?;
    let value = value.expect("the value is a required argument");
    fill_with(dtype, &shape, &value, order)
}

fn arange(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("arange");
    let first = parser.required("start")?;
    let second = parser.optional("stop")?;
    let step = parser.optional("step")?;
    let wanted = parser.optional("dtype")?;
    parser.finish()?;
    let wanted = dtype::from_argument(vm, wanted)?;
    let (start, stop) = match second {
        Some(stop) if !stop.is_none() => (first.clone(), stop.clone()),
        _ => (Value::Int(0), first.clone()),
    };
    let step = step.cloned().and_then(Value::not_none).unwrap_or(Value::Int(1));
    let operands =
        [operand::required(vm, &start)?, operand::required(vm, &stop)?, operand::required(vm, &step)?];
    let kinds = operands.iter().map(Operand::kind);
    let natural = kinds.reduce(|left, right| match (left, right) {
        (Kind::WeakInt, Kind::WeakInt) => Kind::WeakInt,
        _ => Kind::Strong(promote(left, right)),
    });
    let natural = natural.map_or(DType::I64, Kind::dtype);
    let dtype = wanted.unwrap_or(natural);
    if natural.is_float() || dtype.is_float() {
        return float_range(dtype, &operands);
    }
    int_range(dtype, &operands)
}

fn int_range(dtype: DType, operands: &[Operand; 3]) -> Result {
    let int = |operand: &Operand| -> Result<i128> {
        match operand.clone().into_array()?.only()? {
            Some(only) => match only.number {
                kps_compute::Number::Int(int) => Ok(int),
                other => Ok(other.as_f64() as i128),
            },
            None => Err(errors::not_one_element()),
        }
    };
    let (start, stop, step) = (int(&operands[0])?, int(&operands[1])?, int(&operands[2])?);
    if step == 0 {
        return Err(crate::errors::zero_division("division by zero"));
    }
    let distance = if step > 0 { stop - start } else { start - stop };
    let stride = step.abs();
    let n = usize::try_from(((distance + stride - 1) / stride).max(0)).unwrap_or(usize::MAX);
    check_room(&[n], DType::I64)?;
    let (start, step) = (start as i64, step as i64);
    let row = row_of(n, |at| start.wrapping_add((at as i64).wrapping_mul(step)))?;
    Ok(Value::native(NdArray::from_row(dtype, &[n], cast_row(row, DType::I64, dtype)?)))
}

fn float_range(dtype: DType, operands: &[Operand; 3]) -> Result {
    let float = |operand: &Operand| -> Result<f64> {
        match operand.clone().into_array()?.only()? {
            Some(only) => Ok(only.number.as_f64()),
            None => Err(errors::not_one_element()),
        }
    };
    let (start, stop, step) = (float(&operands[0])?, float(&operands[1])?, float(&operands[2])?);
    if step == 0.0 {
        return Err(crate::errors::zero_division("float division by zero"));
    }
    let n = ((stop - start) / step).ceil().max(0.0);
    if !n.is_finite() {
        return Err(crate::errors::value_error("arange: cannot compute length"));
    }
    let n = n as usize;
    check_room(&[n], DType::F64)?;
    // The step is the difference of the first two elements, with their rounding.
    let delta = (start + step) - start;
    let row = row_of(n, |at| start + at as f64 * delta)?;
    Ok(Value::native(NdArray::from_row(dtype, &[n], cast_row(row, DType::F64, dtype)?)))
}

fn linspace(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("linspace");
    let start = f64_of(vm, parser.required("start")?)?;
    let stop = f64_of(vm, parser.required("stop")?)?;
    let n = parser.optional("num")?.map_or(Ok(50), |n| vm.index(n))?;
    let endpoint = parser.optional("endpoint")?;
    let gives_step = parser.optional("retstep")?;
    let wanted = parser.optional("dtype")?;
    parser.finish()?;
    let endpoint = endpoint.map_or(Ok(true), |endpoint| vm.truth(endpoint))?;
    let gives_step = gives_step.map_or(Ok(false), |gives| vm.truth(gives))?;
    let dtype = dtype::from_argument(vm, wanted)?.unwrap_or(DType::F64);
    let n = usize::try_from(n)
        .map_err(|_| crate::errors::value_error(format!("Number of samples, {n}, must be non-negative.")))?;
    let (points, step) = spaced(start, stop, n, endpoint)?;
    // An integer type takes the floor of each point.
    let row = row_of(n, |at| if dtype.is_float() { points[at] } else { points[at].floor() })?;
    let row = cast_row(row, DType::F64, dtype)?;
    let array = Value::native(NdArray::from_row(dtype, &[n], row));
    if !gives_step {
        return Ok(array);
    }
    Ok(Value::tuple([array, super::scalar::scalar(step)]))
}

fn spaced(start: f64, stop: f64, n: usize, endpoint: bool) -> Result<(Vec<f64>, f64)> {
    check_room(&[n], DType::F64)?;
    let n_steps = if endpoint { n.saturating_sub(1) } else { n };
    let step = if n_steps > 0 { (stop - start) / n_steps as f64 } else { f64::NAN };
    let point = |at: usize| match n_steps {
        0 => start + at as f64 * (stop - start),
        // A step that underflows would result in the start everywhere.
        _ if step == 0.0 => start + at as f64 / n_steps as f64 * (stop - start),
        _ => start + at as f64 * step,
    };
    let mut points: Vec<f64> = (0..n).map(point).collect();
    if endpoint && n > 1 {
        points[n - 1] = stop;
    }
    Ok((points, step))
}

fn f64_of(vm: &mut Vm, value: &Value) -> Result<f64> {
    match operand::required(vm, value)?.into_array()?.only()? {
        Some(only) => Ok(only.number.as_f64()),
        None => Err(errors::not_one_element()),
    }
}

fn logspace(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("logspace");
    let start = f64_of(vm, parser.required("start")?)?;
    let stop = f64_of(vm, parser.required("stop")?)?;
    let n = parser.optional("num")?.map_or(Ok(50), |n| vm.index(n))?;
    let endpoint = parser.optional("endpoint")?.map_or(Ok(true), |endpoint| vm.truth(endpoint))?;
    let base = parser.optional("base")?.map_or(Ok(10.0), |base| f64_of(vm, base))?;
    parser.finish()?;
    let n = usize::try_from(n)
        .map_err(|_| crate::errors::value_error(format!("Number of samples, {n}, must be non-negative.")))?;
    let (points, _) = spaced(start, stop, n, endpoint)?;
    let powers = row_of(n, |at| base.powf(points[at]))?;
    Ok(Value::native(NdArray::from_row(DType::F64, &[n], powers)))
}

fn eye(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("eye");
    let n_rows = parser.required("N")?;
    let n_columns = parser.optional("M")?.cloned().and_then(Value::not_none).unwrap_or(n_rows.clone());
    let diagonal = parser.optional("k")?.map_or(Ok(0), |k| vm.index(k))?;
    let wanted = parser.optional("dtype")?;
    parser.finish()?;
    let dtype = dtype::from_argument(vm, wanted)?.unwrap_or(DType::F64);
    let lens = [vm.index(n_rows)?, vm.index(&n_columns)?];
    let shape = lens.map(|len| usize::try_from(len).unwrap_or(0));
    let array = filled(dtype, &shape, &super::array::element(dtype, 0))?;
    let one = super::array::element(dtype, 1);
    let (n_rows, n_columns) = (shape[0] as i64, shape[1] as i64);
    check_room(&[shape[0].min(shape[1])], DType::I64)?;
    // Rows of no columns have no diagonal, however many they are.
    let places: Vec<usize> = (0..if n_columns == 0 { 0 } else { n_rows })
        .filter(|row| (0..n_columns).contains(&row.saturating_add(diagonal)))
        .map(|row| (row * n_columns + row + diagonal) as usize * dtype.size())
        .collect();
    array.write_at(&places, &one.repeat(places.len()))?;
    Ok(Value::native(array))
}

/// The bytes of a `bytes` object as elements.
fn frombuffer(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("frombuffer");
    let buffer = parser.required("buffer")?;
    let wanted = parser.optional("dtype")?;
    let count = parser.optional("count")?.map_or(Ok(-1), |count| vm.index(count))?;
    let offset = parser.optional("offset")?.map_or(Ok(0), |offset| vm.index(offset))?;
    parser.finish()?;
    let dtype = dtype::from_argument(vm, wanted)?.unwrap_or(DType::F64);
    let Value::Bytes(bytes) = buffer else {
        return Err(crate::errors::not_bytes_like(buffer));
    };
    let start = usize::try_from(offset).ok().filter(|start| *start <= bytes.len());
    let Some(start) = start else {
        return Err(crate::errors::value_error(format!(
            "offset must be non-negative and no greater than buffer length ({})",
            bytes.len()
        )));
    };
    let rest = &bytes[start..];
    let n = match usize::try_from(count) {
        Ok(count) => count,
        Err(_) if rest.len() % dtype.size() != 0 => return Err(errors::bad_buffer()),
        Err(_) => rest.len() / dtype.size(),
    };
    let Some(row) = n.checked_mul(dtype.size()).and_then(|n_bytes| rest.get(..n_bytes)) else {
        return Err(crate::errors::value_error("buffer is smaller than requested size"));
    };
    let array = NdArray::from_row(dtype, &[n], truths(row, dtype)).with_base(buffer.clone());
    Ok(Value::native(array.read_only()))
}

/// Foreign bytes as elements: a bool is 0 or 1.
pub fn truths(row: &[u8], dtype: DType) -> Vec<u8> {
    match dtype {
        DType::Bool => row.iter().map(|byte| u8::from(*byte != 0)).collect(),
        _ => row.to_vec(),
    }
}

fn fromiter(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("fromiter");
    let iterable = parser.required("iter")?;
    let wanted = parser.required("dtype")?;
    let _count = parser.optional("count")?;
    parser.finish()?;
    let dtype = dtype::from_value(vm, wanted)?;
    let items = Value::list(vm.collect(iterable)?);
    operand::nested(vm, &items, Some(dtype)).map(Value::native)
}

fn meshgrid(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("meshgrid");
    let given = parser.rest();
    let indexing = parser.keyword_only("indexing").and_then(Value::as_str).unwrap_or("xy").to_owned();
    parser.finish()?;
    let mut arrays = Vec::new();
    for value in given {
        arrays.push(operand::to_array(vm, value, None)?);
    }
    let mut lens: Vec<usize> = arrays.iter().map(NdArray::size).collect();
    let mut axes: Vec<usize> = (0..arrays.len()).collect();
    if indexing == "xy" && arrays.len() > 1 {
        lens.swap(0, 1);
        axes.swap(0, 1);
    }
    let mut grids = Vec::new();
    for (array, axis) in arrays.iter().zip(axes) {
        let mut shape = vec![1; lens.len()];
        shape[axis] = array.size();
        let row = array.to_contiguous_bytes()?;
        let layout = Layout::contiguous(&shape).broadcast_to(&lens).expect("an axis of 1 takes any length");
        if check_room(&lens, array.dtype())? == 0 {
            grids.push(Value::native(NdArray::from_row(array.dtype(), &lens, Vec::new())));
            continue;
        }
        let row = strided::gather(&row, array.dtype(), &layout)?;
        grids.push(Value::native(NdArray::from_row(array.dtype(), &lens, row)));
    }
    Ok(Value::tuple(grids))
}

/// The index along each axis of every element of a shape.
fn indices(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("indices");
    let shape = shape(vm, parser.required("dimensions")?)?;
    let wanted = parser.optional("dtype")?;
    parser.finish()?;
    let dtype = dtype::from_argument(vm, wanted)?.unwrap_or(DType::I64);
    let whole: Vec<usize> = std::iter::once(shape.len()).chain(shape.iter().copied()).collect();
    let n_bytes = check_room(&whole, DType::I64)?;
    if n_bytes == 0 {
        return Ok(Value::native(NdArray::from_row(dtype, &whole, Vec::new())));
    }
    let mut all = Vec::with_capacity(n_bytes);
    for (axis, &len) in shape.iter().enumerate() {
        let mut counted = vec![1; shape.len()];
        counted[axis] = len;
        let layout =
            Layout::contiguous(&counted).broadcast_to(&shape).expect("an axis of 1 takes any length");
        let counts: Vec<i64> = (0..len as i64).collect();
        all.extend(strided::gather(&kps_compute::element::to_bytes(&counts), DType::I64, &layout)?);
    }
    Ok(Value::native(NdArray::from_row(dtype, &whole, cast(&all, DType::I64, dtype)?)))
}
