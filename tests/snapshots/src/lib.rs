//! Goldens: what a test expects lies in a file beside its case.
//!
//! In goes what was seen; out comes whether it is what the file holds. With `UPDATE=1` in the environment the file is
//! written instead, to be read before it is committed.

mod pattern;
mod sink;

use std::fs;
use std::path::{Path, PathBuf};

pub use pattern::matches;
pub use sink::Sink;

/// The files of a folder with one of these endings, in order of name.
///
/// # Panics
///
/// Where there is none: a test that looks at nothing cannot fail.
pub fn cases(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a folder that can be listed").path())
        .filter(|path| path.extension().is_some_and(|found| endings.iter().any(|ending| found == *ending)))
        .collect();
    assert!(!paths.is_empty(), "there is no {endings:?} in {}", folder.display());
    paths.sort();
    paths
}

/// Whether a text is what is expected, which is a pattern where `[..]` is in it ([`matches`]).
pub fn fits(expected: &str, seen: &str) -> bool {
    expected == seen || expected.contains("[..]") && matches(expected, seen)
}

/// Whether the run writes what it sees as what is expected.
pub fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some_and(|value| value != "0")
}

/// Compares text with the file that holds what is expected, which may be a pattern ([`fits`]); a missing file means
/// an empty text.
///
/// # Errors
///
/// Both texts, where they differ; what the system says of a file that cannot be written.
pub fn compare(expected_file: &Path, seen: &str) -> Result<(), String> {
    let expected = fs::read_to_string(expected_file).unwrap_or_default();
    if fits(&expected, seen) {
        return Ok(());
    }
    if is_update() {
        let written = match seen {
            "" => fs::remove_file(expected_file),
            _ => fs::write(expected_file, seen),
        };
        return written.map_err(|error| format!("{}: {error}", expected_file.display()));
    }
    Err(format!("--- expected ({})\n{expected}\n--- seen\n{seen}", expected_file.display()))
}
