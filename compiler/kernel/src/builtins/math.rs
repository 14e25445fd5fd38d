//! Arithmetic, powers, logarithms and angles: functions of numbers, component by component.

use std::f64::consts::PI;

use super::fold::{fold_clamp, fold_sqrt};
use super::row::{FUNCTION, Fold, Gives, Kind, Known, Row, any, number, rest};
use super::section::{ALONE, Rows, Section};
use super::typing::{NumberRule, Typing, ValueRule, formula, formula_or, instruction, instruction_or};
use crate::intrinsics::bound::Bound::{self, Absolute, Exact, Growing, Steps, Ulp, UlpOrNear};
use crate::intrinsics::bound::Domain::{Between, Numbers};
use crate::intrinsics::rows::Source::{Formula, Vulkan};
use crate::intrinsics::rows::{exact, in_library, within};
use crate::intrinsics::steps;
use crate::ir::{BinaryOp, Body, FloatFn, FormulaFn, MathFn};

pub static ARITHMETIC: Section =
    Section { title: "Arithmetic", about: "", rows: Rows::Functions(OF_ARITHMETIC), setup: ALONE };

pub static POWERS: Section = Section {
    title: "Powers, logarithms and angles",
    about: "",
    rows: Rows::Functions(OF_POWERS),
    setup: ALONE,
};

const TINY: f64 = 1.0 / (1u64 << 21) as f64;
const COARSE: f64 = 1.0 / (1u64 << 11) as f64;
const NEAR_ONE: Bound = UlpOrNear { units: 3.0, near: (0.5, 2.0), absolute: TINY };
const EXP: Bound = Growing { units: 3.0, times: 2.0 };

static LOG: MathFn = MathFn { single: Body::Instruction(FloatFn::Log), double: Body::Library("log") };
static LOG_OF_BASE: MathFn =
    MathFn { single: Body::Formula(FormulaFn::LogOfBase), double: Body::Library("log_base") };

