//! `kp.Manager`; the verbs of older generations are in `verbs.rs`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use kps_compute::{DType, Level, Manager, Sequence, SpecValues, Tensor};
use kps_device::{Checks, DeviceInfo, Origin};
use kps_kernel::{BoundaryTest, Ints};
use rustc_hash::FxHashMap;

use super::algorithm::ScriptAlgorithm;
use super::enums;
use super::errors::{self, compute};
use super::image::{self, PARAMS as IMAGE_PARAMS, Surplus};
use super::memory;
use super::messages::{Ran, deliver};
use super::ops;
use super::profile::ScriptProfile;
use super::records;
use super::sequence::{self, ScriptSequence};
use super::shared::{self, SharedManager};
use super::stream::{ScriptEvent, ScriptStream};
use super::tensor::{self, ScriptTensor};
use super::values;
use super::verbs::{self, with_verbs};
use crate::checking::{Checking, parse_checks};
use crate::convert::FromValue;
use crate::errors::{type_error, value_error};
use crate::foreign::Options;
use crate::modules::kernels::{self, Bound, Launched};
use crate::modules::logging;
use crate::value::{Args, CompareOp, Dict, Native, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static MANAGER: NativeType = NativeType {
    new: Some(new),
    methods: with_verbs![
        NativeDef::method("tensor", make_tensor).doc(
            "(data, memory_type=device, *, dtype=None)",
            "Makes a tensor of `float32`, or of `dtype`, with the shape of the data.",
        ),
        NativeDef::method("tensor_t", make_typed_tensor).doc(
            "(data, memory_type=device, *, dtype=None)",
            "Makes a tensor with the type of the data; a list has `float32`.",
        ),
        NativeDef::method("build_tensor", make_tensor)
            .doc("(data, memory_type=device, *, dtype=None)", "As `tensor`."),
        NativeDef::method("image", make_image)
            .doc(IMAGE_PARAMS, "Makes an image of `float32`, or as `dtype` or `format` says."),
        NativeDef::method("image_t", make_typed_image).doc(
            IMAGE_PARAMS,
            "Makes an image with the type of the data, or as `dtype` or `format` says.",
        ),
        NativeDef::method("algorithm", algorithm).doc(
            "(tensors=[], spirv=b\"\", workgroup=(0, 0, 0), spec_consts=[], push_consts=[], *, \
             entry_point=None, subgroup_size=None)",
            "Binds tensors, images and samplers to a kernel or a shader; `workgroup` counts \
             workgroups, and zeros mean the first tensor's size.",
        ),
        NativeDef::method("sequence", make_sequence).doc(
            "(queue_index=None, total_timestamps=0)",
            "Creates a sequence, which records operations; it takes timestamps if \
             `total_timestamps` is above 0. Without a queue, it runs on the stream of the `with` \
             block, or on queue 0. A text is the name of a sequence to get or create.",
        ),
        NativeDef::method("stream", make_stream).doc(
            "()",
            "Makes a stream: its work runs in order, beside that of other streams.",
        ),
        NativeDef::method("event", make_event)
            .doc("()", "Makes an event, which a stream records later."),
        NativeDef::method("sync", sync).doc(
            "(timeout=None)",
            "Waits at most `timeout` seconds for all work of the manager; returns whether it is \
             done. An error of the work is raised here.",
        ),
        NativeDef::method("create_sequence", create_sequence).doc(
            "(name=\"\", queueIndex=None)",
            "Creates a sequence and registers it under the name, unless that is empty.",
        ),
        NativeDef::method("get_create_sequence", get_create_sequence)
            .doc("(name)", "Returns the sequence with this name; creates it if there is none."),
        NativeDef::method("eval_await", verbs::eval_await).doc(
            "(sequence_name, wait_for=None)",
            "Waits at most `wait_for` seconds for a sequence; returns whether it is done, and \
             raises `ValueError` for an unknown name.",
        ),
        NativeDef::method("eval_await_def", verbs::eval_await_def).doc(
            "(wait_for=None)",
            "Waits at most `wait_for` seconds for what the verbs `eval_async_.._def` started; \
             returns whether it is done.",
        ),
        NativeDef::method("get_device_properties", get_device_properties)
            .doc("()", "Returns a dict with the name and the limits of the device."),
        NativeDef::method("list_devices", list_devices)
            .doc("()", "Returns the properties of each device, in the order of their indices."),
        NativeDef::method("profile", profile).doc(
            "()",
            "Returns a profile, which measures what the manager runs: a context manager, with `start` and \
             `stop`.",
        ),
        NativeDef::method("memory", device_memory)
            .doc("()", "Returns what the manager's tensors take of the device's memory."),
        NativeDef::method("is_init", is_init).doc("()", "Returns whether the manager is open."),
        NativeDef::method("destroy", destroy).doc(
            "([object])",
            "Frees everything; or only a tensor, a sequence, the sequence of a name, or a list \
             of these.",
        ),
        NativeDef::method("rebuild", rebuild).doc(
            "(tensors, syncDataToGPU=True)",
            "Gives tensors their memory on the device, and copies their data there.",
        ),
        NativeDef::method("__enter__", enter),
        NativeDef::method("__exit__", exit),
    ],
    ..NativeType::new("Manager", "kp").doc(
        "(device=0, family_queue_indices=[], desired_extensions=[], *, checked=None, memory_limit=None)",
        "An open device, selected by its index or its name; `checked` turns checks of its launches on or off, \
         and `memory_limit` is the most bytes that its tensors may take.",
    )
};

pub struct ScriptManager {
    manager: SharedManager,
    /// The named sequences that scripts got, so that each is one object.
    named: RefCell<FxHashMap<String, Value>>,
}

impl ScriptManager {
    pub fn value(manager: SharedManager) -> Value {
        Value::native(ScriptManager { manager, named: RefCell::default() })
    }

    pub fn manager(&self) -> &SharedManager {
        &self.manager
    }

    fn script_sequence(&self, sequence: Sequence) -> Value {
        ScriptSequence::value(sequence, self.manager.clone())
    }

    /// The object of a sequence with a name.
    fn named_sequence(&self, name: String, sequence: Sequence) -> Value {
        let is_same = |known: &Value| {
            known.downcast::<ScriptSequence>().is_some_and(|known| known.sequence().is(&sequence))
        };
        let mut named = self.named.borrow_mut();
        match named.get(&name).filter(|known| is_same(known)) {
            Some(known) => known.clone(),
            None => {
                let made = self.script_sequence(sequence);
                named.insert(name, made.clone());
                made
            }
        }
    }
}

impl Native for ScriptManager {
    fn native_type(&self) -> &'static NativeType {
        &MANAGER
    }

    /// `tensor.device == manager`: each of them is a value of its own for the same open device.
    fn compare(&self, _: &Value, _: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        let Some(other) = other.downcast::<ScriptManager>() else { return Ok(None) };
        let is_same = Rc::ptr_eq(&self.manager, &other.manager);
        Ok(match op {
            CompareOp::Eq => Some(is_same.into()),
            CompareOp::NotEq => Some((!is_same).into()),
            _ => None,
        })
    }

    fn same_key(&self, other: &Value) -> bool {
        other.downcast::<ScriptManager>().is_some_and(|other| Rc::ptr_eq(&self.manager, &other.manager))
    }

    fn hash(&self, _: &Value, _: &mut Vm) -> Result<Option<i64>> {
        Ok(Some(Rc::as_ptr(&self.manager) as i64 >> 4))
    }
}

