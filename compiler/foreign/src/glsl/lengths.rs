//! Lengths of arrays that naga does not know: those that a variable's value tells (`float y[] = float[2](..)`), and
//! elements of constants (`float y[SIZES[1]]`).
//!
//! A text goes in, in which the lengths stand as naga reads them; the changes that write them as numbers come out.

use std::ops::Range;

use super::arrays::{groups, is_declared};
use super::mends;
use super::places::Change;
use super::tokens::{Token, closing, parts, place, tokens};

pub(super) fn known(text: &str) -> Vec<Change> {
    // Most texts have none, and are not looked at any further.
    if !text.contains(']') {
        return Vec::new();
    }
    let tokens = tokens(text);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let groups = groups(&tokens, at);
        let Some(last) = groups.last() else { continue };
        if is_declared(&tokens, at, last.end) {
            found.extend(of_value(text, &tokens, &groups));
            found.extend(groups.iter().filter_map(|group| of_constant(text, &tokens, group)));
        }
    }
    found
}

/// The lengths that stand at the value of a variable that has none.
fn of_value(text: &str, tokens: &[Token], groups: &[Range<usize>]) -> Vec<Change> {
    let lengths = || {
        let behind = groups.last()?.end;
        // A type may stand before the name: `float[] y = ..`.
        let behind = if tokens.get(behind)?.is_word() { behind + 1 } else { behind };
        let (equals, ty) = (tokens.get(behind)?, tokens.get(behind + 1)?);
        if equals.text != "=" {
            return None;
        }
        if ty.text == "{" {
            return Some(vec![n_parts(tokens, behind + 1)?.to_string()]);
        }
        let of_value = self::groups(tokens, behind + 2);
        let opening = of_value.last().filter(|_| ty.is_word())?.end;
        match of_value.as_slice() {
            [only] if only.len() == 2 => Some(vec![n_parts(tokens, opening)?.to_string()]),
            all => Some(all.iter().map(|group| inside(text, tokens, group)).collect()),
        }
    };
    let lengths = if groups.iter().any(|group| group.len() == 2) { lengths() } else { None };
    let lengths = lengths.filter(|lengths| lengths.len() == groups.len()).unwrap_or_default();
    let open = groups.iter().zip(lengths).filter(|(group, length)| group.len() == 2 && !length.is_empty());
    open.map(|(group, length)| {
        let start = tokens[group.start].range.end;
        Change { place: start..start, text: length }
    })
    .collect()
}

/// What stands between the brackets of a length.
fn inside(text: &str, tokens: &[Token], group: &Range<usize>) -> String {
    mends::spelled(text, tokens, &tokens[group.start + 1..group.end - 1]).unwrap_or_default()
}

/// How many values stand between the brackets that open at a token.
fn n_parts(tokens: &[Token], opening: usize) -> Option<usize> {
    Some(parts(&tokens[opening + 1..closing(tokens, opening)?]).count())
}

/// The element of a constant, `SIZES[1]`, that is a length.
fn of_constant(text: &str, tokens: &[Token], group: &Range<usize>) -> Option<Change> {
    let [_, name, open, index, close, _] = &tokens[group.clone()] else { return None };
    let index: usize =
        index.text.parse().ok().filter(|_| name.is_word() && (open.text, close.text) == ("[", "]"))?;
    let value = element(text, &tokens[..group.start], name.text, index)?;
    Some(Change { place: name.range.start..close.range.end, text: format!("({value})") })
}

/// The element of the constant that is declared last by a name.
fn element<'t>(text: &'t str, before: &[Token], name: &str, index: usize) -> Option<&'t str> {
    let at = before.iter().enumerate().rposition(|(at, token)| {
        token.text == name
            && before.get(at + 1).is_some_and(|next| next.text == "[")
            && is_constant(before, at)
    })?;
    let equals = (at..before.len()).find(|at| ["=", ";"].contains(&before[*at].text))?;
    let opening = (equals..before.len()).find(|at| ["(", "{", ";"].contains(&before[*at].text))?;
    let part = parts(&before[opening + 1..closing(before, opening)?]).nth(index)?;
    Some(&text[place(part)?])
}

/// Whether a name is declared at a token, as that of a constant.
fn is_constant(tokens: &[Token], name: usize) -> bool {
    name >= 2 && tokens[name - 1].is_word() && tokens[name - 2].text == "const"
}
