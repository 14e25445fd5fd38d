//! Turns glslang's messages into diagnostics: what it found in one sentence, the place, and a suggestion.
//!
//! Only the first error of a line is reported, because others on the line mostly follow from it.

use kps_syntax::{Diagnostic, Diagnostics, Location, Source, Span};

use super::log::{Record, records};
use super::places::Texts;
use super::tokens::{closing, place, tokens};
use super::{functions, suggestions, types};

const CODE: &str = "foreign/glsl";

/// The diagnostics, in the order of the log.
pub(super) fn diagnostics(texts: &Texts, log: &str) -> Diagnostics {
    let mut found = Vec::new();
    let mut lines: Vec<(Option<String>, u32)> = Vec::new();
    for record in records(log) {
        // glslang logs the first for every entry point that is not `main`, but its parser accepts them all. It logs
        // the second without a place, and an error with one afterwards.
        const IGNORED: [&str; 2] =
            ["Source entry point must be", "#version: statement must appear first in es-profile"];
        if IGNORED.iter().any(|start| record.reason.starts_with(start)) {
            continue;
        }
        if let Some(place) = &record.place {
            let line = (place.file.clone(), place.line);
            if lines.contains(&line) {
                continue;
            }
            lines.push(line);
        }
        let is_last = record.token == "#error";
        found.push(diagnostic(texts, &record));
        if is_last {
            break;
        }
    }
    Diagnostics(found)
}

/// A message and an optional help text.
type MessageWithHelp = (String, Option<String>);

