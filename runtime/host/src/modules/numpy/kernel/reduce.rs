//! Reduces rows along an axis. A row consists of `before` blocks of `len` steps of `after` elements; the
//! steps are reduced.

use std::ops::Range;

use kps_compute::{DType, Element};
use rayon::prelude::*;

use super::binary::{Binary, Float, Int, binary};
use super::places::{
    LONG_STRETCH, PART, append, build_in_parts, empty, extend_in_parts, is_many, vectorised,
};
use super::source::CHUNK;
use super::{Loop2, elements, repeated, row_of_equal, with_int, with_number};
use crate::value::Result;
use crate::vm::{STRETCH, checkpoint};

/// The division of a row around the reduced axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub before: usize,
    pub len: usize,
    pub after: usize,
}

impl Extent {
    /// Around one axis of a shape.
    pub fn around(shape: &[usize], axis: usize) -> Extent {
        Extent {
            before: shape[..axis].iter().product(),
            len: shape[axis],
            after: shape[axis + 1..].iter().product(),
        }
    }
}

/// Sums; floats along the last axis are added pairwise, as in NumPy.
pub fn sum(dtype: DType, row: &[u8], extent: Extent) -> Result<Vec<u8>> {
    let zero = [0; 8];
    with_int!(dtype,
        T => fold::<T>(Binary::Add, row, &zero, extent),
        float F => match extent.after {
            1 => each_block(row, size_of::<F>(), extent, pairwise_long::<F>),
            _ => fold::<F>(Binary::Add, row, &zero, extent),
        }
    )
}

pub fn product(dtype: DType, row: &[u8], extent: Extent) -> Result<Vec<u8>> {
    let mut one = [0; 8];
    with_int!(dtype,
        T => { T::store(1, &mut one); fold::<T>(Binary::Multiply, row, &one, extent) },
        float F => match extent.after {
            // The order of multiplications affects their rounding.
            1 => each_block(row, size_of::<F>(), extent, |block| {
                Ok(elements::<F>(block).fold(1.0, |product, x| product * x))
            }),
            _ => { F::store(1.0, &mut one); fold::<F>(Binary::Multiply, row, &one, extent) }
        }
    )
}

/// Any other operation, along an axis of at least one step.
pub fn reduce(op: Binary, dtype: DType, row: &[u8], extent: Extent) -> Result<Vec<u8>> {
    let size = dtype.size();
    if extent.after > 1 {
        return fold_steps(binary(op, dtype), size, row, None, extent);
    }
    fold_blocks(op, dtype, row, extent)
}

/// Whether any of the bools of each block is true, or all are.
pub fn any(row: &[u8], extent: Extent) -> Result<Vec<u8>> {
    each_block(row, 1, extent, |block| Ok(memchr::memchr(1, block).is_some()))
}

pub fn all(row: &[u8], extent: Extent) -> Result<Vec<u8>> {
    each_block(row, 1, extent, |block| Ok(memchr::memchr(0, block).is_none()))
}

/// A sum or a product, whose neutral element is given.
fn fold<T: Element>(op: Binary, row: &[u8], neutral: &[u8; 8], extent: Extent) -> Result<Vec<u8>> {
    let size = size_of::<T>();
    if extent.after > 1 {
        return fold_steps(binary(op, T::DTYPE), size, row, Some(&neutral[..size]), extent);
    }
    if extent.len == 0 {
        return row_of_equal(&neutral[..size], extent.before);
    }
    fold_blocks(op, T::DTYPE, row, extent)
}

