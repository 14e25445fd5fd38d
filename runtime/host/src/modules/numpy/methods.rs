//! The methods and attributes that arrays and scalars share.

use kps_compute::DType;
use kps_compute::number::Number;

use super::array::NdArray;
use super::casting::{Casting, Target};
use super::kernel::binary::Binary;
use super::kernel::unary::Unary;
use super::layout::{Layout, contiguous_strides};
use super::operand::{self, Operand};
use super::operators::{self, OpResult};
use super::order::Order;
use super::{complex, dtype, errors, file, flags, flat, index, join, linear, reduce, search, shape};
use crate::value::{Args, NativeDef, Result, Value};
use crate::vm::Vm;

pub static METHODS: &[NativeDef] = &[
    NativeDef::getter("shape", shape_attr),
    NativeDef::getter("dtype", dtype_attr),
    NativeDef::getter("ndim", ndim),
    NativeDef::getter("size", size),
    NativeDef::getter("itemsize", itemsize),
    NativeDef::getter("nbytes", nbytes),
    NativeDef::getter("strides", strides),
    NativeDef::getter("base", base),
    NativeDef::getter("T", shape::transposed),
    NativeDef::getter("flat", flat::flat),
    NativeDef::getter("flags", flags::flags),
    NativeDef::getter("real", itself),
    NativeDef::method("item", item),
    NativeDef::method("tolist", tolist),
    NativeDef::method("tobytes", tobytes),
    NativeDef::method("tofile", file::tofile),
    NativeDef::method("astype", astype),
    NativeDef::method("copy", copy_method),
    NativeDef::method("__copy__", shallow_copy),
    NativeDef::method("__deepcopy__", shallow_copy),
    NativeDef::method("__array__", array),
    NativeDef::method("view", view),
    NativeDef::method("fill", fill),
    NativeDef::method("__int__", to_int),
    NativeDef::method("__float__", to_float),
    NativeDef::method("__index__", to_index),
    NativeDef::method("__abs__", absolute),
    NativeDef::method("__divmod__", divmod),
    NativeDef::method("round", round),
    NativeDef::method("clip", clip),
    NativeDef::method("reshape", shape::reshape_method),
    NativeDef::method("ravel", shape::ravel),
    NativeDef::method("flatten", shape::flatten),
    NativeDef::method("transpose", shape::transpose_method),
    NativeDef::method("swapaxes", shape::swapaxes),
    NativeDef::method("squeeze", shape::squeeze),
    NativeDef::method("repeat", join::repeat),
    NativeDef::method("take", join::take),
    NativeDef::method("diagonal", linear::diagonal),
    NativeDef::method("trace", linear::trace),
    NativeDef::method("dot", linear::dot_function),
    NativeDef::method("sum", reduce::sum_method),
    NativeDef::method("prod", reduce::prod_method),
    NativeDef::method("mean", reduce::mean_method),
    NativeDef::method("var", reduce::var_method),
    NativeDef::method("std", reduce::std_method),
    NativeDef::method("min", reduce::min_method),
    NativeDef::method("max", reduce::max_method),
    NativeDef::method("argmin", reduce::argmin),
    NativeDef::method("argmax", reduce::argmax),
    NativeDef::method("all", reduce::all_method),
    NativeDef::method("any", reduce::any_method),
    NativeDef::method("cumsum", reduce::cumsum),
    NativeDef::method("cumprod", reduce::cumprod),
    NativeDef::method("sort", search::sort_in_place),
    NativeDef::method("argsort", search::argsort),
    NativeDef::method("nonzero", search::nonzero),
    NativeDef::method("searchsorted", search::searchsorted),
];

/// The array or scalar that a method was called on.
pub fn receiver(vm: &mut Vm, args: &Args) -> Result<Operand> {
    operand::required(vm, args.receiver()?)
}

/// A shape as a tuple of ints.
pub fn shape_value(shape: &[usize]) -> Value {
    Value::tuple(shape.iter().map(|&len| Value::Int(len as i64)).collect::<Vec<_>>())
}

fn shape_attr(vm: &mut Vm, args: &Args) -> Result {
    Ok(shape_value(receiver(vm, args)?.shape()))
}

fn dtype_attr(vm: &mut Vm, args: &Args) -> Result {
    Ok(dtype::object(receiver(vm, args)?.dtype()))
}

fn ndim(vm: &mut Vm, args: &Args) -> Result {
    Ok(Value::Int(receiver(vm, args)?.shape().len() as i64))
}

fn size(vm: &mut Vm, args: &Args) -> Result {
    Ok(Value::Int(receiver(vm, args)?.size() as i64))
}

