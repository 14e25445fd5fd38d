//! Arithmetic, bits, comparisons, conversions: component by component.

use std::rc::Rc;

use rspirv::spirv::Op;

use super::{Data, Lowerer, tables};
use crate::Result;
use crate::cpu::lane::{self, Binary, Compare, Convert, Ty, Unary};
use crate::cpu::math::Function;
use crate::cpu::module::Instruction;
use crate::cpu::module::constants::lane_ty;
use crate::cpu::module::types::{Scalar, Type, TypeId};

/// The scalars of one operand.
pub(super) type Parts = Rc<[lane::Value]>;

impl Lowerer<'_> {
    /// `None` where the instruction is not known.
    pub(super) fn arithmetic(&mut self, inst: &Instruction) -> Option<Result<Data>> {
        Some(match inst.op {
            Op::Select => self.select(inst),
            Op::FRem | Op::FMod => self.float_remainder(inst),
            Op::Any | Op::All => self.any_all(inst),
            Op::IsNan | Op::IsInf => self.is_nan_or_inf(inst),
            Op::Ordered | Op::Unordered => self.ordered(inst),
            Op::FOrdNotEqual | Op::FUnordEqual | Op::LessOrGreater => self.equality(inst),
            Op::BitCount => self.bit_count(inst),
            Op::BitFieldInsert => self.bit_field_insert(inst),
            Op::BitFieldSExtract | Op::BitFieldUExtract => self.bit_field_extract(inst),
            Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended => self.extended(inst),
            Op::VectorTimesScalar | Op::MatrixTimesScalar => self.times_scalar(inst),
            Op::Dot => self.dot_product(inst),
            Op::MatrixTimesVector | Op::VectorTimesMatrix | Op::MatrixTimesMatrix | Op::OuterProduct => {
                self.matrix_product(inst)
            }
            Op::UConvert | Op::SConvert | Op::FConvert => self.convert(inst),
            Op::ConvertFToS | Op::ConvertFToU | Op::ConvertSToF | Op::ConvertUToF => self.convert(inst),
            Op::Bitcast => self.bitcast(inst),
            op if known_unary(op) => self.unary(inst),
            op if known_binary(op) => self.binary(inst),
            op if known_compare(op) => self.compare(inst),
            _ => return None,
        })
    }

    /// The result type with the lane type and the number of its parts, and operands `2..` that must have
    /// that number.
    pub(super) fn elementwise(&mut self, inst: &Instruction) -> Result<(TypeId, Ty, Vec<Parts>)> {
        let (ty, scalar, n) = self.result_scalars(inst)?;
        let first = if inst.op == Op::ExtInst { 4 } else { 2 };
        let mut operands = Vec::new();
        for i in first..self.module.operands(inst).len() {
            let (_, data) = self.scalars(inst, i)?;
            if data.parts.len() != n {
                return Err(self.malformed(inst, "an operand has another number of components"));
            }
            operands.push(data.parts);
        }
        Ok((ty, lane_ty(scalar), operands))
    }

    /// As [`Lowerer::elementwise`], with `N` operands of the result's own lane type.
    pub(super) fn uniform<const N: usize>(&mut self, inst: &Instruction) -> Result<(TypeId, Ty, [Parts; N])> {
        let (ty, lane, operands) = self.elementwise(inst)?;
        let fits = operands.iter().all(|parts| self.builder.ty(parts[0]) == lane);
        match operands.try_into() {
            Ok(operands) if fits => Ok((ty, lane, operands)),
            _ => Err(self.wrong_operands(inst)),
        }
    }

    pub(super) fn wrong_operands(&self, inst: &Instruction) -> crate::DeviceError {
        self.malformed(inst, "its operands have the wrong types")
    }

    fn unary(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, lane, [a]) = self.uniform(inst)?;
        let unary = tables::unary(inst.op, lane).ok_or_else(|| self.wrong_operands(inst))?;
        Ok(Data { ty, parts: a.iter().map(|&a| self.builder.unary(unary, a)).collect() })
    }

    fn binary(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, lane, operands) = self.elementwise(inst)?;
        let [a, b] = &operands[..] else { return Err(self.wrong_operands(inst)) };
        let binary = tables::binary(inst.op, lane).filter(|_| self.builder.ty(a[0]) == lane);
        let binary = binary.ok_or_else(|| self.wrong_operands(inst))?;
        let b = match binary {
            Binary::Shl | Binary::ShrS | Binary::ShrU => self.shift_amounts(inst, b, lane)?,
            _ if self.builder.ty(b[0]) == lane => b.clone(),
            _ => return Err(self.wrong_operands(inst)),
        };
        let parts = a.iter().zip(b.iter()).map(|(&a, &b)| self.builder.binary(binary, a, b)).collect();
        Ok(Data { ty, parts })
    }

    /// Amounts may be ints of another width than what is shifted.
    fn shift_amounts(&mut self, inst: &Instruction, amounts: &Parts, to: Ty) -> Result<Parts> {
        let convert = match (self.builder.ty(amounts[0]), to) {
            (from, to) if from == to => return Ok(amounts.clone()),
            (Ty::I32, Ty::I64) => Convert::ZeroExtend,
            (Ty::I64, Ty::I32) => Convert::Truncate,
            _ => return Err(self.wrong_operands(inst)),
        };
        Ok(amounts.iter().map(|&amount| self.builder.convert(convert, amount)).collect())
    }

    fn compare(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, lane, operands) = self.elementwise(inst)?;
        let [a, b] = &operands[..] else { return Err(self.wrong_operands(inst)) };
        let (ty_a, ty_b) = (self.builder.ty(a[0]), self.builder.ty(b[0]));
        let compare = tables::compare(inst.op, ty_a).filter(|_| ty_a == ty_b && lane == Ty::Bool);
        let (compare, negate) = compare.ok_or_else(|| self.wrong_operands(inst))?;
        let mut parts = Vec::new();
        for (&a, &b) in a.iter().zip(b.iter()) {
            let result = self.builder.compare(compare, a, b);
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
        let (ty, lane, [a, b]) = self.uniform(inst)?;
        let function = match lane {
            Ty::F32 => Function::Fmod32,
            Ty::F64 => Function::Fmod64,
            _ => return Err(self.wrong_operands(inst)),
        };
        let mut parts = Vec::new();
        for (&a, &b) in a.iter().zip(b.iter()) {
            let rem = self.builder.call(function, vec![a, b]);
            parts.push(if inst.op == Op::FMod { self.with_sign_of(rem, b) } else { rem });
        }
        Ok(Data { ty, parts: parts.into() })
    }

    /// A remainder moved to the side of zero that its divisor is on.
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
        let (ty, lane, operands) = self.elementwise(inst)?;
        let [a] = &operands[..] else { return Err(self.wrong_operands(inst)) };
        let float = self.builder.ty(a[0]);
        if lane != Ty::Bool || !matches!(float, Ty::F32 | Ty::F64) {
            return Err(self.wrong_operands(inst));
        }
        let infinity = self.builder.float(float, f64::INFINITY);
        let test = |&a: &lane::Value| match inst.op {
            Op::IsNan => self.builder.compare(Compare::FNe, a, a),
            _ => {
                let size = self.builder.unary(Unary::FAbs, a);
                self.builder.compare(Compare::FEq, size, infinity)
            }
        };
        Ok(Data { ty, parts: a.iter().map(test).collect() })
    }

    /// Whether two floats can be compared at all.
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

    /// The two equalities that are no plain comparison with or without a turn: less or greater, and its
    /// opposite.
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
        let (ty, lane, operands) = self.elementwise(inst)?;
        let [a, b] = &operands[..] else { return Err(self.wrong_operands(inst)) };
        let (ty_a, ty_b) = (self.builder.ty(a[0]), self.builder.ty(b[0]));
        if lane != Ty::Bool || ty_a != ty_b || !matches!(ty_a, Ty::F32 | Ty::F64) {
            return Err(self.wrong_operands(inst));
        }
        Ok((ty, a.iter().copied().zip(b.iter().copied()).collect()))
    }

    fn bit_count(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, lane, operands) = self.elementwise(inst)?;
        let [a] = &operands[..] else { return Err(self.wrong_operands(inst)) };
        let from = self.builder.ty(a[0]);
        let is_int = |ty| matches!(ty, Ty::I32 | Ty::I64);
        if !is_int(lane) || !is_int(from) {
            return Err(self.wrong_operands(inst));
        }
        let counts: Vec<_> = a.iter().map(|&a| self.builder.unary(Unary::PopCount, a)).collect();
        Ok(Data { ty, parts: counts.into_iter().map(|count| self.resize(count, lane)).collect() })
    }

    /// An int in another width, zero-extended.
    fn resize(&mut self, value: lane::Value, to: Ty) -> lane::Value {
        match (self.builder.ty(value), to) {
            (Ty::I32, Ty::I64) => self.builder.convert(Convert::ZeroExtend, value),
            (Ty::I64, Ty::I32) => self.builder.convert(Convert::Truncate, value),
            _ => value,
        }
    }

    /// `count` low bits set; all of them where `count` is the width or more.
    fn mask(&mut self, ty: Ty, count: lane::Value) -> lane::Value {
        let (one, all) = (self.builder.int(ty, 1), self.builder.int(ty, -1));
        let width = self.builder.int(ty, i64::from(ty.size() * 8));
        let power = self.builder.binary(Binary::Shl, one, count);
        let mask = self.builder.binary(Binary::Sub, power, one);
        let part = self.builder.compare(Compare::LtU, count, width);
        self.builder.select(part, mask, all)
    }

    /// The offset and the count of a bit field, in the width of what they cut.
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
            let kept = self.builder.binary(Binary::And, base, hole);
            let moved = self.builder.binary(Binary::Shl, insert, offset);
            let new = self.builder.binary(Binary::And, moved, mask);
            parts.push(self.builder.binary(Binary::Or, kept, new));
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
            // Up to the top and back down, the sign comes along.
            let high = self.builder.binary(Binary::Shl, field, above);
            let signed = self.builder.binary(Binary::ShrS, high, above);
            parts.push(self.builder.select(empty, zero, signed));
        }
        Ok(Data { ty: base.ty, parts: parts.into() })
    }

    /// Two ints to a structure of two: sum and carry, difference and borrow, low and high product.
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
            let (l, h) = self.extended_scalar(inst.op, a, b);
            low.push(l);
            high.push(h);
        }
        Ok(Data { ty, parts: [low, high].concat().into() })
    }

    fn extended_scalar(&mut self, op: Op, a: lane::Value, b: lane::Value) -> (lane::Value, lane::Value) {
        let low = match op {
            Op::IAddCarry => Binary::Add,
            Op::ISubBorrow => Binary::Sub,
            _ => Binary::Mul,
        };
        let low = self.builder.binary(low, a, b);
        let high = match op {
            Op::UMulExtended => return (low, self.builder.binary(Binary::MulHighU, a, b)),
            Op::SMulExtended => return (low, self.builder.binary(Binary::MulHighS, a, b)),
            // A sum that wrapped is below both of its terms.
            Op::IAddCarry => self.builder.compare(Compare::LtU, low, a),
            _ => self.builder.compare(Compare::LtU, a, b),
        };
        let ty = self.builder.ty(a);
        let high = self.builder.convert(Convert::BoolToInt, high);
        (low, self.resize(high, ty))
    }

    fn times_scalar(&mut self, inst: &Instruction) -> Result<Data> {
        let (composite, (scalar, factor)) = (self.data(inst, 2)?, self.scalars(inst, 3)?);
        let fits = self.module.types.scalars(composite.ty).iter().all(|part| *part == scalar);
        if !scalar.is_float() || factor.parts.len() != 1 || !fits {
            return Err(self.wrong_operands(inst));
        }
        let times = |&part: &lane::Value| self.builder.binary(Binary::FMul, part, factor.parts[0]);
        Ok(Data { ty: composite.ty, parts: composite.parts.iter().map(times).collect() })
    }

    fn dot_product(&mut self, inst: &Instruction) -> Result<Data> {
        let ((scalar, a), (scalar_b, b)) = (self.scalars(inst, 2)?, self.scalars(inst, 3)?);
        if !scalar.is_float() || scalar != scalar_b || a.parts.len() != b.parts.len() {
            return Err(self.wrong_operands(inst));
        }
        let part = self.sum_of_products(&a.parts, &b.parts);
        Ok(Data { ty: self.module.types.scalar(scalar), parts: [part].into() })
    }

    pub(super) fn sum_of_products(&mut self, a: &[lane::Value], b: &[lane::Value]) -> lane::Value {
        let products: Vec<_> =
            a.iter().zip(b).map(|(&a, &b)| self.builder.binary(Binary::FMul, a, b)).collect();
        let sum = products.into_iter().reduce(|a, b| self.builder.binary(Binary::FAdd, a, b));
        sum.expect("a vector has components")
    }

    /// Columns, rows and the scalar of a matrix type.
    pub(super) fn matrix_shape(&self, ty: TypeId) -> Option<(usize, usize, Scalar)> {
        let Type::Matrix { columns, column } = *self.module.types.get(ty) else { return None };
        let (scalar, rows) = self.module.types.as_scalars(column)?;
        Some((columns as usize, rows as usize, scalar))
    }

    pub(super) fn matrix_scalar(&self, matrix: &Data) -> Option<Scalar> {
        self.matrix_shape(matrix.ty).map(|(_, _, scalar)| scalar)
    }

    /// A matrix operand: columns, rows, and its scalars column by column.
    pub(super) fn matrix(&mut self, inst: &Instruction, i: usize) -> Result<(usize, usize, Data)> {
        let data = self.data(inst, i)?;
        match self.matrix_shape(data.ty) {
            Some((columns, rows, _)) => Ok((columns, rows, data)),
            None => Err(self.malformed(inst, "an operand is no matrix")),
        }
    }

    /// Products of matrices and vectors: a vector is a matrix of one column on the right, of one row on
    /// the left.
    fn matrix_product(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, a, b) = (self.result_type(inst)?, self.data(inst, 2)?, self.data(inst, 3)?);
        let shape = |data: &Data, as_column: bool| {
            let vector = self.module.types.as_scalars(data.ty).map(|(scalar, n)| {
                let n = n as usize;
                if as_column { (1, n, scalar) } else { (n, 1, scalar) }
            });
            self.matrix_shape(data.ty).or(vector)
        };
        let outer = inst.op == Op::OuterProduct;
        let (Some(shape_a), Some(shape_b)) = (shape(&a, outer), shape(&b, !outer)) else {
            return Err(self.wrong_operands(inst));
        };
        let ((inner, rows, scalar), (columns, inner_b, scalar_b)) = (shape_a, shape_b);
        let wanted = shape(&Data { ty, parts: [].into() }, inst.op == Op::MatrixTimesVector);
        if inner != inner_b
            || scalar != scalar_b
            || !scalar.is_float()
            || wanted != Some((columns, rows, scalar))
        {
            return Err(self.wrong_operands(inst));
        }
        let mut parts = Vec::new();
        for column in 0..columns {
            for row in 0..rows {
                let left: Vec<_> = (0..inner).map(|k| a.parts[k * rows + row]).collect();
                let right = &b.parts[column * inner..(column + 1) * inner];
                parts.push(self.sum_of_products(&left, right));
            }
        }
        Ok(Data { ty, parts: parts.into() })
    }

    fn convert(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, to, operands) = self.elementwise(inst)?;
        let [a] = &operands[..] else { return Err(self.wrong_operands(inst)) };
        let steps =
            tables::convert(inst.op, self.builder.ty(a[0]), to).ok_or_else(|| self.wrong_operands(inst))?;
        let convert = |&a: &lane::Value| steps.iter().fold(a, |a, &step| self.builder.convert(step, a));
        Ok(Data { ty, parts: a.iter().map(convert).collect() })
    }

    fn bitcast(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, scalar, n) = self.result_scalars(inst)?;
        let (from, data) = self.scalars(inst, 2)?;
        if from == Scalar::Bool || scalar == Scalar::Bool {
            return Err(self.wrong_operands(inst));
        }
        if from.bits() * data.parts.len() as u32 != scalar.bits() * n as u32 {
            return Err(self.malformed(inst, "the types have different sizes"));
        }
        let as_ints: Vec<_> = data.parts.iter().map(|&part| self.as_int(part)).collect();
        let ints = match (from.bits(), scalar.bits()) {
            (32, 64) => as_ints.chunks(2).map(|pair| self.join(pair[0], pair[1])).collect(),
            (64, 32) => as_ints.iter().flat_map(|&int| self.split(int)).collect(),
            _ => as_ints,
        };
        let bits = |int| if scalar.is_float() { self.builder.convert(Convert::Bits, int) } else { int };
        Ok(Data { ty, parts: ints.into_iter().map(bits).collect() })
    }

    fn as_int(&mut self, value: lane::Value) -> lane::Value {
        match self.builder.ty(value) {
            Ty::F32 | Ty::F64 => self.builder.convert(Convert::Bits, value),
            _ => value,
        }
    }

    pub(super) fn join(&mut self, low: lane::Value, high: lane::Value) -> lane::Value {
        let (low, high) = (self.resize(low, Ty::I64), self.resize(high, Ty::I64));
        let n = self.builder.int(Ty::I64, 32);
        let high = self.builder.binary(Binary::Shl, high, n);
        self.builder.binary(Binary::Or, low, high)
    }

    pub(super) fn split(&mut self, value: lane::Value) -> [lane::Value; 2] {
        let n = self.builder.int(Ty::I64, 32);
        let high = self.builder.binary(Binary::ShrU, value, n);
        [self.resize(value, Ty::I32), self.resize(high, Ty::I32)]
    }
}

fn known_unary(op: Op) -> bool {
    [Ty::Bool, Ty::I32, Ty::F32].into_iter().any(|ty| tables::unary(op, ty).is_some())
}

fn known_binary(op: Op) -> bool {
    [Ty::Bool, Ty::I32, Ty::F32].into_iter().any(|ty| tables::binary(op, ty).is_some())
}

fn known_compare(op: Op) -> bool {
    [Ty::Bool, Ty::I32, Ty::F32].into_iter().any(|ty| tables::compare(op, ty).is_some())
}