fn diagnostic(texts: &Texts, record: &Record) -> Diagnostic {
    let Some(mut location) = texts.location(record) else { return unplaced(texts, record) };
    location.span = widened(record, &location);
    let (message, help) = words(record, &location);
    let diagnostic = Diagnostic::error(CODE, message).label(location, "");
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// glslang names one token of the error: an assignment by its `=`, a constructor by its last parenthesis, an
/// index by its first bracket. The diagnostic points to the whole value, call or index.
fn widened(record: &Record, location: &Location) -> Span {
    let text = location.source.text();
    let Span { start, end } = location.span;
    let all = tokens(text);
    let Some(at) = all.iter().position(|token| token.range.start == start as usize) else {
        return location.span;
    };
    let value_from = |first: usize| {
        let behind = all[first..].iter().position(|token| token.text == ";");
        let value = behind.and_then(|n| place(&all[first..first + n]));
        value.map_or(location.span, |range| Span::new(range.start as u32, range.end as u32))
    };
    match all[at].text {
        "[" => closing(&all, at).map_or(location.span, |last| Span::new(start, all[last].range.end as u32)),
        ")" if record.token == "constructor" => {
            let opening = (0..at).rfind(|first| closing(&all, *first) == Some(at));
            let callee = opening.and_then(|opening| opening.checked_sub(1));
            callee.map_or(location.span, |callee| Span::new(all[callee].range.start as u32, end))
        }
        "=" if conversion(&record.reason).is_some() => value_from(at + 1),
        _ if record.token == "=" && all.get(at + 1).is_some_and(|next| next.text == "=") => {
            value_from(at + 2)
        }
        _ => location.span,
    }
}

fn words(record: &Record, location: &Location) -> MessageWithHelp {
    let (token, reason) = (record.token.as_str(), record.reason.as_str());
    let found = location.source.slice(location.span);
    let before = &location.source.text()[..location.span.start as usize];
    if let Some(rest) = reason.strip_prefix("syntax error, ") {
        let behind = &location.source.text()[location.span.end as usize..];
        return unknown_type(rest, found, behind).unwrap_or_else(|| syntax(rest, found, before));
    }
    if let Some(extensions) = reason.strip_prefix("required extension not requested: ") {
        return known(token, reason, found).unwrap_or_else(|| extension(token, found, extensions));
    }
    if reason.starts_with("wrong operand types") || reason.starts_with("wrong operand type ") {
        return operands(token, reason);
    }
    if let Some((from, to)) = conversion(reason) {
        if let ("%=", true) = (found, from == to) {
            return operands("%", &format!("{reason} of type '{from}'"));
        }
        return (format!("expected `{to}`, found `{from}`"), convert(&from, &to));
    }
    if let Some(rest) = reason.strip_prefix("l-value required") {
        return assignment(rest, before);
    }
    if let Some(letter) = found.chars().next().filter(|letter| !letter.is_ascii()) {
        let help = "names consist of ASCII letters, digits and `_`; comments may have any character";
        return (format!("`{letter}` cannot be used in a shader"), Some(help.to_owned()));
    }
    if reason.starts_with("undeclared identifier") {
        return unknown(token);
    }
    if reason.starts_with("no matching overloaded function found") {
        return call(token, location);
    }
    known(token, reason, found).unwrap_or_else(|| (plain(token, reason), None))
}

/// Errors of the linker have no place in the log.
fn unplaced(texts: &Texts, record: &Record) -> Diagnostic {
    let reason = record.reason.strip_prefix("Linking compute stage: ").unwrap_or(&record.reason);
    let text = texts.source.text();
    let at_function = |diagnostic: Diagnostic, name: &str| match functions::place(text, name) {
        Some(range) => diagnostic.label(texts.source.at(Span::new(range.start as u32, range.end as u32)), ""),
        None => diagnostic,
    };
    let named = |start: &str| {
        let rest = reason.strip_prefix(start)?;
        rest.trim().split('(').next().map(str::to_owned)
    };
    if reason.starts_with("Missing entry point") {
        let name = texts.entry_point;
        return Diagnostic::error(CODE, format!("there is no `{name}`"))
            .label(end_of(texts.source), "")
            .help(format!("write what is to run as `void {name}() {{ .. }}`"));
    }
    if let Some(name) = named("No function definition (body) found:") {
        let diagnostic = Diagnostic::error(CODE, format!("`{name}` is declared but not defined"));
        return at_function(diagnostic, &name).help("define it in this text, with a body `{ .. }`");
    }
    if let Some(name) = named("Recursion detected:") {
        let diagnostic = Diagnostic::error(CODE, format!("`{name}` calls itself: GLSL has no recursion"));
        return at_function(diagnostic, &name).help("write a loop");
    }
    if reason.starts_with("Only one push_constant block") {
        return Diagnostic::error(CODE, "a shader has at most one block of push constants")
            .help("put all members into one block");
    }
    if let Some(reason) = reason.strip_prefix("#version: ") {
        let message = format!("this version of GLSL cannot be compiled: {reason}");
        let diagnostic = Diagnostic::error(CODE, message).help("write `#version 450`");
        let version = text.find("#version").map(|at| Span::new(at as u32, at as u32 + 8));
        return version.map_or(diagnostic.clone(), |span| diagnostic.label(texts.source.at(span), ""));
    }
    Diagnostic::error(CODE, plain(&record.token, reason))
}

fn end_of(source: &Source) -> Location {
    let end = source.text().trim_end().len() as u32;
    source.at(Span::new(end.saturating_sub(1), end))
}

/// A declaration begins with a name that is not a type.
fn unknown_type(rest: &str, found: &str, behind: &str) -> Option<MessageWithHelp> {
    let declares = rest == "unexpected IDENTIFIER"
        && tokens(behind.lines().next()?).first().is_some_and(super::tokens::Token::is_word);
    declares.then(|| {
        let help = suggestions::of_other_languages(found)
            .map_or_else(|| format!("declare it first: `struct {found} {{ .. }};`"), str::to_owned);
        (format!("unknown type `{found}`"), Some(help))
    })
}

/// `unexpected ELSE, expecting COMMA or SEMICOLON`.
fn syntax(rest: &str, found: &str, before: &str) -> MessageWithHelp {
    if rest.contains("unexpected end of file") {
        let help = "close what is open: a `{`, a `(`, or a comment's `/*`";
        return ("the text ends too early".to_owned(), Some(help.to_owned()));
    }
    let expected = rest.split_once("expecting ").map_or("", |(_, expected)| expected);
    let expected: Vec<&str> = expected.split(" or ").map(symbol).filter(|word| !word.is_empty()).collect();
    let message = match expected.split_last() {
        None => format!("unexpected `{found}`"),
        Some((last, [])) => format!("expected {last}, found `{found}`"),
        Some((last, first)) => format!("expected {} or {last}, found `{found}`", first.join(", ")),
    };
    (message, suggestions::instead_of(found, before, &expected).map(str::to_owned))
}

/// A symbol of glslang's grammar, as it is written in GLSL.
fn symbol(name: &str) -> &'static str {
    match name.trim() {
        "COMMA" => "`,`",
        "SEMICOLON" => "`;`",
        "COLON" => "`:`",
        "EQUAL" => "`=`",
        "LEFT_PAREN" => "`(`",
        "RIGHT_PAREN" => "`)`",
        "LEFT_BRACKET" => "`[`",
        "RIGHT_BRACKET" => "`]`",
        "LEFT_BRACE" => "`{`",
        "RIGHT_BRACE" => "`}`",
        "WHILE" => "`while`",
        "IDENTIFIER" => "a name",
        _ => "",
    }
}

