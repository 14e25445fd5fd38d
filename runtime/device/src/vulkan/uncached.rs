//! Reads of memory that the processor does not cache: that of a GPU, over the bus.
//!
//! Each load waits for an answer of the device, about a microsecond. Streaming loads of x86 fetch 64 bytes at once,
//! and several wait at the same time (Intel, Software Developer's Manual, volume 1, 10.4.6.2).

/// The most bytes that are read faster in this way than by a copy to cached memory, which is a submission.
pub(super) fn worthwhile() -> usize {
    if has_streaming_loads() { 8192 } else { 256 }
}

/// Reads as many bytes as `to` has.
///
/// # Safety
/// `from` has as many readable bytes, and nothing writes them meanwhile.
pub(super) unsafe fn read(from: *const u8, to: &mut [u8]) {
    if !has_streaming_loads() {
        // SAFETY: the caller vouches for the bytes.
        unsafe { from.copy_to_nonoverlapping(to.as_mut_ptr(), to.len()) };
        return;
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the processor has the instructions, and the caller vouches for the bytes.
    unsafe {
        x86::read(from, to);
    }
}

fn has_streaming_loads() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("sse4.1");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__m128i, _mm_mfence, _mm_storeu_si128, _mm_stream_load_si128};

    const SIZE: usize = size_of::<__m128i>();

    /// # Safety
    /// As for [`super::read`].
    #[target_feature(enable = "sse4.1")]
    pub unsafe fn read(from: *const u8, to: &mut [u8]) {
        // The memory is mapped in whole pages, so the aligned blocks around the bytes are readable.
        let skip = from.addr() % SIZE;
        let first = from.wrapping_sub(skip).cast::<__m128i>();
        let blocks = (skip + to.len()).div_ceil(SIZE);
        // Without the fence, a load may return what an earlier one fetched.
        _mm_mfence();
        let mut at = 0;
        for block in 0..blocks {
            let mut bytes = [0; SIZE];
            // SAFETY: the block is aligned, and within the pages of the caller's bytes.
            unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), _mm_stream_load_si128(first.add(block))) };
            let start = if block == 0 { skip } else { 0 };
            let n = (SIZE - start).min(to.len() - at);
            to[at..at + n].copy_from_slice(&bytes[start..start + n]);
            at += n;
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn any_range_is_read() {
        let memory: Vec<u8> = (0..500).map(|i| (i * 7) as u8).collect();
        for (start, len) in [(0, 0), (0, 16), (1, 1), (3, 40), (15, 2), (7, 480)] {
            let mut bytes = vec![0; len];
            // SAFETY: the range is within the vector.
            unsafe { super::read(memory.as_ptr().add(start), &mut bytes) };
            assert_eq!(bytes, memory[start..start + len], "{len} bytes at {start}");
        }
    }
}
