//! SPIR-V as 32-bit words: iteration over instructions, and writing of one. Nothing is checked. An
//! instruction that does not fit in the module ends the iteration.

/// Words of the header.
pub const HEADER: usize = 5;

/// The instructions of a module after its header, each with the offset of its first word.
pub fn instructions(words: &[u32]) -> impl Iterator<Item = (usize, &[u32])> {
    let mut at = HEADER;
    std::iter::from_fn(move || {
        let first = *words.get(at)?;
        let instruction = words.get(at..at + (first >> 16) as usize).filter(|words| !words.is_empty())?;
        let start = at;
        at += instruction.len();
        Some((start, instruction))
    })
}

pub fn opcode(instruction: &[u32]) -> u32 {
    instruction[0] & 0xffff
}

/// Appends an instruction.
pub fn push(words: &mut Vec<u32>, op: rspirv::spirv::Op, operands: &[u32]) {
    words.push(((operands.len() as u32 + 1) << 16) | op as u32);
    words.extend_from_slice(operands);
}
