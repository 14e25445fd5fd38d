//! Whole processes: `examples/multiply.kps` against an empty Python, the cost of looking for a GPU, and
//! `kps spirv` against `naga`, the program, on the same kernel in WGSL.
//!
//! Where there is no `naga`, `cargo install` puts one into `target/peers`.
//! `cargo bench --package kps-tests --bench process`

mod measure;

use std::path::{Path, PathBuf};
use std::process::Command;

use measure::{Contestant, compare, process, python};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the root");
    let built = Command::new("cargo").args(["build", "--quiet", "--release"]).current_dir(root).status();
    assert!(built.is_ok_and(|status| status.success()), "the program builds");
    let kps = root.join("target/release/kps");
    let multiply = root.join("examples/multiply.kps");
    let run = |device: Option<&str>| {
        let mut command = Command::new(&kps);
        command.arg("run").arg(&multiply).env_remove("KPS_DEVICE");
        if let Some(device) = device {
            command.args(["--device", device]);
        }
        Box::new(move || process(&mut command)) as Box<dyn FnMut() -> _>
    };
    let mut python = python();
    python.args(["-c", "pass"]);
    let mut empty = Command::new(&kps);
    empty.args(["-c", "pass"]);
    compare(
        "a whole process",
        31,
        vec![
            Contestant { name: "python3 -c pass", run: Box::new(move || process(&mut python)) },
            Contestant { name: "kps -c pass", run: Box::new(move || process(&mut empty)) },
            Contestant { name: "kps run multiply.kps --device cpu", run: run(Some("cpu")) },
            Contestant { name: "kps run multiply.kps (looks for a GPU)", run: run(None) },
            Contestant { name: "kps run multiply.kps --device vulkan", run: run(Some("vulkan")) },
        ],
    );
    text_to_spirv(root, &kps);
}

/// Both read a file and write a module; neither looks at a device.
fn text_to_spirv(root: &Path, kps: &Path) {
    let peers = root.join("target/peers");
    std::fs::create_dir_all(&peers).expect("the folder for peers can be made");
    let out = |name: &str| peers.join(name);
    let mut ours = Command::new(kps);
    ours.arg("spirv").arg(root.join("tests/benches/kernels/short.kps")).arg("-o").arg(out("kps.spv"));
    let mut theirs = Command::new(naga(&peers));
    theirs.arg(root.join("tests/cases/foreign/multiply.wgsl")).arg(out("naga.spv"));
    let mut empty = Command::new(kps);
    empty.arg("--version");
    compare(
        "text to SPIR-V, a whole process",
        101,
        vec![
            Contestant { name: "naga multiply.wgsl", run: Box::new(move || process(&mut theirs)) },
            Contestant { name: "kps spirv short.kps", run: Box::new(move || process(&mut ours)) },
            Contestant { name: "kps --version", run: Box::new(move || process(&mut empty)) },
        ],
    );
}

/// The program `naga` that is on the path, or one that is installed for this benchmark alone.
fn naga(peers: &Path) -> PathBuf {
    let is_there = |program: &Path| Command::new(program).arg("--version").output().is_ok();
    let installed = peers.join("bin/naga");
    for program in [PathBuf::from("naga"), installed.clone()] {
        if is_there(&program) {
            return program;
        }
    }
    let status = Command::new("cargo").args(["install", "--quiet", "naga-cli", "--root"]).arg(peers).status();
    assert!(status.is_ok_and(|status| status.success()), "naga-cli can be installed");
    installed
}
