//! Vector forms of lane operations. Those without one run lane by lane.

use cranelift_codegen::ir::{self, AbiParam, InstBuilder, Signature, StackSlotData, StackSlotKind, types};

use super::SimdGroup;
use super::memory::own;
use super::values::{lanes_of, vector_type};
use crate::cpu::emit::ops::{Condition, condition};
use crate::cpu::lane::{Binary, Compare, Convert, Op, Ty, Unary, Value};
use crate::cpu::math::{Column, Function, MAX_ARGS};

impl<'k> SimdGroup<'_, 'k, '_> {
    /// Emits an operation without effects for all lanes.
    pub(super) fn vector_op(&mut self, op: &'k Op) -> Vec<ir::Value> {
        match *op {
            Op::Unary(unary, a) if has_vector_unary(unary) => self.unary(unary, a),
            Op::Binary(binary, a, b) if has_vector_binary(binary) => self.binary(binary, a, b),
            Op::Binary(shift @ (Binary::Shl | Binary::ShrS | Binary::ShrU), a, amount)
                if self.shape(amount) == super::Shape::Uniform =>
            {
                self.shift(shift, a, amount)
            }
            Op::Compare(compare, a, b) if self.ty(a) != Ty::Bool => self.compare(compare, a, b),
            Op::Select(condition, a, b) => self.select(condition, a, b),
            Op::Convert(convert, a) if has_vector_convert(convert, self.ty(a)) => self.convert(convert, a),
            Op::Fma(a, b, c) if self.scalar.target.fma => {
                let [a, b, c] = [a, b, c].map(|value| self.vector(value));
                let terms = a.into_iter().zip(b).zip(c);
                terms.map(|((a, b), c)| self.scalar.builder.ins().fma(a, b, c)).collect()
            }
            Op::Call(function, ref args) => self.call(function, args),
            _ => self.each_lane(op),
        }
    }

