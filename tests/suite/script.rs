//! One `.kps` script with its expected output: `NAME.out`, `NAME.err` if it must fail, and `NAME.log` for its
//! standard error if it succeeds.
//!
//! Every module that the script compiles is validated. Files that a script writes go to a separate folder. A
//! file `NAME.files` lists the expected files, each with the bytes that it begins with.

use std::path::Path;

use crate::device::TestDevice;
use crate::program::{self, Program};
use crate::{Failure, compare, spirv};

pub fn run(program: &Program, script: &Path, device: Option<TestDevice>) -> Result<(), Failure> {
    run_with(program, script, device, None)
}

/// The same in the checked mode, on the device that has it.
pub fn run_checked(program: &Program, script: &Path, option: &str) -> Result<(), Failure> {
    run_with(program, script, Some(TestDevice::Cpu), Some(option))
}

fn run_with(
    program: &Program,
    script: &Path,
    device: Option<TestDevice>,
    option: Option<&str>,
) -> Result<(), Failure> {
    let folder = TempFolder::new()?;
    let mut command = program.command();
    command
        .arg("run")
        .args(option)
        .arg(script)
        .current_dir(&folder.0)
        .env("KPS_SPIRV_DIR", folder.0.join("spirv"));
    if let Some(device) = device {
        device.choose(&mut command);
    }
    let output = program::run(command, "")?;
    let stderr = without_folder(&output.stderr, script);
    compare(&script.with_extension("out"), &without_folder(&output.stdout, script))
        .map_err(|Failure(text)| Failure(format!("{text}\n--- standard error\n{stderr}")))?;
    let (unexpected, expected) = match output.status.code() {
        Some(0) => ("err", "log"),
        Some(1) => ("log", "err"),
        _ => return Err(Failure(format!("it ended with {}\n--- standard error\n{stderr}", output.status))),
    };
    compare(&script.with_extension(expected), &stderr)?;
    compare(&script.with_extension(unexpected), "")?;
    spirv::validate_all(&folder.0.join("spirv"))?;
    check_files(&script.with_extension("files"), &folder.0)
}

/// Removes the script's folder from paths in messages, so that they are the same on every machine.
fn without_folder(text: &str, script: &Path) -> String {
    let folder = script.parent().map(|folder| format!("{}/", folder.display())).unwrap_or_default();
    text.replace(&folder, "")
}

/// Each line of the list is `NAME HEX`: a file, and its first bytes.
fn check_files(list: &Path, folder: &Path) -> Result<(), Failure> {
    let Ok(list) = std::fs::read_to_string(list) else { return Ok(()) };
    for line in list.lines() {
        let (name, hex) =
            line.split_once(' ').ok_or_else(|| Failure(format!("`{line}` is not `NAME HEX`")))?;
        let bytes = std::fs::read(folder.join(name)).map_err(|error| Failure(format!("{name}: {error}")))?;
        let start: String = bytes.iter().take(hex.len() / 2).map(|byte| format!("{byte:02x}")).collect();
        if start != hex {
            return Err(Failure(format!("{name} begins with {start}, not with {hex}")));
        }
    }
    Ok(())
}

/// A folder that is gone when the test is over.
pub struct TempFolder(pub std::path::PathBuf);

impl TempFolder {
    pub fn new() -> Result<TempFolder, Failure> {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("kps-suite-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(TempFolder(path))
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
