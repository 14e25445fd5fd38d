//! Shaders that are not kernels: text in GLSL, HLSL or WGSL, and SPIR-V from files. Only validated modules
//! come out; errors come out as diagnostics.

use std::path::Path;
use std::str::Chars;

use kps_compute::Number;
use kps_device::source_texts;
use kps_device::tools::{self, AssemblyError};
pub use kps_foreign::{EntryPoint, Language, Options, Stage};
use kps_syntax::{Diagnostic, Diagnostics, Source};

/// Whether a file is such a shader, by its extension.
pub fn is_foreign(path: &Path) -> bool {
    Language::of_file(path).is_some() || path.extension().is_some_and(|extension| extension == "spv")
}

/// Whether a text is the path of such a shader, rather than the shader.
pub fn is_path(text: &str) -> bool {
    !text.contains('\n') && is_foreign(Path::new(text))
}

/// Compiles a shader's text to SPIR-V.
pub fn compile(source: &Source, language: Language, options: &Options) -> Result<Vec<u32>, Diagnostics> {
    let words = kps_foreign::compile(source, language, options)?;
    tools::check_rules(&words).map_err(|rule| badly_translated(source, &rule))?;
    Ok(words)
}

/// The entry points of a WGSL file, which may have several; none of another file, which has one.
pub fn entry_points(path: &Path, bytes: &[u8]) -> Result<Vec<EntryPoint>, Diagnostics> {
    match (Language::of_file(path), std::str::from_utf8(bytes)) {
        (Some(Language::Wgsl), Ok(text)) => {
            kps_foreign::entry_points(&Source::new(path.display().to_string(), text.to_owned()))
        }
        _ => Ok(Vec::new()),
    }
}

/// The options for the entry point with this name. The default is the only one, or the only compute shader.
/// `None` if there is none.
pub fn entry_point(entry_points: &[EntryPoint], name: Option<&str>) -> Option<Options> {
    match (name, entry_points) {
        (Some(name), all) => all.iter().find(|entry| entry.name == name).cloned().map(Options::from),
        (None, [only]) => Some(Options::from(only.clone())),
        (None, all) => {
            let computes = all.is_empty() || all.iter().any(|entry| entry.stage == Stage::Compute);
            computes.then(Options::default)
        }
    }
}

/// The errors of all entry points of a shader's file.
pub fn check_file(path: &Path, bytes: Vec<u8>) -> Diagnostics {
    let mut found = Diagnostics::default();
    let entry_points = match entry_points(path, &bytes) {
        Ok(entry_points) if entry_points.is_empty() => vec![Options::default()],
        Ok(entry_points) => entry_points.into_iter().map(Options::from).collect(),
        Err(mistakes) => return mistakes,
    };
    for options in entry_points {
        for mistake in compile_file(path, bytes.clone(), &options).err().unwrap_or_default() {
            let key = |one: &Diagnostic| (one.message.clone(), one.location().map(|at| at.span));
            // An error that entry points share is reported once.
            if !found.iter().any(|known| key(known) == key(&mistake)) {
                found.push(mistake);
            }
        }
    }
    found
}

/// The SPIR-V of a shader's file. A file without a known extension is SPIR-V or text, by its content. The
/// stage in the name of a GLSL file takes precedence over the options.
pub fn compile_file(path: &Path, bytes: Vec<u8>, options: &Options) -> Result<Vec<u32>, Diagnostics> {
    let name = path.display().to_string();
    let is_spirv = path.extension().is_some_and(|extension| extension == "spv");
    let is_text = Language::of_file(path).is_some() || !bytes.contains(&0);
    if is_spirv || !is_text {
        let words = kps_compute::words::from_bytes(&bytes).map_err(|error| bad_spirv(error.to_string()))?;
        validate(&words)?;
        return Ok(words);
    }
    let text = String::from_utf8(bytes).map_err(|error| not_text(&name, error.utf8_error().valid_up_to()))?;
    let language = Language::of_file(path).unwrap_or_else(|| Language::of_text(&text));
    let stage = match language {
        Language::Glsl | Language::Hlsl => Stage::of_file(path),
        Language::Wgsl => options.stage,
    };
    let folder = path.parent().map(Path::to_owned);
    compile(&Source::new(name, text), language, &Options { stage, folder, ..options.clone() })
}

/// Recompiles a shader with fixed specialisation constants for other values, from the text that the module
/// contains. `None` for a module whose constants a device can set.
pub fn specialise(words: &[u32], constants: &[(u32, Number)]) -> Option<Result<Vec<u32>, Diagnostics>> {
    let mut options = kps_foreign::recipe(words)?;
    let text = source_texts(words).into_iter().next()?;
    options.constants = constants.iter().map(|(id, number)| (*id, number.as_f64())).collect();
    Some(compile(&Source::new(text.file, text.text), Language::Wgsl, &options))
}

