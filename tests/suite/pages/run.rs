//! Runs one block of a page as a reader would, in a folder with the page's files and the examples.

use std::sync::{Mutex, PoisonError};

use kps_snapshots as snapshots;

use super::Page;
use super::block::{Kind, Script};
use crate::device::TestDevice;
use crate::program::{self, Output, Program};
use crate::script::TempFolder;
use crate::{Failure, console, prompt, root};

/// The name under which a script is run, as messages show it.
const SCRIPT: &str = "example.kps";

/// How the pages run the program before it is installed.
const FROM_SOURCE: &str = "cargo run --release -- ";

/// A folder with the files of a page, and the examples.
fn folder(page: &Page) -> Result<TempFolder, Failure> {
    let folder = TempFolder::new()?;
    for block in &page.blocks {
        if let Kind::File(name) = &block.kind {
            std::fs::write(folder.0.join(name), &block.text)?;
        }
    }
    std::os::unix::fs::symlink(root().join("examples"), folder.0.join("examples"))?;
    Ok(folder)
}

/// Runs a script and compares its output with the block below it, if there is one.
pub fn script(program: &Program, page: &Page, i: usize, device: TestDevice) -> Result<(), Failure> {
    let block = &page.blocks[i];
    let Kind::Script(Script { options, raises, .. }) = &block.kind else { return Ok(()) };
    let answer = answer(page, i);
    let is_json = answer.is_some_and(|answer| page.blocks[answer].kind == Kind::Json);
    let folder = folder(page)?;
    std::fs::write(folder.0.join(SCRIPT), &block.text)?;
    let mut command = program.command();
    for option in options {
        command.arg(format!("--{option}{}", if is_json { "=/dev/stdout" } else { "" }));
    }
    device.choose(&mut command);
    command.args(["run", SCRIPT]).current_dir(&folder.0);
    let output = program::run(command, "")?;
    let as_wanted = match output.status.code() {
        Some(0) => !raises,
        // Findings of `--check` also exit with 1.
        Some(1) => *raises || !options.is_empty(),
        _ => false,
    };
    if !as_wanted {
        return Err(Failure(format!("it ended with {}\n{}", output.status, printed(&output))));
    }
    compare(page, answer, &printed(&output))
}

/// Runs shell commands, which must succeed.
pub fn shell(program: &Program, page: &Page, i: usize) -> Result<(), Failure> {
    let folder = folder(page)?;
    let text = page.blocks[i].text.replace(FROM_SOURCE, "kps ");
    let mut command = program.shell(&format!("set -e\n{text}"));
    command.current_dir(&folder.0);
    let output = program::run(command, "")?;
    match output.status.success() {
        true => compare(page, answer(page, i), &printed(&output)),
        false => Err(Failure(format!("it ended with {}\n{}", output.status, printed(&output)))),
    }
}

pub fn console(program: &Program, page: &Page, i: usize) -> Result<(), Failure> {
    let folder = folder(page)?;
    let seen = console::replay(program, &page.blocks[i].text, &folder.0)?;
    compare(page, Some(i), &seen)
}

pub fn prompt(program: &Program, page: &Page, i: usize) -> Result<(), Failure> {
    let seen = prompt::replay(program, &page.blocks[i].text)?;
    compare(page, Some(i), &seen)
}

/// The block with the output of the one before it.
fn answer(page: &Page, i: usize) -> Option<usize> {
    let next = page.blocks.get(i + 1)?;
    matches!(next.kind, Kind::Text | Kind::Json).then_some(i + 1)
}

fn printed(output: &Output) -> String {
    format!("{}{}", output.stdout, output.stderr)
}

/// Compares output with a block, and writes it there instead if the run updates snapshots.
fn compare(page: &Page, shown: Option<usize>, seen: &str) -> Result<(), Failure> {
    let Some(shown) = shown.map(|i| &page.blocks[i]) else { return Ok(()) };
    let fits = match shown.kind {
        Kind::Json => plain_json(&shown.text) == plain_json(seen),
        _ => snapshots::fits(&shown.text, seen),
    };
    if fits {
        return Ok(());
    }
    if snapshots::is_update() {
        return write(page, shown.line, &shown.text, seen);
    }
    Err(Failure(format!("--- on the page\n{}\n--- actual\n{seen}", shown.text)))
}

/// Replaces the text of the block whose fence was on a line. Blocks before it may have become longer since.
fn write(page: &Page, line: usize, shown: &str, seen: &str) -> Result<(), Failure> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let text = std::fs::read_to_string(&page.path)?;
    let places =
        text.match_indices("```").map(|(at, _)| at).filter(|&at| at == 0 || text[..at].ends_with('\n'));
    let nth_fence = page.blocks.iter().take_while(|block| block.line < line).count();
    let fence = places.step_by(2).nth(nth_fence).ok_or_else(|| Failure("the block is gone".to_owned()))?;
    let start = fence + text[fence..].find('\n').map_or(0, |at| at + 1);
    if text[start..].starts_with(&format!("{seen}```")) {
        return Ok(());
    }
    if !text[start..].starts_with(&format!("{shown}```")) {
        return Err(Failure(format!("another device prints something else; this one prints\n{seen}")));
    }
    let written = format!("{}{seen}{}", &text[..start], &text[start + shown.len()..]);
    Ok(std::fs::write(&page.path, written)?)
}

/// Without spaces, and without times.
fn plain_json(text: &str) -> String {
    const TIME: &str = "\"nanoseconds\":";
    let text: String = text.split_whitespace().collect();
    let mut parts = text.split(TIME);
    let first = parts.next().unwrap_or_default().to_owned();
    let without_time =
        |part: &str| format!("{TIME}{}", part.trim_start_matches(|c: char| c.is_ascii_digit()));
    first + &parts.map(without_time).collect::<String>()
}
