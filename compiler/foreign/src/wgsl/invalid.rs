//! Validates naga's module. Errors become diagnostics in the terms of the language, at their places in the
//! text.

use kps_syntax::{Diagnostic, Diagnostics, Source};
use naga::proc::LayoutError;
use naga::valid::{
    Capabilities, EntryPointError, FunctionError, ModuleInfo, ShaderStages, SubgroupOperationSet,
    ValidationError, ValidationFlags, Validator, VaryingError,
};
use naga::{
    AddressSpace, Block, EntryPoint, Expression, Function, Handle, Module, SampleLevel, Span, Statement,
    SwitchValue, Type, WithSpan,
};

use self::report::{Report, report};
use crate::errors;
use crate::wgsl::names::{self, Names};
use crate::wgsl::statements;

mod entries;
mod expressions;
mod functions;
mod globals;
mod report;

/// More than any device supports.
const MAX_IMMEDIATE_BYTES: u32 = 256;

pub(crate) fn check(source: &Source, names: Names) -> Result<ModuleInfo, Diagnostics> {
    if let Some(found) = too_many_immediates(source, names.module) {
        return Err(found.into());
    }
    Validator::new(ValidationFlags::all(), Capabilities::all())
        .subgroup_stages(ShaderStages::all())
        .subgroup_operations(SubgroupOperationSet::all())
        .validate(names.module)
        .map_err(|error| Diagnostics::from(diagnostic(source, names, &error)))
}

/// naga's validator has one bit for each word of push constants, and panics if there are more words.
fn too_many_immediates(source: &Source, module: &Module) -> Option<Diagnostic> {
    let size = |ty| module.types.get_handle(ty).map_or(0, |ty| ty.inner.size(module.to_ctx()));
    let mut immediates =
        module.global_variables.iter().filter(|(_, variable)| variable.space == AddressSpace::Immediate);
    let (handle, variable) = immediates.find(|(_, variable)| size(variable.ty) > MAX_IMMEDIATE_BYTES)?;
    let location = errors::location(source, module.global_variables.get_span(handle));
    Some(errors::too_many_immediates(size(variable.ty), MAX_IMMEDIATE_BYTES, location))
}

pub(crate) fn diagnostic(source: &Source, names: Names, error: &WithSpan<ValidationError>) -> Diagnostic {
    let report = describe(names, error.as_inner()).unwrap_or_else(|| innermost(error.as_inner()));
    let mut diagnostic = Diagnostic::error("foreign/invalid", report.message);
    if let Some(help) = report.help {
        diagnostic = diagnostic.help(help);
    }
    // Spans are ordered from the outermost in.
    let known = error.spans().last().map(|(span, _)| *span).filter(Span::is_defined);
    let known = statement_place(names.module, error.as_inner(), known).or(known);
    match known.or_else(|| place(source, names, error.as_inner())) {
        Some(span) => diagnostic.label(errors::head_location(source, span), ""),
        None => diagnostic,
    }
}

fn describe(names: Names, error: &ValidationError) -> Option<Report> {
    let module = names.module;
    match error {
        ValidationError::Type { source, .. } => globals::ty(source),
        ValidationError::Constant { source, .. } => globals::constant(source),
        ValidationError::ConstExpression { source, .. } => globals::constant_expression(source),
        ValidationError::Override { source, .. } => globals::specialised(source),
        ValidationError::GlobalVariable { handle, source, .. } => {
            globals::variable(names, &module.global_variables[*handle], source)
        }
        ValidationError::Function { handle, source, .. } => {
            functions::describe(names, &module.functions[*handle], source)
        }
        ValidationError::EntryPoint { stage, name, source } => {
            let is_meant = |entry: &&EntryPoint| entry.name == *name && entry.stage == *stage;
            entries::describe(names, module.entry_points.iter().find(is_meant)?, source)
        }
        ValidationError::Layouter(_) => Some(report("this is larger than 2147483647 bytes")),
        ValidationError::ArraySizeError { .. } => Some(report("an array has at least one element")),
        // Functions precede their callers, so this handle can only be part of a cycle.
        ValidationError::InvalidHandle(_) => {
            Some(report("functions may not call themselves").help("write a loop"))
        }
        _ => None,
    }
}

