//! The modules that are written in Rust, and the prelude.
//!
//! To add one: a file here with a `static MODULE: NativeModule` (functions, types, and an `init` for
//! constants), and its line in [`MODULES`]. A module is created at its first import. State per machine (an
//! open device, a random generator) is in `Vm::state`. Names that scripts see without an import are listed in
//! [`prelude_names`], and [`prelude`] returns their values.

mod calendar;
mod deque;
mod enumeration;
mod gpu;
mod json;
mod json_read;
pub mod kernels;
pub mod kp;
pub mod logging;
mod math;
mod math_int;
mod math_step;
mod math_sum;
mod mersenne;
pub mod numpy;
mod os;
mod random;
mod random_distributions;
mod struct_seq;
pub mod sys;
mod time;

use crate::value::{NativeModule, Result, Value};
use crate::vm::Vm;

/// Every module written in Rust, by its dotted name.
pub static MODULES: &[&NativeModule] = &[
    &deque::MODULE,
    &enumeration::MODULE,
    &gpu::MODULE,
    &json::MODULE,
    &kernels::DEV,
    &kernels::MODULE,
    &kernels::STDLIB,
    &kp::MODULE,
    &logging::MODULE,
    &math::MODULE,
    &numpy::MODULE,
    &numpy::LINALG,
    &numpy::RANDOM,
    &os::MODULE,
    &random::MODULE,
    &sys::MODULE,
    &time::MODULE,
];

/// Names that need no import besides the builtins; the decorators and types of kernels are others.
static PRELUDE: &[&str] = &["Manager", "Tensor", "Sequence"];

/// Every name that needs no import, besides the builtins.
pub fn prelude_names() -> impl Iterator<Item = &'static str> {
    PRELUDE.iter().copied().chain(kernels::prelude_names())
}

/// The module of this name, when it is written in Rust.
pub fn find(name: &str) -> Option<&'static NativeModule> {
    MODULES.iter().copied().find(|module| module.name == name)
}

/// The names of the modules that scripts need no file for, and that are not the library's own affair.
pub fn names() -> impl Iterator<Item = &'static str> {
    let native = MODULES.iter().map(|module| module.name);
    native.chain(kps_stdlib::names()).filter(|name| !name.starts_with('_'))
}

/// The value of a prelude name, created at its first use.
pub fn prelude(vm: &mut Vm, name: &str) -> Result<Option<Value>> {
    let ty = match name {
        "Manager" => &kp::MANAGER,
        "Tensor" => &kp::TENSOR,
        "Sequence" => &kp::SEQUENCE,
        _ => return Ok(kernels::prelude(name)),
    };
    Ok(Some(Value::Class(vm.native_class(ty))))
}
