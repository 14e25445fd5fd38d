//! A `.prompt` file: a session at the prompt, as one would copy it from a terminal.
//!
//! Lines that begin with `>>> ` or `... ` are typed; the others are the program's answers. The input is a
//! pipe, which does not echo it, so the transcript is composed here.

use std::path::Path;

use crate::device::TestDevice;
use crate::program::{self, Program};
use crate::{Failure, compare};

const PROMPTS: [&str; 2] = [">>> ", "... "];

pub fn run(program: &Program, path: &Path) -> Result<(), Failure> {
    compare(path, &replay(program, &std::fs::read_to_string(path)?)?)
}

/// The transcript with the program's current answers.
pub fn replay(program: &Program, transcript: &str) -> Result<String, Failure> {
    let typed: Vec<&str> = transcript.lines().filter_map(typed_text).collect();
    let input: String = typed.iter().map(|line| format!("{line}\n")).collect();
    let mut shell = program.shell("exec kps -i 2>&1");
    TestDevice::Cpu.choose(&mut shell);
    let output = program::run(shell, &input)?;
    if output.status.code() != Some(0) {
        return Err(Failure(format!("it ended with {}:\n{}", output.status, output.stdout)));
    }
    Ok(put_together(&output.stdout, &typed))
}

/// The typed text on a line of the transcript; a bare prompt is an empty line.
fn typed_text(line: &str) -> Option<&str> {
    PROMPTS.iter().find_map(|prompt| match line == prompt.trim_end() {
        true => Some(""),
        false => line.strip_prefix(prompt),
    })
}

/// Inserts each typed line after its prompt.
fn put_together(stdout: &str, typed: &[&str]) -> String {
    let mut transcript = String::new();
    let mut typed = typed.iter();
    for line in stdout.split_inclusive('\n') {
        let mut rest = line;
        while let Some((prompt, after)) =
            PROMPTS.iter().find_map(|prompt| Some((prompt, rest.strip_prefix(prompt)?)))
        {
            // The last prompt is answered by the end of the input.
            let Some(text) = typed.next() else { return transcript };
            transcript.push_str(format!("{prompt}{text}").trim_end());
            transcript.push('\n');
            rest = after;
        }
        transcript.push_str(rest);
    }
    transcript
}