/// naga's innermost message, for errors that no text is known to cause.
fn innermost(error: &ValidationError) -> Report {
    let mut reason: &dyn std::error::Error = error;
    while let Some(inner) = reason.source() {
        reason = inner;
    }
    report(errors::plain(&reason.to_string()))
}

/// The place of an error for which naga has none.
fn place(source: &Source, names: Names, error: &ValidationError) -> Option<Span> {
    let module = names.module;
    let entry = |name: &str| module.entry_points.iter().find(|entry| entry.name == name);
    let span = match error {
        ValidationError::Type { handle, .. } => return place_of_type(module, *handle),
        ValidationError::GlobalVariable { handle, .. } => module.global_variables.get_span(*handle),
        ValidationError::Function {
            handle, source: FunctionError::Expression { handle: at, .. }, ..
        } => module.functions[*handle].expressions.get_span(*at),
        ValidationError::Function { handle, .. } => module.functions.get_span(*handle),
        ValidationError::EntryPoint {
            name,
            source: EntryPointError::Function(FunctionError::Expression { handle, .. }),
            ..
        } => entry(name)?.function.expressions.get_span(*handle),
        ValidationError::EntryPoint { source: EntryPointError::ForbiddenStageOperations, .. } => {
            return functions(module).find_map(of_fragments_alone);
        }
        ValidationError::EntryPoint { source: EntryPointError::OutOfRangeWorkgroupSize, .. } => {
            return errors::word(source, &["workgroup_size", "local_size_x"]);
        }
        ValidationError::Layouter(LayoutError { ty, .. }) => return place_of_type(module, *ty),
        ValidationError::EntryPoint { name, source: error, .. } => {
            let of_parameter = entry(name).and_then(|entry| parameter_place(source, entry, error));
            return of_parameter
                .or_else(|| errors::word(source, &[&entry_place(error)?]))
                .or_else(|| errors::word(source, &[&format!("fn {name}("), &format!("{name}(")]));
        }
        ValidationError::InvalidHandle(_) => return call_of_itself(module),
        _ => return None,
    };
    Some(span).filter(Span::is_defined)
}

/// The place where a type, or an item of that type, is written.
fn place_of_type(module: &Module, ty: Handle<Type>) -> Option<Span> {
    let of_globals = module.global_variables.iter().filter(|(_, one)| one.ty == ty);
    let of_globals = of_globals.map(|(handle, _)| module.global_variables.get_span(handle));
    let of_locals = functions(module).flat_map(|function| {
        let variables = function.local_variables.iter().filter(|(_, one)| one.ty == ty);
        variables.map(|(handle, _)| function.local_variables.get_span(handle))
    });
    let mut places = std::iter::once(module.types.get_span(ty)).chain(of_globals).chain(of_locals);
    places.find(Span::is_defined)
}

/// The word of a text that an entry point's error is about.
fn entry_place(error: &EntryPointError) -> Option<String> {
    match error {
        EntryPointError::Argument(_, error) | EntryPointError::Result(error) => match error {
            VaryingError::InvalidBuiltInStage(built_in)
            | VaryingError::InvalidBuiltInType(built_in, _)
            | VaryingError::DuplicateBuiltIn(built_in) => Some(names::built_in(*built_in).to_owned()),
            VaryingError::InvalidMultiDimensionalSubgroupBuiltIn => Some("workgroup_size".to_owned()),
            _ => None,
        },
        _ => None,
    }
}

