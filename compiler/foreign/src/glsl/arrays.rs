//! Arrays of arrays: `float tile[16][17]` is 16 arrays of 17, and naga reads the lengths from the other end.
//!
//! A text goes in; one as long comes out, in which the lengths of each such declaration have changed places. Indices stay
//! as they are, and so do the lengths in macros.

use std::ops::Range;

use super::tokens::{Token, closing, tokens};

/// The text with the lengths as naga reads them.
pub(super) fn turn_lengths(text: &str) -> String {
    let mut turned = text.to_owned();
    // Most texts have none, and are not looked at any further.
    if !text.contains("][") && !text.contains("] [") {
        return turned;
    }
    let tokens = tokens(text);
    let mut at = 0;
    while at < tokens.len() {
        let groups = groups(&tokens, at);
        if groups.len() > 1 && is_declared(&tokens, at, at + groups.iter().map(Range::len).sum::<usize>()) {
            turn(&mut turned, text, &tokens, &groups);
        }
        at += groups.iter().map(Range::len).sum::<usize>().max(1);
    }
    turned
}

/// The name of a variable that is declared behind an array, `b` in `float a[2], b`: naga gives it the array's type.
pub(super) fn behind_array(text: &str) -> Option<Range<usize>> {
    let tokens = tokens(text);
    (0..tokens.len()).find_map(|at| {
        let groups = groups(&tokens, at);
        let end = groups.last()?.end;
        if is_type(tokens[at.checked_sub(1)?].text)
            || !is_declared(&tokens, at, end)
            || is_member(&tokens, at)
        {
            return None;
        }
        let comma = end_of_declarator(&tokens, end)?;
        let name = tokens.get(comma + 1).filter(|name| tokens[comma].text == "," && name.is_word())?;
        Some(name.range.clone())
    })
}

/// The comma or semicolon behind a variable and its value; there is none behind a parameter.
fn end_of_declarator(tokens: &[Token], start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            "," | ";" if depth == 0 => return is_in_declaration(tokens, at).then_some(at),
            _ => {}
        }
    }
    None
}

/// Whether what stands at a token is a member of a struct or a block: no function's name stands before its brace.
fn is_member(tokens: &[Token], at: usize) -> bool {
    let mut depth = 0_usize;
    let opening = tokens[..at].iter().rposition(|token| {
        match token.text {
            "}" => depth += 1,
            "{" if depth == 0 => return true,
            "{" => depth -= 1,
            _ => {}
        }
        false
    });
    let before = opening.and_then(|at| tokens.get(at.checked_sub(1)?));
    before.is_some_and(|before| before.is_word() && !["else", "do"].contains(&before.text))
}

/// Whether a place of the text is among the members of a struct.
pub(super) fn is_in_struct(text: &str, place: usize) -> bool {
    let tokens = tokens(text);
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate().take_while(|(_, token)| token.range.end <= place) {
        match token.text {
            "{" => open.push(at),
            "}" => drop(open.pop()),
            _ => {}
        }
    }
    open.last().is_some_and(|at| opens_struct(&tokens, *at))
}

/// Whether what stands at a place of the text is in the length of an array.
pub(super) fn is_length(text: &str, place: usize) -> bool {
    let tokens = tokens(text);
    (0..tokens.len()).any(|at| {
        let groups = groups(&tokens, at);
        let Some(last) = groups.last() else { return false };
        let places = tokens[at].range.start..tokens[last.end - 1].range.end;
        places.contains(&place) && is_declared(&tokens, at, last.end)
    })
}

/// The pairs of brackets that stand one behind the other from a token on, as ranges of tokens.
pub(super) fn groups(tokens: &[Token], start: usize) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let mut at = start;
    while tokens.get(at).is_some_and(|token| token.text == "[") {
        let Some(end) = closing(tokens, at) else { break };
        groups.push(at..end + 1);
        at = end + 1;
    }
    groups
}

/// Whether brackets are lengths: those from `start` on, with `end` behind them.
pub(super) fn is_declared(tokens: &[Token], start: usize, end: usize) -> bool {
    let Some(name) = start.checked_sub(1) else { return false };
    let is_of_type = is_type(tokens[name].text) || tokens.get(end).is_some_and(Token::is_word);
    if is_of_type || !tokens[name].is_word() {
        return is_of_type;
    }
    let Some(before) = name.checked_sub(1) else { return false };
    match tokens[before].text {
        "return" | "else" | "case" | "do" => false,
        "]" => true,
        "}" => closes_struct(tokens, before),
        "," => is_in_declaration(tokens, before),
        _ => tokens[before].is_word(),
    }
}

