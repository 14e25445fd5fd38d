//! The diagnostics of this crate: a constructor for each, in a file for each family.

mod codes;
mod declarations;
mod functions;
mod groups;
mod names;
mod parts;
mod places;
mod records;
mod remedies;
mod source_text;
mod stages;
mod structs;
mod textures;
mod types;
mod values;
mod warnings;

use kps_syntax::{Diagnostic, Location};

pub use self::codes::ERROR_CODES;
pub(crate) use self::declarations::*;
pub(crate) use self::functions::*;
pub(crate) use self::groups::*;
pub(crate) use self::names::*;
use self::parts::error;
pub(crate) use self::places::*;
pub(crate) use self::records::*;
pub(crate) use self::remedies::{copied_list, zero_of};
pub(crate) use self::source_text::{
    callee, index_behind, is_list_of_ints, operator_and_value, root_of, split_at_commas, without_brackets,
    words_of,
};
pub(crate) use self::stages::*;
pub(crate) use self::structs::*;
pub(crate) use self::textures::*;
pub(crate) use self::types::*;
pub(crate) use self::values::*;
pub(crate) use self::warnings::*;
pub(crate) use crate::found::{Found, SequenceKind, one};

// Unsupported constructs.

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
        .help("blocks and brackets count: split expressions, or move the inner blocks into functions")
}

pub(crate) fn called_too_deep(at: Location, limit: usize) -> Diagnostic {
    let text = format!("functions are called from one another more than {limit} deep");
    error("kernel/called-too-deep", at, text, "here").help("write a loop instead")
}

pub(crate) fn cancelled(at: Location) -> Diagnostic {
    error(crate::CANCELLED, at, "the compilation of the kernel was cancelled", "it was here")
}

/// `most` is a function with the number of forms that were compiled of it.
pub(crate) fn too_large(at: Location, limit: u32, function: &str, most: Option<(&str, u32)>) -> Diagnostic {
    let message = format!("the kernel has more than {limit} expressions, and is not compiled further");
    let diagnostic = error("kernel/too-large", at, message, format!("in `{function}`"));
    match most {
        Some((name, n)) if n > 100 => diagnostic.help(format!(
            "`{name}` is compiled {n} times, once for each kind of arguments: pass numbers that are computed, such as \
             `i32(n)`, where literals differ from call to call"
        )),
        _ => diagnostic.help("let loops over `range(..)` do what is written out, or done for each item of a tuple"),
    }
}

pub(crate) fn too_many_forms(at: Location, name: &str, limit: u32) -> Diagnostic {
    let what = match name {
        "lambda" => "a lambda".to_owned(),
        name => format!("the function `{name}`"),
    };
    let message = format!("{what} is called with more than {limit} kinds of arguments");
    error("kernel/too-large", at, message, "it is compiled for each").help(
        "each literal and each function that is passed makes another kind: pass numbers that are computed, such as \
         `i32(n)`, or write a loop",
    )
}

pub(crate) fn too_many_parts(at: Location, limit: usize) -> Diagnostic {
    let message = format!("a value of more than {limit} parts");
    error(
        "kernel/too-large",
        at,
        message,
        "counted with those of tuples within tuples, and of what functions captured",
    )
    .help("keep many numbers in a list, or in an array parameter")
}

// Our own mistakes.

pub(crate) fn internal(at: Location, what: &str) -> Diagnostic {
    error("kernel/internal", at, format!("the kernel compiler made a mistake: {what}"), "")
        .help("please report it with this kernel")
}
