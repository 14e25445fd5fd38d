//! Laundered constants, which no optimizer can know (`NodeKind::Opaque`).
//!
//! A function computes each once, at its start, from the number of workgroups along x, which is below 2^31 on every
//! device. A zero is the top bit of that number, shifted into place; another float is the constant plus such a zero.
//! Which constants are opaque is never decided here.

use rspirv::spirv::{Op, Word};

use super::function::FunctionEmitter;
use crate::constant::Constant;
use crate::template::Input;
use crate::types::{Kind, Scalar, Type};

impl FunctionEmitter<'_> {
    pub fn opaque(&mut self, constant: Constant) -> Word {
        if let Some(known) = self.opaque.get(&constant) {
            return *known;
        }
        let computed = match constant.scalar().kind() {
            Kind::Bool => self.opaque_bool(constant),
            Kind::Float if constant.as_float() == Some(0.0) => self.opaque_float_zero(constant),
            Kind::Float => self.opaque_float(constant),
            Kind::Signed | Kind::Unsigned => self.opaque_unsigned_zero(constant.scalar()),
        };
        self.opaque.insert(constant, computed);
        computed
    }

    fn opaque_bool(&mut self, constant: Constant) -> Word {
        let is_true = constant == Constant::bool(true);
        let op = if is_true { Op::ULessThan } else { Op::UGreaterThanEqual };
        self.in_prologue(|emitter| {
            let groups = emitter.groups_along_x();
            let bound = emitter.int(&Type::U32, 1 << 31);
            emitter.ids(op, &Type::BOOL, &[groups, bound])
        })
    }

    fn opaque_float(&mut self, constant: Constant) -> Word {
        let scalar = constant.scalar();
        let zero = self.opaque(Constant::float(scalar, 0.0));
        self.in_prologue(|emitter| {
            let word = emitter.module.constant(constant);
            emitter.ids(Op::FAdd, &scalar.into(), &[word, zero])
        })
    }

    fn opaque_float_zero(&mut self, zero: Constant) -> Word {
        let bits = self.opaque(Constant::zero(Scalar::U32));
        self.in_prologue(|emitter| {
            let is_negative = zero.as_float().is_some_and(f64::is_sign_negative);
            let sign = emitter.int(&Type::U32, if is_negative { 1 << 31 } else { 0 });
            let bits = emitter.ids(Op::BitwiseOr, &Type::U32, &[bits, sign]);
            let float = emitter.ids(Op::Bitcast, &Type::F32, &[bits]);
            match zero.scalar() {
                Scalar::F32 | Scalar::Bf16 => float,
                other => emitter.ids(Op::FConvert, &other.into(), &[float]),
            }
        })
    }

    fn opaque_unsigned_zero(&mut self, scalar: Scalar) -> Word {
        if scalar != Scalar::U32 {
            let zero = self.opaque(Constant::zero(Scalar::U32));
            return self.in_prologue(|emitter| emitter.ids(Op::UConvert, &scalar.into(), &[zero]));
        }
        self.in_prologue(|emitter| {
            let groups = emitter.groups_along_x();
            let shift = emitter.int(&Type::U32, 31);
            emitter.ids(Op::ShiftRightLogical, &Type::U32, &[groups, shift])
        })
    }

    fn groups_along_x(&mut self) -> Word {
        let groups = self.load_input(Input::NumWorkgroups);
        self.extract(groups, 0, &Type::U32)
    }
}
