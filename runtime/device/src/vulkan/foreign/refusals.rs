//! Refuses what cannot be bounded by clamping in external modules.
//!
//! These are physical addresses, pointers that are stored or created from nothing, and pointer arithmetic in
//! shared memory. On drivers that run on the host's memory, cooperative matrices in shared memory are
//! refused, too.

use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{AddressingModel, Op, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::physical::Physical;
use super::super::requirements::source_line;
use crate::{DeviceError, DeviceKind, Result, SourceLine};

pub fn check(physical: &Physical, module: &Module) -> Result<()> {
    let refuse = |what, line| {
        let device = physical.info.name.clone();
        Err(DeviceError::Unbounded { what, device, line })
    };
    let addresses = Operand::AddressingModel(AddressingModel::Logical);
    if module.memory_model.as_ref().is_some_and(|model| model.operands.first() != Some(&addresses)) {
        return refuse("memory by address", None);
    }
    let pointers = Pointers::of(module);
    if let Some(what) = module.types_global_values.iter().find_map(|inst| pointers.unbounded_global(inst)) {
        return refuse(what, None);
    }
    for block in module.functions.iter().flat_map(|function| &function.blocks) {
        let mut line: Option<SourceLine> = None;
        for inst in &block.instructions {
            match inst.class.opcode {
                Op::Line => line = source_line(module, inst),
                Op::NoLine => line = None,
                _ => {
                    if let Some(what) = pointers.unbounded(inst, physical.info.kind) {
                        return refuse(what, line);
                    }
                }
            }
        }
    }
    Ok(())
}

/// Facts about pointers.
struct Pointers {
    /// Pointer types and their pointees.
    types: FxHashMap<u32, (StorageClass, u32)>,
    /// Types that contain pointers.
    holders: FxHashSet<u32>,
    /// Pointers into shared memory.
    shared: FxHashSet<u32>,
    zeros: FxHashSet<u32>,
}

impl Pointers {
    fn of(module: &Module) -> Pointers {
        let mut pointers = Pointers {
            types: FxHashMap::default(),
            holders: FxHashSet::default(),
            shared: FxHashSet::default(),
            zeros: FxHashSet::default(),
        };
        for inst in &module.types_global_values {
            let Some(id) = inst.result_id else { continue };
            match (inst.class.opcode, inst.operands.as_slice()) {
                (Op::TypePointer, [Operand::StorageClass(class), Operand::IdRef(pointee)]) => {
                    pointers.types.insert(id, (*class, *pointee));
                    pointers.holders.insert(id);
                }
                (Op::TypeArray | Op::TypeRuntimeArray | Op::TypeStruct, parts) => {
                    let holds =
                        |part: &Operand| part.id_ref_any().is_some_and(|id| pointers.holders.contains(&id));
                    if parts.iter().any(holds) {
                        pointers.holders.insert(id);
                    }
                }
                (Op::ConstantNull, _)
                | (Op::Constant, [Operand::LiteralBit32(0) | Operand::LiteralBit64(0)]) => {
                    pointers.zeros.insert(id);
                }
                _ => {}
            }
        }
        let is_shared =
            |ty: &u32| pointers.types.get(ty).is_some_and(|(class, _)| *class == StorageClass::Workgroup);
        let shared = module.all_inst_iter().filter(|inst| inst.result_type.as_ref().is_some_and(is_shared));
        pointers.shared = shared.filter_map(|inst| inst.result_id).collect();
        pointers
    }

    fn unbounded_global(&self, inst: &Instruction) -> Option<&'static str> {
        match inst.class.opcode {
            Op::Variable => self.stored(inst),
            _ => self.made_of_nothing(inst),
        }
    }

    /// The unbounded access of an instruction, if it has one.
    fn unbounded(&self, inst: &Instruction, kind: DeviceKind) -> Option<&'static str> {
        let operand = |at: usize| inst.operands.get(at).and_then(Operand::id_ref_any);
        let is_shared = |at: usize| operand(at).is_some_and(|id| self.shared.contains(&id));
        match inst.class.opcode {
            Op::Variable => self.stored(inst),
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                let stays = operand(1).is_some_and(|element| self.zeros.contains(&element));
                (is_shared(0) && !stays).then_some("shared memory from a pointer to another element")
            }
            Op::CooperativeMatrixLoadKHR | Op::CooperativeMatrixStoreKHR
                if kind == DeviceKind::Software && is_shared(0) =>
            {
                Some("shared memory as a matrix of a subgroup")
            }
            _ => self.made_of_nothing(inst),
        }
    }

    fn stored(&self, variable: &Instruction) -> Option<&'static str> {
        let (_, pointee) = self.types.get(&variable.result_type?)?;
        self.holders.contains(pointee).then_some("memory by a pointer that is stored")
    }

    fn made_of_nothing(&self, inst: &Instruction) -> Option<&'static str> {
        let makes_nothing = matches!(inst.class.opcode, Op::Undef | Op::ConstantNull);
        (makes_nothing && self.holders.contains(&inst.result_type?))
            .then_some("memory by a pointer that is null or undefined")
    }
}
