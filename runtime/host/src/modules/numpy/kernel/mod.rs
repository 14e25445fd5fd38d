//! Loops over rows of elements: bytes of one type in, bytes out, no shapes and no values.
//!
//! A row of one element is broadcast. 16-bit floats do not occur here: their rows are converted to `f32`
//! first, and results back. Booleans are bytes 0 and 1, as `u8`. Every new row is allocated by [`zeros`] or
//! after [`check_room`], so that one that is too large is an error.

pub mod binary;
pub mod cast;
pub mod compare;
pub mod order;
pub mod reduce;
pub mod unary;

use kps_compute::{DType, Element};
use kps_device::host;

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

/// The type that loops over elements of a type work on.
pub fn working_dtype(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::Bf16 => DType::F32,
        other => other,
    }
}

/// The elements of a row.
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
pub fn row_of<T: Element>(n: usize, mut element: impl FnMut(usize) -> T) -> Result<Vec<u8>> {
    let mut row = zeros(n.saturating_mul(size_of::<T>()))?;
    for (stretch, places) in row.chunks_mut(STRETCH * size_of::<T>()).enumerate() {
        checkpoint()?;
        for (at, place) in places.chunks_exact_mut(size_of::<T>()).enumerate() {
            element(stretch * STRETCH + at).store(place);
        }
    }
    Ok(row)
}

/// A copy of a row, or a MemoryError.
pub fn copy(row: &[u8]) -> Result<Vec<u8>> {
    let mut copy = zeros(row.len())?;
    copy_to(row, &mut copy)?;
    Ok(copy)
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

/// Maps a row.
pub fn map<T: Element, U: Element>(row: &[u8], func: impl Fn(T) -> U) -> Result<Vec<u8>> {
    let mut out = zeros(row.len() / size_of::<T>() * size_of::<U>())?;
    let stretches = out.chunks_mut(STRETCH * size_of::<U>()).zip(row.chunks(STRETCH * size_of::<T>()));
    for (places, row) in stretches {
        checkpoint()?;
        for (place, element) in places.chunks_exact_mut(size_of::<U>()).zip(elements::<T>(row)) {
            func(element).store(place);
        }
    }
    Ok(out)
}

/// A row of `n` elements from two rows; a row with one element is broadcast.
pub fn zip<T: Element, U: Element>(
    left: &[u8],
    right: &[u8],
    n: usize,
    func: impl Fn(T, T) -> U,
) -> Result<Vec<u8>> {
    if n == 0 {
        return Ok(Vec::new());
    }
    let size = size_of::<T>();
    let mut out = zeros(n * size_of::<U>())?;
    let (one_left, one_right) = (left.len() == size && n > 1, right.len() == size && n > 1);
    let part = |row, is_one, at: usize| -> &[u8] { if is_one { row } else { &row[at * STRETCH * size..] } };
    for (at, places) in out.chunks_mut(STRETCH * size_of::<U>()).enumerate() {
        checkpoint()?;
        let (left, right) = (part(left, one_left, at), part(right, one_right, at));
        zip_stretch(places, (left, one_left), (right, one_right), &func);
    }
    Ok(out)
}

/// Fills places from two rows, each of which has one element for all or at least as many as there are places.
fn zip_stretch<T: Element, U: Element>(
    places: &mut [u8],
    (left, one_left): (&[u8], bool),
    (right, one_right): (&[u8], bool),
    func: impl Fn(T, T) -> U,
) {
    let places = places.chunks_exact_mut(size_of::<U>());
    match (one_left, one_right) {
        (true, true) => {
            let element = func(T::load(left), T::load(right));
            places.for_each(|place| element.store(place));
        }
        (true, false) => {
            let left = T::load(left);
            for (place, right) in places.zip(elements(right)) {
                func(left, right).store(place);
            }
        }
        (false, true) => {
            let right = T::load(right);
            for (place, left) in places.zip(elements(left)) {
                func(left, right).store(place);
            }
        }
        (false, false) => {
            for ((place, left), right) in places.zip(elements(left)).zip(elements(right)) {
                func(left, right).store(place);
            }
        }
    }
}
