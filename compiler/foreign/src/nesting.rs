//! Bounds the depth of a text's syntax tree: naga and glslang recurse over it, and a deep one overflows their stack.
//!
//! Brackets nest, and so do chains of operators: `a + b + c` is a sum within a sum.

use kps_syntax::{Diagnostic, Diagnostics, Location, Source, Span};

use crate::errors;

const MAX_BRACKETS: u32 = 128;

/// Operators in one statement. On a stack of 64 MiB, glslang takes twice as many.
const MAX_OPERATORS: u32 = 50_000;

/// What exceeds its bound.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Excess {
    Brackets,
    Operators,
}

impl Excess {
    pub fn error(self, at: Location) -> Diagnostic {
        match self {
            Excess::Brackets => errors::too_deep(at, MAX_BRACKETS),
            Excess::Operators => errors::too_many_operators(at, MAX_OPERATORS),
        }
    }
}

/// Refuses a text that is too deep.
pub(crate) fn check(source: &Source) -> Result<(), Diagnostics> {
    let Some((at, excess)) = find(source.text()) else { return Ok(()) };
    let span = Span::new(at as u32, at as u32 + 1);
    Err(excess.error(source.at(span)).into())
}

/// The first byte of a text that is too deep.
pub(crate) fn find(text: &str) -> Option<(usize, Excess)> {
    let brackets = excess_brackets(text).map(|at| (at, Excess::Brackets));
    brackets.or_else(|| Some((excess_operators(text)?, Excess::Operators)))
}

fn excess_brackets(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    text.bytes().position(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > MAX_BRACKETS
    })
}

/// Comments are not operators. Items of a list in braces are separate expressions; a comma elsewhere may be an operator.
fn excess_operators(text: &str) -> Option<usize> {
    let mut n_operators = 0_u32;
    let mut brackets = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        if let Some(length) = length_of_comment(text, at) {
            at += length;
            continue;
        }
        match byte {
            b'(' | b'{' => brackets.push(byte),
            b')' | b'}' => _ = brackets.pop(),
            _ => {}
        }
        match byte {
            b';' | b'{' | b'}' => n_operators = 0,
            b',' if brackets.last() == Some(&b'{') => n_operators = 0,
            b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'=' | b'&' | b'|' | b'^' | b'!' | b'~'
            | b'?' | b':' | b',' | b'.' | b'[' | b'(' => n_operators += 1,
            _ => {}
        }
        if n_operators > MAX_OPERATORS {
            return Some(at);
        }
        at += 1;
    }
    None
}

fn length_of_comment(text: &str, at: usize) -> Option<usize> {
    // `None` within a character of several bytes.
    let rest = text.get(at..)?;
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    let inside = rest.strip_prefix("/*")?;
    Some(inside.find("*/").map_or(rest.len(), |end| end + 4))
}
