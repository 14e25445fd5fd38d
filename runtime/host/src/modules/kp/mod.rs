//! The module `kp`: managers, tensors, algorithms and sequences, with the names of every generation of
//! Kompute's scripts.
//!
//! Script values go in; work for [`kps_compute`], which validates it, comes out. If the generations disagree,
//! the newer meaning applies, provided that it serves both. `tensor.data()` is a live view that prints and
//! compares as a list. `sequence.eval()` returns the sequence, which is true.

mod algorithm;
mod arrays;
mod enums;
mod errors;
mod findings;
mod image;
mod manager;
mod memory;
mod messages;
mod ops;
mod png;
mod profile;
mod records;
mod sequence;
mod shader;
mod shared;
mod stream;
mod tensor;
mod values;
mod verbs;

use std::rc::Rc;

use kps_array::{ElementType, View};
use kps_compute::{Storage, Tensor};

use crate::checking::Checking;
use crate::errors::type_error;
use crate::modules::numpy::{self, ComplexArray, Layout, NdArray};
use crate::modules::{kernels, logging};
use crate::value::{Args, ExceptionKind, Module, NativeDef, NativeModule, Result, Value};
use crate::vm::Vm;

pub use errors::{SCATTERED_HELP, compute, too_many_axes_of_groups};
pub use image::sampler_of;
pub use manager::{MANAGER, level};
pub use messages::{Ran, deliver, pieces_text};
pub use ops::words;
pub use sequence::SEQUENCE;
pub use shared::{ScriptedManager, finish, manager_for, visible as visible_devices, with_launch};
pub use stream::{ScriptStream, stream_of, stream_option};
pub use tensor::TENSOR;
pub use values::{
    axes, count, dtype, element as element_of, group_counts, number, record as record_of, resolved,
    tensor as tensor_of, unbound_part, value as number_value,
};

pub static MODULE: NativeModule = NativeModule {
    functions: &[
        NativeDef::function("log_level", log_level)
            .doc("(n)", "Sets the level of the logger `kp`: TRACE is 0, DEBUG 1, INFO 2, WARN 3, ERROR 4."),
        NativeDef::function("checks", checks)
            .doc("(on)", "Turns the checks of small launches on the CPU device on or off."),
        NativeDef::function("write_png", png::write).doc(
            "(path, pixels)",
            "Writes an array of shape (height, width), or with 3 or 4 channels: ints to 255, \
                 floats from 0 to 1, or bools.",
        ),
        NativeDef::function("read_png", png::read)
            .doc("(path)", "Reads a picture as an array of bytes of shape (height, width, channels)."),
    ],
    types: &[
        &MANAGER,
        &TENSOR,
        &SEQUENCE,
        &stream::STREAM,
        &stream::EVENT,
        &algorithm::ALGORITHM,
        &shader::SHADER,
        &image::IMAGE,
        &image::SAMPLER,
        &profile::PROFILE,
        &memory::MEMORY,
    ],
    init: Some(init),
    ..NativeModule::new("kp")
        .doc("Tensors, kernels and sequences of operations on a GPU or the CPU, under the names of Kompute.")
};

fn init(vm: &mut Vm, module: &Module) -> Result<()> {
    for ty in ops::OP_TYPES {
        module.set(ty.name, Value::Class(vm.native_class(ty)));
    }
    enums::add_to(module);
    for ty in [ElementType::Complex64, ElementType::Complex128] {
        module.set(ty.numpy_name(), numpy::dtype_object(ty));
    }
    kernels::add_to(module);
    for kind in [ExceptionKind::DeviceLostError, ExceptionKind::OutOfMemoryError] {
        module.set(kind.name(), Value::Class(vm.exception_class(kind)));
    }
    module.set("__version__", env!("CARGO_PKG_VERSION"));
    // Functions such as `sum` and `abs` must not hide Python's: a script names them, or writes `kp.sum`.
    module.set("__all__", enums::listed(module));
    arrays::add_to(module);
    Ok(())
}

