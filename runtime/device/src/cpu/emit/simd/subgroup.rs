//! Subgroup operations in SIMD groups of whole subgroups. Operands and results are in the lanes' memory. If
//! all lanes are active, inline code performs the operation; otherwise `cpu::subgroups` does.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, Signature, types};
use kps_scalar::Scalar;

use super::SimdGroup;
use super::values::{lanes_of, vector_type};
use crate::cpu::emit::ops::memory;
use crate::cpu::emit::scalar::clif;
use crate::cpu::lane::{Fold, GroupKind, Op, Source, Span, SubgroupOp, Ty};
use crate::cpu::subgroups::{identity, perform};

/// Kernels with more operations call a function for each, to limit the code size.
const MAX_UNROLLED: usize = 32;

impl SimdGroup<'_, '_, '_> {
    pub(super) fn subgroup_op(&mut self, op: &SubgroupOp) {
        if op.kind == GroupKind::Barrier {
            // The code of a SIMD group runs in order.
            return;
        }
        if !self.has_form(op) {
            return self.call_subgroup_op(op);
        }
        let Some(mask) = self.active() else { return self.whole(op) };
        let all = self.all(&mask);
        let [whole, part, after] = std::array::from_fn(|_| self.scalar.builder.create_block());
        self.scalar.builder.ins().brif(all, whole, &[], part, &[]);
        self.scalar.builder.switch_to_block(whole);
        self.aside(|simd| simd.whole(op));
        self.scalar.builder.ins().jump(after, &[]);
        self.scalar.builder.switch_to_block(part);
        self.aside(|simd| simd.call_subgroup_op(op));
        self.scalar.builder.ins().jump(after, &[]);
        self.scalar.builder.switch_to_block(after);
    }

    /// Whether there is inline code for whole subgroups.
    fn has_form(&self, op: &SubgroupOp) -> bool {
        let insts = self.work.kernel.blocks.iter().flat_map(|block| &block.insts);
        if insts.filter(|inst| matches!(inst.op, Op::Subgroup(_))).count() > MAX_UNROLLED {
            return false;
        }
        match op.kind {
            GroupKind::MultiplyAdd(_) => false,
            GroupKind::AllEqual(scalar) => slot_ty(scalar).is_some(),
            GroupKind::Fold(_, scalar, _) => slot_ty(scalar).is_some(),
            _ => true,
        }
    }

    fn call_subgroup_op(&mut self, op: &SubgroupOp) {
        let frame = self.frame.expect("operands are in the lanes' memory");
        let active = self.lanes_there(None);
        let numbers = [op.number, self.plan.width, self.plan.granule];
        let [op, width, granule] =
            numbers.map(|n| self.scalar.builder.ins().iconst(types::I32, i64::from(n)));
        let args = [self.scalar.context, frame, op, active, width, granule];
        let mut signature = Signature::new(self.scalar.target.call_conv);
        let params = args.map(|arg| AbiParam::new(self.scalar.builder.func.dfg.value_type(arg)));
        signature.params.extend(params);
        let signature = self.scalar.builder.import_signature(signature);
        let function = self.scalar.builder.ins().iconst(types::I64, perform as *const () as i64);
        self.scalar.builder.ins().call_indirect(signature, function, &args);
    }

    /// An operation of subgroups whose lanes are all active.
    fn whole(&mut self, op: &SubgroupOp) {
        let (size, n) = (self.work.kernel.subgroup_size, op.n);
        match op.kind {
            GroupKind::Elect => {
                let lanes = (0..self.plan.width).map(|lane| i64::from(lane % size == 0));
                let lanes: Vec<_> =
                    lanes.map(|bit| self.scalar.builder.ins().iconst(types::I32, bit)).collect();
                self.give(op, 0, Ty::I32, &lanes);
            }
            GroupKind::All => self.fold(op, 0, (Fold::And, Scalar::Bool, Span::Reduce)),
            GroupKind::Any => self.fold(op, 0, (Fold::Or, Scalar::Bool, Span::Reduce)),
            GroupKind::AllEqual(scalar) => self.all_equal(op, scalar),
            GroupKind::Ballot => self.ballot(op),
            GroupKind::Read(source) => self.read_lanes(op, source),
            GroupKind::Fold(fold, scalar, span) => {
                (0..n).for_each(|i| self.fold(op, i, (fold, scalar, span)));
            }
            GroupKind::Barrier | GroupKind::MultiplyAdd(_) => unreachable!("these have no such form"),
        }
    }

    /// Bytes from the start of the SIMD group's memory to a lane's slot.
    fn slot(&self, op: &SubgroupOp, i: u32, lane: u32) -> i32 {
        ((op.slots + 8 * i) * self.plan.width + lane * self.plan.granule) as i32
    }

    fn slot_of(&mut self, op: &SubgroupOp, i: u32, ty: Ty, lane: u32) -> ir::Value {
        let (at, frame) = (self.slot(op, i, lane), self.frame.expect("it was asked for before"));
        self.scalar.builder.ins().load(clif(ty), memory(), frame, at)
    }

    /// Stores results in the slots of all lanes: as vectors where slots are adjacent, so that vector loads
    /// can follow.
    fn give(&mut self, op: &SubgroupOp, i: u32, ty: Ty, lanes: &[ir::Value]) {
        let frame = self.frame.expect("it was asked for before");
        if ty.size() != self.plan.granule {
            for (lane, &own) in (0..).zip(lanes) {
                let at = self.slot(op, i, lane);
                self.scalar.builder.ins().store(memory(), own, frame, at);
            }
            return;
        }
        for (first, lanes) in (0..).step_by(lanes_of(ty) as usize).zip(lanes.chunks(lanes_of(ty) as usize)) {
            let vector = match lanes.iter().all(|&lane| lane == lanes[0]) {
                true => self.scalar.builder.ins().splat(vector_type(ty), lanes[0]),
                false => self.gather(ty, lanes)[0],
            };
            let at = self.slot(op, i, first);
            self.scalar.builder.ins().store(memory(), vector, frame, at);
        }
    }

    fn fold(&mut self, op: &SubgroupOp, i: u32, (fold, scalar, span): (Fold, Scalar, Span)) {
        let ty = slot_ty(scalar).expect("only such have this form");
        let size = match span {
            Span::Clustered(size) => size,
            _ => self.work.kernel.subgroup_size,
        };
        let mut lanes = Vec::new();
        for first in (0..self.plan.width).step_by(size as usize) {
            let mut sum = self.scalar.constant(ty, identity(fold, scalar));
            let before = lanes.len();
            for lane in first..first + size {
                let own = self.slot_of(op, i, ty, lane);
                let next = self.combine(fold, scalar, sum, own);
                lanes.push(if span == Span::Exclusive { sum } else { next });
                sum = next;
            }
            if !matches!(span, Span::Inclusive | Span::Exclusive) {
                lanes[before..].fill(sum);
            }
        }
        self.give(op, i, ty, &lanes);
    }

    fn combine(&mut self, fold: Fold, scalar: Scalar, a: ir::Value, b: ir::Value) -> ir::Value {
        let ins = self.scalar.builder.ins();
        let (is_float, is_signed) = (scalar.is_float(), scalar.is_signed());
        match fold {
            Fold::Add if is_float => ins.fadd(a, b),
            Fold::Mul if is_float => ins.fmul(a, b),
            Fold::Min if is_float => {
                let less = ins.fcmp(FloatCC::LessThan, b, a);
                self.scalar.builder.ins().select(less, b, a)
            }
            Fold::Max if is_float => {
                let greater = ins.fcmp(FloatCC::GreaterThan, b, a);
                self.scalar.builder.ins().select(greater, b, a)
            }
            Fold::Add => ins.iadd(a, b),
            Fold::Mul => ins.imul(a, b),
            Fold::Min if is_signed => ins.smin(a, b),
            Fold::Max if is_signed => ins.smax(a, b),
            Fold::Min => ins.umin(a, b),
            Fold::Max => ins.umax(a, b),
            Fold::And => ins.band(a, b),
            Fold::Or => ins.bor(a, b),
            Fold::Xor => ins.bxor(a, b),
        }
    }

    fn all_equal(&mut self, op: &SubgroupOp, scalar: Scalar) {
        let ty = slot_ty(scalar).expect("only such have this form");
        let mut lanes = Vec::new();
        for first in self.subgroups() {
            let mut same = self.scalar.builder.ins().iconst(types::I8, 1);
            for i in 0..op.n {
                let known = self.slot_of(op, i, ty, first);
                for lane in first..first + self.work.kernel.subgroup_size {
                    let own = self.slot_of(op, i, ty, lane);
                    let equal = match scalar.is_float() {
                        true => self.scalar.builder.ins().fcmp(FloatCC::Equal, own, known),
                        false => self.scalar.builder.ins().icmp(IntCC::Equal, own, known),
                    };
                    same = self.scalar.builder.ins().band(same, equal);
                }
            }
            let same = self.scalar.builder.ins().uextend(types::I32, same);
            lanes.extend(self.subgroup_of(same));
        }
        self.give(op, 0, Ty::I32, &lanes);
    }

    /// Subgroups are so small here that the first word has all their bits.
    fn ballot(&mut self, op: &SubgroupOp) {
        let mut lanes = Vec::new();
        for first in self.subgroups() {
            let mut votes = self.scalar.builder.ins().iconst(types::I32, 0);
            for own in 0..self.work.kernel.subgroup_size {
                let vote = self.slot_of(op, 0, Ty::I32, first + own);
                let bit = self.scalar.builder.ins().ishl_imm_u(vote, i64::from(own));
                votes = self.scalar.builder.ins().bor(votes, bit);
            }
            lanes.extend(self.subgroup_of(votes));
        }
        self.give(op, 0, Ty::I32, &lanes);
        let zero = self.scalar.builder.ins().iconst(types::I32, 0);
        (1..4).for_each(|i| self.give(op, i, Ty::I32, &vec![zero; lanes.len()]));
    }

    fn subgroups(&self) -> impl Iterator<Item = u32> + use<> {
        (0..self.plan.width).step_by(self.work.kernel.subgroup_size as usize)
    }

    /// One value for all lanes of a subgroup.
    fn subgroup_of(&self, value: ir::Value) -> Vec<ir::Value> {
        vec![value; self.work.kernel.subgroup_size as usize]
    }

    fn read_lanes(&mut self, op: &SubgroupOp, source: Source) {
        let offsets: Vec<_> = (0..self.plan.width)
            .map(|lane| {
                let from = self.source(op, source, lane);
                let wide = self.scalar.builder.ins().uextend(types::I64, from);
                self.scalar.builder.ins().imul_imm_s(wide, i64::from(self.plan.granule))
            })
            .collect();
        let ty = if self.plan.granule == 4 { Ty::I32 } else { Ty::I64 };
        let frame = self.frame.expect("it was asked for before");
        for i in 0..op.n {
            let row = self.slot(op, i, 0);
            let read = |&offset: &ir::Value| {
                let there = self.scalar.builder.ins().iadd(frame, offset);
                self.scalar.builder.ins().load(clif(ty), memory(), there, row)
            };
            // All values are read before the first is overwritten.
            let lanes: Vec<_> = offsets.iter().map(read).collect();
            self.give(op, i, ty, &lanes);
        }
    }

    /// The lane of the SIMD group whose value a lane reads: itself, if the source is outside its subgroup.
    fn source(&mut self, op: &SubgroupOp, source: Source, lane: u32) -> ir::Value {
        let size = self.work.kernel.subgroup_size;
        let (own, first) = (lane % size, lane / size * size);
        if source == Source::First {
            return self.scalar.builder.ins().iconst(types::I32, i64::from(first));
        }
        let operand = self.slot_of(op, op.n, Ty::I32, lane);
        let ins = &mut self.scalar.builder;
        let place = ins.ins().iconst(types::I32, i64::from(own));
        let wanted = match source {
            Source::First | Source::Lane => operand,
            Source::Xor => ins.ins().bxor(place, operand),
            Source::Up => ins.ins().isub(place, operand),
            Source::Down => ins.ins().iadd(place, operand),
            Source::Rotate(cluster) => {
                let moved = ins.ins().iadd(place, operand);
                let within = ins.ins().band_imm_u(moved, i64::from(cluster - 1));
                ins.ins().iadd_imm_s(within, i64::from(own / cluster * cluster))
            }
            Source::Quad => {
                let within = ins.ins().band_imm_u(operand, 3);
                ins.ins().iadd_imm_s(within, i64::from(own & !3))
            }
            Source::QuadSwap => {
                let [two, three] = [2, 3].map(|n| ins.ins().iconst(types::I32, n));
                let direction = ins.ins().umin(operand, two);
                let across = ins.ins().iadd_imm_s(direction, 1);
                let across = ins.ins().umin(across, three);
                ins.ins().bxor(place, across)
            }
        };
        let inside = ins.ins().icmp_imm_u(IntCC::UnsignedLessThan, wanted, i64::from(size));
        let from = ins.ins().select(inside, wanted, place);
        ins.ins().iadd_imm_s(from, i64::from(first))
    }
}

/// The type of a slot; `None` for scalars that are rounded or truncated after each step.
fn slot_ty(scalar: Scalar) -> Option<Ty> {
    match scalar {
        Scalar::Bool | Scalar::I32 | Scalar::U32 => Some(Ty::I32),
        Scalar::I64 | Scalar::U64 => Some(Ty::I64),
        Scalar::F32 => Some(Ty::F32),
        Scalar::F64 => Some(Ty::F64),
        _ => None,
    }
}
