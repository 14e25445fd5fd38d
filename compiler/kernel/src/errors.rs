//! Every mistake that this crate can find in a kernel, one constructor for each.

mod functions;
mod warnings;

use kps_syntax::{Diagnostic, Location};

pub(crate) use self::functions::*;
pub(crate) use self::warnings::*;

use crate::constant::Literal;
use crate::habits;
use crate::signature::ArrayParam;
use crate::structs::{Member, StructType};
use crate::types::{Scalar, Type};

fn error(code: &'static str, at: Location, message: impl Into<String>, label: &str) -> Diagnostic {
    Diagnostic::error(code, message).label(at, label)
}

fn meant(diagnostic: Diagnostic, nearest: Option<&str>) -> Diagnostic {
    match nearest {
        Some(nearest) => diagnostic.help(format!("did you mean `{nearest}`?")),
        None => diagnostic,
    }
}

// What kernels do not have.

pub(crate) fn not_yet(at: Location, what: &str) -> Diagnostic {
    error("kernel/not-yet", at, format!("kernels do not have {what} yet"), "")
}

pub(crate) fn unsupported(at: Location, what: &str, help: &str) -> Diagnostic {
    error("kernel/unsupported", at, format!("{what} cannot be used in a kernel"), "").help(help)
}

pub(crate) fn async_kernel(at: Location) -> Diagnostic {
    error("kernel/async", at, "a kernel cannot be `async`", "")
        .help("write `def`: launches are asynchronous by themselves")
}

pub(crate) fn graphics_stage(at: Location, stage: &str) -> Diagnostic {
    error("kernel/graphics-stage", at, format!("a {stage} shader is not a compute kernel"), "")
        .help("kps runs compute kernels only: give the function a name with \"compute\" in it if it is one")
}

pub(crate) fn outside_loop(at: Location, word: &str) -> Diagnostic {
    error("kernel/outside-loop", at, format!("`{word}` outside a loop"), "no loop around this")
        .help("leave it out, or write `return` to end the function")
}

pub(crate) fn nested_too_deep(at: Location, limit: u32) -> Diagnostic {
    error("kernel/nested-too-deep", at, format!("a kernel nested more than {limit} deep"), "here")
        .help("split it into functions or statements of their own")
}

// How kernels and their parameters are declared.

pub(crate) fn zero_local_size(at: Location, local_size: [u32; 3]) -> Diagnostic {
    let [x, y, z] = local_size;
    error("kernel/local-size", at, format!("a local size of {x}, {y}, {z} has no invocations"), "")
        .help("every axis is at least 1: `@kernel(local_size=(16, 16))`")
}

pub(crate) fn local_size_needed(at: Location, name: &str) -> Diagnostic {
    error("kernel/local-size-needed", at, format!("`{name}` needs a kernel that says its local size"), "")
        .help("decorate it with `@kernel(local_size=(256,))`")
}

// What a workgroup does together.

pub(crate) fn shared_size(at: Location, text: &str, what: &str) -> Diagnostic {
    error(
        "kernel/shared",
        at,
        format!("`{text}` is {what}, not a size known when the kernel is compiled"),
        what,
    )
    .help("a size is an int literal, an int that the script names, or a parameter declared as `const[i32]`")
}

pub(crate) fn shared_empty(at: Location, size: i128) -> Diagnostic {
    error("kernel/shared", at, format!("shared memory of {size} elements along an axis"), "")
        .help("a size is an int of at least 1")
}

pub(crate) fn shared_type(at: Location, text: &str, what: &str) -> Diagnostic {
    error(
        "kernel/shared",
        at,
        format!("`shared` takes the type of its elements first, and `{text}` is {what}"),
        "",
    )
    .help("write `shared(f32, 16, 16)`")
}

pub(crate) fn shared_without_size(at: Location, text: &str) -> Diagnostic {
    error("kernel/shared", at, "`shared` needs the number of its elements", "")
        .help(format!("write `shared({text}, 256)`, or `shared({text}, 1)` for one value"))
}

pub(crate) fn shared_too_large(at: Location, size: u64, limit: u64) -> Diagnostic {
    error(
        "kernel/shared",
        at,
        format!("shared memory of {size} bytes, and no device has more than {limit} for a workgroup"),
        "",
    )
    .help("make the tile smaller")
}

pub(crate) fn shared_index_count(at: Location, n_axes: usize, n_indices: usize) -> Diagnostic {
    error(
        "kernel/index",
        at,
        format!("shared memory of {n_axes} dimensions takes no {n_indices} indices"),
        "",
    )
}

pub(crate) fn group_arguments(at: Location, name: &str, wanted: &str, given: usize) -> Diagnostic {
    error("kernel/call", at, format!("`{name}` takes {wanted}, not {given}"), "")
}

pub(crate) fn atomic_place(at: Location, name: &str, what: &str) -> Diagnostic {
    error("kernel/atomic", at, format!("`{name}` takes an array and an index, and this is {what}"), what)
        .help(format!("write `{name}(a, i, ..)`, with `a` an array parameter or `shared(..)`"))
}

pub(crate) fn atomic_own_memory(at: Location, text: &str) -> Diagnostic {
    error("kernel/atomic", at, format!("`{text}` is this invocation's own list, which no other one sees"), "")
        .help("assign to its elements, or make it `shared(..)`")
}

pub(crate) fn atomic_element(at: Location, name: &str, element: &Type) -> Diagnostic {
    let diagnostic =
        error("kernel/atomic", at, format!("`{name}` does not take elements of `{element}`"), "");
    match element {
        Type::Scalar(Scalar::Bool) => diagnostic.help("use an array of `i32`, with 0 and 1"),
        Type::Scalar(scalar) if scalar.is_float() => {
            diagnostic.help("and, or and xor are of ints: use an array of ints")
        }
        _ => diagnostic.help("an element is one number: take an array of scalars"),
    }
}

