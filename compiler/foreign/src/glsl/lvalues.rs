//! What an assignment changes, `o[i++] += 1.0`: naga evaluates it once to store there and once more to load from there.
//! The second time comes to use the indices of the first, and what they change is changed once. So it is with arguments
//! that functions change (`out`, `inout`), which are evaluated as values first.

use kps_syntax::{Diagnostic, Source};
use naga::{Block, Expression, Function, Handle, Module, Range, Span, Statement, Type, TypeInner};
use rustc_hash::FxHashMap;

use crate::{errors, statements};

/// A mistake where places do not tell a second time from a second use, as in a macro.
pub(super) fn evaluate_once(source: &Source, module: &mut Module) -> Option<Diagnostic> {
    let called = functions(module);
    let mut mistake = None;
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    for function in functions.chain(module.entry_points.iter_mut().map(|entry| &mut entry.function)) {
        let mut body = std::mem::take(&mut function.body);
        statements::blocks(&mut body, &mut |block| {
            let all = changing_twice(function, block, &called);
            let before: Vec<usize> = all.iter().map(|twice| changes_within(block, twice.place)).collect();
            for twice in &all {
                let location = errors::location(source, twice.place);
                let (line, _) = source.line_column(location.span.start);
                if !source.line_text(line).trim_start().starts_with('#') {
                    forget(function, block, twice, &called);
                }
            }
            // Several components are stored to one by one, each with the same index.
            for (twice, n_changes) in all.iter().zip(before) {
                let n_arguments =
                    all.iter().filter(|one| one.of_argument && one.place == twice.place).count();
                if n_arguments > 1 || changes_within(block, twice.place) * 2 != n_changes {
                    mistake.get_or_insert(errors::location(source, twice.place));
                }
            }
            if let Some(place) = still_twice(function, block, &called) {
                mistake.get_or_insert(errors::location(source, place));
            }
        });
        function.body = body;
    }
    mistake.map(errors::changing_index)
}

/// What is known of the functions that are called.
type Functions = FxHashMap<Handle<Function>, Called>;

struct Called {
    /// Which parameters it changes.
    changes: Vec<bool>,
    result: Option<Handle<Type>>,
}

fn functions(module: &Module) -> Functions {
    let is_changed = |ty| matches!(module.types[ty].inner, TypeInner::Pointer { .. });
    let called = |function: &Function| Called {
        changes: function.arguments.iter().map(|one| is_changed(one.ty)).collect(),
        result: function.result.as_ref().map(|result| result.ty),
    };
    module.functions.iter().map(|(handle, function)| (handle, called(function))).collect()
}

/// What is evaluated twice: all between the two ends of the second time belongs to it.
struct Twice {
    /// Of an index.
    place: Span,
    /// Each index of the second time, with that of the first in its place.
    indices: Vec<(Handle<Expression>, Handle<Expression>)>,
    /// The last expression before, and the one that it is all made for.
    before: Handle<Expression>,
    last: Handle<Expression>,
    of_argument: bool,
}

/// Assignments whose second time changes something, and arguments of calls where any of them does.
fn changing_twice(function: &Function, block: &Block, called: &Functions) -> Vec<Twice> {
    let changes = |twice: &Twice| block.iter().any(|one| changes_for(one, |handle| twice.contains(handle)));
    let assigned = block.span_iter().filter_map(|(one, span)| twice(function, one, *span)).filter(changes);
    let of_changing = arguments(function, block, called).filter(|one| changes_within(block, one.call) > 0);
    // The components of a swizzle are stored to one by one, all at the place that was found once.
    let mut handed: Vec<Twice> = of_changing.filter_map(|one| argument_twice(function, &one)).collect();
    handed.dedup_by_key(|one| one.last);
    assigned.chain(handed).collect()
}

impl Twice {
    fn contains(&self, handle: Handle<Expression>) -> bool {
        handle > self.before && handle < self.last
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
    Some(Twice { place: stored_to[0].span, indices, before, last: loaded, of_argument: false })
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
fn forget(function: &mut Function, block: &mut Block, twice: &Twice, functions: &Functions) {
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
                if let Statement::Call { function: called, result: Some(result), .. } = other
                    && let Some(ty) = functions[&called].result
                {
                    // A result that no call gives is a mistake of the module's.
                    function.expressions[result] = Expression::ZeroValue(ty);
                }
            }
            other => block.push(other, span),
        }
    }
}

