//! Text to bytes and back: utf-8, ascii, latin-1, utf-16, utf-32, with Python's ways to treat errors.

use crate::errors;
use crate::memory;
use crate::value::{ExceptionKind, Raise, Result};
use crate::vm::{STRETCH, checkpoint, collect_all};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Utf8,
    /// With a byte order mark in front, which is left out when reading.
    Utf8Sig,
    Ascii,
    Latin1,
    /// Little or big endian, by the byte order mark when reading; little endian with one when writing.
    Utf16(Order),
    Utf32(Order),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Marked,
    Little,
    Big,
}

impl Encoding {
    fn find(name: &str) -> Result<Encoding> {
        let plain: String = name.to_ascii_lowercase().chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        Ok(match &*plain {
            "utf8" | "u8" | "utf" | "cp65001" => Encoding::Utf8,
            "utf8sig" => Encoding::Utf8Sig,
            "ascii" | "usascii" | "646" => Encoding::Ascii,
            "latin1" | "latin" | "iso88591" | "88591" | "l1" | "cp819" => Encoding::Latin1,
            "utf16" | "u16" => Encoding::Utf16(Order::Marked),
            "utf16le" => Encoding::Utf16(Order::Little),
            "utf16be" => Encoding::Utf16(Order::Big),
            "utf32" | "u32" => Encoding::Utf32(Order::Marked),
            "utf32le" => Encoding::Utf32(Order::Little),
            "utf32be" => Encoding::Utf32(Order::Big),
            _ => {
                let message = format!("unknown encoding: {name}");
                return Err(Raise::new(ExceptionKind::LookupError, message)
                    .help("there are utf-8, ascii, latin-1, utf-16 and utf-32"));
            }
        })
    }

    fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 | Encoding::Utf8Sig => "utf-8",
            Encoding::Ascii => "ascii",
            Encoding::Latin1 => "latin-1",
            Encoding::Utf16(_) => "utf-16",
            Encoding::Utf32(_) => "utf-32",
        }
    }
}

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// The code units of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    /// Characters take 1 to 4 bytes, and those of ASCII one.
    Utf8,
    /// Every character takes one byte.
    Narrow,
    /// ASCII characters take several bytes, so line ends are found in decoded text only.
    Wide,
}

/// The code units of an encoding, and whether it writes a byte order mark.
pub fn units(name: &str) -> Result<(Units, bool)> {
    Ok(match Encoding::find(name)? {
        Encoding::Utf8 => (Units::Utf8, false),
        // The mark is part of the text until it is decoded, as those of wide encodings are.
        Encoding::Utf8Sig => (Units::Wide, true),
        Encoding::Ascii | Encoding::Latin1 => (Units::Narrow, false),
        Encoding::Utf16(order) | Encoding::Utf32(order) => (Units::Wide, order == Order::Marked),
    })
}

/// The encoding that continues after another one has written its mark.
pub fn unmarked(name: &str) -> &str {
    match Encoding::find(name) {
        Ok(Encoding::Utf8Sig) => "utf-8",
        Ok(Encoding::Utf16(Order::Marked)) => "utf-16-le",
        Ok(Encoding::Utf32(Order::Marked)) => "utf-32-le",
        _ => name,
    }
}

/// What to do with characters or bytes that cannot be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnError {
    Strict,
    Ignore,
    Replace,
    BackslashReplace,
    XmlCharRefReplace,
}

impl OnError {
    fn find(name: &str) -> Result<OnError> {
        Ok(match name {
            "strict" => OnError::Strict,
            "ignore" => OnError::Ignore,
            "replace" => OnError::Replace,
            "backslashreplace" => OnError::BackslashReplace,
            "xmlcharrefreplace" => OnError::XmlCharRefReplace,
            _ => {
                let message = format!("unknown error handler name '{name}'");
                return Err(Raise::new(ExceptionKind::LookupError, message));
            }
        })
    }
}

/// `text.encode(encoding, errors)`.
pub fn encode(text: &str, encoding: &str, on_error: &str) -> Result<Vec<u8>> {
    let (encoding, on_error) = (Encoding::find(encoding)?, OnError::find(on_error)?);
    Ok(match encoding {
        Encoding::Utf8 => text.as_bytes().to_vec(),
        Encoding::Utf8Sig => [UTF8_MARK, text.as_bytes()].concat(),
        Encoding::Ascii => encode_narrow(text, encoding, 0x80, on_error)?,
        Encoding::Latin1 => encode_narrow(text, encoding, 0x100, on_error)?,
        Encoding::Utf16(order) => {
            let units = mark(order).into_iter().chain(text.encode_utf16());
            collect_all(units.flat_map(|unit| in_order(unit.to_le_bytes(), order)))?
        }
        Encoding::Utf32(order) => {
            let units = mark(order).into_iter().map(u32::from).chain(text.chars().map(u32::from));
            collect_all(units.flat_map(|unit| in_order(unit.to_le_bytes(), order)))?
        }
    })
}

