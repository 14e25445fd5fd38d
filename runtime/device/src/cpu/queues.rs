//! The queues of the CPU device. Each runs its submissions in order, on a thread of its own.
//!
//! Handing a submission to a thread costs several microseconds, and waking the thread more. So the caller of
//! `submit` runs a submission itself if it is short and nothing is before it, and a thread that waits for a
//! submission runs it if no other thread has begun. Only one thread at a time runs submissions of a queue, so
//! that they stay in order whoever runs them. Threads start with the first submission that is handed over.
//!
//! A submission follows the submissions in [`Submission::after`], which are all older. So the oldest one that
//! has not ended can always run.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::submission::{Observed, Outcome, Runner, Submission};
use crate::{DeviceError, Result, Ticket, Waited};

/// Maximum number of stored results of a queue. The oldest are dropped first.
const MAX_RESULTS: usize = 4096;
/// Maximum number of submissions that wait in a queue. Another one waits for the oldest to end.
const MAX_WAITING: u64 = 1024;
/// Expected nanoseconds up to which the calling thread runs a submission: a few times the cost of waking
/// another thread.
const SHORT: u64 = 25_000;
/// How long a thread polls before it sleeps, so that it notices the end of short work at once.
const SPIN: Duration = Duration::from_micros(10);

pub struct Queues {
    shared: Arc<Shared>,
    threads: Vec<Option<JoinHandle<()>>>,
    /// The last submission of each queue.
    submitted: Vec<u64>,
}

struct Shared {
    runner: Runner,
    /// The last submission of each queue that has ended.
    ended: Vec<AtomicU64>,
    /// Whether results, and something observed, may be stored.
    has_results: AtomicBool,
    has_observed: AtomicBool,
    state: Mutex<State>,
    /// Notified when a submission is handed over, and when one has ended.
    changed: Condvar,
}

struct State {
    queues: Vec<Queue>,
    observed: Observed,
    quit: bool,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Submission>,
    is_running: bool,
    /// Results of submissions that failed or took timestamps.
    results: BTreeMap<u64, SubmissionResult>,
    /// Submissions that have ended. The thread that made them takes them back: it may submit them again, and
    /// the host counts its memory by thread.
    spent: Vec<Submission>,
}

struct SubmissionResult {
    result: Result<()>,
    timestamps: Vec<u64>,
    /// The panic that ended it; it goes on in the thread that waits.
    panic: Option<Box<dyn Any + Send>>,
}

impl Queues {
    pub fn new(n_queues: usize, runner: Runner) -> Queues {
        let shared = Shared {
            runner,
            ended: (0..n_queues).map(|_| AtomicU64::new(0)).collect(),
            has_results: AtomicBool::new(false),
            has_observed: AtomicBool::new(false),
            state: Mutex::new(State {
                queues: (0..n_queues).map(|_| Queue::default()).collect(),
                observed: Observed::default(),
                quit: false,
            }),
            changed: Condvar::new(),
        };
        Queues {
            shared: Arc::new(shared),
            threads: (0..n_queues).map(|_| None).collect(),
            submitted: vec![0; n_queues],
        }
    }

    pub fn len(&self) -> usize {
        self.submitted.len()
    }

    pub fn runner(&self) -> &Runner {
        &self.shared.runner
    }

    /// The ticket of the next submission.
    pub fn next_ticket(&self, queue: usize) -> Ticket {
        Ticket { queue: queue as u32, value: self.submitted[queue] + 1 }
    }

    pub fn check_ticket(&self, ticket: Ticket) -> Result<()> {
        match self.submitted.get(ticket.queue as usize) {
            Some(submitted) if (1..=*submitted).contains(&ticket.value) => Ok(()),
            _ => Err(DeviceError::UnknownId { kind: "ticket" }),
        }
    }

    pub fn has_ended(&self, queue: usize, value: u64) -> bool {
        self.shared.has_ended(queue, value)
    }

    /// Whether every submission has ended.
    pub fn is_idle(&self) -> bool {
        self.submitted.iter().enumerate().all(|(queue, submitted)| self.has_ended(queue, *submitted))
    }

    /// Whether the calling thread should run this submission: it is short, and everything before it has
    /// ended.
    pub fn is_due_here(&self, submission: &Submission) -> bool {
        let queue = submission.ticket.queue as usize;
        self.has_ended(queue, self.submitted[queue])
            && submission.after.iter().all(|(queue, value)| self.has_ended(*queue, *value))
            && submission.is_shorter(SHORT)
    }

