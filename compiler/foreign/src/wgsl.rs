//! WGSL text to naga's module.

use kps_syntax::{Diagnostic, Diagnostics, Source};
use naga::front::wgsl::{Frontend, ParseError};

use crate::errors;

pub(crate) fn parse(source: &Source) -> Result<naga::Module, Diagnostics> {
    Frontend::new().parse(source.text()).map_err(|error| Diagnostics::from(diagnostic(source, &error)))
}

fn diagnostic(source: &Source, error: &ParseError) -> Diagnostic {
    let mut told = errors::told("foreign/wgsl", error.message());
    for (span, text) in error.labels() {
        told = told.label(errors::location(source, span), text);
    }
    let notes: Vec<&str> = error.notes().collect();
    if notes.is_empty() { told } else { told.help(notes.join("; ")) }
}
