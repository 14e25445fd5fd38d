//! Shapes: broadcasting, and axes that count from the end.

use smallvec::SmallVec;

use crate::errors::{self, Result};

/// Elements along each axis.
pub type Shape = SmallVec<[usize; 4]>;

/// The number of elements.
pub fn size(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// Refuses a shape with more elements than memory has addresses.
pub fn check(shape: &[usize]) -> Result<()> {
    let largest = (isize::MAX / 16) as usize;
    let n = shape.iter().filter(|len| **len > 0).try_fold(1usize, |n, len| n.checked_mul(*len));
    n.filter(|n| *n <= largest).map(drop).ok_or_else(|| errors::too_large(shape))
}

/// The shape that both broadcast to: axes are aligned at the last one, and an axis of 1 repeats.
///
/// ```
/// use kps_array::shape::broadcast;
/// assert_eq!(broadcast(&[3, 1], &[4]).unwrap().as_slice(), [3, 4]);
/// assert!(broadcast(&[3], &[4]).is_err());
/// ```
pub fn broadcast(left: &[usize], right: &[usize]) -> Result<Shape> {
    let ndim = left.len().max(right.len());
    let along = |shape: &[usize], axis: usize| match (axis + shape.len()).checked_sub(ndim) {
        Some(own) => shape[own],
        None => 1,
    };
    (0..ndim)
        .map(|axis| match (along(left, axis), along(right, axis)) {
            (1, n) | (n, 1) => Ok(n),
            (n, m) if n == m => Ok(n),
            _ => Err(errors::not_broadcast(left, right)),
        })
        .collect()
}

/// An axis that may count from the end, as one that counts from the start.
pub fn axis(given: i64, ndim: usize) -> Result<usize> {
    let counted = if given < 0 { given + ndim as i64 } else { given };
    let inside = usize::try_from(counted).ok().filter(|axis| *axis < ndim);
    inside.ok_or_else(|| errors::axis_out_of_range(given, ndim))
}

/// Several axes, in ascending order; each may be named once.
pub fn axes(given: &[i64], ndim: usize) -> Result<SmallVec<[usize; 4]>> {
    let mut axes = given.iter().map(|given| axis(*given, ndim)).collect::<Result<SmallVec<[usize; 4]>>>()?;
    axes.sort_unstable();
    match axes.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(errors::axis_twice(pair[0])),
        None => Ok(axes),
    }
}

/// The shape that a script asks for: one axis may be -1, and gets the elements that the others leave.
pub fn resolved(given: &[i64], n_elements: usize) -> Option<Shape> {
    let known: usize = given.iter().filter(|n| **n >= 0).map(|n| *n as usize).product();
    let unknown = given.iter().filter(|n| **n < 0).count();
    if given.iter().any(|n| *n < -1) || unknown > 1 {
        return None;
    }
    let shape: Shape = given
        .iter()
        .map(|n| if *n >= 0 { *n as usize } else { n_elements.checked_div(known).unwrap_or(0) })
        .collect();
    (size(&shape) == n_elements).then_some(shape)
}
