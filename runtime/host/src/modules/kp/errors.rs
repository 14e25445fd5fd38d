//! Errors of tensors, algorithms and sequences as exceptions.

use kps_compute::ComputeError;
use kps_device::{DeviceError, Limit};
use kps_kernel::Type;

use super::values;
use crate::errors::{index_error, type_error, value_error};
use crate::modules::numpy::NdArray;
use crate::value::{ExceptionKind, KernelPlace, Raise, Value};

/// The exception for a compute error, with its help.
pub fn compute(error: ComputeError) -> Raise {
    let mut raise = Raise::new(kind(&error), error.to_string());
    if let ComputeError::Device(error) = &error
        && let Some(place) = place(error)
    {
        raise = raise.in_kernel(place);
    }
    match help(&error) {
        Some(help) => raise.help(help),
        None => raise,
    }
}

fn kind(error: &ComputeError) -> ExceptionKind {
    match error {
        ComputeError::OutOfRange { .. } | ComputeError::NoQueue { .. } => ExceptionKind::IndexError,
        ComputeError::SizeMismatch { .. }
        | ComputeError::ZeroSized { .. }
        | ComputeError::CopySize { .. }
        | ComputeError::CopyOverlap { .. }
        | ComputeError::NotResized { .. }
        | ComputeError::SliceShared { .. }
        | ComputeError::ParameterDivides { .. }
        | ComputeError::ParameterAxis { .. }
        | ComputeError::ParameterSize { .. }
        | ComputeError::DomainRank { .. }
        | ComputeError::ImageChannels { .. }
        | ComputeError::ImageAxes { .. }
        | ComputeError::DomainSize { .. }
        | ComputeError::NotSpirv { .. } => ExceptionKind::ValueError,
        ComputeError::ElementUnfit { .. }
        | ComputeError::PushUnfit { .. }
        | ComputeError::SpecUnfit { .. } => ExceptionKind::OverflowError,
        ComputeError::DTypeMismatch { .. }
        | ComputeError::ParameterDType { .. }
        | ComputeError::ParameterField { .. }
        | ComputeError::TensorCount { .. }
        | ComputeError::PushCount { .. }
        | ComputeError::PushSize { .. }
        | ComputeError::SpecCount { .. }
        | ComputeError::SpecId { .. }
        | ComputeError::SpecShared { .. }
        | ComputeError::CopyDType { .. }
        | ComputeError::ParameterImage { .. }
        | ComputeError::ParameterBuffer { .. }
        | ComputeError::ImageDType { .. }
        | ComputeError::ImageSlice { .. }
        | ComputeError::MultiplyDType { .. } => ExceptionKind::TypeError,
        ComputeError::TooLarge { .. } | ComputeError::HostMemory { .. } => ExceptionKind::MemoryError,
        ComputeError::Device(DeviceError::OutOfMemory { .. } | DeviceError::NoMemoryFor { .. }) => {
            ExceptionKind::OutOfMemoryError
        }
        ComputeError::Device(DeviceError::Lost { .. }) => ExceptionKind::DeviceLostError,
        ComputeError::Device(DeviceError::Interrupted { .. }) | ComputeError::LeftRunning { .. } => {
            ExceptionKind::KeyboardInterrupt
        }
        _ => ExceptionKind::RuntimeError,
    }
}