/// One result for every block, whose elements have a size: `fold` may run on several threads.
fn each_block<T: Element + Send>(
    row: &[u8],
    size: usize,
    extent: Extent,
    fold: impl Fn(&[u8]) -> Result<T> + Sync,
) -> Result<Vec<u8>> {
    let n_bytes = extent.len * size;
    let block = |at: usize| &row[at * n_bytes..(at + 1) * n_bytes];
    if is_many(n_bytes) || !is_many(row.len()) {
        let mut folded = empty(extent.before * size_of::<T>())?;
        for at in 0..extent.before {
            let element = fold(block(at))?;
            append(&mut folded, size_of::<T>(), |places| places.fill(std::iter::once(element)));
        }
        return Ok(folded);
    }
    build_in_parts(extent.before, size_of::<T>(), n_in_part(extent.before), |range, places| {
        // Only long blocks poll for interrupts, and can fail.
        places.fill(range.map(|at| fold(block(at)).unwrap_or_else(|_| unreachable!("the block is short"))))
    })
}

/// Results that one thread computes, if that takes long.
fn n_in_part(n: usize) -> usize {
    n.div_ceil(2 * rayon::current_num_threads()).next_multiple_of(64)
}

/// Folds the steps of each block, which are several elements long, in their order.
fn fold_steps(op: Loop2, size: usize, row: &[u8], start: Option<&[u8]>, extent: Extent) -> Result<Vec<u8>> {
    let Extent { before, len, after } = extent;
    let n = before * after;
    let n_in_part = if !is_many(row.len()) { n } else { n_in_part(n) };
    build_in_parts(n, size, n_in_part, |range, places| {
        places.in_pieces(tiles(range, after, size), |Tile { block, columns }, places| {
            let step = |at: usize| {
                let first = (block * len + at) * after + columns.start;
                &row[first * size..(first + columns.len()) * size]
            };
            let (mut folded, mut next) = (Vec::new(), Vec::new());
            let n_bytes = columns.len() * size;
            match start {
                Some(start) => append(&mut folded, n_bytes, |places| repeated(start, places)),
                None => folded.extend_from_slice(step(0)),
            }
            for at in usize::from(start.is_none())..len {
                next.clear();
                append(&mut next, n_bytes, |places| op(&folded, step(at), places));
                std::mem::swap(&mut folded, &mut next);
            }
            places.copy(&folded)
        })
    })
}

/// Elements that are folded side by side: running results, elements and new results stay in the processor's cache.
const WIDTH: usize = 1024;

/// Neighbouring columns of one block.
struct Tile {
    block: usize,
    columns: Range<usize>,
}

/// The tiles that have these elements, each with its bytes: they are so narrow that a step stays in the cache.
fn tiles(range: Range<usize>, after: usize, size: usize) -> impl Iterator<Item = (usize, Tile)> {
    let mut from = range.start;
    std::iter::from_fn(move || {
        let (block, column) = (from / after.max(1), from % after.max(1));
        let n = WIDTH.min(after - column).min(range.end - from);
        from += n;
        (n > 0).then(|| (n * size, Tile { block, columns: column..column + n }))
    })
}

/// Folds each block to one element.
fn fold_blocks(op: Binary, dtype: DType, row: &[u8], extent: Extent) -> Result<Vec<u8>> {
    let (func, size) = (binary(op, dtype), dtype.size());
    let n_bytes = extent.len * size;
    let fold = |block: &[u8]| {
        if op.is_commutative() { fold_chunks(func, size, block) } else { fold_in_order(func, size, block) }
    };
    if is_many(n_bytes) {
        let mut folded = empty(extent.before * size)?;
        for block in row.chunks_exact(n_bytes) {
            let mut parts = Vec::new();
            for stretch in block.chunks(LONG_STRETCH) {
                checkpoint()?;
                if !op.is_commutative() {
                    parts = fold(&[&parts, stretch].concat());
                    continue;
                }
                let part = |at: usize| &stretch[at * PART..stretch.len().min((at + 1) * PART)];
                extend_in_parts(&mut parts, stretch.len().div_ceil(PART), size, 1, |range, places| {
                    places.copy(&fold(part(range.start)))
                })?;
            }
            folded.extend_from_slice(&fold(&parts));
        }
        return Ok(folded);
    }
    let n_in_part = if !is_many(row.len()) { extent.before } else { n_in_part(extent.before) };
    build_in_parts(extent.before, size, n_in_part, |range, places| {
        let blocks = range.map(|at| (size, &row[at * n_bytes..(at + 1) * n_bytes]));
        places.in_pieces(blocks, |block, places| places.copy(&fold(block)))
    })
}

