//! The commands of a queue that are recorded and not submitted yet.
//!
//! A submission costs several times as much as recording a command. So commands are collected, and submitted
//! when somebody waits for them, when the batch is full, or when it is old.

use std::rc::Rc;
use std::time::{Duration, Instant};

use ash::vk;

use super::pipelines::Pipeline;

/// A batch with so many commands is full.
const MAX_COMMANDS: usize = 64;
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
    /// The pipeline that is bound there.
    pub bound: vk::Pipeline,
    /// Semaphores for which the batch waits, with their values.
    pub waits: Vec<(vk::Semaphore, u64)>,
    /// Keeps the pipelines alive that single commands use.
    pub pipelines: Vec<Rc<Pipeline>>,
    /// Whether single commands write memory that the host may read.
    pub writes_host_memory: bool,
    n_commands: usize,
    /// When the first command was added.
    since: Option<Instant>,
}

impl Batch {
    pub fn is_empty(&self) -> bool {
        self.n_commands == 0
    }

    pub fn note(&mut self, n_commands: usize) {
        self.n_commands += n_commands.max(1);
        self.since.get_or_insert_with(Instant::now);
    }

    /// Whether it should be submitted, at `full` commands.
    pub fn is_due(&self, full: usize) -> bool {
        self.n_commands >= full || self.since.is_some_and(|since| since.elapsed() > MAX_AGE)
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
