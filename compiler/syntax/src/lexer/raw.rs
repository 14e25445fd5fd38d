//! Splits characters into the smallest pieces, by logos: without layout, soft keywords or the content of
//! strings.

use logos::Logos;

use crate::ast::{BinaryOp, BoolOp, CompareOp, UnaryOp};
use crate::token::{InfixOp, PrefixOp, Token};

const fn binary(op: BinaryOp) -> Token {
    Token::Infix(InfixOp::Binary(op))
}

const fn compare(op: CompareOp) -> Token {
    Token::Infix(InfixOp::Compare(op))
}

#[derive(Logos, Clone, Copy, Debug, PartialEq)]
#[logos(skip r"[ \t\x0c]+")]
#[logos(skip r"\\(\r\n|\n|\r)")]
pub(super) enum Raw {
    #[regex(r"\r\n|\n|\r")]
    Newline,
    #[regex(r"#[^\r\n]*", allow_greedy = true)]
    Comment,
    /// The start of a name; characters beyond ASCII are added by code.
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Name,
    /// The first character of a name or a mistake.
    #[regex(r"[^\x00-\x7F]")]
    Unicode,
    /// The first characters of a number.
    #[regex(r"\.?[0-9]")]
    Number,
    /// Prefix and quotes of a string.
    #[regex(r#"([bB]|[rR]|[uU]|[fF]|[bB][rR]|[rR][bB]|[fF][rR]|[rR][fF])?("|"""|'|''')"#)]
    String,
    /// Closes an f-string's field, or begins its conversion.
    #[token("!")]
    Bang,
    #[token("\\")]
    Backslash,

    #[token("(", |_| Token::LeftParen)]
    #[token(")", |_| Token::RightParen)]
    #[token("[", |_| Token::LeftBracket)]
    #[token("]", |_| Token::RightBracket)]
    #[token("{", |_| Token::LeftBrace)]
    #[token("}", |_| Token::RightBrace)]
    #[token(",", |_| Token::Comma)]
    #[token(":", |_| Token::Colon)]
    #[token(";", |_| Token::Semicolon)]
    #[token(".", |_| Token::Dot)]
    #[token("...", |_| Token::Ellipsis)]
    #[token("=", |_| Token::Equal)]
    #[token(":=", |_| Token::ColonEqual)]
    #[token("->", |_| Token::Arrow)]
    #[token("+", |_| Token::Sign(BinaryOp::Add))]
    #[token("-", |_| Token::Sign(BinaryOp::Sub))]
    #[token("~", |_| Token::Prefix(PrefixOp::Unary(UnaryOp::Invert)))]
    #[token("*", |_| Token::Star)]
    #[token("**", |_| Token::DoubleStar)]
    #[token("/", |_| Token::Slash)]
    #[token("@", |_| Token::At)]
    #[token("|", |_| Token::Pipe)]
    #[token("//", |_| binary(BinaryOp::FloorDiv))]
    #[token("%", |_| binary(BinaryOp::Mod))]
    #[token("<<", |_| binary(BinaryOp::LeftShift))]
    #[token(">>", |_| binary(BinaryOp::RightShift))]
    #[token("&", |_| binary(BinaryOp::BitAnd))]
    #[token("^", |_| binary(BinaryOp::BitXor))]
    #[token("==", |_| compare(CompareOp::Eq))]
    #[token("!=", |_| compare(CompareOp::NotEq))]
    #[token("<", |_| compare(CompareOp::Less))]
    #[token("<=", |_| compare(CompareOp::LessEq))]
    #[token(">", |_| compare(CompareOp::Greater))]
    #[token(">=", |_| compare(CompareOp::GreaterEq))]
    #[token("+=", |_| Token::Augmented(BinaryOp::Add))]
    #[token("-=", |_| Token::Augmented(BinaryOp::Sub))]
    #[token("*=", |_| Token::Augmented(BinaryOp::Mul))]
    #[token("@=", |_| Token::Augmented(BinaryOp::MatMul))]
    #[token("/=", |_| Token::Augmented(BinaryOp::Div))]
    #[token("//=", |_| Token::Augmented(BinaryOp::FloorDiv))]
    #[token("%=", |_| Token::Augmented(BinaryOp::Mod))]
    #[token("**=", |_| Token::Augmented(BinaryOp::Pow))]
    #[token("<<=", |_| Token::Augmented(BinaryOp::LeftShift))]
    #[token(">>=", |_| Token::Augmented(BinaryOp::RightShift))]
    #[token("&=", |_| Token::Augmented(BinaryOp::BitAnd))]
    #[token("|=", |_| Token::Augmented(BinaryOp::BitOr))]
    #[token("^=", |_| Token::Augmented(BinaryOp::BitXor))]
    Sign(Token),

    #[token("and", |_| Token::Infix(InfixOp::Bool(BoolOp::And)))]
    #[token("or", |_| Token::Infix(InfixOp::Bool(BoolOp::Or)))]
    #[token("not", |_| Token::Prefix(PrefixOp::Unary(UnaryOp::Not)))]
    #[token("await", |_| Token::Prefix(PrefixOp::Await))]
    #[token("is", |_| compare(CompareOp::Is))]
    #[token("in", |_| Token::In)]
    #[token("as", |_| Token::As)]
    #[token("assert", |_| Token::Assert)]
    #[token("async", |_| Token::Async)]
    #[token("break", |_| Token::Break)]
    #[token("class", |_| Token::Class)]
    #[token("continue", |_| Token::Continue)]
    #[token("def", |_| Token::Def)]
    #[token("del", |_| Token::Del)]
    #[token("elif", |_| Token::Elif)]
    #[token("else", |_| Token::Else)]
    #[token("except", |_| Token::Except)]
    #[token("finally", |_| Token::Finally)]
    #[token("for", |_| Token::For)]
    #[token("from", |_| Token::From)]
    #[token("global", |_| Token::Global)]
    #[token("if", |_| Token::If)]
    #[token("import", |_| Token::Import)]
    #[token("lambda", |_| Token::Lambda)]
    #[token("nonlocal", |_| Token::Nonlocal)]
    #[token("pass", |_| Token::Pass)]
    #[token("raise", |_| Token::Raise)]
    #[token("return", |_| Token::Return)]
    #[token("try", |_| Token::Try)]
    #[token("while", |_| Token::While)]
    #[token("with", |_| Token::With)]
    #[token("yield", |_| Token::Yield)]
    Keyword(Token),
    #[token("None")]
    #[token("True")]
    #[token("False")]
    Constant,
}
