//! The size of the workgroup's shared memory.

use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Op, StorageClass};
use rustc_hash::FxHashMap;

use super::access::Reached;
use super::constants::Constants;
use super::ids::{id_at, literal_at};

/// Total size of the workgroup variables that an entry point uses, packed as tightly as their scalars allow.
/// A device may need more, and none needs less.
pub(super) fn bytes(module: &Module, constants: &Constants, reached: &Reached) -> u64 {
    // Types are defined before their uses, so one pass in order computes all sizes.
    let mut sizes: FxHashMap<u32, u64> = FxHashMap::default();
    let mut total = 0_u64;
    for instruction in &module.types_global_values {
        let Some(id) = instruction.result_id else { continue };
        if is_shared_pointer(instruction) {
            // A pointer has the size of its pointee.
            sizes.insert(id, size_of(&sizes, id_at(instruction, 1)));
        } else if instruction.class.opcode == Op::Variable {
            if is_of_workgroup(instruction) && reached.variable(id).is_some() {
                total = total.saturating_add(size_of(&sizes, instruction.result_type));
            }
        } else {
            let size = size(&sizes, constants, instruction);
            sizes.insert(id, size);
        }
    }
    total
}

fn is_of_workgroup(instruction: &Instruction) -> bool {
    instruction.operands.first() == Some(&Operand::StorageClass(StorageClass::Workgroup))
}

fn is_shared_pointer(instruction: &Instruction) -> bool {
    instruction.class.opcode == Op::TypePointer && is_of_workgroup(instruction)
}

/// An unknown type has no size here; the compiler of the module reports it.
fn size_of(sizes: &FxHashMap<u32, u64>, ty: Option<u32>) -> u64 {
    ty.and_then(|ty| sizes.get(&ty)).copied().unwrap_or(0)
}

fn size(sizes: &FxHashMap<u32, u64>, constants: &Constants, definition: &Instruction) -> u64 {
    let element = size_of(sizes, id_at(definition, 0));
    let count = |n: Option<u32>| u64::from(n.unwrap_or(0));
    match definition.class.opcode {
        Op::TypeBool => 4,
        Op::TypeInt | Op::TypeFloat => count(literal_at(definition, 0)) / 8,
        Op::TypeVector | Op::TypeMatrix => element.saturating_mul(count(literal_at(definition, 1))),
        Op::TypeArray => {
            element.saturating_mul(count(id_at(definition, 1).and_then(|len| constants.u32(len))))
        }
        Op::TypeStruct => (0..definition.operands.len())
            .map(|member| size_of(sizes, id_at(definition, member)))
            .fold(0, u64::saturating_add),
        _ => 0,
    }
}
