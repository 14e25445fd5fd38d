//! What naga's front end for GLSL finds, in our words.

use kps_syntax::{Diagnostic, Diagnostics, Location, Source};
use naga::front::glsl::{Error, ErrorKind, ExpectedToken};

use super::tokens::tokens;
use super::{arrays, functions, instead, limits, loops, span};
use crate::{errors, evaluated, wholes};

/// Where something that is not known here is told by name, with a code of its own, or the preprocessor stops, that is
/// why the rest was not understood.
pub(super) fn diagnostics(source: &Source, errors: &[Error]) -> Diagnostics {
    let stopped: Vec<Error> = errors.iter().filter(|error| stops(error)).take(1).cloned().collect();
    let errors = if stopped.is_empty() { errors } else { &stopped };
    let told: Vec<Diagnostic> = errors
        .iter()
        .filter(|error| !is_of_next(source, error, errors))
        .map(|error| diagnostic(source, error))
        .collect();
    let is_named = |one: &Diagnostic| one.code != CODE;
    if told.iter().any(is_named) {
        return Diagnostics(told.into_iter().filter(is_named).collect());
    }
    odd_character(source).map_or(Diagnostics(told), Diagnostics::from)
}

/// Whether a name is held for a second declaration because of what stands behind it, where that is a mistake, too.
fn is_of_next(source: &Source, error: &Error, errors: &[Error]) -> bool {
    let end = |error: &Error| error.meta.to_range().map(|place| place.end);
    let is_next = |other: &&Error| {
        let start = other.meta.to_range().map(|place| place.start);
        let between = end(error).zip(start).and_then(|(end, start)| source.text().get(end..start));
        matches!(other.kind, ErrorKind::InvalidToken(..))
            && between.is_some_and(|text| text.trim().is_empty())
    };
    matches!(error.kind, ErrorKind::VariableAlreadyDeclared(_)) && errors.iter().find(is_next).is_some()
}

/// Whether the preprocessor stops for good, and not at the end of a literal that it does not know.
fn stops(error: &Error) -> bool {
    match &error.kind {
        ErrorKind::PreprocessorError(reason) => {
            let reason = format!("{reason:?}");
            !reason.starts_with("NotSupported") && reason != "UnexpectedCharacter"
        }
        _ => false,
    }
}

/// A character that no word or mark of GLSL has, of which naga does not tell the place.
fn odd_character(source: &Source) -> Option<Diagnostic> {
    const MARKS: &str = "+-*/%<>=!&|^~?:;,.()[]{}#";
    let tokens = tokens(source.text());
    let odd = tokens.iter().find(|token| !token.is_word() && !MARKS.contains(token.text))?;
    Some(errors::odd_character(odd.text, errors::location(source, span(odd.range.clone()))))
}

