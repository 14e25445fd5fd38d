//! Floats to decimal text: the shortest digits that round-trip, a given number of digits, and `round(x, n)`.
//!
//! Rust's formatter provides the digits. It is exact and rounds half to even, as CPython's `dtoa` does.

use super::error::{Result, overflow_error};

/// The maximum number of an f64's decimals, and of its significant digits.
const MOST_DIGITS: usize = 1100;

/// The decimal digits of a finite number's magnitude: `d.ddd * 10^exponent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digits {
    /// ASCII digits; at least one.
    pub digits: String,
    pub exponent: i32,
}

impl Digits {
    /// The fewest digits that read back as `x`.
    pub fn shortest(x: f64) -> Digits {
        let digits = Digits::from_scientific(&format!("{:e}", x.abs()));
        // Two texts of this length may be equally near. Then the even one is required, as from exact
        // rounding; only floats that need nearly all their digits have such neighbours.
        if digits.digits.len() >= 15 {
            let exact = format!("{:.*e}", digits.digits.len() - 1, x.abs());
            if exact.parse() == Ok(x.abs()) {
                return Digits::from_scientific(&exact);
            }
        }
        digits
    }

    /// `n_digits` significant digits, at least one.
    pub fn significant(x: f64, n_digits: usize) -> Digits {
        let n_digits = n_digits.max(1);
        let exact = (n_digits - 1).min(MOST_DIGITS);
        let mut digits = Digits::from_scientific(&format!("{:.exact$e}", x.abs()));
        digits.pad(n_digits);
        digits
    }

    fn from_scientific(text: &str) -> Digits {
        let (mantissa, exponent) = text.split_once('e').expect("`{:e}` writes an exponent");
        let digits = mantissa.chars().filter(|&c| c != '.').collect();
        Digits { digits, exponent: exponent.parse().expect("`{:e}` writes the exponent in decimal") }
    }

    fn pad(&mut self, n_digits: usize) {
        while self.digits.len() < n_digits {
            self.digits.push('0');
        }
    }

    pub fn strip_trailing_zeros(&mut self) {
        let kept = self.digits.trim_end_matches('0').len().max(1);
        self.digits.truncate(kept);
    }

    /// `123.45`, with at least `n_decimals` digits after the point; no point without decimals.
    pub fn positional(&self, n_decimals: usize) -> String {
        let mut text = String::new();
        if self.exponent < 0 {
            text.push_str("0.");
            text.extend(std::iter::repeat_n('0', (-self.exponent - 1) as usize));
            text.push_str(&self.digits);
        } else {
            let n_whole = self.exponent as usize + 1;
            let (whole, decimals) = self.digits.split_at(n_whole.min(self.digits.len()));
            text.push_str(whole);
            text.extend(std::iter::repeat_n('0', n_whole - whole.len()));
            if !decimals.is_empty() || n_decimals > 0 {
                text.push('.');
                text.push_str(decimals);
            }
        }
        let written = text.find('.').map_or(0, |point| text.len() - point - 1);
        text.extend(std::iter::repeat_n('0', n_decimals.saturating_sub(written)));
        text
    }

    /// `1.2345e+02`: the exponent has a sign and at least two digits.
    pub fn scientific(&self) -> String {
        let (first, rest) = self.digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let sign = if self.exponent < 0 { '-' } else { '+' };
        format!("{first}{point}{rest}e{sign}{:02}", self.exponent.abs())
    }
}

/// The magnitude with `n_decimals` digits after the point.
pub fn fixed(x: f64, n_decimals: usize) -> String {
    let exact = n_decimals.min(MOST_DIGITS);
    let mut text = format!("{:.exact$}", x.abs());
    text.extend(std::iter::repeat_n('0', n_decimals - exact));
    text
}

/// `repr(x)`.
pub fn repr(x: f64) -> String {
    if x.is_nan() {
        return "nan".to_owned();
    }
    let sign = if x.is_sign_negative() { "-" } else { "" };
    if x.is_infinite() {
        return format!("{sign}inf");
    }
    let digits = Digits::shortest(x);
    if (-4..16).contains(&digits.exponent) {
        format!("{sign}{}", digits.positional(1))
    } else {
        format!("{sign}{}", digits.scientific())
    }
}

/// The same for a float that is an `f32`: as many digits as tell it from other ones.
pub fn short_repr(x: f64) -> String {
    repr((x as f32).to_string().parse().unwrap_or(x))
}

/// `round(x, n_decimals)`: the float nearest to the exact decimal rounding, ties to even.
pub fn round(x: f64, n_decimals: i64) -> Result<f64> {
    if !x.is_finite() || n_decimals > 323 {
        return Ok(x);
    }
    if n_decimals < -308 {
        return Ok(0.0_f64.copysign(x));
    }
    let rounded = if n_decimals >= 0 {
        read_back(&format!("{:.*}", n_decimals as usize, x.abs()))
    } else {
        round_whole(x.abs(), -n_decimals as i32)
    };
    if rounded.is_infinite() {
        return overflow_error("rounded value too large to represent");
    }
    Ok(rounded.copysign(x))
}

/// Rounds a magnitude to a multiple of `10^place`.
fn round_whole(x: f64, place: i32) -> f64 {
    let exact = Digits::significant(x, MOST_DIGITS);
    let kept = exact.exponent - place;
    if kept >= 0 {
        return read_back(&format!("{:.*e}", kept as usize, x));
    }
    // Below the last place: rounds up to one unit of it above a half, else down to zero.
    let above_half = exact.digits.as_bytes()[0] > b'5'
        || exact.digits.starts_with('5') && exact.digits[1..].bytes().any(|digit| digit != b'0');
    if kept == -1 && above_half { read_back(&format!("1e{place}")) } else { 0.0 }
}

fn read_back(text: &str) -> f64 {
    text.parse().expect("the formatter writes what the parser reads")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repr_is_shortest_and_switches_to_exponents() {
        fn check(x: f64, expect: &str) {
            assert_eq!(repr(x), expect);
        }
        check(0.1 + 0.2, "0.30000000000000004");
        check(-0.0, "-0.0");
        check(2987261281137749.0 / 4.0, "746815320284437.2");
        check(1e16, "1e+16");
        check(9999999999999998.0, "9999999999999998.0");
        check(0.0001, "0.0001");
        check(0.00001, "1e-05");
        check(5e-324, "5e-324");
        check(f64::MAX, "1.7976931348623157e+308");
        check(f64::NEG_INFINITY, "-inf");
        check(-f64::NAN, "nan");
    }

    #[test]
    fn round_is_exact_and_half_even() {
        fn check(x: f64, n_decimals: i64, expect: f64) {
            assert_eq!(
                round(x, n_decimals).expect("in range").to_bits(),
                expect.to_bits(),
                "{x} {n_decimals}"
            );
        }
        check(2.675, 2, 2.67);
        check(0.125, 2, 0.12);
        check(2.5, 0, 2.0);
        check(-0.4, 0, -0.0);
        check(15.0, -1, 20.0);
        check(25.0, -1, 20.0);
        check(5.0, -1, 0.0);
        check(5.000000000000001, -1, 10.0);
        check(1234.5, -5, 0.0);
        check(1e300, 400, 1e300);
        assert!(round(f64::MAX, -308).is_err());
    }
}
