//! Loops over rows of elements: bytes of one type in, bytes out, no shapes and no values.
//!
//! A row of one element is broadcast. 16-bit floats do not occur here: their rows are converted to `f32`
//! first, and results back. Booleans are bytes 0 and 1, as `u8`. Every new row is allocated by [`build`], by
//! [`zeros`] or after [`check_room`], so that one that is too large is an error.
//!
//! A loop is a function on a chunk of elements. [`source`] reads the operands of loops chunk by chunk, and
//! [`places`] has what they write.

pub mod binary;
pub mod cast;
pub mod compare;
pub mod count;
mod elementary;
pub mod order;
pub mod places;
pub mod product;
mod radix;
pub mod reduce;
pub mod source;
pub mod unary;

use kps_compute::{DType, Element};
use kps_device::host;
use rayon::prelude::*;

pub use self::places::{Filled, Places, append, build, empty};
use self::places::{PART, is_many, vectorised};
use super::errors;
use crate::value::Result;
use crate::vm::{STRETCH, checkpoint};

/// Evaluates an expression with `T` standing for the Rust type of elements that loops work on.
macro_rules! with_number {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::modules::numpy::kernel::with_int!($dtype, $T => $body, float $T => $body)
    };
}
pub(crate) use with_number;

/// As `with_number`, with one expression for integers and another for floats.
macro_rules! with_int {
    ($dtype:expr, $T:ident => $int:expr, float $F:ident => $float:expr) => {
        match $dtype {
            kps_compute::DType::Bool | kps_compute::DType::U8 => {
                type $T = u8;
                $int
            }
            kps_compute::DType::I8 => {
                type $T = i8;
                $int
            }
            kps_compute::DType::I16 => {
                type $T = i16;
                $int
            }
            kps_compute::DType::I32 => {
                type $T = i32;
                $int
            }
            kps_compute::DType::I64 => {
                type $T = i64;
                $int
            }
            kps_compute::DType::U16 => {
                type $T = u16;
                $int
            }
            kps_compute::DType::U32 => {
                type $T = u32;
                $int
            }
            kps_compute::DType::U64 => {
                type $T = u64;
                $int
            }
            kps_compute::DType::F32 => {
                type $F = f32;
                $float
            }
            kps_compute::DType::F64 => {
                type $F = f64;
                $float
            }
            kps_compute::DType::F16 | kps_compute::DType::Bf16 => {
                unreachable!("16-bit floats were converted before")
            }
        }
    };
}
pub(crate) use with_int;

/// Evaluates an expression with the constant `N` standing for the size of an element.
macro_rules! with_size {
    ($size:expr, $N:ident => $body:expr) => {
        match $size {
            1 => {
                const $N: usize = 1;
                $body
            }
            2 => {
                const $N: usize = 2;
                $body
            }
            4 => {
                const $N: usize = 4;
                $body
            }
            8 => {
                const $N: usize = 8;
                $body
            }
            size => unreachable!("no element has {size} bytes"),
        }
    };
}
pub(crate) use with_size;

/// A loop over the elements of one operand.
pub type Loop1 = fn(&[u8], Places<'_>) -> Filled;

/// A loop over the elements of two operands.
pub type Loop2 = fn(&[u8], &[u8], Places<'_>) -> Filled;

/// The type that loops over elements of a type work on.
pub fn working_dtype(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::Bf16 => DType::F32,
        other => other,
    }
}

/// The elements of a row.
#[inline(always)]
pub fn elements<T: Element>(row: &[u8]) -> impl ExactSizeIterator<Item = T> + DoubleEndedIterator + '_ {
    row.chunks_exact(size_of::<T>()).map(T::load)
}

pub fn load_all<T: Element>(row: &[u8]) -> Result<Vec<T>> {
    check_room(row.len())?;
    let mut all = Vec::with_capacity(row.len() / size_of::<T>());
    for stretch in row.chunks(STRETCH * size_of::<T>()) {
        checkpoint()?;
        all.extend(elements::<T>(stretch));
    }
    Ok(all)
}

/// A new row of zeros, or a MemoryError.
pub fn zeros(n_bytes: usize) -> Result<Vec<u8>> {
    check_room(n_bytes)?;
    host::zeroed(n_bytes).ok_or_else(|| errors::no_room(n_bytes))
}

/// A row of `n` elements, each computed from its index.
pub fn row_of<T: Element>(n: usize, element: impl Fn(usize) -> T + Sync) -> Result<Vec<u8>> {
    build(n, size_of::<T>(), |range, places| vectorised(|| places.fill(range.map(&element))))
}

