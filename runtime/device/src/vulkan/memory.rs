//! Allocates buffers in suitable memory. Images are in `images`.

use std::rc::Rc;

use ash::vk;
use vk_mem::Alloc;

use super::gpu::Gpu;
use super::images::Image;
use super::spare::Spare;
use crate::{DeviceError, DeviceKind, DeviceMemory, MemoryUsage, OpenOptions, Result};

/// Sizes are multiples of this, because fills write whole words.
const GRAIN: u64 = 16;

/// A buffer or an image with its memory. Its owner passes it to [`Memory::destroy`].
pub(super) struct Buffer {
    pub place: Place,
    pub backing: Backing,
    /// The requested size in bytes.
    pub size: u64,
    /// The bytes that it has.
    pub capacity: u64,
    pub usage: MemoryUsage,
    pub mapped: Option<Mapped>,
}

/// Where the bytes are.
pub(super) enum Backing {
    Allocated(vk_mem::Allocation),
    /// In memory of the host that is not kps's own.
    Imported(vk::DeviceMemory),
}

/// Vulkan's handle.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Buffer(vk::Buffer),
    Image(Image),
}

impl Buffer {
    pub fn image(&self) -> Option<&Image> {
        match &self.place {
            Place::Image(image) => Some(image),
            Place::Buffer(_) => None,
        }
    }
}

/// Memory that is mapped for the host, and coherent with the device.
#[derive(Clone, Copy)]
pub(super) struct Mapped {
    pub ptr: *mut u8,
    /// Whether host reads are cached: uncached memory is a hundred times slower.
    pub cached: bool,
}

pub(super) struct Memory {
    // ORDER: dropped before its device.
    pub allocator: vk_mem::Allocator,
    pub gpu: Rc<Gpu>,
    /// Whether device memory is never mapped.
    pub separate: bool,
    pub spare: Spare,
    /// The most bytes of each heap.
    limit: u64,
}

impl Memory {
    pub fn new(gpu: &Rc<Gpu>, instance: &ash::Instance, options: &OpenOptions) -> Result<Memory> {
        let mut info = vk_mem::AllocatorCreateInfo::new(instance, &gpu.device, gpu.physical.handle);
        info.vulkan_api_version = vk::API_VERSION_1_2;
        info.flags = vk_mem::AllocatorCreateFlags::EXTERNALLY_SYNCHRONIZED;
        if gpu.physical.enabled.has_buffer_addresses() {
            info.flags |= vk_mem::AllocatorCreateFlags::BUFFER_DEVICE_ADDRESS;
        }
        if gpu.physical.extensions.contains(&ash::ext::memory_budget::NAME) {
            info.flags |= vk_mem::AllocatorCreateFlags::EXT_MEMORY_BUDGET;
        }
        let limit = options.memory_limit.unwrap_or(vk::WHOLE_SIZE);
        let limits = vec![limit; gpu.physical.memory.memory_heap_count as usize];
        info.heap_size_limits = &limits;
        // SAFETY: the instance lives as long as the process, and the device as long as `gpu`.
        let allocator = unsafe { vk_mem::Allocator::new(info) };
        let allocator = allocator.map_err(|result| gpu.error("vmaCreateAllocator", result))?;
        let (gpu, separate, spare) = (gpu.clone(), options.separate_memory, Spare::default());
        Ok(Memory { allocator, gpu, separate, spare, limit })
    }

