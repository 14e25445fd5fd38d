//! What every operator and function of floats promises: where, how far from the true result, and by
//! whose word.
//!
//! The table is data: `docs/src/reference/accuracy.md` is printed from it, and the conformance tests hold every
//! device to it. Functions that are one instruction of SPIR-V have the bound that Vulkan's specification
//! states for it ("Precision and Operation of SPIR-V Instructions"); what it defines by a formula, and
//! what is a formula of ours, has the bound that the formula's steps add up to. The built-in device keeps
//! tighter ones, everywhere. For f64, Vulkan states nothing of use: there the functions are our own, of
//! `library`, and rely on `+ - * /` and the square root being rounded right.
//!
//! A function of f16 or bf16 is computed in f32 and rounded once: it has f32's bound and half a unit of
//! its own. Their operators count units of their own type.

mod bound;
mod rough;
mod steps;

pub use bound::{Bound, Domain};
pub use rough::{Format, Rough};

use std::f64::consts::PI;

use Bound::{Absolute, Exact, Growing, Steps, Ulp, UlpOrNear};
use Domain::{Between, Divisor, Everywhere, Numbers};
use Source::{Formula, Vulkan};

/// One operator or function.
#[derive(Clone, Copy, Debug)]
pub struct Intrinsic {
    /// How a kernel writes it, over `x`, `y` and `z`.
    pub call: &'static str,
    /// Where `vulkan` holds.
    pub domain: Domain,
    /// On any Vulkan device, in units of the type at hand.
    pub vulkan: Bound,
    pub source: Source,
    /// On the built-in device, everywhere.
    pub builtin: Bound,
    /// Of f64 on every device, where that is a function of our own.
    pub double: Option<Bound>,
}

/// By whose word a bound holds on Vulkan devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The table of its specification.
    Vulkan,
    /// A formula of ours, over instructions that are in that table.
    Formula,
}

impl Source {
    pub fn name(self) -> &'static str {
        match self {
            Vulkan => "Vulkan",
            Formula => "formula",
        }
    }
}

/// The one that is written so.
pub fn intrinsic(call: &str) -> Option<&'static Intrinsic> {
    INTRINSICS.iter().find(|intrinsic| intrinsic.call == call)
}

const fn row(call: &'static str, domain: Domain, vulkan: Bound, source: Source, builtin: Bound) -> Intrinsic {
    Intrinsic { call, domain, vulkan, source, builtin, double: None }
}

/// A function that has a body of its own for f64.
const fn ours(
    call: &'static str,
    domain: Domain,
    vulkan: Bound,
    source: Source,
    builtin: f64,
    double: f64,
) -> Intrinsic {
    Intrinsic { call, domain, vulkan, source, builtin: Ulp(builtin), double: Some(Ulp(double)) }
}

/// The same with bounds of any form.
const fn bounded(
    call: &'static str,
    domain: Domain,
    vulkan: Bound,
    builtin: Bound,
    double: Bound,
) -> Intrinsic {
    Intrinsic { call, domain, vulkan, source: Formula, builtin, double: Some(double) }
}

/// Rounds right, or has nothing to round, on every device.
const fn exact(call: &'static str) -> Intrinsic {
    row(call, Everywhere, Exact, Vulkan, Exact)
}

const TINY: f64 = 1.0 / (1u64 << 21) as f64;
const COARSE: f64 = 1.0 / (1u64 << 11) as f64;
const LOG: Bound = UlpOrNear { units: 3.0, near: (0.5, 2.0), absolute: TINY };
const EXP: Bound = Growing { units: 3.0, times: 2.0 };
/// A factor for each unit that `x` lies beyond 2.
const GAMMA: Bound = Growing { units: 6.0, times: 1.0 };
/// Two terms cancel where the function crosses zero between its poles.
const LOG_GAMMA_ROUGH: Bound = UlpOrNear { units: 12.0, near: (-20.0, 8.0), absolute: 1.0 / 16384.0 };
const LOG_GAMMA: Bound = UlpOrNear { units: 8.0, near: (-20.0, -2.0), absolute: 1.0 / 65536.0 };
const LOG_GAMMA_OF_DOUBLES: Bound =
    UlpOrNear { units: 8.0, near: (-40.0, -2.0), absolute: 1.0 / (1u64 << 42) as f64 };

