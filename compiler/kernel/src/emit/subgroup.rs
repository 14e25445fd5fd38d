//! Operations over a subgroup, each an instruction of its class.
//!
//! In Vulkan the value of a lane outside the subgroup, or of an inactive lane, is undefined. In the language an
//! invocation that reads such a lane gets its own value, so the module tests first whether the lane is active.

use rspirv::spirv::{GroupOperation, Op, Scope, Word};

use super::function::FunctionEmitter;
use crate::constant::Constant;
use crate::ir::{Combine, NodeId, Spread, SubgroupOp};
use crate::signature::Capability;
use crate::template::Input;
use crate::types::{Kind, Scalar, Type};

impl FunctionEmitter<'_> {
    pub fn subgroup(
        &mut self,
        op: SubgroupOp,
        value: Option<NodeId>,
        lane: Option<NodeId>,
        ty: &Type,
    ) -> Word {
        self.module.need(Capability::GroupNonUniform);
        let from = lane.and_then(|lane| self.function.constant(lane)).and_then(|lane| lane.as_int());
        let (value, lane) = (value.map(|value| self.value(value)), lane.map(|lane| self.value(lane)));
        let given: Vec<Word> = value.into_iter().chain(lane).collect();
        match (op, &given[..], from) {
            (SubgroupOp::Combine(combine, spread), &[value], _) => self.combine(combine, spread, value, ty),
            (SubgroupOp::Shuffle, &[value, lane], Some(from)) => self.of_known_lane(value, (lane, from), ty),
            (SubgroupOp::Shuffle, &[value, lane], None) => self.of_lane(value, lane, ty),
            (SubgroupOp::ShuffleXor, &[value, mask], _) => {
                self.relative_to_own(Op::BitwiseXor, value, mask, ty)
            }
            (SubgroupOp::ShuffleUp, &[value, distance], _) => {
                self.relative_to_own(Op::ISub, value, distance, ty)
            }
            (SubgroupOp::ShuffleDown, &[value, distance], _) => {
                self.relative_to_own(Op::IAdd, value, distance, ty)
            }
            (SubgroupOp::FromFirst, &[value], _) => {
                let first = self.int(&Type::U32, 0);
                self.broadcast(value, first, ty)
            }
            _ => {
                let (op, capability) = vote(op);
                self.module.need(capability);
                self.in_subgroup(op, &given, ty)
            }
        }
    }

    pub fn combine(&mut self, combine: Combine, spread: Spread, value: Word, ty: &Type) -> Word {
        self.module.need(Capability::GroupNonUniformArithmetic);
        let op = combining(combine, ty.scalar().unwrap_or(Scalar::Bool));
        self.in_subgroup(op, &[spread_over(spread) as Word, value], ty)
    }

    fn in_subgroup(&mut self, op: Op, operands: &[Word], ty: &Type) -> Word {
        let scope = self.scope(Scope::Subgroup);
        self.ids(op, ty, &[&[scope], operands].concat())
    }

    fn relative_to_own(&mut self, step: Op, value: Word, by: Word, ty: &Type) -> Word {
        let own = self.input_value(Input::SubgroupLocalInvocationId);
        // Below the first lane the index wraps around, far beyond the last one.
        let lane = self.ids(step, &Type::U32, &[own, by]);
        self.of_lane(value, lane, ty)
    }

    /// The value of a lane, or the own one where that is not there.
    fn of_lane(&mut self, value: Word, lane: Word, ty: &Type) -> Word {
        let own = self.input_value(Input::SubgroupLocalInvocationId);
        let size = self.input_value(Input::SubgroupSize);
        let is_inside = self.ids(Op::ULessThan, &Type::BOOL, &[lane, size]);
        let lane = self.select(&Type::U32, is_inside, lane, own);
        let active = self.active_lanes();
        let is_there = self.in_subgroup(Op::GroupNonUniformBallotBitExtract, &[active, lane], &Type::BOOL);
        let lane = self.select(&Type::U32, is_there, lane, own);
        self.module.need(Capability::GroupNonUniformShuffle);
        self.in_subgroup(Op::GroupNonUniformShuffle, &[value, lane], ty)
    }

    /// The same, of a lane that is the same for all.
    fn of_known_lane(&mut self, value: Word, (lane, known): (Word, i128), ty: &Type) -> Word {
        if known >= MAX_LANES {
            return value;
        }
        let active = self.active_lanes();
        let lanes = self.extract(active, (known / 32) as u32, &Type::U32);
        let bit = self.int(&Type::U32, 1 << (known % 32));
        let found = self.ids(Op::BitwiseAnd, &Type::U32, &[lanes, bit]);
        let is_there = self.ids(Op::IEqual, &Type::BOOL, &[found, bit]);
        let is_there = self.for_each_component(is_there, ty);
        let moved = self.broadcast(value, lane, ty);
        self.select(ty, is_there, moved, value)
    }

    /// The lane is a constant, and there.
    fn broadcast(&mut self, value: Word, lane: Word, ty: &Type) -> Word {
        self.module.need(Capability::GroupNonUniformBallot);
        self.in_subgroup(Op::GroupNonUniformBroadcast, &[value, lane], ty)
    }

    /// A bit for each lane.
    fn active_lanes(&mut self) -> Word {
        self.module.need(Capability::GroupNonUniformBallot);
        let always = self.module.constant(Constant::bool(true));
        let lanes = Type::Vector(4, Scalar::U32);
        self.in_subgroup(Op::GroupNonUniformBallot, &[always], &lanes)
    }

    pub fn for_each_component(&mut self, condition: Word, ty: &Type) -> Word {
        match ty.n_components() {
            1 => condition,
            n => self.construct(&vec![condition; n.into()], &Type::Vector(n, Scalar::Bool)),
        }
    }
}

