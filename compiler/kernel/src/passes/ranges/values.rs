//! The interval of a node from those of its operands.
//!
//! Arithmetic is exact. Where the exact result does not fit the type, it wraps, and may be any value of the type.
//! A vector has the interval that all its components are in.

use super::interval::{Bound, Bounds, Interval, Size, common_divisor, power_of_two_in};
use super::walk::Walk;
use crate::ir::{BinaryOp, BitsOp, BufferId, CompareOp, LocalId, NodeId, NodeKind, SubgroupOp, UnaryOp};
use crate::launch::Ints;
use crate::signature::Width;
use crate::template::Input;
use crate::types::{Scalar, Type};

/// Views of a vector, such as swizzles, are followed so far.
const MAX_VIEWS: usize = 8;

/// The largest number of invocations of a subgroup.
const MAX_SUBGROUP: i128 = 128;

impl Walk<'_> {
    /// The interval of a node whose operands have theirs.
    pub fn interval_of(&mut self, node: NodeId) -> Interval {
        let Some(ty) = int_of(self.function.ty(node)) else { return Interval::ANY };
        let exact = match self.function.node(node).kind {
            NodeKind::Load(local) => self.load(node, local),
            NodeKind::Select { condition, then, orelse } => self.selected(node, condition, then, orelse),
            _ => self.computed(node, ty),
        };
        exact.in_type(ty)
    }

    fn computed(&self, node: NodeId, ty: Scalar) -> Interval {
        let of = |node: &NodeId| &self.intervals[node.idx()];
        match &self.function.node(node).kind {
            NodeKind::Constant(constant) => Interval::constant(*constant),
            NodeKind::Input(input) => self.input(*input, None),
            NodeKind::Domain | NodeKind::TextureSize(_) => Interval::new(0, largest_count(ty)),
            NodeKind::Scalar(_) if self.kernel.assumptions.ints == Ints::Modest => {
                let limit = Ints::MAX_MODEST as i128;
                Interval::of_type(ty).meet(&Interval::new(-limit, limit))
            }
            NodeKind::Arg(at) => self.args.get(*at as usize).copied().unwrap_or(Interval::ANY),
            NodeKind::BufferLen(buffer) => self.size(Size::Elements(*buffer), *buffer),
            NodeKind::BufferAxis { buffer, axis } => self.size(Size::Axis(*buffer, *axis), *buffer),
            NodeKind::Unary(UnaryOp::Negate, a) => {
                Interval::new(-of(a).largest, -of(a).least).with_divisor(of(a).divisor)
            }
            NodeKind::Unary(UnaryOp::Invert, a) if ty.is_signed() => {
                Interval::new(-of(a).largest - 1, -of(a).least - 1)
            }
            NodeKind::Bits(BitsOp::CountOnes, _) => Interval::new(0, 32),
            NodeKind::Binary(op, a, b) => match self.value_of_round(node) {
                Some((interval, _)) => interval,
                None => self.binary(*op, [*a, *b], ty).with_divisor(self.divisor(*op, [*a, *b])),
            },
            NodeKind::Convert(a) | NodeKind::Bitcast(a) => self.converted(*a, self.function.ty(node)),
            NodeKind::Proven(_, a) | NodeKind::Uniform(a) | NodeKind::Splat(a) | NodeKind::Swizzle(a, _) => {
                *of(a)
            }
            NodeKind::Abs(a) if of(a).is_nonnegative() => *of(a),
            NodeKind::Abs(a) => Interval::new(0, of(a).largest.max(-of(a).least)),
            NodeKind::Sign(_) => Interval::new(-1, 1),
            NodeKind::Subgroup { op: SubgroupOp::FromFirst, value: Some(value), .. } => *of(value),
            NodeKind::Construct(parts) => self.join_of(parts),
            NodeKind::Extract(a, at) => self.component(*a, *at),
            NodeKind::ExtractAt { whole, .. } => of(whole).join(&Interval::new(0, 0)),
            NodeKind::Insert { whole, value, .. } | NodeKind::InsertAt { whole, value, .. } => {
                of(whole).join(of(value))
            }
            _ => Interval::ANY,
        }
    }

    /// A conversion keeps the numbers that the new type has.
    fn converted(&self, from: NodeId, to: &Type) -> Interval {
        let ty = self.function.ty(from);
        match ty.scalar() {
            Some(Scalar::Bool) => Interval::new(0, 1),
            Some(scalar) if scalar.is_int() && ty.n_components() == to.n_components() => {
                self.intervals[from.idx()]
            }
            _ => Interval::ANY,
        }
    }

    fn join_of(&self, parts: &[NodeId]) -> Interval {
        let mut intervals = parts.iter().map(|part| &self.intervals[part.idx()]);
        let first = intervals.next().copied().unwrap_or(Interval::ANY);
        intervals.fold(first, |joined, part| joined.join(part))
    }

    /// A number that divides the result of an operation, if that does not wrap around.
    fn divisor(&self, op: BinaryOp, [a, b]: [NodeId; 2]) -> u64 {
        let (x, y) = (&self.intervals[a.idx()], &self.intervals[b.idx()]);
        let number = y.known().and_then(|number| u64::try_from(number).ok()).filter(|number| *number > 0);
        match (op, number) {
            (BinaryOp::Add | BinaryOp::Sub, _) => common_divisor(x.divisor, y.divisor),
            (BinaryOp::Mul, _) => x.divisor.checked_mul(y.divisor).unwrap_or(1),
            (BinaryOp::FloorDiv | BinaryOp::PlainDiv | BinaryOp::TruncDiv, Some(number))
                if x.is_multiple_of(number) =>
            {
                x.divisor / number
            }
            (BinaryOp::FloorMod | BinaryOp::PlainMod | BinaryOp::TruncRem, Some(number)) => {
                common_divisor(x.divisor, number)
            }
            (BinaryOp::ShiftLeft, Some(amount @ ..32)) => x.divisor.checked_mul(1 << amount).unwrap_or(1),
            (BinaryOp::And, _) => power_of_two_in(x.divisor).max(power_of_two_in(y.divisor)),
            (BinaryOp::Or | BinaryOp::Xor, _) => power_of_two_in(x.divisor).min(power_of_two_in(y.divisor)),
            _ => 1,
        }
    }

    fn binary(&self, op: BinaryOp, [a, b]: [NodeId; 2], ty: Scalar) -> Interval {
        let (x, y) = (&self.intervals[a.idx()], &self.intervals[b.idx()]);
        let bits = i128::from(ty.bits());
        if x.is_empty() || y.is_empty() {
            return Interval::new(0, -1);
        }
        match op {
            BinaryOp::Add => {
                let sum = Interval::new(x.least + y.least, x.largest + y.largest);
                sum.with_bounds(x.bounds.plus(y.largest).and(&y.bounds.plus(x.largest)))
            }
            BinaryOp::Sub => match self.last_minus_highest(x, b) {
                Some(zeros) => zeros,
                None => {
                    let least = (x.least - y.largest).max(self.least_distance(a, y).unwrap_or(i128::MIN));
                    Interval::new(least, x.largest - y.least).with_bounds(x.bounds.plus(-y.least))
                }
            },
            BinaryOp::Mul => corners(x, y, i128::checked_mul),
            BinaryOp::FloorDiv | BinaryOp::PlainDiv | BinaryOp::TruncDiv if x.least >= 0 && y.least >= 0 => {
                // By zero it is 0.
                let least = if y.least > 0 { x.least / y.largest } else { 0 };
                Interval::new(least, x.largest / y.least.max(1)).with_bounds(x.bounds)
            }
            BinaryOp::FloorDiv if y.least > 0 => corners(x, y, |x, y| Some(x.div_euclid(y))),
            BinaryOp::TruncDiv if y.least > 0 => corners(x, y, |x, y| Some(x / y)),
            BinaryOp::FloorMod | BinaryOp::PlainMod | BinaryOp::TruncRem if is_divided(x, y) => {
                Interval::new(0, 0)
            }
            BinaryOp::FloorMod | BinaryOp::PlainMod | BinaryOp::TruncRem if x.least >= 0 && y.least >= 0 => {
                let largest = x.largest.min((y.largest - 1).max(0));
                Interval::new(0, largest).with_bounds(x.bounds)
            }
            BinaryOp::FloorMod if y.least >= 0 => Interval::new(0, (y.largest - 1).max(0)),
            BinaryOp::TruncRem if y.least >= 0 => {
                let largest = (y.largest - 1).max(0);
                Interval::new(-largest, largest)
            }
            BinaryOp::And => match [x, y].map(Interval::is_nonnegative) {
                [true, true] => x.meet(y).with_least(0).with_largest(x.largest.min(y.largest)),
                [true, false] => x.with_least(0),
                [false, true] => y.with_least(0),
                [false, false] => Interval::ANY,
            },
            BinaryOp::Or | BinaryOp::Xor if x.least >= 0 && y.least >= 0 => {
                Interval::new(0, ones_up_to(x.largest.max(y.largest)))
            }
            BinaryOp::ShiftLeft => match y.known() {
                Some(amount) if (0..bits).contains(&amount) => {
                    corners(x, &Interval::new(amount, amount), |x, amount| x.checked_mul(1 << amount))
                }
                _ => Interval::ANY,
            },
            // Its size never grows, whatever the amount.
            BinaryOp::ShiftRight => {
                let is_shift = y.least >= 0 && y.largest < bits;
                let amount = if is_shift { y.least } else { 0 };
                let least = if x.least < 0 { x.least } else { 0 };
                let largest = if x.largest < 0 { -1 } else { x.largest >> amount };
                let bounds = if x.least >= 0 { x.bounds } else { Bounds::NONE };
                Interval::new(least, largest).with_bounds(bounds)
            }
            _ => Interval::ANY,
        }
    }

    /// The least difference of a size, or one with a number added, and an int that the size bounds.
    fn least_distance(&self, from: NodeId, to: &Interval) -> Option<i128> {
        let (size, offset) = self.as_size(from)?;
        Some(offset - i128::from(to.bounds.of(size)?))
    }

    /// The size and the number of which a value is the sum.
    fn as_size(&self, node: NodeId) -> Option<(Size, i128)> {
        let (mut node, mut offset) = (node, 0);
        for _ in 0..MAX_VIEWS {
            let ty = int_of(self.function.ty(node))?;
            let keeps = |inner: NodeId, number: i128| {
                let Interval { least, largest, .. } = self.intervals[inner.idx()];
                Interval::new(least + number, largest + number).fits(ty)
            };
            match self.function.node(node).kind {
                NodeKind::BufferLen(buffer) => return Some((Size::Elements(buffer), offset)),
                NodeKind::BufferAxis { buffer, axis } => return Some((Size::Axis(buffer, axis), offset)),
                NodeKind::Select { .. } => return Some((Size::Choice(node), offset)),
                NodeKind::Convert(inner) | NodeKind::Bitcast(inner) => {
                    let is_int = int_of(self.function.ty(inner)).is_some();
                    node = Some(inner).filter(|inner| is_int && keeps(*inner, 0))?;
                }
                NodeKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), inner, number) => {
                    let number = self.intervals[number.idx()].known()?;
                    let number = if op == BinaryOp::Add { number } else { -number };
                    node = Some(inner).filter(|inner| keeps(*inner, number))?;
                    offset += number;
                }
                _ => return None,
            }
        }
        None
    }

    /// `31 - highest one`, as leading zeros are counted: the highest one of 0 is -1.
    fn last_minus_highest(&self, last: &Interval, highest: NodeId) -> Option<Interval> {
        let last = last.known()?;
        let is_highest = matches!(self.function.node(highest).kind, NodeKind::Bits(BitsOp::HighestOne, _));
        is_highest.then(|| Interval::new(last - 31, last + 1))
    }

    fn size(&self, size: Size, buffer: BufferId) -> Interval {
        Interval::size(size, largest_count(self.kernel.buffers[buffer.idx()].counts.signed()))
    }

    /// Of one component, or of all.
    fn input(&self, input: Input, component: Option<u32>) -> Interval {
        let sizes = self.kernel.local_size.map(i128::from);
        let product = sizes.iter().product::<i128>();
        match input {
            Input::LocalInvocationId => {
                let size = component.and_then(|at| sizes.get(at as usize).copied());
                let largest = size.or(sizes.into_iter().max()).unwrap_or(1);
                Interval::new(0, largest - 1)
            }
            Input::LocalInvocationIndex => Interval::new(0, product - 1),
            Input::WorkgroupSize
            | Input::NumSubgroups
            | Input::SubgroupId
            | Input::SubgroupLocalInvocationId
            | Input::SubgroupSize => Interval::new(0, product.max(MAX_SUBGROUP)),
            Input::GlobalInvocationId if self.kernel.assumptions.ids == Width::Wide => {
                Interval::of_type(Scalar::U32)
            }
            Input::GlobalInvocationId | Input::WorkgroupId | Input::NumWorkgroups => {
                Interval::new(0, largest_count(Scalar::I32))
            }
        }
    }

    /// One part of a value.
    fn component(&self, whole: NodeId, at: u32) -> Interval {
        if let Some((input, axis)) = self.input_part(whole, at) {
            let known = self.input(input, Some(axis));
            return match self.input_parts.get(&(input, axis)) {
                Some(met) => known.meet(met),
                None => known,
            };
        }
        let (mut whole, mut at) = (whole, at);
        for _ in 0..MAX_VIEWS {
            match &self.function.node(whole).kind {
                NodeKind::Construct(parts) if Some(parts.len()) == self.n_parts(whole) => {
                    let part = parts.get(at as usize);
                    return part.map_or(Interval::ANY, |part| self.intervals[part.idx()]);
                }
                NodeKind::Swizzle(inner, components) => match components.get(at as usize) {
                    Some(component) => (whole, at) = (*inner, *component),
                    None => break,
                },
                NodeKind::Uniform(inner) => whole = *inner,
                _ => break,
            }
        }
        self.intervals[whole.idx()]
    }

    fn n_parts(&self, node: NodeId) -> Option<usize> {
        self.function.ty(node).n_parts().map(|n| n as usize)
    }

    /// The component of an input that is this part of a value.
    pub fn input_part(&self, whole: NodeId, at: u32) -> Option<(Input, u32)> {
        let (mut whole, mut at) = (whole, at);
        for _ in 0..MAX_VIEWS {
            match &self.function.node(whole).kind {
                NodeKind::Input(input) => return Some((*input, at)),
                NodeKind::Bitcast(inner) => whole = *inner,
                NodeKind::Swizzle(inner, components) => {
                    (whole, at) = (*inner, *components.get(at as usize)?);
                }
                _ => return None,
            }
        }
        None
    }

    fn load(&mut self, node: NodeId, local: LocalId) -> Interval {
        self.loaded.insert(node, (local, self.locals[local.idx()].version));
        self.current(local)
    }

    /// A choice: each side holds under its condition.
    fn selected(&mut self, node: NodeId, condition: NodeId, then: NodeId, orelse: NodeId) -> Interval {
        if *self.function.ty(condition) != Type::BOOL {
            return self.join_of(&[then, orelse]);
        }
        let mut side = |holds: bool, side: NodeId| {
            let start = self.changes.len();
            self.learn(condition, holds);
            let interval = self.intervals[side.idx()];
            self.undo(start);
            interval
        };
        let interval = side(true, then).join(&side(false, orelse));
        match self.counts_rounds(node) || self.is_case(condition) {
            true => interval.with_bound(Bound { size: Size::Choice(node), offset: 0 }),
            false => interval,
        }
    }
}

