//! SPIR-V words as instructions, for the few things that are mended after naga wrote them.

pub(crate) const HEADER_WORDS: usize = 5;

/// The instructions after the header, each with all of its words.
pub(crate) fn instructions(words: &[u32]) -> impl Iterator<Item = &[u32]> {
    let mut rest = words.get(HEADER_WORDS..).unwrap_or_default();
    std::iter::from_fn(move || {
        let length = (*rest.first()? >> 16).max(1) as usize;
        let (instruction, after) = rest.split_at(length.min(rest.len()));
        rest = after;
        Some(instruction)
    })
}
