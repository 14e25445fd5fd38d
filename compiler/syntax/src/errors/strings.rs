//! Errors in strings, bytes and f-strings.

use crate::Diagnostic;
use crate::source::Location;

pub(crate) fn unterminated_string(at: Location, quote: char) -> Diagnostic {
    Diagnostic::error("syntax/unterminated-string", "the string does not end on its line")
        .label(at, "begins here")
        .help(format!(
            "write the closing `{quote}`; a string of several lines is enclosed in `{quote}{quote}{quote}`"
        ))
}

pub(crate) fn unterminated_triple_string(at: Location) -> Diagnostic {
    let quotes = at.source.slice(at.span).trim_start_matches(|c: char| c.is_ascii_alphabetic()).to_owned();
    Diagnostic::error("syntax/unterminated-string", "the string does not end before the text does")
        .label(at, "begins here")
        .help(format!("write the closing `{quotes}`"))
}

pub(crate) fn unclosed_field(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/fstring", "`{` was never closed in this f-string")
        .label(at, "opened here")
        .help("write `}` after the expression, or `{{` for a brace in the text")
}

pub(crate) fn lone_brace(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/fstring", "a single `}` in an f-string")
        .label(at.clone(), "closes nothing")
        .help("write `}}` for a brace in the text")
        .fix(at, "}}")
}

pub(crate) fn empty_field(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/fstring", "an f-string's braces hold no expression")
        .label(at, "")
        .help("write a value between them, or `{{}}` for braces in the text")
}

pub(crate) fn lambda_in_field(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/fstring", "the `:` of a `lambda` ends the expression of an f-string's braces")
        .label(at, "taken for the start of the format")
        .help("put the lambda into parentheses: `{(lambda x: x)(1)}`")
}

pub(crate) fn field_rest(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/fstring", "this does not belong into an f-string's braces")
        .label(at, "expected `!r`, `:` with a format, or `}`")
        .help("write one expression: `{value}`, `{value!r}` or `{value:>8}`")
}

pub(crate) fn unknown_conversion(at: Location, text: &str) -> Diagnostic {
    Diagnostic::error("syntax/fstring", format!("`{text}` is no conversion"))
        .label(at, "")
        .help("write `!r` for repr, `!s` for str or `!a` for ascii right behind the expression")
}

pub(crate) fn too_many_fstrings(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/fstring", "f-strings are nested more than 75 deep")
        .label(at, "")
        .help("compute the inner text before and give it a name")
}

pub(crate) fn short_escape(at: Location, text: &str, n_digits: usize) -> Diagnostic {
    Diagnostic::error("syntax/bad-escape", format!("`{text}` needs {n_digits} hexadecimal digits"))
        .label(at, "")
        .help("write the missing digits, or `\\\\` for a backslash")
}

pub(crate) fn no_character(at: Location, text: &str, is_surrogate: bool) -> Diagnostic {
    let why = if is_surrogate { "half of a surrogate pair" } else { "beyond U+10FFFF" };
    Diagnostic::error("syntax/bad-escape", format!("`{text}` is no character: {why}"))
        .label(at, "")
        .help("write the code point of the whole character: `\\U0001f600`")
}

pub(crate) fn unknown_character_name(at: Location, name: &str) -> Diagnostic {
    Diagnostic::error("syntax/bad-escape", format!("no character is named `{name}`"))
        .label(at, "")
        .help("write its Unicode name, as in `\\N{BULLET}`, or its code, as in `\\u2022`")
}

pub(crate) fn malformed_character_name(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/bad-escape", "`\\N` needs the name of a character in braces")
        .label(at, "")
        .help("write `\\N{BULLET}`, or `\\\\N` for a backslash")
}

pub(crate) fn non_ascii_bytes(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/bad-bytes", "a bytes literal holds ASCII characters only")
        .label(at, "")
        .help("write the bytes as `\\x..`, or encode a string: `'..'.encode()`")
}

pub(crate) fn mixed_bytes(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/bad-bytes", "strings and bytes cannot be mixed")
        .label(at, "")
        .help("give all of the parts the prefix `b`, or none")
}
