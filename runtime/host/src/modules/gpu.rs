//! The module `_gpu`: what `gpu` and `gpuarray` of the standard library need, and cannot say in kps.
//!
//! Facts about devices, kernels and modules come out as dicts and tuples. Nothing here runs on a device.

use std::rc::Rc;

use kps_compute::words;
use kps_device::interface::{Block, BufferBinding, MemberType};
use kps_device::{Access, Backend, DeviceInfo, DeviceKind, Interface, PipelineOptions, Scalar};
use kps_syntax::{Diagnostic, Severity, Source};

use super::kernels::{self, compile_error};
use super::kp;
use crate::convert::FromValue;
use crate::errors::{type_error, value_error};
use crate::foreign::{self, Language, Options};
use crate::value::{Args, Dict, Instance, NativeDef, NativeModule, Result, TraceEntry, Value};
use crate::vm::Vm;

pub static MODULE: NativeModule = NativeModule { functions: FUNCTIONS, ..NativeModule::new("_gpu") };

static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("devices", devices),
    NativeDef::function("run_text", run_text),
    NativeDef::function("compile_shader", compile_shader),
    NativeDef::function("log_of", log_of),
    NativeDef::function("kernel", kernel),
    NativeDef::function("compiled", compiled),
    NativeDef::function("interface", interface),
    NativeDef::function("view", view),
    NativeDef::function("is_tensor", is_tensor),
    NativeDef::function("scattered", scattered),
];

/// `devices()`: the properties of each device that `Manager(index)` opens, in the order of their indices.
fn devices(vm: &mut Vm, args: &Args) -> Result {
    let [] = args.exactly("devices")?;
    let visible = kp::visible_devices(vm)?;
    Ok(Value::list(visible.iter().map(properties).collect()))
}

fn properties(info: &DeviceInfo) -> Value {
    let dict = Dict::new();
    let limits = &info.limits;
    let backend = match info.backend {
        Backend::Vulkan => "vulkan",
        Backend::Cpu => "cpu",
    };
    dict.insert_text("name", info.name.as_str().into());
    dict.insert_text("backend", backend.into());
    dict.insert_text("driver", info.driver.as_str().into());
    dict.insert_text("is_integrated", (info.kind == DeviceKind::Integrated).into());
    dict.insert_text("is_gpu", info.kind.is_gpu().into());
    dict.insert_text("memory", info.memory.into());
    let uuid = info.uuid.map(|uuid| uuid.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    dict.insert_text("uuid", uuid.into());
    dict.insert_text("pci", info.pci.map(|parts| Value::tuple(parts.map(Value::from))).into());
    dict.insert_text("max_grid_dim", axes(limits.max_groups));
    dict.insert_text("max_block_dim", axes(limits.max_local_size));
    dict.insert_text("max_threads_per_block", limits.max_invocations.into());
    dict.insert_text("max_shared_memory_per_block", limits.max_shared.into());
    dict.insert_text("warp_size", limits.subgroup_size.into());
    dict.insert_text("max_push_constants", limits.max_push_constants.into());
    dict.insert_text("max_allocation", limits.max_allocation.into());
    dict.insert_text("has_timestamps", limits.timestamp_period.is_some().into());
    dict.insert_text(
        "n_queues",
        info.queue_families.iter().map(|family| family.n_queues).sum::<u32>().max(1).into(),
    );
    let features = info.features.iter().map(|feature| feature.name().into()).collect();
    dict.insert_text("features", Value::list(features));
    Value::Dict(Rc::new(dict))
}

fn axes(axes: [u32; 3]) -> Value {
    Value::tuple(axes.map(Value::from))
}

/// `run_text(text, name)`: the module that a text defines. Nothing can import it.
fn run_text(vm: &mut Vm, args: &Args) -> Result {
    let [text, name] = args.exactly("run_text")?;
    let (text, name) = (String::from_value(vm, text)?, String::from_value(vm, name)?);
    vm.run_text(&name, &text).map(Value::Module)
}

/// `compile_shader(text, name, language, entry_point, definitions)`: SPIR-V as bytes.
fn compile_shader(vm: &mut Vm, args: &Args) -> Result {
    let [text, name, language, entry_point, definitions] = args.exactly("compile_shader")?;
    let source = Source::new(String::from_value(vm, name)?, String::from_value(vm, text)?);
    let language = match &*String::from_value(vm, language)? {
        "glsl" => Language::Glsl,
        "hlsl" => Language::Hlsl,
        "wgsl" => Language::Wgsl,
        other => return Err(value_error(format!("there is no shader language `{other}`"))),
    };
    let entry_point = Option::from_value(vm, entry_point)?;
    let definitions = Vec::from_value(vm, definitions)?;
    let folder = super::sys::search_path(vm).into_iter().next();
    let options = Options { entry_point, definitions, folder, ..Options::default() };
    let words = foreign::compile(&source, language, &options).map_err(compile_error)?;
    Ok(Value::bytes(words::to_bytes(&words)))
}

/// `log_of(exception, name)`: what is wrong with the program of this name, each mistake with its line.
fn log_of(vm: &mut Vm, args: &Args) -> Result {
    let [exception, name] = args.exactly("log_of")?;
    let name = String::from_value(vm, name)?;
    let Value::Instance(instance) = exception else { return Err(type_error("log_of() takes an exception")) };
    let data = instance.exception().ok_or_else(|| type_error("log_of() takes an exception"))?;
    let diagnostics = data.diagnostics.borrow().clone();
    if let Some(diagnostics) = diagnostics {
        return Ok(Value::str(diagnostics.iter().map(entry).collect::<String>()));
    }
    let message = format!("{}: {}", exception.type_name(), vm.str(exception)?);
    let raised = Diagnostic::error(exception_code(instance), message);
    let within = |entry: &&TraceEntry| entry.location.source.name() == name;
    let place = data.trace.borrow().iter().find(within).map(|entry| entry.location.clone());
    let raised = match place {
        Some(place) => raised.label(place, ""),
        None => raised,
    };
    Ok(Value::str(entry(&raised)))
}

fn exception_code(instance: &Instance) -> &'static str {
    instance.class().exception_kind().code()
}

