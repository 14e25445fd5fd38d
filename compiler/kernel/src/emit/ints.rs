//! Int division, shifts and signs.
//!
//! Vulkan leaves OpSDiv undefined for a zero divisor and for MIN / -1, and OpSRem and OpSMod for
//! negative operands: so the divisor is replaced by 1 where it is one of those, and remainders are
//! computed from the quotient. Known divisors need no such guard.

use rspirv::spirv::{GlslStd450Op as GlslOp, Op, Word};

use super::function::FunctionEmitter;
use crate::ir::BinaryOp;
use crate::types::{Scalar, Type};

impl FunctionEmitter<'_> {
    pub fn int_division(&mut self, op: BinaryOp, a: Word, b: Word, known: Option<i128>, ty: &Type) -> Word {
        let is_signed = ty.scalar().is_some_and(Scalar::is_signed);
        match op {
            BinaryOp::PlainDiv | BinaryOp::PlainMod if known.and_then(power_of_two).is_some() => {
                self.divide_by_known(op == BinaryOp::PlainDiv, a, b, known.unwrap_or(1), ty)
            }
            BinaryOp::PlainDiv | BinaryOp::PlainMod => {
                // Two values that are not negative are the same as unsigned ones.
                let unsigned = ty.with_scalar(ty.scalar().map_or(Scalar::U32, Scalar::as_unsigned));
                let a = self.ids(Op::Bitcast, &unsigned, &[a]);
                let b = self.ids(Op::Bitcast, &unsigned, &[b]);
                let result = self.unsigned_division(op == BinaryOp::PlainDiv, a, b, known, &unsigned);
                self.ids(Op::Bitcast, ty, &[result])
            }
            BinaryOp::FloorDiv | BinaryOp::TruncDiv if !is_signed => {
                self.unsigned_division(true, a, b, known, ty)
            }
            _ if !is_signed => self.unsigned_division(false, a, b, known, ty),
            _ => self.signed_division(op, a, b, known, ty),
        }
    }

    /// By zero both are 0.
    fn unsigned_division(
        &mut self,
        wants_quotient: bool,
        a: Word,
        b: Word,
        known: Option<i128>,
        ty: &Type,
    ) -> Word {
        if let Some(known) = known
            && known > 0
        {
            return self.divide_by_known(wants_quotient, a, b, known, ty);
        }
        let (zero, one) = (self.int(ty, 0), self.int(ty, 1));
        let is_zero = self.ids(Op::IEqual, &bools(ty), &[b, zero]);
        let divisor = self.select(ty, is_zero, one, b);
        if wants_quotient {
            let quotient = self.ids(Op::UDiv, ty, &[a, divisor]);
            self.select(ty, is_zero, zero, quotient)
        } else {
            self.ids(Op::UMod, ty, &[a, divisor])
        }
    }

    /// Powers of two are shifts and masks.
    fn divide_by_known(&mut self, wants_quotient: bool, a: Word, b: Word, known: i128, ty: &Type) -> Word {
        match (wants_quotient, power_of_two(known)) {
            (true, Some(bits)) => {
                let bits = self.int(&amounts(ty), i128::from(bits));
                self.ids(Op::ShiftRightLogical, ty, &[a, bits])
            }
            (false, Some(_)) => {
                let mask = self.int(ty, known - 1);
                self.ids(Op::BitwiseAnd, ty, &[a, mask])
            }
            (true, None) => self.ids(Op::UDiv, ty, &[a, b]),
            (false, None) => self.ids(Op::UMod, ty, &[a, b]),
        }
    }

    fn signed_division(&mut self, op: BinaryOp, a: Word, b: Word, known: Option<i128>, ty: &Type) -> Word {
        let floors = matches!(op, BinaryOp::FloorDiv | BinaryOp::FloorMod);
        if let (true, Some(bits)) = (floors, known.and_then(power_of_two)) {
            // Shifting a signed int right rounds down, as Python does.
            return match op {
                BinaryOp::FloorDiv => {
                    let bits = self.int(&amounts(ty), i128::from(bits));
                    self.ids(Op::ShiftRightArithmetic, ty, &[a, bits])
                }
                _ => {
                    let mask = self.int(ty, known.unwrap_or(1) - 1);
                    self.ids(Op::BitwiseAnd, ty, &[a, mask])
                }
            };
        }
        let zero = self.int(ty, 0);
        let (divisor, is_zero) = match known {
            Some(known) if known != 0 && known != -1 => (b, None),
            _ => self.guarded_divisor(a, b, ty),
        };
        let quotient = self.ids(Op::SDiv, ty, &[a, divisor]);
        let product = self.ids(Op::IMul, ty, &[quotient, divisor]);
        let result = match op {
            BinaryOp::TruncDiv => quotient,
            BinaryOp::TruncRem => self.ids(Op::ISub, ty, &[a, product]),
            _ => {
                let remainder = self.ids(Op::ISub, ty, &[a, product]);
                self.floored(op, quotient, remainder, divisor, ty)
            }
        };
        match (op, is_zero) {
            (BinaryOp::FloorDiv | BinaryOp::TruncDiv, Some(is_zero)) => {
                self.select(ty, is_zero, zero, result)
            }
            _ => result,
        }
    }

    /// 1 in place of 0, and of -1 under MIN: MIN // 1 is MIN and MIN % 1 is 0, as is wanted.
    fn guarded_divisor(&mut self, a: Word, b: Word, ty: &Type) -> (Word, Option<Word>) {
        let (zero, one, minus_one) = (self.int(ty, 0), self.int(ty, 1), self.int(ty, -1));
        let (min, _) = ty.scalar().and_then(Scalar::int_range).unwrap_or((0, 0));
        let min = self.int(ty, min);
        let bools = bools(ty);
        let is_zero = self.ids(Op::IEqual, &bools, &[b, zero]);
        let is_min = self.ids(Op::IEqual, &bools, &[a, min]);
        let is_minus_one = self.ids(Op::IEqual, &bools, &[b, minus_one]);
        let overflows = self.ids(Op::LogicalAnd, &bools, &[is_min, is_minus_one]);
        let is_bad = self.ids(Op::LogicalOr, &bools, &[is_zero, overflows]);
        (self.select(ty, is_bad, one, b), Some(is_zero))
    }

    /// Where there is a remainder and the signs differ, one less, and the remainder takes the
    /// divisor's sign.
    fn floored(&mut self, op: BinaryOp, quotient: Word, remainder: Word, divisor: Word, ty: &Type) -> Word {
        let (zero, one) = (self.int(ty, 0), self.int(ty, 1));
        let bools = bools(ty);
        let has_rest = self.ids(Op::INotEqual, &bools, &[remainder, zero]);
        let signs = self.ids(Op::BitwiseXor, ty, &[remainder, divisor]);
        let differ = self.ids(Op::SLessThan, &bools, &[signs, zero]);
        let adjusts = self.ids(Op::LogicalAnd, &bools, &[has_rest, differ]);
        if op == BinaryOp::FloorDiv {
            let less = self.ids(Op::ISub, ty, &[quotient, one]);
            self.select(ty, adjusts, less, quotient)
        } else {
            let more = self.select(ty, adjusts, divisor, zero);
            self.ids(Op::IAdd, ty, &[remainder, more])
        }
    }

    /// The amount is masked to the width: SPIR-V leaves a shift by more undefined.
    pub fn shift(&mut self, op: BinaryOp, a: Word, b: Word, known: Option<i128>, ty: &Type) -> Word {
        let mask = i128::from(ty.scalar().map_or(32, Scalar::bits)) - 1;
        let amounts = amounts(ty);
        let amount = match known {
            Some(known) => self.int(&amounts, known & mask),
            None => {
                let b = if amounts == *ty { b } else { self.convert(b, ty, &amounts) };
                let mask = self.int(&amounts, mask);
                self.ids(Op::BitwiseAnd, &amounts, &[b, mask])
            }
        };
        let op = match op {
            BinaryOp::ShiftLeft => Op::ShiftLeftLogical,
            _ if ty.scalar().is_some_and(Scalar::is_signed) => Op::ShiftRightArithmetic,
            _ => Op::ShiftRightLogical,
        };
        self.ids(op, ty, &[a, amount])
    }

    /// Negation of the least narrow int gives itself. Drivers that compute in 32 bits give 128 for `-(-128)`, and
    /// remove a test in the narrow type. So the test is in 32 bits, and the negated number is never the least one.
    pub fn int_negate(&mut self, a: Word, ty: &Type) -> Word {
        if !is_narrow(ty) {
            return self.ids(Op::SNegate, ty, &[a]);
        }
        let Some((min @ ..0, _)) = ty.scalar().and_then(Scalar::int_range) else {
            let zero = self.int(ty, 0);
            return self.ids(Op::ISub, ty, &[zero, a]);
        };
        let i32s = ty.with_scalar(Scalar::I32);
        let wide = self.convert(a, ty, &i32s);
        let negated = self.ids(Op::SNegate, &i32s, &[wide]);
        let min = self.int(&i32s, min);
        let is_more = self.ids(Op::SGreaterThan, &bools(ty), &[wide, min]);
        let kept = self.select(&i32s, is_more, negated, wide);
        self.ids(Op::SConvert, ty, &[kept])
    }

    pub fn int_abs(&mut self, a: Word, ty: &Type) -> Word {
        if !is_narrow(ty) {
            return self.glsl(GlslOp::SAbs, ty, &[a]);
        }
        let negated = self.int_negate(a, ty);
        self.glsl(GlslOp::SMax, ty, &[a, negated])
    }

    pub fn sign(&mut self, a: Word, ty: &Type) -> Word {
        match ty.scalar() {
            Some(scalar) if scalar.is_float() => {
                // Undefined of a NaN, which stays one.
                let sign = self.glsl(GlslOp::FSign, ty, &[a]);
                let is_nan = self.ids(Op::IsNan, &bools(ty), &[a]);
                self.select(ty, is_nan, a, sign)
            }
            Some(scalar) if scalar.is_signed() => self.glsl(GlslOp::SSign, ty, &[a]),
            _ => {
                let (zero, one) = (self.int(ty, 0), self.int(ty, 1));
                let is_some = self.ids(Op::INotEqual, &bools(ty), &[a, zero]);
                self.select(ty, is_some, one, zero)
            }
        }
    }
}

/// The type of shift amounts. It is 32 bits for wide ints, as in other compilers: drivers have bugs in rare forms.
fn amounts(ty: &Type) -> Type {
    match ty.scalar() {
        Some(scalar) if scalar.bits() == 64 => ty.with_scalar(Scalar::U32),
        _ => ty.clone(),
    }
}

pub(crate) fn is_narrow(ty: &Type) -> bool {
    ty.scalar().is_some_and(|scalar| scalar.bits() < 32)
}

fn power_of_two(value: i128) -> Option<u32> {
    (value > 0 && value & (value - 1) == 0).then(|| value.trailing_zeros())
}

pub(crate) fn bools(ty: &Type) -> Type {
    ty.with_scalar(Scalar::Bool)
}
