//! Errors of kernels, as exceptions of scripts.

mod arguments;

use kps_compute::{ComputeError, DType, Number, Unfit};
use kps_device::{DeviceError, DeviceInfo};
use kps_kernel::{ArrayParam, KernelEnv, KernelTemplate, Param, ParamKind, Scalar, Stage, StructType, Type};
use kps_syntax::{Diagnostic, Diagnostics, Location, suggest};

pub use self::arguments::{Wanted, argument_for_image, argument_kind, argument_numbers, image_for_array};
use super::domain::{Domain, shape_text};
use super::structs;
use super::types::KernelType;
use crate::errors::{attribute_error, no_attribute, type_error};
use crate::explain::AskedLine;
use crate::modules::kp;
use crate::value::{ExceptionKind, Raise, Result, Value};

/// An error of a launch. Push constants have the names of their parameters.
pub fn launch(template: &KernelTemplate, error: ComputeError) -> Raise {
    match error {
        ComputeError::PushUnfit { member, value, dtype, unfit } => {
            let why = match dtype {
                DType::Bool => "it is True or False".to_owned(),
                _ => unfit.why(dtype),
            };
            let kernel = template.name();
            let message = format!("parameter `{member}` of kernel `{kernel}` cannot be {value}: {why}");
            let raise = Raise::new(ExceptionKind::OverflowError, message);
            match dtype {
                DType::Bool => raise.help("write what makes it true, such as `n != 0`"),
                _ => match (value, unfit) {
                    (Number::Float(_), Unfit::NotExact) => {
                        raise.help(format!("round it, or declare a float: `{member}: f32`"))
                    }
                    (value, Unfit::OutOfRange) => {
                        raise.help(format!("declare a type that holds it: `{member}: {}`", holder(value)))
                    }
                    _ => raise,
                },
            }
        }
        error => kp::compute(error),
    }
}

/// The narrowest of the usual types that holds a number, roughly if it is a large one.
fn holder(value: Number) -> Scalar {
    match value {
        Number::Bool(_) => Scalar::Bool,
        Number::Int(value) if i32::try_from(value).is_ok() => Scalar::I32,
        Number::Int(value) if i64::try_from(value).is_ok() => Scalar::I64,
        Number::Int(value) if u64::try_from(value).is_ok() => Scalar::U64,
        Number::Float(value) if value.abs() <= f64::from(f32::MAX) => Scalar::F32,
        Number::Int(_) | Number::Float(_) => Scalar::F64,
    }
}

/// Errors of the kernel compiler. The message has each error with its line, for code that handles the
/// exception, as PyShader's has.
pub fn compile(diagnostics: Diagnostics) -> Raise {
    if diagnostics.iter().any(|found| found.code == kps_kernel::CANCELLED) {
        // The machine has the reason of the interrupt.
        return Raise::with_args(ExceptionKind::KeyboardInterrupt, Vec::new());
    }
    let mistakes: Vec<String> = diagnostics.iter().map(mistake).collect();
    Raise::with_message_and_diagnostics(ExceptionKind::ShaderError, mistakes.join("\n"), diagnostics)
}

fn mistake(diagnostic: &Diagnostic) -> String {
    let mut text = diagnostic.message.clone();
    if let Some(label) = diagnostic.labels.first() {
        let source = &label.location.source;
        let line = source.line(label.location.span.start);
        let file = source.name().rsplit('/').next().unwrap_or_default();
        text += &format!("\n  Source file \"{file}\", line {line}\n    {}", source.line_text(line).trim());
    }
    text
}

/// `shared` has the declarations of workgroup memory, and their sizes in bytes.
pub fn too_much_shared(shared: &[(Location, u64)], n_bytes: u64, info: &DeviceInfo) -> Raise {
    let message = format!(
        "a workgroup of this kernel shares {n_bytes} bytes of memory, and the most that device `{}` takes is {}",
        info.name, info.limits.max_shared
    );
    let mut diagnostic = Diagnostic::error("kernel/shared", message).help("make the tile smaller");
    for (at, n_bytes) in shared {
        diagnostic = diagnostic.label(at.clone(), format!("{n_bytes} bytes"));
    }
    compile(Diagnostics(vec![diagnostic]))
}

