//! Errors of a function: its variables, its parameters and result, and its statements.

use naga::valid::{CallError, FunctionError as Error, LocalVariableError, SubgroupError};
use naga::{ArraySize, Expression, Function, Handle, SwitchValue, Type, TypeInner};

use super::expressions::Typed;
use super::report::{Report, report};
use crate::wgsl::names::Names;

pub(super) fn describe(names: Names, function: &Function, error: &Error) -> Option<Report> {
    let mut typed = Typed::new(names, function);
    Some(match *error {
        Error::Expression { handle, ref source } => {
            return typed.component(handle, source).or_else(|| typed.describe(source));
        }
        Error::InvalidImageStore(ref source) | Error::InvalidImageAtomic(ref source) => {
            return typed.describe(source);
        }
        Error::LocalVariable { ref name, ref source, handle } => {
            let ty = function.local_variables[handle].ty;
            variable(&mut typed, name, ty, function.local_variables[handle].init, source)?
        }
        Error::InvalidArgumentType { ref name, .. } => {
            report(format!("`{name}` cannot be a parameter: values of its type cannot be passed to functions"))
                .help("let the function name the buffer or the image itself")
        }
        Error::InvalidArgumentPointerSpace { .. } => {
            report("a pointer to a buffer or to shared memory cannot be passed to a function here: use the variable in the function")
        }
        Error::NonConstructibleReturnType => report("a function cannot return a value of this type"),
        Error::BreakOutsideOfLoopOrSwitch => report("`break` is outside of a loop or a `switch`")
            .help("write `return;` to end the function, or leave it out"),
        Error::ContinueOutsideOfLoop => report("`continue` is outside of a loop")
            .help("write `return;` to end the function, or leave it out"),
        Error::InvalidReturnSpot => report("`return` is not allowed in a `continuing` block"),
        Error::InvalidReturnType { expression, .. } => returned(&mut typed, function, expression),
        Error::InvalidIfType(condition) => not_a_condition(&mut typed, condition),
        Error::InvalidSwitchType(value) => {
            report(format!("a `switch` is over an integer, and this is {}", typed.ty(value))).help(
                "convert the value, `i32(x)`, or write an `if`",
            )
        }
        Error::ConflictingSwitchCase(value) => report(format!("another case has the value {}", case(value)))
            .help("write what is to be done for a value once"),
        Error::ConflictingCaseType => report("the values of these cases have different types")
            .help("write each as the value that is tested is: `1u` for an unsigned one"),
        Error::MissingDefaultCase => report("this `switch` has no `default`").help("add `default: {}`"),
        Error::MultipleDefaultCases => report("this `switch` has `default` twice").help("leave one of them out"),
        Error::LastCaseFallTrough => report("the last case has nothing to fall through to")
            .help("end it with `break;`"),
        Error::InvalidStorePointer(_) => report(
            "this cannot be stored to: it is in a uniform, or in a read-only buffer",
        )
        .help("declare it `var<storage, read_write>`"),
        Error::InvalidStoreTypes { pointer, value } => stored(&mut typed, pointer, value),
        Error::InvalidStoreTexture { .. } => report("this image cannot be stored to").help(
            "declare it a `texture_storage_2d<rgba8unorm, write>`",
        ),
        Error::InvalidStoreValue { ref actual_ty, ref expected_ty, .. } => {
            let [actual, expected] = [actual_ty, expected_ty].map(|one| names.inner(one));
            report(format!("a texel of this image is `{expected}`, and this is `{actual}`")).help(
                match actual_ty {
                    TypeInner::Scalar(_) => format!("put it into one: `{expected}(x, 0, 0, 0)`"),
                    _ => format!("write `{expected}(..)`"),
                },
            )
        }
        Error::InvalidCall { function, ref error } => called(&mut typed, function, error)?,
        Error::InvalidAtomic(_) => report("this atomic operation does not fit what it is done to")
            .help("atomics are `i32` and `u32`, in `var<workgroup>` and `var<storage, read_write>`; `f32` has `atomicAdd`"),
        Error::InvalidSubgroup(SubgroupError::InvalidOperand(operand)) => {
            report(format!("subgroup operations of this kind do not take {}", typed.ty(operand)))
        }
        Error::InvalidSubgroup(SubgroupError::InvalidInvocationIdExprType(_)) => {
            report("the invocation that a value is taken from is a constant here")
        }
        Error::NonUniformControlFlow(..) => report("not all invocations come here, and all would have to"),
        Error::NonUniformWorkgroupUniformLoad(_) => {
            report("not all invocations come here, and `workgroupUniformLoad` is a barrier")
        }
        Error::PipelineInputRegularFunction { ref name } => given_to_no_entry_point(names, function, name),
        Error::PipelineOutputRegularFunction => report("only entry points have built-in results and locations"),
        _ => return None,
    })
}

