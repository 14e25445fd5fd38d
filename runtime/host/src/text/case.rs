//! Case and kind of whole strings: `title`, `capitalize`, `swapcase`, `casefold`, `isupper`, `isidentifier`..

use super::unicode;

/// `str.capitalize`: the first character in title case, the others in lower case.
pub fn capitalize(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for_each_with_lower(text, |c, lower| match out.is_empty() {
        true => unicode::push_title(&mut out, c),
        false => out.push_str(lower),
    });
    out
}

/// `str.title`: words, runs of cased characters, begin with a capital.
pub fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_word = false;
    for_each_with_lower(text, |c, lower| {
        if in_word {
            out.push_str(lower);
        } else {
            unicode::push_title(&mut out, c);
        }
        in_word = unicode::is_cased(c);
    });
    out
}

/// `str.swapcase`.
pub fn swapcase(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for_each_with_lower(text, |c, lower| {
        if c.is_uppercase() {
            out.push_str(lower);
        } else if c.is_lowercase() {
            out.extend(c.to_uppercase());
        } else {
            out.push(c);
        }
    });
    out
}

/// Visits each character and its lower case in this text, where a sigma that ends a word has its own.
fn for_each_with_lower(text: &str, mut visit: impl FnMut(char, &str)) {
    let lowered = text.to_lowercase();
    let mut rest = lowered.as_str();
    for c in text.chars() {
        // Both forms of the small sigma are of the same length.
        let n_bytes = c.to_lowercase().map(char::len_utf8).sum();
        let (lower, tail) = rest.split_at(n_bytes);
        visit(c, lower);
        rest = tail;
    }
}

/// `str.casefold`.
pub fn casefold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| unicode::push_folded(&mut out, c));
    out
}

/// Whether there is a character and all satisfy `is_kind`: `isalpha`, `isdigit`, `isspace` and others.
pub fn all_of_kind(text: &str, is_kind: impl Fn(char) -> bool) -> bool {
    !text.is_empty() && text.chars().all(is_kind)
}

/// `str.isupper`: some cased characters, none of them lower or title case.
pub fn is_upper(text: &str) -> bool {
    let mut some = false;
    for c in text.chars() {
        if c.is_lowercase() || unicode::is_title(c) {
            return false;
        }
        some |= c.is_uppercase();
    }
    some
}

/// `str.islower`: some cased characters, none of them upper or title case.
pub fn is_lower(text: &str) -> bool {
    let mut some = false;
    for c in text.chars() {
        if c.is_uppercase() || unicode::is_title(c) {
            return false;
        }
        some |= c.is_lowercase();
    }
    some
}

/// `str.istitle`: capitals only at the start of words, other letters only behind cased ones.
pub fn is_title(text: &str) -> bool {
    let (mut some, mut in_word) = (false, false);
    for c in text.chars() {
        let begins = c.is_uppercase() || unicode::is_title(c);
        if begins && in_word || c.is_lowercase() && !in_word {
            return false;
        }
        in_word = begins || c.is_lowercase();
        some |= in_word;
    }
    some
}

/// `str.isidentifier`.
pub fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    let starts = chars.next().is_some_and(|c| c == '_' || unicode_ident::is_xid_start(c));
    starts && chars.all(unicode_ident::is_xid_continue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_change_case() {
        fn check(change: fn(&str) -> String, text: &str, expect: &str) {
            assert_eq!(change(text), expect);
        }
        check(title, "they're bill's 3rd", "They'Re Bill'S 3Rd");
        check(title, "ΑΣ ΑΣΑ", "Ας Ασα");
        check(title, "ǆ ﬁx ßa", "ǅ Fix Ssa");
        check(capitalize, "hELLO wORLD", "Hello world");
        check(capitalize, "ΑΣ", "Ας");
        check(capitalize, "", "");
        check(swapcase, "Hello ß", "hELLO SS");
        check(casefold, "Straße ΑΣ", "strasse ασ");
    }

    #[test]
    fn strings_have_kinds() {
        fn check(is_kind: fn(&str) -> bool, text: &str, expect: bool) {
            assert_eq!(is_kind(text), expect, "{text}");
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
