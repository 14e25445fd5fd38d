//! WGSL text to naga's module. What is wrong comes out in naga's words, with what to write instead (`limits`).

use kps_syntax::{Diagnostic, Diagnostics, Source, Span};
use naga::front::wgsl::{Frontend, ParseError};

use crate::errors;

mod limits;

pub(crate) fn parse(source: &Source) -> Result<naga::Module, Diagnostics> {
    let text = without_enabled_subgroups(source.text());
    Frontend::new().parse(&text).map_err(|error| Diagnostics::from(diagnostic(source, &error)))
}

fn diagnostic(source: &Source, error: &ParseError) -> Diagnostic {
    let mut told = errors::told("foreign/wgsl", error.message());
    for (span, text) in error.labels() {
        told = told.label(errors::location(source, span), errors::plain(text));
    }
    // Where the first label is, naga stopped.
    let instead = told.labels.first().and_then(|label| {
        let span = label.location.span;
        limits::instead_of(source.slice(span), source.slice(Span::new(0, span.start)))
    });
    let instead = instead.or_else(|| limits::about(error.message()));
    let notes: Vec<&str> = error.notes().collect();
    match instead {
        Some(help) => told.help(help),
        None if notes.is_empty() => told,
        None => told.help(errors::plain(&notes.join("; "))),
    }
}

/// naga has the operations of subgroups and refuses `enable subgroups;`, without which nobody else has them: blanks
/// stand in its place, so that all else keeps its own.
fn without_enabled_subgroups(text: &str) -> String {
    const DIRECTIVE: &str = "enable subgroups;";
    text.replace(DIRECTIVE, &" ".repeat(DIRECTIVE.len()))
}
