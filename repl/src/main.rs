//! The program `kps`: runs, checks and shows scripts, and has a prompt.
//!
//! Only this crate prints, reads the terminal or ends the process. Exit codes: 0 for success, 1 if a script
//! failed or has errors, 2 if the command line is wrong or a file cannot be read, 130 after Ctrl-C, 141 if
//! the output is closed, and otherwise the argument of `sys.exit`.

mod args;
mod console;
mod excerpt;
mod explain;
mod heap;
mod log;
mod nested;
mod prompt;
mod render;
mod run;
mod verbs;
mod visible;

use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use args::{Arguments, Verb};
use console::{print_error, report_all};
use kps::inspect::Target;
use run::Script;
use visible::visible;

/// Counts the memory of scripts, for `--memory-limit`.
#[global_allocator]
static HEAP: kps::Heap = kps::Heap;

fn main() -> ExitCode {
    heap::keep_freed();
    let arguments = args::parse();
    let options = arguments.host.clone();
    let result = log::start().and_then(|()| run_verb(arguments, options));
    let code = result.unwrap_or_else(Failure::report);
    if kps::device::vulkan::is_left_running() {
        // A failure of the flush cannot be reported.
        let _ = std::io::stdout().flush();
        run::exit_at_once(code.into());
    }
    ExitCode::from(code)
}

fn run_verb(arguments: Arguments, options: args::HostOptions) -> Result<u8, Failure> {
    match arguments {
        Arguments { verb: Some(Verb::Run { interactive, file, args }), .. } => {
            Script::read(&file, args).and_then(|script| run_or_prompt(script, interactive, options))
        }
        Arguments { verb: Some(Verb::Check { files }), .. } => verbs::check(&files),
        Arguments { verb: Some(Verb::Explain { kernel, given, phase: Some(phase), .. }), .. } => {
            verbs::target(options.device.as_deref())
                .and_then(|target| explain::show_phase(&kernel, &given, phase, &target))
        }
        Arguments { verb: Some(Verb::Explain { kernel, given, line, json, phase: None }), .. } => {
            let form = if json { explain::Form::Json } else { explain::Form::Page };
            explain::explain(&kernel, &given, line, form, options.device)
        }
        Arguments { verb: Some(Verb::Spirv { kernel, given, output }), .. } => {
            verbs::target(options.device.as_deref())
                .map(|target| Target { debug_info: options.debug_info, ..target })
                .and_then(|target| verbs::spirv(&kernel, &given, &target, output.as_deref()))
        }
        Arguments { verb: Some(Verb::Devices { long }), .. } => {
            let form = if long { verbs::Form::Long } else { verbs::Form::Short };
            verbs::devices(options.device, form)
        }
        Arguments { code: Some(code), args, interactive, .. } => {
            Script::of_code(code, args).and_then(|script| run_or_prompt(script, interactive, options))
        }
        Arguments { interactive: false, .. } if !std::io::stdin().is_terminal() => {
            Script::read(Path::new("-"), vec![]).and_then(|script| run::run(&script, options))
        }
        _ => prompt::start(None, options),
    }
}

fn run_or_prompt(script: Script, is_interactive: bool, options: args::HostOptions) -> Result<u8, Failure> {
    match is_interactive {
        true => prompt::start(Some(&script), options),
        false => run::run(&script, options),
    }
}

/// Why the program failed.
pub enum Failure {
    /// Mistakes in a script.
    Script(kps_syntax::Diagnostics),
    /// The command line, or the world around: a sentence.
    Usage(String),
    /// The standard output cannot be written.
    Output(std::io::Error),
    /// The reader closed the output.
    BrokenPipe,
}

impl Failure {
    /// Prints the failure and returns the exit code.
    fn report(self) -> u8 {
        match self {
            Failure::Script(diagnostics) => {
                report_all(&diagnostics);
                1
            }
            Failure::Usage(sentence) => {
                print_error(format_args!("kps: {}\n", visible(&sentence)));
                2
            }
            Failure::Output(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                Failure::BrokenPipe.report()
            }
            Failure::Output(error) => {
                print_error(format_args!("kps: cannot write to the standard output: {error}\n"));
                1
            }
            // As a process that SIGPIPE ended.
            Failure::BrokenPipe => 141,
        }
    }
}

impl From<kps_syntax::Diagnostics> for Failure {
    fn from(diagnostics: kps_syntax::Diagnostics) -> Failure {
        Failure::Script(diagnostics)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::Usage(error.to_string()),
        }
    }
}

/// The text of a file, or of the standard input for `-`.
pub fn read(file: &Path) -> Result<String, Failure> {
    let bytes = read_bytes(file)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::Usage(format!("cannot read `{}`: it is not UTF-8 at byte {at}", file.display()))
    })
}

pub fn read_bytes(file: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = match file.to_str() {
        Some("-") => {
            let mut bytes = vec![];
            std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
        }
        _ => std::fs::read(file),
    };
    bytes.map_err(|error| {
        let reason = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            std::io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
            _ => error.to_string(),
        };
        Failure::Usage(format!("cannot read `{}`: {reason}", file.display()))
    })
}
