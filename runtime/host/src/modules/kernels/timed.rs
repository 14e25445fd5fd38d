//! What `_tuned.kps` needs of kernels: the time of a launch, the device of arguments, and functions with other
//! defaults. Scripts do not see these names.

use std::rc::Rc;

use kps_compute::Extent;

use super::object::Kernel;
use super::{errors, launch};
use crate::modules::kp;
use crate::value::{Args, Module, NativeDef, NativeFunction, Result, Value};
use crate::vm::Vm;

const FUNCTIONS: &[NativeDef] =
    &[NativeDef::function("_copied", copied), NativeDef::function("_launched_on", launched_on)];

pub fn add_to(module: &Module) {
    for def in FUNCTIONS {
        module.set(def.name, Value::NativeFunction(NativeFunction::of_module(def).into()));
    }
}

/// `_copied(function)`: the same function, whose defaults can be set.
fn copied(_: &mut Vm, args: &Args) -> Result {
    match args.exactly("_copied")? {
        [Value::Function(function)] => Ok(Value::Function(Rc::new(function.copied()))),
        [other] => Err(errors::not_a_function("kernel", other)),
    }
}

/// `_launched_on(*args)`: the device that a launch with these arguments runs on, with its driver, and the types of the
/// arrays among them.
fn launched_on(vm: &mut Vm, args: &Args) -> Result {
    let mut tensors = Vec::new();
    for value in args.positional() {
        let value = kp::resolved(vm, value)?;
        tensors.extend(kp::tensor_of(&value)?);
    }
    let manager = kp::manager_for(vm, &tensors)?;
    let info = manager.info();
    let device = format!("{} {} {}", info.name, info.driver, env!("CARGO_PKG_VERSION"));
    let types: Vec<&str> = tensors.iter().map(|tensor| tensor.dtype().name()).collect();
    Ok(Value::tuple(vec![Value::str(device), Value::str(types.join(" "))]))
}

/// `kernel._time(..)`: the seconds that a launch takes, over copies of what it writes.
pub fn time(vm: &mut Vm, kernel: &Kernel, args: &Args, extent: Extent) -> Result {
    let (values, names) = args.without("stream");
    let (extent, values, names) = launch::extent_of(vm, &Args::new(&values, &names), extent)?;
    let time = launch::timed(vm, kernel, &Args::new(&values, &names), &extent)?;
    Ok(time.as_secs_f64().into())
}
