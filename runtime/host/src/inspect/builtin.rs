//! Modules that are written in Rust, as kernels see them.
//!
//! In goes the name of a module or of a member of one; out comes what a kernel that runs would see. The module is made
//! for that in a machine of its own, which prints nothing and has no device.

use std::rc::Rc;
use std::sync::Arc;

use kps_kernel::{EnvModule, EnvValue, Holder, MapEnv, Type};
use kps_syntax::ast::Name;

use crate::modules::{self, kernels};
use crate::output::Output;
use crate::value::{self, Args, Value};
use crate::vm::{Limits, Vm};

/// A name that kernels know by themselves, under whatever name it was imported.
pub(super) fn of_kernels(name: &Name) -> EnvValue {
    match Type::by_name(name) {
        Some(ty) => EnvValue::Type(ty),
        None => EnvValue::Builtin(Arc::clone(name)),
    }
}

/// A module whose members kernels know by themselves.
pub(super) fn module_of_kernels(path: &str) -> EnvValue {
    let members = Rc::new(MapEnv::new());
    EnvValue::Module(EnvModule { name: path.into(), kind: Holder::Module, members })
}

/// Whether a module is written in Rust: it has the same names in every run.
pub(super) fn is_builtin(path: &str) -> bool {
    modules::find(path).is_some()
}

/// What a kernel that runs would see of a module, or of one of its members.
pub(super) fn value_of(module: &str, member: Option<&str>) -> EnvValue {
    let mut vm = Vm::new(Limits::default(), Output::new(std::io::sink()));
    vm.mark_stack();
    let Ok(module) = vm.import(module) else { return EnvValue::Unknown };
    match member {
        None => lasting(&Value::Module(module)),
        Some(member) => module.get(member).map_or(EnvValue::Unknown, |value| lasting(&value)),
    }
}

/// What a kernel that runs would see of what a function gives, of which the last arguments have these names; `None`
/// where it raises.
pub(super) fn call(module: &str, function: &str, args: &[Value], names: &[Name]) -> Option<EnvValue> {
    let mut vm = Vm::new(Limits::default(), Output::new(std::io::sink()));
    vm.mark_stack();
    let function = vm.import(module).ok()?.get(function)?;
    let names: Vec<value::Name> = names.iter().map(|name| value::Name::from(&**name)).collect();
    let made = vm.call_with(&function, &Args::new(args, &names)).ok()?;
    Some(kernels::captured(&made))
}

/// The names of a module's members.
pub(super) fn members_of(module: &str) -> Vec<Name> {
    match value_of(module, None) {
        EnvValue::Module(module) => module.members.names(),
        _ => Vec::new(),
    }
}

/// What a value is to a kernel, modules with all their names: the machine's own lose theirs when it ends.
fn lasting(value: &Value) -> EnvValue {
    let Value::Module(module) = value else { return kernels::captured(value) };
    let mut members = MapEnv::new();
    for (name, value) in module.namespace.to_pairs() {
        members.insert(&name, lasting(&value));
    }
    let name = Name::from(&*module.name);
    EnvValue::Module(EnvModule { name, kind: Holder::Module, members: Rc::new(members) })
}
