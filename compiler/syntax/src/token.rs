//! The tokens that the grammar reads.
//!
//! Operators that the grammar does not distinguish are one token with a payload; `build/operations.rs`
//! handles their precedence. A token with text contains its span, and the builder reads the text there. So a
//! token is small and `Copy`, and nothing is decoded twice.

use crate::ast::{BinaryOp, BoolOp, CompareOp, UnaryOp};
use crate::source::Span;

/// A token with its byte range, in the form for the generated parser.
pub(crate) type Spanned = (u32, Token, u32);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token {
    Newline,
    Indent,
    Dedent,

    Name(Span),
    /// A number, `None`, `True` or `False`.
    Literal(Span),
    Ellipsis,
    /// A whole string or bytes literal with prefix and quotes.
    Str(Span),

    /// `f"`, with prefix and quotes.
    FStart,
    FText(FText),
    /// The `{` of a field.
    FOpen,
    /// The `=` of `{value=}` with the blanks after it.
    FEqual(Span),
    /// `!r`.
    FConversion(Span),
    /// The `:` before a format spec.
    FColon,
    FClose,
    FEnd,

    /// `+` or `-`, before one operand or between two.
    Sign(BinaryOp),
    /// `not`, `~` or `await`.
    Prefix(PrefixOp),
    /// Any operator that is only binary.
    Infix(InfixOp),
    Star,
    DoubleStar,
    Slash,
    At,
    Pipe,
    In,
    /// `+=` and its family.
    Augmented(BinaryOp),

    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    /// The `(` around the items of a `with`, where only items can follow.
    WithParen,
    Comma,
    Colon,
    Semicolon,
    Dot,
    Equal,
    ColonEqual,
    Arrow,

    As,
    Assert,
    Async,
    Break,
    Class,
    Continue,
    Def,
    Del,
    Elif,
    Else,
    Except,
    Finally,
    For,
    From,
    Global,
    If,
    Import,
    Lambda,
    Nonlocal,
    Pass,
    Raise,
    Return,
    Try,
    While,
    With,
    Yield,
    /// Soft keywords, where they are keywords.
    Match,
    Case,
    Type,

    /// Text that no token matches; it was reported.
    Invalid,
    /// Replaces reported text: an expression, a simple statement, a statement with a block.
    ErrorExpr,
    ErrorLine,
    ErrorBlock,
}

/// A piece of literal text in an f-string; doubled braces are an escaped one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FText {
    pub span: Span,
    /// Backslashes are literal.
    pub raw: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PrefixOp {
    Unary(UnaryOp),
    Await,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum InfixOp {
    Binary(BinaryOp),
    Compare(CompareOp),
    Bool(BoolOp),
}

impl Token {
    /// Whether it opens a clause of a compound statement whose first clause is further up.
    pub fn continues_statement(self) -> bool {
        matches!(self, Token::Elif | Token::Else | Token::Except | Token::Finally)
    }

    /// Whether it can only open a statement, never occur inside an expression.
    pub fn opens_statement(self) -> bool {
        matches!(
            self,
            Token::Assert
                | Token::Break
                | Token::Class
                | Token::Continue
                | Token::Def
                | Token::Del
                | Token::Elif
                | Token::Except
                | Token::Finally
                | Token::Global
                | Token::Import
                | Token::Nonlocal
                | Token::Pass
                | Token::Raise
                | Token::Return
                | Token::Try
                | Token::While
                | Token::With
        )
    }

    /// Whether it opens a statement with a block.
    pub fn opens_block(self) -> bool {
        matches!(
            self,
            Token::If
                | Token::While
                | Token::For
                | Token::Try
                | Token::With
                | Token::Def
                | Token::Class
                | Token::Async
                | Token::Match
                | Token::Case
        ) || self.continues_statement()
    }

    /// A keyword, hard or soft, as opposed to a name or a sign.
    pub fn is_keyword(self) -> bool {
        matches!(
            self,
            Token::As | Token::Async | Token::Else | Token::For | Token::From | Token::If | Token::In
        ) || matches!(self, Token::Lambda | Token::Yield | Token::Type)
            || matches!(self, Token::Prefix(PrefixOp::Await | PrefixOp::Unary(UnaryOp::Not)))
            || matches!(self, Token::Infix(InfixOp::Bool(_)))
            || matches!(
                self,
                Token::Infix(InfixOp::Compare(CompareOp::Is | CompareOp::IsNot | CompareOp::NotIn))
            )
            || self.opens_statement()
            || self.opens_block()
    }
}
