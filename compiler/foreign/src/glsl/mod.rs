//! Compiles GLSL and HLSL to SPIR-V, by glslang.
//!
//! `glslang` calls it. `finish` adds the user's text, names and lines to the module. The other files turn its
//! log into diagnostics (`log`, `places`, `messages`, `suggestions`). The text itself is never changed.

use std::path::{Path, PathBuf};

use kps_syntax::{Diagnostics, Source};
use rustc_hash::FxHashMap;

use self::glslang::{Failure, Header, Input};
use self::places::Texts;
use crate::{Language, Options, errors};

mod finish;
mod functions;
mod glslang;
mod log;
mod messages;
mod places;
mod suggestions;
mod tokens;
mod types;

const ENTRY_POINT: &str = "main";

pub(crate) fn compile(
    source: &Source,
    language: Language,
    options: &Options,
) -> Result<Vec<u32>, Diagnostics> {
    let mut headers = FxHashMap::default();
    let mut include = |name: &str, includer: &str| {
        let (path, text) = read_header(name, includer, options.folder.as_deref()?)?;
        let name = path.display().to_string();
        headers.insert(name.clone(), Source::new(name.clone(), text.clone()));
        Some(Header { name, text })
    };
    let definitions: String =
        options.definitions.iter().map(|(name, text)| format!("#define {name} {text}\n")).collect();
    let entry_point = options.entry_point.as_deref().unwrap_or(ENTRY_POINT);
    let input = Input {
        text: source.text(),
        language,
        stage: options.stage,
        entry_point,
        extensions: &extensions(source.text()),
        definitions: &definitions,
    };
    let result = glslang::compile(&input, &mut include);
    let texts = |preprocessed| Texts { source, headers: headers.clone(), preprocessed, entry_point };
    let mistakes = match result {
        Ok(words) if language == Language::Hlsl && !finish::enters(&words, entry_point) => {
            return Err(errors::no_function(source, entry_point).into());
        }
        Ok(words) => return Ok(finish::finish(&words, source, &headers, language)),
        Err(Failure::Untranslated(name)) => return Err(errors::untranslated(source, name).into()),
        Err(Failure::TooDeep { at, excess, preprocessed }) => {
            return Err(excess.error(texts(Some(preprocessed)).location_of_byte(at)).into());
        }
        Err(Failure::Preprocessor(log) | Failure::Linker(log)) => messages::diagnostics(&texts(None), &log),
        Err(Failure::Parser { log, preprocessed }) => messages::diagnostics(&texts(Some(preprocessed)), &log),
    };
    match mistakes.is_empty() {
        true => Err(errors::translator_stopped(source).into()),
        false => Err(mistakes),
    }
}

/// Types that an extension allows in buffers only, and the extension that allows variables of them. Every
/// device here that stores these types computes with them.
const IMPLIED_EXTENSIONS: [(&str, &str); 3] = [
    ("GL_EXT_shader_8bit_storage", "GL_EXT_shader_explicit_arithmetic_types_int8"),
    ("GL_EXT_shader_16bit_storage", "GL_EXT_shader_explicit_arithmetic_types_int16"),
    ("GL_EXT_shader_16bit_storage", "GL_EXT_shader_explicit_arithmetic_types_float16"),
];

/// The extensions that are enabled for a text by default.
fn extensions(text: &str) -> String {
    let implied =
        IMPLIED_EXTENSIONS.iter().filter(|(named, _)| text.contains(named)).map(|(_, implied)| *implied);
    let all =
        ["GL_GOOGLE_include_directive", "GL_EXT_samplerless_texture_functions"].into_iter().chain(implied);
    all.map(|extension| format!("#extension {extension} : enable\n")).collect()
}

/// A header and its path: beside the file that includes it, or in the folder of the text.
fn read_header(name: &str, includer: &str, folder: &Path) -> Option<(PathBuf, String)> {
    let beside = Path::new(includer).parent().filter(|_| !includer.is_empty());
    let folders = beside.into_iter().chain([folder]);
    folders.map(|folder| folder.join(name)).find_map(|path| {
        let text = std::fs::read_to_string(&path).ok()?;
        Some((path, text))
    })
}
