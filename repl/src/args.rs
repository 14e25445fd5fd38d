//! The command line: verbs, options and their values.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, Parser, Subcommand};
use kps::device::Checks;
use kps::explain::AskedLine;
use kps::inspect::{Phase, nearest};

use crate::console::print_error;
use crate::visible::{escape, visible};

/// Run Python-like scripts whose kernels run on any GPU, or on the CPU.
#[derive(Parser, Debug)]
#[command(name = "kps", version, about, args_conflicts_with_subcommands = true)]
#[command(after_help = "Without a command, `kps FILE` runs a script, and `kps` starts the prompt.")]
pub struct Arguments {
    #[command(subcommand)]
    pub verb: Option<Verb>,

    /// Start the prompt even if the input is not a terminal. After FILE or CODE, it has its names.
    #[arg(short = 'i', long)]
    pub interactive: bool,

    /// Run this text as a script.
    #[arg(short = 'c', value_name = "CODE")]
    pub code: Option<String>,

    /// The script's arguments in `sys.argv`, after `-c`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true, requires = "code")]
    pub args: Vec<OsString>,

    #[command(flatten)]
    pub host: HostOptions,
}

/// The device of scripts, and their limits.
#[derive(Args, Debug, Default, Clone)]
pub struct HostOptions {
    /// Which device to run on: `cpu`, `vulkan`, `vulkan:1`, a number of `kps devices`, or a part of a
    /// name. Otherwise KPS_DEVICE, otherwise the best GPU, otherwise the CPU.
    #[arg(long = "device", short = 'd', value_name = "DEVICE", global = true)]
    pub device: Option<String>,

    /// Check kernels while they run, on the CPU device: indices out of bounds, races, divisions by zero and
    /// others. Each mistake is reported, and the exit code is 1 if there was any. Name checks to replace the
    /// usual ones: --check=bounds, --check=usual,overflow,nan, --check=all.
    /// By default only small launches on the CPU device are checked; --check=off disables that.
    #[arg(long, value_name = "CHECKS", global = true, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", value_parser = check)]
    pub check: Option<Check>,

    /// Check, with workgroups and invocations in a random order, to expose results that depend on the order.
    /// Without N the seed is random, and is printed.
    #[arg(long, value_name = "N", global = true, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "new", value_parser = seed)]
    pub seed: Option<u64>,

    /// Count the cost of kernels by line, in terms of a GPU, and print it at the end of the script;
    /// with =FILE write it there as JSON. Kernels run on the CPU device.
    #[arg(long, value_name = "FILE", global = true, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "-", conflicts_with_all = ["check", "seed"])]
    pub profile: Option<PathBuf>,

    /// Write a trace of host calls, submissions, copies and kernels to FILE when the script has ended, as JSON
    /// for chrome://tracing and Perfetto.
    #[arg(long, value_name = "FILE", global = true)]
    pub trace: Option<PathBuf>,

    /// Add debug information to kernels: the source's text, types, functions and variables.
    #[arg(short = 'g', long, global = true)]
    pub debug_info: bool,

    /// Raise TimeoutError in a script, or an entry at the prompt, that runs for longer.
    #[arg(long, value_name = "SECONDS", global = true, value_parser = seconds)]
    pub time_limit: Option<Duration>,

    /// Raise MemoryError in a script whose values need more than this: 500M, 2G. The default is nine tenths of
    /// the available memory.
    #[arg(long, value_name = "BYTES", global = true, value_parser = bytes)]
    pub memory_limit: Option<usize>,
}

/// The value of `--check`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    Off,
    On(Checks),
}

fn check(text: &str) -> Result<Check, String> {
    match text {
        "off" => Ok(Check::Off),
        names => match kps::parse_checks(names) {
            Ok(checks) => Ok(Check::On(checks)),
            Err(message) => Err(format!("{message}; off is for none at all")),
        },
    }
}

fn seed(text: &str) -> Result<u64, String> {
    match text {
        "new" => Ok(SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |time| time.as_micros() as u64 % 1_000_000)),
        number => number.parse().map_err(|_| "a seed is a whole number, such as 7".to_owned()),
    }
}

fn phase(text: &str) -> Result<Phase, String> {
    let named = Phase::ALL.into_iter().find(|phase| phase.name() == text);
    named.ok_or_else(|| {
        let names: Vec<&str> = Phase::ALL.iter().map(|phase| phase.name()).collect();
        format!("the phases are {}", names.join(", "))
    })
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.parse().ok().filter(|seconds| *seconds > 0.0);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| "a time in seconds is a number above 0, such as 2.5".to_owned())
}

/// Parses a number of bytes, with an optional unit (a power of 1024).
fn bytes(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => Some(0),
        "K" | "KB" | "KIB" => Some(10),
        "M" | "MB" | "MIB" => Some(20),
        "G" | "GB" | "GIB" => Some(30),
        "T" | "TB" | "TIB" => Some(40),
        _ => None,
    };
    let number: Option<f64> = digits.parse().ok().filter(|number: &f64| *number > 0.0 && number.is_finite());
    match (number, power) {
        (Some(number), Some(power)) => Ok((number * f64::from(2_u32).powi(power)) as usize),
        _ => Err("a number of bytes is written 500M, 2G or 1048576".to_owned()),
    }
}