const OF_ARITHMETIC: &[Row] = &[
    Row {
        names: &["tdiv"],
        params: &[any("a"), any("b")],
        typing: Typing::Value(ValueRule::Truncating(BinaryOp::TruncDiv)),
        known: Known::Bare,
        exact: &["tdiv(x, y)"],
        doc: "The quotient of ints that rounds toward zero, as in C.",
        example: "tdiv(-7, 2)",
        ..FUNCTION
    },
    Row {
        names: &["trem"],
        params: &[any("a"), any("b")],
        typing: Typing::Value(ValueRule::Truncating(BinaryOp::TruncRem)),
        known: Known::Bare,
        floats: &[within("trem(x, y)", Numbers, Steps("x - y * trunc(x / y)", steps::rem), Vulkan, Exact)],
        exact: &["trem(x, y)"],
        doc: "The remainder that belongs to `tdiv`, with the sign of `a`.",
        example: "trem(-7, 2)",
        ..FUNCTION
    },
    Row {
        names: &["fmod"],
        params: &[number("x"), number("y")],
        typing: formula(FormulaFn::Remainder),
        fold: Fold::Of2(libm::fmod),
        floats: &[within("fmod(x, y)", Numbers, Steps("x - y * trunc(x / y)", steps::rem), Vulkan, Exact)],
        external: &[(&["mod"], "write `a % b`")],
        doc: "The remainder with the sign of `x`, as a float.",
        example: "fmod(-7.5, 2.0)",
        ..FUNCTION
    },
    Row {
        names: &["floor"],
        params: &[number("x")],
        typing: instruction(FloatFn::Floor),
        floats: &[exact("floor(x)")],
        doc: "The nearest whole number that is not larger, as a float.",
        example: "floor(-2.5)",
        ..FUNCTION
    },
    Row {
        names: &["ceil"],
        params: &[number("x")],
        typing: instruction(FloatFn::Ceil),
        floats: &[exact("ceil(x)")],
        doc: "The nearest whole number that is not smaller, as a float.",
        example: "ceil(-2.5)",
        ..FUNCTION
    },
    Row {
        names: &["trunc"],
        params: &[number("x")],
        typing: instruction(FloatFn::Trunc),
        floats: &[exact("trunc(x)")],
        doc: "The whole part, rounded toward zero, as a float.",
        example: "trunc(-2.5)",
        ..FUNCTION
    },
    Row {
        names: &["fract"],
        params: &[number("x")],
        typing: instruction(FloatFn::Fract),
        floats: &[
            // Kept below one, where the nearest number is one.
            within("fract(x)", Numbers, Ulp(1.0), Vulkan, Ulp(1.0)),
        ],
        external: &[(&["frac"], "")],
        doc: "The part behind the point, `x - floor(x)`.",
        example: "fract(-2.25)",
        ..FUNCTION
    },
    Row {
        names: &["sign"],
        params: &[number("x")],
        typing: Typing::Numbers(NumberRule::Sign),
        floats: &[exact("sign(x)")],
        exact: &["sign(x)"],
        doc: "The number -1, 0 or 1, with the sign of `x`.",
        example: "sign(-2.5)",
        ..FUNCTION
    },
    Row {
        names: &["copysign"],
        params: &[number("x"), number("y")],
        typing: formula(FormulaFn::CopySign),
        fold: Fold::Of2(f64::copysign),
        floats: &[exact("copysign(x, y)")],
        doc: "The size of `x` with the sign of `y`.",
        example: "copysign(2.5, -1.0)",
        ..FUNCTION
    },
    Row {
        names: &["clamp"],
        params: &[number("x"), number("low"), number("high")],
        typing: Typing::Numbers(NumberRule::Clamp),
        fold: Fold::Literals(fold_clamp),
        floats: &[exact("clamp(x, y, z)")],
        exact: &["clamp(x, y, z)"],
        external: &[(&["clip"], ""), (&["saturate"], "write `clamp(x, 0, 1)`")],
        doc: "The number from `low` to `high` that is nearest to `x`.",
        example: "clamp(1.7, 0.0, 1.0)",
        ..FUNCTION
    },
    Row {
        names: &["nmin"],
        params: &[number("a"), number("b")],
        typing: instruction(FloatFn::NMin),
        floats: &[exact("nmin(x, y)")],
        doc: "The smaller number; of a number and a NaN, the number.",
        example: "nmin(math.nan, 2.0)",
        ..FUNCTION
    },
    Row {
        names: &["nmax"],
        params: &[number("a"), number("b")],
        typing: instruction(FloatFn::NMax),
        floats: &[exact("nmax(x, y)")],
        doc: "The larger number; of a number and a NaN, the number.",
        example: "nmax(math.nan, 2.0)",
        ..FUNCTION
    },
    Row {
        names: &["nclamp"],
        params: &[number("x"), number("low"), number("high")],
        typing: instruction(FloatFn::NClamp),
        floats: &[exact("nclamp(x, y, z)")],
        doc: "The same as `clamp`, with a number for a NaN.",
        example: "nclamp(1.7, 0.0, 1.0)",
        ..FUNCTION
    },
    Row {
        names: &["fma"],
        params: &[number("a"), number("b"), number("c")],
        typing: instruction(FloatFn::Fma),
        floats: &[within("fma(x, y, z)", Numbers, Steps("x * y + z", steps::fma), Vulkan, Exact)],
        external: &[(&["mad", "fmaf"], "")],
        doc: "The sum `a * b + c`, rounded once.",
        example: "fma(2.0, 3.0, 1.0)",
        ..FUNCTION
    },
    Row {
        names: &["mix"],
        params: &[number("a"), number("b"), number("t")],
        typing: formula(FormulaFn::Mix),
        floats: &[within(
            "mix(x, y, z)",
            Numbers,
            Steps("x * (1.0 - z) + y * z", steps::mix),
            Formula,
            steps::MIX,
        )],
        external: &[(&["lerp"], "")],
        doc: "The sum `a * (1 - t) + b * t`, from `a` to `b`.",
        example: "mix(1.0, 3.0, 0.25)",
        ..FUNCTION
    },
    Row {
        names: &["step"],
        params: &[number("edge"), number("x")],
        typing: formula(FormulaFn::Step),
        floats: &[exact("step(x, y)")],
        doc: "The number 0 below the edge, else 1.",
        example: "step(0.5, 0.75)",
        ..FUNCTION
    },
    Row {
        names: &["smooth_step", "smoothstep"],
        params: &[number("low"), number("high"), number("x")],
        typing: formula(FormulaFn::SmoothStep),
        floats: &[within("smooth_step(x, y, z)", Numbers, steps::SMOOTH_STEP, Formula, steps::SMOOTH_STEP)],
        doc: "A smooth step from 0 at `low` to 1 at `high`, as in GLSL.",
        example: "smooth_step(0.0, 1.0, 0.25)",
        ..FUNCTION
    },
    Row {
        names: &["isnan"],
        params: &[number("x")],
        result: Gives::Bools,
        typing: formula(FormulaFn::IsNan),
        exact: &["isnan(x)"],
        doc: "Whether `x` is not a number.",
        example: "isnan(math.nan)",
        ..FUNCTION
    },
    Row {
        names: &["isinf"],
        params: &[number("x")],
        result: Gives::Bools,
        typing: formula(FormulaFn::IsInf),
        exact: &["isinf(x)"],
        doc: "Whether `x` is infinite.",
        example: "isinf(math.inf)",
        ..FUNCTION
    },
    Row {
        names: &["isfinite"],
        params: &[number("x")],
        result: Gives::Bools,
        typing: formula(FormulaFn::IsFinite),
        exact: &["isfinite(x)"],
        doc: "Whether `x` is neither infinite nor a NaN.",
        example: "isfinite(2.5)",
        ..FUNCTION
    },
];

