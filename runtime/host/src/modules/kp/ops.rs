//! The operations of `kp` as objects, for `sequence.record(op)`.

use std::cell::RefCell;
use std::collections::VecDeque;

use kps_compute::{DType, Extent, Number, Op, Push, SpecValues, Tensor};
use kps_kernel::Ints;

use super::algorithm::ScriptAlgorithm;
use super::errors;
use super::shared::ScriptedManager;
use super::values;
use crate::blocking;
use crate::builtins::bytes;
use crate::convert::FromValue;
use crate::errors::type_error;
use crate::foreign::{self, Language, Options};
use crate::modules::kernels::{self, Bound, Launched, compile_error};
use crate::modules::numpy::NdArray;
use crate::modules::sys;
use crate::value::{Args, ExceptionKind, Native, NativeType, Parser, Raise, Result, Value};
use crate::vm::Vm;

macro_rules! op_types {
    ($($constant:ident $name:literal $signature:literal $doc:literal $new:expr;)*) => {
        $(pub static $constant: NativeType =
            NativeType {
                new: Some($new),
                base: Some(&OP_BASE),
                ..NativeType::new($name, "kp").doc($signature, $doc)
            };)*

        /// Every type of operation, under the names of both generations.
        pub static OP_TYPES: &[&NativeType] = &[&OP_BASE, $(&$constant),*];
    };
}

pub static OP_BASE: NativeType = NativeType::new("OpBase", "kp").doc("", "The class of all operations.");

op_types! {
    OP_SYNC_DEVICE "OpSyncDevice"
        "(tensors)" "Copies tensors to the device."
        |vm, args| sync_device(vm, args, &OP_SYNC_DEVICE);
    OP_TENSOR_SYNC_DEVICE "OpTensorSyncDevice"
        "(tensors)" "As `OpSyncDevice`."
        |vm, args| sync_device(vm, args, &OP_TENSOR_SYNC_DEVICE);
    OP_TENSOR_CREATE "OpTensorCreate"
        "(tensors)" "As `OpSyncDevice`: gives tensors their memory, and copies their data there."
        |vm, args| sync_device(vm, args, &OP_TENSOR_CREATE);
    OP_SYNC_LOCAL "OpSyncLocal"
        "(tensors)" "Copies tensors back from the device."
        |vm, args| sync_local(vm, args, &OP_SYNC_LOCAL);
    OP_TENSOR_SYNC_LOCAL "OpTensorSyncLocal"
        "(tensors)" "As `OpSyncLocal`."
        |vm, args| sync_local(vm, args, &OP_TENSOR_SYNC_LOCAL);
    OP_COPY "OpCopy"
        "(tensors, *, src_offset=0, dst_offset=0, size=None)"
        "Copies the first tensor to the others; or `size` of its elements from `src_offset` on to \
         `dst_offset` on."
        |vm, args| copy(vm, args, &OP_COPY);
    OP_TENSOR_COPY "OpTensorCopy"
        "(tensors, *, src_offset=0, dst_offset=0, size=None)" "As `OpCopy`."
        |vm, args| copy(vm, args, &OP_TENSOR_COPY);
    OP_ALGO_DISPATCH "OpAlgoDispatch"
        "(algorithm, push_consts=[])" "Runs an algorithm, with these values of its push constants."
        dispatch;
    OP_MULT "OpMult"
        "(tensors, algorithm=None)" "Multiplies the first two tensors into the third; `algorithm` is ignored."
        multiply;
    OP_MEMORY_BARRIER "OpMemoryBarrier"
        "(tensors, ..)" "Does nothing: operations on the same tensor are ordered without it."
        memory_barrier;
}

/// An operation, ready to be recorded any number of times.
pub struct ScriptOp {
    ty: &'static NativeType,
    op: Op,
}

impl ScriptOp {
    fn value(ty: &'static NativeType, op: Op) -> Result {
        Ok(Value::native(ScriptOp { ty, op }))
    }
}

impl Native for ScriptOp {
    fn native_type(&self) -> &'static NativeType {
        self.ty
    }
}

/// The operation that a script gave.
pub fn op(value: &Value) -> Result<Op> {
    match value.downcast::<ScriptOp>() {
        Some(script) => Ok(script.op.clone()),
        None => {
            let raise = type_error(format!("expected an operation, got {}", value.type_name()));
            Err(raise.help("such as kp.OpAlgoDispatch(algorithm) or kp.OpSyncLocal([tensor])"))
        }
    }
}