pub(crate) fn atomic_narrow(at: Location, name: &str, element: &Type) -> Diagnostic {
    let message = format!("`{name}` on an array parameter takes elements of 32 or 64 bits, not `{element}`");
    error("kernel/atomic", at, message, "")
        .help("pass an array of `i32` or `f32`; memory that is `shared` takes narrow elements too")
}

pub(crate) fn subgroup_condition(at: Location, name: &str, text: &str, what: &str) -> Diagnostic {
    error("kernel/subgroup", at, format!("`{name}` takes a condition, which is a bool, not {what}"), what)
        .help(format!("write `{name}({text} != 0)`"))
}

pub(crate) fn subgroup_value(at: Location, name: &str, what: &str) -> Diagnostic {
    error("kernel/subgroup", at, format!("`{name}` takes a scalar or a vector, not {what}"), what)
        .help("call it for each part")
}

pub(crate) fn subgroup_combine(at: Location, name: &str, what: &str, is_bitwise: bool) -> Diagnostic {
    let wanted = if is_bitwise { "ints and bools" } else { "numbers" };
    let diagnostic = error("kernel/subgroup", at, format!("`{name}` takes {wanted}, not {what}"), what);
    match is_bitwise {
        true => diagnostic.help("convert it first: `i32(..)`"),
        false => diagnostic.help("convert it first: `i32(..)`, or write `subgroup_any` or `subgroup_all`"),
    }
}

pub(crate) fn subgroup_lane(at: Location, text: &str) -> Diagnostic {
    error("kernel/subgroup", at, format!("`{text}` is no lane of a subgroup"), "")
        .help("lanes count from 0 to `subgroup_size - 1`")
}

pub(crate) fn divergent(at: Location, name: &str, reasons: Vec<(Location, String)>) -> Diagnostic {
    let message = format!("a `{name}` that some invocations of a workgroup reach and others do not");
    let mut diagnostic = error("kernel/divergent", at, message, "all of them have to get here together");
    for (location, reason) in reasons {
        diagnostic = diagnostic.label(location, reason);
    }
    diagnostic.help(format!(
        "move the `{name}` to where all of them pass, or write `uniform(..)` around a value that is the same for all"
    ))
}

pub(crate) fn variadic_parameter(at: Location, name: &str, what: &str) -> Diagnostic {
    error("kernel/variadic-parameter", at, format!("{what} cannot take `{name}`"), "")
        .help("name every parameter")
}

pub(crate) fn kernel_default(at: Location, name: &str) -> Diagnostic {
    error("kernel/parameter-default", at, format!("the kernel parameter `{name}` cannot have a default"), "")
        .help(format!("annotate it instead: `{name}: f32`"))
}

pub(crate) fn helper_default(at: Location, name: &str) -> Diagnostic {
    error("kernel/parameter-default", at, format!("the default of `{name}` is not a plain number"), "")
        .help("a function called from a kernel takes numbers and bools as defaults")
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
    error("kernel/returns-value", at, "a kernel returns nothing", "")
        .help("write the result to an element of an array parameter")
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
        .help("a kind is \"input\", \"buffer\", \"uniform\", \"texture\" or \"sampler\"")
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
    error("kernel/input-type", at, format!("the input \"{name}\" is not a `{declared}`"), "")
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
        format!("the scalars of this kernel take {size} bytes, and {limit} are passed at most"),
        "",
    )
    .help("pass some of them in an array")
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

// Types.

pub(crate) fn not_a_type(at: Location, text: &str) -> Diagnostic {
    error("kernel/not-a-type", at, format!("`{text}` is not a type"), "")
        .help("write `f32`, `vec3`, `Array[f32]` or the like")
}

pub(crate) fn not_a_value_type(at: Location, text: &str) -> Diagnostic {
    error("kernel/not-a-type", at, format!("`{text}` is not the type of a value"), "")
        .help("arrays without a length are parameters only; a list of four is `Array(4, f32)`")
}

pub(crate) fn unknown_type(at: Location, name: &str, nearest: Option<&str>) -> Diagnostic {
    let diagnostic = error("kernel/unknown-type", at, format!("unknown type `{name}`"), "");
    if let "list" | "tuple" | "dict" | "ndarray" | "array" | "Tensor" | "object" = name {
        return diagnostic.help("write `Array[f32]`, with the type of the elements");
    }
    match (nearest, habits::instead(name)) {
        (_, Some(instead)) => diagnostic.help(instead),
        (Some(_), None) => meant(diagnostic, nearest),
        (None, None) => diagnostic.help("write `f32`, `vec3`, `Array[f32]` or the like"),
    }
}

pub(crate) fn value_as_type(at: Location, name: &str, what: &str) -> Diagnostic {
    error("kernel/not-a-type", at, format!("`{name}` is {what}, not a type"), "")
        .help("write `f32`, `vec3`, `Array[f32]` or the like")
}

pub(crate) fn array_without_element(at: Location) -> Diagnostic {
    error("kernel/not-a-type", at, "`Array` needs the type of its elements", "").help("write `Array[f32]`")
}

pub(crate) fn const_not_scalar(at: Location, text: &str) -> Diagnostic {
    error("kernel/not-a-type", at, format!("a `const` parameter is a number or a bool, not `{text}`"), "")
        .help("write `const[i32]`")
}

pub(crate) fn array_len(at: Location, text: &str) -> Diagnostic {
    error("kernel/array-length", at, format!("`{text}` is not the length of an array"), "")
        .help("a length is an int from 1 to 65535")
}

// Names.

