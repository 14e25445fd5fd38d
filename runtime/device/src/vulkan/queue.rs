//! A queue with its timeline semaphore, whose values count submissions.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ash::vk;

use super::gpu::{Gpu, QueuePlace};
use super::hazards::{Hazards, full_barrier};
use crate::{DeviceError, DeviceKind, Result, Waited};

/// Polling notices the end of a short submission some 20 microseconds sooner than sleeping.
const SPIN: Duration = Duration::from_micros(100);
/// Longest sleep between polls of the interrupt flag.
const NAP: Duration = Duration::from_millis(20);
/// How long an interrupted submission may take to end before its memory is leaked. The process waits for this
/// time.
const PATIENCE: Duration = Duration::from_millis(100);
/// Mesa's software driver stores some 300 bytes for each submission until the queue is empty. After this many
/// submissions, kps waits for an empty queue.
const MAX_WITHOUT_REST: u64 = 1024;

pub(super) struct Queue {
    gpu: Rc<Gpu>,
    handle: vk::Queue,
    pub family: u32,
    pool: vk::CommandPool,
    timeline: vk::Semaphore,
    /// The value of the last submission, which is its ticket's.
    pub submitted: u64,
    ended: Cell<u64>,
    /// The last submission after which the queue was empty.
    rested: Cell<u64>,
    /// A wait was interrupted, so the running submission may never end.
    abandoned: Cell<bool>,
    /// Uses of earlier submissions since the last barrier.
    pub hazards: Hazards,
    /// Commands with only a barrier, for conflicting submissions.
    barrier: vk::CommandBuffer,
    /// Reusable command buffers.
    idle: Vec<vk::CommandBuffer>,
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
            submitted: 0,
            ended: Cell::new(0),
            rested: Cell::new(0),
            abandoned: Cell::new(false),
            hazards: Hazards::default(),
            barrier: vk::CommandBuffer::null(),
            idle: Vec::new(),
        };
        queue.timeline = queue.create_timeline()?;
        queue.barrier = queue.record_barrier()?;
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

    /// The semaphore and value of a submission of this queue.
    pub fn signal_of(&self, value: u64) -> (vk::Semaphore, u64) {
        (self.timeline, value)
    }

    /// Submits the commands after the semaphores have reached their values; returns the ticket's value.
    pub fn submit(
        &mut self,
        commands: vk::CommandBuffer,
        barrier_first: bool,
        waits: &[(vk::Semaphore, u64)],
    ) -> Result<u64> {
        let both = [self.barrier, commands];
        let buffers = if barrier_first { &both[..] } else { &both[1..] };
        let value = self.submitted + 1;
        let (semaphores, values): (Vec<_>, Vec<_>) = waits.iter().copied().unzip();
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; waits.len()];
        let (signals, signal_values) = ([self.timeline], [value]);
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&values)
            .signal_semaphore_values(&signal_values);
        let info = vk::SubmitInfo::default()
            .wait_semaphores(&semaphores)
            .wait_dst_stage_mask(&stages)
            .command_buffers(buffers)
            .signal_semaphores(&signals)
            .push_next(&mut timeline);
        // SAFETY: the command buffers are recorded, and allow simultaneous use where it may happen. The
        // semaphores are alive, and the queue is used from this thread only.
        unsafe { self.gpu.device.queue_submit(self.handle, &[info], vk::Fence::null()) }
            .map_err(|result| self.gpu.error("vkQueueSubmit", result))?;
        self.submitted = value;
        Ok(value)
    }

    /// Whether the submission had ended at the last poll.
    pub fn was_ended(&self, value: u64) -> bool {
        value <= self.ended.get()
    }

    /// Polls for the last submission that ended.
    pub fn poll(&self) -> Result<u64> {
        // SAFETY: the semaphore is alive.
        let value = unsafe { self.gpu.device.get_semaphore_counter_value(self.timeline) };
        let value = value.map_err(|result| self.gpu.error("vkGetSemaphoreCounterValue", result))?;
        if value == u64::MAX {
            // Some drivers report the loss of the device in this way.
            return Err(self.gpu.error("vkGetSemaphoreCounterValue", vk::Result::ERROR_DEVICE_LOST));
        }
        self.ended.set(self.ended.get().max(value));
        if self.ended.get() == self.submitted {
            self.rested.set(self.submitted);
        }
        Ok(self.ended.get())
    }

    /// Waits for an empty queue, if the driver needs it.
    pub fn rest(&self, interrupt: &AtomicBool) -> Result<()> {
        let is_due = self.submitted - self.rested.get() >= MAX_WITHOUT_REST;
        if !is_due || self.gpu.physical.info.kind != DeviceKind::Software {
            return Ok(());
        }
        self.rested.set(self.submitted);
        self.wait(self.submitted, None, interrupt).map(drop)
    }

    /// Waits for a submission: spins for a moment, then sleeps. The interrupt flag ends the wait, but not the
    /// submission.
    pub fn wait(&self, value: u64, timeout: Option<Duration>, interrupt: &AtomicBool) -> Result<Waited> {
        if self.was_ended(value) || self.poll()? >= value {
            return Ok(Waited::Done);
        }
        let start = Instant::now();
        let left = || timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
        // On a software driver, spinning would take CPU time from the work itself.
        if self.gpu.physical.info.kind != DeviceKind::Software {
            while start.elapsed() < SPIN && left() != Some(Duration::ZERO) {
                if self.poll()? >= value {
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
                return Ok(Waited::Done);
            }
            if left() == Some(Duration::ZERO) {
                return Ok(Waited::TimedOut);
            }
        }
    }

    /// Waits for all submissions, but only briefly for abandoned ones. Returns whether all have ended.
    pub fn wait_all(&self) -> bool {
        let timeout = self.abandoned.get().then_some(PATIENCE);
        match self.wait(self.submitted, timeout, &AtomicBool::new(false)) {
            Ok(waited) => waited == Waited::Done,
            // A lost device runs nothing.
            Err(_) => true,
        }
    }

    fn sleep(&self, value: u64, nap: Duration) -> Result<bool> {
        let (semaphores, values) = ([self.timeline], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: the semaphore is alive.
        match unsafe { self.gpu.device.wait_semaphores(&info, nap.as_nanos() as u64) } {
            Ok(()) => Ok(true),
            Err(vk::Result::TIMEOUT) => Ok(false),
            Err(result) => Err(self.gpu.error("vkWaitSemaphores", result)),
        }
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
