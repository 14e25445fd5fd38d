//! Componentwise arithmetic and comparisons.

use std::rc::Rc;

use kps_scalar::Scalar;
use rspirv::spirv::Op;

use super::{Data, Lowerer};
use crate::Result;
use crate::cpu::lane::{self, Binary, Compare, Ty, Unary, opcodes};
use crate::cpu::math::Function;
use crate::cpu::module::Instruction;
use crate::cpu::module::constants::lane_ty;
use crate::cpu::module::types::TypeId;

/// The scalars of one operand.
pub(super) type Parts = Rc<[lane::Value]>;

/// An operand, split into components.
pub(super) struct Operands {
    pub scalar: Scalar,
    pub parts: Parts,
}

impl Lowerer<'_> {
    /// `None` for instructions of other families.
    pub(super) fn arithmetic(&mut self, inst: &Instruction) -> Option<Result<Data>> {
        Some(match inst.op {
            Op::Select => self.select(inst),
            Op::FRem | Op::FMod => self.float_remainder(inst),
            Op::Any | Op::All => self.any_all(inst),
            Op::IsNan | Op::IsInf => self.is_nan_or_inf(inst),
            Op::Ordered | Op::Unordered => self.ordered(inst),
            Op::FOrdNotEqual | Op::FUnordEqual | Op::LessOrGreater => self.equality(inst),
            op if known_unary(op) => self.unary(inst),
            op if known_binary(op) => self.binary(inst),
            op if known_compare(op) => self.compare(inst),
            _ => return None,
        })
    }

    /// The result type and its scalar, and the operands: each has as many components as the result.
    pub(super) fn elementwise(&mut self, inst: &Instruction) -> Result<(TypeId, Scalar, Vec<Operands>)> {
        let (ty, scalar, n) = self.result_scalars(inst)?;
        let first = if inst.op == Op::ExtInst { 4 } else { 2 };
        let mut operands = Vec::new();
        for i in first..self.module.operands(inst).len() {
            let (scalar, data) = self.scalars(inst, i)?;
            if data.parts.len() != n {
                return Err(self.malformed(inst, "an operand has another number of components"));
            }
            operands.push(Operands { scalar, parts: data.parts });
        }
        Ok((ty, scalar, operands))
    }

    /// As [`Lowerer::elementwise`], with `N` operands of the result's own type, whatever their sign.
    pub(super) fn uniform<const N: usize>(
        &mut self,
        inst: &Instruction,
    ) -> Result<(TypeId, Scalar, [Parts; N])> {
        let (ty, scalar, operands) = self.elementwise(inst)?;
        let fits = operands.iter().all(|operand| operand.scalar.is_alike(scalar));
        let parts: Vec<Parts> = operands.into_iter().map(|operand| operand.parts).collect();
        match parts.try_into() {
            Ok(operands) if fits => Ok((ty, scalar, operands)),
            _ => Err(self.wrong_operands(inst)),
        }
    }

    pub(super) fn wrong_operands(&self, inst: &Instruction) -> crate::DeviceError {
        self.malformed(inst, "its operands have the wrong types")
    }

    fn unary(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, scalar, [a]) = self.uniform(inst)?;
        let unary = opcodes::unary(inst.op, lane_ty(scalar)).ok_or_else(|| self.wrong_operands(inst))?;
        let one = |&a: &lane::Value| match (unary, scalar.bits()) {
            (Unary::BitReverse, 8 | 16) => self.reverse_narrow(scalar, a),
            _ => {
                let result = self.builder.unary(unary, a);
                self.fit(scalar, result)
            }
        };
        Ok(Data { ty, parts: a.iter().map(one).collect() })
    }

    fn reverse_narrow(&mut self, scalar: Scalar, a: lane::Value) -> lane::Value {
        let reversed = self.builder.unary(Unary::BitReverse, a);
        let unused = self.builder.i32(32 - scalar.bits() as i32);
        self.builder.binary(Binary::ShrU, reversed, unused)
    }

    fn binary(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, scalar, operands) = self.elementwise(inst)?;
        let [a, b] = &operands[..] else { return Err(self.wrong_operands(inst)) };
        let binary = opcodes::binary(inst.op, lane_ty(scalar)).filter(|_| a.scalar.is_alike(scalar));
        let binary = binary.ok_or_else(|| self.wrong_operands(inst))?;
        let is_shift = matches!(binary, Binary::Shl | Binary::ShrS | Binary::ShrU);
        if !(is_shift && b.scalar.is_int() || b.scalar.is_alike(scalar)) {
            return Err(self.wrong_operands(inst));
        }
        let mut parts = Vec::new();
        for (&a, &b_part) in a.parts.iter().zip(b.parts.iter()) {
            let b = if is_shift { self.shift_amount(b_part, scalar) } else { b_part };
            let result = self.binary_part(inst.op, binary, scalar, [a, b]);
            parts.push(result);
        }
        Ok(Data { ty, parts: parts.into() })
    }

    fn binary_part(
        &mut self,
        op: Op,
        binary: Binary,
        scalar: Scalar,
        [a, b]: [lane::Value; 2],
    ) -> lane::Value {
        let a = if opcodes::looks_at_sign(op) { self.signed(scalar, a) } else { a };
        let is_shift = matches!(binary, Binary::Shl | Binary::ShrS | Binary::ShrU);
        let b = if opcodes::looks_at_sign(op) && !is_shift { self.signed(scalar, b) } else { b };
        let result = self.builder.binary(binary, a, b);
        self.fit(scalar, result)
    }

    /// Amounts may have another width than the shifted value. They count modulo its width.
    fn shift_amount(&mut self, amount: lane::Value, scalar: Scalar) -> lane::Value {
        let amount = self.resize(amount, lane_ty(scalar));
        if scalar.bits() >= 32 {
            return amount;
        }
        let mask = self.builder.i32(scalar.bits() as i32 - 1);
        self.builder.binary(Binary::And, amount, mask)
    }

    fn compare(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, result, operands) = self.elementwise(inst)?;
        let [a, b] = &operands[..] else { return Err(self.wrong_operands(inst)) };
        let compare = opcodes::compare(inst.op, lane_ty(a.scalar))
            .filter(|_| a.scalar.is_alike(b.scalar) && result == Scalar::Bool);
        let (compare, negate) = compare.ok_or_else(|| self.wrong_operands(inst))?;
        let mut parts = Vec::new();
        for (&part_a, &part_b) in a.parts.iter().zip(b.parts.iter()) {
            let [part_a, part_b] = match opcodes::looks_at_sign(inst.op) {
                true => [part_a, part_b].map(|part| self.signed(a.scalar, part)),
                false => [part_a, part_b],
            };
            let result = self.builder.compare(compare, part_a, part_b);
            parts.push(if negate { self.builder.unary(Unary::Not, result) } else { result });
        }
        Ok(Data { ty, parts: parts.into() })
    }

    fn select(&mut self, inst: &Instruction) -> Result<Data> {
        let (scalar, condition) = self.scalars(inst, 2)?;
        let (a, b) = (self.data(inst, 3)?, self.data(inst, 4)?);
        let one = condition.parts.len() == 1;
        if scalar != Scalar::Bool
            || !self.module.types.same(a.ty, b.ty)
            || !(one || condition.parts.len() == a.parts.len())
        {
            return Err(self.wrong_operands(inst));
        }
        let conditions = condition.parts.iter().cycle();
        let pairs = a.parts.iter().zip(b.parts.iter()).zip(conditions);
        let parts = pairs.map(|((&a, &b), &condition)| self.builder.select(condition, a, b)).collect();
        Ok(Data { ty: a.ty, parts })
    }

    fn float_remainder(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, scalar, [a, b]) = self.uniform(inst)?;
        let function = match lane_ty(scalar) {
            Ty::F32 => Function::Fmod32,
            Ty::F64 => Function::Fmod64,
            _ => return Err(self.wrong_operands(inst)),
        };
        let mut parts = Vec::new();
        for (&a, &b) in a.iter().zip(b.iter()) {
            let rem = self.builder.call(function, vec![a, b]);
            let rem = if inst.op == Op::FMod { self.with_sign_of(rem, b) } else { rem };
            parts.push(self.fit(scalar, rem));
        }
        Ok(Data { ty, parts: parts.into() })
    }

    /// A remainder, adjusted to the sign of the divisor.
    fn with_sign_of(&mut self, rem: lane::Value, divisor: lane::Value) -> lane::Value {
        let ty = self.builder.ty(rem);
        let zero = self.builder.float(ty, 0.0);
        let rem_below = self.builder.compare(Compare::FLt, rem, zero);
        let divisor_below = self.builder.compare(Compare::FLt, divisor, zero);
        let differ = self.builder.binary(Binary::Xor, rem_below, divisor_below);
        let some = self.builder.compare(Compare::FNe, rem, zero);
        let wrong = self.builder.binary(Binary::And, differ, some);
        let moved = self.builder.binary(Binary::FAdd, rem, divisor);
        self.builder.select(wrong, moved, rem)
    }

    fn any_all(&mut self, inst: &Instruction) -> Result<Data> {
        let (scalar, data) = self.scalars(inst, 2)?;
        let op = if inst.op == Op::Any { Binary::Or } else { Binary::And };
        if scalar != Scalar::Bool {
            return Err(self.wrong_operands(inst));
        }
        let all = data.parts.iter().copied().reduce(|a, b| self.builder.binary(op, a, b));
        let part = all.expect("a value has a part");
        Ok(Data { ty: self.module.types.scalar(scalar), parts: [part].into() })
    }

    fn is_nan_or_inf(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, result, operands) = self.elementwise(inst)?;
        let [a] = &operands[..] else { return Err(self.wrong_operands(inst)) };
        if result != Scalar::Bool || !a.scalar.is_float() {
            return Err(self.wrong_operands(inst));
        }
        let infinity = self.builder.float(lane_ty(a.scalar), f64::INFINITY);
        let test = |&a: &lane::Value| match inst.op {
            Op::IsNan => self.builder.compare(Compare::FNe, a, a),
            _ => {
                let size = self.builder.unary(Unary::FAbs, a);
                self.builder.compare(Compare::FEq, size, infinity)
            }
        };
        Ok(Data { ty, parts: a.parts.iter().map(test).collect() })
    }

    /// Whether two floats are ordered: neither is a NaN.
    fn ordered(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, pairs) = self.float_pairs(inst)?;
        let mut parts = Vec::new();
        for (a, b) in pairs {
            let (a, b) = (self.builder.compare(Compare::FEq, a, a), self.builder.compare(Compare::FEq, b, b));
            let both = self.builder.binary(Binary::And, a, b);
            let ordered = inst.op == Op::Ordered;
            parts.push(if ordered { both } else { self.builder.unary(Unary::Not, both) });
        }
        Ok(Data { ty, parts: parts.into() })
    }

    /// The two float equalities that need two comparisons: less or greater, and its negation.
    fn equality(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, pairs) = self.float_pairs(inst)?;
        let mut parts = Vec::new();
        for (a, b) in pairs {
            let less = self.builder.compare(Compare::FLt, a, b);
            let greater = self.builder.compare(Compare::FGt, a, b);
            let differ = self.builder.binary(Binary::Or, less, greater);
            let equal = inst.op == Op::FUnordEqual;
            parts.push(if equal { self.builder.unary(Unary::Not, differ) } else { differ });
        }
        Ok(Data { ty, parts: parts.into() })
    }

    fn float_pairs(&mut self, inst: &Instruction) -> Result<(TypeId, Vec<(lane::Value, lane::Value)>)> {
        let (ty, result, operands) = self.elementwise(inst)?;
        let [a, b] = &operands[..] else { return Err(self.wrong_operands(inst)) };
        if result != Scalar::Bool || a.scalar != b.scalar || !a.scalar.is_float() {
            return Err(self.wrong_operands(inst));
        }
        Ok((ty, a.parts.iter().copied().zip(b.parts.iter().copied()).collect()))
    }
}

fn known_unary(op: Op) -> bool {
    [Ty::Bool, Ty::I32, Ty::F32].into_iter().any(|ty| opcodes::unary(op, ty).is_some())
}

fn known_binary(op: Op) -> bool {
    [Ty::Bool, Ty::I32, Ty::F32].into_iter().any(|ty| opcodes::binary(op, ty).is_some())
}

fn known_compare(op: Op) -> bool {
    [Ty::Bool, Ty::I32, Ty::F32].into_iter().any(|ty| opcodes::compare(op, ty).is_some())
}
