//! The built-in device against its peers, one row for each work of `kernels/cpu`.
//!
//! `cargo bench --package kps-tests --bench cpu [-- WORK ..]`. The peers come from PyPI into
//! `target/bench-peers` and from g++; one that cannot be had is `-`, and so is a work that it was not
//! written for. Each cell is the best of three processes, each of which tells its own best.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const WORKS: [&str; 9] =
    ["first", "long", "rerun", "saxpy", "total", "matmul", "mandelbrot", "tiled", "tree"];
const PEERS: [&str; 4] = ["numba", "taichi", "pocl", "numpy"];
const PACKAGES: [&str; 4] = ["numpy", "numba", "taichi", "pyopencl[pocl]"];
const ROUNDS: usize = 3;

struct Paths {
    root: PathBuf,
    benches: PathBuf,
    kps: PathBuf,
    python: PathBuf,
    cpp: PathBuf,
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the root").to_owned();
    let paths = Paths {
        benches: root.join("tests/benches"),
        kps: root.join("target/release/kps"),
        python: root.join("target/bench-peers/bin/python"),
        cpp: root.join("target/bench-peers/peers"),
        root,
    };
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    succeeds(Command::new("cargo").args(["build", "--quiet", "--release"]).current_dir(&paths.root));
    install(&paths);
    long_kernel(&paths);
    print!("{:12}{:>10}{:>10}{:>10}", "ms", "kps", "lavapipe", "g++");
    PEERS.iter().for_each(|peer| print!("{peer:>10}"));
    println!();
    for work in WORKS.iter().filter(|work| asked.is_empty() || asked.iter().any(|asked| asked == *work)) {
        row(&paths, work);
    }
}

fn row(paths: &Paths, work: &str) {
    let script = match work {
        "long" => paths.root.join("target/bench-peers/long.kps"),
        _ => paths.benches.join(format!("kernels/cpu/{work}.kps")),
    };
    let kps = |device: &str| {
        let mut command = Command::new(&paths.kps);
        command.arg("run").arg(&script).args(["--device", device]).env_remove("KPS_DEVICE");
        command
    };
    let mut commands = vec![kps("cpu"), kps("vulkan"), Command::new(&paths.cpp)];
    commands[2].arg(work);
    for peer in PEERS {
        let mut command = Command::new(&paths.python);
        command.arg(paths.benches.join("peers/peers.py")).args([peer, work]);
        commands.push(command);
    }
    // In turn, so that a machine whose speed drifts treats all alike.
    let mut least = vec![f64::INFINITY; commands.len()];
    for _ in 0..ROUNDS {
        for (command, least) in commands.iter_mut().zip(&mut least) {
            *least = least.min(milliseconds(command).unwrap_or(f64::INFINITY));
        }
    }
    print!("{work:12}");
    for time in least {
        match time.is_finite() {
            true => print!("{time:>10.3}"),
            false => print!("{:>10}", "-"),
        }
    }
    println!();
}

/// What a program prints.
fn milliseconds(command: &mut Command) -> Option<f64> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    String::from_utf8_lossy(&output.stdout).trim().parse().ok()
}

/// Fetches and builds the peers, once.
fn install(paths: &Paths) {
    let folder = paths.root.join("target/bench-peers");
    if !paths.python.exists() {
        // Without the peers there is still a table.
        let _ = Command::new("python3").args(["-m", "venv"]).arg(&folder).status();
        for package in PACKAGES {
            let _ = Command::new(&paths.python).args(["-m", "pip", "install", "--quiet", package]).status();
        }
    }
    let _ = std::fs::create_dir_all(&folder);
    let _ = Command::new("g++")
        .args(["-O3", "-march=native", "-fopenmp", "-o"])
        .arg(&paths.cpp)
        .arg(paths.benches.join("peers/peers.cpp"))
        .status();
}

/// The ray marcher with its first launch timed.
fn long_kernel(paths: &Paths) {
    let kernel =
        std::fs::read_to_string(paths.benches.join("kernels/long.kps")).expect("the kernel is there");
    let text = format!(
        "import time\nimport kp\nmgr = kp.Manager()\nimage = mgr.tensor([0.0] * 3072)\n\
         start = time.perf_counter()\n{kernel}\n\
         render.launch(0.5, 32, 32, image, groups=(2, 2, 1))\nimage.data()\nprint((time.perf_counter() - start) * 1000)\n"
    );
    std::fs::write(paths.root.join("target/bench-peers/long.kps"), text).expect("the folder is there");
}

fn succeeds(command: &mut Command) {
    assert!(command.status().is_ok_and(|status| status.success()), "{command:?} succeeds");
}
