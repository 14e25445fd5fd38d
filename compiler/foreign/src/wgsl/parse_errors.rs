//! Rewords the errors of naga's front end for WGSL, and adds suggestions.

use kps_syntax::{Diagnostic, Source, Span};
use naga::front::wgsl::ParseError;

use super::suggestions;
use super::{composite_comparisons, constant_errors};
use crate::errors;

const CODE: &str = "foreign/wgsl";

/// A message with what to write instead.
type MessageWithHelp = (String, Option<String>);

pub(super) fn diagnostic(source: &Source, error: &ParseError) -> Diagnostic {
    let place = error
        .labels()
        .find(|(span, _)| span.is_defined())
        .map(|(span, _)| errors::location(source, span).span);
    let found = place.map_or("", |span| source.slice(span));
    let (message, own_help) = words(source, error, found);
    let mut diagnostic = Diagnostic::error(CODE, message);
    if place.is_none()
        && let Some(span) = guessed_place(source, error.message())
    {
        diagnostic = diagnostic.label(errors::location(source, span), "");
    }
    for (span, text) in error.labels().filter(|(span, _)| span.is_defined()) {
        diagnostic = diagnostic.label(errors::location(source, span), label(text));
    }
    // The first label is where naga stopped.
    let instead =
        place.and_then(|span| suggestions::instead_of(found, source.slice(Span::new(0, span.start))));
    match instead.or_else(|| suggestions::about(error.message())).or(own_help) {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// A guess at the place of an error for which naga has none: the first match in the text.
fn guessed_place(source: &Source, message: &str) -> Option<naga::Span> {
    let lower = message.to_lowercase();
    if let Some(operands) = lower.strip_prefix("incompatible operands: logical") {
        return errors::word(source, &[if operands.starts_with("and") { "&&" } else { "||" }]);
    }
    if lower.starts_with("invalid sub-access") || lower.starts_with("invalid access") {
        return index_of_image(source);
    }
    if composite_comparisons::compared(message).is_some() {
        let operator = if message.contains("NotEqual") { "!=" } else { "==" };
        let is_only = source.text().matches(operator).count() == 1;
        return errors::word(source, &[operator]).filter(|_| is_only);
    }
    let index = lower.strip_prefix("index ")?.split(' ').next()?;
    errors::word(source, &[&format!("[{index}]")])
}

/// The first place where an image is indexed.
fn index_of_image(source: &Source) -> Option<naga::Span> {
    let declarations = source.text().split("var ").skip(1);
    let images = declarations.filter_map(|rest| {
        let (name, ty) = rest.split_once(':')?;
        ty.trim_start().starts_with("texture_").then(|| format!("{}[", name.trim()))
    });
    images.into_iter().find_map(|index| errors::word(source, &[&index]))
}

/// naga's label, or nothing if it repeats the message.
fn label(text: &str) -> String {
    if let Some(ty) = text.strip_prefix("this expression has type ") {
        return format!("this is {}", quoted(ty));
    }
    if let Some(rest) = text.strip_prefix("a value ") {
        let ty = rest.split("of type ").nth(1).and_then(|rest| rest.split(" is required").next());
        return ty.map_or_else(String::new, |ty| format!("{} belongs here", quoted(ty)));
    }
    if let Some(ty) = text.strip_prefix("argument #").and_then(|rest| rest.split(" has type ").nth(1)) {
        return format!("this is {}", quoted(ty.trim_matches('`')));
    }
    let kept = ["evaluates to", "uses ", "ending the cycle"];
    match text {
        "this is an immutable binding" => "it is declared here".to_owned(),
        _ if text.starts_with("previous definition") => "it is declared here".to_owned(),
        _ if kept.iter().any(|start| text.starts_with(start)) => of_types(text),
        _ => String::new(),
    }
}

fn words(source: &Source, error: &ParseError, found: &str) -> MessageWithHelp {
    let message = error.message();
    if let Some((message, help)) = constant_errors::plain(message, found) {
        return (message, help.map(str::to_owned));
    }
    if let Some((expected, _)) =
        message.strip_prefix("expected ").and_then(|rest| rest.split_once(", found "))
    {
        return unexpected(source, expected, found);
    }
    if let Some(words) = of_types_that_differ(message).or_else(|| of_calls(error, found)) {
        return words;
    }
    if message == "invalid left-hand side of assignment" {
        return of_assignments(error, found);
    }
    if let Some(words) = of_names(message, found).or_else(|| of_places(message)) {
        return words;
    }
    let notes: Vec<&str> = error.notes().filter(|note| !note.contains("://")).collect();
    let help = (!notes.is_empty()).then(|| errors::plain(&of_types(&notes.join("; "))));
    (errors::plain(&of_types(message)), help)
}

/// An unexpected token.
fn unexpected(source: &Source, expected: &str, found: &str) -> MessageWithHelp {
    if found.starts_with("/*") {
        return ("this comment is not closed".to_owned(), Some("write `*/` at its end".to_owned()));
    }
    let described = match found.trim() {
        "" => "the end of the text".to_owned(),
        found => format!("`{found}`"),
    };
    let expected = match expected {
        _ if expected.starts_with("global item") => "a declaration",
        _ if expected.starts_with("LHS expression") => "something that can be assigned to",
        "identifier" => "a name",
        "expression" => "a value",
        "statement" => "a statement",
        "assignment or increment/decrement" => "an assignment, or a call",
        "if" => "`if`",
        "variable access" => "a variable",
        _ => expected,
    };
    let expected = expected.strip_prefix("operation (").map_or(expected, |rest| rest.trim_end_matches(')'));
    if (expected, found) == ("a declaration", "}") {
        let help = suggestions::declaration_in_other_languages(source.text(), found);
        return ("this `}` closes nothing".to_owned(), help.map(str::to_owned));
    }
    let help = match (expected, found) {
        (_, "") => Some("close what is open: a `{`, a `(`, or a comment's `/*`"),
        ("a declaration", found) => suggestions::declaration_in_other_languages(source.text(), found),
        ("`{`", _) => Some("the body of `if`, `for` and `while` is enclosed in braces"),
        ("`,`", ";") => Some("members of a struct are parted by `,`"),
        ("`(`", _) => Some("write `for (var i = 0; i < n; i++) { .. }`"),
        ("a value" | "a statement", "\"" | "'") => {
            Some("shaders have no strings: use numbers to distinguish cases")
        }
        ("a statement", "#") => Some("a comment is written `// ..`, and there is no preprocessor"),
        ("a statement", _) => Some("a value by itself does nothing: write `_ = ..;`"),
        ("`,`", "=") => Some("parameters have no values of their own: hand one over at each call"),
        ("`:`", _) => Some("write the type after the name: `x: f32`"),
        ("`=`", ";") => Some(
            "`let` and `const` have a value: `let x = 1.0;`; write `var x: f32;` for one that gets it later",
        ),
        ("`]`", _) => Some("close the index: `a[i]`"),
        ("`)`", _) => Some("close what is open with `)`"),
        ("`;`", ",") => Some("the parts of a `for` end with `;`: `for (var i = 0; i < n; i++)`"),
        ("`;`", "=") => Some(
            "only a variable, an element or a member is allowed left of `=`, and an assignment has no value",
        ),
        ("`;`", "as") => Some("a conversion is written `f32(x)`"),
        ("`;`", "{") => Some("a struct is made by its name: `S(1.0, 2.0)`"),
        ("`;`", found)
            if found.starts_with(['b', 'o', 'x']) && found[1..].chars().all(|one| one.is_ascii_digit()) =>
        {
            Some("numbers are written with the digits 0 to 9, or as `0x1f`")
        }
        ("`;`", _) => Some("end the statement before it with `;`"),
        ("an assignment, or a call", ";") => {
            Some("write `_ = ..;` for a value that is not used, and `f();` for a call")
        }
        ("an assignment, or a call", _) => Some("assign a value, `x = ..;`, or call a function, `f();`"),
        ("a variable", _) => Some("this is a function: call it, `f(..)`"),
        _ => None,
    };
    (format!("expected {expected}, found {described}"), help.map(str::to_owned))
}

/// A value of another type than expected.
fn of_types_that_differ(message: &str) -> Option<MessageWithHelp> {
    if let Some(rest) = message.strip_prefix("automatic conversions cannot convert ") {
        let rest = rest.strip_prefix("elements of ").unwrap_or(rest);
        let (from, to) = rest.split_once(" to ")?;
        let help = format!("convert it: `{}(..)`", to.trim_matches('`'));
        return Some((format!("{} does not become {} by itself", of_types(from), of_types(to)), Some(help)));
    }
    if let Some(rest) = message.strip_prefix("the type of `") {
        let (name, rest) = rest.split_once("` is expected to be `")?;
        let (wanted, given) = rest.split_once("`, but got `")?;
        let given = given.trim_end_matches('`');
        let help = format!("convert the value: `{wanted}(..)`");
        return Some((format!("`{name}` is `{wanted}`, and its value is {}", quoted(given)), Some(help)));
    }
    if message == "failed to convert expression to a concrete type" {
        let help = "convert one of them: `f32(x)`, `u32(x)`".to_owned();
        return Some(("the parts of this have different types".to_owned(), Some(help)));
    }
    if let Some((message, help)) = composite_comparisons::compared(message) {
        return Some((message.to_owned(), Some(help.to_owned())));
    }
    let operands = message.to_lowercase();
    let operands = operands.strip_prefix("incompatible operands: ")?;
    let help = match operands.starts_with("logical") {
        true => "`&&` and `||` take a `bool` on both sides: write `x != 0`",
        false => "convert one of them",
    };
    Some(("an operation does not take values of these types".to_owned(), Some(help.to_owned())))
}

/// The left side of `=` is not assignable.
fn of_assignments(error: &ParseError, found: &str) -> MessageWithHelp {
    let notes: String = error.notes().collect();
    let help = match () {
        _ if notes.contains("swizzles") => {
            let help = "assign one after the other: `v.x = ..; v.y = ..;`";
            return ("several components cannot be assigned at once".to_owned(), Some(help.to_owned()));
        }
        _ if notes.contains("declaring") => format!("declare it with `var`: `var {found} = ..;`"),
        _ => "variables are, which are declared with `var`, and their elements and members".to_owned(),
    };
    (format!("`{found}` cannot be assigned to"), Some(help))
}

/// Arguments that a function does not take.
fn of_calls(error: &ParseError, found: &str) -> Option<MessageWithHelp> {
    let message = error.message();
    if let Some(counts) = message.strip_prefix("wrong number of arguments: expected ") {
        let (expected, given) = counts.split_once(", found ")?;
        let are = if given == "1" { "is" } else { "are" };
        let arguments = if expected == "1" { "argument" } else { "arguments" };
        let message = format!("`{found}` takes {expected} {arguments}, and {given} {are} given");
        return Some((message, suggestions::call(found, expected)));
    }
    if message.starts_with("too many arguments passed to") {
        let notes: String = error.notes().collect();
        let n = notes.split("at most ").nth(1)?.split(' ').next()?.to_owned();
        let arguments = if n == "1" { "argument" } else { "arguments" };
        return Some((format!("`{found}` takes {n} {arguments} at most"), Some("leave this out".to_owned())));
    }
    if message.starts_with("unused return value") {
        let help = format!("write `_ = {found}(..);`, or leave it out");
        return Some((format!("nothing is done with the result of `{found}`"), Some(help)));
    }
    if message.starts_with("wrong type passed as argument") || message.starts_with("inconsistent type passed")
    {
        let at = message.split('#').nth(1)?.split(' ').next()?;
        let allowed = error.notes().filter_map(|note| note.strip_prefix("allowed type: "));
        let types: Vec<String> = allowed.filter(|ty| !ty.contains('{')).map(|ty| format!("`{ty}`")).collect();
        let (shown, more) = types.split_at(types.len().min(4));
        let others = if more.is_empty() { "" } else { ", .." };
        let help = (!shown.is_empty()).then(|| format!("it takes {}{others}", shown.join(", ")));
        return Some((format!("`{found}` does not take this as its argument {at}"), help));
    }
    message
        .starts_with("type mismatch for reject and accept values")
        .then(|| ("both values of `select` have one type".to_owned(), Some("convert one of them".to_owned())))
}

/// A name that is unknown, or not allowed for the item.
fn of_names(message: &str, found: &str) -> Option<MessageWithHelp> {
    let (what, help) = match message {
        _ if message.starts_with("no definition in scope") => {
            let help = format!("declare it first: `let {found} = ..;`, `var`, or `fn` for a function");
            return Some((format!("unknown name `{found}`"), Some(help)));
        }
        _ if message.starts_with("invalid field accessor") => {
            let are_components = found.chars().all(|name| "xyzwrgba".contains(name));
            let help = match are_components {
                true => {
                    "a vector has `x`, `y`, `z` and `w`, as many as it is long; a struct has the members that it declares"
                }
                false => "write a member that its struct declares",
            };
            return Some((format!("there is no member `{found}` here"), Some(help.to_owned())));
        }
        _ if message.starts_with("redefinition of") => {
            let help = "choose another name; to change a variable, leave out `var` and `let`";
            return Some((format!("`{found}` is declared already"), Some(help.to_owned())));
        }
        "Identifier can't be `_`" => {
            ("cannot be the name of a variable", "write `_ = value;` for one that is not used")
        }
        _ if message.ends_with("is a reserved keyword") => {
            ("is a word that WGSL keeps for itself", "choose another name")
        }
        _ if message.starts_with("Identifier starts with a reserved prefix") => {
            ("cannot be a name: it begins with `__`", "choose another name")
        }
        _ if message.starts_with("declaration of `") && message.ends_with("is recursive") => {
            ("is made of itself", "a function may not call itself, nor a struct contain itself")
        }
        _ if message.starts_with("declaration of `") && message.ends_with("is cyclic") => (
            "is made of itself, by way of others",
            "functions may not call themselves, nor each other in a circle: write a loop",
        ),
        _ if message.starts_with("unknown builtin") => (
            "is not known as a built-in value",
            "those of compute shaders are `global_invocation_id`, `local_invocation_id`, `workgroup_id`, ..",
        ),
        _ if message.starts_with("unknown address space") => (
            "is not known as a kind of memory",
            "they are `storage`, `uniform`, `workgroup`, `private` and `immediate`",
        ),
        _ if message.starts_with("unknown attribute") => (
            "is not known as an attribute",
            "there are `@compute`, `@workgroup_size(64)`, `@group(0)`, `@binding(0)`, `@builtin(..)`, `@id(0)`, ..",
        ),
        _ if message.starts_with("declaration of `")
            && message.ends_with("needs a type specifier or initializer") =>
        {
            let name = message.split('`').nth(1)?;
            let help = format!("write `var {name}: f32;`, or `var {name} = ..;`");
            return Some((format!("`{name}` has neither a type nor a value"), Some(help)));
        }
        _ if message.starts_with("numeric literal not representable by target type") => {
            let help = "write a smaller number, or a type that holds it, such as `i64` or `f32`";
            return Some((format!("`{found}` is more than its type holds"), Some(help.to_owned())));
        }
        _ if message.starts_with("invalid numeric literal format") => {
            ("is no number", "write it without a 0 in front: `7`, `0.5`, or `0x1f`")
        }
        _ if message.starts_with("local declaration cannot be called") => {
            ("is a variable here, and hides the function of that name", "give the variable another name")
        }
        _ if message.starts_with("unknown storage format") => (
            "is not known as a format of texels",
            "there are `rgba8unorm`, `rgba16float`, `rgba32float`, `r32float`, `r32uint`, ..",
        ),
        _ if message.starts_with("unknown enable-extension")
            || message.starts_with("unknown language extension") =>
        {
            ("is not known as an extension", "leave it out")
        }
        _ if message.contains("needs a template argument specified") => {
            return Some((format!("`{found}` does not say all"), Some(suggestions::whole_type(found))));
        }
        "unexpected expression" => (
            "is not allowed here",
            "the accesses of a buffer are `read` and `read_write`: `var<storage, read_write>`",
        ),
        _ if message.starts_with("invalid address space for local variable") => {
            let help =
                "write `var<workgroup> ..` and `var<private> ..` outside, and `var x: f32;` in a function";
            return Some(("a function has no such memory of its own".to_owned(), Some(help.to_owned())));
        }
        _ if message.starts_with("unknown access") => {
            ("is not known as an access", "they are `read`, `write` and `read_write`")
        }
        _ => return None,
    };
    Some((format!("`{found}` {what}"), Some(help.to_owned())))
}

/// An item that is not allowed in its place.
fn of_places(message: &str) -> Option<MessageWithHelp> {
    let lower = message.to_lowercase();
    if let Some((index, _)) =
        lower.strip_prefix("index ").and_then(|rest| rest.split_once(" is out of bounds"))
    {
        let help = "the first element has the index 0".to_owned();
        return Some((format!("there is no element {index}"), Some(help)));
    }
    let (message, help) = match message {
        "expected global declaration, but found a global directive" => {
            ("directives come before all declarations", "put it at the top of the text")
        }
        "the `wgpu_binding_array` enable extension is not enabled" => {
            ("arrays of buffers, images and samplers are not known here", "bind each by itself")
        }
        "workgroup size is missing on compute shader entry point" => {
            ("this entry point does not say the size of its workgroups", "write `@workgroup_size(64)`")
        }
        _ if message.starts_with("variable ") && message.ends_with(" attribute") => {
            ("a resource has both a group and a binding", "write `@group(0) @binding(0)` before it")
        }
        _ if message.starts_with("increment/decrement operation requires") => (
            "`++` and `--` change variables of the types `i32` and `u32`",
            "declare it with `var`; for a float, write `x += 1.0;`",
        ),
        _ if message.starts_with("matrix scalar type must be") => {
            ("matrices are of floats", "write `mat2x2<f32>`")
        }
        _ if message.starts_with("textureStore can only be applied") => (
            "this image cannot be stored to",
            "declare it `texture_storage_2d<rgba8unorm, write>`, with the format of its texels",
        ),
        "invalid `switch` case selector value" => (
            "this is no value of the type that the `switch` is over",
            "write each as the value that is tested is: `1`, or `1u` for an unsigned one",
        ),
        "invalid `switch` selector" => ("a `switch` is over an integer", "convert the value: `i32(x)`"),
        "A break if is only allowed in a continuing block" => {
            ("`break if` ends a `continuing` block", "write `if condition { break; }`")
        }
        "array element count must be positive (> 0)" => {
            ("an array has at least one element", "write its length, or none at the end of a buffer")
        }
        "pipeline constant ID must be between 0 and 65535 inclusive" => {
            ("the id of an override is 0 to 65535", "choose a smaller one")
        }
        "the operand of the `&` operator must be a reference" => {
            ("`&` takes a variable, an element or a member", "declare it with `var`")
        }
        "the operand of the `*` operator must be a pointer" => {
            ("`*` in front of a value takes a pointer", "a power is `pow(x, y)`")
        }
        "cannot take the address of a vector component" => {
            ("a component of a vector has no address", "put it into a variable, and take that one's")
        }
        _ if message.starts_with("must be a const-expression that resolves to a concrete integer") => {
            ("a whole number that is known belongs here", "write it as a number, or make it a `const`")
        }
        _ if message.starts_with("must be a const-expression that resolves to a `bool`") => {
            ("a condition that is known belongs here", "compare constants: `N > 0`")
        }
        _ if message.starts_with("must be non-negative") => {
            ("a number that is not negative belongs here", "write 0 or more")
        }
        _ if message.starts_with("Invalid sub-access") || message.starts_with("Invalid access") => (
            "something is indexed that has no elements",
            "arrays, vectors and matrices have some; a texel is `textureLoad(image, vec2<i32>(x, y), 0)`",
        ),
        _ if message.starts_with("unused expressions for template") => {
            ("there is more between `<` and `>` than this type takes", "leave it out")
        }
        _ => return None,
    };
    Some((message.to_owned(), Some(help.to_owned())))
}

/// naga's literal types, described in plain words.
fn of_types(text: &str) -> String {
    let text =
        text.replace("`{AbstractFloat}`", "a float literal").replace("`{AbstractInt}`", "an integer literal");
    text.replace("{AbstractFloat}", "a float literal").replace("{AbstractInt}", "an integer literal")
}

fn quoted(ty: &str) -> String {
    of_types(&format!("`{ty}`"))
}
