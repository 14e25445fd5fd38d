//! How far a value advances from one iteration of a loop to the next, where that is constant.
//!
//! Ints wrap around, so the result is almost always right, and serves for prefetch hints only.

use super::order::Order;
use super::shapes::Shapes;
use super::{Binary, Kernel, Op, Value};

/// The search stops after this many steps from a value to the counter of its loop.
const MAX_DEPTH: u32 = 16;

/// What the innermost loop around block `place` adds to `value` in each iteration. `None` outside of loops,
/// and where iterations differ.
pub fn advance(
    kernel: &Kernel,
    shapes: &Shapes<'_>,
    order: &Order,
    place: usize,
    value: Value,
) -> Option<i64> {
    let &innermost = order.loops_of[place].first()?;
    Rounds { kernel, shapes, order, innermost }.advance(value, MAX_DEPTH)
}

struct Rounds<'a, 'k> {
    kernel: &'a Kernel,
    shapes: &'a Shapes<'k>,
    order: &'a Order,
    /// The index of the loop.
    innermost: usize,
}

impl Rounds<'_, '_> {
    fn advance(&self, value: Value, depth: u32) -> Option<i64> {
        if self.is_made_outside(value) {
            return Some(0);
        }
        let depth = depth.checked_sub(1)?;
        let Some(op) = self.shapes.def(value) else { return self.counter_step(value) };
        match *op {
            Op::Binary(Binary::Add, a, b) => {
                Some(self.advance(a, depth)?.wrapping_add(self.advance(b, depth)?))
            }
            Op::Binary(Binary::Sub, a, b) => {
                Some(self.advance(a, depth)?.wrapping_sub(self.advance(b, depth)?))
            }
            Op::Binary(Binary::Mul, a, b) => match (self.constant(a), self.constant(b)) {
                (_, Some(factor)) => Some(self.advance(a, depth)?.wrapping_mul(factor)),
                (Some(factor), _) => Some(self.advance(b, depth)?.wrapping_mul(factor)),
                _ => None,
            },
            Op::Binary(Binary::Shl, a, b) => {
                let amount = self.constant(b)? as u32;
                Some(self.advance(a, depth)?.wrapping_shl(amount))
            }
            Op::Convert(_, a) => self.advance(a, depth),
            Op::Select(..) => self.advance(self.shapes.guarded(op)?.then, depth),
            _ => None,
        }
    }

    /// What each back edge adds to a parameter of the loop's head.
    fn counter_step(&self, param: Value) -> Option<i64> {
        let found = self.order.loops[self.innermost];
        let head = self.order.blocks[found.head];
        let at = self.kernel.blocks[head.0 as usize].params.iter().position(|&own| own == param)?;
        let mut step = None;
        for &from in &self.order.blocks[found.head..=found.last] {
            for edge in self.kernel.blocks[from.0 as usize].end.edges() {
                if edge.to != head {
                    continue;
                }
                let own = match *self.shapes.def(edge.args[at])? {
                    Op::Binary(Binary::Add, a, b) if a == param => self.constant(b)?,
                    Op::Binary(Binary::Add, a, b) if b == param => self.constant(a)?,
                    Op::Binary(Binary::Sub, a, b) if a == param => self.constant(b)?.wrapping_neg(),
                    _ => return None,
                };
                if *step.get_or_insert(own) != own {
                    return None;
                }
            }
        }
        step
    }

    fn is_made_outside(&self, value: Value) -> bool {
        let found = self.order.loops[self.innermost];
        self.shapes.home(value).is_none_or(|home| !self.order.blocks[found.head..=found.last].contains(&home))
    }

    /// A constant as a signed int.
    fn constant(&self, value: Value) -> Option<i64> {
        let bits = self.shapes.constant(value)?;
        let narrow = self.kernel.values[value.0 as usize].ty.size() == 4;
        Some(if narrow { i64::from(bits as i32) } else { bits as i64 })
    }
}
