//! Operators of other languages, and `=` where `==` is meant.

use crate::Diagnostic;
use crate::ast::{BinaryOp, CompareOp};
use crate::errors;
use crate::token::{InfixOp, Token};

use super::Scene;

/// `&&`, `||`, `===`, `<>`, `=>`, `=<`: two tokens of Python that touch.
pub(super) fn other_language_operator(scene: &Scene) -> Option<Diagnostic> {
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
    Some(errors::other_language_operator(scene.stretch(first, last), written, meant))
}

/// `i++`, `i--`.
pub(super) fn increment(scene: &Scene) -> Option<Diagnostic> {
    let [.., (_, Token::Sign(first), _), (_, Token::Sign(second), _)] = scene.before() else { return None };
    if first != second || !scene.touch(scene.at - 2, scene.at - 1) || super::begins_operand(scene.here()) {
        return None;
    }
    let signs = scene.stretch(scene.at - 2, scene.at - 1);
    let place = scene.at.checked_sub(3).and_then(|last| Some((place_up_to(scene, last)?, last)));
    Some(match place {
        Some((begin, last)) => {
            let text = signs.source.slice(scene.stretch(begin, last).span);
            let is_whole_statement = begin == scene.line.start;
            errors::increment(signs.clone(), first.symbol(), text, is_whole_statement)
        }
        None => errors::increment(signs, first.symbol(), "i", true),
    })
}

/// `f(&x)`.
pub(super) fn address(scene: &Scene) -> Option<Diagnostic> {
    let is_and = scene.here() == Token::Infix(InfixOp::Binary(BinaryOp::BitAnd));
    let begins = !scene.previous().is_some_and(super::ends_operand);
    let is_length = scene.at >= 2 && scene.text(scene.at - 2) == "arrayLength";
    (is_and && begins && super::begins_operand(scene.next())).then(|| match is_length {
        true => errors::length_of(scene.place(), scene.text(scene.at + 1)),
        false => errors::address(scene.place()),
    })
}

/// The start of the place that ends with this token, with its parts and items: `a.b[i]`.
fn place_up_to(scene: &Scene, last: usize) -> Option<usize> {
    let mut at = last;
    loop {
        match scene.token(at) {
            Token::Name(_) if at > scene.line.start && scene.token(at - 1) == Token::Dot => at -= 2,
            Token::Name(_) => return (at >= scene.line.start).then_some(at),
            Token::RightBracket => at = opening_of(scene, at)?.checked_sub(1)?,
            _ => return None,
        }
        if at < scene.line.start {
            return None;
        }
    }
}

/// The bracket that a closing one belongs to.
fn opening_of(scene: &Scene, closing: usize) -> Option<usize> {
    let mut n_open = 0;
    (scene.line.start..=closing).rev().find(|idx| {
        match scene.token(*idx) {
            Token::RightBracket | Token::RightParen => n_open += 1,
            Token::LeftBracket | Token::LeftParen => n_open -= 1,
            _ => {}
        }
        n_open == 0
    })
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
    if let Some(name) = angled_annotation(scene) {
        return Some(errors::angled_type(place, name));
    }
    let bracket = scene.open_bracket().map(|idx| scene.token(idx));
    match bracket {
        Some(Token::LeftBrace) => Some(errors::equal_in_braces(place)),
        _ => Some(errors::single_equal(place, bracket == Some(Token::LeftParen))),
    }
}

/// The name of `v: vec3<f32> = ..`.
fn angled_annotation<'s>(scene: &Scene<'s>) -> Option<&'s str> {
    const LESS: Token = Token::Infix(InfixOp::Compare(CompareOp::Less));
    const GREATER: Token = Token::Infix(InfixOp::Compare(CompareOp::Greater));
    let [(_, Token::Name(_), _), (_, Token::Colon, _), .., (_, GREATER, _)] = scene.before() else {
        return None;
    };
    scene.before().iter().any(|(_, token, _)| *token == LESS).then(|| scene.text(scene.line.start))
}

/// `->` outside the header of a function.
pub(super) fn arrow(scene: &Scene) -> Option<Diagnostic> {
    (scene.here() == Token::Arrow).then(|| errors::arrow(scene.place()))
}
