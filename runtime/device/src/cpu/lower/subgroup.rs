//! Subgroup operations. Each ends its block, as a barrier does: it stores its operands in the lane's memory,
//! [`crate::cpu::subgroups`] performs it, and the results are loaded again. Operations that a lane can
//! compute from a ballot and its own index need no other lane.

use kps_scalar::{Kind, Scalar};
use rspirv::spirv::{BuiltIn, GroupOperation, Op};

use super::{Data, Lowerer, Operand};
use crate::cpu::errors;
use crate::cpu::lane::{
    self, Address, Binary, Builtin, Compare, Fold, GroupKind, GroupOp, Source, Space, Span, Terminator, Ty,
    Unary,
};
use crate::cpu::module::Instruction;
use crate::cpu::module::constants::lane_ty;
use crate::{Access, Result};

/// Limit of operands of one operation; those of cooperative matrices are many.
const MAX_OPERANDS: u32 = 2048;

pub fn is_known(op: Op) -> bool {
    fold(op).is_some()
        || matches!(
            op,
            Op::GroupNonUniformElect
                | Op::GroupNonUniformAll
                | Op::GroupNonUniformAny
                | Op::GroupNonUniformAllEqual
                | Op::GroupNonUniformBroadcast
                | Op::GroupNonUniformBroadcastFirst
                | Op::GroupNonUniformBallot
                | Op::GroupNonUniformInverseBallot
                | Op::GroupNonUniformBallotBitExtract
                | Op::GroupNonUniformBallotBitCount
                | Op::GroupNonUniformBallotFindLSB
                | Op::GroupNonUniformBallotFindMSB
                | Op::GroupNonUniformShuffle
                | Op::GroupNonUniformShuffleXor
                | Op::GroupNonUniformShuffleUp
                | Op::GroupNonUniformShuffleDown
                | Op::GroupNonUniformRotateKHR
                | Op::GroupNonUniformQuadBroadcast
                | Op::GroupNonUniformQuadSwap
                | Op::GroupNonUniformQuadAllKHR
                | Op::GroupNonUniformQuadAnyKHR
                | Op::SubgroupBallotKHR
                | Op::SubgroupFirstInvocationKHR
                | Op::SubgroupAllKHR
                | Op::SubgroupAnyKHR
                | Op::SubgroupAllEqualKHR
                | Op::SubgroupReadInvocationKHR
        )
}

/// The fold of an instruction, and the kind of number that it takes.
fn fold(op: Op) -> Option<(Fold, Kind)> {
    let (signed, unsigned, float) = (Kind::Signed, Kind::Unsigned, Kind::Float);
    Some(match op {
        Op::GroupNonUniformIAdd => (Fold::Add, unsigned),
        Op::GroupNonUniformFAdd => (Fold::Add, float),
        Op::GroupNonUniformIMul => (Fold::Mul, unsigned),
        Op::GroupNonUniformFMul => (Fold::Mul, float),
        Op::GroupNonUniformSMin => (Fold::Min, signed),
        Op::GroupNonUniformUMin => (Fold::Min, unsigned),
        Op::GroupNonUniformFMin => (Fold::Min, float),
        Op::GroupNonUniformSMax => (Fold::Max, signed),
        Op::GroupNonUniformUMax => (Fold::Max, unsigned),
        Op::GroupNonUniformFMax => (Fold::Max, float),
        Op::GroupNonUniformBitwiseAnd => (Fold::And, unsigned),
        Op::GroupNonUniformBitwiseOr => (Fold::Or, unsigned),
        Op::GroupNonUniformBitwiseXor => (Fold::Xor, unsigned),
        Op::GroupNonUniformLogicalAnd => (Fold::And, Kind::Bool),
        Op::GroupNonUniformLogicalOr => (Fold::Or, Kind::Bool),
        Op::GroupNonUniformLogicalXor => (Fold::Xor, Kind::Bool),
        _ => return None,
    })
}

/// A vote among four neighbours.
fn quad(fold: Fold) -> GroupKind {
    GroupKind::Fold(fold, Scalar::Bool, Span::Clustered(4))
}