/// The operands of an operation on tensors: its first argument.
fn operands(vm: &mut Vm, parser: &mut Parser, name: &str) -> Result<Vec<Tensor>> {
    let by_name = parser.keyword_only("tensors").or(parser.keyword_only("mem_objects"));
    let given = match by_name {
        Some(given) => given,
        None => parser.positional("tensors")?,
    };
    values::tensors(vm, given, name)
}

/// The operands of an operation that has no other argument.
fn only_operands(vm: &mut Vm, args: &Args, name: &'static str) -> Result<Vec<Tensor>> {
    let mut parser = args.parser(name);
    let tensors = operands(vm, &mut parser, name)?;
    parser.finish()?;
    Ok(tensors)
}

fn sync_device(vm: &mut Vm, args: &Args, ty: &'static NativeType) -> Result {
    ScriptOp::value(ty, Op::SyncDevice(only_operands(vm, args, ty.name)?))
}

fn sync_local(vm: &mut Vm, args: &Args, ty: &'static NativeType) -> Result {
    ScriptOp::value(ty, Op::SyncLocal(only_operands(vm, args, ty.name)?))
}

/// `OpCopy(tensors, src_offset=0, dst_offset=0, size=None)`: in elements. Without a size, everything from
/// `src_offset` on is copied.
fn copy(vm: &mut Vm, args: &Args, ty: &'static NativeType) -> Result {
    let mut parser = args.parser(ty.name);
    let mut tensors = operands(vm, &mut parser, ty.name)?;
    let mut place = |name: &'static str| -> Result<Option<usize>> {
        let given = parser.keyword_only(name).filter(|given| !given.is_none());
        given.map(|given| element_count(vm, name, given)).transpose()
    };
    let (from, to, size) = (place("src_offset")?, place("dst_offset")?, place("size")?);
    parser.finish()?;
    if (from, to, size) == (None, None, None) {
        return ScriptOp::value(ty, Op::Copy(tensors));
    }
    let (from, to) = (from.unwrap_or(0), to.unwrap_or(0));
    let size = size.unwrap_or_else(|| tensors.first().map_or(0, |source| source.size().saturating_sub(from)));
    for (at, tensor) in tensors.iter_mut().enumerate() {
        let start = if at == 0 { from } else { to };
        *tensor = tensor.slice(start..start.saturating_add(size)).map_err(errors::compute)?;
    }
    ScriptOp::value(ty, Op::Copy(tensors))
}

fn element_count(vm: &mut Vm, name: &str, given: &Value) -> Result<usize> {
    let n = values::count(vm, given)?.and_then(|n| usize::try_from(n).ok());
    n.ok_or_else(|| type_error(format!("`{name}` is a number of elements, 0 or more")))
}

/// `OpAlgoDispatch(algorithm, push_consts=[])`
fn dispatch(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("OpAlgoDispatch");
    let algorithm = parser.required("algorithm")?;
    let push_consts = parser.optional("push_consts")?;
    parser.finish()?;
    let Some(algorithm) = algorithm.downcast::<ScriptAlgorithm>() else {
        let raise = type_error(format!("OpAlgoDispatch takes an algorithm, not {}", algorithm.type_name()));
        return Err(raise.help("make one first: mgr.algorithm(tensors, spirv)"));
    };
    let push = algorithm.arranged(push(vm, push_consts)?)?;
    let (algorithm, extent) = (algorithm.for_push(&push)?, Extent::Default);
    ScriptOp::value(&OP_ALGO_DISPATCH, Op::Dispatch { algorithm, extent, push })
}

/// `OpMult(tensors, algorithm=None)`: Kompute requires the algorithm; here it is ignored.
fn multiply(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("OpMult");
    let tensors = parser.required("tensors")?;
    parser.optional("algorithm")?;
    parser.finish()?;
    ScriptOp::value(&OP_MULT, Op::Multiply(values::tensors(vm, tensors, "OpMult")?))
}

/// `OpMemoryBarrier(tensors, ..)`: accesses are always ordered, so the other arguments are ignored.
fn memory_barrier(vm: &mut Vm, args: &Args) -> Result {
    let first = args.positional().first().or(args.keyword("mem_objects"));
    let tensors = match first {
        Some(tensors) => values::tensors(vm, tensors, "OpMemoryBarrier")?,
        None => return Err(crate::errors::missing_argument("OpMemoryBarrier", "mem_objects", 1)),
    };
    ScriptOp::value(&OP_MEMORY_BARRIER, Op::MemoryBarrier(tensors))
}

