//! Operators of other languages, and `=` where `==` is meant.

use crate::Diagnostic;
use crate::ast::{BinaryOp, CompareOp};
use crate::errors;
use crate::token::{InfixOp, Token};

use super::Scene;

/// `&&`, `||`, `===`, `<>`, `=>`, `=<`: two tokens of Python that touch.
pub(super) fn foreign_operator(scene: &Scene) -> Option<Diagnostic> {
    const AND: Token = Token::Infix(InfixOp::Binary(BinaryOp::BitAnd));
    const EQ: Token = Token::Infix(InfixOp::Compare(CompareOp::Eq));
    const NOT_EQ: Token = Token::Infix(InfixOp::Compare(CompareOp::NotEq));
    const LESS: Token = Token::Infix(InfixOp::Compare(CompareOp::Less));
    const GREATER: Token = Token::Infix(InfixOp::Compare(CompareOp::Greater));
    let pair = |first: usize, second: usize| match scene.touch(first, second) {
        true => (scene.token(first), scene.token(second)),
        false => (Token::Newline, Token::Newline),
    };
    scene.previous()?;
    let (first, last) = match pair(scene.at, scene.at + 1) {
        (Token::Equal, GREATER | LESS) => (scene.at, scene.at + 1),
        _ => (scene.at - 1, scene.at),
    };
    let (written, meant) = match pair(first, last) {
        (AND, AND) => ("&&", "and"),
        (Token::Pipe, Token::Pipe) => ("||", "or"),
        (EQ, Token::Equal) => ("===", "=="),
        (NOT_EQ, Token::Equal) => ("!==", "!="),
        (LESS, GREATER) => ("<>", "!="),
        (Token::Equal, GREATER) => ("=>", ">="),
        (Token::Equal, LESS) => ("=<", "<="),
        _ => return None,
    };
    Some(errors::foreign_operator(scene.stretch(first, last), written, meant))
}

/// `i++`, `i--`.
pub(super) fn increment(scene: &Scene) -> Option<Diagnostic> {
    let [.., (_, Token::Sign(first), _), (_, Token::Sign(second), _)] = scene.before() else { return None };
    if first != second || !scene.touch(scene.at - 2, scene.at - 1) || super::begins_operand(scene.here()) {
        return None;
    }
    let name = match scene.at.checked_sub(3).map(|idx| (scene.token(idx), idx)) {
        Some((Token::Name(_), idx)) if idx >= scene.line.start => scene.text(idx),
        _ => "i",
    };
    Some(errors::increment(scene.stretch(scene.at - 2, scene.at - 1), first.symbol(), name))
}

/// `1..10`: two numbers for Python.
pub(super) fn dotted_range(scene: &Scene) -> Option<Diagnostic> {
    let (Some(Token::Literal(_)), Token::Literal(_)) = (scene.previous(), scene.here()) else { return None };
    let first = scene.text(scene.at - 1).strip_suffix('.')?;
    let last = scene.text(scene.at).strip_prefix('.')?;
    scene
        .touch(scene.at - 1, scene.at)
        .then(|| errors::dotted_range(scene.stretch(scene.at - 1, scene.at), first, last))
}

/// `=` in the middle of an expression.
pub(super) fn single_equal(scene: &Scene) -> Option<Diagnostic> {
    let place = scene.place();
    match (scene.first(), scene.here()) {
        (Token::Global | Token::Nonlocal, Token::Equal | Token::Augmented(_)) => {
            return Some(errors::declared_with_value(place, scene.text(scene.line.start)));
        }
        (Token::Import | Token::From | Token::Del, _) => return None,
        (_, Token::Equal) if scene.previous().is_some() => {}
        _ => return None,
    }
    let bracket = scene.open_bracket().map(|idx| scene.token(idx));
    match bracket {
        Some(Token::LeftBrace) => Some(errors::equal_in_braces(place)),
        _ => Some(errors::single_equal(place, bracket == Some(Token::LeftParen))),
    }
}

/// `->` outside the header of a function.
pub(super) fn arrow(scene: &Scene) -> Option<Diagnostic> {
    (scene.here() == Token::Arrow).then(|| errors::arrow(scene.place()))
}
