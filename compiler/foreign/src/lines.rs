//! Lines of statements, which naga tells too rarely and too often.

use crate::words::{HEADER_WORDS, instructions};

const OP_LINE: u32 = 8;
const OP_FUNCTION: u32 = 54;
const OP_LABEL: u32 = 248;

/// Without the lines of what naga knows no place of: it gives them the first line, where no statement is.
///
/// Without one, such an instruction belongs to the line before it.
pub(crate) fn strip_unknown(words: Vec<u32>) -> Vec<u32> {
    let is_known =
        |instruction: &&[u32]| !matches!(instruction, [first, _, 1, 1] if first & 0xffff == OP_LINE);
    let kept = instructions(&words).filter(is_known);
    words[..HEADER_WORDS].iter().chain(kept.flatten()).copied().collect()
}

/// With the line of a statement in each of its blocks: a line ends with its block, and naga's tests of indices open
/// others amid a statement.
pub(crate) fn carry_on(words: Vec<u32>) -> Vec<u32> {
    let mut carried = words[..HEADER_WORDS].to_vec();
    let mut line: &[u32] = &[];
    for instruction in instructions(&words) {
        carried.extend(instruction);
        match instruction[0] & 0xffff {
            OP_FUNCTION => line = &[],
            OP_LINE => line = instruction,
            OP_LABEL => carried.extend(line),
            _ => {}
        }
    }
    carried
}