    /// Runs a submission on the calling thread. Everything before it has ended.
    pub fn run_here(&mut self, submission: &mut Submission) -> Ticket {
        let Outcome { result, timestamps, observed } = self.shared.runner.run(submission);
        let ticket = submission.ticket;
        let result = SubmissionResult { result, timestamps, panic: None };
        if result.is_worth_storing() || !observed.is_empty() {
            self.shared.store(&mut self.shared.lock(), ticket, result, observed);
        }
        self.submitted[ticket.queue as usize] = ticket.value;
        self.shared.ended[ticket.queue as usize].store(ticket.value, Ordering::Release);
        ticket
    }

    /// Hands a submission to the queue's thread.
    pub fn hand_over(&mut self, submission: Submission) -> Ticket {
        let ticket = submission.ticket;
        let queue = ticket.queue as usize;
        if let Some(old) = ticket.value.checked_sub(MAX_WAITING).filter(|old| *old > 0) {
            self.shared.wait(queue, old, None);
        }
        self.shared.lock().queues[queue].waiting.push_back(submission);
        match &self.threads[queue] {
            Some(_) => self.shared.changed.notify_all(),
            None => self.threads[queue] = self.start(queue),
        }
        self.submitted[queue] = ticket.value;
        ticket
    }

    /// Takes what instrumented dispatches found since the last call.
    pub fn take_observed(&self) -> Option<Observed> {
        if !self.shared.has_observed.load(Ordering::Acquire) {
            return None;
        }
        let mut state = self.shared.lock();
        self.shared.has_observed.store(false, Ordering::Relaxed);
        Some(std::mem::take(&mut state.observed))
    }

    /// Without a thread, the submissions run when somebody waits for them.
    fn start(&self, queue: usize) -> Option<JoinHandle<()>> {
        let shared = self.shared.clone();
        let name = format!("kps-queue-{queue}");
        std::thread::Builder::new().name(name).spawn(move || shared.serve(queue)).ok()
    }

    /// Takes the submissions that threads have run.
    pub fn take_spent(&self) -> Vec<Submission> {
        if self.threads.iter().all(Option::is_none) {
            return Vec::new();
        }
        let mut state = self.shared.lock();
        state.queues.iter_mut().flat_map(|queue| std::mem::take(&mut queue.spent)).collect()
    }

    /// Waits for a submission, and returns its error.
    pub fn wait(&self, ticket: Ticket, timeout: Option<Duration>) -> Result<Waited> {
        self.check_ticket(ticket)?;
        let queue = ticket.queue as usize;
        if self.shared.wait(queue, ticket.value, timeout) == Waited::TimedOut {
            return Ok(Waited::TimedOut);
        }
        if !self.shared.has_results.load(Ordering::Acquire) {
            return Ok(Waited::Done);
        }
        let mut state = self.shared.lock();
        let Some(stored) = state.queues[queue].results.get_mut(&ticket.value) else {
            return Ok(Waited::Done);
        };
        if let Some(panic) = stored.panic.take() {
            drop(state);
            panic::resume_unwind(panic);
        }
        stored.result.clone().map(|()| Waited::Done)
    }

    /// Waits until the submission has ended. Its result remains for [`Queues::wait`].
    pub fn wait_for_end(&self, queue: usize, value: u64) {
        self.shared.wait(queue, value, None);
    }

    /// The timestamps of a submission; `None` while it is running.
    pub fn timestamps(&self, ticket: Ticket) -> Result<Option<Vec<u64>>> {
        self.check_ticket(ticket)?;
        let queue = ticket.queue as usize;
        if !self.has_ended(queue, ticket.value) {
            return Ok(None);
        }
        let state = self.shared.lock();
        let stored = state.queues[queue].results.get(&ticket.value);
        Ok(Some(stored.map(|stored| stored.timestamps.clone()).unwrap_or_default()))
    }
}

/// Nobody can see the results of submissions that have not ended, so they are stopped.
impl Drop for Queues {
    fn drop(&mut self) {
        self.shared.runner.interrupt.store(true, Ordering::Relaxed);
        self.shared.lock().quit = true;
        self.shared.changed.notify_all();
        for thread in self.threads.iter_mut().filter_map(Option::take) {
            // A thread of a queue catches the panics of submissions.
            let _ = thread.join();
        }
    }
}

