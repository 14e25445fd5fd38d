//! The buffers and images of an open device by id, with the submissions that name them.

use std::any::Any;

use super::hazards::LastUse;
use super::memory::{Buffer, Memory};
use super::queue::Queue;
use crate::{Access, BufferId, DeviceError, Result};

#[derive(Default)]
pub(super) struct Buffers {
    slots: Vec<Slot>,
    vacant: Vec<u32>,
    /// Freed, but named by submissions that had not ended.
    leaving: Vec<Entry>,
    /// How many buffers still need to be zeroed.
    pub n_fresh: usize,
}

/// The generation distinguishes an id from earlier ones with the same index.
#[derive(Default)]
struct Slot {
    generation: u32,
    entry: Option<Entry>,
}

pub(super) struct Entry {
    pub buffer: Buffer,
    /// For each queue.
    last: Vec<LastUse>,
    /// Nothing has been written yet, not even zeros.
    pub fresh: bool,
    /// The buffer for copies of an image's bytes, once there were any.
    pub companion: Option<BufferId>,
    /// What owns the memory of an imported buffer that was freed. It is dropped after the buffer.
    pub owner: Option<Box<dyn Any>>,
}

const UNKNOWN: DeviceError = DeviceError::UnknownId { kind: "buffer" };

impl Buffers {
    pub fn insert(&mut self, buffer: Buffer, n_queues: usize) -> BufferId {
        let last = vec![LastUse::default(); n_queues];
        let entry = Entry { buffer, last, fresh: true, companion: None, owner: None };
        self.n_fresh += 1;
        let index = self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        slot.entry = Some(entry);
        BufferId(u64::from(slot.generation) << 32 | u64::from(index))
    }

    pub fn get(&self, id: BufferId) -> Result<&Entry> {
        let slot = self.slots.get(id.0 as u32 as usize).ok_or(UNKNOWN)?;
        slot.entry.as_ref().filter(|_| u64::from(slot.generation) == id.0 >> 32).ok_or(UNKNOWN)
    }

    pub fn get_mut(&mut self, id: BufferId) -> Result<&mut Entry> {
        let slot = self.slots.get_mut(id.0 as u32 as usize).ok_or(UNKNOWN)?;
        let generation = slot.generation;
        slot.entry.as_mut().filter(|_| u64::from(generation) == id.0 >> 32).ok_or(UNKNOWN)
    }

    /// Marks the buffer as initialised.
    pub fn filled(&mut self, id: BufferId) -> Result<()> {
        let entry = self.get_mut(id)?;
        if std::mem::take(&mut entry.fresh) {
            self.n_fresh -= 1;
        }
        Ok(())
    }

    /// Invalidates the id. [`Buffers::collect`] destroys the buffer.
    pub fn remove(&mut self, id: BufferId) -> bool {
        if self.filled(id).is_err() {
            return false;
        }
        let index = id.0 as u32;
        let slot = &mut self.slots[index as usize];
        self.leaving.extend(slot.entry.take());
        // A slot whose generations are exhausted stays empty.
        if let Some(next) = slot.generation.checked_add(1) {
            slot.generation = next;
            self.vacant.push(index);
        }
        true
    }

    /// Destroys the freed buffers whose last submissions have ended.
    pub fn collect(&mut self, memory: &Memory, queues: &[Queue]) {
        let mut index = 0;
        while index < self.leaving.len() {
            match self.leaving[index].is_idle(queues) {
                true => self.leaving.swap_remove(index).destroy(memory),
                false => index += 1,
            }
        }
    }

    pub fn any_leaving(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// Destroys all buffers. The device must be idle.
    pub fn destroy_all(&mut self, memory: &Memory) {
        let entry = self.slots.iter_mut().filter_map(|slot| slot.entry.take());
        entry.chain(self.leaving.drain(..)).for_each(|entry| entry.destroy(memory));
        self.n_fresh = 0;
    }
}

impl Entry {
    pub fn last_use(&self, queue: usize) -> LastUse {
        self.last[queue]
    }

    /// Records that submission `value` of `queue` names it.
    pub fn note(&mut self, queue: usize, value: u64, access: Access) {
        self.last[queue].note(value, access);
    }

    fn destroy(self, memory: &Memory) {
        memory.destroy(self.buffer);
        drop(self.owner);
    }

    fn is_idle(&self, queues: &[Queue]) -> bool {
        self.last.iter().zip(queues).all(|(last, queue)| queue.has_released(last.before(Access::Write)))
    }
}