pub fn not_a_function(decorator: &str, value: &Value) -> Raise {
    let raise =
        type_error(format!("@{decorator} takes a function written with `def`, not {}", value.type_name()));
    match value {
        Value::Int(_) | Value::Tuple(_) => raise.help("options have names: @kernel(local_size=64)"),
        _ if decorator == value.type_name().to_lowercase() => {
            raise.help(format!("the function has one above it already: one @{decorator} is enough"))
        }
        _ => raise.help(format!("write @{decorator} on a line above the function's `def`")),
    }
}

const OPTIONS: &str = "its options are local_size=(16, 16), the invocations of a workgroup, subgroup_size=32, those \
                       of a subgroup, precise=True, and tune={\"TILE\": [16, 32]} with key=[\"n\"]";

/// For arguments that the decorator does not take; `name` is that of the first keyword.
pub fn not_an_option(raise: Raise, name: Option<&str>) -> Raise {
    match name {
        Some(name) if is_local_size(name) => {
            raise.help("the invocations of a workgroup are counted by local_size: `@kernel(local_size=64)`")
        }
        Some("grid" | "grid_size" | "global_size" | "dim" | "domain" | "size" | "n") => {
            raise.help("how many invocations there are is said at each launch: `k[n](..)`")
        }
        _ => raise.help(OPTIONS),
    }
}

/// Other systems' names for the number of invocations in a workgroup.
fn is_local_size(name: &str) -> bool {
    matches!(
        name,
        "local_size"
            | "workgroup_size"
            | "group_size"
            | "block"
            | "block_size"
            | "block_dim"
            | "blockDim"
            | "threads"
            | "num_threads"
            | "numthreads"
            | "threads_per_block"
            | "BLOCK_SIZE"
    )
}

pub fn no_ctype(given: &str) -> Raise {
    type_error(format!("{given} has no size of its own in memory"))
        .help("give the type of a value: f32, vec2, Array(12, f32), Struct(pos=vec3, mass=f32)")
}

pub fn only_in_kernels(name: &str) -> Raise {
    type_error(format!("stdlib.{name}() runs inside of kernels only"))
        .help("on the host use `math` for numbers and `numpy` for arrays")
}

pub fn struct_only_in_kernels(name: &str) -> Raise {
    type_error(format!("kp.{name}() runs inside of kernels only"))
        .help("on the host call a function that fills a tensor: kp.seed(5); x = kp.rand(100)")
}

/// The values that an option of the decorator takes, and an example.
fn option_takes(option: &str) -> (&'static str, &'static str) {
    match option {
        "local_size" => {
            ("takes one to three counts, each from 1 to 4294967295", "such as @kernel(local_size=(16, 16))")
        }
        "subgroup_size" => ("takes a power of two, 1 to 128", "such as subgroup_size=32"),
        _ => ("takes True or False", "such as @kernel(precise=True)"),
    }
}

pub fn bad_option(option: &str) -> Raise {
    let (takes, example) = option_takes(option);
    type_error(format!("`{option}` {takes}")).help(example)
}

/// The same of a script that was only read.
pub fn bad_option_at(at: Location, option: &str) -> Diagnostic {
    let (takes, example) = option_takes(option);
    option_mistake(at, format!("`{option}` {takes}")).help(example)
}

fn option_mistake(at: Location, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("kernel/option", message).label(at, "")
}

pub fn unknown_option_at(at: Location, option: &str, nearest: Option<&str>) -> Diagnostic {
    let mistake = option_mistake(at, format!("@kernel has no option `{option}`"));
    match nearest {
        Some(nearest) => mistake.help(format!("did you mean `{nearest}`?")),
        None => mistake.help(OPTIONS),
    }
}

/// An option without its name.
pub fn unnamed_option_at(at: Location) -> Diagnostic {
    option_mistake(at, "the options of @kernel have names").help("such as @kernel(local_size=64)")
}

/// PyShader's decorator takes only the function.
pub fn python2shader_option_at(at: Location) -> Diagnostic {
    option_mistake(at, "@python2shader takes no options")
        .help("write plain `@python2shader`: its workgroups are of one invocation")
}

