//! The CPU device against its peers, one row for each work of `kernels/cpu`.
//!
//! `cargo bench --package kps-tests --bench cpu [-- WORK ..]`. The peers come from PyPI and Debian into
//! `target/bench-peers`, and from g++. A work that a peer lacks is `-`. So is one that it cannot do; the
//! reason is below the table. Each cell is the best of three processes, each of which prints its own best.

mod program;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const WORKS: [&str; 11] = [
    "first",
    "long",
    "rerun",
    "saxpy",
    "total",
    "options",
    "matmul",
    "mandelbrot",
    "tiled",
    "tree",
    "subgroups",
];
/// Works that run long enough to measure the cost of checks.
const CHECKED: [&str; 6] = ["saxpy", "total", "matmul", "mandelbrot", "tiled", "tree"];
const CHECKS: [(&str, &str); 4] = [
    ("bounds", "--check=bounds"),
    ("and shared", "--check=bounds,shared-race"),
    ("usual", "--check"),
    ("all", "--check=all"),
];
const PEERS: [&str; 4] = ["numba", "taichi", "pocl", "numpy"];
const PACKAGES: [&str; 5] = ["numpy", "numba", "taichi", "pyopencl", "kp"];
/// PyPI's pocl does not know newer processors, so Debian's is unpacked.
const POCL_OF_DEBIAN: [&str; 14] = [
    "pocl-opencl-icd",
    "libpocl2",
    "libpocl2-common",
    "clang-15",
    "libclang-cpp15",
    "libclang-common-15-dev",
    "libllvm15",
    "libhwloc15",
    "libz3-4",
    "libedit2",
    "libxml2",
    "libicu72",
    "libbsd0",
    "libmd0",
];
const ROUNDS: usize = 3;

/// Why cells of a peer are empty.
type Reasons = BTreeMap<String, String>;

struct Paths {
    root: PathBuf,
    peers: PathBuf,
    benches: PathBuf,
    kps: PathBuf,
    python: PathBuf,
    cpp: PathBuf,
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the root").to_owned();
    let peers = root.join("target/bench-peers");
    std::fs::create_dir_all(&peers).expect("the target folder takes another");
    let paths = Paths {
        benches: root.join("tests/benches"),
        kps: program::installed(&root, &peers),
        python: peers.join("bin/python"),
        cpp: peers.join("peers"),
        peers,
        root,
    };
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let mut reasons = Reasons::new();
    install(&paths, &mut reasons);
    long_kernel(&paths);
    print!("{:12}{:>10}{:>10}{:>10}", "ms", "kps", "lavapipe", "g++");
    PEERS.iter().for_each(|peer| print!("{peer:>10}"));
    println!();
    for work in WORKS.iter().filter(|work| asked.is_empty() || asked.iter().any(|asked| asked == *work)) {
        row(&paths, work, &mut reasons);
    }
    println!();
    print!("{:12}{:>10}", "checked", "unchecked");
    CHECKS.iter().for_each(|(name, _)| print!("{name:>12}"));
    println!();
    for work in CHECKED.iter().filter(|work| asked.is_empty() || asked.iter().any(|asked| asked == *work)) {
        checked_row(&paths, work, &mut reasons);
    }
    for (name, reason) in reasons {
        println!("{name}: {reason}");
    }
}

