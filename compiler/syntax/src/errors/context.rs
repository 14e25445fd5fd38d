//! Statements and expressions that their context does not allow.

use crate::Diagnostic;
use crate::source::Location;

pub(crate) fn return_outside(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/outside-function", "`return` outside a function")
        .label(at, "no function to return from")
        .help("indent it into the function, or call `sys.exit()` to end the script")
}

pub(crate) fn outside_loop(at: Location, keyword: &str) -> Diagnostic {
    Diagnostic::error("syntax/outside-loop", format!("`{keyword}` outside a loop"))
        .label(at, "no `for` or `while` around this")
        .help(format!("indent it into the loop; to leave a function write `return` instead of `{keyword}`"))
}

pub(crate) fn yield_outside(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/outside-function", "`yield` outside a function")
        .label(at, "")
        .help("put it into a `def`, which it makes a generator")
}

pub(crate) fn yield_in_comprehension(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/yield-in-comprehension", "`yield` inside a comprehension")
        .label(at, "")
        .help("write a `for` loop with the `yield` in its block")
}

pub(crate) fn await_outside(at: Location, what: &str) -> Diagnostic {
    Diagnostic::error("syntax/outside-async", format!("`{what}` outside an `async` function"))
        .label(at, "")
        .help("leave it out: scripts run line by line, and `eval_await()` waits for a device")
}

pub(crate) fn nonlocal_outside(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/outside-function", "`nonlocal` at the outermost level")
        .label(at, "no function around this")
        .help("names of the outermost level need no declaration here; inside a function write `global`")
}

pub(crate) fn star_import_inside(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/star-import", "`import *` inside a function or class")
        .label(at, "")
        .help("import the names that are needed, or move it to the outermost level")
}

pub(crate) fn unreachable_cases(at: Location, name: &str) -> Diagnostic {
    let help = match name {
        "_" => "move this `case` to the end".to_owned(),
        _ => format!("a bare name takes any value; to compare with `{name}` write a dotted name or a guard"),
    };
    Diagnostic::error(
        "syntax/pattern",
        format!("`{name}` matches everything, so the cases after it never run"),
    )
    .label(at, "")
    .help(help)
}