/// One element of many, by a commutative and associative operation on chunks, and at last on halves.
fn fold_chunks(op: Loop2, size: usize, block: &[u8]) -> Vec<u8> {
    let (first, rest) = block.split_at(block.len().min(WIDTH * size));
    let (mut folded, mut next) = (first.to_vec(), Vec::with_capacity(first.len()));
    for chunk in rest.chunks(WIDTH * size) {
        next.clear();
        append(&mut next, chunk.len(), |places| op(&folded[..chunk.len()], chunk, places));
        next.extend_from_slice(&folded[chunk.len()..]);
        std::mem::swap(&mut folded, &mut next);
    }
    while folded.len() > size {
        let half = folded.len() / size / 2 * size;
        let (left, right) = folded.split_at(half);
        next.clear();
        append(&mut next, half, |places| op(left, &right[..half], places));
        next.extend_from_slice(&right[half..]);
        std::mem::swap(&mut folded, &mut next);
    }
    folded
}

/// One element of many, from the first to the last.
fn fold_in_order(op: Loop2, size: usize, block: &[u8]) -> Vec<u8> {
    let mut elements = block.chunks_exact(size);
    let mut folded = elements.next().expect("a block has at least one element").to_vec();
    let mut next = Vec::with_capacity(size);
    for element in elements {
        next.clear();
        append(&mut next, size, |places| op(&folded, element, places));
        std::mem::swap(&mut folded, &mut next);
    }
    folded
}

/// NumPy's order of additions: eight running sums within blocks of 128, blocks added in a tree. Polls for
/// interrupts.
fn pairwise_long<T: Float + Send>(row: &[u8]) -> Result<T> {
    if row.len() <= LONG_STRETCH {
        return Ok(if !is_many(row.len()) { pairwise(row) } else { pairwise_shared(row) });
    }
    checkpoint()?;
    let (left, right) = halves::<T>(row);
    Ok(pairwise_long::<T>(left)?.add(pairwise_long(right)?))
}

/// The same by several threads.
fn pairwise_shared<T: Float + Send>(row: &[u8]) -> T {
    if row.len() <= PART {
        return pairwise(row);
    }
    let (left, right) = halves::<T>(row);
    let (left, right) = rayon::join(|| pairwise_shared::<T>(left), || pairwise_shared(right));
    left.add(right)
}

/// Where pairwise addition divides a row.
fn halves<T>(row: &[u8]) -> (&[u8], &[u8]) {
    let half = row.len() / size_of::<T>() / 2;
    row.split_at((half - half % 8) * size_of::<T>())
}

fn pairwise<T: Float>(row: &[u8]) -> T {
    const BLOCK: usize = 128;
    let n = row.len() / size_of::<T>();
    if n > BLOCK {
        let (left, right) = halves::<T>(row);
        return pairwise::<T>(left).add(pairwise(right));
    }
    if n < 8 {
        return elements::<T>(row).fold(T::ZERO, T::add);
    }
    vectorised(|| {
        let mut eights = row.chunks_exact(8 * size_of::<T>());
        let eight = |bytes: &[u8]| -> [T; 8] {
            std::array::from_fn(|at| T::load(&bytes[at * size_of::<T>()..(at + 1) * size_of::<T>()]))
        };
        let mut sums = eight(eights.next().expect("there are at least eight"));
        for bytes in &mut eights {
            for (sum, x) in sums.iter_mut().zip(eight(bytes)) {
                *sum = sum.add(x);
            }
        }
        let [a, b, c, d, e, f, g, h] = sums;
        let sum = a.add(b).add(c.add(d)).add(e.add(f).add(g.add(h)));
        elements::<T>(eights.remainder()).fold(sum, T::add)
    })
}

