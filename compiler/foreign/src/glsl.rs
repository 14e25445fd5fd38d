//! GLSL text to naga's module.
//!
//! naga's front end for GLSL knows no atomic and no subgroup operations, no images with their samplers in one, and
//! neither narrow nor 64-bit integers; what it lacks is told by name (`limits`) with what to write instead.

use kps_syntax::{Diagnostic, Diagnostics, Location, Source};
use naga::front::glsl::{self, Error, ErrorKind, ExpectedToken, Frontend};
use naga::{Module, ShaderStage};

use self::constants::Constants;
use crate::specialise::Declared;
use crate::{Options, Stage, barriers, blocks, errors, switches};

mod arrays;
mod constants;
mod limits;
mod tokens;

const WORKGROUP_SIZE: &str = "gl_WorkGroupSize";

/// Names that extensions give to types that GLSL has by other names.
const SAME_TYPES: [(&str, &str); 4] =
    [("int32_t", "int"), ("uint32_t", "uint"), ("float32_t", "float"), ("float64_t", "double")];

/// The module, and the specialisation constants that are plain ones in it.
pub(crate) fn parse(source: &Source, options: &Options) -> Result<(Module, Vec<Declared>), Diagnostics> {
    let text = arrays::turn_lengths(source.text());
    if let Some(range) = arrays::behind_array(&text) {
        return Err(errors::behind_array(errors::location(source, span(range))).into());
    }
    let constants = Constants::of(&text);
    if let Some((name, range)) = constants.not_finite(&options.constants) {
        return Err(errors::not_finite(name, errors::location(source, span(range))).into());
    }
    let must_settle = constants.have_sizes() || !options.constants.is_empty();
    let open = (!must_settle).then(|| read(&text, settings(options), &mut |_| Vec::new()));
    let (mut module, settled) = match open {
        Some(Ok(read)) => read,
        Some(Err(found)) if constants.is_empty() => return Err(diagnostics(source, &found)),
        // What is made of a constant may be why: it is tried with their values.
        _ => {
            let (text, macros) = constants.settle(&text, &options.constants);
            let mut settings = settings(options);
            settings.defines.extend(macros);
            read(&text, settings, &mut |module| constants.take(module, &options.constants))
                .map_err(|found| diagnostics(source, &found))?
        }
    };
    let_write_only_buffers_be_read(&mut module);
    blocks::load_members(&mut module);
    switches::fill_empty_cases(&mut module);
    barriers::wait_for_workgroups(&mut module);
    Ok((module, settled))
}

fn span(range: std::ops::Range<usize>) -> naga::Span {
    naga::Span::new(range.start as u32, range.end as u32)
}

fn settings(options: &Options) -> glsl::Options {
    let mut settings = glsl::Options::from(match options.stage {
        Stage::Compute => ShaderStage::Compute,
        Stage::Vertex => ShaderStage::Vertex,
        Stage::Fragment => ShaderStage::Fragment,
    });
    settings.defines.extend(SAME_TYPES.map(|(name, known)| (name.to_owned(), known.to_owned())));
    settings.defines.extend(options.definitions.iter().cloned());
    settings
}

/// naga's module, with what `settle` finds in it: it may put the workgroup's size right.
fn read(
    text: &str,
    mut settings: glsl::Options,
    settle: &mut dyn FnMut(&mut Module) -> Vec<Declared>,
) -> Result<(Module, Vec<Declared>), Vec<Error>> {
    let mut parse = |settings: &glsl::Options| {
        let mut module = Frontend::default().parse(settings, text).map_err(|found| found.errors)?;
        let settled = settle(&mut module);
        Ok((module, settled))
    };
    if text.contains(WORKGROUP_SIZE) {
        // It is a constant, and naga takes it for an input: it is read with some size to learn the one that it has.
        settings.defines.insert(WORKGROUP_SIZE.to_owned(), "uvec3(1, 1, 1)".to_owned());
        let (module, _) = parse(&settings)?;
        let [x, y, z] = module.entry_points.first().map_or([1; 3], |entry| entry.workgroup_size);
        settings.defines.insert(WORKGROUP_SIZE.to_owned(), format!("uvec3({x}, {y}, {z})"));
    }
    parse(&settings)
}

/// GLSL has `writeonly` buffers, and naga's checker refuses them.
fn let_write_only_buffers_be_read(module: &mut Module) {
    for (_, variable) in module.global_variables.iter_mut() {
        if let naga::AddressSpace::Storage { access } = &mut variable.space {
            *access |= naga::StorageAccess::LOAD;
        }
    }
}

