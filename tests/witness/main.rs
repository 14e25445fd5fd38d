//! Differential tests of kernels: random ones run on an interpreter of their typed form and on every device.
//!
//! `generator` writes kernels as text. `interpreter` runs the compiler's typed form, before SPIR-V. `compare`
//! runs the SPIR-V on the devices, and compares all results, bit for bit. A kernel on which they differ is
//! shrunk and shown with its seed.
//!
//! `KPS_RANDOM_KERNELS` is the number of kernels in a run, and `KPS_RANDOM_SEED` the seed of the first.
//! `KPS_RANDOM_SHOW=refused` shows kernels with that verdict.

mod compare;
mod data;
mod devices;
mod driver;
mod fuzz;
mod generator;
mod interpreter;
mod lists;
mod random;
mod shrink;
mod worker;

use std::collections::BTreeMap;
use std::path::Path;

use compare::{Case, Verdict};
use worker::Worker;

/// Counts the memory of scripts, which is limited.
#[global_allocator]
static HEAP: kps::Heap = kps::Heap;

/// Limit of differences shown of one run.
const MAX_SHOWN: usize = 5;

/// A number from the environment.
fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is a number, not `{text}`")),
        Err(_) => default,
    }
}

#[test]
fn random_kernels_give_the_same_everywhere() {
    _ = check_agreement(&generator::generate, setting("KPS_RANDOM_KERNELS", 80));
}

#[test]
fn random_workgroups_give_the_same_everywhere() {
    _ = check_agreement(&generator::generate_groups, setting("KPS_RANDOM_KERNELS", 80) / 2);
}

#[test]
fn random_matrices_of_subgroups_give_the_same_everywhere() {
    let n_kernels = setting("KPS_RANDOM_KERNELS", 80) / 4;
    let counts = check_agreement(&generator::generate_tiles, n_kernels);
    let n_matrix_forms = counts.get(Verdict::AGREES_IN_BOTH_FORMS).copied().unwrap_or(0);
    assert!(n_matrix_forms * 5 >= n_kernels, "many kernels are for instructions: {counts:?}");
}

/// A kernel copies lists where Python shares them. What it accepts has the results of the host.
#[test]
fn random_functions_over_lists_are_as_on_the_host() {
    let n_functions = setting("KPS_RANDOM_KERNELS", 80);
    let (n_accepted, failures) = lists::check(setting("KPS_RANDOM_SEED", 1), n_functions);
    println!("{n_accepted} of {n_functions} functions are accepted");
    assert!(failures.is_empty(), "{}", failures[..failures.len().min(MAX_SHOWN)].join("\n"));
    assert!(n_accepted * 4 >= n_functions, "{n_accepted} of {n_functions} functions are accepted");
}

/// Runs `cases/*.kps`: shrunk kernels on which executors once differed. The first line has the seed.
#[test]
fn kernels_that_once_differed_agree() {
    let mut worker = Worker::start();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("witness/cases");
    let mut paths: Vec<_> =
        folder.read_dir().expect("the cases").map(|entry| entry.expect("a case").path()).collect();
    paths.sort();
    let mut failures = Vec::new();
    for path in paths {
        let source = std::fs::read_to_string(&path).expect("a case is text");
        let seed = source.lines().next().and_then(|line| line.strip_prefix("# seed ")?.trim().parse().ok());
        let case = Case { source, seed: seed.expect("a case begins with `# seed N`") };
        match worker.run(&case) {
            Verdict::Agrees | Verdict::AgreesInBothForms | Verdict::AgreesWithoutVulkan(_) => {}
            Verdict::Differs(_, text) | Verdict::Panicked(text) => {
                failures.push(format!("{}: {text}", path.display()))
            }
            verdict => failures.push(format!("{}: {}", path.display(), verdict.title())),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Runs so many kernels, and shows differences; returns the number of each verdict.
fn check_agreement(generate: &dyn Fn(u64) -> String, n_kernels: u64) -> BTreeMap<String, u64> {
    let first = setting("KPS_RANDOM_SEED", 1);
    let mut worker = Worker::start();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut shown = Vec::new();
    for seed in first..first + n_kernels {
        let case = Case { source: generate(seed), seed };
        let verdict = worker.run(&case);
        if std::env::var("KPS_RANDOM_SHOW").is_ok_and(|wanted| verdict.title().contains(&wanted)) {
            println!("seed {seed}, {verdict:?}\n{}", case.source);
        }
        *counts.entry(verdict.title()).or_default() += 1;
        if verdict.is_failure() {
            let text = shrink::shrunk(case, &verdict, &mut worker);
            eprintln!("{text}");
            shown.push(text);
            if shown.len() == MAX_SHOWN {
                break;
            }
        }
    }
    println!("{n_kernels} kernels from seed {first}:");
    for (title, count) in &counts {
        println!("{count:7} {title}");
    }
    assert!(shown.is_empty(), "{}", shown.join("\n"));
    let messages = kps_device::vulkan::validation_messages();
    assert_eq!(messages, Vec::<String>::new(), "the validation layer has nothing to say");
    let said = |title: &str| counts.get(title).copied().unwrap_or(0);
    let n_agree = said(Verdict::AGREES) + said(Verdict::AGREES_IN_BOTH_FORMS);
    assert!(n_agree * 10 >= n_kernels * 7, "most kernels compile and say something: {counts:?}");
    counts
}
