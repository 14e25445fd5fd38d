//! Bit operations on ints: counts, fields, and arithmetic with double-width results.

use kps_scalar::Scalar;
use rspirv::spirv::Op;

use super::{Data, Lowerer};
use crate::Result;
use crate::cpu::lane::{self, Binary, Compare, Convert, Ty, Unary};
use crate::cpu::module::Instruction;
use crate::cpu::module::constants::lane_ty;

/// Whether an int is taken with its sign.
#[derive(Clone, Copy, PartialEq)]
enum Sign {
    Signed,
    Unsigned,
}

impl Lowerer<'_> {
    /// `None` for instructions of other families.
    pub(super) fn bits(&mut self, inst: &Instruction) -> Option<Result<Data>> {
        Some(match inst.op {
            Op::BitCount => self.bit_count(inst),
            Op::BitFieldInsert => self.bit_field_insert(inst),
            Op::BitFieldSExtract | Op::BitFieldUExtract => self.bit_field_extract(inst),
            Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended => self.extended(inst),
            Op::SDot | Op::UDot | Op::SUDot | Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat => {
                self.int_dot(inst)
            }
            _ => return None,
        })
    }

    fn bit_count(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, scalar, operands) = self.elementwise(inst)?;
        let [a] = &operands[..] else { return Err(self.wrong_operands(inst)) };
        if !scalar.is_int() || !a.scalar.is_int() {
            return Err(self.wrong_operands(inst));
        }
        let count = |&a: &lane::Value| {
            let count = self.builder.unary(Unary::PopCount, a);
            self.resize(count, lane_ty(scalar))
        };
        Ok(Data { ty, parts: a.parts.iter().map(count).collect() })
    }

    /// A mask of the `count` low bits; all bits if `count` is the width or more.
    fn mask(&mut self, ty: Ty, count: lane::Value) -> lane::Value {
        let (one, all) = (self.builder.int(ty, 1), self.builder.int(ty, -1));
        let width = self.builder.int(ty, i64::from(ty.size() * 8));
        let power = self.builder.binary(Binary::Shl, one, count);
        let mask = self.builder.binary(Binary::Sub, power, one);
        let part = self.builder.compare(Compare::LtU, count, width);
        self.builder.select(part, mask, all)
    }

    /// The offset and the count of a bit field, in the width of its base.
    fn field(&mut self, inst: &Instruction, i: usize, ty: Ty) -> Result<(lane::Value, lane::Value)> {
        let ((_, offset), (_, count)) = (self.int(inst, i)?, self.int(inst, i + 1)?);
        Ok((self.resize(offset, ty), self.resize(count, ty)))
    }

    fn bit_field_insert(&mut self, inst: &Instruction) -> Result<Data> {
        let ((scalar, base), (scalar_b, insert)) = (self.scalars(inst, 2)?, self.scalars(inst, 3)?);
        if !scalar.is_int() || scalar != scalar_b || base.parts.len() != insert.parts.len() {
            return Err(self.wrong_operands(inst));
        }
        let ty = lane_ty(scalar);
        let (offset, count) = self.field(inst, 4, ty)?;
        let mask = self.mask(ty, count);
        let mask = self.builder.binary(Binary::Shl, mask, offset);
        let hole = self.builder.unary(Unary::Not, mask);
        let mut parts = Vec::new();
        for (&base, &insert) in base.parts.iter().zip(insert.parts.iter()) {
            let masked = self.builder.binary(Binary::And, base, hole);
            let moved = self.builder.binary(Binary::Shl, insert, offset);
            let new = self.builder.binary(Binary::And, moved, mask);
            let whole = self.builder.binary(Binary::Or, masked, new);
            parts.push(self.fit(scalar, whole));
        }
        Ok(Data { ty: base.ty, parts: parts.into() })
    }

    fn bit_field_extract(&mut self, inst: &Instruction) -> Result<Data> {
        let (scalar, base) = self.scalars(inst, 2)?;
        if !scalar.is_int() {
            return Err(self.wrong_operands(inst));
        }
        let ty = lane_ty(scalar);
        let (offset, count) = self.field(inst, 3, ty)?;
        let mask = self.mask(ty, count);
        let zero = self.builder.int(ty, 0);
        let width = self.builder.int(ty, i64::from(ty.size() * 8));
        let above = self.builder.binary(Binary::Sub, width, count);
        let empty = self.builder.compare(Compare::Eq, count, zero);
        let mut parts = Vec::new();
        for &base in base.parts.iter() {
            let moved = self.builder.binary(Binary::ShrU, base, offset);
            let field = self.builder.binary(Binary::And, moved, mask);
            if inst.op == Op::BitFieldUExtract {
                parts.push(field);
                continue;
            }
            // Shifting up and down again extends the sign.
            let high = self.builder.binary(Binary::Shl, field, above);
            let signed = self.builder.binary(Binary::ShrS, high, above);
            let signed = self.builder.select(empty, zero, signed);
            parts.push(self.fit(scalar, signed));
        }
        Ok(Data { ty: base.ty, parts: parts.into() })
    }

    /// From two ints to a structure of two: sum and carry, difference and borrow, or low and high product.
    fn extended(&mut self, inst: &Instruction) -> Result<Data> {
        let ((scalar, a), (scalar_b, b)) = (self.scalars(inst, 2)?, self.scalars(inst, 3)?);
        let ty = self.result_type(inst)?;
        let types = &self.module.types;
        let member = |i| types.element(ty, i).is_some_and(|(member, _)| types.same(member, a.ty));
        if !scalar.is_int() || scalar != scalar_b || !types.same(a.ty, b.ty) || !member(0) || !member(1) {
            return Err(self.wrong_operands(inst));
        }
        if types.element(ty, 2).is_some() {
            return Err(self.wrong_operands(inst));
        }
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for (&a, &b) in a.parts.iter().zip(b.parts.iter()) {
            let (l, h) = self.extended_scalar(inst.op, scalar, [a, b]);
            low.push(l);
            high.push(h);
        }
        Ok(Data { ty, parts: [low, high].concat().into() })
    }

    fn extended_scalar(
        &mut self,
        op: Op,
        scalar: Scalar,
        [a, b]: [lane::Value; 2],
    ) -> (lane::Value, lane::Value) {
        if let Op::UMulExtended | Op::SMulExtended = op {
            return self.extended_product(op, scalar, [a, b]);
        }
        let sum = if op == Op::IAddCarry { Binary::Add } else { Binary::Sub };
        let low = self.builder.binary(sum, a, b);
        let low = self.fit(scalar, low);
        let high = match op {
            // A sum that wrapped around is below both of its terms.
            Op::IAddCarry => self.builder.compare(Compare::LtU, low, a),
            _ => self.builder.compare(Compare::LtU, a, b),
        };
        let high = self.builder.convert(Convert::BoolToInt, high);
        (low, self.resize(high, lane_ty(scalar)))
    }

    fn extended_product(
        &mut self,
        op: Op,
        scalar: Scalar,
        parts: [lane::Value; 2],
    ) -> (lane::Value, lane::Value) {
        let signed = op == Op::SMulExtended;
        let [a, b] = if signed { parts.map(|part| self.signed(scalar, part)) } else { parts };
        let low = self.builder.binary(Binary::Mul, a, b);
        if scalar.bits() < 32 {
            // The lane int has all bits of the product of two narrow ints.
            let n = self.builder.i32(scalar.bits() as i32);
            let high = self.builder.binary(Binary::ShrU, low, n);
            return (self.fit(scalar, low), self.fit(scalar, high));
        }
        let high = if signed { Binary::MulHighS } else { Binary::MulHighU };
        (low, self.builder.binary(high, a, b))
    }

    /// A dot product of ints, with a saturating accumulator for some instructions.
    fn int_dot(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, scalar, n) = self.result_scalars(inst)?;
        let saturates = matches!(inst.op, Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat);
        let signs = match inst.op {
            Op::SDot | Op::SDotAccSat => [Sign::Signed; 2],
            Op::UDot | Op::UDotAccSat => [Sign::Unsigned; 2],
            _ => [Sign::Signed, Sign::Unsigned],
        };
        if !scalar.is_int() || n != 1 {
            return Err(self.wrong_operands(inst));
        }
        if saturates && scalar.bits() == 64 {
            return Err(self.unsupported(inst, "accumulators of up to 32 bits are supported"));
        }
        let a = self.dot_parts(inst, 2, signs[0])?;
        let b = self.dot_parts(inst, 3, signs[1])?;
        if a.len() != b.len() {
            return Err(self.wrong_operands(inst));
        }
        let mut sum = self.builder.int(Ty::I64, 0);
        for (&a, &b) in a.iter().zip(&b) {
            let product = self.builder.binary(Binary::Mul, a, b);
            sum = self.builder.binary(Binary::Add, sum, product);
        }
        if saturates {
            let (acc_scalar, acc) = self.int(inst, 4)?;
            if !acc_scalar.is_alike(scalar) {
                return Err(self.wrong_operands(inst));
            }
            let acc = self.widened(acc_scalar, acc, signs[0]);
            sum = self.builder.binary(Binary::Add, sum, acc);
            sum = self.saturated(sum, scalar, signs[0]);
        }
        let sum = self.resize(sum, lane_ty(scalar));
        Ok(Data { ty, parts: [self.fit(scalar, sum)].into() })
    }

    /// The factors of a dot product in 64 bits: a vector's components, or the bytes of a 32-bit int.
    fn dot_parts(&mut self, inst: &Instruction, i: usize, sign: Sign) -> Result<Vec<lane::Value>> {
        let (scalar, data) = self.scalars(inst, i)?;
        let (scalar, parts) = match (scalar, &data.parts[..]) {
            (Scalar::I32, &[packed]) => (Scalar::I8, self.regroup(&[packed], 32, 8)),
            (Scalar::U32, &[packed]) => (Scalar::U8, self.regroup(&[packed], 32, 8)),
            (scalar, parts @ [_, _, ..]) if scalar.is_int() => (scalar, parts.to_vec()),
            _ => return Err(self.wrong_operands(inst)),
        };
        Ok(parts.into_iter().map(|part| self.widened(scalar, part, sign)).collect())
    }

    fn widened(&mut self, scalar: Scalar, value: lane::Value, sign: Sign) -> lane::Value {
        match self.builder.ty(value) {
            Ty::I64 => value,
            _ if sign == Sign::Signed => {
                let value = self.signed(scalar, value);
                self.builder.convert(Convert::SignExtend, value)
            }
            _ => self.builder.convert(Convert::ZeroExtend, value),
        }
    }

    fn saturated(&mut self, sum: lane::Value, scalar: Scalar, sign: Sign) -> lane::Value {
        let bits = scalar.bits();
        let (least, most) = if sign == Sign::Signed {
            (-1i64 << (bits - 1), (1i64 << (bits - 1)) - 1)
        } else {
            (0, (1i64 << bits) - 1)
        };
        let (least, most) = (self.builder.int(Ty::I64, least), self.builder.int(Ty::I64, most));
        let below = self.builder.compare(Compare::LtS, sum, least);
        let sum = self.builder.select(below, least, sum);
        let above = self.builder.compare(Compare::GtS, sum, most);
        self.builder.select(above, most, sum)
    }
}
