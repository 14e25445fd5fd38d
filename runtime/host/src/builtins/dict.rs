//! Methods of dict. `views.rs` has what `keys`, `values` and `items` return.

use std::rc::Rc;

use super::support::given;
use super::{protocol, views};
use crate::errors;
use crate::value::{Args, Dict, NativeDef, Result, Value};
use crate::vm::Vm;

pub static METHODS: &[NativeDef] = &[
    NativeDef::class_method("__class_getitem__", super::generic_alias::of_class),
    NativeDef::method("get", get)
        .doc("(key, default=None, /)", "Looks a key up; without it, gives `default`."),
    NativeDef::method("keys", keys).doc("()", "The keys, as a view that follows the dict."),
    NativeDef::method("values", values).doc("()", "The values, as a view that follows the dict."),
    NativeDef::method("items", items).doc("()", "Pairs of key and value, as a view that follows the dict."),
    NativeDef::method("setdefault", setdefault)
        .doc("(key, default=None, /)", "Looks a key up, and first stores `default` for a new one."),
    NativeDef::method("pop", pop).doc(
        "(key[, default])",
        "Takes a key out and gives its value; without it, gives `default` or raises KeyError.",
    ),
    NativeDef::method("popitem", popitem)
        .doc("()", "Takes the newest pair out; an empty dict raises KeyError."),
    NativeDef::method("update", update).doc(
        "([mapping_or_pairs, ]**items)",
        "Stores the items of a mapping or of pairs, then those of keywords.",
    ),
    NativeDef::method("clear", clear).doc("()", "Empties the dict."),
    NativeDef::method("copy", copy).doc("()", "A new dict with the same keys and values."),
    NativeDef::class_method("fromkeys", fromkeys),
    NativeDef::method("__len__", protocol::len),
    NativeDef::method("__iter__", protocol::iter),
    NativeDef::method("__contains__", protocol::contains),
    NativeDef::method("__getitem__", protocol::get_item),
    NativeDef::method("__setitem__", protocol::set_item),
    NativeDef::method("__delitem__", protocol::delete_item),
    NativeDef::method("__reversed__", super::iterators::reversed_method),
    NativeDef::method("__or__", protocol::or),
];

fn this<'a>(args: &Args<'a>) -> Result<&'a Rc<Dict>> {
    match args.receiver()? {
        Value::Dict(dict) => Ok(dict),
        other => Err(errors::wrong_receiver(other)),
    }
}

fn get(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("get");
    let key = parser.positional("key")?;
    let default = parser.optional_positional();
    parser.finish()?;
    let found = vm.dict_get(this(args)?, key)?;
    Ok(found.or_else(|| default.cloned()).unwrap_or(Value::None))
}

fn keys(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("dict.keys")?;
    Ok(views::keys(this(args)?.clone()))
}

fn values(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("dict.values")?;
    Ok(views::values(this(args)?.clone()))
}

fn items(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("dict.items")?;
    Ok(views::items(this(args)?.clone()))
}

fn setdefault(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("setdefault");
    let key = parser.positional("key")?;
    let default = parser.optional_positional();
    parser.finish()?;
    let dict = this(args)?;
    if let Some(value) = vm.dict_get(dict, key)? {
        return Ok(value);
    }
    let value = default.cloned().unwrap_or(Value::None);
    vm.dict_insert(dict, key, value.clone())?;
    Ok(value)
}

fn pop(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("pop");
    let key = parser.positional("key")?;
    let default = parser.optional_positional();
    parser.finish()?;
    match (vm.dict_remove(this(args)?, key)?, default) {
        (Some(value), _) => Ok(value),
        (None, Some(default)) => Ok(default.clone()),
        (None, None) => Err(errors::key_error(key.clone())),
    }
}

fn popitem(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("dict.popitem")?;
    let last = this(args)?.borrow_mut().pop();
    match last {
        Some((key, value)) => Ok(Value::tuple([key.value, value])),
        None => Err(errors::key_error(Value::str("popitem(): dictionary is empty"))),
    }
}

fn update(vm: &mut Vm, args: &Args) -> Result {
    let dict = this(args)?;
    let rest = args.rest();
    match rest.positional() {
        [] => {}
        [source] => vm.dict_update(dict, source)?,
        more => {
            let message = format!("update expected at most 1 argument, got {}", more.len());
            return Err(errors::type_error(message));
        }
    }
    for (name, value) in rest.keywords() {
        vm.dict_insert(dict, &name.value(), value.clone())?;
    }
    Ok(Value::None)
}

fn clear(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("dict.clear")?;
    let entries = std::mem::take(&mut *this(args)?.borrow_mut());
    drop(entries);
    Ok(Value::None)
}

fn copy(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("dict.copy")?;
    let copy = Dict::new();
    copy.borrow_mut().clone_from(&this(args)?.borrow());
    Ok(Value::Dict(Rc::new(copy)))
}

fn fromkeys(vm: &mut Vm, args: &Args) -> Result {
    let rest = args.rest();
    let mut parser = rest.parser("fromkeys");
    let keys = parser.positional("iterable")?;
    let value = given(parser.optional_positional()).cloned().unwrap_or(Value::None);
    parser.finish()?;
    let class = args.positional().first().ok_or_else(errors::method_needs_object)?;
    let made = vm.call(class, &[])?;
    let iter = vm.iter(keys)?;
    while let Some(key) = vm.next(&iter)? {
        vm.poll()?;
        vm.set_item(&made, &key, value.clone())?;
    }
    Ok(made)
}
