//! Corrects naga's barriers. GLSL's memory barriers synchronise a subgroup only. Barriers of subgroups order
//! subgroup memory, which Vulkan does not know: it requires other memory to be named.
//!
//! naga's front end for GLSL does not know functions that are memory barriers only. A text declares a
//! function for each that it calls, and the calls become barriers.

use crate::words::{BOUND, HEADER_WORDS, OP_CONSTANT, instructions};

const OP_CONTROL_BARRIER: u32 = 224;
const OP_MEMORY_BARRIER: u32 = 225;

/// Acquire and release, of subgroup memory.
const OF_SUBGROUP: u32 = 0x8 | 0x80;
/// Acquire and release, of buffers and shared memory.
const OF_BUFFERS_AND_SHARED: u32 = 0x8 | 0x40 | 0x100;

/// Lets barriers of subgroups order buffers and shared memory.
pub(crate) fn name_memory(words: Vec<u32>) -> Vec<u32> {
    let semantics = |instruction: &[u32]| match (instruction[0] & 0xffff, instruction) {
        (OP_CONTROL_BARRIER, [_, _, _, id]) | (OP_MEMORY_BARRIER, [_, _, id]) => Some(*id),
        _ => None,
    };
    let used: Vec<u32> = instructions(&words).filter_map(semantics).collect();
    let is_meant = |instruction: &[u32]| matches!(instruction, [first, _, id, OF_SUBGROUP] if first & 0xffff == OP_CONSTANT && used.contains(id));
    let Some(found) = instructions(&words).find(|instruction| is_meant(instruction)) else { return words };
    let (ty, old, new) = (found[1], found[2], words[BOUND]);
    let mut corrected = words[..HEADER_WORDS].to_vec();
    corrected[BOUND] += 1;
    for instruction in instructions(&words) {
        corrected.extend(instruction);
        if semantics(instruction) == Some(old) {
            *corrected.last_mut().expect("it has operands") = new;
        }
        // The constant may have other uses.
        if is_meant(instruction) {
            corrected.extend([4 << 16 | OP_CONSTANT, ty, new, OF_BUFFERS_AND_SHARED]);
        }
    }
    corrected
}
