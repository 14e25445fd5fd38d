//! Escape sequences in strings and bytes.

use crate::errors;
use crate::source::Span;

use super::Builder;

/// Which escapes a piece of text has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Flavor {
    /// Backslashes are literal.
    pub raw: bool,
    /// Doubled braces are an escaped one.
    pub braces: bool,
}

/// The value of an escape.
enum Escape {
    Char(char),
    /// A line end, which vanishes.
    Nothing,
    /// Not an escape: the backslash is literal.
    Backslash,
}

impl Builder<'_> {
    /// Appends the decoded `body`, which starts at `start` in the source.
    pub(super) fn decode_str(&mut self, body: &str, start: u32, flavor: Flavor, out: &mut String) {
        let mut rest = body;
        while let Some(at) = rest.find(['\\', '\r', '{', '}']) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix('\r') {
                // Line ends inside strings are `\n` whatever the file has.
                out.push('\n');
                rest = after.strip_prefix('\n').unwrap_or(after);
                continue;
            }
            if let Some(brace) = rest.chars().next().filter(|c| matches!(c, '{' | '}')) {
                out.push(brace);
                rest = &rest[if flavor.braces { 2 } else { 1 }..];
                continue;
            }
            if flavor.raw {
                out.push('\\');
                rest = &rest[1..];
                continue;
            }
            let offset = start + (body.len() - rest.len()) as u32;
            let (escape, len) = self.str_escape(rest, offset);
            match escape {
                Escape::Char(c) => out.push(c),
                Escape::Nothing => {}
                Escape::Backslash => out.push('\\'),
            }
            rest = &rest[len..];
        }
        out.push_str(rest);
    }

    /// The escape at the start of `rest`, and its length.
    fn str_escape(&mut self, rest: &str, offset: u32) -> (Escape, usize) {
        match rest.as_bytes().get(1) {
            Some(b'u') => self.hex_char(rest, offset, 4),
            Some(b'U') => self.hex_char(rest, offset, 8),
            Some(b'x') => self.hex_char(rest, offset, 2),
            Some(b'N') => self.named_char(rest, offset),
            _ => {
                let (value, len) = simple_escape(rest.as_bytes());
                match value {
                    Simple::Value(value) => (Escape::Char(char::from_u32(value).unwrap_or('\u{fffd}')), len),
                    Simple::Nothing => (Escape::Nothing, len),
                    Simple::Unknown => (Escape::Backslash, 1),
                }
            }
        }
    }

    /// `\xhh`, `\uhhhh` or `\Uhhhhhhhh`.
    fn hex_char(&mut self, rest: &str, offset: u32, n_digits: usize) -> (Escape, usize) {
        let digits = hex_digits(&rest.as_bytes()[2..], n_digits);
        let len = 2 + digits;
        let at = self.at(Span::new(offset, offset + len as u32));
        if digits < n_digits {
            self.report(errors::short_escape(at, &rest[..len], n_digits));
            return (Escape::Char('\u{fffd}'), len);
        }
        let code = u32::from_str_radix(&rest[2..len], 16).unwrap_or(u32::MAX);
        match char::from_u32(code) {
            Some(c) => (Escape::Char(c), len),
            None => {
                self.report(errors::no_character(at, &rest[..len], (0xd800..0xe000).contains(&code)));
                (Escape::Char('\u{fffd}'), len)
            }
        }
    }

    /// `\N{name}`.
    fn named_char(&mut self, rest: &str, offset: u32) -> (Escape, usize) {
        let name = rest[2..].strip_prefix('{').and_then(|after| after.find('}').map(|end| &after[..end]));
        let len = name.map_or(2, |name| name.len() + 4);
        let at = self.at(Span::new(offset, offset + len as u32));
        match name {
            Some(name) if !name.is_empty() => match character(name) {
                Some(c) => return (Escape::Char(c), len),
                None => self.report(errors::unknown_character_name(at, name)),
            },
            _ => self.report(errors::malformed_character_name(at)),
        }
        (Escape::Char('\u{fffd}'), len)
    }

    pub(super) fn decode_bytes(&mut self, body: &str, start: u32, is_raw: bool, out: &mut Vec<u8>) {
        let bytes = body.as_bytes();
        if let Some(at) = body.find(|c: char| !c.is_ascii()) {
            let c = body[at..].chars().next().map_or(0, char::len_utf8);
            let at = start + at as u32;
            self.report(errors::non_ascii_bytes(self.at(Span::new(at, at + c as u32))));
        }
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' if !is_raw => {
                    let (value, len) = self.bytes_escape(&body[at..], start + at as u32);
                    out.extend(value);
                    at += len;
                }
                b'\r' => {
                    out.push(b'\n');
                    at += if bytes.get(at + 1) == Some(&b'\n') { 2 } else { 1 };
                }
                _ => {
                    out.push(byte);
                    at += 1;
                }
            }
        }
    }

    fn bytes_escape(&mut self, rest: &str, offset: u32) -> (Option<u8>, usize) {
        let bytes = rest.as_bytes();
        if bytes.get(1) == Some(&b'x') {
            let digits = hex_digits(&bytes[2..], 2);
            let len = 2 + digits;
            if digits < 2 {
                let at = self.at(Span::new(offset, offset + len as u32));
                self.report(errors::short_escape(at, &rest[..len], 2));
            }
            return (u8::from_str_radix(&rest[2..len], 16).ok(), len);
        }
        match simple_escape(bytes) {
            (Simple::Value(value), len) => (Some(value as u8), len),
            (Simple::Nothing, len) => (None, len),
            (Simple::Unknown, _) => (Some(b'\\'), 1),
        }
    }
}

/// The value of an escape that strings and bytes share.
enum Simple {
    Value(u32),
    Nothing,
    Unknown,
}

/// The escape at the start of `rest`, and its length.
fn simple_escape(rest: &[u8]) -> (Simple, usize) {
    let value = match rest.get(1) {
        Some(b'\\') => b'\\',
        Some(b'\'') => b'\'',
        Some(b'"') => b'"',
        Some(b'a') => 7,
        Some(b'b') => 8,
        Some(b'f') => 12,
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(b'v') => 11,
        Some(b'0'..=b'7') => {
            let digits = rest[1..].iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7'));
            let (value, n_digits) =
                digits.fold((0, 0), |(value, n), digit| (value * 8 + u32::from(digit - b'0'), n + 1));
            return (Simple::Value(value), 1 + n_digits);
        }
        Some(b'\r') if rest.get(2) == Some(&b'\n') => return (Simple::Nothing, 3),
        Some(b'\n' | b'\r') => return (Simple::Nothing, 2),
        _ => return (Simple::Unknown, 1),
    };
    (Simple::Value(u32::from(value)), 2)
}

/// The character with this name; only plausible names are looked up in the table.
fn character(name: &str) -> Option<char> {
    let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == ' ' || c == '-');
    if is_name { unicode_names2::character(name) } else { None }
}

/// How many of the next `most` bytes are hexadecimal digits.
fn hex_digits(bytes: &[u8], most: usize) -> usize {
    bytes.iter().take(most).take_while(|byte| byte.is_ascii_hexdigit()).count()
}
