//! Modules that are broken: refused, or run within their buffers.

use std::sync::atomic::Ordering;
use std::time::Duration;

use kps_device::{Access, Binding, Command, Commands, Dispatch, PipelineOptions, QueueId};

use super::bench::{Bench, refusal};
use super::common;

/// Numbers without a pattern, the same in every run (xorshift).
struct Noise(u64);

impl Noise {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

#[test]
fn what_is_no_module_is_refused() {
    let check = |words: &[u32], expected: &str| assert_eq!(refusal(words), expected);
    check(&[], "malformed SPIR-V: there are no words");
    check(&[0x1234], "malformed SPIR-V: it begins with 0x00001234, SPIR-V begins with 0x07230203");
    check(&[0x0302_2307], "malformed SPIR-V: the words have the other byte order");
    check(&[0x0723_0203, 0x0001_0000], "malformed SPIR-V: the header is cut off");
    check(
        &[0x0723_0203, 0x0009_0000, 0, 1, 0],
        "malformed SPIR-V: version 0x00090000 is not known, 1.0 to 1.6 are",
    );
    check(&[0x0723_0203, 0x0001_0000, 0, 1, 0, 0], "malformed SPIR-V: the instruction at word 5 is cut off");
    check(&[0x0723_0203, 0x0001_0000, 0, 1, 0], "the module has no compute entry point `main`, it has none");
}

#[test]
fn every_prefix_of_a_module_is_refused() {
    let words = common::module("multiply");
    let bench = Bench::new();
    for n in 0..words.len() {
        assert!(bench.device.load(&words[..n], &PipelineOptions::default()).is_err(), "{n} words");
    }
}

#[test]
fn flipped_bits_do_no_harm() {
    for name in ["multiply", "increment", "scale"] {
        flip(&common::module(name), 1500);
    }
    for (i, text) in super::control::MODULES.iter().enumerate() {
        flip(&super::control::module(text), 600 + i);
    }
    flip(&super::barriers::reduction(), 600);
}

fn flip(words: &[u32], n: usize) {
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15 ^ n as u64);
    let bench = Bench::new();
    assert!(bench.device.load(words, &PipelineOptions::default()).is_ok());
    for _ in 0..n {
        let mut words = words.to_vec();
        for _ in 0..1 + noise.below(3) {
            let at = noise.below(words.len());
            match noise.below(3) {
                0 => words[at] ^= 1 << noise.below(32),
                1 => words[at] ^= 1 << noise.below(8),
                _ => words[at] = words[noise.below(words.len())],
            }
        }
        run_if_taken(&bench, &words);
    }
}

/// Guards around each buffer stay as they were, however wild the module.
fn run_if_taken(bench: &Bench, words: &[u32]) {
    const GUARD: u8 = 0xa5;
    let pipeline = match bench.device.load(words, &PipelineOptions::default()) {
        Ok(pipeline) => pipeline,
        Err(error) => {
            // What was lowered is right, so the code generator takes it.
            assert!(!error.to_string().contains("code cannot be made"), "{error}");
            return;
        }
    };
    let interface = bench.device.interface(pipeline).expect("it was loaded");
    let buffer = bench.buffer(&[GUARD; 512]);
    let bindings = interface.buffers.iter().map(|bound| Binding {
        set: bound.set,
        binding: bound.binding,
        buffer,
        offset: 128,
        size: 100,
        access: Access::ReadWrite,
    });
    let dispatch = Dispatch {
        pipeline,
        bindings: bindings.collect(),
        samplers: Vec::new(),
        push_constants: vec![1; 256],
        groups: [2, 2, 1],
    };
    // What loops for ever is stopped.
    let flag = bench.device.interrupt_flag();
    let done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let watch = std::thread::spawn({
        let (flag, done) = (flag.clone(), done.clone());
        move || {
            for _ in 0..200 {
                std::thread::sleep(Duration::from_micros(100));
                if done.load(Ordering::Relaxed) {
                    return;
                }
            }
            flag.store(true, Ordering::Relaxed);
        }
    });
    let ran = bench.device.submit(QueueId(0), &Commands::new(vec![Command::Dispatch(dispatch)]), &[]);
    done.store(true, Ordering::Relaxed);
    watch.join().expect("it only sleeps");
    flag.store(false, Ordering::Relaxed);
    drop(ran);
    let bytes = bench.read::<u8>(buffer);
    assert!(bytes[..128].iter().chain(&bytes[228..]).all(|&byte| byte == GUARD), "outside of the buffer");
    bench.device.free(buffer);
}
