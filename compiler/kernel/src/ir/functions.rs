//! The functions of nodes: instructions and formulas on floats, and subgroup operations.

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

/// Functions of floats without an instruction, for every component. `lower/formulas.rs` computes them.
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
    /// An f32 to the power of another.
    Power,
    /// Its last two arguments are the magnitude of the base, and the power of that.
    PowerOfMagnitude,
    /// To the power of a half.
    HalfPower,
}

impl FormulaFn {
    pub fn gives_bools(self) -> bool {
        matches!(self, FormulaFn::IsNan | FormulaFn::IsInf | FormulaFn::IsFinite)
    }

    /// About how many operations compute it for one number.
    pub(crate) fn n_operations(self) -> usize {
        match self {
            FormulaFn::CopySign => 6,
            FormulaFn::IsNan | FormulaFn::IsInf | FormulaFn::Degrees | FormulaFn::Radians => 1,
            FormulaFn::Step => 2,
            FormulaFn::IsFinite | FormulaFn::Mix => 4,
            _ => 12,
        }
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
