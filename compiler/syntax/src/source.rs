//! Source texts and places in them.
//!
//! A [`Source`] is one named text, cheap to clone and shared by everything that refers to it. A [`Span`] is a
//! byte range of one source. There is no table of files: a reference across files is a [`Location`], which
//! contains its source.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// One named source text: a file, a line typed at the prompt, or a string given by a Rust host.
#[derive(Clone)]
pub struct Source(Arc<SourceText>);

struct SourceText {
    name: String,
    text: String,
    /// Byte offset of the first character of each line.
    line_starts: Vec<u32>,
}

impl Source {
    /// The most bytes a source may have: spans are 32 bits wide.
    pub const MAX_LEN: usize = u32::MAX as usize - 1;

    /// A source named `name`. A leading byte order mark is dropped, and a text longer than
    /// [`Source::MAX_LEN`] is cut there (the parser reports it).
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        let mut text: String = text.into();
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        if text.len() > Source::MAX_LEN {
            let cut = (0..=Source::MAX_LEN).rev().find(|&at| text.is_char_boundary(at));
            text.truncate(cut.unwrap_or(0));
        }
        let line_starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1)).collect();
        Source(Arc::new(SourceText { name: name.into(), text, line_starts }))
    }

    pub fn name(&self) -> &str {
        &self.0.name
    }

    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The text that `span` covers; empty if the span is not in this source.
    pub fn slice(&self, span: Span) -> &str {
        self.0.text.get(span.range()).unwrap_or("")
    }

    /// Line and column of a byte offset, both counted from 1; columns count characters.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let line_idx = self.line_idx(offset);
        let start = self.0.line_starts[line_idx] as usize;
        let end = (offset as usize).clamp(start, self.0.text.len());
        let column = self.0.text.get(start..end).map_or(end - start, |before| before.chars().count());
        (line_idx as u32 + 1, column as u32 + 1)
    }

    /// Line number of a byte offset, counted from 1.
    pub fn line(&self, offset: u32) -> u32 {
        self.line_idx(offset) as u32 + 1
    }

    /// The text of line `line` (counted from 1) without its line end; empty past the last line.
    pub fn line_text(&self, line: u32) -> &str {
        let Some(line_idx) = (line as usize).checked_sub(1) else { return "" };
        let Some(&start) = self.0.line_starts.get(line_idx) else { return "" };
        let end = self.0.line_starts.get(line_idx + 1).map_or(self.0.text.len(), |&next| next as usize);
        self.0.text[start as usize..end].trim_end_matches(['\n', '\r'])
    }

    /// The bytes of lines `first` to `last` (counted from 1), line ends included; past the last line there are none.
    pub fn lines(&self, first: u32, last: u32) -> Range<usize> {
        let start_of = |line_idx: usize| {
            self.0.line_starts.get(line_idx).map_or(self.0.text.len(), |&start| start as usize)
        };
        start_of((first as usize).saturating_sub(1))..start_of(last as usize)
    }

    /// Byte offset of a line and column, both counted from 1 (columns in characters).
    pub fn offset(&self, line: u32, column: u32) -> u32 {
        let Some(&start) = self.0.line_starts.get((line as usize).saturating_sub(1)) else {
            return self.0.text.len() as u32;
        };
        let line_text = self.line_text(line);
        let within = line_text
            .char_indices()
            .nth(column.saturating_sub(1) as usize)
            .map_or(line_text.len(), |(at, _)| at);
        start + within as u32
    }

    pub fn n_lines(&self) -> u32 {
        self.0.line_starts.len() as u32
    }

    fn line_idx(&self, offset: u32) -> usize {
        self.0.line_starts.partition_point(|&start| start <= offset).saturating_sub(1)
    }

    /// A place in this source.
    pub fn at(&self, span: Span) -> Location {
        Location { source: self.clone(), span }
    }
}

/// Two sources are equal when they are the same object, not when their texts are.
impl PartialEq for Source {
    fn eq(&self, other: &Source) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Source {}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({:?}, {} bytes)", self.name(), self.text().len())
    }
}

/// A half-open range of bytes in one source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// An empty span: a place between two characters.
    pub fn point(at: u32) -> Span {
        Span { start: at, end: at }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Whether a character is in both, or both begin at one place.
    pub fn overlaps(self, other: Span) -> bool {
        self.start == other.start || (self.start < other.end && other.start < self.end)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// A span together with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub source: Source,
    pub span: Span,
}

impl Location {
    pub fn overlaps(&self, other: &Location) -> bool {
        self.source == other.source && self.span.overlaps(other.span)
    }
}
