//! What kind a character is, as Python's `str` methods ask it, and its title case and case folding.
//!
//! Upper and lower case come from Rust's own tables, which agree; the rest lies in `unicode_tables.rs`.

use super::unicode_tables::{LETTERS, OTHER_DIGITS, OTHER_NUMERALS, UNPRINTABLE, ZEROS};

/// Whether a character is in a table that lists where membership changes.
fn is_in(table: &[u32], c: char) -> bool {
    table.partition_point(|&point| point <= c as u32) % 2 == 1
}

/// The space characters of `str.isspace`, `split` and `strip`.
#[inline]
pub fn is_space(c: char) -> bool {
    if c.is_ascii() { matches!(c, '\t'..='\r' | '\x1c'..=' ') } else { c.is_whitespace() }
}

/// Whether repr shows the character as it is.
#[inline]
pub fn is_printable(c: char) -> bool {
    if c.is_ascii() { matches!(c, ' '..='~') } else { !is_in(&UNPRINTABLE, c) }
}

#[inline]
pub fn is_alpha(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() } else { is_in(&LETTERS, c) }
}

/// The value of a decimal digit of any script.
pub fn decimal_value(c: char) -> Option<u8> {
    let at = ZEROS.partition_point(|&zero| zero <= c as u32);
    let zero = *ZEROS.get(at.checked_sub(1)?)?;
    let value = c as u32 - zero;
    (value < 10).then_some(value as u8)
}

pub fn is_decimal(c: char) -> bool {
    decimal_value(c).is_some()
}

pub fn is_digit(c: char) -> bool {
    is_decimal(c) || is_in(&OTHER_DIGITS, c)
}

pub fn is_numeric(c: char) -> bool {
    is_digit(c) || is_in(&OTHER_NUMERALS, c)
}

pub fn is_alnum(c: char) -> bool {
    is_alpha(c) || is_numeric(c)
}

/// Title case letters: single characters for two letters, the first of them a capital.
pub fn is_title(c: char) -> bool {
    matches!(c, 'ǅ' | 'ǈ' | 'ǋ' | 'ǲ' | '\u{1f88}'..='\u{1f8f}' | '\u{1f98}'..='\u{1f9f}'
        | '\u{1fa8}'..='\u{1faf}' | '\u{1fbc}' | '\u{1fcc}' | '\u{1ffc}')
}

/// Whether upper and lower case mean something for the character.
pub fn is_cased(c: char) -> bool {
    c.is_lowercase() || c.is_uppercase() || is_title(c)
}

/// Appends the character as it begins a word in title case.
pub fn push_title(out: &mut String, c: char) {
    const IOTA_BELOW: char = '\u{345}';
    let code = c as u32;
    match code {
        // Georgian has capitals, but does not use them for titles.
        0x10d0..=0x10ff => out.push(c),
        0x1c4..=0x1cc => out.push(['ǅ', 'ǈ', 'ǋ'][(code as usize - 0x1c4) / 3]),
        0x1f1..=0x1f3 => out.push('ǲ'),
        0x1f80..=0x1faf => out.extend(char::from_u32(code | 8)),
        0x1fb3 | 0x1fbc | 0x1fc3 | 0x1fcc | 0x1ff3 | 0x1ffc => out.extend(char::from_u32(code & !0xf | 0xc)),
        0x1fb7 | 0x1fc7 | 0x1ff7 => {
            out.extend(c.to_uppercase().take(1));
            out.extend(['\u{342}', IOTA_BELOW]);
        }
        0x1fb2 | 0x1fb4 | 0x1fc2 | 0x1fc4 | 0x1ff2 | 0x1ff4 => {
            out.extend(c.to_uppercase().take(1));
            out.push(IOTA_BELOW);
        }
        0x149 => out.extend(c.to_uppercase()),
        _ => {
            let mut upper = c.to_uppercase();
            out.extend(upper.next());
            out.extend(upper.flat_map(char::to_lowercase));
        }
    }
}

/// Appends the character as comparisons without case take it.
pub fn push_folded(out: &mut String, c: char) {
    match c {
        'ẞ' => out.push_str("ss"),
        'ı' => out.push(c),
        // Cherokee folds to its older capitals.
        '\u{13a0}'..='\u{13f5}' => out.push(c),
        '\u{13f8}'..='\u{13fd}' | '\u{ab70}'..='\u{abbf}' => out.extend(c.to_uppercase()),
        _ => out.extend(c.to_uppercase().flat_map(char::to_lowercase)),
    }
}
