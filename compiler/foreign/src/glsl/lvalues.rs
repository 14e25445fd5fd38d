//! What an assignment changes, `o[i++] += 1.0`: naga evaluates it once to store there and once more to load from there.
//! The second time comes to use the indices of the first, and what they change is changed once.
//!
//! Arguments that functions change (`out`, `inout`) are evaluated twice, too: an index there that changes something is
//! refused.

use kps_syntax::{Diagnostic, Source};
use naga::{Block, Expression, Function, Handle, Literal, Module, Range, Span, Statement};

use crate::{errors, statements};

/// A mistake where a macro's places do not tell a second time from a second use.
pub(super) fn evaluate_once(source: &Source, module: &mut Module) -> Option<Diagnostic> {
    let mut in_macro = None;
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    for function in functions.chain(module.entry_points.iter_mut().map(|entry| &mut entry.function)) {
        let mut body = std::mem::take(&mut function.body);
        statements::blocks(&mut body, &mut |block| {
            for twice in changing_twice(function, block) {
                let location = errors::location(source, twice.place);
                let (line, _) = source.line_column(location.span.start);
                match source.line_text(line).trim_start().starts_with('#') {
                    true => drop(in_macro.get_or_insert(location)),
                    false => forget(function, block, &twice),
                }
            }
        });
        function.body = body;
    }
    in_macro.map(errors::changing_index)
}

/// An assignment that is evaluated twice: all between the two ends of the second time belongs to it.
struct Twice {
    /// Of an index.
    place: Span,
    /// Each index of the second time, with that of the first in its place.
    indices: Vec<(Handle<Expression>, Handle<Expression>)>,
    /// The last expression before.
    before: Handle<Expression>,
    last: Handle<Expression>,
}

/// Assignments whose second time changes something.
fn changing_twice(function: &Function, block: &Block) -> Vec<Twice> {
    let all = block.span_iter().filter_map(|(one, span)| twice(function, one, *span));
    all.filter(|twice| block.iter().any(|one| changes_for(one, |handle| twice.contains(handle)))).collect()
}

impl Twice {
    fn contains(&self, handle: Handle<Expression>) -> bool {
        handle > self.before && handle <= self.last
    }
}

/// Whether a statement does something for expressions.
fn changes_for(statement: &Statement, is_of_it: impl Fn(Handle<Expression>) -> bool) -> bool {
    match statement {
        Statement::Store { value, .. } => is_of_it(*value),
        Statement::Call { result: Some(result), .. } => is_of_it(*result),
        Statement::Call { arguments, .. } => arguments.iter().any(|one| is_of_it(*one)),
        Statement::If { condition, .. } => is_of_it(*condition),
        _ => false,
    }
}

fn twice(function: &Function, statement: &Statement, span: Span) -> Option<Twice> {
    let Statement::Store { pointer, value } = statement else { return None };
    let operation = operation_of(function, *value)?;
    let Expression::Binary { left, .. } = function.expressions[operation] else { return None };
    // In `a[i] = a[i] + 1.0` the operation does not begin where the assignment does.
    if function.expressions.get_span(operation) != span {
        return None;
    }
    let loaded = unconverted(function, left);
    let stored_to = accesses(function, *pointer);
    let loaded_from = accesses(function, loaded);
    let is_same = |(one, other): &(&Access, &Access)| one.span == other.span;
    let pairs: Vec<(&Access, &Access)> = stored_to.iter().zip(&loaded_from).collect();
    let before = way(function, *pointer).into_iter().filter(|one| *one < loaded).max()?;
    if stored_to.is_empty() || stored_to.len() != loaded_from.len() || !pairs.iter().all(is_same) {
        return None;
    }
    let indices = pairs.into_iter().map(|(one, other)| (other.handle, one.index)).collect();
    Some(Twice { place: stored_to[0].span, indices, before, last: loaded })
}

/// The operation whose result is stored, or a component of it.
fn operation_of(function: &Function, value: Handle<Expression>) -> Option<Handle<Expression>> {
    match function.expressions[value] {
        Expression::Binary { .. } => Some(value),
        Expression::As { expr: inner, .. } | Expression::AccessIndex { base: inner, .. } => {
            operation_of(function, inner)
        }
        _ => None,
    }
}

fn unconverted(function: &Function, value: Handle<Expression>) -> Handle<Expression> {
    match function.expressions[value] {
        Expression::As { expr: inner, .. } | Expression::Splat { value: inner, .. } => {
            unconverted(function, inner)
        }
        _ => value,
    }
}

/// An index on the way to an element.
struct Access {
    handle: Handle<Expression>,
    index: Handle<Expression>,
    span: Span,
}

