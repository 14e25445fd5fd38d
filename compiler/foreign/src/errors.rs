//! Every mistake that foreign text can have, as diagnostics: naga's words in our form.

use kps_syntax::{Diagnostic, Location, Source, Span};

/// A place in the text; the last character of it where naga knows none.
pub(crate) fn location(source: &Source, span: naga::Span) -> Location {
    let end = source.text().len();
    let range = span.to_range().unwrap_or(end.saturating_sub(1)..end);
    let (start, end) = (range.start.min(end), range.end.min(end));
    Location { source: source.clone(), span: Span::new(start as u32, end as u32) }
}

/// A place, without the body of what has one.
pub(crate) fn head_location(source: &Source, span: naga::Span) -> Location {
    let mut location = location(source, span);
    let found = source.slice(location.span);
    let is_headed = ["fn ", "if ", "switch ", "while ", "for "].iter().any(|word| found.starts_with(word));
    if let Some(at) = found.find('{').filter(|_| is_headed) {
        location.span.end = location.span.start + found[..at].trim_end().len() as u32;
    }
    location
}

/// The place of a name alone, where it begins something longer.
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

/// Where one of some words stands in a text for the first time.
pub(crate) fn word(source: &Source, words: &[&str]) -> Option<naga::Span> {
    words.iter().find_map(|word| {
        let start = source.text().find(word)? as u32;
        Some(naga::Span::new(start, start + word.len() as u32))
    })
}

/// A mistake in naga's words.
pub(crate) fn told(code: &'static str, message: &str) -> Diagnostic {
    Diagnostic::error(code, plain(message))
}

/// naga's words in our form: they begin with a capital letter, quote in their own way, and count expressions.
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

/// Quotes become backquotes; apostrophes within words stay.
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

pub(crate) fn beyond_glsl(name: &str, help: &str, location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl-beyond", format!("`{name}` is not known in GLSL here"))
        .label(location, "")
        .help(help)
}

/// `compiler` makes SPIR-V of it.
pub(crate) fn another_language(name: &str, compiler: Option<&str>, location: Location) -> Diagnostic {
    let help = match compiler {
        Some(compiler) => format!(
            "write it in GLSL, in WGSL or as a kernel, or compile it with `{compiler}` and give the SPIR-V"
        ),
        None => "write it in GLSL, in WGSL or as a kernel, a function behind `@kernel`".to_owned(),
    };
    Diagnostic::error("foreign/language", format!("this is {name}, and shaders are GLSL or WGSL here"))
        .label(location, "")
        .help(help)
}

pub(crate) fn misplaced(word: &str, help: &str, location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl", format!("`{word}` cannot stand here")).label(location, "").help(help)
}

pub(crate) fn specialised_here(location: Location) -> Diagnostic {
    let before = location.source.slice(Span::new(0, location.span.start));
    let is_length = before.rfind('[') > before.rfind(['=', ';', ']']);
    let (message, help) = match is_length {
        true => (
            "the length of an array cannot be this specialisation constant",
            "write the constant's id as a number: `layout(constant_id = 0) const uint N = 64;`",
        ),
        false => (
            "a constant cannot be made of this specialisation constant",
            "leave out `const`, and compute it in the function that uses it",
        ),
    };
    Diagnostic::error("foreign/glsl", message).label(location, "").help(help)
}

pub(crate) fn calls_itself(name: &str, location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl", format!("functions may not call themselves, and `{name}` does"))
        .label(location, "")
        .help("write a loop")
}

pub(crate) fn defined_behind(name: &str, location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl", format!("`{name}` is defined behind what calls it"))
        .label(location, "")
        .help("put it in front, or declare it there: its first line with a `;`")
}

pub(crate) fn not_defined(name: &str, location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl", format!("`{name}` is declared, and nothing defines it"))
        .label(location, "")
        .help("write what it does in the same text, `{ .. }`")
}

pub(crate) fn no_main(location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl", "there is no `main`")
        .label(location, "")
        .help("write what is to run as `void main() { .. }`")
}

pub(crate) fn main_with_parameters(location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl", "`main` has no parameters")
        .label(location, "")
        .help("write `void main()`; numbers come in buffers and push constants")
}

pub(crate) fn run_time_value(name: &str, location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl", format!("the value of `{name}` is not known before the shader runs"))
        .label(location, "")
        .help(format!("write `{name} = ..;` at the start of `main`"))
}

pub(crate) fn large_number(location: Location) -> Diagnostic {
    let number = location.source.slice(location.span).to_owned();
    Diagnostic::error("foreign/glsl", format!("`{number}` is more than 32 bits hold"))
        .label(location, "")
        .help("the largest are 2147483647 and 4294967295u")
}

