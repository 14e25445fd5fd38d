//! Repairs the structure of a line with an error.
//!
//! The content of the line is lost, unless only its colon is missing. But a header remains a header of its
//! kind: the block below it is parsed for its own errors, and a later `else` still finds its `if`.

use crate::source::Span;
use crate::token::{Spanned, Token};

/// A change of the tokens that lets parsing continue.
#[derive(Clone, Copy, Debug)]
pub(super) enum Repair {
    /// Replace the logical line with this token.
    Line(usize),
    /// Replace the logical line with this token, which begins like a clause but continues nothing.
    StrayLine(usize),
    /// Insert the colon of a header before this token, which ends the line: nothing of it is lost.
    InsertColon(usize),
    /// Insert a block before this token.
    InsertBlock(usize),
    /// Remove this INDENT, and its DEDENT.
    RemoveIndent(usize),
    /// Remove the decorators whose last line is that of this token.
    RemoveDecorators(usize),
}

impl Repair {
    /// The position of the repair in the text.
    pub fn place(self, tokens: &[Spanned]) -> u32 {
        let at = match self {
            Repair::Line(at) | Repair::StrayLine(at) | Repair::RemoveDecorators(at) => at,
            Repair::InsertColon(at) | Repair::InsertBlock(at) | Repair::RemoveIndent(at) => at,
        };
        let line = line_of(tokens, at);
        tokens.get(line.start).map_or(u32::MAX, |(start, ..)| *start)
    }

    pub fn is_line(self) -> bool {
        matches!(self, Repair::Line(_) | Repair::StrayLine(_))
    }
}

pub(super) fn apply(tokens: &mut Vec<Spanned>, repair: Repair) {
    match repair {
        Repair::Line(at) => replace_line(tokens, at, false),
        Repair::StrayLine(at) => replace_line(tokens, at, true),
        Repair::InsertColon(at) => insert_colon(tokens, at),
        Repair::InsertBlock(at) => insert_block(tokens, at),
        Repair::RemoveIndent(at) => remove_indent(tokens, at),
        Repair::RemoveDecorators(at) => remove_decorators(tokens, at),
    }
}

/// The logical line around the token at `at`, with its NEWLINE, without INDENT and DEDENT before it.
pub(super) fn line_of(tokens: &[Spanned], at: usize) -> std::ops::Range<usize> {
    let is_boundary =
        |(_, token, _): &Spanned| matches!(token, Token::Newline | Token::Indent | Token::Dedent);
    let at = at.min(tokens.len());
    let start = tokens[..at].iter().rposition(is_boundary).map_or(0, |idx| idx + 1);
    let is_newline = |(_, token, _): &Spanned| *token == Token::Newline;
    let end = tokens[at..].iter().position(is_newline).map_or(tokens.len(), |idx| at + idx + 1);
    start..end
}

/// The index after the block whose INDENT is at `at`.
fn block_end(tokens: &[Spanned], at: usize) -> usize {
    let mut level = 0;
    for (idx, (_, token, _)) in tokens.iter().enumerate().skip(at) {
        match token {
            Token::Indent => level += 1,
            Token::Dedent => level -= 1,
            _ => {}
        }
        if level == 0 {
            return idx + 1;
        }
    }
    tokens.len()
}

fn replace_line(tokens: &mut Vec<Spanned>, at: usize, is_stray: bool) {
    let line = line_of(tokens, at);
    let Some((start, ..)) = tokens.get(line.start).copied() else { return };
    let end = tokens[line.end - 1].2;
    let has_block = matches!(tokens.get(line.end), Some((_, Token::Indent, _)));
    let header = if is_stray { None } else { header(&tokens[line.clone()]) };
    let shape = match (header, has_block) {
        (Some(mut header), true) => {
            header.push(Token::Newline);
            header
        }
        (Some(mut header), false) if header.first() != Some(&Token::Match) => {
            header.extend([Token::ErrorLine, Token::Newline]);
            header
        }
        (None, false) if tokens[line.start].1 == Token::At => {
            vec![Token::At, Token::ErrorExpr, Token::Newline]
        }
        (None, true) => {
            let follower = tokens.get(block_end(tokens, line.end)).map(|(_, token, _)| *token);
            let mut shape = block_opener(follower);
            shape.push(Token::Newline);
            shape
        }
        _ => vec![Token::ErrorLine, Token::Newline],
    };
    tokens.splice(line, shape.into_iter().map(|token| (start, token, end)));
}

/// The openers of a block that `follower` may continue.
fn block_opener(follower: Option<Token>) -> Vec<Token> {
    match follower {
        Some(Token::Elif | Token::Else) => vec![Token::If, Token::ErrorExpr, Token::Colon],
        Some(Token::Except | Token::Finally) => vec![Token::Try, Token::Colon],
        _ => vec![Token::ErrorBlock, Token::Colon],
    }
}

/// The intended header of a line, up to its colon; `None` for a line that opens no block.
fn header(line: &[Spanned]) -> Option<Vec<Token>> {
    let (start, first, end) = *line.first()?;
    let second = line.get(1).map(|(_, token, _)| *token);
    let name = match second {
        Some(name @ Token::Name(_)) => name,
        _ => Token::Name(Span::new(start, end)),
    };
    let mut header = match first {
        Token::Else if second == Some(Token::If) => vec![Token::Elif, Token::ErrorExpr],
        Token::If | Token::Elif | Token::While | Token::With | Token::Match | Token::Case => {
            vec![first, Token::ErrorExpr]
        }
        Token::For => vec![Token::For, Token::ErrorExpr, Token::In, Token::ErrorExpr],
        Token::Try | Token::Else | Token::Finally => vec![first],
        Token::Except if second == Some(Token::Star) => vec![first, Token::Star, Token::ErrorExpr],
        Token::Except => vec![first, Token::ErrorExpr],
        Token::Def => vec![Token::Def, name, Token::LeftParen, Token::RightParen],
        Token::Class => vec![Token::Class, name],
        Token::Async => return header(&line[1..]),
        _ => return None,
    };
    header.push(Token::Colon);
    Some(header)
}

fn insert_colon(tokens: &mut Vec<Spanned>, at: usize) {
    let place = tokens[at - 1].2;
    tokens.insert(at, (place, Token::Colon, place));
}

fn insert_block(tokens: &mut Vec<Spanned>, at: usize) {
    let place = match tokens[..at].last() {
        Some((.., end)) => *end,
        None => 0,
    };
    let block = [Token::Indent, Token::ErrorLine, Token::Newline, Token::Dedent];
    tokens.splice(at..at, block.map(|token| (place, token, place)));
}

fn remove_decorators(tokens: &mut Vec<Spanned>, at: usize) {
    let std::ops::Range { mut start, end } = line_of(tokens, at);
    while start > 0 {
        let before = line_of(tokens, start - 1).start;
        if tokens[before].1 != Token::At {
            break;
        }
        start = before;
    }
    tokens.drain(start..end);
}

fn remove_indent(tokens: &mut Vec<Spanned>, at: usize) {
    let end = block_end(tokens, at);
    if matches!(tokens.get(end - 1), Some((_, Token::Dedent, _))) {
        tokens.remove(end - 1);
    }
    tokens.remove(at);
}
