//! The functions of nodes: instructions and formulas on floats, powers, and subgroup operations.

use super::{Function, NodeId};
use crate::constant::Constant;
use crate::types::Scalar;

/// A function of numbers, component by component: one node for a call in the script. `lower/functions.rs` computes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MathFn {
    /// For `f32`, for narrower floats and for ints.
    pub single: Body,
    pub double: Body,
}

/// How a function is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// One instruction.
    Instruction(FloatFn),
    /// Several operations.
    Formula(FormulaFn),
    /// A function in a chapter of `library`.
    Library(&'static str),
    /// The same, with arguments that describe the type of the first one after all of them.
    LibraryOf(&'static str, Format),
    /// Functions in a chapter of `library` for square matrices; the number of columns follows the name.
    Square(&'static str),
}

/// The arguments that describe a type of numbers to a library function: types, and numbers that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The type, the signed int as wide, and the digits of the fraction. Narrow floats are computed in f32.
    Float,
    /// The same, where narrow floats are computed as they are.
    NarrowFloat,
    /// The type and the signed int as wide. Narrow floats are computed as they are.
    Bits,
    /// The float type, 1 + 2 to the power of half of the digits, and the least number from which on all are whole.
    Decimals,
    /// The int type, and the most zeros that a power of ten has in it.
    WholeDecimals,
    /// The int type, and the unsigned one as wide.
    Unsigned,
}

impl MathFn {
    /// Computed in the same way for all floats.
    pub(crate) const fn of(body: Body) -> MathFn {
        MathFn { single: body, double: body }
    }

    /// How it is computed for numbers of this type.
    pub fn body(&self, scalar: Scalar) -> Body {
        if scalar == Scalar::F64 { self.double } else { self.single }
    }

    pub fn gives_bools(&self) -> bool {
        matches!(self.single, Body::Formula(formula) if formula.gives_bools())
    }
}

/// Functions that are one instruction of GLSL.std.450 for every component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatFn {
    Round,
    Trunc,
    Floor,
    Ceil,
    Fract,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Atan2,
    /// Of a base that is not negative.
    Pow,
    Exp,
    Exp2,
    Log,
    Log2,
    Sqrt,
    InverseSqrt,
    Fma,
    NMin,
    NMax,
    NClamp,
}

impl FloatFn {
    pub fn n_args(self) -> usize {
        match self {
            FloatFn::Atan2 | FloatFn::Pow | FloatFn::NMin | FloatFn::NMax => 2,
            FloatFn::Fma | FloatFn::NClamp => 3,
            _ => 1,
        }
    }
}

/// Functions without an instruction, for every component: of floats, where nothing else is said. `lower/formulas.rs` computes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FormulaFn {
    /// Has the dividend's sign.
    Remainder,
    CopySign,
    IsNan,
    IsInf,
    IsFinite,
    /// To a base.
    LogOfBase,
    Log10,
    Log1p,
    Expm1,
    /// Of an f32.
    Cbrt,
    /// Of an f32.
    Atan2,
    /// Of any number of sides.
    Length,
    Mix,
    Step,
    SmoothStep,
    Degrees,
    Radians,
    /// `b if b < a else a`, of any numbers.
    Min,
    /// `b if b > a else a`, of any numbers.
    Max,
    /// `min(max(x, low), high)`, of any numbers.
    Clamp,
}

impl FormulaFn {
    pub fn gives_bools(self) -> bool {
        matches!(self, FormulaFn::IsNan | FormulaFn::IsInf | FormulaFn::IsFinite)
    }

    /// Whether it selects one of its arguments, so that no type needs a wider one.
    pub(crate) fn is_selection(self) -> bool {
        matches!(self, FormulaFn::Min | FormulaFn::Max | FormulaFn::Clamp)
    }
}

/// Powers of floats by whole numbers up to this size are products.
const MAX_FLOAT_PRODUCT: i128 = 16;

/// A constant exponent for which a power is a few products, or a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SimpleExponent {
    /// Neither 0 nor 1; of an int it is positive.
    Whole(i128),
    Half,
}

impl SimpleExponent {
    /// The exponent of a base of this type, in a function.
    pub fn of(function: &Function, base: Scalar, exponent: NodeId) -> Option<SimpleExponent> {
        SimpleExponent::of_constant(base, function.known(exponent)?)
    }

    pub fn of_constant(base: Scalar, exponent: Constant) -> Option<SimpleExponent> {
        if base.is_int() {
            let whole = exponent.as_int().filter(|exponent| *exponent > 1)?;
            return Some(SimpleExponent::Whole(whole));
        }
        let value = exponent.as_float().or(exponent.as_int().map(|exponent| exponent as f64))?;
        if value == 0.5 {
            return Some(SimpleExponent::Half);
        }
        let whole = value as i128;
        let is_small = whole as f64 == value && whole.abs() <= MAX_FLOAT_PRODUCT;
        (is_small && whole != 0 && whole != 1).then_some(SimpleExponent::Whole(whole))
    }
}

/// An indivisible change of one element. All but `Store` give the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    Add,
    Sub,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    /// Stores only if the element equals the expected value, bit for bit.
    CompareExchange,
    Load,
    Store,
}

/// An operation of the active invocations of a subgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubgroupOp {
    Combine(Combine, Spread),
    /// The value of the first active lane. Only the compiler itself uses it.
    FromFirst,
    /// The value of any lane; the own one where that lane is not active.
    Shuffle,
    ShuffleXor,
    /// The value of a lower lane.
    ShuffleUp,
    /// The value of a higher lane.
    ShuffleDown,
    /// A bit for each lane whose condition holds.
    Ballot,
    Any,
    All,
    /// True in one lane.
    Elect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    Add,
    Mul,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// Which lanes are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spread {
    /// All lanes.
    Reduce,
    /// The lower lanes and the own one.
    Inclusive,
    /// The lower lanes.
    Exclusive,
}
