//! Attributes and methods of instances, with a cache hit at the site.

use kps_bytecode::op::Instruction;

use crate::value::Value;
use crate::vm::code::Site;
use crate::vm::register::Registers;

/// `epoch` is that of the classes.
#[inline(always)]
pub(in crate::vm) fn load_attr(registers: Registers, i: &Instruction, site: &Site, epoch: u32) -> bool {
    let Value::Instance(instance) = registers.get(i.b) else { return false };
    let fields = instance.fields.borrow();
    let key = site.key.get();
    if key.shape != fields.shape_id() || key.epoch != epoch {
        return false;
    }
    let Some(value) = fields.at(site.slot.get()) else { return false };
    let value = value.clone();
    drop(fields);
    if i.ends_b() {
        registers.set(i.b, Value::Unset);
    }
    registers.set(i.a, value);
    true
}

#[inline(always)]
pub(in crate::vm) fn load_method(registers: Registers, i: &Instruction, site: &Site, epoch: u32) -> bool {
    let Value::Instance(instance) = registers.get(i.b) else { return false };
    let key = site.key.get();
    if key.shape != instance.fields.borrow().shape_id() || key.epoch != epoch {
        return false;
    }
    let method = site.method.borrow().clone();
    let receiver = registers.operand(i.b, i.ends_b());
    registers.set(i.a, method);
    registers.set(i.a + 1, receiver);
    true
}