impl Walk<'_> {
    /// A comparison with a number, as between the arrays that a name may stand for.
    fn is_case(&self, condition: NodeId) -> bool {
        match self.function.node(condition).kind {
            NodeKind::Compare(CompareOp::Equal, _, number) => self.function.constant(number).is_some(),
            _ => false,
        }
    }

    /// Whether an int is at least 0 and less than a size.
    pub fn is_index_of(&self, index: NodeId, size: Size) -> bool {
        let interval = &self.intervals[index.idx()];
        let is_below = |bound: &Bound| match bound.size {
            Size::Choice(choice) => self.chosen(choice).is_some_and(|chosen| {
                let offset = self.intervals[chosen.idx()].bounds.of(size);
                offset.is_some_and(|offset| offset + bound.offset < 0)
            }),
            known => known == size && bound.offset < 0,
        };
        interval.is_nonnegative() && interval.bounds.iter().any(is_below)
    }

    /// The side of a choice, if it is known here.
    fn chosen(&self, choice: NodeId) -> Option<NodeId> {
        let mut choice = choice;
        for _ in 0..MAX_VIEWS {
            let NodeKind::Select { condition, then, orelse } = self.function.node(choice).kind else { break };
            let NodeKind::Compare(CompareOp::Equal, a, b) = self.function.node(condition).kind else { break };
            let [x, y] = [a, b].map(|node| &self.intervals[node.idx()]);
            match (x.known(), y.known()) {
                (Some(x), Some(y)) if x == y => return Some(then),
                _ if x.meet(y).is_empty() => choice = orelse,
                _ => return None,
            }
        }
        Some(choice)
    }
}

