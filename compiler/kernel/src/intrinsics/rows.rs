//! The bounds of one operator or function, for the tables here and in `builtins`.

use super::bound::Bound::{self, Exact, Ulp};
use super::bound::Domain::{self, Everywhere};
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
    /// Of f64 on every device, where that is a function of the library.
    pub double: Option<Bound>,
}

/// The source of a bound on Vulkan devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The table of the specification.
    Vulkan,
    /// A formula over instructions that are in that table.
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

/// Bounds of all types.
pub(crate) const fn within(
    call: &'static str,
    domain: Domain,
    vulkan: Bound,
    source: Source,
    builtin: Bound,
) -> Intrinsic {
    Intrinsic { call, domain, vulkan, source, builtin, double: None }
}

/// Bounds in ULP of a function that is one of the library for f64.
pub(crate) const fn in_library(
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
pub(crate) const fn in_library_within(
    call: &'static str,
    domain: Domain,
    vulkan: Bound,
    builtin: Bound,
    double: Bound,
) -> Intrinsic {
    Intrinsic { call, domain, vulkan, source: Formula, builtin, double: Some(double) }
}

/// Rounds right, or has nothing to round, on every device.
pub(crate) const fn exact(call: &'static str) -> Intrinsic {
    within(call, Everywhere, Exact, Vulkan, Exact)
}
