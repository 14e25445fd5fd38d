//! The exceptions that the machine and its types raise, each worded once, as CPython words it.

mod codes;

use kps_syntax::{Diagnostic, Location};

use crate::modules;
use crate::other_packages;
use crate::text::{TextError, TextErrorKind};
use crate::value::{BinaryOp, CompareOp, ExceptionKind, Raise, Value};

pub use self::codes::ERROR_CODES;

pub fn type_error(message: impl Into<String>) -> Raise {
    Raise::new(ExceptionKind::TypeError, message)
}

pub fn value_error(message: impl Into<String>) -> Raise {
    Raise::new(ExceptionKind::ValueError, message)
}

pub fn index_error(message: impl Into<String>) -> Raise {
    Raise::new(ExceptionKind::IndexError, message)
}

/// The argument of a KeyError is the key itself.
pub fn key_error(key: Value) -> Raise {
    Raise::with_args(ExceptionKind::KeyError, vec![key])
}

/// What to do instead of running text as code.
pub const NO_CODE_FROM_TEXT: &str =
    "parse data with `json.loads`, `int` or `float`; choose code with a dict of functions";

/// Keywords of a class that no `__init_subclass__` takes.
pub fn no_class_keywords(class: &str) -> Raise {
    type_error(format!("{class}.__init_subclass__() takes no keyword arguments"))
}

pub fn fixed_class() -> Raise {
    type_error("__class__ assignment only supported for mutable types or ModuleType subclasses")
}

pub fn fixed_class_attribute(class: &str, name: &str) -> Raise {
    type_error(format!("cannot set '{name}' of class '{class}'"))
        .help("the bases of a class are fixed by its definition; define another class")
}

pub fn attribute_error(message: impl Into<String>) -> Raise {
    Raise::new(ExceptionKind::AttributeError, message)
}

pub fn runtime_error(message: impl Into<String>) -> Raise {
    Raise::new(ExceptionKind::RuntimeError, message)
}

pub fn overflow_error(message: impl Into<String>) -> Raise {
    Raise::new(ExceptionKind::OverflowError, message)
}

pub fn zero_division(message: &str) -> Raise {
    Raise::new(ExceptionKind::ZeroDivisionError, message)
}

pub fn recursion_error() -> Raise {
    Raise::new(ExceptionKind::RecursionError, "maximum recursion depth exceeded")
}

pub fn memory_error(message: impl Into<String>) -> Raise {
    Raise::new(ExceptionKind::MemoryError, message)
}

pub fn stop_iteration(value: Value) -> Raise {
    let args = if value.is_none() { Vec::new() } else { vec![value] };
    Raise::with_args(ExceptionKind::StopIteration, args)
}

pub fn import_error(message: impl Into<String>) -> Raise {
    Raise::new(ExceptionKind::ImportError, message)
}

/// `suggestion` is a name that was probably meant.
pub fn module_not_found(name: &str, suggestion: Option<&str>) -> Raise {
    let raise = Raise::new(ExceptionKind::ModuleNotFoundError, format!("No module named '{name}'"))
        .with_member("name", Value::str(name));
    match (absent_module(name), suggestion) {
        (Some(instead), _) => raise.help(instead),
        (None, Some(suggestion)) => raise.help(format!("did you mean `{suggestion}`?")),
        (None, None) => raise,
    }
}

pub fn byte_out_of_range() -> Raise {
    value_error("byte must be in range(0, 256)")
}

pub fn not_bytes_like(value: &Value) -> Raise {
    type_error(format!("a bytes-like object is required, not '{}'", value.type_name()))
}

pub fn too_large_for_index() -> Raise {
    overflow_error("Python int too large to convert to C ssize_t")
}

/// `suggestion` is a name that was probably meant.
pub fn name_not_defined(name: &str, suggestion: Option<String>) -> Raise {
    name_not_defined_in(None, name, suggestion)
}

/// The same, for a name that a function of the script reads.
pub fn name_not_defined_in(function: Option<&str>, name: &str, suggestion: Option<String>) -> Raise {
    let raise = Raise::new(ExceptionKind::NameError, format!("name '{name}' is not defined"))
        .with_member("name", Value::str(name));
    match (absent(name).map(str::to_owned).or_else(|| of_kernels(function, name)), suggestion) {
        (Some(instead), _) => raise.help(instead),
        (None, Some(suggestion)) => raise.help(format!("did you mean `{suggestion}`?")),
        (None, None) => raise,
    }
}

