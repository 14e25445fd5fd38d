//! Padding: `center`, `ljust`, `rjust`, `zfill`, `expandtabs`. Widths count characters.

use super::error::{Result, check_length};

/// The place of the text in a wider field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
    Center,
}

/// The text in a field of `width` characters; wider texts stay as they are.
pub fn pad(text: &str, width: usize, fill: char, side: Side) -> Result<String> {
    let missing = width.saturating_sub(n_chars(text));
    if missing == 0 {
        return Ok(text.to_owned());
    }
    check_length(missing)?;
    let before = match side {
        Side::Left => 0,
        Side::Right => missing,
        // An odd character goes to the left if the width is odd too.
        Side::Center => missing / 2 + (missing & width & 1),
    };
    let mut out = String::with_capacity(text.len() + missing);
    out.extend(std::iter::repeat_n(fill, before));
    out.push_str(text);
    out.extend(std::iter::repeat_n(fill, missing - before));
    Ok(out)
}

pub fn n_chars(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// `str.zfill`: zeros between the sign and the rest.
pub fn zfill(text: &str, width: usize) -> Result<String> {
    let missing = width.saturating_sub(n_chars(text));
    check_length(missing)?;
    let n_sign = text.starts_with(['+', '-']) as usize;
    Ok(format!("{}{}{}", &text[..n_sign], "0".repeat(missing), &text[n_sign..]))
}

/// `str.expandtabs`: pads each tab to the next multiple of `tab_size`; drops it if that is 0.
pub fn expandtabs(text: &str, tab_size: usize) -> Result<String> {
    check_length(tab_size.saturating_mul(text.matches('\t').count()))?;
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    for c in text.chars() {
        match c {
            '\t' => {
                let n_blanks = if tab_size == 0 { 0 } else { tab_size - column % tab_size };
                out.extend(std::iter::repeat_n(' ', n_blanks));
                column += n_blanks;
            }
            _ => {
                out.push(c);
                column = if matches!(c, '\n' | '\r') { 0 } else { column + 1 };
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_filled() {
        fn check(text: &str, width: usize, side: Side, expect: &str) {
            assert_eq!(pad(text, width, '*', side).as_deref(), Ok(expect));
        }
        check("ab", 5, Side::Center, "**ab*");
        check("abc", 6, Side::Center, "*abc**");
        check("é", 3, Side::Left, "é**");
        check("é", 3, Side::Right, "**é");
        check("abc", 2, Side::Right, "abc");
    }

    #[test]
    fn zeros_go_behind_the_sign() {
        fn check(text: &str, width: usize, expect: &str) {
            assert_eq!(zfill(text, width).as_deref(), Ok(expect));
        }
        check("-5", 4, "-005");
        check("+", 3, "+00");
        check("abc", 2, "abc");
    }

    #[test]
    fn tabs_become_blanks() {
        fn check(text: &str, tab_size: usize, expect: &str) {
            assert_eq!(expandtabs(text, tab_size).as_deref(), Ok(expect));
        }
        check("a\tbc\td\n\te", 4, "a   bc  d\n    e");
        check("a\tb", 0, "ab");
    }
}
