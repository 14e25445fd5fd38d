//! Reshapes arrays: views if possible.

use super::array::NdArray;
use super::errors;
use super::layout::broadcast_shapes;
use super::methods::shape_value;
use super::operand;
use super::operators;
use super::order::Order;
use super::reduce::axis;
use crate::value::{Args, NativeDef, Result, Value};
use crate::vm::Vm;

pub static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("shape", shape_of),
    NativeDef::function("ndim", ndim_of),
    NativeDef::function("size", size_of_array),
    NativeDef::function("reshape", reshape_function),
    NativeDef::function("ravel", ravel),
    NativeDef::function("transpose", transpose_function),
    NativeDef::function("swapaxes", swapaxes),
    NativeDef::function("moveaxis", moveaxis),
    NativeDef::function("squeeze", squeeze),
    NativeDef::function("expand_dims", expand_dims),
    NativeDef::function("atleast_1d", atleast_1d),
    NativeDef::function("atleast_2d", atleast_2d),
    NativeDef::function("broadcast_to", broadcast_to),
    NativeDef::function("broadcast_shapes", broadcast_shapes_function),
    NativeDef::function("flip", flip),
];

/// The first argument as a value that is an array, so that views have an owner.
pub fn array_argument(vm: &mut Vm, value: &Value) -> Result<(Value, NdArray)> {
    if let Some(array) = value.downcast::<NdArray>() {
        return Ok((value.clone(), array.plain()));
    }
    let array = operand::to_array(vm, value, None)?;
    Ok((Value::native(array.clone()), array))
}

fn shape_of(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("shape")?;
    Ok(shape_value(operand::required(vm, value)?.shape()))
}

fn ndim_of(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("ndim")?;
    Ok(Value::Int(operand::required(vm, value)?.shape().len() as i64))
}

fn size_of_array(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("size");
    let operand = operand::required(vm, parser.required("a")?)?;
    let along = parser.optional("axis")?;
    parser.finish()?;
    let n = match along {
        None | Some(Value::None) => operand.size(),
        Some(along) => operand.shape()[axis(vm.index(along)?, operand.shape().len())?],
    };
    Ok(Value::Int(n as i64))
}

/// A shape that may leave one axis open (-1), for as many elements.
fn fitting_shape(vm: &mut Vm, lens: &[Value], size: usize) -> Result<Vec<usize>> {
    let mut wanted = Vec::new();
    for len in lens {
        wanted.push(vm.index(len)?);
    }
    if wanted.len() > operand::MAX_AXES {
        return Err(errors::too_many_axes());
    }
    let open = wanted.iter().filter(|len| **len < 0).count();
    if open > 1 {
        return Err(errors::two_unknown_axes());
    }
    let mismatch = || errors::not_reshaped(size, &wanted);
    let known =
        wanted.iter().filter(|len| **len >= 0).try_fold(1usize, |n, len| n.checked_mul(*len as usize));
    let known = known.ok_or_else(mismatch)?;
    let fits = if open == 1 { known != 0 && size.is_multiple_of(known) } else { known == size };
    if !fits {
        return Err(mismatch());
    }
    Ok(wanted.iter().map(|&len| if len < 0 { size / known } else { len as usize }).collect())
}

/// A view if possible, else a copy.
pub fn reshaped(owner: &Value, array: &NdArray, shape: &[usize]) -> Result<NdArray> {
    match array.layout().reshape(shape) {
        Some(layout) => Ok(array.view(owner, layout)),
        None => array.copied(shape),
    }
}

fn reshape(vm: &mut Vm, value: &Value, lens: &[Value], order: Order) -> Result {
    let (owner, array) = array_argument(vm, value)?;
    let shape = fitting_shape(vm, &lens_of(lens), array.size())?;
    if order == Order::K {
        return Err(crate::errors::value_error("order 'K' is not permitted for reshaping"));
    }
    let is_fortran = array.layout().is_fortran() && !array.layout().is_contiguous();
    if order == Order::C || order == Order::A && !is_fortran {
        return reshaped(&owner, &array, &shape).map(Value::native);
    }
    // In the order of Fortran, the transposed array is reshaped to the reversed shape.
    let reversed: Vec<usize> = shape.iter().rev().copied().collect();
    let reshaped = reshaped(&owner, &array.arranged(Order::F), &reversed)?;
    Ok(Value::native(reshaped.arranged(Order::F)))
}

