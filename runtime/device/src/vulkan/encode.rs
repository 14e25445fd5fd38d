//! Records checked commands into a command buffer: one of their own, for any number of runs, or a queue's batch.

use std::rc::Rc;

use ash::vk;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::buffers::Buffers;
use super::copies::{Copies, GROUP, KernelCopy, VECTOR};
use super::gpu::Gpu;
use super::hazards::{Hazards, full_barrier, host_barrier};
use super::images;
use super::memory::{Memory, Place};
use super::pipelines::{Pipeline, Pipelines, Slot};
use super::plan::{Plan, bad_command, binding_at, is_empty, sampler_at};
use super::queue::{Open, Queue};
use super::samplers::Samplers;
use crate::command::{addressed_at, put_address};
use crate::{Addressed, BufferId, Command, Dispatch, Result};

/// A recorded command buffer, and the objects that it needs.
pub(super) struct Take {
    pub commands: vk::CommandBuffer,
    pub queries: vk::QueryPool,
    descriptors: vk::DescriptorPool,
    /// Keeps the pipelines alive that it uses.
    pipelines: Vec<Rc<Pipeline>>,
}

impl Take {
    /// The take must not be pending.
    pub fn destroy(self, gpu: &Gpu, queue: &mut Queue) {
        queue.recycle(self.commands);
        // SAFETY: the caller knows that the device has finished with it; destroying null does nothing.
        unsafe {
            gpu.device.destroy_query_pool(self.queries, None);
            gpu.device.destroy_descriptor_pool(self.descriptors, None);
        }
    }
}

/// The objects that encoding refers to.
pub(super) struct Encoder<'a> {
    pub gpu: &'a Gpu,
    pub memory: &'a Memory,
    pub buffers: &'a Buffers,
    pub pipelines: &'a Pipelines,
    pub samplers: &'a Samplers,
    pub copies: &'a Copies,
}

impl Encoder<'_> {
    pub fn encode(&self, queue: &mut Queue, commands: &[Command], plan: &Plan) -> Result<Take> {
        // A list may be submitted again before it has ended.
        let buffer = queue.begin(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE)?;
        let mut take = Take {
            commands: buffer,
            queries: vk::QueryPool::null(),
            descriptors: vk::DescriptorPool::null(),
            pipelines: Vec::new(),
        };
        let recorded = self.record(&mut take, commands, plan);
        match recorded.and(queue.end(buffer)) {
            Ok(()) => Ok(take),
            Err(error) => {
                take.destroy(self.gpu, queue);
                Err(error)
            }
        }
    }

    fn record(&self, take: &mut Take, commands: &[Command], plan: &Plan) -> Result<()> {
        take.descriptors = self.descriptor_pool(commands)?;
        take.queries = self.query_pool(plan.n_timestamps)?;
        if plan.n_timestamps > 0 {
            // SAFETY: the pool has this many queries, and the take is pending once only.
            unsafe {
                self.gpu.device.cmd_reset_query_pool(take.commands, take.queries, 0, plan.n_timestamps);
            }
        }
        let Take { commands: buffer, queries, descriptors, pipelines } = take;
        let mut recording = Recording {
            encoder: self,
            commands: *buffer,
            queries: *queries,
            descriptors: *descriptors,
            pipelines,
            hazards: &mut Hazards::default(),
            bound: &mut Bound::default(),
            sets: FxHashMap::default(),
            n_timestamps: 0,
        };
        recording.commands(commands, plan)?;
        self.name(take, commands);
        if plan.writes_host_memory {
            host_barrier(&self.gpu.device, take.commands);
        }
        Ok(())
    }

    /// Records commands that need neither descriptor sets nor queries. Returns whether there is a barrier among
    /// them.
    pub fn encode_once(&self, open: Open, commands: &[Command], plan: &Plan) -> Result<bool> {
        let mut recording = Recording {
            encoder: self,
            commands: open.commands,
            queries: vk::QueryPool::null(),
            descriptors: vk::DescriptorPool::null(),
            pipelines: open.pipelines,
            hazards: open.hazards,
            bound: open.bound,
            sets: FxHashMap::default(),
            n_timestamps: 0,
        };
        recording.commands(commands, plan)
    }

    fn name(&self, take: &Take, commands: &[Command]) {
        let names = &self.gpu.names;
        let title = |what: &str| format!("{what} of {} commands", commands.len());
        names.set(take.commands, || title("list"));
        names.set(take.descriptors, || title("descriptors"));
        names.set(take.queries, || title("timestamps"));
    }

    /// Large enough for the sets that cannot be pushed; null if there are none.
    fn descriptor_pool(&self, commands: &[Command]) -> Result<vk::DescriptorPool> {
        let mut n_sets = 0;
        let mut sizes: Vec<vk::DescriptorPoolSize> = Vec::new();
        for command in commands {
            let Command::Dispatch(dispatch) = command else { continue };
            let pipeline = self.pipelines.get(dispatch.pipeline)?;
            if pipeline.pushed_set.is_some() || is_empty(dispatch) {
                continue;
            }
            n_sets += pipeline.sets.len() as u32;
            for slot in &pipeline.slots {
                match sizes.iter_mut().find(|size| size.ty == slot.ty) {
                    Some(size) => size.descriptor_count += 1,
                    None => {
                        let size = vk::DescriptorPoolSize::default().ty(slot.ty);
                        sizes.push(size.descriptor_count(1));
                    }
                }
            }
        }
        if n_sets == 0 {
            return Ok(vk::DescriptorPool::null());
        }
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(n_sets).pool_sizes(&sizes);
        // SAFETY: `info` outlives the call.
        unsafe { self.gpu.device.create_descriptor_pool(&info, None) }
            .map_err(|result| self.gpu.error("vkCreateDescriptorPool", result))
    }

    fn query_pool(&self, n_timestamps: u32) -> Result<vk::QueryPool> {
        if n_timestamps == 0 {
            return Ok(vk::QueryPool::null());
        }
        let info =
            vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(n_timestamps);
        // SAFETY: `info` outlives the call.
        unsafe { self.gpu.device.create_query_pool(&info, None) }
            .map_err(|result| self.gpu.error("vkCreateQueryPool", result))
    }
}

