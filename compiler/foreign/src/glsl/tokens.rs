//! GLSL text as tokens, for what is looked for in it before naga reads it: words, numbers and marks, each with its
//! place. Comments, blanks and the preprocessor's lines are left out; macros are not followed.

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

/// Where the bracket or brace closes that opens at a token; `None` where none opens there.
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

/// What commas part, outside of brackets; nothing where nothing stands.
pub(super) fn parts<'t, 's>(tokens: &'t [Token<'s>]) -> impl Iterator<Item = &'t [Token<'s>]> {
    let mut depth = 0_usize;
    let all = tokens.split(move |token| {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.text == ","
    });
    all.filter(|part| !part.is_empty())
}

/// Where tokens stand.
pub(super) fn place(tokens: &[Token]) -> Option<Range<usize>> {
    Some(tokens.first()?.range.start..tokens.last()?.range.end)
}

/// To the end of the line, and of those that it goes on in.
fn length_of_directive(rest: &str) -> usize {
    let mut ends = rest.match_indices('\n').map(|(at, _)| at);
    ends.find(|at| !rest[..*at].trim_end_matches('\r').ends_with('\\')).unwrap_or(rest.len())
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn length_of_token(rest: &str, first: char) -> usize {
    if !is_of_word(first) {
        return first.len_utf8();
    }
    rest.find(|letter| !is_of_word(letter)).unwrap_or(rest.len())
}
