//! Sorts and searches within rows. NaN comes last.

use std::cmp::Ordering;

use kps_compute::DType;

use super::radix::{self, Keyed};
use super::{check_room, elements, empty, load_all, with_number};
use crate::ops::order::sort_by;
use crate::value::Result;
use crate::vm::collect_all;

/// From this length on, sorting by digits is faster than by comparisons.
const LONG: usize = 512;

fn order<T: PartialOrd>(left: &T, right: &T) -> Ordering {
    #[allow(clippy::eq_op, reason = "a NaN is what differs from itself")]
    left.partial_cmp(right).unwrap_or_else(|| (left != left).cmp(&(right != right)))
}

/// The row with each run of `len` elements sorted.
pub fn sort(dtype: DType, row: &[u8], len: usize) -> Result<Vec<u8>> {
    let mut sorted = empty(row.len())?;
    if row.is_empty() {
        return Ok(sorted);
    }
    with_number!(dtype, T => for block in row.chunks_exact(len * size_of::<T>()) {
        // Both zeros are equal, and keep their order. Their keys differ.
        let elements = match len < LONG || elements::<T>(block).any(T::is_negative_zero) {
            true => {
                let mut all = load_all::<T>(block)?;
                sort_by(&mut all, order)?;
                all
            }
            false => radix::sort(block)?,
        };
        super::append(&mut sorted, block.len(), |places| places.fill(elements.into_iter()));
    });
    Ok(sorted)
}

/// The indices within its run that each run of `len` elements has when sorted; equal ones keep their order.
pub fn argsort(dtype: DType, row: &[u8], len: usize) -> Result<Vec<usize>> {
    let mut sorted = Vec::new();
    if row.is_empty() {
        return Ok(sorted);
    }
    // The indices of all runs, those of the current run, and the scratch space of its sort.
    check_room(3 * (row.len() / dtype.size()) * size_of::<usize>())?;
    with_number!(dtype, T => for block in row.chunks_exact(len * size_of::<T>()) {
        let mut indices = match len < LONG {
            true => {
                let all = load_all::<T>(block)?;
                let mut indices: Vec<usize> = (0..len).collect();
                sort_by(&mut indices, |&left, &right| order(&all[left], &all[right]))?;
                indices
            }
            false => radix::argsort::<T>(block)?,
        };
        match sorted.is_empty() {
            true => sorted = indices,
            false => sorted.append(&mut indices),
        }
    });
    Ok(sorted)
}

/// The positions in a sorted row at which runs of equal elements begin.
pub fn runs(dtype: DType, row: &[u8]) -> Result<Vec<usize>> {
    with_number!(dtype, T => {
        let later = elements::<T>(row).skip(1).zip(elements::<T>(row)).enumerate();
        let is_new = |(_, (next, last)): &(usize, (T, T))| order(last, next) != Ordering::Equal;
        let starts = later.filter(is_new).map(|(at, _)| at + 1);
        collect_all((0..row.len().min(1)).chain(starts))
    })
}

/// The side of equal elements for a searched one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// The insertion points of the wanted elements in a sorted row.
pub fn search(dtype: DType, sorted: &[u8], wanted: &[u8], side: Side) -> Result<Vec<i64>> {
    with_number!(dtype, T => {
        let sorted = load_all::<T>(sorted)?;
        let goes_after = |element: &T, wanted: &T| match side {
            Side::Left => order(element, wanted).is_lt(),
            Side::Right => order(element, wanted).is_le(),
        };
        let place = |wanted| sorted.partition_point(|element| goes_after(element, &wanted)) as i64;
        collect_all(elements::<T>(wanted).map(place))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kps_compute::element::{from_bytes, to_bytes};

    #[test]
    fn nan_is_sorted_behind_everything() {
        let row = to_bytes(&[2.0f64, f64::NAN, -1.0, f64::INFINITY]);
        assert_eq!(argsort(DType::F64, &row, 4).expect("there is room"), [2, 0, 3, 1]);
        let sorted = sort(DType::F64, &row, 4).expect("there is room");
        assert_eq!(format!("{:?}", from_bytes::<f64>(&sorted)), "[-1.0, 2.0, inf, NaN]");
    }

    #[test]
    fn long_runs_are_sorted_as_short_ones_are() {
        fn check<T: Keyed + PartialEq + std::fmt::Debug>(dtype: DType, element: impl Fn(u64) -> T) {
            // Multiples of a large odd number, whose high bits are spread evenly.
            let all: Vec<T> =
                (0..2000u64).map(|at| element(at.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
            let row = to_bytes(&all);
            let mut expect: Vec<usize> = (0..all.len()).collect();
            expect.sort_by(|&left, &right| order(&all[left], &all[right]));
            let indices = argsort(dtype, &row, all.len()).expect("there is room");
            assert_eq!(indices, expect, "{dtype}");
            let sorted = sort(dtype, &row, all.len()).expect("there is room");
            let picked: Vec<T> = indices.iter().map(|&at| all[at]).collect();
            assert_eq!(sorted, to_bytes(&picked), "{dtype}");
        }
        check(DType::F64, |bits| (bits >> 40) as f64 - 5e6);
        check(DType::F64, |bits| if bits % 7 == 0 { -f64::NAN } else { f64::from_bits(bits) });
        check(DType::F32, |bits| if bits % 3 == 0 { 0.0 } else { -0.0 * (bits % 5) as f32 });
        check(DType::F32, |bits| f32::from_bits(bits as u32));
        check(DType::I64, |bits| bits as i64);
        check(DType::I64, |bits| (bits % 100) as i64);
        check(DType::U32, |bits| bits as u32);
        check(DType::I8, |bits| bits as i8);
    }

    #[test]
    fn equal_elements_are_found_from_both_sides() {
        let row = to_bytes(&[1i32, 2, 2, 5]);
        let wanted = to_bytes(&[2i32, 6, 0]);
        let places = |side| search(DType::I32, &row, &wanted, side).expect("there is room");
        assert_eq!(places(Side::Left), [1, 4, 0]);
        assert_eq!(places(Side::Right), [3, 4, 0]);
        assert_eq!(runs(DType::I32, &row).expect("there is room"), [0, 1, 3]);
    }
}