fn extension(token: &str, found: &str, extensions: &str) -> MessageWithHelp {
    let extension = extensions.lines().map(str::trim).find(|line| line.starts_with("GL_"));
    let what = match token {
        "string literal" => "a string",
        _ if token.contains(' ') => found,
        _ if token.is_empty() => found,
        token => token,
    };
    if found == "\"" || token == "string literal" {
        let help = "shaders have no strings, except the first argument of `debugPrintfEXT`";
        return ("a string is not allowed here".to_owned(), Some(help.to_owned()));
    }
    (format!("`{what}` needs an extension"), extension.map(enable))
}

fn enable(extension: &str) -> String {
    format!("write `#extension {extension} : require` below `#version`")
}

/// `.. exists that takes a left-hand operand of type 'A' and a right operand of type 'B' (or ..)`.
fn operands(operator: &str, reason: &str) -> MessageWithHelp {
    let mut quoted = Vec::new();
    for part in reason.split(" of type ").skip(1) {
        let end = [" and a right operand", " (or there is"].iter().filter_map(|end| part.find(end)).min();
        quoted.push(types::name(part[..end.unwrap_or(part.len())].trim().trim_matches('\'')));
    }
    let message = match &quoted[..] {
        [left, right] => format!("`{operator}` does not take `{left}` and `{right}`"),
        [one] => format!("`{operator}` does not take `{one}`"),
        _ => format!("`{operator}` does not take these operands"),
    };
    let is_float = |ty: &String| ["float", "double", "vec"].iter().any(|start| ty.starts_with(start));
    let help = match (operator, &quoted[..]) {
        ("&&" | "||" | "^^" | "!", _) => Some("a condition is a `bool`: write `x != 0` for a number"),
        ("%", types) if types.iter().any(is_float) => Some("`%` is for integers: write `mod(x, y)`"),
        ("<" | ">" | "<=" | ">=", types) if types.iter().any(|ty| ty.contains("vec")) => {
            Some("compare vectors component by component: `lessThan(a, b)`, with `all` or `any` around it")
        }
        ("<<" | ">>" | "&" | "|" | "^" | "~", types) if types.iter().any(is_float) => {
            Some("bits of a float are `floatBitsToUint(x)`")
        }
        (_, [left, right]) if left != right => Some("convert one of them to the type of the other"),
        _ => None,
    };
    (message, help.map(str::to_owned))
}

/// The two types of `cannot convert from 'A' to 'B'`.
fn conversion(reason: &str) -> Option<(String, String)> {
    let (_, rest) = reason.split_once("from '")?;
    let (from, to) = rest.split_once("' to '")?;
    Some((types::name(from), types::name(to.trim_end_matches('\''))))
}

fn convert(from: &str, to: &str) -> Option<String> {
    let is_scalar = |ty: &str| ["bool", "int", "uint", "float", "double"].contains(&ty) || ty.ends_with("_t");
    match (is_scalar(from), is_scalar(to)) {
        (true, true) => Some(format!("convert it: `{to}(..)`")),
        (false, true) if from.contains("vec") => Some("take one component: `.x`".to_owned()),
        (true, false) if to.contains("vec") => Some(format!("make a vector of it: `{to}(..)`")),
        (false, true) if from.ends_with(']') => Some("take one element: `[i]`".to_owned()),
        _ if from.contains("vec") && to.contains("vec") => Some(format!("convert it: `{to}(..)`")),
        _ => None,
    }
}

