//! Memory of the host as buffers, so that the device copies to and from it without staging.
//!
//! Importing memory costs about as much as copying it twice through staging, because the driver pins its pages.

use std::any::Any;

use ash::vk;

use super::loader;
use super::memory::{Backing, Buffer, Mapped, Memory, Place};
use super::state::State;
use crate::{HostMemory, Imported, MemoryUsage};

const KIND: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;

impl State {
    /// # Safety
    /// As for [`crate::Device::import`].
    pub unsafe fn import(&mut self, memory: HostMemory) -> Option<Imported> {
        self.gpu.check_not_lost().ok()?;
        // SAFETY: the caller's promise is that of this call.
        let (buffer, offset) = unsafe { self.memory.import(memory) }?;
        let buffer = self.buffers.insert(buffer, self.queues.len());
        // It has the host's bytes.
        self.buffers.filled(buffer).ok()?;
        Some(Imported { buffer, offset })
    }

    pub fn release(&mut self, imported: Imported, owner: Box<dyn Any>) {
        if let Ok(entry) = self.buffers.get_mut(imported.buffer) {
            entry.owner = Some(owner);
        }
        self.free(imported.buffer);
    }
}

impl Memory {
    /// The pages around the memory, and the offset of its first byte in them.
    ///
    /// # Safety
    /// The memory outlives the buffer, and host and device do not access it at once.
    pub unsafe fn import(&self, memory: HostMemory) -> Option<(Buffer, u64)> {
        let physical = &self.gpu.physical;
        let page = physical.import_alignment.filter(|page| page.is_power_of_two())?;
        let offset = memory.ptr.addr() & (page - 1);
        let size = offset.checked_add(memory.len)?.checked_next_multiple_of(page)?;
        // The rest of the first and the last page belongs to the process, too: they are mapped as long as
        // the memory is.
        let start = memory.ptr.wrapping_sub(offset);
        let device = &self.gpu.device;
        let extension = ash::ext::external_memory_host::Device::new(&loader::get().ok()?.instance, device);
        let mut properties = vk::MemoryHostPointerPropertiesEXT::default();
        // SAFETY: the pointer is aligned, and the device has the extension.
        let known = unsafe {
            let query = extension.fp().get_memory_host_pointer_properties_ext;
            query(device.handle(), KIND, start.cast_const().cast(), &mut properties)
        };
        known.result().ok()?;
        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(KIND);
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(size as u64).usage(usage).push_next(&mut external);
        let info = self.shared_by_families(info);
        // SAFETY: `info` outlives the call.
        let handle = unsafe { device.create_buffer(&info, None) }.ok()?;
        let bound = || {
            // SAFETY: the buffer was just made.
            let wanted = unsafe { device.get_buffer_memory_requirements(handle) };
            let ty = self.import_type(properties.memory_type_bits & wanted.memory_type_bits)?;
            let is_enough = wanted.size <= size as u64;
            let mut pointer =
                vk::ImportMemoryHostPointerInfoEXT::default().handle_type(KIND).host_pointer(start.cast());
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(size as u64)
                .memory_type_index(ty)
                .push_next(&mut pointer);
            // SAFETY: the pages are mapped, and stay so as long as the caller promises.
            let memory = is_enough.then(|| unsafe { device.allocate_memory(&info, None) }.ok()).flatten()?;
            // SAFETY: both were made for each other.
            match unsafe { device.bind_buffer_memory(handle, memory, 0) } {
                Ok(()) => Some(memory),
                Err(_) => {
                    // SAFETY: nothing uses the memory.
                    unsafe { device.free_memory(memory, None) };
                    None
                }
            }
        };
        let Some(imported) = bound() else {
            // SAFETY: nothing uses the buffer.
            unsafe { device.destroy_buffer(handle, None) };
            return None;
        };
        let (place, backing) = (Place::Buffer(handle), Backing::Imported(imported));
        let mapped = Some(Mapped { ptr: start, cached: true });
        let (size, usage) = (size as u64, MemoryUsage::Host);
        Some((Buffer { place, backing, size, capacity: size, usage, mapped }, offset as u64))
    }

    /// The best of some memory types for copies.
    fn import_type(&self, bits: u32) -> Option<u32> {
        let coherent = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let fits = |ty: &u32| bits >> ty & 1 == 1 && self.flags(*ty).contains(coherent);
        let is_cached = |ty: &u32| self.flags(*ty).contains(vk::MemoryPropertyFlags::HOST_CACHED);
        let types = || (0..self.gpu.physical.memory.memory_type_count).filter(fits);
        types().find(is_cached).or_else(|| types().next())
    }
}
