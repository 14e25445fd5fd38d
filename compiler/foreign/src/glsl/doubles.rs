//! Literals that are doubles, `0.1lf`, which naga has none of: a variable of the module's own stands for each, which
//! nothing stores to, and outside of functions a number that naga takes for a constant. Both get their values in naga's
//! module.
//!
//! naga computes few constants that are doubles, and some not at all, so a `const` with such a literal becomes a
//! variable, too.

use std::ops::Range;

use kps_syntax::{Diagnostic, Source};
use naga::{Arena, Expression, Function, Handle, Literal, Module, Statement};

use super::places::Change;
use super::tokens::{Token, closing, tokens};
use crate::{errors, statements};

const NAME: &str = "kps_double_";

/// Whole numbers from here on stand for literals: odd enough to be in no text.
const FIRST_STAND_IN: u32 = 1_912_837_465;

/// The doubles of a text.
pub(super) struct Doubles {
    values: Vec<f64>,
    changes: Vec<Change>,
    /// Variables outside of functions that the text declares `const`.
    constants: Vec<String>,
}

impl Doubles {
    pub fn of(text: &str) -> Doubles {
        let mut found = Doubles { values: Vec::new(), changes: Vec::new(), constants: Vec::new() };
        let literals = literals(text);
        if literals.is_empty() {
            return found;
        }
        let tokens = tokens(text);
        for (place, value) in literals {
            match outside(&tokens, &place) {
                None => found.put(place, value, |at| format!("{NAME}{at}")),
                Some(declaration) if is_plain(declaration, &place) => {
                    found.put(place, value, stand_in);
                    found.let_vary(declaration);
                }
                // naga refuses what it would have to compute there.
                Some(_) => {}
            }
        }
        found
    }

    fn put(&mut self, place: Range<usize>, value: f64, text: impl Fn(usize) -> String) {
        let known = self.values.iter().position(|one| one.to_bits() == value.to_bits());
        let at = known.unwrap_or(self.values.len());
        if at == self.values.len() {
            self.values.push(value);
        }
        self.changes.push(Change { place, text: text(at) });
    }

    /// Takes the `const` of a declaration away.
    fn let_vary(&mut self, declaration: &[Token]) {
        let word = declaration.first().filter(|first| first.text == "const");
        let Some(place) = word.map(|word| word.range.clone()) else { return };
        if self.changes.iter().any(|change| change.place == place) {
            return;
        }
        self.changes.push(Change { place, text: String::new() });
        let names =
            declaration.windows(2).filter(|pair| pair[0].is_word() && ["=", "["].contains(&pair[1].text));
        self.constants.extend(names.map(|pair| pair[0].text.to_owned()));
    }

    /// What stands for the literals.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    pub fn declaration(&self) -> String {
        let declared = |at| format!("double {NAME}{at} = {}; ", stand_in(at));
        (0..self.values.len()).map(declared).collect()
    }

    /// Puts the values in.
    pub fn define(&self, module: &mut Module) {
        self.put_values(&mut module.global_expressions);
        let functions = module.functions.iter_mut().map(|(_, function)| function);
        for function in functions.chain(module.entry_points.iter_mut().map(|entry| &mut entry.function)) {
            self.put_values(&mut function.expressions);
        }
    }

    fn put_values(&self, expressions: &mut Arena<Expression>) {
        for (_, expression) in expressions.iter_mut() {
            if let Expression::Literal(Literal::F64(number)) = expression
                && let Some(value) = self.value_of(*number)
            {
                *number = value;
            }
        }
    }

    /// What a number stands for, which may have been negated.
    fn value_of(&self, number: f64) -> Option<f64> {
        let at = number.abs() - f64::from(FIRST_STAND_IN);
        let is_index = at >= 0.0 && at.fract() == 0.0;
        let value = self.values.get(at as usize).filter(|_| is_index)?;
        Some(value.copysign(number))
    }

    /// An assignment to a variable that the text declares `const`.
    pub fn assigned(&self, source: &Source, module: &Module) -> Option<Diagnostic> {
        let functions = module.functions.iter().map(|(_, function)| function);
        let mut all = functions.chain(module.entry_points.iter().map(|entry| &entry.function));
        all.find_map(|function| {
            statements::find(&function.body, &|statement, span| {
                let Statement::Store { pointer, .. } = statement else { return None };
                let name = variable(module, function, *pointer)?;
                let is_constant = self.constants.iter().any(|one| one == name);
                is_constant.then(|| errors::not_assignable(name, errors::location(source, span)))
            })
        })
    }
}

fn stand_in(at: usize) -> String {
    format!("double({})", FIRST_STAND_IN as usize + at)
}

