//! Snapshots: the expected output of a test is in a file beside its case.
//!
//! Output goes in; the result is whether it equals the content of the file. With `UPDATE=1` in the
//! environment the file is written instead, to be read before it is committed.

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
/// If there is none: a test without cases cannot fail.
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

/// Whether a text equals the expected one, which is a pattern if it contains `[..]` ([`matches`]).
pub fn fits(expected: &str, seen: &str) -> bool {
    expected == seen || expected.contains("[..]") && matches(expected, seen)
}

/// Whether the run writes its output as the expected one.
pub fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some_and(|value| value != "0")
}

/// Compares text with the expected file, which may be a pattern ([`fits`]); a missing file means an empty
/// text.
///
/// # Errors
///
/// Both texts, if they differ; the system's message if the file cannot be written.
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
