//! `kp.Stream` and `kp.Event`: which work follows which, and how long it takes.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use kps_compute::stream::Entered;
use kps_compute::{Event, Stream};

use super::errors::{self, compute};
use super::messages::{Ran, deliver};
use super::sequence::timeout;
use super::shared::{self, EnteredManager, ScriptedManager, SharedManager};
use crate::errors::type_error;
use crate::value::{Args, Native, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static STREAM: NativeType = NativeType {
    methods: &[
        NativeDef::method("record", record).doc(
            "(event=None)",
            "Marks the end of the work so far with `event`, or with a new event; returns the event.",
        ),
        NativeDef::method("wait", wait).doc(
            "(other)",
            "Makes later work on this stream follow an event, or the work so far on another stream; \
             returns the stream at once.",
        ),
        NativeDef::method("sync", sync).doc(
            "(timeout=None)",
            "Waits at most `timeout` seconds for the work so far; returns whether it is done. An error of \
             the work is raised here.",
        ),
        NativeDef::method("is_done", is_done).doc("()", "Returns whether the work so far is done."),
        NativeDef::getter("queue", queue).doc("", "The index of its queue on the device."),
        NativeDef::method("__enter__", enter),
        NativeDef::method("__exit__", exit),
    ],
    ..NativeType::new("Stream", "kp").doc(
        "",
        "A queue of a device, which runs its work in order; `Manager.stream` makes one. Inside a `with` \
         block, kernel calls and sequences run on the stream.",
    )
};

pub static EVENT: NativeType = NativeType {
    methods: &[
        NativeDef::method("sync", event_sync).doc(
            "(timeout=None)",
            "Waits at most `timeout` seconds for the work before the event; returns whether it is done.",
        ),
        NativeDef::method("is_done", event_is_done)
            .doc("()", "Returns whether the work before the event is done."),
        NativeDef::method("elapsed", elapsed).doc(
            "(other)",
            "Returns the milliseconds from this event to another, on the clock of the device; waits for \
             both.",
        ),
        NativeDef::getter("is_recorded", is_recorded).doc("", "Whether a stream has recorded the event."),
    ],
    ..NativeType::new("Event", "kp").doc(
        "",
        "A point in the work of a stream; `Stream.record` makes one, and `Manager.event` one to record \
         later.",
    )
};

pub struct ScriptStream {
    stream: Stream,
    manager: SharedManager,
    /// One for each `with` block that is open.
    entered: RefCell<Vec<EnteredStream>>,
}

pub struct ScriptEvent {
    event: Event,
    manager: SharedManager,
}

/// Work goes to the stream, and kernels without tensors of another manager to its manager, until this is
/// dropped.
pub struct EnteredStream {
    _stream: Entered,
    _manager: EnteredManager,
}

impl ScriptStream {
    pub fn value(stream: Stream, manager: SharedManager) -> Value {
        Value::native(ScriptStream { stream, manager, entered: RefCell::default() })
    }

    pub fn enter(&self, vm: &mut Vm) -> EnteredStream {
        EnteredStream { _stream: self.stream.enter(), _manager: shared::enter(vm, &self.manager) }
    }

    /// Checks that a launch of this manager may run on the stream.
    pub fn check_manager(&self, manager: &Rc<ScriptedManager>) -> Result<()> {
        match Rc::ptr_eq(&self.manager, manager) {
            true => Ok(()),
            false => Err(errors::other_manager("the stream", "the manager of the kernel's tensors")),
        }
    }
}

impl ScriptEvent {
    pub fn value(event: Event, manager: SharedManager) -> Value {
        Value::native(ScriptEvent { event, manager })
    }
}

impl Native for ScriptStream {
    fn native_type(&self) -> &'static NativeType {
        &STREAM
    }
}

impl Native for ScriptEvent {
    fn native_type(&self) -> &'static NativeType {
        &EVENT
    }
}

/// A launch's option `stream=`: a stream, or None.
pub fn stream_option(args: &Args) -> Option<Value> {
    args.keyword("stream").filter(|given| given.is_none() || stream_of(given).is_some()).cloned()
}

pub fn stream_of(value: &Value) -> Option<&ScriptStream> {
    value.downcast::<ScriptStream>()
}

fn record(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptStream = args.this()?;
    let mut parser = args.method_parser("record");
    let given = parser.optional("event")?.filter(|given| !given.is_none());
    parser.finish()?;
    let Some(given) = given else {
        let event = this.stream.record().map_err(compute)?;
        return Ok(ScriptEvent::value(event, this.manager.clone()));
    };
    this.stream.record_event(&event(given, "record")?.event).map_err(compute)?;
    Ok(given.clone())
}

/// `wait(event_or_stream)`
fn wait(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptStream = args.this()?;
    let mut parser = args.method_parser("wait");
    let other = parser.required("other")?;
    parser.finish()?;
    match stream_of(other) {
        Some(other) => this.stream.wait_for_stream(&other.stream).map_err(compute)?,
        None => this.stream.wait(&event(other, "wait")?.event).map_err(compute)?,
    }
    Ok(args.receiver()?.clone())
}

fn event<'a>(value: &'a Value, function: &str) -> Result<&'a ScriptEvent> {
    value.downcast::<ScriptEvent>().ok_or_else(|| {
        let expected = if function == "wait" { "an event or a stream" } else { "an event" };
        type_error(format!("{function} takes {expected}, not {}", value.type_name()))
            .help("such as the result of stream.record()")
    })
}

fn seconds(vm: &mut Vm, args: &Args) -> Result<Option<Duration>> {
    let mut parser = args.method_parser("sync");
    let limit = timeout(vm, &mut parser, "timeout")?;
    parser.finish()?;
    Ok(limit)
}

fn sync(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptStream = args.this()?;
    let limit = seconds(vm, args)?;
    let ended = this.stream.sync(limit).map_err(compute);
    deliver(vm, &this.manager, Ran::Started)?;
    Ok(ended?.into())
}

fn is_done(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<ScriptStream>()?.stream.is_done().map_err(compute)?.into())
}

fn queue(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<ScriptStream>()?.stream.queue().into())
}

fn enter(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptStream = args.this()?;
    this.manager.device().map_err(compute)?;
    let entered = this.enter(vm);
    this.entered.borrow_mut().push(entered);
    Ok(args.receiver()?.clone())
}

fn exit(_: &mut Vm, args: &Args) -> Result {
    args.this::<ScriptStream>()?.entered.borrow_mut().pop();
    Ok(Value::None)
}

fn event_sync(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptEvent = args.this()?;
    let limit = seconds(vm, args)?;
    let ended = this.event.sync(limit).map_err(compute);
    deliver(vm, &this.manager, Ran::Started)?;
    Ok(ended?.into())
}

fn event_is_done(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<ScriptEvent>()?.event.is_done().map_err(compute)?.into())
}

fn elapsed(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptEvent = args.this()?;
    let mut parser = args.method_parser("elapsed");
    let other = parser.required("other")?;
    parser.finish()?;
    let other = event(other, "elapsed")?;
    Ok(this.event.elapsed(&other.event).map_err(compute)?.into())
}

fn is_recorded(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<ScriptEvent>()?.event.is_recorded().into())
}
