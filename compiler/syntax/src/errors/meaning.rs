//! Errors that the grammar accepts and the builder refuses.

use crate::Diagnostic;
use crate::source::Location;

pub(crate) fn too_deep(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/too-deep", "the expression is nested more than 1000 deep")
        .label(at, "")
        .help("compute it in several statements, or in a loop")
}

pub(crate) fn assign_target(at: Location, what: &str, text: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("syntax/assign-target", format!("cannot assign to {what}")).label(at, "");
    if text.contains('\n') || what == "`...`" {
        return diagnostic
            .help("the left side of `=` is a name, an attribute, a subscript, or several of them");
    }
    // `x(i) = 1` is how some languages write an element.
    match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((name, index)) if what == "a function call" && !index.is_empty() && !index.contains('(') => {
            diagnostic.help(format!("an element is written `{name}[{index}]`; to compare, write `==`"))
        }
        _ => diagnostic.help(format!("to compare, write `==`: `{text} == ..`")),
    }
}

pub(crate) fn loop_target(at: Location, what: &str) -> Diagnostic {
    Diagnostic::error("syntax/assign-target", format!("a `for` cannot assign to {what}"))
        .label(at, "")
        .help("write a name for the loop variable: `for item in ..`")
}

pub(crate) fn with_target(at: Location, what: &str) -> Diagnostic {
    Diagnostic::error("syntax/assign-target", format!("a `with` cannot assign to {what}"))
        .label(at, "")
        .help("write a name after the `as`: `with open(path) as file:`")
}

pub(crate) fn delete_target(at: Location, what: &str) -> Diagnostic {
    Diagnostic::error("syntax/delete-target", format!("cannot delete {what}"))
        .label(at, "")
        .help("`del` takes names, attributes and subscripts")
}

pub(crate) fn lone_target(at: Location, what: &str, what_for: &str) -> Diagnostic {
    Diagnostic::error("syntax/assign-target", format!("only a name, an attribute or a subscript {what_for}"))
        .label(at, format!("this is {what}"))
        .help("write one statement for each name")
}

pub(crate) fn lone_star_target(at: Location, text: &str) -> Diagnostic {
    Diagnostic::error("syntax/star", "a starred target must be in a list or tuple")
        .label(at, "")
        .help(format!("write `{text}, = ..` to take everything into a list"))
}

pub(crate) fn second_star_target(at: Location, first: Location) -> Diagnostic {
    Diagnostic::error("syntax/star", "two starred targets in one assignment")
        .label(at, "")
        .label(first, "the first one takes all that is left over")
        .help("star only one of them")
}

pub(crate) fn lone_star(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/star", "a starred expression cannot be used on its own")
        .label(at, "")
        .help("put it into a list or tuple: `[*values]` or `*values,`")
}

pub(crate) fn walrus_target(at: Location, what: &str) -> Diagnostic {
    Diagnostic::error("syntax/assign-target", format!("`:=` assigns to a name only, not to {what}"))
        .label(at, "")
        .help("write a plain name before it, or make it a statement with `=`")
}

pub(crate) fn bare_walrus(at: Location, text: &str) -> Diagnostic {
    let plain = text.replacen(":=", "=", 1);
    Diagnostic::error("syntax/bare-walrus", "`:=` needs parentheses here")
        .label(at, "")
        .help(format!("write `{plain}` for an ordinary assignment, or put it into parentheses"))
}

pub(crate) fn prefix_needs_parens(at: Location, op: &str) -> Diagnostic {
    Diagnostic::error("syntax/operator", format!("`{op}` binds looser than the operator before it"))
        .label(at, "")
        .help(format!("put it into parentheses: `({op} ..)`"))
}

pub(crate) fn spread_in_comprehension(at: Location, star: &str) -> Diagnostic {
    Diagnostic::error("syntax/star", format!("`{star}` is not allowed in a comprehension"))
        .label(at, "")
        .help("loop over the inner values with a second `for`")
}

pub(crate) fn pair_in_set(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/mixed-braces", "a `key: value` pair among the elements of a set")
        .label(at, "")
        .help("write every item as `key: value` for a dict, or none of them for a set")
}

pub(crate) fn element_in_dict(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/mixed-braces", "an item of a dict lacks its value")
        .label(at, "expected `key: value`")
        .help("write a colon and the value after the key")
}

pub(crate) fn keyword_is_no_name(at: Location, text: &str, what: &str) -> Diagnostic {
    let compared = text.replacen('=', "==", 1);
    Diagnostic::error("syntax/keyword-argument", format!("the name of an argument cannot be {what}"))
        .label(at, "")
        .help(format!("to compare, write `==`: `{compared}`"))
}

