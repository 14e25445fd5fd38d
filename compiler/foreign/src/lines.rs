//! Lines of what naga knows no place of: it gives them the first line, where no statement is.
//!
//! Without them, such an instruction belongs to the line before it.

use crate::words::{HEADER_WORDS, instructions};

const OP_LINE: u32 = 8;

pub(crate) fn strip_unknown(words: Vec<u32>) -> Vec<u32> {
    let is_known =
        |instruction: &&[u32]| !matches!(instruction, [first, _, 1, 1] if first & 0xffff == OP_LINE);
    let kept = instructions(&words).filter(is_known);
    words[..HEADER_WORDS].iter().chain(kept.flatten()).copied().collect()
}
