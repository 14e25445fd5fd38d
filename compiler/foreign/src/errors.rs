//! Every mistake that foreign text can have, as diagnostics: naga's words in our form.

use kps_syntax::{Diagnostic, Location, Source, Span};

/// A place in the text; the last character of it where naga knows none.
pub(crate) fn location(source: &Source, span: naga::Span) -> Location {
    let end = source.text().len();
    let range = span.to_range().unwrap_or(end.saturating_sub(1)..end);
    let (start, end) = (range.start.min(end), range.end.min(end));
    Location { source: source.clone(), span: Span::new(start as u32, end as u32) }
}

/// A mistake in naga's words, which begin with a capital letter and quote in their own way.
pub(crate) fn told(code: &'static str, message: &str) -> Diagnostic {
    let message = backquoted(message.trim_end_matches('.'));
    let mut letters = message.chars();
    let message = match letters.next() {
        Some(first) if !message.starts_with("GLSL") => first.to_lowercase().chain(letters).collect(),
        _ => message,
    };
    Diagnostic::error(code, message)
}

/// Quotes become backquotes; apostrophes within words stay.
fn backquoted(message: &str) -> String {
    let letters: Vec<char> = message.chars().collect();
    let is_word =
        |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(|letter| letter.is_alphanumeric());
    let quoted = |(at, &letter): (usize, &char)| match letter {
        '\'' if !(is_word(at.checked_sub(1)) && is_word(Some(at + 1))) => '`',
        letter => letter,
    };
    letters.iter().enumerate().map(quoted).collect()
}

pub(crate) fn beyond_glsl(name: &str, help: &str, location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl-beyond", format!("`{name}` is not known in GLSL here"))
        .label(location, "")
        .help(help)
}

pub(crate) fn too_deep(at: Location, limit: u32) -> Diagnostic {
    Diagnostic::error("foreign/too-deep", format!("brackets nest deeper than {limit}")).label(at, "")
}

pub(crate) fn no_entry_point(source: &Source, wanted: &str, names: &[String]) -> Diagnostic {
    let message = match names {
        [] => format!("`{}` has no {wanted} entry point", source.name()),
        names => {
            format!("`{}` has no {wanted} entry point of that name: it has {}", source.name(), list(names))
        }
    };
    Diagnostic::error("foreign/no-entry-point", message)
}

pub(crate) fn several_entry_points(source: &Source, names: &[String]) -> Diagnostic {
    let message = format!("`{}` has several entry points: {}", source.name(), list(names));
    Diagnostic::error("foreign/several-entry-points", message)
        .help(format!("say which is meant: entry_point=\"{}\"", names[0]))
}

pub(crate) fn not_emitted(source: &Source, reason: &str) -> Diagnostic {
    Diagnostic::error("foreign/emit", format!("`{}` cannot be written as SPIR-V: {reason}", source.name()))
}

/// naga itself came to a place that it holds for impossible.
pub(crate) fn translator_stopped(source: &Source) -> Diagnostic {
    let message = format!("`{}` cannot be translated: the translator of shaders fails on it", source.name());
    Diagnostic::error("foreign/translator", message)
        .help("write the shader in another way, or give it as SPIR-V: comment out parts of it to find which one it is")
}

pub(crate) fn alternatives(words: &[String]) -> String {
    match words {
        [] => "something else".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// `UnexpectedNewLine` as words.
pub(crate) fn spaced(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        let starts = letter.is_uppercase()
            || letter.is_ascii_digit() && !words.ends_with(|c: char| c.is_ascii_digit());
        if starts && !words.is_empty() && !words.ends_with(['(', ' ']) {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
