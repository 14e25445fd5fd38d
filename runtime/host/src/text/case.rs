//! Case and kind of whole strings: `title`, `capitalize`, `swapcase`, `casefold`, `isupper`, `isidentifier`..

use super::unicode;
use crate::memory::make_text_room;
use crate::value::Result;
use crate::vm::checkpoint;

/// Bytes of text that are changed between two looks at the interrupter, or a few more.
const BLOCK: usize = 1 << 20;

/// `str.upper`.
pub fn upper(text: &str) -> Result<String> {
    by_blocks(text, |block, out| out.push_str(&block.to_uppercase()))
}

/// `str.lower`.
pub fn lower(text: &str) -> Result<String> {
    by_blocks(text, |block, out| out.push_str(&block.to_lowercase()))
}

/// `str.capitalize`: the first character in title case, the others in lower case.
pub fn capitalize(text: &str) -> Result<String> {
    by_chars_with_lower(text, |c, lower, out| match out.is_empty() {
        true => unicode::push_title(out, c),
        false => out.push_str(lower),
    })
}

/// `str.title`: words, that is runs of cased characters, begin with a capital.
pub fn title(text: &str) -> Result<String> {
    let mut in_word = false;
    by_chars_with_lower(text, |c, lower, out| {
        if in_word {
            out.push_str(lower);
        } else {
            unicode::push_title(out, c);
        }
        in_word = unicode::is_cased(c);
    })
}

/// `str.swapcase`.
pub fn swapcase(text: &str) -> Result<String> {
    by_chars_with_lower(text, |c, lower, out| {
        if c.is_uppercase() {
            out.push_str(lower);
        } else if c.is_lowercase() {
            out.extend(c.to_uppercase());
        } else {
            out.push(c);
        }
    })
}

/// `str.casefold`.
pub fn casefold(text: &str) -> Result<String> {
    by_blocks(text, |block, out| block.chars().for_each(|c| unicode::push_folded(out, c)))
}

/// Builds a text from each character and its lower case in context: a sigma at the end of a word has its own
/// lower case.
fn by_chars_with_lower(text: &str, mut put: impl FnMut(char, &str, &mut String)) -> Result<String> {
    by_blocks(text, |block, out| {
        let lowered = block.to_lowercase();
        let mut rest = lowered.as_str();
        for c in block.chars() {
            // Both forms of the small sigma are of the same length.
            let n_bytes = c.to_lowercase().map(char::len_utf8).sum();
            let (lower, tail) = rest.split_at(n_bytes);
            put(c, lower, out);
            rest = tail;
        }
    })
}

/// Builds a text block by block. A word with a sigma is not divided, because its lower case depends on the
/// letters around it.
fn by_blocks(text: &str, mut put: impl FnMut(&str, &mut String)) -> Result<String> {
    let mut out = String::new();
    let mut rest = text;
    let may_divide_words = text.len() <= BLOCK || !text.contains('Σ');
    while !rest.is_empty() {
        checkpoint()?;
        let mut end = rest.floor_char_boundary(BLOCK);
        if !may_divide_words {
            let space = rest[end..].find(|c: char| c.is_ascii_whitespace());
            end = space.map_or(rest.len(), |at| end + at);
        }
        let (block, tail) = rest.split_at(end);
        make_text_room(&mut out, block.len())?;
        put(block, &mut out);
        rest = tail;
    }
    Ok(out)
}

/// The characters of a text, with polls for interrupts.
fn chars(text: &str) -> impl Iterator<Item = Result<char>> {
    text.char_indices().map(|(at, c)| {
        if at.is_multiple_of(BLOCK) {
            checkpoint()?;
        }
        Ok(c)
    })
}

/// Whether all characters satisfy `is_kind`, as for `isprintable`.
pub fn all(text: &str, is_kind: impl Fn(char) -> bool) -> Result<bool> {
    for c in chars(text) {
        if !is_kind(c?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The same, and at least one character: `isalpha`, `isdigit`, `isspace` and others.
pub fn all_of_kind(text: &str, is_kind: impl Fn(char) -> bool) -> Result<bool> {
    Ok(!text.is_empty() && all(text, is_kind)?)
}

/// `str.isupper`: some cased characters, none of them lower or title case.
pub fn is_upper(text: &str) -> Result<bool> {
    let mut some = false;
    for c in chars(text) {
        let c = c?;
        if c.is_lowercase() || unicode::is_title(c) {
            return Ok(false);
        }
        some |= c.is_uppercase();
    }
    Ok(some)
}

/// `str.islower`: some cased characters, none of them upper or title case.
pub fn is_lower(text: &str) -> Result<bool> {
    let mut some = false;
    for c in chars(text) {
        let c = c?;
        if c.is_uppercase() || unicode::is_title(c) {
            return Ok(false);
        }
        some |= c.is_lowercase();
    }
    Ok(some)
}

/// `str.istitle`: capitals only at the start of words, other letters only after cased ones.
pub fn is_title(text: &str) -> Result<bool> {
    let (mut some, mut in_word) = (false, false);
    for c in chars(text) {
        let c = c?;
        let begins = c.is_uppercase() || unicode::is_title(c);
        if begins && in_word || c.is_lowercase() && !in_word {
            return Ok(false);
        }
        in_word = begins || c.is_lowercase();
        some |= in_word;
    }
    Ok(some)
}

/// `str.isidentifier`.
pub fn is_identifier(text: &str) -> Result<bool> {
    let starts = text.starts_with(|c| c == '_' || unicode_ident::is_xid_start(c));
    Ok(starts && all(text, unicode_ident::is_xid_continue)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_change_case() {
        fn check(change: fn(&str) -> Result<String>, text: &str, expect: &str) {
            assert_eq!(change(text).unwrap_or_else(|_| panic!("nothing interrupts")), expect);
        }
        check(title, "they're bill's 3rd", "They'Re Bill'S 3Rd");
        check(title, "ΑΣ ΑΣΑ", "Ας Ασα");
        check(title, "ǆ ﬁx ßa", "ǅ Fix Ssa");
        check(capitalize, "hELLO wORLD", "Hello world");
        check(capitalize, "ΑΣ", "Ας");
        check(capitalize, "", "");
        check(swapcase, "Hello ß", "hELLO SS");
        check(casefold, "Straße ΑΣ", "strasse ασ");
        let word = |sigma| format!("{} α{sigma}", "α".repeat(BLOCK / 2 - 2));
        check(lower, &word("ΣΑ"), &word("σα"));
        check(lower, &word("Σ"), &word("ς"));
    }

    #[test]
    fn strings_have_kinds() {
        fn check(is_kind: fn(&str) -> Result<bool>, text: &str, expect: bool) {
            assert_eq!(is_kind(text).ok(), Some(expect), "{text}");
        }
        check(is_upper, "A1", true);
        check(is_upper, "1", false);
        check(is_lower, "aª", true);
        check(is_title, "A Bc", true);
        check(is_title, "A bc", false);
        check(is_identifier, "_a1é", true);
        check(is_identifier, "1a", false);
        check(is_identifier, "", false);
        check(|text| all_of_kind(text, unicode::is_decimal), "٣4", true);
        check(|text| all_of_kind(text, unicode::is_digit), "²", true);
        check(|text| all_of_kind(text, unicode::is_decimal), "²", false);
        check(|text| all_of_kind(text, unicode::is_numeric), "½", true);
        check(|text| all_of_kind(text, unicode::is_alpha), "aж", true);
        check(|text| all_of_kind(text, unicode::is_printable), "a\u{a0}", false);
        check(|text| all_of_kind(text, unicode::is_space), "\u{1c}\u{85}", true);
    }
}