/// Only kernels run here: the stages of a graphics pipeline are compiled for programs that draw.
pub fn check_launchable(template: &KernelTemplate) -> Result<()> {
    if template.stage == Stage::Compute {
        return Ok(());
    }
    let (name, stage) = (template.name(), template.stage.name());
    let message = format!("`{name}` is a {stage} function, which is compiled and not run");
    Err(type_error(message).help(format!("`{name}.to_spirv()` gives the bytes for a program that draws")))
}

fn signature_text(template: &KernelTemplate) -> String {
    let names = template.params.iter().filter(|param| !matches!(param.kind, ParamKind::Input { .. }));
    names.map(|param| &*param.name.name).collect::<Vec<_>>().join(", ")
}

/// `needed` are those without a default.
pub fn argument_count(template: &KernelTemplate, needed: usize, given: &[Value]) -> Raise {
    let most = template.params.iter().filter(|param| !matches!(param.kind, ParamKind::Input { .. })).count();
    let (name, verb) = (template.name(), if given.len() == 1 { "was" } else { "were" });
    let plural = if most == 1 { "" } else { "s" };
    let wanted = match most - needed {
        0 => format!("{most}"),
        1 => format!("{needed} or {most}"),
        _ => format!("{needed} to {most}"),
    };
    let names = signature_text(template);
    let n_given = given.len();
    let raise = type_error(format!(
        "kernel `{name}` takes {wanted} argument{plural} ({names}), {n_given} {verb} given"
    ));
    match given.last() {
        Some(Value::Tuple(_)) if n_given == most + 1 => {
            raise.help(format!("workgroups are counted by name: {name}.launch({names}, groups=(64, 1, 1))"))
        }
        _ => raise.help(format!("write {name}({names}); arrays that it writes are arguments too")),
    }
}

pub fn missing_argument(template: &KernelTemplate, parameter: &str) -> Raise {
    let name = template.name();
    type_error(format!("kernel `{name}` misses its argument `{parameter}`"))
        .help(format!("pass it by its place or its name: {name}(.., {parameter}=..)"))
}

pub fn unknown_argument(template: &KernelTemplate, given: &str, value: &Value) -> Raise {
    let name = template.name();
    if given == "stream" {
        return type_error(format!("`stream` takes a stream, not {}", value.type_name()))
            .help(format!("make one first: s = mgr.stream(), then {name}(.., stream=s)"));
    }
    let raise = type_error(format!("kernel `{name}` has no parameter `{given}`"));
    match given {
        "groups" | "group" | "workgroups" | "workgroup" => {
            raise.help(format!("workgroups are counted by {name}.launch(.., groups=(64, 1, 1))"))
        }
        given if is_local_size(given) => raise.help("the kernel says it: `@kernel(local_size=(64,))`"),
        "domain" | "size" | "grid" | "grid_size" | "global_size" | "dim" | "shape" | "num_invocations" => {
            raise.help(format!("say how many invocations there are: {name}[n](..)"))
        }
        _ => raise.help(format!("it has {}", signature_text(template))),
    }
}

/// A parameter after `*` was given without its name.
pub fn keyword_only(template: &KernelTemplate, parameter: &str) -> Raise {
    let name = template.name();
    let raise = type_error(format!("kernel `{name}` takes its argument `{parameter}` by name only"));
    raise.help(format!("write {name}(.., {parameter}=..)"))
}

pub fn argument_twice(template: &KernelTemplate, parameter: &str) -> Raise {
    type_error(format!("kernel `{}` got its argument `{parameter}` twice", template.name()))
        .help("give it by its place or by its name, not by both")
}

pub fn argument_rank(
    template: &KernelTemplate,
    parameter: &str,
    array: &ArrayParam,
    shape: &[usize],
) -> Raise {
    let kernel = template.name();
    let axes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let shape =
        if let [only] = axes.as_slice() { format!("({only},)") } else { format!("({})", axes.join(", ")) };
    let message = format!(
        "parameter `{parameter}` of kernel `{kernel}` is `{array}`, and the tensor has shape {shape}"
    );
    let wanted = vec![".."; usize::from(array.rank)].join(", ");
    type_error(message).help(format!("give the tensor {} dimensions: tensor.reshape({wanted})", array.rank))
}

