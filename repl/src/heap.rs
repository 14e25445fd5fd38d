//! Memory for runs that are over in milliseconds.

/// Has the system put pages under the heap for compiling a text of so many bytes. Asking for them at once costs half of
/// what a fault for each costs, and those are a twentieth of the time of such a run. It changes nothing else.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn prepare(n_bytes: usize) {
    use std::hint::black_box;

    /// What a byte of text takes, as seen with a kernel of 7 KB; and what is worth it at most.
    const PER_BYTE: usize = 100;
    const MOST: usize = 2 << 20;
    /// glibc takes larger blocks from elsewhere than the heap.
    const BLOCK: usize = 120 << 10;
    const PAGE: usize = 4096;

    let n_blocks = n_bytes.saturating_mul(PER_BYTE).min(MOST) / BLOCK;
    let blocks: Vec<Vec<u8>> = (0..n_blocks).map(|_| Vec::with_capacity(BLOCK)).collect();
    let starts = || black_box(&blocks).iter().map(|block| block.as_ptr() as usize);
    let (Some(first), Some(last)) = (starts().min(), starts().max()) else { return };
    let start = first.next_multiple_of(PAGE);
    let end = (last + BLOCK) / PAGE * PAGE;
    // SAFETY: this changes no byte, and where something is not mapped, or the kernel does not know it, it only fails.
    unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_POPULATE_WRITE) };
    // The end of the heap is given back when nothing lies there: a block of which nothing is touched stays.
    std::mem::forget(black_box(Vec::<u8>::with_capacity(BLOCK)));
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn prepare(_n_bytes: usize) {}
