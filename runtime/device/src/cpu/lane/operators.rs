//! Operators of the lane IR on scalars. Each has a result for all operands of its type.

use super::Ty;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// Ints; wraps around.
    Neg,
    /// Ints and booleans.
    Not,
    BitReverse,
    PopCount,
    LeadingZeros,
    TrailingZeros,
    FNeg,
    FAbs,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    /// To the nearest, ties to even.
    Nearest,
}

/// Int operations wrap around. A division by zero gives 0, as does its remainder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    /// MIN / -1 is MIN.
    DivS,
    DivU,
    /// Has the sign of the dividend.
    RemS,
    /// Has the sign of the divisor.
    ModS,
    RemU,
    MulHighS,
    MulHighU,
    /// Also on booleans, as are the next two.
    And,
    Or,
    Xor,
    /// Shifts take the amount modulo the width.
    Shl,
    ShrS,
    ShrU,
    FAdd,
    FSub,
    FMul,
    FDiv,
}

/// An F comparison with a NaN is false, but `FNe` is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    Eq,
    Ne,
    LtS,
    LeS,
    GtS,
    GeS,
    LtU,
    LeU,
    GtU,
    GeU,
    FEq,
    FNe,
    FLt,
    FLe,
    FGt,
    FGe,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Convert {
    /// `Bool` to `I32`: 0 or 1.
    BoolToInt,
    /// `I32` to `I64`.
    SignExtend,
    ZeroExtend,
    /// `I64` to `I32`.
    Truncate,
    /// Float to int of a width, toward zero, saturating; NaN gives 0.
    FloatToS(Ty),
    FloatToU(Ty),
    /// Int to float of a width.
    SToFloat(Ty),
    UToFloat(Ty),
    /// `F32` to `F64`.
    Promote,
    Demote,
    /// The same bits as the other kind of the same width.
    Bits,
}

impl Convert {
    /// The type that a value of type `from` becomes.
    pub fn result(self, from: Ty) -> Ty {
        match self {
            Convert::BoolToInt | Convert::Truncate => Ty::I32,
            Convert::SignExtend | Convert::ZeroExtend => Ty::I64,
            Convert::FloatToS(ty) | Convert::FloatToU(ty) | Convert::SToFloat(ty) | Convert::UToFloat(ty) => {
                ty
            }
            Convert::Promote => Ty::F64,
            Convert::Demote => Ty::F32,
            Convert::Bits => match from {
                Ty::I32 => Ty::F32,
                Ty::I64 => Ty::F64,
                Ty::F32 => Ty::I32,
                Ty::F64 => Ty::I64,
                Ty::Bool => Ty::Bool,
            },
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Atomic {
    Add,
    Sub,
    And,
    Or,
    Xor,
    MinS,
    MinU,
    MaxS,
    MaxU,
    /// Between ints and floats, bit for bit.
    Exchange,
    FAdd,
    /// If one operand is a NaN, the result is the other one.
    FMin,
    FMax,
}