/// `Manager(device=0, family_queue_indices=[], desired_extensions=[], checked=False)`: `checked` is True, or
/// names of checks as `--check` takes them.
fn new(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("Manager");
    let device = parser.optional("device")?;
    let families = parser.optional("family_queue_indices")?;
    let families = families.or(parser.keyword_only("familyQueueIndices"));
    let extensions = parser.optional("desired_extensions")?;
    let checked = parser.keyword_only("checked");
    let memory_limit = parser.keyword_only("memory_limit").filter(|given| !given.is_none());
    parser.finish()?;
    let checking = checking(vm, checked)?;
    let memory_limit = memory_limit.map(|given| bytes(vm, given)).transpose()?;
    let selector = match device.filter(|device| !device.is_none()) {
        Some(device) => shared::selector(vm, device, checking.get())?,
        None => shared::chosen(vm, checking.get()),
    };
    let families: Vec<u32> = list_argument(vm, families)?;
    if let Some(text) = extensions.and_then(Value::as_str) {
        return Err(errors::text_for_list("desired_extensions", text));
    }
    let extensions: Vec<String> = list_argument(vm, extensions)?;
    let manager = shared::open(vm, selector, &families, &extensions, checking, memory_limit)?;
    Ok(ScriptManager::value(manager))
}

