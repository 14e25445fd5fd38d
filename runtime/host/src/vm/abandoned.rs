//! Unreachable generators that are suspended in a `try`: their `finally` and `with` must still run.
//!
//! A generator loses its last reference in `Drop`, where nothing can run. So it is queued here, and the loop
//! closes it at its next back jump or call, when no value is half changed. Generators that are alive when the
//! host ends are closed then, in the order of creation.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use kps_bytecode::Code;

use super::{Interrupter, Vm};
use crate::errors;
use crate::modules::logging;
use crate::value::{ExceptionKind, Generator, GeneratorState, Name, Order, Raise, Result, teardown};

/// Generators with a `try` that are remembered before the first look for those that are gone.
const FEW: usize = 64;

/// Rounds of generators that are closed when the host ends: closing one may start the next, without end.
const MOST_ROUNDS: usize = 1000;

/// The generators to close in one machine.
#[derive(Default)]
pub(crate) struct Abandoned {
    dropped: RefCell<Vec<Rc<Generator>>>,
    /// Every generator with a `try`, and some that are gone.
    alive: RefCell<Vec<Weak<Generator>>>,
    /// The number of entries at which dead ones are removed.
    most_alive: Cell<usize>,
    interrupter: Interrupter,
    /// The machine is gone, and nothing can be closed any more.
    is_over: Cell<bool>,
}

impl Abandoned {
    pub fn new(interrupter: Interrupter) -> Abandoned {
        Abandoned { interrupter, ..Abandoned::default() }
    }

    /// Remembers a new generator for the end of the host, if it may have something to do then.
    pub fn remember(&self, generator: &Rc<Generator>, code: &Code) {
        if code.handlers.is_empty() {
            return;
        }
        let mut alive = self.alive.borrow_mut();
        if alive.len() >= self.most_alive.get() {
            alive.retain(|generator| generator.strong_count() > 0);
            self.most_alive.set(FEW.max(2 * alive.len()));
        }
        alive.push(Rc::downgrade(generator));
    }

    /// Queues a dropped generator in this state; returns the state if it is too late.
    pub fn put(&self, name: Name, state: GeneratorState) -> Option<GeneratorState> {
        if self.is_over.get() {
            return Some(state);
        }
        let generator = Generator { name, state: RefCell::new(state) };
        self.dropped.borrow_mut().push(Rc::new(generator));
        self.interrupter.call_for_chores();
        None
    }

    fn take_dropped(&self) -> Vec<Rc<Generator>> {
        self.interrupter.end_chores();
        self.dropped.take()
    }

    fn take_alive(&self) -> Vec<Rc<Generator>> {
        self.most_alive.set(0);
        self.alive.take().iter().filter_map(Weak::upgrade).collect()
    }

    /// The machine ends: queued generators are dropped without running.
    pub fn end(&self) {
        self.is_over.set(true);
        drop(self.take_dropped());
    }
}

impl Vm {
    /// Between two instructions of the loop: whether to continue, and pending work.
    #[inline]
    pub(crate) fn pause(&mut self) -> Result<()> {
        self.until_poll -= 1;
        if self.until_poll != 0 && !self.interrupter.wants_a_pause() {
            return Ok(());
        }
        self.pause_now()
    }

    #[cold]
    pub(super) fn pause_now(&mut self) -> Result<()> {
        self.poll_now()?;
        // Without room to run anything, it is deferred.
        if self.frames.len() + 1 >= self.limits.recursion || self.check_stack().is_err() {
            return Ok(());
        }
        // One that is closed may drop the next.
        loop {
            let dropped = self.abandoned.take_dropped();
            if dropped.is_empty() {
                return Ok(());
            }
            self.close_all(dropped)?;
            self.poll()?;
        }
    }

    /// Closes the remaining generators when nothing more will run, and those that they start, for a number of
    /// rounds. The rest, or all after an interrupt, are dropped without running.
    pub(crate) fn end_generators(&mut self) -> Result<()> {
        for _ in 0..MOST_ROUNDS {
            let mut left = self.abandoned.take_dropped();
            left.extend(self.abandoned.take_alive());
            if left.is_empty() {
                return Ok(());
            }
            if let Err(raise) = self.close_all(left).and_then(|()| self.poll()) {
                self.abandoned.end();
                return Err(raise);
            }
        }
        self.abandoned.end();
        Ok(())
    }

    /// An error that stops the whole script stops this too; other errors only cause a warning. Each generator
    /// is closed once.
    fn close_all(&mut self, generators: Vec<Rc<Generator>>) -> Result<()> {
        for generator in generators {
            let closed = self.close(&generator);
            let rest = generator.state.replace(GeneratorState::Done);
            teardown(rest);
            let Err(raise) = closed else { continue };
            let exception = self.exception_object(raise);
            let is_interrupt = exception.class().exception_kind() == ExceptionKind::KeyboardInterrupt;
            if is_interrupt || exception.order() != Order::None {
                return Err(Raise::object(exception));
            }
            let line = self.exception_line(&exception);
            logging::warn_kp(self, &errors::ignored_in_generator(&generator.name, &line))?;
        }
        Ok(())
    }
}
