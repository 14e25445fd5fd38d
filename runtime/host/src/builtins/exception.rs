//! Attributes and methods of exceptions.

use std::rc::Rc;

use crate::errors;
use crate::value::{Args, Class, ExceptionData, ExceptionKind, Instance, Name, NativeDef, Result, Value};
use crate::vm::Vm;

pub static BASE_METHODS: &[NativeDef] = &[
    NativeDef::method("__init__", init),
    NativeDef::member("args", args, set_args),
    NativeDef::member("__cause__", cause, set_cause),
    NativeDef::member("__context__", context, set_context),
    NativeDef::member("__suppress_context__", suppress_context, set_suppress_context),
    NativeDef::member("__traceback__", traceback, set_traceback),
    NativeDef::method("with_traceback", with_traceback),
    NativeDef::method("add_note", add_note),
];

pub static STOP_ITERATION_METHODS: &[NativeDef] = &[NativeDef::member(
    "value",
    |_, args| member(args, "value", first_arg),
    |_, args| set_member(args, "value"),
)];

pub static SYSTEM_EXIT_METHODS: &[NativeDef] = &[NativeDef::member(
    "code",
    |_, args| member(args, "code", first_arg),
    |_, args| set_member(args, "code"),
)];

/// The arguments are the error number, its message, and the file if there is one.
pub static OS_ERROR_METHODS: &[NativeDef] = &[
    NativeDef::member(
        "errno",
        |_, args| member(args, "errno", |data| of_system(data, 0)),
        |_, args| set_member(args, "errno"),
    ),
    NativeDef::member(
        "strerror",
        |_, args| member(args, "strerror", |data| of_system(data, 1)),
        |_, args| set_member(args, "strerror"),
    ),
    NativeDef::member(
        "filename",
        |_, args| member(args, "filename", none),
        |_, args| set_member(args, "filename"),
    ),
];

pub static NAME_ERROR_METHODS: &[NativeDef] = &[NAME];

pub static IMPORT_ERROR_METHODS: &[NativeDef] = &[
    NAME,
    NativeDef::member("path", |_, args| member(args, "path", none), |_, args| set_member(args, "path")),
];

pub static ATTRIBUTE_ERROR_METHODS: &[NativeDef] =
    &[NAME, NativeDef::member("obj", |_, args| member(args, "obj", none), |_, args| set_member(args, "obj"))];

const NAME: NativeDef =
    NativeDef::member("name", |_, args| member(args, "name", none), |_, args| set_member(args, "name"));

fn none(_: &ExceptionData) -> Value {
    Value::None
}

/// Takes the keywords of a call of an exception class: only some classes have such members.
pub fn take_keywords(class: &Class, data: &ExceptionData, args: &Args) -> Result<()> {
    if !args.has_keywords() {
        return Ok(());
    }
    let known: &[&str] = match class.exception_kind() {
        ExceptionKind::ImportError | ExceptionKind::ModuleNotFoundError => &["name", "path"],
        ExceptionKind::NameError | ExceptionKind::UnboundLocalError => &["name"],
        ExceptionKind::AttributeError => &["name", "obj"],
        _ => return Err(errors::no_keywords(&class.name)),
    };
    for (name, value) in args.keywords() {
        if !known.contains(&&**name) {
            return Err(errors::unexpected_keyword(&class.name, name));
        }
        drop(data.members.borrow_mut().insert(name.clone(), value.clone()));
    }
    Ok(())
}

/// The value that a script assigned to the member, or else that of the arguments.
fn member(args: &Args, name: &str, of_args: fn(&ExceptionData) -> Value) -> Result {
    let (_, data) = exception(args)?;
    let assigned = data.members.borrow().get_text(name).cloned();
    Ok(assigned.unwrap_or_else(|| of_args(data)))
}

fn set_member(args: &Args, name: &str) -> Result {
    let [_, new] = args.exactly(name)?;
    let (_, data) = exception(args)?;
    drop(data.members.borrow_mut().insert(Name::from(name), new.clone()));
    Ok(Value::None)
}

/// The number or the message of a system error; None for an exception that has only a message.
fn of_system(data: &ExceptionData, at: usize) -> Value {
    let values = data.args.borrow();
    let is_of_system = values.len() == 2;
    values.get(at).filter(|_| is_of_system).cloned().unwrap_or(Value::None)
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
    let (instance, data) = exception(args)?;
    take_keywords(instance.class(), data, args)?;
    let is_of_system = instance.class().exception_kind().is_of(ExceptionKind::OSError);
    let previous = data.args.replace(args.positional()[1..].to_vec());
    drop(previous);
    if is_of_system {
        data.take_file();
    }
    Ok(Value::None)
}

