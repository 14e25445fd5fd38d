//! Formats floats as NumPy does: the shortest digits of their type, limited to a precision.

use half::{bf16, f16};
use kps_compute::halves::{to_bf16, to_f16};
use kps_compute::{DType, Element};

/// How to treat trailing zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trim {
    /// Keep them.
    Keep,
    /// Keep the point: `1.`
    ToPoint,
    /// Leave one: `1.0`
    ToZero,
}

/// A finite float of a type, as the value it has in `f64`, which is exact.
#[derive(Clone, Copy, Debug)]
pub struct Typed {
    pub value: f64,
    pub dtype: DType,
}

impl Typed {
    /// The fewest digits that read back as the same float of its type, without sign, as `d.ddde±x`.
    fn shortest(self) -> (String, i32) {
        let magnitude = self.value.abs();
        let text = match self.dtype {
            DType::F32 => format!("{:e}", magnitude as f32),
            DType::F16 => shortest_by_trial(magnitude, |x| to_f16(x).to_f64()),
            DType::Bf16 => shortest_by_trial(magnitude, |x| to_bf16(x).to_f64()),
            _ => format!("{magnitude:e}"),
        };
        split_scientific(&text)
    }

    /// `-12.5`: at most `precision` digits after the point, at least `min_digits`.
    pub fn positional(self, precision: Option<usize>, trim: Trim) -> String {
        let (digits, exponent) = self.shortest();
        let n_fraction = (digits.len() as i32 - 1 - exponent).max(0) as usize;
        let text = match precision {
            // The digits are cut: those of the exact value count, not the shortest ones.
            Some(precision) if n_fraction > precision => format!("{:.precision$}", self.value.abs()),
            _ => place_point(&digits, exponent),
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let fraction = match (trim, precision) {
            (Trim::Keep, Some(precision)) => format!("{fraction:0<precision$}"),
            (Trim::Keep, None) => fraction.to_owned(),
            (Trim::ToPoint, _) => fraction.trim_end_matches('0').to_owned(),
            (Trim::ToZero, _) => at_least_one_zero(fraction.trim_end_matches('0')),
        };
        format!("{}{whole}.{fraction}", self.sign())
    }

    /// `-1.25e+01`, with at least `exponent_digits` digits in the exponent.
    pub fn scientific(self, precision: Option<usize>, trim: Trim, exponent_digits: usize) -> String {
        let (mut digits, mut exponent) = self.shortest();
        if let Some(precision) = precision
            && digits.len() > precision + 1
        {
            (digits, exponent) = split_scientific(&format!("{:.precision$e}", self.value.abs()));
        }
        let (whole, fraction) = digits.split_at(1);
        let fraction = match (trim, precision) {
            (Trim::Keep, Some(precision)) => format!("{fraction:0<precision$}"),
            (Trim::Keep, None) => fraction.to_owned(),
            (Trim::ToPoint, _) => fraction.trim_end_matches('0').to_owned(),
            (Trim::ToZero, _) => at_least_one_zero(fraction.trim_end_matches('0')),
        };
        let sign = if exponent < 0 { '-' } else { '+' };
        let width = exponent_digits.max(2);
        format!("{}{whole}.{fraction}e{sign}{:0width$}", self.sign(), exponent.unsigned_abs())
    }

    /// From here on, scalars are written with an exponent.
    fn scalar_limit(self) -> f64 {
        match self.dtype {
            DType::F64 => 1e16,
            other => exact_limit(other),
        }
    }

    fn sign(self) -> &'static str {
        if self.value.is_sign_negative() { "-" } else { "" }
    }

    /// As `str` of a scalar shows it: `1.5`, `1e-05`, `nan`.
    pub fn scalar_text(self) -> String {
        let value = self.value;
        if value.is_nan() {
            return "nan".to_owned();
        }
        if value.is_infinite() {
            return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
        }
        if value == 0.0 || (1e-4..self.scalar_limit()).contains(&value.abs()) {
            return self.positional(None, Trim::ToZero);
        }
        // A scalar has no point without digits: `1e-05`.
        self.scientific(None, Trim::ToPoint, 2).replace(".e", "e")
    }
}

fn at_least_one_zero(fraction: &str) -> String {
    if fraction.is_empty() { "0".to_owned() } else { fraction.to_owned() }
}

/// The power of ten from which on a type no longer has the digits of every int, at most 1e8.
pub fn exact_limit(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 1e3,
        DType::Bf16 => 1e2,
        DType::F32 => 1e6,
        _ => 1e8,
    }
}

/// For types that Rust cannot format: adds digits until the float round-trips.
fn shortest_by_trial(magnitude: f64, round: impl Fn(f64) -> f64) -> String {
    for n_digits in 0..8 {
        let text = format!("{magnitude:.n_digits$e}");
        if text.parse().is_ok_and(|read: f64| round(read) == magnitude) {
            return text;
        }
    }
    format!("{magnitude:e}")
}

/// The digits without point and without zeros at the end, and the exponent of the first one.
fn split_scientific(text: &str) -> (String, i32) {
    let (mantissa, exponent) = text.split_once('e').expect("the `e` format has an exponent");
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let kept = digits.trim_end_matches('0');
    let digits = if kept.is_empty() { "0" } else { kept };
    (digits.to_owned(), exponent.parse().expect("the exponent of a float is a small int"))
}

fn place_point(digits: &str, exponent: i32) -> String {
    if exponent < 0 {
        return format!("0.{}{digits}", "0".repeat(-exponent as usize - 1));
    }
    let n_whole = exponent as usize + 1;
    if digits.len() <= n_whole {
        return format!("{digits:0<n_whole$}.");
    }
    format!("{}.{}", &digits[..n_whole], &digits[n_whole..])
}

/// An element of a float type, widened.
pub fn load_float(dtype: DType, element: &[u8]) -> f64 {
    match dtype {
        DType::F16 => f16::load(element).to_f64(),
        DType::Bf16 => bf16::load(element).to_f64(),
        DType::F32 => f32::load(element).into(),
        _ => f64::load(element),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_show_the_shortest_digits_of_their_type() {
        fn check(value: f64, dtype: DType, expect: &str) {
            assert_eq!(Typed { value, dtype }.scalar_text(), expect);
        }
        check(0.1f32.into(), DType::F32, "0.1");
        check(to_f16(0.1).to_f64(), DType::F16, "0.1");
        check(65504.0, DType::F16, "6.55e+04");
        check(999.0, DType::F16, "999.0");
        check(1e-5, DType::F64, "1e-05");
        check(-1.25e20, DType::F64, "-1.25e+20");
        check(12345678.0, DType::F32, "1.2345678e+07");
        check(-0.0, DType::F64, "-0.0");
        check(f64::NEG_INFINITY, DType::F64, "-inf");
    }

    #[test]
    fn digits_are_cut_at_the_precision() {
        fn check(value: f64, expect: &str) {
            assert_eq!(Typed { value, dtype: DType::F64 }.positional(Some(8), Trim::ToPoint), expect);
        }
        check(1.0 / 3.0, "0.33333333");
        check(1.5, "1.5");
        check(100.0, "100.");
        check(0.99999999999, "1.");
        check(-0.0001, "-0.0001");
    }
}
