//! `kp.Sequence`, with the verbs of both generations.

use std::rc::Rc;
use std::time::Duration;

use kps_compute::{Extent, Op, Push, Sequence, SpecValues, Tensor};
use kps_kernel::BoundaryTest;

use super::errors::{self, compute};
use super::manager::n_invocations;
use super::messages::{Ran, deliver};
use super::ops;
use super::shared::SharedManager;
use super::tensor::ScriptTensor;
use super::values;
use crate::errors::{type_error, value_error};
use crate::foreign::Options;
use crate::modules::kernels::{Bound, Launched};
use crate::value::{Args, CompareOp, ExceptionKind, Native, NativeDef, NativeType, Parser, Result, Value};
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
        NativeDef::method("record_tensor_create", record_verb::<TENSOR_CREATE>).doc(
            "(tensors, *, syncDataToGPU=True)",
            "Gives tensors their memory on the device, and records `OpSyncDevice`.",
        ),
        NativeDef::method("record_tensor_copy", record_verb::<TENSOR_COPY>)
            .doc("(tensors)", "Records `OpCopy`."),
        NativeDef::method("record_tensor_sync_device", record_verb::<TENSOR_SYNC_DEVICE>)
            .doc("(tensors)", "Records `OpSyncDevice`."),
        NativeDef::method("record_tensor_sync_local", record_verb::<TENSOR_SYNC_LOCAL>)
            .doc("(tensors)", "Records `OpSyncLocal`."),
        NativeDef::method("record_algo_mult", record_verb::<ALGO_MULT>).doc("(tensors)", "Records `OpMult`."),
        NativeDef::method("record_algo_file", record_verb::<ALGO_FILE>).doc(
            "(tensors, file_path, work_group=None, constants=[], *, entry_point=None)",
            "Records a run of a shader file; `work_group` counts workgroups, and `constants` are the \
                 values of specialisation constants.",
        ),
        NativeDef::method("record_algo_str", record_verb::<ALGO_STR>).doc(
            "(tensors, data, work_group=None, constants=[], *, entry_point=None)",
            "Records a run of the text of a shader; `work_group` counts workgroups.",
        ),
        NativeDef::method("record_algo_data", record_verb::<ALGO_DATA>).doc(
            "(tensors, data, work_group=None, constants=[], *, entry_point=None)",
            "Records a run of SPIR-V; `work_group` counts workgroups.",
        ),
        NativeDef::method("record_algo_lro", record_verb::<ALGO_LRO>).doc(
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
    this.manager.note_started(&this.sequence);
    if let Some(submission) = this.sequence.submission().filter(|_| this.sequence.is_running()) {
        this.manager.note_running(vm, submission);
    }
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

// The operations that first-generation scripts name in a verb: `record_<op>` here, `eval_<op>` on a
// manager. Numbers, because they are parameters of functions in tables.
pub const TENSOR_CREATE: u8 = 0;
pub const TENSOR_COPY: u8 = 1;
pub const TENSOR_SYNC_DEVICE: u8 = 2;
pub const TENSOR_SYNC_LOCAL: u8 = 3;
pub const ALGO_MULT: u8 = 4;
pub const ALGO_FILE: u8 = 5;
pub const ALGO_STR: u8 = 6;
pub const ALGO_DATA: u8 = 7;
pub const ALGO_LRO: u8 = 8;

fn record_verb<const OP: u8>(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptSequence = args.this()?;
    let mut parser = args.method_parser("record");
    let tensors = parser.required("tensors")?;
    let op = verb_op::<OP>(vm, &this.manager, tensors, &mut parser)?;
    parser.finish()?;
    this.record(vm, op)?;
    Ok(args.receiver()?.clone())
}

/// An optional parameter that versions give different names.
fn named_one_of<'a>(parser: &mut Parser<'a>, names: &[&str]) -> Result<Option<&'a Value>> {
    let (first, others) = names.split_first().expect("a parameter has a name");
    match others.iter().find_map(|name| parser.keyword_only(name)) {
        Some(given) => Ok(Some(given)),
        None => parser.optional(first),
    }
}

/// The tensors of a verb, as the script holds them too.
struct Operands {
    given: Vec<Value>,
    tensors: Vec<Tensor>,
}

impl Operands {
    fn read(vm: &mut Vm, given: &Value) -> Result<Operands> {
        let given = values::operands(vm, given, "a sequence")?;
        let tensor =
            |item: &Value| values::tensor(item).ok_or_else(|| errors::not_a_tensor("a sequence", item));
        let tensors = given.iter().map(tensor).collect::<Result<_>>()?;
        Ok(Operands { given, tensors })
    }

    /// Runs something on the tensors. The generations with verbs have tensors of `f32` alone, so it is tried
    /// with those if it refuses the types that came from arrays.
    fn run<T>(&self, vm: &mut Vm, run: impl Fn(&mut Vm, &[Tensor]) -> Result<T>) -> Result<T> {
        let refused = match run(vm, &self.tensors) {
            Err(raise) if raise.kind() == ExceptionKind::TypeError => raise,
            other => return other,
        };
        let Some(floats) = self.floats()? else { return Err(refused) };
        let Ok(result) = run(vm, &floats) else { return Err(refused) };
        for (given, floats) in self.given.iter().zip(&floats) {
            if let Some(tensor) = given.downcast::<ScriptTensor>() {
                tensor.replace(floats.clone());
            }
        }
        Ok(result)
    }