/// The indices that are not constant, the last one first.
fn accesses(function: &Function, end: Handle<Expression>) -> Vec<Access> {
    let access = |handle| match function.expressions[handle] {
        Expression::Access { index, .. }
            if !matches!(function.expressions[index], Expression::Literal(_)) =>
        {
            Some(Access { handle, index, span: function.expressions.get_span(handle) })
        }
        _ => None,
    };
    way(function, end).into_iter().filter_map(access).collect()
}

/// The expressions that lead to an element, or to what lies there, from the last one to the variable.
fn way(function: &Function, end: Handle<Expression>) -> Vec<Handle<Expression>> {
    let mut way = vec![end];
    let mut at = end;
    loop {
        at = match function.expressions[at] {
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => base,
            Expression::Load { pointer } => pointer,
            Expression::Swizzle { vector, .. } => vector,
            _ => return way,
        };
        way.push(at);
    }
}

/// Leaves of the second time what the value is loaded with.
fn forget(function: &mut Function, block: &mut Block, twice: &Twice) {
    for &(access, index) in &twice.indices {
        if let Expression::Access { index: second, .. } = &mut function.expressions[access] {
            *second = index;
        }
    }
    let is_of_it = |handle: Handle<Expression>| twice.contains(handle);
    let wanted = way(function, twice.last);
    let old = std::mem::take(block);
    for (statement, span) in old.span_into_iter() {
        match statement {
            Statement::Emit(range) => {
                let keep = |handle: &Handle<Expression>| !is_of_it(*handle) || wanted.contains(handle);
                for handle in range.filter(keep) {
                    block.push(Statement::Emit(Range::new_from_bounds(handle, handle)), span);
                }
            }
            other if changes_for(&other, is_of_it) => {
                if let Statement::Call { result: Some(result), .. } = other {
                    // A result that no call gives is a mistake of the module's.
                    function.expressions[result] = Expression::Literal(Literal::Bool(false));
                }
            }
            other => block.push(other, span),
        }
    }
}

/// An index that changes something, in an argument that a function changes.
pub(super) fn of_call(source: &Source, module: &Module) -> Option<Diagnostic> {
    let functions = module.functions.iter().map(|(_, function)| function);
    let place = functions
        .chain(module.entry_points.iter().map(|entry| &entry.function))
        .find_map(|function| changing_index(module, function, &function.body))?;
    Some(errors::changing_index(errors::location(source, place)))
}

fn changing_index(module: &Module, function: &Function, block: &Block) -> Option<Span> {
    let within = |block: &Block| changing_index(module, function, block);
    block.iter().find_map(|statement| match statement {
        Statement::Block(block) => within(block),
        Statement::If { accept, reject, .. } => within(accept).or_else(|| within(reject)),
        Statement::Loop { body, continuing, .. } => within(body).or_else(|| within(continuing)),
        Statement::Switch { cases, .. } => cases.iter().find_map(|case| within(&case.body)),
        Statement::Call { function: called, arguments, .. } => {
            let parameters = &module.functions[*called].arguments;
            let is_changed = |ty| matches!(module.types[ty].inner, naga::TypeInner::Pointer { .. });
            let changed = arguments.iter().zip(parameters).filter(|(_, parameter)| is_changed(parameter.ty));
            let targets = changed.flat_map(|(argument, _)| targets(function, block, *argument));
            let mut accesses = targets.flat_map(|target| accesses(function, target));
            accesses.find(|access| changes_within(block, access.span)).map(|access| access.span)
        }
        _ => None,
    })
}

/// What an argument stands for: itself, or what its value is stored to behind the call.
fn targets(function: &Function, block: &Block, argument: Handle<Expression>) -> Vec<Handle<Expression>> {
    let is_of_argument = |value: Handle<Expression>| accesses_variable(function, value, argument);
    let stores = block.iter().filter_map(|statement| match statement {
        Statement::Store { pointer, value } if is_of_argument(*value) => Some(*pointer),
        _ => None,
    });
    stores.chain([argument]).collect()
}

fn accesses_variable(function: &Function, value: Handle<Expression>, variable: Handle<Expression>) -> bool {
    match function.expressions[value] {
        _ if value == variable => true,
        Expression::As { expr: inner, .. }
        | Expression::Load { pointer: inner }
        | Expression::AccessIndex { base: inner, .. } => accesses_variable(function, inner, variable),
        _ => false,
    }
}

/// Whether something is changed by what stands between the brackets of an index.
fn changes_within(block: &Block, index: Span) -> bool {
    let Some(index) = index.to_range() else { return false };
    block.span_iter().any(|(statement, span)| {
        let is_change = matches!(statement, Statement::Store { .. } | Statement::Call { .. });
        let is_within = |place: std::ops::Range<usize>| place.start > index.start && place.end < index.end;
        is_change && span.to_range().is_some_and(is_within)
    })
}
