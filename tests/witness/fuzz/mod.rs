//! Fuzzes the compiler with mutated texts: cases and examples, and random kernels, cut up and mixed. The
//! result must be messages, or a valid module that the CPU device accepts, and never a panic. `scripts.rs`
//! does the same with whole scripts, and runs them.
//!
//! The texts run in a child process, with a stack as large as the program's, so that stack overflows and
//! memory exhaustion are reported like other failures. `KPS_RANDOM_SEED` is the first seed, so that several
//! processes can try different texts at once. The corpus is that of the project around the current directory,
//! or around `KPS_FUZZ_CORPUS`.
//!
//! `corpus.rs` has the original texts, and `mutate.rs` mutates them.

mod corpus;
mod mutate;
mod scripts;

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::panic::catch_unwind;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use kps::inspect::{self, Compiled, GivenTypes, StaticKernel};
use kps_device::cpu::{self, Lanes};
use kps_device::{Device, DeviceError, PipelineOptions};
use kps_kernel::{KernelModule, Scalar, Target};
use kps_syntax::Source;

use crate::compare::validate;
use crate::devices;
use crate::random::Random;
use crate::setting;
use corpus::Corpus;
use mutate::mutated;

/// The stack of the program's main thread.
const STACK_BYTES: usize = 8 << 20;
/// Limit of the child's address space.
const MEMORY_BYTES: u64 = 8 << 30;
/// Texts that take longer are reported, too.
const SLOW: Duration = Duration::from_secs(10);
/// After this time, a text counts as endless.
const ENDLESS: Duration = Duration::from_secs(120);
/// Failures shown of one run.
const MAX_FOUND: usize = 20;
/// Devices cache code, so they are opened again after so many texts.
const TEXTS_PER_DEVICE: u64 = 500;

/// A kind of fuzzing: how the text of a seed is made, and the test that runs in the child.
struct Trial {
    text: fn(&Corpus, u64) -> String,
    child: &'static str,
}

/// Kernels of texts are compiled.
const COMPILED: Trial = Trial { text: mutated, child: "fuzz::child" };

/// Scripts are run.
const RUN: Trial = Trial { text: scripts::script, child: "fuzz::child_that_runs" };

#[test]
fn mutated_texts_do_no_harm() {
    hold_compiled_to_no_harm(Duration::from_secs(5));
}

#[test]
fn scripts_that_run_do_no_harm() {
    run_children(&RUN, Duration::from_secs(120), 8000);
}

/// As the one below, for scripts that run.
#[test]
#[ignore = "its duration is an option"]
fn scripts_that_run_do_no_harm_for_long() {
    run_children(&RUN, Duration::from_secs(setting("KPS_FUZZ_SECONDS", 60)), u64::MAX);
}

/// `KPS_FUZZ_SECONDS=3600 cargo test --test witness -- --ignored mutated --nocapture`: from `KPS_RANDOM_SEED`
/// on, until the time is over.
#[test]
#[ignore = "its duration is an option"]
fn mutated_texts_do_no_harm_for_long() {
    hold_compiled_to_no_harm(Duration::from_secs(setting("KPS_FUZZ_SECONDS", 60)));
}

/// How far a text got.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// The parser found mistakes, or there is no kernel.
    Syntax,
    /// Its kernels were checked, and rejected.
    Kernel,
    /// One of them became a module, or the script ran.
    Words,
}

impl Reach {
    const ALL: [Reach; 3] = [Reach::Syntax, Reach::Kernel, Reach::Words];

    fn name(self) -> &'static str {
        match self {
            Reach::Syntax => "syntax",
            Reach::Kernel => "kernel",
            Reach::Words => "words",
        }
    }
}

/// The results of a child.
#[derive(Default)]
struct Tally {
    /// Number of texts by how far they got.
    reached: [u64; 3],
    last_seed: u64,
    failures: Vec<(u64, String)>,
}

/// The child's part: it prints each seed before it tries it.
#[test]
#[ignore = "a child of the tests above"]
fn child() {
    try_texts(&COMPILED, attempt);
}

/// The same for scripts that run: each within its limits, in its own host.
#[test]
#[ignore = "a child of the tests above"]
fn child_that_runs() {
    try_texts(&RUN, |text, _| (Reach::Words, scripts::attempt(text)));
}

