//! Kernels in scripts: the decorators `kernel` and `python2shader`, the types of their parameters, and the
//! module `pyshader`, which offers all of them under PyShader's names.

mod arguments;
mod construct;
mod described;
mod dev;
mod device;
pub mod domain;
mod dump;
mod env;
pub mod errors;
mod explain;
mod launch;
mod library_struct;
mod object;
pub mod options;
mod push;
mod recent;
mod repeat;
mod snapshot;
pub mod structs;
mod timed;
mod trace;
mod types;

use std::rc::Rc;

use kps_kernel::{KernelModule, KernelOptions};

pub use self::described::{compiled, described};
pub use self::env::{env_value as captured, library_of, module_env};
pub use self::errors::compile as compile_error;
pub use self::explain::of_value as explained;
use self::object::Kernel;
pub use self::options::read_subgroup_size;
use self::types::KernelType;
pub use self::types::type_of;
use crate::modules::kp::ScriptedManager;
use crate::value::{Args, ExceptionKind, Module, NativeDef, NativeFunction, NativeModule, Result, Value};
use crate::vm::Vm;

pub static MODULE: NativeModule = NativeModule {
    functions: DECORATORS,
    types: &[&object::KERNEL],
    init: Some(init),
    ..NativeModule::new("pyshader").doc("The types and decorators of kernels, under the names of PyShader.")
};

pub use dev::DEV;
pub use device::{Bound, Launched};
pub use push::PushedKernel;

/// The SPIR-V of a kernel object for a manager's device, for the values bound in order and the kind of
/// dispatch; `None` if the value is not a kernel object.
pub fn spirv_for(
    vm: &Vm,
    value: &Value,
    bound: &[Bound],
    launched: Launched,
    manager: &ScriptedManager,
) -> Option<Result<Vec<u32>>> {
    let module = module_for(vm, value, bound, launched, manager)?;
    Some(module.map(|module| module.words.to_vec()))
}

/// Arranges the push constants of such a module.
pub fn pushed_for(
    vm: &Vm,
    value: &Value,
    bound: &[Bound],
    launched: Launched,
    manager: &ScriptedManager,
) -> Option<Result<PushedKernel>> {
    let module = module_for(vm, value, bound, launched, manager)?;
    Some(module.map(|module| PushedKernel::new(value.clone(), module)))
}

fn module_for(
    vm: &Vm,
    value: &Value,
    bound: &[Bound],
    launched: Launched,
    manager: &ScriptedManager,
) -> Option<Result<Rc<KernelModule>>> {
    let kernel = value.downcast::<Kernel>()?;
    if let Err(raise) = errors::check_launchable(&kernel.template) {
        return Some(Err(raise));
    }
    Some(device::compile_bound(vm, kernel, bound, launched, manager))
}

pub fn is_kernel(value: &Value) -> bool {
    value.downcast::<Kernel>().is_some()
}

/// Invocations of a subgroup, if a value is a kernel with that option.
pub fn subgroup_size(value: &Value) -> Option<u32> {
    value.downcast::<Kernel>()?.template.options.subgroup_size
}

/// `pyshader.stdlib`: the kernel compiler knows its functions by name.
pub static STDLIB: NativeModule = NativeModule {
    init: Some(init_stdlib),
    ..NativeModule::new("pyshader.stdlib").doc("The functions and constants that kernels know by name.")
};

/// Functions that only kernels can call, and the constants.
fn init_stdlib(_: &mut Vm, module: &Module) -> Result<()> {
    for (name, value) in kps_kernel::stdlib() {
        match value {
            Some(constant) => module.set(name, constant),
            None => {
                let function = NativeFunction::closure(name, move |_, _| Err(errors::only_in_kernels(name)));
                module.set(name, Value::NativeFunction(function.into()));
            }
        }
    }
    Ok(())
}

/// What the compiler says of a type, of a function of `stdlib`, or of a text that is a name of either; `None` for any
/// other value.
pub fn help(vm: &mut Vm, value: &Value) -> Result<Option<String>> {
    let name = match value {
        Value::NativeFunction(function) => match vm.import(STDLIB.name)?.get(&function.name) {
            Some(Value::NativeFunction(own)) if Rc::ptr_eq(&own, function) => function.name.to_string(),
            _ => return Ok(None),
        },
        value => match (value.as_str(), value.downcast::<KernelType>()) {
            (Some(text), _) => text.to_owned(),
            (None, Some(ty)) => ty.name().unwrap_or_default().to_owned(),
            (None, None) => return Ok(None),
        },
    };
    Ok(kps_kernel::names::help(&name))
}

