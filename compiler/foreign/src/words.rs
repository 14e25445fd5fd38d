//! SPIR-V words as instructions, for the few things that are mended after naga wrote them.

pub(crate) const HEADER_WORDS: usize = 5;

/// Where the header says which id is free.
pub(crate) const BOUND: usize = 3;

pub(crate) const OP_CONSTANT: u32 = 43;
pub(crate) const OP_DECORATE: u32 = 71;

/// The instructions after the header, each with all of its words.
pub(crate) fn instructions(words: &[u32]) -> impl Iterator<Item = &[u32]> {
    instructions_in(words.get(HEADER_WORDS..).unwrap_or_default())
}

/// The instructions of words without a header.
pub(crate) fn instructions_in(mut rest: &[u32]) -> impl Iterator<Item = &[u32]> {
    std::iter::from_fn(move || {
        let length = (*rest.first()? >> 16).max(1) as usize;
        let (instruction, after) = rest.split_at(length.min(rest.len()));
        rest = after;
        Some(instruction)
    })
}

/// How many words come before the first instruction of a kind, in words without a header.
pub(crate) fn n_before(body: &[u32], is_meant: impl Fn(u32) -> bool) -> usize {
    let before = instructions_in(body).take_while(|instruction| !is_meant(instruction[0] & 0xffff));
    before.map(<[u32]>::len).sum()
}

/// `OpDecorate` to `OpGroupMemberDecorate`.
pub(crate) fn is_decoration(opcode: u32) -> bool {
    (71..=75).contains(&opcode)
}

/// `OpTypeVoid` to `OpTypeForwardPointer`, and constants.
pub(crate) fn is_declaration(opcode: u32) -> bool {
    (19..=39).contains(&opcode) || (41..=52).contains(&opcode)
}

/// A text as operands: it ends with a 0, and fills whole words.
pub(crate) fn text(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() + 1).next_multiple_of(4), 0);
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// The text that operands hold.
pub(crate) fn string(operands: &[u32]) -> String {
    let bytes = operands.iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0);
    String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
}
