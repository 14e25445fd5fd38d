//! The steps of loops over ranges and lists.

use kps_bytecode::op::Instruction;

use crate::value::Value;
use crate::vm::register::Registers;

/// The next item of a loop, `Unset` at the end; none if an iterator must be called.
#[inline(always)]
pub(in crate::vm) fn next_item(registers: Registers, i: &Instruction) -> Option<Value> {
    match (registers.get(i.a), registers.get(i.a + 1)) {
        (Value::Int(_), Value::Int(0)) => Some(Value::Unset),
        (&Value::Int(next), &Value::Int(remaining)) => {
            let Value::Int(step) = *registers.get(i.a + 2) else { unreachable!("a range has a step") };
            registers.set(i.a, Value::Int(next.wrapping_add(step)));
            registers.set(i.a + 1, Value::Int(remaining - 1));
            Some(Value::Int(next))
        }
        (Value::List(list), &Value::Int(at)) => {
            let item = list.borrow().get(at as usize).cloned();
            registers.set(i.a + 1, Value::Int(at + 1));
            Some(item.unwrap_or(Value::Unset))
        }
        _ => None,
    }
}
