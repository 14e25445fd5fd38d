//! Atomic instructions on ints and floats of 32 and 64 bits, and floats of 16, in buffers, shared and private
//! memory.

use kps_scalar::Scalar;
use rspirv::spirv::{Op, StorageClass};

use super::memory::Leaf;
use super::pointers::{Place, Pointer};
use super::{Data, Lowerer, Operand};
use crate::cpu::lane::{self, Atomic, Ty};
use crate::cpu::module::Instruction;
use crate::cpu::module::constants::lane_ty;
use crate::cpu::module::types::TypeId;
use crate::{Access, Result};

const HALF: Scalar = Scalar::F16;

/// Whether this file lowers an instruction.
pub fn is_atomic(op: Op) -> bool {
    let others = [Op::AtomicLoad, Op::AtomicStore, Op::AtomicCompareExchange, Op::AtomicCompareExchangeWeak];
    change(op).is_some() || others.contains(&op)
}

/// The read-modify-write operation of an instruction.
fn change(op: Op) -> Option<Atomic> {
    Some(match op {
        Op::AtomicIIncrement | Op::AtomicIAdd => Atomic::Add,
        Op::AtomicIDecrement | Op::AtomicISub => Atomic::Sub,
        Op::AtomicAnd => Atomic::And,
        Op::AtomicOr => Atomic::Or,
        Op::AtomicXor => Atomic::Xor,
        Op::AtomicSMin => Atomic::MinS,
        Op::AtomicUMin => Atomic::MinU,
        Op::AtomicSMax => Atomic::MaxS,
        Op::AtomicUMax => Atomic::MaxU,
        Op::AtomicExchange => Atomic::Exchange,
        Op::AtomicFAddEXT => Atomic::FAdd,
        Op::AtomicFMinEXT => Atomic::FMin,
        Op::AtomicFMaxEXT => Atomic::FMax,
        _ => return None,
    })
}

impl Lowerer<'_> {
    pub(super) fn atomics(&mut self, inst: &Instruction) -> Result<()> {
        match inst.op {
            Op::AtomicLoad => self.atomic_load(inst),
            Op::AtomicStore => self.atomic_store(inst),
            Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => self.compare_exchange(inst),
            _ => self.atomic_change(inst),
        }
    }

    fn atomic_load(&mut self, inst: &Instruction) -> Result<()> {
        let pointer = self.pointer(inst, 2)?;
        let access = if self.is_half(&pointer) { Access::ReadWrite } else { Access::Read };
        let (scalar, address) = self.atomic_address(inst, &pointer, access)?;
        let value = match scalar {
            HALF => {
                // Adding -0.0 does not change any value.
                let nothing = self.builder.float(Ty::F32, -0.0);
                self.builder.atomic_half(Atomic::FAdd, address, nothing)
            }
            _ => self.builder.atomic_load(lane_ty(scalar), address),
        };
        self.define(inst, Operand::Data(Data { ty: pointer.pointee, parts: [value].into() }))
    }

    fn atomic_store(&mut self, inst: &Instruction) -> Result<()> {
        let (pointer, value) = (self.pointer(inst, 0)?, self.data(inst, 3)?);
        self.check_atomic(inst, &pointer, value.ty)?;
        let (scalar, address) = self.atomic_address(inst, &pointer, Access::ReadWrite)?;
        self.change(Atomic::Exchange, scalar, address, value.parts[0]);
        Ok(())
    }

    fn atomic_change(&mut self, inst: &Instruction) -> Result<()> {
        let op = change(inst.op).expect("asked before this was called");
        let pointer = self.pointer(inst, 2)?;
        let (scalar, address) = self.atomic_address(inst, &pointer, Access::ReadWrite)?;
        let value = match inst.op {
            Op::AtomicIIncrement | Op::AtomicIDecrement => self.builder.int(lane_ty(scalar), 1),
            _ => {
                let value = self.data(inst, 5)?;
                self.check_atomic(inst, &pointer, value.ty)?;
                value.parts[0]
            }
        };
        let fits = match op {
            Atomic::FAdd | Atomic::FMin | Atomic::FMax => scalar.is_float(),
            Atomic::Exchange => true,
            _ => scalar.is_int(),
        };
        if !fits {
            return Err(self.wrong_operands(inst));
        }
        let old = self.change(op, scalar, address, value);
        self.define(inst, Operand::Data(Data { ty: pointer.pointee, parts: [old].into() }))
    }

    fn change(
        &mut self,
        op: Atomic,
        scalar: Scalar,
        address: lane::Value,
        value: lane::Value,
    ) -> lane::Value {
        match scalar {
            HALF => self.builder.atomic_half(op, address, value),
            _ => self.builder.atomic(op, address, value),
        }
    }

    fn is_half(&self, pointer: &Pointer) -> bool {
        self.module.types.as_scalars(pointer.pointee) == Some((HALF, 1))
    }

    fn compare_exchange(&mut self, inst: &Instruction) -> Result<()> {
        let pointer = self.pointer(inst, 2)?;
        let (value, expected) = (self.data(inst, 6)?, self.data(inst, 7)?);
        self.check_atomic(inst, &pointer, value.ty)?;
        self.check_atomic(inst, &pointer, expected.ty)?;
        let (scalar, address) = self.atomic_address(inst, &pointer, Access::ReadWrite)?;
        if !scalar.is_int() {
            return Err(self.wrong_operands(inst));
        }
        let old = self.builder.compare_exchange(address, expected.parts[0], value.parts[0]);
        self.define(inst, Operand::Data(Data { ty: pointer.pointee, parts: [old].into() }))
    }

    fn check_atomic(&self, inst: &Instruction, pointer: &Pointer, value: TypeId) -> Result<()> {
        match pointer.place {
            Place::Texel(_) if self.module.types.same(pointer.pointee, value) => Ok(()),
            _ => self.check_store(inst, pointer, value),
        }
    }

    /// The pointee's scalar, and its address.
    fn atomic_address(
        &mut self,
        inst: &Instruction,
        pointer: &Pointer,
        access: Access,
    ) -> Result<(Scalar, lane::Value)> {
        let scalar = match self.module.types.as_scalars(pointer.pointee) {
            Some((scalar, 1)) if scalar.bits() >= 32 || scalar == HALF => scalar,
            _ => {
                return Err(self
                    .unsupported(inst, "floats of 16 bits, and ints and floats of 32 and 64 are supported"));
            }
        };
        match &pointer.place {
            Place::Memory(place) if pointer.class != StorageClass::PushConstant => {
                let leaf = Leaf { offset: 0, scalar, n: 1 };
                Ok((scalar, self.leaf_address(place, &leaf, access)))
            }
            Place::Texel(address) if scalar.bits() == 32 => Ok((scalar, *address)),
            _ => Err(self.malformed(inst, "its operand is no writable memory")),
        }
    }
}
