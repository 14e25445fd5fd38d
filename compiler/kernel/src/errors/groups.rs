//! Mistakes about workgroups: local sizes, shared memory, atomics, barriers.

use kps_syntax::{Diagnostic, Location};

use super::parts::error;
use crate::constant::LiteralKind;
use crate::found::Found;
use crate::signature::ArrayParam;
use crate::types::{Scalar, Type};

pub(crate) fn local_size_needed(at: Location, name: &str) -> Diagnostic {
    error("kernel/local-size-needed", at, format!("`{name}` needs a kernel that says its local size"), "")
        .help("decorate it with `@kernel(local_size=(256,))`")
}

pub(crate) fn shared_size(at: Location, text: &str, what: &Found) -> Diagnostic {
    error(
        "kernel/shared",
        at,
        format!("`{text}` is {what}, not a size known when the kernel is compiled"),
        what,
    )
    .help("a size is an int literal, an int that the script names, or a parameter declared as `const[i32]`")
}

pub(crate) fn shared_sizes_together(at: Location, element: &str, sizes: &str) -> Diagnostic {
    error("kernel/shared", at, "`shared` takes its sizes one by one, not as a tuple", "")
        .help(format!("write `shared({element}, {sizes})`"))
}

pub(crate) fn shared_repeated(at: Location) -> Diagnostic {
    error("kernel/shared", at, "shared memory is not repeated", "")
        .help("say how large it is: `shared(f32, 128)`; a copy is made element by element, in a loop")
}

pub(crate) fn shared_empty(at: Location, size: i128) -> Diagnostic {
    error("kernel/shared", at, format!("shared memory of {size} elements along an axis"), "")
        .help("a size is an int of at least 1")
}

/// `ty` is a type that another argument of the call names, if any.
pub(crate) fn shared_type(at: Location, text: &str, what: &Found, ty: &str) -> Diagnostic {
    error(
        "kernel/shared",
        at,
        format!("`shared` takes the type of its elements first, and `{text}` is {what}"),
        "",
    )
    .help(match what {
        Found::Literal(LiteralKind::Int) => format!("write `shared({ty}, {text})`"),
        _ => "write `shared(f32, 16, 16)`".to_owned(),
    })
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
    if n_axes == 1 {
        let message = format!("shared memory of one dimension takes one index, not {n_indices}");
        return error("kernel/index", at, message, "").help("write `tile[i]`");
    }
    let message = format!("shared memory of {n_axes} dimensions takes {n_axes} indices, not {n_indices}");
    error("kernel/index", at, message, "").help("give one index for each dimension: `tile[i, j]`")
}

pub(crate) fn atomic_place(at: Location, name: &str, what: &Found) -> Diagnostic {
    error("kernel/atomic", at, format!("`{name}` takes an array and an index, and this is {what}"), what)
        .help(format!("write `{name}(a, i, ..)`, with `a` an array parameter or `shared(..)`"))
}

/// `given` is the type of one that the launch gives by value.
pub(crate) fn atomic_own_memory(at: Location, text: &str, given: Option<&Type>) -> Diagnostic {
    let message = format!("`{text}` is this invocation's own list, which no other one sees");
    let diagnostic = error("kernel/atomic", at, message, "");
    match given {
        Some(Type::Array(list)) => diagnostic
            .help(format!("let the kernel have the tensor itself: `{text}: Array[{}]`", list.element)),
        _ => diagnostic.help("assign to its elements, or make it `shared(..)`"),
    }
}

/// `atomic_add(cell.count, 1)` of a struct that is a value.
pub(crate) fn atomic_own_member(at: Location, name: &str, text: &str) -> Diagnostic {
    let message = format!("`{text}` is this invocation's own, and no other one sees it");
    error("kernel/atomic", at, message, "").help(format!(
        "name the member of an array parameter or of `shared(..)`: `{name}(cells[i].count, ..)`"
    ))
}

pub(crate) fn atomic_element(at: Location, name: &str, element: &Type) -> Diagnostic {
    let diagnostic =
        error("kernel/atomic", at, format!("`{name}` does not take elements of `{element}`"), "");
    match element {
        Type::Scalar(Scalar::Bool) => diagnostic.help(
            "a bool has `atomic_or`, `atomic_and`, `atomic_xor` and `atomic_exchange`; to count, use an array of `i32`",
        ),
        Type::Scalar(scalar) if scalar.is_float() => {
            diagnostic.help("and, or and xor are of ints: use an array of ints")
        }
        _ => diagnostic.help("an element is one number: take an array of scalars"),
    }
}

