//! Core builtins: printing, lengths, conversions, ranges.

use std::rc::Rc;

use num_bigint::BigInt;
use num_traits::Zero;

use super::big_range::BigRange;
use super::generic_alias::GenericAlias;
use super::union_type::UnionType;
use crate::errors;
use crate::modules::sys;
use crate::value::{Args, Class, ExceptionKind, Layout, NativeDef, Range, Result, Set, Slice, Value};
use crate::vm::Vm;

pub static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("print", print).doc(
        "(*args, sep=' ', end='\\n', file=None, flush=False)",
        "Writes the values as text, separated by `sep`.",
    ),
    NativeDef::function("len", len).doc("(obj, /)", "Counts the items of a collection."),
    NativeDef::function("repr", repr).doc("(obj, /)", "The text of an object as code would write it."),
    NativeDef::function("isinstance", isinstance).doc(
        "(obj, class_or_tuple, /)",
        "Tests whether a class, or one of a tuple of them, made the object.",
    ),
    NativeDef::function("issubclass", issubclass)
        .doc("(cls, class_or_tuple, /)", "Tests whether a class inherits from another, or is the other."),
    NativeDef::function("ascii", ascii)
        .doc("(obj, /)", "As `repr`, with escapes for all characters beyond ASCII."),
    NativeDef::function("format", format).doc(
        "(value, format_spec='', /)",
        "Formats a value, as the part of an f-string behind the colon does.",
    ),
    NativeDef::function("sorted", super::sort::sorted)
        .doc("(iterable, /, *, key=None, reverse=False)", "Makes a list of the items, smallest first."),
    NativeDef::function("iter", iter).doc(
        "(object[, sentinel])",
        "Walks over the items of an object, or over the results of calls until one is `sentinel`.",
    ),
    NativeDef::function("next", next).doc(
        "(iterator[, default])",
        "Takes one item from an iterator; at its end gives `default`, or raises StopIteration.",
    ),
    NativeDef::function("id", id).doc("(obj, /)", "A number that no other living object has."),
    NativeDef::function("hash", hash).doc("(obj, /)", "The int by which dicts and sets find an object."),
    NativeDef::function("callable", callable).doc("(obj, /)", "Tests whether an object can be called."),
    NativeDef::function("getattr", getattr).doc(
        "(object, name[, default])",
        "Reads the attribute of this name; without one, gives `default` or raises AttributeError.",
    ),
    NativeDef::function("setattr", setattr)
        .doc("(obj, name, value, /)", "Assigns to the attribute of this name."),
    NativeDef::function("hasattr", hasattr)
        .doc("(obj, name, /)", "Tests whether reading the attribute of this name works."),
    NativeDef::function("delattr", delattr).doc("(obj, name, /)", "Removes the attribute of this name."),
    NativeDef::function("exit", sys::exit).doc("(code=None)", "Ends the program by raising SystemExit."),
    NativeDef::function("quit", sys::exit).doc("(code=None)", "Ends the program by raising SystemExit."),
];

fn print(vm: &mut Vm, args: &Args) -> Result {
    for (name, _) in args.keywords() {
        if !matches!(&**name, "sep" | "end" | "file" | "flush") {
            return Err(errors::type_error(format!("'{name}' is an invalid keyword argument for print()")));
        }
    }
    let separator = print_part(args, "sep", " ")?;
    let end = print_part(args, "end", "\n")?;
    let mut text = String::new();
    for (at, value) in args.positional().iter().enumerate() {
        if at > 0 {
            text.push_str(separator);
        }
        match value {
            Value::Str(part) => push(&mut text, part)?,
            other => push(&mut text, &vm.str(other)?)?,
        }
    }
    text.push_str(end);
    let given = args.keyword("file").filter(|file| !file.is_none()).cloned();
    let file = given.or_else(|| sys::replaced_output(vm));
    match &file {
        None => vm.print(&text)?,
        // A script that sets `sys.stdout` to None suppresses output.
        Some(Value::None) => return Ok(Value::None),
        Some(file) => drop(vm.call_method(file, "write", &[Value::str(text)])?),
    }
    if let Some(flush) = args.keyword("flush")
        && vm.truth(flush)?
    {
        match &file {
            None => vm.flush()?,
            Some(file) => drop(vm.call_method(file, "flush", &[])?),
        }
    }
    Ok(Value::None)
}

