//! Rewords naga's errors about constants that cannot be evaluated, in terms that GLSL and WGSL share.

/// A message with what to write instead.
type MessageWithHelp = (String, Option<&'static str>);

/// naga's message for a unary operation that the constant's type does not have.
pub(crate) const UNARY: &str = "Cannot apply the unary op to the argument";
/// The same for a binary operation.
const BINARY: &str = "Cannot apply the binary op to the arguments";

/// The replacement for naga's message, and a suggestion; `None` for other messages. `found` is the text at
/// the error.
pub(crate) fn plain(message: &str, found: &str) -> Option<MessageWithHelp> {
    match message {
        UNARY => return Some(unary(found)),
        BINARY => return Some(binary(found)),
        _ => {}
    }
    if let Some(function) = message.strip_suffix(" built-in function argument is out of valid range") {
        return Some((format!("`{function}` is not defined for this number"), None));
    }
    if let Some(counts) = message.strip_prefix("Constructor expects ") {
        let (expected, given) = counts.split_once(" components, found ")?;
        let are = if given == "1" { "is" } else { "are" };
        let help = "give one value for each part; one number makes a whole vector, too";
        return Some((format!("this is made of {expected} values, and {given} {are} given"), Some(help)));
    }
    if message.starts_with("Cannot cast scalar components") {
        let help = "put it into a variable first, one that is no `const`, and convert that";
        return Some(("this constant cannot be converted before the shader runs".to_owned(), Some(help)));
    }
    if message.ends_with(" operation overflowed") {
        return Some(("the result of this is more than its type holds".to_owned(), None));
    }
    if let Some(rest) = message.strip_prefix("the concrete type `") {
        let (ty, value) = rest.split_once("` cannot represent the abstract value `")?;
        let value = value.split('`').next()?;
        let help = match value.starts_with('-') && ty.starts_with('u') {
            true => "write a type with negative numbers, such as `i32`",
            false => "write a smaller number, or a type that holds it, such as `i64` or `f32`",
        };
        return Some((format!("`{ty}` cannot hold {value}"), Some(help)));
    }
    let (message, help) = match message {
        "Unexpected runtime-expression"
        | "this operation is not supported in a const context"
        | "Constants cannot access function arguments"
        | "Constants cannot access global variables"
        | "Constants cannot access local variables"
        | "Constants cannot call functions" => (
            "this is not known before the shader runs, and a constant would have to be",
            Some("leave out `const`, or write `let` in WGSL; a length is a number or a constant"),
        ),
        "Unexpected override-expression" => (
            "a `const` cannot be made of an override, whose value is not known yet",
            Some("write `override` for it, too"),
        ),
        "Division by zero" => ("division by zero", Some("write a divisor that is not 0")),
        "Float literal is infinite" => (
            "this constant is infinite, or larger than its type holds",
            Some("read the number from a buffer or a push constant: these take any"),
        ),
        "Float literal is NaN" => {
            ("this constant is NaN", Some("read the number from a buffer or a push constant: these take any"))
        }
        "Cannot apply math function to type" => {
            ("this function does not take constants of these types", None)
        }
        "Cannot access at the index" => {
            ("there is no such element", Some("the first element has the index 0"))
        }
        "value of `low` is greater than `high` for clamp built-in function" => {
            ("the lower bound of `clamp` is above its upper one", Some("write `clamp(x, lower, upper)`"))
        }
        "RHS of shift operation is greater than or equal to 32" => {
            ("this shifts by more bits than the number has", None)
        }
        "Expected boolean expression for condition argument of `select`, got something else"
        | "Expected boolean vector for condition arg., got something else" => {
            ("the condition of `select` is a `bool`", Some("write `select(if_false, if_true, condition)`"))
        }
        "Expected reject and accept args. to be scalars of vectors of the same type, got something else" => {
            ("both values of `select` have one type", Some("convert one of them"))
        }
        "Expected a uint constant" => {
            ("a whole number that is known belongs here", Some("write it as a number, or make it a `const`"))
        }
        "int constant overflows" => (
            "a number that is not negative belongs here",
            Some("write 0 or more, and 1 or more for a length"),
        ),
        _ => return None,
    };
    Some((message.to_owned(), help))
}

/// `!1`, `-true` and `~1.0`.
fn unary(text: &str) -> MessageWithHelp {
    // Text from a macro has the place of the macro's definition, so it may start and end anywhere.
    let operator = text.chars().next().filter(|first| "!-~".contains(*first) && !text.contains('\n'));
    let Some(operator) = operator else {
        let help = "`!` takes a `bool`, `-` a number with a sign, and `~` an integer";
        return ("this operation does not take a constant of this type".to_owned(), Some(help));
    };
    let operand = unbracketed(&text[1..]);
    let help = match (operator, operand) {
        ('!', _) => "it takes a `bool`: write `x == 0` for whether a number is 0",
        ('-', "true" | "false") => "it takes numbers: a `bool` is none",
        ('-', number) if number.ends_with(['u', 'U']) => {
            "a number without a sign has no negative: convert it first"
        }
        ('-', _) => "it takes numbers with a sign",
        _ => "it takes integers",
    };
    (format!("`{operator}` does not take `{operand}`"), Some(help))
}

/// Strips surrounding parentheses. The span from naga's front end for GLSL lacks the closing one.
fn unbracketed(text: &str) -> &str {
    let mut inside = text.trim();
    while let Some(rest) = inside.strip_prefix('(')
        && inside.matches('(').count() > inside.matches(')').count()
    {
        inside = rest.trim_start();
    }
    inside
}

/// `true + 1`.
fn binary(text: &str) -> MessageWithHelp {
    let message = match text.contains('\n') || text.is_empty() {
        true => "this operation does not take constants of these types".to_owned(),
        false => format!("the operation in `{text}` does not take constants of these types"),
    };
    let help = "both sides are numbers of one type, and a `bool` for `&&` and `||`: convert one of them";
    (message, Some(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_quoted_without_open_brackets() {
        let check = |text: &str, expected: &str| assert_eq!(unary(text).0, expected);
        check("!1", "`!` does not take `1`");
        check("- true", "`-` does not take `true`");
        check("!(1", "`!` does not take `1`");
        check("~((f(2) + 1.0", "`~` does not take `f(2) + 1.0`");
        check("~(1.0)", "`~` does not take `(1.0)`");
        check("1\nvoid main() { !", "this operation does not take a constant of this type");
    }
}
