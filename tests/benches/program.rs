//! The program that benchmarks of whole processes start.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the program, and copies it into a folder, as installed ones are. Linkers write into a mapped file,
/// which the kernel then has in single pages: until it is read anew, a program has a seventh more page faults.
pub fn installed(root: &Path, folder: &Path) -> PathBuf {
    let built = Command::new("cargo").args(["build", "--quiet", "--release"]).current_dir(root).status();
    assert!(built.is_ok_and(|status| status.success()), "the program builds");
    let copy = folder.join("kps");
    // A copy over one that is there would get its pages.
    _ = std::fs::remove_file(&copy);
    std::fs::copy(root.join("target/release/kps"), &copy).expect("the folder takes the program");
    copy
}