pub(crate) fn unknown_name(at: Location, name: &str, nearest: Option<&str>) -> Diagnostic {
    if let Some(instead) = habits::instead(name) {
        return error("kernel/unknown-name", at, format!("kernels have no `{name}`"), "").help(instead);
    }
    let diagnostic = error("kernel/unknown-name", at, format!("unknown name `{name}`"), "");
    match nearest {
        Some(_) => meant(diagnostic, nearest),
        None => diagnostic.help(format!("assign it before this, or pass it as a parameter: `{name}: f32`")),
    }
}

pub(crate) fn unknown_member(at: Location, module: &str, name: &str, nearest: Option<&str>) -> Diagnostic {
    let diagnostic =
        error("kernel/unknown-member", at, format!("the module `{module}` has no `{name}` for kernels"), "");
    match nearest {
        Some(_) => meant(diagnostic, nearest),
        None => diagnostic.help("compute it on the host and capture the number, or write it out"),
    }
}

pub(crate) fn captured_value(at: Location, name: &str, what: &str) -> Diagnostic {
    error("kernel/captured-value", at, format!("`{name}` is {what}, which kernels cannot use"), "").help(
        match what {
            "a `Kernel`" => {
                "launch one kernel after the other; code that they share goes into a plain `def`".to_owned()
            }
            "a `Tensor`" | "an `ndarray`" | "a `ndarray`" | "a `list`" | "a `tuple`" => {
                format!("pass it as a parameter: `{name}: Array[f32]`")
            }
            "a `str`" => "kernels have no strings: capture a number that stands for it".to_owned(),
            _ => "kernels capture numbers, bools, types and functions: pass arrays as parameters".to_owned(),
        },
    )
}

pub(crate) fn assign_captured(at: Location, name: &str) -> Diagnostic {
    let diagnostic =
        error("kernel/assign-captured", at, format!("`{name}` is not a variable of this function"), "");
    match crate::builtins::lookup(name) {
        Some(_) => diagnostic.help(format!("`{name}` is given: copy it to a name of your own, `v = {name}`")),
        None => diagnostic.help("captured names are constants in a kernel: assign to a new name"),
    }
}

pub(crate) fn used_before_assignment(at: Location, name: &str, is_outside: bool) -> Diagnostic {
    let diagnostic =
        error("kernel/unset", at, format!("`{name}` is used before it is assigned"), "no value yet");
    match is_outside {
        true => diagnostic.help(format!(
            "the function assigns `{name}`, which hides the one outside: use another name for its own"
        )),
        false => diagnostic.help(format!("give it a value first: `{name} = 0.0`")),
    }
}

pub(crate) fn maybe_unset(
    at: Location,
    name: &str,
    assigned: Location,
    missing: Location,
    path: &str,
) -> Diagnostic {
    error("kernel/unset", at, format!("`{name}` may be used before it is assigned"), "used here")
        .label(assigned, "assigned here")
        .label(missing, path)
        .help(format!("give `{name}` a value before that"))
}

pub(crate) fn conflicting_types(
    at: Location,
    name: &str,
    first: (Location, &str),
    second: (Location, &str),
) -> Diagnostic {
    error(
        "kernel/conflicting-types",
        at,
        format!("`{name}` has different types on the paths that lead here"),
        "used here",
    )
    .label(first.0, format!("here it is {}", first.1))
    .label(second.0, format!("here it is {}", second.1))
    .help("cast one of them, or use two names")
}

pub(crate) fn unsettled_loop(at: Location) -> Diagnostic {
    error("kernel/unsettled-types", at, "the types of what this loop carries depend on each other", "")
        .help("cast the first value of each variable: `x = f32(0)`")
}

// Values and their types.

pub(crate) fn int_too_large(at: Location) -> Diagnostic {
    error("kernel/literal", at, "an int of more than 128 bits", "").help("the widest int in a kernel has 64")
}

pub(crate) fn literal_does_not_fit(at: Location, literal: Literal, scalar: Scalar) -> Diagnostic {
    let message = match (literal, scalar.int_range()) {
        (Literal::Float(_), Some(_)) => {
            format!("the float `{literal}` is not an int, and `{scalar}` is wanted")
        }
        _ => format!("`{literal}` does not fit `{scalar}`"),
    };
    let diagnostic = error("kernel/literal", at, message, "");
    match (literal, scalar.int_range()) {
        (Literal::Float(_), Some(_)) => diagnostic.help(format!("write `{scalar}({literal})` to cut it off")),
        (Literal::Int(value), Some((min, max))) => {
            let wider = if i64::try_from(value).is_ok() { "i64" } else { "u64" };
            diagnostic.help(format!("`{scalar}` holds {min} to {max}: a wider type is `{wider}({value})`"))
        }
        _ if scalar == Scalar::F16 => diagnostic.help("`f16` holds -65504 to 65504"),
        _ => diagnostic.help(format!("a wider type is `f64({literal})`")),
    }
}

pub(crate) fn constant_division_by_zero(at: Location) -> Diagnostic {
    error("kernel/division-by-zero", at, "division by zero", "")
        .help("write the value that is meant: `math.inf`, `0`")
}

pub(crate) fn not_a_value(at: Location, what: &str) -> Diagnostic {
    let diagnostic =
        error("kernel/not-a-value", at, format!("{what} is not a number"), "a number is wanted here");
    match () {
        () if is_array(what) => diagnostic.help("take one element: `a[i]`"),
        () if what.contains("function") => diagnostic.help("call it: `f(x)`"),
        () if what.contains("type") => diagnostic.help("make a value of it: `f32(x)`"),
        () => diagnostic.help("write a number, or what gives one"),
    }
}

