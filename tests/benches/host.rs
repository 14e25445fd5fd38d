//! Host scripts against python3, each as a whole process: a loop of ten million additions, and fib(30).
//!
//! `cargo bench --package kps-tests --bench host`

mod measure;

use std::path::Path;
use std::process::Command;

use measure::{Contestant, compare, process, python};

const SCRIPTS: [(&str, &str); 3] = [
    ("for i in range(10_000_000): s += i", "s = 0\nfor i in range(10_000_000): s += i\n"),
    (
        "the same in a function",
        "def f():\n    s = 0\n    for i in range(10_000_000): s += i\n    return s\nf()\n",
    ),
    ("fib(30)", "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(30)\n"),
];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the root");
    let built = Command::new("cargo").args(["build", "--quiet", "--release"]).current_dir(root).status();
    assert!(built.is_ok_and(|status| status.success()), "the program builds");
    for (title, script) in SCRIPTS {
        let mut python = python();
        python.args(["-c", script]);
        let mut kps = Command::new(root.join("target/release/kps"));
        kps.args(["-c", script]);
        compare(
            title,
            11,
            vec![
                Contestant { name: "python3", run: Box::new(move || process(&mut python)) },
                Contestant { name: "kps", run: Box::new(move || process(&mut kps)) },
            ],
        );
    }
}