/// Of a parameter that leaves the signature open.
pub fn undeclared(template: &KernelTemplate, undeclared: &Param) -> Raise {
    let (kernel, parameter) = (template.name(), &undeclared.name.name);
    match undeclared.kind {
        ParamKind::Const(scalar) => {
            let default = if scalar == Scalar::Bool { "True" } else { "4" };
            type_error(format!(
                "kernel `{kernel}` has no one SPIR-V: its constant `{parameter}` has no value"
            ))
            .help(format!("write one as its default, such as `{parameter}: const[{scalar}] = {default}`"))
        }
        _ => type_error(format!(
            "kernel `{kernel}` has no one SPIR-V: its parameter `{parameter}` has no type"
        ))
        .help(format!("annotate it, such as `{parameter}: Array[f32]` or `{parameter}: f32`")),
    }
}

/// A parameter without a type, for which an algorithm has no tensor.
pub fn unbound(template: &KernelTemplate, parameter: &str) -> Raise {
    let kernel = template.name();
    type_error(format!(
        "parameter `{parameter}` of kernel `{kernel}` has no type, and no tensor is bound to it"
    ))
    .help("bind a tensor for each array, and annotate the numbers that are pushed, such as `a: f32`")
}

pub fn no_tensor(template: &KernelTemplate) -> Raise {
    let raise = type_error(format!("kernel `{}` has no tensor to take its domain from", template.name()));
    raise.help(format!("say how many invocations there are: {}[n](..)", template.name()))
}

pub fn bad_domain(template: &KernelTemplate) -> Raise {
    let message = format!("the domain of kernel `{}` is one to three counts of invocations", template.name());
    type_error(message).help(format!("such as {0}[n](..) or {0}[height, width](..)", template.name()))
}

