//! Tracks which bytes of a buffer without initial data were written. The marks are stored with the buffer
//! across launches, until all of it was written.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The marks of a buffer from byte `start` on, as a binding sees them. Clones share the marks.
#[derive(Clone)]
pub struct Written {
    marks: Arc<Marks>,
    start: u64,
}

/// One mark for each byte, allocated at the first write.
struct Marks {
    n_bytes: usize,
    all: OnceLock<Box<[AtomicBool]>>,
}

impl Written {
    /// All of these bytes are uninitialised.
    pub fn nothing(n_bytes: usize) -> Written {
        Written { marks: Arc::new(Marks { n_bytes, all: OnceLock::new() }), start: 0 }
    }

    /// All of these bytes are written.
    pub fn all(n_bytes: usize) -> Written {
        let written = Written::nothing(n_bytes);
        written.note(0..n_bytes as u64);
        written
    }

    /// The same marks from a byte on.
    pub fn from(&self, start: u64) -> Written {
        Written { marks: self.marks.clone(), start: self.start + start }
    }

    pub fn note(&self, bytes: Range<u64>) {
        self.part(bytes).iter().for_each(|mark| mark.store(true, Ordering::Relaxed));
    }

    /// Marks bytes as uninitialised.
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

    /// Copies the marks of other bytes to `at`; `None` means all written.
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

    /// Clamps a range to the buffer.
    fn range(&self, bytes: Range<u64>) -> Range<usize> {
        let n_bytes = self.marks.n_bytes;
        let at = |byte: u64| usize::try_from(self.start + byte).unwrap_or(usize::MAX).min(n_bytes);
        at(bytes.start)..at(bytes.end)
    }
}
