//! Operations of subgroups, of which a gang holds whole ones. Operands and results lie in the memory of the lanes.
//! Where all lanes run, what is done with each is code of its own; otherwise `cpu::together` does it.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, Signature, types};
use kps_scalar::Scalar;

use super::Gang;
use super::values::{lanes_of, vector_type};
use crate::cpu::emit::ops::memory;
use crate::cpu::emit::scalar::clif;
use crate::cpu::lane::{Fold, GroupKind, Meeting, Op, Source, Span, Ty};
use crate::cpu::together::{identity, meet};

/// Kernels with more operations than this call a function for each: their code would become large.
const MAX_UNROLLED: usize = 32;

impl Gang<'_, '_, '_> {
    pub(super) fn meet_in_subgroups(&mut self, meeting: &Meeting) {
        if meeting.kind == GroupKind::Barrier {
            // The code of a gang does everything in order.
            return;
        }
        if !self.has_form(meeting) {
            return self.call_meet(meeting);
        }
        let Some(mask) = self.active() else { return self.whole(meeting) };
        let all = self.all(&mask);
        let [whole, part, behind] = std::array::from_fn(|_| self.scalar.builder.create_block());
        self.scalar.builder.ins().brif(all, whole, &[], part, &[]);
        self.scalar.builder.switch_to_block(whole);
        self.aside(|gang| gang.whole(meeting));
        self.scalar.builder.ins().jump(behind, &[]);
        self.scalar.builder.switch_to_block(part);
        self.aside(|gang| gang.call_meet(meeting));
        self.scalar.builder.ins().jump(behind, &[]);
        self.scalar.builder.switch_to_block(behind);
    }

    /// Whether there is code for an operation by whole subgroups.
    fn has_form(&self, meeting: &Meeting) -> bool {
        let insts = self.work.kernel.blocks.iter().flat_map(|block| &block.insts);
        if insts.filter(|inst| matches!(inst.op, Op::Meet(_))).count() > MAX_UNROLLED {
            return false;
        }
        match meeting.kind {
            GroupKind::MultiplyAdd(_) => false,
            GroupKind::AllEqual(scalar) => slot_ty(scalar).is_some(),
            GroupKind::Fold(_, scalar, _) => slot_ty(scalar).is_some(),
            _ => true,
        }
    }

    fn call_meet(&mut self, meeting: &Meeting) {
        let frame = self.frame.expect("operands lie in memory of the lanes");
        let active = self.lanes_there(None);
        let numbers = [meeting.op, self.plan.width, self.plan.granule];
        let [op, width, granule] =
            numbers.map(|n| self.scalar.builder.ins().iconst(types::I32, i64::from(n)));
        let args = [self.scalar.context, frame, op, active, width, granule];
        let mut signature = Signature::new(self.scalar.target.call_conv);
        let params = args.map(|arg| AbiParam::new(self.scalar.builder.func.dfg.value_type(arg)));
        signature.params.extend(params);
        let signature = self.scalar.builder.import_signature(signature);
        let function = self.scalar.builder.ins().iconst(types::I64, meet as *const () as i64);
        self.scalar.builder.ins().call_indirect(signature, function, &args);
    }

    /// An operation of subgroups all of whose lanes run.
    fn whole(&mut self, meeting: &Meeting) {
        let (size, n) = (self.work.kernel.subgroup_size, meeting.n);
        match meeting.kind {
            GroupKind::Elect => {
                let lanes = (0..self.plan.width).map(|lane| i64::from(lane % size == 0));
                let lanes: Vec<_> =
                    lanes.map(|bit| self.scalar.builder.ins().iconst(types::I32, bit)).collect();
                self.give(meeting, 0, Ty::I32, &lanes);
            }
            GroupKind::All => self.fold(meeting, 0, (Fold::And, Scalar::Bool, Span::Reduce)),
            GroupKind::Any => self.fold(meeting, 0, (Fold::Or, Scalar::Bool, Span::Reduce)),
            GroupKind::AllEqual(scalar) => self.all_equal(meeting, scalar),
            GroupKind::Ballot => self.ballot(meeting),
            GroupKind::Read(source) => self.read_lanes(meeting, source),
            GroupKind::Fold(fold, scalar, span) => {
                (0..n).for_each(|i| self.fold(meeting, i, (fold, scalar, span)));
            }
            GroupKind::Barrier | GroupKind::MultiplyAdd(_) => unreachable!("these have no such form"),
        }
    }

    /// Bytes from the start of the gang's memory to a lane's slot.
    fn slot(&self, meeting: &Meeting, i: u32, lane: u32) -> i32 {
        ((meeting.slots + 8 * i) * self.plan.width + lane * self.plan.granule) as i32
    }

    fn slot_of(&mut self, meeting: &Meeting, i: u32, ty: Ty, lane: u32) -> ir::Value {
        let (at, frame) = (self.slot(meeting, i, lane), self.frame.expect("it was asked for before"));
        self.scalar.builder.ins().load(clif(ty), memory(), frame, at)
    }

    /// Leaves results in the slots of all lanes: in vectors, where slots lie close together, so that they can be
    /// loaded as such at once.
    fn give(&mut self, meeting: &Meeting, i: u32, ty: Ty, lanes: &[ir::Value]) {
        let frame = self.frame.expect("it was asked for before");
        if ty.size() != self.plan.granule {
            for (lane, &own) in (0..).zip(lanes) {
                let at = self.slot(meeting, i, lane);
                self.scalar.builder.ins().store(memory(), own, frame, at);
            }
            return;
        }
        for (first, lanes) in (0..).step_by(lanes_of(ty) as usize).zip(lanes.chunks(lanes_of(ty) as usize)) {
            let vector = match lanes.iter().all(|&lane| lane == lanes[0]) {
                true => self.scalar.builder.ins().splat(vector_type(ty), lanes[0]),
                false => self.gather(ty, lanes)[0],
            };
            let at = self.slot(meeting, i, first);
            self.scalar.builder.ins().store(memory(), vector, frame, at);
        }
    }

    fn fold(&mut self, meeting: &Meeting, i: u32, (fold, scalar, span): (Fold, Scalar, Span)) {
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
                let own = self.slot_of(meeting, i, ty, lane);
                let next = self.combine(fold, scalar, sum, own);
                lanes.push(if span == Span::Exclusive { sum } else { next });
                sum = next;
            }
            if !matches!(span, Span::Inclusive | Span::Exclusive) {
                lanes[before..].fill(sum);
            }
        }
        self.give(meeting, i, ty, &lanes);
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

    fn all_equal(&mut self, meeting: &Meeting, scalar: Scalar) {
        let ty = slot_ty(scalar).expect("only such have this form");
        let mut lanes = Vec::new();
        for first in self.subgroups() {
            let mut same = self.scalar.builder.ins().iconst(types::I8, 1);
            for i in 0..meeting.n {
                let known = self.slot_of(meeting, i, ty, first);
                for lane in first..first + self.work.kernel.subgroup_size {
                    let own = self.slot_of(meeting, i, ty, lane);
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
        self.give(meeting, 0, Ty::I32, &lanes);
    }

    /// A subgroup has so few lanes here that the first word has all their bits.
    fn ballot(&mut self, meeting: &Meeting) {
        let mut lanes = Vec::new();
        for first in self.subgroups() {
            let mut votes = self.scalar.builder.ins().iconst(types::I32, 0);
            for own in 0..self.work.kernel.subgroup_size {
                let vote = self.slot_of(meeting, 0, Ty::I32, first + own);
                let bit = self.scalar.builder.ins().ishl_imm_u(vote, i64::from(own));
                votes = self.scalar.builder.ins().bor(votes, bit);
            }
            lanes.extend(self.subgroup_of(votes));
        }
        self.give(meeting, 0, Ty::I32, &lanes);
        let nobody = self.scalar.builder.ins().iconst(types::I32, 0);
        (1..4).for_each(|i| self.give(meeting, i, Ty::I32, &vec![nobody; lanes.len()]));
    }

    fn subgroups(&self) -> impl Iterator<Item = u32> + use<> {
        (0..self.plan.width).step_by(self.work.kernel.subgroup_size as usize)
    }

    /// The same for every lane of a subgroup.
    fn subgroup_of(&self, value: ir::Value) -> Vec<ir::Value> {
        vec![value; self.work.kernel.subgroup_size as usize]
    }

    fn read_lanes(&mut self, meeting: &Meeting, source: Source) {
        let offsets: Vec<_> = (0..self.plan.width)
            .map(|lane| {
                let from = self.source(meeting, source, lane);
                let wide = self.scalar.builder.ins().uextend(types::I64, from);
                self.scalar.builder.ins().imul_imm_s(wide, i64::from(self.plan.granule))
            })
            .collect();
        let ty = if self.plan.granule == 4 { Ty::I32 } else { Ty::I64 };
        let frame = self.frame.expect("it was asked for before");
        for i in 0..meeting.n {
            let row = self.slot(meeting, i, 0);
            let read = |&offset: &ir::Value| {
                let there = self.scalar.builder.ins().iadd(frame, offset);
                self.scalar.builder.ins().load(clif(ty), memory(), there, row)
            };
            // All are read before any is written over.
            let lanes: Vec<_> = offsets.iter().map(read).collect();
            self.give(meeting, i, ty, &lanes);
        }
    }

    /// The lane of the gang whose value a lane reads: itself, where that one is outside of its subgroup.
    fn source(&mut self, meeting: &Meeting, source: Source, lane: u32) -> ir::Value {
        let size = self.work.kernel.subgroup_size;
        let (own, first) = (lane % size, lane / size * size);
        if source == Source::First {
            return self.scalar.builder.ins().iconst(types::I32, i64::from(first));
        }
        let operand = self.slot_of(meeting, meeting.n, Ty::I32, lane);
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

/// As what a slot is loaded; `None` for scalars that are rounded or cut after each step.
fn slot_ty(scalar: Scalar) -> Option<Ty> {
    match scalar {
        Scalar::Bool | Scalar::I32 | Scalar::U32 => Some(Ty::I32),
        Scalar::I64 | Scalar::U64 => Some(Ty::I64),
        Scalar::F32 => Some(Ty::F32),
        Scalar::F64 => Some(Ty::F64),
        _ => None,
    }
}