fn row(paths: &Paths, work: &str, reasons: &mut Reasons) {
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
        let libraries = paths.peers.join("debian/usr/lib");
        let libraries = [libraries.join("x86_64-linux-gnu"), libraries.join("llvm-15/lib")];
        command.env("LD_LIBRARY_PATH", std::env::join_paths(libraries).expect("no path has a colon"));
        command.env("OCL_ICD_VENDORS", paths.peers.join("vendors"));
        commands.push(command);
    }
    // Contestants take turns, so that a drift of the machine's speed affects all equally.
    let mut least = vec![f64::INFINITY; commands.len()];
    let names = ["kps", "lavapipe", "g++"].into_iter().chain(PEERS);
    for _ in 0..ROUNDS {
        for ((command, least), name) in commands.iter_mut().zip(&mut least).zip(names.clone()) {
            match milliseconds(command) {
                Ok(time) => *least = least.min(time.unwrap_or(f64::INFINITY)),
                Err(reason) => _ = reasons.insert(format!("{name}, {work}"), reason),
            }
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

/// One work without checks and with more and more of them.
fn checked_row(paths: &Paths, work: &str, reasons: &mut Reasons) {
    let script = paths.benches.join(format!("kernels/cpu/{work}.kps"));
    let options = [("unchecked", None)].into_iter().chain(CHECKS.map(|(name, option)| (name, Some(option))));
    let options: Vec<_> = options.collect();
    let mut least = vec![f64::INFINITY; options.len()];
    // They take turns, as above.
    for _ in 0..ROUNDS {
        for ((name, option), least) in options.iter().zip(&mut least) {
            let mut command = Command::new(&paths.kps);
            command.arg("run").args(option).arg(&script).args(["--device", "cpu"]).env_remove("KPS_DEVICE");
            match milliseconds(&mut command) {
                Ok(time) => *least = least.min(time.unwrap_or(f64::INFINITY)),
                Err(reason) => _ = reasons.insert(format!("{name}, {work}"), reason),
            }
        }
    }
    print!("{work:12}{:>10.3}", least[0]);
    least[1..].iter().for_each(|time| print!("{time:>12.3}"));
    println!();
}

/// The output of a program: a time, or `-` if it lacks the work. Otherwise its last line is the error.
fn milliseconds(command: &mut Command) -> Result<Option<f64>, String> {
    let printed = output(command)?;
    // Some print a greeting first: the time is on the last line.
    match printed.trim().lines().last().unwrap_or_default() {
        "-" => Ok(None),
        time => time.parse().map(Some).map_err(|_| printed.trim().to_owned()),
    }
}

/// The standard output of a program that succeeds, or the last line of its standard error.
fn output(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    Err(last.unwrap_or("it failed without a word").trim().to_owned())
}

/// Fetches and builds missing peers. Without them there is still a table.
fn install(paths: &Paths, reasons: &mut Reasons) {
    let mut note = |name: &str, result: Result<String, String>| {
        if let Err(reason) = result {
            reasons.insert(name.to_owned(), reason);
        }
    };
    if !paths.python.exists() {
        note("python", output(Command::new("python3").args(["-m", "venv"]).arg(&paths.peers)));
    }
    for package in PACKAGES {
        let mut pip = Command::new(&paths.python);
        note(package, output(pip.args(["-m", "pip", "install", "--quiet", package])));
    }
    note("pocl", unpack_pocl(&paths.peers));
    let mut compiler = Command::new("g++");
    compiler.args(["-O3", "-march=native", "-fopenmp", "-o"]).arg(&paths.cpp);
    note("g++", output(compiler.arg(paths.benches.join("peers/peers.cpp"))));
}

/// Debian's pocl in its own folder, with the file that points to its driver.
fn unpack_pocl(peers: &Path) -> Result<String, String> {
    let (packages, vendors) = (peers.join("packages"), peers.join("vendors"));
    if vendors.exists() {
        return Ok(String::new());
    }
    std::fs::create_dir_all(&packages).map_err(|error| error.to_string())?;
    output(Command::new("apt-get").arg("download").args(POCL_OF_DEBIAN).current_dir(&packages))?;
    for package in std::fs::read_dir(&packages).map_err(|error| error.to_string())? {
        let package = package.map_err(|error| error.to_string())?.path();
        output(Command::new("dpkg").arg("-x").arg(package).arg(peers.join("debian")))?;
    }
    let driver = peers.join("debian/usr/lib/x86_64-linux-gnu/libpocl.so.2");
    std::fs::create_dir_all(&vendors)
        .and_then(|()| std::fs::write(vendors.join("pocl.icd"), driver.display().to_string()))
        .map_err(|error| error.to_string())?;
    Ok(String::new())
}

/// Times the first launch of the ray marcher.
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