fn args(_: &mut Vm, args: &Args) -> Result {
    let (_, data) = exception(args)?;
    let values = data.args.borrow().clone();
    Ok(Value::tuple(values))
}

fn set_args(vm: &mut Vm, args: &Args) -> Result {
    let [_, new] = args.exactly("args")?;
    let new = vm.collect(new)?;
    let previous = exception(args)?.1.args.replace(new);
    drop(previous);
    Ok(Value::None)
}

fn first_arg(data: &ExceptionData) -> Value {
    data.args.borrow().first().cloned().unwrap_or(Value::None)
}

fn cause(_: &mut Vm, args: &Args) -> Result {
    let (_, data) = exception(args)?;
    let cause = data.cause.borrow().clone();
    Ok(cause.map_or(Value::None, Value::Instance))
}

/// Setting a cause, even None, hides the context.
fn set_cause(vm: &mut Vm, args: &Args) -> Result {
    let (this, data) = exception(args)?;
    let linked = linked(args, "cause")?;
    data.suppress_context.set(true);
    drop(data.cause.replace(linked));
    vm.remembered.instance(this, &args.positional()[1]);
    Ok(Value::None)
}

fn context(_: &mut Vm, args: &Args) -> Result {
    let (_, data) = exception(args)?;
    let context = data.context.borrow().clone();
    Ok(context.map_or(Value::None, Value::Instance))
}

fn set_context(vm: &mut Vm, args: &Args) -> Result {
    let (this, data) = exception(args)?;
    drop(data.context.replace(linked(args, "context")?));
    vm.remembered.instance(this, &args.positional()[1]);
    Ok(Value::None)
}

/// The exception that another one is linked to by assignment.
fn linked(args: &Args, what: &str) -> Result<Option<Rc<Instance>>> {
    match &args.positional()[1] {
        Value::None => Ok(None),
        Value::Instance(linked) if linked.exception().is_some() => Ok(Some(linked.clone())),
        _ => {
            let message = format!("exception {what} must be None or derive from BaseException");
            Err(errors::type_error(message))
        }
    }
}

fn suppress_context(_: &mut Vm, args: &Args) -> Result {
    let (_, data) = exception(args)?;
    Ok(data.suppress_context.get().into())
}

fn set_suppress_context(_: &mut Vm, args: &Args) -> Result {
    let (_, data) = exception(args)?;
    let Value::Bool(new) = args.positional()[1] else {
        return Err(errors::type_error("attribute value type must be bool"));
    };
    data.suppress_context.set(new);
    Ok(Value::None)
}

/// The frames as text: the host prints tracebacks, and scripts cannot walk them.
fn traceback(_: &mut Vm, args: &Args) -> Result {
    let (_, data) = exception(args)?;
    let trace = data.trace.borrow();
    if trace.is_empty() {
        return Ok(Value::None);
    }
    let lines = trace.iter().rev().map(|entry| {
        let (line, _) = entry.location.source.line_column(entry.location.span.start);
        Value::str(format!("{}:{line} in {}", entry.location.source.name(), entry.function))
    });
    Ok(Value::list(lines.collect()))
}

/// None drops the frames; a value of `__traceback__` retains them.
fn set_traceback(_: &mut Vm, args: &Args) -> Result {
    let (_, data) = exception(args)?;
    match args.positional().get(1) {
        Some(Value::None) => data.trace.borrow_mut().clear(),
        Some(Value::List(_)) => {}
        _ => return Err(errors::type_error("__traceback__ must be a traceback or None")),
    }
    Ok(Value::None)
}

fn with_traceback(vm: &mut Vm, args: &Args) -> Result {
    set_traceback(vm, args)?;
    Ok(args.positional()[0].clone())
}

fn add_note(vm: &mut Vm, args: &Args) -> Result {
    let (instance, data) = exception(args)?;
    let mut parser = args.method_parser("add_note");
    let note = parser.required("note")?.clone();
    parser.finish()?;
    if note.as_str().is_none() {
        return Err(errors::type_error(format!("note must be a str, not '{}'", note.type_name())));
    }
    let this = Value::Instance(instance.clone());
    match vm.find_attr(&this, "__notes__")? {
        Some(Value::List(notes)) => notes.borrow_mut().push(note.clone()),
        _ => instance.set_text("__notes__", Value::list(vec![note.clone()])),
    }
    *data.help.borrow_mut() = note.as_str().map(str::to_owned);
    Ok(Value::None)
}
