//! A queue with its timeline semaphore, whose values count tickets.
//!
//! A ticket is given when its commands are recorded. Those of one batch end together.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ash::vk;

use super::batch::{Batch, BatchSize, MAX_COMMANDS};
use super::encode::Bound;
use super::fences::Fences;
use super::gpu::{Gpu, QueuePlace};
use super::hazards::{Hazards, full_barrier, host_barrier};
use super::pipelines::Pipeline;
use crate::{DeviceError, DeviceKind, Result, Waited};

/// Polling notices the end of a submission some 20 microseconds sooner than sleeping. So a wait polls for about twice
/// the time that waits took lately, and sleeps then.
const SPIN: Range<Duration> = Duration::from_micros(50)..Duration::from_micros(1000);
/// After longer waits, the 20 microseconds do not matter, and polling would only take power.
const WORTH_SPINNING: Duration = Duration::from_micros(500);
/// Longest sleep between polls of the interrupt flag.
const NAP: Duration = Duration::from_millis(20);
/// How long an interrupted submission may take to end before its memory is leaked. The process waits for this
/// time.
const PATIENCE: Duration = Duration::from_millis(100);
/// Mesa's software driver stores some 300 bytes for each submission until the queue is empty. After this many
/// tickets, kps waits for an empty queue.
const MAX_WITHOUT_REST: u64 = 1024;
/// More batches than this do not wait in a queue, because their commands take memory.
const MAX_BATCHES: usize = 256;

pub(super) struct Queue {
    gpu: Rc<Gpu>,
    handle: vk::Queue,
    pub family: u32,
    pool: vk::CommandPool,
    timeline: vk::Semaphore,
    fences: Fences,
    /// The value of the last ticket.
    pub issued: u64,
    /// The last ticket whose commands were submitted.
    submitted: u64,
    /// The last ticket of each submitted batch that may not have ended. The semaphore takes only these values.
    batch_ends: RefCell<VecDeque<u64>>,
    ended: Cell<u64>,
    /// The last ticket after which the queue was empty.
    rested: Cell<u64>,
    /// The average of the last waits, later ones weighing more.
    recent_wait: Cell<Duration>,
    /// A wait was interrupted, so the running submission may never end.
    abandoned: Cell<bool>,
    /// Uses of earlier commands since the last barrier.
    pub hazards: Hazards,
    /// The last ticket before the last barrier.
    ordered: u64,
    /// Commands with only a barrier, for lists that conflict with what runs before them.
    barrier: vk::CommandBuffer,
    batch: Batch,
    batch_size: BatchSize,
    /// What submitted batches use, each with its last ticket.
    spent: VecDeque<Spent>,
    /// Reusable command buffers.
    idle: Vec<vk::CommandBuffer>,
}

struct Spent {
    ticket: u64,
    buffers: Vec<vk::CommandBuffer>,
    _pipelines: Vec<Rc<Pipeline>>,
}

/// Where single commands are recorded.
pub(super) struct Open<'q> {
    pub commands: vk::CommandBuffer,
    pub bound: &'q mut Bound,
    pub pipelines: &'q mut Vec<Rc<Pipeline>>,
    pub hazards: &'q mut Hazards,
}

impl Queue {
    pub fn new(gpu: &Rc<Gpu>, place: QueuePlace) -> Result<Queue> {
        // SAFETY: the device was created with this queue.
        let handle = unsafe { gpu.device.get_device_queue(place.family, place.index) };
        let pool_info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(place.family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: the family is one that the device has.
        let pool = unsafe { gpu.device.create_command_pool(&pool_info, None) };
        let pool = pool.map_err(|result| gpu.error("vkCreateCommandPool", result))?;
        let mut queue = Queue {
            gpu: gpu.clone(),
            handle,
            family: place.family,
            pool,
            timeline: vk::Semaphore::null(),
            fences: Fences::new(gpu),
            issued: 0,
            submitted: 0,
            batch_ends: RefCell::default(),
            ended: Cell::new(0),
            rested: Cell::new(0),
            recent_wait: Cell::new(SPIN.start),
            abandoned: Cell::new(false),
            hazards: Hazards::default(),
            ordered: 0,
            barrier: vk::CommandBuffer::null(),
            batch: Batch::default(),
            batch_size: BatchSize::FIRST,
            spent: VecDeque::new(),
            idle: Vec::new(),
        };
        queue.timeline = queue.create_timeline()?;
        queue.barrier = queue.record_barrier()?;
        let name = |what: &str| format!("{what} {} of family {}", place.index, place.family);
        gpu.names.set(queue.handle, || name("queue"));
        gpu.names.set(queue.pool, || name("commands of queue"));
        gpu.names.set(queue.timeline, || name("timeline of queue"));
        gpu.names.set(queue.barrier, || name("barrier of queue"));
        Ok(queue)
    }

    fn create_timeline(&self) -> Result<vk::Semaphore> {
        let mut ty = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut ty);
        // SAFETY: timeline semaphores are a minimum requirement, which was checked.
        unsafe { self.gpu.device.create_semaphore(&info, None) }
            .map_err(|result| self.gpu.error("vkCreateSemaphore", result))
    }

