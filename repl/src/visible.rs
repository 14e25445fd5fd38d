//! Escapes characters that a terminal interprets or does not show.
//!
//! Text from a script, a file name or a message goes in. The same text comes out, with `\x1b`, `\u{202e}` and
//! others escaped. They would move the cursor, change colours, or hide or reorder the surrounding text. The
//! output of scripts is not escaped.

use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Characters beyond the controls that are not drawn, or that change the order in which others are: the format
/// characters of Unicode (category Cf), line and paragraph separators, and letters that are blank by design.
const UNSEEN: [RangeInclusive<char>; 19] = [
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{70f}'..='\u{70f}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0e}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{13430}'..='\u{1343f}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e0fff}',
];

/// The escape of a character; `None` for one that may be written as it is. Line ends and tabs may.
pub fn escape(char: char) -> Option<String> {
    match char {
        '\n' | '\t' | ' '..='~' => None,
        '\r' => Some("\\r".to_owned()),
        char if char.is_control() => Some(format!("\\x{:02x}", u32::from(char))),
        char if UNSEEN.iter().any(|range| range.contains(&char)) => {
            Some(format!("\\u{{{:x}}}", u32::from(char)))
        }
        _ => None,
    }
}

/// A text of any number of lines.
pub fn visible(text: &str) -> Cow<'_, str> {
    shown(text, escape)
}

/// A text that must stay on one line, such as the name of a file.
pub fn visible_name(text: &str) -> Cow<'_, str> {
    shown(text, |char| match char {
        '\n' => Some("\\n".to_owned()),
        '\t' => Some("\\t".to_owned()),
        other => escape(other),
    })
}

fn shown(text: &str, escape: impl Fn(char) -> Option<String>) -> Cow<'_, str> {
    if text.chars().all(|char| escape(char).is_none()) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        match escape(char) {
            Some(escaped) => shown.push_str(&escaped),
            None => shown.push(char),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::{visible, visible_name};

    fn check(input: &str, expect: &str) {
        assert_eq!(visible(input), expect);
    }

    #[test]
    fn what_a_terminal_acts_on_is_escaped() {
        check("plain: é 漢 👍\n\tx", "plain: é 漢 👍\n\tx");
        check("\x1b[2J\x07\x08\x7f\0", "\\x1b[2J\\x07\\x08\\x7f\\x00");
        check("\u{9b}31m", "\\x9b31m");
        check("a\rb", "a\\rb");
        check("\u{202e}evil\u{2066}", "\\u{202e}evil\\u{2066}");
        check("a\u{200b}b\u{feff}\u{e0041}", "a\\u{200b}b\\u{feff}\\u{e0041}");
        assert_eq!(visible_name("a\nb\tc"), "a\\nb\\tc");
    }
}