fn help(error: &ComputeError) -> Option<String> {
    Some(match error {
        ComputeError::ZeroSized { .. } => "a tensor has one element or more: Tensor([0.0])".to_owned(),
        ComputeError::NotReadable { .. } => {
            "copy it to a tensor that the host reads: OpCopy([stored, readable])".to_owned()
        }
        ComputeError::ParameterDType { expected, .. } => {
            format!("make the tensor with that type: Tensor(values, dtype=\"{}\")", expected.numpy_name())
        }
        ComputeError::ParameterField { is_record: true, .. } => {
            "let the struct have the members of the shader's, in their order and of their types".to_owned()
        }
        ComputeError::ParameterField { .. } => {
            "numbers of several types go as structs, `Tensor(values, dtype=S)` of a `@struct class S`, or as \
             bytes: `dtype=\"uint8\"`"
                .to_owned()
        }
        ComputeError::DescriptorSet { .. } => {
            "give it a slot of set 0: `layout(set = 0, binding = ..)`, `@group(0) @binding(..)`, or only a number"
                .to_owned()
        }
        ComputeError::ParameterImage { format: Some(format), .. } => {
            format!("make the image with that format: Image(values, format=\"{format}\")")
        }
        ComputeError::NotSpirv { .. } => {
            "give the words of a compiled kernel: my_kernel.to_spirv()".to_owned()
        }
        ComputeError::PushCount { given: 0, members } => {
            format!("give one value for each: push_consts=[{}]", members.join(", "))
        }
        ComputeError::Resized { .. } => {
            "bind the tensor again, as in mgr.algorithm([tensor], ..), or take its data() again".to_owned()
        }
        ComputeError::NotResized { .. } => "copy it to a tensor of its own first: Tensor(t[2:4])".to_owned(),
        ComputeError::SliceShared { .. } => {
            "copy one of them to a tensor of its own first: Tensor(t[1:])".to_owned()
        }
        ComputeError::CopyOverlap { .. } => "copy to another tensor first".to_owned(),
        ComputeError::Running { .. } => "wait for it first: sequence.eval_await()".to_owned(),
        ComputeError::AlreadyRecording => "end the recording first: sequence.end()".to_owned(),
        ComputeError::NotRecording => "begin first: sequence.begin()".to_owned(),
        ComputeError::NotRecorded { .. } => "record it first: stream.record(event)".to_owned(),
        ComputeError::OtherManager { what } if what.ends_with("event") || what.ends_with("stream") => {
            "the host can wait for it instead: `sync()`".to_owned()
        }
        ComputeError::NoTimestamps => "ask for them: mgr.sequence(total_timestamps=1)".to_owned(),
        ComputeError::Destroyed { .. } => "make a new one, or destroy it later".to_owned(),
        ComputeError::LeftRunning { .. } => {
            "its manager takes no more work; `--device cpu` runs where a kernel can be ended".to_owned()
        }
        ComputeError::StillRunning { .. } => "go on with another one: Manager()".to_owned(),
        ComputeError::Device(DeviceError::LimitExceeded { what, .. }) => match what {
            Limit::SharedMemory => "make the tile smaller".to_owned(),
            Limit::LocalSize(_) => {
                "make the workgroup smaller, 256 invocations say: `@kernel(local_size=256)`".to_owned()
            }
            Limit::Other(_) => return None,
        },
        ComputeError::Device(DeviceError::Unbounded { .. }) => {
            "the built-in device bounds every access: --device cpu".to_owned()
        }
        ComputeError::Device(DeviceError::CannotProfile { .. }) => {
            "leave out --profile, or choose the built-in device: --device cpu".to_owned()
        }
        ComputeError::Device(DeviceError::NoSuchDevice { available, .. }) => devices(available),
        ComputeError::Device(DeviceError::OutOfMemory { .. } | DeviceError::NoMemoryFor { .. }) => {
            "destroy tensors that are not needed any more; `print(mgr.memory())` lists them".to_owned()
        }
        ComputeError::Device(DeviceError::Lost { .. }) => {
            "what only the device had is gone; go on with another manager: Manager()".to_owned()
        }
        _ => return None,
    })
}

fn devices(available: &[String]) -> String {
    match available {
        [] => "there is no device".to_owned(),
        names => format!("there are {}", names.join(", ")),
    }
}

/// The place in a kernel of a device's error.
fn place(error: &DeviceError) -> Option<KernelPlace> {
    let (line, text) = match error {
        DeviceError::BadModule { line, .. } | DeviceError::Unbounded { line, .. } => (line, String::new()),
        DeviceError::MissingFeature { line, feature, .. } => (line, format!("needs `{}`", feature.name())),
        DeviceError::Interrupted { line } => (line, "it was running this".to_owned()),
        DeviceError::Fault(fault) => {
            let [x, y, z] = fault.invocation;
            (&fault.line, format!("in invocation ({x}, {y}, {z})"))
        }
        _ => return None,
    };
    Some(KernelPlace { line: line.clone()?, text, launch: None })
}

