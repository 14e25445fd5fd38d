//! Shaders written in GLSL, HLSL or WGSL, to SPIR-V words.
//!
//! Text goes in with its name; words of a module with one entry point, called `main`, come out, or the
//! mistakes with their places in the text. glslang compiles GLSL and HLSL, naga compiles WGSL, and both stay behind
//! this crate. Files that a text includes are read; nothing else is, and nothing here knows devices or runs
//! anything. Whether the words are valid SPIR-V is for whoever takes them to check.
//!
//! ```
//! use kps_foreign::{Language, Options, compile};
//! use kps_syntax::Source;
//!
//! let text = "#version 450\nlayout(local_size_x = 64) in;\nvoid main() {}";
//! let words = compile(&Source::new("double.comp", text), Language::Glsl, &Options::default())?;
//! assert_eq!(words[0], 0x0723_0203);
//! # Ok::<(), kps_syntax::Diagnostics>(())
//! ```

mod errors;
mod glsl;
mod nesting;
mod others;
mod wgsl;
mod words;

pub use errors::ANOTHER_WAY;

use std::path::{Path, PathBuf};

use kps_syntax::{Diagnostics, Source};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Glsl,
    Hlsl,
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
    /// WGSL says it at the entry point, GLSL and HLSL do not.
    pub stage: Stage,
    /// The function that a device enters; without a name `main`, or in WGSL the only one of the stage.
    pub entry_point: Option<String>,
    /// Macros of GLSL and HLSL, with what they stand for.
    pub definitions: Vec<(String, String)>,
    /// Where files of `#include` are looked for; without it there are none.
    pub folder: Option<PathBuf>,
    /// Values of WGSL's specialisation constants; the others keep their defaults. Words of GLSL and HLSL have
    /// constants that a device can give.
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
    wgsl::entry_points(source)
}

/// The words of a shader.
pub fn compile(source: &Source, language: Language, options: &Options) -> Result<Vec<u32>, Diagnostics> {
    nesting::check(source)?;
    let compiled = match language {
        Language::Glsl | Language::Hlsl => glsl::compile(source, language, options),
        Language::Wgsl => wgsl::compile(source, options),
    };
    compiled.map_err(|mistakes| others::diagnostic(source, language).map_or(mistakes, Diagnostics::from))
}

/// How words of WGSL were made that have the values of their specialisation constants in them: for other values the
/// text, which such words bring along, is compiled anew. `None` for words whose constants a device can give.
pub fn recipe(words: &[u32]) -> Option<Options> {
    wgsl::recipe::read(words)
}

/// The constants of such words that have no value, for the text gives them none: they need one before anything runs.
pub fn unset_constants(words: &[u32]) -> Vec<String> {
    wgsl::recipe::unset(words)
}

impl Language {
    /// By the end of a file's name: `.comp`, `.vert`, `.frag`, `.glsl`, `.hlsl` and `.wgsl` are known.
    pub fn of_file(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "comp" | "vert" | "frag" | "glsl" => Some(Language::Glsl),
            "hlsl" => Some(Language::Hlsl),
            "wgsl" => Some(Language::Wgsl),
            _ => None,
        }
    }

    /// By the look of a text: WGSL marks its entry points and resources and has a word for functions, HLSL says the
    /// size of a workgroup in brackets.
    pub fn of_text(text: &str) -> Language {
        const MARKS: [&str; 7] =
            ["@compute", "@vertex", "@fragment", "@group", "@binding", "@builtin", "var<"];
        let says_fn = || text.lines().any(|line| line.trim_start().starts_with("fn "));
        if text.trim_start().starts_with("#version") {
            Language::Glsl
        } else if text.contains("[numthreads(") {
            Language::Hlsl
        } else if MARKS.iter().any(|mark| text.contains(mark)) || says_fn() {
            Language::Wgsl
        } else {
            Language::Glsl
        }
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
