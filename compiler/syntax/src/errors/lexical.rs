//! Errors in characters, numbers, brackets and indentation.

use crate::Diagnostic;
use crate::lexer::{NumberProblem, Radix};
use crate::source::Location;

pub(crate) fn too_long(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/too-long", "the text is longer than 4 GiB")
        .label(at, "not read from here on")
        .help("divide it into several files")
}

pub(crate) fn unclosed_bracket(at: Location, open: char, close: char) -> Diagnostic {
    Diagnostic::error("syntax/unclosed-bracket", format!("`{open}` was never closed"))
        .label(at, "opened here")
        .help(format!("write the matching `{close}` where the expression ends"))
}

pub(crate) fn mismatched_bracket(at: Location, close: char, opened: Location, open: char) -> Diagnostic {
    let right = match open {
        '(' => ')',
        '[' => ']',
        _ => '}',
    };
    Diagnostic::error("syntax/mismatched-bracket", format!("`{close}` does not match `{open}`"))
        .label(at.clone(), "closed here")
        .label(opened, "opened here")
        .help(format!("close it with `{right}`"))
        .fix(at, right)
}

pub(crate) fn unmatched_bracket(at: Location, close: char) -> Diagnostic {
    Diagnostic::error("syntax/unmatched-bracket", format!("nothing is open that `{close}` could close"))
        .label(at.clone(), "")
        .help(format!("remove the `{close}`, or write the bracket that it closes"))
        .fix(at, "")
}

pub(crate) fn too_many_brackets(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/too-many-brackets", "brackets are nested more than 200 deep")
        .label(at, "the 201st")
        .help("give the inner parts names of their own")
}

pub(crate) fn invalid_character(at: Location, character: char) -> Diagnostic {
    let code = "syntax/invalid-character";
    if look_alike(character) == Some(" ") {
        return Diagnostic::error(code, "an unusual kind of space is used in place of a plain one")
            .label(at.clone(), format!("U+{:04X}", character as u32))
            .help("type a plain space; text copied from a web page often has such characters")
            .fix(at, " ");
    }
    if let Some(plain) = look_alike(character) {
        return Diagnostic::error(
            code,
            format!("`{character}` looks like `{plain}` but is another character"),
        )
        .label(at.clone(), format!("U+{:04X}", character as u32))
        .help(format!("type `{plain}`; text copied from a document often has such characters"))
        .fix(at, plain);
    }
    let diagnostic = match character {
        '$' | '?' => Diagnostic::error(code, format!("`{character}` has no meaning in Python")),
        '`' => Diagnostic::error(code, "a backquote has no meaning in Python"),
        c if c.is_control() || c.is_whitespace() || c == '\u{200b}' || c == '\u{feff}' => {
            Diagnostic::error(code, format!("invisible character U+{:04X}", character as u32))
        }
        _ => {
            let code_point = character as u32;
            Diagnostic::error(
                code,
                format!("`{character}` (U+{code_point:04X}) is not allowed outside a string"),
            )
        }
    };
    let help = match character {
        '?' => "write `a if condition else b` for a choice between two values",
        '`' => "write strings in straight quotes: `'text'`",
        '$' => "write a name without it; in an f-string a value is written in braces: `{name}`",
        _ => "remove it, or put it into a string",
    };
    diagnostic.label(at, "").help(help)
}

/// The ASCII character that editors and web pages replace by `character`.
fn look_alike(character: char) -> Option<&'static str> {
    Some(match character {
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{ff02}' | '\u{ab}' | '\u{bb}' => "\"",
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{ff07}' | '\u{b4}' => "'",
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{ff0d}' => "-",
        '\u{d7}' | '\u{2217}' | '\u{ff0a}' => "*",
        '\u{f7}' | '\u{2215}' | '\u{ff0f}' => "/",
        '\u{ff08}' => "(",
        '\u{ff09}' => ")",
        '\u{ff3b}' => "[",
        '\u{ff3d}' => "]",
        '\u{ff0c}' | '\u{3001}' => ",",
        '\u{ff1a}' => ":",
        '\u{ff1b}' => ";",
        '\u{ff1d}' => "=",
        '\u{ff0b}' => "+",
        '\u{2260}' => "!=",
        '\u{2264}' => "<=",
        '\u{2265}' => ">=",
        '\u{2192}' => "->",
        '\u{2026}' => "...",
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => " ",
        _ => return None,
    })
}

pub(crate) fn bang(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/invalid-operator", "`!` is not an operator")
        .label(at.clone(), "")
        .help("write `not` before what is to be negated: `not ready`")
        .fix(at, "not ")
}

