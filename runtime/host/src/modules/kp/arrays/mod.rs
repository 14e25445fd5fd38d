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

use kps_array::{Array, ArrayError, ElementType, Engine, Operand};
use kps_compute::{DType, Tensor};

use super::errors::compute;
use super::manager::ScriptManager;
use super::tensor::ScriptTensor;
use super::values::Elements;
use super::{shared, values};
use crate::errors::{runtime_error, type_error};
use crate::modules::numpy::{ComplexArray, NdArray, dtype_object};
use crate::value::{ExceptionKind, Module, NativeDef, NativeFunction, Raise, Result, Value};
use crate::vm::Vm;

pub use index::{get as get_item, set as set_item};
pub use methods::{METHODS, only, rows, set_part};
pub use operators::{binary, binary_in_place, compare, unary};

/// The functions of arrays in the module `kp`.
pub const FUNCTIONS: &[&[NativeDef]] =
    &[create::FUNCTIONS, files::FUNCTIONS, reductions::FUNCTIONS, functions::FUNCTIONS];

const CONSTANTS: [(&str, f64); 4] =
    [("e", std::f64::consts::E), ("inf", f64::INFINITY), ("nan", f64::NAN), ("pi", std::f64::consts::PI)];

/// Adds the functions of arrays, the constants and the types of elements to the module `kp`.
pub fn add_to(module: &Module) {
    functions::add_to(module);
    library::add_to(module);
    for (name, number) in CONSTANTS {
        module.set(name, Value::Float(number));
    }
    module.set("newaxis", Value::None);
    // `kp.bool` is also a member of `DataTypes`, which equals the type.
    for dtype in DType::ALL.into_iter().filter(|dtype| *dtype != DType::Bool) {
        module.set(dtype.numpy_name(), dtype_object(dtype));
    }
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
        ArrayError::Computing { error, origin } => return raised(*error).computing(origin),
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
    let engine = shared::manager_for(vm, tensors)?.engine();
    engine.set_origin(vm.script_location());
    Ok(engine)
}

/// The engine of a device of the standard, which is a manager; `None` is the one that kernels would run on.
pub fn engine_on(vm: &mut Vm, device: Option<&Value>) -> Result<Rc<Engine>> {
    let Some(device) = device.filter(|device| !device.is_none()) else { return engine_for(vm, None) };
    match device.downcast::<ScriptManager>() {
        Some(device) => Ok(device.manager().engine()),
        None => Err(type_error(format!("a device is a Manager, not {}", device.type_name()))
            .help("open it first: kp.Manager(0)")),
    }
}

/// The elements on a device: the same array if it has them.
pub fn moved(vm: &mut Vm, array: &Array, device: Option<&Value>) -> Result<Array> {
    if device.is_none_or(Value::is_none) {
        return Ok(array.clone());
    }
    let engine = engine_on(vm, device)?;
    if Rc::ptr_eq(&engine, array.engine()) {
        return Ok(array.clone());
    }
    if array.size() == 0 {
        return Array::uninitialised(&engine, array.dtype(), array.shape()).map_err(raised);
    }
    let tensor = array.in_one_piece().and_then(|array| array.tensor()).map_err(raised)?;
    let (bytes, written) = (tensor.shared_bytes().map_err(compute)?, tensor.written());
    let (dtype, shape) = (tensor.dtype(), tensor.shape().to_vec());
    let parts = of_elements(&engine, Elements { dtype, shape, bytes, written })?;
    match array.dtype().is_complex() {
        true => parts.of_parts().map_err(raised),
        false => Ok(parts),
    }
}

/// A tensor as an array.
pub fn array_of(vm: &mut Vm, tensor: &ScriptTensor) -> Result<Array> {
    if let Some(array) = tensor.array() {
        array.engine().set_origin(vm.script_location());
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
    if let Some(array) = value.downcast::<ComplexArray>() {
        return uploaded_complex(vm, value, array.element_type(), beside).map(|array| Some(array.into()));
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
    Ok(values::constant(value)?.map(Operand::Number))
}

/// The array that a value is: a tensor, a NumPy array, a number, or a list of numbers, whose type is that of
/// [`values::untyped`].
pub fn as_array(vm: &mut Vm, value: &Value) -> Result<Array> {
    let untyped = values::untyped(vm, value)?;
    array(vm, value, untyped)
}

/// The array that a value is: a tensor, a NumPy array, or a list of numbers, which get the type `untyped`, or complex64
/// if one of them is complex.
pub fn array(vm: &mut Vm, value: &Value, untyped: impl Into<ElementType>) -> Result<Array> {
    if let Some(tensor) = value.downcast::<ScriptTensor>().filter(|tensor| tensor.is_of_numbers()) {
        return array_of(vm, tensor);
    }
    let untyped = match untyped.into() {
        ElementType::Real(untyped) if values::has_complex(vm, value)? => ElementType::complex_of(untyped),
        untyped => untyped,
    };
    match untyped {
        ElementType::Real(untyped) => uploaded(vm, value, untyped, None),
        _ if values::is_array(value) => uploaded(vm, value, DType::F32, None),
        untyped => uploaded_complex(vm, value, untyped, None),
    }
}

/// The complex numbers of a script.
fn uploaded_complex(vm: &mut Vm, value: &Value, ty: ElementType, beside: Option<&Array>) -> Result<Array> {
    let elements = values::complex_elements(vm, value, ty)?;
    let engine = match beside {
        Some(array) => array.engine().clone(),
        None => engine_for(vm, None)?,
    };
    if elements.shape.contains(&0) {
        let shape = &elements.shape[..elements.shape.len() - 1];
        return Array::uninitialised(&engine, ty, shape).map_err(raised);
    }
    let tensor = super::tensor::make(elements, kps_compute::MemoryType::Device)?;
    let tensor = engine.manager().adopt(tensor).map_err(compute)?;
    Array::of_tensor(&engine, &tensor).and_then(|parts| parts.of_parts()).map_err(raised)
}

/// The elements of an array of complex numbers as values of the script.
pub fn complex_values(array: &Array) -> Result<Vec<Value>> {
    if array.size() == 0 {
        return Ok(Vec::new());
    }
    let tensor = array.in_one_piece().and_then(|array| array.tensor()).map_err(raised)?;
    Ok(values::complex_values(&tensor.numbers().map_err(compute)?))
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
