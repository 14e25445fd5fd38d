//! What is right in GLSL and refused by naga, with what can stand in its place: components of a matrix's column that
//! are assigned to (`m[i].x` for `m[i][0]`, `columns` for several), a constant of a function where a number must be known
//! (`float x[N]`), `const in` of a parameter, a matrix of one vector (`mat2(v)`), `continue` at the end of a `do`, and
//! what loops and branches say of themselves (`[[unroll]]`), arrays of structs as arguments (`arguments`), and constants
//! that lose bits as they are shifted (`shifts`).
//!
//! naga's mistake, or its module, and the text go in; the changes come out for which the text is read once more.

use std::ops::Range;

use naga::front::glsl::{Error, ErrorKind};
use naga::{Expression, Function, Module, TypeInner};

use super::places::Change;
use super::tokens::{Token, closing, tokens};
use super::{arguments, columns, loops, shifts};

/// What naga says of a constant that does not fit.
const OVERFLOW: &str = " operation overflowed";
const MATRIX: &str = "mat2";
const MATRIX_OF_VECTOR: &str = "kps_mat2";

/// What a text is to declare for its changes.
pub(super) fn declaration(changes: &[Change]) -> String {
    let matrix = match changes.iter().any(|change| change.text == MATRIX_OF_VECTOR) {
        true => format!("mat2 {MATRIX_OF_VECTOR}(vec4 v) {{ return mat2(v.xy, v.zw); }} "),
        false => String::new(),
    };
    matrix + &columns::declaration(changes)
}

/// What can stand where a mistake is; nothing for what is one.
pub(super) fn of_error(text: &str, error: &Error) -> Vec<Change> {
    let Some(place) = error.meta.to_range() else { return Vec::new() };
    let one = match &error.kind {
        ErrorKind::SemanticError(message) if message.starts_with("Can't lookup field on this type") => {
            match component(text, place.clone()) {
                None => return columns::assigned(text, place),
                change => change,
            }
        }
        ErrorKind::SemanticError(message) if message.starts_with("Unknown function") => {
            return arguments::spelled_out(text, place);
        }
        ErrorKind::SemanticError(message) if message.ends_with(OVERFLOW) => {
            return shifts::that_lose_bits(text);
        }
        ErrorKind::UnknownVariable(name) if text.get(place.clone()) == Some(name) => constant(text, place),
        ErrorKind::InvalidToken(..) if text.get(place.clone()) == Some("[") => return attributes(text),
        ErrorKind::InvalidToken(..) => second_qualifier(text, place),
        _ => None,
    };
    one.into_iter().collect()
}

/// Nothing for the second word of `const in`: either says all.
fn second_qualifier(text: &str, place: Range<usize>) -> Option<Change> {
    let tokens = tokens(text);
    let at = tokens.iter().position(|token| token.range == place)?;
    let before = tokens.get(at.checked_sub(1)?)?;
    let is_second = matches!((before.text, tokens[at].text), ("const", "in") | ("in", "const"));
    is_second.then(|| Change { place, text: String::new() })
}

/// Nothing for `[[unroll]]` and its kin: they change no result.
fn attributes(text: &str) -> Vec<Change> {
    let tokens = tokens(text);
    let opens = |at: usize| tokens[at].text == "[" && tokens.get(at + 1).is_some_and(|next| next.text == "[");
    let closings =
        (0..tokens.len()).filter(|at| opens(*at)).filter_map(|at| Some((at, closing(&tokens, at)?)));
    let place = |(at, end): (usize, usize)| tokens[at].range.start..tokens[end].range.end;
    closings.map(|ends| Change { place: place(ends), text: String::new() }).collect()
}

/// `.x` as `[0]`.
fn component(text: &str, place: Range<usize>) -> Option<Change> {
    let name = text.get(place.clone())?.strip_prefix('.')?.trim();
    let index =
        ["xyzw", "rgba", "stpq"].iter().find_map(|known| (name.len() == 1).then(|| known.find(name))?)?;
    Some(Change { place, text: format!("[{index}]") })
}

/// The name of a constant as its value.
fn constant(text: &str, place: Range<usize>) -> Option<Change> {
    let text = value(text, &tokens(text), &place)?;
    Some(Change { place, text })
}

/// The value of what a name stands for at a place, if a function's constant has that name.
fn value(text: &str, tokens: &[Token], place: &Range<usize>) -> Option<String> {
    let value = definition(tokens, &text[place.clone()], place.start)?;
    Some(format!("({})", spelled(text, tokens, value)?))
}

/// A part of a text with the values of the functions' constants in it.
pub(super) fn spelled(text: &str, tokens: &[Token], part: &[Token]) -> Option<String> {
    let mut spelled = String::new();
    let mut at = part.first()?.range.start;
    for token in part.iter().filter(|token| token.is_word()) {
        if let Some(inner) = value(text, tokens, &token.range) {
            spelled += &text[at..token.range.start];
            spelled += &inner;
            at = token.range.end;
        }
    }
    Some(spelled + &text[at..part.last()?.range.end])
}