fn push(text: &mut String, part: &str) -> Result<()> {
    crate::memory::make_text_room(text, part.len())?;
    text.push_str(part);
    Ok(())
}

fn print_part<'a>(args: &Args<'a>, name: &str, default: &'static str) -> Result<&'a str> {
    match args.keyword(name) {
        None | Some(Value::None) => Ok(default),
        Some(Value::Str(text)) => Ok(text),
        Some(other) => {
            Err(errors::type_error(format!("{name} must be None or a string, not {}", other.type_name())))
        }
    }
}

fn len(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("len")?;
    Ok(Value::Int(vm.len(value)? as i64))
}

fn repr(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("repr")?;
    Ok(Value::str(vm.repr(value)?))
}

fn ascii(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("ascii")?;
    Ok(Value::str(crate::text::quote::ascii(&vm.repr(value)?)))
}

/// `format(value, spec="")`.
fn format(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("format");
    let value = parser.positional("value")?;
    let spec = parser.optional_positional();
    parser.finish()?;
    let spec = spec.map_or(Ok(""), |spec| super::support::str_arg(spec, "format", 2))?;
    Ok(Value::str(super::format::format_value(vm, value, spec)?))
}

fn isinstance(vm: &mut Vm, args: &Args) -> Result {
    let [value, classes] = args.exactly("isinstance")?;
    let asked = Asked { value: Some(value), class: vm.class_of(value) };
    if asked.is_one_of(vm, classes)? {
        return Ok(Value::Bool(true));
    }
    // A class may report another class for its objects.
    if vm.script_method(value, "__class__").is_some()
        && let Some(Value::Class(class)) = vm.find_attr(value, "__class__")?
    {
        return Ok(Value::Bool(Asked { class, ..asked }.is_one_of(vm, classes)?));
    }
    Ok(Value::Bool(false))
}

fn issubclass(vm: &mut Vm, args: &Args) -> Result {
    let [class, classes] = args.exactly("issubclass")?;
    let Value::Class(class) = class else {
        return Err(errors::type_error("issubclass() arg 1 must be a class"));
    };
    let asked = Asked { value: None, class: class.clone() };
    Ok(Value::Bool(asked.is_one_of(vm, classes)?))
}

/// The subject of `isinstance` and `issubclass`.
struct Asked<'a> {
    /// The object of `isinstance`.
    value: Option<&'a Value>,
    class: Rc<Class>,
}

