//! The builtins that the language itself leans on: printing, lengths, conversions, ranges.

use std::rc::Rc;

use crate::errors;
use crate::ops::number::{self, Number};
use crate::value::{Args, ExceptionKind, List, NativeDef, Raise, Range, Result, Set, Slice, Value};
use crate::vm::Vm;

pub static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("print", print),
    NativeDef::function("len", len),
    NativeDef::function("repr", repr),
    NativeDef::function("isinstance", isinstance),
    NativeDef::function("issubclass", issubclass),
    NativeDef::function("iter", iter),
    NativeDef::function("next", next),
    NativeDef::function("id", id),
    NativeDef::function("hash", hash),
    NativeDef::function("callable", callable),
    NativeDef::function("getattr", getattr),
    NativeDef::function("setattr", setattr),
    NativeDef::function("hasattr", hasattr),
    NativeDef::function("delattr", delattr),
];

pub static LIST_METHODS: &[NativeDef] = &[NativeDef::method("append", list_append)];

pub static DICT_METHODS: &[NativeDef] = &[NativeDef::method("keys", dict_keys)];

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
            Value::Str(part) => text.push_str(part),
            other => text.push_str(&vm.str(other)?),
        }
    }
    text.push_str(end);
    match args.keyword("file") {
        None | Some(Value::None) => vm.print(&text)?,
        Some(file) => {
            let file = file.clone();
            vm.call_method(&file, "write", &[Value::str(text)])?;
        }
    }
    if let Some(flush) = args.keyword("flush")
        && vm.truth(flush)?
    {
        vm.flush()?;
    }
    Ok(Value::None)
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

fn isinstance(vm: &mut Vm, args: &Args) -> Result {
    let [value, classes] = args.exactly("isinstance")?;
    let class = vm.class_of(value);
    let Some(found) = is_one_of(&class, classes) else {
        return Err(errors::type_error("isinstance() arg 2 must be a type, a tuple of types, or a union"));
    };
    Ok(Value::Bool(found))
}

fn issubclass(_: &mut Vm, args: &Args) -> Result {
    let [class, classes] = args.exactly("issubclass")?;
    let Value::Class(class) = class else {
        return Err(errors::type_error("issubclass() arg 1 must be a class"));
    };
    let Some(found) = is_one_of(class, classes) else {
        return Err(errors::type_error("issubclass() arg 2 must be a class, a tuple of classes, or a union"));
    };
    Ok(Value::Bool(found))
}

/// Whether the class derives from one of `classes`, a class or nested tuples; `None` for anything else.
fn is_one_of(class: &crate::value::Class, classes: &Value) -> Option<bool> {
    match classes {
        Value::Class(other) => Some(class.is_subclass_of(other)),
        Value::Tuple(others) => {
            let mut found = false;
            for other in others.iter() {
                found |= is_one_of(class, other)?;
            }
            Some(found)
        }
        _ => None,
    }
}

fn iter(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("iter")?;
    vm.iter(value)
}