pub(crate) fn stray_backslash(at: Location) -> Diagnostic {
    Diagnostic::error(
        "syntax/stray-backslash",
        "a backslash joins lines only as the last character of its line",
    )
    .label(at, "something follows")
    .help("remove what follows it, blanks included; inside brackets no backslash is needed")
}

pub(crate) fn backslash_at_end(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/stray-backslash", "the text ends after a backslash")
        .label(at.clone(), "joins a line that does not come")
        .help("remove the backslash, or write the next line")
        .fix(at, "")
}

pub(crate) fn bad_number(at: Location, text: &str, problem: NumberProblem) -> Diagnostic {
    let diagnostic = |message: String| Diagnostic::error("syntax/bad-number", message).label(at.clone(), "");
    match problem {
        NumberProblem::LeadingZeros => {
            let digits = text.trim_start_matches(['0', '_']);
            let is_octal = digits.bytes().all(|digit| matches!(digit, b'0'..=b'7' | b'_'));
            let octal =
                if is_octal { format!(", or `0o{digits}` for an octal number") } else { String::new() };
            diagnostic(format!("`{text}` begins with a zero"))
                .help(format!("write `{digits}`{octal}"))
                .fix(at.clone(), digits)
        }
        NumberProblem::Underscore => diagnostic(format!("an underscore is out of place in `{text}`"))
            .help("underscores are only allowed singly between two digits: `1_000_000`"),
        NumberProblem::NoDigits(radix) => {
            diagnostic(format!("`{text}` has no {} digits", radix.name())).help(example(radix))
        }
        NumberProblem::Digit(radix, digit) => {
            diagnostic(format!("`{digit}` is not a digit of {} number", radix.with_article()))
                .help(format!("its digits are {}", digits_of(radix)))
        }
        NumberProblem::Suffix => suffix(at.clone(), text),
    }
}

fn suffix(at: Location, text: &str) -> Diagnostic {
    let is_digit = |c: char| c.is_ascii_digit() || c == '_' || c == '.';
    let split = match text.as_bytes() {
        [b'0', b'x' | b'X' | b'o' | b'O' | b'b' | b'B', ..] => text.len(),
        _ => text.find(|c| !is_digit(c)).unwrap_or(text.len()),
    };
    let (number, letters) = text.split_at(split);
    let help = match letters {
        "" => "separate the number from what follows".to_owned(),
        "f" | "F" | "d" | "L" | "l" | "u" | "U" => format!("numbers have no suffix: write `{number}`"),
        letters if exponent_with_suffix(letters) => {
            format!("numbers have no suffix: write `{number}{}`", &letters[..letters.len() - 1])
        }
        "e" | "E" => "the exponent has no digits: write `1e5`".to_owned(),
        "i" | "I" => format!("an imaginary number is written with `j`: `{number}j`"),
        _ => format!("a name cannot begin with a digit; for a product write `{number} * {letters}`"),
    };
    Diagnostic::error("syntax/bad-number", format!("`{text}` is neither a number nor a name"))
        .label(at, "")
        .help(help)
}

/// `e5f`, as C writes after `1`.
fn exponent_with_suffix(letters: &str) -> bool {
    letters
        .strip_prefix(['e', 'E'])
        .and_then(|rest| rest.strip_suffix(['f', 'F', 'L', 'l']))
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()))
}

fn example(radix: Radix) -> &'static str {
    match radix {
        Radix::Binary => "write for instance `0b1010`",
        Radix::Octal => "write for instance `0o755`",
        Radix::Decimal => "write for instance `10`",
        Radix::Hexadecimal => "write for instance `0xff`",
    }
}

fn digits_of(radix: Radix) -> &'static str {
    match radix {
        Radix::Binary => "`0` and `1`",
        Radix::Octal => "`0` to `7`",
        Radix::Decimal => "`0` to `9`",
        Radix::Hexadecimal => "`0` to `9` and `a` to `f`",
    }
}

pub(crate) fn too_many_digits(at: Location, n_digits: usize, most: usize) -> Diagnostic {
    let message = format!("a decimal integer of {n_digits} digits; at most {most} can be written");
    Diagnostic::error("syntax/too-many-digits", message)
        .label(at, "")
        .help("write it in hexadecimal, or compute it: `10**5000`")
}

pub(crate) fn unmatched_unindent(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/unmatched-unindent", "the indentation matches no block around this line")
        .label(at, "between two levels")
        .help("indent the line exactly as another line of the block that it belongs to")
}

pub(crate) fn mixed_tabs(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/mixed-tabs", "tabs and spaces are mixed in the indentation")
        .label(at, "how deep this is depends on the width of a tab")
        .help("indent with four spaces everywhere")
}

pub(crate) fn too_many_indents(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/too-many-indents", "blocks are nested more than 100 deep")
        .label(at, "the 101st")
        .help("move the inner blocks into functions")
}
