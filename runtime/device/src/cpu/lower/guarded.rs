//! Checks for code that translators of other languages guard, and mark with the names of [`guards`]. The
//! checks use the source's values, before the guard.

use std::rc::Rc;

use kps_scalar::Scalar;
use rspirv::spirv::{GlslStd450Op as GlslOp, Op};
use rustc_hash::FxHashMap;

use super::Lowerer;
use super::checks::{Axis, Number};
use crate::cpu::lane::{self, BlockId, CheckSite, Convert, SiteKind, Ty};
use crate::cpu::module::{ExtInstSet, Id, Instruction};
use crate::findings::{ArrayName, Beyond};
use crate::interface::guards;
use crate::{Access, Check, Checks, Result};

/// Guards whose use comes later in the module.
#[derive(Default)]
pub(super) struct Guarded {
    /// Values of clamped floats before the clamp.
    pub floats: FxHashMap<Id, Rc<[lane::Value]>>,
    /// The original type of unsigned ints that are bitcasts.
    pub unsigned: FxHashMap<Id, Scalar>,
    /// The index and the length of each test; the length if it is constant.
    tests: FxHashMap<Id, (Id, Option<u32>)>,
    /// Guarded indices, by their id in the access chain, and by the length if it is constant.
    indices: FxHashMap<(Id, Option<u32>), Guard>,
}

/// The site of an index before its guard.
#[derive(Clone, Copy)]
struct Guard {
    block: BlockId,
    site_id: u32,
    /// The source's index, in 64 bits.
    index: lane::Value,
    signed: bool,
    bound: lane::Value,
}

