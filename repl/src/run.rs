//! `kps run`: a script from its text to its exit code.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kps::device::{Checks, Selector, select};
use kps::{Checking, Findings, Host, HostBuilder, Outcome, Profile, Unwritten};
use kps_syntax::{Diagnostic, Diagnostics, Source};

use crate::args::{Check, HostOptions, nearest_verb};
use crate::console::{print_error, report, report_all};
use crate::verbs::no_such_device;
use crate::visible::visible;
use crate::{Failure, read};

/// How long the reader of an ended process may take to read its last output.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// The time that a script may take to end after its time limit. It may use a second for `finally`.
const OVERRUN: Duration = Duration::from_secs(3);

/// A script and its environment.
pub struct Script {
    name: String,
    text: String,
    /// The folder of its imports.
    pub folder: PathBuf,
    /// `sys.argv`, its own name first.
    pub args: Vec<String>,
}

impl Script {
    /// A file, or the standard input for `-`.
    pub fn read(file: &Path, args: Vec<OsString>) -> Result<Script, Failure> {
        let text = read(file).map_err(|failure| meant_as_verb(file, failure))?;
        let is_stdin = file == Path::new("-");
        let name = if is_stdin { "<stdin>".to_owned() } else { file.display().to_string() };
        let folder = match file.parent() {
            Some(parent) if !is_stdin && !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let argv0 = if is_stdin { "-".to_owned() } else { name.clone() };
        Ok(Script { name, text, folder, args: with_own_name(argv0, args)? })
    }

    /// The text after `-c`.
    pub fn of_code(text: String, args: Vec<OsString>) -> Result<Script, Failure> {
        let args = with_own_name("-c".to_owned(), args)?;
        Ok(Script { name: "<string>".to_owned(), text, folder: PathBuf::from("."), args })
    }

    pub fn source(&self) -> Source {
        Source::new(&*self.name, &*self.text)
    }
}

/// `sys.argv`. Strings of scripts are Unicode, so other bytes cannot be represented.
fn with_own_name(name: String, args: Vec<OsString>) -> Result<Vec<String>, Failure> {
    let mut all = vec![name];
    for (at, arg) in args.into_iter().enumerate() {
        let arg = arg.into_string().map_err(|arg| {
            let shown = arg.display();
            Failure::Usage(format!("cannot pass argument {} to the script: `{shown}` is not UTF-8", at + 1))
        })?;
        all.push(arg);
    }
    Ok(all)
}

/// A word that names no file and is nearly a verb was meant as one.
fn meant_as_verb(file: &Path, failure: Failure) -> Failure {
    match (failure, file.to_str().filter(|_| !file.exists()).and_then(nearest_verb)) {
        (Failure::Usage(sentence), Some(verb)) => {
            Failure::Usage(format!("{sentence}; did you mean `kps {verb}`?"))
        }
        (failure, _) => failure,
    }
}

/// Runs a script to its end.
pub fn run(script: &Script, options: HostOptions) -> Result<u8, Failure> {
    verify_device(options.device.clone())?;
    let (limit, profile, trace) = (options.time_limit, options.profile.clone(), options.trace.clone());
    let is_checked = matches!(options.check, Some(Check::On(_))) || options.seed.is_some();
    let mut host =
        host(options, Checking::in_scripts()).module_path(&script.folder).args(script.args.clone());
    // A checked run reports what does happen.
    if !is_checked {
        host = host.on_warning(report);
    }
    let mut host = host.build();
    interrupt_on_ctrl_c(&host);
    if let Some(limit) = limit {
        end_overrun(&host, limit);
    }
    let result = host.run_source(&script.source());
    if result.is_err() {
        // An interrupt leaves output that its reader was not ready for.
        write_last_words(&host.unwritten());
    }
    let ended = host.end();
    let result = result.and_then(|outcome| ended.map(|()| outcome));
    let flushed = host.flush();
    if let (Some(file), Some(profile)) = (profile, host.profile()) {
        report_profile(&file, &profile)?;
    }
    if let Some(file) = trace {
        write_trace(&file, &host)?;
    }
    match result {
        Ok(outcome) => {
            flushed.map_err(Failure::Output)?;
            verify_device_was_quiet()?;
            let found = report_findings(host.findings());
            Ok(exit_code(outcome).max(found))
        }
        Err(diagnostics) if is_interrupt(&diagnostics) => {
            report_all(&diagnostics);
            report_findings(host.findings());
            Ok(130)
        }
        Err(_) if flushed.is_err_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe) => {
            Err(Failure::BrokenPipe)
        }
        Err(diagnostics) => {
            report_all(&diagnostics);
            report_findings(host.findings());
            Ok(1)
        }
    }
}

/// Whether a KeyboardInterrupt ended the script.
pub fn is_interrupt(diagnostics: &Diagnostics) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.code == "runtime/KeyboardInterrupt")
}

/// Summarises the findings of checked launches; returns the exit code.
fn report_findings(findings: &Findings) -> u8 {
    let (n_mistakes, n_times) = (findings.n_mistakes(), findings.n_times());
    match n_mistakes {
        0 => return 0,
        1 => print_error(format_args!("1 mistake was found in kernels")),
        n => print_error(format_args!("{n} mistakes were found in kernels")),
    }
    match n_times {
        1 => print_error(format_args!(", made once\n")),
        n => print_error(format_args!(", made {n} times\n")),
    }
    1
}

/// On the standard error, or as JSON in a file.
pub fn report_profile(file: &Path, profile: &Profile) -> Result<(), Failure> {
    if file == Path::new("-") {
        print_error(format_args!("{}", visible(&profile.text())));
        return Ok(());
    }
    write(file, &profile.json())
}