/// A suggestion for a name of Python, a name that needs an import, or a name that others write before
/// kernels.
pub fn absent(name: &str) -> Option<&'static str> {
    Some(match name {
        "jit" | "njit" | "cuda" | "numba" | "ti" | "wp" | "tl" | "triton" | "cl" => {
            "there is no such module here: a kernel is a function behind the decorator `@kernel`"
        }
        "kp" => "write `import kp` first",
        "np" => "write `import numpy as np` first",
        "Image" => "import it: `from kp import Image`",
        "Sampler" => "import it: `from kp import Sampler`",
        "Manager" => "import it: `from kp import Manager`",
        "memoryview" => {
            "take a part of the bytes, `data[2:5]`, or their numbers, `np.frombuffer(data, dtype=np.uint8)`: both copy"
        }
        "ExceptionGroup" | "BaseExceptionGroup" => {
            "there are no groups: keep the exceptions in a list, and raise the first `from` the second"
        }
        _ => return None,
    })
}

/// A suggestion for a name that only kernels have.
fn of_kernels(function: Option<&str>, name: &str) -> Option<String> {
    if !kps_kernel::is_name(name) {
        return None;
    }
    let is_function =
        modules::find("math").is_some_and(|math| math.functions.iter().any(|function| function.name == name));
    let is_constant = kps_kernel::stdlib().any(|(known, value)| known == name && value.is_some());
    Some(match function {
        _ if is_function || is_constant => {
            format!("kernels have it; ordinary code writes `import math` and `math.{name}`")
        }
        Some(function) => {
            format!(
                "only kernels, and the functions that they call, have it: write `@kernel` above `def {function}`"
            )
        }
        None => "only kernels, and the functions that they call, have it".to_owned(),
    })
}

/// A suggestion for a package of Python.
fn absent_module(name: &str) -> Option<&'static str> {
    Some(match name.split('.').next()? {
        "taichi" => {
            "kernels need no package: a field is a `Tensor`, the outer loop of a kernel is its launch, with \
             `i = global_id.x`, and `ti.sqrt` is `sqrt`"
        }
        "numba" | "warp" | "triton" | "pycuda" | "pyopencl" | "wgpu" => {
            "kernels need no package: write `@kernel` above a function, and call it with tensors"
        }
        "cuda" | "cuda_driver" | "nvrtc" => {
            "the module `gpu` has the object model of CUDA Python: `from gpu import Device, Program, launch`"
        }
        "cupy" | "torch" | "jax" | "tensorflow" | "mlx" => {
            "arrays are `numpy`'s, and `kp.Tensor(array)` has one on the device; what is done there is a kernel"
        }
        "scipy" | "pandas" | "matplotlib" | "sklearn" | "PIL" | "cv2" | "tqdm" | "requests" => {
            "packages of Python are not there; kps brings `numpy` and a part of Python's library along"
        }
        "threading" | "multiprocessing" | "concurrent" | "asyncio" => {
            "a script runs in one thread; `eval_async` of a sequence lets a device work beside it"
        }
        _ => return None,
    })
}

pub fn only_kernels_are_explained(name: &str, value: &Value) -> Raise {
    type_error(format!("`{name}` is of type {}, and only kernels are explained", value.type_name()))
        .help("a kernel is a function behind the decorator `@kernel`")
}

pub fn unbound_local(name: &str) -> Raise {
    let message = format!("cannot access local variable '{name}' where it is not associated with a value");
    Raise::new(ExceptionKind::UnboundLocalError, message)
}

pub fn unbound_free(name: &str) -> Raise {
    let message = format!(
        "cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
    );
    Raise::new(ExceptionKind::NameError, message)
}

