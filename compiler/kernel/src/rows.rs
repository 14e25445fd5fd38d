//! What words take for granted of a launch: that their indices lead to no row whose place an int does not hold.
//!
//! An index along an outer axis of an array times the elements of a row may be more than an i32 counts. How far such
//! indices go at most is known of ids, counters and sizes: so many times what a launch is given. Words for near rows
//! ([`Rows::Near`]) do not test those; whoever launches them asks [`RowLimits::hold`] first. Never here: how limits
//! are found (`emit/limits.rs`).

use std::collections::BTreeMap;

use crate::ir::Buffer;

/// Whether words rely on a launch in which no index of several axes leads to more than an int holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Rows {
    /// They test every index that might.
    #[default]
    Far,
    /// They do not test those of ids, counters and sizes.
    Near,
}

/// Something that only a launch knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Quantity {
    /// Invocations along x, y or z, in whole workgroups.
    Invocations(u8),
    /// The length of an axis of an array parameter, by its place in the kernel's list.
    Axis { param_idx: usize, axis: u8 },
}

/// How far an int may be from 0: a number, and each quantity so many times.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Limit {
    number: u64,
    times: BTreeMap<Quantity, u64>,
    /// It may be below 0.
    pub is_signed: bool,
}

/// How far the indices along the axes of a kernel's arrays go that its words do not test.
#[derive(Clone, Debug, Default)]
pub struct RowLimits(Vec<RowLimit>);

#[derive(Clone, Debug)]
struct RowLimit {
    param_idx: usize,
    /// Axes of the array, and which one.
    rank: u8,
    axis: u8,
    limit: Limit,
}

impl Limit {
    pub fn number(number: i128) -> Limit {
        let size = u64::try_from(number.unsigned_abs()).unwrap_or(u64::MAX);
        Limit { number: size, times: BTreeMap::new(), is_signed: number < 0 }
    }

    pub fn quantity(quantity: Quantity) -> Limit {
        Limit { times: BTreeMap::from([(quantity, 1)]), ..Limit::default() }
    }

    pub fn signed(self) -> Limit {
        Limit { is_signed: true, ..self }
    }

    pub fn unsigned(self) -> Limit {
        Limit { is_signed: false, ..self }
    }

    /// Of a sum, or of a difference.
    pub fn plus(self, other: &Limit) -> Limit {
        self.combined(other, u64::saturating_add)
    }

    /// Of one or the other.
    pub fn or(self, other: &Limit) -> Limit {
        self.combined(other, u64::max)
    }

    fn combined(mut self, other: &Limit, combine: fn(u64, u64) -> u64) -> Limit {
        self.number = combine(self.number, other.number);
        for (quantity, times) in &other.times {
            let known = self.times.entry(*quantity).or_default();
            *known = combine(*known, *times);
        }
        Limit { is_signed: self.is_signed || other.is_signed, ..self }
    }

    /// Of a product; `None` where both factors are of quantities.
    pub fn product(&self, other: &Limit) -> Option<Limit> {
        let (of, factor) = match (self.times.is_empty(), other.times.is_empty()) {
            (_, true) => (self, other.number),
            (true, false) => (other, self.number),
            (false, false) => return None,
        };
        let times = of.times.iter().map(|(quantity, times)| (*quantity, times.saturating_mul(factor)));
        Some(Limit {
            number: of.number.saturating_mul(factor),
            times: times.collect(),
            is_signed: self.is_signed || other.is_signed,
        })
    }

    fn value(&self, quantity: &dyn Fn(Quantity) -> u64) -> u128 {
        let value = |(of, times): (&Quantity, &u64)| u128::from(quantity(*of)) * u128::from(*times);
        self.times.iter().map(value).fold(self.number.into(), u128::saturating_add)
    }
}

impl RowLimits {
    /// An index along this axis of an array goes as far as that.
    pub(crate) fn add(&mut self, buffer: &Buffer, axis: u8, limit: Limit) {
        let known = self.0.iter_mut().find(|row| row.param_idx == buffer.param_idx && row.axis == axis);
        match known {
            Some(row) => row.limit = std::mem::take(&mut row.limit).or(&limit),
            None => {
                self.0.push(RowLimit { param_idx: buffer.param_idx, rank: buffer.rank, axis, limit });
            }
        }
    }

    /// Whether an int holds what the indices of a launch lead to.
    pub fn hold(&self, quantity: &dyn Fn(Quantity) -> u64) -> bool {
        self.0.iter().all(|row| {
            let axes = self.0.iter().filter(|other| other.param_idx == row.param_idx);
            let offsets = axes.map(|axis| axis.offset(quantity));
            offsets.fold(0, u128::saturating_add) <= 1 << 31
        })
    }
}

impl RowLimit {
    /// Elements from the array's start to the farthest index.
    fn offset(&self, quantity: &dyn Fn(Quantity) -> u64) -> u128 {
        let inner = (self.axis + 1..self.rank).map(|axis| Quantity::Axis { param_idx: self.param_idx, axis });
        inner.fold(self.limit.value(quantity), |offset, axis| offset.saturating_mul(quantity(axis).into()))
    }
}
