//! The words of README.md and of docs: each script is run and prints what stands below it, each excerpt is where it
//! comes from, and messages are those that `kps check` prints.
//!
//! A block of `python` is a script that runs as it stands; the block behind it, in no language or in `text`, is all
//! that it prints. Behind `python` may stand `check` or `profile`, options under which it is run: the profile is told
//! as JSON, in a block of `json`, whose spaces mean nothing. One of `python fragment` is not run.

use std::path::Path;
use std::process::Command;

use kps_goldens as goldens;
use libtest_mimic::Trial;

use crate::program::{self, Program};
use crate::{Failure, root};

/// Where the excerpts in Rust come from; the suite runs it.
const RUST: &str = "examples/embed/hello.rs";

/// A test for each script and excerpt, by its page and line.
pub fn trials(program: &Program) -> Vec<Trial> {
    let pages = [root().join("README.md")].into_iter().chain(goldens::cases(&root().join("docs"), &["md"]));
    let mut trials: Vec<Trial> = pages.flat_map(|page| trials_of(program, &page)).collect();
    let program = program.clone();
    trials.push(Trial::test("pages/messages", move || Ok(messages_are_as_shown(&program)?)));
    trials
}

fn trials_of(program: &Program, page: &Path) -> Vec<Trial> {
    let name = page.file_name().unwrap_or_default().display().to_string();
    let mut trials = Vec::new();
    let mut blocks = blocks(page).unwrap_or_default().into_iter().peekable();
    while let Some(block) = blocks.next() {
        let title = format!("pages/{name}:{}", block.line);
        let program = program.clone();
        match block.kind.split_whitespace().collect::<Vec<_>>()[..] {
            ["rust"] => trials.push(Trial::test(title, move || Ok(is_excerpt(&block)?))),
            ["python", "fragment"] => {}
            ["python", ref options @ ..] => {
                let options: Vec<String> = options.iter().map(|option| format!("--{option}")).collect();
                let answer = blocks.next_if(|next| ["", "text", "json"].contains(&&*next.kind));
                trials.push(Trial::test(title, move || {
                    Ok(prints(&program, &block, &options, answer.as_ref())?)
                }));
            }
            _ => {}
        }
    }
    trials
}

/// Runs a script and compares what it prints.
fn prints(
    program: &Program,
    script: &Block,
    options: &[String],
    answer: Option<&Block>,
) -> Result<(), Failure> {
    let is_json = answer.is_some_and(|answer| answer.kind == "json");
    let mut command = program.command();
    for option in options {
        command.arg(if is_json { format!("{option}=/dev/stdout") } else { option.clone() });
    }
    command.args(["--device", "cpu", "run", "-"]);
    let output = program::run(command, &script.text)?;
    let seen = format!("{}{}", output.stdout, output.stderr);
    match answer {
        None if output.status.success() => Ok(()),
        None => Err(Failure(seen)),
        Some(answer) if is_json => same(&plain_json(&answer.text), &plain_json(&seen)),
        Some(answer) => same(&answer.text, &seen),
    }
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

/// Each paragraph of it is lines of the file, in its order.
fn is_excerpt(block: &Block) -> Result<(), Failure> {
    let whole = std::fs::read_to_string(root().join(RUST))?;
    let plain = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let whole = plain(&whole);
    let mut rest = &whole[..];
    for paragraph in plain(&block.text).split("\n\n") {
        let Some((_, behind)) = rest.split_once(paragraph.trim()) else {
            return Err(Failure(format!("{RUST} has no such lines:\n{paragraph}")));
        };
        rest = behind;
    }
    Ok(())
}

/// The messages that the README shows, of the script that stands among the files of the program's cases.
fn messages_are_as_shown(program: &Program) -> Result<(), Failure> {
    let blocks = blocks(&root().join("README.md"))?;
    let shown = blocks.iter().find(|block| block.text.starts_with("kernel/"));
    let shown = shown.ok_or_else(|| Failure("the README shows no messages".to_owned()))?;
    let mut command: Command = program.command();
    command.args(["check", "blend.kps"]).current_dir(root().join("tests/cases/program/files"));
    let output = program::run(command, "")?;
    same(&shown.text, output.stderr.strip_suffix("2 mistakes\n").unwrap_or(&output.stderr))
}

fn same(shown: &str, seen: &str) -> Result<(), Failure> {
    match goldens::fits(shown, seen) {
        true => Ok(()),
        false => Err(Failure(format!("--- on the page\n{shown}\n--- actual\n{seen}"))),
    }
}

struct Block {
    /// What stands behind its fence: the language, and how it is run.
    kind: String,
    line: usize,
    text: String,
}

fn blocks(page: &Path) -> Result<Vec<Block>, Failure> {
    let page = std::fs::read_to_string(page)?;
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_inside = false;
    for (i, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), is_inside) {
            (Some(kind), false) => {
                blocks.push(Block { kind: kind.to_owned(), line: i + 1, text: String::new() });
                is_inside = true;
            }
            (Some(_), true) => is_inside = false,
            (None, true) => {
                let block = blocks.last_mut().expect("a block begins with its fence");
                block.text += line;
                block.text.push('\n');
            }
            (None, false) => {}
        }
    }
    Ok(blocks)
}
