//! The checked mode while lowering: probes in front of instructions, on the operands that these have.

use rspirv::spirv::Op;

use super::Lowerer;
use crate::cpu::lane::Compare;
use crate::cpu::module::Instruction;
use crate::cpu::module::types::Scalar;
use crate::cpu::probes::SiteKind;
use crate::cpu::probes::checked::{IntKind, Site};
use crate::{Check, Checks, Result};

impl Lowerer<'_> {
    /// Puts in what an instruction asks for.
    pub(super) fn check(&mut self, inst: &Instruction, checks: Checks) -> Result<()> {
        match inst.op {
            Op::SDiv | Op::UDiv | Op::SRem | Op::SMod | Op::UMod if checks.has(Check::Division) => {
                self.check_division(inst)
            }
            _ => Ok(()),
        }
    }

    fn check_division(&mut self, inst: &Instruction) -> Result<()> {
        let (_, _, operands) = self.elementwise(inst)?;
        let [a, b] = &operands[..] else { return Err(self.wrong_operands(inst)) };
        let Scalar::Int { bits, .. } = b.scalar else { return Err(self.wrong_operands(inst)) };
        let signed = !matches!(inst.op, Op::UDiv | Op::UMod);
        let number = IntKind { bits: bits.into(), signed };
        for (&dividend, &divisor) in a.parts.iter().zip(b.parts.iter()) {
            let zero = self.builder.int(self.builder.ty(divisor), 0);
            let is_zero = self.builder.compare(Compare::Eq, divisor, zero);
            let site = SiteKind::Check(Site::Division { number });
            self.builder.probe_when(is_zero, site, vec![dividend]);
        }
        Ok(())
    }
}
