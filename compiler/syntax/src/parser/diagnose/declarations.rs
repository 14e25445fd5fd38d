//! Parameters as C, C++ and the shading languages declare them: `float* x`, `const vec3 v`, `x: Array<f32>`.

use super::Scene;
use crate::Diagnostic;
use crate::errors;
use crate::token::Token;

/// Qualifiers of parameters without an equivalent.
const QUALIFIERS: [&str; 16] = [
    "const",
    "in",
    "out",
    "inout",
    "__global",
    "__local",
    "__constant",
    "global",
    "device",
    "constant",
    "restrict",
    "__restrict__",
    "__restrict",
    "volatile",
    "struct",
    "uniform",
];

/// A parameter whose type precedes its name, or ends in a sign.
pub(super) fn typed_parameter(scene: &Scene) -> Option<Diagnostic> {
    let is_def = matches!(scene.first(), Token::Def | Token::Async);
    let open = (scene.line.clone()).find(|at| scene.token(*at) == Token::LeftParen)?;
    if !is_def || scene.at <= open || open > scene.line.start + 3 {
        return None;
    }
    let (first, last) = item(scene, open)?;
    let place = scene.stretch(first, last);
    let written = as_written_here(scene.source.slice(place.span))?;
    Some(errors::typed_parameter(place, &written))
}

/// The first and the last token of the parameter that did not fit.
fn item(scene: &Scene, open: usize) -> Option<(usize, usize)> {
    let (mut level, mut first) = (0usize, open + 1);
    for at in open + 1..scene.line.end {
        match scene.token(at) {
            Token::LeftParen | Token::LeftBracket => level += 1,
            Token::RightParen if level == 0 => {
                return (at >= scene.at && at > first).then(|| (first, at - 1));
            }
            Token::RightParen | Token::RightBracket => level = level.saturating_sub(1),
            Token::Comma if level == 0 && !is_in_angles(scene, first, at) => {
                if at >= scene.at {
                    return (at > first).then(|| (first, at - 1));
                }
                first = at + 1;
            }
            _ => {}
        }
    }
    None
}

/// Whether a `<` before this token has no `>` yet: `Array<f32, 2>`.
fn is_in_angles(scene: &Scene, first: usize, at: usize) -> bool {
    let n_of = |sign| (first..at).filter(|idx| scene.text(*idx) == sign).count();
    n_of("<") > n_of(">")
}

/// `x: Array[float]` for `const float* x`; `None` if it is ambiguous.
fn as_written_here(text: &str) -> Option<String> {
    let declared = text.split('=').next()?.trim();
    if let Some(parameter) = without_colon(declared) {
        return Some(parameter);
    }
    let (name, ty) = match declared.split_once(':') {
        Some((name, ty)) => (name.trim(), ty),
        None => {
            let declared = declared.trim_end_matches("[]").trim_end();
            let start = declared.rfind(|letter| !is_word(letter))? + 1;
            (&declared[start..], &declared[..start])
        }
    };
    let is_array = ty.contains(['*', '&']) || declared.ends_with("[]") || ty.trim_end().ends_with("[]");
    let plain = ty.replace(['*', '&'], " ").replace("[]", " ");
    let is_qualified = plain.split_whitespace().any(|word| QUALIFIERS.contains(&word));
    let words: Vec<&str> = plain.split_whitespace().filter(|word| !QUALIFIERS.contains(word)).collect();
    let whole = words.join(" ");
    let (of, is_array) = match whole.split_once('<') {
        Some((_, of)) => (of.trim_end_matches('>'), true),
        None => (whole.as_str(), is_array),
    };
    // Between two plain names a comma may be missing.
    let is_sure = is_array || is_qualified || !declared.contains(':') && is_type(of);
    let is_name = |text: &str| !text.is_empty() && text.chars().all(is_word);
    if !is_sure || !is_name(name) || !of.split(", ").all(is_name) {
        return None;
    }
    let default = text.split_once('=').map_or(String::new(), |(_, default)| format!(" = {}", default.trim()));
    Some(if is_array { format!("{name}: Array[{of}]{default}") } else { format!("{name}: {of}{default}") })
}

/// `x: Array[f32]` for `x Array[f32]` and `Array[f32] x`.
fn without_colon(declared: &str) -> Option<String> {
    let is_name = |text: &str| !text.is_empty() && text.chars().all(is_word);
    let is_type = |text: &str| {
        text.ends_with(']')
            && !text.ends_with("[]")
            && text.split_once('[').is_some_and(|(head, _)| is_name(head))
    };
    let (first, rest) = declared.split_once(' ')?;
    let (before, last) = declared.rsplit_once(' ')?;
    match () {
        () if is_name(first) && is_type(rest) => Some(format!("{first}: {rest}")),
        () if is_type(before) && is_name(last) => Some(format!("{last}: {before}")),
        () => None,
    }
}

/// Whether a word is one for a type in most of those languages: `float`, `vec3`, `int32_t`.
pub(super) fn is_type(word: &str) -> bool {
    let is_known = matches!(
        word,
        "int"
            | "float"
            | "double"
            | "half"
            | "char"
            | "bool"
            | "uint"
            | "long"
            | "short"
            | "void"
            | "auto"
            | "string"
    );
    is_known
        || word.ends_with("_t")
        || word.starts_with(char::is_alphabetic) && word.ends_with(|end: char| end.is_ascii_digit())
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}