/// The value with which a constant of a function is declared, the last one that can be seen from a place.
fn definition<'v, 't>(tokens: &'v [Token<'t>], name: &str, place: usize) -> Option<&'v [Token<'t>]> {
    let mut scopes: Vec<Vec<(&str, &[Token])>> = vec![Vec::new()];
    for (at, token) in tokens.iter().enumerate().take_while(|(_, token)| token.range.end <= place) {
        match token.text {
            "{" => scopes.push(Vec::new()),
            "}" => drop(scopes.pop()),
            "const" if scopes.len() > 1 => {
                let scope = scopes.last_mut()?;
                scope.extend(
                    declared(&tokens[at + 1..])
                        .filter(|(_, value)| value.last().is_some_and(|last| last.range.end <= place)),
                );
            }
            _ => {}
        }
    }
    let declared = scopes.iter().flatten().rev().find(|(known, _)| *known == name)?;
    // The slices are of `tokens`, whatever the scopes are.
    Some(declared.1)
}

/// The constants of a declaration behind `const`, as far as they are numbers, each with its value.
pub(super) fn declared<'v, 't>(tokens: &'v [Token<'t>]) -> impl Iterator<Item = (&'t str, &'v [Token<'t>])> {
    let is_of_number = tokens.first().is_some_and(|ty| ["int", "uint", "float", "bool"].contains(&ty.text));
    let mut rest = if is_of_number { &tokens[1..] } else { &[] };
    std::iter::from_fn(move || {
        let [name, equals, value @ ..] = rest else { return None };
        if equals.text != "=" {
            return None;
        }
        let mut depth = 0_usize;
        let end = value.iter().position(|token| {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && [",", ";"].contains(&token.text)
        })?;
        rest = if value[end].text == "," { &value[end + 1..] } else { &[] };
        Some((name.text, &value[..end]))
    })
}

/// What naga understood in another way than it is meant.
pub(super) fn of_module(text: &str, module: &Module) -> Vec<Change> {
    let functions = module.functions.iter().map(|(_, function)| function);
    let mut all = functions.chain(module.entry_points.iter().map(|entry| &entry.function));
    let change = all.find_map(|function| {
        matrix(text, module, function).or_else(|| loops::with_condition(text, function))
    });
    change.into_iter().collect()
}

/// A matrix of one vector, which naga takes for that of equal columns.
fn matrix(text: &str, module: &Module, function: &Function) -> Option<Change> {
    function.expressions.iter().find_map(|(handle, expression)| {
        let Expression::Compose { ty, components } = expression else { return None };
        let is_matrix = matches!(module.types[*ty].inner, TypeInner::Matrix { .. });
        let start = function.expressions.get_span(handle).to_range()?.start;
        let place = start..start + MATRIX.len();
        let are_equal = components.iter().all(|one| *one == components[0]);
        let is_meant = is_matrix && are_equal && text.get(place.clone())? == MATRIX;
        (is_meant && has_one_argument(&text[place.end..]))
            .then(|| Change { place, text: MATRIX_OF_VECTOR.to_owned() })
    })
}

/// Whether a text begins with one argument in brackets.
fn has_one_argument(text: &str) -> bool {
    let mut depth = 0_usize;
    for token in tokens(text) {
        match token.text {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "," if depth == 1 => return false,
            _ => {}
        }
        if depth == 0 {
            return token.text == ")";
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_of_one_vector_are_told() {
        assert!(has_one_argument("(cos(max(a, b) + v)) * mat2(1.0, 2.0)"));
        assert!(!has_one_argument("(v[f(1, 2)], w)"));
    }

    #[test]
    fn constants_are_spelled_out() {
        let check = |text: &str, expected: Option<&str>| {
            let at = text.find('@').expect("it has a mark");
            let text = text.replacen('@', "", 1);
            let end =
                text[at..].find(|letter: char| !letter.is_alphanumeric()).map_or(text.len(), |n| at + n);
            let found = constant(&text, at..end).map(|change| change.text);
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("void f() { const int N = 4; float x[@N]; }", Some("(4)"));
        check("void f() { const int N = 4, M = max(N, 2) * N; float x[@M]; }", Some("(max((4), 2) * (4))"));
        check("void f() { { const int N = 4; } float x[@N]; }", None);
        check("void f() { const int N = 4; { const uint N = 5u; float x[@N]; } }", Some("(5u)"));
        check("const int N = 4; void f() { float x[@N]; }", None);
        check("void f() { const int N[2] = int[](1, 2); float x[@N]; }", None);
    }
}
