//! The functions of a GLSL text, for messages about calls.

use std::ops::Range;

use super::tokens::{Token, closing, tokens};

/// A function that is declared or defined.
struct Function<'t> {
    name: &'t str,
    /// The place of its name.
    place: Range<usize>,
    /// From brace to brace; `None` for a declaration without a body.
    body: Option<Range<usize>>,
}

/// Whether a text defines a function only after a position.
pub(super) fn is_defined_behind(text: &str, name: &str, at: usize) -> bool {
    let functions = functions(text);
    let mut bodies =
        functions.iter().filter(|one| one.name == name).filter_map(|one| one.body.as_ref()).peekable();
    bodies.peek().is_some() && bodies.all(|body| body.start > at)
}

/// The place of a function's name at its first declaration or definition.
pub(super) fn place(text: &str, name: &str) -> Option<Range<usize>> {
    functions(text).into_iter().find(|one| one.name == name).map(|one| one.place)
}

/// The first line of a function, as it is written in the text.
pub(super) fn declaration<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let tokens = tokens(text);
    let at = place(text, name)?.start;
    let at = tokens.iter().position(|token| token.range.start == at)?;
    let end = parameters(&tokens, at)?;
    Some(&text[tokens[at - 1].range.start..tokens[end].range.end])
}

/// Functions of HLSL whose types glslang knows but which it cannot translate: a call of one ends the process.
const UNTRANSLATED: [&str; 5] = [
    "CheckAccessFullyMapped",
    "GetRenderTargetSampleCount",
    "GetRenderTargetSamplePosition",
    "msad4",
    "noise",
];

/// The first of them that a text calls without defining a function of that name.
pub(super) fn untranslated(text: &str) -> Option<&'static str> {
    let tokens = tokens(text);
    let is_call = |at: usize| {
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        let is_own = before.is_some_and(|token| token.text == "." || token.text == ":");
        let opens = tokens.get(at + 1).is_some_and(|token| token.text == "(");
        opens && !is_own && parameters(&tokens, at).is_none()
    };
    let calls = |name: &str| (0..tokens.len()).any(|at| tokens[at].text == name && is_call(at));
    UNTRANSLATED.into_iter().find(|name| calls(name) && place(text, name).is_none())
}

fn functions(text: &str) -> Vec<Function<'_>> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].text == "{" {
            at = closing(&tokens, at).unwrap_or(tokens.len());
        } else if let Some(end) = parameters(&tokens, at) {
            let body = match tokens.get(end + 1).map(|token| token.text) {
                Some("{") => Some(tokens[end + 1].range.start..end_of_body(&tokens, end + 1, text)),
                Some(";") => None,
                _ => {
                    at = end;
                    continue;
                }
            };
            let place = tokens[at].range.clone();
            found.push(Function { name: tokens[at].text, place, body });
        }
        at += 1;
    }
    found
}

/// The closing parenthesis of a function's parameters, if a token is the function's name: a type precedes it.
fn parameters(tokens: &[Token], name: usize) -> Option<usize> {
    let ty = &tokens[name.checked_sub(1)?];
    let has_type = ty.is_word() && ty.text != "return" || ty.text == "]";
    let is_name = tokens[name].is_word() && tokens[name].text != "layout";
    let opens = tokens.get(name + 1).is_some_and(|token| token.text == "(");
    if has_type && is_name && opens { closing(tokens, name + 1) } else { None }
}

fn end_of_body(tokens: &[Token], opening: usize, text: &str) -> usize {
    closing(tokens, opening).map_or(text.len(), |end| tokens[end].range.end)
}