    /// The tensors with those of `f32` that may have it; `None` if none may.
    fn floats(&self) -> Result<Option<Vec<Tensor>>> {
        let mut floats = self.tensors.clone();
        let mut any = false;
        for (given, place) in self.given.iter().zip(&mut floats) {
            if let Some(tensor) = given.downcast::<ScriptTensor>()
                && let Some(tensor) = tensor.as_floats()?
            {
                any = true;
                *place = tensor;
            }
        }
        Ok(any.then_some(floats))
    }
}

/// The operation of a verb on tensors. Arguments after the tensors are read from `parser`.
pub fn verb_op<const OP: u8>(
    vm: &mut Vm,
    manager: &SharedManager,
    tensors: &Value,
    parser: &mut Parser,
) -> Result<Op> {
    let operands = Operands::read(vm, tensors)?;
    Ok(match OP {
        TENSOR_CREATE => {
            let _syncs = parser.keyword_only("syncDataToGPU");
            for tensor in &operands.tensors {
                manager.adopt(tensor.clone()).map_err(compute)?;
            }
            Op::SyncDevice(operands.tensors)
        }
        TENSOR_SYNC_DEVICE => Op::SyncDevice(operands.tensors),
        TENSOR_SYNC_LOCAL => Op::SyncLocal(operands.tensors),
        TENSOR_COPY => operands.run(vm, |_, tensors| checked(manager, Op::Copy(tensors.to_vec())))?,
        ALGO_MULT => operands.run(vm, |_, tensors| checked(manager, Op::Multiply(tensors.to_vec())))?,
        _ => {
            let shader = Shader::read::<OP>(vm, parser)?;
            operands.run(vm, |vm, tensors| shader.op(vm, manager, tensors))?
        }
    })
}

/// The operation, if the manager can record it.
fn checked(manager: &SharedManager, op: Op) -> Result<Op> {
    manager.sequence().record(op.clone()).map_err(compute)?;
    Ok(op)
}

/// The arguments of a verb that runs a shader.
struct Shader<'a> {
    /// A path, if the verb takes a file.
    code: Option<&'a Value>,
    is_file: bool,
    options: Options,
    groups: Option<[u32; 3]>,
    spec_consts: SpecValues,
}

impl<'a> Shader<'a> {
    fn read<const OP: u8>(vm: &mut Vm, parser: &mut Parser<'a>) -> Result<Shader<'a>> {
        let code = match OP {
            ALGO_FILE => named_one_of(parser, &["file_path", "data"])?,
            _ => named_one_of(parser, &["data", "bytes"])?,
        };
        if code.is_none() && OP != ALGO_LRO {
            parser.required(if OP == ALGO_FILE { "file_path" } else { "data" })?;
        }
        let groups = named_one_of(parser, &["work_group", "workgroup"])?;
        let constants = parser.optional("constants")?;
        let groups = groups.filter(|given| !given.is_none());
        let spec_consts = constants.filter(|given| !given.is_none());
        Ok(Shader {
            code,
            is_file: OP == ALGO_FILE,
            options: ops::options(vm, parser.keyword_only("entry_point"))?,
            groups: groups.map(|given| values::groups(vm, "work_group", given)).transpose()?,
            spec_consts: spec_consts
                .map_or(Ok(SpecValues::default()), |given| values::spec_constants(vm, given))?,
        })
    }

    fn op(&self, vm: &mut Vm, manager: &SharedManager, tensors: &[Tensor]) -> Result<Op> {
        let Some(code) = self.code else { return checked(manager, Op::Multiply(tensors.to_vec())) };
        let words = match self.is_file {
            true => {
                let words = ops::words_of_file(vm, code, &self.options)?;
                vm.keep_sources(&words);
                words
            }
            false => words_over(vm, code, &self.options, tensors, manager)?,
        };
        let words = ops::specialised(words, &self.spec_consts)?;
        let builder = manager.algorithm_over(tensors, &words).spec_values(self.spec_consts.clone());
        let builder = builder.instrument(launched(manager, tensors).instrument);
        let algorithm = builder.build().map_err(compute)?;
        let extent = self.groups.map_or(Extent::Default, Extent::from);
        Ok(Op::Dispatch { algorithm, extent, push: Push::Default })
    }
}

fn words_over(
    vm: &mut Vm,
    spirv: &Value,
    options: &Options,
    tensors: &[Tensor],
    manager: &SharedManager,
) -> Result<Vec<u32>> {
    let bound: Vec<Bound> = tensors.iter().map(Bound::tensor).collect();
    ops::spirv_for(vm, spirv, options, &bound, launched(manager, tensors), manager)
}

/// With as many workgroups as the tensors require.
fn launched(manager: &SharedManager, tensors: &[Tensor]) -> Launched {
    let instrument = manager.instrument(Some(n_invocations([0; 3], tensors)));
    Launched {
        boundary_test: BoundaryTest::Needed,
        ints: ops::ints(&Push::Default),
        groups: [0; 3],
        instrument,
    }
}
