//! GLSL text to naga's module.
//!
//! naga's front end for GLSL knows no atomic and no subgroup operations, no images with their samplers in one, and
//! neither narrow nor 64-bit integers; what it lacks is told with what to write instead.

use kps_syntax::{Diagnostic, Diagnostics, Location, Source};
use naga::ShaderStage;
use naga::front::glsl::{self, Error, ErrorKind, ExpectedToken, Frontend};

use crate::{Options, Stage, errors};

const WORKGROUP_SIZE: &str = "gl_WorkGroupSize";

pub(crate) fn parse(source: &Source, options: &Options) -> Result<naga::Module, Diagnostics> {
    let mut settings = glsl::Options::from(match options.stage {
        Stage::Compute => ShaderStage::Compute,
        Stage::Vertex => ShaderStage::Vertex,
        Stage::Fragment => ShaderStage::Fragment,
    });
    settings.defines.extend(options.definitions.iter().cloned());
    let parse = |settings: &glsl::Options| {
        Frontend::default().parse(settings, source.text()).map_err(|found| {
            let mut diagnostics = Diagnostics::default();
            found.errors.iter().for_each(|error| diagnostics.push(diagnostic(source, error)));
            diagnostics
        })
    };
    if source.text().contains(WORKGROUP_SIZE) {
        // It is a constant, and naga takes it for an input: it is read with some size to learn the one that it has.
        settings.defines.insert(WORKGROUP_SIZE.to_owned(), "uvec3(1, 1, 1)".to_owned());
        let sizes: Vec<[u32; 3]> =
            parse(&settings)?.entry_points.iter().map(|one| one.workgroup_size).collect();
        let [x, y, z] = sizes.first().copied().unwrap_or([1; 3]);
        settings.defines.insert(WORKGROUP_SIZE.to_owned(), format!("uvec3({x}, {y}, {z})"));
    }
    let mut module = parse(&settings)?;
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
    if error.kind.to_string().starts_with("Unexpected override-expression") {
        return told("the length of an array cannot be a specialisation constant here")
            .label(location, "")
            .help("write the largest length that may be wanted, and use a part of it");
    }
    match &error.kind {
        ErrorKind::InvalidToken(_, expected) => {
            let expected = expected.iter().map(expected_words).collect::<Vec<_>>();
            let message = format!("expected {}, found `{found}`", errors::alternatives(&expected));
            told(&message).label(location, "")
        }
        ErrorKind::UnknownVariable(name) => unknown("variable", name, location),
        ErrorKind::UnknownType(name) => unknown("type", name, location),
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
        ErrorKind::NotImplemented("variable qualifier") => unknown_variable_kind(location, &found),
        ErrorKind::NotImplemented(what) => told(&format!("{what} is not known here")).label(location, ""),
        ErrorKind::PreprocessorError(error) => {
            told(&format!("the preprocessor stops here: {}", errors::spaced(&format!("{error:?}"))))
                .label(location, "")
        }
        ErrorKind::SemanticError(message) => match unknown_function(message) {
            Some(name) => unknown("function", name, location),
            None => told(message).label(location, ""),
        },
        other => told(&other.to_string()).label(location, ""),
    }
}

fn unknown(what: &str, name: &str, location: Location) -> Diagnostic {
    match beyond(name) {
        Some(help) => errors::beyond_glsl(name, help, location),
        None => errors::told("foreign/glsl", &format!("unknown {what} `{name}`")).label(location, ""),
    }
}

fn unknown_function(message: &str) -> Option<&str> {
    message.strip_prefix("Unknown function '")?.strip_suffix('\'')
}

/// What to do instead of using a name that GLSL has and naga's front end does not.
fn beyond(name: &str) -> Option<&'static str> {
    let starts = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    Some(match name {
        _ if starts(&["atomic", "imageAtomic"]) => {
            "atomic operations are known in WGSL: write this shader in WGSL, or give it as SPIR-V"
        }
        _ if starts(&["subgroup", "gl_Subgroup"]) || name == "gl_NumSubgroups" => {
            "subgroup operations are known in WGSL: write this shader in WGSL, or give it as SPIR-V"
        }
        "modf" | "frexp" => {
            "`modf` and `frexp` are known in WGSL: write this shader in WGSL, or give it as SPIR-V"
        }
        "uaddCarry" | "usubBorrow" | "umulExtended" | "imulExtended" => {
            "WGSL lacks it too: give this shader as SPIR-V, or work in halves of 16 bits"
        }
        "groupMemoryBarrier" => "write `barrier()`, which also makes what was written be seen",
        _ if name.starts_with("memoryBarrier") => {
            "write `barrier()`, which also makes what was written be seen"
        }
        "int64_t" | "uint64_t" => "64-bit integers are known in WGSL, as `i64` and `u64`, and in SPIR-V",
        "float16_t" => "16-bit floats are known in WGSL, as `f16`, and in SPIR-V",
        "lf" | "LF" => "a literal that is a double is written `double(1.5)` here",
        "int8_t" | "uint8_t" | "int16_t" | "uint16_t" => "narrow integers are known in SPIR-V alone",
        _ => return None,
    })
}

/// A kind of variable that is not known.
fn unknown_variable_kind(location: Location, found: &str) -> Diagnostic {
    let told = errors::told("foreign/glsl", "this kind of variable is not known here").label(location, "");
    let is_combined = ["sampler", "isampler", "usampler"].iter().any(|start| found.starts_with(start));
    match is_combined {
        true => told.help(
            "declare the image and the sampler apart, `uniform texture2D image;` and `uniform sampler look;`, and \
             put them together where they are used: `sampler2D(image, look)`",
        ),
        false => told,
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