pub(crate) fn no_value(at: Location, text: &str) -> Diagnostic {
    error("kernel/no-value", at, format!("`{text}` gives no value"), "")
        .help("let the function return one, or call it on a line of its own")
}

pub(crate) fn expected_type(at: Location, text: &str, wanted: &Type, found: &str) -> Diagnostic {
    error("kernel/type", at, format!("`{text}` is {found}, not `{wanted}`"), found)
        .help(how_to_convert(text, found, wanted))
}

pub(crate) fn stored_type(
    value: Location,
    target: Location,
    (value_text, found): (&str, &str),
    (target_text, wanted): (&str, &Type),
) -> Diagnostic {
    error(
        "kernel/type",
        value,
        format!("cannot store {found} in `{target_text}`, which is `{wanted}`"),
        found,
    )
    .label(target, format!("`{wanted}`"))
    .help(how_to_convert(value_text, found, wanted))
}

pub(crate) fn operand_types(
    at: Location,
    symbol: &str,
    left: (Location, &str),
    right: (Location, &str),
    cast: Option<String>,
) -> Diagnostic {
    let message = format!("`{symbol}` does not take {} and {}", left.1, right.1);
    if symbol == "^" && (left.1.contains("`f") || left.1.contains("float")) {
        let diagnostic = error("kernel/operand-types", at, message, "");
        return diagnostic
            .label(left.0, left.1)
            .label(right.0, right.1)
            .help("powers are written `**`: `x ** 2`");
    }
    with_operands(error("kernel/operand-types", at, message, ""), left, right, cast)
}

pub(crate) fn compare_types(
    at: Location,
    symbol: &str,
    left: (Location, &str),
    right: (Location, &str),
    cast: Option<String>,
) -> Diagnostic {
    let message = format!("`{symbol}` cannot compare {} with {}", left.1, right.1);
    with_operands(error("kernel/operand-types", at, message, ""), left, right, cast)
}

fn with_operands(
    diagnostic: Diagnostic,
    left: (Location, &str),
    right: (Location, &str),
    cast: Option<String>,
) -> Diagnostic {
    let diagnostic = diagnostic.label(left.0, left.1).label(right.0, right.1);
    match cast {
        Some(cast) => diagnostic.help(format!("cast one of them: `{cast}`")),
        None if is_array(left.1) || is_array(right.1) => {
            diagnostic.help("a kernel works on one element at a time: `out[i] = a[i] + b[i]`")
        }
        None if left.1.contains("vec") || right.1.contains("vec") => {
            diagnostic.help("take as many components of both: `v.xy`")
        }
        None => diagnostic.help("write numbers on both sides"),
    }
}

/// How a value becomes what is wanted of it.
fn how_to_convert(text: &str, found: &str, wanted: &Type) -> String {
    let is_int = wanted.scalar().is_some_and(Scalar::is_int);
    match () {
        () if is_array(found) => format!("take one element: `{text}[i]`"),
        () if found.contains("function") => format!("call it: `{text}(x)`"),
        () if found.contains("the type") => format!("make a value of it: `{text}(0)`"),
        () if found.contains("tuple") => format!("make a value of it: `{wanted}(..)`"),
        () if found.contains("vec") && !wanted.is_vector() => format!("take one component: `{text}.x`"),
        () if is_int && text.contains(" / ") => format!(
            "`/` gives a float: write `{}`, or cast it: `{wanted}({text})`",
            text.replacen(" / ", " // ", 1)
        ),
        () => format!("cast it: `{wanted}({text})`"),
    }
}

/// An array parameter or a list, as messages describe it.
fn is_array(what: &str) -> bool {
    what.starts_with("`Array[") || what.starts_with("`Array(")
}

pub(crate) fn unary_type(at: Location, symbol: &str, what: &str) -> Diagnostic {
    let diagnostic = error("kernel/operand-types", at, format!("`{symbol}` does not take {what}"), what);
    match (symbol, what) {
        ("~", "`bool`") => diagnostic.help("write `not`"),
        ("-", "`bool`") | ("+", "`bool`") => diagnostic.help("make it a number first: `i32(x)`"),
        ("~", _) => diagnostic.help("bits are those of ints: `~i32(x)`"),
        (_, what) if is_array(what) => diagnostic.help("take one element: `-a[i]`"),
        _ => diagnostic.help("write a number"),
    }
}

pub(crate) fn negative_power(at: Location, base: &str, scalar: Scalar) -> Diagnostic {
    error("kernel/negative-power", at, format!("a negative power of an `{scalar}` is not an int"), "")
        .help(format!("make it a float: `f32({base})`"))
}

pub(crate) fn bitcast_type(at: Location, what: &str) -> Diagnostic {
    error("kernel/bitcast", at, format!("`bitcast` makes a number of bits, not {what}"), what)
        .help("name the type first: `bitcast(u32, x)`")
}

pub(crate) fn bitcast_width(at: Location, from: &str, to: &Type) -> Diagnostic {
    error("kernel/bitcast", at, format!("{from} has other bits than a `{to}`"), from)
        .help("both have the same number of bits: `bitcast(u32, x)` of an `f32`")
}

pub(crate) fn condition_not_bool(at: Location, text: &str, what: &str, is_vector: bool) -> Diagnostic {
    let diagnostic = error("kernel/condition", at, format!("a condition is a bool, not {what}"), what);
    match is_vector {
        true => diagnostic.help(format!("write `all({text})` or `any({text})`")),
        false if is_array(what) => {
            diagnostic.help(format!("test one element, `{text}[i] != 0`, or the length, `len({text}) > 0`"))
        }
        false if what.contains("vec") => diagnostic.help(format!("write `any({text} != 0)`")),
        false if what.contains("float literal") || what.contains("`f") => {
            diagnostic.help(format!("write `{text} != 0.0`"))
        }
        false if what.ends_with("literal") => {
            diagnostic.help(format!("compare it with something: `x == {text}`, `x == 1 or x == {text}`"))
        }
        false if what.contains("function") => diagnostic.help(format!("call it: `{text}(x) > 0`")),
        false => diagnostic.help(format!("write `{text} != 0`")),
    }
}

