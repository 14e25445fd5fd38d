//! Conversions between scalar types, component by component: ints wrap, floats saturate, NaN is 0.
//!
//! Conversions of narrow floats go through f32, which has all of their values. An f64 or a wide int is first rounded to
//! odd, so that the result is rounded to nearest only once. A float becomes a narrow int through 32 bits.

use rspirv::spirv::{GlslStd450Op as GlslOp, Op, Word};

use super::function::FunctionEmitter;
use super::ints::{bools, is_narrow};
use crate::constant::Constant;
use crate::ir::{Conversions, RoundBy, WidenBy};
use crate::types::{Kind, Scalar, Type};

impl FunctionEmitter<'_> {
    pub fn convert(&mut self, value: Word, from: &Type, to: &Type) -> Word {
        let (Some(source), Some(target)) = (from.scalar(), to.scalar()) else { return value };
        let f32s = from.with_scalar(Scalar::F32);
        match (source, target) {
            // It is one already.
            (Scalar::Bf16, _) => {
                return if target == Scalar::F32 { value } else { self.convert(value, &f32s, to) };
            }
            (Scalar::Bool, Scalar::Bf16) => {}
            (_, Scalar::Bf16) => {
                let wide = self.widened_to_f32(value, from, target);
                return self.round_to_bf16(wide, to);
            }
            (Scalar::F16, _) if target.is_int() || target == Scalar::F64 => {
                let wide = self.ids(Op::FConvert, &f32s, &[value]);
                return self.convert(wide, &f32s, to);
            }
            (_, Scalar::F16) if source != Scalar::Bool => {
                let wide = self.widened_to_f32(value, from, target);
                return self.round_to_f16(wide, to);
            }
            _ => {}
        }
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

    /// As f32 on the way to a narrower float. An int that an f32 does not hold is infinite as an f16, however rounded.
    fn widened_to_f32(&mut self, value: Word, from: &Type, target: Scalar) -> Word {
        let f32s = from.with_scalar(Scalar::F32);
        match from.scalar() {
            Some(Scalar::F32) => value,
            Some(Scalar::F64) => {
                let nearest = self.ids(Op::FConvert, &f32s, &[value]);
                let back = self.ids(Op::FConvert, from, &[nearest]);
                // False for NaN.
                let is_less = self.ids(Op::FOrdLessThan, &bools(from), &[back, value]);
                let is_more = self.ids(Op::FOrdGreaterThan, &bools(from), &[back, value]);
                let zero = self.float(from, 0.0);
                let is_negative = self.ids(Op::FOrdLessThan, &bools(from), &[value, zero]);
                self.moved_to_odd(nearest, &f32s, (is_less, is_more), is_negative)
            }
            Some(source) if source.is_int() && source.bits() >= 32 && target == Scalar::Bf16 => {
                self.int_to_odd(value, source, from)
            }
            _ => self.convert(value, from, &f32s),
        }
    }

    /// An int as an f32 that is rounded to odd.
    fn int_to_odd(&mut self, value: Word, source: Scalar, from: &Type) -> Word {
        let (f32s, bools) = (from.with_scalar(Scalar::F32), bools(from));
        let [to_float, to_int, less, greater] = match source.is_signed() {
            true => [Op::ConvertSToF, Op::ConvertFToS, Op::SLessThan, Op::SGreaterThan],
            false => [Op::ConvertUToF, Op::ConvertFToU, Op::ULessThan, Op::UGreaterThan],
        };
        let nearest = self.ids(to_float, &f32s, &[value]);
        // There is no next float above the largest int.
        let max = source.int_range().map_or(0, |(_, max)| max);
        let limit = self.float(&f32s, (max + 1) as f64);
        let is_past = self.ids(Op::FOrdGreaterThanEqual, &bools, &[nearest, limit]);
        let none = self.float(&f32s, 0.0);
        let inside = self.select(&f32s, is_past, none, nearest);
        let back = self.ids(to_int, from, &[inside]);
        let is_within = self.ids(Op::LogicalNot, &bools, &[is_past]);
        let is_less = self.ids(less, &bools, &[back, value]);
        let is_less = self.ids(Op::LogicalAnd, &bools, &[is_less, is_within]);
        let is_more = self.ids(greater, &bools, &[back, value]);
        let is_more = self.ids(Op::LogicalOr, &bools, &[is_more, is_past]);
        let zero = self.int(from, 0);
        let is_negative = self.ids(less, &bools, &[value, zero]);
        self.moved_to_odd(nearest, &f32s, (is_less, is_more), is_negative)
    }

    /// Rounding to odd: the neighbouring f32 of a number whose last bit is 1, from the nearest f32. A later rounding
    /// gives the same result as from the number itself (Boldo and Melquiond, "Emulation of FMA and correctly rounded
    /// sums: proved algorithms using rounding to odd", 2008).
    fn moved_to_odd(
        &mut self,
        nearest: Word,
        f32s: &Type,
        (is_less, is_more): (Word, Word),
        is_negative: Word,
    ) -> Word {
        let (u32s, bools) = (f32s.with_scalar(Scalar::U32), bools(f32s));
        let bits = self.ids(Op::Bitcast, &u32s, &[nearest]);
        let (zero, one) = (self.int(&u32s, 0), self.int(&u32s, 1));
        let last = self.ids(Op::BitwiseAnd, &u32s, &[bits, one]);
        let is_even = self.ids(Op::IEqual, &bools, &[last, zero]);
        let is_inexact = self.ids(Op::LogicalOr, &bools, &[is_less, is_more]);
        let is_moved = self.ids(Op::LogicalAnd, &bools, &[is_inexact, is_even]);
        let grew = self.select(&bools, is_negative, is_less, is_more);
        let above = self.ids(Op::IAdd, &u32s, &[bits, one]);
        let below = self.ids(Op::ISub, &u32s, &[bits, one]);
        let odd = self.select(&u32s, grew, below, above);
        let bits = self.select(&u32s, is_moved, odd, bits);
        self.ids(Op::Bitcast, f32s, &[bits])
    }

    fn round_to_f16(&mut self, value: Word, to: &Type) -> Word {
        let rounded = self.ids(Op::FConvert, to, &[value]);
        if self.kernel.conversions.f16 == RoundBy::Instruction {
            return rounded;
        }
        let u16s = to.with_scalar(Scalar::U16);
        let zero = self.opaque(Constant::zero(Scalar::U16));
        let zero = match to.n_components() {
            1 => zero,
            n => self.construct(&vec![zero; n.into()], &u16s),
        };
        let bits = self.ids(Op::Bitcast, &u16s, &[rounded]);
        let bits = self.ids(Op::BitwiseOr, &u16s, &[bits, zero]);
        self.ids(Op::Bitcast, to, &[bits])
    }

    /// An f32 with the lower half of its bits rounded away, to nearest even. A NaN stays one.
    fn round_to_bf16(&mut self, value: Word, to: &Type) -> Word {
        let u32s = to.with_scalar(Scalar::U32);
        let bools = bools(to);
        let bits = self.ids(Op::Bitcast, &u32s, &[value]);
        let mut int = |value| self.int(&u32s, value);
        let (sixteen, one, half, upper) = (int(16), int(1), int(0x7fff), int(0xffff_0000));
        let (size_mask, infinity, quiet) = (int(0x7fff_ffff), int(0x7f80_0000), int(0x0040_0000));
        let last = self.ids(Op::ShiftRightLogical, &u32s, &[bits, sixteen]);
        let last = self.ids(Op::BitwiseAnd, &u32s, &[last, one]);
        let half = self.ids(Op::IAdd, &u32s, &[half, last]);
        let rounded = self.ids(Op::IAdd, &u32s, &[bits, half]);
        let size = self.ids(Op::BitwiseAnd, &u32s, &[bits, size_mask]);
        let is_nan = self.ids(Op::UGreaterThan, &bools, &[size, infinity]);
        let nan = self.ids(Op::BitwiseOr, &u32s, &[bits, quiet]);
        let chosen = self.select(&u32s, is_nan, nan, rounded);
        let kept = self.ids(Op::BitwiseAnd, &u32s, &[chosen, upper]);
        self.ids(Op::Bitcast, to, &[kept])
    }

    fn int_to_int(
        &mut self,
        value: Word,
        (source, from): (Scalar, &Type),
        (target, to): (Scalar, &Type),
    ) -> Word {
        if source.bits() == target.bits() {
            return self.ids(Op::Bitcast, to, &[value]);
        }
        let Conversions { narrow_ints, i32, .. } = self.kernel.conversions;
        if i32 == WidenBy::Arithmetic && source == Scalar::I32 && target.bits() == 64 {
            return self.sign_extended(value, to);
        }
        if narrow_ints == WidenBy::Arithmetic && is_narrow(from) && target.bits() > source.bits() {
            return match source.is_signed() {
                true => self.widened_by_arithmetic(value, from, to),
                false => self.widened_by_mask(value, from, to),
            };
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

    /// An i32 in 64 bits by arithmetic.
    fn sign_extended(&mut self, value: Word, to: &Type) -> Word {
        let wide = to.with_scalar(Scalar::U64);
        let sign = self.int(&wide, 1 << 31);
        let bits = self.ids(Op::UConvert, &wide, &[value]);
        let flipped = self.ids(Op::BitwiseXor, &wide, &[bits, sign]);
        let extended = self.ids(Op::ISub, &wide, &[flipped, sign]);
        if *to == wide { extended } else { self.ids(Op::Bitcast, to, &[extended]) }
    }

    /// A narrow signed int, with twice its sign bit subtracted from its bits.
    fn widened_by_arithmetic(&mut self, value: Word, from: &Type, to: &Type) -> Word {
        let (i32s, u32s) = (to.with_scalar(Scalar::I32), to.with_scalar(Scalar::U32));
        let source = from.scalar().unwrap_or(Scalar::I8);
        let unsigned = from.with_scalar(source.as_unsigned());
        let bits = self.ids(Op::Bitcast, &unsigned, &[value]);
        let bits = self.ids(Op::UConvert, &u32s, &[bits]);
        let (mask, one) = (self.int(&u32s, 1 << (source.bits() - 1)), self.int(&u32s, 1));
        let sign = self.ids(Op::BitwiseAnd, &u32s, &[bits, mask]);
        let weight = self.ids(Op::ShiftLeftLogical, &u32s, &[sign, one]);
        let wide = self.ids(Op::ISub, &u32s, &[bits, weight]);
        let wide = self.ids(Op::Bitcast, &i32s, &[wide]);
        if *to == i32s { wide } else { self.convert(wide, &i32s, to) }
    }

    /// A narrow unsigned int, with the bits above it masked off.
    fn widened_by_mask(&mut self, value: Word, from: &Type, to: &Type) -> Word {
        let u32s = to.with_scalar(Scalar::U32);
        let source = from.scalar().unwrap_or(Scalar::U8);
        let wide = self.ids(Op::UConvert, &u32s, &[value]);
        let mask = self.int(&u32s, (1 << source.bits()) - 1);
        let wide = self.ids(Op::BitwiseAnd, &u32s, &[wide, mask]);
        if *to == u32s { wide } else { self.convert(wide, &u32s, to) }
    }

    /// The instruction is undefined outside the int's range, so its operand is clamped. Floats at or above the upper
    /// end become the largest int.
    fn float_to_int(&mut self, value: Word, from: &Type, to: &Type) -> Word {
        let target = to.scalar().unwrap_or(Scalar::I32);
        if target.bits() < 32 {
            return self.float_to_narrow_int(value, from, to);
        }
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

    /// Every limit is a float here, so clamping is all there is to it.
    fn float_to_narrow_int(&mut self, value: Word, from: &Type, to: &Type) -> Word {
        let target = to.scalar().unwrap_or(Scalar::I8);
        let (min, max) = target.int_range().unwrap_or((0, 0));
        let wide = if target.is_signed() { Scalar::I32 } else { Scalar::U32 };
        let zero = self.float(from, 0.0);
        let is_nan = self.ids(Op::IsNan, &bools(from), &[value]);
        let number = self.select(from, is_nan, zero, value);
        let (low, high) = (self.float(from, min as f64), self.float(from, max as f64));
        let inside = self.glsl(GlslOp::FClamp, from, &[number, low, high]);
        let op = if target.is_signed() { Op::ConvertFToS } else { Op::ConvertFToU };
        let wide_ty = to.with_scalar(wide);
        let converted = self.ids(op, &wide_ty, &[inside]);
        self.convert(converted, &wide_ty, to)
    }
}

/// The largest float of a type that is less than `limit`.
fn below(limit: f64, scalar: Scalar) -> f64 {
    match scalar {
        Scalar::F64 => limit.next_down(),
        _ => f64::from((limit as f32).next_down()),
    }
}