impl SubmissionResult {
    fn is_worth_storing(&self) -> bool {
        self.result.is_err() || self.panic.is_some() || !self.timestamps.is_empty()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that may panic runs while the lock is taken.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_ended(&self, queue: usize, value: u64) -> bool {
        self.ended[queue].load(Ordering::Acquire) >= value
    }

    /// A queue's thread.
    fn serve(&self, queue: usize) {
        let mut state = self.lock();
        while !state.quit {
            state = match self.can_begin(&state, queue) {
                true => self.run_next(state, queue),
                false => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Whether the next submission of a queue is there, and everything before it has ended.
    fn can_begin(&self, state: &State, queue: usize) -> bool {
        let queue = &state.queues[queue];
        !queue.is_running && queue.waiting.front().is_some_and(|next| self.blocker(next).is_none())
    }

    /// A queue with a submission that this one has to wait for.
    fn blocker(&self, submission: &Submission) -> Option<usize> {
        let blocker = submission.after.iter().find(|(queue, value)| !self.has_ended(*queue, *value));
        blocker.map(|(queue, _)| *queue)
    }

    /// Runs the next submission of a queue, which can begin.
    fn run_next<'a>(&'a self, mut state: MutexGuard<'a, State>, queue: usize) -> MutexGuard<'a, State> {
        let mut submission = state.queues[queue].waiting.pop_front().expect("there is one that can begin");
        state.queues[queue].is_running = true;
        drop(state);
        let run = panic::catch_unwind(AssertUnwindSafe(|| self.runner.run(&mut submission)));
        let (result, observed) = match run {
            Ok(Outcome { result, timestamps, observed }) => {
                (SubmissionResult { result, timestamps, panic: None }, observed)
            }
            Err(panic) => {
                let result = SubmissionResult { result: Ok(()), timestamps: Vec::new(), panic: Some(panic) };
                (result, Observed::default())
            }
        };
        let ticket = submission.ticket;
        let mut state = self.lock();
        self.store(&mut state, ticket, result, observed);
        state.queues[queue].spent.push(submission);
        state.queues[queue].is_running = false;
        self.ended[queue].store(ticket.value, Ordering::Release);
        self.changed.notify_all();
        state
    }

    /// Stores what a submission left behind, before it counts as ended.
    fn store(&self, state: &mut State, ticket: Ticket, result: SubmissionResult, observed: Observed) {
        if !observed.is_empty() {
            state.observed.add(observed);
            self.has_observed.store(true, Ordering::Release);
        }
        if result.is_worth_storing() {
            let results = &mut state.queues[ticket.queue as usize].results;
            results.insert(ticket.value, result);
            if results.len() > MAX_RESULTS {
                results.pop_first();
            }
            self.has_results.store(true, Ordering::Release);
        }
    }

    /// Waits until a submission has ended. Without a limit, the waiting thread runs what it waits for, unless
    /// another thread has begun it.
    fn wait(&self, queue: usize, value: u64, timeout: Option<Duration>) -> Waited {
        if self.has_ended(queue, value) {
            return Waited::Done;
        }
        if timeout == Some(Duration::ZERO) {
            return Waited::TimedOut;
        }
        let began = Instant::now();
        let mut has_polled = false;
        let mut state = self.lock();
        while !self.has_ended(queue, value) {
            if timeout.is_none()
                && let Some(next) = self.next_to_run(&state, queue)
            {
                state = self.run_next(state, next);
                continue;
            }
            if !has_polled {
                drop(state);
                self.poll(queue, value, timeout);
                has_polled = true;
                state = self.lock();
                continue;
            }
            let Some(timeout) = timeout else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = timeout.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Waited::TimedOut;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Waited::Done
    }

    /// The queue whose next submission has to run for this queue to go on; `None` if a thread is running it.
    fn next_to_run(&self, state: &State, queue: usize) -> Option<usize> {
        let mut queue = queue;
        loop {
            let Queue { waiting, is_running, .. } = &state.queues[queue];
            let next = waiting.front().filter(|_| !is_running)?;
            match self.blocker(next) {
                None => return Some(queue),
                Some(blocker) => queue = blocker,
            }
        }
    }

    fn poll(&self, queue: usize, value: u64, timeout: Option<Duration>) {
        let began = Instant::now();
        let limit = timeout.map_or(SPIN, |timeout| timeout.min(SPIN));
        // With one thread, polling would only take time from the work.
        while self.runner.pool.n_threads() > 1 && began.elapsed() < limit && !self.has_ended(queue, value) {
            std::hint::spin_loop();
        }
    }
}
