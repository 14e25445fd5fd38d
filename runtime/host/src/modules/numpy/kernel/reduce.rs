//! Reduces rows along an axis. A row consists of `before` blocks of `len` steps of `after` elements; the
//! steps are reduced.

use kps_compute::{DType, Element};

use super::binary::{Binary, Float, Int, binary};
use super::{check_room, copy, elements, load_all, with_int, with_number, zeros};
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
    with_int!(dtype,
        T => fold(row, extent, T::default(), <T as Int>::add),
        float F => if extent.after == 1 {
            let blocks = row.chunks_exact(extent.len.max(1) * size_of::<F>());
            store_all(blocks.map(|block| pairwise(&load_all::<F>(block)?)), extent)
        } else {
            fold(row, extent, 0.0, <F as Float>::add)
        }
    )
}

pub fn product(dtype: DType, row: &[u8], extent: Extent) -> Result<Vec<u8>> {
    with_int!(dtype,
        T => fold(row, extent, 1, <T as Int>::mul),
        float F => fold(row, extent, 1.0, <F as Float>::mul)
    )
}

/// Any other operation, along an axis of at least one step.
pub fn reduce(op: Binary, dtype: DType, row: &[u8], extent: Extent) -> Result<Vec<u8>> {
    let size = dtype.size();
    let step = extent.after * size;
    check_room(extent.before * step)?;
    let mut out = Vec::with_capacity(extent.before * step);
    if step == 0 {
        return Ok(out);
    }
    for block in row.chunks_exact(extent.len * step) {
        if extent.after == 1 {
            out.extend_from_slice(&halve(op, dtype, copy(block)?)?);
            continue;
        }
        let mut steps = block.chunks_exact(step);
        let first = copy(steps.next().expect("the axis has at least one step"))?;
        let folded = steps.try_fold(first, |folded, next| binary(op, dtype, &folded, next, extent.after))?;
        out.extend_from_slice(&folded);
    }
    Ok(out)
}

/// One element of many, by an associative operation on halves: each pass is one loop over a row.
fn halve(op: Binary, dtype: DType, mut row: Vec<u8>) -> Result<Vec<u8>> {
    let size = dtype.size();
    while row.len() > size {
        let half = row.len() / size / 2;
        let (left, right) = row.split_at(half * size);
        let (right, rest) = right.split_at(half * size);
        let mut folded = binary(op, dtype, left, right, half)?;
        folded.extend_from_slice(rest);
        row = folded;
    }
    Ok(row)
}

fn fold<T: Element>(row: &[u8], extent: Extent, start: T, op: impl Fn(T, T) -> T) -> Result<Vec<u8>> {
    let Extent { before, len, after } = extent;
    if after == 1 {
        let folded = (0..before).map(|at| {
            let block = &row[at * len * size_of::<T>()..(at + 1) * len * size_of::<T>()];
            block.chunks(STRETCH * size_of::<T>()).try_fold(start, |folded, stretch| {
                checkpoint()?;
                Ok(elements(stretch).fold(folded, &op))
            })
        });
        return store_all(folded, extent);
    }
    check_room(before * after * size_of::<T>())?;
    let mut out = vec![start; before * after];
    for (places, block) in
        out.chunks_exact_mut(after.max(1)).zip(row.chunks_exact((len * after * size_of::<T>()).max(1)))
    {
        for step in block.chunks_exact(after * size_of::<T>()) {
            checkpoint()?;
            for (place, element) in places.iter_mut().zip(elements(step)) {
                *place = op(*place, element);
            }
        }
    }
    store_all(out.into_iter().map(Ok), extent)
}

/// Stores as many results as the extent has; for an empty axis there are none, and zeros remain.
fn store_all<T: Element>(results: impl Iterator<Item = Result<T>>, extent: Extent) -> Result<Vec<u8>> {
    let mut out = zeros(extent.before * extent.after * size_of::<T>())?;
    for (place, result) in out.chunks_exact_mut(size_of::<T>()).zip(results) {
        result?.store(place);
    }
    Ok(out)
}

