//! What the constructors of diagnostics have in common.

use kps_syntax::{Diagnostic, Location};

pub(super) fn error(
    code: &'static str,
    at: Location,
    message: impl Into<String>,
    label: impl Into<String>,
) -> Diagnostic {
    Diagnostic::error(code, message).label(at, label)
}

pub(super) fn meant(diagnostic: Diagnostic, nearest: Option<&str>) -> Diagnostic {
    match nearest {
        Some(nearest) => diagnostic.help(format!("did you mean `{nearest}`?")),
        None => diagnostic,
    }
}

/// With a line to write instead, where there is one.
pub(super) fn advised(diagnostic: Diagnostic, help: Option<impl Into<String>>) -> Diagnostic {
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

pub(super) fn arguments(count: usize) -> String {
    match count {
        1 => "one argument".to_owned(),
        count => format!("{count} arguments"),
    }
}
