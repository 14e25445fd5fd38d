//! Sources whose long lines are cut, so that a picture of them fits on a screen.

use std::ops::Range;

use kps_syntax::diagnostic::Label;
use kps_syntax::{Source, Span};

/// A line of more bytes than this is cut.
const LONG: usize = 400;
/// Bytes kept before and after the beginning of what a label points at.
const BEFORE: usize = 60;
const AFTER: usize = 100;
const DOTS: &str = "...";

/// The labels over sources with no long line. Those that all fit stay as they are.
pub fn shorten(labels: &[Label]) -> Vec<Label> {
    let Some(source) = labels.first().map(|label| &label.location.source) else { return vec![] };
    if labels.iter().all(|label| label.location.source != *source || lines_fit(label)) {
        return labels.to_vec();
    }
    let cut = CutSource::new(source, labels);
    let moved = |label: &Label| match label.location.source == *source {
        true => Label { location: cut.source.at(cut.span(label.location.span)), text: label.text.clone() },
        false => label.clone(),
    };
    labels.iter().map(moved).collect()
}

fn lines_fit(label: &Label) -> bool {
    let source = &label.location.source;
    let line = source.line(label.location.span.start);
    // The lines around it are drawn too.
    (line.saturating_sub(1)..=line + 1).all(|line| source.line_text(line).len() <= LONG)
        && label.location.span.end.saturating_sub(label.location.span.start) as usize <= LONG
}

/// A copy of a source in which each long line is a piece of itself, and where the pieces came from.
struct CutSource {
    source: Source,
    pieces: Vec<Piece>,
}

struct Piece {
    /// What was kept of the line.
    kept: Range<usize>,
    /// Where it begins in the copy.
    at: usize,
}

impl CutSource {
    fn new(source: &Source, labels: &[Label]) -> CutSource {
        let mut text = String::new();
        let mut pieces = vec![];
        let mut start = 0;
        for line in source.text().split_inclusive('\n') {
            let content = line.trim_end_matches('\n');
            let first = labels.iter().map(|label| label.location.span.start as usize);
            let labelled = first.filter(|&at| (start..=start + content.len()).contains(&at)).min();
            let kept = match content.len() <= LONG {
                true => 0..content.len(),
                false => window(content, labelled.map_or(0, |at| at - start)),
            };
            if kept.start > 0 {
                text.push_str(DOTS);
            }
            pieces.push(Piece { kept: start + kept.start..start + kept.end, at: text.len() });
            text.push_str(&content[kept.clone()]);
            if kept.end < content.len() {
                text.push_str(DOTS);
            }
            text.push_str(&line[content.len()..]);
            start += line.len();
        }
        CutSource { source: Source::new(source.name(), text), pieces }
    }

    /// Where a span of the whole source lies in the copy; what was cut off moves to the nearest end.
    fn span(&self, span: Span) -> Span {
        let start = self.offset(span.start as usize);
        Span::new(start, self.offset(span.end as usize).max(start))
    }

    fn offset(&self, at: usize) -> u32 {
        let next = self.pieces.partition_point(|piece| piece.kept.start <= at);
        let Some(piece) = next.checked_sub(1).or(Some(0)).and_then(|found| self.pieces.get(found)) else {
            return 0;
        };
        (piece.at + at.clamp(piece.kept.start, piece.kept.end) - piece.kept.start) as u32
    }
}

/// The part of a line around byte `at`, cut between characters.
fn window(line: &str, at: usize) -> Range<usize> {
    let start = at.saturating_sub(BEFORE).min(line.len());
    let end = (at + AFTER).min(line.len());
    line.floor_char_boundary(start)..line.ceil_char_boundary(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, span: Range<u32>, expect: &str) {
        let source = Source::new("t", text);
        let label = Label { location: source.at(Span::new(span.start, span.end)), text: String::new() };
        let location = &shorten(&[label])[0].location;
        assert_eq!(location.source.slice(location.span), expect);
    }

    #[test]
    fn labels_keep_what_they_point_at() {
        let long = "x".repeat(1000);
        check("a = 1\n", 0..1, "a");
        check(&format!("{long}bad{long}\n"), 1000..1003, "bad");
        check(&format!("a\n{long}\nbad\n"), 1003..1006, "bad");
        check(&format!("{long}bad"), 1000..1003, "bad");
        check(&format!("{}bad{}", "ü".repeat(500), "ü".repeat(500)), 1000..1003, "bad");
    }
}
