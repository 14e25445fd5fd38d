//! How numbers and strings are written: `repr` of float, str and bytes.

use num_bigint::BigInt;

use crate::errors;
use crate::value::Result;

/// More digits than this are refused, as CPython does: the conversion takes quadratic time.
const MAX_INT_DIGITS: usize = 4300;

/// The shortest digits that read back as the same float, laid out as Python does.
pub fn float_repr(float: f64) -> String {
    if float.is_nan() {
        return "nan".to_owned();
    }
    if float.is_infinite() {
        return if float > 0.0 { "inf".to_owned() } else { "-inf".to_owned() };
    }
    let scientific = format!("{float:e}");
    let (digits, exponent) = scientific.split_once('e').expect("the `e` format has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent of a float is a small int");
    if (-4..16).contains(&exponent) {
        let plain = format!("{float}");
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

pub fn big_repr(big: &BigInt) -> Result<String> {
    // A digit is worth more than three bits.
    if big.bits() as usize > MAX_INT_DIGITS * 4 {
        return Err(too_many_digits());
    }
    let digits = big.to_string();
    if digits.len() > MAX_INT_DIGITS + digits.starts_with('-') as usize {
        return Err(too_many_digits());
    }
    Ok(digits)
}

fn too_many_digits() -> crate::value::Raise {
    errors::value_error(format!(
        "Exceeds the limit ({MAX_INT_DIGITS} digits) for integer string conversion; use hex() for large ints"
    ))
}

/// A str literal that stands for `text`: single quotes unless only they occur in it.
pub fn str_repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for char in text.chars() {
        match char {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            char if char == quote => {
                out.push('\\');
                out.push(char);
            }
            char if is_printable(char) => out.push(char),
            char => push_escape(&mut out, char),
        }
    }
    out.push(quote);
    out
}

/// `ascii(text)`: the repr with everything outside of ASCII escaped.
pub fn ascii_repr(repr: &str) -> String {
    let mut out = String::with_capacity(repr.len());
    for char in repr.chars() {
        if char.is_ascii() { out.push(char) } else { push_escape(&mut out, char) }
    }
    out
}

fn push_escape(out: &mut String, char: char) {
    let code = char as u32;
    out.push_str(&match code {
        0..=0xff => format!("\\x{code:02x}"),
        0x100..=0xffff => format!("\\u{code:04x}"),
        _ => format!("\\U{code:08x}"),
    });
}

/// Characters that `repr` shows as they are: no control, format, private or unassigned ones, and of
/// the spaces only the plain one.
pub fn is_printable(char: char) -> bool {
    if char.is_ascii() {
        return (' '..='~').contains(&char);
    }
    // Rust's own debug format escapes what is not printable, and combining marks besides.
    let is_separator = char.is_whitespace() || matches!(char, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}');
    let is_private = matches!(char, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..);
    !char.is_control() && !is_separator && !is_private
}

pub fn bytes_repr(bytes: &[u8]) -> String {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { b'"' } else { b'\'' };
    let mut out = String::with_capacity(bytes.len() + 3);
    out.push('b');
    out.push(quote as char);
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            byte if byte == quote => {
                out.push('\\');
                out.push(byte as char);
            }
            b' '..=b'~' => out.push(byte as char),
            byte => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push(quote as char);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(float: f64, expect: &str) {
        assert_eq!(float_repr(float), expect);
    }

    #[test]
    fn floats_are_written_as_python_writes_them() {
        check(0.0, "0.0");
        check(-0.0, "-0.0");
        check(1.0, "1.0");
        check(0.1 + 0.2, "0.30000000000000004");
        check(1e15, "1000000000000000.0");
        check(1e16, "1e+16");
        check(123456789012345680.0, "1.2345678901234568e+17");
        check(0.0001, "0.0001");
        check(0.00001, "1e-05");
        check(5e-324, "5e-324");
        check(1.5e300, "1.5e+300");
        check(f64::NEG_INFINITY, "-inf");
    }
}
