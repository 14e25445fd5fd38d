//! SPIR-V words as instructions, for passes that correct a module after naga emitted it.

pub(crate) const HEADER_WORDS: usize = 5;

/// The index of the header's id bound.
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

/// The number of words before the first instruction of a kind, in words without a header.
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

/// A text as operands: NUL-terminated, padded to whole words.
pub(crate) fn text(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() + 1).next_multiple_of(4), 0);
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// The text in operands.
pub(crate) fn string(operands: &[u32]) -> String {
    let bytes = operands.iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0);
    String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
}
