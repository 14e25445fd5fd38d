//! Twins of types: what a buffer and the memory of a workgroup are both made of has a layout in the one and none
//! in the other.
//!
//! Each type of the workgroup's variables that buffers are made of too, or that is made of such a type, gets a twin
//! without a layout. Pointers into the memory of the workgroup lead to twins, and a value is put together anew where it
//! is loaded from there or stored to there as a whole.

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

/// Writes a module's instructions down again, with twins.
pub(super) struct Twins<'t> {
    types: &'t Types,
    twins: FxHashMap<u32, u32>,
    /// What types of pointers into the memory of the workgroup led to, where that has a twin.
    pointees: FxHashMap<u32, u32>,
    /// What pointers of such types lead to.
    pointers: FxHashMap<u32, u32>,
    /// Zeros, and those of the twin.
    nulls: FxHashMap<u32, u32>,
    /// What was written so far.
    pub words: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq)]
enum To {
    Twin,
    Usual,
}

impl<'t> Twins<'t> {
    pub fn of(types: &'t Types, words: &[u32]) -> Twins<'t> {
        let mut written = Twins {
            types,
            twins: FxHashMap::default(),
            pointees: FxHashMap::default(),
            pointers: FxHashMap::default(),
            nulls: FxHashMap::default(),
            words: words[..HEADER_WORDS].to_vec(),
        };
        // A type is declared behind those that it is made of.
        for (id, parts) in types.parts.iter().filter(|(id, _)| types.shared.contains(id)) {
            if types.laid.contains(id) || parts.iter().any(|part| written.twins.contains_key(part)) {
                let twin = written.id();
                written.twins.insert(*id, twin);
            }
        }
        written
    }

    pub fn push(&mut self, instruction: &[u32]) {
        match (instruction[0] & 0xffff, instruction) {
            (OP_NAME | OP_MEMBER_NAME, [first, id, rest @ ..]) => {
                self.words.extend(instruction);
                if let Some(&twin) = self.twins.get(id) {
                    self.words.extend([*first, twin]);
                    self.words.extend(rest);
                }
            }
            (OP_TYPE_ARRAY, [first, id, element, length]) => {
                self.words.extend(instruction);
                if let Some(&twin) = self.twins.get(id) {
                    self.words.extend([*first, twin, self.ty(*element, To::Twin), *length]);
                }
            }
            (OP_TYPE_STRUCT, [first, id, members @ ..]) => {
                self.words.extend(instruction);
                if let Some(&twin) = self.twins.get(id) {
                    let members: Vec<u32> = members.iter().map(|part| self.ty(*part, To::Twin)).collect();
                    self.words.extend([*first, twin]);
                    self.words.extend(members);
                }
            }
            (OP_TYPE_POINTER, [first, id, WORKGROUP, pointee]) => {
                self.words.extend([*first, *id, WORKGROUP, self.ty(*pointee, To::Twin)]);
                if self.twins.contains_key(pointee) {
                    self.pointees.insert(*id, *pointee);
                }
            }
            (OP_CONSTANT_NULL, [first, ty, id]) => {
                self.words.extend(instruction);
                if let Some(&twin) = self.twins.get(ty) {
                    let null = self.id();
                    self.nulls.insert(*id, null);
                    self.words.extend([*first, twin, null]);
                }
            }
            (OP_LOAD, [first, ty, id, pointer, rest @ ..]) if self.pointers.contains_key(pointer) => {
                let loaded = self.id();
                self.words.extend([*first, self.ty(*ty, To::Twin), loaded, *pointer]);
                self.words.extend(rest);
                self.put_together(To::Usual, loaded, *ty, *id);
            }
            (OP_STORE, [first, pointer, value, rest @ ..]) if self.pointers.contains_key(pointer) => {
                let value = match self.nulls.get(value) {
                    Some(null) => *null,
                    None => {
                        let stored = self.id();
                        self.put_together(To::Twin, *value, self.pointers[pointer], stored)
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

    /// Makes `result` of the parts of a value, whose type is `ty` or its twin.
    fn put_together(&mut self, to: To, value: u32, ty: u32, result: u32) -> u32 {
        let from = if to == To::Twin { To::Usual } else { To::Twin };
        let mut parts = Vec::new();
        for (at, &part) in (0..).zip(self.types.parts(ty)) {
            let taken = self.id();
            self.words.extend([head(OP_COMPOSITE_EXTRACT, 5), self.ty(part, from), taken, value, at]);
            parts.push(match self.twins.contains_key(&part) {
                true => {
                    let made = self.id();
                    self.put_together(to, taken, part, made)
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
            To::Twin => self.twins.get(&ty).copied().unwrap_or(ty),
            To::Usual => ty,
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
