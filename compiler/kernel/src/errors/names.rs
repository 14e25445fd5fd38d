//! Mistakes about names: unknown, captured, not assigned on every path.

use kps_syntax::{Diagnostic, Location};

use super::parts::{error, meant};
use super::remedies::zero_of;
use super::source_text::{has_angle_behind, has_dot_behind, is_counted_up, members_behind};
use super::values::{ARRAYS_CHOSEN, ROWS_CHOSEN};
use crate::builtins::{self, Builtin};
use crate::env::EnvValue;
use crate::foreign_names;
use crate::found::Found;
use crate::types::{Scalar, Type};

/// Common names of the element of an invocation.
const INDEX_NAMES: [&str; 8] = ["i", "j", "idx", "index", "tid", "gid", "thread_id", "pos"];

fn which_element(name: &str) -> String {
    format!("say which element it is: `{name} = global_id.x`")
}

pub(crate) fn own_name(at: Location, name: &str) -> Diagnostic {
    error("kernel/unknown-name", at, format!("`{name}` is this kernel itself, which no kernel can call"), "")
        .help("write a loop, or put the code that both need into a plain `def`")
}

pub(crate) fn unknown_name(at: Location, name: &str, nearest: Option<&str>) -> Diagnostic {
    if let Some(instead) = foreign_names::instead(name) {
        if name == "array" && has_angle_behind(&at) {
            return error("kernel/unknown-name", at, "kernels have no `array<..>`", "")
                .help("write a list, of as many elements: `[0.0] * 4`");
        }
        let instead = instead_of_member(&members_behind(&at)).unwrap_or(instead);
        return error("kernel/unknown-name", at, format!("kernels have no `{name}`"), "").help(instead);
    }
    if let Some(plain) = without_f(name) {
        return error("kernel/unknown-name", at, format!("kernels have no `{name}`"), "")
            .help(format!("write `{plain}(..)`, which takes every float"));
    }
    let at_component = has_dot_behind(&at);
    let diagnostic = error("kernel/unknown-name", at, format!("unknown name `{name}`"), "");
    if INDEX_NAMES.contains(&name) && at_component {
        return diagnostic.help("the invocation's place is `global_id`; within its workgroup, `local_id`");
    }
    if INDEX_NAMES.contains(&name) {
        return diagnostic.help(which_element(name));
    }
    match nearest {
        Some(_) => meant(diagnostic, nearest),
        None => diagnostic.help(format!("assign it before this, or pass it as a parameter: `{name}: f32`")),
    }
}

/// `sqrt` for `sqrtf` and `__sqrtf`, as CUDA and C call it for floats.
fn without_f(name: &str) -> Option<&str> {
    let plain = name.strip_prefix("__").unwrap_or(name).strip_suffix('f')?;
    matches!(builtins::lookup(plain), Some(Builtin::Function(_))).then_some(plain)
}

/// The counterpart in kernels of a member of another framework's module: `torch.sin`, `cuda.atomic.add`,
/// `tl.program_id`.
fn instead_of_member(path: &[&str]) -> Option<String> {
    match path {
        ["shared", "array"] => {
            return Some("write its type, then its sizes: `tile = shared(f32, 16, 16)`".to_owned());
        }
        ["local", "array"] => {
            return Some("write a list of the invocation's own: `xs = [0.0] * 4`".to_owned());
        }
        _ => {}
    }
    let last = path.last()?;
    let own = [(*last).to_owned(), path.join("_")].into_iter().find(|name| builtins::lookup(name).is_some());
    match own {
        Some(name) if matches!(builtins::lookup(&name), Some(Builtin::Function(_))) => {
            Some(format!("kernels have it without a module: `{name}(..)`"))
        }
        Some(name) => Some(format!("kernels have it without a module: `{name}`")),
        None => foreign_names::instead(last),
    }
}

/// The script gives the name a value, but only `below` where the kernel is defined.
pub(crate) fn name_below(at: Location, name: &str, below: Location) -> Diagnostic {
    let line = below.source.line(below.span.start);
    error(
        "kernel/unknown-name",
        at,
        format!("`{name}` has no value yet when the kernel is defined"),
        "needed here",
    )
    .label(below, "defined here")
    .help(format!("it is defined below, on line {line}: move it above the kernel"))
}

