//! Helpers for the methods of built-in types: receivers, and arguments that are indices, strings or bounds.

use std::rc::Rc;

use crate::errors;
use crate::value::{Args, Result, Str, Value};
use crate::vm::Vm;

/// The str that a method was called on.
pub fn this_str<'a>(args: &Args<'a>) -> Result<&'a Rc<Str>> {
    match args.receiver()? {
        Value::Str(text) => Ok(text),
        other => Err(errors::wrong_receiver(other)),
    }
}

/// An argument that must be a str.
pub fn str_arg<'a>(value: &'a Value, function: &str, position: usize) -> Result<&'a str> {
    value.as_str().ok_or_else(|| {
        let given = value.type_name();
        errors::type_error(format!("{function}() argument {position} must be str, not {given}"))
    })
}

/// An optional index that may be None; big ints saturate to i64.
pub fn bound(vm: &mut Vm, value: Option<&Value>) -> Result<Option<i64>> {
    match value {
        Some(value) => vm.slice_bound(value.base_value()),
        None => Ok(None),
    }
}

/// An index as C takes it: an int that fits in 64 bits.
pub fn index(vm: &mut Vm, value: &Value) -> Result<i64> {
    match value.base_value() {
        Value::BigInt(_) => Err(errors::too_large_for_index()),
        other => vm.index(other),
    }
}

/// The part of a sequence that `find(x, start, end)` searches; `None` if it begins after its end.
pub fn window(start: Option<i64>, end: Option<i64>, n_items: usize) -> Option<(usize, usize)> {
    let n_items = n_items as i64;
    let from_start = |at: i64| if at < 0 { at.saturating_add(n_items).max(0) } else { at };
    let start = from_start(start.unwrap_or(0));
    let end = from_start(end.unwrap_or(n_items)).min(n_items);
    (start <= end).then_some((start as usize, end as usize))
}

/// The arguments of `find`, `index` and `count`: the pattern, and the range.
pub fn window_args<'a>(
    vm: &mut Vm,
    args: &Args<'a>,
    function: &'a str,
) -> Result<(&'a Value, Option<i64>, Option<i64>)> {
    let mut parser = args.method_parser(function);
    let wanted = parser.positional("sub")?;
    let (start, end) = (parser.optional_positional(), parser.optional_positional());
    parser.finish()?;
    Ok((wanted, bound(vm, start)?, bound(vm, end)?))
}

/// An optional argument, if it is given and not None.
pub fn given(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_none())
}

pub fn flag(vm: &mut Vm, value: Option<&Value>, default: bool) -> Result<bool> {
    value.map_or(Ok(default), |value| vm.truth(value))
}
