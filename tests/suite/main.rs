//! The suite: tests of everything about kps that is visible from outside.
//!
//! The folders of `tests/cases` and `examples` go in. The result is one test per file and device, which runs
//! the program as a user does. `UPDATE=1` writes the output as the expected one, to be read before it is
//! committed. A tool or a device that is missing fails the suite; nothing is skipped.

mod console;
mod device;
mod pages;
mod program;
mod prompt;
mod reference;
mod script;
mod shader;
mod soak;
mod spirv;
mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use kps_snapshots as snapshots;
use libtest_mimic::{Arguments, Failed, Trial};

use device::TestDevice;
use program::Program;

/// The folder of `tests/cases` whose scripts run once, because they use no device.
const WITHOUT_DEVICE: &str = "errors";
/// Folders of `tests/cases` whose scripts run on every device.
const ON_EVERY_DEVICE: [&str; 7] =
    ["kernels", "compute", "arrays", "gpu", "seeds", "launch_errors", "images"];

/// The folder of `tests/cases` with a folder for each kind of finding of `--check`.
const CHECKED: &str = "checked";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let program = match Program::find() {
        Ok(program) => program,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::FAILURE;
        }
    };
    let mut trials = vec![];
    trials.extend(scripts(WITHOUT_DEVICE).into_iter().map(|path| script_trial(&program, path, None)));
    for device in TestDevice::ALL {
        let folders = ON_EVERY_DEVICE.iter().flat_map(|folder| scripts(folder)).chain(examples());
        trials.extend(folders.map(|path| script_trial(&program, path, Some(device))));
        trials.extend(shaders().into_iter().map(|path| shader_trial(&program, path, device)));
        trials.push(soak_trial(&program, device));
    }
    trials.extend(
        snapshots::cases(&cases().join("program"), &["console"])
            .into_iter()
            .map(|path| console_trial(&program, path)),
    );
    trials.extend(
        snapshots::cases(&cases().join("prompt"), &["prompt"])
            .into_iter()
            .map(|path| prompt_trial(&program, path)),
    );
    trials.extend(
        snapshots::cases(&root().join("examples/embed"), &["rs"])
            .into_iter()
            .map(|path| embed_trial(&program, path)),
    );
    trials.extend(pages::trials(&program));
    trials.extend(reference::trials(&program));
    trials.extend(words::trials());
    trials.extend(checked_scripts().map(|(path, option)| checked_trial(&program, path, option)));
    trials.push(Trial::test("every script with an expected output is run", || Ok(no_script_is_left_out()?)));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Folders of other cases contain helper scripts, and none with an expected output.
fn no_script_is_left_out() -> Result<(), Failure> {
    for folder in cases().read_dir()?.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()) {
        let name = folder.file_name().unwrap_or_default().display().to_string();
        if name == WITHOUT_DEVICE || name == CHECKED || ON_EVERY_DEVICE.contains(&&*name) {
            continue;
        }
        for script in folder.read_dir()?.flatten().map(|entry| entry.path()) {
            let is_script = script.extension().is_some_and(|ending| ending == "kps");
            if is_script && ["out", "err"].iter().any(|ending| script.with_extension(ending).exists()) {
                return Err(Failure(format!("{} is run by nothing", script.display())));
            }
        }
    }
    Ok(())
}

fn script_trial(program: &Program, path: PathBuf, device: Option<TestDevice>) -> Trial {
    let name = match device {
        Some(device) => format!("{} on {}", title(&path), device.selector()),
        None => title(&path),
    };
    let program = program.clone();
    Trial::test(name, move || Ok(script::run(&program, &path, device)?))
}

/// A script that is run with a checking option, and must report the expected findings.
fn checked_trial(program: &Program, path: PathBuf, option: String) -> Trial {
    let kind = path.parent().and_then(Path::file_name).unwrap_or_default().display().to_string();
    let name = format!("checked/{kind}/{}", path.file_stem().unwrap_or_default().display());
    let program = program.clone();
    Trial::test(name, move || Ok(script::run_checked(&program, &path, &option)?))
}

/// The scripts of `checked`, a folder for each kind of mistake, and all examples, which have no mistakes.
fn checked_scripts() -> impl Iterator<Item = (PathBuf, String)> {
    let kinds = cases().join(CHECKED).read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let mut kinds: Vec<PathBuf> = kinds.filter(|path| path.is_dir()).collect();
    kinds.sort();
    let scripts = kinds.into_iter().flat_map(|folder| {
        let kind = folder.file_name().unwrap_or_default().display().to_string();
        let option = match kind.as_str() {
            // Looked for on request.
            "overflow" | "nan" => format!("--check={kind}"),
            _ => "--check".to_owned(),
        };
        snapshots::cases(&folder, &["kps"]).into_iter().map(move |path| (path, option.clone()))
    });
    scripts.chain(examples().into_iter().map(|path| (path, "--check".to_owned())))
}

fn shader_trial(program: &Program, path: PathBuf, device: TestDevice) -> Trial {
    let file = path.file_name().unwrap_or_default().display();
    let name = format!("foreign/{file} on {}", device.selector());
    let program = program.clone();
    Trial::test(name, move || Ok(shader::run(&program, &path, device)?))
}

fn soak_trial(program: &Program, device: TestDevice) -> Trial {
    let program = program.clone();
    Trial::test(format!("random operations on {}", device.selector()), move || {
        Ok(soak::run(&program, device)?)
    })
}

fn console_trial(program: &Program, path: PathBuf) -> Trial {
    let program = program.clone();
    Trial::test(title(&path), move || Ok(console::run(&program, &path)?))
}

fn prompt_trial(program: &Program, path: PathBuf) -> Trial {
    let program = program.clone();
    Trial::test(title(&path), move || Ok(prompt::run(&program, &path)?))
}

fn embed_trial(program: &Program, path: PathBuf) -> Trial {
    let program = program.clone();
    Trial::test(title(&path), move || Ok(embed(&program, &path)?))
}

/// Runs a Rust program with embedded scripts, and compares its output with the file beside it.
fn embed(program: &Program, path: &Path) -> Result<(), Failure> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let output = program::run(program.embedder(&name), "")?;
    match output.status.success() {
        true => compare(&path.with_extension("out"), &output.stdout),
        false => Err(Failure(output.stderr)),
    }
}

/// A test failed: a description of the difference.
pub struct Failure(pub String);

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Failed {
        Failed::from(failure.0)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure(error.to_string())
    }
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are in the root of the project")
}

fn cases() -> PathBuf {
    root().join("tests/cases")
}

fn scripts(folder: &str) -> Vec<PathBuf> {
    snapshots::cases(&cases().join(folder), &["kps"])
}

/// The files below a folder with one of some endings, in order.
pub fn files(folder: &str, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for path in folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()) {
            let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if endings.contains(&&*ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Shaders that are no scripts.
fn shaders() -> Vec<PathBuf> {
    snapshots::cases(&cases().join("foreign"), &["comp", "wgsl"])
}

fn examples() -> Vec<PathBuf> {
    snapshots::cases(&root().join("examples"), &["kps"])
}

/// `kernels/negative_index_counts_from_the_end`.
fn title(path: &Path) -> String {
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    Path::new(folder).join(path.file_stem().unwrap_or_default()).display().to_string()
}

/// Compares text with the expected file.
pub fn compare(expected_file: &Path, seen: &str) -> Result<(), Failure> {
    snapshots::compare(expected_file, seen).map_err(Failure)
}
