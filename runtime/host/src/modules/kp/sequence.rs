//! `kp.Sequence`; the operations of its verbs are made in `verbs.rs`.

use std::rc::Rc;
use std::time::Duration;

use kps_compute::{Op, Sequence};

use super::errors::compute;
use super::messages::{Ran, deliver};
use super::ops;
use super::shared::SharedManager;
use super::values;
use super::verbs;
use crate::errors::{type_error, value_error};
use crate::value::{Args, CompareOp, Native, NativeDef, NativeType, Parser, Result, Value};
use crate::vm::Vm;

pub static SEQUENCE: NativeType = NativeType {
    methods: &[
        NativeDef::method("init", init).doc("()", "Does nothing: the manager initialises sequences."),
        NativeDef::method("begin", begin)
            .doc("()", "Drops the recorded operations, starts recording, and returns True."),
        NativeDef::method("end", end).doc("()", "Ends recording, and returns True."),
        NativeDef::method("record", record).doc("(op)", "Adds an operation, and returns the sequence."),
        NativeDef::method("eval", eval).doc(
            "(op=None)",
            "Runs what is recorded, with `op` as its last operation; waits for it, and returns \
                 the sequence.",
        ),
        NativeDef::method("eval_async", eval_async)
            .doc("(op=None)", "As `eval`, without waiting for the end."),
        NativeDef::method("eval_await", eval_await).doc(
            "(wait_for=None, *, waitFor=None)",
            "Waits at most `wait_for` seconds or `waitFor` nanoseconds. The result is the sequence, \
                 and is true if the operations are done.",
        ),
        NativeDef::method("clear", clear)
            .doc("()", "Drops the recorded operations, and returns the sequence."),
        NativeDef::method("rerecord", rerecord).doc(
            "()",
            "Builds the commands of the operations again at the next evaluation; returns the \
                 sequence.",
        ),
        NativeDef::method("get_timestamps", get_timestamps).doc(
            "()",
            "Returns times in nanoseconds: one from before the first operation, and one after \
                 each.",
        ),
        NativeDef::method("is_rec", is_recording).doc("()", "Returns whether it is recording."),
        NativeDef::method("is_recording", is_recording).doc("()", "Returns whether it is recording."),
        NativeDef::method("is_running", is_running)
            .doc("()", "Returns whether operations that `eval_async` started are running."),
        NativeDef::method("is_init", is_init).doc("()", "Returns whether it is not destroyed."),
        NativeDef::method("destroy", destroy).doc("()", "Frees the sequence; running operations go on."),
        NativeDef::method("record_tensor_create", record_verb::<{ verbs::TENSOR_CREATE }>).doc(
            "(tensors, *, syncDataToGPU=True)",
            "Gives tensors their memory on the device, and records `OpSyncDevice`.",
        ),
        NativeDef::method("record_tensor_copy", record_verb::<{ verbs::TENSOR_COPY }>)
            .doc("(tensors)", "Records `OpCopy`."),
        NativeDef::method("record_tensor_sync_device", record_verb::<{ verbs::TENSOR_SYNC_DEVICE }>)
            .doc("(tensors)", "Records `OpSyncDevice`."),
        NativeDef::method("record_tensor_sync_local", record_verb::<{ verbs::TENSOR_SYNC_LOCAL }>)
            .doc("(tensors)", "Records `OpSyncLocal`."),
        NativeDef::method("record_algo_mult", record_verb::<{ verbs::ALGO_MULT }>)
            .doc("(tensors)", "Records `OpMult`."),
        NativeDef::method("record_algo_file", record_verb::<{ verbs::ALGO_FILE }>).doc(
            "(tensors, file_path, work_group=None, constants=[], *, entry_point=None)",
            "Records a run of a shader file; `work_group` counts workgroups, and `constants` are the \
                 values of specialisation constants.",
        ),
        NativeDef::method("record_algo_str", record_verb::<{ verbs::ALGO_STR }>).doc(
            "(tensors, data, work_group=None, constants=[], *, entry_point=None)",
            "Records a run of the text of a shader; `work_group` counts workgroups.",
        ),
        NativeDef::method("record_algo_data", record_verb::<{ verbs::ALGO_DATA }>).doc(
            "(tensors, data, work_group=None, constants=[], *, entry_point=None)",
            "Records a run of SPIR-V; `work_group` counts workgroups.",
        ),
        NativeDef::method("record_algo_lro", record_verb::<{ verbs::ALGO_LRO }>).doc(
            "(tensors, data=None, work_group=None, constants=[], *, entry_point=None)",
            "Records a run of a shader on the tensors left, right and output; without one, \
                 `OpMult`.",
        ),
    ],
    ..NativeType::new("Sequence", "kp")
        .doc("", "A list of operations that run on a device in order; `Manager.sequence` makes one.")
};

