//! Loops that naga gets wrong: where `do .. while (condition)` is gone on with by `continue`, the condition counts, and a
//! loop that nothing leaves is an end of a function that gives a value. Of a constant that a loop goes on by, naga says
//! that it cannot be turned round.

use std::ops::Range;

use kps_syntax::{Diagnostic, Source};
use naga::{Block, Expression, Function, Handle, Literal, Module, Span, Statement, UnaryOperator};

use super::instead;
use super::places::Change;
use crate::{errors, statements};

/// Lets `continue` go to the condition.
pub(super) fn test_behind_continue(module: &mut Module) {
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    for function in functions.chain(module.entry_points.iter_mut().map(|entry| &mut entry.function)) {
        let mut body = std::mem::take(&mut function.body);
        statements::blocks(&mut body, &mut |block| block.iter_mut().for_each(|one| test_last(function, one)));
        function.body = body;
    }
}

/// naga puts the condition of such a loop behind its body, where `continue` does not come by. It writes the same for
/// `if (..) break;`, with a place.
fn test_last(function: &Function, statement: &mut Statement) {
    let Statement::Loop { body, continuing, break_if } = statement else { return };
    let Some((Statement::If { condition, accept, .. }, span)) = body.span_iter().last() else { return };
    let is_condition = !span.is_defined()
        && matches!(accept.first(), Some(Statement::Break))
        && is_negated(function, *condition);
    let n_of_body = body.iter().rposition(continues).map(|last| last + 1);
    let (true, true, Some(n_of_body)) = (is_condition, continuing.is_empty(), n_of_body) else { return };
    let condition = *condition;
    let mut parts: Vec<(Statement, Span)> = std::mem::take(body).span_into_iter().collect();
    parts.pop();
    for (at, (statement, span)) in parts.into_iter().enumerate() {
        let part = if at < n_of_body { &mut *body } else { &mut *continuing };
        part.push(statement, span);
    }
    *break_if = Some(condition);
}

/// Whether a condition is negated, or was a constant.
fn is_negated(function: &Function, condition: Handle<Expression>) -> bool {
    matches!(
        function.expressions[condition],
        Expression::Unary { op: UnaryOperator::LogicalNot, .. } | Expression::Literal(Literal::Bool(_))
    )
}

/// Whether a statement goes on with the loop that it stands in.
fn continues(statement: &Statement) -> bool {
    let any = |block: &Block| block.iter().any(continues);
    match statement {
        Statement::Continue => true,
        Statement::Block(block) => any(block),
        Statement::If { accept, reject, .. } => any(accept) || any(reject),
        Statement::Switch { cases, .. } => cases.iter().any(|case| any(&case.body)),
        _ => false,
    }
}

/// `if (true) continue` for a `continue` that ends the body of a `do`: naga forgets the condition behind the plain one.
///
/// In a macro it may stand between `if` and `else`, too, and stays.
pub(super) fn with_condition(text: &str, function: &Function) -> Option<Change> {
    const CONTINUE: &str = "continue";
    statements::find(&function.body, &|statement, span| {
        let place = condition_forgotten(text, statement, span)?.to_range()?;
        let line = text[..place.start].rfind('\n').map_or(0, |end| end + 1);
        let is_in_macro = text[line..].trim_start().starts_with('#');
        let is_written = text.get(place.clone()) == Some(CONTINUE) && !is_in_macro;
        is_written.then(|| Change { place, text: format!("if (true) {CONTINUE}") })
    })
}

/// A `do` whose condition is forgotten still.
pub(super) fn without_condition(source: &Source, module: &Module) -> Option<Diagnostic> {
    let functions = module.functions.iter().map(|(_, function)| function);
    let mut all = functions.chain(module.entry_points.iter().map(|entry| &entry.function));
    let place = all.find_map(|function| {
        let look = |one: &Statement, span| condition_forgotten(source.text(), one, span);
        statements::find(&function.body, &look)
    })?;
    Some(errors::continue_before_condition(errors::location(source, place)))
}

/// The `continue` behind which the condition of a loop is forgotten.
fn condition_forgotten(text: &str, statement: &Statement, span: Span) -> Option<Span> {
    let Statement::Loop { body, .. } = statement else { return None };
    let is_do = text.get(span.to_range()?)?.starts_with("do");
    if is_do { last_continue(body) } else { None }
}

fn last_continue(block: &Block) -> Option<Span> {
    match block.span_iter().last()? {
        (Statement::Continue, span) => Some(*span),
        (Statement::Block(block), _) => last_continue(block),
        _ => None,
    }
}

/// Ends a function that gives a value behind its last loop, if nothing leaves that: naga wants an end there, too.
pub(super) fn end_behind_endless(module: &mut Module) {
    for (_, function) in module.functions.iter_mut() {
        let Some(result) = &function.result else { continue };
        let n_before_end = match function.body.last() {
            Some(Statement::Return { value: None }) => function.body.len() - 1,
            _ => function.body.len(),
        };
        if ends_endless(&function.body[..n_before_end]) {
            function.body.cull(n_before_end..);
            let value = function.expressions.append(Expression::ZeroValue(result.ty), Span::UNDEFINED);
            function.body.push(Statement::Return { value: Some(value) }, Span::UNDEFINED);
        }
    }
}

fn ends_endless(block: &[Statement]) -> bool {
    match block.last() {
        Some(Statement::Block(block)) => ends_endless(block),
        Some(Statement::Loop { body, break_if, .. }) => break_if.is_none() && !body.iter().any(breaks),
        _ => false,
    }
}

/// Whether a statement leaves the loop that it stands in.
fn breaks(statement: &Statement) -> bool {
    let any = |block: &Block| block.iter().any(breaks);
    match statement {
        Statement::Break => true,
        Statement::Block(block) => any(block),
        Statement::If { accept, reject, .. } => any(accept) || any(reject),
        _ => false,
    }
}

/// Whether a constant that naga could not negate is what a loop goes on by, of which it wants the opposite. Where a text
/// has such an operation itself, the mark of that stands first.
pub(super) fn is_condition(text: &str, place: Range<usize>) -> bool {
    let constant = &text[place.clone()];
    let opens = |letter: char| letter == '(' || letter.is_whitespace();
    let before = text[..place.start].trim_end_matches(opens);
    let is_first = before.ends_with("while") || before.ends_with(';') && instead::is_in_head_of_for(before);
    let is_last = text[place.end..].trim_start().starts_with([')', ';']);
    match constant.chars().next() {
        None | Some('!') => false,
        Some('-' | '~') => is_first && is_last,
        // What a macro stands for has its place where that is defined, so such a text begins and ends anywhere.
        Some(_) => !constant.contains('\n'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_told_from_what_is_negated() {
        let check = |before: &str, constant: &str, behind: &str, expected: bool| {
            let place = before.len()..before.len() + constant.len();
            let text = [before, constant, behind].concat();
            assert_eq!(is_condition(&text, place), expected, "{text}");
        };
        check("while (", "1", ") {}", true);
        check("do {} while ((", "-1", "));", true);
        check("for (int i = 0; ", "~0", "; i++) {}", true);
        check("while (", "!1", ") {}", false);
        check("while (", "-true", " == x) {}", false);
        check("x = ", "-true", ";", false);
    }
}
