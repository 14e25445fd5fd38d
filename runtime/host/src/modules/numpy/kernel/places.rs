//! New rows, which loops write part by part: places without elements in, proof that all were written out.
//!
//! Memory is not zeroed before it is written, and long rows are written by several threads. What never happens:
//! a byte that was not written is read.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use kps_compute::Element;
use kps_device::host;
use rayon::ThreadPoolBuilder;

use super::check_room;
use crate::modules::numpy::errors;
use crate::value::Result;
use crate::vm::{STRETCH, checkpoint};

/// Bytes of a row that one thread writes at a time.
pub const PART: usize = 1 << 18;

/// From this number of bytes on, waking other threads costs less than they save.
const MANY: usize = 1 << 20;

/// Whether so many bytes are the work of several threads, which the first call starts. Where the system refuses
/// threads, the calling one does all the work.
pub fn is_many(n_bytes: usize) -> bool {
    static STARTED: OnceLock<bool> = OnceLock::new();
    n_bytes >= MANY && *STARTED.get_or_init(|| ThreadPoolBuilder::new().build_global().is_ok())
}

/// Bytes of a row between two polls for interrupts: all threads share the work.
pub const LONG_STRETCH: usize = 32 * STRETCH;

/// Bytes of a row that have no values yet.
pub struct Places<'a>(&'a mut [MaybeUninit<u8>]);

/// Proof that a number of bytes was written, which only [`Places`] returns.
#[derive(Clone, Copy)]
pub struct Filled(usize);

impl<'a> Places<'a> {
    /// Writes an element at each place. The loop becomes part of its caller, so that it is compiled for the vectors
    /// of [`vectorised`].
    #[inline(always)]
    pub fn fill<T: Element>(self, elements: impl Iterator<Item = T>) -> Filled {
        let mut n = 0;
        for (place, element) in self.0.chunks_exact_mut(size_of::<T>()).zip(elements) {
            let mut bytes = [0; 8];
            element.store(&mut bytes);
            place.write_copy_of_slice(&bytes[..size_of::<T>()]);
            n += 1;
        }
        Filled(n * size_of::<T>())
    }

    /// Writes elements of a size, given as bytes.
    #[inline(always)]
    pub fn fill_bytes<'e, const N: usize>(self, elements: impl Iterator<Item = &'e [u8; N]>) -> Filled {
        let mut n = 0;
        for (place, element) in self.0.as_chunks_mut::<N>().0.iter_mut().zip(elements) {
            place.write_copy_of_slice(element);
            n += 1;
        }
        Filled(n * N)
    }

    /// Writes a row of as many bytes.
    pub fn copy(self, row: &[u8]) -> Filled {
        self.0.write_copy_of_slice(row);
        Filled(row.len())
    }

    /// Writes the places from the first to the last in pieces, each with its size in bytes.
    pub fn in_pieces<P>(
        self,
        pieces: impl Iterator<Item = (usize, P)>,
        mut write: impl FnMut(P, Places<'_>) -> Filled,
    ) -> Filled {
        let mut n = 0;
        let mut rest = self.0;
        for (size, piece) in pieces {
            let (places, after) = rest.split_at_mut(size);
            n += write(piece, Places(places)).0;
            rest = after;
        }
        Filled(n)
    }
}

/// Appends bytes to a row that has room for them or grows.
pub fn append(row: &mut Vec<u8>, n_bytes: usize, write: impl FnOnce(Places<'_>) -> Filled) {
    row.reserve(n_bytes);
    let filled = write(Places(&mut row.spare_capacity_mut()[..n_bytes]));
    assert_eq!(filled.0, n_bytes, "every place was written");
    // SAFETY: `Filled` proves that the bytes after the old length have values, and they are within the capacity.
    unsafe { row.set_len(row.len() + n_bytes) };
}

/// A new row of `n` elements of a size. `write` is called with the indices of parts, for several parts at a time
/// if there are many elements. Polls for interrupts in between.
pub fn build(
    n: usize,
    size: usize,
    write: impl Fn(Range<usize>, Places<'_>) -> Filled + Sync,
) -> Result<Vec<u8>> {
    let mut row = empty(n.saturating_mul(size))?;
    extend(&mut row, n, size, write)?;
    Ok(row)
}

/// The same with this number of elements in a part.
pub fn build_in_parts(
    n: usize,
    size: usize,
    n_in_part: usize,
    write: impl Fn(Range<usize>, Places<'_>) -> Filled + Sync,
) -> Result<Vec<u8>> {
    let mut row = empty(n.saturating_mul(size))?;
    extend_in_parts(&mut row, n, size, n_in_part, write)?;
    Ok(row)
}

/// Appends `n` elements to a row.
pub fn extend(
    row: &mut Vec<u8>,
    n: usize,
    size: usize,
    write: impl Fn(Range<usize>, Places<'_>) -> Filled + Sync,
) -> Result<()> {
    let n_in_part = if !is_many(n * size) { n } else { PART / size };
    extend_in_parts(row, n, size, n_in_part, write)
}

/// The same in parts of this number of elements.
pub fn extend_in_parts(
    row: &mut Vec<u8>,
    n: usize,
    size: usize,
    n_in_part: usize,
    write: impl Fn(Range<usize>, Places<'_>) -> Filled + Sync,
) -> Result<()> {
    if n <= n_in_part {
        append(row, n * size, |places| write(0..n, places));
        return Ok(());
    }
    let stretch = (LONG_STRETCH / size).max(1).next_multiple_of(n_in_part);
    for start in (0..n).step_by(stretch) {
        checkpoint()?;
        append(row, stretch.min(n - start) * size, |places| {
            let parts = places.0.chunks_mut(n_in_part * size).enumerate();
            Filled(share(parts, |(nth, part)| {
                let from = start + nth * n_in_part;
                write(from..from + part.len() / size, Places(part)).0
            }))
        });
    }
    Ok(())
}

/// The sum of what `work` returns for all items. This thread takes one after the other, and so does each other one
/// that has time.
fn share<I: Send>(items: impl Iterator<Item = I> + Send, work: impl Fn(I) -> usize + Sync) -> usize {
    let (items, total) = (Mutex::new(items), AtomicUsize::new(0));
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let take = || {
        while let Some(item) = next() {
            total.fetch_add(work(item), Ordering::Relaxed);
        }
    };
    rayon::in_place_scope(|scope| {
        for _ in 1..rayon::current_num_threads() {
            scope.spawn(|_| take());
        }
        take();
    });
    total.into_inner()
}

/// An empty vector with room for so many items, such as the bytes of a row, or a MemoryError.
pub fn empty<T>(n: usize) -> Result<Vec<T>> {
    let n_bytes = n.saturating_mul(size_of::<T>());
    check_room(n_bytes)?;
    host::with_room(n).ok_or_else(|| errors::no_room(n_bytes))
}

/// Calls a loop, compiled for the widest vectors that the processor and this function know.
///
/// Floats are rounded as always: the compiler does not fuse a multiplication with an addition by itself.
#[inline(always)]
pub fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
        fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: every processor with AVX2 and FMA has the other features.
            return unsafe { with_avx2(work) };
        }
    }
    work()
}