/// A type of GLSL's own, which in an expression is a constructor.
fn is_type(word: &str) -> bool {
    let kinds = ["vec", "ivec", "uvec", "bvec", "dvec", "mat", "dmat"];
    ["float", "int", "uint", "bool", "double"].contains(&word)
        || kinds.iter().any(|kind| {
            let size = word.strip_prefix(kind);
            size.is_some_and(|size| size.starts_with(|digit: char| digit.is_ascii_digit()))
        })
}

/// Whether a brace closes the members of a struct, which names of variables may follow.
fn closes_struct(tokens: &[Token], end: usize) -> bool {
    let mut depth = 0_usize;
    let opening = tokens[..=end].iter().rposition(|token| {
        match token.text {
            "}" => depth += 1,
            "{" => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    opening.is_some_and(|at| opens_struct(tokens, at))
}

/// Whether the members of a struct follow a brace.
fn opens_struct(tokens: &[Token], opening: usize) -> bool {
    let before = |n: usize| opening.checked_sub(n).map(|at| tokens[at].text);
    before(1) == Some("struct") || before(2) == Some("struct")
}

/// Whether a comma is one of a declaration: `float a, b[2][3]`.
fn is_in_declaration(tokens: &[Token], comma: usize) -> bool {
    let mut depth = 0_usize;
    let mut first = 0;
    for (at, token) in tokens[..comma].iter().enumerate().rev() {
        match token.text {
            ")" | "]" => depth += 1,
            // An argument of a call has its type behind the comma, where it has one.
            "(" if depth == 0 => return false,
            "(" | "[" => depth = depth.saturating_sub(1),
            ";" | "{" | "}" if depth == 0 => {
                first = at + 1;
                break;
            }
            _ => {}
        }
    }
    let [ty, name, ..] = &tokens[first..comma] else { return false };
    ty.is_word() && ty.text != "return" && (name.is_word() || is_type(ty.text))
}

/// Puts the groups in each other's places; what stands between them stays.
fn turn(turned: &mut String, text: &str, tokens: &[Token], groups: &[Range<usize>]) {
    let place = |group: &Range<usize>| tokens[group.start].range.start..tokens[group.end - 1].range.end;
    let places: Vec<Range<usize>> = groups.iter().map(place).collect();
    let mut new = String::new();
    for (at, range) in places.iter().rev().enumerate() {
        new.push_str(&text[range.clone()]);
        if let Some(next) = places.get(at + 1) {
            new.push_str(&text[places[at].end..next.start]);
        }
    }
    turned.replace_range(places[0].start..places[places.len() - 1].end, &new);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(turn_lengths(text), expected);
    }

    #[test]
    fn lengths_change_places() {
        check("shared float tile[16][17];", "shared float tile[17][16];");
        check("float[2][3] f(float x[4] [N + 1]) {}", "float[3][2] f(float x[N + 1] [4]) {}");
        check("struct S { float a[2][3]; } s[4][5];", "struct S { float a[3][2]; } s[5][4];");
        check(
            "int a[1][2], b = f(c[3][4], d[5][6]), e[7][8][9];",
            "int a[2][1], b = f(c[3][4], d[5][6]), e[9][8][7];",
        );
        check("buffer B { float e[][2]; };", "buffer B { float e[2][]; };");
        check("x = float[2][3](float[3](1, 2, 3), y);", "x = float[3][2](float[3](1, 2, 3), y);");
        check("REAL[2][3] a;", "REAL[3][2] a;");
        check("float[3] a[2][4];", "float[3] a[4][2];");
    }

    #[test]
    fn what_stands_behind_an_array_is_found() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(behind_array(text).map(|range| &text[range]), expected, "{text}");
        };
        check("shared float a[2], b;", Some("b"));
        check("void f() { float a[2] = g(1, 2), b; }", Some("b"));
        check("float a, b[2]; float[2] c, d;", None);
        check("struct S { float a[2], b; };", None);
        check("float f(float a[2], float b) { return g(a[1], b); }", None);
        check("a[1] = f(c[2], d), e = 1;", None);
    }

    #[test]
    fn indices_stay() {
        for text in [
            "a[1][2] = b[i][j] + c[0][1];",
            "{ } a[1][2] = 3;",
            "return a[1][2];",
            "f(x, a[1][2]);",
            "x = 1, a[1][2] = 3;",
            "#define AT a[1][2]\nvoid main() {}",
            "float x = a[1][2];",
            "// float a[1][2];\nfloat a[b[1][2]];",
        ] {
            check(text, text);
        }
    }
}
