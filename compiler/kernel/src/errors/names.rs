//! Mistakes about names: unknown, captured, not assigned on every path.

use kps_syntax::{Diagnostic, Location};

use super::values::{ARRAYS_CHOSEN, ROWS_CHOSEN};
use super::{error, meant, zero_of};
use crate::builtins::{self, Builtin};
use crate::habits;
use crate::types::Type;

/// What people call the element that an invocation works on.
const INDEX_NAMES: [&str; 8] = ["i", "j", "idx", "index", "tid", "gid", "thread_id", "pos"];

fn which_element(name: &str) -> String {
    format!("say which element it is: `{name} = global_id.x`")
}

pub(crate) fn own_name(at: Location, name: &str) -> Diagnostic {
    error("kernel/unknown-name", at, format!("`{name}` is this kernel itself, which no kernel can call"), "")
        .help("write a loop, or put the code that both need into a plain `def`")
}

pub(crate) fn unknown_name(at: Location, name: &str, nearest: Option<&str>) -> Diagnostic {
    if let Some(instead) = habits::instead(name) {
        if name == "array"
            && at.source.text().get(at.span.end as usize..).is_some_and(|rest| rest.starts_with('<'))
        {
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
    let at_component = at.source.text().get(at.span.end as usize..).is_some_and(|rest| rest.starts_with('.'));
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

/// The names that follow a name with a dot before each: `atomic` and `add` of `cuda.atomic.add(x, 0, 1)`.
fn members_behind(at: &Location) -> Vec<&str> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let rest = at.source.text().get(at.span.end as usize..).unwrap_or_default();
    let end = rest.find(|letter: char| !is_part(letter) && letter != '.').unwrap_or(rest.len());
    rest[..end].split('.').skip(1).collect()
}

/// What kernels have for a member of another system's module: `torch.sin`, `cuda.atomic.add`, `tl.program_id`.
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
        None => habits::instead(last),
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
    if habits::instead(name).is_some() || without_f(name).is_some() || nearest.is_some() {
        return unknown_name(at, name, nearest);
    }
    let diagnostic = error("kernel/unknown-name", at, format!("unknown function `{name}`"), "");
    if INDEX_NAMES.contains(&name) {
        return diagnostic.help("write `global_id.x`; within its workgroup an invocation is `local_id.x`");
    }
    diagnostic.help(format!("define it outside the kernel: `def {name}(..):`, with a `return`"))
}

/// `holder` is in words: "the module `math`".
pub(crate) fn unknown_member(at: Location, holder: &str, name: &str, nearest: Option<&str>) -> Diagnostic {
    let diagnostic = error("kernel/unknown-member", at, format!("{holder} has no `{name}` for kernels"), "");
    match nearest {
        Some(_) => meant(diagnostic, nearest),
        None if builtins::lookup(name).is_some() => {
            diagnostic.help(format!("kernels have it without a module: write `{name}`"))
        }
        None => diagnostic.help("compute it on the host and capture the number, or write it out"),
    }
}

/// What kernels call a function of NumPy's that has another name there.
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

pub(crate) fn captured_value(at: Location, name: &str, what: &str) -> Diagnostic {
    let text = at.source.slice(at.span).to_owned();
    error("kernel/captured-value", at, format!("`{text}` is {what}, which kernels cannot use"), "")
        .help(match what {
        "a `Kernel`" => {
            "launch one kernel after the other; code that they share goes into a plain `def`".to_owned()
        }
        "a `Tensor`" | "a `ndarray`" | "a `list`" | "a `tuple`" => {
            format!("pass it as a parameter: `{name}: Array[f32]`")
        }
        "an `empty list`" => {
            "a list in a kernel has at least one element: let it have some by the launch".to_owned()
        }
        "a `list of ints`" => format!("pass it as a parameter: `{name}: Array[i32]`"),
        "a `dict`" => {
            format!("capture what the kernel needs of it: `value = {name}[..]`, outside of the kernel")
        }
        "an `Image`" => format!("pass it as a parameter: `{name}: Image[\"2d r32f\"]`"),
        "a `ufunc`" if text == name && builtins::lookup(name).is_some() => {
            format!("that one is for arrays on the host: write `math.{name}(x)`")
        }
        "a `ufunc`" if builtins::lookup(name).is_some() => {
            format!("kernels have it without a module: write `{name}(x)`")
        }
        "a `ufunc`" if name == "clip" => "for one number write `clamp(x, least, most)`".to_owned(),
        "a `ufunc`" if numpy_function(name).is_some() => {
            let ours = numpy_function(name).expect("asked above");
            format!("NumPy's functions are for arrays on the host: for numbers write `{ours}`")
        }
        "a `ufunc`" => {
            "NumPy's functions are for arrays on the host: let it be one of `math`, as `math.sin` for `np.sin`".to_owned()
        }
        "a `classmethod`" => {
            "kernels have no classes: make it a `@staticmethod`, or a plain `def`".to_owned()
        }
        _ if name == "norm" => "the length of a vector is `length(v)`".to_owned(),
        "a `str`" => "kernels have no strings: capture a number that stands for it".to_owned(),
        _ if habits::instead(name).is_some() => habits::instead(name).unwrap_or_default(),
        what if ["function", "method"].iter().any(|kind| what.contains(kind)) => {
            format!("call `{text}` before the launch, and pass what it gives")
        }
        _ => "kernels capture numbers, tuples, short lists, types and functions: pass the rest as parameters"
            .to_owned(),
    })
}

/// `is_struct` says whether it is a struct, of which a part may be meant.
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
    let behind = at.source.text().get(at.span.end as usize..).unwrap_or_default().trim_start();
    let counts = ["+=", "-="].iter().any(|sign| behind.starts_with(sign));
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

pub(crate) fn maybe_unset(
    at: Location,
    name: &str,
    assigned: Location,
    missing: Location,
    path: &str,
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
    first: (Location, &str),
    second: (Location, &str),
) -> Diagnostic {
    // Two arrays, two functions: what they are is part of the code.
    let is_alike = first.1 == second.1;
    let (message, help) = match is_alike {
        // A matrix that a subgroup holds is changed, not bound anew.
        true if first.1.starts_with("a matrix") => (
            "is another matrix on the paths that lead here",
            "change the matrix itself: `m *= 2.0`, `m += other`",
        ),
        true if first.1.starts_with("`Array[") => {
            ("is not a row of the same array on the paths that lead here", ROWS_CHOSEN)
        }
        true => ("is not the same thing on the paths that lead here", "use two names, or launch twice"),
        false if first.1.starts_with("`Array(") && second.1.starts_with("`Array(") => (
            "has different types on the paths that lead here",
            "give both lists as many items, and all of them one type: `[5.0, 6.0]` beside floats, not `[5, 6]`",
        ),
        false if [first.1, second.1].iter().all(|what| what.starts_with("`Array")) => {
            ("has different types on the paths that lead here", ARRAYS_CHOSEN)
        }
        false => ("has different types on the paths that lead here", "cast one of them, or use two names"),
    };
    let label = |what: &str, other: &str| {
        let what = if other.is_empty() { what } else { what.strip_prefix("a ").unwrap_or(what) };
        format!("here it is {other}{what}")
    };
    error("kernel/conflicting-types", at, format!("`{name}` {message}"), "used here")
        .label(first.0, label(first.1, if is_alike { "one " } else { "" }))
        .label(second.0, label(second.1, if is_alike { "another " } else { "" }))
        .help(help)
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
        format!("`{name}` may stand for more than {limit} arrays"),
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
