//! The installed program for benchmarks of whole processes.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the program, and copies it into a folder. Linkers write into a mapped file, whose pages the kernel
/// caches one by one. Without the copy, a program has a seventh more page faults.
pub fn installed(root: &Path, folder: &Path) -> PathBuf {
    let built = Command::new("cargo").args(["build", "--quiet", "--release"]).current_dir(root).status();
    assert!(built.is_ok_and(|status| status.success()), "the program builds");
    let copy = folder.join("kps");
    // Overwriting an existing file would reuse its pages.
    _ = std::fs::remove_file(&copy);
    std::fs::copy(root.join("target/release/kps"), &copy).expect("the folder takes the program");
    copy
}