fn itemsize(vm: &mut Vm, args: &Args) -> Result {
    Ok(Value::Int(receiver(vm, args)?.dtype().size() as i64))
}

fn nbytes(vm: &mut Vm, args: &Args) -> Result {
    let operand = receiver(vm, args)?;
    Ok(Value::Int((operand.size() * operand.dtype().size()) as i64))
}

fn strides(vm: &mut Vm, args: &Args) -> Result {
    let array = receiver(vm, args)?.into_array()?;
    let size = array.dtype().size() as i64;
    let strides = array.layout().strides.iter().map(|&stride| Value::Int(stride as i64 * size));
    Ok(Value::tuple(strides.collect::<Vec<_>>()))
}

fn base(_: &mut Vm, args: &Args) -> Result {
    let array = args.receiver()?.downcast::<NdArray>();
    Ok(array.and_then(NdArray::base).cloned().unwrap_or(Value::None))
}

fn itself(_: &mut Vm, args: &Args) -> Result {
    Ok(args.receiver()?.clone())
}

/// The element that a flat index or one index per axis names, as a Python number.
fn item(vm: &mut Vm, args: &Args) -> Result {
    let array = receiver(vm, args)?.into_array()?;
    let indices = match args.rest().positional() {
        [Value::Tuple(indices)] => indices.to_vec(),
        indices => indices.to_vec(),
    };
    let size = array.dtype().size();
    let offset = match &indices[..] {
        [] => match array.only()? {
            Some(only) => return Ok(only.to_python()),
            None => return Err(errors::not_one_element()),
        },
        [flat] => {
            let flat = vm.index(flat)?;
            let n = array.size();
            let at = if flat < 0 { flat + n as i64 } else { flat };
            if !(0..n as i64).contains(&at) {
                return Err(errors::flat_index_out_of_bounds(flat, n));
            }
            array.layout().byte_of(&unravel(at as usize, array.shape()), size)
        }
        indices => {
            if indices.len() != array.shape().len() {
                return Err(crate::errors::value_error("incorrect number of indices for array"));
            }
            let mut position = Vec::new();
            for (axis, (index, &len)) in indices.iter().zip(array.shape()).enumerate() {
                let at = vm.index(index)?;
                let from_start = if at < 0 { at + len as i64 } else { at };
                if !(0..len as i64).contains(&from_start) {
                    return Err(errors::index_out_of_bounds(at, axis, len));
                }
                position.push(from_start as usize);
            }
            array.layout().byte_of(&position, size)
        }
    };
    Ok(array.scalar_at(offset)?.to_python())
}

/// The index along each axis of the element with a flat index.
pub fn unravel(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let strides = contiguous_strides(shape);
    let mut indices = Vec::with_capacity(shape.len());
    for stride in strides {
        indices.push(at / stride as usize);
        at %= stride as usize;
    }
    indices
}

fn tolist(vm: &mut Vm, args: &Args) -> Result {
    receiver(vm, args)?.into_array()?.to_list()
}

fn tobytes(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("tobytes");
    let order = Order::from_argument(parser.optional("order")?, Order::C)?;
    parser.finish()?;
    Ok(Value::bytes(receiver(vm, args)?.into_array()?.arranged(order).to_contiguous_bytes()?))
}

fn astype(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("astype");
    let wanted = parser.required("dtype")?;
    let order = Order::from_argument(parser.optional("order")?, Order::K)?;
    let casting = Casting::from_argument(parser.optional("casting")?, Casting::Unsafe)?;
    let _subok = parser.optional("subok")?;
    let copies = parser.optional("copy")?;
    parser.finish()?;
    if let Some(ty) = complex::wanted(vm, Some(wanted), None)? {
        return complex::make(vm, ty, args.receiver()?);
    }
    let dtype = dtype::from_value(vm, wanted)?;
    let operand = receiver(vm, args)?;
    if !casting.allows(operand.dtype(), dtype) {
        return Err(errors::data_not_cast(operand.dtype(), dtype, casting));
    }
    if dtype == operand.dtype() && copies.is_some_and(|copies| matches!(copies, Value::Bool(false))) {
        return Ok(args.receiver()?.clone());
    }
    let Operand::Array(array) = &operand else {
        return Ok(operators::wrap(dtype, &[], operand.row_as(dtype)?));
    };
    let array = array.copied_in(order)?;
    if dtype == array.dtype() {
        return Ok(Value::native(array));
    }
    // The elements are contiguous in some order, so they are cast in place.
    let whole = array.arranged(Order::K);
    let cast = NdArray::from_row(dtype, whole.shape(), whole.row_as(dtype)?);
    Ok(Value::native(cast.with_layout(array.layout().clone())))
}

