//! Whole processes: `examples/multiply.kps` against an empty Python, and the cost of looking for a GPU.
//!
//! `cargo bench --package kps-tests --bench process`

mod measure;

use std::path::Path;
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
}
