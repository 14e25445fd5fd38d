//! Strings, and the modes of f-strings.
//!
//! A plain string is one token from prefix to closing quote. An f-string is a sequence: its start, pieces of
//! text, fields with ordinary tokens between `{` and `}`, its end. [`Mode`] is the current position. A field
//! may contain strings and f-strings with any quotes, and a format spec may contain fields.

use crate::errors;
use crate::source::Span;
use crate::token::{FText, Token};

use super::{Bracket, BracketKind, Lexer, Open};

/// f-strings and format specs nested deeper than this are refused, as in CPython.
const MAX_FSTRINGS: usize = 150;

#[derive(Clone, Copy)]
pub(super) enum Mode {
    Text(FString),
    /// Inside the braces; ordinary tokens.
    Field(FString),
    /// After the colon in the braces; text again.
    Spec(FString),
}

#[derive(Clone, Copy)]
pub(super) struct FString {
    quotes: Quotes,
    raw: bool,
    start: u32,
}

/// The quotes that end a string.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Quotes {
    quote: u8,
    triple: bool,
}

impl Quotes {
    /// Whether `rest` begins with them.
    fn end(self, rest: &[u8]) -> bool {
        if self.triple { rest.starts_with(&[self.quote; 3]) } else { rest.first() == Some(&self.quote) }
    }

    fn len(self) -> u32 {
        if self.triple { 3 } else { 1 }
    }
}

/// The end of a run of string text.
enum Stop {
    Quotes,
    /// A lone brace.
    Open,
    Close,
    LineEnd,
    EndOfText,
}

impl Lexer<'_> {
    pub(super) fn in_fstring_text(&self) -> bool {
        matches!(self.modes.last(), Some(Mode::Text(_) | Mode::Spec(_)))
    }

    /// A string begins: `span` covers prefix and opening quotes.
    pub(super) fn string(&mut self, span: Span) -> bool {
        let opening = self.source.slice(span);
        let prefix = opening.trim_end_matches(['\'', '"']);
        let quotes = Quotes {
            quote: opening.as_bytes()[opening.len() - 1],
            triple: opening.len() - prefix.len() == 3,
        };
        if prefix.contains(['f', 'F']) {
            let raw = prefix.contains(['r', 'R']);
            return self.begin_fstring(FString { quotes, raw, start: span.start }, span);
        }
        let rest = self.raw.remainder().as_bytes();
        match plain_string_len(rest, quotes) {
            Ok(len) => {
                self.raw.bump(len);
                let span = Span::new(span.start, span.end + len as u32);
                self.push(Token::Str(span), span);
                true
            }
            Err(len) => {
                self.raw.bump(len);
                self.unterminated(span, quotes)
            }
        }
    }

    /// The string whose opening is `span` reached the end of its line or of the text.
    fn unterminated(&mut self, span: Span, quotes: Quotes) -> bool {
        if quotes.triple {
            self.leave_open(Open::String);
        }
        // A quote in a field may have been meant to end the f-string around it.
        if let Some(Mode::Field(fstring)) = self.modes.last().copied()
            && fstring.quotes == quotes
            && self.source.slice(span).len() as u32 == quotes.len()
        {
            return self.unclosed_field();
        }
        if !self.line_is_invalid {
            let at = self.source.at(span);
            self.report(match quotes.triple {
                true => errors::unterminated_triple_string(at),
                false => errors::unterminated_string(at, quotes.quote as char),
            });
        }
        self.push(Token::Invalid, Span::new(span.start, self.position()));
        self.leave_fstrings();
        true
    }

    fn begin_fstring(&mut self, fstring: FString, span: Span) -> bool {
        if self.modes.len() >= MAX_FSTRINGS {
            self.report(errors::too_many_fstrings(self.source.at(span)));
            return self.give_up();
        }
        self.push(Token::FStart, span);
        self.modes.push(Mode::Text(fstring));
        true
    }

    /// Reads on in the text or the format spec of an f-string.
    pub(super) fn fstring_text(&mut self) -> bool {
        let (fstring, in_spec) = match self.modes.last().copied() {
            Some(Mode::Text(fstring)) => (fstring, false),
            Some(Mode::Spec(fstring)) => (fstring, true),
            _ => unreachable!("the mode is Text or Spec"),
        };
        let start = self.position();
        let (len, stop) = fstring_text_len(self.raw.remainder().as_bytes(), fstring, in_spec);
        self.raw.bump(len);
        let end = start + len as u32;
        if end > start {
            let span = Span::new(start, end);
            self.push(Token::FText(FText { span, raw: fstring.raw }), span);
        }
        match stop {
            Stop::Open => return self.begin_field(fstring, end),
            Stop::Close if in_spec => self.close_spec(end),
            Stop::Close => self.lone_brace(end),
            Stop::Quotes if in_spec => return self.unclosed_field(),
            Stop::Quotes => self.end_fstring(fstring, end),
            Stop::LineEnd | Stop::EndOfText => {
                let opening = self.opening(fstring);
                return self.unterminated(opening, fstring.quotes);
            }
        }
        true
    }

    fn end_fstring(&mut self, fstring: FString, at: u32) {
        let len = fstring.quotes.len();
        self.raw.bump(len as usize);
        self.modes.pop();
        self.push(Token::FEnd, Span::new(at, at + len));
    }

    fn begin_field(&mut self, fstring: FString, at: u32) -> bool {
        let span = Span::new(at, at + 1);
        self.raw.bump(1);
        if self.modes.len() >= MAX_FSTRINGS {
            self.report(errors::too_many_fstrings(self.source.at(span)));
            return self.give_up();
        }
        self.modes.push(Mode::Field(fstring));
        let token_idx = self.out.tokens.len();
        self.brackets.push(Bracket { kind: BracketKind::Field, at, token_idx, has_as: false });
        self.push(Token::FOpen, span);
        true
    }

    /// A colon at the level of the field: `span` may cover `:=`, whose `=` belongs to the spec.
    pub(super) fn begin_spec(&mut self, span: Span) {
        let colon = Span::new(span.start, span.start + 1);
        if span != colon {
            self.seek(colon.end);
        }
        self.push(Token::FColon, colon);
        if let Some(Mode::Field(fstring)) = self.modes.last().copied() {
            self.modes.push(Mode::Spec(fstring));
        }
    }

    /// `=` at the level of the field.
    pub(super) fn debug_equal(&mut self, span: Span) {
        let rest = self.raw.remainder();
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\x0c', '\n', '\r']).len();
        self.raw.bump(blanks);
        let span = Span::new(span.start, span.end + blanks as u32);
        self.push(Token::FEqual(span), span);
    }

    /// `!`, which is a token only before the conversion of a field.
    pub(super) fn bang(&mut self, span: Span) {
        let in_field = self.brackets.last().is_some_and(|bracket| bracket.kind == BracketKind::Field);
        if !in_field {
            if !self.line_is_invalid {
                self.report(errors::bang(self.source.at(span)));
            }
            self.push(Token::Invalid, span);
            return;
        }
        let rest = self.raw.remainder();
        let len = rest.find(|c| !unicode_ident::is_xid_continue(c)).unwrap_or(rest.len());
        self.raw.bump(len);
        let span = Span::new(span.start, span.end + len as u32);
        self.push(Token::FConversion(span), span);
    }

    pub(super) fn close_field(&mut self, span: Span) {
        self.brackets.pop();
        self.modes.pop();
        self.push(Token::FClose, span);
    }

    fn close_spec(&mut self, at: u32) {
        self.raw.bump(1);
        self.modes.pop();
        self.close_field(Span::new(at, at + 1));
    }

    fn lone_brace(&mut self, at: u32) {
        let span = Span::new(at, at + 1);
        self.raw.bump(1);
        if !self.line_is_invalid {
            self.report(errors::lone_brace(self.source.at(span)));
        }
        self.push(Token::Invalid, span);
    }

    /// The quotes of the f-string came before the `}` of a field: ends the f-string there.
    fn unclosed_field(&mut self) -> bool {
        if !self.line_is_invalid
            && let Some(field) = self.brackets.iter().rfind(|bracket| bracket.kind == BracketKind::Field)
        {
            let at = self.source.at(Span::new(field.at, field.at + 1));
            self.report(errors::unclosed_field(at));
        }
        let end = Span::point(self.position());
        self.push(Token::Invalid, end);
        let rest = self.raw.remainder();
        if self.modes.iter().all(|mode| !matches!(mode, Mode::Text(fstring) if fstring.quotes.triple)) {
            self.raw.bump(rest.find(['\n', '\r']).unwrap_or(rest.len()));
        }
        self.leave_fstrings();
        true
    }

    /// Drops all open f-strings with the brackets inside.
    fn leave_fstrings(&mut self) {
        self.modes.clear();
        if let Some(idx) = self.brackets.iter().position(|bracket| bracket.kind == BracketKind::Field) {
            self.brackets.truncate(idx);
        }
    }

    /// Prefix and opening quotes.
    fn opening(&self, fstring: FString) -> Span {
        let rest = &self.text.as_bytes()[fstring.start as usize..];
        let n_prefix = rest.iter().take_while(|byte| **byte != fstring.quotes.quote).count() as u32;
        Span::new(fstring.start, fstring.start + n_prefix + fstring.quotes.len())
    }
}

