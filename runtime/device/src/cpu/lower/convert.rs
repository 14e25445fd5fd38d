//! Conversions between types: of values, and of bits.

use kps_scalar::Scalar;
use rspirv::spirv::Op;

use super::{Data, Lowerer};
use crate::Result;
use crate::cpu::lane::{self, Binary, Compare, Convert, Ty, opcodes};
use crate::cpu::module::Instruction;
use crate::cpu::module::constants::lane_ty;
use crate::cpu::module::types::{ADDRESS, TypeId};

impl Lowerer<'_> {
    /// `None` for instructions of other families.
    pub(super) fn conversions(&mut self, inst: &Instruction) -> Option<Result<Data>> {
        Some(match inst.op {
            Op::UConvert | Op::SConvert | Op::FConvert => self.convert(inst),
            Op::ConvertFToS | Op::ConvertFToU | Op::ConvertSToF | Op::ConvertUToF => self.convert(inst),
            Op::QuantizeToF16 => self.quantize(inst),
            Op::Bitcast => self.bitcast(inst),
            _ => return None,
        })
    }

    fn convert(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, to, operands) = self.elementwise(inst)?;
        let [a] = &operands[..] else { return Err(self.wrong_operands(inst)) };
        let steps = opcodes::convert(inst.op, lane_ty(a.scalar), lane_ty(to));
        let steps = steps.ok_or_else(|| self.wrong_operands(inst))?;
        let convert = |&part: &lane::Value| self.convert_part(inst.op, steps, a.scalar, to, part);
        Ok(Data { ty, parts: a.parts.iter().map(convert).collect() })
    }

    fn convert_part(
        &mut self,
        op: Op,
        steps: &[Convert],
        from: Scalar,
        to: Scalar,
        value: lane::Value,
    ) -> lane::Value {
        let value = if opcodes::looks_at_sign(op) { self.signed(from, value) } else { value };
        let is_narrow = to.bits() < 32;
        let converted = match (op, from.bits()) {
            // Going through `f32` would round twice.
            (Op::FConvert, 64) if is_narrow => self.demote_to_odd(value),
            (Op::ConvertSToF | Op::ConvertUToF, 32 | 64) if is_narrow => {
                let wide = if op == Op::ConvertSToF { Convert::SToFloat } else { Convert::UToFloat };
                let wide = self.builder.convert(wide(Ty::F64), value);
                self.demote_to_odd(wide)
            }
            _ => steps.iter().fold(value, |value, &step| self.builder.convert(step, value)),
        };
        let converted = match op {
            Op::ConvertFToS if is_narrow => {
                let bits = to.bits();
                self.clamp_int(
                    converted,
                    (Compare::LtS, Compare::GtS),
                    [-1 << (bits - 1), (1 << (bits - 1)) - 1],
                )
            }
            Op::ConvertFToU if is_narrow => {
                self.clamp_int(converted, (Compare::LtU, Compare::GtU), [0, (1 << to.bits()) - 1])
            }
            _ => converted,
        };
        self.fit(to, converted)
    }

    fn clamp_int(
        &mut self,
        value: lane::Value,
        (below, above): (Compare, Compare),
        limits: [i32; 2],
    ) -> lane::Value {
        let [least, most] = limits.map(|limit| self.builder.i32(limit));
        let is_below = self.builder.compare(below, value, least);
        let value = self.builder.select(is_below, least, value);
        let is_above = self.builder.compare(above, value, most);
        self.builder.select(is_above, most, value)
    }

    /// Rounds an `f32` to the precision of `f16`.
    fn quantize(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, scalar, [a]) = self.uniform(inst)?;
        if scalar != (Scalar::F32) {
            return Err(self.wrong_operands(inst));
        }
        let half = Scalar::F16;
        Ok(Data { ty, parts: a.iter().map(|&a| self.fit(half, a)).collect() })
    }

    fn bitcast(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, data) = (self.result_type(inst)?, self.data(inst, 2)?);
        let (Some((scalar, n)), Some((from, _))) =
            (self.scalars_or_address(ty), self.scalars_or_address(data.ty))
        else {
            return Err(self.wrong_operands(inst));
        };
        if from == Scalar::Bool || scalar == Scalar::Bool {
            return Err(self.wrong_operands(inst));
        }
        if from.bits() * data.parts.len() as u32 != scalar.bits() * n {
            return Err(self.malformed(inst, "the types have different sizes"));
        }
        let bits: Vec<_> = data.parts.iter().map(|&part| self.bits_of(from, part)).collect();
        let bits = self.regroup(&bits, from.bits(), scalar.bits());
        Ok(Data { ty, parts: bits.into_iter().map(|bits| self.of_bits(scalar, bits)).collect() })
    }

    fn scalars_or_address(&self, ty: TypeId) -> Option<(Scalar, u32)> {
        match self.module.types.is_address(ty) {
            true => Some((ADDRESS, 1)),
            false => self.module.types.as_scalars(ty),
        }
    }

    /// Regroups ints of one width as ints of another, lowest bits first.
    pub(super) fn regroup(&mut self, ints: &[lane::Value], from: u32, to: u32) -> Vec<lane::Value> {
        if from < to {
            let n = (to / from) as usize;
            return ints.chunks(n).map(|group| self.join(group, from, to)).collect();
        }
        ints.iter().flat_map(|&int| self.split(int, from, to)).collect()
    }

    fn join(&mut self, ints: &[lane::Value], from: u32, to: u32) -> lane::Value {
        let ty = if to == 64 { Ty::I64 } else { Ty::I32 };
        let mut joined = self.builder.int(ty, 0);
        for (i, &int) in ints.iter().enumerate() {
            let int = self.resize(int, ty);
            let place = self.builder.int(ty, i64::from(from) * i as i64);
            let moved = self.builder.binary(Binary::Shl, int, place);
            joined = self.builder.binary(Binary::Or, joined, moved);
        }
        joined
    }

    fn split(&mut self, int: lane::Value, from: u32, to: u32) -> Vec<lane::Value> {
        if from == to {
            return vec![int];
        }
        let ty = self.builder.ty(int);
        let unsigned = Scalar::uint(to);
        let part = |i: u32| {
            let place = self.builder.int(ty, i64::from(to * i));
            let moved = self.builder.binary(Binary::ShrU, int, place);
            let moved = self.resize(moved, if to == 64 { Ty::I64 } else { Ty::I32 });
            self.fit(unsigned, moved)
        };
        (0..from / to).map(part).collect()
    }

    /// Resizes an int to another width of the lane IR, zero-extended.
    pub(super) fn resize(&mut self, value: lane::Value, to: Ty) -> lane::Value {
        match (self.builder.ty(value), to) {
            (Ty::I32, Ty::I64) => self.builder.convert(Convert::ZeroExtend, value),
            (Ty::I64, Ty::I32) => self.builder.convert(Convert::Truncate, value),
            _ => value,
        }
    }
}
