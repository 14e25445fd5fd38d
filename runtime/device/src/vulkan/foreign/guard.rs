//! Clamps indices out of range to the last element. It applies the rule of robust access to the memory that
//! robust access does not cover.
//!
//! It clamps every index of an access chain into shared memory, variables and push constants: of arrays,
//! matrices and vectors. It also clamps the indices of `OpVectorExtractDynamic` and `OpVectorInsertDynamic`.
//! A constant in range does not change, and a constant out of range becomes another constant. Any other index
//! goes through `UMin`. A narrow index is widened first, by the sign of its type.
//!
//! Lengths that depend on specialisation constants become literals, so that driver and guard cannot disagree
//! about them. Lines, names and the order of instructions do not change.

use rspirv::dr::Module;
use rspirv::spirv::{GlslStd450Op as GlslOp, Op, StorageClass};
use rustc_hash::FxHashMap;

use super::bad_module;
use super::globals::{Additions, Globals, Type};
use crate::Result;
use crate::reflect::Constants;
use crate::words::{HEADER, instructions, opcode, push};

/// No array in memory has more elements; indices are signed.
const MAX_INDEX: u64 = i32::MAX as u64;

/// The result for a module.
pub enum Guarded {
    /// Every index was in range.
    Same,
    Clamped(Vec<u32>),
    /// Also with literal lengths of its arrays.
    Specialised(Vec<u32>),
}

/// Clamps the indices of a module. `words` are valid, and parsed as `module`.
pub fn guard(words: &[u32], module: &Module, constants: &Constants) -> Result<Guarded> {
    let globals = Globals::of(module, constants)?;
    let mut guard = Guard {
        additions: Additions::new(module),
        globals,
        known: FxHashMap::default(),
        functions: Vec::new(),
    };
    let is_function = |inst: &[u32]| opcode(inst) == Op::Function as u32;
    let start = instructions(words).find(|(_, inst)| is_function(inst)).map_or(words.len(), |(at, _)| at);
    let mut is_changed = false;
    for (_, inst) in instructions(words).skip_while(|(at, _)| *at < start) {
        is_changed |= guard.instruction(inst)?;
    }
    let is_specialised = !guard.globals.specialised.is_empty();
    if !is_changed && !is_specialised {
        return Ok(Guarded::Same);
    }
    let guarded = guard.module(&words[..start]);
    Ok(if is_specialised { Guarded::Specialised(guarded) } else { Guarded::Clamped(guarded) })
}

struct Guard {
    globals: Globals,
    additions: Additions,
    /// Upper bounds of earlier results as unsigned numbers, where known.
    known: FxHashMap<u32, u64>,
    /// The functions so far.
    functions: Vec<u32>,
}

impl Guard {
    /// Appends an instruction of a function; returns whether it was changed.
    fn instruction(&mut self, inst: &[u32]) -> Result<bool> {
        let changed = match Op::from_u32(opcode(inst)) {
            Some(Op::AccessChain | Op::InBoundsAccessChain) => self.chain(inst, 4)?,
            Some(Op::PtrAccessChain | Op::InBoundsPtrAccessChain) => self.chain(inst, 5)?,
            Some(Op::VectorExtractDynamic) => self.component(inst, 3, 4)?,
            Some(Op::VectorInsertDynamic) => self.component(inst, 3, 5)?,
            op => {
                self.note(op, inst);
                None
            }
        };
        self.functions.extend_from_slice(changed.as_deref().unwrap_or(inst));
        Ok(changed.is_some())
    }

