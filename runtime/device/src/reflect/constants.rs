//! The values of a module's integer and boolean constants, with specialisation applied.
//!
//! Constants are defined before their uses, so one pass in order computes them all. Constants that cannot be
//! computed, such as floats, have no value.

use kps_scalar::Scalar;
use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Decoration, Op};
use rustc_hash::FxHashMap;

use super::ids::{Ids, id_at};
use super::{bad_module, layout};
use crate::Result;
use crate::interface::SpecConstant;

pub(crate) struct Constants {
    /// The bits of each scalar, zero-extended.
    scalars: FxHashMap<u32, u64>,
    /// Constant vectors with three components, such as workgroup sizes.
    triples: FxHashMap<u32, [u32; 3]>,
}

impl Constants {
    pub fn evaluate(module: &Module, ids: &Ids, specialisation: &[(u32, u64)]) -> Constants {
        let mut constants = Constants { scalars: FxHashMap::default(), triples: FxHashMap::default() };
        for instruction in &module.types_global_values {
            let (Some(id), Some(ty)) = (instruction.result_id, instruction.result_type) else { continue };
            if let Some(triple) = constants.triple(instruction) {
                constants.triples.insert(id, triple);
                continue;
            }
            let given = ids
                .literal(id, Decoration::SpecId)
                .and_then(|spec_id| specialisation.iter().find(|(given, _)| *given == spec_id));
            let value = match given {
                Some((_, bits)) if is_specialisable(instruction) => Some(*bits),
                _ => constants.value(ids, instruction),
            };
            if let (Some(value), Some(scalar)) = (value, scalar_of(ids, ty)) {
                constants.scalars.insert(id, truncate(value, scalar));
            }
        }
        constants
    }

    /// The value of a known constant of at most 32 bits.
    pub fn u32(&self, id: u32) -> Option<u32> {
        self.scalars.get(&id).and_then(|&value| value.try_into().ok())
    }

    /// The components of a constant vector with three components.
    pub fn composite(&self, id: u32) -> Option<[u32; 3]> {
        self.triples.get(&id).copied()
    }

    /// Every specialisation constant, ordered by id.
    pub fn specialisable(&self, module: &Module, ids: &Ids) -> Result<Vec<SpecConstant>> {
        let mut found = Vec::new();
        for instruction in module.types_global_values.iter().filter(|i| is_specialisable(i)) {
            let (Some(result), Some(ty)) = (instruction.result_id, instruction.result_type) else { continue };
            let Some(id) = ids.literal(result, Decoration::SpecId) else { continue };
            let broken = || bad_module(format!("specialisation constant {id} is not a number"));
            let scalar = scalar_of(ids, ty).ok_or_else(broken)?;
            let default = truncate(literal_bits(instruction).ok_or_else(broken)?, scalar);
            found.push(SpecConstant { id, name: ids.name(result).map(str::to_owned), scalar, default });
        }
        found.sort_by_key(|constant| constant.id);
        Ok(found)
    }

    fn triple(&self, instruction: &Instruction) -> Option<[u32; 3]> {
        if !matches!(instruction.class.opcode, Op::ConstantComposite | Op::SpecConstantComposite) {
            return None;
        }
        let component = |index| self.u32(id_at(instruction, index)?);
        match instruction.operands.len() {
            3 => Some([component(0)?, component(1)?, component(2)?]),
            _ => None,
        }
    }

    fn value(&self, ids: &Ids, instruction: &Instruction) -> Option<u64> {
        match instruction.class.opcode {
            Op::ConstantNull => Some(0),
            Op::SpecConstantOp => self.operation(ids, instruction),
            _ => literal_bits(instruction),
        }
    }

    /// `OpSpecConstantOp` on scalars; operand 0 is the operation.
    fn operation(&self, ids: &Ids, instruction: &Instruction) -> Option<u64> {
        let Some(Operand::LiteralSpecConstantOpInteger(op)) = instruction.operands.first() else {
            return None;
        };
        if let (Op::CompositeExtract, [_, Operand::IdRef(of), Operand::LiteralBit32(at)]) =
            (*op, &instruction.operands[..])
        {
            return self.composite(*of)?.get(*at as usize).copied().map(u64::from);
        }
        let operand = |index: usize| {
            let id = id_at(instruction, index)?;
            let scalar = scalar_of(ids, ids.definition(id)?.result_type?)?;
            Some(Value { bits: *self.scalars.get(&id)?, n_bits: n_bits(scalar) })
        };
        let a = operand(1)?;
        match op {
            Op::SNegate => Some(a.bits.wrapping_neg()),
            Op::Not => Some(!a.bits),
            Op::LogicalNot => Some(u64::from(a.bits == 0)),
            Op::UConvert => Some(a.bits),
            Op::SConvert => Some(a.signed() as u64),
            Op::Select => Some(if a.bits != 0 { operand(2)?.bits } else { operand(3)?.bits }),
            _ => binary(*op, a, operand(2)?),
        }
    }
}

