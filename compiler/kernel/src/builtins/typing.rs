//! The rules by which inference types the calls of functions. They are data: `infer/builtin_calls/typing_rules.rs` has their code.

use crate::ir::{
    AtomicOp, BinaryOp, Body, Combine, CompareOp, FloatFn, Format, FormulaFn, GeometryFn, MathFn, Spread,
    SubgroupOp,
};

/// How a call becomes nodes.
#[derive(Clone, Copy)]
pub(crate) enum Typing {
    /// All arguments as one type of floats, component by component.
    Floats(MathFn),
    /// Numbers in, a number out.
    Numbers(NumberRule),
    /// The same; of one argument that is no literal, it takes the items.
    NumbersOrItems(NumberRule, ValueRule),
    /// Any arguments, and any result.
    Value(ValueRule),
    /// A function of the library with its own parameters. The rule types the calls that the library's function does
    /// not support.
    Library(&'static str, LibraryRule),
    /// The arguments are read from the tree: some are places, texts or types.
    Tree(TreeRule),
}

/// From numbers to a number.
#[derive(Clone, Copy)]
pub(crate) enum NumberRule {
    Abs,
    Bits(BitsFn),
    /// One of the arguments: `min` or `max`.
    Choose(CompareOp),
    Clamp,
    Geometry(GeometryFn),
    Ldexp,
    /// One function of floats for one argument, another one for two.
    OneOrTwo(&'static MathFn, &'static MathFn),
    Round,
    Sign,
}

#[derive(Clone, Copy)]
pub(crate) enum ValueRule {
    All,
    Any,
    Barrier,
    Bitcast,
    Coop(CoopInstruction),
    CoopFill,
    CoopLoad,
    CoopMultiplyAdd,
    CoopStore,
    Discard,
    Divmod,
    Dot,
    Elect,
    Enumerate,
    /// The smallest or the largest item.
    Extreme(CompareOp),
    Frexp,
    Len,
    /// Each row has its own rule.
    Missing,
    Pow,
    Range,
    Reversed,
    SharedArray,
    Shuffle(SubgroupOp),
    /// A function of square matrices.
    SquareMatrix(&'static MathFn),
    SubgroupCombine(Combine, Spread),
    Sum,
    TextureRead,
    TextureSample,
    TextureWrite,
    Transpose,
    /// Division towards zero, and its remainder.
    Truncating(BinaryOp),
    Uniform,
    Unroll,
    Vote(SubgroupOp),
    Zip,
}

#[derive(Clone, Copy)]
pub(crate) enum LibraryRule {
    /// The library's function takes all calls.
    Plain,
    Dist,
    Fsum,
    IsClose,
    Prod,
    Sumprod,
}

#[derive(Clone, Copy)]
pub(crate) enum TreeRule {
    Atomic(AtomicOp),
    CoopMatrix,
    Print,
}

/// Functions of the bits of an int of any width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BitsFn {
    Popcount,
    /// The width of the type for 0, as for trailing zeros.
    LeadingZeros,
    TrailingZeros,
    Reverse,
}

/// Operations on native matrices. The library calls them by names that no script can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CoopInstruction {
    /// A matrix that is known to be inside the array, row by row.
    Load,
    LoadColumns,
    Store,
    StoreColumns,
    Like,
    Take,
    Length,
    Component,
    Put,
}

/// One instruction for all floats.
pub(super) const fn instruction(function: FloatFn) -> Typing {
    Typing::Floats(MathFn::of(Body::Instruction(function)))
}

/// One instruction for `f32`, and a function of the library for `f64`.
pub(super) const fn instruction_or(function: FloatFn, double: &'static str) -> Typing {
    Typing::Floats(MathFn { single: Body::Instruction(function), double: Body::Library(double) })
}

/// The same formula for all floats.
pub(super) const fn formula(formula: FormulaFn) -> Typing {
    Typing::Floats(MathFn::of(Body::Formula(formula)))
}

/// A formula for `f32`, and a function of the library for `f64`.
pub(super) const fn formula_or(formula: FormulaFn, double: &'static str) -> Typing {
    Typing::Floats(MathFn { single: Body::Formula(formula), double: Body::Library(double) })
}

/// Functions of the library for `f32` and for `f64`, which may be the same one.
pub(super) const fn library(single: &'static str, double: &'static str) -> Typing {
    Typing::Floats(MathFn { single: Body::Library(single), double: Body::Library(double) })
}

/// A function of the library for all floats, with arguments that describe their type.
pub(super) const fn library_of(name: &'static str, format: Format) -> Typing {
    Typing::Floats(MathFn::of(Body::LibraryOf(name, format)))
}
