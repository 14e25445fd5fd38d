//! Tracks which bytes of a storage are initialised: all, or, if it was made without data, those that were
//! written.
//!
//! The host has these marks until a kernel writes to the storage. Then only the device knows what was
//! written, so all bytes count as written here. What never happens: written bytes count as unwritten.

use std::convert::Infallible;
use std::ops::Range;

/// The written bytes. Memory is used only if some bytes are written and others are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Written {
    #[default]
    All,
    Nothing,
    /// A mark for each byte, 1 if it was written. Code that scatters elements scatters marks, too.
    Some(Vec<u8>),
}

impl Written {
    /// Simplifies marks that are all equal.
    fn of_marks(marks: Vec<u8>) -> Written {
        let is_written = |mark: &u8| *mark != 0;
        if marks.iter().all(is_written) {
            return Written::All;
        }
        if marks.iter().any(is_written) { Written::Some(marks) } else { Written::Nothing }
    }

    /// The marks of other bytes, which `gather` collects, if only some are written.
    pub fn gathered<E>(&self, gather: impl FnOnce(&[u8]) -> Result<Vec<u8>, E>) -> Result<Written, E> {
        match self {
            Written::Some(marks) => gather(marks).map(Written::of_marks),
            same => Ok(same.clone()),
        }
    }

    /// The marks for elements of another size: one is written if all of its bytes were.
    pub fn resized(&self, from: usize, to: usize) -> Written {
        let Ok(resized) = self.gathered(|marks| {
            let whole = marks.chunks_exact(from).map(|element| element.iter().all(|mark| *mark != 0));
            Ok::<_, Infallible>(
                whole.flat_map(|is_whole| std::iter::repeat_n(u8::from(is_whole), to)).collect(),
            )
        });
        resized
    }

    /// Marks bytes as written, out of `len`.
    pub(crate) fn note(&mut self, len: usize, bytes: Range<usize>) {
        match bytes.len() == len {
            true => *self = Written::All,
            false => self.note_among(len, bytes, |marks| marks.fill(1)),
        }
    }

    /// Marks some of these bytes as written: `mark` sets their marks to 1.
    pub(crate) fn note_among(&mut self, len: usize, bytes: Range<usize>, mark: impl FnOnce(&mut [u8])) {
        match self {
            Written::All => return,
            Written::Some(marks) => return mark(&mut marks[bytes]),
            Written::Nothing => {}
        }
        // Untouched zero pages take no memory, so marks cost as much as the written bytes.
        let mut marks = vec![0; len];
        mark(&mut marks[bytes]);
        *self = Written::Some(marks);
    }

    /// Visits the runs of written bytes in a range, in order.
    pub(crate) fn each_run(&self, bytes: Range<usize>, mut visit: impl FnMut(Range<usize>)) {
        let marks = match self {
            Written::All => return visit(bytes),
            Written::Nothing => return,
            Written::Some(marks) => &marks[bytes.clone()],
        };
        let mut start = bytes.start;
        for run in marks.chunk_by(|a, b| a == b) {
            if run[0] != 0 {
                visit(start..start + run.len());
            }
            start += run.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_side_by_side_is_one_run() {
        fn check(written: &Written, bytes: Range<usize>, expect: &str) {
            let mut runs = Vec::new();
            written.each_run(bytes, |run| runs.push(format!("{run:?}")));
            assert_eq!(runs.join(" "), expect);
        }
        let mut written = Written::Nothing;
        check(&written, 0..12, "");
        written.note(12, 4..6);
        written.note(12, 8..12);
        written.note(12, 6..7);
        check(&written, 0..12, "4..7 8..12");
        check(&written, 5..9, "5..7 8..9");
        written.note_among(12, 0..4, |marks| marks[1] = 1);
        check(&written, 0..12, "1..2 4..7 8..12");
        written.note(12, 0..12);
        assert_eq!(written, Written::All);
        check(&written, 3..5, "3..5");
    }

    #[test]
    fn an_element_is_written_where_all_of_its_bytes_are() {
        let written = Written::Some(vec![1, 1, 1, 0, 0, 0]);
        assert_eq!(written.resized(2, 1), Written::Some(vec![1, 0, 0]));
        assert_eq!(written.resized(3, 2), Written::Some(vec![1, 1, 0, 0]));
        assert_eq!(written.gathered(|marks| Ok::<_, Infallible>(marks[..3].to_vec())), Ok(Written::All));
        assert_eq!(written.gathered(|marks| Ok::<_, Infallible>(marks[3..].to_vec())), Ok(Written::Nothing));
        assert_eq!(Written::Nothing.resized(2, 1), Written::Nothing);
    }
}
