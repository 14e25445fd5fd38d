//! Parses numbers: `float(text)`, and the parts shared with `int(text)`: Unicode digits, spaces, underscores.

use std::borrow::Cow;

use super::error::{Result, value_error};
use super::{quote, unicode};

pub use super::unicode::is_space;

/// The text with decimal digits of every script as ASCII ones, and spaces of every kind as blanks.
pub fn to_ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let plain = |c: char| match unicode::decimal_value(c) {
        Some(digit) => (b'0' + digit) as char,
        None if is_space(c) => ' ',
        None => c,
    };
    Cow::Owned(text.chars().map(plain).collect())
}

/// The text without its underscores, if each is between two characters that satisfy `is_digit`, and there are
/// no other characters; `None` otherwise, and for an empty text.
pub fn without_underscores(text: &str, is_digit: impl Fn(char) -> bool) -> Option<Cow<'_, str>> {
    let mut after_digit = false;
    for c in text.chars() {
        if !(is_digit(c) || c == '_' && after_digit) {
            return None;
        }
        after_digit = c != '_';
    }
    if !after_digit {
        return None;
    }
    Some(if text.contains('_') { Cow::Owned(text.replace('_', "")) } else { Cow::Borrowed(text) })
}

/// `float(text)`.
pub fn parse_float(text: &str) -> Result<f64> {
    match read_float(&to_ascii(text)) {
        Some(float) => Ok(float),
        None => value_error(format!("could not convert string to float: {}", quote::repr(text))),
    }
}

fn read_float(text: &str) -> Option<f64> {
    let trimmed = text.trim_matches(is_space);
    if !trimmed.contains('_') {
        return trimmed.parse().ok();
    }
    let bytes = trimmed.as_bytes();
    let between_digits = |at: usize| {
        at > 0 && bytes[at - 1].is_ascii_digit() && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
    };
    let misplaced = (0..bytes.len()).any(|at| bytes[at] == b'_' && !between_digits(at));
    if misplaced { None } else { trimmed.replace('_', "").parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_floats() {
        fn check(text: &str, expect: Option<f64>) {
            let got = parse_float(text).ok();
            assert_eq!(got.map(f64::to_bits), expect.map(f64::to_bits), "{text}");
        }
        check(" 1_000.5e-3\n", Some(1.0005));
        check("-Infinity", Some(f64::NEG_INFINITY));
        check(".5", Some(0.5));
        check("5.", Some(5.0));
        check("１２", Some(12.0));
        check("1e400", Some(f64::INFINITY));
        check("1_e5", None);
        check("_1", None);
        check(".", None);
        check("", None);
        check("0x1", None);
        check("1e", None);
    }
}
