//! Numbers stored as ints in shared memory, where atomic operations need ints.
//!
//! | Number | In memory |
//! |---|---|
//! | 32 and 64 bits | its bits |
//! | `f16`, `bf16` | the bits of the number as an f32 |
//! | narrow ints | extended to u32 |
//! | bools | 0 or 1 |
//!
//! A matrix is stored as an array of its columns.

use rspirv::spirv::{Op, Word};

use super::function::FunctionEmitter;
use super::module::Operand;
use super::variables::bits_of;
use crate::ir::{Home, LocalId};
use crate::types::{Scalar, Type};

impl FunctionEmitter<'_> {
    /// Whether a local is held as bits.
    pub fn holds_bits(&self, local: LocalId) -> bool {
        match self.function.local(local).home {
            Home::Workgroup(shared) => self.interface.shared_bits.contains(&shared),
            Home::Own | Home::Caller => false,
        }
    }

    /// The value at a place of a local.
    pub fn load_local(&mut self, local: LocalId, place: Word, ty: &Type) -> Word {
        let holds_bits = self.holds_bits(local);
        let bits = if holds_bits { bits_of(ty) } else { ty.clone() };
        let mut operands = vec![Operand::IdRef(place)];
        operands.extend(self.memory_access(self.storage_class(local), &bits));
        let held = self.module.ty(&bits);
        let loaded = self.op(Op::Load, held, &operands);
        if !holds_bits {
            return loaded;
        }
        self.value_of_bits(loaded, &bits, ty)
    }

    pub fn store_local(&mut self, local: LocalId, place: Word, value: Word, ty: &Type) {
        let value = if self.holds_bits(local) { self.bits_of_value(value, ty, &bits_of(ty)) } else { value };
        let mut operands = vec![Operand::IdRef(place), Operand::IdRef(value)];
        operands.extend(self.memory_access(self.storage_class(local), ty));
        self.effect(Op::Store, &operands);
    }

    pub fn bits_of_value(&mut self, value: Word, ty: &Type, bits: &Type) -> Word {
        self.each_number(value, (ty, bits), |emitter, value, ty, bits| match ty.scalar() {
            Some(Scalar::F16) => {
                let wide = emitter.convert(value, ty, &ty.with_scalar(Scalar::F32));
                emitter.ids(Op::Bitcast, bits, &[wide])
            }
            Some(scalar) if scalar.is_float() => emitter.ids(Op::Bitcast, bits, &[value]),
            _ => emitter.convert(value, ty, bits),
        })
    }

    pub fn value_of_bits(&mut self, value: Word, bits: &Type, ty: &Type) -> Word {
        self.each_number(value, (bits, ty), |emitter, value, bits, ty| match ty.scalar() {
            Some(Scalar::F16) => {
                let floats = ty.with_scalar(Scalar::F32);
                let wide = emitter.ids(Op::Bitcast, &floats, &[value]);
                emitter.convert(wide, &floats, ty)
            }
            Some(scalar) if scalar.is_float() => emitter.ids(Op::Bitcast, ty, &[value]),
            _ => emitter.convert(value, bits, ty),
        })
    }

    /// Arrays and structs go part by part.
    fn each_number(
        &mut self,
        value: Word,
        (from, to): (&Type, &Type),
        convert: fn(&mut Self, Word, &Type, &Type) -> Word,
    ) -> Word {
        if from == to {
            return value;
        }
        let n_parts = match from {
            Type::Array(_) | Type::Struct(_) | Type::Matrix { .. } => from.n_parts().unwrap_or(0),
            _ => return convert(self, value, from, to),
        };
        let mut parts = Vec::with_capacity(n_parts as usize);
        for at in 0..n_parts {
            let [from, to] = [from, to].map(|ty| ty.part(at).expect("both have as many parts"));
            let part = self.extract(value, at, &from);
            parts.push(self.each_number(part, (&from, &to), convert));
        }
        self.construct(&parts, to)
    }
}
