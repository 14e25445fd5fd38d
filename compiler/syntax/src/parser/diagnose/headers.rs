//! Headers, blocks and clauses.

use crate::Diagnostic;
use crate::errors;
use crate::source::Span;
use crate::token::Token;

use super::super::repair::Repair;
use super::{Diagnosis, Scene, begins_operand, ends_operand};

/// Errors of indentation, which have their own repairs.
pub(super) fn layout(scene: &Scene) -> Option<Diagnosis> {
    unexpected_indent(scene).or_else(|| missing_block(scene)).or_else(|| lone_decorator(scene))
}

fn unexpected_indent(scene: &Scene) -> Option<Diagnosis> {
    if scene.here() != Token::Indent {
        return None;
    }
    let start = scene.span(scene.at).start;
    let text = scene.source.slice(Span::new(0, start));
    let blanks = Span::new(text.trim_end_matches([' ', '\t', '\x0c']).len() as u32, start);
    let before = scene.at.checked_sub(2).map(|idx| scene.source.line(scene.span(idx).start));
    let diagnostic = errors::unexpected_indent(scene.source.at(blanks), before);
    Some(Diagnosis { diagnostic: Some(diagnostic), repair: Repair::RemoveIndent(scene.at) })
}

fn missing_block(scene: &Scene) -> Option<Diagnosis> {
    let at_line_start = scene.at > 0 && scene.token(scene.at - 1) == Token::Newline;
    if !at_line_start || !scene.expects("indent") {
        return None;
    }
    let header = super::line_of(scene.tokens, scene.at - 1);
    let (keyword, keyword_span) = (scene.token(header.start), scene.span(header.start));
    let is_reported = scene.tokens[header.clone()].iter().any(|(_, token, _)| *token == Token::Invalid);
    let what = match keyword {
        Token::Match => "a `match` needs its `case`s",
        _ => "a block",
    };
    let here = scene.span(scene.at);
    let diagnostic = errors::missing_block(
        scene.source.at(Span::point(here.start)),
        what,
        scene.source.slice(keyword_span),
        scene.source.at(keyword_span),
        scene.source.line(keyword_span.start),
    );
    let diagnostic = (!is_reported).then_some(diagnostic);
    Some(Diagnosis { diagnostic, repair: Repair::InsertBlock(scene.at) })
}

fn lone_decorator(scene: &Scene) -> Option<Diagnosis> {
    let at_line_start = scene.at > 0 && scene.token(scene.at - 1) == Token::Newline;
    if !at_line_start || !scene.expects("def") || scene.expects("if") {
        return None;
    }
    let decorator = super::line_of(scene.tokens, scene.at - 1);
    if scene.token(decorator.start) != Token::At {
        return None;
    }
    let place = scene.stretch(decorator.start, decorator.end.saturating_sub(2).max(decorator.start));
    let diagnostic = errors::lone_decorator(place);
    Some(Diagnosis { diagnostic: Some(diagnostic), repair: Repair::RemoveDecorators(decorator.start) })
}

/// `else` and other clauses without an open statement to continue.
pub(super) fn stray_clause(scene: &Scene) -> Option<Diagnostic> {
    if scene.at != scene.line.start {
        return None;
    }
    let (clause, owner) = match scene.here() {
        Token::Elif => ("elif", "`if`"),
        Token::Else => ("else", "`if`, `for`, `while` or `try`"),
        Token::Except => ("except", "`try`"),
        Token::Finally => ("finally", "`try`"),
        _ => return None,
    };
    Some(errors::stray_clause(scene.place(), clause, owner))
}

pub(super) fn else_if(scene: &Scene) -> Option<Diagnostic> {
    if (scene.previous(), scene.here()) != (Some(Token::Else), Token::If) || scene.at != scene.line.start + 1
    {
        return None;
    }
    Some(errors::else_if(scene.stretch(scene.at - 1, scene.at)))
}

pub(super) fn else_with_condition(scene: &Scene) -> Option<Diagnostic> {
    let is_bare_clause = matches!(scene.previous(), Some(Token::Else | Token::Finally | Token::Try));
    if !is_bare_clause || scene.at != scene.line.start + 1 || scene.here() == Token::Newline {
        return None;
    }
    Some(match scene.previous() {
        Some(Token::Else) => errors::else_with_condition(scene.place()),
        _ => errors::clause_takes_nothing(scene.place(), scene.text(scene.at - 1)),
    })
}

