//! Diagnostics about shaders. Those that glslang finds are in `glsl/messages.rs`.

mod codes;

use kps_syntax::{Diagnostic, Location, Source, Span};

pub use self::codes::ERROR_CODES;

/// A place in the text. It is the last character if naga knows no place.
pub(crate) fn location(source: &Source, span: naga::Span) -> Location {
    let end = source.text().len();
    let range = span.to_range().unwrap_or(end.saturating_sub(1)..end);
    let (start, end) = (range.start.min(end), range.end.min(end));
    Location { source: source.clone(), span: Span::new(start as u32, end as u32) }
}

/// A place, without the body of the item there.
pub(crate) fn head_location(source: &Source, span: naga::Span) -> Location {
    let mut location = location(source, span);
    let found = source.slice(location.span);
    let is_headed = ["fn ", "if ", "switch ", "while ", "for "].iter().any(|word| found.starts_with(word));
    if let Some(at) = found.find('{').filter(|_| is_headed) {
        location.span.end = location.span.start + found[..at].trim_end().len() as u32;
    }
    location
}

/// The place of a name that begins a longer item.
pub(crate) fn name_location(source: &Source, span: naga::Span) -> Location {
    let mut location = location(source, span);
    let found = source.slice(location.span);
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let n_letters = found.find(|letter| !is_of_name(letter)).unwrap_or(found.len());
    if n_letters > 0 {
        location.span.end = location.span.start + n_letters as u32;
    }
    location
}

/// The first occurrence of any of some words in a text.
pub(crate) fn word(source: &Source, words: &[&str]) -> Option<naga::Span> {
    words.iter().find_map(|word| {
        let start = source.text().find(word)? as u32;
        Some(naga::Span::new(start, start + word.len() as u32))
    })
}

/// naga's message in the style of kps: naga capitalises it, has its own quotes, and numbers expressions.
pub(crate) fn plain(message: &str) -> String {
    let message = message.split(" for expression [").next().unwrap_or(message);
    let message = backquoted(message.trim_end_matches('.'));
    let mut letters = message.chars();
    match letters.next() {
        Some(first) if !message.starts_with("GLSL") && !message.starts_with("WGSL") => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => message,
    }
}

/// Turns quotes into backquotes. Apostrophes within words stay.
fn backquoted(message: &str) -> String {
    let letters: Vec<char> = message.replace("\"\"", "\"").chars().collect();
    let is_word =
        |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(|letter| letter.is_alphanumeric());
    let quoted = |(at, &letter): (usize, &char)| match letter {
        '\'' if !(is_word(at.checked_sub(1)) && is_word(Some(at + 1))) => '`',
        '"' => '`',
        letter => letter,
    };
    letters.iter().enumerate().map(quoted).collect()
}

pub(crate) fn another_language(name: &str, help: &str, location: Location) -> Diagnostic {
    Diagnostic::error("foreign/language", format!("this is {name}, and a shader is GLSL, HLSL or WGSL"))
        .label(location, "")
        .help(help)
}

pub(crate) fn too_many_immediates(size: u32, limit: u32, location: Location) -> Diagnostic {
    Diagnostic::error(
        "foreign/push-constants",
        format!("push constants are {limit} bytes at most, and these are {size}"),
    )
    .label(location, "")
    .help("bind a buffer for what is larger; every device takes 128 bytes")
}

pub(crate) fn not_finite(name: &str, location: Location) -> Diagnostic {
    let message = format!("the specialisation constant `{name}` cannot be NaN or infinite here");
    Diagnostic::error("foreign/not-finite", message)
        .label(location, "")
        .help("give it in a buffer or as a push constant, which take any number")
}

/// A size that is 0, negative, or larger than any device supports.
pub(crate) fn workgroup_size(source: &Source) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("foreign/workgroup-size", "a workgroup has 1 to 16384 invocations along each axis")
            .help("write `@workgroup_size(64)`");
    match word(source, &["workgroup_size"]) {
        Some(span) => diagnostic.label(location(source, span), ""),
        None => diagnostic,
    }
}

