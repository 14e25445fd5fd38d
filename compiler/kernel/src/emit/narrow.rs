//! Atomic operations on numbers of 8 and 16 bits in array parameters, and on bools, which take 8 there.
//!
//! Atomic instructions change at least 32 bits. So a compare-and-exchange loop replaces the element in its word.
//! Legalisation accesses such arrays by address. The word of the last element may extend past the array, but not past its
//! memory, which devices round up to whole words.

use rspirv::spirv::{GlslStd450Op as GlslOp, Op, StorageClass, Word};

use super::atomics::Element;
use super::function::FunctionEmitter;
use super::module::Operand;
use crate::ir::AtomicOp;
use crate::types::{Scalar, Type};

/// An element within a word.
struct Within {
    /// The word, as a u32.
    word: Element,
    /// Bits below the element.
    shift: Word,
    /// The element's bits, shifted down.
    mask: Word,
    ty: Type,
}

impl FunctionEmitter<'_> {
    /// The value before; 0 for a store.
    pub fn narrow_atomic(
        &mut self,
        op: AtomicOp,
        (pointer, ty): (Word, &Type),
        value: Option<Word>,
        expected: Option<Word>,
    ) -> Word {
        let within = self.word_around(pointer, ty);
        if op == AtomicOp::Load {
            let word = self.atomic_op(Op::AtomicLoad, &within.word, None);
            let bits = self.bits_within(word, &within);
            return self.value_of_narrow(bits, &within.ty);
        }
        let now = self.exchange_until(&Type::U32, &within.word, |emitter, word| {
            let bits = emitter.bits_within(word, &within);
            let now = emitter.value_of_narrow(bits, &within.ty);
            let new = emitter.new_bits(op, (bits, now), value, expected, &within);
            (now, emitter.word_with(word, new, &within))
        });
        if op == AtomicOp::Store { 0 } else { now }
    }

    fn word_around(&mut self, pointer: Word, ty: &Type) -> Within {
        let (u32s, u64s, ty) = (Type::U32, Type::from(Scalar::U64), ty.clone());
        let address = self.ids(Op::ConvertPtrToU, &u64s, &[pointer]);
        let low = self.ids(Op::UConvert, &u32s, &[address]);
        let (three, within_word) = (self.int(&u32s, 3), self.int(&u64s, i128::from(!3u64)));
        let byte = self.ids(Op::BitwiseAnd, &u32s, &[low, three]);
        let shift = self.ids(Op::ShiftLeftLogical, &u32s, &[byte, three]);
        let start = self.ids(Op::BitwiseAnd, &u64s, &[address, within_word]);
        let pointee = self.module.ty(&u32s);
        let pointer = self.module.pointer(StorageClass::PhysicalStorageBuffer, pointee);
        let pointer = self.op(Op::ConvertUToPtr, pointer, &[Operand::IdRef(start)]);
        let n_bits = ty.scalar().map_or(8, |scalar| scalar.in_buffers().bits());
        let mask = self.int(&u32s, (1 << n_bits) - 1);
        Within { word: self.device_word(pointer), shift, mask, ty }
    }

    /// The element's bits in a word.
    fn bits_within(&mut self, word: Word, within: &Within) -> Word {
        let low = self.ids(Op::ShiftRightLogical, &Type::U32, &[word, within.shift]);
        self.ids(Op::BitwiseAnd, &Type::U32, &[low, within.mask])
    }

    /// The word with other bits for the element.
    fn word_with(&mut self, word: Word, bits: Word, within: &Within) -> Word {
        let u32s = Type::U32;
        let place = self.ids(Op::ShiftLeftLogical, &u32s, &[within.mask, within.shift]);
        let others = self.ids(Op::Not, &u32s, &[place]);
        let others = self.ids(Op::BitwiseAnd, &u32s, &[word, others]);
        let bits = self.ids(Op::ShiftLeftLogical, &u32s, &[bits, within.shift]);
        self.ids(Op::BitwiseOr, &u32s, &[others, bits])
    }

    fn new_bits(
        &mut self,
        op: AtomicOp,
        (bits, now): (Word, Word),
        value: Option<Word>,
        expected: Option<Word>,
        within: &Within,
    ) -> Word {
        let value = value.expect("a verified operation has its value");
        match op {
            AtomicOp::Store | AtomicOp::Exchange => self.narrow_bits(value, within),
            AtomicOp::CompareExchange => {
                let expected = expected.expect("a verified exchange has what it expects");
                let (expected, new) = (self.narrow_bits(expected, within), self.narrow_bits(value, within));
                let is_expected = self.ids(Op::IEqual, &Type::BOOL, &[bits, expected]);
                self.select(&Type::U32, is_expected, new, bits)
            }
            _ => {
                let new = self.combined(op, now, value, &within.ty);
                self.narrow_bits(new, within)
            }
        }
    }

    fn value_of_narrow(&mut self, bits: Word, ty: &Type) -> Word {
        match ty.scalar() {
            Some(Scalar::F16) => {
                let pair = self.glsl(GlslOp::UnpackHalf2x16, &Type::Vector(2, Scalar::F32), &[bits]);
                let wide = self.extract(pair, 0, &Type::F32);
                self.convert(wide, &Type::F32, ty)
            }
            Some(Scalar::Bf16) => self.bf16_of_bits(bits, ty),
            Some(Scalar::Bool) => {
                let zero = self.int(&Type::U32, 0);
                self.ids(Op::INotEqual, ty, &[bits, zero])
            }
            _ => self.convert(bits, &Type::U32, ty),
        }
    }

    fn narrow_bits(&mut self, value: Word, within: &Within) -> Word {
        let ty = &within.ty;
        match ty.scalar() {
            Some(Scalar::F16) => {
                let wide = self.convert(value, ty, &Type::F32);
                let zero = self.float(&Type::F32, 0.0);
                let pair = self.construct(&[wide, zero], &Type::Vector(2, Scalar::F32));
                self.glsl(GlslOp::PackHalf2x16, &Type::U32, &[pair])
            }
            Some(Scalar::Bf16) => self.bits_of_bf16(value, ty),
            _ => {
                // A negative number reaches above the element's bits.
                let wide = self.convert(value, ty, &Type::U32);
                self.ids(Op::BitwiseAnd, &Type::U32, &[wide, within.mask])
            }
        }
    }
}