pub(crate) fn subgroup_condition(at: Location, name: &str, text: &str, what: &Found) -> Diagnostic {
    error("kernel/subgroup", at, format!("`{name}` takes a condition, which is a bool, not {what}"), what)
        .help(format!("write `{name}({text} != 0)`"))
}

pub(crate) fn subgroup_value(at: Location, name: &str, what: &Found) -> Diagnostic {
    let text = at.source.slice(at.span).to_owned();
    error("kernel/subgroup", at, format!("`{name}` takes a scalar or a vector, not {what}"), what).help(
        match what.is_array() {
            true => format!("give it one element: `{name}({text}[i])`"),
            false => format!("call it for each part, such as `{name}({text}[0])`"),
        },
    )
}

pub(crate) fn subgroup_combine(at: Location, name: &str, what: &Found, is_bitwise: bool) -> Diagnostic {
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
    let message = format!("{name} that some invocations of a workgroup reach and others do not");
    let mut diagnostic = error("kernel/divergent", at, message, "all of them have to get here together");
    for (location, reason) in reasons {
        diagnostic = diagnostic.label(location, reason);
    }
    diagnostic.help(
        "move it to where all of them pass, or write `uniform(..)` around a value that is the same for all",
    )
}

// Cooperative matrices.

pub(crate) fn coop_shape(at: Location, text: &str) -> Diagnostic {
    error("kernel/coop-matrix", at, format!("`{text}` is not a number of rows or columns, 1 to 64"), "")
        .help("write `coop_matrix(f16, 16, 16, \"a\")`")
}

pub(crate) fn coop_use(at: Location, text: &str) -> Diagnostic {
    error("kernel/coop-matrix", at, format!("`{text}` is not what a matrix is for"), "")
        .help("a matrix is for \"a\" or \"b\", the factors, or for \"accumulator\"")
}

pub(crate) fn coop_element(at: Location, text: &str) -> Diagnostic {
    error("kernel/coop-matrix", at, format!("a cooperative matrix has no elements of `{text}`"), "")
        .help("its elements are numbers: `f16`, `bf16`, `f32`, `i8`, `i32`")
}

pub(crate) fn coop_wanted(at: Location, name: &str, what: &Found) -> Diagnostic {
    error(
        "kernel/coop-matrix",
        at,
        format!("`{name}` takes a matrix made by `coop_matrix`, not {what}"),
        what,
    )
    .help("make it first: `m = coop_matrix(f16, 16, 16, \"a\")`")
}

pub(crate) fn coop_memory(at: Location, name: &str, what: &Found) -> Diagnostic {
    error("kernel/coop-matrix", at, format!("`{name}` takes an array of numbers, not {what}"), what).help(
        "pass an array parameter or `shared(..)`, the start of the matrix, and the distance between its rows",
    )
}

pub(crate) fn coop_memory_axes(at: Location, name: &str, array: &ArrayParam) -> Diagnostic {
    let message = format!("`{name}` takes an array of one dimension, not `{array}`");
    error("kernel/coop-matrix", at, message, "").help(format!(
        "annotate it as `Array[{}]`, its rows one after another; the last argument is the length of a row",
        array.element
    ))
}

pub(crate) fn coop_memory_nested(at: Location, name: &str, text: &str, ty: &Type) -> Diagnostic {
    let message = format!("`{name}` takes an array of one dimension, not `{ty}`");
    let (n_rows, row) = (ty.n_parts().unwrap_or(0), ty.part(0).unwrap_or(Type::Error));
    let (numbers, len) = (row.numbers(), row.numbers().len());
    let number = numbers.first().map_or(Scalar::F32, |(_, number)| *number);
    error("kernel/coop-matrix", at, message, "").help(format!(
        "make it one of one dimension, `{text} = shared({number}, {n_rows} * {len})`: its rows are {len} elements apart"
    ))
}

/// The line that moves a matrix with the array that a row is of.
pub(crate) struct CallWithoutRow {
    pub call: String,
    /// The length of a row by its name, `n`.
    pub has_length: bool,
}

