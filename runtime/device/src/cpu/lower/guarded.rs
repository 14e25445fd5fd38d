//! What a translator of another language guards and names so ([`guards`]): checked on what its text asked for, ahead
//! of the guard.

use std::rc::Rc;

use rspirv::spirv::{GlslStd450Op as GlslOp, Op};
use rustc_hash::FxHashMap;

use super::Lowerer;
use super::checks::{Number, number_kind};
use crate::cpu::lane::{self, Ty};
use crate::cpu::module::types::Scalar;
use crate::cpu::module::{ExtInstSet, Id, Instruction};
use crate::cpu::probes::SiteKind;
use crate::cpu::probes::checked::Site;
use crate::findings::{ArrayName, Beyond};
use crate::interface::guards;
use crate::{Access, Check, Checks, Result};

/// Guards that were met, and what they are of is still to come.
#[derive(Default)]
pub(super) struct Guarded {
    /// Floats that were cut, as they were before.
    pub floats: FxHashMap<Id, Rc<[lane::Value]>>,
    /// Probes of indices, by what stands in the access chain, and by the length.
    indices: FxHashMap<(Id, u32), usize>,
}

impl Lowerer<'_> {
    pub(super) fn check_guard(&mut self, inst: &Instruction, checks: Checks) -> Result<()> {
        if inst.op == Op::VectorExtractDynamic {
            return self.name_vector(inst);
        }
        let named = if inst.op == Op::FunctionCall { 2 } else { 1 };
        let Some(name) = self.module.names.get(&self.id(inst, named)?) else { return Ok(()) };
        match (inst.op, name.as_str()) {
            (Op::FunctionCall, name) if guards::DIVISIONS.contains(&name) && checks.has(Check::Division) => {
                self.check_guarded_division(inst)
            }
            (Op::ExtInst, guards::CLAMPED) if self.is_glsl(inst, GlslOp::FClamp)? => {
                let (id, (_, value)) = (self.id(inst, 1)?, self.scalars(inst, 4)?);
                self.guarded.floats.insert(id, value.parts);
                Ok(())
            }
            (Op::ExtInst, guards::NEAREST)
                if checks.has(Check::Bounds) && self.is_glsl(inst, GlslOp::UMin)? =>
            {
                let last = self.constant_int(inst, 5)?;
                let (id, index) = (self.id(inst, 1)?, self.int(inst, 4)?);
                self.check_guarded_index((id, index), last.saturating_add(1), Beyond::End);
                Ok(())
            }
            (Op::ULessThan, guards::INSIDE) if checks.has(Check::Bounds) => {
                let len = self.constant_int(inst, 3)?;
                let (id, index) = (self.id(inst, 2)?, self.int(inst, 2)?);
                self.check_guarded_index((id, index), len, Beyond::Nothing);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn is_glsl(&self, inst: &Instruction, op: GlslOp) -> Result<bool> {
        Ok(self.set(inst)? == Some(ExtInstSet::Glsl) && self.word(inst, 3)? == op as u32)
    }

    fn check_guarded_division(&mut self, inst: &Instruction) -> Result<()> {
        let [(scalar, a), (other, b)] = self.told_pair(inst, 3)?;
        if scalar.is_int() && other.is_alike(scalar) {
            self.check_division(number_kind(scalar), &a.parts, &b.parts);
        }
        Ok(())
    }

    /// Of what it is an index only the access chain says, which comes behind the guard.
    fn check_guarded_index(&mut self, (id, index): (Id, Number), len: u64, beyond: Beyond) {
        let Ok(known) = u32::try_from(len) else { return };
        let probe = self.builder.kernel.probes.len();
        let len = (Scalar::Int { bits: 64, signed: false }, self.builder.int(Ty::I64, len as i64));
        self.check_index((None, Access::ReadWrite, beyond), &[(index, len)]);
        if self.builder.kernel.probes.len() > probe {
            self.guarded.indices.insert((id, known), probe);
        }
    }

    fn name_vector(&mut self, inst: &Instruction) -> Result<()> {
        let (vector, (_, value)) = (self.id(inst, 2)?, self.scalars(inst, 2)?);
        let (name, index) = (self.module.name(vector), self.id(inst, 3)?);
        self.name_guarded(name.as_ref(), index, Some(value.parts.len() as u32));
        Ok(())
    }

    /// Gives the probe of a guarded index its name; whether there is one.
    pub(super) fn name_guarded(&mut self, array: Option<&ArrayName>, id: Id, len: Option<u32>) -> bool {
        let Some(probe) = len.and_then(|len| self.guarded.indices.remove(&(id, len))) else { return false };
        if let SiteKind::Check(Site::Index { array: name, .. }) = &mut self.builder.kernel.probes[probe].kind
        {
            *name = array.cloned();
        }
        true
    }
}