fn diagnostic(source: &Source, error: &Error) -> Diagnostic {
    let location = errors::location(source, error.meta);
    let found = source.slice(location.span);
    let plain = |message: &str| match error.meta.is_defined() {
        true => errors::told(CODE, message).label(location.clone(), ""),
        false => errors::told(CODE, message),
    };
    if error.kind.to_string().starts_with("Unexpected override-expression") {
        return errors::specialised_here(location);
    }
    match &error.kind {
        ErrorKind::InvalidToken(_, expected) => {
            limit(source, error.meta).unwrap_or_else(|| unexpected(source, expected, location))
        }
        ErrorKind::UnknownVariable(name) => unknown("variable", name, source, error.meta),
        ErrorKind::UnknownType(name) => unknown("type", name, source, error.meta),
        ErrorKind::UnknownField(name) => plain(&format!("there is no member `{name}` here"))
            .help("write a member that its struct declares; how long an array is tells `.length()`"),
        ErrorKind::UnknownLayoutQualifier(name) => {
            let beyond = |help| errors::beyond_glsl(name, help, location.clone());
            limits::instead_of(name)
                .map(beyond)
                .unwrap_or_else(|| plain(&format!("the layout qualifier `{name}` is not known here")))
        }
        ErrorKind::InvalidVersion(version) => {
            plain(&format!("GLSL version {version} is not known here")).help("write `#version 450`")
        }
        ErrorKind::InvalidProfile(profile) => {
            plain(&format!("the profile `{profile}` is not known here")).help("write `#version 450`")
        }
        ErrorKind::VariableAlreadyDeclared(name) => plain(&format!("`{name}` is declared already"))
            .help("give it another name; without a type, it is assigned to"),
        ErrorKind::NotImplemented("variable qualifier") => limit(source, error.meta).unwrap_or_else(|| {
            plain(&format!("`{found}` is no type"))
                .help("write the type before the name: `const float k = 1.0;`")
        }),
        ErrorKind::SemanticError(message) if message.starts_with("Locals cannot have a storage") => {
            errors::told(CODE, &format!("`{found}` cannot stand in a function"))
                .label(location.clone(), "")
                .help("declare it outside, above `main`; a variable of the function's own is `float x;`")
        }
        ErrorKind::NotImplemented(what) => plain(&format!("{what} is not known here")),
        ErrorKind::UnsupportedMatrixWithTwoRowsInStd140 { .. } => {
            match arrays::is_in_struct(source.text(), location.span.start as usize) {
                true => errors::narrow_matrix_in_struct(location),
                false => errors::narrow_matrix(location),
            }
        }
        ErrorKind::PreprocessorError(error) => preprocessor(source, location, &format!("{error:?}")),
        ErrorKind::EndOfFile => errors::told(CODE, "the text ends too early")
            .label(location, "")
            .help("close what is open: a `{`, a `(`, or a comment's `/*`"),
        ErrorKind::SemanticError(message) => semantic(source, error, message),
        other => plain(&other.to_string()),
    }
}

const CODE: &str = "foreign/glsl";

/// Something else stands in a place than can.
fn unexpected(source: &Source, expected: &[ExpectedToken], location: Location) -> Diagnostic {
    let found = source.slice(location.span).to_owned();
    let told = |message: &str| {
        let told = errors::told(CODE, message).label(location.clone(), "");
        let before = &source.text()[..location.span.start as usize];
        let expected: Vec<String> = expected.iter().map(expected_words).collect();
        match instead::of(&found, before, &expected) {
            Some(help) => told.help(help),
            None => told,
        }
    };
    match expected {
        [ExpectedToken::Eof] if found == "}" => {
            told("this `}` closes nothing").help("leave it out, or write a `{` before")
        }
        [ExpectedToken::Eof] => {
            let message = told(&format!("expected a declaration, found `{found}`"));
            match limits::of_other_languages(&found) {
                Some(help) => message.help(help),
                None => message
                    .help("outside of functions are declarations alone: put what is to run into `main`"),
            }
        }
        // A value may begin with more than naga lists.
        [.., ExpectedToken::BoolLiteral] => told(&format!("expected a value, found `{found}`")),
        expected => {
            let expected = expected.iter().map(expected_words).collect::<Vec<_>>();
            told(&format!("expected {}, found `{found}`", errors::alternatives(&expected)))
        }
    }
}