pub(crate) fn unknown_function(at: Location, name: &str, nearest: Option<&str>) -> Diagnostic {
    if foreign_names::instead(name).is_some() || without_f(name).is_some() || nearest.is_some() {
        return unknown_name(at, name, nearest);
    }
    let diagnostic = error("kernel/unknown-name", at, format!("unknown function `{name}`"), "");
    if INDEX_NAMES.contains(&name) {
        return diagnostic.help("write `global_id.x`; within its workgroup an invocation is `local_id.x`");
    }
    diagnostic.help(format!("define it outside the kernel: `def {name}(..):`, with a `return`"))
}

pub(crate) fn unknown_member(at: Location, holder: &Found, name: &str, nearest: Option<&str>) -> Diagnostic {
    let diagnostic = error("kernel/unknown-member", at, format!("{holder} has no `{name}` for kernels"), "");
    match nearest {
        Some(_) => meant(diagnostic, nearest),
        None if builtins::lookup(name).is_some() => {
            diagnostic.help(format!("kernels have it without a module: write `{name}`"))
        }
        None => diagnostic.help("compute it on the host and capture the number, or write it out"),
    }
}

/// The name in kernels of a NumPy function.
fn numpy_function(name: &str) -> Option<&'static str> {
    Some(match name {
        "maximum" | "fmax" => "max(a, b)",
        "minimum" | "fmin" => "min(a, b)",
        "absolute" | "fabs" => "abs(x)",
        "power" | "float_power" => "a ** b",
        "mod" | "remainder" => "a % b",
        "floor_divide" => "a // b",
        "divide" | "true_divide" => "a / b",
        "add" => "a + b",
        "subtract" => "a - b",
        "multiply" => "a * b",
        "negative" => "-x",
        "square" => "x * x",
        "rint" => "round(x)",
        "arcsin" => "asin(x)",
        "arccos" => "acos(x)",
        "arctan" => "atan(x)",
        "arctan2" => "atan2(y, x)",
        "deg2rad" => "radians(x)",
        "rad2deg" => "degrees(x)",
        _ => return None,
    })
}

pub(crate) fn captured_value(at: Location, name: &str, value: &EnvValue) -> Diagnostic {
    let text = at.source.slice(at.span).to_owned();
    let help = help_with_captured(&text, name, value);
    let message = format!("`{text}` is {}, which kernels cannot use", value.describe());
    error("kernel/captured-value", at, message, "").help(help)
}

/// For a collection with `item` in it.
pub(crate) fn captured_item(at: Location, name: &str, item: &EnvValue) -> Diagnostic {
    let text = at.source.slice(at.span).to_owned();
    let message = format!("`{text}` is a collection with {}, which kernels cannot use", item.describe());
    let help = foreign_names::instead(name).unwrap_or_else(|| PASS_THE_REST.to_owned());
    error("kernel/captured-value", at, message, "").help(help)
}

/// For a list with a range in it.
pub(crate) fn captured_ranges(at: Location) -> Diagnostic {
    let message =
        format!("`{}` is a list with a `range`, which kernels cannot use", at.source.slice(at.span));
    error("kernel/captured-value", at, message, "").help(PASS_THE_REST)
}

const PASS_THE_REST: &str =
    "kernels capture numbers, tuples, short lists, types and functions: pass the rest as parameters";

fn help_with_captured(text: &str, name: &str, value: &EnvValue) -> String {
    let is_ufunc = matches!(value, EnvValue::Other { type_name } if type_name == "ufunc");
    match value {
        EnvValue::Other { type_name } if !is_ufunc && let Some(help) = help_with_type(name, type_name) => {
            help
        }
        _ if is_ufunc => help_with_ufunc(text, name),
        _ if name == "norm" => "the length of a vector is `length(v)`".to_owned(),
        EnvValue::Str(_) => "kernels have no strings: capture a number in its place".to_owned(),
        _ if let Some(instead) = foreign_names::instead(name) => instead,
        EnvValue::Builtin(_) | EnvValue::Function(_) => {
            format!("call `{text}` before the launch, and pass what it gives")
        }
        EnvValue::Other { type_name } if is_callable_type(type_name) => {
            format!("call `{text}` before the launch, and pass what it gives")
        }
        _ => PASS_THE_REST.to_owned(),
    }
}