    /// An access chain whose indices begin with operand word `first`; `None` if it does not change.
    fn chain(&mut self, inst: &[u32], first: usize) -> Result<Option<Vec<u32>>> {
        let malformed = || bad_module("an access chain does not fit the type of its base".to_owned());
        let base = inst.get(3).and_then(|base| self.globals.type_of(*base));
        let Some(&Type::Pointer { class, pointee }) = base.and_then(|ty| self.globals.get(ty)) else {
            return Err(malformed());
        };
        if is_robust(class) {
            return Ok(None);
        }
        let mut changed: Option<Vec<u32>> = None;
        let mut ty = pointee;
        for at in first..inst.len() {
            let index = inst[at];
            ty = match self.globals.get(ty).ok_or_else(malformed)? {
                Type::Struct { members } => {
                    let member = self.globals.literal(index).and_then(|idx| usize::try_from(idx).ok());
                    member.and_then(|member| members.get(member)).copied().ok_or_else(malformed)?
                }
                Type::RuntimeArray { element } => *element,
                Type::Sequence { element, len } => {
                    let (element, len) = (*element, *len);
                    if let Some(clamped) = self.clamp(index, len)? {
                        changed.get_or_insert_with(|| inst.to_vec())[at] = clamped;
                    }
                    element
                }
                Type::Cooperative { component } => {
                    let component = *component;
                    let clamped = self.clamp_component(index, ty)?;
                    changed.get_or_insert_with(|| inst.to_vec())[at] = clamped;
                    component
                }
                Type::Int { .. } | Type::Pointer { .. } => return Err(malformed()),
            };
        }
        Ok(changed)
    }

    /// An access to a component of a vector: operand words `vector` and `index`.
    fn component(&mut self, inst: &[u32], vector: usize, index: usize) -> Result<Option<Vec<u32>>> {
        let malformed = || bad_module("the operand is no vector".to_owned());
        let (vector, at) = (*inst.get(vector).ok_or_else(malformed)?, index);
        let index = *inst.get(at).ok_or_else(malformed)?;
        let ty = self.globals.type_of(vector).and_then(|ty| self.globals.get(ty));
        let Some(&Type::Sequence { len, .. }) = ty else { return Err(malformed()) };
        Ok(self.clamp(index, len)?.map(|clamped| {
            let mut changed = inst.to_vec();
            changed[at] = clamped;
            changed
        }))
    }

    /// The replacement for an index of so many elements; `None` if it is in range.
    fn clamp(&mut self, index: u32, len: u64) -> Result<Option<u32>> {
        let last = (len - 1).min(MAX_INDEX);
        let (bits, signed) = self.int_type(index)?;
        // A driver may treat any type as signed.
        let most = last.min((1 << (bits.min(32) - 1)) - 1);
        if self.greatest(index).is_some_and(|greatest| greatest <= most) {
            return Ok(None);
        }
        if let Some(literal) = self.globals.literal(index) {
            return Ok(Some(self.additions.constant(&self.globals, 32, false, literal.min(last))));
        }
        let (index, bits, signed) = self.wide(index, bits, signed);
        let limit = self.additions.constant(&self.globals, bits, signed, last);
        Ok(Some(self.least(index, limit, bits, signed)))
    }

    /// The replacement for an index into the components of a cooperative matrix, whose number only the device
    /// knows.
    fn clamp_component(&mut self, index: u32, matrix: u32) -> Result<u32> {
        let (bits, signed) = self.int_type(index)?;
        let ty = self.additions.int(&self.globals, 32, false);
        let one = self.additions.constant(&self.globals, 32, false, 1);
        let [len, last] = [self.additions.id(), self.additions.id()];
        push(&mut self.functions, Op::CooperativeMatrixLengthKHR, &[ty, len, matrix]);
        push(&mut self.functions, Op::ISub, &[ty, last, len, one]);
        let (index, bits, signed) = self.wide(index, bits, signed);
        let index = if bits == 32 { index } else { self.convert(Op::UConvert, index) };
        let index = if signed && bits == 32 { self.convert(Op::Bitcast, index) } else { index };
        Ok(self.least(index, last, 32, false))
    }

    fn int_type(&self, index: u32) -> Result<(u32, bool)> {
        match self.globals.type_of(index).and_then(|ty| self.globals.get(ty)) {
            Some(&Type::Int { bits, signed }) => Ok((bits, signed)),
            _ => Err(bad_module(format!("the index %{index} is no int"))),
        }
    }

