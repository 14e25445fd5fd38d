//! Methods of set and frozenset.

use std::rc::Rc;

use super::protocol;
use super::views::as_set;
use crate::errors;
use crate::value::{Args, BinaryOp, CompareOp, NativeDef, Result, Set, Value};
use crate::vm::Vm;

/// The methods that change nothing: all those of frozenset.
macro_rules! reading_methods {
    ($($more:expr),*) => {
        &[
            NativeDef::method("union", union),
            NativeDef::method("intersection", intersection),
            NativeDef::method("difference", difference),
            NativeDef::method("symmetric_difference", symmetric_difference),
            NativeDef::method("issubset", issubset),
            NativeDef::method("issuperset", issuperset),
            NativeDef::method("isdisjoint", isdisjoint),
            NativeDef::method("copy", copy),
            NativeDef::class_method("__class_getitem__", super::generic_alias::of_class),
            NativeDef::method("__len__", protocol::len),
            NativeDef::method("__iter__", protocol::iter),
            NativeDef::method("__contains__", protocol::contains),
            NativeDef::method("__and__", protocol::and),
            NativeDef::method("__or__", protocol::or),
            NativeDef::method("__xor__", protocol::xor),
            NativeDef::method("__sub__", protocol::sub),
            NativeDef::method("__lt__", protocol::lt),
            NativeDef::method("__le__", protocol::le),
            NativeDef::method("__gt__", protocol::gt),
            NativeDef::method("__ge__", protocol::ge),
            $($more),*
        ]
    };
}

pub static FROZEN_METHODS: &[NativeDef] = reading_methods!();

pub static METHODS: &[NativeDef] = reading_methods!(
    NativeDef::method("add", add),
    NativeDef::method("remove", remove),
    NativeDef::method("discard", discard),
    NativeDef::method("pop", pop),
    NativeDef::method("clear", clear),
    NativeDef::method("update", update),
    NativeDef::method("intersection_update", intersection_update),
    NativeDef::method("difference_update", difference_update),
    NativeDef::method("symmetric_difference_update", symmetric_difference_update)
);

fn this<'a>(args: &Args<'a>) -> Result<&'a Rc<Set>> {
    match args.receiver()? {
        Value::Set(set) | Value::FrozenSet(set) => Ok(set),
        other => Err(errors::wrong_receiver(other)),
    }
}

fn add(vm: &mut Vm, args: &Args) -> Result {
    let [item] = args.rest().exactly("set.add")?;
    vm.set_add(this(args)?, item)?;
    Ok(Value::None)
}

/// A set as an element is replaced by the frozenset of the same elements.
fn as_element(item: &Value) -> Value {
    match item {
        Value::Set(set) => Value::FrozenSet(set.clone()),
        other => other.clone(),
    }
}

fn remove(vm: &mut Vm, args: &Args) -> Result {
    let [item] = args.rest().exactly("set.remove")?;
    if vm.set_remove(this(args)?, &as_element(item))? {
        return Ok(Value::None);
    }
    Err(errors::key_error(item.clone()))
}

fn discard(vm: &mut Vm, args: &Args) -> Result {
    let [item] = args.rest().exactly("set.discard")?;
    vm.set_remove(this(args)?, &as_element(item))?;
    Ok(Value::None)
}

fn pop(vm: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("set.pop")?;
    let set = this(args)?;
    let Some(first) = set.element_at(0) else {
        return Err(errors::key_error(Value::str("pop from an empty set")));
    };
    vm.set_remove(set, &first)?;
    Ok(first)
}

fn clear(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("set.clear")?;
    let elements = std::mem::take(&mut *this(args)?.borrow_mut());
    drop(elements);
    Ok(Value::None)
}

fn copy(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("copy")?;
    let copy = Set::new();
    copy.borrow_mut().clone_from(&this(args)?.borrow());
    Ok(match args.receiver()? {
        frozen @ Value::FrozenSet(_) => frozen.clone(),
        _ => Value::Set(Rc::new(copy)),
    })
}

/// The receiver combined with each argument in turn.
fn combine(vm: &mut Vm, args: &Args, function: &'static str, op: BinaryOp) -> Result {
    if args.has_keywords() {
        return Err(errors::no_keywords(function));
    }
    let mut result = args.receiver()?.clone();
    if let [_] = args.positional() {
        return copy(vm, args);
    }
    for other in args.rest().positional() {
        let other = Value::FrozenSet(as_set(vm, other)?);
        result = vm.set_binary(op, &result, &other)?;
    }
    Ok(result)
}

fn union(vm: &mut Vm, args: &Args) -> Result {
    combine(vm, args, "union", BinaryOp::BitOr)
}

fn intersection(vm: &mut Vm, args: &Args) -> Result {
    combine(vm, args, "intersection", BinaryOp::BitAnd)
}

fn difference(vm: &mut Vm, args: &Args) -> Result {
    combine(vm, args, "difference", BinaryOp::Sub)
}

fn symmetric_difference(vm: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<1>("set.symmetric_difference")?;
    combine(vm, args, "symmetric_difference", BinaryOp::BitXor)
}

/// As [`combine`], into the receiver.
fn combine_in_place(vm: &mut Vm, args: &Args, function: &'static str, op: BinaryOp) -> Result {
    let combined = combine(vm, args, function, op)?;
    let (Value::Set(combined) | Value::FrozenSet(combined)) = combined else {
        unreachable!("sets combine to sets")
    };
    let elements = combined.borrow().clone();
    let previous = std::mem::replace(&mut *this(args)?.borrow_mut(), elements);
    drop(previous);
    Ok(Value::None)
}

fn update(vm: &mut Vm, args: &Args) -> Result {
    let set = this(args)?;
    for source in args.rest().positional() {
        for item in vm.collect(source)? {
            vm.set_add(set, &item)?;
        }
    }
    Ok(Value::None)
}

fn intersection_update(vm: &mut Vm, args: &Args) -> Result {
    combine_in_place(vm, args, "intersection_update", BinaryOp::BitAnd)
}

fn difference_update(vm: &mut Vm, args: &Args) -> Result {
    combine_in_place(vm, args, "difference_update", BinaryOp::Sub)
}

fn symmetric_difference_update(vm: &mut Vm, args: &Args) -> Result {
    combine_in_place(vm, args, "symmetric_difference_update", BinaryOp::BitXor)
}

fn issubset(vm: &mut Vm, args: &Args) -> Result {
    let [other] = args.rest().exactly("set.issubset")?;
    let other = as_set(vm, other)?;
    Ok(Value::Bool(vm.sets_compare(CompareOp::LessEq, this(args)?, &other)?))
}

fn issuperset(vm: &mut Vm, args: &Args) -> Result {
    let [other] = args.rest().exactly("set.issuperset")?;
    let other = as_set(vm, other)?;
    Ok(Value::Bool(vm.sets_compare(CompareOp::GreaterEq, this(args)?, &other)?))
}

fn isdisjoint(vm: &mut Vm, args: &Args) -> Result {
    let [other] = args.rest().exactly("set.isdisjoint")?;
    let set = this(args)?;
    for item in vm.collect(other)? {
        if vm.set_contains(set, &item)? {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}
