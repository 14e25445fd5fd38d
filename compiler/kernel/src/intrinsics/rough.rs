//! Numbers with an error bound, propagated by Vulkan's rules for single instructions.
//!
//! In go exact arguments, out comes a value with the largest difference of a device's result. That gives the bound of a
//! function that the specification defines by a formula ("inherited from `sin(x) / cos(x)`"). Nothing here runs in a
//! kernel.

use std::ops::{Add, Div, Mul, Sub};

/// How a float type rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Binary digits, the hidden one included.
    pub digits: i32,
    /// The exponent of the least number that is not subnormal.
    pub min_exponent: i32,
}

impl Format {
    pub const F16: Format = Format { digits: 11, min_exponent: -14 };
    pub const BF16: Format = Format { digits: 8, min_exponent: -126 };
    pub const F32: Format = Format { digits: 24, min_exponent: -126 };
    pub const F64: Format = Format { digits: 53, min_exponent: -1022 };

    /// The unit in the last place of numbers of this size.
    pub fn unit(self, value: f64) -> f64 {
        let exponent = match value.abs() {
            0.0 => self.min_exponent,
            size if size.is_finite() => exponent(size).max(self.min_exponent),
            _ => return 0.0,
        };
        power_of_two(exponent - (self.digits - 1))
    }

    /// The least number that is not subnormal.
    pub fn least_normal(self) -> f64 {
        power_of_two(self.min_exponent)
    }

    /// The largest number that is finite.
    pub fn largest(self) -> f64 {
        (2.0 - power_of_two(1 - self.digits)) * power_of_two(1 - self.min_exponent)
    }
}

/// The exponent of the highest binary digit.
fn exponent(size: f64) -> i32 {
    let biased = (size.to_bits() >> 52) as i32 & 0x7ff;
    // A subnormal f64 is far below every least exponent but its own type's.
    if biased == 0 { -1022 } else { biased - 1023 }
}

/// Exact for subnormal results too.
fn power_of_two(exponent: i32) -> f64 {
    if exponent >= -1022 { 2f64.powi(exponent) } else { f64::from_bits(1 << (exponent + 1074).max(0)) }
}

/// A value and how far off a device may be.
#[derive(Clone, Copy, Debug)]
pub struct Rough {
    pub value: f64,
    pub error: f64,
    pub format: Format,
}

impl Rough {
    pub fn exactly(value: f64, format: Format) -> Rough {
        Rough { value, error: 0.0, format }
    }

    /// The same precision, another number.
    pub fn constant(self, value: f64) -> Rough {
        Rough::exactly(value, self.format)
    }

    /// `value` with the error of its operands and `units` of its own. A device may flush subnormals, and nothing is
    /// known above the largest number.
    fn rounded(self, value: f64, error: f64, units: f64) -> Rough {
        let flushed = match value.abs() {
            size if size < self.format.least_normal() => size,
            size if size <= self.format.largest() => 0.0,
            _ => f64::INFINITY,
        };
        // Half of the least f64 is none.
        let own = (units * self.format.unit(value)).max(if units > 0.0 { f64::from_bits(1) } else { 0.0 });
        Rough { value, error: error + own + flushed, format: self.format }
    }

    /// The variation of a monotonic function over the range of `self`.
    fn moved(self, function: impl Fn(f64) -> f64) -> f64 {
        let middle = function(self.value);
        let ends = [function(self.value - self.error), function(self.value + self.error)];
        let moved = ends.map(|end| if end == middle { 0.0 } else { (end - middle).abs() });
        // Beside the function's domain nothing is known.
        if moved.iter().any(|moved| moved.is_nan()) { f64::INFINITY } else { moved[0].max(moved[1]) }
    }

    pub fn inverse_sqrt(self) -> Rough {
        let function = |x: f64| 1.0 / x.sqrt();
        self.rounded(function(self.value), self.moved(function), 2.0)
    }

    pub fn sqrt(self) -> Rough {
        match self.value == 0.0 && self.error == 0.0 {
            true => self,
            false => self.constant(1.0) / self.inverse_sqrt(),
        }
    }

    pub fn exp(self) -> Rough {
        self.rounded(self.value.exp(), self.moved(f64::exp), 3.0 + 2.0 * self.value.abs())
    }

    pub fn exp2(self) -> Rough {
        self.rounded(self.value.exp2(), self.moved(f64::exp2), 3.0 + 2.0 * self.value.abs())
    }

    pub fn log(self) -> Rough {
        self.logarithm(f64::ln)
    }

    pub fn log2(self) -> Rough {
        self.logarithm(f64::log2)
    }

    fn logarithm(self, function: impl Fn(f64) -> f64) -> Rough {
        let moved = self.moved(&function);
        let value = function(self.value);
        match (0.5..=2.0).contains(&self.value) {
            true => self.rounded(value, moved + power_of_two(-21), 0.0),
            false => self.rounded(value, moved, 3.0),
        }
    }

    pub fn sin(self) -> Rough {
        self.rounded(self.value.sin(), self.error + power_of_two(-11), 0.0)
    }

    pub fn cos(self) -> Rough {
        self.rounded(self.value.cos(), self.error + power_of_two(-11), 0.0)
    }

    /// `atan2(self, x)`.
    pub fn atan2(self, x: Rough) -> Rough {
        let value = self.value.atan2(x.value);
        let square = self.value * self.value + x.value * x.value;
        let crossed = self.error * x.value.abs() + x.error * self.value.abs();
        let moved = if crossed == 0.0 { 0.0 } else { crossed / square };
        self.rounded(value, moved, 4096.0)
    }

    pub fn trunc(self) -> Rough {
        Rough { value: self.value.trunc(), error: self.moved(f64::trunc), format: self.format }
    }

    /// To the nearest whole number.
    pub fn round(self) -> Rough {
        let error = self.moved(f64::round_ties_even);
        Rough { value: self.value.round_ties_even(), error, format: self.format }
    }

    /// Between two numbers that are exact.
    pub fn clamp(self, low: f64, high: f64) -> Rough {
        Rough { value: self.value.clamp(low, high), ..self }
    }
}

impl Add for Rough {
    type Output = Rough;

    fn add(self, other: Rough) -> Rough {
        self.rounded(self.value + other.value, self.error + other.error, 0.5)
    }
}

impl Sub for Rough {
    type Output = Rough;

    fn sub(self, other: Rough) -> Rough {
        self.rounded(self.value - other.value, self.error + other.error, 0.5)
    }
}

impl Mul for Rough {
    type Output = Rough;

    fn mul(self, other: Rough) -> Rough {
        let crossed =
            [self.value.abs() * other.error, self.error * other.value.abs(), self.error * other.error];
        // Nothing times an unknown number is nothing.
        let crossed: f64 = crossed.iter().filter(|part| !part.is_nan()).sum();
        self.rounded(self.value * other.value, crossed, 0.5)
    }
}

impl Div for Rough {
    type Output = Rough;

    fn div(self, other: Rough) -> Rough {
        let value = self.value / other.value;
        let least = other.value.abs() - other.error;
        let moved = match self.error == 0.0 && other.error == 0.0 {
            true => 0.0,
            false if least > 0.0 => (self.error + value.abs() * other.error) / least,
            false => f64::INFINITY,
        };
        self.rounded(value, moved, 2.5)
    }
}