/// Push constants of a script: numbers, or bytes in the kernel's layout.
pub fn push(vm: &mut Vm, given: Option<&Value>) -> Result<Push> {
    match given {
        None | Some(Value::None) => Ok(Push::Default),
        Some(Value::Bytes(bytes)) => Ok(Push::Bytes(bytes.to_vec())),
        Some(given) if matches!(given.base_value(), Value::Dict(_)) => Err(errors::dict_for_push_consts()),
        Some(given) => {
            let numbers = values::numbers(vm, given, "push_consts")?;
            // An empty list is Kompute's default.
            Ok(if numbers.is_empty() { Push::Default } else { Push::Numbers(numbers) })
        }
    }
}

/// The range of the ints that a kernel may receive: a float without a fraction arrives as an int.
pub fn ints(push: &Push) -> Ints {
    match push {
        Push::Default => Ints::Modest,
        Push::Numbers(numbers) => Ints::of(numbers.iter().map(|number| match *number {
            Number::Bool(bool) => bool.into(),
            Number::Int(int) => int,
            Number::Float(float) => float as i128,
        })),
        Push::Bytes(_) => Ints::Any,
    }
}

/// The SPIR-V for a device: a kernel object is compiled for the device, other values are read by [`words`].
/// `launched` describes the dispatches over the bound values.
pub fn spirv_for(
    vm: &mut Vm,
    given: &Value,
    options: &Options,
    bound: &[Bound],
    launched: Launched,
    manager: &ScriptedManager,
) -> Result<Vec<u32>> {
    let words = match kernels::spirv_for(vm, given, bound, launched, manager) {
        Some(words) => plain_entry(words?, options)?,
        None => words(vm, given, options)?,
    };
    vm.keep_sources(&words);
    Ok(words)
}

/// How to read the text of a shader: `entry_point` selects one of several.
pub fn options(vm: &mut Vm, entry_point: Option<&Value>) -> Result<Options> {
    let given = entry_point.filter(|given| !given.is_none());
    let entry_point = given.map(|name| String::from_value(vm, name)).transpose()?;
    let folder = sys::search_path(vm).into_iter().next();
    Ok(Options { entry_point, folder, ..Options::default() })
}

/// A module without choices of entry points.
fn plain_entry(words: Vec<u32>, options: &Options) -> Result<Vec<u32>> {
    match options.entry_point {
        Some(_) => Err(errors::no_choice_of_entry_points()),
        None => Ok(words),
    }
}

/// The module with these values of specialisation constants, recompiled if a device cannot set them.
pub fn specialised(words: Vec<u32>, spec_consts: &SpecValues) -> Result<Vec<u32>> {
    let words = specialised_words(words, spec_consts)?;
    foreign::check_constants(&words).map_err(compile_error)?;
    Ok(words)
}

fn specialised_words(words: Vec<u32>, spec_consts: &SpecValues) -> Result<Vec<u32>> {
    if spec_consts.is_empty() {
        return Ok(words);
    }
    let given = kps_compute::spec_constants(&words, spec_consts).map_err(errors::compute)?;
    match foreign::specialise(&words, &given) {
        Some(words) => words.map_err(compile_error),
        None => Ok(words),
    }
}

/// The SPIR-V of a value: bytes, a list of them or an array, the text or path of a shader, or an object with
/// `to_spirv`.
pub fn words(vm: &mut Vm, given: &Value, options: &Options) -> Result<Vec<u32>> {
    if let Some(bytes) = held_bytes(given)? {
        return match text_or_bytes(bytes) {
            Listed::Text(text) if is_shader(&text) => words_of_text(vm, &text, options),
            Listed::Text(text) => words_of_bytes(text.as_bytes(), options),
            Listed::Bytes(bytes) => words_of_bytes(&bytes, options),
        };
    }
    let bytes = match given {
        Value::Str(text) if foreign::is_path(text) => return words_of_file(vm, given, options),
        Value::Str(text) => return words_of_text(vm, text, options),
        Value::List(_) | Value::Tuple(_) => match bytes_of_list(vm, given)? {
            Listed::Bytes(bytes) => bytes,
            Listed::Text(text) => return words_of_text(vm, &text, options),
        },
        other => match vm.find_attr(other, "to_spirv")? {
            Some(to_spirv) => {
                let spirv = vm.call(&to_spirv, &[])?;
                let Value::Bytes(bytes) = &spirv else { return Err(not_a_kernel(other)) };
                bytes.to_vec()
            }
            None if vm.find_attr(other, "__fspath__")?.is_some() => {
                return words_of_file(vm, other, options);
            }
            None => return Err(not_a_kernel(other)),
        },
    };
    words_of_bytes(&bytes, options)
}