pub(crate) fn positional_after_keyword(at: Location, before: Location, spread: bool) -> Diagnostic {
    let (what, label) = match spread {
        true => ("a keyword spread", "this spreads keywords"),
        false => ("a keyword argument", "this has a name"),
    };
    Diagnostic::error("syntax/argument-order", format!("a positional argument after {what}"))
        .label(at, "give it a name, or move it to the front")
        .label(before, label)
        .help("positional arguments come first: `f(1, 2, scale=3)`")
}

pub(crate) fn spread_after_keyword_spread(at: Location, before: Location) -> Diagnostic {
    Diagnostic::error("syntax/argument-order", "`*` after `**` among the arguments")
        .label(at, "")
        .label(before, "this spreads keywords")
        .help("move it to the front: `f(*values, **options)`")
}

pub(crate) fn repeated_keyword(at: Location, name: &str, first: Location) -> Diagnostic {
    Diagnostic::error("syntax/repeated-keyword", format!("the argument `{name}` is given twice"))
        .label(at, "")
        .label(first, "first given here")
        .help("remove one of them")
}

pub(crate) fn bare_generator(at: Location, text: &str) -> Diagnostic {
    let help = match text.contains('\n') {
        true => "put it into parentheses of its own".to_owned(),
        false => format!("write `({text})`"),
    };
    Diagnostic::error("syntax/bare-generator", "a generator beside other arguments needs parentheses")
        .label(at, "")
        .help(help)
}

pub(crate) fn duplicate_parameter(at: Location, name: &str, first: Location) -> Diagnostic {
    Diagnostic::error("syntax/duplicate-parameter", format!("two parameters are named `{name}`"))
        .label(at, "")
        .label(first, "the first one")
        .help("rename one of them")
}

pub(crate) fn missing_default(at: Location, name: &str, before: Location, earlier: &str) -> Diagnostic {
    let message = format!("the parameter `{name}` without a default follows `{earlier}`, which has one");
    Diagnostic::error("syntax/parameter-order", message)
        .label(at, "has no default")
        .label(before, "has one")
        .help(format!("give `{name}` a default, or move it before `{earlier}`"))
}

pub(crate) fn default_of_variadic(at: Location, text: &str) -> Diagnostic {
    Diagnostic::error("syntax/parameter", format!("`{text}` cannot have a default"))
        .label(at, "")
        .help("remove it: what is not given is empty")
}

pub(crate) fn parameter_after_kwargs(at: Location, kwargs: Location) -> Diagnostic {
    Diagnostic::error("syntax/parameter-order", "a parameter after the `**` parameter")
        .label(at, "")
        .label(kwargs, "this one must be the last")
        .help("move it before the `**` parameter")
}

pub(crate) fn second_star(at: Location, first: Location) -> Diagnostic {
    Diagnostic::error("syntax/parameter-order", "a second `*` among the parameters")
        .label(at, "")
        .label(first, "the first one")
        .help("keep one; the parameters after it are given by name")
}

pub(crate) fn nothing_after_star(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/parameter-order", "no named parameter follows the bare `*`")
        .label(at, "")
        .help("write the parameters that are given by name after it, or remove it")
}

pub(crate) fn slash_first(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/parameter-order", "no parameter comes before the `/`")
        .label(at, "")
        .help("write the positional-only parameters before it, or remove it")
}

pub(crate) fn second_slash(at: Location, first: Location) -> Diagnostic {
    Diagnostic::error("syntax/parameter-order", "a second `/` among the parameters")
        .label(at, "")
        .label(first, "the first one")
        .help("keep one")
}

pub(crate) fn slash_after_star(at: Location, star: Location) -> Diagnostic {
    Diagnostic::error("syntax/parameter-order", "`/` after `*` among the parameters")
        .label(at, "")
        .label(star, "what follows this is given by name")
        .help("write the `/` first: `def f(a, /, b, *, c)`")
}

pub(crate) fn bare_exception_tuple(at: Location, text: &str) -> Diagnostic {
    Diagnostic::error("syntax/exception-tuple", "several exception types need parentheses")
        .label(at.clone(), "")
        .help(format!("write `except ({text}):`"))
        .fix(at, format!("({text})"))
}

/// `except A, e:`, as it was written long ago.
pub(crate) fn exception_comma(at: Location, exception: &str, name: &str) -> Diagnostic {
    Diagnostic::error("syntax/exception-tuple", "the name for the exception comes after `as`")
        .label(at.clone(), "")
        .help(format!("write `except {exception} as {name}:`"))
        .fix(at, format!("{exception} as {name}"))
}

pub(crate) fn repeated_capture(at: Location, name: &str, first: Location) -> Diagnostic {
    Diagnostic::error("syntax/pattern", format!("the pattern binds `{name}` twice"))
        .label(at, "")
        .label(first, "first bound here")
        .help("rename one of them and compare the two in a guard: `case a, b if a == b:`")
}