/// A place that a call changes by one of its arguments.
struct Argument<'b> {
    place: Handle<Expression>,
    all: &'b [Handle<Expression>],
    call: Span,
}

fn arguments<'b>(
    function: &'b Function,
    block: &'b Block,
    functions: &'b Functions,
) -> impl Iterator<Item = Argument<'b>> {
    let calls = block.span_iter().filter_map(|(statement, span)| match statement {
        Statement::Call { function: called, arguments, .. } => Some((&functions[called], arguments, *span)),
        _ => None,
    });
    calls.flat_map(move |(called, all, call)| {
        let lvalues = all.iter().zip(&called.changes).filter(|(_, is_changed)| **is_changed);
        let places = lvalues.flat_map(|(argument, _)| targets(function, block, *argument));
        places.map(move |place| Argument { place, all, call })
    })
}

/// The second time is all that was made for the place of an argument up to its last index, back to what was made for the
/// argument before it.
fn argument_twice(function: &Function, argument: &Argument) -> Option<Twice> {
    let place = argument.place;
    let second = accesses(function, place);
    let (last, last_access) = second.first().map(|access| (access.handle, access.span))?;
    let spans = |all: &[Access]| all.iter().map(|access| access.span).collect::<Vec<Span>>();
    let handles = function.expressions.iter().map(|(handle, _)| handle);
    let earlier: Vec<_> =
        handles.take_while(|handle| *handle < second.last().map_or(place, |one| one.handle)).collect();
    let first = earlier
        .iter()
        .rev()
        .map(|handle| accesses(function, *handle))
        .find(|first| spans(first) == spans(&second))?;
    let first_end = first.first()?.handle;
    let parts = way(function, place).into_iter().filter(|part| *part > first_end);
    let text = Span::total_span(parts.map(|part| function.expressions.get_span(part))).to_range()?;
    let is_of_second = |handle: &Handle<Expression>| match function.expressions.get_span(*handle).to_range() {
        Some(part) => text.start <= part.start && part.end <= text.end,
        None => {
            matches!(function.expressions[*handle], Expression::LocalVariable(_))
                && !argument.all.contains(handle)
        }
    };
    let behind_first =
        earlier.iter().rev().take_while(|handle| **handle > first.first().map_or(place, |one| one.handle));
    let before = behind_first.copied().find(|handle| !is_of_second(handle));
    let indices = second.iter().zip(&first).map(|(second, first)| (second.handle, first.index)).collect();
    Some(Twice { place: last_access, indices, before: before.unwrap_or(first_end), last, of_argument: true })
}

/// An index of an argument that changes something, each time that it is evaluated.
fn still_twice(function: &Function, block: &Block, called: &Functions) -> Option<Span> {
    let accesses = arguments(function, block, called).flat_map(|one| accesses(function, one.place));
    let is_shared = |access: &Access| {
        function.expressions.iter().any(|(handle, one)| {
            let is_first = handle < access.handle && function.expressions.get_span(handle) == access.span;
            is_first && matches!(one, Expression::Access { index, .. } if *index == access.index)
        })
    };
    accesses
        .filter(|access| changes_within(block, access.span) > 0)
        .find(|one| !is_shared(one))
        .map(|one| one.span)
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

/// How many statements change something between the brackets of an index.
fn changes_within(block: &Block, index: Span) -> usize {
    let Some(index) = index.to_range() else { return 0 };
    let is_change = |(statement, span): &(&Statement, &Span)| {
        let is_within = |place: std::ops::Range<usize>| place.start > index.start && place.end < index.end;
        let can_change =
            matches!(statement, Statement::Store { .. } | Statement::Call { .. } | Statement::If { .. });
        can_change && span.to_range().is_some_and(is_within)
    };
    block.span_iter().filter(is_change).count()
}
