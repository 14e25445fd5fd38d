//! What is allowed and most likely a slip. `kps check` shows it; running says nothing of it.

use kps_syntax::{Diagnostic, Location};

fn warning(code: &'static str, at: Location, message: impl Into<String>, label: &str) -> Diagnostic {
    Diagnostic::warning(code, message).label(at, label)
}

/// An expression on a line of its own that does nothing.
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

/// Of the branches behind one that is always taken.
pub(crate) fn behind_true(at: Location, test: Location) -> Diagnostic {
    warning("kernel/unreachable", at, "this code is never reached", "")
        .label(test, "always true")
        .help("leave it out; a choice for each launch is a `const[bool]` parameter")
}

/// Code behind a jump.
pub(crate) fn unreachable_code(at: Location, jump: Location) -> Diagnostic {
    warning("kernel/unreachable", at, "this code is never reached", "")
        .label(jump, "nothing goes on behind this")
        .help("leave it out, or put the line before it under an `if`")
}
