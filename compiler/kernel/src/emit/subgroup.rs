//! Operations over a subgroup, each an instruction of its class.

use rspirv::spirv::{GroupOperation, Op, Scope, Word};

use super::function::FunctionEmitter;
use super::module::Operand;
use crate::builtins::{Combine, Spread, SubgroupOp};
use crate::ir::NodeId;
use crate::signature::Capability;
use crate::types::{Kind, Scalar, Type};

impl FunctionEmitter<'_> {
    pub fn subgroup(
        &mut self,
        op: SubgroupOp,
        value: Option<NodeId>,
        lane: Option<NodeId>,
        ty: &Type,
    ) -> Word {
        let lane_is_constant = lane.is_some_and(|lane| self.function.constant(lane).is_some());
        let scalar = value.and_then(|value| self.function.ty(value).scalar()).unwrap_or(Scalar::Bool);
        let (value, lane) = (value.map(|value| self.value(value)), lane.map(|lane| self.value(lane)));
        let (op, capability, spread) = match op {
            SubgroupOp::Combine(combine, spread) => {
                (combining(combine, scalar), Capability::GroupNonUniformArithmetic, Some(spread))
            }
            // The lane of a broadcast is the same for all; that of a shuffle need not be.
            SubgroupOp::Broadcast if lane_is_constant => {
                (Op::GroupNonUniformBroadcast, Capability::GroupNonUniformBallot, None)
            }
            SubgroupOp::Broadcast | SubgroupOp::Shuffle => {
                (Op::GroupNonUniformShuffle, Capability::GroupNonUniformShuffle, None)
            }
            SubgroupOp::ShuffleXor => {
                (Op::GroupNonUniformShuffleXor, Capability::GroupNonUniformShuffle, None)
            }
            SubgroupOp::ShuffleUp => {
                (Op::GroupNonUniformShuffleUp, Capability::GroupNonUniformShuffleRelative, None)
            }
            SubgroupOp::ShuffleDown => {
                (Op::GroupNonUniformShuffleDown, Capability::GroupNonUniformShuffleRelative, None)
            }
            SubgroupOp::Ballot => (Op::GroupNonUniformBallot, Capability::GroupNonUniformBallot, None),
            SubgroupOp::Any => (Op::GroupNonUniformAny, Capability::GroupNonUniformVote, None),
            SubgroupOp::All => (Op::GroupNonUniformAll, Capability::GroupNonUniformVote, None),
            SubgroupOp::Elect => (Op::GroupNonUniformElect, Capability::GroupNonUniform, None),
        };
        self.module.need(Capability::GroupNonUniform);
        self.module.need(capability);
        let mut operands = vec![Operand::IdScope(self.scope(Scope::Subgroup))];
        operands.extend(spread.map(|spread| {
            Operand::GroupOperation(match spread {
                Spread::Reduce => GroupOperation::Reduce,
                Spread::Inclusive => GroupOperation::InclusiveScan,
                Spread::Exclusive => GroupOperation::ExclusiveScan,
            })
        }));
        operands.extend(value.into_iter().chain(lane).map(Operand::IdRef));
        let result = self.module.ty(ty);
        self.op(op, result, operands)
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