pub(crate) fn ternary_types(at: Location, then: (Location, &str), orelse: (Location, &str)) -> Diagnostic {
    error(
        "kernel/choice-types",
        at,
        format!("the two sides of `if .. else` are {} and {}", then.1, orelse.1),
        "",
    )
    .label(then.0, then.1)
    .label(orelse.0, orelse.1)
    .help("cast one of them")
}

pub(crate) fn cast_type(at: Location, what: &str, to: &Type) -> Diagnostic {
    error("kernel/cast", at, format!("cannot make a `{to}` of {what}"), what).help(match () {
        () if is_array(what) => "take one element: `a[i]`".to_owned(),
        () if what.contains("vec") => format!("take one component: `{to}(v.x)`"),
        () => format!("give it a number: `{to}(1)`"),
    })
}

pub(crate) fn vector_parts(at: Location, ty: &Type, given: usize) -> Diagnostic {
    error(
        "kernel/vector-parts",
        at,
        format!("a `{ty}` has {} components, not {given}", ty.n_components()),
        "",
    )
    .help(format!("give {} numbers, or one for all of them: `{ty}(0)`", ty.n_components()))
}

pub(crate) fn match_subject(at: Location, what: &str) -> Diagnostic {
    error("kernel/match", at, format!("`match` takes a number or a bool, not {what}"), "")
        .help("match one component, `match v.x:`, or write `if` and `elif`")
}

// Lists, elements, components.

pub(crate) fn empty_list(at: Location) -> Diagnostic {
    error("kernel/list", at, "a list in a kernel has at least one element", "")
        .help("say how many it is to hold: `[0.0] * 16`")
}

pub(crate) fn list_too_long(at: Location, len: usize) -> Diagnostic {
    error("kernel/list", at, format!("a list of {len} elements is too long for one invocation"), "")
        .help("pass it as an array parameter")
}

pub(crate) fn list_repeat(at: Location) -> Diagnostic {
    error("kernel/list", at, "a list is repeated a constant number of times, 1 to 65535 elements in all", "")
        .help("write `[0.0] * 16`, or make the number a `const[i32]` parameter")
}

pub(crate) fn list_types(at: Location, first: (Location, &str), other: (Location, &str)) -> Diagnostic {
    error("kernel/list", at, "the elements of a list have one type", "")
        .label(first.0, first.1)
        .label(other.0, other.1)
        .help("cast them to one")
}

pub(crate) fn not_indexable(at: Location, text: &str, what: &str) -> Diagnostic {
    let diagnostic = error("kernel/index", at, format!("`{text}` is {what}, which has no elements"), "");
    match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        Some((array, _)) => diagnostic.help(format!(
            "leave the last index out, or declare an array of more dimensions: `{array}: Array[f32, 2]`"
        )),
        None => diagnostic.help(format!("leave the index out: `{text}`")),
    }
}

pub(crate) fn index_type(at: Location, text: &str, what: &str) -> Diagnostic {
    let diagnostic = error("kernel/index", at, format!("an index is an int, not {what}"), what);
    match what {
        what if what.contains("vec") => diagnostic.help(format!("take one component: `{text}.x`")),
        what if is_array(what) => diagnostic.help(format!("take one element: `{text}[i]`")),
        _ => diagnostic.help(format!("write `i32({text})`")),
    }
}

pub(crate) fn index_out_of_range(at: Location, index: i128, len: usize, what: &str) -> Diagnostic {
    error("kernel/index", at, format!("index {index} is outside a {what} of {len}"), "").help(match len {
        0 => "it has no elements".to_owned(),
        1 => "its one element is 0".to_owned(),
        len => format!("its elements are 0 to {}, from the end -1 to -{len}", len - 1),
    })
}

pub(crate) fn too_many_indices(at: Location, name: &str, array: &ArrayParam, n_indices: usize) -> Diagnostic {
    let (dimensions, help) = match array.rank {
        1 => {
            let element = &array.element;
            let help = format!("annotate it `{name}: Array[{element}, {n_indices}]`, or compute one index");
            ("one dimension".to_owned(), help)
        }
        rank => (format!("{rank} dimensions"), "give one index for each".to_owned()),
    };
    let message = format!("`{name}` has {dimensions}, and {n_indices} indices are given");
    error("kernel/index", at, message, "").help(help)
}

pub(crate) fn assign_row(at: Location, text: &str, name: &str, n_missing: u8) -> Diagnostic {
    let more = if n_missing == 1 { "one more index" } else { "more indices" };
    let message = format!("`{text}` is a row of `{name}`, which cannot be assigned as a whole");
    error("kernel/index", at, message, "").help(format!("give {more}, and assign the elements in a loop"))
}

pub(crate) fn element_wanted(at: Location, array: &str, n_missing: u8) -> Diagnostic {
    let more = if n_missing == 1 { "one more index" } else { "more indices" };
    error("kernel/index", at, format!("this leads to a row of `{array}`, not to an element"), "")
        .help(format!("give {more} as a tuple: `(i, j)`"))
}

pub(crate) fn array_rank(at: Location) -> Diagnostic {
    error("kernel/not-a-type", at, "an array has one to eight dimensions", "")
        .help("write `Array[f32, 2]` for an array with rows and columns")
}

pub(crate) fn list_index_tuple(at: Location, n_indices: usize) -> Diagnostic {
    error("kernel/index", at, format!("a list takes one index, not {n_indices}"), "")
        .help("index a list of lists step by step: `a[i][j]`")
}