const OF_POWERS: &[Row] = &[
    Row {
        names: &["sqrt"],
        params: &[number("x")],
        typing: instruction(FloatFn::Sqrt),
        fold: Fold::Literals(fold_sqrt),
        floats: &[within("sqrt(x)", Numbers, Steps("1.0 / inversesqrt(x)", steps::sqrt), Vulkan, Exact)],
        doc: "The square root.",
        example: "sqrt(2.25)",
        ..FUNCTION
    },
    Row {
        names: &["cbrt"],
        params: &[number("x")],
        typing: formula_or(FormulaFn::Cbrt, "cbrt"),
        fold: Fold::Of1(libm::cbrt),
        floats: &[in_library("cbrt(x)", Numbers, Ulp(4.0), Formula, 2.0, 1.0)],
        doc: "The cube root.",
        example: "cbrt(-27.0)",
        ..FUNCTION
    },
    Row {
        names: &["inversesqrt", "rsqrt"],
        params: &[number("x")],
        typing: instruction(FloatFn::InverseSqrt),
        floats: &[within("inversesqrt(x)", Numbers, Ulp(2.0), Vulkan, Ulp(1.5))],
        external: &[(&["rsqrtf"], "write `rsqrt(x)`")],
        doc: "The reciprocal of the square root, `1 / sqrt(x)`.",
        example: "inversesqrt(4.0)",
        ..FUNCTION
    },
    Row {
        names: &["hypot"],
        params: &[number("x"), rest(Kind::Number)],
        typing: formula(FormulaFn::Length),
        fold: Fold::Of2(libm::hypot),
        floats: &[
            in_library(
                "hypot(x, y)",
                Numbers,
                Steps("x * sqrt(1.0 + (y / x) ** 2)", steps::hypot),
                Formula,
                3.0,
                2.0,
            ),
            // Twice.
            within(
                "math.hypot(x, y, z)",
                Numbers,
                Steps("hypot(hypot(x, y), z)", steps::hypot_of_three),
                Formula,
                Ulp(6.0),
            ),
        ],
        doc: "The root of the sum of the squares of all arguments.",
        example: "hypot(3.0, 4.0)",
        ..FUNCTION
    },
    Row {
        names: &["exp"],
        params: &[number("x")],
        typing: instruction_or(FloatFn::Exp, "exp"),
        fold: Fold::Of1(libm::exp),
        floats: &[in_library("exp(x)", Numbers, EXP, Vulkan, 1.0, 1.0)],
        doc: "A power of e.",
        example: "exp(1.0)",
        ..FUNCTION
    },
    Row {
        names: &["exp2"],
        params: &[number("x")],
        typing: instruction_or(FloatFn::Exp2, "exp2"),
        fold: Fold::Of1(libm::exp2),
        floats: &[in_library("exp2(x)", Numbers, EXP, Vulkan, 1.0, 1.0)],
        doc: "A power of 2.",
        example: "exp2(10.0)",
        ..FUNCTION
    },
    Row {
        names: &["expm1"],
        params: &[number("x")],
        typing: formula_or(FormulaFn::Expm1, "expm1"),
        fold: Fold::Of1(libm::expm1),
        floats: &[in_library(
            "expm1(x)",
            Numbers,
            Steps("(exp(x) - 1.0) * x / log(exp(x))", steps::expm1),
            Formula,
            4.0,
            2.0,
        )],
        doc: "The difference `exp(x) - 1`, exact near 0.",
        example: "expm1(1e-6)",
        ..FUNCTION
    },
    Row {
        names: &["log"],
        params: &[number("x"), number("base").optional()],
        typing: Typing::Numbers(NumberRule::OneOrTwo(&LOG, &LOG_OF_BASE)),
        fold: Fold::Of1Or2(libm::log, |x, base| libm::log(x) / libm::log(base)),
        floats: &[
            in_library("log(x)", Numbers, NEAR_ONE, Vulkan, 1.0, 1.0),
            in_library(
                "log(x, y)",
                Numbers,
                Steps("log2(x) / log2(y)", steps::log_of_base),
                Formula,
                3.0,
                4.0,
            ),
        ],
        external: &[(&["ln", "loge"], "write `log(x)`, the natural logarithm")],
        doc: "The natural logarithm, or the one of a base.",
        example: "log(8.0, 2.0)",
        ..FUNCTION
    },
    Row {
        names: &["log2"],
        params: &[number("x")],
        typing: instruction_or(FloatFn::Log2, "log2"),
        fold: Fold::Of1(libm::log2),
        floats: &[in_library("log2(x)", Numbers, NEAR_ONE, Vulkan, 1.0, 1.0)],
        doc: "The logarithm of base 2.",
        example: "log2(8.0)",
        ..FUNCTION
    },
    Row {
        names: &["log10"],
        params: &[number("x")],
        typing: formula_or(FormulaFn::Log10, "log10"),
        fold: Fold::Of1(libm::log10),
        floats: &[in_library(
            "log10(x)",
            Numbers,
            Steps("log2(x) * log10(2.0)", steps::log10),
            Formula,
            3.0,
            1.0,
        )],
        doc: "The logarithm of base 10.",
        example: "log10(1000.0)",
        ..FUNCTION
    },
    Row {
        names: &["log1p"],
        params: &[number("x")],
        typing: formula_or(FormulaFn::Log1p, "log1p"),
        fold: Fold::Of1(libm::log1p),
        floats: &[in_library(
            "log1p(x)",
            Numbers,
            Steps("log(1.0 + x) * x / ((1.0 + x) - 1.0)", steps::log1p),
            Formula,
            4.0,
            2.0,
        )],
        doc: "The logarithm `log(1 + x)`, exact near 0.",
        example: "log1p(1e-6)",
        ..FUNCTION
    },
    Row {
        names: &["sin"],
        params: &[number("x")],
        typing: instruction_or(FloatFn::Sin, "sin"),
        fold: Fold::Of1(libm::sin),
        floats: &[in_library("sin(x)", Between(-PI, PI), Absolute(COARSE), Vulkan, 1.0, 1.0)],
        doc: "The sine of an angle in radians.",
        example: "sin(0.5)",
        ..FUNCTION
    },
    Row {
        names: &["cos"],
        params: &[number("x")],
        typing: instruction_or(FloatFn::Cos, "cos"),
        fold: Fold::Of1(libm::cos),
        floats: &[in_library("cos(x)", Between(-PI, PI), Absolute(COARSE), Vulkan, 1.0, 1.0)],
        doc: "The cosine of an angle in radians.",
        example: "cos(0.5)",
        ..FUNCTION
    },
    Row {
        names: &["tan"],
        params: &[number("x")],
        typing: instruction_or(FloatFn::Tan, "tan"),
        fold: Fold::Of1(libm::tan),
        floats: &[in_library(
            "tan(x)",
            Between(-PI, PI),
            Steps("sin(x) / cos(x)", steps::tan),
            Vulkan,
            1.0,
            2.0,
        )],
        doc: "The tangent of an angle in radians.",
        example: "tan(0.5)",
        ..FUNCTION
    },
    Row {
        names: &["asin"],
        params: &[number("x")],
        typing: instruction_or(FloatFn::Asin, "asin"),
        fold: Fold::Of1(libm::asin),
        floats: &[in_library(
            "asin(x)",
            Numbers,
            Steps("atan2(x, sqrt(1.0 - x * x))", steps::asin),
            Vulkan,
            1.0,
            2.0,
        )],
        external: &[(&["arcsin", "arccos", "arctan"], "write `asin(x)`, `acos(x)` or `atan(x)`")],
        doc: "The angle of a sine.",
        example: "asin(0.5)",
        ..FUNCTION
    },
    Row {
        names: &["acos"],
        params: &[number("x")],
        typing: instruction_or(FloatFn::Acos, "acos"),
        fold: Fold::Of1(libm::acos),
        floats: &[in_library(
            "acos(x)",
            Numbers,
            Steps("atan2(sqrt(1.0 - x * x), x)", steps::acos),
            Vulkan,
            1.0,
            2.0,
        )],
        doc: "The angle of a cosine.",
        example: "acos(0.5)",
        ..FUNCTION
    },
    Row {
        names: &["atan"],
        params: &[number("x")],
        typing: instruction_or(FloatFn::Atan, "atan"),
        fold: Fold::Of1(libm::atan),
        floats: &[in_library("atan(x)", Numbers, Ulp(4096.0), Vulkan, 1.0, 1.0)],
        doc: "The angle of a tangent.",
        example: "atan(1.0)",
        ..FUNCTION
    },
    Row {
        names: &["atan2"],
        params: &[number("y"), number("x")],
        typing: formula_or(FormulaFn::Atan2, "atan2"),
        fold: Fold::Of2(libm::atan2),
        floats: &[in_library("atan2(x, y)", Numbers, Ulp(4096.0), Vulkan, 1.5, 1.0)],
        external: &[(&["arctan2"], "")],
        doc: "The angle of a point.",
        example: "atan2(1.0, -1.0)",
        ..FUNCTION
    },
    Row {
        names: &["sinh"],
        params: &[number("x")],
        typing: instruction_or(FloatFn::Sinh, "sinh"),
        fold: Fold::Of1(libm::sinh),
        floats: &[in_library(
            "sinh(x)",
            Numbers,
            Steps("(exp(x) - exp(-x)) * 0.5", steps::sinh),
            Vulkan,
            1.0,
            3.0,
        )],
        doc: "The hyperbolic sine.",
        example: "sinh(1.0)",
        ..FUNCTION
    },
    Row {
        names: &["cosh"],
        params: &[number("x")],
        typing: instruction_or(FloatFn::Cosh, "cosh"),
        fold: Fold::Of1(libm::cosh),
        floats: &[in_library(
            "cosh(x)",
            Numbers,
            Steps("(exp(x) + exp(-x)) * 0.5", steps::cosh),
            Vulkan,
            1.0,
            3.0,
        )],
        doc: "The hyperbolic cosine.",
        example: "cosh(1.0)",
        ..FUNCTION
    },
    Row {
        names: &["tanh"],
        params: &[number("x")],
        typing: instruction_or(FloatFn::Tanh, "tanh"),
        fold: Fold::Of1(libm::tanh),
        floats: &[in_library("tanh(x)", Numbers, Steps("sinh(x) / cosh(x)", steps::tanh), Vulkan, 1.0, 3.0)],
        doc: "The hyperbolic tangent.",
        example: "tanh(1.0)",
        ..FUNCTION
    },
    Row {
        names: &["asinh"],
        params: &[number("x")],
        typing: instruction_or(FloatFn::Asinh, "asinh"),
        fold: Fold::Of1(libm::asinh),
        floats: &[in_library(
            "asinh(x)",
            Numbers,
            Steps("log(x + sqrt(x * x + 1.0))", steps::asinh),
            Vulkan,
            1.0,
            3.0,
        )],
        doc: "The inverse of `sinh`.",
        example: "asinh(1.0)",
        ..FUNCTION
    },
    Row {
        names: &["acosh"],
        params: &[number("x")],
        typing: instruction_or(FloatFn::Acosh, "acosh"),
        fold: Fold::Of1(libm::acosh),
        floats: &[in_library(
            "acosh(x)",
            Numbers,
            Steps("log(x + sqrt(x * x - 1.0))", steps::acosh),
            Vulkan,
            1.0,
            3.0,
        )],
        doc: "The inverse of `cosh`.",
        example: "acosh(2.0)",
        ..FUNCTION
    },
    Row {
        names: &["atanh"],
        params: &[number("x")],
        typing: instruction_or(FloatFn::Atanh, "atanh"),
        fold: Fold::Of1(libm::atanh),
        floats: &[in_library(
            "atanh(x)",
            Numbers,
            Steps("log((1.0 + x) / (1.0 - x)) * 0.5", steps::atanh),
            Vulkan,
            1.0,
            3.0,
        )],
        doc: "The inverse of `tanh`.",
        example: "atanh(0.5)",
        ..FUNCTION
    },
    Row {
        names: &["degrees"],
        params: &[number("x")],
        typing: formula(FormulaFn::Degrees),
        fold: Fold::Of1(f64::to_degrees),
        floats: &[within("degrees(x)", Numbers, Ulp(2.0), Formula, Ulp(2.0))],
        doc: "An angle in radians, in degrees.",
        example: "degrees(pi)",
        ..FUNCTION
    },
    Row {
        names: &["radians"],
        params: &[number("x")],
        typing: formula(FormulaFn::Radians),
        fold: Fold::Of1(f64::to_radians),
        floats: &[within("radians(x)", Numbers, Ulp(2.0), Formula, Ulp(2.0))],
        doc: "An angle in degrees, in radians.",
        example: "radians(180.0)",
        ..FUNCTION
    },
];