impl Interval {
    fn with_least(self, least: i128) -> Interval {
        Interval { least, ..self }
    }

    fn with_largest(self, largest: i128) -> Interval {
        Interval { largest, ..self }
    }
}

/// The scalar type of an int or a vector of ints.
pub(super) fn int_of(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Scalar(scalar) | Type::Vector(_, scalar) if scalar.is_int() => Some(*scalar),
        _ => None,
    }
}

/// Counts are not negative as signed ints either.
fn largest_count(ty: Scalar) -> i128 {
    (1 << (ty.bits() - 1)) - 1
}

/// Whether all values are multiples of a known number.
fn is_divided(x: &Interval, by: &Interval) -> bool {
    let number = by.known().and_then(|number| u64::try_from(number).ok());
    number.is_some_and(|number| number > 0 && x.is_multiple_of(number))
}

/// The results of an operation that is monotonic in each operand.
fn corners(x: &Interval, y: &Interval, op: impl Fn(i128, i128) -> Option<i128>) -> Interval {
    let all = [(x.least, y.least), (x.least, y.largest), (x.largest, y.least), (x.largest, y.largest)];
    let mut limits = Interval::new(i128::MAX, i128::MIN);
    for (x, y) in all {
        let Some(result) = op(x, y) else { return Interval::ANY };
        limits = Interval::new(limits.least.min(result), limits.largest.max(result));
    }
    limits
}

/// The least number of only ones that is not smaller.
fn ones_up_to(largest: i128) -> i128 {
    (1 << (128 - largest.leading_zeros())) - 1
}