/// One binding of a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Descriptor {
    slot: Slot,
    content: Content,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Content {
    Buffer {
        handle: vk::Buffer,
        offset: u64,
        size: u64,
    },
    /// Null where the slot is only a sampler, or only an image.
    Image {
        view: vk::ImageView,
        sampler: vk::Sampler,
    },
}

struct Recording<'a, 'e> {
    encoder: &'a Encoder<'e>,
    commands: vk::CommandBuffer,
    queries: vk::QueryPool,
    descriptors: vk::DescriptorPool,
    /// Those that the command buffer uses.
    pipelines: &'a mut Vec<Rc<Pipeline>>,
    /// Uses since the last barrier.
    hazards: &'a mut Hazards,
    bound: &'a mut Bound,
    /// Sets that were written before, by layout and content.
    sets: FxHashMap<(vk::DescriptorSetLayout, Vec<Descriptor>), vk::DescriptorSet>,
    n_timestamps: u32,
}

/// What is bound in a command buffer, so that the same is not bound again.
#[derive(Default)]
pub(super) struct Bound {
    pipeline: vk::Pipeline,
    /// Those that were pushed for this pipeline.
    descriptors: Descriptors,
    push_constants: SmallVec<[u8; 128]>,
}

type Descriptors = SmallVec<[Descriptor; 4]>;

impl Bound {
    /// In a new command buffer, nothing is bound.
    pub fn clear(&mut self) {
        self.rebind(vk::Pipeline::null());
    }

    /// Another pipeline may have another layout, so nothing remains bound.
    fn rebind(&mut self, pipeline: vk::Pipeline) {
        self.pipeline = pipeline;
        self.descriptors.clear();
        self.push_constants.clear();
    }
}

impl Recording<'_, '_> {
    /// Returns whether there is a barrier among the commands.
    fn commands(&mut self, commands: &[Command], plan: &Plan) -> Result<bool> {
        let mut has_barrier = false;
        for (command, uses) in commands.iter().zip(plan.by_command()) {
            if self.hazards.need_barrier(uses) {
                full_barrier(&self.encoder.gpu.device, self.commands);
                self.hazards.clear();
                has_barrier = true;
            }
            self.hazards.note(uses);
            self.command(command)?;
        }
        Ok(has_barrier)
    }

    fn command(&mut self, command: &Command) -> Result<()> {
        let device = &self.encoder.gpu.device;
        match command {
            Command::Copy { size: 0, .. } => {}
            Command::Copy { from, from_offset, to, to_offset, size } => {
                self.copy((*from, *from_offset), (*to, *to_offset), *size)?;
            }
            Command::Dispatch(dispatch) if is_empty(dispatch) => {}
            Command::Dispatch(dispatch) => self.dispatch(dispatch)?,
            Command::Timestamp => {
                let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
                // SAFETY: the pool has a query for each timestamp.
                unsafe {
                    device.cmd_write_timestamp(self.commands, stage, self.queries, self.n_timestamps);
                }
                self.n_timestamps += 1;
            }
        }
        Ok(())
    }