#[derive(Clone, Copy)]
struct Value {
    bits: u64,
    n_bits: u32,
}

impl Value {
    fn signed(self) -> i64 {
        let unused = 64 - self.n_bits;
        (self.bits << unused) as i64 >> unused
    }
}

fn binary(op: Op, a: Value, b: Value) -> Option<u64> {
    let shift = u32::try_from(b.bits).ok();
    Some(match op {
        Op::IAdd => a.bits.wrapping_add(b.bits),
        Op::ISub => a.bits.wrapping_sub(b.bits),
        Op::IMul => a.bits.wrapping_mul(b.bits),
        Op::UDiv => a.bits.checked_div(b.bits)?,
        Op::UMod => a.bits.checked_rem(b.bits)?,
        Op::SDiv => a.signed().checked_div(b.signed())? as u64,
        Op::SRem => a.signed().checked_rem(b.signed())? as u64,
        Op::SMod => floor_mod(a.signed(), b.signed())? as u64,
        Op::ShiftLeftLogical => a.bits.checked_shl(shift?)?,
        Op::ShiftRightLogical => a.bits.checked_shr(shift?)?,
        Op::ShiftRightArithmetic => a.signed().checked_shr(shift?)? as u64,
        Op::BitwiseAnd | Op::LogicalAnd => a.bits & b.bits,
        Op::BitwiseOr | Op::LogicalOr => a.bits | b.bits,
        Op::BitwiseXor => a.bits ^ b.bits,
        Op::IEqual | Op::LogicalEqual => u64::from(a.bits == b.bits),
        Op::INotEqual | Op::LogicalNotEqual => u64::from(a.bits != b.bits),
        Op::ULessThan => u64::from(a.bits < b.bits),
        Op::ULessThanEqual => u64::from(a.bits <= b.bits),
        Op::UGreaterThan => u64::from(a.bits > b.bits),
        Op::UGreaterThanEqual => u64::from(a.bits >= b.bits),
        Op::SLessThan => u64::from(a.signed() < b.signed()),
        Op::SLessThanEqual => u64::from(a.signed() <= b.signed()),
        Op::SGreaterThan => u64::from(a.signed() > b.signed()),
        Op::SGreaterThanEqual => u64::from(a.signed() >= b.signed()),
        _ => return None,
    })
}

/// The remainder with the sign of the divisor.
fn floor_mod(a: i64, b: i64) -> Option<i64> {
    let rest = a.checked_rem(b)?;
    Some(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
}

fn is_specialisable(instruction: &Instruction) -> bool {
    matches!(instruction.class.opcode, Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse)
}

fn literal_bits(instruction: &Instruction) -> Option<u64> {
    match (instruction.class.opcode, instruction.operands.first()) {
        (Op::ConstantTrue | Op::SpecConstantTrue, _) => Some(1),
        (Op::ConstantFalse | Op::SpecConstantFalse, _) => Some(0),
        (Op::Constant | Op::SpecConstant, Some(Operand::LiteralBit32(bits))) => Some(u64::from(*bits)),
        (Op::Constant | Op::SpecConstant, Some(Operand::LiteralBit64(bits))) => Some(*bits),
        _ => None,
    }
}

fn scalar_of(ids: &Ids, ty: u32) -> Option<Scalar> {
    layout::scalar(ids.definition(ty)?).ok()
}

fn n_bits(scalar: Scalar) -> u32 {
    match scalar {
        Scalar::Bool => 1,
        scalar => 8 * scalar.bytes(),
    }
}

/// Narrow signed numbers are sign-extended in words; only their own bits count.
fn truncate(bits: u64, scalar: Scalar) -> u64 {
    match scalar {
        Scalar::Bool => u64::from(bits != 0),
        scalar => bits & (u64::MAX >> (64 - n_bits(scalar))),
    }
}
