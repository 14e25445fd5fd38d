//! Line starts and ends: INDENT, DEDENT and NEWLINE.
//!
//! Columns are counted twice, as in CPython: with tabs to every eighth column and with tabs as one column. If
//! the two counts order two lines differently, tabs and spaces are mixed.

use crate::errors;
use crate::source::Span;
use crate::token::Token;

use super::Lexer;

/// Blocks nested deeper than this are refused, as in CPython.
const MAX_INDENTS: usize = 100;

/// One open block.
#[derive(Clone, Copy)]
pub(super) struct Indent {
    pub columns: Columns,
    /// Index of the first token of the line that opened it.
    pub opener: usize,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Columns {
    /// With tabs to multiples of eight.
    wide: u32,
    /// With tabs as one column.
    narrow: u32,
}

impl Lexer<'_> {
    /// Skips blank lines and opens or closes blocks; false if the text must not be read further.
    pub(super) fn begin_line(&mut self) -> bool {
        let columns = loop {
            let (columns, len) = measure(self.raw.remainder());
            self.raw.bump(len);
            let rest = self.raw.remainder().as_bytes();
            match rest.first() {
                Some(b'#') => self.skip_comment(),
                Some(b'\n' | b'\r') => {}
                // At the end the blocks are closed whatever the column is.
                None => return true,
                Some(_) => break columns,
            }
            if !self.skip_newline() {
                return true;
            }
        };
        self.at_line_start = false;
        self.indent_to(columns)
    }

    fn skip_comment(&mut self) {
        let rest = self.raw.remainder();
        let len = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let start = self.position();
        self.out.comments.push(Span::new(start, start + len as u32));
        self.raw.bump(len);
    }

    /// False at the end of the text.
    fn skip_newline(&mut self) -> bool {
        let rest = self.raw.remainder();
        let len = match rest.as_bytes() {
            [b'\r', b'\n', ..] => 2,
            [_, ..] => 1,
            [] => return false,
        };
        self.raw.bump(len);
        true
    }

    fn indent_to(&mut self, columns: Columns) -> bool {
        let at = Span::point(self.position());
        let current = self.indents.last().map_or(Columns::default(), |indent| indent.columns);
        if columns.wide > current.wide {
            if columns.narrow <= current.narrow {
                self.mixed_tabs(at);
            }
            self.indents.push(Indent { columns, opener: self.line_first });
            self.push(Token::Indent, at);
            if self.indents.len() > MAX_INDENTS {
                self.line_first = self.out.tokens.len();
                self.report(errors::too_many_indents(self.source.at(at)));
                return self.give_up();
            }
        } else if columns.wide < current.wide {
            self.dedent_to(columns, at);
        } else if columns.narrow != current.narrow {
            self.mixed_tabs(at);
        }
        self.line_first = self.out.tokens.len();
        true
    }

    fn dedent_to(&mut self, columns: Columns, at: Span) {
        let mut innermost = None;
        while let Some(indent) = self.indents.pop_if(|indent| indent.columns.wide > columns.wide) {
            innermost = Some(indent);
            self.push(Token::Dedent, at);
        }
        let current = self.indents.last().map_or(Columns::default(), |indent| indent.columns);
        if current.wide != columns.wide
            && let Some(indent) = innermost
        {
            // Most likely the line belongs to the block with the nearest indentation, unless it continues the
            // enclosing statement.
            let rest = self.raw.remainder();
            if !["else", "elif", "except", "finally"].iter().any(|clause| rest.starts_with(clause)) {
                self.out.tokens.pop();
                self.indents.push(Indent { columns, ..indent });
            }
            let line_start = at.start - self.column_bytes(at.start);
            let blanks = self.source.at(Span::new(line_start, at.start));
            self.report(errors::unmatched_unindent(blanks));
        } else if current.narrow != columns.narrow {
            self.mixed_tabs(at);
        }
    }

    fn mixed_tabs(&mut self, at: Span) {
        if !self.reported_tabs {
            self.reported_tabs = true;
            let line_start = at.start - self.column_bytes(at.start);
            self.report(errors::mixed_tabs(self.source.at(Span::new(line_start, at.start))));
        }
    }

    fn column_bytes(&self, at: u32) -> u32 {
        let before = &self.text[..at as usize];
        (before.len() - before.rfind(['\n', '\r']).map_or(0, |newline| newline + 1)) as u32
    }

    pub(super) fn end_line(&mut self, span: Span) {
        // A line may consist of nothing but a joined blank one.
        if self.out.tokens.len() > self.line_first {
            self.mark_match();
            self.push(Token::Newline, span);
        }
        self.at_line_start = true;
        self.line_is_invalid = false;
    }

    pub(super) fn close_indents(&mut self) {
        let end = Span::point(self.text.len() as u32);
        for _ in 0..self.indents.len() {
            self.push(Token::Dedent, end);
        }
        self.indents.clear();
        self.line_first = self.out.tokens.len();
    }

    /// The start of the first line after `at` that is not indented deeper than the current block and
    /// does not begin with a closing bracket.
    pub(super) fn line_after(&self, at: u32) -> u32 {
        let current = self.indents.last().map_or(Columns::default(), |indent| indent.columns);
        let mut start = at as usize;
        while let Some(newline) = self.text[start..].find('\n') {
            start += newline + 1;
            let (columns, len) = measure(&self.text[start..]);
            let first = self.text.as_bytes().get(start + len);
            let blank = matches!(first, None | Some(b'\n' | b'\r' | b'#'));
            let closing = matches!(first, Some(b')' | b']' | b'}'));
            if columns.wide <= current.wide && !blank && !closing {
                return start as u32;
            }
        }
        self.text.len() as u32
    }
}

/// The columns of the blanks at the start of a line, and their length in bytes.
fn measure(line: &str) -> (Columns, usize) {
    let mut columns = Columns::default();
    for (idx, byte) in line.bytes().enumerate() {
        match byte {
            b' ' => {
                columns.wide += 1;
                columns.narrow += 1;
            }
            b'\t' => {
                columns.wide = (columns.wide / 8 + 1) * 8;
                columns.narrow += 1;
            }
            b'\x0c' => columns = Columns::default(),
            _ => return (columns, idx),
        }
    }
    (columns, line.len())
}