/// A number of bytes above zero.
fn bytes(vm: &mut Vm, given: &Value) -> Result<u64> {
    let n = vm.index(given)?;
    let wrong = || {
        value_error(format!("memory_limit is a number of bytes above 0, not {n}"))
            .help("such as memory_limit=256 * 2**20")
    };
    u64::try_from(n).ok().filter(|n| *n > 0).ok_or_else(wrong)
}

/// The checks of `checked=`; by default those of the host.
fn checking(vm: &mut Vm, given: Option<&Value>) -> Result<Rc<Cell<Checking>>> {
    let own = |checking| Rc::new(Cell::new(checking));
    match given.filter(|given| !given.is_none()) {
        None => Ok(vm.checking.clone()),
        Some(Value::Bool(false)) => Ok(own(Checking::Never)),
        Some(Value::Bool(true)) => Ok(own(Checking::Always(Checks::usual()))),
        Some(given) => {
            let names = match given.as_str() {
                Some(names) => Some(names.to_string()),
                None => Vec::<String>::from_value(vm, given).ok().map(|names| names.join(",")),
            };
            let names = names.ok_or_else(|| {
                let given = given.type_name();
                type_error(format!("`checked` is True, False or names of checks, not {given}"))
                    .help("for instance checked=True, or checked=\"usual,overflow\"")
            })?;
            parse_checks(&names).map(Checking::Always).map(own).map_err(value_error)
        }
    }
}

fn list_argument<T: FromValue>(vm: &mut Vm, given: Option<&Value>) -> Result<Vec<T>> {
    match given.filter(|given| !given.is_none()) {
        Some(given) => Vec::from_value(vm, given),
        None => Ok(Vec::new()),
    }
}

/// `tensor(data, memory_type=device)`: f32, as in Kompute; `dtype=` requests another type.
fn make_tensor(vm: &mut Vm, args: &Args) -> Result {
    make(vm, args, "tensor", Some(DType::F32))
}

/// `tensor_t(data, memory_type=device)`: keeps the type that the data has.
fn make_typed_tensor(vm: &mut Vm, args: &Args) -> Result {
    make(vm, args, "tensor_t", None)
}

fn make(vm: &mut Vm, args: &Args, function: &str, default: Option<DType>) -> Result {
    let this: &ScriptManager = args.this()?;
    let mut parser = args.method_parser(function);
    let data = parser.required("data")?;
    let memory = parser.optional("tensor_type")?;
    let memory = memory.or(parser.keyword_only("memory_type")).or(parser.keyword_only("tensorType"));
    let dtype = parser.keyword_only("dtype");
    let _syncs = parser.keyword_only("syncDataToGPU");
    parser.finish()?;
    let memory = enums::memory_type(memory)?;
    if let Some(of) = tensor::record_type(dtype, data) {
        let value = records::make(vm, &of, data, memory)?;
        let tensor = values::tensor(&value)?.expect("a tensor was made");
        let tensor = this.manager.adopt(tensor).map_err(compute)?;
        return Ok(ScriptTensor::of_records(tensor, of));
    }
    if let Some(of) = tensor::vector_type(dtype) {
        let made = tensor::make(tensor::vectors(vm, data, &of)?, memory)?;
        return Ok(ScriptTensor::of_vectors(this.manager.adopt(made).map_err(compute)?, of));
    }
    let dtype = match dtype.filter(|dtype| !dtype.is_none()) {
        Some(given) => Some(values::dtype(vm, given)?),
        None => default,
    };
    let mut elements = values::elements(vm, data, dtype.unwrap_or(DType::F32))?;
    if let Some(dtype) = dtype {
        elements = elements.cast(dtype);
    }
    values::warn_of_rounding(vm, data, elements.dtype)?;
    let tensor = this.manager.adopt(tensor::make(elements, memory)?).map_err(compute)?;
    Ok(ScriptTensor::value(tensor))
}

/// `image(data, width, height, num_channels, memory_type=device)`: f32, as in Kompute; `dtype=` and `format=`
/// request other texels.
fn make_image(vm: &mut Vm, args: &Args) -> Result {
    image_of(vm, args, "image", Some(DType::F32))
}

/// The same, which keeps the type that the data has.
fn make_typed_image(vm: &mut Vm, args: &Args) -> Result {
    image_of(vm, args, "image_t", None)
}