pub(crate) fn odd_number(location: Location) -> Diagnostic {
    let number = location.source.slice(location.span).to_owned();
    Diagnostic::error("foreign/glsl", format!("`{number}` is no number")).label(location, "").help(
        "digits are 0 to 9, in numbers that begin with 0 they are 0 to 7, and behind 0x 0 to 9 and a to f",
    )
}

pub(crate) fn length_at_run_time(name: &str, location: Location) -> Diagnostic {
    let message = format!("the length of an array is known before the shader runs, and `{name}` is not");
    Diagnostic::error("foreign/glsl", message)
        .label(location, "")
        .help("write a number, or declare it `const` with a value that is known")
}

pub(crate) fn no_elements(length: &str, location: Location) -> Diagnostic {
    let is_name = length.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
    let message = match is_name {
        true => format!("an array has at least one element, and `{length}` is 0 here"),
        false => "an array has at least one element".to_owned(),
    };
    Diagnostic::error("foreign/glsl", message)
        .label(location, "")
        .help("write its length, or none at the end of a buffer")
}

pub(crate) fn odd_character(character: &str, location: Location) -> Diagnostic {
    let shown = match character.contains(char::is_control) {
        true => character.escape_debug().to_string(),
        false => character.to_owned(),
    };
    let message = format!("`{shown}` is no part of GLSL");
    let told = Diagnostic::error("foreign/glsl", message).label(location, "");
    match character {
        "\"" | "'" => told.help("shaders have no texts: take numbers for what is to be told apart"),
        "@" => told.help("WGSL has it: name its file `.wgsl`"),
        _ => told.help("leave it out"),
    }
}

pub(crate) fn behind_array(location: Location) -> Diagnostic {
    let name = location.source.slice(location.span).to_owned();
    Diagnostic::error("foreign/glsl", format!("`{name}` cannot be declared behind an array here"))
        .label(location, "")
        .help(format!("write a declaration of its own: `float {name};`"))
}

pub(crate) fn no_variable(text: &str, location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl", format!("`{text}` cannot be assigned to: it is no variable"))
        .label(location, "")
        .help("put the value into a variable first")
}

pub(crate) fn not_assignable(name: &str, location: Location) -> Diagnostic {
    let help = match name.starts_with("gl_") {
        true => format!("put its value into a variable, and change that: `uvec3 id = {name};`"),
        false => "leave out `const` where it is declared, or assign to another variable".to_owned(),
    };
    Diagnostic::error("foreign/glsl", format!("`{name}` cannot be assigned to: it is a constant or an input"))
        .label(location, "")
        .help(help)
}

pub(crate) fn not_bound(location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl-binding", "this does not say where it is bound").label(location, "").help(
        "write `layout(set = 0, binding = 0)` before a block; a number alone goes into one: \
         `layout(push_constant) uniform Numbers { float k; };`",
    )
}

pub(crate) fn no_format(location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl-format", "this image does not say the format of its texels")
        .label(location, "")
        .help("write it, as in `layout(set = 0, binding = 0, r32f) uniform image2D picture;`")
}

pub(crate) fn narrow_matrix(location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl", "matrices with columns of two cannot lie in an `std140` block here")
        .label(location, "")
        .help("write a `vec4` for each column, or put the matrix into a `buffer`")
}

pub(crate) fn narrow_matrix_in_struct(location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl", "matrices with columns of two cannot be members of a struct here")
        .label(location, "")
        .help("write `vec2 m[2];` for it, and `mat2(s.m[0], s.m[1])` where the matrix is used")
}

/// A variable of a compute shader that is `in` or `out`.
pub(crate) fn port_of_compute(word: &str, location: Location) -> Diagnostic {
    let (what, help) = match word {
        "in" => {
            ("inputs", "read it from a buffer: `layout(set = 0, binding = 0) buffer Input { float x[]; };`")
        }
        _ => ("outputs", "write to a buffer: `layout(set = 0, binding = 0) buffer Output { float y[]; };`"),
    };
    Diagnostic::error("foreign/glsl", format!("compute shaders have no {what} of their own"))
        .label(location, "")
        .help(help)
}

