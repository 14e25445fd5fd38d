//! The objects of an open device, and the order of the commands of its queues.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use smallvec::SmallVec;

use super::buffers::Buffers;
use super::copies::Copies;
use super::encode::Encoder;
use super::gpu::{Gpu, QueuePlace};
use super::hazards::Use;
use super::loader;
use super::memory::Memory;
use super::pipelines::Pipelines;
use super::plan::{Checker, Plan, bad_command};
use super::queue::Queue;
use super::recordings::{Chosen, Recordings};
use super::samplers::Samplers;
use super::staging::Staging;
use crate::{
    BufferId, Command, Commands, DeviceError, ImageInfo, Limit, MemoryUsage, OpenOptions, QueueId, Result,
    Ticket, Waited, log,
};

pub(super) struct State {
    pub buffers: Buffers,
    pub recordings: Recordings,
    pub pipelines: Pipelines,
    samplers: Samplers,
    pub copies: Copies,
    pub queues: Vec<Queue>,
    /// For each queue, the tickets of other queues for which it has waited.
    seen: Vec<Vec<u64>>,
    /// Reused by each submission.
    plan: Plan,
    pub staging: Staging,
    pub memory: Memory,
    pub gpu: Rc<Gpu>,
    pub interrupt: Arc<AtomicBool>,
}

impl State {
    pub fn new(gpu: &Rc<Gpu>, places: &[QueuePlace], options: &OpenOptions) -> Result<State> {
        let memory = Memory::new(gpu, &loader::get()?.instance, options)?;
        let queues = places.iter().map(|place| Queue::new(gpu, *place)).collect::<Result<Vec<_>>>()?;
        Ok(State {
            buffers: Buffers::default(),
            recordings: Recordings::new(gpu),
            pipelines: Pipelines::new(gpu)?,
            samplers: Samplers::new(gpu),
            copies: Copies::new(gpu, options),
            seen: vec![vec![0; queues.len()]; queues.len()],
            plan: Plan::default(),
            queues,
            staging: Staging::default(),
            memory,
            gpu: gpu.clone(),
            interrupt: Arc::new(AtomicBool::new(false)),
        })
    }

    pub fn alloc(&mut self, size: u64, usage: MemoryUsage) -> Result<BufferId> {
        self.gpu.check_not_lost()?;
        if size == 0 {
            return Err(bad_command("a buffer of no bytes was asked for".to_owned()));
        }
        let info = &self.gpu.physical.info;
        if size > info.limits.max_allocation {
            return Err(DeviceError::LimitExceeded {
                what: Limit::Other("the size of a buffer"),
                asked: size,
                limit: info.limits.max_allocation,
                device: info.name.clone(),
            });
        }
        self.collect();
        let buffer = self.with_room(|memory| memory.create(size, usage))?;
        log::allocated(&self.gpu.physical.info.name, size);
        Ok(self.buffers.insert(buffer, self.queues.len()))
    }

    pub fn alloc_image(&mut self, info: &ImageInfo) -> Result<BufferId> {
        self.gpu.check_not_lost()?;
        self.collect();
        let image = self.with_room(|memory| memory.create_image(info))?;
        Ok(self.buffers.insert(image, self.queues.len()))
    }

    /// Allocates. If memory is out, gives back what is kept for later, waits for the submissions that use freed
    /// memory, and tries once more.
    fn with_room<T>(&mut self, allocate: impl Fn(&Memory) -> Result<T>) -> Result<T> {
        let is_out = |result: &Result<T>| matches!(result, Err(DeviceError::OutOfMemory { .. }));
        let mut result = allocate(&self.memory);
        if is_out(&result) && self.memory.trim() {
            result = allocate(&self.memory);
        }
        match &result {
            Err(DeviceError::OutOfMemory { device, requested, .. }) if self.buffers.any_leaving() => {
                log::out_of_memory(device, *requested);
            }
            _ => return result,
        }
        for index in 0..self.queues.len() {
            let last = Ticket { queue: index as u32, value: self.queues[index].issued };
            if last.value > 0 {
                self.wait(last, None)?;
            }
        }
        self.collect();
        self.memory.trim();
        allocate(&self.memory)
    }

    pub fn free(&mut self, buffer: BufferId) {
        let companion = self.buffers.get(buffer).ok().and_then(|entry| entry.companion);
        if self.buffers.remove(buffer) {
            self.queues.iter_mut().for_each(|queue| queue.hazards.forget(buffer));
            self.collect();
        }
        if let Some(companion) = companion {
            self.free(companion);
        }
    }

