//! Conversions between scalar types, component by component: ints wrap, floats saturate, NaN is 0.

use rspirv::spirv::{GlslStd450Op as GlslOp, Op, Word};

use super::function::FunctionEmitter;
use super::ints::bools;
use crate::types::{Kind, Scalar, Type};

impl FunctionEmitter<'_> {
    pub fn convert(&mut self, value: Word, from: &Type, to: &Type) -> Word {
        let (Some(source), Some(target)) = (from.scalar(), to.scalar()) else { return value };
        match (source.kind(), target.kind()) {
            (Kind::Bool, Kind::Float) => {
                let (zero, one) = (self.float(to, 0.0), self.float(to, 1.0));
                self.select(to, value, one, zero)
            }
            (Kind::Bool, _) => {
                let (zero, one) = (self.int(to, 0), self.int(to, 1));
                self.select(to, value, one, zero)
            }
            (Kind::Float, Kind::Bool) => {
                let zero = self.float(from, 0.0);
                self.ids(Op::FUnordNotEqual, to, &[value, zero])
            }
            (_, Kind::Bool) => {
                let zero = self.int(from, 0);
                self.ids(Op::INotEqual, to, &[value, zero])
            }
            (Kind::Float, Kind::Float) => self.ids(Op::FConvert, to, &[value]),
            (Kind::Signed, Kind::Float) => self.ids(Op::ConvertSToF, to, &[value]),
            (Kind::Unsigned, Kind::Float) => self.ids(Op::ConvertUToF, to, &[value]),
            (Kind::Float, _) => self.float_to_int(value, from, to),
            _ => self.int_to_int(value, (source, from), (target, to)),
        }
    }

    fn int_to_int(
        &mut self,
        value: Word,
        (source, _): (Scalar, &Type),
        (target, to): (Scalar, &Type),
    ) -> Word {
        if source.bits() == target.bits() {
            return self.ids(Op::Bitcast, to, &[value]);
        }
        // The width first, by the source's sign; the sign after it.
        if source.is_signed() {
            let signed = match target.bits() {
                64 => Scalar::I64,
                16 => Scalar::I16,
                8 => Scalar::I8,
                _ => Scalar::I32,
            };
            let wide = self.ids(Op::SConvert, &to.with_scalar(signed), &[value]);
            if signed == target { wide } else { self.ids(Op::Bitcast, to, &[wide]) }
        } else {
            let unsigned = target.as_unsigned();
            let wide = self.ids(Op::UConvert, &to.with_scalar(unsigned), &[value]);
            if unsigned == target { wide } else { self.ids(Op::Bitcast, to, &[wide]) }
        }
    }

    /// The instruction is undefined outside the int's range, so its operand is brought inside, and
    /// what was at or past the upper end becomes the largest int.
    fn float_to_int(&mut self, value: Word, from: &Type, to: &Type) -> Word {
        let target = to.scalar().unwrap_or(Scalar::I32);
        let source = from.scalar().unwrap_or(Scalar::F32);
        let (min, max) = target.int_range().unwrap_or((0, 0));
        // Both are powers of two, or zero: exact in every float type.
        let (low, limit) = (min as f64, max as f64 + if max as f64 == (max + 1) as f64 { 0.0 } else { 1.0 });
        let below = below(limit, source);
        let zero = self.float(from, 0.0);
        let is_nan = self.ids(Op::IsNan, &bools(from), &[value]);
        let number = self.select(from, is_nan, zero, value);
        let (low, below, limit) = (self.float(from, low), self.float(from, below), self.float(from, limit));
        let inside = self.glsl(GlslOp::FClamp, from, &[number, low, below]);
        let op = if target.is_signed() { Op::ConvertFToS } else { Op::ConvertFToU };
        let converted = self.ids(op, to, &[inside]);
        let is_past = self.ids(Op::FOrdGreaterThanEqual, &bools(from), &[number, limit]);
        let largest = self.int(to, max);
        self.select(to, is_past, largest, converted)
    }
}

/// The largest float of a type that is less than `limit`.
fn below(limit: f64, scalar: Scalar) -> f64 {
    match scalar {
        Scalar::F64 => limit.next_down(),
        _ => f64::from((limit as f32).next_down()),
    }
}
