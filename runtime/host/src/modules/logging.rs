//! The Rust part of the module `logging`: the events of the compute library, and the current place of a
//! script.
//!
//! Events occur while no script runs, so they are queued until [`flush_kp`], which passes them to the logger
//! `kp` of the script's module. A script that does not import `logging` has no handlers: its events from
//! WARNING on go to standard error at once.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use kps_compute::Log;
use kps_syntax::diagnostic::Frame;

use crate::errors;
use crate::output::ErrorOutput;
use crate::value::{Args, NativeDef, NativeModule, Result, TraceEntry, Value};
use crate::vm::Vm;

pub static MODULE: NativeModule = NativeModule {
    functions: &[
        NativeDef::function("attach", attach),
        NativeDef::function("flush", flush),
        NativeDef::function("level", |vm, _| Ok(vm.state::<Events>().level.get().into())),
        NativeDef::function("set_level", set_level),
        NativeDef::function("caller", caller),
        NativeDef::function("stack", stack),
        NativeDef::function("traceback", traceback),
    ],
    ..NativeModule::new("_logging")
};

/// The name of the source of a library module.
const LIBRARY: [&str; 2] = ["<logging>", "<warnings>"];

const WARNING: i64 = 30;

/// The events of the compute library on their way to the logger `kp`.
struct Events {
    /// Those below are dropped.
    level: Cell<i64>,
    /// Whether the script has imported `logging`, which consumes the queue.
    is_attached: Cell<bool>,
    waiting: RefCell<Vec<(i64, String)>>,
}

impl Default for Events {
    fn default() -> Events {
        Events { level: Cell::new(WARNING), is_attached: Cell::default(), waiting: RefCell::default() }
    }
}

impl Events {
    fn take(&self, level: i64, message: &str, errors: &ErrorOutput) {
        if level < self.level.get() {
            return;
        }
        if self.is_attached.get() {
            self.waiting.borrow_mut().push((level, message.to_owned()));
            return;
        }
        let name = match level {
            ..10 => "TRACE",
            10..20 => "DEBUG",
            20..30 => "INFO",
            30..40 => "WARNING",
            _ => "ERROR",
        };
        // A log that cannot be written to must not stop the work that it reports.
        let _ = errors.write(&format!("{name}:kp:{message}\n"));
    }
}

/// The log of the compute library's events: the logger `kp`.
pub fn kp_log(vm: &mut Vm) -> Log {
    let (events, errors) = (vm.state::<Events>(), vm.error_output.clone());
    Log::to(move |level, message| events.take(super::kp::level(level), message, &errors))
}

/// A warning on the logger `kp`.
pub fn warn_kp(vm: &mut Vm, message: &str) -> Result<()> {
    vm.state::<Events>().take(WARNING, message, &vm.error_output);
    flush_kp(vm)
}

/// Sets the level of the logger `kp`.
pub fn set_kp_level(vm: &mut Vm, level: i64) -> Result<()> {
    vm.state::<Events>().level.set(level);
    call(vm, "_set_kp_level", &[level.into()])
}

/// Passes queued events to the logger `kp`.
pub fn flush_kp(vm: &mut Vm) -> Result<()> {
    let waiting = vm.state::<Events>().waiting.take();
    for (level, message) in waiting {
        call(vm, "_from_kp", &[level.into(), message.into()])?;
    }
    Ok(())
}

/// Calls a function of the script part, if it is loaded.
fn call(vm: &mut Vm, function: &str, args: &[Value]) -> Result<()> {
    let Some(function) = vm.modules.get("logging").and_then(|module| module.get(function)) else {
        return Ok(());
    };
    vm.call(&function, args)?;
    Ok(())
}

/// `attach()`: from now on, events wait for the module.
fn attach(vm: &mut Vm, args: &Args) -> Result {
    args.exactly::<0>("attach")?;
    vm.state::<Events>().is_attached.set(true);
    Ok(Value::None)
}

