//! Buffers in the memory that suits them. Images are in `images`.

use std::rc::Rc;

use ash::vk;
use vk_mem::Alloc;

use super::gpu::Gpu;
use super::images::Image;
use crate::{DeviceError, DeviceKind, MemoryUsage, Result};

/// Sizes are rounded up to this, so that fills, which go by words, reach every byte.
const GRAIN: u64 = 16;

/// A buffer or an image with its memory. Whoever made it gives it back to [`Memory::destroy`].
pub(super) struct Buffer {
    pub place: Place,
    pub allocation: vk_mem::Allocation,
    /// As it was asked for, in bytes.
    pub size: u64,
    pub mapped: Option<Mapped>,
}

/// What Vulkan calls the memory.
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

/// Memory that the host reaches, coherent with the device.
#[derive(Clone, Copy)]
pub(super) struct Mapped {
    pub ptr: *mut u8,
    /// Whether reading it is as fast as reading other memory: uncached memory is a hundred times slower.
    pub cached: bool,
}

pub(super) struct Memory {
    // ORDER: dropped before the device that it is of.
    pub allocator: vk_mem::Allocator,
    pub gpu: Rc<Gpu>,
    /// Whether device memory is kept out of the host's reach.
    separate: bool,
}

impl Memory {
    pub fn new(gpu: &Rc<Gpu>, instance: &ash::Instance, separate: bool) -> Result<Memory> {
        let mut info = vk_mem::AllocatorCreateInfo::new(instance, &gpu.device, gpu.physical.handle);
        info.vulkan_api_version = vk::API_VERSION_1_2;
        info.flags = vk_mem::AllocatorCreateFlags::EXTERNALLY_SYNCHRONIZED;
        if gpu.physical.enabled.has_buffer_addresses() {
            info.flags |= vk_mem::AllocatorCreateFlags::BUFFER_DEVICE_ADDRESS;
        }
        // SAFETY: the instance lives as long as the process, and the device as long as `gpu`.
        let allocator = unsafe { vk_mem::Allocator::new(info) };
        let allocator = allocator.map_err(|result| gpu.error("vmaCreateAllocator", result))?;
        Ok(Memory { allocator, gpu: gpu.clone(), separate })
    }

    /// A buffer of unknown content.
    pub fn create(&self, size: u64, usage: MemoryUsage) -> Result<Buffer> {
        let out_of_memory =
            || DeviceError::OutOfMemory { device: self.gpu.physical.info.name.clone(), requested: size };
        let rounded = size.checked_next_multiple_of(GRAIN).ok_or_else(out_of_memory)?;
        let mut flags = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::UNIFORM_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        if self.gpu.physical.enabled.has_buffer_addresses() {
            flags |= vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        }
        let mut info = vk::BufferCreateInfo::default().size(rounded).usage(flags);
        if self.gpu.families.len() > 1 {
            info = info.sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(&self.gpu.families);
        }
        // A type that is full is passed over for the next best.
        for ty in self.types(usage) {
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
        Err(out_of_memory())
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
        Buffer { place: Place::Buffer(handle), allocation, size, mapped }
    }

    /// The caller knows that nothing submitted names the buffer any more.
    pub fn destroy(&self, mut buffer: Buffer) {
        match buffer.place {
            Place::Image(image) => self.destroy_image(image, buffer.allocation),
            // SAFETY: the pair was made by `create_of_type`, is given by value, and is used by nothing.
            Place::Buffer(handle) => unsafe {
                self.allocator.destroy_buffer(handle, &mut buffer.allocation);
            },
        }
    }

    fn flags(&self, ty: u32) -> vk::MemoryPropertyFlags {
        self.gpu.physical.memory.memory_types[ty as usize].property_flags
    }

    /// The memory types that will do, the best first.
    fn types(&self, usage: MemoryUsage) -> Vec<u32> {
        let mut ranked: Vec<(u32, u32)> = (0..self.gpu.physical.memory.memory_type_count)
            .filter_map(|ty| Some((self.rank(ty, usage)?, ty)))
            .collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, ty)| ty).collect()
    }

    /// How well a memory type suits: the less the better, `None` for not at all.
    fn rank(&self, ty: u32, usage: MemoryUsage) -> Option<u32> {
        use vk::MemoryPropertyFlags as Flags;
        const ODD: u32 = Flags::PROTECTED.as_raw()
            | Flags::LAZILY_ALLOCATED.as_raw()
            | Flags::DEVICE_COHERENT_AMD.as_raw()
            | Flags::RDMA_CAPABLE_NV.as_raw();
        let flags = self.flags(ty);
        let has = |flag| flags.contains(flag);
        let coherent = has(Flags::HOST_VISIBLE | Flags::HOST_COHERENT);
        // Mapped memory is never flushed, so what is visible must be coherent.
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
            // The window through which a host sees a part of a GPU's memory is not for everything.
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

    /// Whether the host fills memory as fast as the device does.
    pub fn fills_by_host(&self) -> bool {
        self.gpu.physical.info.kind != DeviceKind::Discrete
    }
}
