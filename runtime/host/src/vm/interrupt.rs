//! Stops running code: by an interrupt from outside, a time limit, or a fuel limit.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use super::{POLL_INTERVAL, Vm};
use crate::memory::{self, Meter, Metered};
use crate::value::{ExceptionKind, Order, Raise, Result};

const OUT_OF_TIME: &str = "the script ran past its time limit";

/// What `finally` and `with` may still take after the time limit.
const GRACE: Duration = Duration::from_secs(1);

/// Stops the code that a host runs, from any thread: it raises KeyboardInterrupt in the script, and
/// ends kernels at their next chance.
#[derive(Clone, Debug, Default)]
pub struct Interrupter(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    /// The reason to stop: a [`Cause`], or 0; and whether there are [`CHORES`], or the memory limit is
    /// reached ([`memory::OVER`]).
    script: AtomicU8,
    /// Raised and lowered with the script's: those of the devices that it opened.
    devices: Mutex<Vec<Weak<AtomicBool>>>,
}

/// Why code is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Cause {
    Asked = 1,
    TimeLimit,
    GraceOver,
}

/// A flag beside the cause: there is pending work before the script continues.
const CHORES: u8 = 0x80;

/// The bits of the cause.
const CAUSE: u8 = !(CHORES | memory::OVER);

impl Cause {
    fn order(self) -> Order {
        match self {
            Cause::Asked => Order::None,
            Cause::TimeLimit => Order::End,
            Cause::GraceOver => Order::EndNow,
        }
    }
}

impl Interrupter {
    pub fn interrupt(&self) {
        self.stop(Cause::Asked);
    }

    fn stop(&self, cause: Cause) {
        let set = |flags| Some(flags & !CAUSE | cause as u8);
        let _ = self.0.script.fetch_update(Ordering::Relaxed, Ordering::Relaxed, set);
        self.set_devices(true);
    }

    /// Has the loop pause when it next may.
    pub(super) fn call_for_chores(&self) {
        self.0.script.fetch_or(CHORES, Ordering::Relaxed);
    }

    pub(super) fn end_chores(&self) {
        self.0.script.fetch_and(!CHORES, Ordering::Relaxed);
    }

    /// Whether there is a cause to stop or pending work.
    #[inline(always)]
    pub(super) fn wants_a_pause(&self) -> bool {
        self.0.script.load(Ordering::Relaxed) != 0
    }

    /// Clears a pending interrupt; true if there was one.
    pub fn clear(&self) -> bool {
        self.take().is_some()
    }

    fn take(&self) -> Option<Cause> {
        let cause = match self.0.script.fetch_and(!CAUSE, Ordering::Relaxed) & CAUSE {
            0 => return None,
            code if code == Cause::TimeLimit as u8 => Cause::TimeLimit,
            code if code == Cause::GraceOver as u8 => Cause::GraceOver,
            _ => Cause::Asked,
        };
        self.set_devices(false);
        Some(cause)
    }

    pub fn is_set(&self) -> bool {
        self.0.script.load(Ordering::Relaxed) & CAUSE != 0
    }

    /// Whether a long computation must call `look`: there is a cause to stop, or the memory limit is reached.
    #[inline]
    fn wants_a_look(&self) -> bool {
        self.0.script.load(Ordering::Relaxed) & !CHORES != 0
    }

    /// Raises the exception for the cause to stop, or MemoryError.
    fn look(&self) -> Result<()> {
        match self.take() {
            Some(Cause::Asked) => return Err(Raise::with_args(ExceptionKind::KeyboardInterrupt, Vec::new())),
            Some(cause) => {
                return Err(Raise::new(ExceptionKind::TimeoutError, OUT_OF_TIME).ordered(cause.order()));
            }
            None => {}
        }
        match self.0.script.fetch_and(!memory::OVER, Ordering::Relaxed) & memory::OVER {
            0 => Ok(()),
            _ => memory::judge(),
        }
    }

    /// The flag in which the allocator sets [`memory::OVER`].
    pub(crate) fn flag(&self) -> *const AtomicU8 {
        &raw const self.0.script
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

/// The limits of a host's scripts.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Nested calls of script functions.
    pub recursion: usize,
    /// Back jumps and calls, in total; `None` is without limit.
    pub fuel: Option<u64>,
    /// Time for each run or call from outside; `None` is without limit.
    pub time: Option<Duration>,
    /// Bytes of values; `None` is the system's memory.
    pub memory: Option<usize>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { recursion: 1000, fuel: None, time: None, memory: None }
    }
}

/// Stops the run at its time limit, and again after the grace period for cleaning up, unless it is dropped
/// before.
pub(crate) struct Watchdog {
    _alive: Sender<()>,
}

impl Watchdog {
    fn start(interrupter: Interrupter, time: Duration) -> Watchdog {
        let (alive, dropped) = mpsc::channel::<()>();
        std::thread::spawn(move || {
            let (mut wait, mut cause) = (time, Cause::TimeLimit);
            while dropped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                interrupter.stop(cause);
                (wait, cause) = (GRACE, Cause::GraceOver);
            }
        });
        Watchdog { _alive: alive }
    }
}

thread_local! {
    /// The interrupter of the host that runs on this thread.
    static RUNNING: RefCell<Option<Interrupter>> = const { RefCell::new(None) };
}