pub(crate) fn tuple_index(at: Location) -> Diagnostic {
    error("kernel/index", at, "the index of a tuple is a constant", "").help("use a list")
}

pub(crate) fn no_attribute(at: Location, name: &str, what: &str) -> Diagnostic {
    let diagnostic = error("kernel/attribute", at, format!("{what} has no `{name}`"), "");
    let is_component = matches!(name, "x" | "y" | "z" | "w" | "r" | "g" | "b" | "a");
    match habits::instead_of_attribute(name) {
        Some(instead) => diagnostic.help(instead),
        None if is_component && is_array(what) => {
            diagnostic.help(format!("take the component of one element: `a[i].{name}`"))
        }
        None if is_component => diagnostic.help(format!("leave `.{name}` out: it is one number already")),
        None => diagnostic.help("vectors have components, `v.xy`; arrays have `shape` and `size`"),
    }
}

pub(crate) fn no_array_attribute(at: Location, name: &str, what: &str, nearest: Option<&str>) -> Diagnostic {
    let diagnostic = error("kernel/attribute", at, format!("{what} has no `{name}`"), "");
    match (habits::instead_of_attribute(name), nearest) {
        (Some(instead), _) => diagnostic.help(instead),
        (None, Some(_)) => meant(diagnostic, nearest),
        (None, None) if matches!(name, "x" | "y" | "z" | "w") => {
            diagnostic.help(format!("take the component of one element: `a[i].{name}`"))
        }
        (None, None) => diagnostic.help("an array has `shape`, `size` and `ndim`"),
    }
}

pub(crate) fn unknown_swizzle(at: Location, letters: &str, ty: &Type) -> Diagnostic {
    error("kernel/swizzle", at, format!("`{ty}` has no components `{letters}`"), "")
        .help("one to four letters of `xyzw`, `rgba` or `stpq`")
}

pub(crate) fn swizzle_too_wide(at: Location, letters: &str, ty: &Type) -> Diagnostic {
    let last = &"xyzw"[..usize::from(ty.n_components()).min(4)];
    error("kernel/swizzle", at, format!("`{ty}` has no components `{letters}`"), "")
        .help(format!("it has `{last}`"))
}

pub(crate) fn repeated_component(at: Location, letters: &str) -> Diagnostic {
    error("kernel/swizzle", at, format!("`{letters}` assigns a component twice"), "")
        .help("name each component once: `v.xy = v.yx`")
}

pub(crate) fn not_assignable(at: Location, text: &str) -> Diagnostic {
    error("kernel/assignment", at, format!("cannot assign to `{text}`"), "")
        .help("assign to a name, an element or a component: `x = ..`, `a[i] = ..`, `v.x = ..`")
}

pub(crate) fn augmented_tuple(at: Location) -> Diagnostic {
    error("kernel/assignment", at, "an augmented assignment has one target", "")
        .help("write one for each: `a += 1`, `b += 1`")
}

pub(crate) fn not_unpackable(at: Location, what: &str, n_targets: usize) -> Diagnostic {
    error("kernel/unpack", at, format!("cannot unpack {what} into {n_targets} targets"), what)
        .help("give as many values: `a, b = x, y`")
}

pub(crate) fn unpack_count(at: Location, n_targets: usize, n_values: usize) -> Diagnostic {
    error("kernel/unpack", at, format!("{n_targets} targets for {n_values} values"), "")
        .help("write as many names as values; `_` takes one that is not needed")
}

pub(crate) fn not_spreadable(at: Location, what: &str) -> Diagnostic {
    error("kernel/unpack", at, format!("{what} has no items to spread"), what)
        .help("a tuple, a vector or a list of a known length has")
}

pub(crate) fn tuple_item_assigned(at: Location, text: &str) -> Diagnostic {
    error("kernel/assignment", at, format!("`{text}` is an item of a tuple, which cannot be assigned"), "")
        .help("make a new tuple, or use a list")
}

// Structs.

pub(crate) fn unknown_struct_member(
    at: Location,
    of: &StructType,
    name: &str,
    nearest: Option<&str>,
) -> Diagnostic {
    let diagnostic = error("kernel/struct", at, format!("`{of}` has no member `{name}`"), "");
    match nearest {
        Some(_) => meant(diagnostic, nearest),
        None => diagnostic.help(format!("it has {}", member_list(of))),
    }
}

pub(crate) fn method_as_value(at: Location, of: &str, name: &str) -> Diagnostic {
    error("kernel/struct", at, format!("`{name}` is a method of `{of}`, not a value"), "")
        .help(format!("call it: `.{name}(..)`"))
}

pub(crate) fn struct_members(at: Location, of: &StructType, n_given: usize) -> Diagnostic {
    let wanted = arguments(of.members.len());
    error("kernel/struct", at, format!("`{of}` takes {wanted}, not {n_given}"), "")
        .help(format!("its members are {}", member_list(of)))
}

pub(crate) fn member_twice(at: Location, of: &StructType, name: &str) -> Diagnostic {
    error("kernel/struct", at, format!("this `{of}` gets `{name}` twice"), "")
}

pub(crate) fn members_missing(at: Location, of: &StructType, missing: &[&str]) -> Diagnostic {
    let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
    error("kernel/struct", at, format!("this `{of}` lacks {}", names.join(", ")), "")
        .help("give every member, or a default in the struct")
}

pub(crate) fn member_type(
    at: Location,
    of: &StructType,
    member: &Member,
    text: &str,
    found: &str,
) -> Diagnostic {
    let Member { name, ty, .. } = member;
    let diagnostic =
        error("kernel/struct", at, format!("the member `{name}` of `{of}` is `{ty}`, not {found}"), found);
    match ty {
        Type::Scalar(_) | Type::Vector(..) => diagnostic.help(format!("cast it: `{ty}({text})`")),
        _ => diagnostic,
    }
}

