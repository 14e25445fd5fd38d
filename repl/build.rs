//! Links the program on Linux so that it starts in a millisecond.
//!
//! A position-independent program relocates 26,000 pointers at every start, a third of its time, and loads
//! libstdc++ for one validator and libgcc_s for panics. So it has a fixed address, as Debian's `python3`
//! does, and links both libraries statically. If the C++ compiler has no static library, its shared one is
//! loaded as usual.
//!
//! A short run needs a tenth of the program's text, and page faults were a fifth of its time. So
//! `layout/text.ld` places that part contiguously. `layout/record` writes that file, best before a release.

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
    // Linkers search folders in turn, and in each for the shared library first: this folder has none.
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it for build scripts"));
    for (archive, name) in [("libstdc++.a", "libstdc++.a"), ("libgcc_eh.a", "libgcc_s.a")] {
        if let Some(archive) = archive_of_the_compiler(archive) {
            fs::copy(archive, folder.join(name)).expect("the folder takes an archive");
        }
    }
    println!("cargo:rustc-link-search=native={}", folder.display());
    // Not all linkers know this kind of script: GNU's and LLVM's do, one of which is there unless chosen.
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let chosen = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let is_chosen =
        env::var_os("RUSTC_LINKER").is_some() || chosen.contains("fuse-ld") || chosen.contains("linker=");
    if is_release && !is_chosen {
        let script =
            PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("layout/text.ld");
        println!("cargo:rerun-if-changed={}", script.display());
        println!("cargo:rustc-link-arg-bins=-Wl,-T,{}", script.display());
    }
}

/// The C++ compiler's path of a static library.
fn archive_of_the_compiler(name: &str) -> Option<PathBuf> {
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let printed = Command::new(compiler).arg(format!("-print-file-name={name}")).output().ok()?.stdout;
    let archive = PathBuf::from(String::from_utf8(printed).ok()?.trim());
    // A compiler that does not have it prints the bare name.
    archive.is_absolute().then_some(archive)
}