/// The scalar with the sign that an operation of this kind implies; `None` if it does not take the scalar.
pub(super) fn as_kind(asked: Kind, scalar: Scalar) -> Option<Scalar> {
    match asked {
        Kind::Signed if scalar.is_int() => Some(scalar.as_signed()),
        Kind::Unsigned if scalar.is_int() => Some(scalar.as_unsigned()),
        kind => Some(scalar).filter(|scalar| scalar.kind() == kind),
    }
}

impl Lowerer<'_> {
    pub(super) fn subgroup(&mut self, inst: &Instruction) -> Result<()> {
        // These instructions have no scope operand.
        let is_bare = matches!(
            inst.op,
            Op::GroupNonUniformQuadAllKHR
                | Op::GroupNonUniformQuadAnyKHR
                | Op::SubgroupBallotKHR
                | Op::SubgroupFirstInvocationKHR
                | Op::SubgroupAllKHR
                | Op::SubgroupAnyKHR
                | Op::SubgroupAllEqualKHR
                | Op::SubgroupReadInvocationKHR
        );
        if !is_bare && self.constant_int(inst, 2)? != 3 {
            return Err(self.unsupported(inst, "only the scope of a subgroup is supported here"));
        }
        let data = self.subgroup_value(inst, if is_bare { 2 } else { 3 })?;
        self.define(inst, Operand::Data(data))
    }

    /// `i` is the first operand after the scope.
    fn subgroup_value(&mut self, inst: &Instruction, i: usize) -> Result<Data> {
        match inst.op {
            Op::GroupNonUniformElect => {
                let elected = self.subgroup_op(inst, GroupKind::Elect, 0, &[], &[Ty::Bool])?;
                self.as_result(inst, elected)
            }
            Op::GroupNonUniformAll | Op::SubgroupAllKHR => self.vote(inst, GroupKind::All, i),
            Op::GroupNonUniformAny | Op::SubgroupAnyKHR => self.vote(inst, GroupKind::Any, i),
            Op::GroupNonUniformQuadAllKHR => self.vote(inst, quad(Fold::And), i),
            Op::GroupNonUniformQuadAnyKHR => self.vote(inst, quad(Fold::Or), i),
            Op::GroupNonUniformAllEqual | Op::SubgroupAllEqualKHR => self.all_equal(inst, i),
            Op::GroupNonUniformBallot | Op::SubgroupBallotKHR => {
                let condition = self.condition(inst, i)?;
                let votes = self.subgroup_op(inst, GroupKind::Ballot, 1, &[condition], &[Ty::I32; 4])?;
                self.as_result(inst, votes)
            }
            Op::GroupNonUniformInverseBallot => {
                let (votes, own) = (self.ballot(inst, i)?, self.subgroup_lane());
                let bit = self.ballot_bit(&votes, own);
                self.as_result(inst, vec![bit])
            }
            Op::GroupNonUniformBallotBitExtract => {
                let (votes, (_, lane)) = (self.ballot(inst, i)?, self.int(inst, i + 1)?);
                let bit = self.ballot_bit(&votes, lane);
                self.as_result(inst, vec![bit])
            }
            Op::GroupNonUniformBallotBitCount => self.ballot_count(inst, i),
            Op::GroupNonUniformBallotFindLSB => self.ballot_find(inst, i, Unary::TrailingZeros),
            Op::GroupNonUniformBallotFindMSB => self.ballot_find(inst, i, Unary::LeadingZeros),
            Op::GroupNonUniformBroadcastFirst | Op::SubgroupFirstInvocationKHR => {
                self.read_lane(inst, i, Source::First)
            }
            Op::GroupNonUniformBroadcast | Op::GroupNonUniformShuffle | Op::SubgroupReadInvocationKHR => {
                self.read_lane(inst, i, Source::Lane)
            }
            Op::GroupNonUniformShuffleXor => self.read_lane(inst, i, Source::Xor),
            Op::GroupNonUniformShuffleUp => self.read_lane(inst, i, Source::Up),
            Op::GroupNonUniformShuffleDown => self.read_lane(inst, i, Source::Down),
            Op::GroupNonUniformQuadBroadcast => self.read_lane(inst, i, Source::Quad),
            Op::GroupNonUniformQuadSwap => self.read_lane(inst, i, Source::QuadSwap),
            Op::GroupNonUniformRotateKHR => {
                let cluster = match self.module.operands(inst).len() > i + 2 {
                    true => self.cluster(inst, i + 2)?,
                    false => self.builder.kernel.subgroup_size,
                };
                self.read_lane(inst, i, Source::Rotate(cluster))
            }
            _ => self.subgroup_fold(inst, i),
        }
    }

    pub(super) fn subgroup_barrier(&mut self, inst: &Instruction) -> Result<()> {
        self.subgroup_op(inst, GroupKind::Barrier, 0, &[], &[]).map(|_| ())
    }

    fn vote(&mut self, inst: &Instruction, kind: GroupKind, i: usize) -> Result<Data> {
        let condition = self.condition(inst, i)?;
        let result = self.subgroup_op(inst, kind, 1, &[condition], &[Ty::Bool])?;
        self.as_result(inst, result)
    }

    fn all_equal(&mut self, inst: &Instruction, i: usize) -> Result<Data> {
        let (scalar, data) = self.scalars(inst, i)?;
        let kind = GroupKind::AllEqual(as_kind(Kind::Unsigned, scalar).unwrap_or(scalar));
        let result = self.subgroup_op(inst, kind, data.parts.len() as u32, &data.parts, &[Ty::Bool])?;
        self.as_result(inst, result)
    }

    /// A value of another lane.
    fn read_lane(&mut self, inst: &Instruction, i: usize, source: Source) -> Result<Data> {
        let (scalar, data) = self.scalars(inst, i)?;
        let mut operands = data.parts.to_vec();
        if source != Source::First {
            let (_, operand) = self.int(inst, i + 1)?;
            operands.push(self.resize(operand, Ty::I32));
        }
        let n = data.parts.len();
        let results = vec![lane_ty(scalar); n];
        let parts = self.subgroup_op(inst, GroupKind::Read(source), n as u32, &operands, &results)?;
        Ok(Data { ty: data.ty, parts: parts.into() })
    }

    fn subgroup_fold(&mut self, inst: &Instruction, i: usize) -> Result<Data> {
        let (fold, asked) = fold(inst.op).expect("the instruction is one of this file");
        let span = match GroupOperation::from_u32(self.word(inst, i)?) {
            Some(GroupOperation::Reduce) => Span::Reduce,
            Some(GroupOperation::InclusiveScan) => Span::Inclusive,
            Some(GroupOperation::ExclusiveScan) => Span::Exclusive,
            Some(GroupOperation::ClusteredReduce) => Span::Clustered(self.cluster(inst, i + 2)?),
            _ => return Err(self.unsupported(inst, "reductions, scans and clusters are supported")),
        };
        let (scalar, data) = self.scalars(inst, i + 1)?;
        let scalar = as_kind(asked, scalar).ok_or_else(|| self.wrong_operands(inst))?;
        let results = vec![lane_ty(scalar); data.parts.len()];
        let kind = GroupKind::Fold(fold, scalar, span);
        let parts = self.subgroup_op(inst, kind, data.parts.len() as u32, &data.parts, &results)?;
        Ok(Data { ty: data.ty, parts: parts.into() })
    }

    fn cluster(&mut self, inst: &Instruction, i: usize) -> Result<u32> {
        let size = self.constant_int(inst, i)?;
        match u32::try_from(size) {
            Ok(size) if size.is_power_of_two() => Ok(size.min(self.builder.kernel.subgroup_size)),
            _ => Err(self.malformed(inst, "the size of a cluster is a power of two")),
        }
    }

    /// Performs an operation: stores operands, waits for the other lanes and loads the results.
    pub(super) fn subgroup_op(
        &mut self,
        inst: &Instruction,
        kind: GroupKind,
        n: u32,
        operands: &[lane::Value],
        results: &[Ty],
    ) -> Result<Vec<lane::Value>> {
        let n_slots = operands.len().max(results.len()) as u32;
        let Some(slots) = self.slots(n_slots) else {
            return Err(errors::too_large("its subgroup operations", self.module.line(inst.line)));
        };
        for (i, &operand) in operands.iter().enumerate() {
            let operand = self.slot_form(operand);
            let ty = self.builder.ty(operand);
            let address = self.slot((slots, n_slots), (i, ty), Access::Write);
            self.builder.store(address, 0, operand);
        }
        let next = self.builder.create_block();
        let op = self.builder.kernel.group_ops.len();
        // Counters and places are found when all blocks exist.
        let group_op = GroupOp { kind, slots, n, rounds: 0, loops: Vec::new(), place: 0 };
        self.builder.kernel.group_ops.push(group_op);
        self.builder.end(Terminator::Subgroup { op, next });
        self.builder.block = next;
        let result = |(i, &ty): (usize, &Ty)| {
            let slot_ty = if ty == Ty::Bool { Ty::I32 } else { ty };
            let address = self.slot((slots, n_slots), (i, slot_ty), Access::Read);
            let loaded = self.builder.load(slot_ty, address, 0);
            self.out_of_slot(loaded, ty)
        };
        Ok(results.iter().enumerate().map(result).collect())
    }

    /// Slots for so many operands. Operations share them, because a lane waits at one operation at a time.
    fn slots(&mut self, n: u32) -> Option<u32> {
        match self.group_slots {
            Some((start, room)) if n <= room => Some(start),
            _ => {
                let room = n.max(8);
                let start = self.builder.kernel.frame_size;
                if room > MAX_OPERANDS || !self.has_frame_room(room * 8) {
                    return None;
                }
                self.builder.kernel.frame_size += room * 8;
                self.group_slots = Some((start, room));
                Some(start)
            }
        }
    }

    fn slot(&mut self, (start, n): (u32, u32), (i, ty): (usize, Ty), access: Access) -> lane::Value {
        let space = Space::Frame { start, size: n * 8 };
        let (constant, size) = (8 * i as u64, ty.size());
        self.builder.address(Address { space, dynamic: None, constant, size, access })
    }

    /// Converts a value for its slot: booleans become ints, because SIMD groups have no vectors of bytes.
    fn slot_form(&mut self, value: lane::Value) -> lane::Value {
        match self.builder.ty(value) {
            Ty::Bool => self.builder.convert(lane::Convert::BoolToInt, value),
            _ => value,
        }
    }

    fn out_of_slot(&mut self, loaded: lane::Value, ty: Ty) -> lane::Value {
        if ty != Ty::Bool {
            return loaded;
        }
        let zero = self.builder.i32(0);
        self.builder.compare(Compare::Ne, loaded, zero)
    }

    /// Converts parts to the result type, which must have as many.
    fn as_result(&mut self, inst: &Instruction, parts: Vec<lane::Value>) -> Result<Data> {
        let (ty, scalar, n) = self.result_scalars(inst)?;
        if n != parts.len() || lane_ty(scalar) != self.builder.ty(parts[0]) {
            return Err(self.malformed(inst, "the result has another type"));
        }
        Ok(Data { ty, parts: parts.into() })
    }

    /// The four words of a ballot.
    fn ballot(&mut self, inst: &Instruction, i: usize) -> Result<[lane::Value; 2]> {
        match self.scalars(inst, i)? {
            (Scalar::I32 | Scalar::U32, data) if data.parts.len() == 4 => Ok([data.parts[0], data.parts[1]]),
            _ => Err(self.malformed(inst, "a ballot has four 32-bit ints")),
        }
    }

    /// Both words as one, with the bits of the subgroup only.
    fn ballot_bits(&mut self, votes: &[lane::Value; 2]) -> lane::Value {
        let joined = self.regroup(votes, 32, 64)[0];
        let mask = self.builder.int(Ty::I64, low_bits(self.builder.kernel.subgroup_size));
        self.builder.binary(Binary::And, joined, mask)
    }

    fn ballot_bit(&mut self, votes: &[lane::Value; 2], lane: lane::Value) -> lane::Value {
        let bits = self.ballot_bits(votes);
        let lane = self.resize(lane, Ty::I64);
        let moved = self.builder.binary(Binary::ShrU, bits, lane);
        let one = self.builder.int(Ty::I64, 1);
        let bit = self.builder.binary(Binary::And, moved, one);
        self.builder.compare(Compare::Eq, bit, one)
    }

    fn ballot_count(&mut self, inst: &Instruction, i: usize) -> Result<Data> {
        let votes = self.ballot(inst, i + 1)?;
        let bits = self.ballot_bits(&votes);
        let counted = match GroupOperation::from_u32(self.word(inst, i)?) {
            Some(GroupOperation::Reduce) => bits,
            Some(GroupOperation::InclusiveScan) => {
                let mask = self.lanes_below(1);
                self.builder.binary(Binary::And, bits, mask)
            }
            Some(GroupOperation::ExclusiveScan) => {
                let mask = self.lanes_below(0);
                self.builder.binary(Binary::And, bits, mask)
            }
            _ => return Err(self.unsupported(inst, "reductions and scans are supported")),
        };
        let count = self.builder.unary(Unary::PopCount, counted);
        let count = self.resize(count, Ty::I32);
        self.as_result(inst, vec![count])
    }

    fn ballot_find(&mut self, inst: &Instruction, i: usize, zeros: Unary) -> Result<Data> {
        let votes = self.ballot(inst, i)?;
        let bits = self.ballot_bits(&votes);
        let zeros_there = self.builder.unary(zeros, bits);
        let found = match zeros {
            Unary::TrailingZeros => zeros_there,
            _ => {
                let top = self.builder.int(Ty::I64, 63);
                self.builder.binary(Binary::Sub, top, zeros_there)
            }
        };
        let found = self.resize(found, Ty::I32);
        self.as_result(inst, vec![found])
    }

    pub(super) fn subgroup_lane(&mut self) -> lane::Value {
        let (index, size) = (self.builder.builtin(Builtin::LocalIndex), self.builder.kernel.subgroup_size);
        let mask = self.builder.i32(size as i32 - 1);
        self.builder.binary(Binary::And, index, mask)
    }

    /// A mask of the lanes below this one's index plus `more`.
    fn lanes_below(&mut self, more: i64) -> lane::Value {
        let lane = self.subgroup_lane();
        let lane = self.resize(lane, Ty::I64);
        let first = self.builder.int(Ty::I64, 1);
        let bit = self.builder.binary(Binary::Shl, first, lane);
        // Shifting `1` in two steps avoids an overflow: the last lane's bit becomes zero, and the mask all
        // ones.
        let more = self.builder.int(Ty::I64, more);
        let bit = self.builder.binary(Binary::Shl, bit, more);
        self.builder.binary(Binary::Sub, bit, first)
    }

    /// The components of a subgroup built-in.
    pub(super) fn subgroup_builtin(&mut self, builtin: BuiltIn) -> Option<Vec<lane::Value>> {
        let size = self.builder.kernel.subgroup_size;
        let n_lanes: u32 = self.builder.kernel.local_size.iter().product();
        Some(match builtin {
            BuiltIn::SubgroupSize => vec![self.builder.i32(size as i32)],
            BuiltIn::NumSubgroups => vec![self.builder.i32(n_lanes.div_ceil(size) as i32)],
            BuiltIn::SubgroupId => {
                let index = self.builder.builtin(Builtin::LocalIndex);
                let shift = self.builder.i32(size.trailing_zeros() as i32);
                vec![self.builder.binary(Binary::ShrU, index, shift)]
            }
            BuiltIn::SubgroupLocalInvocationId => vec![self.subgroup_lane()],
            BuiltIn::SubgroupLtMask => self.mask_of(|l| l.lanes_below(0)),
            BuiltIn::SubgroupLeMask => self.mask_of(|l| l.lanes_below(1)),
            BuiltIn::SubgroupGeMask => self.mask_of(|l| l.lanes_not_below(0)),
            BuiltIn::SubgroupGtMask => self.mask_of(|l| l.lanes_not_below(1)),
            BuiltIn::SubgroupEqMask => self.mask_of(|l| {
                let (below, with) = (l.lanes_below(0), l.lanes_below(1));
                l.builder.binary(Binary::Xor, below, with)
            }),
            _ => return None,
        })
    }

    fn lanes_not_below(&mut self, more: i64) -> lane::Value {
        let below = self.lanes_below(more);
        let all = self.builder.int(Ty::I64, low_bits(self.builder.kernel.subgroup_size));
        let others = self.builder.unary(Unary::Not, below);
        self.builder.binary(Binary::And, others, all)
    }

    fn mask_of(&mut self, bits: impl Fn(&mut Self) -> lane::Value) -> Vec<lane::Value> {
        let bits = bits(self);
        let mut words = self.regroup(&[bits], 64, 32);
        let zero = self.builder.i32(0);
        words.extend([zero; 2]);
        words
    }
}

fn low_bits(n: u32) -> i64 {
    (u64::MAX >> (64 - n)) as i64
}
