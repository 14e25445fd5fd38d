//! Copies of types: a type in both a buffer and workgroup memory has a layout in the one and none in the
//! other.
//!
//! Each type of a workgroup variable that is also in a buffer, or that contains such a type, gets a copy
//! without a layout. Pointers into workgroup memory point to copies. A composite value is recomposed from its
//! parts when it is loaded from or stored to such a pointer.

use rustc_hash::FxHashMap;

use super::{OP_TYPE_ARRAY, OP_TYPE_POINTER, OP_TYPE_STRUCT, OP_VARIABLE, Types, WORKGROUP};
use crate::words::{BOUND, HEADER_WORDS};

const OP_NAME: u32 = 5;
const OP_MEMBER_NAME: u32 = 6;
const OP_CONSTANT_NULL: u32 = 46;
const OP_FUNCTION_PARAMETER: u32 = 55;
const OP_LOAD: u32 = 61;
const OP_STORE: u32 = 62;
const OP_ACCESS_CHAIN: u32 = 65;
const OP_IN_BOUNDS_ACCESS_CHAIN: u32 = 66;
const OP_COMPOSITE_CONSTRUCT: u32 = 80;
const OP_COMPOSITE_EXTRACT: u32 = 81;

/// Rewrites a module's instructions to use the copies.
pub(super) struct TypeCopies<'t> {
    types: &'t Types,
    copies: FxHashMap<u32, u32>,
    /// The original pointees of workgroup pointer types whose pointee has a copy.
    pointees: FxHashMap<u32, u32>,
    /// The original pointees of pointers of such types.
    pointers: FxHashMap<u32, u32>,
    /// Null constants, and their counterparts of the copied type.
    nulls: FxHashMap<u32, u32>,
    /// The instructions written so far.
    pub words: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq)]
enum To {
    Copy,
    Original,
}

impl<'t> TypeCopies<'t> {
    pub fn of(types: &'t Types, words: &[u32]) -> TypeCopies<'t> {
        let mut written = TypeCopies {
            types,
            copies: FxHashMap::default(),
            pointees: FxHashMap::default(),
            pointers: FxHashMap::default(),
            nulls: FxHashMap::default(),
            words: words[..HEADER_WORDS].to_vec(),
        };
        // A type is declared after its component types.
        for (id, parts) in types.parts.iter().filter(|(id, _)| types.shared.contains(id)) {
            if types.laid.contains(id) || parts.iter().any(|part| written.copies.contains_key(part)) {
                let copy = written.id();
                written.copies.insert(*id, copy);
            }
        }
        written
    }

    pub fn push(&mut self, instruction: &[u32]) {
        match (instruction[0] & 0xffff, instruction) {
            (OP_NAME | OP_MEMBER_NAME, [first, id, rest @ ..]) => {
                self.words.extend(instruction);
                if let Some(&copy) = self.copies.get(id) {
                    self.words.extend([*first, copy]);
                    self.words.extend(rest);
                }
            }
            (OP_TYPE_ARRAY, [first, id, element, length]) => {
                self.words.extend(instruction);
                if let Some(&copy) = self.copies.get(id) {
                    self.words.extend([*first, copy, self.ty(*element, To::Copy), *length]);
                }
            }
            (OP_TYPE_STRUCT, [first, id, members @ ..]) => {
                self.words.extend(instruction);
                if let Some(&copy) = self.copies.get(id) {
                    let members: Vec<u32> = members.iter().map(|part| self.ty(*part, To::Copy)).collect();
                    self.words.extend([*first, copy]);
                    self.words.extend(members);
                }
            }
            (OP_TYPE_POINTER, [first, id, WORKGROUP, pointee]) => {
                self.words.extend([*first, *id, WORKGROUP, self.ty(*pointee, To::Copy)]);
                if self.copies.contains_key(pointee) {
                    self.pointees.insert(*id, *pointee);
                }
            }
            (OP_CONSTANT_NULL, [first, ty, id]) => {
                self.words.extend(instruction);
                if let Some(&copy) = self.copies.get(ty) {
                    let null = self.id();
                    self.nulls.insert(*id, null);
                    self.words.extend([*first, copy, null]);
                }
            }
            (OP_LOAD, [first, ty, id, pointer, rest @ ..]) if self.pointers.contains_key(pointer) => {
                let loaded = self.id();
                self.words.extend([*first, self.ty(*ty, To::Copy), loaded, *pointer]);
                self.words.extend(rest);
                self.recompose(To::Original, loaded, *ty, *id);
            }
            (OP_STORE, [first, pointer, value, rest @ ..]) if self.pointers.contains_key(pointer) => {
                let value = match self.nulls.get(value) {
                    Some(null) => *null,
                    None => {
                        let stored = self.id();
                        self.recompose(To::Copy, *value, self.pointers[pointer], stored)
                    }
                };
                self.words.extend([*first, *pointer, value]);
                self.words.extend(rest);
            }
            (opcode, instruction) => {
                self.words.extend(instruction);
                let gives_pointer =
                    [OP_VARIABLE, OP_FUNCTION_PARAMETER, OP_ACCESS_CHAIN, OP_IN_BOUNDS_ACCESS_CHAIN];
                if let [_, ty, id, ..] = instruction
                    && gives_pointer.contains(&opcode)
                    && let Some(pointee) = self.pointees.get(ty)
                {
                    self.pointers.insert(*id, *pointee);
                }
            }
        }
    }

    /// Builds `result` from the parts of a value whose type is `ty` or its copy.
    fn recompose(&mut self, to: To, value: u32, ty: u32, result: u32) -> u32 {
        let from = if to == To::Copy { To::Original } else { To::Copy };
        let mut parts = Vec::new();
        for (at, &part) in (0..).zip(self.types.parts(ty)) {
            let taken = self.id();
            self.words.extend([head(OP_COMPOSITE_EXTRACT, 5), self.ty(part, from), taken, value, at]);
            parts.push(match self.copies.contains_key(&part) {
                true => {
                    let made = self.id();
                    self.recompose(to, taken, part, made)
                }
                false => taken,
            });
        }
        self.words.extend([head(OP_COMPOSITE_CONSTRUCT, 3 + parts.len()), self.ty(ty, to), result]);
        self.words.extend(parts);
        result
    }

    fn ty(&self, ty: u32, to: To) -> u32 {
        match to {
            To::Copy => self.copies.get(&ty).copied().unwrap_or(ty),
            To::Original => ty,
        }
    }

    fn id(&mut self) -> u32 {
        self.words[BOUND] += 1;
        self.words[BOUND] - 1
    }
}

fn head(opcode: u32, n_words: usize) -> u32 {
    (n_words as u32) << 16 | opcode
}
