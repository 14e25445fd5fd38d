//! Stopping code that runs: from outside, at a deadline, or when its fuel is spent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{POLL_INTERVAL, Vm};
use crate::value::{ExceptionKind, Raise, Result};

/// Stops the code that a host runs, from any thread: it raises KeyboardInterrupt in the script.
#[derive(Clone, Debug, Default)]
pub struct Interrupter(Arc<AtomicBool>);

impl Interrupter {
    pub fn interrupt(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Takes a pending interrupt back; true when there was one.
    pub fn clear(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a host allows its scripts.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Nested calls of script functions.
    pub recursion: usize,
    /// Back jumps and calls, all together; `None` is without limit.
    pub fuel: Option<u64>,
    /// Time for each run or call from outside; `None` is without limit.
    pub time: Option<Duration>,
    /// When the present run must be over.
    pub(crate) deadline: Option<Instant>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { recursion: 1000, fuel: None, time: None, deadline: None }
    }
}

impl Vm {
    /// Starts the clock of one entry from outside.
    pub(crate) fn start_clock(&mut self) {
        self.limits.deadline = self.limits.time.map(|time| Instant::now() + time);
    }

    /// When the present run must be over: a kernel's wait ends there, too.
    pub fn deadline(&self) -> Option<Instant> {
        self.limits.deadline
    }

    /// Asks whether to go on. Long loops of native code call it, as back jumps and calls do.
    #[inline]
    pub fn poll(&mut self) -> Result<()> {
        self.until_poll -= 1;
        if self.until_poll != 0 && !self.interrupter.is_set() {
            return Ok(());
        }
        self.poll_now()
    }

    #[cold]
    pub(crate) fn poll_now(&mut self) -> Result<()> {
        let n_passed = POLL_INTERVAL - self.until_poll;
        self.until_poll = POLL_INTERVAL;
        if self.interrupter.clear() {
            return Err(Raise::with_args(ExceptionKind::KeyboardInterrupt, Vec::new()));
        }
        if let Some(fuel) = &mut self.limits.fuel {
            *fuel = fuel.saturating_sub(n_passed as u64);
            if *fuel == 0 {
                return Err(Raise::new(ExceptionKind::TimeoutError, "the script used up its fuel"));
            }
        }
        if self.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Raise::new(ExceptionKind::TimeoutError, "the script ran past its time limit"));
        }
        Ok(())
    }
}