/// Refuses a module with constants that have no value.
pub fn check_constants(words: &[u32]) -> Result<(), Diagnostics> {
    match &kps_foreign::unset_constants(words)[..] {
        [] => Ok(()),
        [name, ..] => {
            let message =
                format!("the constant `{name}` of this shader has no value: its text gives it none");
            let help = "give the values of all constants in their order, `spec_consts=[..]`, or write a default in the text";
            Err(Diagnostic::error("foreign/no-default", message).help(help).into())
        }
    }
}

/// Refuses a module that is not valid.
pub fn validate(words: &[u32]) -> Result<(), Diagnostics> {
    tools::validate(words).map_err(|error| bad_spirv(error.to_string()))
}

/// The assembly of a module; one that cannot be disassembled is refused as not valid.
pub fn disassemble(words: &[u32]) -> Result<String, Diagnostics> {
    let Some(assembly) = kps_kernel::disassemble(words) else {
        validate(words)?;
        return Err(bad_spirv("the module has instructions that cannot be shown".to_owned()));
    };
    Ok(assembly)
}

/// Assembles SPIR-V text. `#` begins a comment as `;` does, and strings have escapes as a disassembly writes
/// them.
pub fn assemble(text: &str) -> Result<Vec<u32>, Diagnostics> {
    let plain = Plain::of(text);
    let source = Source::new("<assembly>", text);
    tools::assemble(&plain.text).map_err(|AssemblyError { message, line }| {
        let line = plain.lines.get(line.saturating_sub(1) as usize).copied().unwrap_or(line);
        let start = source.offset(line, 1);
        let span = kps_syntax::Span::new(start, start + source.line_text(line).len() as u32);
        let location = kps_syntax::Location { source: source.clone(), span };
        let message = format!("this assembly cannot be read: {}", message.trim_end_matches('.'));
        Diagnostics::from(Diagnostic::error("foreign/assembly", message).label(location, ""))
    })
}

/// Assembly without `#` comments and without escapes other than `\"` and `\\`.
struct Plain {
    text: String,
    /// For each line, the line of the given text that it comes from.
    lines: Vec<u32>,
}

impl Plain {
    fn of(given: &str) -> Plain {
        let mut plain = Plain { text: String::with_capacity(given.len()), lines: vec![1] };
        let (mut letters, mut line, mut in_string) = (given.chars(), 1, false);
        while let Some(letter) = letters.next() {
            match letter {
                '\n' => {
                    line += 1;
                    plain.push('\n', line);
                }
                '\\' if in_string => match unescaped(&mut letters) {
                    Some(letter @ ('"' | '\\')) => plain.text.extend(['\\', letter]),
                    Some(letter) => plain.push(letter, line),
                    None => {}
                },
                '#' | ';' if !in_string => {
                    let rest = letters.as_str();
                    let (comment, rest) = rest.split_at(rest.find('\n').unwrap_or(rest.len()));
                    // A comment in a disassembly states the version.
                    if letter == ';' {
                        plain.text.push(';');
                        plain.text.push_str(comment);
                    }
                    letters = rest.chars();
                }
                _ => {
                    in_string ^= letter == '"';
                    plain.text.push(letter);
                }
            }
        }
        plain
    }

    fn push(&mut self, letter: char, line: u32) {
        self.text.push(letter);
        if letter == '\n' {
            self.lines.push(line);
        }
    }
}

/// Decodes an escape in a string, as Rust's debug format writes it; other letters are unchanged.
fn unescaped(letters: &mut Chars) -> Option<char> {
    Some(match letters.next()? {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => {
            let (code, rest) = letters.as_str().strip_prefix('{').and_then(|rest| rest.split_once('}'))?;
            *letters = rest.chars();
            u32::from_str_radix(code, 16).ok().and_then(char::from_u32)?
        }
        letter => letter,
    })
}

/// The shader translator produced an invalid module.
fn badly_translated(source: &Source, rule: &str) -> Diagnostics {
    let message = format!("`{}` cannot be translated: what comes is not valid SPIR-V: {rule}", source.name());
    let diagnostic = Diagnostic::error("foreign/translator", message);
    diagnostic.help(kps_foreign::ANOTHER_WAY).into()
}

fn bad_spirv(message: String) -> Diagnostics {
    Diagnostic::error("foreign/spirv", message).into()
}

fn not_text(name: &str, at: usize) -> Diagnostics {
    Diagnostic::error("foreign/text", format!("`{name}` is not UTF-8 at byte {at}")).into()
}
