//! The accuracy of operators and functions of floats: their domains, error bounds, and the source of each bound.
//!
//! Operators have their bounds here, functions in their rows in `builtins`. `docs/src/reference/accuracy.md` is printed
//! from both, and the conformance tests compare every device with them.
//!
//! A function that is one SPIR-V instruction has the bound of Vulkan's specification ("Precision and Operation of
//! SPIR-V Instructions"). A function that is a formula, there or here, has the sum of the bounds of its steps. The
//! built-in device has tighter bounds for all. Vulkan has no useful bounds for f64; its functions are those of
//! `library`, which need correctly rounded `+ - * /` and square roots.
//!
//! A function of f16 or bf16 is computed in f32 and rounded once: its bound is that of f32 plus half a unit of its own
//! type. Bounds of their operators are in units of their own type.

pub(crate) mod bound;
mod rough;
pub(crate) mod rows;
pub(crate) mod steps;

pub use bound::{Bound, Domain};
pub use rough::{Format, Rough};
pub use rows::{Intrinsic, Source};

use Bound::{Exact, Steps, Ulp};
use Domain::{Divisor, Numbers};
use Source::{Formula, Vulkan};

use crate::builtins;
use rows::{exact, in_library, within};

/// Those of all operators and functions, in the order of the page.
pub fn intrinsics() -> impl Iterator<Item = &'static Intrinsic> {
    OPERATORS.iter().chain(builtins::functions().flat_map(|function| function.row().floats))
}

/// The one that is written so.
pub fn intrinsic(call: &str) -> Option<&'static Intrinsic> {
    intrinsics().find(|intrinsic| intrinsic.call == call)
}

/// Every operator of floats.
const OPERATORS: &[Intrinsic] = &[
    exact("x + y"),
    exact("x - y"),
    exact("x * y"),
    // Drivers take short cuts at constant zeros.
    exact("x + 0.0"),
    exact("0.0 - x"),
    exact("x * 0.0"),
    within("x / y", Divisor, Ulp(2.5), Vulkan, Exact),
    within("x // y", Numbers, Steps("floor(x / y)", steps::floor_div), Formula, Ulp(2.0)),
    within("x % y", Numbers, Steps("x - y * floor(x / y)", steps::floor_mod), Formula, Exact),
    in_library("x ** y", Numbers, Steps("exp2(y * log2(x))", steps::pow), Formula, 1.0, 1.0),
    exact("x ** 2"),
    within("x ** 3", Numbers, Steps("x * x * x", steps::cube), Formula, Ulp(2.0)),
    within("x ** -1", Numbers, Steps("1.0 / x", steps::reciprocal), Formula, Exact),
    within("x ** 0.5", Numbers, Steps("1.0 / inversesqrt(x)", steps::sqrt), Formula, Exact),
    exact("-x"),
];