impl Asked<'_> {
    /// Whether the class derives from one of `classes`: a class, a union, an object that decides by itself, or nested
    /// tuples of those.
    fn is_one_of(&self, vm: &mut Vm, classes: &Value) -> Result<bool> {
        match classes {
            Value::Class(other) => {
                let passes = self.class.is_subclass_of(other) || passes_for(&self.class, other);
                // CPython calls the hooks of the classes that derive from `abc.ABC`.
                let is_abstract = other.lookup_script("__abstractmethods__").is_some();
                match other.lookup_script("__subclasshook__") {
                    Some(hook) if !passes && is_abstract => self.is_subclass_by_hook(vm, other, &hook),
                    _ => Ok(passes),
                }
            }
            Value::Tuple(others) => {
                vm.check_stack()?;
                for other in others.iter() {
                    if self.is_one_of(vm, other)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Value::Instance(_) => {
                let (method, arg) = match self.value {
                    Some(value) => ("__instancecheck__", value.clone()),
                    None => ("__subclasscheck__", Value::Class(self.class.clone())),
                };
                let Some(method) = vm.script_method(classes, method) else { return Err(self.no_class()) };
                vm.check_stack()?;
                let verdict = vm.call_method_value(&method, classes, &[arg])?;
                vm.truth(&verdict)
            }
            other => match (other.downcast::<UnionType>(), other.downcast::<GenericAlias>()) {
                (Some(union), _) => self.is_one_of(vm, &Value::tuple(union.args.clone())),
                // Classes of `typing` have their own messages.
                (_, Some(alias)) if alias.origin.lookup_text("__parameters__").is_some() => {
                    let message = "Subscripted generics cannot be used with class and instance checks";
                    Err(errors::type_error(message))
                }
                (_, Some(_)) => {
                    let function = self.function();
                    let message = format!("{function}() argument 2 cannot be a parameterized generic");
                    Err(errors::type_error(message))
                }
                _ => Err(self.no_class()),
            },
        }
    }

    /// The answer of a class's `__subclasshook__`; NotImplemented means the default.
    fn is_subclass_by_hook(&self, vm: &mut Vm, other: &Rc<Class>, hook: &Value) -> Result<bool> {
        vm.check_stack()?;
        let hook = vm.bind(hook, &Value::Class(other.clone()), other)?;
        match vm.call(&hook, &[Value::Class(self.class.clone())])? {
            Value::NotImplemented => Ok(false),
            verdict => vm.truth(&verdict),
        }
    }

    fn function(&self) -> &'static str {
        if self.value.is_some() { "isinstance" } else { "issubclass" }
    }

    fn no_class(&self) -> crate::value::Raise {
        let wanted =
            if self.value.is_some() { "type, a tuple of types" } else { "class, a tuple of classes" };
        errors::type_error(format!("{}() arg 2 must be a {wanted}, or a union", self.function()))
    }
}

/// The built-in types whose objects are not hashable.
const UNHASHABLE: [&str; 8] =
    ["list", "dict", "set", "bytearray", "deque", "dict_keys", "dict_items", "ndarray"];

/// The built-in class that a class derives from.
fn built_in(mut class: &Class) -> &Class {
    while let (true, Some(base)) = (class.is_script, &class.base) {
        class = base;
    }
    class
}

/// Whether a class counts as a subclass of another one without deriving from it: it is registered, or it has
/// the methods that the other one requires (see `ops/class.rs`).
pub fn passes_for(class: &Class, other: &Class) -> bool {
    if let (Layout::Native(ty), Layout::Builtin(builtin)) = (class.layout, other.layout) {
        return !other.is_script && ty.passes_for == Some(builtin);
    }
    if matches!(class.lookup_script("__class_is__"), Some(Value::Class(said)) if said.is_subclass_of(other)) {
        return true;
    }
    if !other.is_script {
        return false;
    }
    let own = |name: &str| other.own_attrs().get_text(name).cloned();
    if let Some(Value::List(registered)) = own("__class_registered__") {
        let is_registered =
            |known: &Value| matches!(known, Value::Class(known) if class.is_subclass_of(known));
        if registered.borrow().iter().any(is_registered) {
            return true;
        }
    }
    let Some(Value::Tuple(needed)) = own("__class_needs__") else { return false };
    let has = |name: &Value| {
        match name.as_str() {
            // Every object inherits this one.
            Some("__hash__") if UNHASHABLE.contains(&&*built_in(class).name) => false,
            Some(name) => class.lookup_text(name).is_some_and(|method| !method.is_none()),
            None => false,
        }
    };
    needed.iter().all(has)
}

/// `iter(iterable)`, `iter(callable, sentinel)`.
fn iter(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("iter");
    let source = parser.positional("object")?;
    let sentinel = parser.optional_positional();
    parser.finish()?;
    let Some(sentinel) = sentinel else { return vm.iter(source) };
    if !vm.is_callable(source) {
        return Err(errors::type_error("iter(v, w): v must be callable"));
    }
    Ok(Value::native_iter(super::iterators::CallIter { callee: source.clone(), sentinel: sentinel.clone() }))
}

