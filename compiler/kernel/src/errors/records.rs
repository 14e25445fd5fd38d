//! Mistakes in arguments of `print` and `assert`.

use kps_syntax::{Diagnostic, Location};

use super::parts::error;
use super::source_text::{is_on_line_with_strings, without_brackets};
use crate::found::Found;
use crate::types::Scalar;

pub(crate) fn print_keyword(at: Location, name: &str) -> Diagnostic {
    error("kernel/print", at, format!("`print` in a kernel has no argument `{name}`"), "")
        .help("it takes values, `sep` and `end`")
}

pub(crate) fn print_separator(at: Location, name: &str) -> Diagnostic {
    error("kernel/print", at, format!("`{name}` is a string that is written here"), "")
        .help(format!("such as `{name}=\", \"`"))
}

/// The value to print instead, by the kind of the argument.
pub(crate) enum Printable {
    Element,
    Texel,
    StoredMatrix,
    Result,
    Value,
}

pub(crate) fn not_printable(at: Location, what: &Found, instead: Printable) -> Diagnostic {
    let text = at.source.slice(at.span).to_owned();
    let message = format!("{what} cannot be printed in a kernel");
    error("kernel/print", at, message, "").help(match instead {
        Printable::Element => format!("print an element of it: `print({text}[i])`"),
        Printable::Texel => format!("print a texel of it: `print({text}.read(at))`"),
        Printable::StoredMatrix => {
            "store it in an array with `coop_store`, and print elements of that".to_owned()
        }
        Printable::Result => format!("call it, and print what it gives: `print({text}(..))`"),
        Printable::Value => "print numbers, bools, vectors, structs and lists of them".to_owned(),
    })
}

pub(crate) fn spec_value(at: Location) -> Diagnostic {
    error("kernel/print", at, "a value in a format spec is a constant int", "")
        .help("write the number, or capture it from the host")
}

pub(crate) fn format_spec(
    at: Location,
    spec: &str,
    scalar: Scalar,
    mistake: &str,
    example: &str,
) -> Diagnostic {
    error("kernel/print", at, format!("the format `{spec}` of this `{scalar}` {mistake}"), "")
        .help(format!("write {example}, or leave the format out"))
}

/// `written` is the equivalent f-string.
pub(crate) fn string_formatted(at: Location, written: Option<String>) -> Diagnostic {
    let written = written.unwrap_or_else(|| "f\"x = {x:.2f}\"".to_owned());
    if !is_on_line_with_strings(&at) {
        return error("kernel/unsupported", at, "a string cannot be made in a kernel", "")
            .help(format!("only `print` and `assert` have strings: `print({written})`"));
    }
    error("kernel/unsupported", at, "a string cannot be formatted this way in a kernel", "")
        .help(format!("write one f-string for all of it: `{written}`"))
}

/// `assert (x > 0, "message")`
pub(crate) fn assert_of_tuple(at: Location) -> Diagnostic {
    let text = without_brackets(at.source.slice(at.span)).to_owned();
    error("kernel/condition", at, "the test of this `assert` is a tuple of a condition and a text", "")
        .help(format!("leave the parentheses out: `assert {text}`"))
}

/// `assert x > 0, ("message", x)`: a text with values after it.
pub(crate) fn message_of_tuple(at: Location, text: &str, values: &[&str]) -> Diagnostic {
    let values: String = values.iter().map(|value| format!(" {{{value}}}")).collect();
    error("kernel/unsupported", at, "a message cannot be a tuple in a kernel", "")
        .help(format!("write one text: `f\"{text}{values}\"`"))
}

pub(crate) fn number_of_string(at: Location) -> Diagnostic {
    error("kernel/unsupported", at, "a string cannot be made a number in a kernel", "").help(
        "write the number itself, or pass it as a parameter; of strings a float is made of \"inf\" and \"nan\"",
    )
}

pub(crate) fn record_too_long(at: Location, limit: usize) -> Diagnostic {
    let message = format!("this is more than {limit} values, or more text than one message takes");
    error("kernel/print", at, message, "").help("print it in several parts")
}
