//! Whether naga's module is well formed. What is wrong comes out in words that name nothing of naga's own, at its
//! place in the text.

use kps_syntax::{Diagnostic, Diagnostics, Source};
use naga::valid::{
    Capabilities, EntryPointError, FunctionError, ModuleInfo, ShaderStages, SubgroupOperationSet,
    ValidationError, ValidationFlags, Validator,
};
use naga::{Block, Expression, Function, Module, SampleLevel, Span, Statement, WithSpan};

use crate::errors;

pub(crate) fn check(source: &Source, module: &Module) -> Result<ModuleInfo, Diagnostics> {
    Validator::new(ValidationFlags::all(), Capabilities::all())
        .subgroup_stages(ShaderStages::all())
        .subgroup_operations(SubgroupOperationSet::all())
        .validate(module)
        .map_err(|error| Diagnostics::from(diagnostic(source, module, &error)))
}

/// The innermost reason names the mistake; those around it name naga's own things.
pub(crate) fn diagnostic(source: &Source, module: &Module, error: &WithSpan<ValidationError>) -> Diagnostic {
    let mut reason: &dyn std::error::Error = error.as_inner();
    while let Some(inner) = reason.source() {
        reason = inner;
    }
    let told = errors::told("foreign/invalid", &plain(&reason.to_string()));
    // Spans are from the outermost in.
    let known = error.spans().last().map(|(span, _)| *span).filter(Span::is_defined);
    match known.or_else(|| place(source, module, error.as_inner())) {
        Some(span) => told.label(errors::location(source, span), ""),
        None => told,
    }
}

/// naga counts expressions, types and functions, and nobody else does.
fn plain(reason: &str) -> String {
    let plain = match reason {
        _ if reason.starts_with("The type of [") && reason.contains("stored in [") => {
            "the value is of another type than what it is stored in"
        }
        _ if reason.starts_with("Operation ") && reason.contains("can't work with [") => {
            "this operation does not take operands of these types"
        }
        _ if reason.starts_with("Base type [") && reason.contains("for the array is invalid") => {
            "arrays of buffers, images and samplers are not known here"
        }
        _ if reason.starts_with("The base handle [") && reason.ends_with("has to be a struct") => {
            "arrays of buffers, images and samplers are not known here"
        }
        _ if reason.starts_with("Loading of [") => {
            "this loads a buffer whose length is known at run time alone: leave out the name behind the block, and \
             name its members alone"
        }
        _ if reason.starts_with("The pointer [") && reason.contains("destination for a store") => {
            "this cannot be stored to: it lies in a uniform, or in a buffer that is for reading alone"
        }
        _ if reason.starts_with("The `return` expression None") => {
            "this function comes to its end without a `return` of its value"
        }
        _ if reason.starts_with("The `return` expression Some") => {
            "a value of another type is returned than the function says"
        }
        _ if reason.starts_with("Bindings for [") => {
            "another resource has this binding: each has a number of its own"
        }
        _ if reason.contains("is a pointer of space") => {
            "a pointer to a buffer cannot be handed to a function here: let the function name the buffer"
        }
        _ if reason.contains("of kind naga::ir::Function") => "functions may not call themselves",
        _ if reason.contains("can't be stored in a local variable") => {
            "a local variable has a known size: write the lengths of arrays"
        }
        _ if reason.starts_with("Initializer can't be used with address space") => {
            "this memory has no value from the start: store one, and write a barrier behind"
        }
        _ if reason.starts_with("The array stride") && reason.contains("required alignment 16") => {
            "elements of an array in a uniform lie 16 bytes apart: make them vectors of four, or use a buffer"
        }
        "Uses operations forbidden at this stage" => {
            "compute shaders have neither `discard` nor derivatives: sample an image at a level, with `textureLod`, or \
             `textureSampleLevel` in WGSL"
        }
        "Workgroup size is out of range" => "a workgroup has 1 to 16384 invocations along each axis",
        reason => reason,
    };
    plain.to_owned()
}

/// Where a mistake is whose place naga does not tell.
fn place(source: &Source, module: &Module, error: &ValidationError) -> Option<Span> {
    let entry = |name: &str| module.entry_points.iter().find(|entry| entry.name == name);
    let span = match error {
        ValidationError::Type { handle, .. } => module.types.get_span(*handle),
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
        ValidationError::InvalidHandle(_) => return call_of_itself(module),
        _ => return None,
    };
    Some(span).filter(Span::is_defined)
}

fn functions(module: &Module) -> impl Iterator<Item = &Function> {
    let entries = module.entry_points.iter().map(|entry| &entry.function);
    module.functions.iter().map(|(_, function)| function).chain(entries)
}

/// A derivative, a sample that needs one, or `discard`.
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

/// Functions call only what stands before them, so a call of what does not is part of a circle.
fn call_of_itself(module: &Module) -> Option<Span> {
    module.functions.iter().find_map(|(handle, function)| {
        let is_circle = |statement: &Statement| matches!(statement, Statement::Call { function, .. } if *function >= handle);
        statement(&function.body, &is_circle)
    })
}

/// The place of the first statement that is wanted.
fn statement(block: &Block, is_wanted: &dyn Fn(&Statement) -> bool) -> Option<Span> {
    block.span_iter().find_map(|(one, span)| {
        if is_wanted(one) {
            return Some(*span);
        }
        let within = |block: &Block| statement(block, is_wanted);
        match one {
            Statement::Block(block) => within(block),
            Statement::If { accept, reject, .. } => within(accept).or_else(|| within(reject)),
            Statement::Loop { body, continuing, .. } => within(body).or_else(|| within(continuing)),
            Statement::Switch { cases, .. } => cases.iter().find_map(|case| within(&case.body)),
            _ => None,
        }
    })
}
