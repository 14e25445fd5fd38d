//! Corrupt modules: refused, or run within their buffers.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use kps_device::{
    Access, Binding, Channel, Command, Commands, Dispatch, ImageInfo, PipelineOptions, QueueId, Sampler,
    SamplerBinding, TexelFormat,
};

use super::bench::{Bench, refusal};
use super::common;

/// Pseudorandom numbers, the same in every run (xorshift).
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
    check(&[], "not SPIR-V: there are no words");
    check(&[0x1234], "not SPIR-V: the first word is 0x00001234, a module begins with 0x07230203");
    // Modules in the other byte order are accepted.
    check(&[0x0302_2307], "broken SPIR-V: there are 1 words, the header alone has 5");
    check(
        &[0x0723_0203, 0x0009_0000, 0, 1, 0],
        "SPIR-V 9.0 (version word 0x00090000) is not known: 1.0 to 1.6 are",
    );
    check(&[0x0723_0203, 0x0001_0000, 0, 1, 0, 0], "broken SPIR-V: the instruction at word 5 has no length");
    check(&[0x0723_0203, 0x0001_0000, 0, 1, 0], "entry point `main` not found; the module has none");
}

/// Valid modules with every family of instructions.
fn good() -> Vec<Vec<u32>> {
    let mut all: Vec<_> =
        ["multiply", "increment", "scale", "image_double", "image_sample"].map(common::module).into();
    all.extend(super::control::MODULES.iter().map(|text| super::control::module(text)));
    all.push(super::barriers::reduction());
    all.extend(super::subgroups::modules());
    all.extend(super::pointers::modules());
    all.push(super::cooperative::module());
    all.push(super::narrow::module());
    // With private arrays of many combinations of types.
    all.extend((1..4).map(super::programs::apart));
    all
}

#[test]
fn every_prefix_of_a_module_is_refused() {
    let bench = Bench::new();
    for words in good() {
        for n in 0..words.len() {
            assert!(bench.device.load(&words[..n], &PipelineOptions::default()).is_err(), "{n} words");
        }
    }
}

#[test]
fn flipped_bits_do_no_harm() {
    for (i, words) in good().iter().enumerate() {
        flip(words, 500, i as u64);
    }
}

#[test]
fn random_words_do_no_harm() {
    let mut noise = Noise(0x1234_5678_9abc_def1);
    let bench = Bench::new();
    let good = good();
    for _ in 0..2000 {
        // A valid beginning, then random words.
        let words = &good[noise.below(good.len())];
        let n = 5 + noise.below(words.len() - 5);
        let mut words = words[..n].to_vec();
        for _ in 0..noise.below(20) {
            let length = 1 + noise.below(6);
            words.push((length << 16 | noise.below(420)) as u32);
            words.extend((1..length).map(|_| noise.below(200) as u32));
        }
        run_if_taken(&bench, &words);
    }
}

/// `KPS_FUZZ_SECONDS=3600 cargo test --test cpu -- --ignored flipped --nocapture`, in this crate's directory:
/// from `KPS_RANDOM_SEED` on, with new seeds in each pass, until the time is over.
#[test]
#[ignore = "its duration is an option"]
fn flipped_bits_do_no_harm_for_long() {
    let setting = |name, default| match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is a number, not `{text}`")),
        Err(_) => default,
    };
    let end = Instant::now() + Duration::from_secs(setting("KPS_FUZZ_SECONDS", 60));
    let first = setting("KPS_RANDOM_SEED", 1000);
    let good = good();
    let mut next = first;
    let mut tally = Tally::default();
    while Instant::now() < end {
        for words in &good {
            println!("seed {next}");
            tally.add(flip(words, FLIPS, next));
            next += 1;
        }
    }
    println!(
        "{} modules from seed {first}: {} were refused, {} ran within their buffers",
        tally.refused + tally.ran,
        tally.refused,
        tally.ran
    );
}

/// Corrupt modules made from one valid one and one seed.
const FLIPS: usize = 200;

/// Counts of results.
#[derive(Default)]
struct Tally {
    refused: usize,
    ran: usize,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.refused += other.refused;
        self.ran += other.ran;
    }

    fn count(&mut self, has_run: bool) {
        *(if has_run { &mut self.ran } else { &mut self.refused }) += 1;
    }
}

fn flip(words: &[u32], n: usize, seed: u64) -> Tally {
    let mut tally = Tally::default();
    let mut noise = Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d);
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
        tally.count(run_if_taken(&bench, &words));
    }
    tally
}

/// Whether the device accepted the module. Guard bytes around each buffer must not change.
fn run_if_taken(bench: &Bench, words: &[u32]) -> bool {
    const GUARD: u8 = 0xa5;
    let pipeline = match bench.device.load(words, &PipelineOptions::default()) {
        Ok(pipeline) => pipeline,
        Err(error) => {
            // Lowered code is well-formed, so the code generator must accept it.
            assert!(!error.to_string().contains("code cannot be made"), "{error}");
            return false;
        }
    };
    let interface = bench.device.interface(pipeline).expect("it was loaded");
    let buffer = bench.buffer(&[GUARD; 512]);
    let binding = |set, binding, buffer, offset, size| Binding {
        set,
        binding,
        buffer,
        offset,
        size,
        access: Access::ReadWrite,
    };
    let mut bindings: Vec<_> =
        interface.buffers.iter().map(|bound| binding(bound.set, bound.binding, buffer, 128, 100)).collect();
    let mut samplers: Vec<_> = interface.samplers.iter().map(|slot| (slot.set, slot.binding)).collect();
    let mut images = Vec::new();
    for wanted in &interface.images {
        let format = wanted.format.unwrap_or(TexelFormat { channel: Channel::F32, n_channels: 1 });
        let info = ImageInfo { dimension: wanted.dimension, size: [2, 1, 1], format };
        let image = bench.device.alloc_image(&info).expect("there is memory");
        bindings.push(binding(wanted.set, wanted.binding, image, 0, info.n_bytes()));
        samplers.push((wanted.set, wanted.binding));
        images.push(image);
    }
    let sampler = |(set, binding)| SamplerBinding { set, binding, sampler: Sampler::default() };
    let dispatch = Dispatch {
        pipeline,
        bindings,
        samplers: samplers.into_iter().map(sampler).collect(),
        push_constants: vec![1; 256],
        addressed: Vec::new(),
        groups: [2, 2, 1],
    };
    // Endless loops are interrupted.
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
    if let Ok(ticket) =
        bench.device.submit(QueueId(0), &Commands::new(vec![Command::Dispatch(dispatch)]), &[])
    {
        // Whether it ends or is interrupted, it stays in its buffer.
        let _ = bench.device.wait(ticket, None);
    }
    done.store(true, Ordering::Relaxed);
    watch.join().expect("it only sleeps");
    flag.store(false, Ordering::Relaxed);
    let bytes = bench.read::<u8>(buffer);
    assert!(bytes[..128].iter().chain(&bytes[228..]).all(|&byte| byte == GUARD), "outside of the buffer");
    images.into_iter().chain([buffer]).for_each(|buffer| bench.device.free(buffer));
    true
}
