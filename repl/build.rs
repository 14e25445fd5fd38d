//! How the program is linked on Linux, so that it starts in a millisecond.
//!
//! A position-independent program mends 26,000 pointers at every start, a third of its time, and loads
//! libstdc++ for one validator. So it lies at a fixed place, as Debian's `python3` does, and has the part
//! of libstdc++ that it needs in it. Where the C++ compiler cannot tell its archive, it is loaded as usual.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CXX");
    let target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") != "linux" || target("ENV") != "gnu" {
        return;
    }
    println!("cargo:rustc-link-arg-bins=-no-pie");
    if let Some(folder) = folder_of_the_static_libstdcxx() {
        println!("cargo:rustc-link-search=native={}", folder.display());
    }
}

/// A folder with `libstdc++.a` and no shared one: linkers look through folders in turn, and in each for
/// the shared library first.
fn folder_of_the_static_libstdcxx() -> Option<PathBuf> {
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let printed = Command::new(compiler).arg("-print-file-name=libstdc++.a").output().ok()?.stdout;
    let archive = PathBuf::from(String::from_utf8(printed).ok()?.trim());
    let folder = PathBuf::from(env::var_os("OUT_DIR")?);
    // A compiler that does not have it prints the bare name.
    archive.is_absolute().then_some(())?;
    fs::copy(archive, folder.join("libstdc++.a")).ok()?;
    Some(folder)
}