pub struct ScriptSequence {
    sequence: Sequence,
    manager: SharedManager,
    /// What `eval_await` returns says whether the operations are done, and is the sequence as well.
    is_done: Option<bool>,
}

impl ScriptSequence {
    pub fn value(sequence: Sequence, manager: SharedManager) -> Value {
        Value::native(ScriptSequence { sequence, manager, is_done: None })
    }

    fn awaited(&self, is_done: bool) -> Value {
        let (sequence, manager) = (self.sequence.clone(), self.manager.clone());
        Value::native(ScriptSequence { sequence, manager, is_done: Some(is_done) })
    }

    pub fn sequence(&self) -> &Sequence {
        &self.sequence
    }

    /// If launches are checked, the sequence stores which statement recorded the operation.
    fn record(&self, vm: &Vm, op: Op) -> Result<()> {
        let recorded = match self.manager.may_check() {
            true => self.sequence.record_from(op, Rc::new(vm.trace())),
            false => self.sequence.record(op),
        };
        recorded.map_err(compute)
    }
}

impl Native for ScriptSequence {
    fn native_type(&self) -> &'static NativeType {
        &SEQUENCE
    }

    fn truth(&self, _: &mut Vm) -> Result<bool> {
        Ok(self.is_done.unwrap_or(true))
    }

    /// The first generations return a bool where later ones return the sequence.
    fn compare(&self, _: &Value, _: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        let is_same = match other {
            Value::Bool(bool) => self.is_done.unwrap_or(true) == *bool,
            other => match other.downcast::<ScriptSequence>() {
                Some(other) => self.sequence.is(&other.sequence),
                None => return Ok(None),
            },
        };
        Ok(match op {
            CompareOp::Eq => Some(is_same.into()),
            CompareOp::NotEq => Some((!is_same).into()),
            _ => None,
        })
    }

    fn same_key(&self, other: &Value) -> bool {
        other.downcast::<ScriptSequence>().is_some_and(|other| self.sequence.is(&other.sequence))
    }

    /// The result of `eval_await` is equal to the sequence, and has its hash.
    fn hash(&self, _: &Value, _: &mut Vm) -> Result<Option<i64>> {
        Ok(Some(self.sequence.address() as i64))
    }

    fn repr(&self, this: &Value, _: &mut Vm) -> Result<String> {
        Ok(match self.is_done {
            Some(true) => "True".to_owned(),
            Some(false) => "False".to_owned(),
            None => format!("<kp.Sequence object at {:#x}>", this.address().unwrap_or(0)),
        })
    }
}

/// The manager initialises sequences.
fn init(_: &mut Vm, args: &Args) -> Result {
    args.this::<ScriptSequence>()?;
    Ok(Value::None)
}

fn begin(_: &mut Vm, args: &Args) -> Result {
    args.this::<ScriptSequence>()?.sequence.begin().map_err(compute)?;
    Ok(true.into())
}

fn end(_: &mut Vm, args: &Args) -> Result {
    args.this::<ScriptSequence>()?.sequence.end().map_err(compute)?;
    Ok(true.into())
}

fn record(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptSequence = args.this()?;
    let mut parser = args.method_parser("record");
    let op = parser.required("op")?;
    parser.finish()?;
    this.record(vm, ops::op(op)?)?;
    Ok(args.receiver()?.clone())
}

