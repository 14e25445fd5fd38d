//! The page on error codes: the rows of the crates' tables, by family.
//!
//! Every code that the sources construct has one row, and every row is of a code that they construct.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use kps::inspect::{ErrorCode, error_codes};

use crate::{Failure, files, root};

const HEAD: &str = "\
# Error codes

You want to look up the code above a message.
The message says what is wrong in your text; this page says what the code stands for.
A test prints it from the tables of the sources, `errors/codes.rs` in each crate.
`UPDATE=1` writes it.

A run-time exception has no code: it has the name of its class, as in Python.
";

/// The subjects of the families of codes, in the order of the page.
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

/// The file of each crate that has its rows.
const TABLE: &str = "errors/codes.rs";

pub fn page() -> Result<String, Failure> {
    let rows = rows()?;
    let mut page = HEAD.to_owned();
    for (family, about) in FAMILIES {
        write!(page, "\n## `{family}`\n\n{about}\n\n| Code | Meaning | What to do |\n|---|---|---|\n")
            .expect("a string takes all");
        for row in rows.values().filter(|row| family_of(row.code) == Some(family)) {
            writeln!(page, "| `{}` | {} | {} |", row.code, escaped(row.meaning), escaped(row.remedy))
                .expect("a string takes all");
        }
    }
    Ok(page)
}

fn rows() -> Result<BTreeMap<&'static str, &'static ErrorCode>, Failure> {
    let mut rows = BTreeMap::new();
    for row in error_codes() {
        if rows.insert(row.code, row).is_some() {
            return Err(Failure(format!("`{}` has two rows", row.code)));
        }
    }
    Ok(rows)
}

/// Holds the tables to the sources.
pub fn every_code_has_a_row() -> Result<(), Failure> {
    let constructed = constructed()?;
    let rows = rows()?;
    let without_row = constructed.iter().filter(|code| !rows.contains_key(&***code));
    let mut mistakes: Vec<String> = without_row.map(|code| format!("`{code}` has no row")).collect();
    let unused = rows.keys().filter(|code| !constructed.contains(**code));
    mistakes.extend(unused.map(|code| format!("no source constructs `{code}`")));
    match mistakes.is_empty() {
        true => Ok(()),
        false => Err(Failure(mistakes.join("\n"))),
    }
}

fn family_of(code: &str) -> Option<&'static str> {
    let (family, _) = code.split_once('/')?;
    FAMILIES.iter().map(|(known, _)| *known).find(|known| *known == family)
}

/// Every string literal of the sources that is a code, outside of the tables.
fn constructed() -> Result<BTreeSet<String>, Failure> {
    let mut codes = BTreeSet::new();
    for file in ["compiler", "runtime", "repl"].iter().flat_map(|folder| files(folder, &["rs"])) {
        let path = file.strip_prefix(root()).unwrap_or(&file).display().to_string();
        if !path.contains("/src/") || path.ends_with(TABLE) {
            continue;
        }
        let text = std::fs::read_to_string(&file)?;
        let found = text.split('"').filter(|piece| is_code(piece) && !INTERNAL.contains(piece));
        codes.extend(found.map(str::to_owned));
    }
    Ok(codes)
}

fn is_code(text: &str) -> bool {
    let rest = family_of(text).and_then(|family| text.strip_prefix(family)?.strip_prefix('/'));
    rest.is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
}

/// As a cell of a table holds it.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}
