//! The format specs of printed values: `[[fill]align][sign][z][#][0][width][grouping][.precision][type]`.
//!
//! In: a spec and the type of the value. Out: what is wrong with it. The host formats the values after the
//! launch. What it would refuse is an error here, at its place in the source.

use crate::types::Scalar;

/// The type to which a spec is applied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::infer) enum Subject {
    Int,
    Float,
    /// The text that `!r` and `!s` produce.
    Text,
}

impl Subject {
    /// A number of this type, or text if there is a conversion such as `!r`.
    pub fn of(scalar: Scalar, has_conversion: bool) -> Subject {
        match scalar {
            _ if has_conversion => Subject::Text,
            scalar if scalar.is_float() => Subject::Float,
            _ => Subject::Int,
        }
    }

    /// The type letters that may end a spec.
    fn letters(self) -> &'static str {
        match self {
            Subject::Int => "bcdnoxXeEfFgG%",
            Subject::Float => "eEfFgGn%",
            Subject::Text => "s",
        }
    }

    /// A valid spec for a help message.
    pub fn example(self) -> &'static str {
        match self {
            Subject::Int => "`:5d`, `:08b` or `:x`",
            Subject::Float => "`:.2f`, `:10.3e` or `:g`",
            Subject::Text => "`:10` or `:>10`",
        }
    }
}

/// What is wrong with a spec, as the end of a sentence about it.
pub(in crate::infer) fn mistake(spec: &str, subject: Subject) -> Option<String> {
    let mut rest = spec;
    let has_align = skip_align(&mut rest);
    let has_sign = skip(&mut rest, "+- ");
    let has_z = skip(&mut rest, "z");
    let has_alternate = skip(&mut rest, "#");
    rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let grouping = rest.chars().next().filter(|c| ",_".contains(*c));
    skip(&mut rest, ",_");
    let has_precision = skip(&mut rest, ".");
    if has_precision {
        let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        if digits.len() == rest.len() {
            return Some("has no digits after its `.`".to_owned());
        }
        rest = digits;
    }
    let mut letters = rest.chars();
    let letter = letters.next();
    if letters.next().is_some() {
        return Some(format!("ends in `{rest}`, which means nothing"));
    }
    if let Some(letter) = letter.filter(|letter| !subject.letters().contains(*letter)) {
        return Some(format!("ends in `{letter}`, which is for other values"));
    }
    let is_whole = subject == Subject::Int && letter.is_none_or(|letter| "bcdnoxX".contains(letter));
    match (subject, letter) {
        _ if is_whole && has_precision => Some("has decimals, and an int has none".to_owned()),
        (Subject::Text, _) if has_sign || has_z || has_alternate || has_align == Align::AfterSign => {
            Some("is for numbers, and this is a text".to_owned())
        }
        (_, Some('s' | 'c' | 'n')) if grouping.is_some() => Some("groups what has no digits".to_owned()),
        (Subject::Text, None) if grouping.is_some() => Some("groups what has no digits".to_owned()),
        (_, Some('b' | 'o' | 'x' | 'X')) if grouping == Some(',') => {
            Some("groups by `,`, and these digits are grouped by `_`".to_owned())
        }
        (_, Some('c')) if has_sign || has_alternate => Some("gives a sign to a character".to_owned()),
        _ => None,
    }
}

#[derive(PartialEq, Eq)]
enum Align {
    None,
    Usual,
    AfterSign,
}

/// `<`, `*^`: an alignment, with an optional fill character before it.
fn skip_align(rest: &mut &str) -> Align {
    let mut chars = rest.char_indices();
    let (first, second) = (chars.next(), chars.next());
    let aligns = |at: Option<(usize, char)>| at.filter(|(_, c)| "<>^=".contains(*c));
    let Some((at, align)) = aligns(second).or_else(|| aligns(first)) else { return Align::None };
    *rest = &rest[at + 1..];
    if align == '=' { Align::AfterSign } else { Align::Usual }
}

/// Skips one of these characters. Returns whether there was one.
fn skip(rest: &mut &str, any_of: &str) -> bool {
    let Some(after) = rest.strip_prefix(|c| any_of.contains(c)) else { return false };
    *rest = after;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_refused_as_the_host_refuses_them() {
        let subjects = [Subject::Int, Subject::Float, Subject::Text];
        // For an int, a float and a text: `y` if the spec is valid.
        let cases = [
            ("", "yyy"),
            ("d", "y--"),
            (".2f", "yy-"),
            (".2", "-yy"),
            (".2q", "---"),
            ("q", "---"),
            (">10", "yyy"),
            ("*^+10.3e", "yy-"),
            ("=+5", "yy-"),
            ("#x", "y--"),
            (",", "yy-"),
            ("_x", "y--"),
            (",x", "---"),
            (".", "---"),
            ("5s", "--y"),
            ("10 d", "---"),
            ("%", "yy-"),
            ("c", "y--"),
            ("+c", "---"),
            ("08b", "y--"),
            ("n", "yy-"),
            ("z.1f", "yy-"),
        ];
        for (spec, good) in cases {
            let found: String = subjects
                .iter()
                .map(|subject| if mistake(spec, *subject).is_none() { 'y' } else { '-' })
                .collect();
            assert_eq!(found, good, "`{spec}`");
        }
    }
}
