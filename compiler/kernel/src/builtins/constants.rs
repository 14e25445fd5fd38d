//! The constants of `math`.

use std::f64::consts;

use super::row::Known;
use super::section::{ALONE, Constant, Rows, Section};

pub static SECTION: Section =
    Section { title: "Constants", about: "", rows: Rows::Constants(CONSTANTS), setup: ALONE };

/// Bare `e`, `inf` and `tau` are too likely a misspelt name of the user's.
pub(super) const CONSTANTS: &[Constant] = &[
    constant("pi", consts::PI, Known::Everywhere, "Half the circumference of the unit circle."),
    constant("e", consts::E, Known::Member, "The base of the natural logarithm."),
    constant("tau", consts::TAU, Known::Member, "The circumference of the unit circle."),
    constant("inf", f64::INFINITY, Known::Member, "Infinity."),
    constant("nan", f64::NAN, Known::Member, "Not a number; `isnan(x)` tests for it."),
];

const fn constant(name: &'static str, value: f64, known: Known, doc: &'static str) -> Constant {
    Constant { name, value, known, doc }
}

pub(super) fn named(name: &str) -> Option<&'static Constant> {
    CONSTANTS.iter().find(|constant| constant.name == name)
}
