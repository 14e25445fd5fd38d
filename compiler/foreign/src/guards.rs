//! Guards that naga puts round divisions of ints and conversions of floats to ints. They hide what the text asked
//! for, so they get names by which a device that checks knows them: `kps.divide` and `kps.modulo` are functions of a
//! dividend and a divisor, `kps.clamped` is a float cut to what an int holds.

use crate::words::{HEADER_WORDS, instructions, is_declaration, is_decoration, n_before, string, text};

const OP_NAME: u32 = 5;
const OP_EXT_INST: u32 = 12;
const OP_CONVERT_F_TO_U: u32 = 109;
const OP_CONVERT_F_TO_S: u32 = 110;

/// `FClamp` of GLSL.std.450.
const CLAMP: u32 = 43;

/// What naga calls its functions, and what they are called here.
const DIVISIONS: [(&str, &str); 2] = [("naga_div", "kps.divide"), ("naga_mod", "kps.modulo")];
const CLAMPED: &str = "kps.clamped";

pub(crate) fn name(words: Vec<u32>) -> Vec<u32> {
    let n_before = n_before(&words[HEADER_WORDS..], |opcode| is_decoration(opcode) || is_declaration(opcode));
    let (before, behind) = words.split_at(HEADER_WORDS + n_before);
    let mut named = before[..HEADER_WORDS].to_vec();
    for instruction in instructions(before) {
        match (instruction[0] & 0xffff, instruction) {
            (OP_NAME, [_, id, name @ ..]) => named.extend(renamed(*id, name)),
            _ => named.extend(instruction),
        }
    }
    named.extend(clamped(&words).into_iter().flat_map(|id| op_name(id, &text(CLAMPED))));
    named.extend(behind);
    named
}

fn renamed(id: u32, name: &[u32]) -> Vec<u32> {
    let known = string(name);
    match DIVISIONS.iter().find(|(theirs, _)| *theirs == known) {
        Some((_, ours)) => op_name(id, &text(ours)),
        None => op_name(id, name),
    }
}

fn op_name(id: u32, name: &[u32]) -> Vec<u32> {
    [&[(name.len() as u32 + 2) << 16 | OP_NAME, id], name].concat()
}

/// Floats that are cut and converted at once: what the text cuts by itself is cut once more.
fn clamped(words: &[u32]) -> Vec<u32> {
    let clamps = instructions(words).map(|instruction| match (instruction[0] & 0xffff, instruction) {
        (OP_EXT_INST, [_, _, id, _, CLAMP, ..]) => Some(*id),
        _ => None,
    });
    let pairs = clamps.zip(instructions(words).skip(1));
    pairs
        .filter_map(|(clamp, next)| match (next[0] & 0xffff, next) {
            (OP_CONVERT_F_TO_S | OP_CONVERT_F_TO_U, [_, _, _, operand]) => {
                clamp.filter(|clamp| clamp == operand)
            }
            _ => None,
        })
        .collect()
}
