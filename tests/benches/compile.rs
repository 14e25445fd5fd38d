//! Compilation of a kernel from source to verified SPIR-V, inside one process.
//!
//! `cargo bench --package kps-tests --bench compile`

mod measure;

use kps::Source;
use kps::inspect::{self, Compiled};
use measure::{Contestant, compare, in_process};

const SHORT: &str = include_str!("kernels/short.kps");
const LONG: &str = include_str!("kernels/long.kps");

fn main() {
    compare(
        "text to SPIR-V",
        101,
        vec![
            Contestant { name: "multiply", run: Box::new(|| in_process(|| compile(SHORT))) },
            Contestant { name: "ray marcher of 226 lines", run: Box::new(|| in_process(|| compile(LONG))) },
        ],
    );
}

fn compile(text: &str) {
    let source = Source::new("kernel.kps", text);
    let kernels = inspect::kernels(&source).expect("the kernel parses");
    let compiled = kernels[0].compile(None).expect("the kernel compiles");
    let Compiled::Done(module) = compiled else { panic!("its annotations say all there is to know") };
    assert!(module.words.len() > 100);
}
