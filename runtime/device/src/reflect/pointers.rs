//! Refuses pointers that are used as values, because drivers crash on them.

use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Op, StorageClass, Word};
use rustc_hash::FxHashSet;

use super::bad_module;
use crate::Result;

/// Refuses arithmetic, comparisons and conversions of pointers into variables. A physical address is a number
/// with a type of its own, and may be converted.
pub(super) fn refuse_as_values(module: &Module) -> Result<()> {
    let is_logical = |inst: &&Instruction| match inst.operands.first() {
        Some(Operand::StorageClass(class)) => *class != StorageClass::PhysicalStorageBuffer,
        _ => false,
    };
    let of_types = |inst: &&Instruction| inst.class.opcode == Op::TypePointer;
    let types = module.types_global_values.iter().filter(of_types).filter(is_logical);
    let types: FxHashSet<Word> = types.filter_map(|inst| inst.result_id).collect();
    let is_pointer = |inst: &&Instruction| inst.result_type.is_some_and(|ty| types.contains(&ty));
    let pointers: FxHashSet<Word> =
        module.all_inst_iter().filter(is_pointer).filter_map(|inst| inst.result_id).collect();
    for inst in module.all_inst_iter().filter(|inst| takes_values(inst.class.opcode)) {
        let given = inst.operands.iter().filter_map(Operand::id_ref_any);
        if let Some(id) = given.into_iter().find(|id| pointers.contains(id)) {
            let op = inst.class.opname;
            return Err(bad_module(format!("Op{op} takes values, and %{id} is a pointer: load it first")));
        }
    }
    Ok(())
}

/// Conversions, arithmetic, and bitwise and logical operations. `OpSelect` may select a pointer.
fn takes_values(op: Op) -> bool {
    match op {
        Op::ConvertPtrToU
        | Op::ConvertUToPtr
        | Op::PtrCastToGeneric
        | Op::GenericCastToPtr
        | Op::GenericCastToPtrExplicit
        | Op::Select => false,
        op => (Op::ConvertFToU as u32..=Op::BitCount as u32).contains(&(op as u32)),
    }
}
