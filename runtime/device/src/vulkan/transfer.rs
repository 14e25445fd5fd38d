//! Copies bytes between the host and buffers: directly if memory is shared, else through staging. The bytes
//! of an image go through a buffer of the same size.

use ash::vk;

use super::hazards::{Use, host_barrier};
use super::images;
use super::memory::Place;
use super::plan::check_range;
use super::state::State;
use super::uncached;
use crate::host::copy_raw;
use crate::{Access, BufferId, HostMemory, MemoryUsage, Result};

/// Copies and fills go to the first queue.
pub(super) const QUEUE: usize = 0;
/// The host fills buffers up to this size, even if the device fills faster.
const SMALL_FILL: u64 = 64 << 10;
/// Up to this size, bytes for a buffer in use are written by a command that has them (at most 64 KiB).
const INLINE: usize = 4096;

impl State {
    pub fn write(&mut self, id: BufferId, offset: u64, bytes: &[u8]) -> Result<()> {
        self.gpu.check_not_lost()?;
        let buffer = &self.buffers.get(id)?.buffer;
        check_range(buffer.size, offset, bytes.len() as u64)?;
        let mapped = buffer.mapped;
        if bytes.is_empty() {
            return Ok(());
        }
        if buffer.image().is_some() {
            return self.write_image(id, offset, bytes);
        }
        // Zeros are skipped if all of them would be overwritten.
        if bytes.len() as u64 == buffer.size {
            self.buffers.filled(id)?;
        }
        self.fill_if_fresh(id)?;
        match mapped {
            Some(mapped) if !self.is_in_use(id)? => {
                // SAFETY: the range is within the buffer, which nothing in flight names, and which stays
                // mapped while it lives.
                unsafe { copy_raw(bytes.as_ptr(), mapped.ptr.add(offset as usize), bytes.len()) };
                Ok(())
            }
            _ if bytes.len() <= INLINE && bytes.len().is_multiple_of(4) && offset.is_multiple_of(4) => {
                self.write_inline(id, offset, bytes)
            }
            _ => self.write_staged(id, offset, bytes),
        }
    }

    pub fn read(&mut self, id: BufferId, offset: u64, bytes: &mut [u8]) -> Result<()> {
        self.gpu.check_not_lost()?;
        let entry = self.buffers.get(id)?;
        check_range(entry.buffer.size, offset, bytes.len() as u64)?;
        if entry.fresh {
            bytes.fill(0);
            return Ok(());
        }
        if entry.buffer.image().is_some() {
            return self.read_image(id, offset, bytes);
        }
        match entry.buffer.mapped {
            Some(mapped) if mapped.cached || bytes.len() <= uncached::worthwhile() => {
                self.wait_for_uses(id, Access::Read)?;
                // SAFETY: the range is within the buffer, which nothing in flight writes.
                unsafe {
                    let from = mapped.ptr.add(offset as usize).cast_const();
                    match mapped.cached {
                        true => copy_raw(from, bytes.as_mut_ptr(), bytes.len()),
                        false => uncached::read(from, bytes),
                    }
                }
                Ok(())
            }
            _ => self.read_staged(id, offset, bytes),
        }
    }

    pub fn host_memory(&mut self, id: BufferId) -> Option<HostMemory> {
        let buffer = &self.buffers.get(id).ok()?.buffer;
        let memory = HostMemory { ptr: buffer.mapped?.ptr, len: buffer.size as usize };
        // Uncached memory is better read through `read`.
        if !buffer.mapped?.cached {
            return None;
        }
        self.fill_if_fresh(id).ok()?;
        Some(memory)
    }

    /// Zeroes the buffers among these that were never written.
    pub fn fill_fresh(&mut self, uses: &[Use]) -> Result<()> {
        if self.buffers.n_fresh == 0 {
            return Ok(());
        }
        uses.iter().try_for_each(|used| self.fill_if_fresh(used.buffer))
    }

    fn fill_if_fresh(&mut self, id: BufferId) -> Result<()> {
        let entry = self.buffers.get(id)?;
        if !entry.fresh {
            return Ok(());
        }
        let (place, size) = (entry.buffer.place, entry.buffer.size);
        match entry.buffer.mapped {
            Some(mapped) if size <= SMALL_FILL || self.memory.fills_by_host() => {
                // SAFETY: the buffer has this many bytes, and no submission names it.
                unsafe { mapped.ptr.write_bytes(0, size as usize) };
            }
            _ => {
                let whole = Use { buffer: id, bytes: 0..size, access: Access::Write };
                self.transfer(&[whole], |device, commands| match &place {
                    Place::Image(image) => images::clear(device, commands, image),
                    // SAFETY: `commands` is being recorded, and the buffer is alive.
                    Place::Buffer(handle) => unsafe {
                        device.cmd_fill_buffer(commands, *handle, 0, vk::WHOLE_SIZE, 0);
                    },
                })?;
            }
        }
        self.buffers.filled(id)
    }