/// Mistakes that naga has no kinds for.
fn semantic(source: &Source, error: &Error, message: &str) -> Diagnostic {
    if let Some(name) = message.strip_prefix("Unknown function '").and_then(|rest| rest.strip_suffix('\'')) {
        return unknown("function", name, source, error.meta);
    }
    let location = errors::location(source, error.meta);
    let found = source.slice(location.span);
    let told = |message: &str| match error.meta.is_defined() {
        true => errors::told(CODE, message).label(location.clone(), ""),
        false => errors::told(CODE, message),
    };
    let is_of_unary = message == evaluated::UNARY && error.meta.is_defined();
    if is_of_unary && loops::is_condition(source.text(), location.span.range()) {
        return errors::constant_condition(location);
    }
    if let Some((message, help)) = evaluated::plain(message, found) {
        let told = match named_call(source, &message).filter(|_| !error.meta.is_defined()) {
            Some(call) => errors::told(CODE, &message).label(call, ""),
            None => told(&message),
        };
        return match help {
            Some(help) => told.help(help),
            None => told,
        };
    }
    match message {
        "Unexpected qualifier" => limit(source, error.meta).unwrap_or_else(|| {
            told(&format!("`{found}` cannot stand here")).help(
                "a layout is made of `std140`, `std430`, `set = 0`, `binding = 0`, `local_size_x = 64`, ..",
            )
        }),
        "Variable cannot be used in LHS position" => errors::not_assignable(found, location),
        "Missing entry point" => {
            functions::main_with_parameters(source).unwrap_or_else(|| errors::no_main(location))
        }
        "Bad call" => told("this function does not take an image by itself")
            .help("put the image and a sampler together: `texture(sampler2D(image, look), place)`"),
        "Qualifier expects a uint value" => {
            told(&format!("`{found}` takes a number")).help(format!("write `{found} = 1`"))
        }
        "Expression returns void" => {
            told("this function gives no value").help("call it in a statement of its own")
        }
        "Declaration cannot have void type" => {
            told("a variable cannot be `void`").help("write the type of its values: `float x;`")
        }
        "#version must occur first in shader" => {
            told("something stands before `#version`").help("put `#version 450` on the first line")
        }
        "Constructor: Too many arguments" if found.starts_with("texture") => {
            let name = found.split('(').next().unwrap_or(found);
            told(&format!("`{name}` is a type, and no function"))
                .help("write `texture(sampler2D(image, look), place)`")
        }
        "Constructor: Too many arguments" => {
            told("this is made of fewer values").help("leave out what is too much")
        }
        "Array size must be greater than zero" => errors::no_elements(found, location),
        "Cannot use more than one storage qualifier per declaration" => told("this is declared in two ways")
            .help("leave one out, or end the declaration before it with `;`"),
        "Function already defined" | "Prototype already defined" => {
            told("this function is defined already").help("give it another name, or leave one out")
        }
        _ if message.ends_with("cannot be in the left hand side") => errors::no_variable(found, location),
        _ if message.starts_with("Can't lookup field on this type") && is_of_element(source, &location) => {
            told(&format!(
                "there is no member `{}` here that can be assigned to",
                found.trim_start_matches('.')
            ))
            .help("assign to the components of a matrix's column one by one: `m[1].x = v.x;`")
        }
        _ if message.starts_with("Can't lookup field on this type") => {
            member(found.trim_start_matches('.'), &told)
        }
        _ if message.starts_with("Can't resolve type") => unresolved(message, &told),
        _ if message.starts_with("Ambiguous best function") => {
            told("several forms of this function take these arguments")
                .help("write literals with their types, `1.0` and `1u`, or convert an argument: `float(x)`")
        }
        _ if message.contains("image needs StorageAccess") => of_access(message, &told),
        _ if message.starts_with("Invalid swizzle") || message.starts_with("Bad swizzle") => {
            told(&format!("there are no components `{}` here", found.trim_start_matches('.')))
                .help("they are `x`, `y`, `z` and `w`, as many as the vector has, or `rgba`, or `stpq`")
        }
        _ if message.starts_with("swizzle cannot have duplicate") => {
            told("a component is stored to twice").help("name each component once")
        }
        _ if message.starts_with("uniform/buffer blocks require") => errors::not_bound(location),
        _ if message.starts_with("image types require") => errors::no_format(location),
        message => told(message),
    }
}

fn member(name: &str, told: &dyn Fn(&str) -> Diagnostic) -> Diagnostic {
    let told = told(&format!("there is no member `{name}` here"));
    match name {
        "length" => told.help("write `.length()`"),
        _ if name.chars().all(|one| "xyzwrgbastpq".contains(one)) => {
            told.help("a vector has `x`, `y`, `z` and `w`, as many as it is long; a number has no components")
        }
        _ => told.help("structs have members, and vectors have components"),
    }
}