/// Running results: each step is the operation on the step before and the element.
pub fn accumulate(op: Binary, dtype: DType, row: &[u8], extent: Extent) -> Result<Vec<u8>> {
    let step = extent.after * dtype.size();
    if row.is_empty() {
        return Ok(Vec::new());
    }
    if let (Binary::Add, 1) = (op, extent.after) {
        // Adding zero changes no number, and adding -0.0 no float.
        return with_int!(dtype,
            T => running_sums::<T>(row, extent.len, 0, <T as Int>::add),
            float F => running_sums::<F>(row, extent.len, -0.0, <F as Float>::add)
        );
    }
    let func = binary(op, dtype);
    let mut out = empty(row.len())?;
    for block in row.chunks_exact(extent.len * step) {
        let mut last = Vec::new();
        for (at, step) in block.chunks_exact(step).enumerate() {
            if at.is_multiple_of(STRETCH) {
                checkpoint()?;
            }
            let mut next = Vec::with_capacity(step.len());
            match at {
                0 => next.extend_from_slice(step),
                _ => append(&mut next, step.len(), |places| func(&last, step, places)),
            }
            out.extend_from_slice(&next);
            last = next;
        }
    }
    Ok(out)
}

fn running_sums<T: Element>(row: &[u8], len: usize, zero: T, add: impl Fn(T, T) -> T) -> Result<Vec<u8>> {
    let mut out = empty(row.len())?;
    for block in row.chunks_exact(len * size_of::<T>()) {
        let mut sum = zero;
        for stretch in block.chunks(STRETCH * size_of::<T>()) {
            checkpoint()?;
            // The sum is the iterator's own, so that it stays in a register.
            let sums = elements::<T>(stretch).scan(sum, |sum, x| {
                *sum = add(*sum, x);
                Some(*sum)
            });
            append(&mut out, stretch.len(), |places| places.fill(sums));
            sum = T::load(&out[out.len() - size_of::<T>()..]);
        }
    }
    Ok(out)
}

/// Which of the extremes is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    Least,
    Greatest,
}

/// The index of the first extreme along the axis, which has at least one step; a NaN is one.
/// A row of `i64`.
pub fn index_of_extreme(extreme: Extreme, dtype: DType, row: &[u8], extent: Extent) -> Result<Vec<u8>> {
    with_number!(dtype, T => match extreme {
        #[allow(clippy::eq_op, reason = "a NaN is what differs from itself")]
        Extreme::Least => find(row, extent, |x: T, best: T| x < best || x != x && best == best),
        #[allow(clippy::eq_op, reason = "a NaN is what differs from itself")]
        Extreme::Greatest => find(row, extent, |x: T, best: T| x > best || x != x && best == best),
    })
}

fn find<T: Element + Send + Sync>(
    row: &[u8],
    extent: Extent,
    wins: impl Fn(T, T) -> bool + Sync,
) -> Result<Vec<u8>> {
    let Extent { before, len, after } = extent;
    if after == 1 {
        return each_block(row, size_of::<T>(), extent, |block| Ok(find_in_block(block, &wins) as i64));
    }
    let mut out = empty(before * after * 8)?;
    for block in row.chunks_exact((len * after * size_of::<T>()).max(1)) {
        let mut best: Vec<(T, i64)> = elements(&block[..after * size_of::<T>()]).map(|x| (x, 0)).collect();
        for (at, step) in block.chunks_exact(after * size_of::<T>()).enumerate() {
            checkpoint()?;
            for (best, x) in best.iter_mut().zip(elements(step)) {
                if wins(x, best.0) {
                    *best = (x, at as i64);
                }
            }
        }
        append(&mut out, after * 8, |places| places.fill(best.iter().map(|(_, at)| *at)));
    }
    Ok(out)
}

