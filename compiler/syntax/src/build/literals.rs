//! Numbers and strings: decodes the text.

use std::sync::Arc;

use num_bigint::BigInt;

use crate::ast::{Conversion, Expr, ExprKind, FStringPart, FStringValue};
use crate::errors;
use crate::source::Span;
use crate::token::FText;

use super::escapes::Flavor;
use super::{Builder, deepest_part};

/// Longer decimal integers are refused, as in CPython: parsing them takes quadratic time.
const MAX_DECIMAL_DIGITS: usize = 4300;

/// One of several adjacent literals.
pub(crate) enum StringPiece {
    Plain(Span),
    Format(Vec<FStringPart>),
}

/// The end of a field after its expression: `=`, `!r`, `:spec`.
pub(crate) struct FieldTail {
    equal: Option<Span>,
    conversion: Option<Span>,
    spec: Option<Vec<FStringPart>>,
}

impl FieldTail {
    pub fn new(equal: Option<Span>, conversion: Option<Span>, spec: Option<Vec<FStringPart>>) -> FieldTail {
        FieldTail { equal, conversion, spec }
    }
}

/// The parts of a plain literal.
struct PlainString<'a> {
    body: &'a str,
    /// Where the body starts.
    start: u32,
    is_raw: bool,
}

impl Builder<'_> {
    /// A number, `None`, `True` or `False`.
    pub fn literal(&mut self, span: Span) -> Expr {
        let text = &self.text[span.range()];
        let kind = match text {
            "None" => ExprKind::None,
            "True" => ExprKind::True,
            "False" => ExprKind::False,
            _ => self.number(text, span),
        };
        Expr { span, kind, depth: 0 }
    }

    fn number(&mut self, text: &str, span: Span) -> ExprKind {
        let without_underscores: String;
        let digits = match text.contains('_') {
            true => {
                without_underscores = text.replace('_', "");
                &without_underscores
            }
            false => text,
        };
        if let Some(float) = digits.strip_suffix(['j', 'J']) {
            return ExprKind::Imaginary(parse_float(float));
        }
        match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => ExprKind::Int(parse_int(&digits[2..], 16)),
            [b'0', b'o' | b'O', ..] => ExprKind::Int(parse_int(&digits[2..], 8)),
            [b'0', b'b' | b'B', ..] => ExprKind::Int(parse_int(&digits[2..], 2)),
            bytes if bytes.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) => {
                ExprKind::Float(parse_float(digits))
            }
            bytes if bytes.len() > MAX_DECIMAL_DIGITS => {
                self.report(errors::too_many_digits(self.at(span), bytes.len(), MAX_DECIMAL_DIGITS));
                ExprKind::Error
            }
            _ => ExprKind::Int(parse_int(digits, 10)),
        }
    }

    /// Literals beside each other, joined.
    pub fn strings(&mut self, start: u32, pieces: Vec<StringPiece>, end: u32) -> Expr {
        let span = Span::new(start, end);
        let is_bytes =
            |piece: &StringPiece| matches!(piece, StringPiece::Plain(span) if self.is_bytes(*span));
        let n_bytes = pieces.iter().filter(|piece| is_bytes(piece)).count();
        if n_bytes == pieces.len() {
            return self.bytes(span, &pieces);
        }
        if n_bytes > 0 {
            self.report(errors::mixed_bytes(self.at(span)));
            return Expr { span, kind: ExprKind::Error, depth: 0 };
        }
        if pieces.iter().any(|piece| matches!(piece, StringPiece::Format(..))) {
            return self.joined_fstring(span, pieces);
        }
        let mut joined = String::new();
        for piece in &pieces {
            if let StringPiece::Plain(span) = piece {
                self.plain_text(*span, &mut joined);
            }
        }
        Expr { span, kind: ExprKind::Str(Arc::from(joined)), depth: 0 }
    }

    fn bytes(&mut self, span: Span, pieces: &[StringPiece]) -> Expr {
        let mut joined = Vec::new();
        for piece in pieces {
            if let StringPiece::Plain(span) = piece {
                let plain = self.take_apart(*span);
                self.decode_bytes(plain.body, plain.start, plain.is_raw, &mut joined);
            }
        }
        Expr { span, kind: ExprKind::Bytes(Arc::from(joined)), depth: 0 }
    }

    fn joined_fstring(&mut self, span: Span, pieces: Vec<StringPiece>) -> Expr {
        let mut parts: Vec<FStringPart> = Vec::new();
        let mut text = String::new();
        for piece in pieces {
            match piece {
                StringPiece::Plain(span) => self.plain_text(span, &mut text),
                StringPiece::Format(more) => {
                    for part in more {
                        match part {
                            FStringPart::Literal(more) => text.push_str(&more),
                            value => {
                                end_literal(&mut parts, &mut text);
                                parts.push(value);
                            }
                        }
                    }
                }
            }
        }
        end_literal(&mut parts, &mut text);
        let below = deepest_part(&parts);
        self.expr_above(span, ExprKind::FString(parts), below)
    }

    /// Literal text in an f-string.
    pub fn fstring_text(&mut self, parts: &mut Vec<FStringPart>, FText { span, raw }: FText) {
        let mut text = String::new();
        let body = &self.text[span.range()];
        self.decode_str(body, span.start, Flavor { raw, braces: true }, &mut text);
        end_literal(parts, &mut text);
    }

    pub fn field(&mut self, parts: &mut Vec<FStringPart>, start: u32, expr: Expr, tail: FieldTail, end: u32) {
        let debug_text =
            tail.equal.map(|equal| Arc::from(&self.text[start as usize + 1..equal.end as usize]));
        let conversion = tail.conversion.and_then(|span| self.conversion(span));
        if let ExprKind::Starred(_) = expr.kind {
            self.check_value(&expr);
        }
        let span = Span::new(start, end);
        parts.push(FStringPart::Value(FStringValue { expr, debug_text, conversion, spec: tail.spec, span }));
    }

    fn conversion(&mut self, span: Span) -> Option<Conversion> {
        match &self.text[span.range()] {
            "!s" => Some(Conversion::Str),
            "!r" => Some(Conversion::Repr),
            "!a" => Some(Conversion::Ascii),
            other => {
                self.report(errors::unknown_conversion(self.at(span), other));
                None
            }
        }
    }

    fn plain_text(&mut self, span: Span, out: &mut String) {
        let plain = self.take_apart(span);
        let flavor = Flavor { raw: plain.is_raw, braces: false };
        self.decode_str(plain.body, plain.start, flavor, out);
    }

    fn is_bytes(&self, span: Span) -> bool {
        let text = &self.text.as_bytes()[span.range()];
        matches!(text, [b'b' | b'B', ..] | [b'r' | b'R', b'b' | b'B', ..])
    }
}

