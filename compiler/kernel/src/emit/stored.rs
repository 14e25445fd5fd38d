//! Storage types in memory that the host sees.
//!
//! A `bool` is stored as one byte, and any byte but 0 reads as `True`. A `bf16` is stored as the upper half of an
//! f32's bits. Neither needs arithmetic on narrow ints: loads widen them, and stores narrow them. Every other type is
//! stored as it is.

use rspirv::spirv::{Op, StorageClass, Word};

use super::function::FunctionEmitter;
use super::ints::bools;
use super::module::Operand;
use crate::types::{Scalar, Type};

impl FunctionEmitter<'_> {
    /// The value of a scalar or vector in a buffer.
    pub fn load_stored(&mut self, place: Word, class: StorageClass, ty: &Type) -> Word {
        let stored = self.module.stored(ty);
        let mut operands = vec![Operand::IdRef(place)];
        operands.extend(self.memory_access(class, ty));
        let loaded = self.op(Op::Load, stored, &operands);
        let u32s = ty.with_scalar(Scalar::U32);
        match ty.scalar() {
            Some(Scalar::Bool) => {
                let wide = self.ids(Op::UConvert, &u32s, &[loaded]);
                let zero = self.int(&u32s, 0);
                self.ids(Op::INotEqual, &bools(ty), &[wide, zero])
            }
            Some(Scalar::Bf16) => {
                let wide = self.ids(Op::UConvert, &u32s, &[loaded]);
                self.bf16_of_bits(wide, ty)
            }
            _ => loaded,
        }
    }

    pub fn store_stored(&mut self, place: Word, class: StorageClass, value: Word, ty: &Type) {
        let u32s = ty.with_scalar(Scalar::U32);
        let stored = match ty.scalar() {
            Some(Scalar::Bool) => {
                let (zero, one) = (self.int(&u32s, 0), self.int(&u32s, 1));
                let wide = self.select(&u32s, value, one, zero);
                self.narrowed(wide, ty)
            }
            Some(Scalar::Bf16) => {
                let bits = self.bits_of_bf16(value, ty);
                self.narrowed(bits, ty)
            }
            _ => value,
        };
        let mut operands = vec![Operand::IdRef(place), Operand::IdRef(stored)];
        operands.extend(self.memory_access(class, ty));
        self.effect(Op::Store, &operands);
    }

    /// The same bits as another type. Those of a bf16 are the upper half of its f32's.
    pub fn bitcast(&mut self, value: Word, from: &Type, to: &Type) -> Word {
        let u32s = to.with_scalar(Scalar::U32);
        match (from.scalar(), to.scalar()) {
            (Some(Scalar::Bf16), _) => {
                let wide = self.bits_of_bf16(value, from);
                let bits = to.with_scalar(Scalar::U16);
                let narrow = self.ids(Op::UConvert, &bits, &[wide]);
                if *to == bits { narrow } else { self.ids(Op::Bitcast, to, &[narrow]) }
            }
            (Some(scalar), Some(Scalar::Bf16)) => {
                let bits = from.with_scalar(Scalar::U16);
                let narrow =
                    if scalar == Scalar::U16 { value } else { self.ids(Op::Bitcast, &bits, &[value]) };
                let wide = self.ids(Op::UConvert, &u32s, &[narrow]);
                self.bf16_of_bits(wide, to)
            }
            _ => self.ids(Op::Bitcast, to, &[value]),
        }
    }

    /// From u32s.
    pub fn bf16_of_bits(&mut self, bits: Word, ty: &Type) -> Word {
        let u32s = ty.with_scalar(Scalar::U32);
        let sixteen = self.int(&u32s, 16);
        let bits = self.ids(Op::ShiftLeftLogical, &u32s, &[bits, sixteen]);
        self.ids(Op::Bitcast, ty, &[bits])
    }

    /// As u32s.
    pub fn bits_of_bf16(&mut self, value: Word, ty: &Type) -> Word {
        let u32s = ty.with_scalar(Scalar::U32);
        let bits = self.ids(Op::Bitcast, &u32s, &[value]);
        let sixteen = self.int(&u32s, 16);
        self.ids(Op::ShiftRightLogical, &u32s, &[bits, sixteen])
    }

    fn narrowed(&mut self, wide: Word, ty: &Type) -> Word {
        let stored = self.module.stored(ty);
        self.op(Op::UConvert, stored, &[Operand::IdRef(wide)])
    }
}
