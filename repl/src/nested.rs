//! Separates nested labels, so that each is drawn below its own text and the lines of a picture do not
//! overlap.
//!
//! Labels of one place are merged. A label around another one is reduced to its part beside that one.

use kps_syntax::Span;
use kps_syntax::diagnostic::Label;

/// The labels, none of them within another one on its line.
pub fn apart(labels: &[Label]) -> Vec<Label> {
    let merged = merged(labels);
    let left = |label: &Label| {
        let inner = merged.iter().filter(|inner| is_within(inner, label)).map(|inner| inner.location.span);
        let span = uncovered(label.location.span, inner.collect());
        if span == label.location.span {
            return label.clone();
        }
        Label { location: label.location.source.at(trimmed(label, span)), text: label.text.clone() }
    };
    merged.iter().map(left).collect()
}

/// Merges the texts of labels at one place.
fn merged(labels: &[Label]) -> Vec<Label> {
    let mut merged: Vec<Label> = Vec::with_capacity(labels.len());
    for label in labels {
        match merged.iter_mut().find(|known| known.location == label.location) {
            Some(known) if known.text.is_empty() => known.text.clone_from(&label.text),
            Some(_) if label.text.is_empty() => {}
            Some(known) => known.text = format!("{}; {}", known.text, label.text),
            None => merged.push(label.clone()),
        }
    }
    merged
}

/// Whether a label is within another one, which is all on one line.
fn is_within(inner: &Label, outer: &Label) -> bool {
    let (a, b) = (inner.location.span, outer.location.span);
    inner.location.source == outer.location.source
        && a != b
        && b.start <= a.start
        && a.end <= b.end
        && !outer.location.source.slice(b).contains('\n')
}

/// The longest piece of a span that no other span covers; all of it if there is none.
fn uncovered(span: Span, mut others: Vec<Span>) -> Span {
    others.sort_unstable_by_key(|other| other.start);
    others.push(Span::point(span.end));
    let (mut longest, mut start) = (Span::point(span.start), span.start);
    for other in others {
        if other.start.saturating_sub(start) > longest.end - longest.start {
            longest = Span::new(start, other.start);
        }
        start = start.max(other.end);
    }
    if longest.is_empty() { span } else { longest }
}

/// Without blanks at its ends.
fn trimmed(label: &Label, span: Span) -> Span {
    let text = label.location.source.slice(span);
    let n_blanks = (text.len() - text.trim_start().len()) as u32;
    let n_letters = text.trim().len() as u32;
    match n_letters {
        0 => span,
        n => Span::new(span.start + n_blanks, span.start + n_blanks + n),
    }
}

#[cfg(test)]
mod tests {
    use kps_syntax::Source;

    use super::*;

    fn check(text: &str, labels: &[&str], expect: &[&str]) {
        let source = Source::new("t", text);
        let label = |piece: &&str| {
            let start = text.find(piece).expect("it is a piece of the text") as u32;
            Label { location: source.at(Span::new(start, start + piece.len() as u32)), text: "here".into() }
        };
        let labels: Vec<Label> = labels.iter().map(label).collect();
        let drawn: Vec<String> =
            apart(&labels).iter().map(|label| source.slice(label.location.span).to_owned()).collect();
        assert_eq!(drawn, expect);
    }

    #[test]
    fn outer_labels_leave_inner_ones_alone() {
        check("a.x >= len(b)", &["a.x >= len(b)", "a"], &[".x >= len(b)", "a"]);
        check("f(a) + b", &["f(a) + b", "b"], &["f(a) +", "b"]);
        check("f(a, b)", &["f(a, b)", "a", "b"], &["f(", "a", "b"]);
        check("a + b", &["a", "b"], &["a", "b"]);
        check("a + b", &["a", "a"], &["a"]);
    }
}
