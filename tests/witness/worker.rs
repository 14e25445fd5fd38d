//! Runs cases on a thread with devices of its own, which is left for another one after so many cases, because
//! devices keep what they compiled, and after a panic, because nobody knows what it left behind.

use std::sync::mpsc::{Receiver, Sender, channel};

use crate::compare::{Case, Outcome};
use crate::devices::Devices;

/// Cases that one thread runs.
const CASES_PER_THREAD: usize = 100;

pub struct Worker {
    running: Running,
    n_left: usize,
}

struct Running {
    cases: Sender<Case>,
    outcomes: Receiver<Outcome>,
}

impl Worker {
    pub fn start() -> Worker {
        Worker { running: Running::start(), n_left: CASES_PER_THREAD }
    }

    pub fn run(&mut self, case: &Case) -> Outcome {
        if self.n_left == 0 {
            *self = Worker::start();
        }
        self.n_left -= 1;
        let sent = self.running.cases.send(case.clone());
        let outcome = sent.ok().and_then(|()| self.running.outcomes.recv().ok());
        let outcome = outcome.expect("devices open, and panics of cases are caught");
        if let Outcome::Panicked(_) = outcome {
            self.n_left = 0;
        }
        outcome
    }
}

impl Running {
    fn start() -> Running {
        let (cases, given) = channel::<Case>();
        let (found, outcomes) = channel();
        std::thread::spawn(move || {
            let devices = Devices::open();
            while let Ok(case) = given.recv() {
                if found.send(case.run(&devices)).is_err() {
                    return;
                }
            }
        });
        Running { cases, outcomes }
    }
}