    /// Writes bytes that are a part of the command.
    fn write_inline(&mut self, id: BufferId, offset: u64, bytes: &[u8]) -> Result<()> {
        let Place::Buffer(handle) = self.buffers.get(id)?.buffer.place else {
            unreachable!("the bytes of an image are written through its companion")
        };
        let written = Use { buffer: id, bytes: offset..offset + bytes.len() as u64, access: Access::Write };
        self.transfer(&[written], |device, commands| {
            // SAFETY: `commands` is being recorded, and the buffer is alive; the caller checked the range.
            unsafe { device.cmd_update_buffer(commands, handle, offset, bytes) };
        })?;
        Ok(())
    }

    fn read_image(&mut self, id: BufferId, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let companion = self.companion(id)?;
        self.copy_whole(id, companion)?;
        self.read(companion, offset, bytes)
    }

    fn write_image(&mut self, id: BufferId, offset: u64, bytes: &[u8]) -> Result<()> {
        self.fill_if_fresh(id)?;
        let companion = self.companion(id)?;
        if bytes.len() as u64 != self.buffers.get(id)?.buffer.size {
            self.copy_whole(id, companion)?;
        }
        self.write(companion, offset, bytes)?;
        self.copy_whole(companion, id)
    }

    /// The buffer for copies of an image's bytes.
    fn companion(&mut self, id: BufferId) -> Result<BufferId> {
        let entry = self.buffers.get(id)?;
        if let Some(companion) = entry.companion {
            return Ok(companion);
        }
        let buffer = self.memory.create(entry.buffer.size, MemoryUsage::Host)?;
        let companion = self.buffers.insert(buffer, self.queues.len());
        // It is written as a whole before it is read.
        self.buffers.filled(companion)?;
        self.buffers.get_mut(id)?.companion = Some(companion);
        Ok(companion)
    }

    /// Copies all bytes between an image and its companion.
    fn copy_whole(&mut self, from: BufferId, to: BufferId) -> Result<()> {
        let size = self.buffers.get(from)?.buffer.size;
        let (source, target) = (self.buffers.get(from)?.buffer.place, self.buffers.get(to)?.buffer.place);
        let uses = [
            Use { buffer: from, bytes: 0..size, access: images::reading(&self.buffers.get(from)?.buffer) },
            Use { buffer: to, bytes: 0..size, access: Access::Write },
        ];
        self.transfer(&uses, |device, commands| {
            images::copy(device, commands, (&source, 0), (&target, 0), size);
            host_barrier(device, commands);
        })?;
        Ok(())
    }

    /// Adds a command to the batch of the first queue.
    pub fn transfer(
        &mut self,
        uses: &[Use],
        record: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) -> Result<u64> {
        self.queues[QUEUE].rest(&self.interrupt)?;
        self.order(QUEUE, uses, &[])?;
        let is_mapped = |id| self.buffers.get(id).is_ok_and(|entry| entry.buffer.mapped.is_some());
        let writes_host_memory = uses.iter().any(|used| used.access.writes() && is_mapped(used.buffer));
        let queue = &mut self.queues[QUEUE];
        record(&self.gpu.device, queue.open()?.commands);
        queue.hazards.note(uses);
        let value = queue.issue(1, writes_host_memory);
        queue.flush_if_full()?;
        self.note_uses(QUEUE, value, uses)?;
        Ok(value)
    }

    /// Whether submissions that name the buffer have not ended.
    fn is_in_use(&self, id: BufferId) -> Result<bool> {
        let entry = self.buffers.get(id)?;
        for (index, queue) in self.queues.iter().enumerate() {
            let last = entry.last_use(index).before(Access::Write);
            if !queue.was_ended(last) && queue.poll()? < last {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Waits for the submissions that conflict with the host's access to the buffer.
    fn wait_for_uses(&mut self, id: BufferId, access: Access) -> Result<()> {
        let entry = self.buffers.get(id)?;
        for (index, queue) in self.queues.iter_mut().enumerate() {
            queue.wait(entry.last_use(index).before(access), None, &self.interrupt)?;
        }
        Ok(())
    }
}