    /// Destroys freed buffers that are no longer in use.
    fn collect(&mut self) {
        if self.buffers.any_leaving() {
            // A lost device is reported by the next call that can fail.
            let _ = self.queues.iter().try_for_each(|queue| queue.poll().map(drop));
            self.buffers.collect(&self.memory, &self.queues);
        }
    }

    pub fn submit(&mut self, queue: QueueId, commands: &Commands, after: &[Ticket]) -> Result<Ticket> {
        self.gpu.check_not_lost()?;
        let index = queue.0 as usize;
        if index >= self.queues.len() {
            return Err(DeviceError::UnknownId { kind: "queue" });
        }
        after.iter().try_for_each(|ticket| self.check_ticket(*ticket))?;
        self.queues[index].rest(&self.interrupt)?;
        let value = match self.is_recorded_once(commands)? {
            true => self.submit_once(index, commands, after)?,
            false => self.submit_recording(index, commands, after)?,
        };
        self.queues[index].flush_if_due()?;
        log::submitted(queue, commands);
        self.collect();
        Ok(Ticket { queue: queue.0, value })
    }

    /// Whether the commands are recorded for one run, into the batch. Descriptor sets and queries need a
    /// recording of their own.
    fn is_recorded_once(&self, commands: &Commands) -> Result<bool> {
        if commands.repeats() {
            return Ok(false);
        }
        for command in commands.iter() {
            let fits = match command {
                Command::Copy { .. } => true,
                Command::Dispatch(dispatch) => self.pipelines.get(dispatch.pipeline)?.needs_no_pool(),
                Command::Timestamp => false,
            };
            if !fits {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn submit_once(&mut self, index: usize, commands: &Commands, after: &[Ticket]) -> Result<u64> {
        let plan = self.checked(index, commands)?;
        self.fill_fresh(&plan.merged)?;
        // The encoder decides about barriers for conflicts.
        if self.follow(index, &plan.merged, after)? {
            self.queues[index].add_barrier();
        }
        let encoder = Encoder {
            gpu: &self.gpu,
            memory: &self.memory,
            buffers: &self.buffers,
            pipelines: &self.pipelines,
            samplers: &self.samplers,
            copies: &self.copies,
        };
        let queue = &mut self.queues[index];
        if encoder.encode_once(queue.open()?, commands, &plan)? {
            queue.note_barrier();
        }
        let value = queue.issue(commands.len(), plan.writes_host_memory);
        self.note_uses(index, value, &plan.merged)?;
        self.plan = plan;
        Ok(value)
    }

    fn submit_recording(&mut self, index: usize, commands: &Commands, after: &[Ticket]) -> Result<u64> {
        let chosen = self.recorded(index, commands)?;
        self.fill_fresh(&chosen.uses)?;
        self.order(index, &chosen.uses, after)?;
        let queue = &mut self.queues[index];
        queue.add(chosen.commands)?;
        let value = queue.issue(commands.len(), false);
        // The device runs a long list while its uses are noted.
        let flushed = queue.flush_if_due();
        queue.hazards.note(&chosen.uses);
        self.note_uses(index, value, &chosen.uses)?;
        self.recordings.note(commands, index, &chosen, value);
        flushed.map(|()| value)
    }

    fn checked(&mut self, index: usize, commands: &Commands) -> Result<Plan> {
        let family = self.queues[index].family as usize;
        let checker = Checker {
            gpu: &self.gpu,
            buffers: &self.buffers,
            pipelines: &self.pipelines,
            timestamp_bits: self.gpu.physical.timestamp_bits[family],
        };
        let mut plan = std::mem::take(&mut self.plan);
        checker.plan(commands, &mut plan)?;
        self.samplers.make_for(commands)?;
        self.copies.make_for(commands, &self.buffers, &self.memory, &mut self.pipelines)?;
        Ok(plan)
    }

    fn recorded(&mut self, index: usize, commands: &Commands) -> Result<Chosen> {
        if let Some(chosen) = self.recordings.find(commands, index, &self.queues[index])? {
            return Ok(chosen);
        }
        self.recordings.sweep(&mut self.queues)?;
        let plan = self.checked(index, commands)?;
        let encoder = Encoder {
            gpu: &self.gpu,
            memory: &self.memory,
            buffers: &self.buffers,
            pipelines: &self.pipelines,
            samplers: &self.samplers,
            copies: &self.copies,
        };
        let take = encoder.encode(&mut self.queues[index], commands, &plan)?;
        let chosen = self.recordings.add(commands, index, &plan, take);
        self.plan = plan;
        Ok(chosen)
    }

    /// Has further commands of a queue, with these uses, follow what they conflict with, and `after`.
    pub fn order(&mut self, index: usize, uses: &[Use], after: &[Ticket]) -> Result<()> {
        if self.follow(index, uses, after)? || self.queues[index].hazards.need_barrier(uses) {
            self.queues[index].add_barrier();
        }
        Ok(())
    }

    /// Has further commands of a queue, with these uses, follow what they conflict with on other queues, and
    /// `after`. Returns whether a barrier has to separate them from the tickets of `after` on the same queue.
    fn follow(&mut self, index: usize, uses: &[Use], after: &[Ticket]) -> Result<bool> {
        let mut barrier = false;
        let mut wanted = self.values_to_wait_for(index, uses)?;
        for ticket in after {
            match ticket.queue as usize == index {
                true => barrier |= !self.queues[index].is_ordered(ticket.value),
                false => wanted[ticket.queue as usize] = wanted[ticket.queue as usize].max(ticket.value),
            }
        }
        let news = |other: &usize| wanted[*other] > self.seen[index][*other];
        let others: SmallVec<[usize; 8]> = (0..self.queues.len()).filter(news).collect();
        if !others.is_empty() {
            others.iter().try_for_each(|&other| self.queues[other].flush_for(wanted[other]))?;
            let signals: Vec<_> =
                others.iter().map(|&other| self.queues[other].signal_of(wanted[other])).collect();
            self.queues[index].add_waits(&signals)?;
            others.iter().for_each(|&other| self.seen[index][other] = wanted[other]);
        }
        Ok(barrier)
    }

    /// Records that a ticket's commands use these buffers.
    pub fn note_uses(&mut self, index: usize, value: u64, uses: &[Use]) -> Result<()> {
        uses.iter().try_for_each(|used| {
            self.buffers.get_mut(used.buffer)?.note(index, value, used.access);
            Ok(())
        })
    }

    /// For each other queue, the last ticket that conflicts with these uses. An error if a buffer is gone.
    fn values_to_wait_for(&self, index: usize, uses: &[Use]) -> Result<SmallVec<[u64; 8]>> {
        let mut wanted: SmallVec<[u64; 8]> = SmallVec::from_elem(0, self.queues.len());
        for used in uses {
            // A recording may name a buffer that was freed since.
            let entry = self.buffers.get(used.buffer)?;
            for (other, wanted) in wanted.iter_mut().enumerate().filter(|(other, _)| *other != index) {
                *wanted = (*wanted).max(entry.last_use(other).before(used.access));
            }
        }
        Ok(wanted)
    }

    pub fn check_ticket(&self, ticket: Ticket) -> Result<()> {
        match self.queues.get(ticket.queue as usize) {
            Some(queue) if (1..=queue.issued).contains(&ticket.value) => Ok(()),
            _ => Err(DeviceError::UnknownId { kind: "ticket" }),
        }
    }

    pub fn wait(&mut self, ticket: Ticket, timeout: Option<Duration>) -> Result<Waited> {
        self.check_ticket(ticket)?;
        self.gpu.check_not_lost()?;
        self.queues[ticket.queue as usize].wait(ticket.value, timeout, &self.interrupt)
    }

    pub fn timestamps(&mut self, ticket: Ticket) -> Result<Vec<u64>> {
        self.check_ticket(ticket)?;
        let queue = &self.queues[ticket.queue as usize];
        if queue.poll()? < ticket.value {
            return Err(bad_command(
                "the timestamps of a submission are available after it has ended".to_owned(),
            ));
        }
        self.recordings.times(ticket, queue)
    }
}

impl State {
    /// Waits until nothing runs; returns whether that succeeded. The memory of running work must not be
    /// freed.
    pub fn wait_all(&mut self) -> bool {
        // A batch may wait for another queue, so all are submitted first. A lost device runs nothing.
        let _ = self.queues.iter_mut().try_for_each(Queue::flush);
        let is_idle = self.queues.iter_mut().all(Queue::wait_all);
        if is_idle {
            self.gpu.wait_idle();
        }
        is_idle
    }
}

/// Nothing runs any more: [`State::wait_all`] succeeded.
impl Drop for State {
    fn drop(&mut self) {
        self.recordings.destroy_all(&mut self.queues);
        self.staging.destroy(&self.memory);
        self.buffers.destroy_all(&self.memory);
        self.memory.trim();
    }
}