/// A new array of the same elements: a method `copy` stores them in C order, others preserve the order.
fn copied(vm: &mut Vm, args: &Args, default: Order) -> Result {
    let mut parser = args.parser("copy");
    let operand = operand::required(vm, parser.required("a")?)?;
    let order = Order::from_argument(parser.optional("order")?, default)?;
    let _subok = parser.optional("subok")?;
    parser.finish()?;
    match operand {
        Operand::Array(array) => Ok(Value::native(array.copied_in(order)?)),
        other => Ok(operators::wrap(other.dtype(), &[], other.row_as(other.dtype())?)),
    }
}

/// `np.copy(a)`.
pub fn copy(vm: &mut Vm, args: &Args) -> Result {
    match copied(vm, args, Order::K)? {
        array if array.downcast::<NdArray>().is_some() => Ok(array),
        // The function returns an array even for a number.
        number => Ok(Value::native(operand::required(vm, &number)?.into_array()?)),
    }
}

fn copy_method(vm: &mut Vm, args: &Args) -> Result {
    copied(vm, args, Order::C)
}

fn shallow_copy(vm: &mut Vm, args: &Args) -> Result {
    copied(vm, &Args::new(args.positional().get(..1).unwrap_or_default(), &[]), Order::K)
}

fn array(vm: &mut Vm, args: &Args) -> Result {
    match args.receiver()?.downcast::<NdArray>() {
        Some(_) => Ok(args.receiver()?.clone()),
        None => Ok(Value::native(receiver(vm, args)?.into_array()?)),
    }
}

/// The same bytes as elements of another type.
fn view(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("view");
    let wanted = parser.optional("dtype")?;
    parser.finish()?;
    let this = args.receiver()?;
    let array = receiver(vm, args)?.into_array()?;
    let dtype = dtype::from_argument(vm, wanted)?.unwrap_or(array.dtype());
    let (from, to) = (array.dtype().size(), dtype.size());
    let mut layout = array.layout().clone();
    if from != to {
        layout = resized(layout, from, to)?;
    }
    if array.dtype() != DType::Bool && dtype == DType::Bool {
        // A bool is 0 or 1, which other bytes are not.
        return Err(crate::errors::type_error("other bytes are not viewed as bool; write `a != 0`"));
    }
    let view = array.reinterpret(this, dtype, layout);
    match this.downcast::<NdArray>() {
        Some(_) => Ok(Value::native(view)),
        None => Ok(operators::wrap(dtype, view.shape(), view.to_contiguous_bytes()?)),
    }
}

/// A layout whose last axis has elements of another size; the elements of that axis are contiguous.
fn resized(mut layout: Layout, from: usize, to: usize) -> Result<Layout> {
    let Some(last) = layout.shape.last().copied() else {
        return Err(crate::errors::value_error(
            "Changing the dtype of a 0d array is only supported if the itemsize is unchanged",
        ));
    };
    if !layout.is_contiguous() {
        return Err(crate::errors::value_error(
            "To change to a dtype of a different size, the last axis must be contiguous",
        ));
    }
    if !(last * from).is_multiple_of(to) {
        return Err(crate::errors::value_error(
            "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of the array.",
        ));
    }
    *layout.shape.last_mut().expect("the last axis was just seen") = last * from / to;
    layout.strides = contiguous_strides(&layout.shape);
    Ok(layout)
}

fn fill(vm: &mut Vm, args: &Args) -> Result {
    let [this, value] = args.exactly("fill")?;
    let array = this.downcast::<NdArray>().ok_or_else(|| crate::errors::wrong_receiver(this))?;
    index::set_all(array, &operand::required(vm, value)?)?;
    Ok(Value::None)
}

/// The number of an array that has no axes.
fn lone_number(vm: &mut Vm, args: &Args) -> Result<Value> {
    let array = receiver(vm, args)?.into_array()?;
    match array.only()? {
        Some(only) if array.shape().is_empty() => Ok(only.to_python()),
        _ => Err(errors::not_zero_axes()),
    }
}

fn to_int(vm: &mut Vm, args: &Args) -> Result {
    let number = lone_number(vm, args)?;
    let class = vm.builtin_class(crate::value::BuiltinType::Int);
    vm.call(&Value::Class(class), &[number])
}

fn to_float(vm: &mut Vm, args: &Args) -> Result {
    let number = lone_number(vm, args)?;
    let class = vm.builtin_class(crate::value::BuiltinType::Float);
    vm.call(&Value::Class(class), &[number])
}

