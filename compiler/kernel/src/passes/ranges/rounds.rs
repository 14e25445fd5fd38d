//! The values of a `range` with a step: `first + round * step`, where a counter runs up to the number of rounds.
//!
//! The product may wrap although every value is in the range. So the interval follows from how the number of rounds
//! was computed (`infer/control/ranges.rs`): it is the distance between the ends of the range, divided by the step.

use super::interval::{Interval, Size};
use super::walk::Walk;
use crate::constant::Constant;
use crate::ir::{BinaryOp, CompareOp, NodeId, NodeKind, UnaryOp};

/// The number of rounds of a range that counts in one direction: from `low` up to `high` by `step`.
#[derive(Clone, Copy)]
struct Rounds {
    low: NodeId,
    high: NodeId,
    /// Its bits, as an unsigned int.
    step: NodeId,
}

impl Walk<'_> {
    /// Whether a choice computes the number of rounds of a range.
    pub fn counts_rounds(&self, node: NodeId) -> bool {
        self.rounds(node).is_some() || self.rounds_of_any_step(node).is_some()
    }

    /// The interval of the value of a round, with the first value of the range and its end.
    pub fn value_of_round(&self, node: NodeId) -> Option<(Interval, (NodeId, NodeId))> {
        let NodeKind::Binary(BinaryOp::Add, first, offset) = self.function.node(node).kind else {
            return None;
        };
        let NodeKind::Binary(BinaryOp::Mul, round, step) = self.function.node(offset).kind else {
            return None;
        };
        let round = &self.intervals[self.unconverted(round).idx()];
        let counted = round.bounds.iter().find_map(|bound| match bound.size {
            Size::Choice(count) if bound.offset < 0 && round.is_nonnegative() => Some(count),
            _ => None,
        })?;
        if let Some([up, down]) = self.rounds_of_any_step(counted) {
            let (up, down) = (self.upward(up, first, step)?, self.downward(down, first, step)?);
            return Some((up.0.join(&down.0), up.1));
        }
        let rounds = self.rounds(counted)?;
        let steps = &self.intervals[step.idx()];
        match (steps.least, steps.largest) {
            (0.., _) => self.upward(rounds, first, step),
            (_, ..=0) => self.downward(rounds, first, step),
            _ => None,
        }
    }

    fn upward(&self, rounds: Rounds, first: NodeId, step: NodeId) -> Option<(Interval, (NodeId, NodeId))> {
        let Rounds { low, high, step: by } = rounds;
        let (start, end) = (&self.intervals[low.idx()], &self.intervals[high.idx()]);
        let values = Interval::new(start.least, end.largest - 1).with_bounds(end.bounds.plus(-1));
        (low == first && self.is_bits_of(by, step)).then_some((values, (low, high)))
    }

    fn downward(&self, rounds: Rounds, first: NodeId, step: NodeId) -> Option<(Interval, (NodeId, NodeId))> {
        let Rounds { low, high, step: back } = rounds;
        let is_negated = |node: NodeId| matches!(self.function.node(node).kind, NodeKind::Unary(UnaryOp::Negate, by) if by == step);
        let is_back = is_negated(back) || is_negated(self.unconverted(back));
        let (end, start) = (&self.intervals[low.idx()], &self.intervals[high.idx()]);
        let values = Interval::new(end.least + 1, start.largest).with_bounds(start.bounds);
        (high == first && is_back).then_some((values, (high, low)))
    }

    /// `step > 0 ? rounds upward : rounds downward`.
    fn rounds_of_any_step(&self, node: NodeId) -> Option<[Rounds; 2]> {
        let NodeKind::Select { condition, then, orelse } = self.function.node(node).kind else { return None };
        let NodeKind::Compare(CompareOp::Greater, step, zero) = self.function.node(condition).kind else {
            return None;
        };
        let (up, down) = (self.rounds(then)?, self.rounds(orelse)?);
        (self.is_number(zero, 0) && self.is_bits_of(up.step, step)).then_some([up, down])
    }

    /// `low < high and .. ? (high - low - 1) / step + 1 : 0`.
    fn rounds(&self, node: NodeId) -> Option<Rounds> {
        let NodeKind::Select { condition, then, orelse } = self.function.node(node).kind else { return None };
        let NodeKind::Binary(BinaryOp::And, runs, _) = self.function.node(condition).kind else {
            return None;
        };
        let NodeKind::Compare(CompareOp::Less, low, high) = self.function.node(runs).kind else {
            return None;
        };
        let [whole, one] = self.operands_of(BinaryOp::Add, then)?;
        let [distance, step] = self.operands_of(BinaryOp::FloorDiv, whole)?;
        let [distance, less] = self.operands_of(BinaryOp::Sub, distance)?;
        let [to, from] = self.operands_of(BinaryOp::Sub, distance)?;
        let is_count = self.is_number(one, 1) && self.is_number(less, 1) && self.is_number(orelse, 0);
        let is_distance = self.is_bits_of(to, high) && self.is_bits_of(from, low);
        (is_count && is_distance).then_some(Rounds { low, high, step })
    }

    fn operands_of(&self, op: BinaryOp, node: NodeId) -> Option<[NodeId; 2]> {
        match self.function.node(node).kind {
            NodeKind::Binary(found, a, b) if found == op => Some([a, b]),
            _ => None,
        }
    }

    fn is_number(&self, node: NodeId, number: i128) -> bool {
        self.function.constant(node).and_then(Constant::as_int) == Some(number)
    }

    fn is_bits_of(&self, bits: NodeId, node: NodeId) -> bool {
        bits == node || matches!(self.function.node(bits).kind, NodeKind::Bitcast(inner) if inner == node)
    }

    /// The counter in its own type. In another one it may have wrapped, as the product does.
    fn unconverted(&self, node: NodeId) -> NodeId {
        match self.function.node(node).kind {
            NodeKind::Bitcast(inner) | NodeKind::Convert(inner) => inner,
            _ => node,
        }
    }
}
