//! The order of indices that follow one another, `m[i++][i++]`: naga evaluates the last one first, and here the first
//! one comes to be.
//!
//! What belongs to an index is told by its place, between its brackets. It is moved as a whole, and only where one index
//! changes something; no other expression comes between.

use std::ops::Range;

use kps_syntax::{Diagnostic, Source};
use naga::{Block, Expression, Function, Handle, Module, Span, Statement};

use crate::{errors, statements};

/// A mistake where places do not tell what belongs to which index, as in a macro.
pub(super) fn in_order(source: &Source, module: &mut Module) -> Option<Diagnostic> {
    let mut mistake = None;
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    for function in functions.chain(module.entry_points.iter_mut().map(|entry| &mut entry.function)) {
        let mut body = std::mem::take(&mut function.body);
        let chains = chains(function);
        statements::blocks(&mut body, &mut |block| {
            for chain in &chains {
                if let Err(place) = order(function, block, chain) {
                    mistake.get_or_insert(errors::location(source, place));
                }
            }
        });
        function.body = body;
    }
    mistake.map(errors::indices_in_order)
}

/// The brackets of several indices that lead to one element, from the first to the last.
type Chain = Vec<Span>;

fn chains(function: &Function) -> Vec<Chain> {
    let is_inner = |handle: Handle<Expression>| {
        function
            .expressions
            .iter()
            .any(|(_, one)| matches!(one, Expression::Access { base, .. } if *base == handle))
    };
    let mut chains: Vec<Chain> = Vec::new();
    for (handle, expression) in function.expressions.iter() {
        if !matches!(expression, Expression::Access { .. }) || is_inner(handle) {
            continue;
        }
        let chain = brackets(function, handle);
        if chain.len() > 1 && !chains.contains(&chain) {
            chains.push(chain);
        }
    }
    chains
}

fn brackets(function: &Function, last: Handle<Expression>) -> Chain {
    let mut chain = Vec::new();
    let mut at = last;
    loop {
        at = match function.expressions[at] {
            Expression::Access { base, .. } => {
                chain.push(function.expressions.get_span(at));
                base
            }
            Expression::AccessIndex { base, .. } => base,
            Expression::Load { pointer } => pointer,
            _ => break,
        };
    }
    chain.reverse();
    chain
}

/// Puts what a block does for the indices of a chain in order; the place of the chain where it cannot be told.
fn order(function: &Function, block: &mut Block, chain: &Chain) -> Result<(), Span> {
    let owner = |place: Span| chain.iter().position(|brackets| is_between(place, *brackets));
    let changes = |(statement, span): (&Statement, &Span)| changes(statement) && owner(*span).is_some();
    if !block.span_iter().any(changes) {
        return Ok(());
    }
    let parts: Vec<(Statement, Span)> = std::mem::take(block).span_into_iter().flat_map(single).collect();
    let owners: Vec<Option<usize>> =
        parts.iter().map(|(statement, span)| owner(place(function, statement, *span))).collect();
    let Some(range) = range(&owners) else { return Ok(()) };
    let mut within: Vec<(Option<usize>, (Statement, Span))> = Vec::new();
    let mut all = Vec::new();
    let mut is_told = true;
    for (at, (part, owner)) in parts.into_iter().zip(owners).enumerate() {
        match range.contains(&at) {
            true => {
                is_told &= owner.is_some();
                within.push((owner, part));
            }
            false => all.push(part),
        }
    }
    is_told &= within.windows(2).filter(|pair| pair[0].0 != pair[1].0).count() < chain.len();
    within.sort_by_key(|(owner, _)| *owner);
    all.splice(range.start..range.start, within.into_iter().map(|(_, part)| part));
    for (statement, span) in all {
        block.push(statement, span);
    }
    if is_told { Ok(()) } else { Err(Span::total_span(chain.iter().copied())) }
}

/// From the first that has an owner to the last.
fn range(owners: &[Option<usize>]) -> Option<Range<usize>> {
    let first = owners.iter().position(Option::is_some)?;
    let last = owners.iter().rposition(Option::is_some)?;
    Some(first..last + 1)
}

/// One statement for each expression that is evaluated.
fn single((statement, span): (Statement, Span)) -> Vec<(Statement, Span)> {
    match statement {
        Statement::Emit(range) => {
            let emit = |handle| (Statement::Emit(naga::Range::new_from_bounds(handle, handle)), span);
            range.map(emit).collect()
        }
        other => vec![(other, span)],
    }
}

fn place(function: &Function, statement: &Statement, span: Span) -> Span {
    match statement {
        Statement::Emit(range) => {
            range.clone().next().map_or(span, |handle| function.expressions.get_span(handle))
        }
        _ => span,
    }
}

fn changes(statement: &Statement) -> bool {
    matches!(statement, Statement::Store { .. } | Statement::Call { .. } | Statement::If { .. })
}

fn is_between(place: Span, brackets: Span) -> bool {
    let places = place.to_range().zip(brackets.to_range());
    places.is_some_and(|(place, brackets)| place.start > brackets.start && place.end < brackets.end)
}