/// `what` was used with something else of another manager.
pub fn other_manager(what: &str, with: &str) -> Raise {
    Raise::new(ExceptionKind::RuntimeError, format!("{what} belongs to another manager than {with}"))
        .help("each manager has its own streams: manager.stream()")
}

pub fn no_timestamps(n: i64) -> Raise {
    let message = format!("total_timestamps counts the operations to time, 0 or more, not {n}");
    Raise::new(ExceptionKind::ValueError, message)
}

/// A text was given for a list of texts.
pub fn text_for_list(parameter: &str, text: &str) -> Raise {
    let text = crate::text::quote::repr(text);
    type_error(format!("`{parameter}` takes a list of texts, not one text"))
        .help(format!("such as {parameter}=[{}]", if text.len() < 40 { &text } else { "text" }))
}

pub fn no_queue(index: i64) -> Raise {
    let message =
        format!("there is no queue {index}: they are counted from 0, in the order of the manager's families");
    Raise::new(ExceptionKind::IndexError, message)
        .help("two queues: Manager(0, [0, 0]), then mgr.sequence(0) and mgr.sequence(1)")
}

/// An entry point was chosen for a kernel, which has only one.
pub fn no_choice_of_entry_points() -> Raise {
    type_error(
        "`entry_point` chooses among those of a shader's text; a kernel and SPIR-V bytes are run at `main`",
    )
    .help("leave `entry_point` out, or give the text of the shader")
}

/// Only the built-in device checks kernels.
pub fn cannot_check(device: &str) -> Raise {
    let message = format!("device `{device}` cannot check kernels: only the built-in CPU device can");
    Raise::new(ExceptionKind::RuntimeError, message)
        .help("run with --device cpu, or leave out --check and `checked`")
}

/// An index into the list of all devices, though only one device checks.
pub fn no_device_that_checks(index: u32) -> Raise {
    let message = format!("there is no device {index} that checks kernels: only the built-in CPU device can");
    Raise::new(ExceptionKind::RuntimeError, message)
        .help("write kp.Manager(\"cpu\", checked=True), or leave out --check and `checked`")
}

/// No elements, or some with others between them, were given where a device needs a tensor.
pub const SCATTERED_HELP: &str = "devices are given one or more elements in one piece: copy others to a tensor of their own, \
     part = Tensor(t[::2]), and back if they changed, t[::2] = part";

pub fn not_a_tensor(operation: &str, value: &Value) -> Raise {
    if let Some(part) = values::unbound_part(value) {
        return type_error(format!("{operation} takes tensors, not {part}")).help(SCATTERED_HELP);
    }
    let raise = type_error(format!("{operation} takes tensors, not {}", value.type_name()));
    match value {
        Value::List(_) | Value::Tuple(_) => raise.help("make one first: Tensor(values)"),
        _ if value.downcast::<NdArray>().is_some() => raise.help("make one first: Tensor(array)"),
        _ => raise,
    }
}

/// An object's method `__tensor__` returned something else.
pub fn not_the_tensor_of(object: &Value, given: &Value) -> Raise {
    let (object, given) = (object.type_name(), given.type_name());
    type_error(format!("`__tensor__` of `{object}` returns a Tensor, not {given}"))
}

/// `argument` is the argument's name: `groups`, `workgroup`.
pub fn no_groups(argument: &str, given: &Value) -> Raise {
    type_error(format!("`{argument}` takes one to three counts of workgroups, not {}", given.type_name()))
        .help(format!("such as {argument}=(64, 1, 1)"))
}

pub fn too_many_axes_of_groups(argument: &str, given: usize) -> Raise {
    type_error(format!("`{argument}` takes one to three counts of workgroups, {given} were given"))
        .help(format!("they are those along x, y and z: {argument}=(64, 1, 1)"))
}

pub fn group_count(argument: &str, given: i64) -> Raise {
    type_error(format!("`{argument}` cannot be {given}: it counts workgroups, 0 to {}", u32::MAX))
        .help(format!("such as {argument}=(64, 1, 1)"))
}

/// A dict was given where numbers need an order.
pub fn dict_for_push_consts() -> Raise {
    type_error("push_consts takes numbers in the order of the kernel's members, not a dict")
        .help("such as push_consts=[1.0, 2.0]")
}