/// Where something that is not known here is told by name, that is why the rest was not understood.
fn diagnostics(source: &Source, errors: &[Error]) -> Diagnostics {
    let told: Vec<Diagnostic> = errors.iter().map(|error| diagnostic(source, error)).collect();
    let is_named = |one: &Diagnostic| one.help.is_some();
    let has_named = told.iter().any(is_named);
    Diagnostics(told.into_iter().filter(|one| !has_named || is_named(one)).collect())
}

fn diagnostic(source: &Source, error: &Error) -> Diagnostic {
    let location = errors::location(source, error.meta);
    let found = source.slice(location.span);
    let told = |message: &str| errors::told("foreign/glsl", message).label(location.clone(), "");
    if error.kind.to_string().starts_with("Unexpected override-expression") {
        return errors::specialised_here(location);
    }
    match &error.kind {
        ErrorKind::InvalidToken(_, expected) => limit(source, error.meta).unwrap_or_else(|| {
            let expected = expected.iter().map(expected_words).collect::<Vec<_>>();
            told(&format!("expected {}, found `{found}`", errors::alternatives(&expected)))
        }),
        ErrorKind::UnknownVariable(name) => unknown("variable", name, source, error.meta),
        ErrorKind::UnknownType(name) => unknown("type", name, source, error.meta),
        ErrorKind::UnknownField(name) => told(&format!("unknown field `{name}`")),
        ErrorKind::UnknownLayoutQualifier(name) => {
            let beyond = |help| errors::beyond_glsl(name, help, location.clone());
            limits::instead_of(name)
                .map(beyond)
                .unwrap_or_else(|| told(&format!("the layout qualifier `{name}` is not known here")))
        }
        ErrorKind::InvalidVersion(version) => {
            told(&format!("GLSL version {version} is not known here")).help("write `#version 450`")
        }
        ErrorKind::InvalidProfile(profile) => {
            told(&format!("the profile `{profile}` is not known here")).help("write `#version 450`")
        }
        ErrorKind::VariableAlreadyDeclared(name) => told(&format!("`{name}` is declared already")),
        ErrorKind::NotImplemented("variable qualifier") => limit(source, error.meta)
            .unwrap_or_else(|| told(&format!("variables of the kind `{found}` are not known here"))),
        ErrorKind::NotImplemented(what) => told(&format!("{what} is not known here")),
        ErrorKind::UnsupportedMatrixWithTwoRowsInStd140 { .. } => errors::narrow_matrix(location),
        ErrorKind::PreprocessorError(error) => preprocessor(source, location, &format!("{error:?}")),
        ErrorKind::SemanticError(message) => semantic(source, error, message),
        other => told(&other.to_string()),
    }
}

/// Mistakes that naga has no kinds for.
fn semantic(source: &Source, error: &Error, message: &str) -> Diagnostic {
    if let Some(name) = message.strip_prefix("Unknown function '").and_then(|rest| rest.strip_suffix('\'')) {
        return unknown("function", name, source, error.meta);
    }
    let location = errors::location(source, error.meta);
    let found = source.slice(location.span);
    match message {
        "Unexpected qualifier" => limit(source, error.meta).unwrap_or_else(|| {
            errors::told("foreign/glsl", &format!("`{found}` cannot stand here")).label(location, "")
        }),
        "Variable cannot be used in LHS position" => errors::not_assignable(found, location),
        _ if message.starts_with("Can't lookup field on this type") => errors::told(
            "foreign/glsl",
            &format!("there is no member `{}` here", found.trim_start_matches('.')),
        )
        .label(location, ""),
        "Missing entry point" => errors::told("foreign/glsl", message)
            .label(location, "")
            .help("write what is to run as `void main() { .. }`"),
        _ if message.starts_with("uniform/buffer blocks require") => errors::not_bound(location),
        _ if message.starts_with("image types require") => errors::no_format(location),
        message => errors::told("foreign/glsl", message).label(location, ""),
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
    errors::told("foreign/glsl", &format!("the preprocessor stops here: {}", errors::spaced(reason)))
        .label(location, "")
}

fn unknown(what: &str, name: &str, source: &Source, place: naga::Span) -> Diagnostic {
    let location = errors::name_location(source, place);
    let message = if what == "function" && (limits::is_function(name) || is_defined(source.text(), name)) {
        format!("no form of `{name}` takes these arguments")
    } else if let Some(help) = limits::instead_of(name) {
        return errors::beyond_glsl(name, help, location);
    } else {
        format!("unknown {what} `{name}`")
    };
    errors::told("foreign/glsl", &message).label(location, "")
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

/// Whether a text defines a function: somewhere a type stands before the name, and a bracket behind.
fn is_defined(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].trim_end_matches([' ', '\t']);
        let word = before.rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_').next();
        let is_type = before.len() < at && word.is_some_and(|word| !["", "return", "else"].contains(&word));
        is_type && text[at + name.len()..].trim_start().starts_with('(')
    })
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