impl Lowerer<'_> {
    pub(super) fn check_guard(&mut self, inst: &Instruction, checks: Checks) -> Result<()> {
        match inst.op {
            Op::VectorExtractDynamic => return self.name_vector(inst),
            Op::Bitcast => return self.note_sign(inst),
            Op::Select => return self.note_chosen(inst),
            _ => {}
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
                let Ok(len) = u32::try_from(self.constant_int(inst, 5)?.saturating_add(1)) else {
                    return Ok(());
                };
                let (id, index) = (self.id(inst, 1)?, self.int(inst, 4)?);
                let bound = self.builder.int(Ty::I64, len.into());
                self.check_guarded_index((id, index), (Some(len), bound), Beyond::End);
                Ok(())
            }
            (Op::ULessThan, guards::INSIDE) if checks.has(Check::Bounds) => {
                let known = self.constant_int(inst, 3).ok().and_then(|len| u32::try_from(len).ok());
                let ((scalar, len), index, id) = (self.int(inst, 3)?, self.int(inst, 2)?, self.id(inst, 2)?);
                let bound = match scalar {
                    Scalar::I64 | Scalar::U64 => len,
                    _ => self.builder.convert(Convert::ZeroExtend, len),
                };
                self.check_guarded_index((id, index), (known, bound), Beyond::Nothing);
                self.guarded.tests.insert(self.id(inst, 1)?, (id, known));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Translators bitcast shift amounts to unsigned ints, but the source's may be signed.
    fn note_sign(&mut self, inst: &Instruction) -> Result<()> {
        let (id, operand) = (self.id(inst, 1)?, self.data(inst, 2)?);
        if let Some((scalar, _)) =
            self.module.types.as_scalars(operand.ty).filter(|(scalar, _)| scalar.is_signed())
        {
            self.guarded.unsigned.insert(id, scalar);
        }
        Ok(())
    }

    /// For an index out of range, the access chain may use another one.
    fn note_chosen(&mut self, inst: &Instruction) -> Result<()> {
        let (id, condition, chosen) = (self.id(inst, 1)?, self.id(inst, 2)?, self.id(inst, 3)?);
        let test = self.guarded.tests.get(&condition).copied();
        if let Some((index, len)) = test.filter(|(index, _)| *index == chosen)
            && let Some(guard) = self.guarded.indices.remove(&(index, len))
        {
            self.guarded.indices.insert((id, len), guard);
        }
        Ok(())
    }

    fn is_glsl(&self, inst: &Instruction, op: GlslOp) -> Result<bool> {
        Ok(self.set(inst)? == Some(ExtInstSet::Glsl) && self.word(inst, 3)? == op as u32)
    }

    fn check_guarded_division(&mut self, inst: &Instruction) -> Result<()> {
        let [(scalar, a), (other, b)] = self.operand_pair(inst, 3)?;
        if scalar.is_int() && other.is_alike(scalar) {
            self.check_division(scalar, &a.parts, &b.parts);
        }
        Ok(())
    }

    /// Only the access chain, which follows the guard, names the array.
    fn check_guarded_index(
        &mut self,
        (id, index): (Id, Number),
        (len, bound): (Option<u32>, lane::Value),
        beyond: Beyond,
    ) {
        let (block, site_id) = (self.builder.block, self.builder.kernel.sites.len() as u32);
        let signed = index.0.is_signed();
        // The last site of an access reports all of its indices, so each is widened where it is first used.
        let index = self.wide_index(index.0, index.1);
        let wide = |signed| if signed { Scalar::I64 } else { Scalar::U64 };
        let axis = ((wide(signed), index), (wide(false), bound));
        self.check_index((None, Access::ReadWrite, beyond), &[axis]);
        if self.builder.kernel.sites.len() as u32 > site_id {
            self.guarded.indices.insert((id, len), Guard { block, site_id, index, signed, bound });
        }
    }

    fn name_vector(&mut self, inst: &Instruction) -> Result<()> {
        let (vector, (_, value)) = (self.id(inst, 2)?, self.scalars(inst, 2)?);
        let (name, index) = (self.module.name(vector), self.id(inst, 3)?);
        if let Some(guard) = self.guarded.indices.remove(&(index, Some(value.parts.len() as u32))) {
            self.amend(guard, name.as_ref(), None);
        }
        Ok(())
    }

    /// Joins the sites of guarded indices of several axes. The last one then reports all axes if any index is
    /// out of range. Returns whether there are any.
    pub(super) fn name_guarded(&mut self, array: Option<&ArrayName>, axes: &[Axis]) -> bool {
        let guards: Vec<Option<Guard>> =
            axes.iter().map(|axis| self.guarded.indices.remove(&(axis.id, axis.len))).collect();
        let mut found: Vec<Guard> = guards.iter().flatten().copied().collect();
        found.sort_by_key(|guard| guard.site_id);
        let Some(&last) = found.last() else { return false };
        let is_constant = |axis: &Axis| {
            [axis.index.1, axis.bound].iter().all(|value| self.builder.as_const(*value).is_some())
        };
        if !axes.iter().zip(&guards).all(|(axis, guard)| guard.is_some() || is_constant(axis)) {
            found.into_iter().for_each(|guard| self.amend(guard, array, None));
            return true;
        }
        let (mut values, mut indices) = (Vec::new(), Vec::new());
        for (axis, guard) in axes.iter().zip(&guards) {
            let (index, bound, signed) = match guard {
                Some(guard) => (guard.index, guard.bound, guard.signed),
                None => (self.wide_index(axis.index.0, axis.index.1), axis.bound, axis.index.0.is_signed()),
            };
            values.extend([index, bound]);
            indices.push(if signed { Scalar::I64 } else { Scalar::U64 });
        }
        let sites: Vec<(BlockId, u32)> = found.iter().map(|guard| (guard.block, guard.site_id)).collect();
        self.builder.join_sites(&sites, values);
        self.amend(last, array, Some(indices));
        true
    }

    /// Sets the name of a site's array, and the types of its indices if they differ.
    fn amend(&mut self, guard: Guard, array: Option<&ArrayName>, axes: Option<Vec<Scalar>>) {
        let site = &mut self.builder.kernel.sites[guard.site_id as usize].kind;
        if let SiteKind::Check(CheckSite::Index { array: name, indices, .. }) = site {
            *name = array.cloned();
            *indices = axes.unwrap_or_else(|| std::mem::take(indices));
        }
    }
}