fn image_of(vm: &mut Vm, args: &Args, function: &str, default: Option<DType>) -> Result {
    let this: &ScriptManager = args.this()?;
    let made = image::make(vm, args.method_parser(function), default, Surplus::Ignored)?;
    Ok(ScriptTensor::value(this.manager.adopt(made).map_err(compute)?))
}

/// `algorithm(tensors, spirv, workgroup=(0, 0, 0), spec_consts=[], push_consts=[], subgroup_size=None,
/// entry_point=None)`
fn algorithm(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptManager = args.this()?;
    let mut parser = args.method_parser("algorithm");
    let by_new_name = parser.keyword_only("mem_objects");
    let operands = if by_new_name.is_some() { by_new_name } else { parser.optional("tensors")? };
    let spirv = parser.optional("spirv")?;
    let workgroup = parser.optional("workgroup")?;
    let spec_consts = parser.optional("spec_consts")?;
    let push_consts = parser.optional("push_consts")?;
    let subgroup_size = parser.keyword_only("subgroup_size").filter(|given| !given.is_none());
    let options = ops::options(vm, parser.keyword_only("entry_point"))?;
    parser.finish()?;
    let operands = operands.map_or(Ok(Vec::new()), |given| values::operands(vm, given, "algorithm"))?;
    let Some(spirv) = spirv.filter(|given| !operands.is_empty() || !is_empty(given)) else {
        this.manager.device().map_err(compute)?;
        return Ok(ScriptAlgorithm::without_kernel(this.manager.clone()));
    };
    let (tensors, samplers) = image::with_samplers(&operands, "algorithm")?;
    let given = operands.iter().zip(&tensors);
    let bound: Vec<Bound> = given.map(|(operand, tensor)| Bound::given(operand, tensor)).collect();
    let groups = match workgroup.filter(|given| !given.is_none()) {
        Some(given) => values::groups(vm, "workgroup", given)?,
        None => [0; 3],
    };
    // A count of zero along x means the tensors' sizes, which are arbitrary; explicit counts are whole
    // workgroups.
    let boundary_test = if groups[0] == 0 { BoundaryTest::Needed } else { BoundaryTest::Unneeded };
    let instrument = this.manager.instrument(Some(n_invocations(groups, &tensors)));
    let push = ops::push(vm, push_consts)?;
    let launched = Launched { boundary_test, ints: ops::ints(&push), groups, instrument };
    let words = ops::spirv_for(vm, spirv, &options, &bound, launched, &this.manager)?;
    let pushed = kernels::pushed_for(vm, spirv, &bound, launched, &this.manager).transpose()?;
    let push = match &pushed {
        Some(pushed) => pushed.arranged(push)?,
        None => push,
    };
    let general = general_words(vm, spirv, &bound, launched, &this.manager)?;
    let spec_consts = match spec_consts.filter(|given| !given.is_none()) {
        Some(given) => values::spec_constants(vm, given)?,
        None => SpecValues::default(),
    };
    let words = ops::specialised(words, &spec_consts)?;
    let builder = this.manager.algorithm_over(&tensors, &words);
    let subgroup_size = match subgroup_size {
        Some(given) => Some(kernels::read_subgroup_size(vm, given)?),
        None => kernels::subgroup_size(spirv),
    };
    let origin = if kernels::is_kernel(spirv) { Origin::Compiler } else { Origin::External };
    let builder = builder.origin(origin).instrument(instrument).subgroup_size(subgroup_size);
    let mut builder = builder.spec_values(spec_consts);
    for (binding, sampler) in samplers {
        builder = builder.sampler(binding, sampler);
    }
    let algorithm = builder.extent(groups).push(push).build().map_err(compute)?;
    let general = general.filter(|general| *general != words);
    Ok(ScriptAlgorithm::value(algorithm, general, pushed, operands, this.manager.clone()))
}

/// Whether a script gave no SPIR-V, for an algorithm without a kernel.
fn is_empty(spirv: &Value) -> bool {
    matches!(spirv, Value::Bytes(bytes) if bytes.is_empty())
}

/// The module for dispatches that push larger ints than `launched` does; `None` if one form serves all.
fn general_words(
    vm: &mut Vm,
    spirv: &Value,
    bound: &[Bound],
    launched: Launched,
    manager: &SharedManager,
) -> Result<Option<Vec<u32>>> {
    if launched.ints == Ints::Any || !kernels::is_kernel(spirv) {
        return Ok(None);
    }
    let launched = Launched { ints: Ints::Any, ..launched };
    ops::spirv_for(vm, spirv, &Options::default(), bound, launched, manager).map(Some)
}

