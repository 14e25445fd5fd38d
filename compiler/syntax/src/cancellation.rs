//! Cancels a parse whose result is no longer needed.

use std::cell::Cell;

/// Steps between two questions: well under a millisecond of work.
const STEPS_BETWEEN: u32 = 4096;

/// Polls at intervals whether the parse is cancelled. After that it is not polled again.
pub(crate) struct Cancellation<'a> {
    asks: &'a dyn Fn() -> bool,
    n_steps: Cell<u32>,
    is_cancelled: Cell<bool>,
}

impl<'a> Cancellation<'a> {
    pub fn new(asks: &'a dyn Fn() -> bool) -> Cancellation<'a> {
        Cancellation { asks, n_steps: Cell::new(0), is_cancelled: Cell::new(false) }
    }

    /// Counts a step; true if parsing must stop.
    #[inline]
    pub fn step(&self) -> bool {
        let n_steps = self.n_steps.get().wrapping_add(1);
        self.n_steps.set(n_steps);
        if n_steps.is_multiple_of(STEPS_BETWEEN) && !self.is_cancelled.get() {
            self.is_cancelled.set((self.asks)());
        }
        self.is_cancelled.get()
    }

    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.get()
    }
}
