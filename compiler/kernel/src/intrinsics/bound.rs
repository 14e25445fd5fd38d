//! Error bounds and domains of functions, for tests and for the reference pages.

use std::fmt;

use super::rough::{Format, Rough};

/// How far a result may be from the true one.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// Rounded right, or with nothing to round.
    Exact,
    /// Units in the last place of the true result.
    Ulp(f64),
    /// So many units, and as many more times the size of `x`.
    Growing {
        units: f64,
        times: f64,
    },
    Absolute(f64),
    /// Units, but an absolute error if `x` is between two numbers.
    UlpOrNear {
        units: f64,
        near: (f64, f64),
        absolute: f64,
    },
    /// The sum of the bounds of a formula's steps.
    Steps(&'static str, Steps),
}

/// A formula over `x`, `y` and `z`.
pub type Steps = fn([Rough; 3]) -> Rough;

impl Bound {
    /// How far a result in `format` may be from `exact`. Rounding is not part of it, where the bound
    /// is exact.
    pub fn allowed(&self, args: [f64; 3], exact: f64, format: Format) -> f64 {
        let unit = format.unit(exact);
        match self {
            Bound::Exact => 0.0,
            Bound::Ulp(units) => units * unit,
            Bound::Growing { units, times } => (units + times * args[0].abs()) * unit,
            Bound::Absolute(error) => *error,
            Bound::UlpOrNear { near: (low, high), absolute, .. } if args[0] >= *low && args[0] <= *high => {
                *absolute
            }
            Bound::UlpOrNear { units, .. } => units * unit,
            Bound::Steps(_, steps) => steps(args.map(|arg| Rough::exactly(arg, format))).error,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Bound::Exact => write!(f, "correctly rounded"),
            Bound::Ulp(units) => write!(f, "{units} ULP"),
            Bound::Growing { units, times } => write!(f, "{units} + {times} * \\|x\\| ULP"),
            Bound::Absolute(error) => write!(f, "{}", Power(*error)),
            Bound::UlpOrNear { units, near: (low, high), absolute } => {
                write!(f, "{units} ULP; {} where x is in [{low}, {high}]", Power(*absolute))
            }
            Bound::Steps(formula, _) => write!(f, "as `{formula}`"),
        }
    }
}

/// Where a bound holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    Everywhere,
    /// Finite arguments that have a finite result, and are not subnormal: so are all below.
    Numbers,
    /// `x` between two numbers.
    Between(f64, f64),
    /// `y` and its inverse are not subnormal.
    Divisor,
}

impl Domain {
    pub fn holds(self, args: [f64; 3], exact: f64, format: Format) -> bool {
        let is_normal = |arg: f64| arg == 0.0 || arg.is_finite() && arg.abs() >= format.least_normal();
        let finite = args.into_iter().all(is_normal) && exact.is_finite();
        match self {
            Domain::Everywhere => true,
            Domain::Numbers => finite,
            Domain::Between(low, high) => finite && args[0] >= low && args[0] <= high,
            Domain::Divisor => {
                let least = format.least_normal();
                finite && args[1].abs() >= least && args[1].abs() <= 1.0 / least
            }
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Domain::Everywhere => write!(f, "everywhere"),
            Domain::Numbers => write!(f, "finite"),
            Domain::Between(low, high) => write!(f, "x in [{}, {}]", Power(*low), Power(*high)),
            Domain::Divisor => write!(f, "\\|y\\| in [2^-126, 2^126]; for f16 in [2^-14, 2^14]"),
        }
    }
}

/// A number, as a power of two or a part of pi where it is one.
struct Power(f64);

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let exponent = self.0.abs().log2();
        match self.0 {
            value if value.abs() == std::f64::consts::PI => {
                write!(f, "{}pi", if value < 0.0 { "-" } else { "" })
            }
            value if exponent.fract() == 0.0 && exponent.abs() > 4.0 && value > 0.0 => {
                write!(f, "2^{exponent}")
            }
            value => write!(f, "{value}"),
        }
    }
}