/// Bytes of the longest replacement for a character or a wrong byte: `&#1114111;`, `\\U0010ffff`, `\\xff`
/// four times.
const LONGEST: usize = 16;

/// Polls for interrupts before some of the characters.
fn poll(n_before: usize) -> Result<()> {
    if n_before.is_multiple_of(STRETCH) { checkpoint() } else { Ok(()) }
}

fn mark(order: Order) -> Option<u16> {
    (order == Order::Marked).then_some(0xfeff)
}

fn in_order<const N: usize>(mut bytes: [u8; N], order: Order) -> [u8; N] {
    if order == Order::Big {
        bytes.reverse();
    }
    bytes
}

/// One byte per character, for codes below `limit`.
fn encode_narrow(text: &str, encoding: Encoding, limit: u32, on_error: OnError) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for (at, c) in text.chars().enumerate() {
        poll(at)?;
        memory::make_more_room(&mut out, LONGEST)?;
        let code = c as u32;
        if code < limit {
            out.push(code as u8);
            continue;
        }
        match on_error {
            OnError::Strict => {
                let name = encoding.name();
                return Err(Raise::new(
                    ExceptionKind::UnicodeEncodeError,
                    format!(
                        "'{name}' codec can't encode character '{}' in position {at}: ordinal not in range({limit})",
                        escape(c)
                    ),
                ));
            }
            OnError::Ignore => {}
            OnError::Replace => out.push(b'?'),
            OnError::BackslashReplace => out.extend(escape(c).bytes()),
            OnError::XmlCharRefReplace => out.extend(format!("&#{code};").bytes()),
        }
    }
    Ok(out)
}

fn escape(c: char) -> String {
    match c as u32 {
        code @ 0..0x100 => format!("\\x{code:02x}"),
        code @ 0x100..0x10000 => format!("\\u{code:04x}"),
        code => format!("\\U{code:08x}"),
    }
}

/// `bytes.decode(encoding, errors)`.
pub fn decode(bytes: &[u8], encoding: &str, on_error: &str) -> Result<String> {
    let (encoding, on_error) = (Encoding::find(encoding)?, OnError::find(on_error)?);
    match encoding {
        Encoding::Utf8 => decode_utf8(bytes, on_error),
        Encoding::Utf8Sig => decode_utf8(bytes.strip_prefix(UTF8_MARK).unwrap_or(bytes), on_error),
        Encoding::Latin1 => decode_latin1(bytes),
        Encoding::Ascii => decode_ascii(bytes, on_error),
        Encoding::Utf16(order) => decode_utf16(bytes, order, on_error),
        Encoding::Utf32(order) => decode_utf32(bytes, order, on_error),
    }
}

/// Bytes that are no text, with the place that messages name.
struct Undecodable<'a> {
    encoding: &'static str,
    bytes: &'a [u8],
    at: usize,
    reason: &'a str,
}

impl Undecodable<'_> {
    fn push(&self, out: &mut String, on_error: OnError) -> Result<()> {
        match on_error {
            OnError::Strict => return Err(self.raise()),
            OnError::Ignore => {}
            OnError::Replace => out.push('\u{fffd}'),
            OnError::BackslashReplace => {
                out.extend(self.bytes.iter().map(|byte| format!("\\x{byte:02x}")));
            }
            OnError::XmlCharRefReplace => {
                return Err(errors::type_error(
                    "don't know how to handle UnicodeDecodeError in error callback",
                ));
            }
        }
        Ok(())
    }

    fn raise(&self) -> Raise {
        let Undecodable { encoding, bytes, at, reason } = self;
        let place = match bytes {
            [byte] => format!("byte 0x{byte:02x} in position {at}"),
            more => format!("bytes in position {at}-{}", at + more.len() - 1),
        };
        let message = format!("'{encoding}' codec can't decode {place}: {reason}");
        Raise::new(ExceptionKind::UnicodeDecodeError, message)
    }
}

fn decode_latin1(bytes: &[u8]) -> Result<String> {
    let mut out = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        poll(at)?;
        memory::make_text_room(&mut out, LONGEST)?;
        out.push(char::from(*byte));
    }
    Ok(out)
}

