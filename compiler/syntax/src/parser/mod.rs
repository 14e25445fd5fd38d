//! Parses tokens to the tree, statement by statement.
//!
//! The text is parsed in chunks, one per top-level statement with its blocks and clauses. A chunk with an
//! error is diagnosed, the structure of its line is repaired, and the chunk is parsed again. So each line
//! reports at most one error, and the lines after it are parsed as if it had been correct.

mod captures;
mod context;
mod diagnose;
mod repair;

use lalrpop_util::{ParseError, lalrpop_mod};

use crate::ast::{Module, Stmt, StmtKind};
use crate::build::Builder;
use crate::cancellation::Cancellation;
use crate::errors;
use crate::lexer;
use crate::source::{Source, Span};
use crate::token::{Spanned, Token};
use crate::{Diagnostic, Diagnostics};
use diagnose::Failure;

lalrpop_mod!(
    #[allow(clippy::all, clippy::undocumented_unsafe_blocks, unused_qualifications)]
    grammar
);

/// The most errors that are reported; the text after them is not parsed.
const MAX_ERRORS: usize = 50;

/// Parses a whole source. Errors are in the second half of the result, in the order of the source.
pub fn parse(source: &Source) -> (Module, Diagnostics) {
    match parse_unless(source, &|| false) {
        Some(parsed) => parsed,
        None => unreachable!("it cannot be cancelled"),
    }
}

/// [`parse`], which polls for cancellation after every few thousand tokens, and then returns `None`.
pub fn parse_unless(source: &Source, is_cancelled: &dyn Fn() -> bool) -> Option<(Module, Diagnostics)> {
    let cancellation = Cancellation::new(is_cancelled);
    let lexed = lexer::lex_unless(source, &cancellation)?;
    let mut parser = Parser {
        source,
        cancellation: &cancellation,
        builder: Builder::new(source),
        grammar: grammar::ChunkParser::new(),
        body: Vec::new(),
        n_errors: 0,
    };
    parser.builder.diagnostics = lexed.diagnostics;
    // A longer text was cut at the last character that fitted.
    if source.text().len() > Source::MAX_LEN - char::MAX.len_utf8() {
        let end = Span::point(source.text().len() as u32);
        parser.builder.diagnostics.push(errors::too_long(source.at(end)));
    }
    for chunk in Chunks(&lexed.tokens) {
        if parser.n_errors > MAX_ERRORS {
            parser.give_up(chunk);
            break;
        }
        parser.chunk(chunk);
        if cancellation.is_cancelled() {
            return None;
        }
    }
    let Parser { builder, body, .. } = parser;
    let mut diagnostics = builder.diagnostics;
    context::check(source, &body, &mut diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.location().map(|location| location.span.start));
    shorten(&mut diagnostics);
    Some((Module { source: source.clone(), body }, Diagnostics(diagnostics)))
}

/// Truncates the list if there are too many errors to read.
fn shorten(diagnostics: &mut Vec<Diagnostic>) {
    if diagnostics.len() <= MAX_ERRORS {
        return;
    }
    diagnostics.truncate(MAX_ERRORS);
    if let Some(last) = diagnostics.last().and_then(Diagnostic::location).cloned() {
        diagnostics.push(errors::too_many_errors(last, MAX_ERRORS));
    }
}

struct Parser<'a> {
    source: &'a Source,
    cancellation: &'a Cancellation<'a>,
    builder: Builder<'a>,
    grammar: grammar::ChunkParser,
    body: Vec<Stmt>,
    n_errors: usize,
}

impl Parser<'_> {
    fn chunk(&mut self, chunk: &[Spanned]) {
        let before = self.builder.mark();
        match self.attempt(chunk) {
            Ok(stmts) => self.body.extend(stmts),
            Err(failure) => {
                self.builder.reset(before);
                self.repair_chunk(chunk, failure);
            }
        }
    }

    /// Parses a chunk repeatedly, each time with one more line repaired.
    fn repair_chunk(&mut self, chunk: &[Spanned], mut failure: Failure) {
        let mut tokens = chunk.to_vec();
        let mut found = Vec::new();
        let mut repaired = Vec::new();
        let before = self.builder.mark();
        while !self.cancellation.is_cancelled() {
            let diagnosis = diagnose::diagnose(self.source, &tokens, &failure);
            found.extend(diagnosis.diagnostic);
            self.n_errors += 1;
            let place = (diagnosis.repair.place(&tokens), diagnosis.repair.is_line());
            if self.n_errors > MAX_ERRORS || repaired.contains(&place) {
                self.give_up(&tokens);
                break;
            }
            repaired.push(place);
            repair::apply(&mut tokens, diagnosis.repair);
            match self.attempt(&tokens) {
                Ok(stmts) => {
                    self.body.extend(stmts);
                    break;
                }
                Err(next) => failure = next,
            }
            self.builder.reset(before);
        }
        self.builder.diagnostics.extend(found);
    }

    fn attempt(&mut self, tokens: &[Spanned]) -> Result<Vec<Stmt>, Failure> {
        let mut n_read = 0;
        let counted =
            tokens.iter().copied().take_while(|_| !self.cancellation.step()).inspect(|_| n_read += 1);
        let result = self.grammar.parse(&mut self.builder, counted);
        result.map_err(|error| match error {
            ParseError::UnrecognizedToken { expected, .. } => Failure { at: n_read - 1, expected },
            ParseError::UnrecognizedEof { expected, .. } => Failure { at: tokens.len(), expected },
            _ => Failure { at: tokens.len(), expected: Vec::new() },
        })
    }

    /// Leaves a chunk unparsed.
    fn give_up(&mut self, chunk: &[Spanned]) {
        let start = chunk.first().map_or(0, |(start, ..)| *start);
        let end = chunk.last().map_or(start, |(.., end)| *end);
        let span = Span::new(start, end);
        self.body.push(Stmt { span, kind: StmtKind::Error });
    }
}

/// The statements of the outermost level, each with its decorators, blocks and clauses.
struct Chunks<'a>(&'a [Spanned]);

impl<'a> Iterator for Chunks<'a> {
    type Item = &'a [Spanned];

    fn next(&mut self) -> Option<&'a [Spanned]> {
        if self.0.is_empty() {
            return None;
        }
        let (chunk, rest) = self.0.split_at(chunk_len(self.0));
        self.0 = rest;
        Some(chunk)
    }
}

fn chunk_len(tokens: &[Spanned]) -> usize {
    let mut level = 0;
    let mut line_start = true;
    let mut decorated = false;
    for (idx, (_, token, _)) in tokens.iter().enumerate() {
        match token {
            Token::Indent => level += 1,
            Token::Dedent => level -= 1,
            Token::Newline => line_start = true,
            _ if line_start => {
                let begins = level == 0 && !decorated && !token.continues_statement();
                if begins && idx > 0 && !matches!(tokens[..idx], [(_, Token::Indent, _)]) {
                    return idx;
                }
                decorated = level == 0 && *token == Token::At;
                line_start = false;
            }
            _ => {}
        }
    }
    tokens.len()
}
