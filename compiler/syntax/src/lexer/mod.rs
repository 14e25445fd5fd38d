//! Converts text to the grammar's tokens.
//!
//! Four layers, one file each: `raw.rs` (logos) finds the smallest pieces, `layout.rs` turns line starts into
//! INDENT, DEDENT and NEWLINE, `strings.rs` handles strings and the fields of f-strings, and `soft.rs`
//! decides which `match`, `case`, `type` and `with (` are keywords. There is one pass without lookahead.
//! Errors are reported here and leave a [`Token::Invalid`] in their line, so that the parser reports nothing
//! about that line.

mod layout;
mod numbers;
mod raw;
mod soft;
mod strings;

use logos::Logos;

use crate::Diagnostic;
use crate::ast::{CompareOp, UnaryOp};
use crate::cancellation::Cancellation;
use crate::errors;
use crate::source::{Source, Span};
use crate::token::{InfixOp, PrefixOp, Spanned, Token};
use layout::Indent;
pub(crate) use numbers::{NumberProblem, Radix};
use raw::Raw;
use strings::Mode;

/// Brackets nested deeper than this are refused, as in CPython.
const MAX_BRACKETS: usize = 200;
/// How often the lexer restarts after an unclosed bracket.
const MAX_RESTARTS: u32 = 50;

/// All that the lexer found.
pub(crate) struct Lexed {
    pub tokens: Vec<Spanned>,
    pub comments: Vec<Span>,
    pub diagnostics: Vec<Diagnostic>,
    /// The construct still open at the end of the text, unless there was an error before.
    pub open: Option<Open>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    Bracket,
    String,
    Backslash,
}

pub(crate) fn lex(source: &Source) -> Lexed {
    let mut lexer = Lexer::new(source);
    while lexer.step() {}
    lexer.out
}

/// [`lex`]; `None` if it was cancelled.
pub(crate) fn lex_unless(source: &Source, cancellation: &Cancellation) -> Option<Lexed> {
    let mut lexer = Lexer::new(source);
    while !cancellation.step() && lexer.step() {}
    (!cancellation.is_cancelled()).then_some(lexer.out)
}

struct Lexer<'a> {
    source: &'a Source,
    text: &'a str,
    raw: logos::Lexer<'a, Raw>,
    out: Lexed,
    indents: Vec<Indent>,
    brackets: Vec<Bracket>,
    /// Innermost last: the current position in nested f-strings.
    modes: Vec<Mode>,
    /// The next character starts a logical line.
    at_line_start: bool,
    /// The next piece is the first of a physical line inside brackets.
    at_joined_line_start: bool,
    /// Index of the first token of the logical line, after INDENT and DEDENT.
    line_first: usize,
    /// Something in the logical line was reported.
    line_is_invalid: bool,
    restarts: u32,
    reported_tabs: bool,
}

#[derive(Clone, Copy)]
struct Bracket {
    kind: BracketKind,
    at: u32,
    token_idx: usize,
    /// An `as` occurs directly inside.
    has_as: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BracketKind {
    Paren,
    Bracket,
    Brace,
    /// The `{` of an f-string's field.
    Field,
}

impl BracketKind {
    fn open(self) -> char {
        match self {
            BracketKind::Paren => '(',
            BracketKind::Bracket => '[',
            BracketKind::Brace | BracketKind::Field => '{',
        }
    }