/// The variable outside of functions that an address leads into.
fn variable<'m>(module: &'m Module, function: &Function, pointer: Handle<Expression>) -> Option<&'m str> {
    match function.expressions[pointer] {
        Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => {
            variable(module, function, base)
        }
        Expression::GlobalVariable(variable) => module.global_variables[variable].name.as_deref(),
        _ => None,
    }
}

/// The literals of a text that end in `lf`, those of its macros too.
fn literals(text: &str) -> Vec<(Range<usize>, f64)> {
    let ends = text.match_indices("lf").chain(text.match_indices("LF"));
    let literal = |(end, suffix): (usize, &str)| {
        let behind = end + suffix.len();
        if text[behind..].starts_with(|letter: char| letter.is_alphanumeric() || letter == '_') {
            return None;
        }
        let before = &text.as_bytes()[..end];
        let is_of_number = |at: usize| match before[at] {
            b'+' | b'-' => at > 0 && matches!(before[at - 1], b'e' | b'E'),
            letter => letter.is_ascii_alphanumeric() || letter == b'.' || letter == b'_',
        };
        let start = (0..end).rev().take_while(|at| is_of_number(*at)).last()?;
        let digits = &text[start..end];
        let is_float =
            digits.contains(['.', 'e', 'E']) && !digits.starts_with(|letter: char| letter.is_alphabetic());
        Some((start..behind, digits.parse().ok().filter(|_| is_float)?))
    };
    ends.filter_map(literal).collect()
}

/// The declaration that a place stands in, if it is one outside of functions.
fn outside<'t, 's>(tokens: &'t [Token<'s>], place: &Range<usize>) -> Option<&'t [Token<'s>]> {
    let mut start = 0;
    while start < tokens.len() {
        let mut end = start;
        while end < tokens.len() && ![";", "{"].contains(&tokens[end].text) {
            end += 1;
        }
        let has_value = tokens[start..end].iter().any(|token| token.text == "=");
        if tokens.get(end)?.text == "{" && has_value {
            end = (end..tokens.len()).find(|at| tokens[*at].text == ";")?;
        } else if tokens[end].text == "{" {
            start = closing(tokens, end)? + 1;
            continue;
        }
        if tokens[start].range.start < place.start && place.end <= tokens[end].range.start {
            return Some(&tokens[start..end]);
        }
        start = end + 1;
    }
    None
}

/// Whether nothing is computed with the literal: it is a value, or one of those that a vector, a matrix or an array is
/// made of.
fn is_plain(declaration: &[Token], place: &Range<usize>) -> bool {
    let Some(first) = declaration.iter().position(|token| place.contains(&token.range.start)) else {
        return false;
    };
    let n_tokens = declaration[first..].iter().take_while(|token| place.contains(&token.range.start)).count();
    let signed = if declaration[first - 1].text == "-" { first - 1 } else { first };
    let is_before = signed > 0 && ["=", ",", "(", "{"].contains(&declaration[signed - 1].text);
    let is_behind =
        declaration.get(first + n_tokens).is_none_or(|behind| [",", ")", "}"].contains(&behind.text));
    let is_made_of = |call: &[Token]| call[1].text != "(" || !call[0].is_word() || is_type(call[0].text);
    is_before && is_behind && declaration[..first].windows(2).all(is_made_of)
}

fn is_type(word: &str) -> bool {
    word == "double" || word.starts_with("dvec") || word.starts_with("dmat")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_end_in_lf() {
        let check = |text: &str, expected: &[(&str, f64)]| {
            let found = literals(text);
            let found: Vec<(&str, f64)> =
                found.into_iter().map(|(place, value)| (&text[place], value)).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("x=0.1lf+.5LF", &[("0.1lf", 0.1), (".5LF", 0.5)]);
        check("1e-3lf-2.lf", &[("1e-3lf", 1e-3), ("2.lf", 2.0)]);
        check("x.lf half self 1lf 1.0lfx e1lf 0x1.0lf", &[]);
    }

    #[test]
    fn values_outside_of_functions_are_not_computed() {
        let check = |text: &str, expected: Option<bool>| {
            let place = literals(text).remove(0).0;
            assert_eq!(outside(&tokens(text), &place).map(|all| is_plain(all, &place)), expected, "{text}");
        };
        check("int i; const double k = 0.1lf;", Some(true));
        check("void f() { int i; } const double k = -0.1lf, l = 2;", Some(true));
        check("const dvec2 k[1] = dvec2[](dvec2(1, 0.1lf));", Some(true));
        check("const double k = 2 * 0.1lf;", Some(false));
        check("const double k = sqrt(0.1lf);", Some(false));
        check("void f() { if (i) { i = 0.1lf; } }", None);
    }
}