pub fn no_attribute(value: &Value, name: &str, suggestion: Option<String>) -> Raise {
    let message = match value {
        Value::Class(class) => format!("type object '{}' has no attribute '{name}'", class.name),
        Value::Module(module) => format!("module '{}' has no attribute '{name}'", module.name),
        other => format!("'{}' object has no attribute '{name}'", other.type_name()),
    };
    let raise =
        attribute_error(message).with_member("name", Value::str(name)).with_member("obj", value.clone());
    if let Some(help) = other_packages::attribute(value, name) {
        return raise.help(help);
    }
    match (value, name, suggestion) {
        (Value::None, "numpy" | "data" | "tolist", _) => {
            raise.help("a launch gives None: its results are in the tensors that it was given")
        }
        (Value::Module(module), "launch" | "dispatch" | "run", None) if &*module.name == "kp" => {
            raise.help("a kernel is called: `k(x)`, or `k[n](x)` for `n` invocations")
        }
        (Value::NativeFunction(function), _, _) if &*function.name == "kernel" => {
            raise.help("write plain `@kernel`, or with options, `@kernel(local_size=64)`")
        }
        (_, _, Some(suggestion)) => raise.help(format!("did you mean `{suggestion}`?")),
        (_, _, None) => raise,
    }
}

pub fn unsupported_operands(symbol: &str, left: &Value, right: &Value) -> Raise {
    type_error(format!(
        "unsupported operand type(s) for {symbol}: '{}' and '{}'",
        left.type_name(),
        right.type_name()
    ))
}

/// `symbol`, with `=` for an augmented assignment.
pub fn operator_symbol(op: BinaryOp, in_place: bool) -> String {
    match (op, in_place) {
        (BinaryOp::Pow, false) => "** or pow()".to_owned(),
        (op, true) => format!("{}=", op.symbol()),
        (op, false) => op.symbol().to_owned(),
    }
}

pub fn bad_unary(symbol: &str, operand: &Value) -> Raise {
    type_error(format!("bad operand type for unary {symbol}: '{}'", operand.type_name()))
}

pub fn not_ordered(op: CompareOp, left: &Value, right: &Value) -> Raise {
    type_error(format!(
        "'{}' not supported between instances of '{}' and '{}'",
        op.symbol(),
        left.type_name(),
        right.type_name()
    ))
}

pub fn unhashable(value: &Value) -> Raise {
    type_error(format!("unhashable type: '{}'", value.type_name()))
}

pub fn not_callable(value: &Value) -> Raise {
    type_error(format!("'{}' object is not callable", value.type_name()))
}

pub fn not_iterable(value: &Value) -> Raise {
    type_error(format!("'{}' object is not iterable", value.type_name()))
}

pub fn not_iterator(value: &Value) -> Raise {
    type_error(format!("'{}' object is not an iterator", value.type_name()))
}

pub fn not_subscriptable(value: &Value) -> Raise {
    match value {
        Value::Class(class) => type_error(format!("type '{}' is not subscriptable", class.name)),
        Value::Method(method) => {
            let raise = type_error("'method' object is not subscriptable");
            let name = match &method.function {
                Value::Function(function) => function.name.borrow().clone(),
                Value::NativeFunction(function) => function.name.clone(),
                _ => return raise,
            };
            raise.help(format!(
                "call it, and index the object itself: `[..].{name}(..)`, or what it gives: `.{name}(..)[..]`"
            ))
        }
        Value::Function(function) => {
            let name = function.name.borrow();
            type_error("'function' object is not subscriptable").help(format!(
                "a function is called: `{name}(..)`; one that is launched, `{name}[n](..)`, has `@kernel` above its `def`"
            ))
        }
        Value::NativeFunction(function) => {
            let raise = type_error(format!("'{}' object is not subscriptable", value.type_name()));
            raise.help(format!("a function is called: `{}(..)`", function.name))
        }
        other => type_error(format!("'{}' object is not subscriptable", other.type_name())),
    }
}

pub fn no_item_assignment(value: &Value) -> Raise {
    type_error(format!("'{}' object does not support item assignment", value.type_name()))
}

pub fn no_item_deletion(value: &Value) -> Raise {
    type_error(format!("'{}' object doesn't support item deletion", value.type_name()))
}

pub fn no_len(value: &Value) -> Raise {
    type_error(format!("object of type '{}' has no len()", value.type_name()))
}

