//! The heap of short runs, and that of arrays.

/// Has the allocator keep the memory of freed arrays for the next ones. The system would zero it again, page by page,
/// which takes longer than most operations on arrays.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn keep_freed() {
    /// Larger blocks always come from the system: glibc allows no more.
    const FROM_SYSTEM: i32 = 32 << 20;
    const KEPT: i32 = 256 << 20;

    // SAFETY: these are parameters of the allocator, which other threads do not use yet.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, FROM_SYSTEM);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_freed() {}

/// Prefaults pages of the heap for compiling a text of this many bytes. That costs half of what one fault per
/// page costs, and those are a twentieth of the time of a short run. It has no other effect.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn prepare(n_bytes: usize) {
    use std::hint::black_box;

    /// The bytes that a byte of text takes, measured with a kernel of 7 KB; and the most that is worth it.
    const PER_BYTE: usize = 100;
    const MOST: usize = 2 << 20;
    /// glibc allocates larger blocks outside of the heap.
    const BLOCK: usize = 120 << 10;
    const PAGE: usize = 4096;

    let n_blocks = n_bytes.saturating_mul(PER_BYTE).min(MOST) / BLOCK;
    let blocks: Vec<Vec<u8>> = (0..n_blocks).map(|_| Vec::with_capacity(BLOCK)).collect();
    let starts = || black_box(&blocks).iter().map(|block| block.as_ptr() as usize);
    let (Some(first), Some(last)) = (starts().min(), starts().max()) else { return };
    let start = first.next_multiple_of(PAGE);
    let end = (last + BLOCK) / PAGE * PAGE;
    // SAFETY: this changes no byte. If something is not mapped, or the kernel does not support it, it only
    // fails.
    unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_POPULATE_WRITE) };
    // The allocator trims an empty end of the heap; an unused block prevents that.
    std::mem::forget(black_box(Vec::<u8>::with_capacity(BLOCK)));
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn prepare(_n_bytes: usize) {}