pub(crate) fn external_image(location: Location) -> Diagnostic {
    Diagnostic::error("foreign/image", "external textures are not known here")
        .label(location, "")
        .help("write `texture_2d<f32>`")
}

pub(crate) fn blue_first_image(location: Location) -> Diagnostic {
    Diagnostic::error(
        "foreign/image",
        "images of the format `bgra8unorm` can be stored to, and not loaded from",
    )
    .label(location, "")
    .help("write `rgba8unorm`, or `write` for how it is used")
}

pub(crate) fn wide_math(location: Location) -> Diagnostic {
    let name = location.source.slice(location.span).to_owned();
    Diagnostic::error("foreign/wide-math", format!("SPIR-V has no `{name}` of 64-bit floats"))
        .label(location, "")
        .help("convert the argument to 32 bits; kernels have such functions of `f64`, too")
}

pub(crate) fn too_deep(at: Location, limit: u32) -> Diagnostic {
    Diagnostic::error("foreign/too-deep", format!("brackets nest deeper than {limit}")).label(at, "")
}

pub(crate) fn too_many_operators(at: Location, limit: u32) -> Diagnostic {
    Diagnostic::error("foreign/too-deep", format!("a statement has more than {limit} operators"))
        .label(at, "")
        .help("split it into several statements, or write a loop")
}

pub(crate) fn no_entry_point(source: &Source, wanted: &str, names: &[String]) -> Diagnostic {
    match names {
        [] => {
            let size = if wanted == "compute" { " @workgroup_size(64)" } else { "" };
            let message = format!("`{}` has no {wanted} entry point", source.name());
            let diagnostic = Diagnostic::error("foreign/no-entry-point", message)
                .help(format!("write `@{wanted}{size}` before the function that is to run"));
            match word(source, &["fn main", "fn "]) {
                Some(span) => diagnostic.label(location(source, span), ""),
                None => diagnostic,
            }
        }
        names => {
            let message = format!(
                "`{}` has no {wanted} entry point of that name: it has {}",
                source.name(),
                list(names)
            );
            Diagnostic::error("foreign/no-entry-point", message)
        }
    }
}

/// A function of HLSL that glslang parses but cannot translate.
pub(crate) fn untranslated(source: &Source, name: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("foreign/function", format!("HLSL's function `{name}` is not known here"))
            .help("write a function of another name that does the same");
    match word(source, &[name]) {
        Some(span) => diagnostic.label(location(source, span), ""),
        None => diagnostic,
    }
}

/// HLSL that lacks the requested entry point.
pub(crate) fn no_function(source: &Source, name: &str) -> Diagnostic {
    let message = format!("`{}` has no function `{name}` to run", source.name());
    Diagnostic::error("foreign/no-entry-point", message)
        .help("call the function that is to run `main`, or name it: entry_point=\"..\"")
}

pub(crate) fn several_entry_points(source: &Source, names: &[String]) -> Diagnostic {
    let message = format!("`{}` has several entry points: {}", source.name(), list(names));
    Diagnostic::error("foreign/several-entry-points", message)
        .help(format!("say which is meant: entry_point=\"{}\"", names[0]))
}

pub(crate) fn not_emitted(source: &Source, reason: &str) -> Diagnostic {
    Diagnostic::error("foreign/emit", format!("`{}` cannot be written as SPIR-V: {reason}", source.name()))
}

/// Help for a bug in the shader translator.
pub const ANOTHER_WAY: &str =
    "write the shader in another way, or give it as SPIR-V: comment out parts of it to find which one it is";

/// naga reached code that it believes to be unreachable.
pub(crate) fn translator_stopped(source: &Source) -> Diagnostic {
    let message = format!("`{}` cannot be translated: the translator of shaders fails on it", source.name());
    Diagnostic::error("foreign/translator", message).help(ANOTHER_WAY)
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