pub(crate) fn coop_memory_row(
    at: Location,
    name: &str,
    array: &str,
    element: &Type,
    instead: &CallWithoutRow,
) -> Diagnostic {
    let CallWithoutRow { call, has_length } = instead;
    let row = at.source.slice(at.span).to_owned();
    let message =
        format!("`{name}` takes a whole array and where in it the matrix begins, not the row `{row}`");
    let length = if *has_length { ", where `n` is how many elements a row has" } else { "" };
    error("kernel/coop-matrix", at, message, "")
        .help(format!("annotate `{array}` as `Array[{element}]` and write `{call}`{length}"))
}

/// For a number that is assigned to a row of a cooperative matrix.
pub(crate) fn coop_row_stored(value: Location, target: Location, number: &str, row: &str) -> Diagnostic {
    let message = format!("`{row}` is a row of a matrix, and `{number}` is one number");
    error("kernel/type", value, message, "")
        .label(target, "a row")
        .help(format!("name the column, too: `{row}[0] = {number}`"))
}

/// The sides say their shapes and uses.
pub(crate) fn coop_sum(at: Location, symbol: &str, sides: [(Location, &str); 2]) -> Diagnostic {
    let [(left_at, left), (right_at, right)] = sides;
    error("kernel/coop-matrix", at, format!("`{symbol}` takes two matrices that are alike, not {left} and {right}"), "")
        .label(left_at, left)
        .label(right_at, right)
        .help("their shapes, their numbers and what they are for have to be the same; `f32(m)` converts the numbers")
}

pub(crate) fn coop_operator(at: Location, symbol: &str, sides: [(Location, &Found); 2]) -> Diagnostic {
    let [(left_at, left), (right_at, right)] = sides;
    let diagnostic =
        error("kernel/coop-matrix", at, format!("there is no `{symbol}` of {left} and {right}"), "")
            .label(left_at, left)
            .label(right_at, right);
    match symbol {
        "@" | "*" => diagnostic
            .help("the product of two matrices is `coop_multiply_add(c, a, b)`, which adds it to `c`"),
        "+" | "-" => diagnostic.help("fill a matrix with the number first: `coop_fill(m, 1.0)`"),
        _ => diagnostic.help("matrices have `a + b`, `a - b`, `-a`, `a * x` and `a / x`, with `x` a number"),
    }
}

pub(crate) fn coop_quotient(at: Location, scalar: Scalar) -> Diagnostic {
    error("kernel/coop-matrix", at, format!("`/` of a matrix of `{scalar}` would be one of floats"), "")
        .help("convert it first: `f32(m) / x`")
}

/// `cast` is the conversion that makes it fit.
pub(crate) fn coop_factor(
    at: Location,
    symbol: &str,
    wanted: Scalar,
    found: &Found,
    cast: Option<String>,
) -> Diagnostic {
    let message = format!("`{symbol}` takes a matrix of `{wanted}` and a number of that type, not {found}");
    let diagnostic = error("kernel/coop-matrix", at, message, found);
    match cast {
        Some(cast) => diagnostic.help(format!("convert it first: `{cast}`")),
        None => diagnostic.help("one number scales all elements"),
    }
}

pub(crate) fn coop_lines(at: Location, text: &str) -> Diagnostic {
    let message = format!("`{text}` is neither `True` nor `False` when the kernel is compiled");
    error("kernel/coop-matrix", at, message, "")
        .help("write `column_major=True`, or leave it out for a matrix that is stored row by row")
}

/// `wanted` and `found` say the shape and the use.
pub(crate) fn coop_mismatch(at: Location, name: &str, wanted: &str, found: &str) -> Diagnostic {
    error("kernel/coop-matrix", at, format!("`{name}` needs {wanted} here, not {found}"), found)
        .help("the accumulator is m x n, and the factors m x k for \"a\" and k x n for \"b\", of one type")
}

pub(crate) fn coop_memory_width(at: Location, name: &str, n_each: u32, width: u32) -> Diagnostic {
    let message =
        format!("`{name}` moves lines of {n_each} numbers here, and the array holds vectors of {width}");
    error("kernel/coop-matrix", at, message, "")
        .help("pass an array of numbers, or make the matrix a multiple of the vectors")
}

pub(crate) fn coop_memory_type(at: Location, name: &str, wanted: Scalar, found: Scalar) -> Diagnostic {
    let message = format!("`{name}` moves elements of `{wanted}` here, and the array holds `{found}`");
    error("kernel/coop-matrix", at, message, "")
        .help(format!("pass an array of `{wanted}`, or make the matrix one of `{found}`"))
}
