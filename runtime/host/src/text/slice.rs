//! `slice.indices`: the items that a slice selects in a sequence.

use super::error::{Result, value_error};

/// The start, stop and step of a slice, and the number of its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceIndices {
    pub start: i64,
    /// Exclusive; -1 if a backward slice includes the first item.
    pub stop: i64,
    pub step: i64,
    pub len: usize,
}

impl SliceIndices {
    /// Bounds that are big ints arrive as the nearest i64; `None` is an absent bound.
    pub fn new(
        start: Option<i64>,
        stop: Option<i64>,
        step: Option<i64>,
        n_items: usize,
    ) -> Result<SliceIndices> {
        let step = step.unwrap_or(1);
        if step == 0 {
            return value_error("slice step cannot be zero");
        }
        // The step's magnitude must fit; no sequence is long enough to show the difference.
        let step = step.max(-i64::MAX);
        let n_items = i64::try_from(n_items).unwrap_or(i64::MAX);
        let (lowest, highest) = if step > 0 { (0, n_items) } else { (-1, n_items - 1) };
        let resolve = |bound: i64| {
            let from_start = if bound < 0 { bound.saturating_add(n_items) } else { bound };
            from_start.clamp(lowest, highest)
        };
        let (first, last) = if step > 0 { (lowest, highest) } else { (highest, lowest) };
        let start = start.map_or(first, resolve);
        let stop = stop.map_or(last, resolve);
        let distance = if step > 0 { stop - start } else { start - stop };
        let len = if distance <= 0 { 0 } else { (distance - 1) / step.abs() + 1 };
        Ok(SliceIndices { start, stop, step, len: len as usize })
    }

    /// The positions of the items, in the order of the slice.
    pub fn positions(self) -> impl Iterator<Item = usize> {
        (0..self.len as i64).map(move |nth| (self.start + nth * self.step) as usize)
    }
}

/// The position of an index, counted from the end if it is negative; `None` if out of range.
pub fn position(index: i64, n_items: usize) -> Option<usize> {
    let n_items = i64::try_from(n_items).ok()?;
    let at = if index < 0 { index.checked_add(n_items)? } else { index };
    (0..n_items).contains(&at).then_some(at as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_take_items() {
        fn check(bounds: (Option<i64>, Option<i64>, Option<i64>), n_items: usize, expect: &[usize]) {
            let (start, stop, step) = bounds;
            let indices = SliceIndices::new(start, stop, step, n_items).expect("the step is not 0");
            assert_eq!(indices.positions().collect::<Vec<_>>(), expect);
        }
        check((None, None, None), 3, &[0, 1, 2]);
        check((Some(1), Some(-1), None), 4, &[1, 2]);
        check((None, None, Some(-2)), 5, &[4, 2, 0]);
        check((Some(i64::MAX), Some(i64::MIN), Some(-1)), 2, &[1, 0]);
        check((Some(3), Some(1), None), 5, &[]);
        check((None, None, Some(i64::MIN)), 3, &[2]);
        check((None, None, Some(i64::MAX)), 0, &[]);
        assert!(SliceIndices::new(None, None, Some(0), 3).is_err());
    }

    #[test]
    fn negative_indices_count_from_the_end() {
        fn check(index: i64, expect: Option<usize>) {
            assert_eq!(position(index, 3), expect);
        }
        check(-1, Some(2));
        check(2, Some(2));
        check(3, None);
        check(-4, None);
        check(i64::MIN, None);
    }
}