/// One by one, or all of them in one sequence.
fn lens_of(given: &[Value]) -> Vec<Value> {
    match given {
        [Value::Tuple(lens)] => lens.to_vec(),
        [Value::List(lens)] => lens.to_vec(),
        lens => lens.to_vec(),
    }
}

pub fn reshape_method(vm: &mut Vm, args: &Args) -> Result {
    let (lens, order) = reshape_arguments(args)?;
    reshape(vm, args.receiver()?, &lens, order)
}

/// The shape in a call of the method `reshape`, with the same number of elements.
pub fn shape_of_arguments(vm: &mut Vm, args: &Args, size: usize) -> Result<Vec<usize>> {
    let (lens, order) = reshape_arguments(args)?;
    if order != Order::C {
        return Err(errors::only_rows_first());
    }
    fitting_shape(vm, &lens_of(&lens), size)
}

fn reshape_arguments(args: &Args) -> Result<(Vec<Value>, Order)> {
    let mut parser = args.method_parser("reshape");
    let lens = match parser.keyword_only("shape") {
        Some(shape) => vec![shape.clone()],
        None => parser.rest().to_vec(),
    };
    let order = Order::from_argument(parser.keyword_only("order"), Order::C)?;
    let _copies = parser.keyword_only("copy");
    parser.finish()?;
    Ok((lens, order))
}

fn reshape_function(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("reshape");
    let array = parser.required("a")?;
    let shape = parser.required("shape")?;
    let order = Order::from_argument(parser.optional("order")?, Order::C)?;
    let _copies = parser.keyword_only("copy");
    parser.finish()?;
    reshape(vm, array, std::slice::from_ref(shape), order)
}

pub fn ravel(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("ravel");
    let value = parser.required("a")?;
    let order = Order::from_argument(parser.optional("order")?, Order::C)?;
    parser.finish()?;
    let (owner, array) = array_argument(vm, value)?;
    reshaped(&owner, &array.arranged(order), &[array.size()]).map(Value::native)
}

pub fn flatten(vm: &mut Vm, args: &Args) -> Result {
    let array = super::methods::receiver(vm, args)?.into_array()?;
    let mut parser = args.method_parser("flatten");
    let order = Order::from_argument(parser.optional("order")?, Order::C)?;
    parser.finish()?;
    Ok(Value::native(array.arranged(order).copied(&[array.size()])?))
}

pub fn transposed(vm: &mut Vm, args: &Args) -> Result {
    transpose(vm, args.receiver()?, &[])
}

pub fn transpose_method(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("transpose");
    let order = parser.rest().to_vec();
    parser.finish()?;
    transpose(vm, args.receiver()?, &order)
}

fn transpose_function(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("transpose");
    let value = parser.required("a")?;
    let order = parser.optional("axes")?.cloned().and_then(Value::not_none);
    parser.finish()?;
    transpose(vm, value, order.as_slice())
}

fn transpose(vm: &mut Vm, value: &Value, order: &[Value]) -> Result {
    if operand::required(vm, value)?.number().is_some() {
        return Ok(value.clone());
    }
    let (owner, array) = array_argument(vm, value)?;
    let n_axes = array.shape().len();
    let given = match order {
        [Value::Tuple(order)] => order.to_vec(),
        [Value::List(order)] => order.to_vec(),
        [Value::None] => Vec::new(),
        order => order.to_vec(),
    };
    let mut order = Vec::new();
    for at in &given {
        order.push(axis(vm.index(at)?, n_axes)?);
    }
    if given.is_empty() {
        order = (0..n_axes).rev().collect();
    }
    if order.len() != n_axes {
        return Err(errors::axes_do_not_match());
    }
    if (0..n_axes).any(|axis| !order.contains(&axis)) {
        return Err(crate::errors::value_error("repeated axis in transpose"));
    }
    Ok(Value::native(array.view(&owner, array.layout().permute(&order))))
}

pub fn swapaxes(vm: &mut Vm, args: &Args) -> Result {
    let [value, first, second] = args.exactly("swapaxes")?;
    let (owner, array) = array_argument(vm, value)?;
    let n_axes = array.shape().len();
    let mut order: Vec<usize> = (0..n_axes).collect();
    order.swap(axis(vm.index(first)?, n_axes)?, axis(vm.index(second)?, n_axes)?);
    Ok(Value::native(array.view(&owner, array.layout().permute(&order))))
}

