//! Mistakes about functions, what is passed to them, and what loops walk over.

use kps_syntax::ast::CompareOp;
use kps_syntax::{Diagnostic, Location};

use super::{arguments, error, meant};

// Functions.

pub(crate) fn recursion(name: &str, steps: Vec<(Location, String)>) -> Diagnostic {
    let what = match name {
        "lambda" => "a lambda calls itself".to_owned(),
        name => format!("the function `{name}` calls itself"),
    };
    let mut diagnostic =
        Diagnostic::error("kernel/recursion", format!("{what}, and kernels have no recursion"));
    for (location, step) in steps {
        diagnostic = diagnostic.label(location, step);
    }
    diagnostic.help("write a loop, with a list as the stack if it needs one")
}

pub(crate) fn call_count(
    at: Location,
    name: &str,
    most: usize,
    given: usize,
    declared: Location,
) -> Diagnostic {
    let message = match most {
        0 => format!("`{name}` takes no arguments, not {given}"),
        most => format!("`{name}` takes {}, not {given}", arguments(most)),
    };
    error("kernel/call", at, message, "")
        .label(declared, "declared here")
        .help("leave out what it does not take, or give it another parameter")
}

pub(crate) fn missing_argument(at: Location, name: &str, param: &str, declared: Location) -> Diagnostic {
    error("kernel/call", at, format!("this call of `{name}` lacks `{param}`"), "")
        .label(declared, "it has no default")
        .help(format!("pass it: `{name}(.., {param}=..)`"))
}

pub(crate) fn unknown_keyword(at: Location, name: &str, keyword: &str, nearest: Option<&str>) -> Diagnostic {
    let diagnostic = error("kernel/call", at, format!("`{name}` has no parameter `{keyword}`"), "");
    match nearest {
        Some(_) => meant(diagnostic, nearest),
        None => diagnostic.help("pass it by position, or leave it out"),
    }
}

pub(crate) fn argument_twice(at: Location, name: &str, param: &str) -> Diagnostic {
    error("kernel/call", at, format!("`{name}` gets `{param}` twice, or takes it by position only"), "")
        .help("leave one of them out")
}

pub(crate) fn not_an_argument(at: Location, what: &str) -> Diagnostic {
    error("kernel/call", at, format!("{what} cannot be passed to a function of a kernel"), "")
        .help("pass its parts one by one")
}

pub(crate) fn returned_function(at: Location, what: &str) -> Diagnostic {
    error("kernel/return", at, format!("a function of a kernel cannot return {what}"), "")
        .help("return a number, or pass the function on as an argument: `apply(f, x)`")
}

pub(crate) fn assign_captured_part(at: Location, name: &str) -> Diagnostic {
    error("kernel/assign-captured", at, format!("`{name}` belongs to the function around this one"), "")
        .help(format!("a nested function sees its value: copy it, `own = {name}`, or return the new one"))
}

pub(crate) fn kernel_with_self(at: Location, name: &str) -> Diagnostic {
    error("kernel/self", at, format!("a kernel has no object around it, so it cannot take `{name}`"), "")
        .help(format!("leave `{name}` out, and pass what the kernel needs of it as parameters"))
}

pub(crate) fn negative_shift(at: Location, amount: i128, symbol: &str) -> Diagnostic {
    let other = if symbol == "<<" { ">>" } else { "<<" };
    error("kernel/shift", at, format!("`{symbol}` by {amount}, which is negative"), "")
        .help(format!("shift the other way: `{other} {}`", -amount))
}

// What loops walk over, and what `in` looks into.

pub(crate) fn not_iterable(at: Location, what: &str, text: &str) -> Diagnostic {
    let diagnostic = error("kernel/loop", at, format!("cannot loop over {what}"), what);
    match what {
        "an int literal" | "`i32`" | "`u32`" | "`i64`" | "`u64`" => {
            diagnostic.help(format!("count with `range({text})`"))
        }
        _ => diagnostic.help("loop over `range(..)`, a list, a tuple, a vector or an array"),
    }
}

pub(crate) fn mixed_tuple(at: Location, first: &str, other: &str) -> Diagnostic {
    error("kernel/loop", at, format!("cannot loop over a tuple of {first} and {other}"), "")
        .help("the variable of a loop has one type: cast the items to one, or write them out one by one")
}

pub(crate) fn range_step(at: Location) -> Diagnostic {
    error("kernel/loop", at, "the step of this `range` is not a constant other than 0", "")
        .help("write the step as a number: `range(0, n, 2)`")
}

pub(crate) fn break_in_else(at: Location) -> Diagnostic {
    error(
        "kernel/loop",
        at,
        "a loop whose condition assigns with `:=` cannot have a `break` in its `else`",
        "",
    )
    .help("assign before the loop and at the end of its body")
}

pub(crate) fn not_a_container(at: Location, what: &str) -> Diagnostic {
    let diagnostic = error("kernel/operand-types", at, format!("`in` does not look into {what}"), what);
    match what.starts_with("`Array[") {
        true => diagnostic.help("search it in a loop: `for i in range(len(a)): if a[i] == x: ..`"),
        false => diagnostic.help("it takes a tuple, a list, a vector or a range: `x in (1, 2, 3)`"),
    }
}

pub(crate) fn not_in_range(at: Location, what: &str) -> Diagnostic {
    error("kernel/operand-types", at, format!("a `range` holds ints, not {what}"), what)
        .help("compare with its bounds: `a <= x < b`")
}

pub(crate) fn identity(at: Location, op: CompareOp) -> Diagnostic {
    let plain = if op == CompareOp::IsNot { "!=" } else { "==" };
    error(
        "kernel/unsupported",
        at,
        format!("`{}` cannot be used in a kernel: its values have no identity", op.symbol()),
        "",
    )
    .help(format!("compare values with `{plain}`"))
}

pub(crate) fn chained_vectors(at: Location, first: &str) -> Diagnostic {
    error(
        "kernel/condition",
        at,
        "a chain of comparisons joins bools with `and`, and vectors give a bool for each component",
        "",
    )
    .help(format!("compare pair by pair: `all({first}) and all(..)`"))
}