/// `NAME:LINE:COLUMN: error: MESSAGE`, the line, and the help.
fn entry(diagnostic: &Diagnostic) -> String {
    let severity = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
    let message = &diagnostic.message;
    let mut text = match diagnostic.labels.first() {
        Some(label) => {
            let source = &label.location.source;
            let (line, column) = source.line_column(label.location.span.start);
            let shown = source.line_text(line);
            let arrow = " ".repeat(column.saturating_sub(1) as usize);
            format!("{}:{line}:{column}: {severity}: {message}\n    {shown}\n    {arrow}^\n", source.name())
        }
        None => format!("{severity}: {message}\n"),
    };
    if let Some(help) = &diagnostic.help {
        text += &format!("    help: {help}\n");
    }
    text
}

/// `kernel(value)`: the name, the options and the parameters of a kernel; `None` for another value.
fn kernel(_: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("kernel")?;
    Ok(kernels::described(value).into())
}

/// `compiled(kernel)`: SPIR-V, local size and shared bytes for the declared types; `None` if some are not
/// declared.
fn compiled(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("compiled")?;
    Ok(kernels::compiled(vm, value)?.into())
}

/// `interface(spirv, entry_point)`: what a module binds.
fn interface(vm: &mut Vm, args: &Args) -> Result {
    let [spirv, entry_point] = args.exactly("interface")?;
    let words = kp::words(vm, spirv, &Options::default())?;
    let entry_point = String::from_value(vm, entry_point)?;
    let options = PipelineOptions { entry_point, ..PipelineOptions::default() };
    let interface = Interface::reflect(&words, &options).map_err(|error| kp::compute(error.into()))?;
    let dict = Dict::new();
    dict.insert_text("name", interface.name.clone().into());
    dict.insert_text("local_size", axes(interface.local_size));
    dict.insert_text("buffers", Value::list(interface.buffers.iter().map(buffer).collect()));
    dict.insert_text("n_images", (interface.images.len() + interface.samplers.len()).into());
    let push = interface.push_constants.as_ref().map_or(Vec::new(), push_constants);
    dict.insert_text("push_constants", Value::list(push));
    Ok(Value::Dict(Rc::new(dict)))
}

/// Set, binding, name, whether it is read and written, and the type of its elements.
fn buffer(buffer: &BufferBinding) -> Value {
    let last = buffer.layout.members.last();
    let name = buffer.name.clone().filter(|name| !name.is_empty());
    let name = name.or_else(|| last.and_then(|member| member.name.clone()));
    let dtype = last.and_then(|member| element(&member.ty)).map(Scalar::numpy_name);
    Value::tuple([
        buffer.set.into(),
        buffer.binding.into(),
        name.unwrap_or_else(|| format!("binding {}", buffer.binding)).into(),
        (buffer.access != Access::Write).into(),
        (buffer.access != Access::Read).into(),
        dtype.into(),
    ])
}

/// The type of all numbers of a member, if it is a number or an array of numbers or vectors.
fn element(ty: &MemberType) -> Option<Scalar> {
    match ty {
        MemberType::Scalar(scalar)
        | MemberType::Vector { scalar, .. }
        | MemberType::Matrix { scalar, .. } => Some(*scalar),
        MemberType::Array { element: of, .. } => element(of),
        MemberType::Struct(_) => None,
    }
}

/// Name, type, offset and size of each.
fn push_constants(block: &Block) -> Vec<Value> {
    let one = |(at, member): (usize, &kps_device::interface::Member)| {
        let name = member.name.clone().unwrap_or_else(|| format!("push constant {at}"));
        let dtype = element(&member.ty).map(Scalar::numpy_name);
        Value::tuple([name.into(), dtype.into(), member.offset.into(), member.ty.size().into()])
    };
    block.members.iter().enumerate().map(one).collect()
}

/// `is_tensor(value)`: whether kernels take it as an array: a tensor, a slice of one, or an array over one.
fn is_tensor(_: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("is_tensor")?;
    Ok(kp::tensor_of(value)?.is_some().into())
}

/// `scattered(value)`: what the value is, if it is a part of a tensor that no kernel takes; else `None`.
fn scattered(_: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("scattered")?;
    Ok(kp::unbound_part(value).into())
}

/// `view(tensor, dtype, shape)`: the same memory as elements of another type.
fn view(vm: &mut Vm, args: &Args) -> Result {
    let [tensor, dtype, shape] = args.exactly("view")?;
    let tensor = kp::tensor_of(tensor)?.ok_or_else(|| type_error("view() takes a tensor"))?;
    let (dtype, shape) = (kp::dtype(vm, dtype)?, Vec::<usize>::from_value(vm, shape)?);
    Ok(kp::tensor_value(tensor.seen_as(dtype, &shape).map_err(kp::compute)?))
}
