//! The worker threads for large dispatches. They start with the first such dispatch.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::dispatch::Job;

pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    n_threads: usize,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    idle: Condvar,
}

#[derive(Default)]
struct State {
    job: Option<Arc<Job>>,
    /// Counts jobs, so that a worker takes each job only once.
    n_jobs: u64,
    n_working: usize,
    quit: bool,
}

impl Pool {
    pub fn new() -> Pool {
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
        Pool { shared: Arc::default(), workers: Vec::new(), n_threads }
    }

    pub fn n_threads(&self) -> usize {
        self.n_threads
    }

    /// Runs a job to its end, on the calling thread if it is small, else on all threads.
    pub fn run(&mut self, job: Job) -> Arc<Job> {
        let job = Arc::new(job);
        if self.n_threads == 1 || !job.wants_threads() {
            job.work();
            return job;
        }
        self.start_workers();
        let mut state = self.shared.lock();
        state.job = Some(job.clone());
        state.n_jobs += 1;
        drop(state);
        self.shared.wake.notify_all();
        job.work();
        let mut state = self.shared.lock();
        // A worker that has not begun by now finds nothing left to do.
        state.job = None;
        while state.n_working > 0 {
            state = self.shared.idle.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        job
    }

    fn start_workers(&mut self) {
        while self.workers.len() + 1 < self.n_threads {
            let shared = self.shared.clone();
            let worker = std::thread::Builder::new().name("kps-cpu".to_owned()).spawn(move || shared.work());
            match worker {
                Ok(worker) => self.workers.push(worker),
                // The calling thread works, too.
                Err(_) => self.n_threads = self.workers.len() + 1,
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().quit = true;
        self.shared.wake.notify_all();
        for worker in self.workers.drain(..) {
            // A worker that panicked returns nothing.
            let _ = worker.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // The lock is never poisoned with inconsistent data.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut n_seen = 0;
        let mut state = self.lock();
        while !state.quit {
            let job = state.job.clone().filter(|_| state.n_jobs != n_seen);
            n_seen = state.n_jobs;
            let Some(job) = job else {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            state.n_working += 1;
            drop(state);
            job.work();
            drop(job);
            state = self.lock();
            state.n_working -= 1;
            if state.n_working == 0 {
                self.idle.notify_all();
            }
        }
    }
}
