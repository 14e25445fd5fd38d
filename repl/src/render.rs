//! Diagnostics as text: the one place where they are drawn.
//!
//! A diagnostic becomes its traceback, as Python prints it, and then miette's picture of the place.

use crate::{excerpt, nested};
use kps_syntax::diagnostic::{Diagnostic, Frame, Label, Severity};
use miette::{GraphicalReportHandler, GraphicalTheme, ThemeCharacters, ThemeStyles};

/// Columns that a picture may take.
const WIDTH: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    Never,
    Always,
}

impl Colour {
    /// Colour for standard error: when it is a terminal that has colours and `NO_COLOR` is not set.
    pub fn for_stderr() -> Colour {
        use std::io::IsTerminal;
        let is_wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        match is_wanted && !is_dumb && std::io::stderr().is_terminal() {
            true => Colour::Always,
            false => Colour::Never,
        }
    }
}

/// The diagnostic and what it came from, the oldest first; ends with a line end.
pub fn render(diagnostic: &Diagnostic, colour: Colour) -> String {
    let mut text = String::new();
    if let Some(cause) = &diagnostic.cause {
        text.push_str(&render(cause, colour));
        text.push_str("\nwhich led to:\n\n");
    }
    let calls = calls(diagnostic);
    if !calls.is_empty() {
        text.push_str("Traceback (most recent call last):\n");
        text.extend(calls.iter().map(frame_text));
    }
    text.push_str(&picture(&as_drawn(diagnostic), colour));
    for elsewhere in labels_elsewhere(diagnostic) {
        text.push_str(&picture(&elsewhere, colour));
    }
    text
}

/// The calls that led to the place which the picture shows; the innermost frame is that place.
fn calls(diagnostic: &Diagnostic) -> Vec<Frame> {
    let mut calls = diagnostic.trace.clone();
    if let Some(last) = calls.last_mut()
        && Some(&last.location) == diagnostic.location()
    {
        last.times -= 1;
        if last.times == 0 {
            calls.pop();
        }
    }
    calls
}

/// `  script.kps:3 in f`, the line, and carets below what was being called.
fn frame_text(frame: &Frame) -> String {
    let Frame { location, function, times, left_out } = frame;
    let source = &location.source;
    let (line, column) = source.line_column(location.span.start);
    let line_text = source.line_text(line);
    let code = line_text.trim_start();
    let indent = line_text.chars().count() - code.chars().count();
    let n_carets = source.slice(location.span).lines().next().unwrap_or("").chars().count().max(1);
    let n_blanks = (column as usize - 1).saturating_sub(indent);
    let gap = match left_out {
        0 => String::new(),
        n => format!("  ({n} calls are left out here)\n"),
    };
    let times = match times {
        1 => String::new(),
        n => format!(", {n} times"),
    };
    format!(
        "{gap}  {}:{line} in {function}{times}\n    {}\n    {}{}\n",
        source.name(),
        code.trim_end(),
        " ".repeat(n_blanks),
        "^".repeat(n_carets)
    )
}

fn picture(diagnostic: &Diagnostic, colour: Colour) -> String {
    let styles = match colour {
        Colour::Always => ThemeStyles::ansi(),
        Colour::Never => ThemeStyles::none(),
    };
    let theme = GraphicalTheme { characters: ThemeCharacters::unicode(), styles };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(WIDTH).with_links(false);
    let mut text = String::new();
    match handler.render_report(&mut text, diagnostic) {
        Ok(()) => text,
        // A label that lies outside its source cannot be drawn; the words must not be lost for that.
        Err(_) => format!("{}\n", diagnostic.one_line()),
    }
}

/// Without the cause, which has a picture of its own, and without a code where the message begins with
/// the exception's name.
fn as_drawn(diagnostic: &Diagnostic) -> Diagnostic {
    let code = if diagnostic.code.starts_with("runtime/") { "" } else { diagnostic.code };
    let labels = nested::apart(&excerpt::shorten(&diagnostic.labels));
    Diagnostic { cause: None, code, labels, ..diagnostic.clone() }
}

/// A note for each source, other than the first, that has labels.
fn labels_elsewhere(diagnostic: &Diagnostic) -> Vec<Diagnostic> {
    let Some(here) = diagnostic.location().map(|location| &location.source) else { return vec![] };
    let mut notes: Vec<Diagnostic> = vec![];
    for label in diagnostic.labels.iter().filter(|label| label.location.source != *here) {
        let source = &label.location.source;
        let known =
            notes.iter_mut().find(|note| note.location().is_some_and(|location| location.source == *source));
        match known {
            Some(note) => note.labels.push(label.clone()),
            None => notes.push(note_on(label)),
        }
    }
    notes
}

fn note_on(label: &Label) -> Diagnostic {
    let note = Diagnostic::warning("note", format!("in {}", label.location.source.name()));
    Diagnostic { severity: Severity::Note, labels: vec![label.clone()], ..note }
}