/// A parameter that only an entry point can have.
fn given_to_no_entry_point(names: Names, function: &Function, parameter: &str) -> Report {
    let message = report(format!("`{parameter}` is built in, and only entry points receive such values"));
    match &function.name {
        Some(name) if names.module.entry_points.is_empty() => {
            message.help(format!("write `@compute @workgroup_size(64)` before `fn {name}`"))
        }
        _ => message.help("hand the value to the function as any other"),
    }
}

fn variable(
    typed: &mut Typed,
    name: &str,
    ty: Handle<Type>,
    init: Option<Handle<Expression>>,
    error: &LocalVariableError,
) -> Option<Report> {
    let names = typed.names;
    Some(match error {
        LocalVariableError::InvalidType(_) => match names.module.types[ty].inner {
            TypeInner::Image { .. } | TypeInner::Sampler { .. } => {
                report("images and samplers cannot be stored in variables")
                    .help("name them where they are used")
            }
            TypeInner::Array { size: ArraySize::Pending(_), .. } => report(format!(
                "the length of `{name}` is an override, which only arrays in `var<workgroup>` can have"
            ))
            .help("write a number, or a `const`"),
            _ => report("a local variable has a known size")
                .help("write the length of the array: `array<f32, 4>`"),
        },
        LocalVariableError::InitializerType => {
            let value = init?;
            let message =
                report(format!("`{name}` is `{}`, and its value is {}", names.ty(ty), typed.ty(value)));
            let variable = names.module.types[ty].inner.clone();
            typed.converted(message, &variable, value)
        }
        LocalVariableError::NonConstOrOverrideInitializer => {
            report(format!("`{name}` begins with a constant"))
        }
    })
}

fn returned(typed: &mut Typed, function: &Function, value: Option<Handle<Expression>>) -> Report {
    let expected = function.result.as_ref().map(|result| typed.names.ty(result.ty));
    match (value, expected) {
        (Some(value), Some(expected)) => {
            let message =
                report(format!("this function returns `{expected}`, and this is {}", typed.ty(value)));
            let Some(result) = &function.result else { return message };
            typed.converted(message, &typed.names.module.types[result.ty].inner, value)
        }
        (None, Some(expected)) => report("this function ends without returning a value")
            .help(format!("end each way through it with `return ..;`, which gives a `{expected}`")),
        (_, None) => report("this function returns nothing")
            .help("leave out the value, or write its type: `fn f() -> f32`"),
    }
}

pub(super) fn not_a_condition(typed: &mut Typed, condition: Handle<Expression>) -> Report {
    let message = report(format!("a condition is a `bool`, and this is {}", typed.ty(condition)));
    match typed.inner(condition) {
        Some(TypeInner::Vector { .. }) => message.help("write `all(..)` or `any(..)`"),
        Some(TypeInner::Scalar(_)) => message.help("write `x != 0` for whether a number is not 0"),
        _ => message,
    }
}

fn stored(typed: &mut Typed, pointer: Handle<Expression>, value: Handle<Expression>) -> Report {
    let (place, stored) = (typed.ty(pointer), typed.ty(value));
    let message = report(format!("what belongs here is {place}, and this is {stored}"));
    match typed.inner(pointer).cloned() {
        Some(place) => typed.converted(message, &place, value),
        None => message,
    }
}

fn case(value: SwitchValue) -> String {
    match value {
        SwitchValue::I32(value) => value.to_string(),
        SwitchValue::U32(value) => value.to_string(),
        _ => "that this one has".to_owned(),
    }
}

fn called(typed: &mut Typed, function: Handle<Function>, error: &CallError) -> Option<Report> {
    Some(match *error {
        CallError::ArgumentCount { required, seen } => {
            let arguments = if required == 1 { "argument" } else { "arguments" };
            let are = if seen == 1 { "is" } else { "are" };
            report(format!("this function takes {required} {arguments}, and {seen} {are} given"))
                .help(format!("it is `{}`", typed.names.head(&typed.names.module.functions[function])))
        }
        CallError::ArgumentType { index, required, seen_expression } => {
            argument(typed, index + 1, required, seen_expression)
        }
        // Entry points of GLSL call the text's `main`, and use no result of it.
        CallError::ExpressionMismatch(_) => report("`main` returns nothing").help("write `void main()`"),
        CallError::Argument { ref source, .. } => return typed.describe(source),
        _ => return None,
    })
}

/// An argument whose type differs from that of its parameter.
fn argument(typed: &mut Typed, number: usize, required: Handle<Type>, seen: Handle<Expression>) -> Report {
    let names = typed.names;
    let (given, wanted) = (typed.ty(seen), names.ty(required));
    let required = &names.module.types[required].inner;
    if required.pointer_space().is_none() {
        let message = report(format!("argument {number} is a `{wanted}`, and {given} is given"));
        return typed.converted(message, required, seen);
    }
    match typed.is_pointer(seen) {
        true => report(format!("argument {number} is a pointer to other memory, or to another type, than this"))
            .help(format!(
                "hand over a variable of the function's own, `var x: {wanted}`, or let the function name this one itself"
            )),
        false => report(format!("argument {number} is a pointer to a `{wanted}`, and {given} is given"))
            .help("write `&` before the name of a variable"),
    }
}
