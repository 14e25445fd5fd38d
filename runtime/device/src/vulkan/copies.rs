//! Copies between buffers in the memory of a GPU, by a kernel.
//!
//! vkCmdCopyBuffer runs on hardware that was built for the bus to the host. On NVIDIA's GPUs it reads and writes
//! 850 GB/s, and a kernel of 16-byte loads and stores 3000 to 4200. So a large copy within device memory is
//! recorded as dispatches, one for each piece that the device's limits allow. The bytes after the last whole
//! vector, and every other copy, remain copy commands: those from and to host memory, small ones, and those at
//! offsets that a binding cannot have. Hazards do not change: barriers cover kernels and copy commands alike.

use std::ops::Range;
use std::rc::Rc;

use ash::vk;

use super::buffers::Buffers;
use super::gpu::Gpu;
use super::memory::{Backing, Buffer, Memory, Place};
use super::pipelines::{Pipeline, Pipelines};
use crate::{Command, DeviceKind, OpenOptions, Origin, PipelineOptions, Result, tools};

const KERNEL: &str = include_str!("copy.spvasm");
/// Bytes that an invocation copies.
pub(super) const VECTOR: u64 = 16;
/// Bytes that a workgroup copies.
pub(super) const GROUP: u64 = INVOCATIONS * VECTOR;
const INVOCATIONS: u64 = 256;
/// Below this size, the command is as fast.
const MIN_SIZE: u64 = 256 << 10;

pub(super) struct Copies {
    limits: Option<Limits>,
    /// Created for the first copy that it suits.
    kernel: Option<Rc<Pipeline>>,
}

/// What the device's bindings allow.
#[derive(Clone, Copy)]
struct Limits {
    /// Offsets are multiples of this.
    alignment: u64,
    max_piece: u64,
}

/// A copy that runs on the kernel.
pub(super) struct KernelCopy<'a> {
    pub kernel: &'a Rc<Pipeline>,
    pub from: (vk::Buffer, u64),
    pub to: (vk::Buffer, u64),
}

/// One side of a copy: a buffer and an offset.
type Side<'a> = (&'a Buffer, u64);

impl Copies {
    pub fn new(gpu: &Gpu, options: &OpenOptions) -> Copies {
        let info = &gpu.physical.info;
        let max_invocations = info.limits.max_invocations.min(info.limits.max_local_size[0]);
        // The kernel's descriptors are pushed, because batches have no descriptor pools.
        let can_run = gpu.push_descriptors.is_some() && u64::from(max_invocations) >= INVOCATIONS;
        let is_faster = info.kind == DeviceKind::Discrete || options.separate_memory;
        let limits = (can_run && is_faster).then(|| Limits::of(&gpu.physical.properties.limits));
        Copies { limits, kernel: None }
    }

    /// Creates the kernel if one of the commands needs it.
    pub fn make_for(
        &mut self,
        commands: &[Command],
        buffers: &Buffers,
        memory: &Memory,
        pipelines: &mut Pipelines,
    ) -> Result<()> {
        if self.kernel.is_some() || self.limits.is_none() {
            return Ok(());
        }
        for command in commands {
            let Command::Copy { from, from_offset, to, to_offset, size } = command else { continue };
            let (from, to) = (&buffers.get(*from)?.buffer, &buffers.get(*to)?.buffer);
            if self.sides(memory, (from, *from_offset), (to, *to_offset), *size).is_some() {
                let words = tools::assemble(KERNEL).expect("the kernel is correct assembly");
                let options = PipelineOptions { origin: Origin::Compiler, ..PipelineOptions::default() };
                self.kernel = Some(pipelines.build(&words, &options)?);
                return Ok(());
            }
        }
        Ok(())
    }

    /// The kernel with what it copies, if this copy should run on it.
    pub fn by_kernel(&self, memory: &Memory, from: Side, to: Side, size: u64) -> Option<KernelCopy<'_>> {
        let kernel = self.kernel.as_ref()?;
        let [from, to] = self.sides(memory, from, to, size)?;
        Some(KernelCopy { kernel, from, to })
    }

    /// Both sides of a copy that should run on the kernel.
    fn sides(&self, memory: &Memory, from: Side, to: Side, size: u64) -> Option<[(vk::Buffer, u64); 2]> {
        let limits = self.limits.filter(|_| size >= MIN_SIZE)?;
        let side = |(buffer, offset): Side| match buffer.place {
            Place::Buffer(handle) if offset.is_multiple_of(limits.alignment) && is_local(memory, buffer) => {
                Some((handle, offset))
            }
            _ => None,
        };
        Some([side(from)?, side(to)?])
    }

    /// The pieces of a copy: ranges of whole vectors, for a dispatch each.
    pub fn pieces(&self, size: u64) -> impl Iterator<Item = Range<u64>> + use<> {
        self.limits.into_iter().flat_map(move |limits| limits.pieces(size))
    }
}

impl Limits {
    fn of(limits: &vk::PhysicalDeviceLimits) -> Limits {
        let alignment = limits.min_storage_buffer_offset_alignment.max(VECTOR);
        let by_groups = u64::from(limits.max_compute_work_group_count[0]) * GROUP;
        let max_piece = u64::from(limits.max_storage_buffer_range).min(by_groups);
        Limits { alignment, max_piece: max_piece - max_piece % alignment }
    }

