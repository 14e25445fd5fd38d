//! Loops that naga gets wrong: where `do .. while (condition)` is gone on with by `continue`, the condition counts, and a
//! loop that nothing leaves is an end of a function that gives a value.

use kps_syntax::{Diagnostic, Source};
use naga::{Block, Expression, Function, Handle, Module, Span, Statement, UnaryOperator};

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

fn is_negated(function: &Function, condition: Handle<Expression>) -> bool {
    matches!(function.expressions[condition], Expression::Unary { op: UnaryOperator::LogicalNot, .. })
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

/// A `do` whose body ends with `continue`: naga forgets its condition.
pub(super) fn without_condition(source: &Source, module: &mut Module) -> Option<Diagnostic> {
    let mut found = None;
    let mut look = |block: &mut Block| {
        for (statement, span) in block.span_iter() {
            if let Statement::Loop { body, .. } = statement
                && source.slice(errors::location(source, *span).span).starts_with("do")
                && let Some(place) = last_continue(body)
            {
                found.get_or_insert(place);
            }
        }
    };
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    for function in functions.chain(module.entry_points.iter_mut().map(|entry| &mut entry.function)) {
        statements::blocks(&mut function.body, &mut look);
    }
    found.map(|place| errors::continue_before_condition(errors::location(source, place)))
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