/// The largest number of lanes of a ballot.
const MAX_LANES: i128 = 128;

fn vote(op: SubgroupOp) -> (Op, Capability) {
    match op {
        SubgroupOp::Ballot => (Op::GroupNonUniformBallot, Capability::GroupNonUniformBallot),
        SubgroupOp::Any => (Op::GroupNonUniformAny, Capability::GroupNonUniformVote),
        SubgroupOp::All => (Op::GroupNonUniformAll, Capability::GroupNonUniformVote),
        _ => (Op::GroupNonUniformElect, Capability::GroupNonUniform),
    }
}

fn spread_over(spread: Spread) -> GroupOperation {
    match spread {
        Spread::Reduce => GroupOperation::Reduce,
        Spread::Inclusive => GroupOperation::InclusiveScan,
        Spread::Exclusive => GroupOperation::ExclusiveScan,
    }
}

fn combining(combine: Combine, scalar: Scalar) -> Op {
    match (combine, scalar.kind()) {
        (Combine::Add, Kind::Float) => Op::GroupNonUniformFAdd,
        (Combine::Add, _) => Op::GroupNonUniformIAdd,
        (Combine::Mul, Kind::Float) => Op::GroupNonUniformFMul,
        (Combine::Mul, _) => Op::GroupNonUniformIMul,
        (Combine::Min, Kind::Float) => Op::GroupNonUniformFMin,
        (Combine::Min, Kind::Signed) => Op::GroupNonUniformSMin,
        (Combine::Min, _) => Op::GroupNonUniformUMin,
        (Combine::Max, Kind::Float) => Op::GroupNonUniformFMax,
        (Combine::Max, Kind::Signed) => Op::GroupNonUniformSMax,
        (Combine::Max, _) => Op::GroupNonUniformUMax,
        (Combine::And, Kind::Bool) => Op::GroupNonUniformLogicalAnd,
        (Combine::And, _) => Op::GroupNonUniformBitwiseAnd,
        (Combine::Or, Kind::Bool) => Op::GroupNonUniformLogicalOr,
        (Combine::Or, _) => Op::GroupNonUniformBitwiseOr,
        (Combine::Xor, Kind::Bool) => Op::GroupNonUniformLogicalXor,
        (Combine::Xor, _) => Op::GroupNonUniformBitwiseXor,
    }
}
