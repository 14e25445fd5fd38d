//! The excerpt of a source that is drawn: a copy with control characters escaped, and long lines cut to the
//! width of the screen.
//!
//! Labels go in, the copy and the same labels in it come out. Lines keep their numbers, and the header of a
//! picture has the column of the original.

use std::ops::Range;

use kps_syntax::diagnostic::Label;
use kps_syntax::{Source, Span};
use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use crate::render::Width;
use crate::visible::{escape, visible_name};

const DOTS: &str = "...";

/// How much of a line is drawn, in bytes.
#[derive(Clone, Copy)]
struct Room {
    /// A longer line is cut.
    line: usize,
    /// The parts that are drawn before and after the start of a label.
    before: usize,
    after: usize,
}

impl Room {
    fn of(width: Width) -> Room {
        match width {
            Width::Unknown => Room { line: 400, before: 60, after: 100 },
            Width::Columns(columns) => {
                // The line number, and the marks at the cut ends of a line.
                let line = columns.saturating_sub(8).max(40);
                let kept = line - 2 * DOTS.len();
                Room { line, before: kept / 3, after: kept - kept / 3 }
            }
        }
    }
}

/// The source of some labels as it is drawn.
#[derive(Debug)]
pub struct Excerpt {
    original: Source,
    /// Named as the original is, with control characters escaped.
    copy: Source,
    /// Empty if the copy is the original.
    pieces: Vec<Piece>,
}

/// A stretch of the original, and its text in the copy: itself, or an escape.
#[derive(Debug)]
struct Piece {
    kept: Range<usize>,
    shown: Range<usize>,
}

impl Excerpt {
    /// Of the source of the first label.
    pub fn new(labels: &[Label], width: Width) -> Option<Excerpt> {
        let original = labels.first()?.location.source.clone();
        let here: Vec<Span> = labels
            .iter()
            .filter(|label| label.location.source == original)
            .map(|label| label.location.span)
            .collect();
        let room = Room::of(width);
        if here.iter().all(|&span| is_plain(&original, span, room)) {
            let name = visible_name(original.name());
            let copy = match name == original.name() {
                true => original.clone(),
                false => Source::new(name, original.text()),
            };
            return Some(Excerpt { original, copy, pieces: Vec::new() });
        }
        let (text, pieces) = copied(&original, &here, room);
        let copy = Source::new(visible_name(original.name()), text);
        Some(Excerpt { original, copy, pieces })
    }

    /// The position in the copy of a span of the original; a position that was cut off moves to the nearest
    /// end.
    pub fn span(&self, span: Span) -> Span {
        if self.pieces.is_empty() {
            return span;
        }
        let start = self.offset(span.start as usize);
        Span::new(start, self.offset(span.end as usize).max(start))
    }

    /// The text of the copy up to a place of it, on its line.
    pub fn before(&self, at: u32) -> &str {
        let line = self.copy.line(at);
        self.copy.slice(Span::new(self.copy.offset(line, 1), at))
    }

    /// The number of the line of a place of the copy.
    pub fn line(&self, at: u32) -> u32 {
        self.copy.line(at)
    }

    fn offset(&self, at: usize) -> u32 {
        let next = self.pieces.partition_point(|piece| piece.kept.start <= at);
        let Some(piece) = next.checked_sub(1).or(Some(0)).and_then(|found| self.pieces.get(found)) else {
            return 0;
        };
        let (kept, shown) = (&piece.kept, &piece.shown);
        let place = match at {
            at if at >= kept.end => shown.end,
            at => shown.start + at.saturating_sub(kept.start).min(shown.len()),
        };
        place as u32
    }

    /// The position in the original of a position in the copy.
    fn original_offset(&self, at: usize) -> u32 {
        let next = self.pieces.partition_point(|piece| piece.shown.start <= at);
        let Some(piece) = next.checked_sub(1).and_then(|found| self.pieces.get(found)) else {
            return at as u32;
        };
        (piece.kept.start + (at - piece.shown.start).min(piece.kept.len())) as u32
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        n_before: usize,
        n_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let contents = self.copy.read_span(span, n_before, n_after)?;
        // The header reads a span without lines around it, and draws nothing of it but its place.
        let column = match (n_before, n_after) {
            (0, 0) => {
                let (_, column) = self.original.line_column(self.original_offset(span.offset()));
                column as usize - 1
            }
            _ => contents.column(),
        };
        Ok(Box::new(MietteSpanContents::new_named(
            self.copy.name().to_owned(),
            contents.data(),
            *contents.span(),
            contents.line(),
            column,
            contents.line_count(),
        )))
    }
}