/// The bytes of `bytes` and of a bytearray, and those in an array of bytes or of 32-bit words.
fn held_bytes(given: &Value) -> Result<Option<Vec<u8>>> {
    match given.downcast::<NdArray>().filter(|array| matches!(array.dtype(), DType::U8 | DType::U32)) {
        Some(array) => array.to_contiguous_bytes().map(Some),
        None => Ok(bytes::like(given)),
    }
}

fn words_of_bytes(bytes: &[u8], options: &Options) -> Result<Vec<u32>> {
    plain_entry(kps_compute::words::from_bytes(bytes).map_err(errors::compute)?, options)
}

/// The shaders that were last compiled from text. The verbs of the first generations are given it each time.
#[derive(Default)]
struct Compiled(RefCell<VecDeque<CompiledText>>);

struct CompiledText {
    text: String,
    entry_point: Option<String>,
    words: Vec<u32>,
}

/// Stored modules.
const MAX_COMPILED: usize = 16;

fn words_of_text(vm: &mut Vm, text: &str, options: &Options) -> Result<Vec<u32>> {
    let source = vm.shader_source(text);
    let compile = || foreign::compile(&source, Language::of_text(source.text()), options);
    // An included file may have changed.
    if text.contains("#include") {
        return compile().map_err(compile_error);
    }
    let compiled = vm.state::<Compiled>();
    let mut compiled = compiled.0.borrow_mut();
    let is_same = |known: &&CompiledText| known.text == text && known.entry_point == options.entry_point;
    if let Some(known) = compiled.iter().find(is_same) {
        return Ok(known.words.clone());
    }
    let words = compile().map_err(compile_error)?;
    if compiled.len() == MAX_COMPILED {
        compiled.pop_front();
    }
    let (text, entry_point) = (text.to_owned(), options.entry_point.clone());
    compiled.push_back(CompiledText { text, entry_point, words: words.clone() });
    Ok(words)
}

/// The SPIR-V of the shader in a file.
pub fn words_of_file(vm: &mut Vm, path: &Value, options: &Options) -> Result<Vec<u32>> {
    let path = vm.str(path)?;
    let bytes = blocking::read_file(&vm.path_of(&path))?.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Raise::new(ExceptionKind::FileNotFoundError, format!("no such file: {path:?}"))
        }
        _ => Raise::new(ExceptionKind::OSError, format!("cannot read {path:?}: {error}")),
    })?;
    foreign::compile_file(std::path::Path::new(&path), bytes, options).map_err(compile_error)
}

/// The content of a list of characters or of bytes, or of an object of bytes.
enum Listed {
    Bytes(Vec<u8>),
    Text(String),
}

fn bytes_of_list(vm: &mut Vm, list: &Value) -> Result<Listed> {
    let items = vm.collect(list)?;
    let mut bytes = Vec::with_capacity(items.len());
    let mut text = String::new();
    // A SPIR-V module begins with a magic number.
    let is_words = matches!(items.first(), Some(first @ Value::Int(_)) if vm.index(first)? == i64::from(kps_compute::words::MAGIC));
    for item in &items {
        match item {
            other if is_words => {
                let word = vm.index(other)?;
                let word =
                    u32::try_from(word).map_err(|_| type_error(format!("{word} is no 32-bit word")))?;
                bytes.extend(word.to_le_bytes());
            }
            Value::Str(character) => text.push_str(character),
            other => {
                let byte = vm.index(other)?;
                bytes.push(u8::try_from(byte).map_err(|_| type_error(format!("{byte} is no byte")))?);
            }
        }
    }
    if !text.is_empty() {
        return Ok(Listed::Text(text));
    }
    Ok(text_or_bytes(bytes))
}

/// The first generation of scripts passes text as bytes. No SPIR-V is valid text.
fn text_or_bytes(bytes: Vec<u8>) -> Listed {
    match String::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && !text.contains(is_no_text) => Listed::Text(text),
        Ok(text) => Listed::Bytes(text.into_bytes()),
        Err(error) => Listed::Bytes(error.into_bytes()),
    }
}

/// Whether a text has the marks of every shader in GLSL or WGSL.
fn is_shader(text: &str) -> bool {
    ["#version", "void main", "@compute"].iter().any(|sign| text.contains(sign))
}

fn is_no_text(character: char) -> bool {
    character.is_control() && !character.is_whitespace()
}

fn not_a_kernel(value: &Value) -> Raise {
    let raise =
        type_error(format!("expected SPIR-V as bytes, or a shader as text, got {}", value.type_name()));
    match value {
        Value::Function(_) => raise.help("make it a kernel with @kernel or @python2shader first"),
        _ if value.downcast::<NdArray>().is_some() => {
            raise.help("an array with SPIR-V is of uint32, the words, or of uint8, the bytes")
        }
        _ => raise,
    }
}
