//! The builtins: functions, and the methods of the built-in types, which every script sees without an import.
//!
//! To add a builtin function, write `fn name(vm: &mut Vm, args: &Args) -> Result` and list it in
//! [`FUNCTIONS`].
//! To add a method or attribute of a built-in type, list a `NativeDef::method` or a `NativeDef::getter` in
//! that type's table. A method's object is its first argument, see `Args::receiver` and
//! `Args::method_parser`. [`methods`] gives the table to the machine when the type is first used.
//! To make a type callable, extend [`constructor`].
//! To add a new type (bytearray, a view of a dict), implement `Native` (see `value/native.rs`) and list the
//! static in [`TYPES`].
//! Nothing here runs at start: tables are static, and names resolve when code first uses them.

mod arithmetic;
mod attr_dict;
mod big_range;
mod bytearray;
pub mod bytes;
mod bytes_form;
mod code;
pub mod complex;
pub mod core;
mod dict;
pub mod encoding;
pub(crate) mod exception;
pub mod file;
mod file_handle;
pub mod float;
pub mod format;
mod function;
pub(crate) mod generic_alias;
mod help;
pub mod int;
pub mod introspect;
mod iterators;
mod list;
mod object;
mod protocol;
mod reduce;
mod sequence;
mod set;
pub mod sort;
mod string;
mod string_form;
pub mod support;
pub(crate) mod union_type;
mod views;

use crate::modules;
use crate::value::{
    BuiltinType, Doc, ExceptionKind, NativeDef, NativeFn, NativeFunction, NativeType, Raise, Result, Value,
};
use crate::vm::Vm;
pub(crate) use attr_dict::{class_dict, namespace_dict};
pub(crate) use big_range::{BigRange, range_parts};

/// The builtin functions.
pub static FUNCTIONS: &[&[NativeDef]] = &[
    core::FUNCTIONS,
    arithmetic::FUNCTIONS,
    reduce::FUNCTIONS,
    int::FUNCTIONS,
    introspect::FUNCTIONS,
    file::FUNCTIONS,
];

/// Types of host objects that are builtins.
pub static TYPES: &[&NativeType] = &[
    &bytearray::TYPE,
    &complex::TYPE,
    &iterators::ENUMERATE,
    &iterators::ZIP,
    &iterators::MAP,
    &iterators::FILTER,
    &iterators::REVERSED,
];

/// The types whose names are builtins.
static NAMED_TYPES: &[BuiltinType] = &[
    BuiltinType::Object,
    BuiltinType::Type,
    BuiltinType::Bool,
    BuiltinType::Int,
    BuiltinType::Float,
    BuiltinType::Str,
    BuiltinType::Bytes,
    BuiltinType::List,
    BuiltinType::Tuple,
    BuiltinType::Dict,
    BuiltinType::Set,
    BuiltinType::FrozenSet,
    BuiltinType::Range,
    BuiltinType::Slice,
    BuiltinType::Property,
    BuiltinType::StaticMethod,
    BuiltinType::ClassMethod,
    BuiltinType::Super,
];

/// The methods and attributes of a built-in type.
pub fn methods(ty: BuiltinType) -> &'static [NativeDef] {
    match ty {
        BuiltinType::Object => object::OBJECT_METHODS,
        BuiltinType::Function => function::FUNCTION_METHODS,
        BuiltinType::NativeFunction => function::NATIVE_METHODS,
        BuiltinType::Method => function::METHOD_METHODS,
        BuiltinType::Property => function::PROPERTY_METHODS,
        BuiltinType::StaticMethod | BuiltinType::ClassMethod => function::WRAPPED_METHODS,
        BuiltinType::Cell => function::CELL_METHODS,
        BuiltinType::Generator => function::GENERATOR_METHODS,
        BuiltinType::Int => int::METHODS,
        BuiltinType::Float => float::METHODS,
        BuiltinType::Str => string::METHODS,
        BuiltinType::Bytes => bytes::METHODS,
        BuiltinType::List => list::METHODS,
        BuiltinType::Tuple => sequence::TUPLE_METHODS,
        BuiltinType::Iterator => iterators::BUILTIN_METHODS,
        BuiltinType::Range => sequence::RANGE_METHODS,
        BuiltinType::Slice => sequence::SLICE_METHODS,
        BuiltinType::Dict => dict::METHODS,
        BuiltinType::Set => set::METHODS,
        BuiltinType::FrozenSet => set::FROZEN_METHODS,
        BuiltinType::Type => object::TYPE_METHODS,
        _ => &[],
    }
}

/// The methods and attributes of an exception class, besides those of its base.
pub fn exception_methods(kind: ExceptionKind) -> &'static [NativeDef] {
    match kind {
        ExceptionKind::BaseException => exception::BASE_METHODS,
        ExceptionKind::StopIteration => exception::STOP_ITERATION_METHODS,
        ExceptionKind::SystemExit => exception::SYSTEM_EXIT_METHODS,
        ExceptionKind::OSError => exception::OS_ERROR_METHODS,
        ExceptionKind::NameError => exception::NAME_ERROR_METHODS,
        ExceptionKind::ImportError => exception::IMPORT_ERROR_METHODS,
        ExceptionKind::AttributeError => exception::ATTRIBUTE_ERROR_METHODS,
        _ => &[],
    }
}