/// The length of the rest of a plain string with its closing quotes; `Err` with the length of the rest if it
/// is not closed.
fn plain_string_len(rest: &[u8], quotes: Quotes) -> Result<usize, usize> {
    let mut at = 0;
    while let Some(&byte) = rest.get(at) {
        match byte {
            b'\\' => at += escape_len(&rest[at..]),
            b'\n' | b'\r' if !quotes.triple => return Err(at),
            _ if byte == quotes.quote && quotes.end(&rest[at..]) => return Ok(at + quotes.len() as usize),
            _ => at += 1,
        }
    }
    Err(rest.len())
}

/// The length of a backslash and the escaped text, including a whole line end.
fn escape_len(rest: &[u8]) -> usize {
    match rest {
        [_, b'\r', b'\n', ..] => 3,
        [_, _, ..] => 2,
        _ => 1,
    }
}

/// The length of an f-string's text, and what ends it.
fn fstring_text_len(rest: &[u8], fstring: FString, in_spec: bool) -> (usize, Stop) {
    let mut at = 0;
    while let Some(&byte) = rest.get(at) {
        let here = &rest[at..];
        match byte {
            b'\\' if !fstring.raw && here.starts_with(b"\\N{") => {
                at += here.iter().position(|byte| *byte == b'}').map_or(3, |close| close + 1);
            }
            // A brace is never escaped by a backslash.
            b'\\' if matches!(here.get(1), Some(b'{' | b'}')) => at += 1,
            b'\\' => at += escape_len(here),
            // In a spec braces cannot be doubled: `{x:{{` opens two fields.
            b'{' | b'}' if !in_spec && here.get(1) == Some(&byte) => at += 2,
            b'{' => return (at, Stop::Open),
            b'}' => return (at, Stop::Close),
            b'\n' | b'\r' if !fstring.quotes.triple => return (at, Stop::LineEnd),
            _ if byte == fstring.quotes.quote && fstring.quotes.end(here) => return (at, Stop::Quotes),
            _ => at += 1,
        }
    }
    (rest.len(), Stop::EndOfText)
}
