//! Float `//` and `%` with Python's sign, C's remainder, and `copysign`.

use rspirv::spirv::{GlslStd450Op as GlslOp, Op, Word};

use super::function::FunctionEmitter;
use super::ints::bools;
use crate::constant::Constant;
use crate::ir::NodeId;
use crate::types::{Scalar, Type};

impl FunctionEmitter<'_> {
    /// The remainder of a truncating division, moved to the divisor's side of zero; 0 by zero.
    pub fn float_floor_mod(&mut self, a: Word, b: Word, ty: &Type) -> Word {
        let zero = self.float(ty, 0.0);
        let is_zero = self.ids(Op::FOrdEqual, &bools(ty), &[b, zero]);
        let remainder = self.signed_remainder(a, b, ty);
        self.select(ty, is_zero, zero, remainder)
    }

    /// `(a - rest) / b` is whole but for rounding, with the rest of a truncating division; one less where
    /// the rest is on the other side of zero than the divisor. 0 by zero.
    pub fn float_floor_div(&mut self, a: Word, b: Word, ty: &Type) -> Word {
        let zero = self.float(ty, 0.0);
        let is_zero = self.ids(Op::FOrdEqual, &bools(ty), &[b, zero]);
        let remainder = self.ids(Op::FRem, ty, &[a, b]);
        let whole = self.ids(Op::FSub, ty, &[a, remainder]);
        let quotient = self.ids(Op::FDiv, ty, &[whole, b]);
        let quotient = self.glsl(GlslOp::RoundEven, ty, &[quotient]);
        let one = self.float(ty, 1.0);
        let less = self.ids(Op::FSub, ty, &[quotient, one]);
        let bools = bools(ty);
        let has_rest = self.ids(Op::FUnordNotEqual, &bools, &[remainder, zero]);
        let is_below = self.ids(Op::FOrdLessThan, &bools, &[remainder, zero]);
        let wants_below = self.ids(Op::FOrdLessThan, &bools, &[b, zero]);
        let differ = self.ids(Op::LogicalNotEqual, &bools, &[is_below, wants_below]);
        let adjusts = self.ids(Op::LogicalAnd, &bools, &[has_rest, differ]);
        let quotient = self.select(ty, adjusts, less, quotient);
        // No quotient is a zero with the sign that a true division has.
        let has_quotient = self.ids(Op::FUnordNotEqual, &bools, &[quotient, zero]);
        let nothing = self.zero_quotient([a, b], ty);
        let quotient = self.select(ty, has_quotient, quotient, nothing);
        self.select(ty, is_zero, zero, quotient)
    }

    /// The zero with the sign of a quotient. Compilers of devices take products with 0.0, and choices of zeros, for
    /// 0.0, but not as a float made of bits.
    fn zero_quotient(&mut self, [a, b]: [Word; 2], ty: &Type) -> Word {
        // Every width has its sign in an f32, too.
        let (single, words) = (ty.with_scalar(Scalar::F32), ty.with_scalar(Scalar::U32));
        let [a, b] = [a, b].map(|side| {
            let side = if *ty == single { side } else { self.convert(side, ty, &single) };
            self.ids(Op::Bitcast, &words, &[side])
        });
        let differ = self.ids(Op::BitwiseXor, &words, &[a, b]);
        let sign = self.int(&words, 1 << 31);
        let sign = self.ids(Op::BitwiseAnd, &words, &[differ, sign]);
        let zero = self.ids(Op::Bitcast, &single, &[sign]);
        if *ty == single { zero } else { self.convert(zero, &single, ty) }
    }

    /// By the bits of both, as drivers that do not keep signs of zeros may choose either zero.
    pub fn copy_sign(&mut self, magnitude: NodeId, sign: NodeId, ty: &Type) -> Word {
        let scalar = ty.scalar().unwrap_or(Scalar::F32).as_unsigned();
        let bits = ty.with_scalar(scalar);
        let top = 1i128 << (scalar.bits() - 1);
        let mut masked = |float, mask| {
            let float = self.value(float);
            let taken = self.bitcast(float, ty, &bits);
            let mask = self.int(&bits, mask);
            self.ids(Op::BitwiseAnd, &bits, &[taken, mask])
        };
        let (magnitude, sign) = (masked(magnitude, top - 1), masked(sign, top));
        let joined = self.ids(Op::BitwiseOr, &bits, &[magnitude, sign]);
        self.bitcast(joined, &bits, ty)
    }

    /// The rest of a truncating division; NaN by zero, for which compilers of devices have shortcuts that give
    /// the dividend where they see a constant.
    pub fn float_trunc_rem(&mut self, a: Word, b: Word, divisor: Option<Constant>, ty: &Type) -> Word {
        let remainder = self.ids(Op::FRem, ty, &[a, b]);
        if divisor.and_then(Constant::as_float).is_some_and(|divisor| divisor != 0.0) {
            return remainder;
        }
        let zero = self.float(ty, 0.0);
        let is_zero = self.ids(Op::FOrdEqual, &bools(ty), &[b, zero]);
        let nan = self.float(ty, f64::NAN);
        self.select(ty, is_zero, nan, remainder)
    }

    fn signed_remainder(&mut self, a: Word, b: Word, ty: &Type) -> Word {
        let zero = self.float(ty, 0.0);
        let bools = bools(ty);
        let remainder = self.ids(Op::FRem, ty, &[a, b]);
        let has_rest = self.ids(Op::FUnordNotEqual, &bools, &[remainder, zero]);
        let is_below = self.ids(Op::FOrdLessThan, &bools, &[remainder, zero]);
        let wants_below = self.ids(Op::FOrdLessThan, &bools, &[b, zero]);
        let differ = self.ids(Op::LogicalNotEqual, &bools, &[is_below, wants_below]);
        let turned = self.ids(Op::FAdd, ty, &[remainder, b]);
        let rest = self.select(ty, differ, turned, remainder);
        // No remainder is a zero with the divisor's sign.
        let minus_zero = self.float(ty, -0.0);
        let nothing = self.select(ty, wants_below, minus_zero, zero);
        self.select(ty, has_rest, rest, nothing)
    }
}
