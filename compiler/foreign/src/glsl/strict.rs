//! What GLSL does not allow and naga takes: vectors of more values than they have components, `%` of floats, a size of
//! the workgroup that is not said `in`, and a text that does not say its version.
//!
//! The text and its module go in, and the first such mistake comes out. naga computes constants at once, so what is told
//! hangs on the places of expressions alone, and what macros stand for is left as it is.

use std::ops::Range;

use kps_syntax::{Diagnostic, Source};
use naga::front::Typifier;
use naga::proc::ResolveContext;
use naga::{Arena, Expression, Function, Module, ScalarKind, TypeInner};

use super::span;
use super::tokens::{Token, closing, tokens};
use crate::errors;

pub(super) fn mistake(source: &Source, module: &Module) -> Option<Diagnostic> {
    let text = source.text();
    let tokens = tokens(text);
    let all = typed(module);
    let at = |place: Range<usize>| errors::location(source, span(place));
    let surplus = all.iter().find_map(|one| surplus(text, one));
    surplus
        .map(|(n_components, place)| errors::too_many_components(n_components, at(place)))
        .or_else(|| float_remainder(&tokens, &all).map(|place| errors::float_remainder(at(place))))
        .or_else(|| size_without_in(&tokens).map(|place| errors::size_without_in(at(place))))
        .or_else(|| no_version(text, &tokens).map(|place| errors::no_version(at(place))))
}

/// An expression that has a place: what it is of.
struct Typed {
    place: Range<usize>,
    is_float: bool,
    /// Of a vector that is made of values.
    n_components: Option<usize>,
}

fn typed(module: &Module) -> Vec<Typed> {
    let nothing = (Arena::new(), Function::default());
    let mut all = Vec::new();
    let global = ResolveContext::with_locals(module, &nothing.0, &nothing.1.arguments);
    all.extend(typed_of(module, &module.global_expressions, &global));
    let functions = module.functions.iter().map(|(_, function)| function);
    for function in functions.chain(module.entry_points.iter().map(|entry| &entry.function)) {
        let context = ResolveContext::with_locals(module, &function.local_variables, &function.arguments);
        all.extend(typed_of(module, &function.expressions, &context));
    }
    all
}

fn typed_of(module: &Module, expressions: &Arena<Expression>, context: &ResolveContext) -> Vec<Typed> {
    let mut typifier = Typifier::new();
    let mut typed = Vec::new();
    for (handle, expression) in expressions.iter() {
        // What naga cannot tell the type of, it refuses later on.
        if typifier.grow(handle, expressions, context).is_err() {
            break;
        }
        let inner = typifier.get(handle, &module.types);
        let n_components = match (expression, inner) {
            (Expression::Compose { .. }, TypeInner::Vector { size, .. }) => Some(*size as usize),
            _ => None,
        };
        let is_float = match inner {
            TypeInner::Scalar(scalar) | TypeInner::Vector { scalar, .. } => scalar.kind == ScalarKind::Float,
            _ => false,
        };
        let place = expressions.get_span(handle).to_range();
        typed.extend(place.map(|place| Typed { place, is_float, n_components }));
    }
    typed
}

/// How many components a vector has that is given a value too many, and where that stands.
fn surplus(text: &str, vector: &Typed) -> Option<(usize, Range<usize>)> {
    let n_components = vector.n_components?;
    let tokens = tokens(text.get(vector.place.clone())?);
    let is_constructor = constructed(tokens.first()?.text)? == n_components;
    if !is_constructor || closing(&tokens, 1)? + 1 != tokens.len() {
        return None;
    }
    let mut n_given = 0;
    for value in values(&tokens[2..tokens.len() - 1]) {
        if n_given >= n_components {
            let (start, end) = (value.first()?.range.start, value.last()?.range.end);
            return Some((n_components, vector.place.start + start..vector.place.start + end));
        }
        n_given += n_components_of(value);
    }
    None
}

/// How many components the vector has that a word makes.
fn constructed(word: &str) -> Option<usize> {
    let n_components = word.strip_prefix(['b', 'i', 'u', 'd']).unwrap_or(word).strip_prefix("vec")?;
    n_components.parse().ok()
}

/// At least so many.
fn n_components_of(value: &[Token]) -> usize {
    let is_whole = closing(value, 1).is_some_and(|end| end + 1 == value.len());
    value.first().filter(|_| is_whole).and_then(|first| constructed(first.text)).unwrap_or(1)
}

/// What commas part, outside of brackets.
fn values<'v, 't>(tokens: &'v [Token<'t>]) -> Vec<&'v [Token<'t>]> {
    let mut depth = 0_usize;
    let is_comma = |token: &Token| {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.text == ","
    };
    tokens.split(is_comma).collect()
}

/// A `%` with a float on one of its sides.
fn float_remainder(tokens: &[Token], all: &[Typed]) -> Option<Range<usize>> {
    let is_of_float = |at: &usize| {
        let (Some(before), Some(mut behind)) = (tokens.get(at.wrapping_sub(1)), tokens.get(at + 1)) else {
            return false;
        };
        if behind.text == "="
            && let Some(value) = tokens.get(at + 2)
        {
            behind = value;
        }
        // The operand on the right is the longest expression that begins there, that on the left the longest product.
        let right = all.iter().filter(|one| one.place.start == behind.range.start);
        let longest = right.clone().map(|one| one.place.end).max();
        let is_right = right.filter(|one| Some(one.place.end) == longest).any(|one| one.is_float);
        let is_left = all.iter().any(|one| one.place.end == before.range.end && one.is_float);
        is_right || is_left && longest.is_some()
    };
    let at = (0..tokens.len()).filter(|at| tokens[*at].text == "%").find(is_of_float)?;
    Some(tokens[at].range.clone())
}

/// `layout(local_size_x = 64);`
fn size_without_in(tokens: &[Token]) -> Option<Range<usize>> {
    let layouts = (0..tokens.len()).filter(|at| tokens[*at].text == "layout");
    layouts.filter_map(|at| Some((at, closing(tokens, at + 1)?))).find_map(|(at, end)| {
        let says_size = tokens[at..end].iter().any(|token| token.text.starts_with("local_size_"));
        let is_alone = tokens.get(end + 1).is_some_and(|token| token.text == ";");
        (says_size && is_alone).then(|| tokens[at].range.start..tokens[end].range.end)
    })
}

/// The first word of a text that does not say its version.
fn no_version(text: &str, tokens: &[Token]) -> Option<Range<usize>> {
    (!text.contains("#version")).then_some(tokens.first()?.range.clone())
}
