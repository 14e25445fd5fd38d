//! Which bytes of a buffer were written, where it was made without data. It is kept with the buffer, from launch to
//! launch, until all of it was written.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of a buffer from `start` on, as a binding shows them. Clones are the same marks.
#[derive(Clone)]
pub struct Written {
    marks: Arc<[AtomicBool]>,
    start: u64,
}

impl Written {
    /// None of so many bytes.
    pub fn nothing(n_bytes: usize) -> Written {
        Written { marks: (0..n_bytes).map(|_| AtomicBool::new(false)).collect(), start: 0 }
    }

    /// The same marks seen from a byte on.
    pub fn from(&self, start: u64) -> Written {
        Written { marks: self.marks.clone(), start: self.start + start }
    }

    pub fn note(&self, bytes: Range<u64>) {
        self.part(bytes).iter().for_each(|mark| mark.store(true, Ordering::Relaxed));
    }

    pub fn has(&self, bytes: Range<u64>) -> bool {
        self.part(bytes).iter().all(|mark| mark.load(Ordering::Relaxed))
    }

    pub fn is_whole(&self) -> bool {
        self.marks.iter().all(|mark| mark.load(Ordering::Relaxed))
    }

    /// Takes over the marks of other bytes that are copied to `at`; `None` are all written.
    pub fn copy(&self, at: u64, from: Option<&Written>, n_bytes: u64) {
        let to = self.part(at..at + n_bytes);
        for (i, mark) in to.iter().enumerate() {
            let is_written = from.is_none_or(|from| from.has(i as u64..i as u64 + 1));
            mark.store(is_written, Ordering::Relaxed);
        }
    }

    /// Bytes behind the last one are nobody's.
    fn part(&self, bytes: Range<u64>) -> &[AtomicBool] {
        let at = |byte: u64| usize::try_from(self.start + byte).unwrap_or(usize::MAX).min(self.marks.len());
        &self.marks[at(bytes.start)..at(bytes.end)]
    }
}
