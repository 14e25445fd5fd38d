//! Mistakes in type expressions.

use kps_syntax::{Diagnostic, Location};

use super::parts::{error, meant};
use super::source_text::{is_call_of, last_name, numbers_in_brackets};
use crate::env::{EnvValue, Holder};
use crate::foreign_names;
use crate::types::Type;

pub(crate) fn not_a_type(at: Location, text: &str) -> Diagnostic {
    let diagnostic = error("kernel/not-a-type", at, format!("`{text}` is not a type"), "");
    match text {
        _ if is_call_of(text, "Array") => diagnostic.help(
            "a list has as many items in every launch: write the number, `Array(16, f32)`, or a name that the \
             script gives one",
        ),
        _ if is_call_of(text, "Vector") => diagnostic.help(match numbers_in_brackets(text).as_deref() {
            Some(numbers @ ([_, _] | [_, _, _] | [_, _, _, _])) => {
                let n = numbers.len();
                format!("a vector is made of its numbers: `vec{n}({})`", numbers.join(", "))
            }
            _ => "a vector is made of its numbers, `vec2(1.0, 2.0)`; its type is `vec2`, or `Vector(2, i32)`".to_owned(),
        }),
        _ => diagnostic.help("write `f32`, `vec3`, `Array[f32]` or the like"),
    }
}

pub(crate) fn not_a_value_type(at: Location, text: &str) -> Diagnostic {
    error("kernel/not-a-type", at, format!("`{text}` is not the type of a value"), "")
        .help("arrays without a length are parameters only; a list of four is `Array(4, f32)`")
}

pub(crate) fn unknown_type(at: Location, name: &str, nearest: Option<&str>) -> Diagnostic {
    let diagnostic = error("kernel/unknown-type", at, format!("unknown type `{name}`"), "");
    let plain = last_name(name);
    if let "list" | "tuple" | "dict" | "ndarray" | "array" | "Tensor" | "object" | "List" | "NDArray" = plain
    {
        return diagnostic.help("write `Array[f32]`, with the type of the elements");
    }
    let lower = plain.to_lowercase();
    if lower != name && Type::by_name(&lower).is_some() {
        return diagnostic.help(format!("write `{lower}`"));
    }
    match (nearest, foreign_names::instead(plain)) {
        (_, Some(instead)) => diagnostic.help(instead),
        (Some(_), None) => meant(diagnostic, nearest),
        (None, None) => diagnostic.help("write `f32`, `vec3`, `Array[f32]` or the like"),
    }
}

/// A declaration that depends on the value of a name.
pub(crate) fn known_later(at: Location, name: &str) -> Diagnostic {
    let message =
        format!("what is declared here depends on `{name}`, which is known only when the script runs");
    error(crate::KNOWN_LATER, at, message, "")
}

pub(crate) fn value_as_type(at: Location, name: &str, value: &EnvValue) -> Diagnostic {
    let message = format!("`{name}` is {}, not a type", value.describe());
    let mistake = error("kernel/not-a-type", at, message, "");
    match value {
        EnvValue::Module(holder) if holder.kind == Holder::Class => {
            mistake.help("decorate the class with `@struct`: its members are names with types, `x: f32`")
        }
        _ => mistake.help("write `f32`, `vec3`, `Array[f32]` or the like"),
    }
}

pub(crate) fn array_without_element(at: Location) -> Diagnostic {
    error("kernel/not-a-type", at, "`Array` needs the type of its elements", "").help("write `Array[f32]`")
}

pub(crate) fn const_not_scalar(at: Location, text: &str) -> Diagnostic {
    error("kernel/not-a-type", at, format!("a `const` parameter is a number or a bool, not `{text}`"), "")
        .help("write `const[i32]`")
}

/// `known` is the value of the text, if that is an int.
pub(crate) fn array_len(at: Location, text: &str, known: Option<i64>) -> Diagnostic {
    let message = match known.filter(|known| known.to_string() != text) {
        Some(known) => format!("`{text}` is {known}, which is not the length of an array"),
        None => format!("`{text}` is not the length of an array"),
    };
    error("kernel/array-length", at, message, "").help("a length is an int from 1 to 65535")
}
