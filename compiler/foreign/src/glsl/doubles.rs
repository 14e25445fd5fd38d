//! Literals that are doubles, `0.1lf`, which naga has none of: a variable of the module's own stands for each, which
//! nothing stores to, and outside of functions a number that naga takes for a constant. Both get their values in naga's
//! module.
//!
//! naga computes few constants that are doubles, and some not at all: what they come to is computed here (`folded`), and
//! a `const` of doubles becomes a variable, too.

use std::ops::Range;

use kps_syntax::{Diagnostic, Source};
use naga::{Arena, Expression, Function, Handle, Literal, Module, Statement};

use super::folded::{Names, number};
use super::places::Change;
use super::tokens::{Token, closing, parts, place, tokens};
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
        if literals.is_empty() && !text.contains("double") && !text.contains("const dvec") {
            return found;
        }
        let tokens = tokens(text);
        let declarations = declarations(&tokens);
        let mut names = Names::with_macros_of(text);
        declarations.iter().for_each(|one| found.declaration_of(text, one, &mut names));
        for (place, value) in literals {
            let is_within = |declaration: &&[Token]| {
                let [first, .., last] = declaration else { return false };
                first.range.start < place.start && place.end <= last.range.end
            };
            // naga refuses what it would have to compute there.
            if !declarations.iter().any(is_within) {
                found.put(place, value, |at| format!("{NAME}{at}"));
            }
        }
        found
    }

    /// Computes what is declared outside of functions, as far as doubles have a part in it.
    fn declaration_of<'t>(&mut self, text: &'t str, declaration: &[Token<'t>], names: &mut Names<'t>) {
        let is_constant = declaration[0].text == "const";
        let Some((ty, rest)) = declaration[usize::from(is_constant)..].split_first() else { return };
        let mut are_known = true;
        for one in parts(rest) {
            let Some(equals) = one.iter().position(|token| token.text == "=") else { continue };
            let value = &one[equals + 1..];
            are_known &= self.value(text, value, of_doubles(ty.text), names);
            if is_constant
                && equals == 1
                && let Some(known) = place(value).and_then(|place| number(&text[place], names))
                && let Some(number) = known.number.to(ty.text)
            {
                names.define(one[0].text, number);
            }
        }
        if is_constant && of_doubles(ty.text) && are_known {
            self.let_vary(declaration);
        }
    }

    /// Puts numbers into a value: for the value itself, or for those that a vector, a matrix or an array is made of.
    /// Whether all of them are known.
    fn value(&mut self, text: &str, value: &[Token], is_of_doubles: bool, names: &Names) -> bool {
        let Some(place) = place(value) else { return false };
        if let Some(known) = number(&text[place.clone()], names) {
            match known.number.written() {
                _ if is_of_doubles => self.put(place, known.number.value(), stand_in),
                Some(text) if known.is_of_doubles => self.changes.push(Change { place, text }),
                _ => {}
            }
            return true;
        }
        let first = &value[0];
        let opening = value.iter().position(|token| ["(", "{"].contains(&token.text));
        let is_whole = opening.is_some_and(|at| closing(value, at) == Some(value.len() - 1));
        let (Some(opening), true) = (opening.filter(|_| is_whole), !first.is_word() || is_type(first.text))
        else {
            return false;
        };
        let is_of_doubles = if first.is_word() { of_doubles(first.text) } else { is_of_doubles };
        let mut are_known = true;
        for part in parts(&value[opening + 1..value.len() - 1]) {
            are_known &= self.value(text, part, is_of_doubles, names);
        }
        are_known
    }

    fn put(&mut self, place: Range<usize>, value: f64, text: impl Fn(usize) -> String) {
        let known = self.values.iter().position(|one| one.to_bits() == value.to_bits());
        let at = known.unwrap_or(self.values.len());
        if at == self.values.len() {
            self.values.push(value);
        }
        self.changes.push(Change { place, text: text(at) });
    }

    /// Takes the `const` of a declaration away, which it begins with.
    fn let_vary(&mut self, declaration: &[Token]) {
        self.changes.push(Change { place: declaration[0].range.clone(), text: String::new() });
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
        Some(if number < 0.0 { -value } else { *value })
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

/// The declarations with values outside of functions, each up to where the next one begins.
fn declarations<'t, 's>(tokens: &'t [Token<'s>]) -> Vec<&'t [Token<'s>]> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < tokens.len() {
        let end_of = |from: usize, ends: &[&str]| {
            (from..tokens.len()).find(|at| ends.contains(&tokens[*at].text)).unwrap_or(tokens.len())
        };
        let mut end = end_of(start, &[";", "{"]);
        let has_value = tokens[start..end].iter().any(|token| token.text == "=");
        if end < tokens.len() && tokens[end].text == "{" {
            match closing(tokens, end) {
                Some(closed) if !has_value => {
                    start = closed + 1;
                    continue;
                }
                Some(_) => end = end_of(end, &[";"]),
                None => return found,
            }
        }
        if has_value {
            found.push(&tokens[start..end]);
        }
        start = end + 1;
    }
    found
}

fn of_doubles(ty: &str) -> bool {
    ty == "double" || ty.starts_with("dvec") || ty.starts_with("dmat")
}

/// Whether a word names a type that is made of numbers.
fn is_type(word: &str) -> bool {
    let name = word.strip_prefix(['d', 'i', 'u', 'b']).unwrap_or(word);
    let is_scalar = ["double", "float", "int", "uint"].contains(&word);
    is_scalar || name.starts_with("vec") || name.starts_with("mat")
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
    fn values_outside_of_functions_are_computed() {
        let check = |text: &str, expected: &[(&str, f64)]| {
            let found = Doubles::of(text);
            let known = found.changes.iter().filter(|change| change.text.starts_with("double("));
            let known: Vec<(&str, f64)> =
                known.map(|change| &text[change.place.clone()]).zip(found.values.iter().copied()).collect();
            assert_eq!(known, expected, "{text}");
        };
        check("int i; const double k = 0.1lf;", &[("0.1lf", 0.1)]);
        check(
            "void f() { int i; } const double k = -0.1lf, l = k * 2;",
            &[("-0.1lf", -0.1), ("k * 2", -0.2)],
        );
        check("const dvec2 k[1] = dvec2[](dvec2(1, 0.1lf));", &[("1", 1.0), ("0.1lf", 0.1)]);
        check("const double k = sqrt(0.1lf);", &[]);
        check("void f() { if (i) { i = 0.1lf; } }", &[]);
        check("buffer O { double o[]; }; const float k = float(0.5lf) * 3;", &[]);
    }
}
