//! Removes layout decorations from types in workgroup memory, where SPIR-V forbids them and naga emits them.
//!
//! Types that only workgroup variables use lose their offsets and strides. A type that buffers use too keeps
//! them, and the workgroup gets a copy of it without a layout ([`type_copies`]).

use rustc_hash::{FxHashMap, FxHashSet};

use self::type_copies::TypeCopies;
use crate::words::{OP_CONSTANT, OP_DECORATE, instructions};

mod type_copies;

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

/// The composite types of a module, and the memory that they are in.
#[derive(Default)]
struct Types {
    /// The component types of each, in the order of declaration.
    parts: Vec<(u32, Vec<u32>)>,
    position: FxHashMap<u32, usize>,
    /// Types in workgroup memory.
    shared: FxHashSet<u32>,
    /// Types in buffers and push constants.
    laid: FxHashSet<u32>,
}

pub(crate) fn strip_layouts(words: Vec<u32>) -> Vec<u32> {
    let types = Types::of(&words);
    if types.shared.is_empty() {
        return words;
    }
    let is_in_the_way = |instruction: &&[u32]| match (instruction[0] & 0xffff, *instruction) {
        (OP_DECORATE, [_, id, decoration, ..]) | (OP_MEMBER_DECORATE, [_, id, _, decoration, ..]) => {
            LAYOUT.contains(decoration) && types.shared.contains(id) && !types.laid.contains(id)
        }
        _ => false,
    };
    let mut copies = TypeCopies::of(&types, &words);
    for instruction in instructions(&words).filter(|instruction| !is_in_the_way(instruction)) {
        copies.push(instruction);
    }
    copies.words
}

impl Types {
    fn of(words: &[u32]) -> Types {
        let mut types = Types::default();
        let (mut ints, mut pointees) = (FxHashMap::default(), FxHashMap::default());
        for instruction in instructions(words) {
            match (instruction[0] & 0xffff, instruction) {
                (OP_CONSTANT, [_, _, id, value]) => {
                    ints.insert(*id, *value as usize);
                }
                (OP_TYPE_ARRAY, [_, id, element, length]) => {
                    types.declare(*id, vec![*element; ints.get(length).copied().unwrap_or(1)]);
                }
                (OP_TYPE_RUNTIME_ARRAY, [_, id, element]) => types.declare(*id, vec![*element]),
                (OP_TYPE_STRUCT, [_, id, members @ ..]) => types.declare(*id, members.to_vec()),
                (OP_TYPE_POINTER, [_, id, _, pointee]) => {
                    pointees.insert(*id, *pointee);
                }
                (OP_VARIABLE, [_, pointer, _, class, ..]) => {
                    let Some(pointee) = pointees.get(pointer) else { continue };
                    match *class {
                        WORKGROUP => types.shared.extend(types.reach(*pointee)),
                        class if WITH_LAYOUT.contains(&class) => types.laid.extend(types.reach(*pointee)),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        types
    }

    fn declare(&mut self, id: u32, parts: Vec<u32>) {
        self.position.insert(id, self.parts.len());
        self.parts.push((id, parts));
    }

    /// The component types of a type, in order; empty for numbers, vectors and matrices.
    fn parts(&self, id: u32) -> &[u32] {
        self.position.get(&id).map_or(&[], |at| &self.parts[*at].1)
    }

    /// The type and all types that it contains.
    fn reach(&self, first: u32) -> FxHashSet<u32> {
        let mut reached = FxHashSet::default();
        let mut waiting = vec![first];
        while let Some(ty) = waiting.pop() {
            if reached.insert(ty) {
                waiting.extend(self.parts(ty));
            }
        }
        reached
    }
}
