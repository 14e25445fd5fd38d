//! What to write where something stands that cannot, by that and by what stands before it.

use super::limits;

/// `before` is the text up to there, and `expected` what could stand there, in words.
pub(super) fn of(found: &str, before: &str, expected: &[String]) -> Option<&'static str> {
    let known = before.trim_end();
    let word = known.rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or("");
    let could_be = |wanted: &str| expected.iter().any(|one| one == wanted);
    Some(match found {
        "*" if known.ends_with('*') => "a power is `pow(x, y)`",
        "*" | "&" if could_be("a name") => "GLSL has no pointers: name the array, and an index of it",
        "{" if could_be("`;`") => "functions are defined outside of others",
        ")" if could_be("`(`") => "a conversion is written `float(x)`",
        _ if could_be("`(`") && ["if", "while", "for", "switch"].contains(&word) => {
            "what is tested stands in parentheses: `if (x < y)`"
        }
        _ if limits::of_other_languages(found).is_some() => return limits::of_other_languages(found),
        "}" if could_be("`;`") => "a statement ends with `;`",
        _ if could_be("`;`") && before[known.len()..].contains('\n') => "what stands before it ends with `;`",
        _ => return None,
    })
}
