//! The pages: README, ARCHITECTURE, CONTRIBUTING and the book in `docs/src`. Every code block of them is run.
//!
//! The fence of a block says how it is run:
//!
//! ```text
//! python             a script that must succeed on every device, and print what a `text` block below it shows
//! python cpu         the same on the built-in device only
//! python check       the same under `--check`; `check=overflow`, `seed=7` and `profile` are options likewise
//! python raises      a script that must fail, with the message that the `text` block below it shows
//! LANGUAGE file=NAME a file for the `sh` and `console` blocks of the page
//! sh                 shell commands that must succeed, and print what a `text` block below them shows
//! console            shell commands behind `$ `, each with what it prints
//! prompt             a session at the prompt of `kps`
//! rust               a doc test of the crate `kps-pages`, which includes the page
//! LANGUAGE source    a line `{{#include PATH}}`, for which mdBook shows the text of that file
//! text               what the block above prints, or a picture
//! LANGUAGE not-run   nothing runs it; `NOT_RUN` lists each of these
//! ```
//!
//! `UPDATE=1` writes what was printed into the page, to be read before it is committed.

mod block;
mod links;
mod run;

use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

use self::block::{Block, Kind, blocks};
use crate::device::TestDevice;
use crate::program::Program;
use crate::{Failure, root};

/// Blocks that nothing runs: the page, and how the block begins.
const NOT_RUN: &[(&str, &str)] = &[
    ("README.md", "tests/run"),
    ("CONTRIBUTING.md", "cargo build                      # the program, as target/debug/kps"),
    ("docs/src/guide/install.md", "cargo install --path repl"),
];

/// The crate whose doc tests are the blocks in Rust.
const RUST_PAGES: &str = "tests/pages/src/lib.rs";

/// A page, with the files that its blocks share.
pub struct Page {
    pub path: PathBuf,
    /// From the root of the repository.
    pub name: String,
    pub blocks: Vec<Block>,
}

/// A test for each block that is run, by its page and line.
pub fn trials(program: &Program) -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut not_run = Vec::new();
    for path in pages() {
        let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        let page: &'static Page = match blocks(&path) {
            Ok(blocks) => Box::leak(Box::new(Page { path, name, blocks })),
            Err(Failure(message)) => {
                trials.push(Trial::test(format!("pages/{name}"), move || Err(message.into())));
                continue;
            }
        };
        trials.extend(trials_of(program, page));
        not_run.extend(
            page.blocks
                .iter()
                .filter(|block| block.kind == Kind::NotRun)
                .map(|block| (page.name.clone(), block.text.lines().next().unwrap_or_default().to_owned())),
        );
    }
    trials.push(Trial::test("pages/every link leads to a file", || Ok(links::lead_somewhere(&pages())?)));
    trials
        .push(Trial::test("pages/every file that a page names exists", || Ok(links::files_exist(&pages())?)));
    trials.push(Trial::test("pages/every page of the book is in its summary", || {
        Ok(links::are_in_summary(&pages())?)
    }));
    trials.push(Trial::test("pages/every block that is not run is listed", move || Ok(is_listed(&not_run)?)));
    trials
}

/// The pages of the repository, those of the book in order of their paths.
fn pages() -> Vec<PathBuf> {
    let fixed = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root().join(name));
    let mut pages: Vec<PathBuf> = fixed.into_iter().filter(|path| path.exists()).collect();
    collect(&root().join("docs/src"), &mut pages);
    pages
}

fn collect(folder: &Path, pages: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            collect(&entry, pages);
        } else if entry.extension().is_some_and(|ending| ending == "md") {
            pages.push(entry);
        }
    }
}

fn trials_of(program: &Program, page: &'static Page) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (i, block) in page.blocks.iter().enumerate() {
        let title = format!("pages/{}:{}", page.name, block.line);
        let program = program.clone();
        match &block.kind {
            Kind::Script(script) => {
                for device in TestDevice::ALL.into_iter().filter(|device| script.runs_on(*device)) {
                    let program = program.clone();
                    let title = format!("{title} on {}", device.selector());
                    trials.push(Trial::test(title, move || Ok(run::script(&program, page, i, device)?)));
                }
            }
            Kind::Shell => trials.push(Trial::test(title, move || Ok(run::shell(&program, page, i)?))),
            Kind::Console => trials.push(Trial::test(title, move || Ok(run::console(&program, page, i)?))),
            Kind::Prompt => trials.push(Trial::test(title, move || Ok(run::prompt(&program, page, i)?))),
            Kind::File(name) => trials.push(Trial::test(title, move || Ok(is_used(page, name)?))),
            Kind::Source => trials.push(Trial::test(title, move || Ok(is_included(page, i)?))),
            Kind::Rust => trials.push(Trial::test(title, move || Ok(is_doc_test(page)?))),
            Kind::Unknown(fence) => trials.push(Trial::test(title, move || {
                Err(format!("no block is run as ```{fence}: tests/suite/pages has the kinds").into())
            })),
            Kind::Text | Kind::Json | Kind::NotRun => {}
        }
    }
    trials
}

fn is_used(page: &Page, file: &str) -> Result<(), Failure> {
    let commands = page.blocks.iter().filter(|block| matches!(block.kind, Kind::Shell | Kind::Console));
    match commands.into_iter().any(|block| block.text.contains(file)) {
        true => Ok(()),
        false => Err(Failure(format!("no command of the page uses `{file}`"))),
    }
}

/// The file that a block includes exists.
fn is_included(page: &Page, i: usize) -> Result<(), Failure> {
    let text = page.blocks[i].text.trim_end();
    let path = text.strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}"));
    match path.is_some_and(|path| page.path.with_file_name(path).is_file()) {
        true => Ok(()),
        false => Err(Failure(format!("the block includes no file: {text}"))),
    }
}

/// `cargo test` runs the blocks in Rust of the pages that the crate includes.
fn is_doc_test(page: &Page) -> Result<(), Failure> {
    let included = std::fs::read_to_string(root().join(RUST_PAGES))?;
    match included.contains(&format!("/{}\"", page.name)) {
        true => Ok(()),
        false => Err(Failure(format!("{RUST_PAGES} does not include {}", page.name))),
    }
}

fn is_listed(found: &[(String, String)]) -> Result<(), Failure> {
    let found: Vec<(&str, &str)> = found.iter().map(|(page, line)| (&**page, &**line)).collect();
    match found == NOT_RUN {
        true => Ok(()),
        false => Err(Failure(format!("--- listed\n{NOT_RUN:#?}\n--- on the pages\n{found:#?}"))),
    }
}
