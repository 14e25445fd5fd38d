//! The verbs of Kompute's first generations: `eval_<op>` and its forms on a manager, and `record_<op>` on a sequence.
//!
//! The arguments of a verb go in. Out comes an operation, which a sequence records. An evaluation uses the sequence
//! with the name that the script gives, or one of its own.

use kps_compute::{Extent, Op, Push, Sequence, SpecValues, Tensor};
use kps_kernel::BoundaryTest;

use super::errors::{self, compute};
use super::manager::{ScriptManager, n_invocations};
use super::messages::{Ran, deliver};
use super::ops;
use super::sequence;
use super::shared::SharedManager;
use super::tensor::ScriptTensor;
use super::values;
use crate::convert::FromValue;
use crate::errors::value_error;
use crate::foreign::Options;
use crate::modules::kernels::{Bound, Launched};
use crate::value::{Args, ExceptionKind, Parser, Result, Value};
use crate::vm::Vm;

/// The methods of a manager: the given ones, and four verbs for every operation. The first text of an operation is
/// the parameters after the tensors, the second what it does.
macro_rules! with_verbs {
    ([$($plain:expr),*], $($verb:literal $op:ident $params:literal $does:literal),*) => {
        &[
            $($plain,)*
            $(
                NativeDef::method(concat!("eval_", $verb), verbs::eval_named::<{ verbs::$op }>).doc(
                    concat!("(tensors, sequence_name", $params, ")"),
                    concat!($does, ", in a named sequence."),
                ),
                NativeDef::method(concat!("eval_", $verb, "_def"), verbs::eval_anonymous::<{ verbs::$op }>)
                    .doc(concat!("(tensors", $params, ")"), concat!($does, ".")),
                NativeDef::method(concat!("eval_async_", $verb), verbs::start_named::<{ verbs::$op }>).doc(
                    concat!("(tensors, sequence_name", $params, ")"),
                    concat!("As `eval_", $verb, "`, without waiting for the end."),
                ),
                NativeDef::method(concat!("eval_async_", $verb, "_def"), verbs::start_anonymous::<{ verbs::$op }>)
                    .doc(
                        concat!("(tensors", $params, ")"),
                        concat!("As `eval_", $verb, "_def`, without waiting for the end."),
                    ),
            )*
        ]
    };
    ($($plain:expr),* $(,)?) => {
        with_verbs![
            [$($plain),*],
            "tensor_create" TENSOR_CREATE ", *, syncDataToGPU=True"
                "Gives tensors their memory on the device, and copies their data there",
            "tensor_copy" TENSOR_COPY ""
                "Copies the first tensor to the others",
            "tensor_sync_device" TENSOR_SYNC_DEVICE ""
                "Copies tensors to the device",
            "tensor_sync_local" TENSOR_SYNC_LOCAL ""
                "Copies tensors back from the device",
            "algo_mult" ALGO_MULT ""
                "Multiplies the first two tensors into the third",
            "algo_file" ALGO_FILE ", file_path, work_group=None, constants=[], *, entry_point=None"
                "Runs a shader file on tensors",
            "algo_str" ALGO_STR ", data, work_group=None, constants=[], *, entry_point=None"
                "Runs the text of a shader on tensors",
            "algo_data" ALGO_DATA ", data, work_group=None, constants=[], *, entry_point=None"
                "Runs SPIR-V on tensors",
            "algo_lro" ALGO_LRO ", data=None, work_group=None, constants=[], *, entry_point=None"
                "Runs a shader on the tensors left, right and output; without one, multiplies"
        ]
    };
}
pub(super) use with_verbs;

// The operations that a verb names. Numbers, because they are parameters of functions in tables.
pub const TENSOR_CREATE: u8 = 0;
pub const TENSOR_COPY: u8 = 1;
pub const TENSOR_SYNC_DEVICE: u8 = 2;
pub const TENSOR_SYNC_LOCAL: u8 = 3;
pub const ALGO_MULT: u8 = 4;
pub const ALGO_FILE: u8 = 5;
pub const ALGO_STR: u8 = 6;
pub const ALGO_DATA: u8 = 7;
pub const ALGO_LRO: u8 = 8;

