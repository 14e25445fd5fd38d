//! The page on error codes: each code in the sources, with an example message from the expected outputs of
//! tests, or else its format string.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::{Failure, files, root};

const HEAD: &str = "\
# Error codes

You want to look up the code above a message.
A test prints this page from the sources and from the expected outputs of the tests.
`UPDATE=1` writes it.

A run-time exception has no code: it has the name of its class, as in Python.
The message below a code is one example.
";

/// The files with diagnostics, and the subjects of the families of codes.
const FAMILIES: &[(&str, &str)] = &[
    ("syntax", "Mistakes in the syntax of a script."),
    ("compile", "Code that the language does not have, or that contradicts itself."),
    ("script", "Warnings of `kps check` about ordinary code."),
    ("kernel", "Mistakes in a kernel, and warnings about it."),
    ("launch", "Warnings about a launch."),
    ("checked", "What a checked run finds: see [Checking](../guide/checking.md)."),
    ("foreign", "Mistakes in GLSL, HLSL, WGSL and SPIR-V."),
    ("inspect", "Mistakes in what `kps explain --args` is given."),
];

/// Codes that no user sees.
const INTERNAL: [&str; 2] = ["kernel/cancelled", "kernel/known-later"];

#[derive(Default)]
struct Code {
    files: BTreeSet<String>,
    example: Option<String>,
    format: Option<String>,
}

pub fn page() -> Result<String, Failure> {
    let mut codes = constructed()?;
    add_examples(&mut codes)?;
    let mut page = HEAD.to_owned();
    for (family, about) in FAMILIES {
        write!(page, "\n## `{family}`\n\n{about}\n\n| Code | Message | Made in |\n|---|---|---|\n")
            .expect("a string takes all");
        for (name, code) in codes.iter().filter(|(name, _)| family_of(name) == Some(family)) {
            let message = code.example.as_ref().or(code.format.as_ref()).map_or("", |message| message);
            // Other files compare a code that a constructor in an errors file creates.
            let has_constructor = code.files.iter().any(|file| file.contains("errors"));
            let files = code.files.iter().filter(|file| !has_constructor || file.contains("errors"));
            let files: Vec<String> = files.map(|file| format!("`{file}`")).collect();
            writeln!(page, "| `{name}` | {} | {} |", escaped(message), files.join(" "))
                .expect("a string takes all");
        }
    }
    Ok(page)
}

fn family_of(code: &str) -> Option<&'static str> {
    let (family, _) = code.split_once('/')?;
    FAMILIES.iter().map(|(known, _)| *known).find(|known| *known == family)
}

/// Every string literal of the sources that is a code, with the files that have it.
fn constructed() -> Result<BTreeMap<String, Code>, Failure> {
    let mut codes: BTreeMap<String, Code> = BTreeMap::new();
    for file in ["compiler", "runtime", "repl"].iter().flat_map(|folder| files(folder, &["rs"])) {
        let shown = file.strip_prefix(root()).unwrap_or(&file).display().to_string();
        if !shown.contains("/src/") {
            continue;
        }
        let text = std::fs::read_to_string(&file)?;
        let pieces: Vec<&str> = text.split('"').collect();
        for (i, piece) in pieces.iter().enumerate() {
            if !is_code(piece) || INTERNAL.contains(piece) {
                continue;
            }
            let code = codes.entry((*piece).to_owned()).or_default();
            code.files.insert(shown.clone());
            let format = pieces.get(i + 2).filter(|text| text.contains(' ') && !text.contains('\n'));
            code.format = code.format.take().or_else(|| format.map(|text| (*text).to_owned()));
        }
    }
    Ok(codes)
}

fn is_code(text: &str) -> bool {
    let rest = family_of(text).and_then(|family| text.strip_prefix(family)?.strip_prefix('/'));
    rest.is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
}

/// The expected outputs show a code as `code: message`, or above the line `× message`.
fn add_examples(codes: &mut BTreeMap<String, Code>) -> Result<(), Failure> {
    let expected = ["err", "txt", "console", "log", "out"];
    for file in ["tests/cases", "compiler", "runtime"].iter().flat_map(|folder| files(folder, &expected)) {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let mut above = None;
        for line in text.lines() {
            let (name, message) = match line.split_once(": ") {
                Some((name, message)) if is_code(name) => (Some(name), Some(message)),
                _ if is_code(line) => (Some(line), None),
                _ => (above, line.trim_start().strip_prefix(['×', '⚠']).map(str::trim)),
            };
            match (name, message) {
                (Some(name), Some(message)) => {
                    let code = codes.get_mut(name).ok_or_else(|| {
                        Failure(format!("{}: no source constructs `{name}`", file.display()))
                    })?;
                    code.example.get_or_insert_with(|| message.to_owned());
                    above = None;
                }
                (name, _) => above = name,
            }
        }
    }
    Ok(())
}

/// As a cell of a table holds it.
fn escaped(message: &str) -> String {
    message.replace("\\\"", "\"").replace('|', "\\|").replace('<', "&lt;")
}
