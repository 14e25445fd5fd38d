//! The one form of all errors: compile errors, run-time exceptions, device errors.
//!
//! A [`Diagnostic`] is data. A constructor per error creates it, in one file of each crate (`errors.rs`).
//! Only the program `kps` renders it. It implements [`miette::Diagnostic`], so that any Rust host can render
//! it too.

use std::fmt;

use crate::source::{Location, Span};

/// One error: what happened, where, and what to write instead.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Stable and unique, such as `syntax/unclosed-bracket`.
    pub code: &'static str,
    pub severity: Severity,
    /// One sentence in lower case without a final period; code in backquotes.
    pub message: String,
    /// Places with a short text each. The first one is the place of the error.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
    /// A change of the source that fixes it.
    pub fix: Option<Fix>,
    /// The calls that led here, outermost first. Empty for errors found before running.
    pub trace: Vec<Frame>,
    /// The cause of this one: the cause or context of an exception, the launch of a kernel.
    pub cause: Option<Box<Diagnostic>>,
}

/// What a code stands for, in general: a row of the page on error codes. Each crate has the rows of its codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCode {
    pub code: &'static str,
    /// One sentence on what is wrong.
    pub meaning: &'static str,
    /// One sentence on what to do about it.
    pub remedy: &'static str,
}

impl ErrorCode {
    pub const fn new(code: &'static str, meaning: &'static str, remedy: &'static str) -> ErrorCode {
        ErrorCode { code, meaning, remedy }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Note,
    Warning,
    Error,
}

/// A place and a text about it, which may be empty.
#[derive(Clone, Debug)]
pub struct Label {
    pub location: Location,
    pub text: String,
}

/// Replaces what `location` covers by `replacement`.
#[derive(Clone, Debug)]
pub struct Fix {
    pub location: Location,
    pub replacement: String,
}

/// One call on the way to a run-time mistake.
#[derive(Clone, Debug)]
pub struct Frame {
    pub location: Location,
    /// The function that was running, `<module>` at the top.
    pub function: String,
    /// The number of consecutive calls from this very place.
    pub times: usize,
    /// Calls between the frame before and this one that the trace leaves out.
    pub left_out: usize,
}

impl Diagnostic {
    pub fn error(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Error, message.into())
    }

    pub fn warning(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Warning, message.into())
    }

    fn new(code: &'static str, severity: Severity, message: String) -> Diagnostic {
        Diagnostic {
            code,
            severity,
            message,
            labels: Vec::new(),
            help: None,
            fix: None,
            trace: Vec::new(),
            cause: None,
        }
    }

    /// The first part of the code: `syntax`, `kernel`, `runtime` for exceptions of a script.
    pub fn family(&self) -> &'static str {
        self.code.split_once('/').map_or("", |(family, _)| family)
    }

    /// Adds a place; the first one added is the place of the mistake.
    pub fn label(mut self, location: Location, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { location, text: text.into() });
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    pub fn fix(mut self, location: Location, replacement: impl Into<String>) -> Diagnostic {
        self.fix = Some(Fix { location, replacement: replacement.into() });
        self
    }

    /// The place of the error, if there is one.
    pub fn location(&self) -> Option<&Location> {
        self.labels.first().map(|label| &label.location)
    }

    /// Whether it is about the place that another is about.
    pub fn overlaps(&self, other: &Diagnostic) -> bool {
        self.location().zip(other.location()).is_some_and(|(here, there)| here.overlaps(there))
    }

    /// `file:line:column: error: message`, as compilers print it on one line.
    pub fn one_line(&self) -> String {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        match self.location() {
            Some(Location { source, span }) => {
                let (line, column) = source.line_column(span.start);
                format!("{}:{line}:{column}: {severity}: {}", source.name(), self.message)
            }
            None => format!("{severity}: {}", self.message),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}

impl miette::SourceCode for crate::source::Source {
    fn read_span<'a>(
        &'a self,
        span: &miette::SourceSpan,
        context_lines_before: usize,
        context_lines_after: usize,
    ) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, miette::MietteError> {
        // miette reads a source in linear time, so it only gets the lines that it needs.
        let (from, until) = (span.offset(), span.offset().saturating_add(span.len()));
        let first = (self.line(from.min(u32::MAX as usize) as u32) as usize)
            .saturating_sub(context_lines_before)
            .max(1);
        let last =
            (self.line(until.min(u32::MAX as usize) as u32) as usize).saturating_add(context_lines_after);
        let lines = self.lines(first as u32, last.min(u32::MAX as usize) as u32);
        let within = miette::SourceSpan::from((from.saturating_sub(lines.start), span.len()));
        let text = self.text().get(lines.clone()).ok_or(miette::MietteError::OutOfBounds)?;
        let contents = text.read_span(&within, context_lines_before, context_lines_after)?;
        // Of a text miette counts them from its beginning, and would draw all between two labels.
        let n_lines = contents.data().split_inclusive(|byte| *byte == b'\n').count();
        Ok(Box::new(miette::MietteSpanContents::new_named(
            self.name().to_owned(),
            contents.data(),
            (lines.start + contents.span().offset(), contents.span().len()).into(),
            first - 1 + contents.line(),
            contents.column(),
            n_lines,
        )))
    }
}

impl miette::Diagnostic for Diagnostic {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.code.is_empty()).then(|| Box::new(self.code) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Note => miette::Severity::Advice,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.location().map(|location| &location.source as &dyn miette::SourceCode)
    }

    /// The labels in the source of the first one; the program shows the others separately.
    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        let source = &self.location()?.source;
        let here = self.labels.iter().filter(move |label| label.location.source == *source);
        Some(Box::new(here.map(|label| {
            let text = (!label.text.is_empty()).then(|| label.text.clone());
            let Span { start, end } = label.location.span;
            miette::LabeledSpan::new(text, start as usize, end.saturating_sub(start) as usize)
        })))
    }

    fn diagnostic_source(&self) -> Option<&dyn miette::Diagnostic> {
        self.cause.as_deref().map(|cause| cause as &dyn miette::Diagnostic)
    }
}

/// Everything that was found wrong, in the order of the source.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Those that are errors.
    pub fn errors(mut self) -> Diagnostics {
        self.0.retain(|diagnostic| diagnostic.severity == Severity::Error);
        self
    }

    /// Sorted by place in the source of the first; those of other sources keep their order, after them. A
    /// warning at the place of an error is dropped.
    pub fn in_order(mut self) -> Diagnostics {
        let source = self.0.first().and_then(Diagnostic::location).map(|at| at.source.clone());
        self.0.sort_by_key(|found| match found.location() {
            Some(at) if Some(&at.source) == source.as_ref() => at.span.start,
            _ => u32::MAX,
        });
        let errors: Vec<Location> = self
            .iter()
            .filter(|found| found.severity == Severity::Error)
            .filter_map(|error| error.location().cloned())
            .collect();
        self.0.retain(|found| {
            let is_about = |at: &Location| errors.iter().any(|error| error.overlaps(at));
            found.severity == Severity::Error || !found.location().is_some_and(is_about)
        });
        self
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics(vec![diagnostic])
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, diagnostics: I) {
        self.0.extend(diagnostics);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
