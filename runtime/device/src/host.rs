//! Memory of the host: allocation, large pages, and copies by several threads.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// From this size on, memory gets large pages where the system has them: fewer page faults and page walks.
const LARGE: usize = 4 << 20;
/// Each thread of a copy gets at least this much, so that starting it pays.
const BYTES_A_THREAD: usize = 1 << 20;
/// Further threads do not make a copy to a GPU faster.
pub(crate) const MAX_THREADS: usize = 8;

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

/// An empty vector with room for so many items; `None` if there is not enough memory. Unlike zeros, memory that was
/// used before is taken as it is.
pub fn with_room<T>(n: usize) -> Option<Vec<T>> {
    let mut items: Vec<T> = Vec::new();
    items.try_reserve_exact(n).ok()?;
    prefer_large_pages(items.as_mut_ptr().cast(), n * size_of::<T>());
    Some(items)
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
    let n_parts = match n / BYTES_A_THREAD {
        0 | 1 => 1,
        most => n_processors().min(most),
    };
    if n_parts == 1 {
        // SAFETY: the caller's promise is that of this call.
        return unsafe { from.copy_to_nonoverlapping(to, n) };
    }
    let part = n.div_ceil(n_parts);
    with_copiers(n_parts, |copiers| {
        for start in (part..n).step_by(part) {
            // SAFETY: the caller vouches for the whole ranges, and each part is copied once.
            unsafe { copiers.start(from.add(start), to.add(start), part.min(n - start)) };
        }
        // SAFETY: as above.
        unsafe { from.copy_to_nonoverlapping(to, part) };
    });
}

fn n_processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_THREADS)
}

/// The threads of the process that copy. They wait here for work until the process ends: the host counts its memory
/// by thread, and what a thread takes to start would be counted at each start.
struct Pool {
    jobs: Mutex<VecDeque<Job>>,
    arrived: Condvar,
    ended: Condvar,
}

static POOL: Pool =
    Pool { jobs: Mutex::new(VecDeque::new()), arrived: Condvar::new(), ended: Condvar::new() };

/// Number of threads of the pool; starts them at the first call. There are none on a single processor.
fn n_threads() -> usize {
    static STARTED: OnceLock<usize> = OnceLock::new();
    *STARTED.get_or_init(|| {
        let wanted = Some(n_processors()).filter(|n| *n > 1).unwrap_or(0);
        let spawn = |_: &usize| {
            let builder = std::thread::Builder::new().name("kps-copy".to_owned());
            builder.spawn(|| POOL.serve()).is_ok()
        };
        (0..wanted).take_while(spawn).count()
    })
}

impl Pool {
    fn serve(&self) {
        let mut jobs = self.lock();
        loop {
            let Some(job) = jobs.pop_front() else {
                jobs = self.arrived.wait(jobs).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(jobs);
            // SAFETY: `Copiers::start` was called with this promise.
            unsafe { job.copy() };
            jobs = self.lock();
            // SAFETY: the owner sees the flag under the lock only, and frees it after that.
            unsafe { &*job.has_ended }.store(true, Ordering::Relaxed);
            self.ended.notify_all();
        }
    }

    /// Waits until copies have ended.
    fn wait(&self, flags: &[AtomicBool]) {
        let mut jobs = self.lock();
        for flag in flags {
            while !flag.load(Ordering::Relaxed) {
                jobs = self.ended.wait(jobs).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Job>> {
        // Nothing that fails happens under the lock.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Job {
    from: *const u8,
    to: *mut u8,
    n: usize,
    /// Alive until it is true.
    has_ended: *const AtomicBool,
}

// SAFETY: the memory of a job is accessed by nobody else before it has ended.
unsafe impl Send for Job {}

impl Job {
    /// # Safety
    /// As for [`Copiers::start`].
    unsafe fn copy(&self) {
        // SAFETY: the caller's promise is that of this call.
        unsafe { self.from.copy_to_nonoverlapping(self.to, self.n) };
    }
}

/// Copies that run on other threads, while this one does something else.
pub(crate) struct Copiers {
    /// One for each copy. Without threads, it is true at once.
    has_ended: Box<[AtomicBool]>,
    n_started: usize,
}

/// Calls `run` with a way to start so many copies. They have ended when this returns.
pub(crate) fn with_copiers<R>(n_copies: usize, run: impl FnOnce(&mut Copiers) -> R) -> R {
    let has_ended = (0..n_copies).map(|_| AtomicBool::new(false)).collect();
    run(&mut Copiers { has_ended, n_started: 0 })
}

impl Copiers {
    /// How many copies run at a time.
    pub fn n_at_once(&self) -> usize {
        n_threads().max(1)
    }

    /// Starts the next copy.
    ///
    /// # Safety
    /// `from` has `n` readable bytes, and `to` has `n` writable ones, which nothing else accesses before the copy is
    /// finished, or [`with_copiers`] has returned. The ranges do not overlap.
    pub unsafe fn start(&mut self, from: *const u8, to: *mut u8, n: usize) {
        let has_ended = &self.has_ended[self.n_started];
        self.n_started += 1;
        let job = Job { from, to, n, has_ended };
        if n_threads() == 0 {
            // SAFETY: the caller's promise is that of this call.
            unsafe { job.copy() };
            has_ended.store(true, Ordering::Relaxed);
            return;
        }
        POOL.lock().push_back(job);
        POOL.arrived.notify_one();
    }

    /// Waits for the copy with this index, in the order of their starts.
    pub fn finish(&mut self, index: usize) {
        POOL.wait(&self.has_ended[index..=index]);
    }
}

impl Drop for Copiers {
    fn drop(&mut self) {
        POOL.wait(&self.has_ended[..self.n_started]);
    }
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

    #[test]
    fn copiers_copy_in_any_order() {
        let from: Vec<u8> = (0..100_000).map(|i| (i / 7 + i) as u8).collect();
        for n_copies in [0, 1, 2, 50] {
            let mut to = vec![0; from.len()];
            super::with_copiers(n_copies, |copiers| {
                for index in 0..n_copies {
                    let start = index * 2000;
                    // SAFETY: the ranges are within the vectors, and apart from each other.
                    unsafe { copiers.start(from[start..].as_ptr(), to[start..].as_mut_ptr(), 2000) };
                }
                if n_copies > 0 {
                    copiers.finish(0);
                    assert!(to[..2000] == from[..2000]);
                }
            });
            let n = n_copies * 2000;
            assert!(to[..n] == from[..n] && to[n..].iter().all(|byte| *byte == 0), "{n_copies} copies");
        }
    }
}
