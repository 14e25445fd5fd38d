//! Compiles shaders in GLSL, HLSL and WGSL to SPIR-V.
//!
//! A text and its name go in. Out comes a module with one entry point, called `main`, or diagnostics with
//! places in the text. glslang compiles GLSL and HLSL, and naga compiles WGSL; neither is visible outside of
//! this crate. The only files read are those that a text includes. This crate knows no devices and runs
//! nothing. Callers validate the module.
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
mod other_languages;
mod wgsl;
mod words;

pub use errors::{ANOTHER_WAY, ERROR_CODES};

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
    /// A WGSL text states it at the entry point. A GLSL or HLSL text does not.
    pub stage: Stage,
    /// The function that a device enters. By default `main`, or in WGSL the only entry point of the stage.
    pub entry_point: Option<String>,
    /// Macros of GLSL and HLSL, with their replacements.
    pub definitions: Vec<(String, String)>,
    /// The folder of files for `#include`. Without it no file can be included.
    pub folder: Option<PathBuf>,
    /// Values of WGSL's specialisation constants; the others keep their defaults. A device sets the constants
    /// of GLSL and HLSL modules.
    pub constants: Vec<Given>,
}

/// glslang and naga recurse over expressions, so a long one needs a deep stack. [`nesting`] bounds what it takes.
const STACK: usize = 64 << 20;

/// The value of a specialisation constant, by its id.
pub type Given = (u32, f64);

/// A function at which a device may start.
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

/// The entry points of a WGSL text, in its order: any number, of any stages.
pub fn entry_points(source: &Source) -> Result<Vec<EntryPoint>, Diagnostics> {
    nesting::check(source)?;
    stacker::grow(STACK, || wgsl::entry_points(source))
}

/// Compiles a shader to SPIR-V.
pub fn compile(source: &Source, language: Language, options: &Options) -> Result<Vec<u32>, Diagnostics> {
    nesting::check(source)?;
    let compiled = stacker::grow(STACK, || match language {
        Language::Glsl | Language::Hlsl => glsl::compile(source, language, options),
        Language::Wgsl => wgsl::compile(source, options),
    });
    compiled
        .map_err(|mistakes| other_languages::diagnostic(source, language).map_or(mistakes, Diagnostics::from))
}

/// How a WGSL module was compiled if its specialisation constants are fixed. For other values its text, which
/// the module contains, is compiled again. `None` if a device can set the constants.
pub fn recipe(words: &[u32]) -> Option<Options> {
    wgsl::recipe::read(words)
}

/// The fixed specialisation constants without a value: the text has no default for them. They need one before
/// anything runs.
pub fn unset_constants(words: &[u32]) -> Vec<String> {
    wgsl::recipe::unset(words)
}

impl Language {
    /// By the extension of a file: `.comp`, `.vert`, `.frag`, `.glsl`, `.hlsl` and `.wgsl` are known.
    pub fn of_file(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "comp" | "vert" | "frag" | "glsl" => Some(Language::Glsl),
            "hlsl" => Some(Language::Hlsl),
            "wgsl" => Some(Language::Wgsl),
            _ => None,
        }
    }

    /// By the content of a text: WGSL marks its entry points and resources and has a keyword for functions.
    /// HLSL has the workgroup size in brackets.
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
    /// By the extension of a file. The default is a compute shader.
    pub fn of_file(path: &Path) -> Stage {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("vert") => Stage::Vertex,
            Some("frag") => Stage::Fragment,
            _ => Stage::Compute,
        }
    }
}
