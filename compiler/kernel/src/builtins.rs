//! The names that every kernel knows without an import: types, inputs, functions, constants.
//!
//! A name that the script defines hides the one here. Names whose family is not built yet are listed
//! too, so that using one says so instead of "unknown name".

mod calls;
mod groups;

use crate::types::Type;

pub(crate) use calls::{Call, gives_nothing};
pub(crate) use groups::coop_instruction;
pub use groups::{AtomicOp, Combine, CoopFunction, CoopInstruction, GroupFunction, Spread, SubgroupOp};

/// What a built-in name stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Builtin {
    Type(Type),
    /// `Vector`, which takes a size and a scalar.
    VectorType,
    /// `Struct`, which takes its members.
    StructType,
    /// `Matrix`, which takes columns, rows and a scalar.
    MatrixType,
    Place(PlaceName),
    Function(Function),
    /// `math.pi` and its kin.
    Constant(f64),
    /// A module whose members are functions and constants of this table.
    Module,
}

/// Where an invocation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlaceName {
    GlobalId,
    LocalId,
    GroupId,
    NumGroups,
    LocalSize,
    GlobalSize,
    GlobalId64,
    SubgroupId,
    SubgroupLane,
    SubgroupSize,
}

impl PlaceName {
    pub fn name(self) -> &'static str {
        match self {
            PlaceName::GlobalId => "global_id",
            PlaceName::LocalId => "local_id",
            PlaceName::GroupId => "group_id",
            PlaceName::NumGroups => "num_groups",
            PlaceName::LocalSize => "local_size",
            PlaceName::GlobalSize => "global_size",
            PlaceName::GlobalId64 => "global_id64",
            PlaceName::SubgroupId => "subgroup_id",
            PlaceName::SubgroupLane => "subgroup_lane",
            PlaceName::SubgroupSize => "subgroup_size",
        }
    }
}

/// A function that kernels may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    Range,
    Enumerate,
    Zip,
    Reversed,
    /// Its arguments may be strings, which nothing else takes.
    Print,
    Len,
    Abs,
    Sign,
    Min,
    Max,
    Clamp,
    Pow,
    DivMod,
    TruncDiv,
    TruncRem,
    All,
    Any,
    Fmod,
    Log,
    Log10,
    Log1p,
    Expm1,
    Hypot,
    Cbrt,
    Copysign,
    Erf,
    Erfc,
    Gamma,
    LogGamma,
    Remainder,
    NextAfter,
    Ulp,
    Frexp,
    Ldexp,
    Sum,
    IsNan,
    IsInf,
    IsFinite,
    Degrees,
    Radians,
    Dot,
    Cross,
    Length,
    Distance,
    Normalize,
    FaceForward,
    Reflect,
    Refract,
    Mix,
    Step,
    SmoothStep,
    Bitcast,
    /// Of the bits of ints.
    Bits(BitsFn),
    Transpose,
    Determinant,
    Inverse,
    TextureRead,
    TextureWrite,
    TextureSample,
    /// Ends a fragment.
    Discard,
    /// Floats in, the same out, component by component, with its number of arguments.
    Float(FloatFn),
    /// What looks beyond its own invocation.
    Group(GroupFunction),
}

/// Functions of the bits of an int of any width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitsFn {
    Popcount,
    /// The width of the type for 0, as for the trailing ones.
    LeadingZeros,
    TrailingZeros,
    Reverse,
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

/// A bare name.
pub fn lookup(name: &str) -> Option<Builtin> {
    if let Some(place) = place(name) {
        return Some(Builtin::Place(place));
    }
    if let Some(ty) = Type::by_name(name) {
        return Some(Builtin::Type(ty));
    }
    match name {
        "Vector" => return Some(Builtin::VectorType),
        "Struct" => return Some(Builtin::StructType),
        "Matrix" => return Some(Builtin::MatrixType),
        "math" | "stdlib" => return Some(Builtin::Module),
        "range" => return Some(Builtin::Function(Function::Range)),
        "enumerate" => return Some(Builtin::Function(Function::Enumerate)),
        "zip" => return Some(Builtin::Function(Function::Zip)),
        "reversed" => return Some(Builtin::Function(Function::Reversed)),
        "print" => return Some(Builtin::Function(Function::Print)),
        "len" => return Some(Builtin::Function(Function::Len)),
        "all" => return Some(Builtin::Function(Function::All)),
        "any" => return Some(Builtin::Function(Function::Any)),
        "divmod" => return Some(Builtin::Function(Function::DivMod)),
        "sum" => return Some(Builtin::Function(Function::Sum)),
        "tdiv" => return Some(Builtin::Function(Function::TruncDiv)),
        "trem" => return Some(Builtin::Function(Function::TruncRem)),
        // Bare `e`, `inf` and `tau` are too likely a misspelt name of the user's.
        "pi" => return Some(Builtin::Constant(std::f64::consts::PI)),
        _ => {}
    }
    function(name).map(Builtin::Function)
}

