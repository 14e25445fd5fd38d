//! Medians of runs that take turns, so that a drift of the machine's speed affects all equally.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// One thing to time, by name.
pub struct Contestant<'c> {
    pub name: &'c str,
    pub run: Box<dyn FnMut() -> Sample + 'c>,
}

#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub time: Duration,
    /// Peak memory of the process in bytes; 0 if no process was started.
    pub memory: u64,
}

/// Runs all contestants `n_rounds` times in turn, after one round to warm up. It prints a row for each:
/// minimum, median and maximum in milliseconds, the median's ratio to the first, and peak memory.
pub fn compare(title: &str, n_rounds: usize, mut contestants: Vec<Contestant>) {
    let mut samples: Vec<Vec<Sample>> = contestants.iter().map(|_| vec![]).collect();
    for round in 0..=n_rounds {
        for (contestant, samples) in contestants.iter_mut().zip(&mut samples) {
            let sample = (contestant.run)();
            if round > 0 {
                samples.push(sample);
            }
        }
    }
    println!("\n{title} ({n_rounds} rounds, ms)");
    println!("{:44} {:>9} {:>9} {:>9} {:>7} {:>8}", "", "min", "median", "max", "ratio", "MB");
    let first = median(&samples[0]);
    for (contestant, samples) in contestants.iter().zip(&samples) {
        let times = sorted(samples);
        let memory = samples.iter().map(|sample| sample.memory).max().unwrap_or(0);
        println!(
            "{:44} {:9.4} {:9.4} {:9.4} {:7.2} {:8.1}",
            contestant.name,
            times[0] * 1e3,
            median(samples) * 1e3,
            times[times.len() - 1] * 1e3,
            median(samples) / first,
            memory as f64 / 1e6
        );
    }
}

fn sorted(samples: &[Sample]) -> Vec<f64> {
    let mut times: Vec<f64> = samples.iter().map(|sample| sample.time.as_secs_f64()).collect();
    times.sort_by(f64::total_cmp);
    times
}

fn median(samples: &[Sample]) -> f64 {
    let times = sorted(samples);
    times[times.len() / 2]
}

/// The Python interpreter itself: a version manager's `python3` is a slow script that starts it.
#[allow(dead_code, reason = "each benchmark is a program of its own and uses what it needs")]
pub fn python() -> Command {
    let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let path = asked.expect("python3 runs").stdout;
    Command::new(String::from_utf8(path).expect("the path is text").trim())
}

/// Times `f` inside this process.
#[allow(dead_code, reason = "each benchmark is a program of its own and uses what it needs")]
pub fn in_process(mut f: impl FnMut()) -> Sample {
    let start = Instant::now();
    f();
    Sample { time: start.elapsed(), memory: 0 }
}

/// Times a whole process until it has ended; it must succeed.
#[allow(dead_code, reason = "each benchmark is a program of its own and uses what it needs")]
#[allow(clippy::zombie_processes, reason = "`wait4` waits for it, and reports its memory")]
pub fn process(command: &mut Command) -> Sample {
    let start = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("the program starts");
    let mut status = 0;
    // SAFETY: both out-parameters live on this stack; only this call waits for the child.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        assert!(
            libc::wait4(child.id() as i32, &mut status, 0, &mut usage) > 0,
            "the child can be waited for"
        );
        usage
    };
    assert_eq!(status, 0, "{command:?} succeeds");
    Sample { time: start.elapsed(), memory: usage.ru_maxrss as u64 * 1024 }
}
