//! Mistakes in declarations of kernels and their parameters.

use kps_syntax::{Diagnostic, Location};

use super::parts::{arguments, error, meant};
use crate::builtins::{self, Builtin};
use crate::found::one;
use crate::types::Type;

pub(crate) fn zero_local_size(at: Location, local_size: [u32; 3]) -> Diagnostic {
    let [x, y, z] = local_size;
    error("kernel/local-size", at, format!("a local size of {x}, {y}, {z} has no invocations"), "")
        .help("every axis is at least 1: `@kernel(local_size=(16, 16))`")
}

pub(crate) fn variadic_parameter(at: Location, name: &str, what: &str) -> Diagnostic {
    error("kernel/variadic-parameter", at, format!("{what} cannot take `{name}`"), "")
        .help(format!("name every parameter, such as `{0}0` and `{0}1`", name.trim_start_matches('*')))
}

pub(crate) fn helper_default(at: Location, name: &str) -> Diagnostic {
    error("kernel/parameter-default", at, format!("the default of `{name}` is not a plain number"), "")
        .help("a function called from a kernel takes numbers and bools as defaults")
}

/// `wanted` is the kind of the parameter: `` `i32` ``, `an image`.
pub(crate) fn default_misfit(
    at: Location,
    text: &str,
    name: &str,
    wanted: &str,
    help: &'static str,
) -> Diagnostic {
    let message = format!("`{text}` cannot be the default of `{name}`, which takes {wanted}");
    error("kernel/parameter-default", at, message, "").help(help)
}

pub(crate) fn tuple_in_kernel(at: Location, name: &str) -> Diagnostic {
    error(
        "kernel/tuple-parameter",
        at,
        format!("`{name}` is declared by a tuple, which `@kernel` does not read"),
        "",
    )
    .help(format!("decorate the function with `@python2shader`, or annotate `{name}: Array[f32]`"))
}

pub(crate) fn kernel_returns(at: Location) -> Diagnostic {
    let text = at.source.slice(at.span).to_owned();
    error("kernel/returns-value", at, "a kernel returns nothing", "").help(match builtins::lookup(&text) {
        // The annotation of the result.
        Some(Builtin::Type(_)) => "write the result to an element of an array parameter".to_owned(),
        _ => format!("write it to an element of an array parameter: `out[global_id.x] = {text}`"),
    })
}

/// For a kernel that returns a list or an array.
pub(crate) fn kernel_returns_array(at: Location) -> Diagnostic {
    let text = at.source.slice(at.span).to_owned();
    let name = if is_identifier(&text) { text } else { "out".to_owned() };
    error("kernel/returns-value", at, "a kernel returns nothing", "").help(format!(
        "let `{name}` be a parameter, `{name}: Array[f32]`, assign its elements, `{name}[i] = ..`, and read it after \
         the launch: `{name}.numpy()`"
    ))
}

