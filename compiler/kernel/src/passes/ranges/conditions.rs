//! What follows where a condition holds: intervals of its operands, and of what they were computed from.

use super::interval::{Bound, Interval, Size};
use super::values::int_of;
use super::walk::{Change, Walk};
use crate::ir::{BinaryOp, CompareOp, ElementIndex, Extent, NodeId, NodeKind, UnaryOp};
use crate::types::Type;

/// Conditions, and the operands of what they compare, are followed so far.
const MAX_DEPTH: u32 = 12;

impl Walk<'_> {
    /// Narrows what is known, where a condition holds or not.
    pub fn learn(&mut self, condition: NodeId, holds: bool) {
        self.learn_part(condition, holds, MAX_DEPTH);
    }

    fn learn_part(&mut self, condition: NodeId, holds: bool, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        match self.function.node(condition).kind {
            NodeKind::Unary(UnaryOp::Not, a) => self.learn_part(a, !holds, depth),
            NodeKind::Binary(BinaryOp::And, a, b) if holds => {
                self.learn_part(a, true, depth);
                self.learn_part(b, true, depth);
            }
            NodeKind::Binary(BinaryOp::Or, a, b) if !holds => {
                self.learn_part(a, false, depth);
                self.learn_part(b, false, depth);
            }
            // A variable that was assigned a test.
            NodeKind::Load(_) => {
                if let Some(value) = self.loaded_value(condition) {
                    self.learn_part(value, holds, depth);
                }
            }
            NodeKind::IsInside { of, index: ElementIndex::Flat(index) } if holds => {
                let inside = self.indices_of(of);
                self.narrow(index, &inside);
            }
            NodeKind::Compare(op, a, b) if self.is_int(a) && self.is_int(b) => {
                self.learn_comparison(if holds { op } else { opposite(op) }, a, b);
            }
            _ => {}
        }
    }

    fn is_int(&self, node: NodeId) -> bool {
        matches!(self.function.ty(node), Type::Scalar(scalar) if scalar.is_int())
    }

    /// What a variable holds that was loaded and not stored since.
    fn loaded_value(&self, load: NodeId) -> Option<NodeId> {
        let (local, version) = self.loaded.get(&load)?;
        let state = &self.locals[local.idx()];
        state.value.filter(|_| state.version == *version)
    }

    /// All indices in range.
    fn indices_of(&self, of: Extent) -> Interval {
        match of {
            Extent::Parts(len) => Interval::new(0, i128::from(len) - 1),
            Extent::Elements(buffer) => {
                let bound = Bound { size: Size::Elements(buffer), offset: -1 };
                Interval::new(0, i64::MAX.into()).with_bound(bound)
            }
        }
    }

    fn learn_comparison(&mut self, op: CompareOp, a: NodeId, b: NodeId) {
        match op {
            CompareOp::Less => self.learn_order(a, b, 1),
            CompareOp::LessEqual => self.learn_order(a, b, 0),
            CompareOp::Greater => self.learn_order(b, a, 1),
            CompareOp::GreaterEqual => self.learn_order(b, a, 0),
            CompareOp::Equal => {
                let [x, y] = self.both(a, b);
                self.narrow(a, &y);
                self.narrow(b, &x);
            }
            CompareOp::NotEqual => {
                let [x, y] = self.both(a, b);
                self.exclude(a, &x, &y);
                self.exclude(b, &y, &x);
            }
        }
    }

    fn both(&self, a: NodeId, b: NodeId) -> [Interval; 2] {
        [a, b].map(|node| self.intervals[node.idx()])
    }

    /// `low + distance <= high`.
    fn learn_order(&mut self, low: NodeId, high: NodeId, distance: i128) {
        let [x, y] = self.both(low, high);
        let below = Interval::new(i128::MIN, y.largest - distance).with_bounds(y.bounds.plus(-distance));
        self.narrow(low, &below);
        self.narrow(high, &Interval::new(x.least + distance, i128::MAX));
    }

    /// An int is not the other one, which matters at the ends of its interval.
    fn exclude(&mut self, node: NodeId, interval: &Interval, other: &Interval) {
        let Some(value) = other.known() else { return };
        if value == interval.least {
            self.narrow(node, &Interval::new(value + 1, i128::MAX));
        } else if value == interval.largest {
            self.narrow(node, &Interval::new(i128::MIN, value - 1));
        }
    }

    /// A node is in this interval, too.
    fn narrow(&mut self, node: NodeId, to: &Interval) {
        self.narrow_part(node, to, MAX_DEPTH);
    }

    fn narrow_part(&mut self, node: NodeId, to: &Interval, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let known = &self.intervals[node.idx()];
        let met = known.meet(to);
        if met == *known {
            return;
        }
        let before = std::mem::replace(&mut self.intervals[node.idx()], met);
        self.changes.push(Change::Interval(node, before));
        match self.function.node(node).kind {
            NodeKind::Load(_) => self.narrow_local(node, &met, depth),
            NodeKind::Proven(_, a) | NodeKind::Uniform(a) => self.narrow_part(a, &met, depth),
            // The same bits are the same number in both types, if both have it.
            NodeKind::Bitcast(a) if self.is_int(a) && self.has_type_for(&met, a) => {
                self.narrow_part(a, &met, depth);
            }
            NodeKind::Convert(a) if self.is_int(a) && self.has_type_for(&self.intervals[a.idx()], node) => {
                self.narrow_part(a, &met, depth);
            }
            NodeKind::Binary(BinaryOp::Add, a, b) => {
                if let Some(number) = self.intervals[b.idx()].known() {
                    self.narrow_term(node, a, &met, number, depth);
                } else if let Some(number) = self.intervals[a.idx()].known() {
                    self.narrow_term(node, b, &met, number, depth);
                }
            }
            NodeKind::Binary(BinaryOp::Sub, a, b) => {
                if let Some(number) = self.intervals[b.idx()].known() {
                    self.narrow_term(node, a, &met, -number, depth);
                }
            }
            NodeKind::Extract(whole, at) => {
                if let Some(part) = self.input_part(whole, at) {
                    let before = self.input_parts.insert(part, met);
                    self.changes.push(Change::InputPart(part, before));
                }
            }
            _ => {}
        }
    }

    /// Whether the type of a node has all these values.
    fn has_type_for(&self, interval: &Interval, node: NodeId) -> bool {
        int_of(self.function.ty(node)).is_some_and(|ty| interval.fits(ty))
    }

    /// The term of a sum with a number, unless the sum may wrap.
    fn narrow_term(&mut self, sum: NodeId, term: NodeId, met: &Interval, number: i128, depth: u32) {
        let known = &self.intervals[term.idx()];
        let exact = Interval::new(known.least + number, known.largest + number);
        if int_of(self.function.ty(sum)).is_some_and(|ty| exact.fits(ty)) {
            let narrowed = Interval::new(met.least - number, met.largest - number);
            self.narrow_part(term, &narrowed.with_bounds(met.bounds.plus(-number)), depth);
        }
    }

    /// What a load gave is still in the variable, unless it was stored since.
    fn narrow_local(&mut self, load: NodeId, met: &Interval, depth: u32) {
        let Some((local, version)) = self.loaded.get(&load).copied() else { return };
        let state = &self.locals[local.idx()];
        if state.version != version {
            return;
        }
        let mut narrowed = *state;
        narrowed.interval = narrowed.interval.meet(met);
        let value = narrowed.value;
        self.set_local(local, narrowed);
        if let Some(value) = value {
            self.narrow_part(value, met, depth);
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
