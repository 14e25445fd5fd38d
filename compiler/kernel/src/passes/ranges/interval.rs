//! What is known of an int: the least and the largest value, a number that divides it, and bounds by sizes of the
//! launch.

use crate::constant::Constant;
use crate::ir::{BufferId, NodeId};
use crate::types::Scalar;

/// Bounds that are kept of one int.
const MAX_BOUNDS: usize = 3;

/// The values that an int may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub least: i128,
    pub largest: i128,
    /// The int is a multiple of it. 0 for the int 0.
    pub divisor: u64,
    pub bounds: Bounds,
}

/// Upper bounds of an int: it is at most each of these.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Bounds([Option<Bound>; MAX_BOUNDS]);

/// A size plus a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub size: Size,
    pub offset: i64,
}

/// A number that is known when the kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// The elements of an array.
    Elements(BufferId),
    /// The length of one axis of an array with several.
    Axis(BufferId, u8),
    /// A value of the function that is a choice: between two sizes, or of the number of rounds of a loop.
    Choice(NodeId),
}

impl Bounds {
    pub const NONE: Bounds = Bounds([None; MAX_BOUNDS]);

    pub fn iter(&self) -> impl Iterator<Item = &Bound> {
        self.0.iter().flatten()
    }

    /// The number to add to a size.
    pub fn of(&self, size: Size) -> Option<i64> {
        self.iter().find(|bound| bound.size == size).map(|bound| bound.offset)
    }

    /// Adds a bound. What is too much is forgotten.
    pub fn add(&mut self, bound: Bound) {
        for known in &mut self.0 {
            match known {
                Some(known) if known.size == bound.size => {
                    return known.offset = known.offset.min(bound.offset);
                }
                Some(_) => {}
                None => return *known = Some(bound),
            }
        }
    }

    /// Those of both.
    pub fn and(mut self, other: &Bounds) -> Bounds {
        other.iter().for_each(|bound| self.add(*bound));
        self
    }

    /// The bounds of a number that is at most so much larger.
    pub fn plus(&self, number: i128) -> Bounds {
        let moved = self.iter().filter_map(|bound| {
            let offset = i64::try_from(i128::from(bound.offset) + number).ok()?;
            Some(Bound { offset, ..*bound })
        });
        moved.collect()
    }
}

impl FromIterator<Bound> for Bounds {
    fn from_iter<T: IntoIterator<Item = Bound>>(bounds: T) -> Bounds {
        let mut all = Bounds::NONE;
        bounds.into_iter().for_each(|bound| all.add(bound));
        all
    }
}

impl Interval {
    /// Of a value that is no int.
    pub const ANY: Interval =
        Interval { least: i128::MIN, largest: i128::MAX, divisor: 1, bounds: Bounds::NONE };

    pub fn new(least: i128, largest: i128) -> Interval {
        Interval { least, largest, divisor: 1, bounds: Bounds::NONE }
    }

    /// All values of a type.
    pub fn of_type(ty: Scalar) -> Interval {
        ty.int_range().map_or(Interval::ANY, |(least, largest)| Interval::new(least, largest))
    }

    pub fn constant(constant: Constant) -> Interval {
        let exactly = |value: i128| {
            Interval::new(value, value).with_divisor(u64::try_from(value.unsigned_abs()).unwrap_or(1))
        };
        constant.as_int().map_or(Interval::ANY, exactly)
    }

    /// A size, which is at least 0.
    pub fn size(size: Size, largest: i128) -> Interval {
        Interval::new(0, largest).with_bound(Bound { size, offset: 0 })
    }

    pub fn is_nonnegative(&self) -> bool {
        self.least >= 0
    }

    /// The value, if it is the only one.
    pub fn known(&self) -> Option<i128> {
        (self.least == self.largest).then_some(self.least)
    }

    /// As a value of a type: unchanged if the type has all values, else any value of the type. A power of two divides
    /// what wraps around, too.
    pub fn in_type(self, ty: Scalar) -> Interval {
        match ty.int_range() {
            Some(_) if self.fits(ty) => self,
            _ => Interval::of_type(ty).with_divisor(power_of_two_in(self.divisor).min(1 << 16)),
        }
    }

    pub fn fits(&self, ty: Scalar) -> bool {
        ty.int_range().is_some_and(|(least, largest)| least <= self.least && self.largest <= largest)
    }

    /// Whether no value is possible: the code is never reached.
    pub fn is_empty(&self) -> bool {
        self.least > self.largest
    }

    /// What holds for both.
    pub fn join(&self, other: &Interval) -> Interval {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => return *other,
            (_, true) => return *self,
            _ => {}
        }
        let common = |bound: &Bound| {
            let other = other.bounds.of(bound.size)?;
            Some(Bound { offset: bound.offset.max(other), ..*bound })
        };
        Interval {
            least: self.least.min(other.least),
            largest: self.largest.max(other.largest),
            divisor: common_divisor(self.divisor, other.divisor),
            bounds: self.bounds.iter().filter_map(common).collect(),
        }
    }

    /// What holds if both do.
    pub fn meet(&self, other: &Interval) -> Interval {
        Interval {
            least: self.least.max(other.least),
            largest: self.largest.min(other.largest),
            divisor: if other.is_multiple_of(self.divisor) { other.divisor } else { self.divisor },
            bounds: self.bounds.and(&other.bounds),
        }
    }

    pub fn with_divisor(self, divisor: u64) -> Interval {
        Interval { divisor, ..self }
    }

    /// Whether a number divides all values.
    pub fn is_multiple_of(&self, divisor: u64) -> bool {
        common_divisor(self.divisor, divisor) == divisor
    }

    pub fn with_bounds(self, bounds: Bounds) -> Interval {
        Interval { bounds, ..self }
    }

    pub fn with_bound(mut self, bound: Bound) -> Interval {
        self.bounds.add(bound);
        self
    }

    pub fn contains(&self, other: &Interval) -> bool {
        let mut bounds = self.bounds.iter();
        let is_between = self.least <= other.least && other.largest <= self.largest;
        let is_divided = other.is_multiple_of(self.divisor);
        other.is_empty() || is_between && is_divided && bounds.all(|bound| other.is_bound_by(bound))
    }

    fn is_bound_by(&self, bound: &Bound) -> bool {
        self.bounds.of(bound.size).is_some_and(|offset| offset <= bound.offset)
    }

    /// An interval that contains both. A limit that was exceeded becomes the next of few, so that repeated widening
    /// ends.
    pub fn widen(&self, other: &Interval, ty: Scalar) -> Interval {
        let all = Interval::of_type(ty);
        let least = match other.least {
            least if least >= self.least => self.least,
            0.. => 0,
            -1 => -1,
            _ => all.least,
        };
        let largest = if other.largest <= self.largest { self.largest } else { all.largest };
        let kept = self.bounds.iter().filter(|bound| other.is_bound_by(bound));
        let divisor = common_divisor(self.divisor, other.divisor);
        Interval { least, largest, divisor, bounds: kept.copied().collect() }
    }

    /// Without bounds that mean something in one function alone.
    pub fn across_functions(self) -> Interval {
        let is_kept = |bound: &&Bound| !matches!(bound.size, Size::Choice(_));
        self.with_bounds(self.bounds.iter().filter(is_kept).copied().collect())
    }
}

/// The greatest common divisor, by the algorithm of Euclid. All numbers divide 0.
pub(super) fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// The largest power of two that divides a number: that of 0 is the largest of all.
pub(super) fn power_of_two_in(number: u64) -> u64 {
    1 << number.trailing_zeros().min(u64::BITS - 1)
}
