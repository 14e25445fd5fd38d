//! Formats ints and floats by a format spec.
//!
//! A number consists of a sign, a prefix (`0x`), whole digits, which may be grouped, and a tail (point,
//! decimals, exponent, `%`). The field is padded between prefix and digits, or around all.

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};

use super::error::{Result, check_length, overflow_error, value_error};
use super::float::{self, Digits};
use super::int;
use super::spec::{Align, FormatSpec, Sign};

/// `format(int, spec)`.
pub fn format_int(int: &BigInt, spec: &FormatSpec) -> Result<String> {
    match spec.ty {
        Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%') => match int.to_f64().filter(|x| x.is_finite()) {
            Some(float) => format_float(float, spec),
            None => overflow_error("int too large to convert to float"),
        },
        None | Some('b' | 'c' | 'd' | 'n' | 'o' | 'x' | 'X') => format_whole(int, spec),
        Some(_) => spec.unknown_type("int"),
    }
}

fn format_whole(int: &BigInt, spec: &FormatSpec) -> Result<String> {
    if spec.precision.is_some() {
        return value_error("Precision not allowed in integer format specifier");
    }
    if spec.no_negative_zero {
        return value_error("Negative zero coercion (z) not allowed in integer format specifier");
    }
    let (radix, prefix) = match spec.ty {
        Some('c') => return format_char(int, spec),
        Some('b') => (2, "0b"),
        Some('o') => (8, "0o"),
        Some('x') => (16, "0x"),
        Some('X') => (16, "0X"),
        _ => (10, ""),
    };
    let digits = match radix {
        10 => int::to_decimal(&int.abs(), int::max_str_digits())?,
        _ => int.magnitude().to_str_radix(radix),
    };
    let number = Number {
        is_negative: int.is_negative(),
        prefix: if spec.alternate { prefix } else { "" },
        whole: if spec.ty == Some('X') { digits.to_ascii_uppercase() } else { digits },
        tail: String::new(),
        group_size: if radix == 10 { 3 } else { 4 },
    };
    Ok(number.place(spec))
}

/// Type `c`: the character of that code.
fn format_char(int: &BigInt, spec: &FormatSpec) -> Result<String> {
    if spec.sign.is_some() {
        return value_error("Sign not allowed with integer format specifier 'c'");
    }
    if spec.alternate {
        return value_error("Alternate form (#) not allowed with integer format specifier 'c'");
    }
    if int.to_i64().is_none() {
        return overflow_error("Python int too large to convert to C long");
    }
    match int.to_u32().and_then(char::from_u32) {
        Some(c) => Ok(spec.pad(c.encode_utf8(&mut [0; 4]), Align::Right)),
        None => overflow_error("%c arg not in range(0x110000)"),
    }
}

/// `format(float, spec)`.
pub fn format_float(x: f64, spec: &FormatSpec) -> Result<String> {
    check_length(spec.precision.unwrap_or(0))?;
    if !matches!(spec.ty, None | Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n' | '%')) {
        return spec.unknown_type("float");
    }
    if spec.precision.is_some_and(|precision| precision > i32::MAX as usize) {
        return value_error("precision too big");
    }
    let mut magnitude = float_magnitude(x, spec);
    if spec.ty.is_some_and(char::is_uppercase) {
        magnitude.make_ascii_uppercase();
    }
    let is_zero = !magnitude.split(['e', 'E']).next().is_some_and(|mantissa| {
        mantissa.contains(|c: char| c.is_ascii_digit() && c != '0' || c.is_ascii_alphabetic())
    });
    let n_whole = magnitude.bytes().take_while(u8::is_ascii_digit).count();
    let tail = magnitude.split_off(n_whole);
    let number = Number {
        is_negative: x.is_sign_negative() && !x.is_nan() && !(spec.no_negative_zero && is_zero),
        prefix: "",
        whole: magnitude,
        tail,
        group_size: 3,
    };
    Ok(number.place(spec))
}

/// The text of `|x|`, with a `%` if the spec requires one.
fn float_magnitude(x: f64, spec: &FormatSpec) -> String {
    let style = Style { precision: spec.precision, alternate: spec.alternate };
    match spec.ty {
        _ if x.is_nan() => if spec.ty == Some('%') { "nan%" } else { "nan" }.to_owned(),
        Some('%') => style.fixed(x * 100.0) + "%",
        _ if x.is_infinite() => "inf".to_owned(),
        Some('e' | 'E') => style.scientific(x),
        Some('f' | 'F') => style.fixed(x),
        Some(_) => style.general(x, spec.precision.unwrap_or(6), WholeNumbers::Bare),
        None => match spec.precision {
            Some(precision) => style.general(x, precision, WholeNumbers::WithPoint),
            None => style.shortest(x),
        },
    }
}

/// Whether a float without decimals is written with `.0`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WholeNumbers {
    Bare,
    WithPoint,
}

/// The common options of the float types: `#` keeps the point and, in `g`, trailing zeros.
pub(super) struct Style {
    pub precision: Option<usize>,
    pub alternate: bool,
}

impl Style {
    pub fn fixed(&self, x: f64) -> String {
        if x.is_infinite() {
            return "inf".to_owned();
        }
        let precision = self.precision.unwrap_or(6);
        let text = float::fixed(x, precision);
        if self.alternate && precision == 0 { text + "." } else { text }
    }

    pub fn scientific(&self, x: f64) -> String {
        let digits = Digits::significant(x, self.precision.unwrap_or(6) + 1);
        self.with_point(digits.scientific())
    }

    /// Type `g`.
    pub fn general_plain(&self, x: f64) -> String {
        self.general(x, self.precision.unwrap_or(6), WholeNumbers::Bare)
    }