/// By the name of a type of the host.
fn help_with_type(name: &str, type_name: &str) -> Option<String> {
    Some(match type_name {
        "Kernel" => {
            "launch one kernel after the other; code that they share goes into a plain `def`".to_owned()
        }
        "Tensor" | "ndarray" | "list" | "tuple" => format!("pass it as a parameter: `{name}: Array[f32]`"),
        "empty list" => {
            "a list in a kernel has at least one element: let it have some by the launch".to_owned()
        }
        "list of ints" => format!("pass it as a parameter: `{name}: Array[i32]`"),
        "dict" => format!("capture what the kernel needs of it: `value = {name}[..]`, outside of the kernel"),
        "Image" => format!("pass it as a parameter: `{name}: Image[\"2d r32f\"]`"),
        "classmethod" => "kernels have no classes: make it a `@staticmethod`, or a plain `def`".to_owned(),
        _ => return None,
    })
}

/// The types of functions, as the host names them.
fn is_callable_type(type_name: &str) -> bool {
    matches!(type_name, "function" | "method" | "builtin_function_or_method" | "staticmethod")
}

fn help_with_ufunc(text: &str, name: &str) -> String {
    let is_builtin = builtins::lookup(name).is_some();
    match numpy_function(name) {
        _ if text == name && is_builtin => {
            format!("that one is for arrays on the host: write `math.{name}(x)`")
        }
        _ if is_builtin => format!("kernels have it without a module: write `{name}(x)`"),
        _ if name == "clip" => "for one number write `clamp(x, least, most)`".to_owned(),
        Some(name_here) => format!("NumPy's functions are for arrays on the host: for numbers write `{name_here}`"),
        None => {
            "NumPy's functions are for arrays on the host: let it be one of `math`, as `math.sin` for `np.sin`"
                .to_owned()
        }
    }
}

/// `is_struct`: the value is a struct, and the script may mean a part of it.
pub(crate) fn assign_captured(at: Location, name: &str, is_struct: bool) -> Diagnostic {
    let diagnostic =
        error("kernel/assign-captured", at, format!("`{name}` is not a variable of this function"), "");
    match builtins::lookup(name) {
        Some(_) => diagnostic.help(format!("`{name}` is given: copy it to a name of your own, `v = {name}`")),
        None if is_struct => diagnostic.help(format!(
            "captured structs are constants in a kernel: change a copy of the invocation's own, `own = {name}`"
        )),
        None => diagnostic.help(format!(
            "captured names are constants in a kernel: an array to write to is a parameter, `{name}: Array[f32]`; \
             else assign to a new name"
        )),
    }
}

pub(crate) fn used_before_assignment(at: Location, name: &str, is_outside: bool) -> Diagnostic {
    let counts = is_counted_up(&at);
    let diagnostic =
        error("kernel/unset", at, format!("`{name}` is used before it is assigned"), "no value yet");
    if is_outside && counts {
        return diagnostic.help(format!(
            "names of the script are constants in a kernel. To count over all invocations pass a tensor, \
             `{name}: Array[i32]` with `Tensor([0], dtype=i32)`, and write `atomic_add({name}, 0, 1)`; for each \
             invocation alone use another name"
        ));
    }
    match is_outside || builtins::lookup(name).is_some() {
        true => diagnostic.help(format!(
            "the function assigns `{name}`, which hides the one outside: use another name for its own"
        )),
        false if INDEX_NAMES.contains(&name) => diagnostic.help(which_element(name)),
        false => diagnostic.help(format!("give it a value first: `{name} = ..`")),
    }
}