/// Roughly the number of invocations: the workgroup size is in the module, which is not compiled yet.
pub fn n_invocations(groups: [u32; 3], tensors: &[Tensor]) -> u64 {
    const USUAL_WORKGROUP: u64 = 256;
    match groups[0] {
        0 => tensors.iter().map(|tensor| tensor.size() as u64).max().unwrap_or(0),
        _ => groups.iter().fold(USUAL_WORKGROUP, |n, &groups| n.saturating_mul(groups.into())),
    }
}

/// `sequence(queue_index=None, total_timestamps=0)`, or `sequence(name, queueIndex=None)` for one with a name.
fn make_sequence(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptManager = args.this()?;
    let mut parser = args.method_parser("sequence");
    let name = parser.keyword_only("name");
    let first = if name.is_some() { name } else { parser.optional("queue_index")? };
    let name = first.and_then(Value::as_str).map(str::to_owned);
    if let Some(name) = name {
        let given = parser.optional("queueIndex")?;
        let queue = queue(vm, given)?;
        parser.finish()?;
        if name.is_empty() {
            return Ok(this.script_sequence(this.manager.sequence_on(queue).map_err(compute)?));
        }
        let sequence = match this.manager.named_sequence(&name) {
            Some(sequence) => sequence,
            None => this.manager.create_sequence(&name, queue).map_err(compute)?,
        };
        return Ok(this.named_sequence(name, sequence));
    }
    let queue = queue(vm, first.or(parser.keyword_only("queueIndex")))?;
    let timestamps = parser.optional("total_timestamps")?.or(parser.keyword_only("totalTimestamps"));
    parser.finish()?;
    let n_timestamps = timestamps.map_or(Ok(0), |given| vm.index(given))?;
    if n_timestamps < 0 {
        return Err(errors::no_timestamps(n_timestamps));
    }
    let made =
        if n_timestamps > 0 { this.manager.timed_sequence(queue) } else { this.manager.sequence_on(queue) };
    Ok(this.script_sequence(made.map_err(compute)?))
}

/// `None` is the queue of the stream that is entered.
fn queue(vm: &mut Vm, given: Option<&Value>) -> Result<Option<u32>> {
    let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(None) };
    let index = vm.index(given)?;
    u32::try_from(index).map(Some).map_err(|_| errors::no_queue(index))
}

fn make_stream(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptManager = args.this()?;
    args.method_parser("stream").finish()?;
    Ok(ScriptStream::value(this.manager.stream().map_err(compute)?, this.manager.clone()))
}

fn make_event(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptManager = args.this()?;
    args.method_parser("event").finish()?;
    Ok(ScriptEvent::value(this.manager.event().map_err(compute)?, this.manager.clone()))
}

fn sync(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptManager = args.this()?;
    let mut parser = args.method_parser("sync");
    let timeout = sequence::timeout(vm, &mut parser, "timeout")?;
    parser.finish()?;
    let ended = this.manager.sync(timeout).map_err(compute);
    deliver(vm, &this.manager, Ran::Started)?;
    Ok(ended?.into())
}

/// `create_sequence(name="", queueIndex=None)`: an empty name is not registered.
fn create_sequence(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptManager = args.this()?;
    let mut parser = args.method_parser("create_sequence");
    let name = parser.optional("name")?.map_or(Ok(String::new()), |name| String::from_value(vm, name))?;
    let queue = queue(vm, parser.optional("queueIndex")?)?;
    parser.finish()?;
    if name.is_empty() {
        return Ok(this.script_sequence(this.manager.sequence_on(queue).map_err(compute)?));
    }
    let sequence = this.manager.create_sequence(&name, queue).map_err(compute)?;
    Ok(this.named_sequence(name, sequence))
}

fn get_create_sequence(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptManager = args.this()?;
    let mut parser = args.method_parser("get_create_sequence");
    let name = parser.required("name")?;
    parser.finish()?;
    let name = String::from_value(vm, name)?;
    let sequence = this.manager.get_create_sequence(&name).map_err(compute)?;
    Ok(this.named_sequence(name, sequence))
}

fn get_device_properties(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptManager = args.this()?;
    this.manager.device().map_err(compute)?;
    Ok(properties(this.manager.info()))
}

fn list_devices(_: &mut Vm, args: &Args) -> Result {
    args.this::<ScriptManager>()?;
    Ok(Value::list(Manager::list_devices().iter().map(properties).collect()))
}