fn try_texts(trial: &'static Trial, attempt: fn(&str, u64) -> (Reach, Option<String>)) {
    let end = Instant::now() + Duration::from_secs(setting("KPS_FUZZ_SECONDS", 1));
    let first = setting("KPS_RANDOM_SEED", 1);
    let last = first.saturating_add(setting("KPS_FUZZ_TEXTS", u64::MAX)) - 1;
    limit_memory();
    let (tried, progress) = mpsc::channel();
    let fuzz = move || {
        let corpus = Corpus::find();
        for seed in (first..=last).take_while(|_| Instant::now() < end) {
            send(&format!("seed {seed}"));
            let text = (trial.text)(&corpus, seed);
            let start = Instant::now();
            let (reach, failure) = attempt(&text, seed);
            failure.iter().for_each(|failure| send(&format!("failure {}", failure.replace('\n', " "))));
            if start.elapsed() > SLOW {
                send(&format!("failure it takes {:?}", start.elapsed()));
            }
            send(&format!("reach {}", reach.name()));
            tried.send(()).expect("the thread that waits outlives this one");
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(fuzz).expect("a thread starts");
    loop {
        match progress.recv_timeout(ENDLESS) {
            Ok(()) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                send("failure it does not end");
                std::process::exit(1);
            }
        }
    }
    thread.join().expect("panics are caught");
}

/// Prints a line for the parent.
fn send(line: &str) {
    println!("{line}");
    std::io::stdout().flush().expect("the parent listens");
}

fn limit_memory() {
    let limit = libc::rlimit { rlim_cur: MEMORY_BYTES, rlim_max: MEMORY_BYTES };
    // SAFETY: the limit is a plain value that outlives the call.
    let result = unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
    assert_eq!(result, 0, "the memory of a child can be limited");
}

fn hold_compiled_to_no_harm(time: Duration) {
    let all = run_children(&COMPILED, time, u64::MAX);
    let n_tried = all.reached.iter().sum::<u64>();
    let share = |reach: Reach| 100 * all.reached[reach as usize] / n_tried.max(1);
    println!(
        "{}% had kernels that were refused, {}% became words",
        share(Reach::Kernel),
        share(Reach::Words)
    );
    assert!(share(Reach::Words) >= 20, "enough texts become words");
}

/// Runs children until the time is over or enough texts were tried. A child that died is replaced by another,
/// which continues after its last seed.
fn run_children(trial: &Trial, time: Duration, most: u64) -> Tally {
    let end = Instant::now() + time;
    let first = setting("KPS_RANDOM_SEED", 1);
    let mut all = Tally { last_seed: first, ..Tally::default() };
    let mut next = first;
    while Instant::now() < end && all.failures.len() < MAX_FOUND && next - first < most {
        let left = (end - Instant::now()).as_secs().max(1);
        let tally = run_child(trial, next, left, most - (next - first));
        all.failures.extend(tally.failures);
        all.reached.iter_mut().zip(tally.reached).for_each(|(all, n)| *all += n);
        next = tally.last_seed + 1;
    }
    let corpus = Corpus::find();
    let show =
        |(seed, failure): &(u64, String)| format!("seed {seed}: {failure}\n{}", (trial.text)(&corpus, *seed));
    all.failures.iter().for_each(|failure| println!("{}", show(failure)));
    let n_tried = all.reached.iter().sum::<u64>();
    println!("{n_tried} texts from seed {first}: {} failed", all.failures.len());
    assert!(all.failures.is_empty(), "the texts above failed");
    assert!(n_tried > 0, "some text was tried");
    all
}

/// Runs a child from a seed on for so many seconds, and collects its results.
fn run_child(trial: &Trial, seed: u64, seconds: u64, most: u64) -> Tally {
    let mut command = Command::new(std::env::current_exe().expect("this test is a program"));
    command.args(["--exact", trial.child, "--ignored", "--nocapture"]);
    command.env("KPS_FUZZ_SECONDS", seconds.to_string()).env("KPS_RANDOM_SEED", seed.to_string());
    command.env("KPS_FUZZ_TEXTS", most.to_string());
    // A script may write files, and wait for input.
    let here = std::env::current_dir().expect("there is a current directory");
    let corpus = std::env::var_os("KPS_FUZZ_CORPUS").unwrap_or_else(|| here.into_os_string());
    let folder = std::env::temp_dir().join(format!("kps-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    command.env("KPS_FUZZ_CORPUS", corpus).current_dir(&folder).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let stderr = child.stderr.take().expect("it is piped");
    // Caught panics are printed there, so it is read all the time; its end shows how the child died.
    let last_words = std::thread::spawn(move || {
        let mut lines = VecDeque::new();
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            lines.push_back(line);
            if lines.len() > 5 {
                lines.pop_front();
            }
        }
        Vec::from(lines).join(" ")
    });
    let mut tally = Tally { last_seed: seed, ..Tally::default() };
    for line in BufReader::new(child.stdout.take().expect("it is piped")).lines().map_while(Result::ok) {
        tally.heard(&line);
    }
    let status = child.wait().expect("it ends");
    let last_words = last_words.join().expect("reading ends");
    let _ = std::fs::remove_dir_all(&folder);
    if !status.success() {
        tally.failures.push((tally.last_seed, format!("the process died ({status}): {last_words}")));
    }
    tally
}

impl Tally {
    fn heard(&mut self, line: &str) {
        // The test harness may print before the first seed.
        if let Some(seed) = line.split("seed ").nth(1).and_then(|seed| seed.parse().ok()) {
            self.last_seed = seed;
        } else if let Some(failure) = line.strip_prefix("failure ") {
            self.failures.push((self.last_seed, failure.to_owned()));
        } else if let Some(reached) = line.strip_prefix("reach ") {
            let reach = Reach::ALL.into_iter().find(|reach| reach.name() == reached);
            self.reached[reach.expect("a child knows the names") as usize] += 1;
        }
    }
}

thread_local! {
    /// The CPU device, with the number of texts that it has seen.
    static DEVICE: std::cell::RefCell<Option<(u64, std::rc::Rc<dyn Device>)>> = const { std::cell::RefCell::new(None) };
}

/// How far a text got, and its failure, if there was one.
fn attempt(text: &str, seed: u64) -> (Reach, Option<String>) {
    let compile = || {
        let source = Source::new("mutated.kps", text);
        inspect::check(&source);
        let kernels = inspect::kernels(&source).unwrap_or_default();
        let (mut reach, mut failure) = (Reach::Syntax, None);
        for kernel in &kernels {
            let (reached, found) = attempt_kernel(kernel, seed);
            reach = reach.max(reached);
            failure = failure.or(found);
        }
        (reach, failure)
    };
    match catch_unwind(compile) {
        Ok(verdict) => verdict,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
            (Reach::Kernel, Some(format!("panicked: {text}")))
        }
    }
}

fn attempt_kernel(kernel: &StaticKernel, seed: u64) -> (Reach, Option<String>) {
    let given = given_types(kernel, &mut Random::named(seed, kernel.name()));
    match kernel.compile(given.as_ref()) {
        Ok(Compiled::Done(module)) => (Reach::Words, failure_of_module(&module)),
        Ok(Compiled::NeedsRun(_) | Compiled::NeedsArgs(_)) => (Reach::Kernel, None),
        Err(mistakes) => {
            let internal = mistakes.0.iter().find(|mistake| mistake.code.contains("internal"));
            (Reach::Kernel, internal.map(|mistake| mistake.message.clone()))
        }
    }
}

/// Types for untyped parameters.
fn given_types(kernel: &StaticKernel, random: &mut Random) -> Option<GivenTypes> {
    let wanted = kernel.wanted_args();
    if wanted.is_empty() {
        return None;
    }
    let mut text = wanted.join(", ");
    while text.contains("TYPE") {
        let scalar = random.pick(&Scalar::ALL).to_string();
        let ty = match random.below(6) {
            0 => scalar,
            1 => format!("Array[{scalar}, 2]"),
            2 => "Array[vec3]".to_owned(),
            _ => format!("Array[{scalar}]"),
        };
        text = text.replacen("TYPE", &ty, 1);
    }
    GivenTypes::parse(&text.replace("NUMBER", "4")).ok()
}

/// Checks that a module is valid, and that the CPU device can load it.
fn failure_of_module(module: &KernelModule) -> Option<String> {
    if let Err(error) = validate(&module.words, &Target::portable()) {
        return Some(error);
    }
    DEVICE.with_borrow_mut(|opened| {
        let (n_texts, device) = opened.get_or_insert_with(|| {
            (0, cpu::open_with(Lanes::SimdGroups).expect("the built-in device is always there"))
        });
        *n_texts += 1;
        let refused = device.load(&module.words, &PipelineOptions::default()).err();
        if *n_texts == TEXTS_PER_DEVICE {
            *opened = None;
        }
        refused.filter(|error| !may_refuse(error)).map(|error| error.to_string())
    })
}

/// The CPU device accepts only compute shaders, up to a size.
fn may_refuse(error: &DeviceError) -> bool {
    match error {
        DeviceError::LimitExceeded { .. } => true,
        error => devices::is_too_large(error) || error.to_string().ends_with("not a compute shader"),
    }
}
