//! Runs cases on a thread with devices of its own, which is left for another one after so many cases, because
//! devices keep what they compiled, and after a panic, because nobody knows what it left behind.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use crate::compare::{Case, Outcome};
use crate::devices::Devices;

/// Cases that one thread runs.
const CASES_PER_THREAD: usize = 100;

pub struct Worker {
    running: Running,
    n_left: usize,
}

impl Worker {
    pub fn start() -> Worker {
        Worker { running: Running::start(), n_left: CASES_PER_THREAD }
    }

    pub fn run(&mut self, case: &Case) -> Outcome {
        if self.n_left == 0 {
            self.running.stop();
            *self = Worker::start();
        }
        self.n_left -= 1;
        let sent = self.running.cases.as_ref().and_then(|cases| cases.send(case.clone()).ok());
        let outcome = sent.and_then(|()| self.running.outcomes.recv().ok());
        let outcome = outcome.expect("devices open, and panics of cases are caught");
        if let Outcome::Panicked(_) = outcome {
            self.n_left = 0;
        }
        outcome
    }
}

struct Running {
    cases: Option<Sender<Case>>,
    outcomes: Receiver<Outcome>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Running {
    /// Its devices are closed before others are opened and before the process ends: a driver that is still at
    /// it then may crash.
    fn stop(&mut self) {
        self.cases = None;
        if let Some(thread) = self.thread.take() {
            // A panic there was told where it happened.
            _ = thread.join();
        }
    }

    fn start() -> Running {
        let (cases, given) = channel::<Case>();
        let (found, outcomes) = channel();
        let thread = std::thread::spawn(move || {
            let devices = Devices::open();
            while let Ok(case) = given.recv() {
                if found.send(case.run(&devices)).is_err() {
                    return;
                }
            }
        });
        Running { cases: Some(cases), outcomes, thread: Some(thread) }
    }
}
