//! Global names, cells and captured variables.

use kps_bytecode::op::Instruction;

use crate::value::{Function, Value};
use crate::vm::LoadedCode;
use crate::vm::register::{self, Registers};

#[inline(always)]
pub(in crate::vm) fn load_global(registers: Registers, i: &Instruction, loaded: &LoadedCode) -> bool {
    let namespace = &loaded.program.namespace;
    let global = loaded.global(i.index());
    let is_loaded = !registers.get(i.a).is_object()
        && namespace.look(global.slot, |value| {
            let is_set = !value.is_unset();
            if is_set {
                // SAFETY: the register holds no object that would have to be dropped.
                unsafe { register::copy(value, registers.pointer(i.a)) };
            }
            is_set
        });
    if is_loaded {
        return true;
    }
    let mut value = namespace.at(global.slot);
    if value.is_unset() {
        let Some(builtin) = global.builtin.get() else { return false };
        value = builtin.clone();
    }
    registers.set(i.a, value);
    true
}

#[inline(always)]
pub(in crate::vm) fn store_global(registers: Registers, i: &Instruction, loaded: &LoadedCode) {
    let value = registers.operand(i.a, i.ends_b());
    let previous = loaded.program.namespace.put(loaded.global(i.index()).slot, value);
    drop(previous);
}

#[inline(always)]
pub(in crate::vm) fn load_cell(registers: Registers, i: &Instruction) -> bool {
    set_if_bound(registers, i.a, registers.cell(i.b).get())
}

#[inline(always)]
pub(in crate::vm) fn store_cell(registers: Registers, i: &Instruction) {
    let value = registers.operand(i.b, i.ends_b());
    let previous = registers.cell(i.a).put(value);
    drop(previous);
}

#[inline(always)]
pub(in crate::vm) fn load_free(registers: Registers, i: &Instruction, running: &Function) -> bool {
    set_if_bound(registers, i.a, running.closure[i.b as usize].get())
}

#[inline(always)]
pub(in crate::vm) fn store_free(registers: Registers, i: &Instruction, running: &Function) {
    let value = registers.operand(i.b, i.ends_b());
    let previous = running.closure[i.a as usize].put(value);
    drop(previous);
}

#[inline(always)]
fn set_if_bound(registers: Registers, at: u16, value: Value) -> bool {
    if value.is_unset() {
        return false;
    }
    registers.set(at, value);
    true
}
