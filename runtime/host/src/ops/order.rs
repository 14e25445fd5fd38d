//! Sorts by a comparison that calls no script: stable, and interruptible between runs.

use std::cmp::Ordering;

use crate::memory;
use crate::value::Result;
use crate::vm::checkpoint;

/// Items that are sorted without a poll.
const RUN: usize = 1 << 18;

/// Items that are merged between two looks at the interrupter.
const STRETCH: usize = 1 << 18;

/// Sorts stably. The comparison is a total order. When it is interrupted, all items are still there, in some order.
pub fn sort_by<T: Copy>(items: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) -> Result<()> {
    for run in items.chunks_mut(RUN) {
        checkpoint()?;
        run.sort_by(&compare);
    }
    if items.len() <= RUN {
        return Ok(());
    }
    let mut merged = Vec::new();
    memory::make_more_room(&mut merged, items.len())?;
    let mut width = RUN;
    while width < items.len() {
        merged.clear();
        for pair in items.chunks(2 * width) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            merge(left, right, &mut merged, &compare)?;
        }
        std::mem::swap(items, &mut merged);
        width *= 2;
    }
    Ok(())
}

/// Merges two sorted runs; of equal items, those of the left run come first.
fn merge<T: Copy>(
    mut left: &[T],
    mut right: &[T],
    merged: &mut Vec<T>,
    compare: &impl Fn(&T, &T) -> Ordering,
) -> Result<()> {
    let in_order = |left: &[T], right: &[T]| match (left.last(), right.first()) {
        (Some(last), Some(first)) => compare(last, first).is_le(),
        _ => true,
    };
    while !in_order(left, right) {
        checkpoint()?;
        let end = merged.len() + STRETCH;
        while merged.len() < end
            && let ([left_item, left_rest @ ..], [right_item, right_rest @ ..]) = (left, right)
        {
            if compare(right_item, left_item).is_lt() {
                merged.push(*right_item);
                right = right_rest;
            } else {
                merged.push(*left_item);
                left = left_rest;
            }
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rows_are_sorted_as_short_ones_are() {
        fn check(n: usize, n_keys: u64) {
            let mut state = 1_u64;
            let mut items: Vec<(u64, usize)> = (0..n)
                .map(|at| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    ((state >> 33) % n_keys, at)
                })
                .collect();
            let mut expect = items.clone();
            expect.sort_by_key(|item| item.0);
            sort_by(&mut items, |left, right| left.0.cmp(&right.0))
                .unwrap_or_else(|_| panic!("nothing interrupts"));
            assert!(items == expect);
        }
        check(3 * RUN + 17, 1000);
        check(2 * RUN, u64::MAX);
        check(RUN + 1, 1);
        check(0, 1);
    }
}