#[derive(Subcommand, Debug)]
pub enum Verb {
    /// Run a script.
    Run {
        /// Start the prompt with the script's names after it has ended.
        #[arg(short = 'i', long)]
        interactive: bool,
        /// The script; `-` reads it from the standard input.
        file: PathBuf,
        /// The script's arguments in `sys.argv`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Report every mistake that can be found without running.
    Check {
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Explain a kernel: types, conversions, tests of indices, and the device features that it needs.
    Explain {
        /// The kernel, and optionally the line of it to explain.
        #[arg(value_name = "FILE[:KERNEL[:LINE]]")]
        kernel: OsString,
        #[command(flatten)]
        given: GivenArgs,
        /// All that is known of this line, and its SPIR-V: `6`, or `helpers.kps:6` for a function of another file.
        #[arg(long, value_name = "[FILE:]N")]
        line: Option<AskedLine>,
        /// Print every remark with its place, as JSON for tools.
        #[arg(long)]
        json: bool,
        /// Show what one phase of the compiler made of the kernel: `infer`, `ir`, `ranges` or `spirv`.
        #[arg(long, value_name = "PHASE", value_parser = phase, conflicts_with_all = ["line", "json"])]
        phase: Option<Phase>,
    },
    /// Show the SPIR-V of a kernel, compiled for any device, or for the one that `--device` names.
    Spirv {
        /// `FILE` for all its kernels, `FILE:KERNEL` for one.
        #[arg(value_name = "FILE[:KERNEL]")]
        kernel: OsString,
        #[command(flatten)]
        given: GivenArgs,
        /// Write the binary here instead (`-` for the standard output).
        #[arg(short = 'o', long, value_name = "OUT")]
        output: Option<PathBuf>,
    },
    /// List the devices; a star marks the default.
    Devices {
        /// Also show the driver of each, and the matrix products that it computes natively.
        #[arg(short = 'l', long)]
        long: bool,
    },
}

/// The types of parameters without an annotation.
#[derive(Args, Debug, Default, Clone)]
pub struct GivenArgs {
    /// The arguments of a launch, as types and numbers: `f32, Array[f32]` or `x=Array[f32, 2], n=16`.
    #[arg(long = "args", value_name = "TYPES")]
    pub types: Option<String>,
}

const VERBS: [&str; 6] = ["run", "check", "explain", "spirv", "devices", "help"];

/// The verb that was meant by a word that names no file.
pub fn nearest_verb(word: &str) -> Option<&'static str> {
    nearest(word, VERBS.into_iter())
}

/// Reads the command line; `kps FILE ..` is `kps run FILE ..`. Ends the process on a wrong one.
pub fn parse() -> Arguments {
    Arguments::try_parse_from(with_verb(std::env::args_os().collect())).unwrap_or_else(|error| {
        if !error.use_stderr() || error.to_string().chars().all(|char| escape(char).is_none()) {
            error.exit()
        }
        print_error(format_args!("{}", visible(&error.to_string())));
        std::process::exit(error.exit_code())
    })
}

/// Inserts the verb before options: `run` if a file is in its place. `kps run -c CODE` is `kps -c CODE`.
fn with_verb(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let at = behind_options(&arguments, 1);
    let Some(found) = arguments.get(at).filter(|found| *found != "-c" && *found != "--") else {
        return arguments;
    };
    let verb = match VERBS.iter().any(|verb| found == verb) {
        true => arguments.remove(at),
        false => "run".into(),
    };
    let takes_code = || arguments.get(behind_options(&arguments, at)).is_some_and(|option| option == "-c");
    if verb == "run" && takes_code() {
        return arguments;
    }
    arguments.insert(1, verb);
    arguments
}

/// The place of the first argument from `at` on that is no option of the host's.
fn behind_options(arguments: &[OsString], mut at: usize) -> usize {
    while let Some(argument) = arguments.get(at) {
        match argument.to_str() {
            Some("--device" | "-d" | "--time-limit" | "--memory-limit" | "--trace") => at += 2,
            Some("-" | "-c" | "--") => break,
            _ if argument.as_encoded_bytes().starts_with(b"-") => at += 1,
            _ => break,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use std::ffi::{OsStr, OsString};

    use super::with_verb;

    fn check(input: &str, expect: &str) {
        let arguments = input.split(' ').map(OsString::from).collect();
        assert_eq!(with_verb(arguments).join(OsStr::new(" ")), expect);
    }

    #[test]
    fn a_file_alone_is_run() {
        check("kps job.kps a --flag", "kps run job.kps a --flag");
        check("kps --device cpu job.kps", "kps run --device cpu job.kps");
        check("kps --device cpu devices", "kps devices --device cpu");
        check("kps --time-limit 2 job.kps", "kps run --time-limit 2 job.kps");
        check("kps --memory-limit 2G job.kps", "kps run --memory-limit 2G job.kps");
        check("kps --trace out.json job.kps", "kps run --trace out.json job.kps");
        check("kps -", "kps run -");
        check("kps -i job.kps a", "kps run -i job.kps a");
        check("kps -i -c pass", "kps -i -c pass");
        check("kps run job.kps", "kps run job.kps");
        check("kps -c pass x", "kps -c pass x");
        check("kps run -c pass x", "kps -c pass x");
        check("kps -d cpu run --check -c pass", "kps -d cpu --check -c pass");
        check("kps run job.kps -c pass", "kps run job.kps -c pass");
        check("kps --help", "kps --help");
    }
}
