//! Renders diagnostics as text; no other code does.
//!
//! A diagnostic becomes a traceback in Python's format, followed by miette's picture of the place. None of it
//! reaches the terminal as a control character: names, messages and source lines are escaped first.

use std::fmt::{self, Display};

use crate::excerpt::Excerpt;
use crate::nested;
use crate::visible::{visible, visible_name};
use kps_syntax::diagnostic::{Diagnostic, Frame, Label, Severity};
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode, ThemeCharacters, ThemeStyles};
use unicode_width::UnicodeWidthStr;

/// The width of a picture without a terminal.
const COLUMNS: usize = 100;

/// A narrower terminal wraps lines itself.
const LEAST_COLUMNS: usize = 40;

/// The minimum width of a label's line, however far to the right it begins.
const LEAST_OF_LABEL: usize = 24;

/// The columns before each line of a message, and of a help.
const BEFORE_MESSAGE: usize = 4;
const BEFORE_HELP: usize = 8;
/// Columns that stay free at the right.
const MARGIN: usize = 2;

/// How wide the reader's screen is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// A file or a pipe: messages are wrapped, and lines of labels and of sources are not.
    Unknown,
    Columns(usize),
}

impl Width {
    /// The width of standard error: `COLUMNS`, or that of the terminal.
    pub fn of_stderr() -> Width {
        let named = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
        let asked = || terminal_size::terminal_size_of(std::io::stderr()).map(|(width, _)| width.0.into());
        match named.filter(|&columns: &usize| columns > 0).or_else(asked) {
            Some(columns) => Width::Columns(columns.max(LEAST_COLUMNS)),
            None => Width::Unknown,
        }
    }

    fn columns(self) -> usize {
        match self {
            Width::Unknown => COLUMNS,
            Width::Columns(columns) => columns,
        }
    }
}

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

/// The diagnostic and its causes, the oldest first, as on standard error; ends with a line end.
pub fn render(diagnostic: &Diagnostic) -> String {
    rendered(diagnostic, Colour::for_stderr(), Width::of_stderr())
}