const DECORATORS: &[NativeDef] = &[
    NativeDef::function("kernel", kernel).doc(
        "(function, *, local_size=None, subgroup_size=None, precise=False, tune=None, key=None)",
        "Makes a kernel of a function; `@kernel(..)` gives it options.",
    ),
    NativeDef::function("python2shader", python2shader)
        .doc("(function)", "Makes a kernel of a function in PyShader's form."),
    NativeDef::function("struct", structs::decorate)
        .doc("(cls)", "Makes a struct type of a class, whose annotated attributes are its members."),
];

/// Not a name that scripts know without an import.
static AS_CTYPE: NativeDef = NativeDef::function("shadertype_as_ctype", types::as_ctype)
    .doc("(type)", "Returns the memory layout of a type: a dtype of NumPy, or a type with `itemsize`.");

/// PyShader's names of resource kinds.
const RESOURCES: [(&str, &str); 6] = [
    ("RES_INPUT", "input"),
    ("RES_OUTPUT", "output"),
    ("RES_UNIFORM", "uniform"),
    ("RES_BUFFER", "buffer"),
    ("RES_SAMPLER", "sampler"),
    ("RES_TEXTURE", "texture"),
];

fn init(vm: &mut Vm, module: &Module) -> Result<()> {
    for name in types::NAMES.iter().chain(types::CONSTRUCTORS) {
        module.set(name, KernelType::named(name));
    }
    for (name, value) in RESOURCES {
        module.set(name, value);
    }
    module.set(AS_CTYPE.name, Value::NativeFunction(NativeFunction::of_module(&AS_CTYPE).into()));
    module.set("ShaderModule", Value::Class(vm.native_class(&object::KERNEL)));
    module.set("ShaderError", Value::Class(vm.exception_class(ExceptionKind::ShaderError)));
    module.set("__version__", env!("CARGO_PKG_VERSION"));
    // A module adds itself to its package.
    vm.import(STDLIB.name)?;
    vm.import(DEV.name)?;
    Ok(())
}

pub fn prelude_names() -> impl Iterator<Item = &'static str> {
    let decorators = DECORATORS.iter().map(|def| def.name);
    decorators.chain(types::NAMES.iter().copied()).chain(types::CONSTRUCTORS.iter().copied())
}

/// Adds the decorators, types and structs of the library to a module, for scripts that access them through it.
pub fn add_to(module: &Module) {
    for name in prelude_names() {
        module.set(name, prelude(name).expect("the prelude has its names"));
    }
    library_struct::add_to(module);
    timed::add_to(module);
}

/// The names that scripts see without an import.
pub fn prelude(name: &str) -> Option<Value> {
    if let Some(decorator) = DECORATORS.iter().find(|def| def.name == name) {
        return Some(Value::NativeFunction(NativeFunction::of_module(decorator).into()));
    }
    let known = types::NAMES.contains(&name) || types::CONSTRUCTORS.contains(&name);
    known.then(|| KernelType::named(name))
}

/// `@kernel`, and `@kernel(local_size=(16, 16), precise=False, subgroup_size=None)`.
fn kernel(vm: &mut Vm, args: &Args) -> Result {
    if options::OF_TUNED.iter().any(|name| args.keyword(name).is_some()) {
        let decorate = vm.import("_tuned")?.get("decorate").expect("the module has the decorator");
        return vm.call_with(&decorate, args);
    }
    let mut parser = args.parser("kernel");
    let function = parser.optional_positional();
    let options = options::read(vm, parser)?;
    if let Some(function) = function {
        return Kernel::define(vm, "kernel", function, options);
    }
    let decorator = NativeFunction::closure("kernel", move |vm, args| {
        let [function] = args.exactly("kernel")?;
        Kernel::define(vm, "kernel", function, options)
    });
    Ok(Value::NativeFunction(decorator.into()))
}

fn python2shader(vm: &mut Vm, args: &Args) -> Result {
    let [function] = args.exactly("python2shader")?;
    Kernel::define(vm, "python2shader", function, KernelOptions::python2shader())
}
