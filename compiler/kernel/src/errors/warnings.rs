//! Lint warnings. `kps check` shows them, and `kps run` when a kernel is defined or compiled.

use kps_syntax::ast::BinaryOp;
use kps_syntax::{Diagnostic, Location};

use crate::types::Scalar;

fn warning(code: &'static str, at: Location, message: impl Into<String>, label: &str) -> Diagnostic {
    Diagnostic::warning(code, message).label(at, label)
}

/// An expression statement without effect.
pub(crate) fn unused_result(at: Location, text: &str, help: String) -> Diagnostic {
    warning("kernel/unused-result", at, format!("the result of `{text}` is not used"), "").help(help)
}

/// `out = a`, where `out` is an array parameter that nothing names afterwards.
pub(crate) fn rebound_array(at: Location, name: &str, value: &str) -> Diagnostic {
    let message = format!("this writes no element of `{name}`: it gives the name `{name}` to something else");
    warning("kernel/rebound-array", at, message, "")
        .help(format!("write an element: `{name}[i] = {value}`, with `i = global_id.x`"))
}

/// Of a loop over a range of none.
pub(crate) fn never_runs(at: Location, text: &str, help: String) -> Diagnostic {
    warning("kernel/never-runs", at, format!("this loop never runs: `{text}` is empty"), "").help(help)
}

/// Of the test of an `if` or a `while`.
pub(crate) fn never_true(at: Location, text: &str) -> Diagnostic {
    warning("kernel/unreachable", at, format!("the code under `{text}` is never reached"), "never true")
        .help("leave it out; a choice for each launch is a `const[bool]` parameter")
}

/// For branches after one that is always taken.
pub(crate) fn behind_true(at: Location, test: Location) -> Diagnostic {
    warning("kernel/unreachable", at, "this code is never reached", "")
        .label(test, "always true")
        .help("leave it out; a choice for each launch is a `const[bool]` parameter")
}

/// Code after a jump.
pub(crate) fn unreachable_code(at: Location, jump: Location) -> Diagnostic {
    warning("kernel/unreachable", at, "this code is never reached", "")
        .label(jump, "nothing runs after this")
        .help("leave it out, or put the line before it under an `if`")
}

/// Of an index with the axes of `global_id` in the wrong order.
pub(crate) fn swapped_axes(at: Location, name: &str, (row, column): (&str, &str)) -> Diagnostic {
    let message =
        format!("the first axis of `{name}` is indexed by `global_id.x`, which counts along the last one");
    warning("kernel/swapped-axes", at, message, "").help(format!(
        "`global_id.y` counts rows, `global_id.x` columns: with these names write `{name}[{column}, {row}]`"
    ))
}

/// `written` is the place where the invocation stores its own element.
pub(crate) fn missing_barrier(read: Location, written: Location, name: &str) -> Diagnostic {
    let message =
        format!("an element of `{name}` that another invocation writes is read with no `barrier()` before");
    warning("kernel/missing-barrier", read, message, "read here")
        .label(written, "each invocation writes its own")
        .help("write `barrier()` between the two lines, so that all have written before anyone reads")
}

/// Of a loop over the array that counts the invocations.
pub(crate) fn all_by_each(at: Location, array: &str, kernel: &str) -> Diagnostic {
    let message = format!(
        "each invocation goes over all of `{array}`, and `{kernel}` starts one for each of its elements"
    );
    warning("kernel/same-work", at, message, "all of them do the same")
        .help(format!("start one, `{kernel}[1](..)`, or let each do its part: `i = global_id.x`"))
}

/// Of `total[0] += value`, whose texts are `0` and `value`.
pub(crate) fn changed_by_all(
    at: Location,
    name: &str,
    op: BinaryOp,
    (index, value): (&str, &str),
) -> Diagnostic {
    let message =
        format!("all invocations change `{name}[{index}]`, and one may overwrite what another stored");
    let diagnostic = warning("kernel/lost-updates", at, message, "");
    match op {
        BinaryOp::Add => diagnostic.help(format!("write `atomic_add({name}, {index}, {value})`")),
        BinaryOp::Sub => diagnostic.help(format!("write `atomic_sub({name}, {index}, {value})`")),
        _ => diagnostic.help("let each invocation change an element of its own, or use an atomic function"),
    }
}

/// Of `x[i + 1]` or `x[i - 1]`, for all `i` of `x`.
pub(crate) fn neighbour_outside(at: Location, name: &str, index: &str, is_past: bool) -> Diagnostic {
    let (which, test) = match is_past {
        true => ("last", format!("if {index} < len({name}):")),
        false => ("first", format!("if {index} >= 0:")),
    };
    let message = format!("the {which} invocation has no element `{name}[{index}]`, and reads 0 there");
    warning(
        "kernel/outside",
        at,
        message,
        format!("there is one invocation for each element of `{name}`").as_str(),
    )
    .help(format!("write `{test}` before it"))
}

/// Of a shift by a number that is written out.
pub(crate) fn shift_past_width(at: Location, amount: i128, scalar: Scalar) -> Diagnostic {
    let n_bits = scalar.bits();
    let message = format!("a shift by {amount}, of `{scalar}`, which has {n_bits} bits");
    let in_effect = format!("by {} in effect", amount.rem_euclid(i128::from(n_bits)));
    let found = warning("kernel/shift", at, message, &in_effect);
    let wider = match amount {
        0..32 => "i32",
        32..64 => "i64",
        _ => return found,
    };
    found
        .help(format!("cast what is shifted to a wider type before it is computed: `{wider}(x) >> {amount}`"))
}
