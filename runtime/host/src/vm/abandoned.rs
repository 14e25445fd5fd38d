//! Generators that nobody can step any more, and that wait in a `try`: what they have in `finally` and `with` is
//! still to be done.
//!
//! A generator notices its last reference going in `Drop`, where nothing can run. So it is put down here, and the
//! loop closes it when it next turns back or calls: there is no value half changed then. Those that are still alive
//! when the host ends are closed at that time, in the order in which they were made.

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

/// What waits to be closed in one machine.
#[derive(Default)]
pub(crate) struct Abandoned {
    dropped: RefCell<Vec<Rc<Generator>>>,
    /// Every generator with a `try`, and some that are gone.
    alive: RefCell<Vec<Weak<Generator>>>,
    /// How many of them there may be until those that are gone are taken out.
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

    /// Puts down a generator that was dropped in this state; gives the state back where it is too late.
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

    /// The machine goes: what waits is dropped as it is.
    pub fn end(&self) {
        self.is_over.set(true);
        drop(self.take_dropped());
    }
}

impl Vm {
    /// Where the loop stands between two instructions: whether to go on, and what is to be done first.
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
        // Where there is no room to run anything, it is put off to where there is.
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

    /// Closes the generators that are left when nothing more is to run, and those that these start then, for a number
    /// of rounds. What is left after that, or when a round was interrupted, is dropped as it is.
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

    /// An error that stops the whole script stops this too; others concern nobody who is still there, and are told
    /// in a warning. Each is asked once to end.
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
