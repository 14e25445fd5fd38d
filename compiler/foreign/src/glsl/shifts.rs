//! Constants that lose bits as they are shifted to the left, `255 << 24`: GLSL drops the bits, naga refuses the shift.
//! Each is written as the number that it comes to, in what macros stand for, too.

use super::folded::{Macro, Names, Number, macros, number};
use super::mends::declared;
use super::places::Change;
use super::tokens::{Token, place, tokens};

/// The shifts of a text that lose bits, as far as both their sides are known.
pub(super) fn that_lose_bits(text: &str) -> Vec<Change> {
    let outside = tokens(text);
    let names = names(text, &outside);
    let mut found = shifts(text, &outside, &names);
    for Macro { body, start, .. } in macros(text) {
        let within = shifts(body, &tokens(body), &names);
        let moved = |one: Change| Change { place: one.place.start + start..one.place.end + start, ..one };
        found.extend(within.into_iter().map(moved));
    }
    found
}

/// Macros, and constants whose name nothing else has.
fn names<'t>(text: &'t str, tokens: &[Token<'t>]) -> Names<'t> {
    let mut names = Names::with_macros_of(text);
    let is_declared = |at: usize| {
        let is = |at: usize, among: &[&str]| tokens.get(at).is_some_and(|token| among.contains(&token.text));
        let before = at.wrapping_sub(1);
        match is(before, &[","]) {
            // Among other variables, or among arguments: who knows.
            true => is(at + 1, &["=", ",", ";", "["]),
            false => {
                tokens.get(before).is_some_and(Token::is_word) && !is(before, &["return", "case", "else"])
            }
        }
    };
    for (at, _) in tokens.iter().enumerate().filter(|(_, token)| token.text == "const") {
        for (name, value) in declared(&tokens[at + 1..]) {
            let n_declared =
                (0..tokens.len()).filter(|at| tokens[*at].text == name && is_declared(*at)).count();
            let known = place(value).and_then(|place| number(&text[place], &names));
            let known = known.and_then(|known| known.number.to(tokens[at + 1].text));
            if let Some(known) = known.filter(|_| n_declared < 2) {
                names.define(name, known);
            }
        }
    }
    names
}

fn shifts(text: &str, tokens: &[Token], names: &Names) -> Vec<Change> {
    let is_shift = |at: usize| {
        let [first, second] = &tokens[at..at + 2] else { return false };
        first.text == "<" && second.text == "<" && first.range.end == second.range.start
    };
    let shifts = (0..tokens.len().saturating_sub(1)).filter(|at| is_shift(*at));
    shifts
        .filter_map(|at| shifted(text, left_of(&tokens[..at]), right_of(&tokens[at + 2..]), names))
        .collect()
}

/// A constant that loses bits as it is shifted, as what is left of it.
fn shifted(text: &str, value: &[Token], amount: &[Token], names: &Names) -> Option<Change> {
    let (value, amount) = (place(value)?, place(amount)?);
    let known = |side| number(&text[side], names).map(|known| known.number);
    let bits = match known(amount.clone())? {
        Number::Int(amount) => u32::try_from(amount).ok()?,
        Number::Uint(amount) => amount,
        _ => return None,
    };
    let text = match known(value.clone())? {
        Number::Int(value) => {
            let kept = value.checked_shl(bits)?;
            (kept >> bits != value).then(|| format!("int({}u)", kept.cast_unsigned()))?
        }
        Number::Uint(value) => {
            let kept = value.checked_shl(bits)?;
            (kept >> bits != value).then(|| format!("{kept}u"))?
        }
        _ => return None,
    };
    Some(Change { place: value.start..amount.end, text })
}

/// What binds less than a shift, and so ends its sides.
const WEAKER: [&str; 11] = ["<", ">", "=", "!", "&", "^", "|", "?", ":", ",", ";"];
const OPENING: [&str; 3] = ["(", "[", "{"];
const CLOSING: [&str; 3] = [")", "]", "}"];
const STATEMENTS: [&str; 3] = ["return", "case", "else"];

/// What is shifted, up to the shift.
fn left_of<'t, 's>(tokens: &'t [Token<'s>]) -> &'t [Token<'s>] {
    let mut depth = 0_usize;
    let before = tokens.iter().rposition(|token| match token.text {
        closing if CLOSING.contains(&closing) => {
            // A brace ends a statement.
            let ends = depth == 0 && closing == "}";
            depth += 1;
            ends
        }
        opening if OPENING.contains(&opening) => match depth.checked_sub(1) {
            Some(outer) => {
                depth = outer;
                false
            }
            None => true,
        },
        other => depth == 0 && (WEAKER.contains(&other) || STATEMENTS.contains(&other)),
    });
    &tokens[before.map_or(0, |at| at + 1)..]
}

/// By how much, behind the shift.
fn right_of<'t, 's>(tokens: &'t [Token<'s>]) -> &'t [Token<'s>] {
    let mut depth = 0_usize;
    let behind = tokens.iter().position(|token| match token.text {
        opening if OPENING.contains(&opening) => {
            depth += 1;
            false
        }
        closing if CLOSING.contains(&closing) => match depth.checked_sub(1) {
            Some(outer) => {
                depth = outer;
                false
            }
            None => true,
        },
        other => depth == 0 && WEAKER.contains(&other),
    });
    &tokens[..behind.unwrap_or(tokens.len())]
}

#[cfg(test)]
mod tests {
    use super::super::places::change;
    use super::that_lose_bits;

    #[test]
    fn bits_are_dropped() {
        let check = |text: &str, expected: &str| {
            assert_eq!(change(text, that_lose_bits(text)).text, expected);
        };
        check("x = 255 << 24;", "x = int(4278190080u);");
        check("x = 3 + 255 << 24 | 1;", "x = int(33554432u) | 1;");
        check("x = f(64u << (20 + 9), y << 3);", "x = f(0u, y << 3);");
        check(
            "x = 127 << 24; y = a << 24; z = a * 255 << 24;",
            "x = 127 << 24; y = a << 24; z = a * 255 << 24;",
        );
        check("#define A 255\nx = A << 24;", "#define A 255\nx = int(4278190080u);");
        check("#define A (255 << 24)\nx = A;", "#define A (int(4278190080u))\nx = A;");
        check("#define A(n) (n << 24)\nx = A(255);", "#define A(n) (n << 24)\nx = A(255);");
        check("const int C = 200; { x = C << 24; }", "const int C = 200; { x = int(3355443200u); }");
        check(
            "const int C = 200; void f(int C) { x = C << 24; }",
            "const int C = 200; void f(int C) { x = C << 24; }",
        );
    }
}