fn to_index(vm: &mut Vm, args: &Args) -> Result {
    match lone_number(vm, args) {
        Ok(int @ (Value::Int(_) | Value::BigInt(_))) => Ok(int),
        _ => Err(errors::not_an_index()),
    }
}

pub fn absolute(vm: &mut Vm, args: &Args) -> Result {
    let operand = receiver(vm, args)?;
    Ok(operators::apply_unary("absolute", Unary::Absolute, &operand)?.into_value())
}

fn divmod(vm: &mut Vm, args: &Args) -> Result {
    let [this, other] = args.exactly("__divmod__")?;
    let (left, right) = (operand::required(vm, this)?, operand::required(vm, other)?);
    let quotient = operators::apply_binary("divmod", Binary::FloorDivide, &left, &right)?;
    let rest = operators::apply_binary("divmod", Binary::Remainder, &left, &right)?;
    Ok(Value::tuple([quotient.into_value(), rest.into_value()]))
}

/// Rounded to some decimals, half to even.
pub fn round(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("round");
    let operand = operand::required(vm, parser.required("a")?)?;
    let decimals = parser.optional("decimals")?;
    let output = parser.optional("out")?;
    parser.finish()?;
    let target = Target::new(vm, output, None, Casting::SameKind)?;
    let rounded = round_operand(&operand, decimals.map_or(Ok(0), |decimals| vm.index(decimals))?)?;
    if target.output.is_none() {
        return Ok(rounded);
    }
    let rounded = operand::required(vm, &rounded)?;
    target.finish("rint", OpResult::new(rounded.dtype(), rounded.shape(), rounded.row_as(rounded.dtype())?))
}

pub fn round_operand(operand: &Operand, decimals: i64) -> Result {
    let dtype = operand.dtype();
    if !dtype.is_float() {
        return round_ints(operand, decimals);
    }
    if decimals == 0 {
        return Ok(operators::apply_unary("rint", Unary::Rint, operand)?.into_value());
    }
    let scale = Operand::Float(10f64.powi(decimals.unsigned_abs().min(308) as i32));
    let (before, after) =
        if decimals > 0 { (Binary::Multiply, Binary::Divide) } else { (Binary::Divide, Binary::Multiply) };
    let scaled = operators::apply_binary("round", before, operand, &scale)?;
    let rounded = operators::apply_unary("rint", Unary::Rint, &Operand::Array(scaled.into_array()))?;
    let rounded = Operand::Array(rounded.into_array());
    Ok(operators::apply_binary("round", after, &rounded, &scale)?.into_value())
}

fn round_ints(operand: &Operand, decimals: i64) -> Result {
    let dtype = operand.dtype();
    let row = operand.row_as(dtype)?;
    if decimals >= 0 {
        return Ok(operators::wrap(dtype, operand.shape(), row));
    }
    let floats = Operand::Array(NdArray::from_row(DType::F64, operand.shape(), operand.row_as(DType::F64)?));
    let rounded = round_operand(&floats, decimals)?;
    let rounded = match rounded.downcast::<NdArray>() {
        Some(array) => array.row_as(dtype)?,
        None => match rounded.downcast::<super::scalar::Scalar>() {
            Some(scalar) => super::array::element(dtype, Number::Float(scalar.number.as_f64())),
            None => row,
        },
    };
    Ok(operators::wrap(dtype, operand.shape(), rounded))
}

/// Clamps elements between two others.
pub fn clip(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("clip");
    let operand = operand::required(vm, parser.required("a")?)?;
    let positional = (parser.optional("a_min")?, parser.optional("a_max")?);
    let least = parser.keyword_only("min").or(positional.0);
    let most = parser.keyword_only("max").or(positional.1);
    let output = parser.optional("out")?;
    let mask = parser.keyword_only("where");
    let casting = Casting::from_argument(parser.keyword_only("casting"), Casting::SameKind)?;
    parser.finish()?;
    let target = Target::new(vm, output, mask, casting)?;
    let operand = Operand::Array(operand.into_array()?);
    let mut bound = |value: Option<&Value>| {
        value.filter(|value| !value.is_none()).map(|value| operand::required(vm, value)).transpose()
    };
    let made = match (bound(least)?, bound(most)?) {
        (Some(least), Some(most)) => operators::apply_clip(&operand, &least, &most)?,
        (Some(least), None) => operators::apply_binary("maximum", Binary::Maximum, &operand, &least)?,
        (None, Some(most)) => operators::apply_binary("minimum", Binary::Minimum, &operand, &most)?,
        (None, None) => OpResult::new(operand.dtype(), operand.shape(), operand.row_as(operand.dtype())?),
    };
    target.finish("clip", made)
}