fn is_identifier(text: &str) -> bool {
    text.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

pub(crate) fn parameter_without_info(at: Location, name: &str) -> Diagnostic {
    error(
        "kernel/parameter-declaration",
        at,
        format!("`{name}` needs its kind, slot and type, as a default value or an annotation"),
        "",
    )
    .help(format!("`{name}=(\"buffer\", 0, Array(f32))`"))
}

pub(crate) fn parameter_not_a_tuple(at: Location, name: &str, text: &str) -> Diagnostic {
    error(
        "kernel/parameter-declaration",
        at,
        format!("`{name}` is declared by `{text}`, which is not a tuple of kind, slot and type"),
        "",
    )
    .help(format!("`{name}=(\"buffer\", 0, Array(f32))`"))
}

pub(crate) fn parameter_tuple_len(at: Location, name: &str, n_items: usize) -> Diagnostic {
    error(
        "kernel/parameter-declaration",
        at,
        format!("`{name}` is declared by a tuple of {n_items}, not of kind, slot and type"),
        "",
    )
    .help(format!("`{name}=(\"buffer\", 0, Array(f32))`"))
}

pub(crate) fn parameter_kind(at: Location, text: &str) -> Diagnostic {
    error("kernel/parameter-kind", at, format!("{text} is not a kind of parameter"), "")
        .help("a kind is \"input\", \"output\", \"buffer\", \"uniform\", \"texture\" or \"sampler\"")
}

pub(crate) fn output_in_compute(at: Location) -> Diagnostic {
    error("kernel/parameter-kind", at, "a compute kernel has no outputs", "")
        .help("write results to a \"buffer\"")
}

pub(crate) fn input_location(at: Location) -> Diagnostic {
    error("kernel/unknown-input", at, "the slot of an input of a compute kernel is the name of one", "")
        .help("\"GlobalInvocationId\"")
}

pub(crate) fn unknown_input(at: Location, name: &str, nearest: Option<&str>) -> Diagnostic {
    let diagnostic =
        error("kernel/unknown-input", at, format!("compute kernels have no input \"{name}\""), "");
    match nearest {
        Some(_) => meant(diagnostic, nearest),
        None => diagnostic.help(
            "GlobalInvocationId, LocalInvocationId, LocalInvocationIndex, WorkgroupId, NumWorkgroups, WorkgroupSize",
        ),
    }
}

pub(crate) fn input_type(at: Location, name: &str, declared: &Type, wanted: &str) -> Diagnostic {
    error("kernel/input-type", at, format!("the input \"{name}\" is not {}", one(declared)), "")
        .help(format!("declare it as `{wanted}`"))
}

pub(crate) fn buffer_slot(at: Location, text: &str) -> Diagnostic {
    error("kernel/buffer-slot", at, format!("`{text}` is not the slot of a buffer"), "")
        .help("a slot is a small int, or a tuple of group and binding: `0`, `(0, 1)`")
}

pub(crate) fn buffer_not_an_array(at: Location, text: &str) -> Diagnostic {
    error("kernel/buffer-type", at, format!("a buffer holds an array, not `{text}`"), "")
        .help(format!("write `Array({text})`"))
}

pub(crate) fn slot_taken(
    at: Location,
    earlier: Location,
    (set, binding): (u32, u32),
    name: &str,
) -> Diagnostic {
    error(
        "kernel/slot-taken",
        at,
        format!("slot {binding} of bind group {set} is already taken by `{name}`"),
        "the same slot",
    )
    .label(earlier, "taken here")
    .help("give every buffer a slot of its own")
}

pub(crate) fn too_many_scalars(at: Location, size: u32, limit: u32) -> Diagnostic {
    error(
        "kernel/too-many-scalars",
        at,
        format!("the values passed to this kernel take {size} bytes, and {limit} are passed at most"),
        "",
    )
    .help("pass some of them in an array")
}

pub(crate) fn too_many_addresses(at: Location, n_arrays: usize, size: u32, limit: u32) -> Diagnostic {
    let message = format!(
        "{n_arrays} arrays of this kernel are so large that it is passed their addresses: with their lengths \
         these take {size} bytes, and {limit} are passed at most"
    );
    error("kernel/too-many-addresses", at, message, "")
        .help("work on fewer large arrays at once, or join some of them in one array with another axis")
}

pub(crate) fn argument_count(at: Location, name: &str, wanted: usize, given: usize) -> Diagnostic {
    error(
        "kernel/argument-count",
        at,
        format!("the kernel `{name}` takes {}, not {given}", arguments(wanted)),
        "",
    )
    .help("give one argument for each parameter; `k[n](..)` says the domain")
}

pub(crate) fn argument_type(at: Location, name: &str, declared: &str, given: &str) -> Diagnostic {
    error("kernel/argument-type", at, format!("`{name}` is {declared}, not {given}"), "declared here")
}

pub(crate) fn too_many_invocations(at: Location) -> Diagnostic {
    let message =
        "the domain has more than 2147483647 invocations along an axis, which `global_id` cannot count";
    error("kernel/domain", at, message, "an ivec3").help("use `global_id64`, or a domain with more axes")
}

pub(crate) fn param_not_given(at: Location, name: &str) -> Diagnostic {
    error("kernel/argument-type", at, format!("nothing says what `{name}` is"), "no annotation")
        .help(format!("annotate it, or say what a launch would pass: `--args '{name}=Array[f32]'`"))
}

pub(crate) fn const_not_given(at: Location, name: &str) -> Diagnostic {
    let message = format!("`{name}` is a constant of the kernel, which takes a value, not a type");
    error("kernel/argument-type", at, message, "").help(format!("write a number: `{name}=16`"))
}