    fn pieces(self, size: u64) -> impl Iterator<Item = Range<u64>> {
        let end = size - size % VECTOR;
        let starts = (0..).map(move |index| index * self.max_piece).take_while(move |start| *start < end);
        starts.map(move |start| start..end.min(start + self.max_piece))
    }
}

/// Whether the buffer is in the device's own memory. One that should be may be elsewhere if that is full.
pub(super) fn is_local(memory: &Memory, buffer: &Buffer) -> bool {
    let Backing::Allocated(allocation) = &buffer.backing else { return false };
    let ty = memory.allocator.get_allocation_info(allocation).memory_type;
    memory.flags(ty).contains(vk::MemoryPropertyFlags::DEVICE_LOCAL)
}

#[cfg(test)]
mod tests {
    use super::super::state::State;
    use super::super::testing::messages_on_every_device;
    use super::*;
    use crate::{BufferId, Commands, MemoryUsage, QueueId};

    #[test]
    fn pieces_are_whole_vectors_within_the_limits() {
        let check = |max_piece: u64, size: u64, expect: &str| {
            let pieces = Limits { alignment: VECTOR, max_piece }.pieces(size);
            let pieces: Vec<String> = pieces.map(|piece| format!("{piece:?}")).collect();
            assert_eq!(pieces.join(" "), expect, "{size} bytes in pieces of {max_piece}");
        };
        check(64, 15, "");
        check(64, 16, "0..16");
        check(64, 63, "0..48");
        check(64, 64, "0..64");
        check(64, 79, "0..64");
        check(64, 80, "0..64 64..80");
        check(64, 200, "0..64 64..128 128..192");
    }

    #[test]
    fn limits_come_from_bindings_and_groups() {
        let check = |range: u32, groups: u32, alignment: u64, expect: (u64, u64)| {
            let mut limits = vk::PhysicalDeviceLimits::default()
                .max_storage_buffer_range(range)
                .min_storage_buffer_offset_alignment(alignment);
            limits.max_compute_work_group_count[0] = groups;
            let limits = Limits::of(&limits);
            assert_eq!((limits.alignment, limits.max_piece), expect);
        };
        check(1 << 27, 65535, 16, (16, 1 << 27));
        check(u32::MAX, i32::MAX as u32, 256, (256, (1 << 32) - 256));
        check(u32::MAX, 65535, 1, (16, 65535 * 4096));
    }

    #[test]
    fn the_kernel_is_valid() {
        let words = tools::assemble(KERNEL).expect("it is assembly");
        tools::validate(&words).expect("it is a valid module");
    }

    /// Runs the test on every Vulkan device with separate memory. It gets a state, and two buffers of [`SIZE`].
    fn on_every_device(test: impl Fn(&mut State, BufferId, BufferId)) {
        let messages = messages_on_every_device(|state| {
            let mut buffer = || state.alloc(SIZE, MemoryUsage::Device).expect("there is memory");
            let (from, to) = (buffer(), buffer());
            test(state, from, to);
        });
        assert_eq!(messages, Vec::<String>::new());
    }

    const SIZE: u64 = 1 << 20;

    fn submit(state: &mut State, copy: Command) {
        state.submit(QueueId(0), &Commands::new(vec![copy]), &[]).expect("the copy is good");
    }

    #[test]
    fn only_large_copies_at_aligned_offsets_run_on_the_kernel() {
        let check = |from_offset: u64, to_offset: u64, size: u64, expect: bool| {
            on_every_device(|state, from, to| {
                submit(state, Command::Copy { from, from_offset, to, to_offset, size });
                let is_on_kernel = state.copies.kernel.is_some();
                assert_eq!(is_on_kernel, expect, "{size} bytes from {from_offset} to {to_offset}");
            });
        };
        check(0, 0, SIZE, true);
        check(256, 512, MIN_SIZE, true);
        check(0, 0, MIN_SIZE + 1, true);
        check(0, 0, MIN_SIZE - 1, false);
        check(4, 4, MIN_SIZE, false);
        check(0, 8, MIN_SIZE, false);
    }

    #[test]
    fn a_copy_beyond_the_limits_arrives_in_pieces() {
        let bytes: Vec<u8> = (0..SIZE).map(|i| (i * 7 + i / 251) as u8).collect();
        for max_piece in [4096, 64 << 10, SIZE - 4096] {
            on_every_device(|state, from, to| {
                let limits = state.copies.limits.as_mut().expect("memory is separate");
                limits.max_piece = max_piece;
                state.write(from, 0, &bytes).expect("it fits");
                let (from_offset, to_offset, size) = (4096, 8192, SIZE - 10_007);
                submit(state, Command::Copy { from, from_offset, to, to_offset, size });
                let mut expect = vec![0; SIZE as usize];
                expect[8192..][..size as usize].copy_from_slice(&bytes[4096..][..size as usize]);
                let mut found = vec![0xff; SIZE as usize];
                state.read(to, 0, &mut found).expect("it is there");
                assert!(found == expect, "in pieces of {max_piece}");
            });
        }
    }
}
