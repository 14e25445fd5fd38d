//! Memory of the host: allocation, large pages, and copies by several threads.

use std::num::NonZeroUsize;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Mutex, PoisonError};

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
        most => n_threads().min(most),
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

fn n_threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_THREADS)
}

/// Threads that copy while the calling thread does something else.
pub(crate) struct Copiers {
    /// `None` if the calling thread copies.
    jobs: Option<SyncSender<Job>>,
    ended: Receiver<usize>,
    has_ended: Vec<bool>,
    n_threads: usize,
}

struct Job {
    index: usize,
    from: usize,
    to: usize,
    n: usize,
}

impl Job {
    /// # Safety
    /// As for [`Copiers::start`].
    unsafe fn run(&self) {
        // SAFETY: the caller's promise is that of this call.
        unsafe { (self.from as *const u8).copy_to_nonoverlapping(self.to as *mut u8, self.n) };
    }
}

/// Calls `run` with threads for so many copies. They have ended when this returns.
pub(crate) fn with_copiers<R>(n_copies: usize, run: impl FnOnce(&mut Copiers) -> R) -> R {
    // With room for all, nobody waits for it; and this thread allocates and frees all of it, because the host counts
    // its memory by thread.
    let (sender, jobs) = mpsc::sync_channel::<Job>(n_copies);
    let (ended_sender, ended) = mpsc::sync_channel(n_copies);
    let jobs = Mutex::new(jobs);
    let work = |ended: SyncSender<usize>| {
        // The lock is held while one thread waits for the next copy.
        while let Ok(job) = { jobs.lock().unwrap_or_else(PoisonError::into_inner).recv() } {
            // SAFETY: `start` was called with this promise.
            unsafe { job.run() };
            let _ = ended.send(job.index);
        }
    };
    std::thread::scope(|scope| {
        let wanted = if n_copies < 2 { 0 } else { n_threads().min(n_copies) };
        let spawn = |_: &usize| {
            let (work, ended) = (&work, ended_sender.clone());
            std::thread::Builder::new().spawn_scoped(scope, move || work(ended)).is_ok()
        };
        let n_threads = (0..wanted).take_while(spawn).count();
        let jobs = (n_threads > 0).then_some(sender);
        // It is dropped at the end of the scope, and then the threads end.
        run(&mut Copiers { jobs, ended, has_ended: Vec::new(), n_threads: n_threads.max(1) })
    })
}

impl Copiers {
    pub fn n_at_once(&self) -> usize {
        self.n_threads
    }

    /// Starts the next copy.
    ///
    /// # Safety
    /// `from` has `n` readable bytes, and `to` has `n` writable ones, which nothing else accesses before the copy is
    /// finished, or [`with_copiers`] has returned. The ranges do not overlap.
    pub unsafe fn start(&mut self, from: *const u8, to: *mut u8, n: usize) {
        let job = Job { index: self.has_ended.len(), from: from.addr(), to: to.addr(), n };
        self.has_ended.push(false);
        let job = match &self.jobs {
            Some(jobs) => jobs.send(job).err().map(|refused| refused.0),
            None => Some(job),
        };
        if let Some(job) = job {
            // SAFETY: the caller's promise is that of this call.
            unsafe { job.run() };
            self.has_ended[job.index] = true;
        }
    }

    /// Waits for the copy with this index, in the order of their starts.
    pub fn finish(&mut self, index: usize) {
        while !self.has_ended[index] {
            let ended = self.ended.recv().expect("the threads work as long as copies are started");
            self.has_ended[ended] = true;
        }
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
