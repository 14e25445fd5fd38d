//! The program under test, and its environment: no colour, no cache of the user's, no terminal.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::{Failure, root};

/// A case that runs longer hangs. lavapipe's compiler needs half of it for the largest kernels, on a slow
/// machine and without a cache.
const TIME_LIMIT: Duration = Duration::from_secs(300);

#[derive(Clone)]
pub struct Program {
    path: Arc<Path>,
}

/// The results of a run.
pub struct Output {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Program {
    /// The program beside this test, rebuilt so that it is never outdated.
    pub fn find() -> Result<Program, String> {
        let test = std::env::current_exe().map_err(|error| error.to_string())?;
        let folder = test.ancestors().nth(2).ok_or("the test has no folder for programs above it")?;
        let is_release = folder.file_name().is_some_and(|name| name == "release");
        let profile: &[&str] = if is_release { &["--release"] } else { &[] };
        // Built with the whole workspace, as the test itself was, so that dependencies have one set of
        // features.
        build(&[&["--workspace", "--bins", "--examples"], profile].concat())?;
        Ok(Program { path: folder.join("kps").into() })
    }

    /// A Rust program of `examples/embed`, by its name.
    pub fn embedder(&self, name: &str) -> Command {
        let mut command = Command::new(self.path.with_file_name("examples").join(name));
        self.clean(&mut command);
        command
    }

    /// A command of the program's, in its clean surroundings.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&*self.path);
        self.clean(&mut command);
        command
    }

    /// A shell command that finds the program as `kps`.
    pub fn shell(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        self.clean(&mut command);
        let folders = self.path.parent().into_iter().map(Path::to_owned);
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(folders.chain(std::env::split_paths(&inherited)));
        command.env("PATH", path.expect("no folder of the path holds a colon"));
        command
    }

    fn clean(&self, command: &mut Command) {
        for name in ["KPS_DEVICE", "NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "RUST_BACKTRACE"] {
            command.env_remove(name);
        }
        let cache: PathBuf = std::env::temp_dir().join("kps-suite-cache");
        command.env("XDG_CACHE_HOME", &cache).env("XDG_DATA_HOME", &cache).env("TERM", "dumb");
    }
}

fn build(arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--quiet"]).args(arguments).current_dir(root());
    let status = command.status().map_err(|error| format!("cargo does not run: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{command:?} fails")),
    }
}

/// Runs a command to its end, with `input` on its standard input.
pub fn run(mut command: Command, input: &str) -> Result<Output, Failure> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || {
        // A program that ends without reading its input closes the pipe; that is no failure of the test.
        let _ = stdin.write_all(input.as_bytes());
    });
    let stdout = read_all(child.stdout.take().expect("standard output is a pipe"));
    let stderr = read_all(child.stderr.take().expect("standard error is a pipe"));
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > TIME_LIMIT {
            child.kill()?;
            child.wait()?;
            return Err(Failure(format!("it did not end within {} seconds", TIME_LIMIT.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    writer.join().expect("the writer does not panic");
    let stdout = stdout.join().expect("the reader does not panic")?;
    let stderr = stderr.join().expect("the reader does not panic")?;
    Ok(Output { status, stdout, stderr })
}

fn read_all(
    mut pipe: impl std::io::Read + Send + 'static,
) -> std::thread::JoinHandle<std::io::Result<String>> {
    std::thread::spawn(move || {
        let mut bytes = vec![];
        pipe.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    })
}
