//! A `.console` file: shell commands with their output, as a reader of the manual would see them.
//!
//! A line `$ COMMAND` runs in the folder `files` beside the transcript. The lines below it are its standard
//! output and then its standard error, and last `[exit N]` if N is not 0. The expected output may be a
//! pattern.

use std::path::Path;

use kps_snapshots::{is_update, matches};

use crate::Failure;
use crate::program::{self, Program};

pub fn run(program: &Program, path: &Path) -> Result<(), Failure> {
    let transcript = std::fs::read_to_string(path)?;
    let actual = replay(program, &transcript, &path.with_file_name("files"))?;
    if actual.trim_end() == transcript.trim_end() {
        return Ok(());
    }
    if is_update() {
        return Ok(std::fs::write(path, actual)?);
    }
    Err(Failure(format!("--- expected\n{transcript}\n--- actual\n{actual}")))
}

/// The transcript with the commands' current output; output that matches the expected pattern is left
/// unchanged.
pub fn replay(program: &Program, transcript: &str, folder: &Path) -> Result<String, Failure> {
    let mut actual = String::new();
    for Entry { command, expected } in entries(transcript) {
        if command.is_empty() {
            actual.push_str(expected);
            continue;
        }
        let seen = observe(program, command, folder)?;
        let fits = matches(expected, &seen);
        actual.push_str(&format!("$ {command}\n{}", if fits { expected } else { &seen }));
    }
    Ok(actual)
}

/// A command and the lines below it; text before the first command has none.
struct Entry<'t> {
    command: &'t str,
    expected: &'t str,
}

fn entries(transcript: &str) -> Vec<Entry<'_>> {
    let starts = transcript.match_indices("$ ").map(|(at, _)| at);
    let starts: Vec<usize> = starts.filter(|&at| at == 0 || transcript[..at].ends_with('\n')).collect();
    let head =
        Entry { command: "", expected: &transcript[..starts.first().copied().unwrap_or(transcript.len())] };
    let ends = starts.iter().skip(1).copied().chain([transcript.len()]);
    let commands = starts.iter().zip(ends).map(|(&start, end)| {
        let (command, expected) =
            transcript[start + 2..end].split_once('\n').unwrap_or((&transcript[start + 2..end], ""));
        Entry { command, expected }
    });
    std::iter::once(head).chain(commands).collect()
}

fn observe(program: &Program, command: &str, folder: &Path) -> Result<String, Failure> {
    let mut shell = program.shell(command);
    shell.current_dir(folder);
    let output = program::run(shell, "")?;
    let mut seen = output.stdout;
    end_line(&mut seen);
    seen.push_str(&output.stderr);
    end_line(&mut seen);
    match output.status.code() {
        Some(0) => {}
        Some(code) => seen.push_str(&format!("[exit {code}]\n")),
        None => seen.push_str("[killed]\n"),
    }
    Ok(seen)
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}
