//! The commands of a queue that are recorded and not submitted yet.
//!
//! A submission costs several times as much as recording a command. So commands are collected, and submitted
//! when somebody waits for them, when the batch is full, or when it is old.

use std::rc::Rc;
use std::time::{Duration, Instant};

use ash::vk;

use super::encode::Bound;
use super::pipelines::Pipeline;

/// A batch with so many commands is full.
pub(super) const MAX_COMMANDS: usize = 64;
/// The device should not idle for longer than this while commands wait for it.
const MAX_AGE: Duration = Duration::from_micros(50);

#[derive(Default)]
pub(super) struct Batch {
    /// In the order of execution: buffers of single commands, and recordings of lists.
    pub buffers: Vec<vk::CommandBuffer>,
    /// Those of `buffers` that only this batch uses.
    pub own: Vec<vk::CommandBuffer>,
    /// The last of `own`, while it takes further commands.
    pub open: Option<vk::CommandBuffer>,
    /// What is bound there.
    pub bound: Bound,
    /// Semaphores for which the batch waits, with their values.
    pub waits: Vec<(vk::Semaphore, u64)>,
    /// Keeps the pipelines alive that single commands use.
    pub pipelines: Vec<Rc<Pipeline>>,
    /// Whether single commands write memory that the host may read.
    pub writes_host_memory: bool,
    n_commands: usize,
    /// Number of lists that the commands came from.
    n_added: usize,
    /// When the first command was added.
    since: Option<Instant>,
}

impl Batch {
    pub fn is_empty(&self) -> bool {
        self.n_commands == 0
    }

    pub fn note(&mut self, n_commands: usize) {
        self.n_commands += n_commands.max(1);
        self.n_added += 1;
        self.since.get_or_insert_with(Instant::now);
    }

    /// Whether it should be submitted, at `full` commands.
    pub fn is_due(&self, full: usize) -> bool {
        // Reading the clock takes a good part of the time in which a command is recorded.
        let looks_at_clock = self.n_added.is_multiple_of(4);
        self.n_commands >= full || looks_at_clock && self.is_older_than(MAX_AGE)
    }

    /// Whether its first command was added longer ago.
    pub fn is_older_than(&self, age: Duration) -> bool {
        self.since.is_some_and(|since| since.elapsed() > age)
    }
}

/// The number of commands at which a batch is full. The first batch after a wait has one command, so that the
/// device starts at once; each further one has twice as many, because the device is busy by then.
#[derive(Clone, Copy)]
pub(super) struct BatchSize(usize);

impl BatchSize {
    pub const FIRST: BatchSize = BatchSize(1);

    pub fn get(self) -> usize {
        self.0
    }

    pub fn next(self) -> BatchSize {
        BatchSize((2 * self.0).min(MAX_COMMANDS))
    }
}
