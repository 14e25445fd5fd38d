//! Decides which `match`, `case`, `type` and `with (` are keywords, so that the grammar need not.
//!
//! - `match` is one if it begins a logical line that ends with a colon, or if the next token could not follow
//!   a name.
//! - `case` is one if it begins a line directly in the block of a `match`, where nothing else is allowed.
//! - `type` is one if it begins a statement and a name follows.
//! - The `(` after `with` surrounds items, not an expression, if an `as` occurs directly inside.

use crate::token::{PrefixOp, Token};

use super::{Bracket, BracketKind, Lexer};

impl Lexer<'_> {
    /// Called before `token` is pushed.
    pub(super) fn mark_soft_keywords(&mut self, token: Token) {
        match token {
            Token::Name(_) => self.mark_type(),
            Token::As => {
                if let Some(bracket) = self.brackets.last_mut() {
                    bracket.has_as = true;
                }
            }
            _ => {}
        }
    }

    fn mark_type(&mut self) {
        let [.., before, (_, last, _)] = self.out.tokens.as_mut_slice() else {
            if let [(_, last @ Token::Name(_), _)] = self.out.tokens.as_mut_slice()
                && let Token::Name(span) = *last
                && self.source.slice(span) == "type"
            {
                *last = Token::Type;
            }
            return;
        };
        let Token::Name(span) = *last else { return };
        let begins_statement = matches!(
            before.1,
            Token::Newline | Token::Indent | Token::Dedent | Token::Semicolon | Token::Colon
        );
        if begins_statement && span.end - span.start == 4 && self.source.slice(span) == "type" {
            *last = Token::Type;
        }
    }

    /// Called when a name was pushed.
    pub(super) fn mark_case(&mut self) {
        if self.out.tokens.len() != self.line_first + 1 {
            return;
        }
        let Some(indent) = self.indents.last() else { return };
        let opener = self.out.tokens.get(indent.opener).map(|(_, token, _)| *token);
        let (_, last, _) = self.out.tokens.last_mut().expect("a name was pushed");
        if let (Some(Token::Match), Token::Name(span)) = (opener, *last)
            && self.source.slice(span) == "case"
        {
            *last = Token::Case;
        }
    }

    /// Called at the end of a logical line.
    pub(super) fn mark_match(&mut self) {
        let line = &mut self.out.tokens[self.line_first..];
        let [(_, first @ Token::Name(_), _), (_, second, _), .., (_, last, _)] = line else { return };
        let Token::Name(span) = *first else { return };
        if self.source.slice(span) != "match" {
            return;
        }
        let follows_no_name = matches!(
            second,
            Token::Name(_)
                | Token::Literal(_)
                | Token::Str(_)
                | Token::FStart
                | Token::LeftBrace
                | Token::Prefix(PrefixOp::Await)
        );
        let is_header = *last == Token::Colon && *second != Token::Colon;
        if is_header || follows_no_name {
            *first = Token::Match;
        }
    }

    /// Called when the bracket `open` is closed.
    pub(super) fn mark_with_paren(&mut self, open: Bracket) {
        if open.kind == BracketKind::Paren
            && open.has_as
            && open.token_idx > 0
            && self.out.tokens[open.token_idx - 1].1 == Token::With
        {
            self.out.tokens[open.token_idx].1 = Token::WithParen;
        }
    }
}