pub(crate) fn structs_have_no_order(at: Location, ty: &Type) -> Diagnostic {
    error("kernel/struct", at, format!("structs of type `{ty}` have no order"), "")
        .help("compare with `==` or `!=`, or compare a member")
}

pub(crate) fn struct_too_long_to_compare(at: Location, ty: &Type) -> Diagnostic {
    error("kernel/struct", at, format!("a `{ty}` has too many numbers to compare at once"), "")
        .help("compare its members in a loop")
}

pub(crate) fn assign_self(at: Location, name: &str) -> Diagnostic {
    error("kernel/struct", at, format!("`{name}` of a method cannot be assigned as a whole"), "")
        .help(format!("assign to its members, or to a name of its own: `new = {name}`"))
}

pub(crate) fn struct_base(at: Location) -> Diagnostic {
    error("kernel/struct", at, "a struct has no base class", "")
        .help("hold the other struct as a member: `base: Other`")
}

pub(crate) fn empty_struct(at: Location, name: &str) -> Diagnostic {
    error("kernel/struct", at, format!("the struct `{name}` has no members"), "")
        .help("a member is a name with a type: `mass: f32`, or `Struct(mass=f32)`")
}

pub(crate) fn member_without_type(at: Location) -> Diagnostic {
    error("kernel/struct", at, "a member of a struct needs its type", "")
        .help("write `mass: f32 = 1.0`, or define a constant outside the class")
}

pub(crate) fn struct_statement(at: Location) -> Diagnostic {
    error("kernel/struct", at, "a struct holds members and methods only", "")
        .help("a member is a name with a type: `mass: f32`")
}

pub(crate) fn member_declared_twice(at: Location, name: &str) -> Diagnostic {
    error("kernel/struct", at, format!("the member `{name}` is declared twice"), "")
}

pub(crate) fn struct_too_large(at: Location, limit: u32) -> Diagnostic {
    error("kernel/struct", at, format!("a struct of more than {limit} bytes"), "")
        .help("keep large arrays in array parameters of their own")
}

pub(crate) fn struct_member_name(at: Location) -> Diagnostic {
    error("kernel/struct", at, "every member of a `Struct` has a name", "").help("write `Struct(mass=f32)`")
}

pub(crate) fn method_decorator(at: Location) -> Diagnostic {
    error("kernel/struct", at, "methods of a struct take no decorator but `@staticmethod`", "")
        .help("leave it out: properties are methods that are called")
}

pub(crate) fn method_without_self(at: Location, name: &str) -> Diagnostic {
    error("kernel/struct", at, format!("the method `{name}` has no parameter for its struct"), "")
        .help(format!("write `def {name}(self):`, or decorate it with `@staticmethod`"))
}

pub(crate) fn no_layout(at: Location, ty: &Type) -> Diagnostic {
    error("kernel/type", at, format!("a `{ty}` has no place in an array that the host shares"), "")
        .help("use a struct: its members have names and places")
}

fn member_list(of: &StructType) -> String {
    let names: Vec<String> = of.members.iter().map(|member| format!("`{}`", member.name)).collect();
    names.join(", ")
}

// Matrices.

pub(crate) fn matrix_type(at: Location, text: &str) -> Diagnostic {
    error("kernel/matrix", at, format!("`{text}` is not a matrix"), "")
        .help("2 to 4 columns and rows of floats: `Matrix(3, 2, f64)`")
}

/// `*` between two matrices, or a matrix and a vector.
pub(crate) fn matrix_times(at: Location, left: (Location, &str), right: (Location, &str)) -> Diagnostic {
    let message = format!("`*` does not take {} and {}", left.1, right.1);
    let both = format!("{} @ {}", left.0.source.slice(left.0.span), right.0.source.slice(right.0.span));
    error("kernel/matrix", at, message, "")
        .label(left.0, left.1)
        .label(right.0, right.1)
        .help(format!("the matrix product is `@`: `{both}`"))
}

pub(crate) fn matrix_sizes(at: Location, left: (Location, &str), right: (Location, &str)) -> Diagnostic {
    error("kernel/matrix", at, format!("`@` does not take {} and {}", left.1, right.1), "")
        .label(left.0, left.1)
        .label(right.0, right.1)
        .help(
            "the left side has as many columns as the right side has rows; `matCxR` has C columns and R rows",
        )
}

pub(crate) fn matrix_parts(at: Location, ty: &Type, given: usize) -> Diagnostic {
    let (columns, rows) = match ty {
        Type::Matrix { columns, rows, .. } => (*columns, *rows),
        _ => (0, 0),
    };
    let numbers = usize::from(columns) * usize::from(rows);
    error("kernel/matrix", at, format!("a `{ty}` is not made of {}", arguments(given)), "").help(format!(
        "give it {columns} columns of {rows} components, {numbers} numbers column by column, or one for the diagonal"
    ))
}

pub(crate) fn matrix_column(at: Location, wanted: &Type, found: &str) -> Diagnostic {
    error("kernel/matrix", at, format!("a column of this matrix is a `{wanted}`, not {found}"), found)
}

pub(crate) fn matrix_wanted(at: Location, name: &str, what: &str) -> Diagnostic {
    error("kernel/matrix", at, format!("`{name}` takes a matrix, not {what}"), what)
}

pub(crate) fn matrix_not_square(at: Location, name: &str, ty: &Type) -> Diagnostic {
    error("kernel/matrix", at, format!("`{name}` takes a square matrix, not a `{ty}`"), "")
}