/// Whether several components of an element are at a place.
fn is_of_element(source: &Source, member: &Location) -> bool {
    let names = source.slice(member.span).trim_start_matches('.');
    let is_element = source.text()[..member.span.start as usize].trim_end().ends_with(']');
    is_element && names.len() > 1 && names.chars().all(|name| "xyzwrgbastpq".contains(name))
}

/// The first call of the function that a message names, where naga does not tell the place.
fn named_call(source: &Source, message: &str) -> Option<Location> {
    let name = message.split('`').nth(1)?;
    let call = errors::word(source, &[&format!("{name}(")])?;
    Some(errors::name_location(source, call))
}

/// The type of an expression cannot be told, for reasons that naga gives in its own words.
fn unresolved(message: &str, told: &dyn Fn(&str) -> Diagnostic) -> Diagnostic {
    if message.contains("LogicalAnd") || message.contains("LogicalOr") {
        return told("`&&` and `||` take a `bool` on both sides").help("write `x != 0` for a number");
    }
    if let Some((_, index)) =
        message.split_once("OutOfBoundsIndex").and_then(|(_, rest)| rest.split_once("index: "))
    {
        let index: String = index.chars().take_while(char::is_ascii_digit).collect();
        return told(&format!("there is no element {index}")).help("the first element has the index 0");
    }
    if let Some((message, help)) = wholes::compared(message) {
        return told(message).help(help);
    }
    match message.contains("Access") {
        true => told("this has no elements")
            .help("arrays, vectors and matrices have some; a texel is `imageLoad(image, ivec2(x, y))`"),
        false => {
            told("this does not take a value of such a type").help("convert it, or take one of its members")
        }
    }
}

fn of_access(message: &str, told: &dyn Fn(&str) -> Diagnostic) -> Diagnostic {
    match message.contains("needs StorageAccess(LOAD)") {
        true => told("this image is declared `writeonly`").help("leave `writeonly` out to read it, too"),
        false => told("this image is declared `readonly`").help("leave `readonly` out to store to it, too"),
    }
}

fn preprocessor(source: &Source, location: Location, reason: &str) -> Diagnostic {
    let line = source.line_text(source.line_column(location.span.start).0);
    let directive = line.trim_start().strip_prefix('#').map_or("", str::trim_start);
    if directive.starts_with("include") {
        return errors::beyond_glsl("#include", "put the text of that file in its place", location);
    }
    if let Some(message) = directive.strip_prefix("error") {
        return errors::stopped_by_text(message.trim(), location);
    }
    let told = |message: &str| errors::told(CODE, message).label(location.clone(), "");
    match reason {
        "TooFewDefineArguments" => {
            told("this macro takes more arguments").help("give one for each of its names")
        }
        "TooManyDefineArguments" => {
            told("this macro takes fewer arguments").help("give one for each of its names")
        }
        "ElifOutsideOfBlock" | "ElseOutsideOfBlock" | "EndifOutsideOfBlock" => {
            told(&format!("`#{directive}` belongs to no `#if`"))
                .help("write an `#if` or `#ifdef` before it, or leave it out")
        }
        "ElifAfterElse" | "MoreThanOneElse" => {
            told("this stands behind `#else`, which is the last part of an `#if`")
                .help("put it before `#else`, or leave one out")
        }
        "UnfinishedBlock" => told("an `#if` is not closed").help("write `#endif`"),
        "UnknownDirective" => told(&format!("`#{directive}` is not known in GLSL")).help(
            "there are `#version`, `#extension`, `#define`, `#undef`, `#if`, `#ifdef`, `#else`, `#endif`, ..",
        ),
        "DefineRedefined" => {
            told("this macro is defined already, as something else").help("write `#undef` before")
        }
        "DuplicateParameter" => {
            told("two parameters of this macro have one name").help("give one of them another name")
        }
        "UnexpectedHash" => {
            told("`#` cannot stand here: macros put no words together").help("write the whole word")
        }
        "UnexpectedNewLine" | "UnexpectedEndOfInput" => told("this line of the preprocessor ends too early")
            .help("write all of it on one line, or a `\\` at the end of each line but the last"),
        "DivisionByZero" | "RemainderByZero" => {
            told("division by zero").help("write a divisor that is not 0")
        }
        "IntegerOverflow" | "FloatParsingError" => errors::told(CODE, "a number cannot be read")
            .help("digits of numbers that begin with 0 are 0 to 7; a float has a point"),
        "NotSupported16BitLiteral" => {
            errors::told(CODE, "16-bit literals are known in WGSL and in SPIR-V alone")
        }
        "NotSupported64BitLiteral" => {
            errors::told(CODE, "64-bit literals are known in WGSL and in SPIR-V alone")
        }
        reason => told(&format!("the preprocessor stops here: {}", errors::spaced(reason))),
    }
}