fn next(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("next");
    let iterator = parser.positional("iterator")?;
    let default = parser.optional_positional();
    parser.finish()?;
    match (vm.next(iterator)?, default) {
        (Some(item), _) => Ok(item),
        (None, Some(default)) => Ok(default.clone()),
        (None, None) => Err(errors::stop_iteration(Value::None)),
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

fn attr_name(name: &Value) -> Result<&str> {
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

pub fn new_int(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("int");
    let value = parser.optional_positional();
    let base = parser.optional("base")?;
    parser.finish()?;
    let Some(value) = value else { return Ok(Value::Int(0)) };
    if let Some(text) = value.as_str() {
        let base = base.map_or(Ok(10), |base| vm.index(base))?;
        return parse_int(vm, text, base);
    }
    if base.is_some() {
        return Err(errors::type_error("int() can't convert non-string with explicit base"));
    }
    match number::number(value.base_value()) {
        Some(Number::Int(int)) => return Ok(Value::Int(int)),
        Some(Number::Big(big)) => return Ok(Value::big(big.clone())),
        Some(Number::Float(float)) => return truncate(float),
        None => {}
    }
    for method in ["__int__", "__index__", "__trunc__"] {
        let class = vm.class_of(value);
        if let Some(function) = class.lookup_text(method) {
            return vm.call_method_value(&function, value, &[]);
        }
    }
    Err(errors::type_error(format!(
        "int() argument must be a string, a bytes-like object or a real number, not '{}'",
        value.type_name()
    )))
}

fn truncate(float: f64) -> Result {
    if float.is_nan() {
        return Err(errors::value_error("cannot convert float NaN to integer"));
    }
    match number::float_to_big(float) {
        Some(big) => Ok(Value::big(big)),
        None => Err(errors::overflow_error("cannot convert float infinity to integer")),
    }
}

/// An int literal in the given base; 0 reads the base from its prefix.
fn parse_int(vm: &mut Vm, text: &str, base: i64) -> Result {
    if base != 0 && !(2..=36).contains(&base) {
        return Err(errors::value_error("int() base must be >= 2 and <= 36, or 0"));
    }
    let trimmed = text.trim();
    let (sign, digits) = match trimmed.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let prefixed = |prefix: &str| {
        let head = digits.get(..2)?;
        head.eq_ignore_ascii_case(prefix).then(|| &digits[2..])
    };
    let (base, digits) = match (base, prefixed("0x"), prefixed("0o"), prefixed("0b")) {
        (0 | 16, Some(digits), _, _) => (16, digits),
        (0 | 8, _, Some(digits), _) => (8, digits),
        (0 | 2, _, _, Some(digits)) => (2, digits),
        (0, ..) => (10, digits),
        (base, ..) => (base as u32, digits),
    };
    let is_spaced = !digits.starts_with('_') && !digits.ends_with('_') && !digits.contains("__");
    let plain: String = digits.chars().filter(|&char| char != '_').collect();
    let parsed = (is_spaced && plain.starts_with(|first: char| first.is_digit(base)))
        .then(|| num_bigint::BigInt::parse_bytes(plain.as_bytes(), base))
        .flatten();
    match parsed {
        Some(big) => Ok(Value::big(big * sign)),
        None => {
            let shown = vm.repr(&Value::str(text))?;
            Err(errors::value_error(format!("invalid literal for int() with base {base}: {shown}")))
        }
    }
}

pub fn new_float(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("float");
    let value = parser.optional_positional();
    parser.finish()?;
    let Some(value) = value else { return Ok(Value::Float(0.0)) };
    if let Some(text) = value.as_str() {
        return match parse_float(text) {
            Some(float) => Ok(Value::Float(float)),
            None => {
                let shown = vm.repr(&Value::str(text))?;
                Err(errors::value_error(format!("could not convert string to float: {shown}")))
            }
        };
    }
    if let Some(number) = number::number(value.base_value()) {
        return number.to_f64().map(Value::Float);
    }
    for method in ["__float__", "__index__"] {
        let class = vm.class_of(value);
        if let Some(function) = class.lookup_text(method) {
            let float = vm.call_method_value(&function, value, &[])?;
            return match number::number(&float) {
                Some(number) => number.to_f64().map(Value::Float),
                None => Err(errors::not_a_number(&float)),
            };
        }
    }
    Err(errors::type_error(format!(
        "float() argument must be a string or a real number, not '{}'",
        value.type_name()
    )))
}

/// A float literal, with the underscores and the names that Python takes.
pub fn parse_float(text: &str) -> Option<f64> {
    let trimmed = text.trim();
    let is_number = |char: char| char.is_ascii_digit() || matches!(char, '.' | 'e' | 'E' | '+' | '-' | '_');
    let lower = trimmed.trim_start_matches(['+', '-']).to_ascii_lowercase();
    let is_name = matches!(&*lower, "inf" | "infinity" | "nan");
    if !is_name && !trimmed.chars().all(is_number) {
        return None;
    }
    let bytes = trimmed.as_bytes();
    let is_between_digits = |at: usize| {
        at > 0 && bytes[at - 1].is_ascii_digit() && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
    };
    if bytes.iter().enumerate().any(|(at, &byte)| byte == b'_' && !is_between_digits(at)) {
        return None;
    }
    trimmed.replace('_', "").parse().ok()
}

pub fn new_str(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("str");
    let value = parser.optional("object")?;
    parser.finish()?;
    match value {
        Some(text @ Value::Str(_)) => Ok(text.clone()),
        Some(value) => Ok(Value::str(vm.str(value)?)),
        None => Ok(Value::str("")),
    }
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
    let mut bound = |value: &Value| match value {
        Value::BigInt(_) => Err(range_too_large()),
        other => vm.index(other),
    };
    let range = match args.positional() {
        [stop] => Range { start: 0, stop: bound(stop)?, step: 1 },
        [start, stop] => Range { start: bound(start)?, stop: bound(stop)?, step: 1 },
        [start, stop, step] => Range { start: bound(start)?, stop: bound(stop)?, step: bound(step)? },
        [] => return Err(errors::type_error("range expected at least 1 argument, got 0")),
        more => {
            return Err(errors::type_error(format!(
                "range expected at most 3 arguments, got {}",
                more.len()
            )));
        }
    };
    if range.step == 0 {
        return Err(errors::value_error("range() arg 3 must not be zero"));
    }
    Ok(Value::Range(Rc::new(range)))
}

fn range_too_large() -> Raise {
    errors::overflow_error("a bound of range() must fit into 64 bits")
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

fn list<'a>(args: &Args<'a>) -> Result<&'a Rc<List>> {
    match args.receiver()? {
        Value::List(list) => Ok(list),
        other => Err(errors::wrong_receiver(other)),
    }
}

fn list_append(_: &mut Vm, args: &Args) -> Result {
    let [item] = args.rest().exactly("list.append")?;
    list(args)?.borrow_mut().push(item.clone());
    Ok(Value::None)
}

fn dict_keys(vm: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("dict.keys")?;
    Ok(Value::list(vm.collect(args.receiver()?)?))
}
