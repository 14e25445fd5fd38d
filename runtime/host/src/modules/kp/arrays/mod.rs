//! Tensors that compute: the operators, functions and methods of arrays, under the names of the Python array API
//! standard.
//!
//! A script's values go in, and become arrays of [`kps_array`]. The results are tensors, whose elements are computed
//! when somebody needs them.

mod create;
mod files;
mod functions;
mod index;
mod library;
mod methods;
mod operators;
mod reductions;

use std::rc::Rc;

use kps_array::{Array, ArrayError, Engine, Operand};
use kps_compute::{DType, Tensor};

use super::errors::compute;
use super::tensor::ScriptTensor;
use super::values::Elements;
use super::{shared, values};
use crate::errors::runtime_error;
use crate::modules::numpy::NdArray;
use crate::value::{ExceptionKind, Module, NativeDef, NativeFunction, Raise, Result, Value};
use crate::vm::Vm;

pub use index::{get as get_item, set as set_item};
pub use methods::{METHODS, only, rows};
pub use operators::{binary, binary_in_place, compare, unary};

/// The functions of arrays in the module `kp`.
pub const FUNCTIONS: &[&[NativeDef]] =
    &[create::FUNCTIONS, files::FUNCTIONS, reductions::FUNCTIONS, functions::FUNCTIONS];

/// Adds the functions of arrays to the module `kp`.
pub fn add_to(module: &Module) {
    functions::add_to(module);
    library::add_to(module);
    for def in FUNCTIONS.iter().copied().flatten().chain(create::HIDDEN) {
        module.set(def.name, Value::NativeFunction(NativeFunction::of_module(def).into()));
    }
}

/// The exception for an error of an array.
pub fn raised(error: ArrayError) -> Raise {
    let (kind, message, help) = match error {
        ArrayError::Compute(error) => return compute(error),
        ArrayError::Type { message, help } => (ExceptionKind::TypeError, message, help),
        ArrayError::Value { message, help } => (ExceptionKind::ValueError, message, help),
        ArrayError::Index { message } => (ExceptionKind::IndexError, message, None),
        ArrayError::Overflow { message } => (ExceptionKind::OverflowError, message, None),
        error @ ArrayError::Kernel { .. } => return runtime_error(error.to_string()),
    };
    match help {
        Some(help) => Raise::new(kind, message).help(help),
        None => Raise::new(kind, message),
    }
}

/// The engine of the manager that a tensor belongs to, or of the one that kernels would run on.
pub fn engine_for(vm: &mut Vm, tensor: Option<&Tensor>) -> Result<Rc<Engine>> {
    let tensors: &[Tensor] = tensor.map_or(&[], std::slice::from_ref);
    Ok(shared::manager_for(vm, tensors)?.engine())
}

/// A tensor as an array.
pub fn array_of(vm: &mut Vm, tensor: &ScriptTensor) -> Result<Array> {
    if let Some(array) = tensor.array() {
        return Ok(array);
    }
    let memory = tensor.tensor()?;
    let engine = engine_for(vm, Some(&memory))?;
    Array::of_tensor(&engine, &memory).map_err(raised)
}

/// The operand that a value is; `None` for values that are neither numbers nor arrays. A NumPy array is copied to
/// the device of `beside`.
pub fn operand(vm: &mut Vm, value: &Value, beside: Option<&Array>) -> Result<Option<Operand>> {
    if let Some(tensor) = value.downcast::<ScriptTensor>().filter(|tensor| tensor.is_of_numbers()) {
        return array_of(vm, tensor).map(|array| Some(array.into()));
    }
    if value.downcast::<NdArray>().is_some() {
        return uploaded(vm, value, DType::F32, beside).map(|array| Some(array.into()));
    }
    // A scalar of NumPy has a type, as an array without axes has.
    if let Some(scalar) = value.downcast::<crate::modules::numpy::Scalar>() {
        let engine = match beside {
            Some(array) => array.engine().clone(),
            None => engine_for(vm, None)?,
        };
        let filled = Array::filled(&engine, scalar.dtype, &[], scalar.number).map_err(raised)?;
        return Ok(Some(filled.into()));
    }
    Ok(values::number(value)?.map(Operand::Number))
}

/// The array that a value is: a tensor, a NumPy array, or a list of numbers, which get the type `untyped`.
pub fn array(vm: &mut Vm, value: &Value, untyped: DType) -> Result<Array> {
    match value.downcast::<ScriptTensor>().filter(|tensor| tensor.is_of_numbers()) {
        Some(tensor) => array_of(vm, tensor),
        None => uploaded(vm, value, untyped, None),
    }
}

fn uploaded(vm: &mut Vm, value: &Value, untyped: DType, beside: Option<&Array>) -> Result<Array> {
    let elements = values::elements(vm, value, untyped)?;
    let engine = match beside {
        Some(array) => array.engine().clone(),
        None => engine_for(vm, None)?,
    };
    let array = of_elements(&engine, elements)?;
    // A number alone has no axes.
    match values::number(value)? {
        Some(_) => array.reshaped(&[]).map_err(raised),
        None => Ok(array),
    }
}

/// An array of these elements, which are copied to the device when it needs them.
fn of_elements(engine: &Rc<Engine>, elements: Elements) -> Result<Array> {
    if elements.shape.contains(&0) {
        return Array::uninitialised(engine, elements.dtype, &elements.shape).map_err(raised);
    }
    let has_axes = !elements.shape.is_empty();
    let tensor = super::tensor::make(elements, kps_compute::MemoryType::Device)?;
    let tensor = engine.manager().adopt(tensor).map_err(compute)?;
    let array = Array::of_tensor(engine, &tensor).map_err(raised)?;
    // A tensor has an axis at least.
    if has_axes { Ok(array) } else { array.reshaped(&[]).map_err(raised) }
}

/// An array as a value of the script.
pub fn value(array: Array) -> Value {
    Value::native(ScriptTensor::of_array(array))
}

/// The array, or the error, as a result of a native function.
pub fn result(array: kps_array::Result<Array>) -> Result {
    array.map(value).map_err(raised)
}