fn unknown(what: &str, name: &str, source: &Source, place: naga::Span) -> Diagnostic {
    let location = errors::name_location(source, place);
    if what == "variable" && arrays::is_length(source.text(), location.span.start as usize) {
        return errors::length_at_run_time(name, location);
    }
    let is_function = what == "function";
    if is_function && let Some(told) = functions::not_callable(source, name, place) {
        return told;
    }
    let message = format!("no form of `{name}` takes these arguments");
    if is_function && let Some(declared) = functions::declaration(source.text(), name) {
        let help = match functions::takes_struct(source.text(), name) {
            true => "; a struct that lies in a block is copied into a variable first",
            false => "",
        };
        return errors::told(CODE, &message).label(location, "").help(format!("it is `{declared}`{help}"));
    }
    if is_function && limits::is_function(name) {
        return errors::told(CODE, &message)
            .label(location, "")
            .help("write literals with their types, `1.0` and `1u`, and vectors of one size");
    }
    if let Some(help) = limits::instead_of(name).or_else(|| limits::of_other_languages(name)) {
        return errors::beyond_glsl(name, help, location);
    }
    let help = match what {
        "variable" => format!("declare it first: `float {name} = ..;`"),
        "function" => format!("define it first: `float {name}(float x) {{ .. }}`"),
        _ => format!("declare it first: `struct {name} {{ .. }};`"),
    };
    errors::told(CODE, &format!("unknown {what} `{name}`")).label(location, "").help(help)
}

/// What stands at a place, if it is known to be GLSL and not known here.
fn limit(source: &Source, place: naga::Span) -> Option<Diagnostic> {
    let location = errors::name_location(source, place);
    let name = source.slice(location.span).to_owned();
    match limits::instead_of(&name) {
        Some(help) => Some(errors::beyond_glsl(&name, help, location)),
        None => limits::instead_of_here(&name).map(|help| errors::misplaced(&name, help, location)),
    }
}

fn expected_words(expected: &ExpectedToken) -> String {
    match expected {
        ExpectedToken::Token(token) => token_words(&format!("{token:?}")),
        ExpectedToken::TypeName => "a type".to_owned(),
        ExpectedToken::Identifier => "a name".to_owned(),
        ExpectedToken::IntLiteral => "an integer".to_owned(),
        ExpectedToken::FloatLiteral => "a float".to_owned(),
        ExpectedToken::BoolLiteral => "`true` or `false`".to_owned(),
        ExpectedToken::Eof => "the end of the text".to_owned(),
    }
}

/// A token by what is written for it; naga has names alone.
fn token_words(name: &str) -> String {
    const WRITTEN: [(&str, &str); 16] = [
        ("Semicolon", ";"),
        ("Comma", ","),
        ("Colon", ":"),
        ("Dot", "."),
        ("LeftParen", "("),
        ("RightParen", ")"),
        ("LeftBrace", "{"),
        ("RightBrace", "}"),
        ("LeftBracket", "["),
        ("RightBracket", "]"),
        ("LeftAngle", "<"),
        ("RightAngle", ">"),
        ("Assign", "="),
        ("Plus", "+"),
        ("Dash", "-"),
        ("Star", "*"),
    ];
    match WRITTEN.iter().find(|(known, _)| *known == name) {
        Some((_, written)) => format!("`{written}`"),
        None => format!("`{}`", name.to_lowercase()),
    }
}
