//! The README's own words: its script is run and prints what stands below it, and its messages are those
//! that `kps check` prints.

use std::process::Command;

use crate::program::{self, Program};
use crate::{Failure, root};

/// Runs each block of Python, which the block behind it answers.
pub fn scripts_print_what_they_show(program: &Program) -> Result<(), Failure> {
    let blocks = blocks()?;
    let scripts: Vec<&[Block]> = blocks.windows(2).filter(|pair| pair[0].language == "python").collect();
    if scripts.is_empty() {
        return Err(Failure("the README shows no script".to_owned()));
    }
    for pair in scripts {
        let mut command = program.command();
        command.args(["--device", "cpu", "run", "-"]);
        let output = program::run(command, &pair[0].text)?;
        same(&pair[1].text, &format!("{}{}", output.stdout, output.stderr))?;
    }
    Ok(())
}

/// The messages that are shown, of the script that stands among the files of the program's cases.
pub fn messages_are_as_shown(program: &Program) -> Result<(), Failure> {
    let blocks = blocks()?;
    let shown = blocks.iter().find(|block| block.text.starts_with("kernel/"));
    let shown = shown.ok_or_else(|| Failure("the README shows no messages".to_owned()))?;
    let mut command: Command = program.command();
    command.args(["check", "blend.kps"]).current_dir(root().join("tests/cases/program/files"));
    let output = program::run(command, "")?;
    same(&shown.text, output.stderr.strip_suffix("2 mistakes\n").unwrap_or(&output.stderr))
}

fn same(shown: &str, seen: &str) -> Result<(), Failure> {
    match shown == seen {
        true => Ok(()),
        false => Err(Failure(format!("--- in the README\n{shown}\n--- actual\n{seen}"))),
    }
}

struct Block {
    language: String,
    text: String,
}

fn blocks() -> Result<Vec<Block>, Failure> {
    let page = std::fs::read_to_string(root().join("README.md"))?;
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_inside = false;
    for line in page.lines() {
        match (line.strip_prefix("```"), is_inside) {
            (Some(language), false) => {
                blocks.push(Block { language: language.to_owned(), text: String::new() });
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