fn flush(vm: &mut Vm, args: &Args) -> Result {
    args.exactly::<0>("flush")?;
    flush_kp(vm)?;
    Ok(Value::None)
}

/// `set_level(level)`: events below it are dropped.
fn set_level(vm: &mut Vm, args: &Args) -> Result {
    let [level] = args.exactly("set_level")?;
    let level = vm.index(level)?;
    vm.state::<Events>().level.set(level);
    Ok(Value::None)
}

/// The frames of the script, outermost first, without those of the calling library.
fn frames(vm: &Vm) -> Vec<Frame> {
    let mut frames = vm.trace();
    while frames.last().is_some_and(|frame| LIBRARY.contains(&frame.location.source.name())) {
        frames.pop();
    }
    frames
}

/// `caller(depth)`: path, line and function of the frame that called the library; a greater depth is further
/// up.
fn caller(vm: &mut Vm, args: &Args) -> Result {
    let [depth] = args.exactly("caller")?;
    let depth = usize::try_from(vm.index(depth)?.max(1) - 1).unwrap_or(0);
    let frames = frames(vm);
    let Some(frame) = frames.iter().rev().nth(depth).or(frames.first()) else {
        return Ok(Value::tuple([
            Value::str("(unknown file)"),
            Value::Int(0),
            Value::str("(unknown function)"),
        ]));
    };
    let source = &frame.location.source;
    Ok(Value::tuple([
        Value::str(source.name()),
        Value::Int(source.line(frame.location.span.start).into()),
        Value::str(frame.function.as_str()),
    ]))
}

/// `stack()`: the frames that led to the caller of the library, as Python shows them.
fn stack(vm: &mut Vm, args: &Args) -> Result {
    args.exactly::<0>("stack")?;
    let frames = frames(vm);
    let lines = frames.iter().map(|frame| frame_lines(&frame.location, &frame.function));
    Ok(Value::str(format!("Stack (most recent call last):\n{}", lines.collect::<String>()).trim_end()))
}

/// `traceback(exception)`: an exception with those that caused it, as Python shows it.
fn traceback(vm: &mut Vm, args: &Args) -> Result {
    let [exception] = args.exactly("traceback")?;
    let mut chain = Vec::new();
    let mut next = Some((exception.clone(), ""));
    while let Some((exception, link)) = next.take() {
        let Value::Instance(instance) = &exception else {
            return Err(errors::type_error(format!("expected an exception, not {}", exception.type_name())));
        };
        let Some(data) = instance.exception() else { break };
        let mut text = String::new();
        let entries: Vec<TraceEntry> = data.trace.borrow().clone();
        if !entries.is_empty() {
            text.push_str("Traceback (most recent call last):\n");
            text.extend(entries.iter().rev().map(|entry| frame_lines(&entry.location, &entry.function)));
        }
        text.push_str(&vm.exception_line(instance));
        text.push('\n');
        text.push_str(link);
        chain.push(text);
        let cause = data.cause.borrow().clone();
        let context = (!data.suppress_context.get()).then(|| data.context.borrow().clone()).flatten();
        next = match (cause, context) {
            (Some(cause), _) => Some((cause, CAUSE)),
            (None, Some(context)) => Some((context, CONTEXT)),
            (None, None) => None,
        }
        .map(|(instance, link): (Rc<_>, _)| (Value::Instance(instance), link));
    }
    Ok(Value::str(chain.into_iter().rev().collect::<String>().trim_end_matches('\n')))
}

const CAUSE: &str = "\nThe above exception was the direct cause of the following exception:\n\n";
const CONTEXT: &str = "\nDuring handling of the above exception, another exception occurred:\n\n";

fn frame_lines(location: &kps_syntax::source::Location, function: &str) -> String {
    let source = &location.source;
    let line = source.line(location.span.start);
    format!(
        "  File \"{}\", line {line}, in {function}\n    {}\n",
        source.name(),
        source.line_text(line).trim()
    )
}
