//! Compiles the validator and the assembler from the sources in `spirv-tools-sys`.
//!
//! That crate would also compile the optimizer, which is two thirds of its C++ and is unused here. So its
//! build is disabled. The files of the validator are compiled as one, because most of the time of each is
//! spent on the same headers.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The files that validator and assembler share, without the extension `.cpp`.
const SHARED: [&str; 26] = [
    "util/bit_vector",
    "util/parse_number",
    "util/string_utils",
    "assembly_grammar",
    "binary",
    "diagnostic",
    "disassemble",
    "ext_inst",
    "extensions",
    "libspirv",
    "name_mapper",
    "opcode",
    "operand",
    "parsed_operand",
    "print",
    "software_version",
    "spirv_endian",
    "spirv_fuzzer_options",
    "spirv_optimizer_options",
    "spirv_reducer_options",
    "spirv_target_env",
    "spirv_validator_options",
    "table",
    "table2",
    "text",
    "text_handler",
];

/// A file of the validator whose local names collide with those of others.
const APART: &str = "validate_ray_tracing_reorder.cpp";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let package = package("spirv-tools-sys");
    let source = package.join("spirv-tools/source");
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").opt_level(1).warnings(false).define("NDEBUG", None);
    for folder in [
        "spirv-tools",
        "spirv-tools/include",
        "generated",
        "spirv-headers/include",
        "spirv-headers/include/spirv/unified1",
    ] {
        build.include(package.join(folder));
    }
    build.flag_if_supported("-fno-exceptions").flag_if_supported("-fno-rtti").flag_if_supported("-w");
    if let Some(system) = system() {
        build.define(system, None);
    }
    build.files(SHARED.iter().chain(&["to_string"]).map(|name| source.join(name).with_extension("cpp")));
    build.file(source.join("val").join(APART));
    build.file(whole(&source.join("val")));
    build.compile("kps-spirv-tools");
}

/// The folder of a package in this build's dependency graph, as Cargo reports it.
fn package(name: &str) -> PathBuf {
    let cargo = env::var_os("CARGO").expect("Cargo names itself to build scripts");
    let target = env::var("TARGET").expect("Cargo names the target to build scripts");
    let arguments = ["metadata", "--format-version=1", "--filter-platform", &target];
    let output = Command::new(cargo).args(arguments).output().expect("Cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("Cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("the metadata list packages");
    let package = packages.iter().find(|package| package["name"] == name).expect("it is a dependency");
    let manifest = package["manifest_path"].as_str().expect("a package has a manifest");
    Path::new(manifest).parent().expect("a manifest is in a folder").to_owned()
}

/// One file that includes all of the validator's but [`APART`].
fn whole(folder: &Path) -> PathBuf {
    let entries = fs::read_dir(folder).expect("the validator has a folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder is readable").path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "cpp") && !file.ends_with(APART));
    files.sort();
    let text: String = files.iter().map(|file| format!("#include {file:?}\n")).collect();
    let path = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo gives a folder")).join("validator.cpp");
    fs::write(&path, text).expect("the folder takes a file");
    path
}

/// The macro by which the sources know the system.
fn system() -> Option<&'static str> {
    let system = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    Some(match system.as_str() {
        "linux" => "SPIRV_LINUX",
        "windows" => "SPIRV_WINDOWS",
        "macos" => "SPIRV_MAC",
        "android" => "SPIRV_ANDROID",
        "freebsd" => "SPIRV_FREEBSD",
        _ => return None,
    })
}
