//! What `print` and `assert` cannot take.

use kps_syntax::{Diagnostic, Location};

use super::error;

pub(crate) fn print_keyword(at: Location, name: &str) -> Diagnostic {
    error("kernel/print", at, format!("`print` in a kernel has no argument `{name}`"), "")
        .help("it takes values, `sep` and `end`")
}

pub(crate) fn print_separator(at: Location, name: &str) -> Diagnostic {
    error("kernel/print", at, format!("`{name}` is a string that is written here"), "")
        .help(format!("such as `{name}=\", \"`"))
}

pub(crate) fn not_printable(at: Location, what: &str) -> Diagnostic {
    error("kernel/print", at, format!("{what} cannot be printed in a kernel"), "")
        .help("print numbers, bools, vectors and lists: of an array, its elements")
}

pub(crate) fn spec_value(at: Location) -> Diagnostic {
    error("kernel/print", at, "a value in a format spec is a constant int", "")
        .help("write the number, or capture it from the host")
}

pub(crate) fn record_too_long(at: Location, limit: usize) -> Diagnostic {
    let message = format!("this is more than {limit} values, or more text than one message takes");
    error("kernel/print", at, message, "").help("print it in several parts")
}
