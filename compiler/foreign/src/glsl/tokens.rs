//! Splits GLSL text into words, numbers and marks, each with its place. Comments, blanks and preprocessor
//! lines are dropped. Macros are not expanded.

use std::ops::Range;

pub(super) struct Token<'t> {
    pub text: &'t str,
    pub range: Range<usize>,
}

pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '#' {
            length_of_directive(rest)
        } else if first.is_whitespace() {
            first.len_utf8()
        } else {
            let length = length_of_token(rest, first);
            found.push(Token { text: &rest[..length], range: at..at + length });
            length
        };
        at += length;
    }
    found
}

impl Token<'_> {
    /// Whether it is a name, a keyword or a number.
    pub fn is_word(&self) -> bool {
        self.text.starts_with(is_of_word)
    }
}

/// The bracket or brace that closes the one at a token; `None` if no bracket opens there.
pub(super) fn closing(tokens: &[Token], opening: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(opening) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 1 => return Some(at),
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The range from the first token to the last.
pub(super) fn place(tokens: &[Token]) -> Option<Range<usize>> {
    Some(tokens.first()?.range.start..tokens.last()?.range.end)
}

/// To the end of the line and of its continuation lines.
fn length_of_directive(rest: &str) -> usize {
    let mut ends = rest.match_indices('\n').map(|(at, _)| at);
    ends.find(|at| !rest[..*at].trim_end_matches('\r').ends_with('\\')).unwrap_or(rest.len())
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn length_of_token(rest: &str, first: char) -> usize {
    if first.is_ascii_digit() {
        return length_of_number(rest);
    }
    if is_of_word(first) {
        return rest.find(|letter| !is_of_word(letter)).unwrap_or(rest.len());
    }
    const MARKS: [&str; 21] = [
        "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "^^", "++", "--", "+=", "-=", "*=",
        "/=", "%=", "&=", "|=", "^=",
    ];
    MARKS.iter().find(|mark| rest.starts_with(**mark)).map_or(first.len_utf8(), |mark| mark.len())
}

/// Digits, a point, an exponent with its sign, and a suffix.
fn length_of_number(rest: &str) -> usize {
    let is_hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
    let mut before = ' ';
    let is_behind = |letter: char| {
        let is_sign = matches!(letter, '+' | '-') && matches!(before, 'e' | 'E') && !is_hexadecimal;
        before = letter;
        !(is_of_word(letter) || letter == '.' || is_sign)
    };
    rest.find(is_behind).unwrap_or(rest.len())
}