/// The result of calling a built-in type; `None` for types without a constructor.
pub fn constructor(ty: BuiltinType) -> Option<NativeFn> {
    Some(match ty {
        BuiltinType::Type => object::new_type,
        BuiltinType::Super => object::new_super,
        BuiltinType::Bool => core::new_bool,
        BuiltinType::Int => int::new,
        BuiltinType::Float => float::new,
        BuiltinType::Str => core::new_str,
        BuiltinType::Bytes => bytes::new,
        BuiltinType::List => core::new_list,
        BuiltinType::Tuple => core::new_tuple,
        BuiltinType::Dict => core::new_dict,
        BuiltinType::Set => core::new_set,
        BuiltinType::FrozenSet => core::new_frozenset,
        BuiltinType::Range => core::new_range,
        BuiltinType::Slice => core::new_slice,
        BuiltinType::Property => function::new_property,
        BuiltinType::StaticMethod => function::new_static_method,
        BuiltinType::ClassMethod => function::new_class_method,
        BuiltinType::Method => function::new_method,
        BuiltinType::Module => object::new_module,
        _ => return None,
    })
}

/// The documentation of a built-in type.
pub fn doc(ty: BuiltinType) -> Option<Doc> {
    let (signature, sentence) = match ty {
        BuiltinType::Object => ("()", "The class from which all others inherit."),
        BuiltinType::Type => ("(object)", "Returns the type of an object."),
        BuiltinType::Bool => ("(x=False)", "The truth of a value."),
        BuiltinType::Int => ("(x=0, base=10)", "An int, from a number or the digits of a text."),
        BuiltinType::Float => ("(x=0.0)", "A float, from a number or a text."),
        BuiltinType::Str => {
            ("(object='', encoding='utf-8', errors='strict')", "The text of an object, or of encoded bytes.")
        }
        BuiltinType::Bytes => (
            "(source=b''[, encoding[, errors]])",
            "An immutable sequence of bytes, of ints, a text or a size.",
        ),
        BuiltinType::List => ("(iterable=())", "A mutable sequence of the items of an iterable."),
        BuiltinType::Tuple => ("(iterable=())", "An immutable sequence of the items of an iterable."),
        BuiltinType::Dict => ("(mapping_or_pairs={}, **items)", "A dictionary of keys and their values."),
        BuiltinType::Set => ("(iterable=())", "Hashable items without order, each of them once."),
        BuiltinType::FrozenSet => ("(iterable=())", "As `set`, but it cannot change."),
        BuiltinType::Range => {
            ("([start, ]stop[, step])", "The integers from start to stop, without stop, by step.")
        }
        BuiltinType::Slice => ("([start, ]stop[, step])", "What `x[start:stop:step]` selects."),
        BuiltinType::Property => (
            "(fget=None, fset=None, fdel=None, doc=None)",
            "An attribute that functions get, set and delete.",
        ),
        BuiltinType::StaticMethod => ("(function)", "Makes a method that receives neither object nor class."),
        BuiltinType::ClassMethod => ("(function)", "Makes a method that receives the class."),
        BuiltinType::Super => ("([type, object])", "Looks attributes up in the bases of a class."),
        _ => return None,
    };
    Some(Doc { signature, sentence })
}

/// The builtin with this name, created at its first use; then the prelude's.
pub fn lookup(vm: &mut Vm, name: &str) -> Result<Option<Value>> {
    if let Some(def) = FUNCTIONS.iter().flat_map(|table| table.iter()).find(|def| def.name == name) {
        return Ok(Some(Value::NativeFunction(NativeFunction::of_module(def).into())));
    }
    if let Some(&ty) = NAMED_TYPES.iter().find(|ty| ty.name() == name) {
        return Ok(Some(Value::Class(vm.builtin_class(ty))));
    }
    if let Some(&ty) = TYPES.iter().find(|ty| ty.name == name) {
        return Ok(Some(Value::Class(vm.native_class(ty))));
    }
    if let Some(&kind) = ExceptionKind::ALL.iter().find(|kind| kind.name() == name) {
        return Ok(Some(Value::Class(vm.exception_class(kind))));
    }
    match name {
        "NotImplemented" => Ok(Some(Value::NotImplemented)),
        "Ellipsis" => Ok(Some(Value::Ellipsis)),
        "IOError" | "EnvironmentError" => Ok(Some(Value::Class(vm.exception_class(ExceptionKind::OSError)))),
        _ => modules::prelude(vm, name),
    }
}

/// The names of all builtins, for suggestions and completion.
pub fn names() -> impl Iterator<Item = &'static str> {
    let functions = FUNCTIONS.iter().flat_map(|table| table.iter()).map(|def| def.name);
    functions
        .chain(NAMED_TYPES.iter().map(|ty| ty.name()))
        .chain(TYPES.iter().map(|ty| ty.name))
        .chain(ExceptionKind::ALL.iter().map(|kind| kind.name()))
        .chain(["NotImplemented", "Ellipsis", "True", "False", "None"])
        .chain(modules::prelude_names())
}

/// The error for a value that had to be iterable, with the caller's message.
pub fn only_iterable(raise: Raise, message: &str) -> Raise {
    if raise.is(ExceptionKind::TypeError) { crate::errors::type_error(message) } else { raise }
}
