//! Shaders written in GLSL or WGSL, to SPIR-V words.
//!
//! Text goes in with its name; words of a module with one entry point, called `main`, come out, or the
//! mistakes with their places in the text. naga does the work and stays behind this crate. Nothing here
//! reads files, knows devices or runs anything; whether the words are good SPIR-V is for whoever takes them
//! to check.
//!
//! ```
//! use kps_foreign::{Language, Options, compile};
//! use kps_syntax::Source;
//!
//! let text = "@compute @workgroup_size(1) fn double() {}";
//! let words = compile(&Source::new("double.wgsl", text), Language::Wgsl, &Options::default())?;
//! assert_eq!(words[0], 0x0723_0203);
//! # Ok::<(), kps_syntax::Diagnostics>(())
//! ```

mod atomics;
mod barriers;
mod blocks;
mod comparisons;
mod elements;
mod emit;
mod errors;
mod evaluated;
mod glsl;
mod guards;
mod invalid;
mod layouts;
mod lines;
mod members;
mod memory;
mod names;
mod nesting;
mod others;
mod panics;
mod recipe;
mod resources;
mod specialise;
mod statements;
mod switches;
mod unwritable;
mod wgsl;
mod wholes;
mod words;
mod wrappers;
mod zeros;

pub use errors::ANOTHER_WAY;

use std::path::Path;

use kps_syntax::{Diagnostics, Source};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Glsl,
    Wgsl,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Stage {
    #[default]
    Compute,
    Vertex,
    Fragment,
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Of GLSL, which does not say; WGSL says it at the entry point.
    pub stage: Stage,
    /// Which entry point is meant, where there are several; GLSL has the one alone.
    pub entry_point: Option<String>,
    /// Names that GLSL's preprocessor knows from the start, with what they stand for.
    pub definitions: Vec<(String, String)>,
    /// Values of specialisation constants; the others keep their defaults.
    pub constants: Vec<Given>,
}

/// The value of a specialisation constant, by its id.
pub type Given = (u32, f64);

/// Where a device may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPoint {
    pub stage: Stage,
    pub name: String,
}

impl From<EntryPoint> for Options {
    fn from(entry: EntryPoint) -> Options {
        Options { stage: entry.stage, entry_point: Some(entry.name), ..Options::default() }
    }
}

/// The entry points of a WGSL text, in its order: as many as it likes, of any stages.
pub fn entry_points(source: &Source) -> Result<Vec<EntryPoint>, Diagnostics> {
    nesting::check(source)?;
    let module = panics::caught(source, || wgsl::parse(source))?;
    let known = module.entry_points.into_iter().filter_map(|entry| {
        let stage = match entry.stage {
            naga::ShaderStage::Compute => Stage::Compute,
            naga::ShaderStage::Vertex => Stage::Vertex,
            naga::ShaderStage::Fragment => Stage::Fragment,
            _ => return None,
        };
        Some(EntryPoint { stage, name: entry.name })
    });
    Ok(known.collect())
}

/// The words of a shader.
pub fn compile(source: &Source, language: Language, options: &Options) -> Result<Vec<u32>, Diagnostics> {
    nesting::check(source)?;
    let compiled = panics::caught(source, || {
        let (module, settled) = match language {
            Language::Glsl => glsl::parse(source, options)?,
            Language::Wgsl => (wgsl::parse(source)?, Vec::new()),
        };
        emit::words(source, module, settled, language, options)
    });
    compiled.map_err(|mistakes| others::told(source).map_or(mistakes, |told| Diagnostics(vec![told])))
}

/// How words were made that have the values of their specialisation constants in them: for other values the text,
/// which such words bring along, is compiled anew. `None` for words whose constants a device can give.
pub fn recipe(words: &[u32]) -> Option<(Language, Options)> {
    recipe::read(words)
}

/// The constants of such words that have no value, for the text gives them none: they need one before anything runs.
pub fn unset_constants(words: &[u32]) -> Vec<String> {
    recipe::unset(words)
}

impl Language {
    /// By the end of a file's name: `.comp`, `.vert`, `.frag`, `.glsl` and `.wgsl` are known.
    pub fn of_file(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "comp" | "vert" | "frag" | "glsl" => Some(Language::Glsl),
            "wgsl" => Some(Language::Wgsl),
            _ => None,
        }
    }

    /// By the look of a text: WGSL marks its entry points and resources, and has a word for functions.
    pub fn of_text(text: &str) -> Language {
        const MARKS: [&str; 7] =
            ["@compute", "@vertex", "@fragment", "@group", "@binding", "@builtin", "var<"];
        let says_fn = || text.lines().any(|line| line.trim_start().starts_with("fn "));
        let is_wgsl = MARKS.iter().any(|mark| text.contains(mark)) || says_fn();
        if is_wgsl && !text.trim_start().starts_with("#version") { Language::Wgsl } else { Language::Glsl }
    }
}

impl Stage {
    /// By the end of a file's name; what says nothing is a compute shader.
    pub fn of_file(path: &Path) -> Stage {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("vert") => Stage::Vertex,
            Some("frag") => Stage::Fragment,
            _ => Stage::Compute,
        }
    }
}
