//! Stopping code that runs: from outside, at a deadline, or when its fuel is spent.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::{POLL_INTERVAL, Vm};
use crate::value::{ExceptionKind, Raise, Result};

/// Stops the code that a host runs, from any thread: it raises KeyboardInterrupt in the script, and
/// ends kernels at their next chance.
#[derive(Clone, Debug, Default)]
pub struct Interrupter(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    script: AtomicBool,
    /// Raised and lowered with the script's: those of the devices that it opened.
    devices: Mutex<Vec<Weak<AtomicBool>>>,
}

impl Interrupter {
    pub fn interrupt(&self) {
        self.0.script.store(true, Ordering::Relaxed);
        self.set_devices(true);
    }

    /// Takes a pending interrupt back; true when there was one.
    pub fn clear(&self) -> bool {
        let was_set = self.0.script.swap(false, Ordering::Relaxed);
        if was_set {
            self.set_devices(false);
        }
        was_set
    }

    pub fn is_set(&self) -> bool {
        self.0.script.load(Ordering::Relaxed)
    }

    /// Lets an interrupt raise the flag of a device as well, for as long as that is there.
    pub(crate) fn link(&self, device: &Arc<AtomicBool>) {
        let mut devices = self.0.devices.lock().unwrap_or_else(PoisonError::into_inner);
        devices.retain(|device| device.strong_count() > 0);
        devices.push(Arc::downgrade(device));
    }

    fn set_devices(&self, raised: bool) {
        let devices = self.0.devices.lock().unwrap_or_else(PoisonError::into_inner);
        for device in devices.iter().filter_map(Weak::upgrade) {
            device.store(raised, Ordering::Relaxed);
        }
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