    /// One call handles all lanes, because a call clobbers every register.
    fn call(&mut self, function: Function, args: &[Value]) -> Vec<ir::Value> {
        let columns: Vec<_> = args.iter().map(|&arg| self.vector(arg)).collect();
        let slot = *self.columns.get_or_insert_with(|| {
            let size = (MAX_ARGS * size_of::<Column>()) as u32;
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 4);
            self.scalar.builder.create_sized_stack_slot(data)
        });
        let start = self.scalar.builder.ins().stack_addr(types::I64, slot, 0);
        for (i, vectors) in columns.iter().enumerate() {
            for (j, &vector) in vectors.iter().enumerate() {
                let at = i * size_of::<Column>() + 16 * j;
                self.scalar.builder.ins().store(own(), vector, start, at as i32);
            }
        }
        let mut signature = Signature::new(self.scalar.target.call_conv);
        signature.params.extend([types::I64, types::I32].map(AbiParam::new));
        let signature = self.scalar.builder.import_signature(signature);
        let address = self.scalar.builder.ins().iconst(types::I64, function.lanes_address() as i64);
        let n = self.scalar.builder.ins().iconst(types::I32, i64::from(self.plan.width));
        self.scalar.builder.ins().call_indirect(signature, address, &[start, n]);
        let ty = function.result();
        let offsets = (0..self.n_vectors(ty)).map(|i| 16 * i as i32);
        offsets.map(|at| self.scalar.builder.ins().load(vector_type(ty), own(), start, at)).collect()
    }

    pub(super) fn each_lane(&mut self, op: &Op) -> Vec<ir::Value> {
        let lanes: Vec<_> = (0..self.plan.width)
            .map(|lane| self.lane_op(op, lane).expect("an operation without effects has a result"))
            .collect();
        self.gather(self.result_type(op), &lanes)
    }

    pub(super) fn result_type(&self, op: &Op) -> Ty {
        match op {
            Op::Unary(_, a) | Op::Binary(_, a, _) | Op::Select(_, a, _) | Op::Fma(a, ..) => self.ty(*a),
            Op::Compare(..) => Ty::Bool,
            Op::Convert(convert, a) => convert.result(self.ty(*a)),
            Op::Call(function, _) => function.result(),
            Op::Load { ty, .. } | Op::AtomicLoad { ty, .. } => *ty,
            Op::LoadNarrow { .. } => Ty::I32,
            Op::Atomic { value, .. } | Op::CompareExchange { value, .. } => self.ty(*value),
            Op::Address(_) | Op::BufferSize(_) | Op::Texel { .. } => Ty::I64,
            Op::ImageSize { .. } => Ty::I32,
            Op::AtomicHalf { .. } => unreachable!("kernels with atomics on halves do not run in SIMD groups"),
            Op::Store { .. }
            | Op::StoreNarrow { .. }
            | Op::Get(_)
            | Op::Set(..)
            | Op::Clear { .. }
            | Op::Image { .. }
            | Op::Subgroup(_)
            | Op::Unwritten
            | Op::Watched(_)
            | Op::Instrument { .. } => {
                unreachable!("{op:?} gives no value here")
            }
        }
    }

    fn unary(&mut self, op: Unary, a: Value) -> Vec<ir::Value> {
        let vectors = self.vector(a);
        let each = vectors.into_iter().map(|a| {
            let ins = self.scalar.builder.ins();
            match op {
                Unary::Neg => ins.ineg(a),
                Unary::Not => ins.bnot(a),
                Unary::FNeg => ins.fneg(a),
                Unary::FAbs => ins.fabs(a),
                Unary::Sqrt => ins.sqrt(a),
                Unary::Floor => ins.floor(a),
                Unary::Ceil => ins.ceil(a),
                Unary::Trunc => ins.trunc(a),
                Unary::Nearest => ins.nearest(a),
                _ => unreachable!("{op:?} is done lane by lane"),
            }
        });
        each.collect()
    }

    fn binary(&mut self, op: Binary, a: Value, b: Value) -> Vec<ir::Value> {
        let [a, b] = [a, b].map(|value| self.vector(value));
        let each = a.into_iter().zip(b).map(|(a, b)| {
            let ins = self.scalar.builder.ins();
            match op {
                Binary::Add => ins.iadd(a, b),
                Binary::Sub => ins.isub(a, b),
                Binary::Mul => ins.imul(a, b),
                Binary::And => ins.band(a, b),
                Binary::Or => ins.bor(a, b),
                Binary::Xor => ins.bxor(a, b),
                Binary::FAdd => ins.fadd(a, b),
                Binary::FSub => ins.fsub(a, b),
                Binary::FMul => ins.fmul(a, b),
                Binary::FDiv => ins.fdiv(a, b),
                _ => unreachable!("{op:?} is done lane by lane"),
            }
        });
        each.collect()
    }

    /// Shifts each lane by the same amount.
    fn shift(&mut self, op: Binary, a: Value, amount: Value) -> Vec<ir::Value> {
        let (vectors, amount) = (self.vector(a), self.scalar.value(amount));
        let each = vectors.into_iter().map(|a| {
            let ins = self.scalar.builder.ins();
            match op {
                Binary::Shl => ins.ishl(a, amount),
                Binary::ShrS => ins.sshr(a, amount),
                _ => ins.ushr(a, amount),
            }
        });
        each.collect()
    }

    fn compare(&mut self, op: Compare, a: Value, b: Value) -> Vec<ir::Value> {
        let ty = self.ty(a);
        let [a, b] = [a, b].map(|value| self.vector(value));
        let masks: Vec<_> = a
            .into_iter()
            .zip(b)
            .map(|(a, b)| match condition(op) {
                Condition::Int(code) => self.scalar.builder.ins().icmp(code, a, b),
                Condition::Float(code) => self.scalar.builder.ins().fcmp(code, a, b),
            })
            .collect();
        if lanes_of(ty) == super::LANES { masks } else { self.narrow(&masks) }
    }

    /// The low halves of 64-bit lanes, from two vectors each.
    fn narrow(&mut self, vectors: &[ir::Value]) -> Vec<ir::Value> {
        let bytes: Vec<u8> = [0u8, 8, 16, 24].iter().flat_map(|&first| first..first + 4).collect();
        let order = self.scalar.builder.func.dfg.immediates.push(bytes.into());
        let pairs = vectors.chunks(2).map(|pair| {
            let [low, high] = [pair[0], pair[1]].map(|vector| self.cast(types::I8X16, vector));
            let halves = self.scalar.builder.ins().shuffle(low, high, order);
            self.cast(types::I32X4, halves)
        });
        pairs.collect()
    }

    fn select(&mut self, condition: Value, a: Value, b: Value) -> Vec<ir::Value> {
        let ty = self.ty(a);
        let [a, b] = [a, b].map(|value| self.vector(value));
        if self.shape(condition) == super::Shape::Uniform {
            let condition = self.scalar.value(condition);
            let arms = a.into_iter().zip(b);
            return arms.map(|(a, b)| self.scalar.builder.ins().select(condition, a, b)).collect();
        }
        let mask = self.vector(condition);
        let arms = a.into_iter().zip(b).enumerate();
        arms.map(|(i, (a, b))| self.blend(Some(&mask), i, ty, a, b)).collect()
    }

    fn convert(&mut self, op: Convert, a: Value) -> Vec<ir::Value> {
        let from = self.ty(a);
        let vectors = self.vector(a);
        let to = vector_type(op.result(from));
        match op {
            Convert::Truncate => return self.narrow(&vectors),
            Convert::SignExtend | Convert::ZeroExtend => return self.widen(op, &vectors),
            _ => {}
        }
        let sign = self.scalar.builder.ins().iconst(types::I32, 31);
        let each = vectors.into_iter().map(|a| match op {
            Convert::BoolToInt => self.scalar.builder.ins().ushr(a, sign),
            Convert::FloatToS(_) => self.scalar.builder.ins().fcvt_to_sint_sat(to, a),
            Convert::FloatToU(_) => self.scalar.builder.ins().fcvt_to_uint_sat(to, a),
            Convert::SToFloat(_) => self.scalar.builder.ins().fcvt_from_sint(to, a),
            Convert::UToFloat(_) => self.scalar.builder.ins().fcvt_from_uint(to, a),
            Convert::Bits => self.cast(to, a),
            _ => unreachable!("{op:?} is done lane by lane"),
        });
        each.collect()
    }

    fn widen(&mut self, op: Convert, vectors: &[ir::Value]) -> Vec<ir::Value> {
        let mut wide = Vec::new();
        for &vector in vectors {
            let halves = match op {
                Convert::SignExtend => {
                    let low = self.scalar.builder.ins().swiden_low(vector);
                    [low, self.scalar.builder.ins().swiden_high(vector)]
                }
                _ => {
                    let low = self.scalar.builder.ins().uwiden_low(vector);
                    [low, self.scalar.builder.ins().uwiden_high(vector)]
                }
            };
            wide.extend(halves);
        }
        wide
    }
}

fn has_vector_unary(op: Unary) -> bool {
    match op {
        Unary::Neg | Unary::Not | Unary::FNeg | Unary::FAbs => true,
        Unary::Sqrt | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Nearest => true,
        Unary::BitReverse | Unary::PopCount | Unary::LeadingZeros | Unary::TrailingZeros => false,
    }
}

fn has_vector_binary(op: Binary) -> bool {
    matches!(
        op,
        Binary::Add
            | Binary::Sub
            | Binary::Mul
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::FAdd
            | Binary::FSub
            | Binary::FMul
            | Binary::FDiv
    )
}

fn has_vector_convert(op: Convert, from: Ty) -> bool {
    match op {
        Convert::BoolToInt | Convert::SignExtend | Convert::ZeroExtend | Convert::Truncate => true,
        Convert::FloatToS(to) | Convert::FloatToU(to) => (from, to) == (Ty::F32, Ty::I32),
        Convert::SToFloat(to) | Convert::UToFloat(to) => (from, to) == (Ty::I32, Ty::F32),
        Convert::Bits => true,
        Convert::Promote | Convert::Demote => false,
    }
}