/// Whether the lines of a span, and those around it, are drawn as they are.
fn is_plain(source: &Source, span: Span, room: Room) -> bool {
    let (first, last) = (source.line(span.start).saturating_sub(1), source.line(span.end) + 1);
    let is_short = span.end.saturating_sub(span.start) as usize <= room.line;
    is_short
        && (first..=last).all(|line| {
            let text = source.line_text(line);
            text.len() <= room.line && text.chars().all(|char| escape(char).is_none())
        })
}

/// The drawn text of a source, and its pieces.
fn copied(source: &Source, spans: &[Span], room: Room) -> (String, Vec<Piece>) {
    let mut text = String::new();
    let mut pieces = vec![];
    let mut start = 0;
    for line in source.text().split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        let content = content.strip_suffix('\r').unwrap_or(content);
        let starts = spans.iter().map(|span| span.start as usize);
        let labelled = starts.filter(|at| (start..=start + content.len()).contains(at)).min();
        let kept = match content.len() <= room.line {
            true => 0..content.len(),
            false => window(content, labelled.map_or(0, |at| at - start), room),
        };
        if kept.start > 0 {
            text.push_str(DOTS);
        }
        copy_piece(&content[kept.clone()], start + kept.start, &mut text, &mut pieces);
        if kept.end < content.len() {
            text.push_str(DOTS);
        }
        text.push_str(if line.ends_with('\n') { "\n" } else { "" });
        start += line.len();
    }
    (text, pieces)
}

/// Copies a stretch of a line that begins at byte `start` of its source.
fn copy_piece(stretch: &str, start: usize, text: &mut String, pieces: &mut Vec<Piece>) {
    let mut from = 0;
    let plain = |text: &mut String, pieces: &mut Vec<Piece>, from: usize, to: usize| {
        let shown = text.len()..text.len() + (to - from);
        text.push_str(&stretch[from..to]);
        pieces.push(Piece { kept: start + from..start + to, shown });
    };
    for (at, char) in stretch.char_indices() {
        let Some(escaped) = escape(char) else { continue };
        if at > from {
            plain(text, pieces, from, at);
        }
        from = at + char.len_utf8();
        pieces.push(Piece { kept: start + at..start + from, shown: text.len()..text.len() + escaped.len() });
        text.push_str(&escaped);
    }
    plain(text, pieces, from, stretch.len());
}

/// The part of a line around byte `at`, cut between characters.
fn window(line: &str, at: usize, room: Room) -> Range<usize> {
    let start = at.saturating_sub(room.before).min(line.len());
    let end = (at + room.after).min(line.len());
    line.floor_char_boundary(start)..line.ceil_char_boundary(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, span: Range<u32>, expect: &str) {
        let source = Source::new("t", text);
        let span = Span::new(span.start, span.end);
        let label = Label { location: source.at(span), text: String::new() };
        let excerpt = Excerpt::new(&[label], Width::Unknown).expect("there is a label");
        assert_eq!(excerpt.copy.slice(excerpt.span(span)), expect);
        assert_eq!(excerpt.original_offset(excerpt.span(span).start as usize), span.start);
    }

    #[test]
    fn labels_keep_what_they_point_at() {
        let long = "x".repeat(1000);
        check("a = 1\n", 0..1, "a");
        check(&format!("{long}bad{long}\n"), 1000..1003, "bad");
        check(&format!("a\n{long}\nbad\n"), 1003..1006, "bad");
        check(&format!("{long}bad"), 1000..1003, "bad");
        check(&format!("{}bad{}", "ü".repeat(500), "ü".repeat(500)), 1000..1003, "bad");
        check("\x1b[2J bad\x1b", 5..8, "bad");
        check("bad\x1b", 0..4, "bad\\x1b");
        check("\u{202e}\r\x1b\r\n\x07bad", 8..11, "bad");
    }
}