    /// The minimum of two unsigned numbers.
    fn least(&mut self, index: u32, limit: u32, bits: u32, signed: bool) -> u32 {
        let ty = self.additions.int(&self.globals, bits, signed);
        let (clamped, glsl) = (self.additions.id(), self.additions.glsl());
        let operands = [ty, clamped, glsl, GlslOp::UMin as u32, index, limit];
        push(&mut self.functions, Op::ExtInst, &operands);
        clamped
    }

    /// Widens an index to at least 32 bits; returns it with its type.
    fn wide(&mut self, index: u32, bits: u32, signed: bool) -> (u32, u32, bool) {
        match bits {
            32 | 64 => (index, bits, signed),
            _ if signed => (self.convert(Op::SConvert, index), 32, false),
            _ => (self.convert(Op::UConvert, index), 32, false),
        }
    }

    /// Converts an index to an unsigned number of 32 bits.
    fn convert(&mut self, op: Op, index: u32) -> u32 {
        let (ty, converted) = (self.additions.int(&self.globals, 32, false), self.additions.id());
        push(&mut self.functions, op, &[ty, converted, index]);
        converted
    }

    /// An upper bound of an index as an unsigned number, if it is known.
    fn greatest(&self, id: u32) -> Option<u64> {
        self.globals.literal(id).or_else(|| self.known.get(&id).copied())
    }

    /// Records an upper bound of an instruction's result.
    fn note(&mut self, op: Option<Op>, inst: &[u32]) {
        let greatest = match (op, inst) {
            (Some(Op::BitwiseAnd), [_, _, _, a, b]) => {
                self.greatest(*a).into_iter().chain(self.greatest(*b)).min()
            }
            (Some(Op::UMod), [_, _, _, _, b]) => self.globals.literal(*b).and_then(|by| by.checked_sub(1)),
            (Some(Op::ExtInst), [_, _, _, set, instruction, a, b])
                if Some(*set) == self.additions.known_glsl() && *instruction == GlslOp::UMin as u32 =>
            {
                self.greatest(*a).into_iter().chain(self.greatest(*b)).min()
            }
            (Some(Op::Select), [_, _, _, _, a, b]) => {
                self.greatest(*a).zip(self.greatest(*b)).map(|(a, b)| a.max(b))
            }
            _ => None,
        };
        // Ids have one definition, so facts about them stay true.
        if let (Some(greatest), Some(id)) = (greatest.filter(|most| *most <= MAX_INDEX), inst.get(2)) {
            self.known.insert(*id, greatest);
        }
    }

    /// Assembles the module: everything before its functions, with the additions, and the functions.
    fn module(mut self, ahead: &[u32]) -> Vec<u32> {
        let mut lengths: FxHashMap<u32, u32> = FxHashMap::default();
        for (array, len) in &self.globals.specialised {
            lengths.insert(*array, self.additions.constant(&self.globals, 32, false, *len));
        }
        let Guard { additions, functions, .. } = self;
        let front = additions.front();
        let mut words = ahead[..HEADER].to_vec();
        words[3] = additions.bound();
        words.reserve(ahead.len() + front.len() + functions.len());
        let mut has_front = false;
        for (_, inst) in instructions(ahead) {
            let op = opcode(inst);
            if op == Op::MemoryModel as u32 {
                words.extend(additions.import());
            }
            if is_type(op) && !has_front {
                has_front = true;
                words.extend_from_slice(&front);
            }
            match inst {
                [_, ty, ..] if op == Op::TypeInt as u32 && additions.moved(*ty) => {}
                [first, array, element, _] if op == Op::TypeArray as u32 && lengths.contains_key(array) => {
                    words.extend([*first, *array, *element, lengths[array]]);
                }
                _ => words.extend_from_slice(inst),
            }
        }
        words.extend_from_slice(&functions);
        words
    }
}

/// Whether the device bounds accesses to this class, or it has no elements to select.
fn is_robust(class: StorageClass) -> bool {
    matches!(
        class,
        StorageClass::StorageBuffer
            | StorageClass::Uniform
            | StorageClass::UniformConstant
            | StorageClass::Image
    )
}

fn is_type(op: u32) -> bool {
    (Op::TypeVoid as u32..=Op::TypeForwardPointer as u32).contains(&op)
}