    fn copy(&mut self, from: (BufferId, u64), to: (BufferId, u64), size: u64) -> Result<()> {
        let encoder = self.encoder;
        let side = |(id, offset)| Ok((&encoder.buffers.get(id)?.buffer, offset));
        let (from, to) = (side(from)?, side(to)?);
        let copied = match encoder.copies.by_kernel(encoder.memory, from, to, size) {
            Some(copy) => self.copy_by_kernel(&copy, size)?,
            None => 0,
        };
        if copied < size {
            let (from, to) = ((&from.0.place, from.1 + copied), (&to.0.place, to.1 + copied));
            images::copy(&encoder.gpu.device, self.commands, from, to, size - copied);
        }
        Ok(())
    }

    /// Copies whole vectors; returns the number of bytes.
    fn copy_by_kernel(&mut self, copy: &KernelCopy, size: u64) -> Result<u64> {
        let kernel = copy.kernel;
        let mut copied = 0;
        for piece in self.encoder.copies.pieces(size) {
            let n_bytes = piece.end - piece.start;
            let sides = kernel.slots.iter().zip([copy.from, copy.to]);
            let descriptors = sides.map(|(slot, (handle, offset))| Descriptor {
                slot: *slot,
                content: Content::Buffer { handle, offset: offset + piece.start, size: n_bytes },
            });
            self.bind(kernel, descriptors.collect())?;
            self.push(kernel, &((n_bytes / VECTOR) as u32).to_le_bytes());
            // SAFETY: everything that the kernel binds is bound, and pieces are within the limits.
            unsafe {
                let n_groups = n_bytes.div_ceil(GROUP) as u32;
                self.encoder.gpu.device.cmd_dispatch(self.commands, n_groups, 1, 1);
            }
            copied = piece.end;
        }
        Ok(copied)
    }

    fn dispatch(&mut self, dispatch: &Dispatch) -> Result<()> {
        let pipeline = self.encoder.pipelines.get(dispatch.pipeline)?;
        let descriptors = self.descriptors(pipeline, dispatch)?;
        self.bind(pipeline, descriptors)?;
        self.push_constants(pipeline, dispatch)?;
        let device = &self.encoder.gpu.device;
        let [x, y, z] = dispatch.groups;
        // SAFETY: everything that the pipeline binds is bound, and the groups are within the limits.
        unsafe { device.cmd_dispatch(self.commands, x, y, z) };
        Ok(())
    }

    fn push_constants(&mut self, pipeline: &Pipeline, dispatch: &Dispatch) -> Result<()> {
        if pipeline.push_bytes == 0 {
            return Ok(());
        }
        let mut bytes: SmallVec<[u8; 128]> = SmallVec::from_slice(&dispatch.push_constants);
        bytes.resize(pipeline.push_bytes as usize, 0);
        for wanted in &pipeline.interface.addresses {
            let addressed = addressed_at(wanted, dispatch)?;
            put_address(addressed, self.address(addressed)?, &mut bytes)?;
        }
        self.push(pipeline, &bytes);
        Ok(())
    }

    /// Sets all push constants of the pipeline.
    fn push(&mut self, pipeline: &Pipeline, bytes: &[u8]) {
        if *bytes == *self.bound.push_constants {
            return;
        }
        let (device, stages) = (&self.encoder.gpu.device, vk::ShaderStageFlags::COMPUTE);
        // SAFETY: the layout's range has this many bytes.
        unsafe { device.cmd_push_constants(self.commands, pipeline.layout, stages, 0, bytes) };
        self.bound.push_constants = SmallVec::from_slice(bytes);
    }

    fn address(&self, addressed: &Addressed) -> Result<u64> {
        let Place::Buffer(handle) = self.encoder.buffers.get(addressed.buffer)?.buffer.place else {
            return Err(bad_command("an image has no address".to_owned()));
        };
        let info = vk::BufferDeviceAddressInfo::default().buffer(handle);
        // SAFETY: modules with addresses are refused on devices without them; otherwise, every buffer was
        // created with an address.
        let start = unsafe { self.encoder.gpu.device.get_buffer_device_address(&info) };
        Ok(start + addressed.offset)
    }

    fn descriptors(&self, pipeline: &Pipeline, dispatch: &Dispatch) -> Result<Descriptors> {
        let content = |slot: &Slot| Ok(Descriptor { slot: *slot, content: self.content(slot, dispatch)? });
        pipeline.slots.iter().map(content).collect()
    }

    fn content(&self, slot: &Slot, dispatch: &Dispatch) -> Result<Content> {
        let at = (slot.set, slot.binding);
        let sampler = match slot.has_sampler() {
            true => self.encoder.samplers.get(sampler_at(at, None, dispatch)?.sampler),
            false => vk::Sampler::null(),
        };
        if slot.ty == vk::DescriptorType::SAMPLER {
            return Ok(Content::Image { view: vk::ImageView::null(), sampler });
        }
        let binding = binding_at(at, None, dispatch)?;
        match self.encoder.buffers.get(binding.buffer)?.buffer.place {
            Place::Image(image) if slot.has_image() => Ok(Content::Image { view: image.view, sampler }),
            Place::Buffer(handle) if !slot.has_image() => {
                Ok(Content::Buffer { handle, offset: binding.offset, size: binding.size })
            }
            _ => Err(bad_command("a buffer is bound for an image, or an image for a buffer".to_owned())),
        }
    }

