//! The modules that are written in Rust, and the prelude.
//!
//! To add one: a file here with a `static MODULE: NativeModule` (functions, types, and an `init` for
//! constants), and its line in [`MODULES`]. It is made when a script first imports it. What it keeps
//! per machine (an open device, a random generator) it asks from `Vm::state`. Names that scripts see
//! without an import stand in [`PRELUDE`], and [`prelude`] gives their values.

pub mod kp;
mod logging;

use crate::value::{NativeModule, Result, Value};
use crate::vm::Vm;

/// Every module written in Rust, by its dotted name.
pub static MODULES: &[&NativeModule] = &[&kp::MODULE, &logging::MODULE];

/// The names that need no import, besides the builtins.
pub static PRELUDE: &[&str] = &["Manager", "Tensor", "Sequence"];

/// The module of this name, when it is written in Rust.
pub fn find(name: &str) -> Option<&'static NativeModule> {
    MODULES.iter().copied().find(|module| module.name == name)
}

/// The value of a prelude name, made when a script first uses it.
pub fn prelude(vm: &mut Vm, name: &str) -> Result<Option<Value>> {
    let ty = match name {
        "Manager" => &kp::MANAGER,
        "Tensor" => &kp::TENSOR,
        "Sequence" => &kp::SEQUENCE,
        _ => return Ok(None),
    };
    Ok(Some(Value::Class(vm.native_class(ty))))
}
