//! Modules that are written in Rust, as kernels see them.
//!
//! The name of a module or of a member goes in; out comes the value that a running kernel would see. The
//! module is created in a separate machine, which prints nothing and has no device.

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

/// A module whose members are kernel builtins.
pub(super) fn module_of_kernels(path: &str) -> EnvValue {
    let members = Rc::new(MapEnv::new());
    EnvValue::Module(EnvModule { name: path.into(), kind: Holder::Module, members })
}

/// Whether a module is written in Rust: it has the same names in every run.
pub(super) fn is_builtin(path: &str) -> bool {
    modules::find(path).is_some()
}

/// A module or one of its members, as a running kernel would see it.
pub(super) fn value_of(module: &str, member: Option<&str>) -> EnvValue {
    let mut vm = Vm::new(Limits::default(), Output::new(std::io::sink()));
    vm.mark_stack();
    let Ok(module) = vm.import(module) else { return EnvValue::Unknown };
    match member {
        None => lasting(&Value::Module(module)),
        Some(member) => module.get(member).map_or(EnvValue::Unknown, |value| lasting(&value)),
    }
}

/// The result of a function, as a running kernel would see it. The last arguments have these names. `None` if
/// it raises.
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

/// A value that outlives the machine, which clears the names of its modules when it ends.
fn lasting(value: &Value) -> EnvValue {
    let Value::Module(module) = value else { return kernels::captured(value) };
    let mut members = MapEnv::new();
    for (name, value) in module.namespace.to_pairs() {
        members.insert(&name, lasting(&value));
    }
    let name = Name::from(&*module.name);
    EnvValue::Module(EnvModule { name, kind: Holder::Module, members: Rc::new(members) })
}
