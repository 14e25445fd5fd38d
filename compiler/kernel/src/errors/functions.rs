//! Mistakes about functions, their arguments, and iterables of loops.

use kps_syntax::ast::{CompareOp, Expr, ExprKind};
use kps_syntax::{Diagnostic, Location};

use super::parts::{advised, arguments, error, meant};
use super::remedies::{cut_alike, how_to_convert};
use super::source_text::{as_operand, callee, with_argument};
use super::values::cast_one;
use crate::builtins::Kind;
use crate::builtins::{self, Builtin};
use crate::found::Found;
use crate::types::{Scalar, Type};

// Functions.

/// A function of the host's library that kernels cannot run.
pub(crate) fn of_the_host(at: Location, module: &str) -> Diagnostic {
    let called = callee(at.source.slice(at.span)).to_owned();
    let message = format!("`{called}` is for the host: kernels cannot run this function of `{module}`");
    error("kernel/host-function", at, message, "").help(
        "kernels call plain functions that you write, those of `math`, and what the language has for them",
    )
}

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

/// Where the parameters of a function are declared.
pub(crate) enum Declared {
    /// In the script, here.
    Here(Location),
    /// In the library; this is how it is called.
    Library(String),
}

pub(crate) fn call_count(
    at: Location,
    name: &str,
    most: usize,
    given: usize,
    declared: Declared,
) -> Diagnostic {
    let message = match most {
        0 => format!("`{name}` takes no arguments, not {given}"),
        most => format!("`{name}` takes {}, not {given}", arguments(most)),
    };
    let diagnostic = error("kernel/call", at, message, "");
    match declared {
        Declared::Here(declared) => diagnostic
            .label(declared, "declared here")
            .help("leave out what it does not take, or give it another parameter"),
        Declared::Library(signature) => diagnostic.help(format!("write `{signature}`")),
    }
}

pub(crate) fn missing_argument(at: Location, name: &str, param: &str, declared: Declared) -> Diagnostic {
    let at_text = at.source.slice(at.span).to_owned();
    let diagnostic = error("kernel/call", at, format!("this call of `{name}` lacks `{param}`"), "");
    match declared {
        Declared::Here(declared) => {
            let call = with_argument(&at_text, &format!("{param}=.."))
                .unwrap_or_else(|| format!("{name}(.., {param}=..)"));
            diagnostic.label(declared, "it has no default").help(format!("pass it: `{call}`"))
        }
        Declared::Library(signature) => diagnostic.help(format!("write `{signature}`")),
    }
}

pub(crate) fn unknown_keyword(
    at: Location,
    name: &str,
    keyword: &str,
    nearest: Option<&str>,
    declared: Declared,
) -> Diagnostic {
    let diagnostic = error("kernel/call", at, format!("`{name}` has no parameter `{keyword}`"), "");
    match (nearest, declared) {
        (Some(_), _) => meant(diagnostic, nearest),
        (None, Declared::Here(_)) => diagnostic.help("pass it by position, or leave it out"),
        (None, Declared::Library(signature)) => diagnostic.help(format!("write `{signature}`")),
    }
}

pub(crate) fn argument_twice(at: Location, name: &str, param: &str) -> Diagnostic {
    error("kernel/call", at, format!("`{name}` gets `{param}` twice, or takes it by position only"), "")
        .help("leave one of them out")
}

pub(crate) fn not_an_argument(at: Location, what: &Found) -> Diagnostic {
    error("kernel/call", at, format!("{what} cannot be passed to a function of a kernel"), "")
        .help("pass its parts one by one")
}

pub(crate) fn returned_function(at: Location, what: &Found) -> Diagnostic {
    error("kernel/return", at, format!("a function of a kernel cannot return {what}"), "")
        .help("return a number, or pass the function on as an argument: `apply(f, x)`")
}