/// The device properties that Kompute reports.
fn properties(info: &DeviceInfo) -> Value {
    let dict = Dict::new();
    let limits = &info.limits;
    dict.insert_text("device_name", info.name.as_str().into());
    dict.insert_text("max_work_group_count", axes(limits.max_groups));
    dict.insert_text("max_work_group_invocations", limits.max_invocations.into());
    dict.insert_text("max_work_group_size", axes(limits.max_local_size));
    dict.insert_text("timestamps_supported", limits.timestamp_period.is_some().into());
    Value::Dict(Rc::new(dict))
}

fn axes(axes: [u32; 3]) -> Value {
    Value::tuple(axes.map(Value::from))
}

fn profile(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptManager = args.this()?;
    args.method_parser("profile").finish()?;
    Ok(ScriptProfile::value(this.manager.profile().map_err(compute)?))
}

fn device_memory(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptManager = args.this()?;
    args.method_parser("memory").finish()?;
    Ok(memory::value(vm, &this.manager.memory().map_err(compute)?))
}

fn is_init(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<ScriptManager>()?.manager.is_init().into())
}

/// `destroy()` ends the manager; with tensors, a sequence or the name of one, it ends those.
fn destroy(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptManager = args.this()?;
    let mut parser = args.method_parser("destroy");
    const NAMES: [&str; 6] = ["tensor", "tensors", "sequence", "sequences", "sequenceName", "sequenceNames"];
    let by_name = NAMES.iter().find_map(|name| parser.keyword_only(name));
    let given = by_name.or(parser.optional_positional());
    parser.finish()?;
    match given {
        None => this.manager.destroy(),
        Some(value) => destroy_one(vm, this, value)?,
    }
    logging::flush_kp(vm)?;
    Ok(Value::None)
}

fn destroy_one(vm: &mut Vm, this: &ScriptManager, value: &Value) -> Result<()> {
    if let Some(tensor) = value.downcast::<ScriptTensor>() {
        tensor.tensor()?.destroy();
    } else if let Some(sequence) = value.downcast::<ScriptSequence>() {
        sequence.sequence().destroy();
    } else if let Some(name) = value.as_str() {
        if let Some(sequence) = this.manager.named_sequence(name) {
            sequence.destroy();
        }
    } else if let Value::List(_) | Value::Tuple(_) = value.base_value() {
        vm.check_stack()?;
        for item in vm.collect(value)? {
            destroy_one(vm, this, &item)?;
        }
    } else {
        return Err(errors::not_destroyed(value));
    }
    Ok(())
}

/// `rebuild(tensors, syncDataToGPU=True)`: tensors get their memory on the device.
fn rebuild(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptManager = args.this()?;
    let mut parser = args.method_parser("rebuild");
    let given = match parser.keyword_only("tensor") {
        Some(given) => given,
        None => parser.required("tensors")?,
    };
    let _syncs = parser.optional("syncDataToGPU")?;
    parser.finish()?;
    let tensors = values::tensors(vm, given, "rebuild")?;
    for tensor in &tensors {
        this.manager.adopt(tensor.clone()).map_err(compute)?;
    }
    let sequence = this.manager.sequence_on(None).map_err(compute)?;
    sequence.record(kps_compute::Op::SyncDevice(tensors)).map_err(compute)?;
    sequence.eval().map_err(compute)?;
    Ok(Value::None)
}

fn enter(_: &mut Vm, args: &Args) -> Result {
    args.this::<ScriptManager>()?;
    Ok(args.receiver()?.clone())
}

fn exit(vm: &mut Vm, args: &Args) -> Result {
    args.this::<ScriptManager>()?.manager.destroy();
    logging::flush_kp(vm)?;
    Ok(Value::None)
}

/// How much an event of the compute library matters to a logger.
pub fn level(level: Level) -> i64 {
    match level {
        Level::Trace => 5,
        Level::Debug => 10,
        Level::Info => 20,
        Level::Warning => 30,
        Level::Error => 40,
    }
}

/// The level of `kp.log_level(n)`.
pub fn numbered_level(n: i64) -> Result<i64> {
    match n {
        0 => Ok(5),
        1..=4 => Ok(n * 10),
        _ => Err(type_error(format!("there is no log level {n}"))
            .help("TRACE is 0, DEBUG 1, INFO 2, WARN 3, ERROR 4")),
    }
}
