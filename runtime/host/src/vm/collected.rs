//! Work that devices have collected and not started, because starting much at once costs less.
//!
//! A device starts it with the next submission, or when somebody waits for it. A script may do neither for long.
//! So the machine starts it at its polls, and before the script waits for something else.

use std::time::Duration;

use super::Vm;

/// Starts the work of at least this age. Returns whether younger work remains.
pub(crate) type StartCollected = fn(&mut Vm, Duration) -> bool;

/// The age at which work is started: by then, the script is not about to add more.
const MAX_AGE: Duration = Duration::from_micros(50);
/// Back jumps and calls to the next look at collected work.
const SOON: u32 = 16;

impl Vm {
    /// Has `start` called soon, and again while work remains.
    pub(crate) fn start_soon(&mut self, start: StartCollected) {
        self.collected = Some(start);
        self.poll_within(SOON);
    }

    /// Starts all collected work, before the script waits for anything else.
    pub(crate) fn start_collected(&mut self) {
        if let Some(start) = self.collected.take() {
            start(self, Duration::ZERO);
        }
    }

    /// At a poll.
    pub(super) fn start_old(&mut self) {
        let Some(start) = self.collected else { return };
        match start(self, MAX_AGE) {
            true => self.poll_within(SOON),
            false => self.collected = None,
        }
    }
}
