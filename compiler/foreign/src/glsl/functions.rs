//! The functions of a GLSL text, where naga says too little of them: a call of one that is not known yet, one that is
//! declared and never defined, `main` with parameters.

use std::ops::Range;

use kps_syntax::{Diagnostic, Source};
use naga::Module;

use super::tokens::{Token, closing, tokens};
use crate::errors;

/// A function where it is declared or defined.
struct Function<'t> {
    name: &'t str,
    place: Range<usize>,
    has_parameters: bool,
    /// From brace to brace; `None` where it is declared alone.
    body: Option<Range<usize>>,
}

/// Why a function of the text cannot be called at a place; `None` where it could, with other arguments.
pub(super) fn not_callable(source: &Source, name: &str, call: naga::Span) -> Option<Diagnostic> {
    let location = errors::name_location(source, call);
    let at = location.span.start as usize;
    let functions = functions(source.text());
    let bodies: Vec<&Range<usize>> =
        functions.iter().filter(|one| one.name == name).filter_map(|one| one.body.as_ref()).collect();
    if bodies.iter().any(|body| body.contains(&at)) {
        return Some(errors::calls_itself(name, location));
    }
    let is_behind = !bodies.is_empty() && bodies.iter().all(|body| body.start > at);
    is_behind.then(|| errors::defined_behind(name, location))
}

/// Whether a text defines a function.
pub(super) fn is_defined(text: &str, name: &str) -> bool {
    functions(text).iter().any(|one| one.name == name)
}

/// The first line of a function that a text has, as it stands there.
pub(super) fn declaration<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let tokens = tokens(text);
    let at = functions(text).into_iter().find(|one| one.name == name)?.place.start;
    let at = tokens.iter().position(|token| token.range.start == at)?;
    let end = parameters(&tokens, at)?;
    Some(&text[tokens[at - 1].range.start..tokens[end].range.end])
}

/// Whether a function of the text has a parameter that is a struct.
pub(super) fn takes_struct(text: &str, name: &str) -> bool {
    let tokens = tokens(text);
    let structs = tokens.windows(2).filter(|pair| pair[0].text == "struct").map(|pair| pair[1].text);
    let structs: Vec<&str> = structs.collect();
    let words =
        |declared: &str| super::tokens::tokens(declared).iter().any(|one| structs.contains(&one.text));
    declaration(text, name).is_some_and(words)
}

/// A function that is declared and not defined: naga has it do nothing.
pub(super) fn undefined(source: &Source, module: &Module) -> Option<Diagnostic> {
    let does_nothing = |name: &str| {
        let mut functions = module.functions.iter().map(|(_, function)| function);
        functions.any(|function| function.name.as_deref() == Some(name) && function.body.is_empty())
    };
    let functions = functions(source.text());
    let is_undefined = |one: &&Function| {
        one.body.is_none()
            && does_nothing(one.name)
            && !functions.iter().any(|other| other.name == one.name && other.body.is_some())
    };
    let found = functions.iter().find(is_undefined)?;
    Some(errors::not_defined(found.name, errors::location(source, super::span(found.place.clone()))))
}

/// `main` where it has parameters, which naga takes for some other function.
pub(super) fn main_with_parameters(source: &Source) -> Option<Diagnostic> {
    let functions = functions(source.text());
    let main = functions.iter().find(|one| one.name == "main" && one.has_parameters)?;
    Some(errors::main_with_parameters(errors::location(source, super::span(main.place.clone()))))
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
            found.push(Function { name: tokens[at].text, place, has_parameters: end > at + 2, body });
        }
        at += 1;
    }
    found
}

/// The bracket behind a function's parameters, where a token is its name: its type stands before it.
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
