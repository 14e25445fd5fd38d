//! What is wrong with a function: its variables, what it is handed and returns, and its statements.

use naga::valid::{CallError, FunctionError as Error, LocalVariableError, SubgroupError};
use naga::{ArraySize, Expression, Function, Handle, SwitchValue, Type, TypeInner};

use super::expressions::Typed;
use super::told::{Told, told};
use crate::wgsl::names::Names;

pub(super) fn told_of(names: Names, function: &Function, error: &Error) -> Option<Told> {
    let mut typed = Typed::new(names, function);
    Some(match *error {
        Error::Expression { handle, ref source } => {
            return typed.component(handle, source).or_else(|| typed.told(source));
        }
        Error::InvalidImageStore(ref source) | Error::InvalidImageAtomic(ref source) => {
            return typed.told(source);
        }
        Error::LocalVariable { ref name, ref source, handle } => {
            let ty = function.local_variables[handle].ty;
            variable(&mut typed, name, ty, function.local_variables[handle].init, source)?
        }
        Error::InvalidArgumentType { ref name, .. } => {
            told(format!("`{name}` cannot be a parameter: values of its type are not handed to functions"))
                .help("let the function name the buffer or the image itself")
        }
        Error::InvalidArgumentPointerSpace { .. } => {
            told("a pointer to a buffer or to shared memory cannot be handed to a function here: let the function name it")
        }
        Error::NonConstructibleReturnType => told("a function cannot return a value of this type"),
        Error::BreakOutsideOfLoopOrSwitch => told("`break` stands outside of a loop and of a `switch`")
            .help("write `return;` to end the function, or leave it out"),
        Error::ContinueOutsideOfLoop => told("`continue` stands outside of a loop")
            .help("write `return;` to end the function, or leave it out"),
        Error::InvalidReturnSpot => told("`return` cannot stand in a `continuing` block"),
        Error::InvalidReturnType { expression, .. } => returned(&mut typed, function, expression),
        Error::InvalidIfType(condition) => not_a_condition(&mut typed, condition),
        Error::InvalidSwitchType(value) => {
            told(format!("a `switch` is over an integer, and this is {}", typed.ty(value))).help(
                "convert the value, `i32(x)`, or write an `if`",
            )
        }
        Error::ConflictingSwitchCase(value) => told(format!("another case has the value {}", case(value)))
            .help("write what is to be done for a value once"),
        Error::ConflictingCaseType => told("the values of these cases have different types")
            .help("write each as the value that is tested is: `1u` for an unsigned one"),
        Error::MissingDefaultCase => told("this `switch` has no `default`").help("add `default: {}`"),
        Error::MultipleDefaultCases => told("this `switch` has `default` twice").help("leave one of them out"),
        Error::LastCaseFallTrough => told("the last case has nothing to fall through to")
            .help("end it with `break;`"),
        Error::InvalidStorePointer(_) => told(
            "this cannot be stored to: it lies in a uniform, or in a buffer that is for reading alone",
        )
        .help("declare it `var<storage, read_write>`"),
        Error::InvalidStoreTypes { pointer, value } => stored(&mut typed, pointer, value),
        Error::InvalidStoreTexture { .. } => told("this image cannot be stored to").help(
            "declare it a `texture_storage_2d<rgba8unorm, write>`",
        ),
        Error::InvalidStoreValue { ref actual_ty, ref expected_ty, .. } => {
            let [actual, expected] = [actual_ty, expected_ty].map(|one| names.inner(one));
            told(format!("a texel of this image is `{expected}`, and this is `{actual}`")).help(
                match actual_ty {
                    TypeInner::Scalar(_) => format!("put it into one: `{expected}(x, 0, 0, 0)`"),
                    _ => format!("write `{expected}(..)`"),
                },
            )
        }
        Error::InvalidCall { function, ref error } => called(&mut typed, function, error)?,
        Error::InvalidAtomic(_) => told("this atomic operation does not fit what it is done to")
            .help("atomics are `i32` and `u32`, in `var<workgroup>` and `var<storage, read_write>`; `f32` has `atomicAdd`"),
        Error::InvalidSubgroup(SubgroupError::InvalidOperand(operand)) => {
            told(format!("subgroup operations of this kind do not take {}", typed.ty(operand)))
        }
        Error::InvalidSubgroup(SubgroupError::InvalidInvocationIdExprType(_)) => {
            told("the invocation that a value is taken from is a constant here")
        }
        Error::NonUniformControlFlow(..) => told("not all invocations come here, and all would have to"),
        Error::NonUniformWorkgroupUniformLoad(_) => {
            told("not all invocations come here, and `workgroupUniformLoad` is a barrier")
        }
        Error::PipelineInputRegularFunction { ref name } => given_to_no_entry_point(names, function, name),
        Error::PipelineOutputRegularFunction => told("entry points alone have built-in results and locations"),
        _ => return None,
    })
}

