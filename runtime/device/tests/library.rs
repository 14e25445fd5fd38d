//! The cache of the CPU device: a process reads and compiles each module once, and the cache stays within its
//! limit.

mod common;

use common::devices::{Shorthand, dispatch};
use common::{assemble, in_child};
use kps_device::cpu::{self, CacheStats, Lanes};
use kps_device::{Access, PipelineOptions};

const BOTH: Access = Access::ReadWrite;
const N_LONG: usize = 64;

#[test]
fn another_device_or_thread_compiles_nothing_again() {
    in_child("compiled_once", &[]);
}

#[test]
#[ignore = "run by another_device_or_thread_compiles_nothing_again"]
fn compiled_once() {
    increment_once(Lanes::Single);
    let first = cpu::cache_stats();
    assert_eq!((first.n_modules, first.n_read, first.n_compiled), (1, 1, 1));
    increment_once(Lanes::Single);
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(|| increment_once(Lanes::Single))).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("it increments"));
    assert_eq!(cpu::cache_stats(), first);
    // Other options make another module.
    increment_once(Lanes::SimdGroups);
    let CacheStats { n_modules, n_read, n_bytes, .. } = cpu::cache_stats();
    assert_eq!((n_modules, n_read), (2, 2));
    assert!(n_bytes > first.n_bytes);
}

/// With a new device.
fn increment_once(lanes: Lanes) {
    let device = cpu::open_with(lanes).expect("it is always there");
    let kernel = device.module("increment");
    let numbers = device.floats(&[1.0, 2.0]);
    let ticket = device.run(vec![dispatch(kernel, &[(numbers, BOTH)], 2)]);
    device.done(ticket);
    assert_eq!(device.get(numbers, 2), [2.0, 3.0]);
}

#[test]
fn what_was_not_run_for_long_is_made_anew() {
    in_child("let_go", &[]);
}

#[test]
#[ignore = "run by what_was_not_run_for_long_is_made_anew"]
fn let_go() {
    let device = cpu::open().expect("it is always there");
    let numbers = device.floats(&[0.0]);
    let add = |kernel| device.done(device.run(vec![dispatch(kernel, &[(numbers, BOTH)], 1)]));
    let increment = device.module("increment");
    add(increment);
    // Each takes over a million bytes, so together they exceed the limit.
    for n in 0..N_LONG {
        device.load(&assemble(&long_sum(n)), &PipelineOptions::default()).expect("the module loads");
        assert!(cpu::cache_stats().n_bytes <= cpu::ROOM, "{:?}", cpu::cache_stats());
    }
    let stats = cpu::cache_stats();
    assert_eq!((stats.n_read, stats.n_compiled), (N_LONG + 1, 1));
    assert!(stats.n_modules < N_LONG, "{stats:?}");
    add(increment);
    add(increment);
    assert_eq!(device.get(numbers, 1), [3.0]);
    assert_eq!((cpu::cache_stats().n_read, cpu::cache_stats().n_compiled), (N_LONG + 2, 2));
}

/// A long module: `increment` with many additions, different for each `n`.
fn long_sum(n: usize) -> String {
    let text = std::fs::read_to_string("tests/modules/increment.spvasm").expect("the module is there");
    let text = text.replace("OpConstant %float 1", &format!("OpConstant %float {}", n + 1));
    let sums: Vec<String> = (0..5000).map(|i| format!("%s{} = OpFAdd %float %s{i} %one\n", i + 1)).collect();
    let first = "%s0 = OpLoad %float %at\n";
    let text = text.replace("%old = OpLoad %float %at\n", &format!("{first}{}", sums.concat()));
    text.replace("%new = OpFAdd %float %old %one", "%new = OpFAdd %float %s5000 %one")
}