fn moveaxis(vm: &mut Vm, args: &Args) -> Result {
    let [value, from, to] = args.exactly("moveaxis")?;
    let (owner, array) = array_argument(vm, value)?;
    let n_axes = array.shape().len();
    let (from, to) = (axis(vm.index(from)?, n_axes)?, axis(vm.index(to)?, n_axes)?);
    let mut order: Vec<usize> = (0..n_axes).filter(|at| *at != from).collect();
    order.insert(to, from);
    Ok(Value::native(array.view(&owner, array.layout().permute(&order))))
}

pub fn squeeze(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("squeeze");
    let value = parser.required("a")?;
    let along = parser.optional("axis")?;
    parser.finish()?;
    let (owner, array) = array_argument(vm, value)?;
    let shape = array.shape();
    let squeezed = match along {
        None | Some(Value::None) => (0..shape.len()).filter(|&axis| shape[axis] == 1).collect(),
        along => super::reduce::axes(vm, along, shape.len())?,
    };
    if squeezed.iter().any(|&axis| shape[axis] != 1) {
        return Err(errors::not_squeezed());
    }
    let mut layout = array.layout().clone();
    for &axis in squeezed.iter().rev() {
        layout.pick(axis, array.dtype().size(), 0);
    }
    Ok(Value::native(array.view(&owner, layout)))
}

fn expand_dims(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("expand_dims");
    let value = parser.required("a")?;
    let along = parser.required("axis")?;
    parser.finish()?;
    let (owner, array) = array_argument(vm, value)?;
    let n_new = if let Value::Tuple(axes) = along { axes.len() } else { 1 };
    let axes = super::reduce::axes(vm, Some(along), array.shape().len() + n_new)?;
    let mut layout = array.layout().clone();
    for axis in axes {
        layout.insert_axis(axis);
    }
    Ok(Value::native(array.view(&owner, layout)))
}

fn with_axes(vm: &mut Vm, args: &Args, name: &str, n_least: usize) -> Result {
    let [value] = args.exactly(name)?;
    let (owner, array) = array_argument(vm, value)?;
    if array.shape().len() >= n_least {
        return Ok(owner);
    }
    let mut layout = array.layout().clone();
    while layout.n_axes() < n_least {
        layout.insert_axis(0);
    }
    Ok(Value::native(array.view(&owner, layout)))
}

fn atleast_1d(vm: &mut Vm, args: &Args) -> Result {
    with_axes(vm, args, "atleast_1d", 1)
}

fn atleast_2d(vm: &mut Vm, args: &Args) -> Result {
    with_axes(vm, args, "atleast_2d", 2)
}

/// A view that repeats elements; nothing is assigned through it.
fn broadcast_to(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("broadcast_to");
    let value = parser.required("array")?;
    let wanted = parser.required("shape")?;
    parser.finish()?;
    let shape = super::create::shape(vm, wanted)?;
    let (owner, array) = array_argument(vm, value)?;
    operators::check_count(&shape, array.dtype())?;
    let layout = array.layout().broadcast_to(&shape);
    let layout = layout.ok_or_else(|| errors::not_broadcast_to(array.shape(), &shape))?;
    Ok(Value::native(array.view(&owner, layout).read_only()))
}

fn broadcast_shapes_function(vm: &mut Vm, args: &Args) -> Result {
    let mut shapes = Vec::new();
    for value in args.positional() {
        shapes.push(super::create::shape(vm, value)?);
    }
    let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
    match broadcast_shapes(&shapes) {
        Some(shape) => Ok(shape_value(&shape)),
        None => Err(errors::not_broadcast(&shapes)),
    }
}

fn flip(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("flip");
    let value = parser.required("m")?;
    let at = parser.optional("axis")?;
    parser.finish()?;
    let (owner, array) = array_argument(vm, value)?;
    let mut layout = array.layout().clone();
    for axis in super::reduce::axes(vm, at, array.shape().len())? {
        let len = array.shape()[axis];
        layout.slice(axis, array.dtype().size(), len.max(1) as i64 - 1, -1, len);
    }
    Ok(Value::native(array.view(&owner, layout)))
}
