//! Every mistake that this crate can find in a kernel, one constructor for each, by family.

mod declarations;
mod functions;
mod groups;
mod names;
mod places;
mod records;
mod stages;
mod structs;
mod textures;
mod types;
mod values;
mod warnings;

use kps_syntax::{Diagnostic, Location};

pub(crate) use self::declarations::*;
pub(crate) use self::functions::*;
pub(crate) use self::groups::*;
pub(crate) use self::names::*;
pub(crate) use self::places::*;
pub(crate) use self::records::*;
pub(crate) use self::stages::*;
pub(crate) use self::structs::*;
pub(crate) use self::textures::*;
pub(crate) use self::types::*;
pub(crate) use self::values::*;
pub(crate) use self::warnings::*;

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

/// `an i32`, `a vec3`, with backquotes.
pub(crate) fn one(name: impl std::fmt::Display) -> String {
    let name = name.to_string();
    // As they are spoken: an "eff 32", a "you 32".
    let is_spoken_so = ["f16", "f32", "f64", "hvec"].iter().any(|word| name.starts_with(word));
    match is_spoken_so || name.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) {
        true => format!("an `{name}`"),
        false => format!("a `{name}`"),
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

pub(crate) fn outside_loop(at: Location, word: &str) -> Diagnostic {
    error("kernel/outside-loop", at, format!("`{word}` outside a loop"), "no loop around this")
        .help("leave it out, or write `return` to end the function")
}

pub(crate) fn nested_too_deep(at: Location, limit: u32) -> Diagnostic {
    error("kernel/nested-too-deep", at, format!("a kernel nested more than {limit} deep"), "here")
        .help("split it into functions or statements of their own")
}

// What several families say.

/// How a value becomes what is wanted of it.
fn how_to_convert(text: &str, found: &str, wanted: &Type) -> String {
    let is_int = wanted.scalar().is_some_and(Scalar::is_int);
    match () {
        () if is_array(found) => format!("take one element: `{text}[i]`"),
        () if found.contains("function") || found.contains("lambda") => format!("call it: `{text}(x)`"),
        () if found.contains("the module") => format!("name what is wanted of it: `{text}.pi`"),
        () if found.contains("the type") => format!("make a value of it: `{text}(0)`"),
        () if found.contains("`range`") => "loop over it: `for i in range(..)`".to_owned(),
        () if found.contains("tuple") => format!("make a value of it: `{wanted}(..)`"),
        () if found.contains("bvec") && *wanted == Type::BOOL => {
            format!("ask for all of them, `all({text})`, or for one, `any({text})`")
        }
        () if found.contains("vec") && !wanted.is_vector() => {
            format!("take one component: `{}.x`", as_operand(text))
        }
        () if is_int && text.contains(" / ") => format!(
            "`/` gives a float: write `{}`, or cast it: `{wanted}({text})`",
            text.replacen(" / ", " // ", 1)
        ),
        () => format!("cast it: `{wanted}({text})`"),
    }
}

/// The text of an expression as a dot or an index takes it.
fn as_operand(text: &str) -> String {
    let mut depth = 0i32;
    let has_operator = text.chars().any(|letter| {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        letter == ' ' && depth == 0
    });
    if has_operator { format!("({text})") } else { text.to_owned() }
}

/// An array parameter or a list, as messages describe it.
fn is_array(what: &str) -> bool {
    what.starts_with("`Array[") || what.starts_with("`Array(")
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