/// ` "NAME" (can't modify a const)`.
fn assignment(rest: &str, before: &str) -> MessageWithHelp {
    let why = rest.split_once("(can't modify ").map_or("", |(_, why)| why.trim_end_matches([')', ' ']));
    let name = rest.split('"').nth(1).map(str::to_owned).or_else(|| assigned(before));
    let what = name.as_ref().map_or("this".to_owned(), |name| format!("`{name}`"));
    let (why, help) = match why {
        "a const" if name.is_some() => {
            ("it is a constant", "leave out `const` where it is declared, or assign to another variable")
        }
        "shader input" => ("it is an input", "put its value into a variable, and change that"),
        "a uniform" => ("a uniform is read-only", "declare the block a `buffer`"),
        "a readonly buffer" => {
            ("its buffer is `readonly`", "leave out `readonly` where the buffer is declared")
        }
        _ => ("it is not a variable", "only a variable, an element or a member is allowed left of `=`"),
    };
    (format!("{what} cannot be assigned to: {why}"), Some(help.to_owned()))
}

/// The variable on the left of an assignment that starts after a text.
fn assigned(before: &str) -> Option<String> {
    let statement = &before[before.rfind([';', '{', '}']).map_or(0, |at| at + 1)..];
    let tokens = tokens(statement);
    let name = tokens.first().filter(|token| token.is_word() && tokens.len() == 1)?;
    Some(name.text.to_owned())
}

fn unknown(name: &str) -> MessageWithHelp {
    if let Some(extension) = suggestions::extension(name) {
        return (format!("`{name}` needs an extension"), Some(enable(extension)));
    }
    let help = match name {
        _ if name.starts_with("gl_") => "shaders of this stage have no such variable".to_owned(),
        _ => suggestions::of_other_languages(name)
            .map_or_else(|| format!("declare it first: `float {name} = ..;`"), str::to_owned),
    };
    (format!("unknown name `{name}`"), Some(help))
}

fn call(name: &str, location: &Location) -> MessageWithHelp {
    let text = location.source.text();
    if functions::is_defined_behind(text, name, location.span.start as usize) {
        let help = "move its definition up, or declare it before: its first line with a `;`";
        return (format!("`{name}` is called before it is defined"), Some(help.to_owned()));
    }
    let mismatch = format!("no overload of `{name}` takes these arguments");
    if let Some(declaration) = functions::declaration(text, name) {
        return (mismatch, Some(format!("it is `{declaration}`")));
    }
    if let Some(help) = suggestions::of_other_languages(name) {
        return (format!("unknown function `{name}`"), Some(help.to_owned()));
    }
    if let Some(extension) = suggestions::extension(name) {
        return (format!("`{name}` needs an extension"), Some(enable(extension)));
    }
    let help = match name.starts_with("texture") || name.starts_with("texel") {
        true => "combine an image and a sampler: `texture(sampler2D(image, look), place)`".to_owned(),
        false => format!(
            "`{name}` is unknown or takes other types: write `1.0` for floats, `1u` for uints, and vectors of one size"
        ),
    };
    (mismatch, Some(help))
}

