//! The methods of tensors: those of NumPy's arrays that tensors have.

use kps_array::{Array, Part};

use super::functions::{as_type, clipped, ints, squeezed};
use super::{array_of, moved, operand, raised, result};
use crate::errors::type_error;
use crate::modules::kp::manager::ScriptManager;
use crate::modules::kp::tensor::ScriptTensor;
use crate::modules::kp::{shared, values};
use crate::value::{Args, NativeDef, Result, Value};
use crate::vm::Vm;

/// Methods that call the function of the same name in `kp` with the tensor as its first argument.
macro_rules! as_function {
    ($name:literal, $signature:literal, $sentence:literal) => {
        NativeDef::method($name, |vm, args| {
            let function = vm.import("kp")?.get($name).expect("the method is named after a function of kp");
            vm.call_with(&function, args)
        })
        .doc($signature, $sentence)
    };
}

pub const METHODS: &[NativeDef] = &[
    NativeDef::method("__abs__", |vm, args| {
        let array = this(vm, args)?;
        result(Array::apply(kps_array::Op::named("abs").expect("it is in the table"), &[array.into()]))
    }),
    NativeDef::method("__float__", |vm, args| {
        let number = only(&this(vm, args)?)?;
        let float = Value::Class(vm.builtin_class(crate::value::BuiltinType::Float));
        vm.call(&float, &[number])
    }),
    NativeDef::method("__int__", |vm, args| {
        let number = only(&this(vm, args)?)?;
        let int = Value::Class(vm.builtin_class(crate::value::BuiltinType::Int));
        vm.call(&int, &[number])
    }),
    NativeDef::getter("real", real)
        .doc("", "A view of the real parts; the tensor itself if it has no complex numbers."),
    NativeDef::getter("imag", |vm, args| result(part(&this(vm, args)?, "imag")))
        .doc("", "A view of the imaginary parts."),
    as_function!("conj", "()", "Returns the numbers with the opposite imaginary parts."),
    NativeDef::method("__index__", index),
    NativeDef::method("__array_namespace__", namespace),
    NativeDef::getter("device", device).doc("", "The manager whose device has the elements."),
    NativeDef::method("to_device", to_device)
        .doc("(device)", "Returns the elements on the device of a manager: a copy, unless they are there."),
    NativeDef::getter("T", transposed).doc("", "A view with the axes in reverse order."),
    NativeDef::getter("mT", matrix_transposed).doc("", "A view with the last two axes exchanged."),
    NativeDef::method("astype", astype).doc("(dtype, copy=True)", "Returns the elements as another type."),
    NativeDef::method("copy", copy).doc("()", "Returns a copy in memory of its own."),
    NativeDef::method("fill", fill).doc("(value)", "Sets every element to a number."),
    NativeDef::method("item", item).doc("()", "Returns the only element as a number."),
    NativeDef::method("transpose", transpose)
        .doc("(*axes)", "Returns a view with the axes in another order."),
    NativeDef::method("ravel", ravel)
        .doc("()", "Returns the elements along one axis; a view if that is possible."),
    NativeDef::method("flatten", flatten).doc("()", "Returns a copy with one axis."),
    NativeDef::method("squeeze", squeeze).doc("(axis=None)", "Returns a view without axes of length 1."),
    NativeDef::method("clip", clip)
        .doc("(min=None, max=None)", "Returns the elements, but none below or above."),
    NativeDef::method("round", round).doc("()", "Returns the nearest whole numbers; half to even."),
    as_function!("sum", "(axis=None, dtype=None, keepdims=False)", "Returns the sum of the elements."),
    as_function!("prod", "(axis=None, dtype=None, keepdims=False)", "Returns the product of the elements."),
    as_function!("min", "(axis=None, keepdims=False)", "Returns the smallest element."),
    as_function!("max", "(axis=None, keepdims=False)", "Returns the largest element."),
    as_function!("any", "(axis=None, keepdims=False)", "Returns whether one or more elements are true."),
    as_function!("all", "(axis=None, keepdims=False)", "Returns whether every element is true."),
    as_function!("argmin", "(axis=None, keepdims=False)", "Returns the index of the smallest element."),
    as_function!("argmax", "(axis=None, keepdims=False)", "Returns the index of the largest element."),
    as_function!("mean", "(axis=None, keepdims=False)", "Returns the mean of the elements."),
    as_function!("var", "(axis=None, correction=0, keepdims=False)", "Returns the variance of the elements."),
    as_function!(
        "std",
        "(axis=None, correction=0, keepdims=False)",
        "Returns the standard deviation of the elements."
    ),
];

fn this(vm: &mut Vm, args: &Args) -> Result<Array> {
    array_of(vm, args.this::<ScriptTensor>()?)
}

/// A view of one part of complex numbers: `real` or `imag`.
fn part(array: &Array, name: &str) -> kps_array::Result<Array> {
    let mut index = vec![Part::All; array.ndim()];
    index.push(Part::At((name == "imag").into()));
    array.as_parts()?.indexed(&index)
}

fn real(vm: &mut Vm, args: &Args) -> Result {
    let array = this(vm, args)?;
    match array.dtype().is_complex() {
        true => result(part(&array, "real")),
        false => Ok(args.receiver()?.clone()),
    }
}

