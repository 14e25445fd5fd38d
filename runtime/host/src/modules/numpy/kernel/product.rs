//! Products of matrices and vectors in rows.

use kps_compute::DType;
use kps_compute::element::{from_bytes, to_bytes};
use ndarray::{ArrayView2, Axis, LinalgScalar, s};

use super::binary::Float;
use super::cast::cast;
use super::places::{LONG_STRETCH, PART, append, empty, extend_in_parts, is_many, vectorised};
use super::{check_room, elements};
use crate::value::Result;
use crate::vm::checkpoint;

/// An `m` by `k` matrix times a `k` by `n` one.
pub fn product(dtype: DType, left: &[u8], right: &[u8], (m, k, n): (usize, usize, usize)) -> Result<Vec<u8>> {
    match dtype {
        DType::F32 => float_product::<f32>(left, right, (m, k, n)),
        DType::F64 => float_product::<f64>(left, right, (m, k, n)),
        // The low bits of a sum of products are the same in any wider integer.
        other => {
            let (left, right) = (cast(left, other, DType::I64)?, cast(right, other, DType::I64)?);
            check_room(2 * left.len().max(right.len()).max(m * n * 8))?;
            cast(&int_product(&from_bytes(&left), &from_bytes(&right), (m, k, n))?, DType::I64, other)
        }
    }
}

fn float_product<T: LinalgScalar + Float + Send + Sync>(
    left: &[u8],
    right: &[u8],
    (m, k, n): (usize, usize, usize),
) -> Result<Vec<u8>> {
    let size = size_of::<T>();
    let mut out = empty(m * n * size)?;
    if n == 1 && k > 0 {
        for row in left.chunks_exact(k * size) {
            let sum: T = dot_long(row, right)?;
            append(&mut out, size, |places| places.fill(std::iter::once(sum)));
        }
        return Ok(out);
    }
    check_room(3 * size_of_val(left).max(size_of_val(right)).max(m * n * size))?;
    let (left, right) = (from_bytes::<T>(left), from_bytes::<T>(right));
    let left = ArrayView2::from_shape((m, k), &left).expect("the row has all elements");
    let right = ArrayView2::from_shape((k, n), &right).expect("the row has all elements");
    let n_threads = match is_many(m.saturating_mul(k).saturating_mul(n)) {
        true => rayon::current_num_threads(),
        false => 1,
    };
    // Several rows at a time, so that each product takes a few milliseconds.
    let n_rows = rows_at_once(k, n).min(m.div_ceil(n_threads).next_multiple_of(16));
    for group in left.axis_chunks_iter(Axis(0), n_threads * n_rows) {
        checkpoint()?;
        extend_in_parts(&mut out, group.nrows(), n * size, n_rows, |range, places| {
            let product = group.slice(s![range, ..]).dot(&right);
            places.fill(product.iter().copied())
        })?;
    }
    Ok(out)
}

/// The number of rows whose product takes a few milliseconds, for columns of `k` elements.
fn rows_at_once(k: usize, n: usize) -> usize {
    const MULTIPLICATIONS: usize = 1 << 26;
    (MULTIPLICATIONS / k.saturating_mul(n).max(1)).max(8)
}

fn int_product(left: &[i64], right: &[i64], (m, k, n): (usize, usize, usize)) -> Result<Vec<u8>> {
    let mut out = vec![0i64; m * n];
    for row in 0..m {
        if row % rows_at_once(k, n) == 0 {
            checkpoint()?;
        }
        let places = &mut out[row * n..(row + 1) * n];
        for step in 0..k {
            let factor = left[row * k + step];
            for (place, element) in places.iter_mut().zip(&right[step * n..(step + 1) * n]) {
                *place = place.wrapping_add(factor.wrapping_mul(*element));
            }
        }
    }
    Ok(to_bytes(&out))
}

/// The sum of products of two rows of as many elements. It depends on their number only, not on that of threads.
fn dot_long<T: Float + Send>(left: &[u8], right: &[u8]) -> Result<T> {
    if left.len() <= LONG_STRETCH {
        return Ok(if !is_many(left.len()) { dot(left, right) } else { dot_shared(left, right) });
    }
    checkpoint()?;
    let half = half::<T>(left.len());
    let sum: T = dot_long(&left[..half], &right[..half])?;
    Ok(sum.add(dot_long(&left[half..], &right[half..])?))
}

/// The same by several threads.
fn dot_shared<T: Float + Send>(left: &[u8], right: &[u8]) -> T {
    if left.len() <= PART {
        return dot(left, right);
    }
    let half = half::<T>(left.len());
    let (first, second): (T, T) = rayon::join(
        || dot_shared(&left[..half], &right[..half]),
        || dot_shared(&left[half..], &right[half..]),
    );
    first.add(second)
}

/// Where a row is divided.
fn half<T>(len: usize) -> usize {
    (len / 2).next_multiple_of(LANES * size_of::<T>())
}

/// Running sums of products.
const LANES: usize = 32;

/// Short blocks are added lane by lane, and halves of long ones separately: rounding errors stay small.
fn dot<T: Float>(left: &[u8], right: &[u8]) -> T {
    const BLOCK: usize = 128 * LANES;
    let n_bytes = left.len();
    if n_bytes > BLOCK * size_of::<T>() {
        let half = half::<T>(n_bytes);
        let sum: T = dot(&left[..half], &right[..half]);
        return sum.add(dot(&left[half..], &right[half..]));
    }
    vectorised(|| {
        let mut sums = [T::ZERO; LANES];
        let group = LANES * size_of::<T>();
        let (left_groups, right_groups) = (left.chunks_exact(group), right.chunks_exact(group));
        let rest = elements::<T>(left_groups.remainder()).zip(elements::<T>(right_groups.remainder()));
        for (left, right) in left_groups.clone().zip(right_groups.clone()) {
            for (sum, (x, y)) in sums.iter_mut().zip(elements::<T>(left).zip(elements::<T>(right))) {
                *sum = sum.add(x.mul(y));
            }
        }
        let mut n = LANES;
        while n > 1 {
            n /= 2;
            for at in 0..n {
                sums[at] = sums[at].add(sums[at + n]);
            }
        }
        rest.fold(sums[0], |sum, (x, y)| sum.add(x.mul(y)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_vectors_are_multiplied_in_parts() {
        fn check(n: usize) {
            let (left, right) = (vec![2.0f64; n], (0..n).map(|at| (at % 5) as f64).collect::<Vec<_>>());
            let expect: f64 = right.iter().map(|x| 2.0 * x).sum();
            let row =
                product(DType::F64, &to_bytes(&left), &to_bytes(&right), (1, n, 1)).expect("there is room");
            assert_eq!(from_bytes::<f64>(&row), [expect], "{n}");
        }
        [1, 31, 32, 33, 4095, 4096, 4097, 100_003, 300_000].into_iter().for_each(check);
    }
}
