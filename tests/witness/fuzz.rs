//! Text to SPIR-V with texts that nobody would write: those of cases and examples, and random kernels, cut up
//! and mixed. Whatever comes, there are messages or valid words, and never a panic.
//!
//! The texts run in a child process, on a stack as large as the program's own, so that one that overflows it
//! or takes all memory is told like any other.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kps::inspect::{self, Compiled};
use kps_kernel::Target;
use kps_syntax::Source;

use crate::compare::validate;
use crate::generator;
use crate::random::Random;
use crate::setting;

/// Of the program's main thread.
const STACK_BYTES: usize = 8 << 20;
/// Address space of the child.
const MEMORY_BYTES: u64 = 8 << 30;
/// A text that takes longer is told as well.
const SLOW: Duration = Duration::from_secs(10);

#[test]
fn mutated_texts_do_no_harm() {
    hold_to_no_harm(Duration::from_secs(5));
}

/// `KPS_FUZZ_SECONDS=3600 cargo test --test witness -- --ignored mutated`: from `KPS_RANDOM_SEED` on, until
/// the time is over.
#[test]
#[ignore = "it runs for as long as it is told"]
fn mutated_texts_do_no_harm_for_long() {
    hold_to_no_harm(Duration::from_secs(setting("KPS_FUZZ_SECONDS", 60)));
}

/// The child's part: it tells each seed before it tries it.
#[test]
#[ignore = "a child of the tests above"]
fn child() {
    let end = Instant::now() + Duration::from_secs(setting("KPS_FUZZ_SECONDS", 1));
    let first = setting("KPS_RANDOM_SEED", 1);
    limit_memory();
    let fuzz = move || {
        let texts = corpus();
        assert!(texts.len() > 100, "the cases are there");
        for seed in (first..).take_while(|_| Instant::now() < end) {
            println!("seed {seed}");
            std::io::stdout().flush().expect("the parent listens");
            let text = mutated(&texts, seed);
            let start = Instant::now();
            if let Some(harm) = harm(&text) {
                println!("harm {}", harm.replace('\n', " "));
            }
            if start.elapsed() > SLOW {
                println!("harm it takes {:?}", start.elapsed());
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(fuzz).expect("a thread starts");
    thread.join().expect("panics are caught");
}

fn limit_memory() {
    let limit = libc::rlimit { rlim_cur: MEMORY_BYTES, rlim_max: MEMORY_BYTES };
    // SAFETY: the limit is a plain value that lives through the call.
    let result = unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
    assert_eq!(result, 0, "the memory of a child can be limited");
}

/// Runs children until the time is over; one that died is followed by another, behind its last seed.
fn hold_to_no_harm(time: Duration) {
    let end = Instant::now() + time;
    let mut seed = setting("KPS_RANDOM_SEED", 1);
    let first = seed;
    let mut found = Vec::new();
    while Instant::now() < end && found.len() < 20 {
        let left = (end - Instant::now()).as_secs().max(1);
        let (last, harms) = run_child(seed, left);
        found.extend(harms);
        seed = last + 1;
    }
    println!("{} texts from seed {first}", seed - first);
    let texts = corpus();
    let show = |(seed, harm): &(u64, String)| format!("seed {seed}: {harm}\n{}", mutated(&texts, *seed));
    assert!(found.is_empty(), "{}", found.iter().map(show).collect::<Vec<_>>().join("\n"));
}

/// The last seed that the child tried, and what went wrong.
fn run_child(seed: u64, seconds: u64) -> (u64, Vec<(u64, String)>) {
    let mut command = Command::new(std::env::current_exe().expect("this test is a program"));
    command.args(["--exact", "fuzz::child", "--ignored", "--nocapture"]);
    command.env("KPS_FUZZ_SECONDS", seconds.to_string()).env("KPS_RANDOM_SEED", seed.to_string());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let stderr = child.stderr.take().expect("it is piped");
    // Panics that are caught say so there, so it is read all the time; its end says how the child died.
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
    let (mut last, mut harms) = (seed, Vec::new());
    for line in BufReader::new(child.stdout.take().expect("it is piped")).lines().map_while(Result::ok) {
        if let Some(seed) = line.split("seed ").nth(1).and_then(|seed| seed.parse().ok()) {
            last = seed;
        } else if let Some(harm) = line.strip_prefix("harm ") {
            harms.push((last, harm.to_owned()));
        }
    }
    let status = child.wait().expect("it ends");
    let last_words = last_words.join().expect("reading ends");
    if !status.success() {
        harms.push((last, format!("the process died ({status}): {last_words}")));
    }
    (last, harms)
}

/// What should not have happened with a text.
fn harm(text: &str) -> Option<String> {
    let compile = || {
        let source = Source::new("mutated.kps", text);
        inspect::check(&source);
        let kernels = inspect::kernels(&source).unwrap_or_default();
        kernels.iter().find_map(|kernel| match kernel.compile(None) {
            Ok(Compiled::Done(module)) => validate(&module.words, &Target::portable()).err(),
            Ok(Compiled::NeedsRun(_)) => None,
            Err(mistakes) => {
                let internal = mistakes.0.iter().find(|mistake| mistake.code.contains("internal"));
                internal.map(|mistake| mistake.message.clone())
            }
        })
    };
    match catch_unwind(compile) {
        Ok(harm) => harm,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
            Some(format!("panicked: {text}"))
        }
    }
}

/// Every script of the project's cases and examples.
fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the root");
    let mut paths = Vec::new();
    for folder in [
        "tests/cases",
        "tests/witness/cases",
        "examples",
        "compiler/kernel/tests/cases",
        "runtime/host/tests/cases",
    ] {
        find_scripts(&root.join(folder), &mut paths);
    }
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a case is text")).collect()
}

fn find_scripts(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().expect("a folder of cases") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            find_scripts(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "kps") {
            paths.push(path);
        }
    }
}

