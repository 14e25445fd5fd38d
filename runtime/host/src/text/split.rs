//! Splits strings where Python's rules differ from Rust's.

use super::unicode::is_space;

/// `text.split(None, max_splits)`: words between runs of whitespace.
pub fn split_words(text: &str, max_splits: usize) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        if words.len() == max_splits {
            words.push(rest);
            break;
        }
        let end = rest.find(is_space).unwrap_or(rest.len());
        words.push(&rest[..end]);
        rest = rest[end..].trim_start_matches(is_space);
    }
    words
}

/// `text.rsplit(None, max_splits)`: splits from the end, words in the order of the text.
pub fn rsplit_words(text: &str, max_splits: usize) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_end_matches(is_space);
    while !rest.is_empty() {
        if words.len() == max_splits {
            words.push(rest);
            break;
        }
        let start = rest
            .rfind(is_space)
            .map_or(0, |at| at + rest[at..].chars().next().expect("a space was found here").len_utf8());
        words.push(&rest[start..]);
        rest = rest[..start].trim_end_matches(is_space);
    }
    words.reverse();
    words
}

/// Whether lines include their line break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnds {
    Keep,
    Drop,
}

/// `str.splitlines`: every line break of Unicode, `\r\n` as one.
pub fn split_lines(text: &str, ends: LineEnds) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let Some((at, c)) = rest.char_indices().find(|&(_, c)| is_line_break(c)) else {
            lines.push(rest);
            break;
        };
        let next = if rest[at..].starts_with("\r\n") { at + 2 } else { at + c.len_utf8() };
        lines.push(&rest[..if ends == LineEnds::Keep { next } else { at }]);
        rest = &rest[next..];
    }
    lines
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split() {
        fn check(text: &str, max_splits: usize, expect: &[&str]) {
            assert_eq!(split_words(text, max_splits), expect);
        }
        check("  a b\t\u{a0}c ", usize::MAX, &["a", "b", "c"]);
        check(" a  b  c ", 1, &["a", "b  c "]);
        check(" a b ", 0, &["a b "]);
        check("  ", usize::MAX, &[]);
    }

    #[test]
    fn words_are_split_from_the_end() {
        fn check(text: &str, max_splits: usize, expect: &[&str]) {
            assert_eq!(rsplit_words(text, max_splits), expect);
        }
        check(" a  b  c ", 1, &[" a  b", "c"]);
        check("a\u{2003}b", usize::MAX, &["a", "b"]);
        check(" a b ", 0, &[" a b"]);
    }

    #[test]
    fn lines_are_split() {
        fn check(text: &str, ends: LineEnds, expect: &[&str]) {
            assert_eq!(split_lines(text, ends), expect);
        }
        check("a\r\nb\rc\n\nd", LineEnds::Drop, &["a", "b", "c", "", "d"]);
        check("a\r\nb\u{2028}", LineEnds::Keep, &["a\r\n", "b\u{2028}"]);
        check("", LineEnds::Drop, &[]);
    }
}
