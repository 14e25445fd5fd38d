//! Random functions over lists, in a kernel and on the host.

use std::time::Duration;

use kps::{Host, Program};

use crate::generator::generate_lists;

/// Runs so many functions. Returns the number that kernels accept, and the failures.
pub fn check(first: u64, n_functions: u64) -> (u64, Vec<String>) {
    let mut n_accepted = 0;
    let mut failures = Vec::new();
    for seed in first..first + n_functions {
        match is_accepted(&generate_lists(seed)) {
            Ok(is_accepted) => n_accepted += u64::from(is_accepted),
            Err(text) => failures.push(format!("seed {seed}: {text}")),
        }
    }
    (n_accepted, failures)
}

/// Whether a kernel accepts the function. It fails if the results are not those of the host.
fn is_accepted(text: &str) -> Result<bool, String> {
    let program = Program::parse("lists.kps", text).unwrap_or_else(|_| panic!("a script:\n{text}"));
    let host = Host::builder().device("cpu").output(std::io::sink()).time_limit(Duration::from_secs(10));
    let Err(errors) = host.build().run(&program) else { return Ok(true) };
    // Only a kernel has these errors.
    match errors.iter().find(|error| !error.code.starts_with("kernel/")) {
        Some(error) => Err(format!("{}\n{text}", error.message)),
        None => Ok(false),
    }
}
