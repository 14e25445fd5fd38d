//! Mistakes that the parser finds: a token where it cannot stand.

use crate::Diagnostic;
use crate::source::Location;

pub(crate) fn unexpected(at: Location, what: &str) -> Diagnostic {
    Diagnostic::error("syntax/unexpected", format!("did not expect {what} here")).label(at, "")
}
