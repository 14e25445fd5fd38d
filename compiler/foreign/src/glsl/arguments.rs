//! Arrays of structs as arguments, `f(s.values)`: naga lays an array out in a struct as in uniform blocks, and takes it
//! for none that a function has as a parameter. Its elements can be written out: `f(float[2](s.values[0], s.values[1]))`.

use std::ops::Range;

use super::functions;
use super::places::Change;
use super::tokens::{Token, closing, parts, place, tokens};

/// More elements than that are not written out.
const MAX_LENGTH: usize = 256;

/// Such arguments of a call, if the text has one function by that name.
pub(super) fn spelled_out(text: &str, call: Range<usize>) -> Vec<Change> {
    let tokens = tokens(text);
    let at = tokens.iter().position(|token| token.range.start == call.start);
    let called = at.and_then(|at| {
        let end = closing(&tokens, at + 1)?;
        Some((functions::declaration(text, tokens[at].text)?, &tokens[at + 2..end]))
    });
    let Some((declaration, arguments)) = called else { return Vec::new() };
    let declared = self::tokens(declaration);
    let Some(opening) = declared.iter().position(|token| token.text == "(") else { return Vec::new() };
    let parameters = parts(&declared[opening + 1..declared.len() - 1]);
    parameters.zip(parts(arguments)).filter_map(|(one, argument)| elements(text, one, argument)).collect()
}

/// The elements of an argument as what its parameter is.
fn elements(text: &str, parameter: &[Token], argument: &[Token]) -> Option<Change> {
    let (ty, length) = array(parameter)?;
    let is_member = argument.iter().any(|token| token.text == ".");
    let is_path = |token: &Token| token.is_word() || [".", "[", "]"].contains(&token.text);
    let place = place(argument).filter(|_| is_member && argument.iter().all(is_path))?;
    let argument = &text[place.clone()];
    let elements: Vec<String> = (0..length).map(|at| format!("{argument}[{at}]")).collect();
    Some(Change { place, text: format!("{ty}[{length}]({})", elements.join(", ")) })
}

/// The type of a parameter's elements and their number, if it is an array that the function does not change:
/// `float x[2]`, `const in float[2] x`.
fn array<'t>(parameter: &[Token<'t>]) -> Option<(&'t str, usize)> {
    let qualifiers = parameter.iter().take_while(|token| ["const", "in"].contains(&token.text)).count();
    let (ty, length) = match &parameter[qualifiers..] {
        [ty, open, length, close, _] | [ty, _, open, length, close]
            if (open.text, close.text) == ("[", "]") =>
        {
            (ty, length)
        }
        _ => return None,
    };
    Some((ty.text, length.text.parse().ok().filter(|length| *length <= MAX_LENGTH)?))
}
