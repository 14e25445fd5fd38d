//! The worker threads for large dispatches. They start with the first such dispatch, and serve all queues:
//! each goes to the dispatch that the fewest others work on.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::dispatch::Job;

pub struct Pool {
    shared: Arc<Shared>,
    workers: Mutex<Vec<JoinHandle<()>>>,
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
    tasks: Vec<Task>,
    quit: bool,
}

/// A job that workers may join.
struct Task {
    job: Arc<Job>,
    n_working: usize,
}

impl Pool {
    pub fn new() -> Pool {
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
        Pool { shared: Arc::default(), workers: Mutex::default(), n_threads }
    }

    pub fn n_threads(&self) -> usize {
        self.n_threads
    }

    /// Runs a job to its end, on the calling thread if it is small, else on all threads. Several threads may
    /// run jobs at once.
    pub fn run(&self, job: &Arc<Job>) {
        if self.n_threads == 1 || !job.wants_threads() {
            return job.work();
        }
        self.start_workers();
        self.shared.lock().tasks.push(Task { job: job.clone(), n_working: 0 });
        self.shared.wake.notify_all();
        job.work();
        let mut state = self.shared.lock();
        // A worker that has not begun by now finds nothing left to do.
        while state.task(job).n_working > 0 {
            state = self.shared.idle.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.tasks.retain(|task| !Arc::ptr_eq(&task.job, job));
    }

    fn start_workers(&self) {
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        while workers.len() + 1 < self.n_threads {
            let shared = self.shared.clone();
            let worker = std::thread::Builder::new().name("kps-cpu".to_owned()).spawn(move || shared.work());
            match worker {
                Ok(worker) => workers.push(worker),
                // The calling thread works, too.
                Err(_) => return,
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().quit = true;
        self.shared.wake.notify_all();
        let workers = self.workers.get_mut().unwrap_or_else(PoisonError::into_inner);
        for worker in workers.drain(..) {
            // A worker that panicked returns nothing.
            let _ = worker.join();
        }
    }
}

impl State {
    fn task(&mut self, job: &Arc<Job>) -> &mut Task {
        let task = self.tasks.iter_mut().find(|task| Arc::ptr_eq(&task.job, job));
        task.expect("the thread that runs a job removes its task last")
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // The lock is never poisoned with inconsistent data.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut state = self.lock();
        while !state.quit {
            let open = state.tasks.iter_mut().filter(|task| task.job.has_more());
            let Some(task) = open.min_by_key(|task| task.n_working) else {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            task.n_working += 1;
            let job = task.job.clone();
            drop(state);
            job.work();
            state = self.lock();
            state.task(&job).n_working -= 1;
            // The thread that runs the job frees it.
            drop(job);
            self.idle.notify_all();
        }
    }
}
