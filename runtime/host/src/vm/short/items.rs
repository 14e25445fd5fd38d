//! Items of lists, tuples and dicts.

use std::rc::Rc;

use kps_bytecode::op::Instruction;

use crate::value::{List, Result, Value};
use crate::vm::register::Registers;

#[inline(always)]
pub(in crate::vm) fn load_item(registers: Registers, i: &Instruction) -> bool {
    let item = match (registers.get(i.b), registers.get(i.c)) {
        (Value::List(list), Value::Int(at)) if *at >= 0 => list.borrow().get(*at as usize).cloned(),
        (Value::Tuple(tuple), Value::Int(at)) if *at >= 0 => tuple.get(*at as usize).cloned(),
        (Value::Dict(dict), key @ Value::Int(_)) => dict.get_plain(key).flatten(),
        (Value::Dict(dict), key @ Value::Str(_)) if !i.ends_c() => dict.get_plain(key).flatten(),
        _ => None,
    };
    let Some(item) = item else { return false };
    if i.ends_b() {
        registers.set(i.b, Value::Unset);
    }
    registers.set(i.a, item);
    true
}

#[inline(always)]
pub(in crate::vm) fn append(registers: Registers, i: &Instruction) -> Result<()> {
    let item = registers.operand(i.b, i.ends_b());
    list(&registers, i.a).push(item)
}

#[inline(always)]
pub(in crate::vm) fn list_to_tuple(registers: Registers, i: &Instruction) {
    let items = std::mem::take(&mut *list(&registers, i.a).borrow_mut());
    registers.set(i.a, Value::tuple(items));
}

/// The container in which the compiler gathers items.
#[inline(always)]
fn list(registers: &Registers, at: u16) -> &Rc<List> {
    let Value::List(list) = registers.get(at) else { unreachable!("the register holds a list") };
    list
}