/// A row of `n` elements, each drawn after the one before.
pub fn row_in_order<T: Element>(n: usize, mut element: impl FnMut() -> T) -> Result<Vec<u8>> {
    // What is drawn into an array of this function cannot change the generator, which stays in registers.
    const BATCH: usize = 64;
    let size = size_of::<T>();
    let mut row = empty(n.saturating_mul(size))?;
    for start in (0..n).step_by(STRETCH) {
        checkpoint()?;
        let n_here = STRETCH.min(n - start);
        for _ in 0..n_here / BATCH {
            let batch: [T; BATCH] = std::array::from_fn(|_| element());
            append(&mut row, BATCH * size, |places| places.fill(batch.into_iter()));
        }
        let n_rest = n_here % BATCH;
        append(&mut row, n_rest * size, |places| places.fill((0..n_rest).map(|_| element())));
    }
    Ok(row)
}

/// A vector of `n` items, each computed from its index.
pub fn vec_of<T: Send>(n: usize, item: impl Fn(usize) -> T + Sync + Send) -> Result<Vec<T>> {
    let mut all = empty(n)?;
    if !is_many(n * size_of::<T>()) {
        all.extend((0..n).map(item));
        return Ok(all);
    }
    for start in (0..n).step_by(4 * STRETCH) {
        checkpoint()?;
        all.par_extend((start..n.min(start + 4 * STRETCH)).into_par_iter().map(&item));
    }
    Ok(all)
}

/// The index of the first item for which a condition holds.
pub fn find<T: Sync>(items: &[T], condition: impl Fn(&T) -> bool + Sync + Send) -> Option<usize> {
    if !is_many(size_of_val(items)) {
        return items.iter().position(condition);
    }
    let parts = items.par_chunks(PART).enumerate();
    parts.find_map_first(|(nth, part)| part.iter().position(&condition).map(|at| nth * PART + at))
}

/// A row of `n` equal elements.
pub fn row_of_equal(element: &[u8], n: usize) -> Result<Vec<u8>> {
    build(n, element.len(), |_, places| repeated(element, places))
}

/// Writes the same element everywhere.
fn repeated(element: &[u8], places: Places<'_>) -> Filled {
    with_size!(element.len(), N => {
        let element = element.first_chunk::<N>().expect("an element has its size");
        places.fill_bytes(std::iter::repeat(element))
    })
}

/// A copy of a row, or a MemoryError.
pub fn copy(row: &[u8]) -> Result<Vec<u8>> {
    build(row.len(), 1, |range, places| places.copy(&row[range]))
}

/// Copies bytes to others of the same number. Polls for interrupts in between.
pub fn copy_to(from: &[u8], to: &mut [u8]) -> Result<()> {
    const PART: usize = 64 << 20;
    for (from, to) in from.chunks(PART).zip(to.chunks_mut(PART)) {
        checkpoint()?;
        host::copy(from, to);
    }
    Ok(())
}

/// Whether this many bytes can be allocated; a few always can.
pub fn check_room(n_bytes: usize) -> Result<()> {
    if has_room(n_bytes) { Ok(()) } else { Err(errors::no_room(n_bytes)) }
}

pub fn has_room(n_bytes: usize) -> bool {
    crate::memory::grant(n_bytes).is_ok()
}

/// Elements of a size: where a truth holds, of one chunk, elsewhere of another.
pub fn choose(size: usize, [truths, chosen, other]: [&[u8]; 3], places: Places<'_>) -> Filled {
    fn of<T: Element>(truths: &[u8], chosen: &[u8], other: &[u8], places: Places<'_>) -> Filled {
        let pairs = elements::<T>(chosen).zip(elements::<T>(other));
        let choose = |(&truth, (chosen, other))| if truth != 0 { chosen } else { other };
        vectorised(|| places.fill(truths.iter().zip(pairs).map(choose)))
    }
    match size {
        1 => of::<u8>(truths, chosen, other, places),
        2 => of::<u16>(truths, chosen, other, places),
        4 => of::<u32>(truths, chosen, other, places),
        _ => of::<u64>(truths, chosen, other, places),
    }
}

/// Maps a chunk.
#[inline(always)]
pub fn map<T: Element, U: Element>(row: &[u8], places: Places<'_>, func: impl Fn(T) -> U) -> Filled {
    vectorised(|| places.fill(elements(row).map(func)))
}

/// Maps two chunks of as many elements.
#[inline(always)]
pub fn zip<T: Element, U: Element>(
    left: &[u8],
    right: &[u8],
    places: Places<'_>,
    func: impl Fn(T, T) -> U,
) -> Filled {
    vectorised(|| places.fill(elements(left).zip(elements(right)).map(|(left, right)| func(left, right))))
}