/// `def f:`.
pub(super) fn function_without_parens(scene: &Scene) -> Option<Diagnostic> {
    let [.., (_, Token::Def, _), (_, Token::Name(name), _)] = scene.before() else { return None };
    if !scene.expects("(") || !matches!(scene.here(), Token::Colon | Token::Newline | Token::Arrow) {
        return None;
    }
    Some(errors::function_without_parens(scene.behind(), scene.source.slice(*name)))
}

/// `for x of y`, `for x y`, and the `for` of C.
pub(super) fn missing_in(scene: &Scene) -> Option<Diagnostic> {
    let has = |wanted: Token| scene.before().iter().any(|(_, token, _)| *token == wanted);
    if scene.first() != Token::For || has(Token::In) {
        return None;
    }
    let is_c = scene.tokens[scene.line.clone()].iter().any(|(_, token, _)| *token == Token::Semicolon);
    if is_c || scene.here() == Token::Equal {
        return Some(errors::c_for(scene.stretch(scene.line.start, scene.at)));
    }
    (scene.expects("in") || scene.previous().is_some_and(ends_operand))
        .then(|| errors::missing_in(scene.place()))
}

/// A header whose line ends, or continues with its statement, before a colon.
pub(super) fn missing_colon(scene: &Scene) -> Option<Diagnostic> {
    let opens = scene.first().opens_block() && scene.open_bracket().is_none();
    if !opens || !scene.expects(":") || scene.at == scene.line.start || scene.colon_follows() {
        return None;
    }
    let has = |wanted: Token| scene.before().iter().any(|(_, token, _)| *token == wanted);
    if has(Token::Lambda) || (has(Token::Colon) && colon_ends_header(scene)) {
        return None;
    }
    let keyword = match scene.first() {
        Token::Async => scene.text(scene.line.start + 1),
        _ => scene.text(scene.line.start),
    };
    let is_brace = scene.here() == Token::LeftBrace;
    Some(errors::missing_colon(scene.behind(), keyword, is_brace))
}

/// Whether a colon before the failed token is outside of brackets.
fn colon_ends_header(scene: &Scene) -> bool {
    let mut level = 0i32;
    scene.before().iter().any(|(_, token, _)| {
        match token {
            Token::LeftParen | Token::LeftBracket | Token::LeftBrace | Token::FOpen => level += 1,
            Token::RightParen | Token::RightBracket | Token::RightBrace | Token::FClose => level -= 1,
            _ => {}
        }
        *token == Token::Colon && level == 0
    })
}

/// `if a: if b: ..`, `x = 1; while x: ..`.
pub(super) fn compound_inline(scene: &Scene) -> Option<Diagnostic> {
    let is_inside = matches!(scene.previous(), Some(Token::Colon | Token::Semicolon));
    let opens = scene.here().opens_block() || scene.here() == Token::At;
    (is_inside && opens && scene.open_bracket().is_none())
        .then(|| errors::compound_inline(scene.place(), scene.text(scene.at)))
}

/// `lambda x` without its colon.
pub(super) fn lambda_colon(scene: &Scene) -> Option<Diagnostic> {
    let has_lambda = scene.before().iter().any(|(_, token, _)| *token == Token::Lambda);
    (has_lambda && scene.expects(":") && !begins_operand(scene.here()))
        .then(|| errors::lambda_colon(scene.behind()))
}

/// A token other than a name in place of a parameter.
pub(super) fn bad_parameter(scene: &Scene) -> Option<Diagnostic> {
    let is_def = matches!(scene.first(), Token::Def | Token::Async);
    let open = scene.open_bracket()?;
    let is_params = is_def && scene.token(open) == Token::LeftParen && open <= scene.line.start + 3;
    let begins = matches!(scene.previous(), Some(Token::LeftParen | Token::Comma));
    if !is_params || !begins || !scene.expects("name") || matches!(scene.here(), Token::Comma) {
        return None;
    }
    Some(errors::bad_parameter(scene.place(), &scene.describe()))
}
