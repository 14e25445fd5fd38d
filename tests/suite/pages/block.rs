//! The code blocks of a page, each with its fence.

use std::path::Path;

use crate::Failure;
use crate::device::TestDevice;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Script(Script),
    File(String),
    Shell,
    Console,
    Prompt,
    Rust,
    Text,
    Json,
    /// The source that the page includes.
    Source,
    NotRun,
    /// Another fence.
    Unknown(String),
}

/// How a script is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Without their dashes.
    pub options: Vec<String>,
    pub is_cpu_only: bool,
    pub raises: bool,
}

impl Script {
    /// Checked and profiled scripts run on the built-in device.
    pub fn runs_on(&self, device: TestDevice) -> bool {
        device == TestDevice::Cpu || !self.is_cpu_only && self.options.is_empty()
    }
}

pub struct Block {
    pub kind: Kind,
    /// The line of its fence, from 1.
    pub line: usize,
    pub text: String,
}

/// The blocks of a page in their order.
pub fn blocks(page: &Path) -> Result<Vec<Block>, Failure> {
    let page = std::fs::read_to_string(page)?;
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_inside = false;
    for (i, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), is_inside) {
            (Some(fence), false) => {
                blocks.push(Block { kind: kind(fence), line: i + 1, text: String::new() });
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

fn kind(fence: &str) -> Kind {
    let words: Vec<&str> = fence.split_whitespace().collect();
    match words[..] {
        [_, "not-run"] => Kind::NotRun,
        [_, "source"] => Kind::Source,
        [_, file] if file.starts_with("file=") => Kind::File(file["file=".len()..].to_owned()),
        ["python", ref words @ ..] => Kind::Script(script(words)),
        ["sh"] => Kind::Shell,
        ["console"] => Kind::Console,
        ["prompt"] => Kind::Prompt,
        ["rust"] => Kind::Rust,
        ["text"] => Kind::Text,
        ["json"] => Kind::Json,
        _ => Kind::Unknown(fence.to_owned()),
    }
}

fn script(words: &[&str]) -> Script {
    let mut script = Script::default();
    for &word in words {
        match word {
            "cpu" => script.is_cpu_only = true,
            "raises" => script.raises = true,
            option => script.options.push(option.to_owned()),
        }
    }
    script
}
