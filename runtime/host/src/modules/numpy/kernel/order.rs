//! Sorts and searches within rows. NaN comes last.

use std::cmp::Ordering;

use kps_compute::{DType, Element};

use super::{check_room, elements, load_all, with_number};
use crate::ops::order::sort_by;
use crate::value::Result;
use crate::vm::collect_all;

fn order<T: PartialOrd>(left: &T, right: &T) -> Ordering {
    #[allow(clippy::eq_op, reason = "a NaN is what differs from itself")]
    left.partial_cmp(right).unwrap_or_else(|| (left != left).cmp(&(right != right)))
}

/// Sorts each run of `len` elements.
pub fn sort(dtype: DType, row: &mut [u8], len: usize) -> Result<()> {
    if row.is_empty() {
        return Ok(());
    }
    with_number!(dtype, T => for block in row.chunks_exact_mut(len * size_of::<T>()) {
        let mut sorted = load_all::<T>(block)?;
        sort_by(&mut sorted, order)?;
        for (place, element) in block.chunks_exact_mut(size_of::<T>()).zip(sorted) {
            element.store(place);
        }
    });
    Ok(())
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
        let all = load_all::<T>(block)?;
        let mut indices: Vec<usize> = (0..len).collect();
        sort_by(&mut indices, |&left, &right| order(&all[left], &all[right]))?;
        sorted.append(&mut indices);
    });
    Ok(sorted)
}

/// The positions in a sorted row at which runs of equal elements begin.
pub fn runs(dtype: DType, row: &[u8]) -> Result<Vec<usize>> {
    with_number!(dtype, T => {
        let all = load_all::<T>(row)?;
        collect_all((0..all.len()).filter(|&at| at == 0 || order(&all[at - 1], &all[at]) != Ordering::Equal))
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
        let mut row = to_bytes(&[2.0f64, f64::NAN, -1.0, f64::INFINITY]);
        assert_eq!(argsort(DType::F64, &row, 4).expect("there is room"), [2, 0, 3, 1]);
        sort(DType::F64, &mut row, 4).expect("there is room");
        assert_eq!(format!("{:?}", from_bytes::<f64>(&row)), "[-1.0, 2.0, inf, NaN]");
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
