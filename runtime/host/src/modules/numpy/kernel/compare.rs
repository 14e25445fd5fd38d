//! Comparisons of two operands; the results are bools.

use kps_compute::DType;

use super::{Loop2, with_number, zip};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

pub fn compare(op: Compare, dtype: DType) -> Loop2 {
    with_number!(dtype, T => match op {
        Compare::Equal => |left, right, places| zip(left, right, places, |l: T, r: T| l == r),
        Compare::NotEqual => |left, right, places| zip(left, right, places, |l: T, r: T| l != r),
        Compare::Less => |left, right, places| zip(left, right, places, |l: T, r: T| l < r),
        Compare::LessEqual => |left, right, places| zip(left, right, places, |l: T, r: T| l <= r),
        Compare::Greater => |left, right, places| zip(left, right, places, |l: T, r: T| l > r),
        Compare::GreaterEqual => |left, right, places| zip(left, right, places, |l: T, r: T| l >= r),
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