    fn record_barrier(&mut self) -> Result<vk::CommandBuffer> {
        let commands = self.begin(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE)?;
        full_barrier(&self.gpu.device, commands);
        self.end(commands)?;
        Ok(commands)
    }

    /// Begins recording a command buffer.
    pub fn begin(&mut self, usage: vk::CommandBufferUsageFlags) -> Result<vk::CommandBuffer> {
        let commands = match self.idle.pop() {
            Some(commands) => commands,
            None => self.allocate()?,
        };
        let info = vk::CommandBufferBeginInfo::default().flags(usage);
        // SAFETY: idle buffers are not pending, and beginning one resets it.
        unsafe { self.gpu.device.begin_command_buffer(commands, &info) }
            .map_err(|result| self.gpu.error("vkBeginCommandBuffer", result))?;
        Ok(commands)
    }

    fn allocate(&self) -> Result<vk::CommandBuffer> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // SAFETY: the pool is alive and used from this thread only.
        unsafe { self.gpu.device.allocate_command_buffers(&info) }
            .map(|buffers| buffers[0])
            .map_err(|result| self.gpu.error("vkAllocateCommandBuffers", result))
    }

    pub fn end(&self, commands: vk::CommandBuffer) -> Result<()> {
        // SAFETY: the buffer came from `begin`.
        unsafe { self.gpu.device.end_command_buffer(commands) }
            .map_err(|result| self.gpu.error("vkEndCommandBuffer", result))
    }

    /// Takes back a command buffer that is not pending.
    pub fn recycle(&mut self, commands: vk::CommandBuffer) {
        self.idle.push(commands);
    }

    /// The command buffer for further single commands of the batch.
    pub fn open(&mut self) -> Result<Open<'_>> {
        let commands = match self.batch.open {
            Some(commands) => commands,
            None => {
                let commands = self.begin(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
                self.batch.buffers.push(commands);
                self.batch.own.push(commands);
                self.batch.open = Some(commands);
                self.batch.bound.clear();
                commands
            }
        };
        let Batch { bound, pipelines, .. } = &mut self.batch;
        Ok(Open { commands, bound, pipelines, hazards: &mut self.hazards })
    }

    /// Adds a recording to the batch.
    pub fn add(&mut self, commands: vk::CommandBuffer) -> Result<()> {
        self.close()?;
        self.batch.buffers.push(commands);
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        match self.batch.open.take() {
            Some(commands) => self.end(commands),
            None => Ok(()),
        }
    }

    /// Separates the commands so far from those that follow.
    pub fn add_barrier(&mut self) {
        match self.batch.open {
            Some(commands) => full_barrier(&self.gpu.device, commands),
            None => self.batch.buffers.push(self.barrier),
        }
        self.hazards.clear();
        self.note_barrier();
    }

    /// Records that a barrier follows every ticket so far.
    pub fn note_barrier(&mut self) {
        self.ordered = self.issued;
    }

    /// Whether a barrier or the host separates the ticket from what follows.
    pub fn is_ordered(&self, ticket: u64) -> bool {
        ticket <= self.ordered || self.has_released(ticket)
    }

    /// Has the commands that follow wait for other queues.
    pub fn add_waits(&mut self, waits: &[(vk::Semaphore, u64)]) -> Result<()> {
        // A submission waits as a whole.
        self.flush()?;
        self.batch.waits.extend(waits);
        Ok(())
    }

    /// Gives the commands that were added since the last ticket a ticket.
    pub fn issue(&mut self, n_commands: usize, writes_host_memory: bool) -> u64 {
        self.batch.note(n_commands);
        self.batch.writes_host_memory |= writes_host_memory;
        self.issued += 1;
        self.issued
    }

    /// Submits the batch if it is full or old.
    pub fn flush_if_due(&mut self) -> Result<()> {
        if !self.batch.is_due(self.batch_size.get()) {
            return Ok(());
        }
        self.batch_size = self.batch_size.next();
        self.flush()
    }

    /// Submits the batch if it cannot grow, after a command that others probably follow.
    pub fn flush_if_full(&mut self) -> Result<()> {
        if self.batch.is_due(MAX_COMMANDS) { self.flush() } else { Ok(()) }
    }

    /// Submits a batch that is older. Returns whether there is a younger one.
    pub fn flush_older(&mut self, age: Duration) -> Result<bool> {
        if self.batch.is_empty() {
            return Ok(false);
        }
        if !self.batch.is_older_than(age) {
            return Ok(true);
        }
        self.flush().map(|()| false)
    }

    /// Submits the batch, unless the ticket is of an earlier one.
    pub fn flush_for(&mut self, ticket: u64) -> Result<()> {
        if ticket <= self.submitted { Ok(()) } else { self.flush() }
    }

    /// The semaphore, and its value when a submitted ticket has ended.
    pub fn signal_of(&self, ticket: u64) -> (vk::Semaphore, u64) {
        let ends = self.batch_ends.borrow();
        let end = ends.get(ends.partition_point(|end| *end < ticket));
        (self.timeline, end.copied().unwrap_or(ticket))
    }

    /// Submits the batch.
    pub fn flush(&mut self) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        if self.batch.writes_host_memory {
            let commands = self.open()?.commands;
            host_barrier(&self.gpu.device, commands);
        }
        self.close()?;
        let batch = std::mem::take(&mut self.batch);
        let (semaphores, values): (Vec<_>, Vec<_>) = batch.waits.into_iter().unzip();
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; semaphores.len()];
        let (signals, signal_values) = ([self.timeline], [self.issued]);
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&values)
            .signal_semaphore_values(&signal_values);
        let info = vk::SubmitInfo::default()
            .wait_semaphores(&semaphores)
            .wait_dst_stage_mask(&stages)
            .command_buffers(&batch.buffers)
            .signal_semaphores(&signals)
            .push_next(&mut timeline);
        let fence = self.fences.next(self.submitted + 1)?;
        // SAFETY: the command buffers are recorded, and allow simultaneous use where it may happen. The
        // semaphores are alive, and the queue is used from this thread only.
        let submitted = unsafe { self.gpu.device.queue_submit(self.handle, &[info], fence) };
        if let Err(result) = submitted {
            // Tickets were given for these commands, which will never end.
            return Err(self.gpu.lose("vkQueueSubmit", result));
        }
        self.submitted = self.issued;
        self.batch_ends.get_mut().push_back(self.submitted);
        if !batch.own.is_empty() {
            let (ticket, buffers) = (self.submitted, batch.own);
            self.spent.push_back(Spent { ticket, buffers, _pipelines: batch.pipelines });
        }
        self.reuse()
    }

    /// Makes the command buffers of ended batches reusable.
    fn reuse(&mut self) -> Result<()> {
        self.poll()?;
        while let Some(spent) = self.spent.front()
            && self.was_ended(spent.ticket)
        {
            self.idle.extend(self.spent.pop_front().into_iter().flat_map(|spent| spent.buffers));
        }
        Ok(())
    }

    /// Whether the ticket's commands had ended at the last poll.
    pub fn was_ended(&self, value: u64) -> bool {
        value <= self.ended.get()
    }

    /// The same, if the memory that the commands use is about to be used otherwise.
    pub fn has_released(&self, value: u64) -> bool {
        let was_ended = self.was_ended(value);
        if was_ended {
            self.fences.wait(value);
        }
        was_ended
    }

    /// Polls for the last ticket whose commands ended.
    pub fn poll(&self) -> Result<u64> {
        // SAFETY: the semaphore is alive.
        let value = unsafe { self.gpu.device.get_semaphore_counter_value(self.timeline) };
        let value = value.map_err(|result| self.gpu.error("vkGetSemaphoreCounterValue", result))?;
        if value == u64::MAX {
            // Some drivers report the loss of the device in this way.
            return Err(self.gpu.error("vkGetSemaphoreCounterValue", vk::Result::ERROR_DEVICE_LOST));
        }
        self.ended.set(self.ended.get().max(value));
        let mut ends = self.batch_ends.borrow_mut();
        let n_ended = ends.partition_point(|end| *end <= value);
        ends.drain(..n_ended);
        if self.ended.get() == self.issued {
            self.rested.set(self.issued);
        }
        Ok(self.ended.get())
    }

    /// Waits until the queue has room for more: for an old batch if many are waiting, and for all of them if
    /// the driver needs it.
    pub fn rest(&mut self, interrupt: &AtomicBool) -> Result<()> {
        if self.spent.len() >= MAX_BATCHES
            && let Some(oldest) = self.spent.front().map(|spent| spent.ticket)
        {
            self.sleep_until(oldest, None, interrupt)?;
        }
        let is_due = self.issued - self.rested.get() >= MAX_WITHOUT_REST;
        if !is_due || self.gpu.physical.info.kind != DeviceKind::Software {
            return Ok(());
        }
        self.rested.set(self.issued);
        self.wait(self.issued, None, interrupt).map(drop)
    }

    /// Waits for a ticket: spins for a moment, then sleeps. The interrupt flag ends the wait, but not the
    /// submission.
    pub fn wait(&mut self, value: u64, timeout: Option<Duration>, interrupt: &AtomicBool) -> Result<Waited> {
        if self.has_released(value) {
            return Ok(Waited::Done);
        }
        self.flush_for(value)?;
        self.batch_size = BatchSize::FIRST;
        let waited = self.sleep_until(value, timeout, interrupt)?;
        if waited == Waited::Done {
            self.fences.wait(value);
        }
        Ok(waited)
    }

    /// Waits for a submitted ticket.
    fn sleep_until(&self, value: u64, timeout: Option<Duration>, interrupt: &AtomicBool) -> Result<Waited> {
        if self.poll()? >= value {
            return Ok(Waited::Done);
        }
        let start = Instant::now();
        let left = || timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
        // On a software driver, spinning would take CPU time from the work itself.
        if self.gpu.physical.info.kind != DeviceKind::Software {
            let spin = spin_time(self.recent_wait.get());
            while start.elapsed() < spin && left() != Some(Duration::ZERO) {
                if self.poll()? >= value {
                    self.note_wait(start.elapsed());
                    return Ok(Waited::Done);
                }
                std::hint::spin_loop();
            }
        }
        loop {
            if interrupt.load(Ordering::Relaxed) {
                self.abandoned.set(true);
                return Err(DeviceError::Interrupted { line: None });
            }
            let nap = left().unwrap_or(NAP).min(NAP);
            if self.sleep(value, nap)? {
                self.poll()?;
                self.note_wait(start.elapsed());
                return Ok(Waited::Done);
            }
            if left() == Some(Duration::ZERO) {
                return Ok(Waited::TimedOut);
            }
        }
    }

    fn note_wait(&self, took: Duration) {
        self.recent_wait.set((self.recent_wait.get() * 3 + took) / 4);
    }

    /// Waits for all tickets, but only briefly for abandoned ones. Returns whether all have ended.
    pub fn wait_all(&mut self) -> bool {
        let timeout = self.abandoned.get().then_some(PATIENCE);
        match self.wait(self.issued, timeout, &AtomicBool::new(false)) {
            Ok(waited) => waited == Waited::Done,
            // A lost device runs nothing.
            Err(_) => true,
        }
    }

    fn sleep(&self, value: u64, nap: Duration) -> Result<bool> {
        let (semaphore, value) = self.signal_of(value);
        let (semaphores, values) = ([semaphore], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: the semaphore is alive.
        match unsafe { self.gpu.device.wait_semaphores(&info, nap.as_nanos() as u64) } {
            Ok(()) => Ok(true),
            Err(vk::Result::TIMEOUT) => Ok(false),
            Err(result) => Err(self.gpu.error("vkWaitSemaphores", result)),
        }
    }
}

/// How long to poll before sleeping, after waits of this average.
fn spin_time(recent_wait: Duration) -> Duration {
    match recent_wait {
        recent if recent > WORTH_SPINNING => SPIN.start,
        recent => (2 * recent).clamp(SPIN.start, SPIN.end),
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: the device's owner waited until it was idle; command buffers go with their pool.
        unsafe {
            self.gpu.device.destroy_semaphore(self.timeline, None);
            self.gpu.device.destroy_command_pool(self.pool, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polling_follows_recent_waits_and_stops_paying_after_long_ones() {
        let micros = |wait| spin_time(Duration::from_micros(wait)).as_micros();
        assert_eq!([0, 10, 100, 300, 500, 501, 100_000].map(micros), [50, 50, 200, 600, 1000, 50, 50]);
    }
}