/// `x.real = value`.
pub fn set_part(vm: &mut Vm, array: &Array, name: &str, value: &Value) -> Result<()> {
    let part = part(array, name).map_err(raised)?;
    let value = match operand(vm, value, Some(array))? {
        Some(value) => value,
        None => super::array(vm, value, part.dtype())?.into(),
    };
    part.assign(value).map_err(raised)
}

fn transposed(vm: &mut Vm, args: &Args) -> Result {
    let array = this(vm, args)?;
    let order: Vec<i64> = (0..array.ndim() as i64).rev().collect();
    result(array.permuted(&order))
}

fn matrix_transposed(vm: &mut Vm, args: &Args) -> Result {
    let array = this(vm, args)?;
    let ndim = array.ndim() as i64;
    if ndim < 2 {
        return Err(type_error("`mT` is a view of a matrix, which has two axes or more"));
    }
    let order: Vec<i64> = (0..ndim - 2).chain([ndim - 1, ndim - 2]).collect();
    result(array.permuted(&order))
}

fn astype(vm: &mut Vm, args: &Args) -> Result {
    let array = this(vm, args)?;
    let mut parser = args.method_parser("astype");
    let (dtype, copy) = (parser.required("dtype")?, parser.optional("copy")?);
    parser.finish()?;
    as_type(vm, &array, dtype, copy)
}

fn device(vm: &mut Vm, args: &Args) -> Result {
    let array = this(vm, args)?;
    shared::manager_of(vm, array.engine()).map(ScriptManager::value)
}

fn to_device(vm: &mut Vm, args: &Args) -> Result {
    let array = this(vm, args)?;
    let mut parser = args.method_parser("to_device");
    let device = parser.required("device")?;
    parser.finish()?;
    moved(vm, &array, Some(device)).map(super::value)
}

/// The functions of arrays are those of one module, whatever the version of the standard.
fn namespace(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("__array_namespace__");
    parser.optional("api_version")?;
    parser.finish()?;
    vm.import("kp").map(Value::Module)
}

/// A whole number of a tensor as the index of a list.
fn index(vm: &mut Vm, args: &Args) -> Result {
    let array = this(vm, args)?;
    if array.size() != 1 || !array.dtype().is_int() {
        let (n, dtype) = (array.size(), array.dtype());
        return Err(type_error(format!("an index is one int, not a tensor of {n} elements of {dtype}")));
    }
    only(&array)
}

fn copy(vm: &mut Vm, args: &Args) -> Result {
    let array = this(vm, args)?;
    args.method_parser("copy").finish()?;
    result(array.copy())
}

fn fill(vm: &mut Vm, args: &Args) -> Result {
    let array = this(vm, args)?;
    let [_, value] = args.exactly("fill")?;
    let Some(value) = operand(vm, value, Some(&array))? else {
        return Err(type_error(format!("fill() takes a number, not {}", value.type_name())));
    };
    array.assign(value).map_err(raised)?;
    Ok(Value::None)
}

fn item(vm: &mut Vm, args: &Args) -> Result {
    let array = this(vm, args)?;
    args.method_parser("item").finish()?;
    only(&array)
}

/// The only element of an array.
pub fn only(array: &Array) -> Result {
    if array.size() != 1 {
        let n = array.size();
        return Err(crate::errors::value_error(format!("a tensor of {n} elements is not one number")));
    }
    if array.dtype().is_complex() {
        return Ok(super::complex_values(array)?.remove(0));
    }
    let memory = array.tensor().map_err(raised)?;
    Ok(values::value(memory.get(0).map_err(super::compute)?))
}

fn transpose(vm: &mut Vm, args: &Args) -> Result {
    let array = this(vm, args)?;
    let order = match args.rest().positional() {
        [] => (0..array.ndim() as i64).rev().collect(),
        [axes] => ints(vm, axes)?,
        axes => axes.iter().map(|axis| vm.index(axis)).collect::<Result<_>>()?,
    };
    result(array.permuted(&order))
}

fn ravel(vm: &mut Vm, args: &Args) -> Result {
    let array = this(vm, args)?;
    args.method_parser("ravel").finish()?;
    result(array.reshaped(&[-1]))
}

fn flatten(vm: &mut Vm, args: &Args) -> Result {
    let array = this(vm, args)?;
    args.method_parser("flatten").finish()?;
    result(array.copy().and_then(|copy| copy.reshaped(&[-1])))
}

fn squeeze(vm: &mut Vm, args: &Args) -> Result {
    let array = this(vm, args)?;
    let mut parser = args.method_parser("squeeze");
    let axis = parser.optional("axis")?;
    parser.finish()?;
    squeezed(vm, &array, axis)
}

fn clip(vm: &mut Vm, args: &Args) -> Result {
    let array = this(vm, args)?;
    let mut parser = args.method_parser("clip");
    let (min, max) = (parser.optional("min")?, parser.optional("max")?);
    parser.finish()?;
    clipped(vm, array, min, max)
}

fn round(vm: &mut Vm, args: &Args) -> Result {
    let array = this(vm, args)?;
    args.method_parser("round").finish()?;
    result(Array::apply(kps_array::Op::named("round").expect("it is in the table"), &[array.into()]))
}

/// The rows of an array: its elements along the first axis.
pub fn rows(array: &Array) -> Result<Vec<Value>> {
    let row = |at: usize| result(array.indexed(&[Part::At(at as i64)]));
    (0..array.shape()[0]).map(row).collect()
}
