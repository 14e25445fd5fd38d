//! What to write where something stands that cannot, by that and by what stands before it.

use super::{arrays, limits};

/// `before` is the text up to there, and `expected` what could stand there, in words.
pub(super) fn of(found: &str, before: &str, expected: &[String]) -> Option<&'static str> {
    let known = before.trim_end();
    let word = known.rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or("");
    let is_in_struct = arrays::is_in_struct(before, before.len());
    let could_be = |wanted: &str| expected.iter().any(|one| one == wanted);
    Some(match found {
        "*" if known.ends_with('*') => "a power is `pow(x, y)`",
        "*" | "&" if could_be("`)`") => {
            "GLSL has no pointers: a parameter that a function changes is `inout float x`"
        }
        "*" | "&" if could_be("a name") => "GLSL has no pointers: name the array, and an index of it",
        "{" if could_be("`;`") => "functions are defined outside of others",
        ")" if could_be("`(`") => "a conversion is written `float(x)`",
        "[" if word.is_empty() || !could_be("`;`") => "an array is written `float[](1.0, 2.0)`",
        "f" if word.chars().all(|digit| digit.is_ascii_digit()) => "a float has a point: `1.0`, or `1.0f`",
        "else" => "`else` stands directly behind the one statement of its `if`; several stand in `{ .. }`",
        _ if is_in_macro(before) => {
            "a macro stands for all behind its name: leave out what does not belong to the value, as `;`"
        }
        _ if known.ends_with(',') && is_in_struct => "members of a struct end with `;`: `float x; float y;`",
        "=" if is_in_struct => "members have no values of their own: give them where one is made, `S(1.0)`",
        "=" if could_be("`;`") => "left of `=` stands a variable, an element or a member",
        _ if could_be("`(`") && ["if", "while", "for", "switch"].contains(&word) => {
            "what is tested stands in parentheses: `if (x < y)`"
        }
        _ if could_be("`;`") && is_in_head_of_for(known) => {
            "the parts of a `for` end with `;`: `for (int i = 0; i < n; i++)`"
        }
        _ if limits::of_other_languages(found).is_some() => return limits::of_other_languages(found),
        "}" if could_be("`;`") => "a statement ends with `;`",
        _ if could_be("a name") && is_word(found) => "GLSL keeps this word for itself: choose another name",
        _ if could_be("`;`") => "what stands before it ends with `;`",
        _ if could_be("`]`") => "close the index: `a[i]`",
        _ if could_be("`)`") => "close what is open with `)`",
        _ => return None,
    })
}

fn is_word(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
        && text.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// Whether a text ends in a line that defines a macro.
fn is_in_macro(before: &str) -> bool {
    before
        .lines()
        .last()
        .is_some_and(|line| !before.ends_with('\n') && line.trim_start().starts_with("#define"))
}

/// Whether a text ends in the brackets of a `for`.
pub(super) fn is_in_head_of_for(before: &str) -> bool {
    before.rfind("for").is_some_and(|at| {
        let behind = before[at + 3..].trim_start();
        behind.starts_with('(') && behind.matches('(').count() > behind.matches(')').count()
    })
}
