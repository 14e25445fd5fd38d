//! Attributes and methods of exceptions.

use std::rc::Rc;

use crate::errors;
use crate::value::{Args, ExceptionData, Instance, NativeDef, Result, Value};
use crate::vm::Vm;

pub static BASE_METHODS: &[NativeDef] = &[
    NativeDef::method("__init__", init),
    NativeDef::getter("args", args),
    NativeDef::getter("__cause__", cause),
    NativeDef::getter("__context__", context),
    NativeDef::getter("__suppress_context__", suppress_context),
    NativeDef::getter("__traceback__", traceback),
    NativeDef::method("with_traceback", with_traceback),
    NativeDef::method("add_note", add_note),
];

pub static STOP_ITERATION_METHODS: &[NativeDef] = &[NativeDef::getter("value", first_arg)];

pub static SYSTEM_EXIT_METHODS: &[NativeDef] = &[NativeDef::getter("code", first_arg)];

/// The arguments are the number of the error, its words, and the file where there is one.
pub static OS_ERROR_METHODS: &[NativeDef] = &[
    NativeDef::getter("errno", |_, args| of_system(args, 0)),
    NativeDef::getter("strerror", |_, args| of_system(args, 1)),
    NativeDef::getter("filename", |_, args| of_system(args, 2)),
];

/// One of the arguments of a system's error; None of an exception that has but a message.
fn of_system(args: &Args, at: usize) -> Result {
    let (_, data) = exception(args)?;
    let values = data.args.borrow();
    let is_of_system = (2..=3).contains(&values.len());
    Ok(values.get(at).filter(|_| is_of_system).cloned().unwrap_or(Value::None))
}

fn exception<'a>(args: &Args<'a>) -> Result<(&'a Rc<Instance>, &'a ExceptionData)> {
    match args.positional().first() {
        Some(Value::Instance(instance)) => match instance.exception() {
            Some(data) => Ok((instance, data)),
            None => Err(errors::wrong_receiver(&args.positional()[0])),
        },
        Some(other) => Err(errors::wrong_receiver(other)),
        None => Err(errors::method_needs_object()),
    }
}

fn init(_: &mut Vm, args: &Args) -> Result {
    let (_, data) = exception(args)?;
    let previous = data.args.replace(args.positional()[1..].to_vec());
    drop(previous);
    Ok(Value::None)
}

fn args(_: &mut Vm, args: &Args) -> Result {
    let (_, data) = exception(args)?;
    let values = data.args.borrow().clone();
    Ok(Value::tuple(values))
}

fn first_arg(_: &mut Vm, args: &Args) -> Result {
    let (_, data) = exception(args)?;
    let first = data.args.borrow().first().cloned();
    Ok(first.unwrap_or(Value::None))
}

fn cause(_: &mut Vm, args: &Args) -> Result {
    let (_, data) = exception(args)?;
    let cause = data.cause.borrow().clone();
    Ok(cause.map_or(Value::None, Value::Instance))
}

fn context(_: &mut Vm, args: &Args) -> Result {
    let (_, data) = exception(args)?;
    let context = data.context.borrow().clone();
    Ok(context.map_or(Value::None, Value::Instance))
}

fn suppress_context(_: &mut Vm, args: &Args) -> Result {
    let (_, data) = exception(args)?;
    Ok(data.suppress_context.get().into())
}

/// The frames as text: a traceback is told by the host, scripts cannot walk it.
fn traceback(_: &mut Vm, args: &Args) -> Result {
    let (_, data) = exception(args)?;
    let trace = data.trace.borrow();
    let lines = trace.iter().rev().map(|entry| {
        let (line, _) = entry.location.source.line_column(entry.location.span.start);
        Value::str(format!("{}:{line} in {}", entry.location.source.name(), entry.function))
    });
    Ok(Value::list(lines.collect()))
}

fn with_traceback(_: &mut Vm, args: &Args) -> Result {
    exception(args)?;
    Ok(args.positional()[0].clone())
}

fn add_note(vm: &mut Vm, args: &Args) -> Result {
    let (instance, data) = exception(args)?;
    let mut parser = args.method_parser("add_note");
    let note = parser.required("note")?.clone();
    parser.finish()?;
    let this = Value::Instance(instance.clone());
    match vm.find_attr(&this, "__notes__")? {
        Some(Value::List(notes)) => notes.borrow_mut().push(note.clone()),
        _ => instance.set_text("__notes__", Value::list(vec![note.clone()])),
    }
    *data.help.borrow_mut() = note.as_str().map(str::to_owned);
    Ok(Value::None)
}