pub fn bad_index(container: &str, index: &Value) -> Raise {
    type_error(format!("{container} indices must be integers or slices, not {}", index.type_name()))
}

pub fn not_an_integer(value: &Value) -> Raise {
    type_error(format!("'{}' object cannot be interpreted as an integer", value.type_name()))
}

pub fn not_a_number(value: &Value) -> Raise {
    type_error(format!("must be real number, not {}", value.type_name()))
}

// Arguments of native functions.

pub fn no_keywords(function: &str) -> Raise {
    type_error(format!("{function}() takes no keyword arguments"))
}

pub fn wrong_count(function: &str, expected: usize, given: usize) -> Raise {
    let expected = match expected {
        0 => "no arguments".to_owned(),
        1 => "exactly one argument".to_owned(),
        n => format!("exactly {n} arguments"),
    };
    type_error(format!("{function}() takes {expected} ({given} given)"))
}

pub fn missing_argument(function: &str, name: &str, position: usize) -> Raise {
    type_error(format!("{function}() missing required argument '{name}' (pos {position})"))
}

pub fn argument_twice(function: &str, name: &str) -> Raise {
    type_error(format!("{function}() got multiple values for argument '{name}'"))
}

pub fn too_many_arguments(function: &str, most: usize, given: usize) -> Raise {
    if most == 0 {
        return type_error(format!("{function}() takes no positional arguments"));
    }
    let plural = if most == 1 { "" } else { "s" };
    type_error(format!("{function}() takes at most {most} argument{plural} ({given} given)"))
}

pub fn unexpected_keyword(function: &str, name: &str) -> Raise {
    let raise = type_error(format!("{function}() got an unexpected keyword argument '{name}'"));
    match other_packages::keyword(function, name) {
        Some(help) => raise.help(help),
        None => raise,
    }
}

pub fn method_needs_object() -> Raise {
    type_error("unbound method needs an argument")
}

pub fn wrong_receiver(receiver: &Value) -> Raise {
    type_error(format!("this method does not apply to a '{}' object", receiver.type_name()))
}

impl From<TextError> for Raise {
    fn from(error: TextError) -> Raise {
        let (kind, message) = match error {
            TextError::Refused { kind, message } => (kind, message),
            TextError::Raised(raise) => return raise,
        };
        let kind = match kind {
            TextErrorKind::Value => ExceptionKind::ValueError,
            TextErrorKind::Type => ExceptionKind::TypeError,
            TextErrorKind::Overflow => ExceptionKind::OverflowError,
        };
        Raise::new(kind, message)
    }
}

/// A warning, because only a run determines whether control reaches the place.
pub fn nothing_binds(at: Location, name: &str, help: String) -> Diagnostic {
    Diagnostic::warning("script/unknown-name", format!("nothing in this file gives `{name}` a value"))
        .label(at, "")
        .help(help)
}

/// The same of an import.
pub fn no_module(at: Location, name: &str, nearest: Option<&str>) -> Diagnostic {
    let help = match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("`{name}.kps` would be in the folder of this file"),
    };
    Diagnostic::warning("script/unknown-module", format!("there is no module `{name}`"))
        .label(at, "")
        .help(help)
}

/// The same of a module that is part of the program.
pub fn no_member(at: Location, module: &str, name: &str, nearest: Option<&str>) -> Diagnostic {
    let help = match (other_packages::member(module, name), nearest) {
        (Some(help), _) => help.to_owned(),
        (None, Some(nearest)) => format!("did you mean `{nearest}`?"),
        (None, None) => format!("`dir({module})` lists what it has"),
    };
    Diagnostic::warning("script/unknown-member", format!("the module `{module}` has no `{name}`"))
        .label(at, "")
        .help(help)
}

/// The text of `--args` is not a valid argument list of a call.
pub fn given_types(at: Location) -> Diagnostic {
    Diagnostic::error("inspect/args", "these are not the arguments of a launch")
        .label(at, "")
        .help("write a type or a number for each parameter: `f32, Array[f32]`, or `x=Array[f32], n=16`")
}

/// The warning for an exception in a generator that is no longer referenced.
pub fn ignored_in_generator(name: &str, exception: &str) -> String {
    format!("exception ignored in generator `{name}`, which was dropped before its end: {exception}")
}