fn list(axes: &[usize]) -> String {
    axes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// `kernel[-1]`, `kernel[2.5]`.
pub fn bad_count(template: &KernelTemplate, count: &str) -> Raise {
    let name = template.name();
    type_error(format!("the domain of kernel `{name}` counts invocations, and {count} is no count"))
        .help(format!("a count is an int of at least 0, such as {name}[n](..) or {name}[height, width](..)"))
}

/// `kernel[4, 3]`, as a script writes it.
pub fn with_domain(template: &KernelTemplate, domain: &[usize]) -> String {
    format!("{}[{}]", template.name(), list(domain))
}

/// An attribute that kernels do not have, but that other systems launch by.
pub fn no_such_attribute(kernel: &Value, template: &KernelTemplate, name: &str) -> Option<Raise> {
    let is_launch = matches!(
        name,
        "run"
            | "eval"
            | "execute"
            | "call"
            | "dispatch"
            | "forall"
            | "start"
            | "forward"
            | "apply"
            | "submit"
            | "enqueue"
    );
    is_launch.then(|| {
        let call = format!("{}({})", template.name(), signature_text(template));
        no_attribute(kernel, name, None).help(format!("a kernel is called: `{call}`"))
    })
}

/// `given` is the index in `kernel[3]`.
pub fn launch_with_domain(given: &Value, template: &KernelTemplate, domain: &[usize]) -> Raise {
    let (name, with_domain) = (template.name(), with_domain(template, domain));
    no_attribute(given, "launch", None)
        .help(format!("write {with_domain}(..), or count workgroups instead: {name}.launch(.., groups=..)"))
}

/// `domain` is the one that the kernel has, `both` has the counts of both pairs of brackets.
pub fn domain_twice(template: &KernelTemplate, domain: &[usize], both: &[usize]) -> Raise {
    let name = template.name();
    let message = format!(
        "the domain of kernel `{name}` is given once, and `{}` has it",
        with_domain(template, domain)
    );
    let raise = type_error(message);
    match both.len() {
        ..=3 => raise.help(format!(
            "a kernel has one domain: write {}(..) for one of several axes",
            with_domain(template, both)
        )),
        _ => raise.help("a kernel has one domain, of one to three axes"),
    }
}

/// `local_size` begins with x, `domain` ends with it. `written` is the only array that the kernel writes to,
/// and its shape.
pub fn partial_group(
    template: &KernelTemplate,
    domain: &Domain,
    written: Option<(&str, &[usize])>,
    local_size: [usize; 3],
) -> Raise {
    let name = template.name();
    let n_axes_of_group = local_size.iter().rposition(|&n| n > 1).map_or(1, |last| last + 1);
    let mut group = local_size[..domain.shape.len().clamp(n_axes_of_group, 3)].to_vec();
    group.reverse();
    let message = format!(
        "kernel `{name}` needs whole workgroups, so its domain must be a multiple of {}, and {} is not",
        shape_text(&group),
        shape_text(&domain.shape),
    );
    // The default domain is a guess, and the written array is a better one.
    let written = written.filter(|(_, shape)| domain.of.is_some() && *shape != &domain.shape[..]);
    let meant = written.map_or(&domain.shape[..], |(_, shape)| shape);
    let along = meant.iter().rev().copied().chain(std::iter::repeat(1));
    let groups: Vec<usize> = along.zip(local_size).map(|(n, local)| n.div_ceil(local)).collect();
    let whole = groups.iter().zip(local_size).map(|(n, local)| n * local);
    let mut whole: Vec<usize> = whole.take(meant.len().clamp(n_axes_of_group, 3)).collect();
    whole.reverse();
    let origin = match (&domain.of, written) {
        (Some(first), Some((written, shape))) => format!(
            "the domain is the shape of `{first}`, the first array, and `{written}`, which is written, has {}: ",
            shape_text(shape)
        ),
        (Some(first), None) => format!("the domain is the shape of `{first}`, the first array: "),
        (None, _) => String::new(),
    };
    type_error(message).help(format!(
        "{origin}write `{name}[{}](..)` or `{name}.launch(.., groups=({}))`, and test indices in the kernel",
        list(&whole),
        list(&groups)
    ))
}

// Traces.

pub fn trace_at_missing(template: &KernelTemplate) -> Raise {
    let name = template.name();
    type_error(format!("the trace of kernel `{name}` needs the invocation to follow"))
        .help(format!("give its global id, too: `{name}.trace({}, at=(0, 0, 0))`", parameters(template)))
}

/// Those of a call, by their names.
fn parameters(template: &KernelTemplate) -> String {
    let names: Vec<&str> = template.params.iter().map(|param| &*param.name.name).collect();
    names.join(", ")
}

pub fn trace_at(template: &KernelTemplate) -> Raise {
    let name = template.name();
    type_error("`at` is the global id of an invocation: one to three ints, none below 0")
        .help(format!("such as {name}.trace(.., at=3) or {name}.trace(.., at=(3, 0))"))
}

pub fn trace_outside(template: &KernelTemplate, at: [u32; 3], domain: [u64; 3]) -> Raise {
    let ([x, y, z], [n_x, n_y, n_z]) = (at, domain);
    let name = template.name();
    let raise = crate::errors::value_error(format!(
        "kernel `{name}` has no invocation ({x}, {y}, {z}): the launch has {n_x} x {n_y} x {n_z} along x, y and z"
    ));
    match domain.map(|n| n.checked_sub(1)) {
        [Some(x), Some(y), Some(z)] => {
            raise.help(format!("they are counted from 0: the last one is at=({x}, {y}, {z})"))
        }
        _ => raise.help("give it something to do: a domain or arrays that are not empty"),
    }
}

// Explanations.

pub fn explain_line(template: &KernelTemplate) -> Raise {
    let name = template.name();
    type_error("`line` is the number of a line of the kernel's file, or a file with the number of a line")
        .help(format!("such as {name}.explain(line=3) or {name}.explain(line=\"helpers.kps:3\")"))
}

pub fn explain_undeclared(raise: Raise, template: &KernelTemplate, env: &dyn KernelEnv) -> Raise {
    let name = template.name();
    let say = match template.undeclared(env).map(|param| &param.kind) {
        Some(ParamKind::Const(_)) => "write one as its default",
        _ => "annotate it",
    };
    raise.help(format!(
        "{say}, or give the arguments of a launch: {name}.explain({})",
        signature_text(template)
    ))
}

pub fn line_outside(asked: &AskedLine, place: &str) -> Raise {
    let of = asked.file.as_ref().map(|file| format!(" of `{file}`")).unwrap_or_default();
    let line = asked.line;
    crate::errors::value_error(format!("line {line}{of} is in no function that is explained: {place}"))
}

pub fn no_device(error: DeviceError) -> Raise {
    Raise::new(ExceptionKind::RuntimeError, error.to_string())
}

// Structs.

pub fn not_a_class(value: &Value) -> Raise {
    type_error(format!("@struct takes a class, not {}", value.type_name()))
}

pub fn struct_base(name: &str) -> Raise {
    let raise = type_error(format!("the struct `{name}` cannot have a base class"));
    raise.help("hold the other struct as a member: `base: Other`")
}

pub fn empty_struct(name: &str) -> Raise {
    let raise = type_error(format!("the struct `{name}` has no members"));
    raise.help("a member is a name with a type: `mass: f32`")
}

pub fn struct_too_large(name: &str, limit: u32) -> Raise {
    let raise = type_error(format!("the struct `{name}` is larger than {limit} bytes"));
    raise.help("keep large arrays in tensors of their own")
}

pub fn member_type(name: &str, member: &str, given: &Value) -> Raise {
    let shown = match given {
        Value::Class(class) => format!("`{}`", &*class.name),
        given => match given.downcast::<KernelType>() {
            Some(ty) => format!("`{}`, which has no size of its own", ty.text()),
            None => given.type_name().into_owned(),
        },
    };
    let message = format!("the member `{member}` of `{name}` needs a type of kernels, not {shown}");
    type_error(message).help("such as `f32`, `vec3`, `Array(4, f32)` or another struct")
}

pub fn unnamed_member() -> Raise {
    type_error("every member of a Struct has a name").help("write Struct(mass=f32)")
}

pub fn bad_array_len() -> Raise {
    type_error("the length of a fixed array is an int from 1 to 65535")
}

pub fn bad_matrix() -> Raise {
    type_error("a Matrix has 2 to 4 columns, 2 to 4 rows, and a type of floats")
        .help("such as Matrix(3, 2, f32)")
}

pub fn bad_array() -> Raise {
    type_error("an Array needs the type of its elements")
        .help("such as Array(f32), or Array(4, f32) for one of fixed length")
}

/// The number of parts of a vector or a matrix is wrong.
pub fn part_count(ty: &Type, wanted: usize, given: usize) -> Raise {
    type_error(format!("{ty}() takes {wanted} numbers, {given} were given"))
}

pub fn part_kind(value: &Value) -> Raise {
    type_error(format!("vectors and matrices are made of numbers, not {}", value.type_name()))
}

/// `len` and `element` are the given values, if they are an int and a type.
pub fn bad_vector(len: Option<i64>, element: Option<&Type>) -> Raise {
    let raise = type_error("a Vector has 2 to 4 components of a number type");
    match (len, element) {
        (Some(len), Some(element)) if len > 0 => {
            raise.help(format!("that many are a list: write Array({len}, {element})"))
        }
        _ => raise.help("write Vector(2, f32), or vec2(1.0, 2.0) for one with these numbers"),
    }
}

pub fn too_many_members(of: &StructType, given: usize) -> Raise {
    type_error(format!("`{of}` has {} members, {given} were given", of.members.len()))
}

pub fn unknown_member(of: &StructType, name: &str) -> Raise {
    let names: Vec<&str> = of.members.iter().map(|member| &*member.name).collect();
    type_error(format!("`{of}` has no member `{name}`")).help(format!("it has {}", names.join(", ")))
}

/// An assignment to an attribute that is not a member.
pub fn no_member(of: &StructType, name: &str) -> Raise {
    let names: Vec<&str> = of.members.iter().map(|member| &*member.name).collect();
    let raise = attribute_error(format!("`{of}` has no member `{name}`"));
    match suggest::nearest(name, names.iter().copied()) {
        Some(nearest) => raise.help(format!("did you mean `{nearest}`?")),
        None => raise.help(format!("it has {}", names.join(", "))),
    }
}

/// For two classes of one name.
fn defined_anew(name: &str) -> String {
    format!("`{name}` was redefined: recreate what uses the earlier one, such as a kernel")
}

pub fn member_twice(of: &StructType, name: &str) -> Raise {
    type_error(format!("this `{of}` gets `{name}` twice"))
}

pub fn member_missing(of: &StructType, name: &str) -> Raise {
    let missing = of.members.iter().filter(|member| member.default.is_none());
    let given: Vec<String> =
        missing.map(|member| format!("{}={}", member.name, zero_of(&member.ty))).collect();
    type_error(format!("this `{of}` lacks its member `{name}`"))
        .help(format!("give every member without a default: `{of}({})`", given.join(", ")))
}

/// A literal of zeros in a script.
fn zero_of(ty: &Type) -> String {
    match ty {
        Type::Scalar(Scalar::Bool) => "False".to_owned(),
        Type::Scalar(scalar) => if scalar.is_float() { "0.0" } else { "0" }.to_owned(),
        Type::Vector(n, scalar) => {
            format!("[{}]", vec![zero_of(&(*scalar).into()); usize::from(*n)].join(", "))
        }
        Type::Array(array) => format!("[{}] * {}", zero_of(&array.element), array.len),
        Type::Struct(of) => {
            let members: Vec<String> = of.members.iter().map(|member| zero_of(&member.ty)).collect();
            format!("({},)", members.join(", "))
        }
        _ => "..".to_owned(),
    }
}

/// `name` is the way to the value: `pos[1]`, `body.mass`.
pub fn member_value(name: &str, ty: &Type, given: &Value) -> Raise {
    if let Type::Struct(of) = ty
        && let Some(class) = &of.name
        && matches!(structs::type_of_value(given), Some(Type::Struct(own)) if own.name == of.name)
    {
        let what = if name.is_empty() { String::new() } else { format!("`{name}` is a `{class}`, and ") };
        let message = format!("{what}this object is of another class `{class}`");
        return type_error(message).help(defined_anew(class));
    }
    let message = match name {
        "" => format!("a `{ty}` cannot be made of {}", given.type_name()),
        name => format!("`{name}` is a `{ty}`, which cannot be made of {}", given.type_name()),
    };
    match ty {
        Type::Struct(_) => {
            type_error(message).help("give an instance, a dict of its members, or a tuple of them")
        }
        Type::Vector(n, _) => type_error(message).help(format!("give a tuple of {n} numbers")),
        _ => type_error(message),
    }
}

/// `wanted` and `given` count the parts of the value on the host, where a matrix is a list of rows.
pub fn member_len(name: &str, ty: &Type, wanted: usize, given: usize) -> Raise {
    let what = if name.is_empty() { "a value".to_owned() } else { format!("`{name}`") };
    let parts = if ty.is_matrix() { "rows" } else { "parts" };
    let verb = if given == 1 { "was" } else { "were" };
    crate::errors::value_error(format!("{what} of type `{ty}` has {wanted} {parts}, {given} {verb} given"))
}

pub fn member_range(name: &str, ty: &Type, number: Number) -> Raise {
    Raise::new(ExceptionKind::OverflowError, format!("`{name}` is a `{ty}`, which cannot hold {number}"))
}

/// An int that no type of ints holds.
pub fn argument_too_large(name: &str, ty: &Type, n_bits: u64) -> Raise {
    let message = format!("parameter `{name}` is `{ty}`, which cannot hold an int of {n_bits} bits");
    Raise::new(ExceptionKind::OverflowError, message)
}

/// A tensor of numbers for elements that are structs of others.
pub fn numbers_for_records(template: &KernelTemplate, parameter: &str, of: &Type, given: DType) -> Raise {
    let (kernel, given) = (template.name(), given.name());
    type_error(format!(
        "parameter `{parameter}` of kernel `{kernel}` has elements of type `{of}`, and the tensor numbers of {given}"
    ))
    .help(format!("make the tensor of such elements: Tensor([{of}(..), ..]), or np.zeros(n, dtype={of})"))
}

pub fn record_type(template: &KernelTemplate, parameter: &str, wanted: &Type, given: &StructType) -> Raise {
    let kernel = template.name();
    let (wanted, given) = (wanted.to_string(), given.to_string());
    let takes = format!("parameter `{parameter}` of kernel `{kernel}` has elements of type `{wanted}`");
    match wanted == given {
        true => type_error(format!("{takes}, and the tensor those of another class `{given}`"))
            .help(defined_anew(&given)),
        false => type_error(format!("{takes}, not `{given}`")),
    }
}
