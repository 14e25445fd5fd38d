//! Searches for a part in text or bytes: in linear time, and interruptible between blocks.
//!
//! Text is searched as UTF-8: a part of whole characters is only found at a character boundary.

use memchr::memmem::{Finder, FinderRev};

use crate::value::Result;
use crate::vm::checkpoint;

/// Bytes that are searched without a poll.
const BLOCK: usize = 4 << 20;

/// Parts that are found between two looks at the interrupter.
const PARTS: usize = 1 << 14;

/// The first position of the part.
pub fn find(within: &[u8], part: &[u8]) -> Result<Option<usize>> {
    find_by(&Finder::new(part), within)
}

fn find_by(finder: &Finder, within: &[u8]) -> Result<Option<usize>> {
    let n_part = finder.needle().len();
    let mut start = 0;
    loop {
        let end = within.len().min(start + BLOCK + n_part);
        if let Some(at) = finder.find(&within[start..end]) {
            return Ok(Some(start + at));
        }
        if end == within.len() {
            return Ok(None);
        }
        checkpoint()?;
        start += BLOCK;
    }
}

/// The last position of the part.
pub fn rfind(within: &[u8], part: &[u8]) -> Result<Option<usize>> {
    rfind_by(&FinderRev::new(part), within)
}

fn rfind_by(finder: &FinderRev, within: &[u8]) -> Result<Option<usize>> {
    let n_part = finder.needle().len();
    let mut end = within.len();
    loop {
        let start = end.saturating_sub(BLOCK + n_part);
        if let Some(at) = finder.rfind(&within[start..end]) {
            return Ok(Some(start + at));
        }
        if start == 0 {
            return Ok(None);
        }
        checkpoint()?;
        end -= BLOCK;
    }
}

/// The positions of at most `most` parts that do not overlap, from the start. The part is not empty.
pub fn find_all(within: &[u8], part: &[u8], most: usize) -> Result<Vec<usize>> {
    let finder = Finder::new(part);
    let (mut places, mut from) = (Vec::new(), 0);
    while places.len() < most
        && let Some(at) = find_by(&finder, &within[from..])?
    {
        note(&mut places, from + at)?;
        from += at + part.len();
    }
    Ok(places)
}

/// The positions of at most `most` parts that do not overlap, searched from the end, in the order of the
/// text. The part is not empty.
pub fn rfind_all(within: &[u8], part: &[u8], most: usize) -> Result<Vec<usize>> {
    let finder = FinderRev::new(part);
    let (mut places, mut end) = (Vec::new(), within.len());
    while places.len() < most
        && let Some(at) = rfind_by(&finder, &within[..end])?
    {
        note(&mut places, at)?;
        end = at;
    }
    places.reverse();
    Ok(places)
}

fn note(places: &mut Vec<usize>, at: usize) -> Result<()> {
    if places.len() % PARTS == PARTS - 1 {
        checkpoint()?;
    }
    crate::memory::make_room(places)?;
    places.push(at);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_across_blocks() {
        fn check(places: &[usize], len: usize) {
            let mut within = vec![b'.'; len];
            places.iter().for_each(|&at| within[at..at + 2].copy_from_slice(b"ab"));
            let found = |places: Result<Vec<usize>>| places.unwrap_or_else(|_| panic!("nothing interrupts"));
            assert_eq!(found(find_all(&within, b"ab", usize::MAX)), places);
            assert_eq!(found(rfind_all(&within, b"ab", usize::MAX)), places);
            assert_eq!(found(rfind_all(&within, b"ab", 1)), &places[places.len() - 1..]);
        }
        check(&[0, BLOCK - 1, 2 * BLOCK + 1], 2 * BLOCK + 3);
        check(&[BLOCK + 1, BLOCK + 3], 3 * BLOCK);
        check(&[3 * BLOCK - 2], 3 * BLOCK);
    }

    #[test]
    fn parts_do_not_overlap() {
        fn check(within: &str, part: &str, from_start: &[usize], from_end: &[usize]) {
            let (within, part) = (within.as_bytes(), part.as_bytes());
            assert_eq!(find_all(within, part, usize::MAX).ok().as_deref(), Some(from_start));
            assert_eq!(rfind_all(within, part, usize::MAX).ok().as_deref(), Some(from_end));
        }
        check("aaaaa", "aa", &[0, 2], &[1, 3]);
        check("abc", "d", &[], &[]);
        check("", "d", &[], &[]);
    }
}
