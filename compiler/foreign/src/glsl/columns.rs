//! Several components of a matrix's column that are assigned to, `m[1].zx += v`, which naga refuses: a function does it
//! that changes the column, `kps_add_zx(m[1], v)`.

use std::ops::Range;

use super::places::Change;
use super::tokens::{Token, tokens};

const START: &str = "kps_";

/// What a function for an assignment is called by, and how it changes components of `column` by `value`.
const ASSIGNMENTS: [(&str, &str); 5] =
    [("put", "="), ("add", "+="), ("sub", "-="), ("mul", "*="), ("div", "/=")];

/// The changes of the assignment whose components are at a place; none for what is no assignment.
pub(super) fn assigned(text: &str, place: Range<usize>) -> Vec<Change> {
    let assignment = || {
        let components = text.get(place.clone())?.strip_prefix('.')?.trim();
        let are_distinct = components.chars().enumerate().all(|(at, one)| !components[..at].contains(one));
        indices(components).filter(|_| are_distinct)?;
        let tokens = tokens(text);
        let point = tokens.iter().position(|token| token.range.start == place.start)?;
        let (name, behind) = operation(&tokens, point + 2)?;
        let start = tokens[start(&tokens, point)?].range.start;
        let end = tokens[end(&tokens, behind)? - 1].range.end;
        let operation = place.start..tokens[behind - 1].range.end;
        Some(vec![
            Change { place: start..start, text: format!("{START}{name}_{components}(") },
            Change { place: operation, text: ", ".to_owned() },
            Change { place: end..end, text: ")".to_owned() },
        ])
    };
    assignment().unwrap_or_default()
}

/// The functions that changes call.
pub(super) fn declaration(changes: &[Change]) -> String {
    let mut calls: Vec<(&str, &str)> = changes.iter().filter_map(called).collect();
    calls.sort_unstable();
    calls.dedup();
    calls.into_iter().map(|(name, components)| functions(name, components)).collect()
}

/// The operation and the components of a change.
fn called(change: &Change) -> Option<(&str, &str)> {
    change.text.strip_prefix(START)?.strip_suffix('(')?.split_once('_')
}

/// One for each length of a column, and each type of a value.
fn functions(name: &str, components: &str) -> String {
    let Some((&(_, operator), last)) = ASSIGNMENTS
        .iter()
        .find(|(known, _)| *known == name)
        .zip(indices(components).and_then(|indices| indices.into_iter().max()))
    else {
        return String::new();
    };
    let n = components.len();
    let mut values = vec![format!("vec{n}")];
    values.extend((operator != "=").then(|| "float".to_owned()));
    values.extend((operator == "*=").then(|| format!("mat{n}")));
    let mut declared = String::new();
    for rows in last + 1..=4 {
        for value in &values {
            declared += &format!(
                "vec{n} {START}{name}_{components}(inout vec{rows} column, {value} value) {{ \
                 column.{components} {operator} value; return column.{components}; }} "
            );
        }
    }
    declared
}

/// Which components names stand for.
fn indices(names: &str) -> Option<Vec<usize>> {
    let index = |known: &str| names.chars().map(|name| known.find(name)).collect();
    ["xyzw", "rgba", "stpq"].into_iter().find_map(index)
}

/// Which assignment is at a token, and the token behind it.
fn operation(tokens: &[Token], at: usize) -> Option<(&'static str, usize)> {
    let spelled =
        |n: usize| tokens.get(at..at + n).map(|part| part.iter().map(|one| one.text).collect::<String>());
    let is_next = |(_, operator): &&(&str, &str)| spelled(operator.len()).as_deref() == Some(operator);
    let (name, operator) = ASSIGNMENTS.iter().find(is_next)?;
    let behind = at + operator.len();
    (tokens.get(behind)?.text != "=").then_some((name, behind))
}

/// The first token of the element whose components stand behind a point.
fn start(tokens: &[Token], point: usize) -> Option<usize> {
    let mut at = point;
    loop {
        let mut depth = 0_usize;
        loop {
            at = at.checked_sub(1)?;
            match tokens[at].text {
                "]" => depth += 1,
                "[" => depth = depth.checked_sub(1)?,
                _ if depth == 0 => break,
                _ => {}
            }
        }
        match tokens.get(at.checked_sub(1)?) {
            _ if !tokens[at].is_word() => return None,
            Some(before) if before.text == "." => at -= 1,
            _ => return Some(at),
        }
    }
}

/// The token behind the value that begins at one.
fn end(tokens: &[Token], start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" | "," | ";" if depth == 0 => return (at > start).then_some(at),
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
    }
    None
}