    /// Creates a buffer with undefined content.
    pub fn create(&self, size: u64, usage: MemoryUsage) -> Result<Buffer> {
        let rounded = size.checked_next_multiple_of(GRAIN).ok_or_else(|| self.out_of_memory(size))?;
        if let Some(kept) = self.spare.take(size, usage) {
            return Ok(kept);
        }
        let mut flags = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::UNIFORM_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        if self.gpu.physical.enabled.has_buffer_addresses() {
            flags |= vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        }
        let info = self.shared_by_families(vk::BufferCreateInfo::default().size(rounded).usage(flags));
        // If a memory type is full, the next best is tried: under a limit, only of the heap that the limit counts.
        let types = self.types(usage);
        let heap = |ty: u32| self.gpu.physical.memory.memory_types[ty as usize].heap_index;
        let is_allowed = |ty: &u32| self.limit == vk::WHOLE_SIZE || heap(*ty) == heap(types[0]);
        for ty in types.iter().copied().filter(is_allowed) {
            match self.create_of_type(&info, ty) {
                Ok((handle, allocation)) => return Ok(self.buffer(handle, allocation, size, usage, ty)),
                Err(
                    vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
                    | vk::Result::ERROR_OUT_OF_HOST_MEMORY
                    | vk::Result::ERROR_FEATURE_NOT_PRESENT,
                ) => {}
                Err(result) => return Err(self.gpu.error("vmaCreateBuffer", result)),
            }
        }
        Err(self.out_of_memory(size))
    }

    /// Lets all queues in use access the buffer.
    pub fn shared_by_families<'i>(&'i self, info: vk::BufferCreateInfo<'i>) -> vk::BufferCreateInfo<'i> {
        match self.gpu.families.len() {
            1 => info,
            _ => info.sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(&self.gpu.families),
        }
    }

    pub fn out_of_memory(&self, requested: u64) -> DeviceError {
        let (device, memory) = (self.gpu.physical.info.name.clone(), self.report());
        DeviceError::OutOfMemory { device, requested, free: memory.free(), limit: memory.budget }
    }

