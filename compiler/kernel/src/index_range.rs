//! The range of indices that a module assumes of its launch.
//!
//! The flat index of an element of an array with several axes may overflow an i32. For ids, counters and sizes the
//! compiler knows an upper bound: a sum of multiples of the launch's sizes. A module that assumes the range
//! ([`IndexRange::Assumed`]) has no test of those indices. Before such a launch the host asks [`IndexLimits::hold`].
//! `passes/ranges/limits.rs` finds the limits; this file never looks at nodes.

use std::collections::BTreeMap;

use crate::ir::params::Buffer;

/// Whether a module relies on a launch whose flat indices fit an int.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum IndexRange {
    /// It tests every index that may overflow.
    #[default]
    Any,
    /// It does not test those of ids, counters and sizes.
    Assumed,
}

/// A size that only a launch knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LaunchSize {
    /// Invocations along x, y or z, in whole workgroups.
    Invocations(u8),
    /// The length of an axis of an array parameter, by its place in the kernel's list.
    Axis { param_idx: usize, axis: u8 },
}

/// The largest distance of an int from 0: a number, plus multiples of the launch's sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Limit {
    number: u64,
    times: BTreeMap<LaunchSize, u64>,
    /// The int may be negative.
    pub is_signed: bool,
}

/// The limits of the indices that a module does not test, along each axis of its arrays.
#[derive(Clone, Debug, Default)]
pub struct IndexLimits(Vec<IndexLimit>);

#[derive(Clone, Debug)]
struct IndexLimit {
    param_idx: usize,
    /// The number of axes of the array.
    rank: u8,
    axis: u8,
    limit: Limit,
}

impl Limit {
    pub fn number(number: i128) -> Limit {
        let size = u64::try_from(number.unsigned_abs()).unwrap_or(u64::MAX);
        Limit { number: size, times: BTreeMap::new(), is_signed: number < 0 }
    }

    pub fn launch_size(size: LaunchSize) -> Limit {
        Limit { times: BTreeMap::from([(size, 1)]), ..Limit::default() }
    }

    pub fn signed(self) -> Limit {
        Limit { is_signed: true, ..self }
    }

    pub fn unsigned(self) -> Limit {
        Limit { is_signed: false, ..self }
    }

    /// The limit of a sum or a difference.
    pub fn plus(self, other: &Limit) -> Limit {
        self.combined(other, u64::saturating_add)
    }

    /// The limit of a choice between two ints.
    pub fn or(self, other: &Limit) -> Limit {
        self.combined(other, u64::max)
    }

    fn combined(mut self, other: &Limit, combine: fn(u64, u64) -> u64) -> Limit {
        self.number = combine(self.number, other.number);
        for (size, times) in &other.times {
            let known = self.times.entry(*size).or_default();
            *known = combine(*known, *times);
        }
        Limit { is_signed: self.is_signed || other.is_signed, ..self }
    }

    /// The limit of a product; `None` where both factors depend on the launch.
    pub fn product(&self, other: &Limit) -> Option<Limit> {
        let (of, factor) = match (self.times.is_empty(), other.times.is_empty()) {
            (_, true) => (self, other.number),
            (true, false) => (other, self.number),
            (false, false) => return None,
        };
        let times = of.times.iter().map(|(size, times)| (*size, times.saturating_mul(factor)));
        Some(Limit {
            number: of.number.saturating_mul(factor),
            times: times.collect(),
            is_signed: self.is_signed || other.is_signed,
        })
    }

    fn value(&self, size: &dyn Fn(LaunchSize) -> u64) -> u128 {
        let value = |(of, times): (&LaunchSize, &u64)| u128::from(size(*of)) * u128::from(*times);
        self.times.iter().map(value).fold(self.number.into(), u128::saturating_add)
    }
}

impl IndexLimits {
    /// Adds an index along this axis of an array.
    pub(crate) fn add(&mut self, buffer: &Buffer, axis: u8, limit: Limit) {
        let known = self.0.iter_mut().find(|known| known.param_idx == buffer.param_idx && known.axis == axis);
        match known {
            Some(known) => known.limit = std::mem::take(&mut known.limit).or(&limit),
            None => {
                self.0.push(IndexLimit { param_idx: buffer.param_idx, rank: buffer.rank, axis, limit });
            }
        }
    }

    /// Whether all flat indices of a launch fit an int.
    pub fn hold(&self, size: &dyn Fn(LaunchSize) -> u64) -> bool {
        self.0.iter().all(|limit| {
            let axes = self.0.iter().filter(|other| other.param_idx == limit.param_idx);
            let offsets = axes.map(|axis| axis.offset(size));
            offsets.fold(0, u128::saturating_add) <= 1 << 31
        })
    }
}

impl IndexLimit {
    /// Elements between the start of the array and the largest index.
    fn offset(&self, size: &dyn Fn(LaunchSize) -> u64) -> u128 {
        let inner =
            (self.axis + 1..self.rank).map(|axis| LaunchSize::Axis { param_idx: self.param_idx, axis });
        inner.fold(self.limit.value(size), |offset, axis| offset.saturating_mul(size(axis).into()))
    }
}