/// `#error`.
pub(crate) fn stopped_by_text(message: &str, location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl", format!("the text says that it cannot be used so: {message}"))
        .label(location, "")
        .help("`#error` says this: define what it asks for")
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

/// An index in an argument that a function changes, or in a macro.
pub(crate) fn changing_index(location: Location) -> Diagnostic {
    Diagnostic::error(
        "foreign/glsl",
        "this index is part of what is changed, and cannot itself change something here",
    )
    .label(location, "")
    .help("put it into a variable first: `int k = i++;`, and index by `k`")
}

/// A value that a vector has no component for.
pub(crate) fn too_many_components(n_components: usize, location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl", format!("this vector has {n_components} components, and more is given"))
        .label(location, "")
        .help("leave this value out, or make a longer vector: `vec4(x, y, z, w)`")
}

pub(crate) fn float_remainder(location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl", "`%` takes integers, and this is a float")
        .label(location, "")
        .help("write `mod(x, y)`, which has the sign of `y`, or `x - y * trunc(x / y)`")
}

pub(crate) fn size_without_in(location: Location) -> Diagnostic {
    let size = location.source.slice(location.span).to_owned();
    Diagnostic::error(
        "foreign/glsl",
        "the size of the workgroup is a layout of `in`, and this says it of nothing",
    )
    .label(location, "")
    .help(format!("write `{size} in;`"))
}

pub(crate) fn no_version(location: Location) -> Diagnostic {
    let message = format!("`{}` does not say which version of GLSL it is in", location.source.name());
    Diagnostic::error("foreign/glsl", message)
        .label(location, "")
        .help("write `#version 450` on the first line")
}

/// Indices that follow one another, in a macro.
pub(crate) fn indices_in_order(location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl", "several indices in a row cannot change something here")
        .label(location, "")
        .help("put them into variables first: `int j = i++;`, and index by `j`")
}

/// A constant that is no `bool`, by which a loop goes on.
pub(crate) fn constant_condition(location: Location) -> Diagnostic {
    let constant = location.source.slice(location.span).to_owned();
    let help = match constant.trim_end_matches(['u', 'U']).parse::<u32>() {
        Ok(0) => "write `false`, as in `while (false)`",
        Ok(_) => "write `true`, as in `while (true)`",
        Err(_) => "write `x != 0` for whether a number is not 0",
    };
    Diagnostic::error("foreign/glsl", format!("a condition is a `bool`, and `{constant}` is none"))
        .label(location, "")
        .help(help)
}

pub(crate) fn continue_before_condition(location: Location) -> Diagnostic {
    Diagnostic::error("foreign/glsl", "`continue` cannot be the last statement of a `do` here")
        .label(location, "")
        .help("leave it out: what follows is the condition")
}

/// A size that is 0, negative, or more than any device has.
pub(crate) fn workgroup_size(source: &Source) -> Diagnostic {
    let told =
        Diagnostic::error("foreign/workgroup-size", "a workgroup has 1 to 16384 invocations along each axis");
    let sizes = [
        ("workgroup_size", "write `@workgroup_size(64)`"),
        ("local_size_x", "write `layout(local_size_x = 64) in;`"),
    ];
    let said = sizes.into_iter().find_map(|(name, help)| Some((word(source, &[name])?, help)));
    match said {
        Some((span, help)) => told.label(location(source, span), "").help(help),
        None => told,
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

pub(crate) fn no_entry_point(source: &Source, wanted: &str, names: &[String]) -> Diagnostic {
    match names {
        [] => {
            let size = if wanted == "compute" { " @workgroup_size(64)" } else { "" };
            let message = format!("`{}` has no {wanted} entry point", source.name());
            let told = Diagnostic::error("foreign/no-entry-point", message)
                .help(format!("write `@{wanted}{size}` before the function that is to run"));
            match word(source, &["fn main", "fn "]) {
                Some(span) => told.label(location(source, span), ""),
                None => told,
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

pub(crate) fn no_entry_of_glsl(source: &Source, name: &str) -> Diagnostic {
    let message = format!("`{}` has no entry point `{name}`: in GLSL it is `main`", source.name());
    Diagnostic::error("foreign/no-entry-point", message).help("leave the name out, or write `main`")
}

pub(crate) fn several_entry_points(source: &Source, names: &[String]) -> Diagnostic {
    let message = format!("`{}` has several entry points: {}", source.name(), list(names));
    Diagnostic::error("foreign/several-entry-points", message)
        .help(format!("say which is meant: entry_point=\"{}\"", names[0]))
}

pub(crate) fn not_emitted(source: &Source, reason: &str) -> Diagnostic {
    Diagnostic::error("foreign/emit", format!("`{}` cannot be written as SPIR-V: {reason}", source.name()))
}

/// What helps where the translator of shaders is at fault.
pub const ANOTHER_WAY: &str =
    "write the shader in another way, or give it as SPIR-V: comment out parts of it to find which one it is";

/// naga itself came to a place that it holds for impossible.
pub(crate) fn translator_stopped(source: &Source) -> Diagnostic {
    let message = format!("`{}` cannot be translated: the translator of shaders fails on it", source.name());
    Diagnostic::error("foreign/translator", message).help(ANOTHER_WAY)
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