/// NumPy's order of additions: eight running sums within blocks of 128, blocks added in a tree.
fn pairwise<T: Float>(row: &[T]) -> Result<T> {
    if row.len() <= STRETCH {
        return Ok(pairwise_stretch(row));
    }
    checkpoint()?;
    let (left, right) = row.split_at(half(row.len()));
    Ok(pairwise(left)?.add(pairwise(right)?))
}

/// Where pairwise addition divides a row.
fn half(len: usize) -> usize {
    let half = len / 2;
    half - half % 8
}

fn pairwise_stretch<T: Float>(row: &[T]) -> T {
    const BLOCK: usize = 128;
    if row.len() < 8 {
        return row.iter().fold(T::ZERO, |sum, &x| sum.add(x));
    }
    if row.len() > BLOCK {
        let (left, right) = row.split_at(half(row.len()));
        return pairwise_stretch(left).add(pairwise_stretch(right));
    }
    let (eights, rest) = row.as_chunks::<8>();
    let mut sums = eights[0];
    for eight in &eights[1..] {
        for (sum, &x) in sums.iter_mut().zip(eight) {
            *sum = sum.add(x);
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    let sum = a.add(b).add(c.add(d)).add(e.add(f).add(g.add(h)));
    rest.iter().fold(sum, |sum, &x| sum.add(x))
}

/// Running results: each step is the operation on the step before and the element.
pub fn accumulate(op: Binary, dtype: DType, row: &[u8], extent: Extent) -> Result<Vec<u8>> {
    let mut out = copy(row)?;
    let step = extent.after * dtype.size();
    if out.is_empty() {
        return Ok(out);
    }
    if let (Binary::Add, 1) = (op, extent.after) {
        return running_sums(dtype, &mut out, extent.len).map(|()| out);
    }
    for block in out.chunks_exact_mut(extent.len * step) {
        for at in 1..extent.len {
            let (done, rest) = block.split_at_mut(at * step);
            let next = binary(op, dtype, &done[(at - 1) * step..], &rest[..step], extent.after)?;
            rest[..step].copy_from_slice(&next);
        }
    }
    Ok(out)
}

fn running_sums(dtype: DType, row: &mut [u8], len: usize) -> Result<()> {
    fn run<T: Element + Default>(row: &mut [u8], len: usize, add: impl Fn(T, T) -> T) -> Result<()> {
        for block in row.chunks_exact_mut(len * size_of::<T>()) {
            let mut sum: Option<T> = None;
            for stretch in block.chunks_mut(STRETCH * size_of::<T>()) {
                checkpoint()?;
                for place in stretch.chunks_exact_mut(size_of::<T>()) {
                    let next = sum.map_or(T::load(place), |sum| add(sum, T::load(place)));
                    next.store(place);
                    sum = Some(next);
                }
            }
        }
        Ok(())
    }
    with_int!(dtype, T => run(row, len, <T as Int>::add), float F => run(row, len, <F as Float>::add))
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
    fn find<T: Element>(row: &[u8], extent: Extent, wins: impl Fn(T, T) -> bool) -> Result<Vec<u8>> {
        let Extent { before, len, after } = extent;
        let all = load_all::<T>(row)?;
        check_room(before * after * 8)?;
        let mut out = Vec::with_capacity(before * after * 8);
        for block in 0..before {
            for column in 0..after {
                let element = |at: usize| all[(block * len + at) * after + column];
                let mut best = 0;
                for from in (0..len).step_by(STRETCH) {
                    checkpoint()?;
                    for at in from..len.min(from + STRETCH) {
                        if wins(element(at), element(best)) {
                            best = at;
                        }
                    }
                }
                out.extend_from_slice(&(best as i64).to_le_bytes());
            }
        }
        Ok(out)
    }
    with_number!(dtype, T => match extreme {
        #[allow(clippy::eq_op, reason = "a NaN is what differs from itself")]
        Extreme::Least => find(row, extent, |x: T, best: T| x < best || x != x && best == best),
        #[allow(clippy::eq_op, reason = "a NaN is what differs from itself")]
        Extreme::Greatest => find(row, extent, |x: T, best: T| x > best || x != x && best == best),
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
