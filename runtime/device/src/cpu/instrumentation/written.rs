//! Which bytes of a buffer were written, where it was made without data. It is kept with the buffer, from launch to
//! launch, until all of it was written.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Bytes of a buffer from `start` on, as a binding shows them. Clones are the same marks.
#[derive(Clone)]
pub struct Written {
    marks: Arc<Marks>,
    start: u64,
}

/// One for each byte, made when the first is written.
struct Marks {
    n_bytes: usize,
    all: OnceLock<Box<[AtomicBool]>>,
}

impl Written {
    /// None of so many bytes.
    pub fn nothing(n_bytes: usize) -> Written {
        Written { marks: Arc::new(Marks { n_bytes, all: OnceLock::new() }), start: 0 }
    }

    /// All of so many bytes.
    pub fn all(n_bytes: usize) -> Written {
        let written = Written::nothing(n_bytes);
        written.note(0..n_bytes as u64);
        written
    }

    /// The same marks seen from a byte on.
    pub fn from(&self, start: u64) -> Written {
        Written { marks: self.marks.clone(), start: self.start + start }
    }

    pub fn note(&self, bytes: Range<u64>) {
        self.part(bytes).iter().for_each(|mark| mark.store(true, Ordering::Relaxed));
    }

    /// Bytes mean nothing again.
    pub fn forget(&self, bytes: Range<u64>) {
        self.part(bytes).iter().for_each(|mark| mark.store(false, Ordering::Relaxed));
    }

    pub fn has(&self, bytes: Range<u64>) -> bool {
        match self.marks.all.get() {
            Some(marks) => marks[self.range(bytes)].iter().all(|mark| mark.load(Ordering::Relaxed)),
            None => self.range(bytes).is_empty(),
        }
    }

    pub fn is_whole(&self) -> bool {
        self.marks.all.get().is_some_and(|marks| marks.iter().all(|mark| mark.load(Ordering::Relaxed)))
    }

    /// Takes over the marks of other bytes that are copied to `at`; `None` are all written.
    pub fn copy(&self, at: u64, from: Option<&Written>, n_bytes: u64) {
        let to = self.part(at..at + n_bytes);
        for (i, mark) in to.iter().enumerate() {
            let is_written = from.is_none_or(|from| from.has(i as u64..i as u64 + 1));
            mark.store(is_written, Ordering::Relaxed);
        }
    }

    fn part(&self, bytes: Range<u64>) -> &[AtomicBool] {
        let unmarked = || (0..self.marks.n_bytes).map(|_| AtomicBool::new(false)).collect();
        &self.marks.all.get_or_init(unmarked)[self.range(bytes)]
    }

    /// Bytes behind the last one are nobody's.
    fn range(&self, bytes: Range<u64>) -> Range<usize> {
        let n_bytes = self.marks.n_bytes;
        let at = |byte: u64| usize::try_from(self.start + byte).unwrap_or(usize::MAX).min(n_bytes);
        at(bytes.start)..at(bytes.end)
    }
}