    fn close(self) -> char {
        match self {
            BracketKind::Paren => ')',
            BracketKind::Bracket => ']',
            BracketKind::Brace | BracketKind::Field => '}',
        }
    }
}

impl<'a> Lexer<'a> {
    fn new(source: &'a Source) -> Lexer<'a> {
        let text = source.text();
        let tokens = Vec::with_capacity(text.len() / 3 + 8);
        Lexer {
            source,
            text,
            raw: Raw::lexer(text),
            out: Lexed { tokens, comments: Vec::new(), diagnostics: Vec::new(), open: None },
            indents: Vec::new(),
            brackets: Vec::new(),
            modes: Vec::new(),
            at_line_start: true,
            at_joined_line_start: false,
            line_first: 0,
            line_is_invalid: false,
            restarts: 0,
            reported_tabs: false,
        }
    }

    /// Reads one piece; false at the end of the text.
    fn step(&mut self) -> bool {
        if self.in_fstring_text() {
            return self.fstring_text();
        }
        if self.at_line_start && !self.begin_line() {
            return false;
        }
        match self.raw.next() {
            Some(Ok(raw)) => self.piece(raw),
            Some(Err(())) => {
                self.invalid_character();
                true
            }
            None => self.end_of_text(),
        }
    }

    fn piece(&mut self, raw: Raw) -> bool {
        let span = self.raw_span();
        let first_of_line = std::mem::take(&mut self.at_joined_line_start);
        match raw {
            Raw::Sign(token) => return self.sign(token, span),
            Raw::Name => self.name(span),
            Raw::Keyword(token) => {
                if self.name_continues() {
                    self.name(span);
                } else if first_of_line && token.opens_statement() && !self.brackets.is_empty() {
                    return self.unclosed_bracket(span.start);
                } else {
                    self.push(token, span);
                }
            }
            Raw::Constant if self.name_continues() => self.name(span),
            Raw::Constant => self.push(Token::Literal(span), span),
            Raw::Number => self.number(span),
            Raw::String => return self.string(span),
            Raw::Newline if self.brackets.is_empty() => self.end_line(span),
            Raw::Newline => self.at_joined_line_start = true,
            Raw::Comment => {
                self.out.comments.push(span);
                self.at_joined_line_start = first_of_line;
            }
            Raw::Unicode => self.unicode(span),
            Raw::Bang => self.bang(span),
            Raw::Backslash => return self.backslash(span),
        }
        true
    }

    fn sign(&mut self, token: Token, span: Span) -> bool {
        let in_field = self.brackets.last().is_some_and(|bracket| bracket.kind == BracketKind::Field);
        match token {
            Token::LeftParen => return self.open_bracket(BracketKind::Paren, token, span),
            Token::LeftBracket => return self.open_bracket(BracketKind::Bracket, token, span),
            Token::LeftBrace => return self.open_bracket(BracketKind::Brace, token, span),
            Token::RightBrace if in_field => self.close_field(span),
            Token::RightParen => self.close_bracket(BracketKind::Paren, token, span),
            Token::RightBracket => self.close_bracket(BracketKind::Bracket, token, span),
            Token::RightBrace => self.close_bracket(BracketKind::Brace, token, span),
            Token::Colon | Token::ColonEqual if in_field => self.begin_spec(span),
            Token::Equal if in_field => self.debug_equal(span),
            _ => self.push(token, span),
        }
        true
    }

    fn open_bracket(&mut self, kind: BracketKind, token: Token, span: Span) -> bool {
        if self.brackets.len() >= MAX_BRACKETS {
            self.report(errors::too_many_brackets(self.source.at(span)));
            return self.give_up();
        }
        self.brackets.push(Bracket { kind, at: span.start, token_idx: self.out.tokens.len(), has_as: false });
        self.push(token, span);
        true
    }

    fn close_bracket(&mut self, kind: BracketKind, token: Token, span: Span) {
        match self.brackets.last() {
            Some(open) if open.kind == kind => {
                let open = *open;
                self.brackets.pop();
                self.mark_with_paren(open);
                self.push(token, span);
            }
            open => {
                let opened = open.map(|open| (Span::new(open.at, open.at + 1), open.kind.open()));
                self.wrong_bracket(kind, span, opened);
                self.close_through(kind);
            }
        }
    }

    /// A closing bracket that does not match the innermost open one, which is `opened`.
    fn wrong_bracket(&mut self, kind: BracketKind, span: Span, opened: Option<(Span, char)>) {
        if !self.line_is_invalid {
            let at = self.source.at(span);
            self.report(match opened {
                Some((opened, open)) => {
                    errors::mismatched_bracket(at, kind.close(), self.source.at(opened), open)
                }
                None => errors::unmatched_bracket(at, kind.close()),
            });
        }
        self.push(Token::Invalid, span);
    }

    /// Drops the brackets inside the nearest open one of this kind, and that one. Without such a bracket, the
    /// wrong bracket is taken for the right one.
    fn close_through(&mut self, kind: BracketKind) {
        let in_field = |bracket: &Bracket| bracket.kind == BracketKind::Field;
        let innermost_field = self.brackets.iter().rposition(in_field).map_or(0, |idx| idx + 1);
        let same_kind = self.brackets.iter().rposition(|bracket| bracket.kind == kind);
        match same_kind.filter(|&idx| idx >= innermost_field) {
            Some(idx) => self.brackets.truncate(idx),
            None if self.brackets.len() > innermost_field => {
                self.brackets.pop();
            }
            None => {}
        }
    }

    fn push(&mut self, token: Token, span: Span) {
        self.mark_soft_keywords(token);
        self.line_is_invalid |= token == Token::Invalid;
        if let Some((_, last, end)) = self.out.tokens.last_mut()
            && let Some(op) = two_words(*last, token)
        {
            (*last, *end) = (Token::Infix(InfixOp::Compare(op)), span.end);
            return;
        }
        self.out.tokens.push((span.start, token, span.end));
    }

    /// A name that begins with `span`.
    fn name(&mut self, span: Span) {
        let rest = self.raw.remainder();
        let more = rest.find(|c| c != '_' && !unicode_ident::is_xid_continue(c)).unwrap_or(rest.len());
        self.raw.bump(more);
        let span = Span::new(span.start, span.end + more as u32);
        self.push(Token::Name(span), span);
        self.mark_case();
    }

    /// A keyword is followed by characters beyond ASCII, which make it a longer name.
    fn name_continues(&self) -> bool {
        let rest = self.raw.remainder();
        rest.as_bytes().first().is_some_and(|byte| *byte >= 0x80)
            && rest.starts_with(unicode_ident::is_xid_continue)
    }

    fn unicode(&mut self, span: Span) {
        if self.source.slice(span).starts_with(unicode_ident::is_xid_start) {
            self.name(span);
        } else {
            self.invalid_character();
        }
    }

    fn number(&mut self, span: Span) {
        let scanned = numbers::scan(&self.text[span.start as usize..]);
        self.raw.bump(scanned.len - (span.end - span.start) as usize);
        let span = Span::new(span.start, span.start + scanned.len as u32);
        if let Some(problem) = scanned.problem {
            let diagnostic = errors::bad_number(self.source.at(span), self.source.slice(span), problem);
            self.report(diagnostic);
            // A literal all the same, so that the rest of the line is parsed; its value is not read.
            self.push(Token::ErrorExpr, span);
        } else {
            self.push(Token::Literal(span), span);
        }
    }

    fn invalid_character(&mut self) {
        let span = self.raw_span();
        let rest = &self.text[span.start as usize..];
        let character = rest.chars().next().unwrap_or('\0');
        if !self.line_is_invalid {
            self.report(errors::invalid_character(self.source.at(span), character));
        }
        self.push(Token::Invalid, span);
    }

    fn backslash(&mut self, span: Span) -> bool {
        if span.end as usize == self.text.len() {
            self.leave_open(Open::Backslash);
            self.report(errors::backslash_at_end(self.source.at(span)));
            self.push(Token::Invalid, span);
            return true;
        }
        self.report(errors::stray_backslash(self.source.at(span)));
        self.push(Token::Invalid, span);
        let rest = self.raw.remainder();
        self.raw.bump(rest.find(['\n', '\r']).unwrap_or(rest.len()));
        true
    }

    /// The text ended; true if lexing continues after an unclosed bracket.
    fn end_of_text(&mut self) -> bool {
        if !self.brackets.is_empty() {
            self.leave_open(Open::Bracket);
            return self.unclosed_bracket(self.text.len() as u32);
        }
        if !self.at_line_start {
            self.end_line(Span::point(self.text.len() as u32));
        }
        self.close_indents();
        false
    }

    /// Reports an unclosed bracket at `end`, and restarts after it: at a line that is no deeper than its
    /// block. It is the innermost one, unless another one was open there before.
    fn unclosed_bracket(&mut self, end: u32) -> bool {
        let mut pairs = self.brackets.windows(2);
        let outer = pairs.find(|pair| self.line_after(pair[0].at) <= pair[1].at).map(|pair| pair[0]);
        let innermost = self.brackets.last().copied();
        let open = outer.or(innermost).expect("only called while a bracket is open");
        let resume = self.line_after(open.at).min(end);
        if !self.line_is_invalid {
            let at = self.source.at(Span::new(open.at, open.at + 1));
            self.report(match open.kind {
                BracketKind::Field => errors::unclosed_field(at),
                kind => errors::unclosed_bracket(at, kind.open(), kind.close()),
            });
        }
        self.restart_line(resume);
        self.restarts += 1;
        self.restarts <= MAX_RESTARTS || self.give_up()
    }

    /// Ends the logical line as one that was reported, and reads on at `resume`.
    fn restart_line(&mut self, resume: u32) {
        let line = &self.out.tokens[self.line_first..];
        let n_retained = line.iter().take_while(|(start, ..)| *start < resume).count();
        self.out.tokens.truncate(self.line_first + n_retained.max(1));
        self.brackets.clear();
        self.modes.clear();
        self.at_joined_line_start = false;
        let line_start = self.text[..resume as usize].rfind(['\n', '\r']).map_or(0, |at| at + 1) as u32;
        let end = Span::point(line_start);
        self.push(Token::Invalid, end);
        self.end_line(end);
        self.seek(line_start);
    }

    /// Ends the text here: what follows cannot be lexed meaningfully.
    fn give_up(&mut self) -> bool {
        self.brackets.clear();
        self.modes.clear();
        let end = Span::point(self.text.len() as u32);
        self.push(Token::Invalid, end);
        self.end_line(end);
        self.close_indents();
        false
    }

    fn leave_open(&mut self, open: Open) {
        if self.out.diagnostics.is_empty() {
            self.out.open = Some(open);
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.out.diagnostics.push(diagnostic);
    }

    fn raw_span(&self) -> Span {
        let range = self.raw.span();
        Span::new(range.start as u32, range.end as u32)
    }

    fn seek(&mut self, at: u32) {
        self.raw = Raw::lexer(self.text);
        self.raw.bump(at as usize);
    }

    /// The position of the raw lexer.
    fn position(&self) -> u32 {
        self.raw.span().end as u32
    }
}

/// The comparison that consists of two keywords.
fn two_words(first: Token, second: Token) -> Option<CompareOp> {
    const NOT: Token = Token::Prefix(PrefixOp::Unary(UnaryOp::Not));
    const IS: Token = Token::Infix(InfixOp::Compare(CompareOp::Is));
    match (first, second) {
        (NOT, Token::In) => Some(CompareOp::NotIn),
        (IS, NOT) => Some(CompareOp::IsNot),
        _ => None,
    }
}