/// `log_level(n)`: TRACE=0, DEBUG=1, INFO=2, WARN=3, ERROR=4.
fn log_level(vm: &mut Vm, args: &Args) -> Result {
    let [n] = args.exactly("log_level")?;
    let n = vm.index(n)?;
    let level = manager::numbered_level(n)?;
    logging::set_kp_level(vm, level)?;
    Ok(Value::None)
}

/// `checks(on)`: whether small launches on the built-in device are checked by default. Checks requested by
/// `--check` or by a manager are unaffected.
fn checks(vm: &mut Vm, args: &Args) -> Result {
    let [on] = args.exactly("checks")?;
    let Value::Bool(on) = on else {
        let given = on.type_name();
        return Err(type_error(format!("checks() takes True or False, not {given}")));
    };
    match (vm.checking.get(), on) {
        (Checking::Always(_), _) | (Checking::Small { .. }, true) => {}
        (Checking::Small { .. }, false) => vm.checking.set(Checking::Never),
        (Checking::Never, on) => vm.checking.set(if *on { Checking::in_scripts() } else { Checking::Never }),
    }
    Ok(Value::None)
}

/// A tensor as scripts hold it.
pub fn tensor_value(tensor: Tensor) -> Value {
    tensor::ScriptTensor::value(tensor)
}

/// Whether a value is a tensor.
pub fn is_tensor(value: &Value) -> bool {
    value.downcast::<tensor::ScriptTensor>().is_some()
}

/// A dtype as scripts see it: NumPy's object, which also equals its name.
fn dtype_value(_: &mut Vm, dtype: ElementType) -> Result {
    Ok(numpy::dtype_object(dtype))
}

/// The ndarray over the complex numbers of a view.
fn complex_array_over_view(this: &Value, view: &View) -> Value {
    let layout = Layout {
        shape: view.layout.shape.clone(),
        strides: view.layout.strides.clone(),
        offset: view.layout.start * view.dtype.size(),
    };
    let storage = view.tensor.storage().clone();
    Value::native(ComplexArray::over(storage, view.dtype, layout, Some(this.clone())))
}

/// Whether one of the numbers that a value has is complex.
pub fn has_complex(vm: &mut Vm, value: &Value) -> Result<bool> {
    values::has_complex(vm, value)
}

/// The shape and the bytes of the numbers in nested lists, as complex ones.
pub fn complex_rows(vm: &mut Vm, value: &Value, ty: ElementType) -> Result<(Vec<usize>, Rc<Vec<u8>>)> {
    let values::Elements { mut shape, bytes, .. } = values::complex_elements(vm, value, ty)?;
    shape.pop();
    Ok((shape, bytes))
}

/// The ndarray over the elements of a view.
fn array_over_view(this: &Value, view: &View) -> Value {
    let size = view.tensor.element_size();
    let layout = Layout {
        shape: view.layout.shape.clone(),
        strides: view.layout.strides.clone(),
        offset: view.layout.start * size,
    };
    let array = NdArray::from_storage(view.tensor.storage().clone(), view.tensor.dtype(), &view.layout.shape);
    Value::native(array.with_layout(layout).with_base(this.clone()))
}

/// The ndarray without elements.
fn array_of_nothing(dtype: ElementType, shape: &[usize]) -> Value {
    match dtype {
        ElementType::Real(dtype) => Value::native(NdArray::from_row(dtype, shape, Vec::new())),
        complex => {
            let (storage, layout) = (Storage::host(Vec::new()), Layout::contiguous(shape));
            Value::native(ComplexArray::over(storage, complex, layout, None))
        }
    }
}

/// The ndarray with the tensor's axes over its memory.
fn array_over(this: &Value, tensor: &Tensor) -> Value {
    let layout = Layout { offset: tensor.byte_range().start, ..Layout::contiguous(tensor.shape()) };
    let array = NdArray::from_storage(tensor.storage().clone(), tensor.dtype(), tensor.shape());
    Value::native(array.with_layout(layout).with_base(this.clone()))
}