impl<'a> Builder<'a> {
    fn take_apart(&self, span: Span) -> PlainString<'a> {
        let text = &self.text[span.range()];
        let n_prefix = text.find(['\'', '"']).unwrap_or(0);
        let (prefix, quoted) = text.split_at(n_prefix);
        let is_triple = quoted.len() >= 6 && (quoted.starts_with("\"\"\"") || quoted.starts_with("'''"));
        let n_quotes = if is_triple { 3 } else { 1 };
        PlainString {
            body: quoted.get(n_quotes..quoted.len() - n_quotes).unwrap_or(""),
            start: span.start + (n_prefix + n_quotes) as u32,
            is_raw: prefix.contains(['r', 'R']),
        }
    }
}

/// Adds the text gathered so far as one part.
fn end_literal(parts: &mut Vec<FStringPart>, text: &mut String) {
    if !text.is_empty() {
        parts.push(FStringPart::Literal(Arc::from(text.as_str())));
        text.clear();
    }
}

fn parse_int(digits: &str, radix: u32) -> BigInt {
    match i64::from_str_radix(digits, radix) {
        Ok(small) => BigInt::from(small),
        Err(_) => BigInt::parse_bytes(digits.as_bytes(), radix).unwrap_or_default(),
    }
}

fn parse_float(digits: &str) -> f64 {
    digits.parse().expect("the lexer passes well-formed numbers")
}