    /// The memory of the device's own heaps. A device without any uses those of the host.
    pub fn report(&self) -> DeviceMemory {
        let heaps = self.gpu.physical.memory.memory_heaps_as_slice();
        let is_local = |heap: &vk::MemoryHeap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL);
        let all = !heaps.iter().any(is_local);
        let mut memory = DeviceMemory::default();
        let budgets = self.allocator.get_heap_budgets().unwrap_or_default();
        for (heap, budget) in heaps.iter().zip(budgets).filter(|(heap, _)| all || is_local(heap)) {
            // Without the extension, the library would guess less than the whole heap.
            let of_heap = if self.knows_budget() { budget.budget } else { heap.size };
            memory.used += budget.statistics.allocationBytes;
            memory.reserved += budget.statistics.blockBytes;
            memory.budget += of_heap.min(self.limit);
        }
        memory.used = memory.used.saturating_sub(self.spare.bytes(MemoryUsage::Device));
        memory
    }

    fn knows_budget(&self) -> bool {
        self.gpu.physical.extensions.contains(&ash::ext::memory_budget::NAME)
    }

    fn create_of_type(
        &self,
        info: &vk::BufferCreateInfo,
        ty: u32,
    ) -> std::result::Result<(vk::Buffer, vk_mem::Allocation), vk::Result> {
        let visible = self.flags(ty).contains(vk::MemoryPropertyFlags::HOST_VISIBLE);
        let create = vk_mem::AllocationCreateInfo {
            memory_type_bits: 1 << ty,
            flags: match visible {
                true => vk_mem::AllocationCreateFlags::MAPPED,
                false => vk_mem::AllocationCreateFlags::empty(),
            },
            ..Default::default()
        };
        // SAFETY: both structures are valid, and the buffer is destroyed with its allocation.
        unsafe { self.allocator.create_buffer(info, &create) }
    }

    fn buffer(
        &self,
        handle: vk::Buffer,
        allocation: vk_mem::Allocation,
        size: u64,
        usage: MemoryUsage,
        ty: u32,
    ) -> Buffer {
        let ptr = self.allocator.get_allocation_info(&allocation).mapped_data.cast::<u8>();
        let device_only = self.separate && usage == MemoryUsage::Device;
        let cached = self.flags(ty).contains(vk::MemoryPropertyFlags::HOST_CACHED);
        let mapped = (!ptr.is_null() && !device_only).then_some(Mapped { ptr, cached });
        let (place, backing) = (Place::Buffer(handle), Backing::Allocated(allocation));
        Buffer { place, backing, size, capacity: size.next_multiple_of(GRAIN), usage, mapped }
    }

    /// The caller knows that no submission names the buffer any more.
    pub fn destroy(&self, buffer: Buffer) {
        if let Some(buffer) = self.keep(buffer) {
            self.destroy_now(buffer);
        }
    }

    pub fn destroy_now(&self, buffer: Buffer) {
        match (buffer.place, buffer.backing) {
            (Place::Image(image), Backing::Allocated(allocation)) => self.destroy_image(image, allocation),
            // SAFETY: `create_of_type` made the pair, this call owns it, and nothing uses it.
            (Place::Buffer(handle), Backing::Allocated(mut allocation)) => unsafe {
                self.allocator.destroy_buffer(handle, &mut allocation);
            },
            // SAFETY: the same, and `import` made the pair.
            (Place::Buffer(handle), Backing::Imported(memory)) => unsafe {
                self.gpu.device.destroy_buffer(handle, None);
                self.gpu.device.free_memory(memory, None);
            },
            (Place::Image(_), Backing::Imported(_)) => unreachable!("only buffers are imported"),
        }
    }

    pub fn flags(&self, ty: u32) -> vk::MemoryPropertyFlags {
        self.gpu.physical.memory.memory_types[ty as usize].property_flags
    }

    /// The suitable memory types, best first.
    fn types(&self, usage: MemoryUsage) -> Vec<u32> {
        let mut ranked: Vec<(u32, u32)> = (0..self.gpu.physical.memory.memory_type_count)
            .filter_map(|ty| Some((self.rank(ty, usage)?, ty)))
            .collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, ty)| ty).collect()
    }

    /// The rank of a memory type: less is better; `None` is unsuitable.
    fn rank(&self, ty: u32, usage: MemoryUsage) -> Option<u32> {
        use vk::MemoryPropertyFlags as Flags;
        const ODD: u32 = Flags::PROTECTED.as_raw()
            | Flags::LAZILY_ALLOCATED.as_raw()
            | Flags::DEVICE_COHERENT_AMD.as_raw()
            | Flags::RDMA_CAPABLE_NV.as_raw();
        let flags = self.flags(ty);
        let has = |flag| flags.contains(flag);
        let coherent = has(Flags::HOST_VISIBLE | Flags::HOST_COHERENT);
        // Mapped memory is never flushed, so it must be coherent.
        if flags.as_raw() & ODD != 0 || (has(Flags::HOST_VISIBLE) && !coherent) {
            return None;
        }
        match usage {
            MemoryUsage::Host => match (coherent, has(Flags::HOST_CACHED), has(Flags::DEVICE_LOCAL)) {
                (false, ..) => None,
                (_, true, false) => Some(0),
                (_, true, true) => Some(1),
                (_, false, _) => Some(2),
            },
            MemoryUsage::Device if !has(Flags::DEVICE_LOCAL) => Some(9),
            MemoryUsage::Device if !coherent => Some(if self.separate { 0 } else { 3 }),
            // The host-visible window of a GPU's memory is small, so it is not used for everything.
            MemoryUsage::Device if !self.shares_all(ty) => Some(5),
            MemoryUsage::Device => Some(if has(Flags::HOST_CACHED) { 1 } else { 2 }),
        }
    }

    fn shares_all(&self, ty: u32) -> bool {
        let memory = &self.gpu.physical.memory;
        let largest = memory
            .memory_heaps_as_slice()
            .iter()
            .filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL))
            .map(|heap| heap.size)
            .max();
        let heap = memory.memory_heaps[memory.memory_types[ty as usize].heap_index as usize];
        heap.size >= largest.unwrap_or(0) / 4 * 3
    }

    /// Whether the host fills memory as fast as the device.
    pub fn fills_by_host(&self) -> bool {
        self.gpu.physical.info.kind != DeviceKind::Discrete
    }
}