pub(crate) fn returned_array(at: Location) -> Diagnostic {
    error("kernel/return", at, "a function of a kernel cannot return an array, or a row of one", "")
        .help("return an element, or pass the array and the index as arguments: `total(m, i)`")
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

// The iterables of loops and of `in`.

pub(crate) fn not_iterable(at: Location, what: &Found, text: &str) -> Diagnostic {
    let diagnostic = error("kernel/loop", at, format!("cannot loop over {what}"), what);
    match what.is_int() {
        true => diagnostic.help(format!("count with `range({text})`")),
        false => diagnostic.help("loop over `range(..)`, a list, a tuple, a vector or an array"),
    }
}

pub(crate) fn unknown_rounds(at: Location) -> Diagnostic {
    let message = "the number of rounds is only known when the kernel runs, and `unroll` needs it before";
    error("kernel/loop", at, message, "").help(
        "count with a number, a name of the script or a parameter `n: const[i32]`, or leave `unroll` out",
    )
}

pub(crate) fn exit_of_unrolled(at: Location) -> Diagnostic {
    error("kernel/loop", at, "a loop over `unroll(..)` has no `break` and no `continue`", "")
        .help("put the rest of the round into an `if`, or leave `unroll` out")
}

pub(crate) fn mixed_tuple(at: Location, first: &Found, other: &Found) -> Diagnostic {
    error("kernel/loop", at, format!("cannot loop over a tuple of {first} and {other}"), "")
        .help("the variable of a loop has one type: cast the items to one, or write them out one by one")
}

pub(crate) fn range_step(at: Location) -> Diagnostic {
    error("kernel/loop", at, "the step of this `range` is not a constant other than 0", "")
        .help("write the step as a number: `range(0, n, 2)`")
}

pub(crate) fn not_a_container(at: Location, what: &Found) -> Diagnostic {
    let text = at.source.slice(at.span).to_owned();
    let diagnostic = error("kernel/operand-types", at, format!("`in` does not look into {what}"), what);
    match what {
        Found::Array(_) => diagnostic.help(format!(
            "search it in a loop: `for at in range(len({text})): found = found or {text}[at] == ..`"
        )),
        _ => diagnostic.help("it takes a tuple, a list, a vector or a range: `x in (1, 2, 3)`"),
    }
}

pub(crate) fn not_in_range(at: Location, what: &Found) -> Diagnostic {
    error("kernel/operand-types", at, format!("a `range` holds ints, not {what}"), what)
        .help("compare with its bounds: `a <= x < b`")
}

/// For `x is other`.
pub(crate) fn identity(at: Location, op: CompareOp, other: &str) -> Diagnostic {
    let plain = if op == CompareOp::IsNot { "!=" } else { "==" };
    let error = error(
        "kernel/unsupported",
        at,
        format!("`{}` cannot be used in a kernel: its values have no identity", op.symbol()),
        "",
    );
    match other == "None" {
        true => error.help("no value of a kernel is `None`: let a number say it, such as -1, or a bool"),
        false => error.help(format!("compare values with `{plain}`")),
    }
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

// Calls.

pub(crate) fn range_bound(at: Location, text: &str, what: &Found) -> Diagnostic {
    let diagnostic = error("kernel/loop", at, format!("a bound of `range` is an int, not {what}"), what);
    match what {
        Found::Literal(_) => {
            diagnostic.help("count in ints and compute the float: `for i in range(10): t = i * 0.1`")
        }
        what if what.is_array() => diagnostic.help(format!("count its elements: `range(len({text}))`")),
        Found::Value(Type::Vector(..)) => {
            diagnostic.help(format!("take one component: `{}.x`", as_operand(text)))
        }
        Found::Value(Type::Scalar(_)) => diagnostic.help(format!("write `i32({text})`")),
        _ => diagnostic.help("write an int: `range(10)`"),
    }
}

pub(crate) fn range_types(at: Location, first: Scalar, other: Scalar) -> Diagnostic {
    let text = at.source.slice(at.span).to_owned();
    error("kernel/loop", at, format!("the bounds of `range` are `{first}` and `{other}`"), "")
        .help(format!("cast one of them: `{first}({text})`"))
}

/// `func` is at `at`.
pub(crate) fn not_callable(at: Location, func: &Expr, what: &Found) -> Diagnostic {
    let text = &*at.source.slice(at.span).to_owned();
    let diagnostic = error("kernel/call", at, format!("`{text}` is {what}, which cannot be called"), what);
    match what {
        what if what.is_array() => diagnostic.help(format!("index it with brackets: `{text}[i]`")),
        Found::Module(name) => diagnostic.help(match &**name {
            "random" | "numpy.random" => {
                "kernels draw no random numbers: fill an array before the launch, `np.random.rand(n)`, and pass it, or \
                 compute a hash of `global_id.x`"
                    .to_owned()
            }
            "math" => format!("call a function of it: `{text}.sqrt(x)`"),
            _ => "a module is no function: call one of its functions, if kernels can use it".to_owned(),
        }),
        // `global_id(0)` is OpenCL's form.
        Found::Value(Type::Vector(..)) => diagnostic.help(format!("write a component of it: `{text}.x`")),
        _ if hides_function(text) => diagnostic
            .help(format!("this `{text}` hides the one that kernels call: give the variable another name")),
        _ if is_count_of_array(func) || builtins::lookup(text).is_some() => {
            diagnostic.help(format!("it is a value: leave the parentheses out, `{text}`"))
        }
        Found::Class(_) => {
            diagnostic.help(format!("kernels make structs: write `@struct` above `class {text}`"))
        }
        Found::Object(name) if &**name == "partial" => {
            diagnostic.help(format!("write a function for it, such as `def {text}(x): return f(0.5, x)`"))
        }
        Found::Object(_) => {
            diagnostic.help(format!("kernels know the attributes of an object: `{text}.x`"))
        }
        Found::Sequence(_) => diagnostic.help(format!("loop over it: `for item in {text}:`")),
        _ => diagnostic.help(format!("to multiply, write `{text} * (..)`")),
    }
}

/// NumPy's are attributes too, but some libraries call them.
fn is_count_of_array(func: &Expr) -> bool {
    matches!(&func.kind, ExprKind::Attribute { attr, .. } if matches!(&*attr.name, "size" | "ndim" | "shape"))
}

/// Whether a variable has the name of a built-in function.
fn hides_function(name: &str) -> bool {
    let known = builtins::lookup(name);
    matches!(known, Some(Builtin::Function(_) | Builtin::Type(_) | Builtin::VectorType | Builtin::MatrixType))
}

pub(crate) fn spread_argument(at: Location, name: &str) -> Diagnostic {
    error("kernel/call", at, format!("`{name}` takes its arguments one by one"), "")
        .help(format!("write each of them: `{name}(x, i, ..)`"))
}

pub(crate) fn keyword_argument(at: Location, name: &str, keyword: &str) -> Diagnostic {
    let diagnostic =
        error("kernel/call", at, format!("`{name}` takes no argument by the name `{keyword}`"), "");
    match keyword {
        // Python's `math.nextafter` takes it by its name only.
        "steps" => diagnostic.help("leave it out: in kernels it takes one step, and a loop takes more"),
        "key" => diagnostic.help("leave it out: compare what the key would give, `a if f(a) > f(b) else b`"),
        "default" => diagnostic
            .help("leave it out, and write the default itself where there is nothing to choose among"),
        "strict" => diagnostic.help("leave it out: what is zipped ends with the shortest"),
        _ => diagnostic.help("pass it by position"),
    }
}

pub(crate) fn distance_of(at: Location, what: &Found) -> Diagnostic {
    error("kernel/call", at, format!("`dist` takes two points, and {what} is none"), what)
        .help("a point is a vector, a tuple or a list: `math.dist((x, y), (0.0, 0.0))`")
}

pub(crate) fn distance_of_unlike(at: Location, n: u32, m: u32) -> Diagnostic {
    error("kernel/call", at, format!("`dist` takes points of as many numbers, not of {n} and {m}"), "")
        .help("write a number for each axis of both")
}

/// `ty` is the type of the argument.
pub(crate) fn math_takes(
    at: Location,
    called: &str,
    takes: Kind,
    what: &Found,
    ty: Option<&Type>,
) -> Diagnostic {
    let text = at.source.slice(at.span).to_owned();
    let help = match (takes, ty) {
        (Kind::Items, _) => format!("write its numbers as a list: `[{text}, 2.0]`"),
        (_, None) => format!("take one element: `{text}[0]`"),
        (_, Some(ty)) if ty.is_vector() => format!("take one component: `{text}.x`"),
        (_, Some(Type::Scalar(Scalar::Bool))) => format!("make a number of it: `i32({text})`"),
        (_, Some(Type::Scalar(_))) => format!("round it first: `i32({text})`"),
        (_, Some(_)) => format!("take one element: `{text}[0]`"),
    };
    error("kernel/call", at, format!("`{called}` takes {}, not {what}", takes.words()), "").help(help)
}

pub(crate) fn unlike_lengths(at: Location, called: &str, n: u32, m: u32) -> Diagnostic {
    error("kernel/call", at, format!("`{called}` takes as many of one as of the other, not {n} and {m}"), "")
        .help("give both the same length")
}

/// A library function that does not support its arguments, whatever the reason.
pub(crate) fn not_for(at: Location) -> Diagnostic {
    let called = callee(at.source.slice(at.span)).to_owned();
    error("kernel/call", at, format!("`{called}` cannot take these arguments"), "")
        .help("give it numbers of one type, or lists, vectors and arrays of such")
}

/// `line` is the call with as many as it takes.
pub(crate) fn argument_count_range(
    at: Location,
    name: &str,
    wanted: &str,
    given: usize,
    line: &str,
) -> Diagnostic {
    let mistake = error("kernel/call", at, format!("`{name}` takes {wanted}, not {given}"), "");
    match name.starts_with("atomic_") {
        true => mistake.help(format!("write `{line}`: the array and the index are apart")),
        false => mistake.help(format!("write `{line}`")),
    }
}

/// `max(a)` of a whole array.
pub(crate) fn fold_of_array(at: Location, name: &str, array: &Found) -> Diagnostic {
    error("kernel/call", at, format!("`{name}` does not look into {array}"), array)
        .help(format!("compare in a loop: `best = a[0]`, `for x in a: best = {name}(best, x)`"))
}

/// `max(x)` of one number, `max(())`.
pub(crate) fn fold_of_nothing(at: Location, name: &str, what: &Found) -> Diagnostic {
    error("kernel/call", at, format!("`{name}` has nothing to choose from in {what}"), what)
        .help(format!("give it numbers: `{name}(a, b)`, or a tuple, a vector or a fixed array of them"))
}

/// `wanted` is the type of the annotation at `declared`, where a value has it.
pub(crate) fn helper_argument(
    at: Location,
    declared: Location,
    name: &str,
    wanted: Option<&Type>,
    what: &Found,
) -> Diagnostic {
    let text = declared.source.slice(declared.span).to_owned();
    let diagnostic = error("kernel/call", at, format!("`{name}` is `{text}`, not {what}"), what)
        .label(declared, "declared here");
    match wanted {
        Some(Type::Scalar(_)) if what.is_vector() => diagnostic.help("give it one component, such as `v.x`"),
        Some(wanted) if wanted.number().is_some() => diagnostic.help(format!("cast it: `{text}(..)`")),
        _ => diagnostic.help("pass one of that type, or leave the annotation out: the function takes any"),
    }
}

pub(crate) fn number_argument(at: Location, name: &str, what: &Found) -> Diagnostic {
    let text = at.source.slice(at.span).to_owned();
    let diagnostic = error("kernel/call", at, format!("`{name}` takes numbers, not {what}"), what);
    match what {
        what if what.is_array() && name == "length" => {
            diagnostic.help(format!("an array's number of elements is `len({text})`"))
        }
        what if what.is_array() => diagnostic.help(format!("take one element: `{text}[i]`")),
        Found::Value(Type::BOOL) => diagnostic.help(format!("make it a number first: `i32({text})`")),
        _ => diagnostic.help(format!("write a number: `{name}(1.0)`")),
    }
}

pub(crate) fn int_argument(at: Location, name: &str, what: &Found) -> Diagnostic {
    error("kernel/call", at, format!("`{name}` takes ints, not {what}"), what)
        .help("cast them, `i32(x)`, or use `trunc(a / b)` for floats")
}

/// `popcount` of a float.
pub(crate) fn bits_argument(at: Location, name: &str, what: &Found) -> Diagnostic {
    let text = at.source.slice(at.span).to_owned();
    error("kernel/call", at, format!("`{name}` takes ints, not {what}"), what)
        .help(format!("cast it, `{name}(i32({text}))`, or take its bits, `{name}(bitcast(u32, {text}))`"))
}

/// The exponent of `ldexp`, the digits of `round`.
pub(crate) fn int_wanted(at: Location, name: &str, wanted: &Type, what: &Found) -> Diagnostic {
    error("kernel/call", at, format!("the second argument of `{name}` is `{wanted}`, not {what}"), what)
        .help(format!("write an int, or cast it: `{wanted}(n)`"))
}

/// `pow(x, y, m)` of floats.
pub(crate) fn modular_power(at: Location, ty: &Type) -> Diagnostic {
    error("kernel/call", at, format!("`pow` with a third argument takes ints, not `{ty}`"), "")
        .help("write `x ** y % m` for floats")
}

pub(crate) fn sum_of(at: Location, what: &Found) -> Diagnostic {
    error("kernel/call", at, format!("`sum` adds up lists, tuples and vectors of numbers, not {what}"), what)
        .help("add up in a loop: `for x in xs: total += f(x)`")
}

pub(crate) fn sum_types(at: Location, total: &Found, item: &Found) -> Diagnostic {
    error("kernel/call", at, format!("`sum` cannot add {total} and {item}"), "")
        .help("make all of them one type first")
}

/// For `any` and `all`.
pub(crate) fn bools_wanted(at: Location, name: &str, what: &Found) -> Diagnostic {
    let text = at.source.slice(at.span).to_owned();
    let mistake = error(
        "kernel/call",
        at,
        format!("`{name}` takes bools in a vector, a list or a tuple, not {what}"),
        what,
    );
    match what {
        Found::Value(Type::BOOL) => mistake.help(format!("leave `{name}` out: it is one bool already")),
        Found::Array(array) if array.rank == 1 && array.element == Type::BOOL => {
            let (op, start) = if name == "any" { ("or", "False") } else { ("and", "True") };
            mistake.help(format!("join them in a loop: `{name}_of = {start}`, `for item in {text}: {name}_of = {name}_of {op} item`"))
        }
        what if what.is_array() || what.is_tuple() => {
            mistake.help(format!("compare each of them: `{name}([a > 0, b > 0])`"))
        }
        Found::Value(Type::Vector(..)) => mistake.help(format!("compare first: `{name}({text} != 0)`")),
        Found::Value(ty) if ty.number().is_some() => {
            mistake.help(format!("leave `{name}` out, and compare: `{} != 0`", as_operand(&text)))
        }
        _ => mistake.help(format!("compare first: `{name}([a > 0, b > 0])`")),
    }
}

pub(crate) fn no_len(at: Location, what: &Found) -> Diagnostic {
    error("kernel/call", at, format!("{what} has no `len`"), what).help(
        "`len` counts the elements of an array, a list, a vector or a range: leave it out for one number",
    )
}

/// `from_end` is the negated index.
pub(crate) fn range_item(at: Location, range: &str, index: &str, from_end: Option<&str>) -> Diagnostic {
    let range = as_operand(range);
    let n = match from_end {
        Some(from_end) => format!("(len({range}) - {})", as_operand(from_end)),
        None => as_operand(index),
    };
    error("kernel/index", at, "an item of a `range` is read where its bounds and the index are constants", "")
        .help(format!("compute it: `{range}.start + {n} * {range}.step`"))
}

/// `cast` is the conversion that makes the types equal.
pub(crate) fn unlike_arguments(
    at: Location,
    name: &str,
    first: (Location, &Found),
    other: &Found,
    cast: Option<String>,
) -> Diagnostic {
    let array = [(&first.0, first.1), (&at, other)].into_iter().find(|(_, what)| what.is_array());
    let help = match array {
        Some((array, _)) => format!("take one element: `{}[i]`", array.source.slice(array.span)),
        None => cut_alike((first.0.source.slice(first.0.span), first.1), (at.source.slice(at.span), other))
            .map_or_else(|| cast_one(cast), |cut| format!("take as many components of both: `{cut}`")),
    };
    error("kernel/call", at, format!("`{name}` does not take {} with {other}", first.1), other)
        .label(first.0, first.1)
        .help(help)
}

pub(crate) fn cross_product(at: Location, ty: &Type) -> Diagnostic {
    error("kernel/call", at, format!("the cross product is of two `vec3`, not of `{ty}`"), "")
        .help("make them three wide: `cross(vec3(a, 0), vec3(b, 0))`")
}

/// `zero` is of the type that the other paths return.
pub(crate) fn returns_sometimes(
    at: Location,
    (other, how): (Location, &str),
    name: &str,
    zero: &str,
) -> Diagnostic {
    error("kernel/return", at, format!("`{name}` returns a value on some paths only"), "a value here")
        .label(other, how)
        .help(format!("return a value on every path: end the function with `return {zero}`, say"))
}

pub(crate) fn return_type(at: Location, name: &str, wanted: &Type, what: &Found) -> Diagnostic {
    let text = at.source.slice(at.span).to_owned();
    let mistake = error("kernel/return", at, format!("`{name}` returns `{wanted}`, not {what}"), what);
    advised(mistake, how_to_convert(&text, what, wanted))
}

/// `cast` is the conversion that makes the types equal.
pub(crate) fn return_types(
    name: &str,
    first: (Location, &Found),
    second: (Location, &Found),
    cast: Option<String>,
) -> Diagnostic {
    error("kernel/return", second.0, format!("`{name}` returns different types"), second.1)
        .label(first.0, first.1)
        .help(cast_one(cast))
}

pub(crate) fn missing_return(at: Location, name: &str, declared: &Type) -> Diagnostic {
    error("kernel/return", at, format!("`{name}` is to return `{declared}`, and returns nothing"), "")
        .help(format!("write `return {declared}(..)`, or leave `-> {declared}` out"))
}
