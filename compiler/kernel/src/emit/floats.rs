//! Float `//` and `%`, with Python's sign.

use rspirv::spirv::{GlslStd450Op as GlslOp, Op, Word};

use super::function::FunctionEmitter;
use super::ints::bools;
use crate::types::Type;

impl FunctionEmitter<'_> {
    /// The remainder of a truncating division, moved to the divisor's side of zero; 0 by zero.
    pub fn float_floor_mod(&mut self, a: Word, b: Word, ty: &Type) -> Word {
        let zero = self.float(ty, 0.0);
        let is_zero = self.ids(Op::FOrdEqual, &bools(ty), &[b, zero]);
        let remainder = self.signed_remainder(a, b, ty);
        self.select(ty, is_zero, zero, remainder)
    }

    /// `(a - a % b) / b` is whole but for rounding; 0 by zero.
    pub fn float_floor_div(&mut self, a: Word, b: Word, ty: &Type) -> Word {
        let zero = self.float(ty, 0.0);
        let is_zero = self.ids(Op::FOrdEqual, &bools(ty), &[b, zero]);
        let remainder = self.signed_remainder(a, b, ty);
        let whole = self.ids(Op::FSub, ty, &[a, remainder]);
        let quotient = self.ids(Op::FDiv, ty, &[whole, b]);
        let quotient = self.glsl(GlslOp::RoundEven, ty, &[quotient]);
        self.select(ty, is_zero, zero, quotient)
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