/// Messages that are reworded, or that get a help text. Each pattern is the start of glslang's message.
fn known(token: &str, reason: &str, found: &str) -> Option<MessageWithHelp> {
    let starts = |start: &str| reason.starts_with(start);
    let (message, help): (String, &str) = match token {
        "#error" => (format!("the text stops here: {reason}"), "`#error` says this: define what it asks for"),
        "#include" if starts("must be followed by a header name") => (
            "`#include` without a file".to_owned(),
            "write the file's path in quotes: `#include \"file.glsl\"`",
        ),
        "#include" => {
            let name = reason.rsplit(": ").next().unwrap_or(reason);
            (
                format!("cannot find the file `{name}`"),
                "a path in quotes is looked for beside the file that includes it",
            )
        }
        _ if starts("invalid directive: ") => (
            format!("unknown directive `#{}`", reason.trim_start_matches("invalid directive: ")),
            "there are `#version`, `#extension`, `#define`, `#undef`, `#if`, `#ifdef`, `#else`, `#endif`, `#include`",
        ),
        "macro expansion" if starts("Too few args in Macro") || starts("Too many args in Macro") => {
            let name = reason.split_whitespace().last().unwrap_or_default();
            let more = if starts("Too few") { "more" } else { "fewer" };
            (format!("the macro `{name}` takes {more} arguments"), "give one for each of its parameters")
        }
        "explicit typecast" => {
            ("C's casts are not part of GLSL".to_owned(), "a conversion is written `float(x)`")
        }
        "discard" => ("`discard` is for fragment shaders".to_owned(), "write `return;`"),
        "writeonly" if starts("argument cannot drop memory qualifier") => {
            ("this image is `writeonly`".to_owned(), "leave out `writeonly` where it is declared")
        }
        "readonly" if starts("argument cannot drop memory qualifier") => {
            ("this image is `readonly`".to_owned(), "leave out `readonly` where it is declared")
        }
        _ if starts("sampler/image types can only be used in uniform variables") => (
            "images and samplers are uniforms or parameters".to_owned(),
            "name the image itself where it is used, or hand it to a function",
        ),
        _ if reason.starts_with("bad digit in") => (
            format!("`{found}` is not a number"),
            "digits are 0 to 7 after `0`, and 0 to 9 and a to f after `0x`",
        ),
        _ if starts("missing #endif") => ("an `#if` is not closed".to_owned(), "write `#endif`"),
        _ if starts("boolean expression expected") => {
            ("a condition is a `bool`".to_owned(), "write `x != 0` for a number")
        }
        _ if starts("redefinition") => (
            format!("`{token}` is already declared"),
            "give it another name; without a type, it is assigned to",
        ),
        _ if starts("function already has a body") => {
            (format!("`{token}` is already defined"), "give it another name or other parameters")
        }
        _ if starts("uniform/buffer blocks require layout(binding=X)") => {
            ("this block has no binding".to_owned(), "write `layout(set = 0, binding = 0)` before it")
        }
        _ if starts("sampler/texture/image requires layout(binding=X)") => {
            ("this resource has no binding".to_owned(), "write `layout(set = 0, binding = 0)` before it")
        }
        _ if starts("non-opaque uniforms outside a block") => (
            "a uniform that is a number must be in a block".to_owned(),
            "write `layout(push_constant) uniform Numbers { float k; };`",
        ),
        _ if starts("ambiguous best function") => (
            format!("several overloads of `{token}` take these arguments"),
            "write literals with their types, `1.0` and `1u`, or convert an argument: `float(x)`",
        ),
        _ if starts("break statement only allowed") => {
            ("`break` is outside of a loop and of a `switch`".to_owned(), "`return;` ends a function")
        }
        _ if starts("continue statement only allowed") => {
            ("`continue` is outside of a loop".to_owned(), "`return;` ends a function")
        }
        _ if starts("not allowed in nested scope") => (
            format!("`{token}` cannot be declared in a function"),
            "declare it above `main`; a variable of the function is `float x;`",
        ),
        _ if starts("array size must be a constant") => (
            "the length of an array is a constant integer".to_owned(),
            "write the largest length that is needed: `float x[64];`",
        ),
        _ if starts("array size must be a positive") => {
            ("an array has at least one element".to_owned(), "write a length of 1 or more")
        }
        _ if starts("no such field in structure") => {
            (format!("there is no member `{token}`"), "write a member that the struct declares")
        }
        _ if starts("vector swizzle selection out of range") || starts("illegal vector field selection") => (
            format!("there is no component `{token}`"),
            "they are `x`, `y`, `z` and `w`, as many as the vector has, or `rgba`, or `stpq`",
        ),
        _ if starts("incomplete method syntax") => (format!("`{token}` is a method"), "write `.length()`"),
        _ if starts("left of '[' is not of type") => (
            format!("`{token}` has no elements"),
            "arrays, vectors and matrices have; a texel is `imageLoad(image, ivec2(x, y))`",
        ),
        _ if starts("scalar integer expression required") => {
            ("an index is an integer".to_owned(), "convert it: `int(x)`")
        }
        _ if reason.contains("index out of range '") => {
            let index = reason.split('\'').nth(1).unwrap_or_default();
            (format!("there is no element {index}"), "the first element has the index 0")
        }
        _ if starts("not enough data provided for construction") => {
            ("too few values for this type".to_owned(), "give one for each component, or a single scalar")
        }
        _ if starts("too many arguments") => {
            ("too many values for this type".to_owned(), "leave some out, or make a larger type")
        }
        _ if starts("Number of constructor parameters does not match") => (
            "a struct is made of one value for each member".to_owned(),
            "give as many values as it has members",
        ),
        _ if starts("void function cannot return a value") => (
            "this function returns nothing".to_owned(),
            "leave out the value, or write its type in place of `void`",
        ),
        _ if starts("cannot convert return value") => (
            "this is not the type that the function returns".to_owned(),
            "convert the value, or change the type in front of the function's name",
        ),
        _ if starts("entry point cannot return a value") => {
            ("`main` returns nothing".to_owned(), "write `void main()`")
        }
        _ if token == "main" && starts("function cannot take any parameter") => (
            "`main` has no parameters".to_owned(),
            "write `void main()`; which invocation it is says `gl_GlobalInvocationID`",
        ),
        _ if starts("global storage output qualifier cannot be used in a compute shader") => (
            "compute shaders have no outputs".to_owned(),
            "write to a buffer: `layout(set = 0, binding = 0) buffer Output { float y[]; };`",
        ),
        _ if starts("global storage input qualifier cannot be used in a compute shader") => (
            "compute shaders have no inputs".to_owned(),
            "read a buffer: `layout(set = 0, binding = 0) buffer Input { float x[]; };`",
        ),
        _ if starts("initializer can only be a null initializer") => (
            "shared memory has no initial value".to_owned(),
            "store one at the start of `main`, and write `barrier();` after it",
        ),
        _ if starts("condition must be a scalar integer") => {
            ("a `switch` takes an integer".to_owned(), "convert the value, `int(x)`, or write an `if`")
        }
        _ if starts("duplicated value") => {
            ("another case has this value".to_owned(), "leave one of them out")
        }
        _ if starts("illegal use of type 'void'") => {
            ("a variable cannot be `void`".to_owned(), "write the type of its values: `float x;`")
        }
        _ if starts("numeric literal too big") => (
            format!("`{found}` does not fit into 32 bits"),
            "a 64-bit literal ends with `l` or `ul` and needs `GL_EXT_shader_explicit_arithmetic_types_int64`",
        ),
        _ if starts("float literal needs a decimal point") => {
            ("a float needs a point".to_owned(), "write `1.0`, or `1.0f`")
        }
        _ if starts("specialization-constant id already used") => {
            ("another specialisation constant has this id".to_owned(), "give each a number of its own")
        }
        _ if starts("must occur first in shader") && found.ends_with(" es") => (
            "`#version` of GLSL ES is not the first line".to_owned(),
            "move it up: not even a comment may precede it",
        ),
        _ if starts("must occur first in shader") => {
            ("`#version` is not the first line".to_owned(), "move it up: nothing but comments may precede it")
        }
        _ if token == "local_size" && starts("can only apply to 'in'") => (
            "the size of the workgroup is a layout of `in`".to_owned(),
            "write `layout(local_size_x = 64) in;`",
        ),
        _ if starts("can only be applied to a scalar") => {
            (format!("`{token}` is for scalars"), "write one specialisation constant for each component")
        }
        _ if starts("must be at least 1") => {
            (format!("`{token}` is at least 1"), "write `layout(local_size_x = 64) in;`")
        }
        _ if starts("unrecognized layout identifier") || starts("there is no such layout identifier") => (
            format!("unknown layout `{token}`"),
            "layouts are `set = 0`, `binding = 0`, `std430`, `local_size_x = 64`, `push_constant`, ..",
        ),
        _ if starts("global const initializers must be constant") => (
            "the value of a `const` outside of functions is known at compile time".to_owned(),
            "compute it in the function that uses it",
        ),
        "sampler/image" if starts("cannot construct this type") => {
            (format!("`{found}` is not a function"), "write `texture(sampler2D(image, look), place)`")
        }
        _ => return None,
    };
    Some((message, Some(help.to_owned())))
}

/// glslang's message in the style of kps: lower case, backquotes, no period.
fn plain(token: &str, reason: &str) -> String {
    let mut reason = reason.lines().map(str::trim).collect::<Vec<_>>().join(", ");
    if let Some(first) = reason.chars().next().filter(|_| !reason.starts_with("GL_")) {
        reason.replace_range(..first.len_utf8(), &first.to_lowercase().to_string());
    }
    let reason = reason.trim_end_matches(['.', ' ']).replace('\'', "`");
    match token {
        "" => reason,
        token => format!("`{}`: {reason}", token.replace('\'', "")),
    }
}