/// The index of the first extreme of a block: the chunk that has it is found first.
fn find_in_block<T: Element + Send + Sync>(block: &[u8], wins: &(impl Fn(T, T) -> bool + Sync)) -> usize {
    let better = |left: (T, usize), right: (T, usize)| if wins(right.0, left.0) { right } else { left };
    let n_bytes = CHUNK * size_of::<T>();
    let part = |(nth, part): (usize, &[u8])| {
        let chunks = part.chunks(n_bytes).enumerate();
        let extremes = chunks.map(|(at, chunk)| (extreme_of(chunk, wins), nth * (PART / n_bytes) + at));
        extremes.reduce(better).expect("a part has at least one element")
    };
    let parts = if !is_many(block.len()) {
        vec![part((0, block))]
    } else {
        block.par_chunks(PART).enumerate().map(part).collect()
    };
    let (best, chunk) = parts.into_iter().reduce(better).expect("a block has at least one element");
    let first = chunk * CHUNK;
    let at = elements(&block[first * size_of::<T>()..]).position(|x| !wins(best, x));
    first + at.expect("the chunk has its extreme")
}

/// An extreme of a chunk, by several running ones.
#[inline(always)]
fn extreme_of<T: Element>(chunk: &[u8], wins: impl Fn(T, T) -> bool) -> T {
    const LANES: usize = 32;
    let first = T::load(chunk);
    vectorised(|| {
        let mut best = [first; LANES];
        let mut groups = chunk.chunks_exact(LANES * size_of::<T>());
        for group in &mut groups {
            for (best, x) in best.iter_mut().zip(elements(group)) {
                *best = if wins(x, *best) { x } else { *best };
            }
        }
        let rest = elements(groups.remainder());
        best.into_iter().chain(rest).fold(first, |best, x| if wins(x, best) { x } else { best })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kps_compute::element::{from_bytes, to_bytes};

    const ROWS: Extent = Extent { before: 2, len: 3, after: 1 };
    const COLUMNS: Extent = Extent { before: 1, len: 2, after: 3 };

    #[test]
    fn an_axis_is_folded_away() {
        fn check(row: Result<Vec<u8>>, expect: &[i32]) {
            assert_eq!(from_bytes::<i32>(&row.expect("there is room")), expect);
        }
        let row = to_bytes(&[1, 2, 3, 4, 5, 6]);
        check(sum(DType::I32, &row, ROWS), &[6, 15]);
        check(sum(DType::I32, &row, COLUMNS), &[5, 7, 9]);
        check(product(DType::I32, &row, COLUMNS), &[4, 10, 18]);
        check(reduce(Binary::Maximum, DType::I32, &row, ROWS), &[3, 6]);
        check(reduce(Binary::Minimum, DType::I32, &row, COLUMNS), &[1, 2, 3]);
        check(accumulate(Binary::Add, DType::I32, &row, ROWS), &[1, 3, 6, 4, 9, 15]);
        check(accumulate(Binary::Multiply, DType::I32, &row, COLUMNS), &[1, 2, 3, 4, 10, 18]);
        check(sum(DType::I32, &[], Extent { before: 2, len: 0, after: 1 }), &[0, 0]);
        check(product(DType::I32, &[], Extent { before: 1, len: 0, after: 2 }), &[1, 1]);
    }

    #[test]
    fn the_first_extreme_or_the_first_nan_is_found() {
        fn check(extreme: Extreme, floats: &[f64], expect: i64) {
            let extent = Extent { before: 1, len: floats.len(), after: 1 };
            let found = index_of_extreme(extreme, DType::F64, &to_bytes(floats), extent);
            assert_eq!(from_bytes::<i64>(&found.expect("there is room")), [expect]);
        }
        check(Extreme::Least, &[3.0, 1.0, 1.0], 1);
        check(Extreme::Greatest, &[3.0, f64::NAN, 5.0], 1);
        check(Extreme::Least, &[f64::NAN, 0.0, f64::NAN], 0);
    }
}
