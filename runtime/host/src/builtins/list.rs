//! Methods of list. `sort.rs` sorts.

use std::rc::Rc;

use super::support::{bound, index, window};
use super::{protocol, sort};
use crate::errors;
use crate::text::slice::position;
use crate::value::{Args, List, NativeDef, Result, Value};
use crate::vm::Vm;

pub static METHODS: &[NativeDef] = &[
    NativeDef::class_method("__class_getitem__", super::generic_alias::of_class),
    NativeDef::method("append", append).doc("(object, /)", "Adds one item at the end."),
    NativeDef::method("extend", extend).doc("(iterable, /)", "Adds all items of an iterable at the end."),
    NativeDef::method("pop", pop).doc(
        "(index=-1, /)",
        "Takes the item at an index out, by default the last; an empty list raises IndexError.",
    ),
    NativeDef::method("insert", insert)
        .doc("(index, object, /)", "Puts an item in front of the one at an index."),
    NativeDef::method("remove", remove)
        .doc("(value, /)", "Deletes the first equal item; without one, raises ValueError."),
    NativeDef::method("clear", clear).doc("()", "Empties the list."),
    NativeDef::method("index", index_of).doc(
        "(value[, start[, stop]])",
        "The index of the first equal item; without one, raises ValueError.",
    ),
    NativeDef::method("count", count).doc("(value, /)", "Counts the equal items."),
    NativeDef::method("sort", sort::list_sort).doc(
        "(*, key=None, reverse=False)",
        "Orders the items in place, smallest first; equal ones keep their order.",
    ),
    NativeDef::method("reverse", reverse).doc("()", "Turns the order of the items round, in place."),
    NativeDef::method("copy", copy).doc("()", "A new list with the same items."),
    NativeDef::method("__len__", protocol::len),
    NativeDef::method("__iter__", protocol::iter),
    NativeDef::method("__contains__", protocol::contains),
    NativeDef::method("__getitem__", protocol::get_item),
    NativeDef::method("__setitem__", protocol::set_item),
    NativeDef::method("__delitem__", protocol::delete_item),
    NativeDef::method("__add__", protocol::add),
    NativeDef::method("__mul__", protocol::mul),
    NativeDef::method("__rmul__", protocol::rmul),
    NativeDef::method("__reversed__", super::iterators::reversed_method),
    NativeDef::method("__lt__", protocol::lt),
    NativeDef::method("__le__", protocol::le),
    NativeDef::method("__gt__", protocol::gt),
    NativeDef::method("__ge__", protocol::ge),
];

pub(super) fn this<'a>(args: &Args<'a>) -> Result<&'a Rc<List>> {
    match args.receiver()? {
        Value::List(list) => Ok(list),
        other => Err(errors::wrong_receiver(other)),
    }
}

fn append(_: &mut Vm, args: &Args) -> Result {
    let [item] = args.rest().exactly("list.append")?;
    this(args)?.push(item.clone())?;
    Ok(Value::None)
}

fn extend(vm: &mut Vm, args: &Args) -> Result {
    let [items] = args.rest().exactly("list.extend")?;
    let list = this(args)?;
    // Items before an error remain, as in CPython.
    if let Value::List(_) | Value::Tuple(_) | Value::Set(_) | Value::FrozenSet(_) = items.base_value() {
        let items = vm.collect(items.base_value())?;
        list.extend(items)?;
        return Ok(Value::None);
    }
    let iter = vm.iter(items)?;
    while let Some(item) = vm.next(&iter)? {
        vm.poll()?;
        list.push(item)?;
    }
    Ok(Value::None)
}

fn pop(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("pop");
    let at = parser.optional_positional();
    parser.finish()?;
    let list = this(args)?;
    let Some(at) = at else {
        let last = list.borrow_mut().pop();
        return last.ok_or_else(|| errors::index_error("pop from empty list"));
    };
    let at = index(vm, at)?;
    let len = list.len();
    if len == 0 {
        return Err(errors::index_error("pop from empty list"));
    }
    match position(at, len) {
        Some(at) => Ok(list.borrow_mut().remove(at)),
        None => Err(errors::index_error("pop index out of range")),
    }
}

/// Where `insert` puts an item: an index out of range means the nearer end.
pub(super) fn insertion_point(at: i64, len: usize) -> usize {
    let from_start = if at < 0 { at.saturating_add(len as i64) } else { at };
    from_start.clamp(0, len as i64) as usize
}

fn insert(vm: &mut Vm, args: &Args) -> Result {
    let [at, item] = args.rest().exactly("insert")?;
    let at = index(vm, at)?;
    let mut items = this(args)?.borrow_mut();
    let at = insertion_point(at, items.len());
    crate::memory::make_room(&mut items)?;
    items.insert(at, item.clone());
    Ok(Value::None)
}

/// The first item from `start` that equals the value. Comparing may run a script that changes the list.
fn find(vm: &mut Vm, list: &List, value: &Value, start: usize, end: usize) -> Result<Option<usize>> {
    for at in start..end {
        let Some(candidate) = list.borrow().get(at).cloned() else { break };
        if vm.same(&candidate, value)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

fn remove(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.rest().exactly("list.remove")?;
    let list = this(args)?;
    let Some(at) = find(vm, list, value, 0, usize::MAX)? else {
        return Err(errors::value_error("list.remove(x): x not in list"));
    };
    let mut items = list.borrow_mut();
    let removed = if at < items.len() { Some(items.remove(at)) } else { None };
    drop(items);
    drop(removed);
    Ok(Value::None)
}

fn clear(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("list.clear")?;
    let items = std::mem::take(&mut *this(args)?.borrow_mut());
    drop(items);
    Ok(Value::None)
}

fn index_of(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("index");
    let value = parser.positional("value")?;
    let (start, end) = (parser.optional_positional(), parser.optional_positional());
    parser.finish()?;
    let (start, end) = (bound(vm, start)?, bound(vm, end)?);
    let list = this(args)?;
    let found = match window(start, end, list.len()) {
        Some((start, end)) => find(vm, list, value, start, end)?,
        None => None,
    };
    match found {
        Some(at) => Ok(Value::from(at)),
        None => {
            let message = format!("{} is not in list", vm.repr(value)?);
            Err(errors::value_error(message))
        }
    }
}

fn count(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.rest().exactly("list.count")?;
    let mut n_found = 0;
    for item in this(args)?.to_vec() {
        n_found += vm.same(&item, value)? as i64;
    }
    Ok(Value::Int(n_found))
}

fn reverse(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("list.reverse")?;
    this(args)?.borrow_mut().reverse();
    Ok(Value::None)
}

fn copy(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("list.copy")?;
    let list = this(args)?;
    crate::memory::grant_items::<Value>(list.len())?;
    Ok(Value::list(list.to_vec()))
}