/// Records the operation of a verb into `sequence`, as the only one.
fn record<const OP: u8>(
    vm: &mut Vm,
    this: &ScriptManager,
    sequence: &Sequence,
    args: &Args,
    named: bool,
) -> Result<()> {
    let mut parser = args.method_parser("eval");
    let operands = parser.required("tensors")?;
    if named {
        sequence_name(&mut parser)?;
    }
    let op = op::<OP>(vm, this.manager(), operands, &mut parser)?;
    parser.finish()?;
    sequence.clear().map_err(compute)?;
    sequence.record(op).map_err(compute)
}

/// The sequence that the second argument of a verb names.
fn named(vm: &mut Vm, this: &ScriptManager, args: &Args) -> Result<Sequence> {
    let mut parser = args.method_parser("eval");
    parser.required("tensors")?;
    let name = String::from_value(vm, sequence_name(&mut parser)?)?;
    this.manager().get_create_sequence(&name).map_err(compute)
}

/// The argument that names a sequence, under the names of both generations.
fn sequence_name<'a>(parser: &mut Parser<'a>) -> Result<&'a Value> {
    match parser.keyword_only("sequenceName") {
        Some(name) => Ok(name),
        None => parser.required("sequence_name"),
    }
}

pub fn eval_named<const OP: u8>(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptManager = args.this()?;
    let sequence = named(vm, this, args)?;
    record::<OP>(vm, this, &sequence, args, true)?;
    sequence.eval().map_err(compute)?;
    deliver(vm, this.manager(), Ran::Sequence(&sequence))?;
    Ok(Value::None)
}

pub fn start_named<const OP: u8>(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptManager = args.this()?;
    let sequence = named(vm, this, args)?;
    record::<OP>(vm, this, &sequence, args, true)?;
    sequence.eval_async().map_err(compute)?;
    this.manager().note_started(vm, &sequence);
    deliver(vm, this.manager(), Ran::Sequence(&sequence))?;
    Ok(Value::None)
}

pub fn eval_anonymous<const OP: u8>(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptManager = args.this()?;
    let sequence = this.manager().sequence_on(None).map_err(compute)?;
    record::<OP>(vm, this, &sequence, args, false)?;
    sequence.eval().map_err(compute)?;
    deliver(vm, this.manager(), Ran::Sequence(&sequence))?;
    Ok(Value::None)
}

pub fn start_anonymous<const OP: u8>(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptManager = args.this()?;
    let sequence = this.manager().sequence_on(None).map_err(compute)?;
    record::<OP>(vm, this, &sequence, args, false)?;
    this.manager().start(sequence.clone()).map_err(compute)?;
    this.manager().note_started(vm, &sequence);
    deliver(vm, this.manager(), Ran::Sequence(&sequence))?;
    Ok(Value::None)
}

/// `eval_await(sequence_name, wait_for=None)`: seconds; whether it is done.
pub fn eval_await(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptManager = args.this()?;
    let mut parser = args.method_parser("eval_await");
    let name = String::from_value(vm, sequence_name(&mut parser)?)?;
    let timeout = sequence::timeout(vm, &mut parser, "wait_for")?;
    parser.finish()?;
    let sequence = this.manager().named_sequence(&name);
    let sequence = sequence.ok_or_else(|| {
        value_error(format!("there is no sequence named {name:?}"))
            .help("make it first: mgr.create_sequence(name)")
    })?;
    let ended = sequence.eval_await(timeout).map_err(compute);
    deliver(vm, this.manager(), Ran::Started)?;
    Ok(ended?.into())
}

/// Waits for every anonymous sequence that was started.
pub fn eval_await_def(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptManager = args.this()?;
    let mut parser = args.method_parser("eval_await_def");
    let timeout = sequence::timeout(vm, &mut parser, "wait_for")?;
    parser.finish()?;
    let ended = this.manager().await_started(timeout).map_err(compute);
    deliver(vm, this.manager(), Ran::Started)?;
    Ok(ended?.into())
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
            |item: &Value| values::tensor(item)?.ok_or_else(|| errors::not_a_tensor("a sequence", item));
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
pub fn op<const OP: u8>(
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
