//! Layouts of what lies in the memory of a workgroup, where SPIR-V wants none and naga writes them.
//!
//! Decorations of offsets and strides go from the types that only workgroups' variables are made of.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::words::{HEADER_WORDS, OP_DECORATE, instructions};

const OP_MEMBER_DECORATE: u32 = 72;
const OP_TYPE_ARRAY: u32 = 28;
const OP_TYPE_RUNTIME_ARRAY: u32 = 29;
const OP_TYPE_STRUCT: u32 = 30;
const OP_TYPE_POINTER: u32 = 32;
const OP_VARIABLE: u32 = 59;

const WORKGROUP: u32 = 4;
/// Uniform, push constants, storage buffers.
const WITH_LAYOUT: [u32; 3] = [2, 9, 12];

/// Row-major, column-major, array stride, matrix stride, offset.
const LAYOUT: [u32; 5] = [4, 5, 6, 7, 35];

pub(crate) fn strip_layouts(words: Vec<u32>) -> Vec<u32> {
    let (mut parts, mut pointees) = (FxHashMap::default(), FxHashMap::default());
    let (mut shared, mut laid) = (FxHashSet::default(), FxHashSet::default());
    for instruction in instructions(&words) {
        match (instruction[0] & 0xffff, instruction) {
            (OP_TYPE_ARRAY | OP_TYPE_RUNTIME_ARRAY, [_, id, element, ..]) => {
                parts.insert(*id, vec![*element]);
            }
            (OP_TYPE_STRUCT, [_, id, members @ ..]) => {
                parts.insert(*id, members.to_vec());
            }
            (OP_TYPE_POINTER, [_, id, _, pointee]) => {
                pointees.insert(*id, *pointee);
            }
            (OP_VARIABLE, [_, pointer, _, class, ..]) => {
                let Some(pointee) = pointees.get(pointer) else { continue };
                match *class {
                    WORKGROUP => reach(&parts, *pointee, &mut shared),
                    class if WITH_LAYOUT.contains(&class) => reach(&parts, *pointee, &mut laid),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    if shared.is_empty() {
        return words;
    }
    let is_in_the_way = |instruction: &&[u32]| match (instruction[0] & 0xffff, *instruction) {
        (OP_DECORATE, [_, id, decoration, ..]) | (OP_MEMBER_DECORATE, [_, id, _, decoration, ..]) => {
            LAYOUT.contains(decoration) && shared.contains(id) && !laid.contains(id)
        }
        _ => false,
    };
    let kept = instructions(&words).filter(|instruction| !is_in_the_way(instruction));
    words[..HEADER_WORDS].iter().chain(kept.flatten()).copied().collect()
}

/// The type and all that it is made of.
fn reach(parts: &FxHashMap<u32, Vec<u32>>, first: u32, reached: &mut FxHashSet<u32>) {
    let mut waiting = vec![first];
    while let Some(ty) = waiting.pop() {
        if reached.insert(ty) {
            waiting.extend(parts.get(&ty).into_iter().flatten());
        }
    }
}