fn rendered(diagnostic: &Diagnostic, colour: Colour, width: Width) -> String {
    let mut text = String::new();
    if let Some(cause) = &diagnostic.cause {
        text.push_str(&rendered(cause, colour, width));
        text.push_str("\nwhich led to:\n\n");
    }
    let calls = calls(diagnostic);
    if !calls.is_empty() {
        text.push_str("Traceback (most recent call last):\n");
        text.extend(calls.iter().map(frame_text));
    }
    text.push_str(&picture(diagnostic, colour, width));
    for note in labels_in_other_sources(diagnostic) {
        text.push_str(&picture(&note, colour, width));
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

/// `  script.kps:3 in f`, the line, and carets below the callee.
fn frame_text(frame: &Frame) -> String {
    let Frame { location, function, times, left_out } = frame;
    let source = &location.source;
    let line = source.line(location.span.start);
    let line_text = source.line_text(line);
    let start = location.span.start.saturating_sub(source.offset(line, 1)) as usize;
    let indent = line_text.len() - line_text.trim_start().len();
    let columns = |text: &str| visible(text).width();
    let before = line_text.get(indent..start).map_or(0, columns);
    let called = source.slice(location.span).lines().next().map_or(0, columns);
    let gap = match left_out {
        0 => String::new(),
        n => format!("  ({n} calls are left out here)\n"),
    };
    let times = match times {
        1 => String::new(),
        n => format!(", {n} times"),
    };
    format!(
        "{gap}  {}:{line} in {}{times}\n    {}\n    {}{}\n",
        visible_name(source.name()),
        visible_name(function),
        visible(line_text[indent..].trim_end()),
        " ".repeat(before),
        "^".repeat(called.max(1))
    )
}

fn picture(diagnostic: &Diagnostic, colour: Colour, width: Width) -> String {
    let styles = match colour {
        Colour::Always => ThemeStyles::ansi(),
        Colour::Never => ThemeStyles::none(),
    };
    let theme = GraphicalTheme { characters: ThemeCharacters::unicode(), styles };
    let handler = GraphicalReportHandler::new_themed(theme)
        // Text is wrapped here: miette would break it at hyphens.
        .with_wrap_lines(false)
        .with_links(false);
    let mut text = String::new();
    match handler.render_report(&mut text, &Picture::of(diagnostic, width)) {
        Ok(()) => text,
        // A label outside of its source cannot be drawn; the message must be printed nevertheless.
        Err(_) => format!("{}\n", visible(&diagnostic.one_line())),
    }
}

/// A diagnostic as miette draws it: without its cause, which has a separate picture.
#[derive(Debug)]
struct Picture {
    code: Option<&'static str>,
    severity: miette::Severity,
    message: String,
    help: Option<String>,
    labels: Vec<LabeledSpan>,
    excerpt: Option<Excerpt>,
}

impl Picture {
    fn of(diagnostic: &Diagnostic, width: Width) -> Picture {
        // The message of an exception begins with its name.
        let code = Some(diagnostic.code).filter(|code| !code.is_empty() && diagnostic.family() != "runtime");
        let labels = nested::apart(&diagnostic.labels);
        let excerpt = Excerpt::new(&labels, width);
        let here = labels.iter().filter(|label| Some(&label.location.source) == source_of(&labels));
        let columns = width.columns() - MARGIN;
        let drawn = here.filter_map(|label| Some(drawn_label(label, excerpt.as_ref()?, width)));
        Picture {
            code,
            severity: match diagnostic.severity {
                Severity::Error => miette::Severity::Error,
                Severity::Warning => miette::Severity::Warning,
                Severity::Note => miette::Severity::Advice,
            },
            message: wrapped(&visible(&diagnostic.message), columns - BEFORE_MESSAGE),
            help: diagnostic.help.as_deref().map(|help| wrapped(&visible(help), columns - BEFORE_HELP)),
            labels: drawn.collect(),
            excerpt,
        }
    }
}

fn source_of(labels: &[Label]) -> Option<&kps_syntax::Source> {
    labels.first().map(|label| &label.location.source)
}

fn drawn_label(label: &Label, excerpt: &Excerpt, width: Width) -> LabeledSpan {
    let span = excerpt.span(label.location.span);
    let text = visible(&label.text).into_owned();
    let text = match width {
        Width::Unknown => text,
        Width::Columns(columns) => {
            // The label begins below the middle of its span, after the line's number and a mark.
            let gutter = excerpt.line(span.end).to_string().len() + 4;
            let middle = excerpt.before(span.start).width() + (span.end - span.start) as usize / 2;
            wrapped(&text, columns.saturating_sub(gutter + middle + 4).max(LEAST_OF_LABEL))
        }
    };
    LabeledSpan::new(
        Some(text).filter(|text| !text.is_empty()),
        span.start as usize,
        (span.end - span.start) as usize,
    )
}

/// Wraps lines longer than this many columns, between words.
fn wrapped(text: &str, columns: usize) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| wrapped_line(line, columns)).collect();
    lines.join("\n")
}

fn wrapped_line(text: &str, columns: usize) -> String {
    let mut lines = String::with_capacity(text.len());
    let mut n_columns = 0;
    for (at, word) in text.split(' ').enumerate() {
        let width = word.width();
        if n_columns > 0 && n_columns + 1 + width > columns {
            lines.truncate(lines.trim_end_matches(' ').len());
            lines.push('\n');
            n_columns = 0;
        } else if at > 0 {
            lines.push(' ');
            n_columns += 1;
        }
        lines.push_str(word);
        n_columns += width;
    }
    lines
}

impl Display for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Picture {}

impl miette::Diagnostic for Picture {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.code.map(|code| Box::new(code) as Box<dyn Display>)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt.as_ref().map(|excerpt| excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.excerpt.as_ref().map(|_| Box::new(self.labels.iter().cloned()) as _)
    }
}

/// A note for each source, other than the first, that has labels.
fn labels_in_other_sources(diagnostic: &Diagnostic) -> Vec<Diagnostic> {
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
    let note = Diagnostic::warning("note", format!("in {}", visible_name(label.location.source.name())));
    Diagnostic { severity: Severity::Note, labels: vec![label.clone()], ..note }
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn labels_break_between_words() {
        let check = |text: &str, columns, expect: &str| assert_eq!(wrapped(text, columns), expect);
        check("in this invocation of the kernel", 80, "in this invocation of the kernel");
        check("in this invocation of the kernel", 26, "in this invocation of the\nkernel");
        check("a\nbb cc dd", 5, "a\nbb cc\ndd");
        check("  a built-in", 8, "  a\nbuilt-in");
        check("averyveryverylongwordthatfitsnowhere else", 24, "averyveryverylongwordthatfitsnowhere\nelse");
        check("", 24, "");
    }
}
