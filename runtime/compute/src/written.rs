//! Which bytes of a storage mean something: all, or of one that was made without data those that somebody has written.
//!
//! The host keeps these marks until a kernel writes to the storage; what that wrote only its device knows, so here all
//! counts as written then. What never happens: bytes that were written count as unwritten.

use std::convert::Infallible;
use std::ops::Range;

/// Of so many bytes those that were written. Only where there are some and not all is memory spent on them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Written {
    #[default]
    All,
    Nothing,
    /// A mark for each byte, 1 where it was written: whatever puts elements to their places puts marks there, too.
    Some(Vec<u8>),
}

impl Written {
    /// So many marks, which say all that there is to say where they agree.
    fn of_marks(marks: Vec<u8>) -> Written {
        let is_written = |mark: &u8| *mark != 0;
        if marks.iter().all(is_written) {
            return Written::All;
        }
        if marks.iter().any(is_written) { Written::Some(marks) } else { Written::Nothing }
    }

    /// The same of other bytes, for which `gather` picks the marks, and of which there are some.
    pub fn gathered<E>(&self, gather: impl FnOnce(&[u8]) -> Result<Vec<u8>, E>) -> Result<Written, E> {
        match self {
            Written::Some(marks) => gather(marks).map(Written::of_marks),
            same => Ok(same.clone()),
        }
    }

    /// The same of elements of another size: one counts as written where all of its bytes were.
    pub fn resized(&self, from: usize, to: usize) -> Written {
        let Ok(resized) = self.gathered(|marks| {
            let whole = marks.chunks_exact(from).map(|element| element.iter().all(|mark| *mark != 0));
            Ok::<_, Infallible>(
                whole.flat_map(|is_whole| std::iter::repeat_n(u8::from(is_whole), to)).collect(),
            )
        });
        resized
    }

    /// Notes bytes that were written, of `len`.
    pub(crate) fn note(&mut self, len: usize, bytes: Range<usize>) {
        match bytes.len() == len {
            true => *self = Written::All,
            false => self.note_among(len, bytes, |marks| marks.fill(1)),
        }
    }

    /// Notes some of these bytes: `mark` writes 1 over their marks.
    pub(crate) fn note_among(&mut self, len: usize, bytes: Range<usize>, mark: impl FnOnce(&mut [u8])) {
        match self {
            Written::All => return,
            Written::Some(marks) => return mark(&mut marks[bytes]),
            Written::Nothing => {}
        }
        // Zeros cost no memory before they are touched, so marks cost as much as what is written.
        let mut marks = vec![0; len];
        mark(&mut marks[bytes]);
        *self = Written::Some(marks);
    }

    /// Tells the written ones among these bytes, from the first to the last.
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
