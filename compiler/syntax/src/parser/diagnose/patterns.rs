//! Patterns that compute or compare.

use crate::Diagnostic;
use crate::ast::UnaryOp;
use crate::errors;
use crate::token::{InfixOp, PrefixOp, Token};

use super::{Scene, ends_operand};

/// `case -x:`, `case x + 1:`, `case > 3:`: these belong in the guard.
pub(super) fn computed(scene: &Scene) -> Option<Diagnostic> {
    let is_case = scene.first() == Token::Case && scene.at > scene.line.start;
    let has_guard = scene.before().iter().any(|(_, token, _)| *token == Token::If);
    let is_signed = scene.expects("literal") && matches!(scene.previous(), Some(Token::Sign(_)));
    let is_product = scene.here() == Token::Star && scene.previous().is_some_and(ends_operand);
    if !is_case || has_guard || !(is_signed || is_product || computes(scene.here())) {
        return None;
    }
    let first = start_of_part(scene);
    let last = end_of_part(scene)?;
    let text = scene.source.slice(scene.span(first).to(scene.span(last)));
    let value = if first == scene.line.start + 1 { "value" } else { "part" };
    let compares = |idx: &usize| is_truth(scene.token(*idx));
    let guard = match (first..=last).find(compares) {
        Some(idx) if idx == first && scene.token(idx) != NOT => format!("{value} {text}"),
        Some(_) => text.to_owned(),
        None => format!("{value} == {text}"),
    };
    let place = scene.stretch(first, last);
    Some(match scene.open_bracket().is_none() && first == scene.line.start + 1 {
        true => errors::computed_pattern(place, &format!("case value if {guard}:")),
        false => errors::computed_part_of_pattern(place, &guard),
    })
}

const NOT: Token = Token::Prefix(PrefixOp::Unary(UnaryOp::Not));

/// Tokens that are allowed in an expression but not in a pattern. `|` separates alternatives, and is not
/// among them.
fn computes(token: Token) -> bool {
    matches!(
        token,
        Token::Sign(_)
            | Token::Prefix(_)
            | Token::Infix(_)
            | Token::DoubleStar
            | Token::Slash
            | Token::At
            | Token::In
            | Token::LeftBracket
    )
}

fn is_truth(token: Token) -> bool {
    matches!(token, Token::Infix(InfixOp::Compare(_) | InfixOp::Bool(_)) | Token::In | NOT)
}

/// The index of the first token of the part of the pattern that the failed one is in.
fn start_of_part(scene: &Scene) -> usize {
    let mut level = 0;
    for idx in (scene.line.start..scene.at).rev() {
        match scene.token(idx) {
            Token::RightParen | Token::RightBracket | Token::RightBrace => level += 1,
            Token::LeftParen | Token::LeftBracket | Token::LeftBrace if level == 0 => return idx + 1,
            Token::LeftParen | Token::LeftBracket | Token::LeftBrace => level -= 1,
            token if level == 0 && ends_part(token) => return idx + 1,
            _ => {}
        }
    }
    scene.line.start
}

/// The index of the last one; none if the line ends before the pattern does.
fn end_of_part(scene: &Scene) -> Option<usize> {
    let mut level = 0;
    for idx in scene.at..scene.line.end {
        match scene.token(idx) {
            Token::LeftParen | Token::LeftBracket | Token::LeftBrace => level += 1,
            Token::RightParen | Token::RightBracket | Token::RightBrace if level == 0 => {
                return Some(idx - 1);
            }
            Token::RightParen | Token::RightBracket | Token::RightBrace => level -= 1,
            token if level == 0 && ends_part(token) => return Some(idx - 1),
            _ => {}
        }
    }
    None
}

fn ends_part(token: Token) -> bool {
    matches!(
        token,
        Token::Case
            | Token::Comma
            | Token::Colon
            | Token::Equal
            | Token::Pipe
            | Token::As
            | Token::If
            | Token::Newline
    )
}