    fn bind(&mut self, pipeline: &Rc<Pipeline>, descriptors: Descriptors) -> Result<()> {
        let compute = vk::PipelineBindPoint::COMPUTE;
        let device = &self.encoder.gpu.device;
        if self.bound.pipeline != pipeline.handle {
            if !self.pipelines.iter().rev().any(|known| Rc::ptr_eq(known, pipeline)) {
                self.pipelines.push(pipeline.clone());
            }
            // SAFETY: `pipelines` keeps the pipeline alive.
            unsafe { device.cmd_bind_pipeline(self.commands, compute, pipeline.handle) };
            self.bound.rebind(pipeline.handle);
        }
        match (pipeline.pushed_set, &self.encoder.gpu.push_descriptors) {
            (Some(_), Some(_)) if descriptors == self.bound.descriptors => {}
            (Some(set), Some(push)) => {
                with_writes(&descriptors, vk::DescriptorSet::null(), |writes| {
                    let commands = self.commands;
                    // SAFETY: the layout was made for pushing this set, and the buffers are alive.
                    unsafe { push.cmd_push_descriptor_set(commands, compute, pipeline.layout, set, writes) };
                });
                self.bound.descriptors = descriptors;
            }
            _ if pipeline.sets.is_empty() => {}
            _ => {
                let sets = self.pooled_sets(pipeline, descriptors)?;
                let commands = self.commands;
                // SAFETY: the sets were allocated with the layouts of the pipeline.
                unsafe {
                    device.cmd_bind_descriptor_sets(commands, compute, pipeline.layout, 0, &sets, &[]);
                }
            }
        }
        Ok(())
    }

    fn pooled_sets(
        &mut self,
        pipeline: &Pipeline,
        descriptors: Descriptors,
    ) -> Result<Vec<vk::DescriptorSet>> {
        let mut sets = Vec::with_capacity(pipeline.sets.len());
        for (index, &layout) in pipeline.sets.iter().enumerate() {
            let of_set = descriptors.iter().filter(|one| one.slot.set == index as u32).copied();
            let key = (layout, of_set.collect::<Vec<_>>());
            let set = match self.sets.get(&key) {
                Some(&set) => set,
                None => self.write_set(&key)?,
            };
            self.sets.insert(key, set);
            sets.push(set);
        }
        Ok(sets)
    }

    fn write_set(
        &self,
        (layout, descriptors): &(vk::DescriptorSetLayout, Vec<Descriptor>),
    ) -> Result<vk::DescriptorSet> {
        let gpu = self.encoder.gpu;
        let layouts = [*layout];
        let info =
            vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.descriptors).set_layouts(&layouts);
        // SAFETY: the pool was made large enough for every set of the list.
        let sets = unsafe { gpu.device.allocate_descriptor_sets(&info) };
        let set = sets.map_err(|result| gpu.error("vkAllocateDescriptorSets", result))?[0];
        with_writes(descriptors, set, |writes| {
            // SAFETY: the set is new, and the buffers are alive.
            unsafe { gpu.device.update_descriptor_sets(writes, &[]) };
        });
        Ok(set)
    }
}

/// Passes the descriptors to `call` in Vulkan's form.
fn with_writes(
    descriptors: &[Descriptor],
    set: vk::DescriptorSet,
    call: impl FnOnce(&[vk::WriteDescriptorSet]),
) {
    let infos: SmallVec<[_; 4]> = descriptors.iter().map(|descriptor| infos(&descriptor.content)).collect();
    let writes: SmallVec<[_; 4]> = descriptors
        .iter()
        .zip(&infos)
        .map(|(Descriptor { slot, content }, (buffer, image))| {
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(slot.binding)
                .descriptor_type(slot.ty);
            match content {
                Content::Buffer { .. } => write.buffer_info(std::slice::from_ref(buffer)),
                Content::Image { .. } => write.image_info(std::slice::from_ref(image)),
            }
        })
        .collect();
    call(&writes);
}

/// Only one of the two is in use.
fn infos(content: &Content) -> (vk::DescriptorBufferInfo, vk::DescriptorImageInfo) {
    match *content {
        Content::Buffer { handle, offset, size } => {
            let info = vk::DescriptorBufferInfo { buffer: handle, offset, range: size };
            (info, vk::DescriptorImageInfo::default())
        }
        Content::Image { view, sampler } => {
            let image_layout = images::LAYOUT;
            let info = vk::DescriptorImageInfo { sampler, image_view: view, image_layout };
            (vk::DescriptorBufferInfo::default(), info)
        }
    }
}
