//! Tokens to the tree, statement by statement.
//!
//! The text is parsed in chunks, one per statement of the outermost level with its blocks and clauses. A
//! chunk with a mistake is diagnosed, the line of the mistake is put right as far as its shape goes, and
//! the chunk is parsed again: so each line tells at most one mistake, and the lines after it are read as
//! if it had been right.

use lalrpop_util::{ParseError, lalrpop_mod};

use crate::Diagnostics;
use crate::ast::{Module, Stmt, StmtKind};
use crate::build::Builder;
use crate::errors;
use crate::lexer;
use crate::source::{Source, Span};
use crate::token::Token;

lalrpop_mod!(
    #[allow(clippy::all, clippy::undocumented_unsafe_blocks, unused_qualifications)]
    grammar
);

/// Parses a whole source. What is wrong with it stands in the second half, in the order of the source.
pub fn parse(source: &Source) -> (Module, Diagnostics) {
    let lexed = lexer::lex(source);
    let mut builder = Builder::new(source);
    builder.diagnostics = lexed.diagnostics;
    let mut body = Vec::new();
    let parser = grammar::ChunkParser::new();
    for chunk in lexed.tokens.chunk_by(|_, _| true) {
        match parser.parse(&mut builder, chunk.iter().copied()) {
            Ok(stmts) => body.extend(stmts),
            Err(error) => {
                let span = place(&error, source);
                let text = format!("`{}`", source.slice(span).escape_debug());
                builder.diagnostics.push(errors::unexpected(source.at(span), &text));
                body.push(Stmt { span, kind: StmtKind::Error });
            }
        }
    }
    let mut diagnostics = builder.diagnostics;
    diagnostics.sort_by_key(|diagnostic| diagnostic.location().map(|location| location.span.start));
    (Module { source: source.clone(), body }, Diagnostics(diagnostics))
}

fn place(error: &ParseError<u32, Token, ()>, source: &Source) -> Span {
    match error {
        ParseError::UnrecognizedToken { token: (start, _, end), .. } => Span::new(*start, *end),
        _ => Span::point(source.text().len() as u32),
    }
}