pub(crate) fn unequal_alternatives(at: Location, first: Location, names: &str) -> Diagnostic {
    Diagnostic::error("syntax/pattern", "the alternatives of a pattern bind different names")
        .label(at, format!("differs in {names}"))
        .label(first, "the first alternative")
        .help("let every alternative bind the same names, or write two `case`s")
}

pub(crate) fn try_without_handler(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/try-alone", "a `try` without `except` or `finally`")
        .label(at, "")
        .help("write `except Exception:` with a block after it")
}

pub(crate) fn mixed_handlers(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/mixed-handlers", "`except` and `except*` in one `try`")
        .label(at, "")
        .help("use one of the two for all handlers")
}

pub(crate) fn bare_except_first(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/bare-except-first", "a bare `except:` must be the last handler")
        .label(at, "catches everything, so none of the others would run")
        .help("move it behind the others, or name the exception that it catches")
}

pub(crate) fn second_star_pattern(at: Location, first: Location) -> Diagnostic {
    Diagnostic::error("syntax/pattern", "two stars in one sequence pattern")
        .label(at, "")
        .label(first, "the first one takes all that is left over")
        .help("star only one of them")
}

pub(crate) fn lone_star_pattern(at: Location, name: &str) -> Diagnostic {
    Diagnostic::error("syntax/pattern", "a starred pattern must be in a sequence")
        .label(at, "")
        .help(format!("write `[*{name}]`"))
}

pub(crate) fn unreachable_alternatives(at: Location, text: &str) -> Diagnostic {
    Diagnostic::error(
        "syntax/pattern",
        format!("`{text}` matches everything, so the alternatives after it never match"),
    )
    .label(at, "")
    .help("move it to the end")
}

pub(crate) fn wildcard_target(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/pattern", "`_` cannot be the name after `as`")
        .label(at, "")
        .help("write another name, or leave out the `as`")
}

pub(crate) fn wildcard_rest(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/pattern", "`**_` in a mapping pattern")
        .label(at, "")
        .help("leave it out: a mapping pattern ignores other keys anyway")
}

pub(crate) fn fstring_pattern(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/pattern", "an f-string cannot be a pattern")
        .label(at, "")
        .help("compare in a guard: `case text if text == f'..':`")
}

pub(crate) fn repeated_pattern_keyword(at: Location, name: &str, first: Location) -> Diagnostic {
    Diagnostic::error("syntax/pattern", format!("the attribute `{name}` is matched twice"))
        .label(at, "")
        .label(first, "first matched here")
        .help("join the two patterns with `as`, or remove one")
}

pub(crate) fn positional_pattern_after_keyword(at: Location, first: Location) -> Diagnostic {
    Diagnostic::error("syntax/pattern", "a positional pattern after a named one")
        .label(at, "")
        .label(first, "this has a name")
        .help("positional patterns come first: `Point(0, y=1)`")
}

pub(crate) fn pattern_after_rest(at: Location, rest: Location) -> Diagnostic {
    Diagnostic::error("syntax/pattern", "a pattern after the `**` of a mapping pattern")
        .label(at, "")
        .label(rest, "this one must be the last")
        .help("move it to the front")
}

pub(crate) fn name_as_pattern_key(at: Location, name: &str) -> Diagnostic {
    Diagnostic::error("syntax/pattern", "a key of a mapping pattern is a literal or a dotted name")
        .label(at, "")
        .help(format!("write `\"{name}\"` for the string, or a dotted name such as `module.{name}`"))
}

pub(crate) fn pattern_sign(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/pattern", "the only sign that a pattern may have is the `-` of a number")
        .label(at, "")
        .help("write only the number")
}

pub(crate) fn pattern_arithmetic(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/pattern", "a pattern cannot compute")
        .label(at, "")
        .help("only complex numbers are written with a sign: `1 + 2j`; anything else is compared in a guard")
}

/// A whole pattern is an expression; `case` is a suggestion.
pub(crate) fn computed_pattern(at: Location, case: &str) -> Diagnostic {
    Diagnostic::error("syntax/pattern", "a pattern neither computes nor compares")
        .label(at, "")
        .help(format!("take the value and compare it in a guard: `{case}`"))
}

/// A part of a pattern that is an expression; `guard` is the condition to write.
pub(crate) fn computed_part_of_pattern(at: Location, guard: &str) -> Diagnostic {
    Diagnostic::error("syntax/pattern", "a pattern neither computes nor compares")
        .label(at, "")
        .help(format!("write a name here, such as `part`, and compare it in a guard: `if {guard}`"))
}
