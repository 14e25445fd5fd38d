//! Comparisons of two rows; the result is a row of bools.

use kps_compute::DType;

use super::{with_number, zip};
use crate::value::Result;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

pub fn compare(op: Compare, dtype: DType, left: &[u8], right: &[u8], n: usize) -> Result<Vec<u8>> {
    with_number!(dtype, T => match op {
        Compare::Equal => zip(left, right, n, |l: T, r: T| l == r),
        Compare::NotEqual => zip(left, right, n, |l: T, r: T| l != r),
        Compare::Less => zip(left, right, n, |l: T, r: T| l < r),
        Compare::LessEqual => zip(left, right, n, |l: T, r: T| l <= r),
        // The other way round, so that there are half as many loops.
        Compare::Greater => zip(right, left, n, |r: T, l: T| r < l),
        Compare::GreaterEqual => zip(right, left, n, |r: T, l: T| r <= l),
    })
}

/// Whether the order of two numbers satisfies the comparison.
pub fn holds(op: Compare, order: std::cmp::Ordering) -> bool {
    match op {
        Compare::Equal => order.is_eq(),
        Compare::NotEqual => order.is_ne(),
        Compare::Less => order.is_lt(),
        Compare::LessEqual => order.is_le(),
        Compare::Greater => order.is_gt(),
        Compare::GreaterEqual => order.is_ge(),
    }
}
