//! The page on the command line: the output of `--help` for each command.

use std::fmt::Write;

use crate::Failure;
use crate::program::{self, Program};

const HEAD: &str = "\
# The command line

You want to look up a command or an option.
A test prints this page from what `kps --help` says.
`UPDATE=1` writes it.

The exit code is 0 when all went well, and 1 when a script failed or has mistakes.
It is 2 when the command line is wrong or a file cannot be read, and 130 after Ctrl-C.
`sys.exit` gives any other one.

| Variable | Meaning |
|---|---|
| `KPS_DEVICE` | the device, as `--device` takes it |
| `KPS_LOG` | `error`, `warning`, `info` or `debug`: what kps does with devices, on the standard error |
| `KPS_SPIRV_DIR` | a folder to which the SPIR-V of every kernel is written |
| `KPS_VALIDATION` | `1` runs Vulkan under its validation layer; a message of the layer is an error |
| `KOMPUTE_ENV_DEBUG_LAYERS` | names of Vulkan layers, whose messages are logged at DEBUG |
| `NO_COLOR` | turns colours off |
";

const COMMANDS: [&str; 6] = ["", "run", "check", "explain", "spirv", "devices"];

pub fn page(program: &Program) -> Result<String, Failure> {
    let common = help(program, "")?;
    let mut page = HEAD.to_owned();
    for name in COMMANDS {
        let title = format!("kps {name}");
        write!(page, "\n## `{}`\n\n", title.trim_end()).expect("a string takes all");
        if !name.is_empty() {
            page += "It also takes the options of `kps`.\n\n";
        }
        let own = help(program, name)?.into_iter().filter(|line| {
            let is_common_option = line.trim_start().starts_with('-') && common.contains(line);
            name.is_empty() || !is_common_option
        });
        let own: String = own.map(|line| line + "\n").collect();
        writeln!(page, "```text\n{own}```").expect("a string takes all");
    }
    Ok(page)
}

/// The lines that `--help` prints.
fn help(program: &Program, command: &str) -> Result<Vec<String>, Failure> {
    let mut help = program.command();
    help.args(Some(command).filter(|name| !name.is_empty())).arg("--help");
    Ok(program::run(help, "")?.stdout.lines().map(|line| line.trim_end().to_owned()).collect())
}
