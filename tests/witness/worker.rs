//! Runs cases on a thread with its own devices. The thread is replaced after a number of cases, because
//! devices cache code, and after a panic, because its state may be inconsistent.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use crate::compare::{Case, Verdict};
use crate::devices::Devices;

/// Number of cases for one thread.
const CASES_PER_THREAD: usize = 100;

pub struct Worker {
    running: Running,
    n_left: usize,
}

impl Worker {
    pub fn start() -> Worker {
        Worker { running: Running::start(), n_left: CASES_PER_THREAD }
    }

    pub fn run(&mut self, case: &Case) -> Verdict {
        if self.n_left == 0 {
            self.running.stop();
            *self = Worker::start();
        }
        self.n_left -= 1;
        let sent = self.running.cases.as_ref().and_then(|cases| cases.send(case.clone()).ok());
        let verdict = sent.and_then(|()| self.running.verdicts.recv().ok());
        let verdict = verdict.expect("devices open, and panics of cases are caught");
        if let Verdict::Panicked(_) = verdict {
            self.n_left = 0;
        }
        verdict
    }
}

struct Running {
    cases: Option<Sender<Case>>,
    verdicts: Receiver<Verdict>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Running {
    /// Closes its devices before others are opened and before the process ends: a driver that is still
    /// working then may crash.
    fn stop(&mut self) {
        self.cases = None;
        if let Some(thread) = self.thread.take() {
            // The panic was reported where it happened.
            _ = thread.join();
        }
    }

    fn start() -> Running {
        let (cases, given) = channel::<Case>();
        let (found, verdicts) = channel();
        let thread = std::thread::spawn(move || {
            let devices = Devices::open();
            while let Ok(case) = given.recv() {
                if found.send(case.run(&devices)).is_err() {
                    return;
                }
            }
        });
        Running { cases: Some(cases), verdicts, thread: Some(thread) }
    }
}
