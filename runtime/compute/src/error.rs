//! The errors of this crate: one type, with the data for precise diagnostics.

use kps_device::DeviceError;

use crate::DType;
use crate::number::{Number, Unfit};

pub type Result<T> = std::result::Result<T, ComputeError>;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ComputeError {
    /// `what` names the object: ``tensor `x` (f32[3])``, `manager`.
    #[error("cannot {operation} {what}: it was destroyed")]
    Destroyed { what: String, operation: &'static str },

    /// `what` had other memory then.
    #[error("cannot {operation} {what}: it was resized")]
    Resized { what: String, operation: &'static str },

    /// An expression that reads a tensor could not be computed before the tensor changes.
    #[error("{message}")]
    Expression { message: String },

    #[error("cannot resize {what}: only a whole tensor can be resized")]
    NotResized { what: String },

    #[error("cannot make a zero-sized tensor (its shape is {})", shape_text(.shape))]
    ZeroSized { shape: Vec<usize> },

    #[error("a tensor of shape {} holds more bytes than there are", shape_text(.shape))]
    TooLarge { shape: Vec<usize> },

    #[error("the host is out of memory: {bytes} bytes were asked for")]
    HostMemory { bytes: usize },

    /// `unit` is what `expected` and `given` count: elements or bytes.
    #[error("cannot {operation} {what}: it has {expected} {unit}, {given} were given")]
    SizeMismatch { what: String, operation: &'static str, expected: usize, given: usize, unit: &'static str },

    #[error("cannot {operation} {what}: its elements are {expected}, not {given}")]
    DTypeMismatch { what: String, operation: &'static str, expected: DType, given: DType },

    #[error("index {index} is out of range for {what} with {len} elements")]
    OutOfRange { what: String, index: usize, len: usize },

    #[error("cannot store {value} in {what}: {}", .unfit.why(*.dtype))]
    ElementUnfit { what: String, value: Number, dtype: DType, unfit: Unfit },

    /// The host cannot read tensors with memory type `storage`.
    #[error("cannot {operation} {what}: its memory type is `storage`, which the host cannot read")]
    NotReadable { what: String, operation: &'static str },

    /// A caller further up is already accessing the bytes.
    #[error("cannot {operation} {what} while its bytes are in use")]
    InUse { what: String, operation: &'static str },

    #[error("not a SPIR-V module: {reason}")]
    NotSpirv { reason: String },

    /// `parameters` are the names in the module, or `binding 0` without names.
    #[error("the kernel binds {} tensor{} ({}), {given} {} given", .parameters.len(), plural(.parameters.len()), .parameters.join(", "), were(.given))]
    TensorCount { parameters: Vec<String>, given: usize },

    #[error("parameter `{parameter}` needs elements of {expected}, but {tensor} has {given}")]
    ParameterDType { parameter: String, tensor: String, expected: DType, given: DType },

    /// The tensor's records have another size.
    #[error("parameter `{parameter}` has elements of {element_size} bytes, those of {tensor} have {given}")]
    ParameterRecord { parameter: String, tensor: String, element_size: usize, given: usize },

    /// The module reads a number that has another type in the tensor; `given` is `None` if no number begins
    /// there.
    #[error("parameter `{parameter}` reads {} as {expected}, but {tensor} has {} there", number_text(.name, *.offset), given_text(*.given))]
    ParameterField {
        parameter: String,
        tensor: String,
        /// The path of members, such as `spin.axis`; empty without names.
        name: String,
        /// Its offset in bytes.
        offset: usize,
        expected: DType,
        given: Option<DType>,
        /// Whether the tensor's elements are records.
        is_record: bool,
    },

    /// The tensor's size is not a multiple of `element_size`.
    #[error(
        "parameter `{parameter}` has elements of {element_size} bytes, which do not divide the {given} bytes of {tensor}"
    )]
    ParameterDivides { parameter: String, tensor: String, element_size: usize, given: usize },

    #[error(
        "parameter `{parameter}` has elements of {n_numbers} numbers, which do not divide the last axis of the shape {}",
        shape_text(.shape)
    )]
    ParameterAxis { parameter: String, n_numbers: usize, shape: Vec<usize> },

    #[error("parameter `{parameter}` needs at least {needed} bytes, but {tensor} has {given}")]
    ParameterSize { parameter: String, tensor: String, needed: usize, given: usize },

    /// `needed` is the kind of image. `format` is the one to use, if only that is wrong.
    #[error("parameter `{parameter}` needs {needed}, but {tensor} was given")]
    ParameterImage { parameter: String, needed: String, tensor: String, format: Option<&'static str> },

    #[error("parameter `{parameter}` needs a tensor, but {image} was given")]
    ParameterBuffer { parameter: String, image: String },

    #[error("images hold no {dtype}: f32, f16, i32, i16, i8, u32, u16 and u8 are the types of texels")]
    ImageDType { dtype: DType },

    #[error("images have 1, 2 or 4 channels, not {n_channels}")]
    ImageChannels { n_channels: usize },

    #[error("images have one to three axes, not {n_axes}")]
    ImageAxes { n_axes: usize },

    #[error("parameter `{parameter}` is in descriptor set {set}: tensors are bound to set 0 alone")]
    DescriptorSet { parameter: String, set: u32 },

    #[error("no kernel to dispatch: the algorithm has no tensors")]
    NoTensors,

    /// `members` are the names of the scalars, or `word 0` without names.
    #[error("the kernel takes {}, {given} {} given", push_constants(.members), were(.given))]
    PushCount { members: Vec<String>, given: usize },

    #[error("the kernel's push constants are {expected} bytes, {given} were given")]
    PushSize { expected: usize, given: usize },

    #[error("push constant `{member}` cannot be {value}: {}", .unfit.why(*.dtype))]
    PushUnfit { member: String, value: Number, dtype: DType, unfit: Unfit },

    #[error("push constant `{member}` cannot be filled in: no tensor is named so")]
    PushHidden { member: String },

    #[error("the kernel has {expected} specialisation constant{}, {given} {} given", plural(*.expected), were(.given))]
    SpecCount { expected: usize, given: usize },

    #[error("no specialisation constant has the id {id}: there are {}", ids_text(.ids))]
    SpecId { id: u32, ids: Vec<u32> },

    #[error(
        "specialisation constants of id {id} have the types {} and {}, and {value} has not the same bits in both",
        .types[0].name(), .types[1].name()
    )]
    SpecShared { id: u32, value: Number, types: [DType; 2] },

    #[error(
        "the module was compiled for another value of the specialisation constant `{constant}`: compile the shader's text for {value}"
    )]
    SpecFixed { constant: String, value: Number },

    #[error("specialisation constant `{constant}` cannot be {value}: {}", .unfit.why(*.dtype))]
    SpecUnfit { constant: String, value: Number, dtype: DType, unfit: Unfit },

    #[error("the domain {} has more than three axes", shape_text(.domain))]
    DomainRank { domain: Vec<usize> },

    #[error("the domain {} is too large: an axis takes at most {limit} invocations", shape_text(.domain))]
    DomainSize { domain: Vec<usize>, limit: u64 },

    #[error("`{operation}` needs at least {needed} tensor{}, {given} {} given", plural(*.needed), were(.given))]
    OpTensors { operation: &'static str, needed: usize, given: usize },

    #[error("cannot copy {from} to {to}: their elements are of different types")]
    CopyDType { from: String, to: String },

    #[error("cannot copy {from} to {to}: {from_bytes} bytes do not fill {to_bytes}")]
    CopySize { from: String, to: String, from_bytes: usize, to_bytes: usize },

    #[error("cannot copy {what} to itself: the elements to copy and their destination overlap")]
    CopyOverlap { what: String },

    /// A slice would have to be copied for a dispatch that accesses its bytes in another way as well.
    #[error(
        "cannot bind a slice of {what} from byte {start} on beside another part with the same elements: `{device}` binds memory from multiples of {alignment} bytes on"
    )]
    SliceShared { what: String, start: usize, alignment: u64, device: String },

    #[error("cannot take a slice of {what}: kernels access images as a whole")]
    ImageSlice { what: String },

    #[error("cannot multiply tensors of {dtype}")]
    MultiplyDType { dtype: DType },

    #[error("the sequence is recording already")]
    AlreadyRecording,

    #[error("the sequence is not recording")]
    NotRecording,

    #[error("cannot {operation} the sequence while it is running")]
    Running { operation: &'static str },

    #[error("the sequence takes no timestamps")]
    NoTimestamps,

    #[error("the sequence has not been evaluated")]
    NotEvaluated,

    #[error("cannot {operation} the event: it was not recorded")]
    NotRecorded { operation: &'static str },

    #[error("device `{device}` has no timestamps, so there is no time between events")]
    NoClock { device: String },

    #[error("there is no queue {index}: the manager was opened with {available}, counted from 0")]
    NoQueue { index: u32, available: u32 },

    #[error("{what} belongs to another manager")]
    OtherManager { what: String },

    /// The wait was interrupted, and the device cannot stop it. `what` names it: ``kernel `blur` ``.
    #[error("{what} was left running on `{device}`, which cannot end it")]
    LeftRunning { what: String, device: String },

    /// The manager's device is still busy with an abandoned submission.
    #[error("cannot {operation} the manager of `{device}`: {what} was left running there")]
    StillRunning { what: String, device: String, operation: &'static str },

    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// A shape in the form of a Python tuple.
pub(crate) fn shape_text(shape: &[usize]) -> String {
    let axes: Vec<String> = shape.iter().map(usize::to_string).collect();
    match axes.as_slice() {
        [only] => format!("({only},)"),
        _ => format!("({})", axes.join(", ")),
    }
}

/// Describes a number that a module reads.
fn number_text(name: &str, offset: usize) -> String {
    if name.is_empty() { format!("byte {offset}") } else { format!("`{name}`") }
}

fn given_text(given: Option<DType>) -> String {
    given.map_or_else(|| "no number".to_owned(), |dtype| dtype.to_string())
}

fn ids_text(ids: &[u32]) -> String {
    match ids {
        [] => "none".to_owned(),
        ids => ids.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// `2 push constants (a, n)`
fn push_constants(members: &[String]) -> String {
    match members {
        [] => "no push constants".to_owned(),
        _ => format!("{} push constant{} ({})", members.len(), plural(members.len()), members.join(", ")),
    }
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

fn were(n: &usize) -> &'static str {
    if *n == 1 { "was" } else { "were" }
}