fn next(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("next");
    let iterator = parser.positional("iterator")?;
    let default = parser.optional_positional();
    parser.finish()?;
    match (vm.advance(iterator)?, default) {
        (Ok(item), _) => Ok(item),
        (Err(_), Some(default)) => Ok(default.clone()),
        (Err(result), None) => Err(errors::stop_iteration(result)),
    }
}

fn id(_: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("id")?;
    Ok(Value::Int(match value {
        Value::Int(int) => *int,
        Value::Bool(truth) => 1 + *truth as i64,
        Value::Float(float) => float.to_bits() as i64 >> 1,
        other => other.address().unwrap_or(0) as i64,
    }))
}

fn hash(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("hash")?;
    Ok(Value::Int(vm.hash(value)?))
}

fn callable(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("callable")?;
    Ok(Value::Bool(vm.is_callable(value)))
}

/// The name of an attribute, given by a script.
pub fn attr_name(name: &Value) -> Result<&str> {
    name.as_str().ok_or_else(|| {
        errors::type_error(format!("attribute name must be string, not '{}'", name.type_name()))
    })
}

fn getattr(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("getattr");
    let value = parser.positional("object")?;
    let name = attr_name(parser.positional("name")?)?;
    let default = parser.optional_positional();
    parser.finish()?;
    match (vm.get_attr(value, name), default) {
        (Err(raise), Some(default)) if raise.is(ExceptionKind::AttributeError) => Ok(default.clone()),
        (result, _) => result,
    }
}

fn setattr(vm: &mut Vm, args: &Args) -> Result {
    let [value, name, new] = args.exactly("setattr")?;
    vm.set_attr(value, attr_name(name)?, new.clone())?;
    Ok(Value::None)
}

fn hasattr(vm: &mut Vm, args: &Args) -> Result {
    let [value, name] = args.exactly("hasattr")?;
    Ok(Value::Bool(vm.find_attr(value, attr_name(name)?)?.is_some()))
}

fn delattr(vm: &mut Vm, args: &Args) -> Result {
    let [value, name] = args.exactly("delattr")?;
    vm.delete_attr(value, attr_name(name)?)?;
    Ok(Value::None)
}

pub fn new_bool(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("bool");
    let value = parser.optional_positional();
    parser.finish()?;
    Ok(Value::Bool(match value {
        Some(value) => vm.truth(value)?,
        None => false,
    }))
}

pub fn new_str(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("str");
    let value = parser.optional("object")?;
    let encoding = parser.optional("encoding")?;
    let on_error = parser.optional("errors")?;
    parser.finish()?;
    if encoding.is_some() || on_error.is_some() {
        return decoded(value, encoding, on_error);
    }
    match value {
        Some(text @ Value::Str(_)) => Ok(text.clone()),
        Some(value) => Ok(Value::str(vm.str(value)?)),
        None => Ok(Value::str("")),
    }
}

/// `str(bytes, encoding, errors)`.
fn decoded(value: Option<&Value>, encoding: Option<&Value>, on_error: Option<&Value>) -> Result {
    let encoding = encoding.map_or(Ok("utf-8"), |value| super::support::str_arg(value, "str", 2))?;
    let on_error = on_error.map_or(Ok("strict"), |value| super::support::str_arg(value, "str", 3))?;
    let Some(value) = value else { return Ok(Value::str("")) };
    if value.as_str().is_some() {
        return Err(errors::type_error("decoding str is not supported"));
    }
    let Some(bytes) = super::bytes::like(value) else {
        let given = value.type_name();
        let message = format!("decoding to str: need a bytes-like object, {given} found");
        return Err(errors::type_error(message));
    };
    Ok(Value::str(super::encoding::decode(&bytes, encoding, on_error)?))
}