fn decode_utf8(bytes: &[u8], on_error: OnError) -> Result<String> {
    let mut out = String::new();
    let mut at = 0;
    for (n_chunks, chunk) in bytes.utf8_chunks().enumerate() {
        poll(n_chunks)?;
        memory::make_text_room(&mut out, chunk.valid().len() + LONGEST)?;
        out.push_str(chunk.valid());
        at += chunk.valid().len();
        let bad = chunk.invalid();
        if !bad.is_empty() {
            let is_start = matches!(bad[0], 0xc2..=0xf4);
            let reason = match () {
                () if !is_start => "invalid start byte",
                () if at + bad.len() == bytes.len() => "unexpected end of data",
                () => "invalid continuation byte",
            };
            Undecodable { encoding: "utf-8", bytes: bad, at, reason }.push(&mut out, on_error)?;
            at += bad.len();
        }
    }
    Ok(out)
}

fn decode_ascii(bytes: &[u8], on_error: OnError) -> Result<String> {
    let mut out = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        poll(at)?;
        memory::make_text_room(&mut out, LONGEST)?;
        if byte.is_ascii() {
            out.push(*byte as char);
            continue;
        }
        let bytes = std::slice::from_ref(byte);
        let reason = "ordinal not in range(128)";
        Undecodable { encoding: "ascii", bytes, at, reason }.push(&mut out, on_error)?;
    }
    Ok(out)
}

fn decode_utf16(bytes: &[u8], order: Order, on_error: OnError) -> Result<String> {
    let (order, skipped) = match (order, bytes) {
        (Order::Marked, [0xff, 0xfe, ..]) => (Order::Little, 2),
        (Order::Marked, [0xfe, 0xff, ..]) => (Order::Big, 2),
        (order, _) => (order, 0),
    };
    let pairs = bytes[skipped..].as_chunks::<2>();
    let units = pairs.0.iter().map(|&pair| u16::from_le_bytes(in_order(pair, order)));
    let mut out = String::new();
    let mut at = skipped;
    for (n_units, decoded) in char::decode_utf16(units).enumerate() {
        poll(n_units)?;
        memory::make_text_room(&mut out, LONGEST)?;
        match decoded {
            Ok(c) => {
                out.push(c);
                at += 2 * c.len_utf16();
            }
            Err(_) => {
                let bytes = &bytes[at..at + 2];
                let reason = "illegal encoding";
                Undecodable { encoding: "utf-16", bytes, at, reason }.push(&mut out, on_error)?;
                at += 2;
            }
        }
    }
    push_rest("utf-16", pairs.1, at, &mut out, on_error)?;
    Ok(out)
}

fn decode_utf32(bytes: &[u8], order: Order, on_error: OnError) -> Result<String> {
    let (order, skipped) = match (order, bytes) {
        (Order::Marked, [0xff, 0xfe, 0, 0, ..]) => (Order::Little, 4),
        (Order::Marked, [0, 0, 0xfe, 0xff, ..]) => (Order::Big, 4),
        (order, _) => (order, 0),
    };
    let quads = bytes[skipped..].as_chunks::<4>();
    let mut out = String::new();
    let mut at = skipped;
    for (n_quads, quad) in quads.0.iter().enumerate() {
        poll(n_quads)?;
        memory::make_text_room(&mut out, LONGEST)?;
        match char::from_u32(u32::from_le_bytes(in_order(*quad, order))) {
            Some(c) => out.push(c),
            None => {
                let reason = "code point not in range(0x110000)";
                Undecodable { encoding: "utf-32", bytes: quad, at, reason }.push(&mut out, on_error)?;
            }
        }
        at += 4;
    }
    push_rest("utf-32", quads.1, at, &mut out, on_error)?;
    Ok(out)
}

/// Bytes at the end that do not form a whole unit.
fn push_rest(
    encoding: &'static str,
    bytes: &[u8],
    at: usize,
    out: &mut String,
    on_error: OnError,
) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    Undecodable { encoding, bytes, at, reason: "truncated data" }.push(out, on_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_back_from_bytes() {
        fn check(text: &str, encoding: &str) {
            let bytes = encode(text, encoding, "strict").expect("the encoding holds every character");
            assert_eq!(decode(&bytes, encoding, "strict").expect("these bytes are text"), text);
        }
        check("aé中😀", "UTF-8");
        check("aé中😀", "utf-16");
        check("aé中😀", "utf_16_be");
        check("aé中😀", "utf-32");
        check("aé", "latin-1");
    }

    #[test]
    fn bad_bytes_are_treated_as_asked() {
        fn check(bytes: &[u8], on_error: &str, expect: &str) {
            assert_eq!(decode(bytes, "utf8", on_error).expect("nothing is strict"), expect);
        }
        check(b"a\xffb", "ignore", "ab");
        check(b"a\xffb", "replace", "a\u{fffd}b");
        check(b"a\xe4\xb8", "backslashreplace", "a\\xe4\\xb8");
    }
}
