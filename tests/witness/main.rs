//! A third witness for kernels: random ones, on an interpreter of their typed form and on every device.
//!
//! `generator` writes kernels as text; `interpreter` runs what the compiler made of them before it was
//! SPIR-V; `compare` runs the SPIR-V on the devices and holds all to the same results, bit for bit. A
//! kernel on which they differ is shrunk and shown with its seed.
//!
//! `KPS_RANDOM_KERNELS` is how many kernels a run has, `KPS_RANDOM_SEED` the seed of the first. With
//! `KPS_RANDOM_SHOW=refused`, kernels are shown whose outcome says so.

mod compare;
mod data;
mod devices;
mod driver;
mod fuzz;
mod generator;
mod interpreter;
mod random;
mod shrink;
mod worker;

use std::collections::BTreeMap;
use std::path::Path;

use compare::{Case, Outcome};
use worker::Worker;

/// Counts what scripts hold, which have limits.
#[global_allocator]
static HEAP: kps::Heap = kps::Heap;

/// Differences shown of one run.
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
    _ = hold_to_the_same(&generator::generate, setting("KPS_RANDOM_KERNELS", 80));
}

#[test]
fn random_workgroups_give_the_same_everywhere() {
    _ = hold_to_the_same(&generator::generate_groups, setting("KPS_RANDOM_KERNELS", 80) / 2);
}

#[test]
fn random_matrices_of_subgroups_give_the_same_everywhere() {
    let n_kernels = setting("KPS_RANDOM_KERNELS", 80) / 4;
    let counts = hold_to_the_same(&generator::generate_tiles, n_kernels);
    let n_held = counts.get(Outcome::AGREES_IN_BOTH_FORMS).copied().unwrap_or(0);
    assert!(n_held * 5 >= n_kernels, "many kernels are for instructions: {counts:?}");
}

/// `cases/*.kps`: kernels on which witnesses once differed, shrunk. The first line says the seed.
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
            Outcome::Agrees | Outcome::AgreesInBothForms | Outcome::AgreesWithoutVulkan(_) => {}
            Outcome::Differs(_, text) | Outcome::Panicked(text) => {
                failures.push(format!("{}: {text}", path.display()))
            }
            outcome => failures.push(format!("{}: {}", path.display(), outcome.title())),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Runs so many kernels, and shows where their results differ; tells how often each came out.
fn hold_to_the_same(generate: &dyn Fn(u64) -> String, n_kernels: u64) -> BTreeMap<String, u64> {
    let first = setting("KPS_RANDOM_SEED", 1);
    let mut worker = Worker::start();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut shown = Vec::new();
    for seed in first..first + n_kernels {
        let case = Case { source: generate(seed), seed };
        let outcome = worker.run(&case);
        if std::env::var("KPS_RANDOM_SHOW").is_ok_and(|wanted| outcome.title().contains(&wanted)) {
            println!("seed {seed}, {outcome:?}\n{}", case.source);
        }
        *counts.entry(outcome.title()).or_default() += 1;
        if outcome.is_harm() {
            let text = shrink::shrunk(case, &outcome, &mut worker);
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
    let n_agree = said(Outcome::AGREES) + said(Outcome::AGREES_IN_BOTH_FORMS);
    assert!(n_agree * 10 >= n_kernels * 7, "most kernels compile and say something: {counts:?}");
    counts
}
