//! Memory of the host: allocation, large pages, and copies by several threads.

use std::num::NonZeroUsize;

/// From this size on, memory gets large pages where the system has them: fewer page faults and page walks.
const LARGE: usize = 4 << 20;
/// Each thread of a copy gets at least this much, so that starting it pays.
const BYTES_A_THREAD: usize = 1 << 20;
/// Further threads do not make a copy to a GPU faster.
const MAX_THREADS: usize = 8;

/// Zeros; `None` if there is not enough memory. Fresh pages are not touched before their first use.
pub fn zeroed(len: usize) -> Option<Vec<u8>> {
    let layout = std::alloc::Layout::array::<u8>(len).ok()?;
    if len == 0 {
        return Some(Vec::new());
    }
    // SAFETY: the layout's size is not zero.
    let allocation = unsafe { std::alloc::alloc_zeroed(layout) };
    if allocation.is_null() {
        return None;
    }
    prefer_large_pages(allocation, len);
    // SAFETY: the allocation has the layout of a vector with this capacity, and all its bytes are zeros.
    Some(unsafe { Vec::from_raw_parts(allocation, len, len) })
}

/// Asks for large pages if there are many bytes. The system may ignore it.
#[cfg(target_os = "linux")]
pub(crate) fn prefer_large_pages(allocation: *mut u8, size: usize) {
    const PAGE: usize = 4096;
    if size < LARGE {
        return;
    }
    let skip = allocation.align_offset(PAGE);
    // SAFETY: it is advice about whole pages within the allocation, and does not change their content.
    unsafe { libc::madvise(allocation.add(skip).cast(), size - skip, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn prefer_large_pages(_allocation: *mut u8, _size: usize) {}

/// Copies all of `from`, which is as long as `to`. Several threads copy much, and share its page faults.
pub fn copy(from: &[u8], to: &mut [u8]) {
    assert_eq!(from.len(), to.len(), "a copy has two equal lengths");
    // SAFETY: both slices have as many bytes, and a mutable slice overlaps no other.
    unsafe { copy_raw(from.as_ptr(), to.as_mut_ptr(), to.len()) }
}

/// The same for memory without a slice.
///
/// # Safety
/// `from` has `n` readable bytes, and `to` has `n` writable ones, which nothing else accesses meanwhile. The
/// ranges do not overlap.
pub(crate) unsafe fn copy_raw(from: *const u8, to: *mut u8, n: usize) {
    let n_threads = match n / BYTES_A_THREAD {
        0 | 1 => 1,
        most => std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(most).min(MAX_THREADS),
    };
    let part = n.div_ceil(n_threads);
    let (from, to) = (from.addr(), to.addr());
    let work = move |start: usize| {
        let len = part.min(n - start);
        let (from, to) = ((from + start) as *const u8, (to + start) as *mut u8);
        // SAFETY: the caller vouches for the whole ranges, and each thread has a part of its own.
        unsafe { from.copy_to_nonoverlapping(to, len) };
    };
    if n_threads == 1 {
        return work(0);
    }
    std::thread::scope(|scope| {
        for start in (part..n).step_by(part) {
            let spawned = std::thread::Builder::new().spawn_scoped(scope, move || work(start));
            if spawned.is_err() {
                // Without a further thread, this one copies the part.
                work(start);
            }
        }
        work(0);
    });
}

#[cfg(test)]
mod tests {
    #[test]
    fn copies_of_any_length_arrive_whole() {
        for len in [0, 1, 1000, (1 << 20) + 1, (3 << 20) + 7, 9 << 20] {
            let from: Vec<u8> = (0..len).map(|i| (i / 7 + i) as u8).collect();
            let mut to = super::zeroed(len).expect("there is memory");
            assert!(to.iter().all(|byte| *byte == 0), "{len} fresh bytes are zeros");
            super::copy(&from, &mut to);
            assert!(from == to, "{len} bytes");
        }
    }
}