/// A host that runs on this thread: its memory is counted, and [`checkpoint`] looks at its interrupter.
pub(crate) struct Running {
    _metered: Metered,
    before: Option<Interrupter>,
}

impl Running {
    pub fn start(interrupter: &Interrupter, meter: &Rc<Meter>) -> Running {
        let before = RUNNING.replace(Some(interrupter.clone()));
        Running { _metered: meter.start(interrupter), before }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.set(self.before.take());
    }
}

/// Polls for interrupts, in code without access to a machine: once every few milliseconds of work. It raises
/// the interrupt of the host that runs on this thread.
pub fn checkpoint() -> Result<()> {
    RUNNING.with_borrow(|running| match running {
        Some(interrupter) if interrupter.wants_a_look() => interrupter.look(),
        _ => Ok(()),
    })
}

/// Items that are worked on between two looks at the interrupter: a few milliseconds of simple work.
pub const STRETCH: usize = 1 << 18;

/// All items of an iterator: the result of [`Iterator::collect`], an interrupt, or MemoryError.
pub fn collect_all<T>(mut items: impl Iterator<Item = T>) -> Result<Vec<T>> {
    let mut all = Vec::new();
    loop {
        checkpoint()?;
        let (least, most) = items.size_hint();
        let n_before = all.len();
        memory::make_more_room(&mut all, least.max(STRETCH.min(most.unwrap_or(STRETCH))))?;
        all.extend(items.by_ref().take(STRETCH));
        if all.len() - n_before < STRETCH {
            return Ok(all);
        }
    }
}

/// Repeated items: the result of [`slice::repeat`], or an interrupt. Its memory was granted.
pub fn repeat_all<T: Clone>(items: &[T], times: usize) -> Result<Vec<T>> {
    if items.is_empty() {
        return Ok(Vec::new());
    }
    let n_in_block = (STRETCH / items.len()).clamp(1, times.max(1));
    let block = std::iter::repeat_n(items, n_in_block).flatten().cloned().collect::<Vec<T>>();
    let mut repeated = Vec::with_capacity(items.len() * times);
    for n_done in (0..times).step_by(n_in_block) {
        checkpoint()?;
        repeated.extend_from_slice(&block[..n_in_block.min(times - n_done) * items.len()]);
    }
    Ok(repeated)
}

/// The same of a text.
pub fn repeat_text(text: &str, times: usize) -> Result<String> {
    if text.is_empty() {
        return Ok(String::new());
    }
    let n_in_block = (STRETCH / text.len()).clamp(1, times.max(1));
    let block = text.repeat(n_in_block);
    let mut repeated = String::with_capacity(text.len() * times);
    for n_done in (0..times).step_by(n_in_block) {
        checkpoint()?;
        repeated.push_str(&block[..n_in_block.min(times - n_done) * text.len()]);
    }
    Ok(repeated)
}

impl Vm {
    /// Starts the clock of one entry from outside; dropping the result stops it.
    pub(crate) fn start_clock(&mut self) -> Option<Watchdog> {
        let time = self.limits.time?;
        // The time of an entry before this one may have run out just as it ended.
        self.interrupter.clear();
        Some(Watchdog::start(self.interrupter.clone(), time))
    }

    /// An interrupted kernel raises the interrupt, which is then cleared.
    pub(super) fn interruption(&mut self, raise: Raise) -> Raise {
        if !raise.is_new_interrupt() {
            return raise;
        }
        match self.interrupter.take() {
            Some(Cause::Asked) | None => raise,
            Some(cause) => {
                let raise = raise.turn_into(ExceptionKind::TimeoutError, |said| match said {
                    // A device that ended the run reports nothing else.
                    "interrupted" | "" => OUT_OF_TIME.to_owned(),
                    said => format!("{OUT_OF_TIME}: {said}"),
                });
                raise.ordered(cause.order())
            }
        }
    }

    /// Polls for interrupts. Long loops of native code call it, as back jumps and calls do.
    #[inline]
    pub fn poll(&mut self) -> Result<()> {
        self.until_poll -= 1;
        if self.until_poll != 0 && !self.interrupter.wants_a_look() {
            return Ok(());
        }
        self.poll_now()
    }

    #[cold]
    pub(crate) fn poll_now(&mut self) -> Result<()> {
        let n_passed = self.poll_interval - self.until_poll;
        self.until_poll = POLL_INTERVAL;
        self.poll_interval = POLL_INTERVAL;
        self.interrupter.look()?;
        self.start_old();
        if let Some(fuel) = &mut self.limits.fuel {
            // The time until the next poll is the grace.
            let order = if *fuel == 0 { Order::EndNow } else { Order::End };
            *fuel = fuel.saturating_sub(n_passed as u64);
            if *fuel == 0 {
                let raise = Raise::new(ExceptionKind::TimeoutError, "the script used up its fuel");
                return Err(raise.ordered(order));
            }
        }
        Ok(())
    }

    /// Has the next poll come after no more than so many back jumps and calls.
    pub(super) fn poll_within(&mut self, n: u32) {
        if self.until_poll > n {
            self.poll_interval -= self.until_poll - n;
            self.until_poll = n;
        }
    }
}
