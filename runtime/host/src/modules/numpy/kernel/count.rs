//! Counts elements, and finds those that are true.

use kps_compute::{DType, Element};
use rayon::prelude::*;

use super::binary::Binary;
use super::elements;
use super::places::{PART, empty, is_many};
use super::reduce::{Extent, reduce};
use crate::value::Result;
use crate::vm::{STRETCH, checkpoint};

/// The least and the greatest number of a row of `i64`; `None` if it is empty.
pub fn bounds(row: &[u8]) -> Result<Option<(i64, i64)>> {
    let extent = Extent { before: 1, len: row.len() / 8, after: 1 };
    if extent.len == 0 {
        return Ok(None);
    }
    let (least, most) = (
        reduce(Binary::Minimum, DType::I64, row, extent)?,
        reduce(Binary::Maximum, DType::I64, row, extent)?,
    );
    Ok(Some((i64::load(&least), i64::load(&most))))
}

/// How often each of the numbers from 0 up to below `n` occurs in a row of `i64`, all of which are among them.
pub fn counts(row: &[u8], n: usize) -> Result<Vec<i64>> {
    let count = |row: &[u8], counts: &mut [i64]| {
        elements::<i64>(row).for_each(|number| counts[number as usize] += 1);
    };
    let mut total = vec![0; n];
    // Each thread has counts of its own, which are added at last.
    let n_parts = if !is_many(row.len()) { 1 } else { rayon::current_num_threads() };
    let n_bytes = (row.len() / 8).div_ceil(n_parts).clamp(1, 16 * STRETCH) * 8;
    if n_parts == 1 || n > n_bytes / 64 {
        checkpoint()?;
        count(row, &mut total);
        return Ok(total);
    }
    let mut counts = vec![0; n_parts * n];
    for parts in row.chunks(n_parts * n_bytes) {
        checkpoint()?;
        counts
            .par_chunks_mut(n)
            .zip(parts.par_chunks(n_bytes))
            .for_each(|(counts, part)| count(part, counts));
    }
    for counts in counts.chunks(n) {
        total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
    }
    Ok(total)
}

/// The indices of a row of bools that are true.
pub fn places(truths: &[u8]) -> Result<Vec<usize>> {
    checkpoint()?;
    let n_in_part = if !is_many(truths.len()) { truths.len().max(1) } else { PART };
    let n_true = |part: &[u8]| part.iter().map(|truth| usize::from(*truth)).sum::<usize>();
    let counts: Vec<usize> = match truths.len() {
        n if !is_many(n) => vec![n_true(truths)],
        _ => truths.par_chunks(n_in_part).map(n_true).collect(),
    };
    let n = counts.iter().sum();
    let mut all = empty(n)?;
    all.resize(n, 0);
    let mut rest = &mut all[..];
    let mut parts = Vec::with_capacity(counts.len());
    for (nth, (count, truths)) in counts.iter().zip(truths.chunks(n_in_part)).enumerate() {
        let (places, after) = rest.split_at_mut(*count);
        parts.push((nth * n_in_part, truths, places));
        rest = after;
    }
    match parts.len() {
        1 => parts.into_iter().for_each(|(start, truths, places)| find(start, truths, places)),
        _ => parts.into_par_iter().for_each(|(start, truths, places)| find(start, truths, places)),
    }
    Ok(all)
}

/// Writes the indices that are true, without a branch for each of them.
fn find(start: usize, truths: &[u8], mut places: &mut [usize]) {
    const N: usize = 64;
    for (nth, truths) in truths.chunks(N).enumerate() {
        let mut found = [0; N];
        let mut n = 0;
        for (at, truth) in truths.iter().enumerate() {
            found[n % N] = start + nth * N + at;
            n += usize::from(*truth);
        }
        let (here, after) = places.split_at_mut(n);
        here.copy_from_slice(&found[..n]);
        places = after;
    }
}
