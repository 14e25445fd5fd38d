//! `bitCount`, `findLSB` and `findMSB` of unsigned numbers: they give an `int`, where naga has a `uint`, for which
//! `findMSB(x) < 0` never holds.
//!
//! A text that uses them goes in; one as long comes out, with a macro where its version stood. That declares functions
//! of these names, and in naga's module they get what they do. They have no places, so all that they do belongs to
//! the lines of their calls.

use std::borrow::Cow;
use std::ops::Range;

use naga::{Arena, Block, Expression, Function, MathFunction, Module, ScalarKind, Span, Statement};

use super::functions::is_defined;
use super::tokens::tokens;

/// The macro; its name is as long as the shortest `#version 450`.
const MACRO: &str = "kps_counting";

const FUNCTIONS: [(&str, MathFunction); 3] = [
    ("bitCount", MathFunction::CountOneBits),
    ("findLSB", MathFunction::FirstTrailingBit),
    ("findMSB", MathFunction::FirstLeadingBit),
];

/// The functions that a text uses and does not define.
pub(super) struct Counts {
    used: Vec<(&'static str, MathFunction)>,
    version: Range<usize>,
}

impl Counts {
    /// None in a text without a version, or with one that naga does not know.
    pub fn of(text: &str) -> Counts {
        let is_used = |name: &str| text.contains(name) && tokens(text).iter().any(|token| token.text == name);
        let used = FUNCTIONS.into_iter().filter(|(name, _)| is_used(name) && !is_defined(text, name));
        match version(text) {
            Some(version) => Counts { used: used.collect(), version },
            None => Counts { used: Vec::new(), version: 0..0 },
        }
    }

    /// The text with the macro in it.
    pub fn mark<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.used.is_empty() {
            return text.into();
        }
        let Range { start, end } = self.version;
        let blank = " ".repeat(end - start - MACRO.len());
        [&text[..start], MACRO, &blank, &text[end..]].concat().into()
    }

    /// The macro with what it stands for.
    pub fn declaration(&self) -> (String, String) {
        (MACRO.to_owned(), self.used.iter().map(|(name, _)| overloads(name)).collect())
    }

    /// Lets the declared functions count.
    pub fn define(&self, module: &mut Module) {
        for (_, function) in module.functions.iter_mut() {
            let name = function.name.as_deref();
            if let Some((_, count)) = self.used.iter().find(|(known, _)| name == Some(known)) {
                define(function, *count);
            }
        }
    }
}

/// Where a text tells its version.
fn version(text: &str) -> Option<Range<usize>> {
    let start = text.find('#')?;
    let line = text[start..].lines().next()?.trim_end();
    let (number, profile) = line.strip_prefix("#version ")?.split_at_checked(3)?;
    let is_known = ["440", "450", "460"].contains(&number) && ["", " core"].contains(&profile);
    (is_known && tokens(&text[..start]).is_empty()).then_some(start..start + line.len())
}

fn overloads(name: &str) -> String {
    const TYPES: [(&str, &str); 4] =
        [("int", "uint"), ("ivec2", "uvec2"), ("ivec3", "uvec3"), ("ivec4", "uvec4")];
    let overload = |(signed, unsigned)| format!("{signed} {name}({unsigned} x) {{ return {signed}(0); }} ");
    TYPES.into_iter().map(overload).collect()
}

fn define(function: &mut Function, fun: MathFunction) {
    let mut expressions = Arena::new();
    let mut add = |expression| expressions.append(expression, Span::UNDEFINED);
    let arg = add(Expression::FunctionArgument(0));
    let count = add(Expression::Math { fun, arg, arg1: None, arg2: None, arg3: None });
    let signed = add(Expression::As { expr: count, kind: ScalarKind::Sint, convert: Some(4) });
    let emit = Statement::Emit(naga::Range::new_from_bounds(count, signed));
    function.expressions = expressions;
    function.body = Block::from_vec(vec![emit, Statement::Return { value: Some(signed) }]);
}
