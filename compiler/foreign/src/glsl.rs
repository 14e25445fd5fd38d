//! GLSL text to naga's module.
//!
//! naga's front end for GLSL knows no atomic and no subgroup operations and no 8- or 16-bit types; its one
//! for WGSL does, and that is what the mistakes say.

use kps_syntax::{Diagnostic, Diagnostics, Source};
use naga::ShaderStage;
use naga::front::glsl::{self, Error, ErrorKind, ExpectedToken, Frontend};

use crate::{Options, Stage, errors};

pub(crate) fn parse(source: &Source, options: &Options) -> Result<naga::Module, Diagnostics> {
    let mut settings = glsl::Options::from(match options.stage {
        Stage::Compute => ShaderStage::Compute,
        Stage::Vertex => ShaderStage::Vertex,
        Stage::Fragment => ShaderStage::Fragment,
    });
    settings.defines.extend(options.definitions.iter().cloned());
    let mut module = Frontend::default().parse(&settings, source.text()).map_err(|found| {
        let mut diagnostics = Diagnostics::default();
        found.errors.iter().for_each(|error| diagnostics.push(diagnostic(source, error)));
        diagnostics
    })?;
    let_write_only_buffers_be_read(&mut module);
    Ok(module)
}

/// GLSL has `writeonly` buffers, and naga's checker refuses them.
fn let_write_only_buffers_be_read(module: &mut naga::Module) {
    for (_, variable) in module.global_variables.iter_mut() {
        if let naga::AddressSpace::Storage { access } = &mut variable.space {
            *access |= naga::StorageAccess::LOAD;
        }
    }
}

fn diagnostic(source: &Source, error: &Error) -> Diagnostic {
    let location = errors::location(source, error.meta);
    let found = location.source.slice(location.span).to_owned();
    let told = |message: &str| errors::told("foreign/glsl", message);
    match &error.kind {
        ErrorKind::InvalidToken(_, expected) => {
            let expected = expected.iter().map(expected_words).collect::<Vec<_>>();
            let message = format!("expected {}, found `{found}`", errors::alternatives(&expected));
            told(&message).label(location, "")
        }
        ErrorKind::UnknownVariable(name) if beyond(name).is_some() => {
            errors::beyond_glsl(name, beyond(name).unwrap_or_default(), location)
        }
        ErrorKind::UnknownVariable(name) => told(&format!("unknown variable `{name}`")).label(location, ""),
        ErrorKind::UnknownType(name) => told(&format!("unknown type `{name}`")).label(location, ""),
        ErrorKind::UnknownField(name) => told(&format!("unknown field `{name}`")).label(location, ""),
        ErrorKind::UnknownLayoutQualifier(name) => {
            told(&format!("the layout qualifier `{name}` is not known here")).label(location, "")
        }
        ErrorKind::InvalidVersion(version) => told(&format!("GLSL version {version} is not known here"))
            .label(location, "")
            .help("write `#version 450`"),
        ErrorKind::VariableAlreadyDeclared(name) => {
            told(&format!("`{name}` is declared already")).label(location, "")
        }
        ErrorKind::NotImplemented(what) => told(&format!("{what} is not known here")).label(location, ""),
        ErrorKind::PreprocessorError(error) => {
            told(&format!("the preprocessor stops here: {}", errors::spaced(&format!("{error:?}"))))
                .label(location, "")
        }
        ErrorKind::SemanticError(message) => match unknown_function(message) {
            Some(name) if beyond(name).is_some() => {
                errors::beyond_glsl(name, beyond(name).unwrap_or_default(), location)
            }
            Some(name) => told(&format!("unknown function `{name}`")).label(location, ""),
            None => told(message).label(location, ""),
        },
        other => told(&other.to_string()).label(location, ""),
    }
}

fn unknown_function(message: &str) -> Option<&str> {
    message.strip_prefix("Unknown function '")?.strip_suffix('\'')
}

/// The family of names that WGSL has and GLSL here does not.
fn beyond(name: &str) -> Option<&'static str> {
    match name {
        _ if name.starts_with("atomic") || name.starts_with("imageAtomic") => Some("atomic operations"),
        _ if name.starts_with("subgroup") || name.starts_with("gl_Subgroup") || name == "gl_NumSubgroups" => {
            Some("subgroup operations")
        }
        _ => None,
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
