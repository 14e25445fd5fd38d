//! Writes to the standard streams. All output of the program itself uses this file. Scripts print through
//! their host.
//!
//! A closed reader or a full disk never causes a panic. A failure of standard error is ignored, and one of
//! standard output ends the program (`Failure`).

use std::fmt::Arguments;
use std::io::Write;

use kps_syntax::{Diagnostic, Diagnostics};

use crate::Failure;
use crate::render::render;

/// Writes to standard error, as `format_args!` gives it.
pub fn print_error(text: Arguments) {
    // An error cannot be reported.
    let _ = std::io::stderr().write_all(text.to_string().as_bytes());
}

/// Draws a diagnostic on standard error.
pub fn report(diagnostic: &Diagnostic) {
    print_error(format_args!("{}", render(diagnostic)));
}

/// Draws diagnostics on standard error.
pub fn report_all(diagnostics: &Diagnostics) {
    diagnostics.iter().for_each(report);
}

/// Writes to standard output.
pub fn show(bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    let mut stdout = std::io::stdout();
    stdout.write_all(bytes.as_ref()).and_then(|()| stdout.flush()).map_err(Failure::Output)
}