/// The name has no value after the path that starts at `missing`; `path` describes that.
pub(crate) fn maybe_unset(
    at: Location,
    name: &str,
    assigned: Location,
    (missing, path): (Location, &str),
    ty: Option<&Type>,
) -> Diagnostic {
    let value = ty.map_or("..".to_owned(), zero_of);
    error("kernel/unset", at, format!("`{name}` may be used before it is assigned"), "used here")
        .label(assigned, "assigned here")
        .label(missing, path)
        .help(format!("give `{name}` a value before that, such as `{name} = {value}`"))
}

/// Two lists of one type, of which the kernel can make no copy.
pub(crate) fn conflicting_lists(
    at: Location,
    name: &str,
    first: Location,
    second: Location,
    are_shared: bool,
) -> Diagnostic {
    let message = format!("`{name}` is not the same list on the paths that lead here");
    let help = match are_shared {
        true => {
            "a workgroup has its lists in one place: take one with an axis more, `shared(f32, 2, 64)`, and \
                 choose by its first index"
                .to_owned()
        }
        false => format!(
            "one of them lies in another list as well: store a copy there, `[*{name}]`, or write into the list \
             itself, `{name}[0] = ..`"
        ),
    };
    error("kernel/conflicting-types", at, message, "used here")
        .label(first, "here it is one list")
        .label(second, "here it is another")
        .help(help)
}

pub(crate) fn conflicting_types(
    at: Location,
    name: &str,
    first: (Location, &Found),
    second: (Location, &Found),
) -> Diagnostic {
    // Arrays and functions cannot be chosen at run time.
    let is_alike = first.1 == second.1;
    let (message, help) = match is_alike {
        // A matrix that a subgroup holds is changed, not bound anew.
        true if matches!(first.1, Found::Coop(_)) => (
            "is another matrix on the paths that lead here",
            "change the matrix itself: `m *= 2.0`, `m += other`",
        ),
        true if matches!(first.1, Found::Array(_)) => {
            ("is not a row of the same array on the paths that lead here", ROWS_CHOSEN)
        }
        true => ("is not the same thing on the paths that lead here", "use two names, or launch twice"),
        false if first.1.is_list() && second.1.is_list() => (
            "has different types on the paths that lead here",
            "give both lists as many items, and all of them one type: `[5.0, 6.0]` beside floats, not `[5, 6]`",
        ),
        false if first.1.is_array() && second.1.is_array() => {
            ("has different types on the paths that lead here", ARRAYS_CHOSEN)
        }
        false => ("has different types on the paths that lead here", "cast one of them, or use two names"),
    };
    let label = |what: &Found, other: &str| match other {
        "" => format!("here it is {what}"),
        other => format!("here it is {other}{}", what.without_article()),
    };
    error("kernel/conflicting-types", at, format!("`{name}` {message}"), "used here")
        .label(first.0, label(first.1, if is_alike { "one " } else { "" }))
        .label(second.0, label(second.1, if is_alike { "another " } else { "" }))
        .help(help)
}

/// Two rows of one array, with indices of these types.
pub(crate) fn conflicting_rows(
    at: Location,
    name: &str,
    first: (Location, Scalar),
    second: (Location, Scalar),
) -> Diagnostic {
    let message =
        format!("`{name}` is a row with an index of 32 bits on one path, and of 64 bits on another");
    let label = |index: Scalar| format!("here the index has {} bits", index.bits());
    error("kernel/conflicting-types", at, message, "used here")
        .label(first.0, label(first.1))
        .label(second.0, label(second.1))
        .help("give the index 64 bits on both: `a[i64(i)]`")
}

pub(crate) fn too_many_arrays_chosen(
    at: Location,
    name: &str,
    first: Location,
    second: Location,
    limit: usize,
) -> Diagnostic {
    error(
        "kernel/too-many-arrays",
        at,
        format!("`{name}` may refer to more than {limit} arrays"),
        "used here",
    )
    .label(first, "here it is one of them")
    .label(second, "here it is another one")
    .help("put the arrays into one, with an axis more: `a[k, i]`")
}

pub(crate) fn unsettled_loop(at: Location) -> Diagnostic {
    error("kernel/unsettled-types", at, "the types of what this loop carries depend on each other", "")
        .help("cast the first value of each variable: `x = f32(0)`")
}