/// An algorithm that was made without SPIR-V cannot be dispatched.
pub fn no_kernel() -> Raise {
    Raise::new(ExceptionKind::RuntimeError, "the algorithm has no kernel: it was made without SPIR-V")
        .help("make it with one: mgr.algorithm(tensors, spirv)")
}

pub fn not_resized(given: &Value) -> Raise {
    let raise = match given {
        Value::Int(n) => value_error(format!("resize takes a number of elements, 1 or more, not {n}")),
        given => {
            type_error(format!("resize takes a number of elements, 1 or more, not {}", given.type_name()))
        }
    };
    raise.help("such as t.resize(2 * len(t))")
}

pub fn not_destroyed(value: &Value) -> Raise {
    type_error(format!("destroy takes tensors, sequences or names of sequences, not {}", value.type_name()))
        .help("`mgr.destroy()` ends the manager with all that belongs to it")
}

/// A picture was given in place of the path.
pub fn swapped_png(second: &Value) -> Raise {
    let raise = type_error("write_png takes the path first and the picture second");
    match second.as_str() {
        Some(path) => raise.help(format!("kp.write_png({}, picture)", crate::text::quote::repr(path))),
        None => raise.help("kp.write_png(\"picture.png\", picture)"),
    }
}

pub fn spec_id(key: &Value) -> Raise {
    type_error(format!("a key of spec_consts is the id of a constant, an int, not {}", key.type_name())).help(
        "such as spec_consts={0: 64}, for `layout(constant_id = 0)`; a list gives all in the order of ids",
    )
}

/// For one index into several axes, which is an element here, and a row in an array.
pub fn one_index(n_axes: usize) -> Raise {
    let rest = vec![":"; n_axes - 1].join(", ");
    index_error(format!("a tensor with {n_axes} axes takes {n_axes} indices, one was given"))
        .help(format!("`m[i, {rest}]` is a row; `m.data()[i]` is an element by its flat index"))
}

pub fn not_numbers(what: &str, value: &Value) -> Raise {
    type_error(format!("{what} takes numbers, not {}", value.type_name()))
}

pub fn ragged() -> Raise {
    Raise::new(ExceptionKind::ValueError, "the rows of a tensor must have the same length")
}

pub fn not_vectors(of: &Type, shape: &[usize]) -> Raise {
    let n = of.n_components();
    let message =
        format!("a tensor of `{of}` has {n} numbers along its last axis, and this shape is {shape:?}");
    Raise::new(ExceptionKind::ValueError, message)
}

pub fn unknown_dtype(value: &Value, text: &str) -> Raise {
    let raise = type_error(format!("`{text}` is no type of tensor elements (got {})", value.type_name()));
    raise.help("one of bool, i8 .. i64, u8 .. u64, f16, bf16, f32, f64, complex64, complex128, or NumPy's names such as \"float32\"")
}

pub fn complex_dtype(ty: kps_array::ElementType) -> Raise {
    type_error(format!("numbers without an imaginary part are expected here, not `{ty}`"))
        .help("`kp.real(x)` and `kp.imag(x)` have the parts; arithmetic takes complex numbers")
}

pub fn unknown_choice(parameter: &str, given: &str, choices: &[&str]) -> Raise {
    let message = format!("`{given}` is no {parameter}");
    Raise::new(ExceptionKind::ValueError, message).help(format!("one of {}", choices.join(", ")))
}

/// Several elements are neither true nor false together.
pub fn ambiguous_truth(n: usize) -> Raise {
    value_error(format!("a tensor of {n} elements is neither true nor false"))
        .help("say which elements count: `(x > 0).any()` or `(x > 0).all()`")
}

/// A single number has no axis to count or to walk along.
pub fn no_axes(what: &str) -> Raise {
    type_error(format!("{what} of a tensor without axes: it is one number"))
}

/// A mask has the shape of the axes that it chooses from.
pub fn mask_shape(mask: &[usize], array: &[usize]) -> Raise {
    let (mask, array) = (kps_array::errors::shape_text(mask), kps_array::errors::shape_text(array));
    index_error(format!("a mask of shape {mask} does not fit a tensor of shape {array}"))
}