/// Every operator and function of floats.
pub const INTRINSICS: &[Intrinsic] = &[
    exact("x + y"),
    exact("x - y"),
    exact("x * y"),
    // Drivers take short cuts at constant zeros.
    exact("x + 0.0"),
    exact("0.0 - x"),
    exact("x * 0.0"),
    row("x / y", Divisor, Ulp(2.5), Vulkan, Exact),
    row("x // y", Numbers, Steps("floor(x / y)", steps::floor_div), Formula, Ulp(2.0)),
    row("x % y", Numbers, Steps("x - y * floor(x / y)", steps::floor_mod), Formula, Exact),
    row("fmod(x, y)", Numbers, Steps("x - y * trunc(x / y)", steps::rem), Vulkan, Exact),
    row("trem(x, y)", Numbers, Steps("x - y * trunc(x / y)", steps::rem), Vulkan, Exact),
    ours("x ** y", Numbers, Steps("exp2(y * log2(x))", steps::pow), Formula, 1.0, 1.0),
    exact("x ** 2"),
    row("x ** 3", Numbers, Steps("x * x * x", steps::cube), Formula, Ulp(2.0)),
    row("x ** -1", Numbers, Steps("1.0 / x", steps::reciprocal), Formula, Exact),
    row("x ** 0.5", Numbers, Steps("1.0 / inversesqrt(x)", steps::sqrt), Formula, Exact),
    exact("-x"),
    exact("abs(x)"),
    exact("sign(x)"),
    exact("min(x, y)"),
    exact("max(x, y)"),
    exact("clamp(x, y, z)"),
    exact("nmin(x, y)"),
    exact("nmax(x, y)"),
    exact("nclamp(x, y, z)"),
    exact("copysign(x, y)"),
    exact("step(x, y)"),
    exact("floor(x)"),
    exact("ceil(x)"),
    exact("trunc(x)"),
    exact("round(x)"),
    // Kept below one, where the nearest number is one.
    row("fract(x)", Numbers, Ulp(1.0), Vulkan, Ulp(1.0)),
    row("fma(x, y, z)", Numbers, Steps("x * y + z", steps::fma), Vulkan, Exact),
    row("sqrt(x)", Numbers, Steps("1.0 / inversesqrt(x)", steps::sqrt), Vulkan, Exact),
    row("inversesqrt(x)", Numbers, Ulp(2.0), Vulkan, Ulp(1.5)),
    ours("exp(x)", Numbers, EXP, Vulkan, 1.0, 1.0),
    ours("exp2(x)", Numbers, EXP, Vulkan, 1.0, 1.0),
    ours("expm1(x)", Numbers, Steps("(exp(x) - 1.0) * x / log(exp(x))", steps::expm1), Formula, 4.0, 2.0),
    ours("log(x)", Numbers, LOG, Vulkan, 1.0, 1.0),
    ours("log(x, y)", Numbers, Steps("log2(x) / log2(y)", steps::log_of_base), Formula, 3.0, 4.0),
    ours("log2(x)", Numbers, LOG, Vulkan, 1.0, 1.0),
    ours("log10(x)", Numbers, Steps("log2(x) * log10(2.0)", steps::log10), Formula, 3.0, 1.0),
    ours("log1p(x)", Numbers, Steps("log(1.0 + x) * x / ((1.0 + x) - 1.0)", steps::log1p), Formula, 4.0, 2.0),
    ours("cbrt(x)", Numbers, Ulp(4.0), Formula, 2.0, 1.0),
    ours("hypot(x, y)", Numbers, Steps("x * sqrt(1.0 + (y / x) ** 2)", steps::hypot), Formula, 3.0, 2.0),
    ours("sin(x)", Between(-PI, PI), Absolute(COARSE), Vulkan, 1.0, 1.0),
    ours("cos(x)", Between(-PI, PI), Absolute(COARSE), Vulkan, 1.0, 1.0),
    ours("tan(x)", Between(-PI, PI), Steps("sin(x) / cos(x)", steps::tan), Vulkan, 1.0, 2.0),
    ours("asin(x)", Numbers, Steps("atan2(x, sqrt(1.0 - x * x))", steps::asin), Vulkan, 1.0, 2.0),
    ours("acos(x)", Numbers, Steps("atan2(sqrt(1.0 - x * x), x)", steps::acos), Vulkan, 1.0, 2.0),
    ours("atan(x)", Numbers, Ulp(4096.0), Vulkan, 1.0, 1.0),
    ours("atan2(x, y)", Numbers, Ulp(4096.0), Vulkan, 1.5, 1.0),
    ours("sinh(x)", Numbers, Steps("(exp(x) - exp(-x)) * 0.5", steps::sinh), Vulkan, 1.0, 3.0),
    ours("cosh(x)", Numbers, Steps("(exp(x) + exp(-x)) * 0.5", steps::cosh), Vulkan, 1.0, 3.0),
    ours("tanh(x)", Numbers, Steps("sinh(x) / cosh(x)", steps::tanh), Vulkan, 1.0, 3.0),
    ours("asinh(x)", Numbers, Steps("log(x + sqrt(x * x + 1.0))", steps::asinh), Vulkan, 1.0, 3.0),
    ours("acosh(x)", Numbers, Steps("log(x + sqrt(x * x - 1.0))", steps::acosh), Vulkan, 1.0, 3.0),
    ours("atanh(x)", Numbers, Steps("log((1.0 + x) / (1.0 - x)) * 0.5", steps::atanh), Vulkan, 1.0, 3.0),
    ours("math.erf(x)", Numbers, Ulp(6.0), Formula, 2.0, 2.0),
    ours("math.erfc(x)", Numbers, steps::ERFC, Formula, 8.0, 6.0),
    bounded("math.gamma(x)", Numbers, GAMMA, GAMMA, Ulp(8.0)),
    bounded("math.lgamma(x)", Numbers, LOG_GAMMA_ROUGH, LOG_GAMMA, LOG_GAMMA_OF_DOUBLES),
    row("math.remainder(x, y)", Numbers, Steps("x - y * round(x / y)", steps::remainder), Formula, Exact),
    row("math.frexp(x)[0]", Everywhere, Exact, Formula, Exact),
    row("math.ldexp(x, 3)", Everywhere, Exact, Formula, Exact),
    row("math.ldexp(x, -140)", Everywhere, Exact, Formula, Exact),
    row("round(x, 2)", Numbers, Ulp(4.0), Formula, Ulp(1.0)),
    row("degrees(x)", Numbers, Ulp(2.0), Formula, Ulp(2.0)),
    row("radians(x)", Numbers, Ulp(2.0), Formula, Ulp(2.0)),
    row("mix(x, y, z)", Numbers, Steps("x * (1.0 - z) + y * z", steps::mix), Formula, steps::MIX),
    row("smooth_step(x, y, z)", Numbers, steps::SMOOTH_STEP, Formula, steps::SMOOTH_STEP),
    row("dot(vec2(x, y), vec2(y, z))", Numbers, steps::DOT, Vulkan, steps::DOT),
    row("length(vec2(x, y))", Numbers, steps::LENGTH, Vulkan, steps::LENGTH),
    row("distance(vec2(x, y), vec2(y, z))", Numbers, steps::DISTANCE, Vulkan, steps::DISTANCE),
    row("normalize(vec2(x, y)).x", Numbers, steps::NORMALIZE, Vulkan, steps::NORMALIZE),
    row("cross(vec3(x, y, z), vec3(z, x, y)).x", Numbers, steps::CROSS, Vulkan, steps::CROSS),
    row("reflect(vec2(x, y), vec2(y, z)).x", Numbers, steps::REFLECT, Vulkan, steps::REFLECT),
    row("refract(vec2(x, y), vec2(y, z), z).x", Numbers, steps::REFRACT, Vulkan, steps::REFRACT),
    row(
        "face_forward(vec2(x, y), vec2(y, z), vec2(z, x)).x",
        Numbers,
        steps::FACE_FORWARD,
        Vulkan,
        steps::FACE_FORWARD,
    ),
];