/// A member of `math`, `stdlib` or `pyshader`.
pub fn member(name: &str) -> Option<Builtin> {
    let constant = match name {
        "pi" => std::f64::consts::PI,
        "e" => std::f64::consts::E,
        "tau" => std::f64::consts::TAU,
        "inf" => f64::INFINITY,
        "nan" => f64::NAN,
        _ => {
            let function = named(MATH, name).or_else(|| function(name));
            return function.map(Builtin::Function).or_else(|| lookup(name));
        }
    };
    Some(Builtin::Constant(constant))
}

/// Whether a module's members are looked up here instead of being asked for.
pub fn is_our_module(name: &str) -> bool {
    matches!(name, "math" | "stdlib" | "pyshader" | "pyshader.stdlib")
}

fn place(name: &str) -> Option<PlaceName> {
    Some(match name {
        "global_id" => PlaceName::GlobalId,
        "local_id" => PlaceName::LocalId,
        "group_id" => PlaceName::GroupId,
        "num_groups" => PlaceName::NumGroups,
        "local_size" => PlaceName::LocalSize,
        "global_size" => PlaceName::GlobalSize,
        "global_id64" => PlaceName::GlobalId64,
        "subgroup_id" => PlaceName::SubgroupId,
        "subgroup_lane" => PlaceName::SubgroupLane,
        "subgroup_size" => PlaceName::SubgroupSize,
        _ => return None,
    })
}

fn function(name: &str) -> Option<Function> {
    named(FUNCTIONS, name).or_else(|| groups::lookup(name).map(Function::Group))
}

fn named(table: &[(&str, Function)], name: &str) -> Option<Function> {
    table.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
}

/// Members of `math` alone: bare, the names are too likely somebody's own.
const MATH: &[(&str, Function)] = &[
    ("erf", Function::Erf),
    ("erfc", Function::Erfc),
    ("gamma", Function::Gamma),
    ("lgamma", Function::LogGamma),
    ("remainder", Function::Remainder),
    ("nextafter", Function::NextAfter),
    ("ulp", Function::Ulp),
    ("frexp", Function::Frexp),
    ("ldexp", Function::Ldexp),
];

