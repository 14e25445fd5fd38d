//! Errors of name resolution and of compilation to bytecode.

mod codes;

use kps_syntax::{Diagnostic, Location};

pub use self::codes::ERROR_CODES;

fn at(code: &'static str, message: impl Into<String>, location: Location, label: &str) -> Diagnostic {
    Diagnostic::error(code, message).label(location, label)
}

pub fn return_outside_function(location: Location) -> Diagnostic {
    at("compile/return-outside-function", "`return` outside of a function", location, "")
}

pub fn yield_outside_function(location: Location) -> Diagnostic {
    at("compile/yield-outside-function", "`yield` outside of a function", location, "")
}

pub fn break_outside_loop(keyword: &str, location: Location) -> Diagnostic {
    at("compile/break-outside-loop", format!("`{keyword}` outside of a loop"), location, "")
}

pub fn nonlocal_at_module(location: Location) -> Diagnostic {
    at("compile/nonlocal-at-module", "`nonlocal` outside of a function", location, "")
        .help("names of a module are changed with `global` inside of a function, and plainly outside")
}

pub fn no_nonlocal(name: &str, location: Location) -> Diagnostic {
    at("compile/no-nonlocal", format!("no binding for nonlocal `{name}` found"), location, "")
        .help("assign the name in an enclosing function, or declare it `global`")
}

pub fn declared_after_use(keyword: &str, name: &str, location: Location) -> Diagnostic {
    at(
        "compile/declared-after-use",
        format!("`{name}` is used before its `{keyword}` declaration"),
        location,
        "",
    )
    .help(format!("move `{keyword} {name}` to the start of the function"))
}

pub fn duplicate_parameter(name: &str, location: Location) -> Diagnostic {
    at("compile/duplicate-parameter", format!("parameter `{name}` is there twice"), location, "")
}

pub fn duplicate_keyword(name: &str, location: Location) -> Diagnostic {
    at("compile/duplicate-keyword", format!("keyword argument `{name}` is given twice"), location, "")
}

pub fn cannot_assign(location: Location) -> Diagnostic {
    at("compile/cannot-assign", "cannot assign to this expression", location, "not a name, attribute or item")
}

pub fn cannot_delete(location: Location) -> Diagnostic {
    at("compile/cannot-delete", "cannot delete this expression", location, "not a name, attribute or item")
}

pub fn two_stars(location: Location) -> Diagnostic {
    at("compile/two-stars", "two starred targets in one assignment", location, "one is the most")
}

pub fn lone_star(location: Location) -> Diagnostic {
    at("compile/star-alone", "cannot use a starred expression here", location, "")
        .help("write it in a list or a tuple: `[*items]`")
}

pub fn duplicate_key(location: Location) -> Diagnostic {
    let key = location.source.slice(location.span).to_owned();
    at("compile/duplicate-key", format!("the mapping pattern checks the key {key} twice"), location, "")
        .help("write each key once, with all that its value shall match")
}

pub fn default_except_last(location: Location) -> Diagnostic {
    at("compile/default-except-last", "a bare `except:` must be the last one", location, "")
}

pub fn async_code(location: Location) -> Diagnostic {
    at("compile/async", "`async` and `await` are not part of the language", location, "")
        .help("write a plain function; work on a device is awaited with `eval_await`")
}

pub fn except_star(location: Location) -> Diagnostic {
    at("compile/except-star", "`except*` is not part of the language", location, "")
        .help("write `except` instead")
}

pub fn multiple_inheritance(location: Location) -> Diagnostic {
    at("compile/multiple-inheritance", "a class has one base", location, "the second one")
        .help("hold an object of the other class as an attribute")
}

pub fn class_keyword(name: &str, location: Location) -> Diagnostic {
    at("compile/metaclass", format!("`{name}=` of a class is not part of the language"), location, "")
        .help("use a class decorator instead")
}

pub fn walrus_rebinds(name: &str, location: Location) -> Diagnostic {
    let message = format!("`:=` cannot assign `{name}`, which the comprehension iterates over");
    at("compile/walrus-rebinds", message, location, "").help("assign another name")
}

pub fn walrus_in_class(location: Location) -> Diagnostic {
    let message = "`:=` within a comprehension cannot be used in the body of a class";
    at("compile/walrus-in-class", message, location, "").help("write a loop, or do it in a method")
}

pub fn code_from_text(function: &str, location: Location) -> Diagnostic {
    at("compile/eval", format!("`{function}` is not part of the language"), location, "")
        .help("parse data with `json.loads`, `int` or `float`; choose code with a dict of functions")
}

pub fn too_large(what: &str, location: Location) -> Diagnostic {
    at("compile/too-large", format!("this code has too many {what}"), location, "")
        .help("divide it into several functions")
}

pub fn too_many_blocks(location: Location) -> Diagnostic {
    at("compile/too-many-blocks", "too many blocks within each other", location, "")
        .help("move the inner ones to a function of their own")
}
