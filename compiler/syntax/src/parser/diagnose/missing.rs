//! Missing parts: operands, values, commas, parts of an import.

use crate::Diagnostic;
use crate::errors;
use crate::token::Token;

use super::{Scene, begins_operand, ends_operand};

pub(super) fn fstring_field(scene: &Scene) -> Option<Diagnostic> {
    let open = scene.open_bracket().filter(|open| scene.token(*open) == Token::FOpen)?;
    let ends_field =
        matches!(scene.here(), Token::FClose | Token::FColon | Token::FConversion(_) | Token::FEqual(_));
    if ends_field && open + 1 == scene.at {
        return Some(errors::empty_field(scene.stretch(open, scene.at)));
    }
    let has_lambda = scene.tokens[open..scene.at].iter().any(|(_, token, _)| *token == Token::Lambda);
    if scene.here() == Token::FColon && has_lambda {
        return Some(errors::lambda_in_field(scene.place()));
    }
    (scene.expects("fclose") && !begins_operand(scene.here())).then(|| errors::field_rest(scene.place()))
}

pub(super) fn import_form(scene: &Scene) -> Option<Diagnostic> {
    let place = scene.place();
    match (scene.first(), scene.here()) {
        (Token::Import, Token::From) => Some(errors::import_from_order(place)),
        (Token::Import | Token::From, Token::Newline) => match scene.previous()? {
            Token::Import => Some(errors::import_nothing(place)),
            Token::Comma => Some(errors::import_trailing_comma(scene.location(scene.at - 1))),
            Token::From | Token::Dot => Some(errors::import_nothing(place)),
            _ if scene.first() == Token::From => Some(errors::from_without_import(place)),
            _ => None,
        },
        (Token::Import, Token::Star) => Some(errors::import_star(place)),
        (Token::Import | Token::From, Token::Str(_)) => Some(errors::import_string(place)),
        _ => None,
    }
}

/// `a if b` without `else`.
pub(super) fn conditional_without_else(scene: &Scene) -> Option<Diagnostic> {
    let if_idx = scene.before().iter().rposition(|(_, token, _)| *token == Token::If)?;
    let is_inside = if_idx > 0 && scene.previous().is_some_and(ends_operand);
    let ends = matches!(
        scene.here(),
        Token::Newline
            | Token::RightParen
            | Token::RightBracket
            | Token::RightBrace
            | Token::Comma
            | Token::FClose
            | Token::Colon
            | Token::Semicolon
    );
    if !is_inside || !ends || !scene.expects("else") {
        return None;
    }
    Some(errors::conditional_without_else(scene.location(scene.line.start + if_idx), scene.behind()))
}

/// An operator, comma or `=` without its operand.
pub(super) fn operand(scene: &Scene) -> Option<Diagnostic> {
    let previous = scene.previous()?;
    if begins_operand(scene.here()) || scene.here().opens_statement() || scene.here() == Token::Yield {
        return None;
    }
    let before = scene.location(scene.at - 1);
    let sign = scene.text(scene.at - 1);
    match previous {
        Token::Dot => Some(errors::nothing_after_dot(before)),
        Token::Sign(_) | Token::Infix(_) | Token::Prefix(_) | Token::Slash | Token::Pipe | Token::In => {
            Some(errors::missing_operand(before, sign))
        }
        Token::Star | Token::DoubleStar | Token::At if scene.expects("literal") => {
            Some(errors::missing_operand(before, sign))
        }
        Token::Equal | Token::Augmented(_) | Token::ColonEqual | Token::Arrow => {
            Some(errors::missing_value(before, sign))
        }
        Token::Comma if scene.here() == Token::Comma => Some(errors::empty_between_commas(scene.place())),
        Token::LeftParen | Token::LeftBracket | Token::LeftBrace if scene.here() == Token::Comma => {
            Some(errors::empty_between_commas(scene.place()))
        }
        Token::Colon if matches!(scene.here(), Token::Newline | Token::RightBrace | Token::Comma) => {
            Some(errors::missing_value(before, sign))
        }
        _ => None,
    }
}

/// A statement or clause that ends directly after its keyword.
pub(super) fn value(scene: &Scene) -> Option<Diagnostic> {
    let keyword = scene.previous()?;
    let ends = matches!(scene.here(), Token::Newline | Token::Colon | Token::Semicolon | Token::RightParen);
    if !ends || !keyword.is_keyword() {
        return None;
    }
    Some(errors::nothing_after_keyword(scene.location(scene.at - 1), scene.text(scene.at - 1)))
}

/// Two operands beside each other in brackets.
pub(super) fn comma(scene: &Scene) -> Option<Diagnostic> {
    let open = scene.open_bracket()?;
    let beside = scene.previous().is_some_and(ends_operand) && begins_operand(scene.here());
    if !beside || scene.token(open) == Token::FOpen || !(scene.expects(",") || scene.expects("]")) {
        return None;
    }
    Some(errors::missing_comma(scene.behind(), scene.location(scene.at), &scene.describe()))
}
