//! Names the guards that naga puts around integer divisions, conversions of floats to ints, and indices of
//! local and shared memory. Guards hide errors of the text, so a device that checks identifies them by name.
//! `kps.divide` and `kps.modulo` are functions of a dividend and a divisor. `kps.clamped` is a float clamped
//! to an integer type's range. `kps.inside` is whether an index is below a length. `kps.nearest` is an index
//! clamped to the last one.
//!
//! A test or clamp in the text itself is guarded once more, so it is never mistaken for a guard.

use naga::proc::BoundsCheckPolicy;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::words::{HEADER_WORDS, instructions, is_declaration, is_decoration, n_before, string, text};

const OP_NAME: u32 = 5;
const OP_EXT_INST: u32 = 12;
const OP_CONVERT_F_TO_U: u32 = 109;
const OP_CONVERT_F_TO_S: u32 = 110;

/// `UMin` and `FClamp` of GLSL.std.450.
const MIN: u32 = 38;
const CLAMP: u32 = 43;

const OP_TYPE_POINTER: u32 = 32;
const OP_ACCESS_CHAIN: u32 = 65;
const OP_VECTOR_EXTRACT_DYNAMIC: u32 = 77;
const OP_LOGICAL_AND: u32 = 167;
const OP_U_LESS_THAN: u32 = 176;
const OP_LABEL: u32 = 248;
const OP_BRANCH_CONDITIONAL: u32 = 250;
const OP_LINE: u32 = 8;

/// Storage classes of a workgroup, of an invocation, of a function.
const GUARDED_CLASSES: [u32; 3] = [4, 6, 7];

/// naga's names of its functions, and their names in kps.
const DIVISIONS: [(&str, &str); 2] = [("naga_div", "kps.divide"), ("naga_mod", "kps.modulo")];
const CLAMPED: &str = "kps.clamped";
const INSIDE: &str = "kps.inside";
const NEAREST: &str = "kps.nearest";

/// `indices` is naga's policy for indices of local and shared memory.
pub(crate) fn name(words: Vec<u32>, indices: BoundsCheckPolicy) -> Vec<u32> {
    let n_before = n_before(&words[HEADER_WORDS..], |opcode| is_decoration(opcode) || is_declaration(opcode));
    let (before, behind) = words.split_at(HEADER_WORDS + n_before);
    let mut named = before[..HEADER_WORDS].to_vec();
    for instruction in instructions(before) {
        match (instruction[0] & 0xffff, instruction) {
            (OP_NAME, [_, id, name @ ..]) => named.extend(renamed(*id, name)),
            _ => named.extend(instruction),
        }
    }
    let mut give = |ids: Vec<u32>, name: &str| {
        named.extend(ids.into_iter().flat_map(|id| op_name(id, &text(name))));
    };
    give(clamped(&words), CLAMPED);
    match indices {
        BoundsCheckPolicy::Restrict => give(nearest(&words), NEAREST),
        _ => give(inside(&words), INSIDE),
    }
    named.extend(behind);
    named
}

fn renamed(id: u32, name: &[u32]) -> Vec<u32> {
    let known = string(name);
    match DIVISIONS.iter().find(|(naga_name, _)| *naga_name == known) {
        Some((_, kps_name)) => op_name(id, &text(kps_name)),
        None => op_name(id, name),
    }
}

fn op_name(id: u32, name: &[u32]) -> Vec<u32> {
    [&[(name.len() as u32 + 2) << 16 | OP_NAME, id], name].concat()
}

/// Floats that are clamped and then converted at once. A clamp in the text itself is followed by another one.
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

/// Indices that are clamped where they are used.
fn nearest(words: &[u32]) -> Vec<u32> {
    let is_cut = |instruction: &[u32]| match (instruction[0] & 0xffff, instruction) {
        (OP_EXT_INST, [_, _, id, _, MIN, _, _]) => Some(*id),
        _ => None,
    };
    let cut: FxHashSet<u32> = instructions(words).filter_map(is_cut).collect();
    let used: FxHashSet<u32> = uses(words).into_iter().flat_map(|(_, indices)| indices).copied().collect();
    let mut nearest: Vec<u32> = cut.intersection(&used).copied().collect();
    nearest.sort_unstable();
    nearest
}

/// Tests that guard the access at the start of a block.
fn inside(words: &[u32]) -> Vec<u32> {
    let (mut indices, mut both) = (FxHashMap::default(), FxHashMap::default());
    let mut conditions: FxHashMap<u32, u32> = FxHashMap::default();
    for instruction in instructions(words) {
        match (instruction[0] & 0xffff, instruction) {
            (OP_U_LESS_THAN, [_, _, id, index, _]) => drop(indices.insert(*id, *index)),
            (OP_LOGICAL_AND, [_, _, id, a, b]) => drop(both.insert(*id, [*a, *b])),
            (OP_BRANCH_CONDITIONAL, [_, condition, then, ..]) => drop(conditions.insert(*then, *condition)),
            _ => {}
        }
    }
    let mut inside = Vec::new();
    for (label, used) in uses(words) {
        let mut waiting: Vec<u32> =
            label.and_then(|label| conditions.get(&label)).copied().into_iter().collect();
        while let Some(condition) = waiting.pop() {
            waiting.extend(both.get(&condition).into_iter().flatten());
            if indices.get(&condition).is_some_and(|index| used.contains(index)) {
                inside.push(condition);
            }
        }
    }
    inside
}

/// The indices of each access that naga guards, and the block that begins with it, if any.
fn uses(words: &[u32]) -> Vec<(Option<u32>, &[u32])> {
    let mut guarded = FxHashSet::default();
    let (mut uses, mut label) = (Vec::new(), None);
    for instruction in instructions(words) {
        match (instruction[0] & 0xffff, instruction) {
            (OP_TYPE_POINTER, [_, id, class, _]) if GUARDED_CLASSES.contains(class) => {
                guarded.insert(*id);
            }
            (OP_ACCESS_CHAIN, [_, ty, _, _, indices @ ..]) if guarded.contains(ty) => {
                uses.push((label, indices));
            }
            (OP_VECTOR_EXTRACT_DYNAMIC, [_, _, _, _, index @ ..]) => uses.push((label, index)),
            _ => {}
        }
        label = match (instruction[0] & 0xffff, instruction) {
            (OP_LABEL, [_, id]) => Some(*id),
            (OP_LINE, _) => label,
            _ => None,
        };
    }
    uses
}
