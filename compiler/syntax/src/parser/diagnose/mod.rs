//! From the unexpected token to the probable intent.
//!
//! Each small function tests for one error and returns a diagnostic or nothing; the first one is reported.
//! They are ordered from the specific to the general.

mod declarations;
mod headers;
mod missing;
mod operators;
mod patterns;
mod words;

use crate::Diagnostic;
use crate::errors;
use crate::source::{Location, Source, Span};
use crate::token::{Spanned, Token};

use super::repair::{Repair, line_of};

/// Where parsing stopped.
pub(super) struct Failure {
    /// Index of the token that did not fit.
    pub at: usize,
    /// The names of the terminals that would have fitted, as the grammar writes them.
    pub expected: Vec<String>,
}

pub(super) struct Diagnosis {
    /// `None` if the line was reported: by the lexer, or with the line that it belongs to.
    pub diagnostic: Option<Diagnostic>,
    pub repair: Repair,
}

pub(super) fn diagnose(source: &Source, tokens: &[Spanned], failure: &Failure) -> Diagnosis {
    let line = line_of(tokens, failure.at);
    let scene = Scene { source, tokens, at: failure.at, line, expected: &failure.expected };
    if let Some(diagnosis) = headers::layout(&scene) {
        return diagnosis;
    }
    let is_reported = scene.tokens[scene.line.clone()].iter().any(|(_, token, _)| *token == Token::Invalid);
    let diagnostic = if is_reported || words::ends_do(&scene) { None } else { Some(mistake(&scene)) };
    let lacks_colon = diagnostic.as_ref().is_some_and(|found| found.code == "syntax/missing-colon");
    let repair = match scene.here() {
        Token::Newline if lacks_colon && scene.first().opens_block() => Repair::InsertColon(scene.at),
        here if scene.at == scene.line.start && here.continues_statement() => Repair::StrayLine(scene.at),
        _ => Repair::Line(scene.at),
    };
    Diagnosis { diagnostic, repair }
}

fn mistake(scene: &Scene) -> Diagnostic {
    const QUESTIONS: [fn(&Scene) -> Option<Diagnostic>; 31] = [
        headers::stray_clause,
        declarations::typed_parameter,
        missing::fstring_field,
        headers::else_if,
        operators::other_language_operator,
        patterns::computed,
        operators::increment,
        operators::address,
        operators::dotted_range,
        words::raise_comma,
        words::print_statement,
        words::keyword_as_name,
        headers::function_without_parens,
        headers::else_with_condition,
        headers::missing_in,
        operators::single_equal,
        words::other_language_statement,
        words::misspelt_keyword,
        headers::missing_colon,
        headers::compound_inline,
        headers::lambda_colon,
        headers::bad_parameter,
        missing::import_form,
        missing::conditional_without_else,
        missing::operand,
        missing::value,
        words::bare_yield,
        words::statement_in_expression,
        missing::comma,
        words::neighbours,
        operators::arrow,
    ];
    let answer = QUESTIONS.iter().find_map(|question| question(scene));
    answer.unwrap_or_else(|| errors::unexpected(scene.place(), &scene.describe(), scene.expectation()))
}

/// The failed token with everything around it.
pub(super) struct Scene<'a> {
    source: &'a Source,
    tokens: &'a [Spanned],
    at: usize,
    /// The logical line, with its NEWLINE.
    line: std::ops::Range<usize>,
    expected: &'a [String],
}

impl<'a> Scene<'a> {
    fn token(&self, idx: usize) -> Token {
        self.tokens.get(idx).map_or(Token::Newline, |(_, token, _)| *token)
    }

    fn span(&self, idx: usize) -> Span {
        match self.tokens.get(idx) {
            Some((start, _, end)) => Span::new(*start, *end),
            None => Span::point(self.tokens.last().map_or(0, |(.., end)| *end)),
        }
    }

    fn here(&self) -> Token {
        self.token(self.at)
    }

    fn next(&self) -> Token {
        self.token(self.at + 1)
    }

    /// The token before in the same line.
    fn previous(&self) -> Option<Token> {
        (self.at > self.line.start).then(|| self.token(self.at - 1))
    }

    fn first(&self) -> Token {
        self.token(self.line.start)
    }

