//! `repr` of strings and bytes, `ascii`, and strings of JSON for reports.

use std::fmt::Write;

use super::unicode;

/// `repr(text)`.
pub fn repr(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_repr(&mut out, text);
    out
}

/// Appends `repr(text)`.
pub fn push_repr(out: &mut String, text: &str) {
    let quote = quote_for(text.as_bytes());
    out.push(quote);
    // Runs of plain characters are copied whole.
    let mut copied = 0;
    for (at, c) in text.char_indices() {
        let is_plain = unicode::is_printable(c) && c != quote && c != '\\';
        if is_plain {
            continue;
        }
        out.push_str(&text[copied..at]);
        push_escaped(out, c);
        copied = at + c.len_utf8();
    }
    out.push_str(&text[copied..]);
    out.push(quote);
}

/// Single quotes, unless they occur and double ones do not.
fn quote_for(bytes: &[u8]) -> char {
    if bytes.contains(&b'\'') && !bytes.contains(&b'"') { '"' } else { '\'' }
}

fn push_escaped(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\'' | '"' | '\\' => {
            out.push('\\');
            out.push(c);
        }
        _ => push_code(out, c),
    }
}

/// Appends the code point as the shortest of `\x..`, `\u....` and `\U........`.
fn push_code(out: &mut String, c: char) {
    let code = c as u32;
    let written = match code {
        0..0x100 => write!(out, "\\x{code:02x}"),
        0x100..0x10000 => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
    written.expect("writing to a String does not fail");
}

/// `ascii(..)` of an object, from its repr: characters outside of ASCII as escapes.
pub fn ascii(repr: &str) -> String {
    let mut out = String::with_capacity(repr.len());
    for c in repr.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            push_code(&mut out, c);
        }
    }
    out
}

/// `repr(bytes)`: `b'..'`.
pub fn bytes_repr(bytes: &[u8]) -> String {
    let quote = quote_for(bytes);
    let mut out = String::with_capacity(bytes.len() + 3);
    out.push('b');
    out.push(quote);
    for &byte in bytes {
        let c = byte as char;
        if matches!(c, ' '..='~') && c != quote && c != '\\' {
            out.push(c);
        } else {
            push_escaped(&mut out, c);
        }
    }
    out.push(quote);
    out
}

/// The text as a string of JSON. The module `json` has a separate writer, with CPython's options.
pub fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\0'..' ' => write!(out, "\\u{:04x}", u32::from(c)).expect("writing to a String does not fail"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted() {
        fn check(text: &str, expect: &str) {
            assert_eq!(repr(text), expect);
        }
        check("it's", "\"it's\"");
        check("'\"", "'\\'\"'");
        check("a\n\t\\\x00\x7f", "'a\\n\\t\\\\\\x00\\x7f'");
        check("é\u{a0}\u{200b}\u{e0001}😀", "'é\\xa0\\u200b\\U000e0001😀'");
        check("", "''");
    }

    #[test]
    fn strings_of_json_are_quoted() {
        assert_eq!(json("a\"\\\n\t\x01é"), r#""a\"\\\n\t\u0001é""#);
    }

    #[test]
    fn bytes_are_quoted() {
        fn check(bytes: &[u8], expect: &str) {
            assert_eq!(bytes_repr(bytes), expect);
        }
        check(b"a'\n\xff", "b\"a'\\n\\xff\"");
        check(b"\"'", "b'\"\\''");
    }

    #[test]
    fn ascii_escapes_the_rest() {
        fn check(repr: &str, expect: &str) {
            assert_eq!(ascii(repr), expect);
        }
        check("'é\u{2028}😀'", "'\\xe9\\u2028\\U0001f600'");
    }
}
