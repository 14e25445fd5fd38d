//! Whole processes: `examples/multiply.kps` against an empty Python, the cost of the search for a GPU, and
//! `kps spirv` against `naga`, the program, on the same kernel in WGSL.
//!
//! Where there is no `naga`, `cargo install` puts one into `target/peers`.
//! `cargo bench --package kps-tests --bench process`

mod measure;
mod program;

use std::path::{Path, PathBuf};
use std::process::Command;

use measure::{Contestant, compare, process, python};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the root");
    let peers = root.join("target/peers");
    std::fs::create_dir_all(&peers).expect("the folder for peers can be made");
    let kps = program::installed(root, &peers);
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
    text_to_spirv(root, &kps, &peers);
}

/// Both read a file and write a module; neither opens a device.
fn text_to_spirv(root: &Path, kps: &Path, peers: &Path) {
    let naga = naga(peers);
    let kernels = root.join("tests/benches/kernels");
    for (title, wgsl, script) in [
        (
            "a small kernel to SPIR-V",
            root.join("tests/cases/foreign/multiply.wgsl"),
            kernels.join("short.kps"),
        ),
        ("a ray marcher to SPIR-V", kernels.join("long.wgsl"), kernels.join("long.kps")),
    ] {
        let mut peer = Command::new(&naga);
        peer.arg(wgsl).arg(peers.join("naga.spv"));
        let mut spirv = Command::new(kps);
        spirv.arg("spirv").arg(script).arg("-o").arg(peers.join("kps.spv"));
        compare(
            title,
            101,
            vec![
                Contestant { name: "naga", run: Box::new(move || process(&mut peer)) },
                Contestant { name: "kps spirv", run: Box::new(move || process(&mut spirv)) },
            ],
        );
    }
}

/// The program `naga` in the path, or one that is installed for this benchmark.
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