    fn general(&self, x: f64, precision: usize, whole_numbers: WholeNumbers) -> String {
        let precision = precision.max(1);
        let mut digits = Digits::significant(x, precision);
        if !self.alternate {
            digits.strip_trailing_zeros();
        }
        let limit = precision as i64 - (whole_numbers == WholeNumbers::WithPoint) as i64;
        self.place_point(&digits, limit, whole_numbers)
    }

    fn shortest(&self, x: f64) -> String {
        self.place_point(&Digits::shortest(x), 16, WholeNumbers::WithPoint)
    }

    /// Positional from 1e-4 up to below `10^limit`, scientific otherwise.
    fn place_point(&self, digits: &Digits, limit: i64, whole_numbers: WholeNumbers) -> String {
        let text = if digits.exponent < -4 || digits.exponent as i64 >= limit {
            digits.scientific()
        } else {
            digits.positional((whole_numbers == WholeNumbers::WithPoint) as usize)
        };
        self.with_point(text)
    }

    /// Adds the point that `#` requires.
    fn with_point(&self, text: String) -> String {
        if !self.alternate || text.contains('.') {
            return text;
        }
        match text.find('e') {
            Some(at) => format!("{}.{}", &text[..at], &text[at..]),
            None => text + ".",
        }
    }
}

/// The parts of a number's text.
struct Number {
    is_negative: bool,
    prefix: &'static str,
    whole: String,
    tail: String,
    /// Digits between two separators.
    group_size: usize,
}

impl Number {
    /// The number in the field that the spec describes.
    fn place(&self, spec: &FormatSpec) -> String {
        let sign = match (self.is_negative, spec.sign) {
            (true, _) => "-",
            (false, Some(Sign::Plus)) => "+",
            (false, Some(Sign::Space)) => " ",
            (false, _) => "",
        };
        let head_len = sign.len() + self.prefix.len();
        let whole = match spec.grouping {
            // Zeros that fill the field are digits: they are grouped too.
            Some(separator) => {
                let is_zero_filled = spec.fill == '0' && spec.align == Some(Align::AfterSign);
                let width = if is_zero_filled { spec.width } else { 0 };
                self.grouped(separator, width.saturating_sub(head_len + self.tail.len()))
            }
            None => self.whole.clone(),
        };
        if spec.align != Some(Align::AfterSign) {
            return spec.pad(&[sign, self.prefix, &whole, &self.tail].concat(), Align::Right);
        }
        let rest = FormatSpec { width: spec.width.saturating_sub(head_len), ..*spec };
        [sign, self.prefix, &rest.pad(&[&*whole, &self.tail].concat(), Align::Right)].concat()
    }

    /// The whole digits with separators, filled with zeros to at least `width` characters.
    fn grouped(&self, separator: char, width: usize) -> String {
        let digits = self.whole.as_bytes();
        if digits.is_empty() {
            // `inf` and `nan` have no digits to group.
            return "0".repeat(width);
        }
        let mut reversed: Vec<u8> = Vec::with_capacity(digits.len() * 2);
        let mut n_digits = 0;
        while n_digits < digits.len() || reversed.len() < width {
            if n_digits > 0 && n_digits % self.group_size == 0 {
                reversed.push(separator as u8);
            }
            let digit = digits.iter().rev().nth(n_digits);
            reversed.push(digit.copied().unwrap_or(b'0'));
            n_digits += 1;
        }
        reversed.iter().rev().map(|&byte| byte as char).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ints_are_formatted() {
        fn check(int: i64, spec: &str, expect: &str) {
            let got = FormatSpec::parse(spec, "int").and_then(|spec| format_int(&BigInt::from(int), &spec));
            assert_eq!(got.unwrap_or_else(|error| error.message().to_owned()), expect, "{spec}");
        }
        check(1234567, ",", "1,234,567");
        check(-255, "#010x", "-0x00000ff");
        check(255, "_b", "1111_1111");
        check(1234, "08,", "0,001,234");
        check(5, "*^+7d", "**+5***");
        check(97, "5c", "    a");
        check(12, ".2f", "12.00");
        check(12, "%", "1200.000000%");
        check(-1, "c", "%c arg not in range(0x110000)");
        check(5, ".2d", "Precision not allowed in integer format specifier");
        check(5, "q", "Unknown format code 'q' for object of type 'int'");
        check(5, ",x", "Cannot specify ',' with 'x'.");
    }

    #[test]
    fn floats_are_formatted() {
        fn check(x: f64, spec: &str, expect: &str) {
            let got = FormatSpec::parse(spec, "float").and_then(|spec| format_float(x, &spec));
            assert_eq!(got.unwrap_or_else(|error| error.message().to_owned()), expect, "{spec}");
        }
        check(1234.5, "", "1234.5");
        check(1e16, ",", "1e+16");
        check(1234567.891, ",.2f", "1,234,567.89");
        check(3.0, ".3", "3.0");
        check(12.0, ".2", "1.2e+01");
        check(0.00001234, "g", "1.234e-05");
        check(100000.0, "#g", "100000.");
        check(2.5, ".0f", "2");
        check(0.25, ".1%", "25.0%");
        check(-0.001, "z.1f", "0.0");
        check(f64::INFINITY, "07", "0000inf");
        check(f64::NAN, "F", "NAN");
        check(1.0, "+e", "+1.000000e+00");
        check(5e-324, ".3g", "4.94e-324");
        check(1.5, "d", "Unknown format code 'd' for object of type 'float'");
        check(1.5, "q,", "Invalid format specifier 'q,' for object of type 'float'");
    }
}