/// `eval()`, or `eval(op)`, which records the operation first. Returns the sequence, which is true.
fn eval(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptSequence = args.this()?;
    record_optional(vm, this, args, "eval")?;
    this.sequence.eval().map_err(compute)?;
    deliver(vm, &this.manager, Ran::Sequence(&this.sequence))?;
    Ok(args.receiver()?.clone())
}

fn eval_async(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptSequence = args.this()?;
    record_optional(vm, this, args, "eval_async")?;
    this.sequence.eval_async().map_err(compute)?;
    this.manager.note_started(vm, &this.sequence);
    if vm.interrupter().is_set() {
        // The wait raises an error of the evaluation that ended it.
        this.sequence.eval_await(None).map_err(compute)?;
    }
    deliver(vm, &this.manager, Ran::Sequence(&this.sequence))?;
    Ok(args.receiver()?.clone())
}

fn record_optional(vm: &Vm, this: &ScriptSequence, args: &Args, function: &str) -> Result<()> {
    let mut parser = args.method_parser(function);
    let op = parser.optional("op")?;
    parser.finish()?;
    match op {
        Some(op) => this.record(vm, ops::op(op)?),
        None => Ok(()),
    }
}

/// `eval_await(wait_for=None)`: whether it is done, after at most that many seconds. Kompute counts
/// nanoseconds. The result is the sequence as well, to go on with.
fn eval_await(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptSequence = args.this()?;
    let mut parser = args.method_parser("eval_await");
    let timeout = timeout(vm, &mut parser, "wait_for")?;
    parser.finish()?;
    let ended = this.sequence.eval_await(timeout).map_err(compute);
    deliver(vm, &this.manager, Ran::Started)?;
    Ok(this.awaited(ended?))
}

/// The time to wait: the parameter `name` is in seconds, Kompute's `waitFor` in nanoseconds. Without both
/// there is no limit.
pub fn timeout(_: &mut Vm, parser: &mut Parser, name: &'static str) -> Result<Option<Duration>> {
    let seconds = parser.optional(name)?;
    let (given, unit) = match parser.keyword_only("waitFor") {
        Some(nanoseconds) => (Some(nanoseconds), 1e-9),
        None => (seconds, 1.0),
    };
    let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(None) };
    let time = values::number(given)?
        .ok_or_else(|| type_error(format!("a time to wait is in seconds, not {}", given.type_name())))?;
    // More than a duration can hold means no limit.
    match time.as_f64() * unit {
        seconds if seconds < 0.0 || seconds.is_nan() => Err(value_error("a time to wait cannot be negative")),
        seconds => Ok(Duration::try_from_secs_f64(seconds).ok()),
    }
}

fn clear(_: &mut Vm, args: &Args) -> Result {
    args.this::<ScriptSequence>()?.sequence.clear().map_err(compute)?;
    Ok(args.receiver()?.clone())
}

fn rerecord(_: &mut Vm, args: &Args) -> Result {
    args.this::<ScriptSequence>()?.sequence.rerecord().map_err(compute)?;
    Ok(args.receiver()?.clone())
}

/// Nanoseconds: before the first operation and after each.
fn get_timestamps(_: &mut Vm, args: &Args) -> Result {
    let timestamps = args.this::<ScriptSequence>()?.sequence.timestamps().map_err(compute)?;
    Ok(Value::from(timestamps))
}

fn is_recording(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<ScriptSequence>()?.sequence.is_recording().into())
}

fn is_running(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<ScriptSequence>()?.sequence.is_running().into())
}

fn is_init(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<ScriptSequence>()?.sequence.is_init().into())
}

fn destroy(_: &mut Vm, args: &Args) -> Result {
    args.this::<ScriptSequence>()?.sequence.destroy();
    Ok(Value::None)
}

fn record_verb<const OP: u8>(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptSequence = args.this()?;
    let mut parser = args.method_parser("record");
    let tensors = parser.required("tensors")?;
    let op = verbs::op::<OP>(vm, &this.manager, tensors, &mut parser)?;
    parser.finish()?;
    this.record(vm, op)?;
    Ok(args.receiver()?.clone())
}
