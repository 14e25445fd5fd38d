//! The encoding of instructions as 32-bit words: an opcode with the number of words, the result's type and id if it has
//! them, and the operands.

use rspirv::binary::Assemble;
use rspirv::dr::Operand;
use rspirv::spirv::{Op, Word};

/// Appends an instruction.
pub(crate) fn write(
    words: &mut Vec<Word>,
    op: Op,
    result_type: Option<Word>,
    result_id: Option<Word>,
    operands: &[Operand],
) {
    let start = begin(words, op);
    words.extend(result_type);
    words.extend(result_id);
    write_operands(words, operands);
    end(words, start);
}

pub(crate) fn write_operands(words: &mut Vec<Word>, operands: &[Operand]) {
    operands.iter().for_each(|operand| operand.assemble_into(words));
}

/// A text in UTF-8, four bytes in a word, terminated by a zero.
pub(crate) fn write_text(words: &mut Vec<Word>, text: &str) {
    let (whole, rest) = text.as_bytes().as_chunks();
    words.extend(whole.iter().map(|chunk| Word::from_le_bytes(*chunk)));
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    words.push(Word::from_le_bytes(last));
}

/// `OpString`.
pub(crate) fn write_string(words: &mut Vec<Word>, id: Word, text: &str) {
    let start = begin(words, Op::String);
    words.push(id);
    write_text(words, text);
    end(words, start);
}

/// Begins an instruction and returns its start, for [`end`]. Words written in between belong to it.
pub(crate) fn begin(words: &mut Vec<Word>, op: Op) -> usize {
    words.push(op as Word);
    words.len() - 1
}

pub(crate) fn end(words: &mut [Word], start: usize) {
    let n_words = words.len() - start;
    words[start] |= (n_words as Word) << 16;
}