    fn text(&self, idx: usize) -> &'a str {
        self.source.slice(self.span(idx))
    }

    /// The location of the failed token.
    fn place(&self) -> Location {
        self.location(self.at)
    }

    fn location(&self, idx: usize) -> Location {
        let mut span = self.span(idx);
        if matches!(self.token(idx), Token::Newline | Token::Dedent) {
            span = Span::point(span.start);
        }
        self.source.at(span)
    }

    /// The location from one token to another.
    fn stretch(&self, first: usize, last: usize) -> Location {
        self.source.at(self.span(first).to(self.span(last)))
    }

    /// The position directly after the token before the failed one.
    fn behind(&self) -> Location {
        let end = self.at.checked_sub(1).map_or(0, |before| self.span(before).end);
        self.source.at(Span::point(end))
    }

    fn expects(&self, terminal: &str) -> bool {
        self.expected.iter().any(|expected| expected.trim_matches('"') == terminal)
    }

    /// Whether the tokens at these two indices touch.
    fn touch(&self, first: usize, second: usize) -> bool {
        self.span(first).end == self.span(second).start
    }

    /// The line's tokens before the failed one.
    fn before(&self) -> &'a [Spanned] {
        &self.tokens[self.line.start..self.at.min(self.line.end)]
    }

    /// The line's tokens after the failed one.
    fn after(&self) -> &'a [Spanned] {
        self.tokens.get(self.at + 1..self.line.end).unwrap_or(&[])
    }

    /// The index of the innermost bracket that is open at the failed token.
    fn open_bracket(&self) -> Option<usize> {
        let mut n_closed = 0;
        for (idx, (_, token, _)) in self.before().iter().enumerate().rev() {
            match token {
                Token::RightParen | Token::RightBracket | Token::RightBrace | Token::FClose => n_closed += 1,
                Token::LeftParen
                | Token::LeftBracket
                | Token::LeftBrace
                | Token::WithParen
                | Token::FOpen => {
                    if n_closed == 0 {
                        return Some(self.line.start + idx);
                    }
                    n_closed -= 1;
                }
                _ => {}
            }
        }
        None
    }

    /// Whether a colon outside brackets follows in the line.
    fn colon_follows(&self) -> bool {
        let mut level = 0i32;
        let mut all = std::iter::once(self.here()).chain(self.after().iter().map(|(_, token, _)| *token));
        all.any(|token| {
            match token {
                Token::LeftParen | Token::LeftBracket | Token::LeftBrace => level += 1,
                Token::RightParen | Token::RightBracket | Token::RightBrace => level -= 1,
                _ => {}
            }
            token == Token::Colon && level <= 0
        })
    }

    /// A description of the failed token.
    fn describe(&self) -> String {
        match self.here() {
            Token::Newline if self.span(self.at).start as usize >= self.source.text().len() => {
                "the end of the text".to_owned()
            }
            Token::Newline => "the end of the line".to_owned(),
            Token::Indent => "a deeper indentation".to_owned(),
            Token::Dedent => "the end of the block".to_owned(),
            Token::Str(_) => "a string".to_owned(),
            Token::FStart => "an f-string".to_owned(),
            _ => format!("`{}`", self.text(self.at)),
        }
    }

    /// The expected token, if there is only one.
    fn expectation(&self) -> Option<String> {
        let signs: Vec<&str> = self
            .expected
            .iter()
            .filter(|expected| !NEVER_WRITTEN.contains(&expected.as_str()))
            .map(|expected| match expected.as_str() {
                "newline" => "the end of the line",
                "name" => "a name",
                other => other,
            })
            .collect();
        match signs.as_slice() {
            [] => None,
            [one] => Some(spelled(one)),
            [one, other] => Some(format!("{} or {}", spelled(one), spelled(other))),
            _ => None,
        }
    }
}

/// Terminals that are never typed.
const NEVER_WRITTEN: [&str; 5] = ["errorexpr", "errorline", "errorblock", "indent", "dedent"];

/// A terminal of the grammar, spelled for a reader.
fn spelled(terminal: &str) -> String {
    match terminal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(sign) => format!("`{sign}`"),
        None => terminal.to_owned(),
    }
}

/// Whether an operand can end with this token.
fn ends_operand(token: Token) -> bool {
    matches!(
        token,
        Token::Name(_)
            | Token::Literal(_)
            | Token::Ellipsis
            | Token::Str(_)
            | Token::FEnd
            | Token::RightParen
            | Token::RightBracket
            | Token::RightBrace
            | Token::ErrorExpr
    )
}

/// Whether this token alone is a complete simple statement.
fn is_whole_statement(token: Token) -> bool {
    matches!(token, Token::Pass | Token::Break | Token::Continue)
}

/// Whether an operand can begin with this token and nothing else can.
fn begins_operand(token: Token) -> bool {
    matches!(
        token,
        Token::Name(_)
            | Token::Literal(_)
            | Token::Ellipsis
            | Token::Str(_)
            | Token::FStart
            | Token::LeftBrace
            | Token::Lambda
            | Token::Prefix(_)
            | Token::ErrorExpr
    )
}
