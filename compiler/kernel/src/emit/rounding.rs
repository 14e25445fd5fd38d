//! Whole numbers beside a float, and the rest of a truncating division.
//!
//! The driver of one device (`Faults::misrounds`) takes every f64 beyond 2^24 for whole and half numbers towards zero, in
//! remainders too. What is next below and above, `Floor` and `Ceil`, it has right, and the others are made of those there.

use rspirv::spirv::{GlslStd450Op as GlslOp, Op, Word};

use super::function::FunctionEmitter;
use super::ints::bools;
use crate::types::{Scalar, Type};

impl FunctionEmitter<'_> {
    fn is_misrounded(&self, ty: &Type) -> bool {
        self.target.faults.misrounds && ty.scalar() == Some(Scalar::F64)
    }

    /// Towards zero.
    pub fn truncated(&mut self, x: Word, ty: &Type) -> Word {
        if !self.is_misrounded(ty) {
            return self.glsl(GlslOp::Trunc, ty, &[x]);
        }
        let zero = self.float(ty, 0.0);
        let is_negative = self.ids(Op::FOrdLessThan, &bools(ty), &[x, zero]);
        let [below, above] = [GlslOp::Floor, GlslOp::Ceil].map(|next| self.glsl(next, ty, &[x]));
        self.select(ty, is_negative, above, below)
    }

    /// To the nearest whole number, to the even one of two.
    pub fn rounded(&mut self, x: Word, ty: &Type) -> Word {
        if !self.is_misrounded(ty) {
            return self.glsl(GlslOp::RoundEven, ty, &[x]);
        }
        let (bools, half) = (bools(ty), self.float(ty, 0.5));
        let [below, above] = [GlslOp::Floor, GlslOp::Ceil].map(|next| self.glsl(next, ty, &[x]));
        let rest = self.ids(Op::FSub, ty, &[x, below]);
        let is_more = self.ids(Op::FOrdGreaterThan, &bools, &[rest, half]);
        let is_half = self.ids(Op::FOrdEqual, &bools, &[rest, half]);
        let halved = self.ids(Op::FMul, ty, &[below, half]);
        let whole = self.glsl(GlslOp::Floor, ty, &[halved]);
        let is_odd = self.ids(Op::FOrdNotEqual, &bools, &[halved, whole]);
        let is_odd_half = self.ids(Op::LogicalAnd, &bools, &[is_half, is_odd]);
        let goes_up = self.ids(Op::LogicalOr, &bools, &[is_more, is_odd_half]);
        self.select(ty, goes_up, above, below)
    }

    /// With the sign of `a`.
    pub fn remainder(&mut self, a: Word, b: Word, ty: &Type) -> Word {
        if !self.is_misrounded(ty) {
            return self.ids(Op::FRem, ty, &[a, b]);
        }
        let quotient = self.ids(Op::FDiv, ty, &[a, b]);
        let whole = self.truncated(quotient, ty);
        let product = self.ids(Op::FMul, ty, &[whole, b]);
        let rest = self.ids(Op::FSub, ty, &[a, product]);
        // By an infinity, too.
        let zero = self.float(ty, 0.0);
        let is_none = self.ids(Op::FOrdEqual, &bools(ty), &[whole, zero]);
        self.select(ty, is_none, a, rest)
    }
}