/// A parameter that only an entry point can have.
fn given_to_no_entry_point(names: Names, function: &Function, parameter: &str) -> Told {
    let message = told(format!("`{parameter}` is built in, and entry points alone are given such values"));
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
) -> Option<Told> {
    let names = typed.names;
    Some(match error {
        LocalVariableError::InvalidType(_) => match names.module.types[ty].inner {
            TypeInner::Image { .. } | TypeInner::Sampler { .. } => {
                told("images and samplers cannot be kept in variables").help("name them where they are used")
            }
            TypeInner::Array { size: ArraySize::Pending(_), .. } => told(format!(
                "the length of `{name}` is an override, which arrays in `var<workgroup>` alone have"
            ))
            .help("write a number, or a `const`"),
            _ => told("a local variable has a known size")
                .help("write the length of the array: `array<f32, 4>`"),
        },
        LocalVariableError::InitializerType => {
            let value = init?;
            let message =
                told(format!("`{name}` is `{}`, and its value is {}", names.ty(ty), typed.ty(value)));
            let variable = names.module.types[ty].inner.clone();
            typed.converted(message, &variable, value)
        }
        LocalVariableError::NonConstOrOverrideInitializer => told(format!("`{name}` begins with a constant")),
    })
}

fn returned(typed: &mut Typed, function: &Function, value: Option<Handle<Expression>>) -> Told {
    let expected = function.result.as_ref().map(|result| typed.names.ty(result.ty));
    match (value, expected) {
        (Some(value), Some(expected)) => {
            let message =
                told(format!("this function returns `{expected}`, and this is {}", typed.ty(value)));
            let Some(result) = &function.result else { return message };
            typed.converted(message, &typed.names.module.types[result.ty].inner, value)
        }
        (None, Some(expected)) => told("this function comes to its end without a `return` of its value")
            .help(format!("end each way through it with `return ..;`, which gives a `{expected}`")),
        (_, None) => told("this function returns nothing")
            .help("leave out the value, or write its type: `fn f() -> f32`"),
    }
}

pub(super) fn not_a_condition(typed: &mut Typed, condition: Handle<Expression>) -> Told {
    let message = told(format!("a condition is a `bool`, and this is {}", typed.ty(condition)));
    match typed.inner(condition) {
        Some(TypeInner::Vector { .. }) => message.help("write `all(..)` or `any(..)`"),
        Some(TypeInner::Scalar(_)) => message.help("write `x != 0` for whether a number is not 0"),
        _ => message,
    }
}

fn stored(typed: &mut Typed, pointer: Handle<Expression>, value: Handle<Expression>) -> Told {
    let (place, stored) = (typed.ty(pointer), typed.ty(value));
    let message = told(format!("what belongs here is {place}, and this is {stored}"));
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

fn called(typed: &mut Typed, function: Handle<Function>, error: &CallError) -> Option<Told> {
    Some(match *error {
        CallError::ArgumentCount { required, seen } => {
            let arguments = if required == 1 { "argument" } else { "arguments" };
            let are = if seen == 1 { "is" } else { "are" };
            told(format!("this function takes {required} {arguments}, and {seen} {are} given"))
                .help(format!("it is `{}`", typed.names.head(&typed.names.module.functions[function])))
        }
        CallError::ArgumentType { index, required, seen_expression } => {
            argument(typed, index + 1, required, seen_expression)
        }
        // Entry points of GLSL call what the text calls `main`, and take no value of it.
        CallError::ExpressionMismatch(_) => told("`main` returns nothing").help("write `void main()`"),
        CallError::Argument { ref source, .. } => return typed.told(source),
        _ => return None,
    })
}

/// An argument of another type than the parameter that it is for, which has a number.
fn argument(typed: &mut Typed, number: usize, required: Handle<Type>, seen: Handle<Expression>) -> Told {
    let names = typed.names;
    let (given, wanted) = (typed.ty(seen), names.ty(required));
    let required = &names.module.types[required].inner;
    if required.pointer_space().is_none() {
        let message = told(format!("argument {number} is a `{wanted}`, and {given} is given"));
        return typed.converted(message, required, seen);
    }
    match typed.is_pointer(seen) {
        true => told(format!("argument {number} is a pointer to other memory, or to another type, than this"))
            .help(format!(
                "hand over a variable of the function's own, `var x: {wanted}`, or let the function name this one itself"
            )),
        false => told(format!("argument {number} is a pointer to a `{wanted}`, and {given} is given"))
            .help("write `&` before the name of a variable"),
    }
}
