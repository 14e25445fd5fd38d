//! Judges whether a float result is permitted.
//!
//! All NaNs are equal. A device that flushes subnormal numbers may do so to operands and results, and may
//! compare the flushed number but return the original. Where a bound is exact, the sign of zeros matters.

use kps_kernel::intrinsics::{Bound, Domain, Format, Intrinsic};

use crate::columns::Column;
use crate::number::Float;
use crate::rows::{Exact, FloatRow};

/// A row of one type in one column, with its guarantee.
pub struct Judge<'r> {
    row: &'r FloatRow,
    float: Float,
    column: Column,
    bound: Bound,
    domain: Domain,
}

impl Judge<'_> {
    pub fn new<'r>(row: &'r FloatRow, intrinsic: &Intrinsic, float: Float, column: Column) -> Judge<'r> {
        let (bound, domain) = match (float, intrinsic.double, column) {
            (Float::F64, Some(bound), _) => (bound, Domain::Everywhere),
            // The host has one power function for all exponents.
            (_, _, Column::Machine) if row.call.contains("**") => (Bound::Ulp(1.0), Domain::Everywhere),
            (_, _, Column::Vulkan) => (intrinsic.vulkan, intrinsic.domain),
            (..) => (intrinsic.builtin, Domain::Everywhere),
        };
        Judge { row, float, column, bound, domain }
    }

    /// Why a result is wrong; `None` if it is right, or if there is no guarantee.
    pub fn complaint(&self, found: f64, args: [f64; 3]) -> Option<String> {
        let format = self.float.format();
        let wanted = self.exact(args);
        let is_promised = self.domain.holds(args, self.float.round(wanted), format);
        if !is_promised || self.accepts(found, args) {
            return None;
        }
        if self.column == Column::Vulkan {
            let flushed = args.map(|arg| flush(arg, format));
            let is_flushed = |wanted: f64| self.float.round(wanted).abs() < format.least_normal();
            let may_be_zero = is_flushed(wanted) || is_flushed(self.exact(flushed));
            if found == 0.0 && may_be_zero || self.accepts(flush(found, format), flushed) {
                return None;
            }
        }
        let units = (found - wanted).abs() / format.unit(wanted);
        let [x, y, z] = args;
        Some(format!("({x:e}, {y:e}, {z:e}) gives {found:e}, and {wanted:e} is right: {units:.2} ULP off"))
    }

    /// The true result. Fused operations need more than 53 digits in between, so they are computed as f32.
    fn exact(&self, [x, y, z]: [f64; 3]) -> f64 {
        match (self.row.call, self.float) {
            ("fma(x, y, z)", Float::F16 | Float::Bf16 | Float::F32) if matches!(self.bound, Bound::Exact) => {
                f64::from((x as f32).mul_add(y as f32, z as f32))
            }
            _ => match self.row.exact {
                Exact::OfAll(exact) => exact(x, y, z),
                Exact::OfEach(exact) => exact(self.float, [x, y, z]),
            },
        }
    }

    fn accepts(&self, found: f64, args: [f64; 3]) -> bool {
        let wanted = self.exact(args);
        let allowed = self.allowed(args, wanted);
        // If the steps of a formula lose all digits, there is no guarantee.
        !allowed.is_finite() || is_within(found, wanted, allowed, self.float)
    }

    /// A function of a narrow float has f32's bound plus half a unit of its own; an operator has its own
    /// bound.
    fn allowed(&self, args: [f64; 3], wanted: f64) -> f64 {
        let format = self.float.format();
        let own = self.bound.allowed(args, wanted, format);
        let half_unit = 0.5 * format.unit(wanted);
        match (self.bound, self.float) {
            (Bound::Exact, _) | (_, Float::F32) => own,
            // The host's own function may be off by half a unit, too.
            (_, Float::F64) => own + half_unit,
            (..) => own.max(self.bound.allowed(args, wanted, Format::F32)) + half_unit,
        }
    }
}

fn is_within(found: f64, wanted: f64, allowed: f64, float: Float) -> bool {
    let rounded = float.round(wanted);
    if found.is_nan() || rounded.is_nan() {
        return found.is_nan() && rounded.is_nan();
    }
    if found == rounded {
        return found != 0.0 || allowed > 0.0 || found.is_sign_negative() == rounded.is_sign_negative();
    }
    // Beyond the largest number, an infinity counts as that number.
    let largest = float.format().largest();
    let near = found.clamp(-largest, largest);
    (near - wanted.clamp(-largest, largest)).abs() <= allowed
}

fn flush(value: f64, format: Format) -> f64 {
    if value.abs() < format.least_normal() { 0f64.copysign(value) } else { value }
}