/// Writes the trace of a host that records one.
pub fn write_trace(file: &Path, host: &Host) -> Result<(), Failure> {
    host.trace().map_or(Ok(()), |trace| write(file, &trace))
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let written = std::fs::write(file, text);
    written.map_err(|error| Failure::Usage(format!("cannot write `{}`: {error}", file.display())))
}

/// If the validation layer is on, any message from it fails the run, as tests of kernels require.
fn verify_device_was_quiet() -> Result<(), Failure> {
    match kps::device::vulkan::validation_messages() {
        messages if messages.is_empty() => Ok(()),
        messages => Err(Failure::Usage(format!("the validation layer complains:\n{}", messages.join("\n")))),
    }
}

/// The requested device: by option, or else by `KPS_DEVICE`.
pub fn selector(device: Option<String>) -> Selector {
    Selector::parse(&device_text(device))
}

fn device_text(device: Option<String>) -> String {
    asked_device(device).unwrap_or_default()
}

/// The device that the option or the environment requests.
pub fn asked_device(device: Option<String>) -> Option<String> {
    let of_environment = || Some(std::env::var_os("KPS_DEVICE")?.to_string_lossy().into_owned());
    device.or_else(of_environment).filter(|device| !device.is_empty())
}

/// Refuses a device that is not there, before anything runs.
pub fn verify_device(device: Option<String>) -> Result<(), Failure> {
    match selector(device) {
        Selector::Best | Selector::Cpu => Ok(()),
        named => select::choose(&select::list(), &named).map(drop).map_err(no_such_device),
    }
}

/// A host configured by the options and the environment: `KPS_DEVICE` without a requested device, and the
/// SPIR-V of every kernel in `KPS_SPIRV_DIR` if that is set. `by_itself` is the default of checks.
pub fn host(options: HostOptions, by_itself: Checking) -> HostBuilder {
    let mut host = Host::builder().device(device_text(options.device.clone()));
    host = host.checked(checking(&options, by_itself));
    host = host.on_finding(report);
    if options.profile.is_some() {
        host = host.profiled();
    }
    if options.trace.is_some() {
        host = host.traced();
    }
    if options.debug_info {
        host = host.debug_info();
    }
    if let Some(time) = options.time_limit {
        host = host.time_limit(time);
    }
    if let Some(n_bytes) = options.memory_limit {
        host = host.memory_limit(n_bytes);
    }
    if let Some(folder) = std::env::var_os("KPS_SPIRV_DIR") {
        host = host.spirv_folder(folder);
    }
    host
}

/// The requested checks, by name or by a seed.
fn checking(options: &HostOptions, by_itself: Checking) -> Checking {
    let checks = match options.check {
        Some(Check::On(checks)) => Some(checks),
        Some(Check::Off) | None => None,
    };
    match (options.seed, checks) {
        (Some(seed), checks) => {
            print_error(format_args!("the order of invocations is that of --seed={seed}\n"));
            Checking::Always(checks.unwrap_or(Checks::usual()).seeded(seed))
        }
        (None, Some(checks)) => Checking::Always(checks),
        // A launch is checked or counted, not both.
        (None, None) if options.check.is_some() || options.profile.is_some() => Checking::Never,
        (None, None) => by_itself,
    }
}

pub fn exit_code(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Finished => 0,
        // A process has one byte for it.
        Outcome::Exit(code) => code as u8,
    }
}

/// Lets Ctrl-C interrupt the run; a second Ctrl-C before the first took effect ends the process.
pub fn interrupt_on_ctrl_c(host: &Host) {
    let (interrupter, unwritten) = (host.interrupter(), host.unwritten());
    let set = ctrlc::set_handler(move || {
        if interrupter.is_set() {
            end_now(&unwritten, 130);
        }
        interrupter.interrupt();
    });
    // Without a handler, Ctrl-C ends the process, which is the system's default.
    drop(set);
}

/// Ends the process if a time limit does not end the script: a driver that compiles cannot be interrupted.
fn end_overrun(host: &Host, limit: Duration) {
    let unwritten = host.unwritten();
    std::thread::spawn(move || {
        std::thread::sleep(limit.saturating_add(OVERRUN));
        let message = "TimeoutError: the script ran past its time limit, in what cannot be stopped";
        let diagnostic = Diagnostic::error("runtime/TimeoutError", message)
            .help("a driver that compiles a kernel hears of no limit");
        report(&diagnostic);
        end_now(&unwritten, 1)
    });
}

/// Ends the process, after its output is written if the reader takes it at once.
fn end_now(unwritten: &Unwritten, code: i32) -> ! {
    write_last_words(unwritten);
    exit_at_once(code)
}

/// Writes the buffered output, or drops it if the reader does not take it at once.
fn write_last_words(unwritten: &Unwritten) {
    let bytes = unwritten.take();
    if bytes.is_empty() {
        return;
    }
    let written = std::thread::spawn(move || {
        let mut stdout = std::io::stdout();
        stdout.write_all(&bytes).and_then(|()| stdout.flush())
    });
    let start = Instant::now();
    while !written.is_finished() && start.elapsed() < LAST_WORDS {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Skips the exit handlers of libraries: they would free memory that a compiling driver still uses.
pub fn exit_at_once(code: i32) -> ! {
    #[cfg(unix)]
    // SAFETY: it takes any number, and does not return.
    unsafe {
        libc::_exit(code)
    }
    #[cfg(not(unix))]
    std::process::exit(code)
}