/// A text of the corpus or a random kernel, changed in a few places.
fn mutated(texts: &[String], seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = match random.below(3) {
        0 => generator::generate(seed),
        1 => generator::generate_groups(seed),
        _ => random.pick(texts).clone(),
    };
    for _ in 0..1 + random.below(4) {
        text = mutation(&text, texts, &mut random);
    }
    text
}

/// What stands between words, or a few of them.
const SCRAPS: [&str; 30] = [
    "(",
    ")",
    "[",
    "]",
    ":",
    ",",
    ".x",
    ".xyzw",
    "**",
    "//",
    "-",
    "not ",
    "if ",
    "else ",
    "for k in range(3):\n",
    "while True:\n",
    "return",
    "lambda x: x",
    "barrier()",
    "shared(f32, 4)",
    "@kernel\n",
    "global_id",
    "0xFFFFFFFF",
    "1e400",
    "-9223372036854775808",
    "yield ",
    "f64(",
    "vec3(",
    "\"",
    "match 1:\n",
];

fn mutation(text: &str, texts: &[String], random: &mut Random) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return (*random.pick(&SCRAPS)).to_owned();
    }
    let at = random.below(lines.len());
    let other = texts[random.below(texts.len())].lines().collect::<Vec<_>>();
    match random.below(8) {
        0 => _ = lines.remove(at),
        1 => lines.insert(random.below(lines.len()), lines[at]),
        2 => lines.swap(at, random.below(text.lines().count())),
        3 if !other.is_empty() => lines.insert(at, other[random.below(other.len())]),
        4 => {
            let scrap = *random.pick(&SCRAPS);
            return with_word(text, scrap, random);
        }
        5 => return with_word(text, "", random),
        6 => {
            let words = words(text);
            let (from, to) = *random.pick(&words);
            return with_word(text, &text[from..to], random);
        }
        _ => {
            let line = format!("{}{}", " ".repeat(random.below(9)), lines[at].trim_start());
            lines[at] = &line;
            return lines.join("\n") + "\n";
        }
    }
    lines.join("\n") + "\n"
}

/// The text with another word in the place of one of its own.
fn with_word(text: &str, word: &str, random: &mut Random) -> String {
    let (from, to) = *random.pick(&words(text));
    format!("{}{word}{}", &text[..from], &text[to..])
}

/// Where names, numbers and signs begin and end.
fn words(text: &str) -> Vec<(usize, usize)> {
    let mut words = vec![(0, 0)];
    let mut was_name = false;
    for (at, c) in text.char_indices() {
        let is_name = c.is_alphanumeric() || c == '_';
        match words.last_mut() {
            Some(word) if is_name && was_name => word.1 = at + c.len_utf8(),
            _ => words.push((at, at + c.len_utf8())),
        }
        was_name = is_name;
    }
    words
}
