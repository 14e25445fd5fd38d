//! Range analysis of indices. The emitter adds no test for an index that is proven in range.
//!
//! A bound comes from the computation of a value (`i & 15`, `i % 16`, `min(i, 15)`, `local_id`), from the range
//! of a loop, or from a dominating condition (`if i < len(a)`). A condition holds in the block that it leads
//! to, until that block is complete.

use kps_syntax::Span;

use super::Ctx;
use crate::constant::Constant;
use crate::ir::{BinaryOp, BufferId, CompareOp, NodeId, NodeKind, UnaryOp};
use crate::template::Input;
use crate::types::{Scalar, Type};

/// Expressions are analysed to this depth.
const MAX_DEPTH: u32 = 8;

/// A fact about an int value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Known {
    NonNegative,
    Below(i128),
    /// Below the number of elements of an array parameter.
    BelowLen(BufferId),
}

impl Ctx<'_> {
    /// An index of a value with `len` parts, marked if it is proven to be in range.
    pub fn proven_below(&mut self, index: NodeId, len: u32, span: Span) -> NodeId {
        match self.upper_bound(index, MAX_DEPTH).is_some_and(|bound| bound <= i128::from(len)) {
            true => self.proven(index, span),
            false => index,
        }
    }

    /// An index of an array parameter, marked if it is proven to be in range.
    pub fn proven_in(&mut self, buffer: BufferId, index: NodeId, span: Span) -> NodeId {
        let is_below = self.is_known(index, Known::BelowLen(buffer)) && self.is_nonnegative(index);
        if is_below { self.proven(index, span) } else { index }
    }

    /// An index that is in range by construction.
    pub fn proven(&mut self, index: NodeId, span: Span) -> NodeId {
        if self.f.func.constant(index).is_some() {
            return index;
        }
        let ty = self.ty(index).clone();
        self.node(NodeKind::Proven(index), ty, span)
    }

    /// Records the facts that a condition implies if it `holds` or not.
    pub fn learn(&mut self, condition: NodeId, holds: bool) {
        self.learn_assigned(condition, holds);
        self.learn_bounds(condition, holds);
    }

    fn learn_bounds(&mut self, condition: NodeId, holds: bool) {
        match self.f.func.nodes[condition.idx()].kind {
            NodeKind::Unary(UnaryOp::Not, inner) => self.learn_bounds(inner, !holds),
            NodeKind::Binary(BinaryOp::And, a, b) if holds => {
                self.learn_bounds(a, true);
                self.learn_bounds(b, true);
            }
            NodeKind::Binary(BinaryOp::Or, a, b) if !holds => {
                self.learn_bounds(a, false);
                self.learn_bounds(b, false);
            }
            NodeKind::Compare(op, a, b) if matches!(self.ty(a), Type::Scalar(ty) if ty.is_int()) => {
                let op = if holds { op } else { opposite(op) };
                match op {
                    CompareOp::Less => self.learn_less(a, b),
                    CompareOp::Greater => self.learn_less(b, a),
                    CompareOp::LessEqual => self.learn_at_most(a, b),
                    CompareOp::GreaterEqual => self.learn_at_most(b, a),
                    CompareOp::Equal | CompareOp::NotEqual => {}
                }
            }
            _ => {}
        }
    }

    /// Records `a < b`.
    pub fn learn_less(&mut self, a: NodeId, b: NodeId) {
        for known in self.limits_of(b) {
            self.f.known.push((a, known));
        }
        if self.int_constant(a).is_some_and(|a| a >= -1) {
            self.f.known.push((b, Known::NonNegative));
        }
    }

    /// Records `a <= b`.
    pub fn learn_at_most(&mut self, a: NodeId, b: NodeId) {
        if let Some(b) = self.int_constant(b) {
            self.f.known.push((a, Known::Below(b + 1)));
        }
        // `i <= len(a) - 1`.
        if let NodeKind::Binary(BinaryOp::Sub, len, less) = self.f.func.nodes[b.idx()].kind
            && self.int_constant(less).is_some_and(|less| less >= 1)
        {
            self.learn_less(a, len);
        }
        if self.int_constant(a).is_some_and(|a| a >= 0) {
            self.f.known.push((b, Known::NonNegative));
        }
    }

    /// Facts about every value below `limit`.
    fn limits_of(&self, limit: NodeId) -> Vec<Known> {
        match self.f.func.nodes[limit.idx()].kind {
            NodeKind::Constant(constant) => constant.as_int().map(Known::Below).into_iter().collect(),
            NodeKind::BufferLen(buffer) => vec![Known::BelowLen(buffer)],
            // A length minus a constant is less than the length.
            NodeKind::Binary(BinaryOp::Sub, len, less)
                if self.int_constant(less).is_some_and(|less| less >= 0) =>
            {
                match self.f.func.nodes[len.idx()].kind {
                    NodeKind::BufferLen(buffer) => vec![Known::BelowLen(buffer)],
                    _ => Vec::new(),
                }
            }
            NodeKind::Select { .. } => match self.smaller_of(limit) {
                Some((a, b)) => [self.limits_of(a), self.limits_of(b)].concat(),
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// The two values of which `limit` is the minimum.
    fn smaller_of(&self, node: NodeId) -> Option<(NodeId, NodeId)> {
        self.choice(node, CompareOp::Less)
    }

    /// `a` and `b` of `a if a OP b else b`.
    fn choice(&self, node: NodeId, op: CompareOp) -> Option<(NodeId, NodeId)> {
        let NodeKind::Select { condition, then, orelse } = self.f.func.nodes[node.idx()].kind else {
            return None;
        };
        match self.f.func.nodes[condition.idx()].kind {
            NodeKind::Compare(found, a, b) if found == op && (a, b) == (then, orelse) => Some((a, b)),
            _ => None,
        }
    }

    fn is_known(&self, node: NodeId, known: Known) -> bool {
        self.f.known.iter().rev().any(|entry| *entry == (node, known))
    }

    fn int_constant(&self, node: NodeId) -> Option<i128> {
        self.f.func.constant(node).and_then(Constant::as_int)
    }

    fn is_nonnegative(&self, node: NodeId) -> bool {
        let is_unsigned = self.ty(node).scalar().is_some_and(|ty| !ty.is_signed());
        is_unsigned || self.facts(node).nonneg || self.is_known(node, Known::NonNegative)
    }

    /// An exclusive upper bound of an int that is proven non-negative. `None` if it may be negative.
    fn upper_bound(&self, node: NodeId, depth: u32) -> Option<i128> {
        let ty = self.ty(node).scalar().filter(|ty| ty.is_int())?;
        let computed = depth.checked_sub(1).and_then(|depth| self.computed_bound(node, ty, depth));
        let from_conditions = self.f.known.iter().filter_map(|(known, fact)| match fact {
            Known::Below(bound) if *known == node && self.is_nonnegative(node) => Some(*bound),
            _ => None,
        });
        from_conditions.chain(computed).min()
    }

    /// The bound that follows from how the value is computed.
    fn computed_bound(&self, node: NodeId, ty: Scalar, depth: u32) -> Option<i128> {
        let bound = |node: NodeId| self.upper_bound(node, depth);
        let (_, max) = ty.int_range()?;
        match &self.f.func.nodes[node.idx()].kind {
            NodeKind::Constant(constant) => {
                constant.as_int().filter(|value| *value >= 0).map(|value| value + 1)
            }
            NodeKind::Binary(BinaryOp::And, a, b) => [bound(*a), bound(*b)].into_iter().flatten().min(),
            // The result has the sign of the divisor.
            NodeKind::Binary(BinaryOp::FloorMod | BinaryOp::PlainMod, a, b) => {
                let divisor = self.int_constant(*b).filter(|divisor| *divisor > 0)?;
                Some(bound(*a).map_or(divisor, |bound| bound.min(divisor)))
            }
            NodeKind::Binary(BinaryOp::FloorDiv | BinaryOp::PlainDiv, a, b) => {
                let divisor = self.int_constant(*b).filter(|divisor| *divisor > 0)?;
                Some((bound(*a)? - 1) / divisor + 1)
            }
            NodeKind::Binary(BinaryOp::ShiftRight, a, b) => {
                let amount = self.int_constant(*b).filter(|amount| (0..64).contains(amount))?;
                Some(((bound(*a)? - 1) >> amount) + 1)
            }
            // Only if nothing can wrap.
            NodeKind::Binary(BinaryOp::Add, a, b) => {
                Some(bound(*a)? + bound(*b)? - 1).filter(|bound| *bound <= max)
            }
            NodeKind::Binary(BinaryOp::Mul, a, b) => {
                let largest = (bound(*a)? - 1).checked_mul(bound(*b)? - 1)?;
                Some(largest + 1).filter(|bound| *bound <= max)
            }
            NodeKind::Select { then, orelse, .. } => self.select_bound(node, *then, *orelse, depth),
            NodeKind::Bitcast(a) | NodeKind::Convert(a) | NodeKind::Proven(a) => {
                bound(*a).filter(|bound| *bound - 1 <= max)
            }
            NodeKind::Extract(vector, axis) => self.local_id_bound(*vector, *axis),
            _ => None,
        }
    }

    fn select_bound(&self, node: NodeId, then: NodeId, orelse: NodeId, depth: u32) -> Option<i128> {
        let bounds = [self.upper_bound(then, depth), self.upper_bound(orelse, depth)];
        if let Some((a, b)) = self.smaller_of(node) {
            // For a minimum, one bound is enough if neither value is negative.
            let nonnegative = [a, b]
                .iter()
                .zip(self.bounds_of([a, b], depth))
                .all(|(node, bound)| bound.is_some() || self.is_nonnegative(*node) || self.is_raised(*node));
            return bounds.into_iter().flatten().min().filter(|_| nonnegative);
        }
        let [a, b] = bounds;
        Some(a?.max(b?))
    }

    fn bounds_of(&self, nodes: [NodeId; 2], depth: u32) -> [Option<i128>; 2] {
        nodes.map(|node| self.upper_bound(node, depth))
    }

    /// Whether it is the maximum of two values of which one is non-negative: `max(i, 0)`.
    fn is_raised(&self, node: NodeId) -> bool {
        let larger = self.choice(node, CompareOp::Greater);
        larger.is_some_and(|(a, b)| self.is_nonnegative(a) || self.is_nonnegative(b))
    }

    /// The bound of an axis of `local_id`, from the local size.
    fn local_id_bound(&self, vector: NodeId, axis: u32) -> Option<i128> {
        let inner = match self.f.func.nodes[vector.idx()].kind {
            NodeKind::Bitcast(inner) => inner,
            _ => vector,
        };
        match self.f.func.nodes[inner.idx()].kind {
            NodeKind::Input(Input::LocalInvocationId) => {
                self.local_size.get(axis as usize).map(|size| i128::from(*size))
            }
            _ => None,
        }
    }
}

fn opposite(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Equal => CompareOp::NotEqual,
        CompareOp::NotEqual => CompareOp::Equal,
        CompareOp::Less => CompareOp::GreaterEqual,
        CompareOp::LessEqual => CompareOp::Greater,
        CompareOp::Greater => CompareOp::LessEqual,
        CompareOp::GreaterEqual => CompareOp::Less,
    }
}