/// The name of a parameter of an entry point that lacks a builtin or location.
fn parameter_place(source: &Source, entry: &EntryPoint, error: &EntryPointError) -> Option<Span> {
    let EntryPointError::Argument(at, VaryingError::MissingBinding) = error else { return None };
    let name = entry.function.arguments.get(*at as usize)?.name.as_deref()?;
    let text = source.text();
    let head = text.find(&format!("fn {}(", entry.name))?;
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_whole = |at: &usize| {
        !text[..*at].ends_with(is_of_name) && text[at + name.len()..].trim_start().starts_with(':')
    };
    let start = text[head..].match_indices(name).map(|(at, _)| head + at).find(is_whole)?;
    Some(Span::new(start as u32, (start + name.len()) as u32))
}

fn functions(module: &Module) -> impl Iterator<Item = &Function> {
    let entries = module.entry_points.iter().map(|entry| &entry.function);
    module.functions.iter().map(|(_, function)| function).chain(entries)
}

/// A derivative, a sample that needs one, or `discard`: they exist in fragment shaders only.
fn of_fragments_alone(function: &Function) -> Option<Span> {
    let needs_neighbours = |expression: &Expression| {
        matches!(
            expression,
            Expression::Derivative { .. } | Expression::ImageSample { level: SampleLevel::Auto, .. }
        )
    };
    let expression = function.expressions.iter().find(|(_, expression)| needs_neighbours(expression));
    expression
        .map(|(handle, _)| function.expressions.get_span(handle))
        .or_else(|| statement(&function.body, &|statement| matches!(statement, Statement::Kill)))
}

/// The place of a statement for which naga reports only a part, which may be written in another line: a
/// `switch` with mismatched cases, an `if` on a value that is not a condition, and a store to a place that is
/// not assignable.
fn statement_place(module: &Module, error: &ValidationError, known: Option<Span>) -> Option<Span> {
    let (ValidationError::Function { source, .. }
    | ValidationError::EntryPoint { source: EntryPointError::Function(source), .. }) = error
    else {
        return None;
    };
    let is_meant = |statement: &Statement| match (statement, source) {
        (Statement::Switch { cases, .. }, FunctionError::ConflictingSwitchCase(value)) => {
            cases.iter().filter(|case| case.value == *value).count() > 1
        }
        (Statement::Switch { cases, .. }, FunctionError::MultipleDefaultCases) => {
            cases.iter().filter(|case| case.value == SwitchValue::Default).count() > 1
        }
        (Statement::If { condition, .. }, FunctionError::InvalidIfType(wanted)) => condition == wanted,
        (Statement::Store { pointer, .. }, FunctionError::InvalidStorePointer(wanted)) => pointer == wanted,
        (
            Statement::Store { pointer: to, value: from },
            FunctionError::InvalidStoreTypes { pointer, value },
        ) => (to, from) == (pointer, value),
        _ => false,
    };
    let found = functions(module).find_map(|function| statement(&function.body, &is_meant));
    let is_part = |whole: &Span| match (whole.to_range(), known.and_then(|part| part.to_range())) {
        (Some(whole), Some(part)) => whole.start <= part.start && part.end <= whole.end,
        _ => false,
    };
    let is_switch =
        matches!(source, FunctionError::ConflictingSwitchCase(_) | FunctionError::MultipleDefaultCases);
    found.filter(|span| span.is_defined() && (is_switch || !is_part(span)))
}

/// Functions call only functions before them, so any other call is part of a cycle.
fn call_of_itself(module: &Module) -> Option<Span> {
    module.functions.iter().find_map(|(handle, function)| {
        let is_circle = |statement: &Statement| matches!(statement, Statement::Call { function, .. } if *function >= handle);
        statement(&function.body, &is_circle)
    })
}

/// The place of the first statement that is wanted.
fn statement(block: &Block, is_wanted: &dyn Fn(&Statement) -> bool) -> Option<Span> {
    statements::find(block, &|one, span| is_wanted(one).then_some(span))
}