pub fn new_list(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("list");
    let items = parser.optional_positional();
    parser.finish()?;
    Ok(Value::list(match items {
        Some(items) => vm.collect(items)?,
        None => Vec::new(),
    }))
}

pub fn new_tuple(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("tuple");
    let items = parser.optional_positional();
    parser.finish()?;
    Ok(match items {
        Some(tuple @ Value::Tuple(_)) => tuple.clone(),
        Some(items) => Value::tuple(vm.collect(items)?),
        None => Value::tuple([]),
    })
}

pub fn new_dict(vm: &mut Vm, args: &Args) -> Result {
    let dict = Rc::<crate::value::Dict>::default();
    match args.positional() {
        [] => {}
        [source] => vm.dict_update(&dict, source)?,
        more => {
            return Err(errors::type_error(format!("dict expected at most 1 argument, got {}", more.len())));
        }
    }
    for (name, value) in args.keywords() {
        dict.insert_text(name.value(), value.clone());
    }
    Ok(Value::Dict(dict))
}

fn set_of(vm: &mut Vm, args: &Args, function: &str) -> Result<Rc<Set>> {
    let mut parser = args.parser(function);
    let items = parser.optional_positional();
    parser.finish()?;
    Ok(Rc::new(match items {
        Some(items) => vm.set_from(items)?,
        None => Set::new(),
    }))
}

pub fn new_set(vm: &mut Vm, args: &Args) -> Result {
    set_of(vm, args, "set").map(Value::Set)
}

pub fn new_frozenset(vm: &mut Vm, args: &Args) -> Result {
    set_of(vm, args, "frozenset").map(Value::FrozenSet)
}

pub fn new_range(vm: &mut Vm, args: &Args) -> Result {
    if args.has_keywords() {
        return Err(errors::no_keywords("range"));
    }
    // The usual ones need no big ints.
    let plain = match args.positional() {
        [Value::Int(stop)] => Some((0, *stop, 1)),
        [Value::Int(start), Value::Int(stop)] => Some((*start, *stop, 1)),
        [Value::Int(start), Value::Int(stop), Value::Int(step)] if *step != 0 => Some((*start, *stop, *step)),
        _ => None,
    };
    if let Some((start, stop, step)) = plain {
        return Ok(Value::Range(Rc::new(Range { start, stop, step })));
    }
    let mut bound = |value: &Value| match value {
        Value::BigInt(big) => Ok((**big).clone()),
        other => vm.index(other).map(BigInt::from),
    };
    let (zero, one) = (BigInt::from(0), BigInt::from(1));
    let range = match args.positional() {
        [stop] => BigRange { start: zero, stop: bound(stop)?, step: one },
        [start, stop] => BigRange { start: bound(start)?, stop: bound(stop)?, step: one },
        [start, stop, step] => BigRange { start: bound(start)?, stop: bound(stop)?, step: bound(step)? },
        [] => return Err(errors::type_error("range expected at least 1 argument, got 0")),
        more => {
            return Err(errors::type_error(format!(
                "range expected at most 3 arguments, got {}",
                more.len()
            )));
        }
    };
    if range.step.is_zero() {
        return Err(errors::value_error("range() arg 3 must not be zero"));
    }
    Ok(range.into_value())
}

pub fn new_slice(_: &mut Vm, args: &Args) -> Result {
    let part = |value: &Value| value.clone();
    let slice = match args.positional() {
        [stop] => Slice { start: Value::None, stop: part(stop), step: Value::None },
        [start, stop] => Slice { start: part(start), stop: part(stop), step: Value::None },
        [start, stop, step] => Slice { start: part(start), stop: part(stop), step: part(step) },
        _ => return Err(errors::type_error("slice expected 1 to 3 arguments")),
    };
    Ok(Value::Slice(Rc::new(slice)))
}