pub(crate) fn matrix_index_count(at: Location, name: &str, n_indices: usize) -> Diagnostic {
    error("kernel/matrix", at, format!("a matrix has two axes, and {n_indices} indices are given"), "")
        .help(format!("`{name}[row, column]`, `{name}[row]`, or `{name}[:, column]`"))
}

pub(crate) fn whole_axis(at: Location) -> Diagnostic {
    error("kernel/slice", at, "`:` stands for a whole axis of a matrix only", "")
        .help("index the elements in a `for` loop")
}

// Loops.

pub(crate) fn range_bound(at: Location, text: &str, what: &str) -> Diagnostic {
    error("kernel/loop", at, format!("a bound of `range` is an int, not {what}"), what)
        .help(format!("write `i32({text})`"))
}

pub(crate) fn range_types(at: Location, first: Scalar, other: Scalar) -> Diagnostic {
    error("kernel/loop", at, format!("the bounds of `range` are `{first}` and `{other}`"), "")
        .help("cast one of them")
}

// Calls.

pub(crate) fn not_callable(at: Location, text: &str, what: &str) -> Diagnostic {
    let diagnostic = error("kernel/call", at, format!("`{text}` is {what}, which cannot be called"), what);
    match is_array(what) {
        true => diagnostic.help(format!("index it with brackets: `{text}[i]`")),
        false => diagnostic.help(format!("to multiply, write `{text} * (..)`")),
    }
}

pub(crate) fn keyword_argument(at: Location, name: &str, keyword: &str) -> Diagnostic {
    error("kernel/call", at, format!("`{name}` takes no argument by the name `{keyword}`"), "")
        .help("pass it by position")
}

pub(crate) fn argument_count_range(at: Location, name: &str, wanted: &str, given: usize) -> Diagnostic {
    error("kernel/call", at, format!("`{name}` takes {wanted}, not {given}"), "")
        .help(format!("write `{name}` with {wanted}"))
}

pub(crate) fn helper_argument(
    at: Location,
    declared: Location,
    name: &str,
    wanted: &str,
    what: &str,
) -> Diagnostic {
    let diagnostic = error("kernel/call", at, format!("`{name}` is `{wanted}`, not {what}"), what)
        .label(declared, "declared here");
    match Type::by_name(wanted) {
        Some(_) => diagnostic.help(format!("cast it: `{wanted}(..)`")),
        None => diagnostic,
    }
}

pub(crate) fn number_argument(at: Location, name: &str, what: &str) -> Diagnostic {
    let diagnostic = error("kernel/call", at, format!("`{name}` takes numbers, not {what}"), what);
    match () {
        () if is_array(what) => diagnostic.help(format!("take one element: `{name}(a[i])`")),
        () if what == "`bool`" => diagnostic.help(format!("make it a number first: `{name}(i32(x))`")),
        () => diagnostic.help(format!("write a number: `{name}(1.0)`")),
    }
}

pub(crate) fn int_argument(at: Location, name: &str, what: &str) -> Diagnostic {
    error("kernel/call", at, format!("`{name}` takes ints, not {what}"), what)
        .help("cast them, `i32(x)`, or use `trunc(a / b)` for floats")
}

pub(crate) fn bools_wanted(at: Location, name: &str, what: &str) -> Diagnostic {
    error("kernel/call", at, format!("`{name}` takes a vector of bools, not {what}"), what)
        .help(format!("compare first: `{name}(a < b)`"))
}

pub(crate) fn no_len(at: Location, what: &str) -> Diagnostic {
    error("kernel/call", at, format!("{what} has no `len`"), what)
        .help("`len` counts the elements of an array, a list or a vector: leave it out for one number")
}

pub(crate) fn unlike_arguments(at: Location, name: &str, first: (Location, &str), other: &str) -> Diagnostic {
    error("kernel/call", at, format!("`{name}` does not take {} with {other}", first.1), other)
        .label(first.0, first.1)
        .help("cast one of them")
}

pub(crate) fn cross_product(at: Location, ty: &Type) -> Diagnostic {
    error("kernel/call", at, format!("the cross product is of two `vec3`, not of `{ty}`"), "")
        .help("make them three wide: `cross(vec3(a, 0), vec3(b, 0))`")
}

pub(crate) fn returns_sometimes(at: Location, other: Location, name: &str, how: &str) -> Diagnostic {
    error("kernel/return", at, format!("`{name}` returns a value on some paths only"), "a value here")
        .label(other, how)
        .help("return a value on every path: end the function with `return 0.0`, say")
}

pub(crate) fn return_type(at: Location, name: &str, wanted: &Type, what: &str) -> Diagnostic {
    error("kernel/return", at, format!("`{name}` returns `{wanted}`, not {what}"), what)
        .help(format!("cast it: `{wanted}(..)`"))
}

pub(crate) fn return_types(name: &str, first: (Location, &str), second: (Location, &str)) -> Diagnostic {
    error("kernel/return", second.0, format!("`{name}` returns different types"), second.1)
        .label(first.0, first.1)
        .help("cast one of them")
}

pub(crate) fn missing_return(at: Location, name: &str, declared: &Type) -> Diagnostic {
    error("kernel/return", at, format!("`{name}` is to return `{declared}`, and returns nothing"), "")
        .help(format!("write `return {declared}(..)`, or leave `-> {declared}` out"))
}

// Our own mistakes.

pub(crate) fn internal(at: Location, what: &str) -> Diagnostic {
    error("kernel/internal", at, format!("the kernel compiler made a mistake: {what}"), "")
        .help("please report it with this kernel")
}

fn arguments(count: usize) -> String {
    match count {
        1 => "one argument".to_owned(),
        count => format!("{count} arguments"),
    }
}