/// PyShader's names beside Python's and GLSL's.
const FUNCTIONS: &[(&str, Function)] = &[
    ("abs", Function::Abs),
    ("fabs", Function::Abs),
    ("sign", Function::Sign),
    ("min", Function::Min),
    ("max", Function::Max),
    ("clamp", Function::Clamp),
    ("pow", Function::Pow),
    ("fmod", Function::Fmod),
    ("log", Function::Log),
    ("log10", Function::Log10),
    ("log1p", Function::Log1p),
    ("expm1", Function::Expm1),
    ("hypot", Function::Hypot),
    ("cbrt", Function::Cbrt),
    ("copysign", Function::Copysign),
    ("isnan", Function::IsNan),
    ("isinf", Function::IsInf),
    ("isfinite", Function::IsFinite),
    ("degrees", Function::Degrees),
    ("radians", Function::Radians),
    ("dot", Function::Dot),
    ("cross", Function::Cross),
    ("length", Function::Length),
    ("distance", Function::Distance),
    ("normalize", Function::Normalize),
    ("face_forward", Function::FaceForward),
    ("reflect", Function::Reflect),
    ("refract", Function::Refract),
    ("mix", Function::Mix),
    ("step", Function::Step),
    ("smooth_step", Function::SmoothStep),
    ("smoothstep", Function::SmoothStep),
    ("bitcast", Function::Bitcast),
    ("popcount", Function::Bits(BitsFn::Popcount)),
    ("clz", Function::Bits(BitsFn::LeadingZeros)),
    ("ctz", Function::Bits(BitsFn::TrailingZeros)),
    ("reverse_bits", Function::Bits(BitsFn::Reverse)),
    ("transpose", Function::Transpose),
    ("read", Function::TextureRead),
    ("imageLoad", Function::TextureRead),
    ("write", Function::TextureWrite),
    ("imageStore", Function::TextureWrite),
    ("sample", Function::TextureSample),
    ("discard", Function::Discard),
    ("determinant", Function::Determinant),
    ("inverse", Function::Inverse),
    ("matrix_inverse", Function::Inverse),
    ("round", Function::Float(FloatFn::Round)),
    ("round_even", Function::Float(FloatFn::Round)),
    ("trunc", Function::Float(FloatFn::Trunc)),
    ("floor", Function::Float(FloatFn::Floor)),
    ("ceil", Function::Float(FloatFn::Ceil)),
    ("fract", Function::Float(FloatFn::Fract)),
    ("sin", Function::Float(FloatFn::Sin)),
    ("cos", Function::Float(FloatFn::Cos)),
    ("tan", Function::Float(FloatFn::Tan)),
    ("asin", Function::Float(FloatFn::Asin)),
    ("acos", Function::Float(FloatFn::Acos)),
    ("atan", Function::Float(FloatFn::Atan)),
    ("sinh", Function::Float(FloatFn::Sinh)),
    ("cosh", Function::Float(FloatFn::Cosh)),
    ("tanh", Function::Float(FloatFn::Tanh)),
    ("asinh", Function::Float(FloatFn::Asinh)),
    ("acosh", Function::Float(FloatFn::Acosh)),
    ("atanh", Function::Float(FloatFn::Atanh)),
    ("atan2", Function::Float(FloatFn::Atan2)),
    ("exp", Function::Float(FloatFn::Exp)),
    ("exp2", Function::Float(FloatFn::Exp2)),
    ("log2", Function::Float(FloatFn::Log2)),
    ("sqrt", Function::Float(FloatFn::Sqrt)),
    ("inversesqrt", Function::Float(FloatFn::InverseSqrt)),
    ("rsqrt", Function::Float(FloatFn::InverseSqrt)),
    ("fma", Function::Float(FloatFn::Fma)),
    ("nmin", Function::Float(FloatFn::NMin)),
    ("nmax", Function::Float(FloatFn::NMax)),
    ("nclamp", Function::Float(FloatFn::NClamp)),
];

/// The name that a function is known by first.
pub fn function_name(function: Function) -> &'static str {
    match function {
        Function::Range => "range",
        Function::Enumerate => "enumerate",
        Function::Zip => "zip",
        Function::Reversed => "reversed",
        Function::Print => "print",
        Function::Len => "len",
        Function::All => "all",
        Function::Any => "any",
        Function::DivMod => "divmod",
        Function::Sum => "sum",
        Function::TruncDiv => "tdiv",
        Function::TruncRem => "trem",
        Function::Group(function) => groups::name(function),
        _ => {
            let mut known = FUNCTIONS.iter().chain(MATH);
            known.find(|(_, known)| *known == function).map_or("?", |(name, _)| *name)
        }
    }
}

/// Every name for "did you mean".
pub fn names() -> impl Iterator<Item = &'static str> {
    const OTHERS: &[&str] = &[
        "bool",
        "i8",
        "i16",
        "i32",
        "i64",
        "u8",
        "u16",
        "u32",
        "u64",
        "f16",
        "bf16",
        "f32",
        "f64",
        "int",
        "float",
        "vec2",
        "vec3",
        "vec4",
        "ivec2",
        "ivec3",
        "ivec4",
        "uvec2",
        "uvec3",
        "uvec4",
        "bvec2",
        "bvec3",
        "bvec4",
        "dvec2",
        "dvec3",
        "dvec4",
        "hvec2",
        "hvec3",
        "hvec4",
        "mat2",
        "mat3",
        "mat4",
        "Vector",
        "Struct",
        "Matrix",
        "Array",
        "global_id",
        "local_id",
        "group_id",
        "num_groups",
        "local_size",
        "global_size",
        "global_id64",
        "subgroup_id",
        "subgroup_lane",
        "subgroup_size",
        "math",
        "stdlib",
        "range",
        "enumerate",
        "zip",
        "reversed",
        "len",
        "all",
        "any",
        "divmod",
        "sum",
        "tdiv",
        "trem",
        "pi",
    ];
    let groups = groups::FUNCTIONS.iter().map(|(name, _)| *name);
    OTHERS.iter().copied().chain(FUNCTIONS.iter().map(|(name, _)| *name)).chain(groups)
}

/// Members of `math` and `stdlib` for "did you mean".
pub fn member_names() -> impl Iterator<Item = &'static str> {
    let functions = FUNCTIONS.iter().chain(MATH).map(|(name, _)| *name);
    functions.chain(["pi", "e", "tau", "inf", "nan"])
}
