//! Makes compute pipelines from modules. The same binary and options give the same pipeline again.

use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use ash::vk;
use kps_scalar::Scalar;
use rustc_hash::{FxHashMap, FxHasher};

use super::disk_cache::DiskCache;
use super::gpu::Gpu;
use super::{foreign, limits, requirements, validity};
use crate::interface::{BufferKind, ImageKind};
use crate::reflect::{in_host_order, parse, reflect};
use crate::{DeviceError, Instrument, Interface, Origin, PipelineId, PipelineOptions, Result, log};

pub(super) struct Pipelines {
    gpu: Rc<Gpu>,
    loaded: FxHashMap<PipelineId, Loaded>,
    next_id: u64,
    /// Pipelines by the hash of their binary and options.
    by_hash: FxHashMap<u64, Vec<PipelineId>>,
    cache: DiskCache,
}

struct Loaded {
    /// Shared with recordings.
    pipeline: Rc<Pipeline>,
    /// How often it was loaded, minus how often it was unloaded.
    n_loads: usize,
}

pub(super) struct Pipeline {
    gpu: Rc<Gpu>,
    pub handle: vk::Pipeline,
    pub layout: vk::PipelineLayout,
    /// The layout of each descriptor set, from set 0 on; unused ones are empty.
    pub sets: Vec<vk::DescriptorSetLayout>,
    /// The set whose descriptors are pushed with the commands, if any.
    pub pushed_set: Option<u32>,
    pub slots: Vec<Slot>,
    pub interface: Arc<Interface>,
    /// Size of the push constants in the pipeline's layout.
    pub push_bytes: u32,
    words: Box<[u32]>,
    options: PipelineOptions,
}

impl Pipeline {
    /// Whether its descriptors are pushed with the commands, if it has any.
    pub fn needs_no_pool(&self) -> bool {
        self.pushed_set.is_some() || self.sets.is_empty()
    }
}

/// One binding of a descriptor set, and its resource.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Slot {
    pub set: u32,
    pub binding: u32,
    pub ty: vk::DescriptorType,
}

impl Slot {
    pub fn has_sampler(&self) -> bool {
        matches!(self.ty, vk::DescriptorType::SAMPLER | vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
    }

    pub fn has_image(&self) -> bool {
        use vk::DescriptorType as Type;
        matches!(self.ty, Type::STORAGE_IMAGE | Type::SAMPLED_IMAGE | Type::COMBINED_IMAGE_SAMPLER)
    }
}

/// Every binding of a module, ordered by set and binding.
pub(super) fn slots(interface: &Interface) -> Vec<Slot> {
    let buffers = interface.buffers.iter().map(|buffer| {
        let ty = match buffer.kind {
            BufferKind::Storage => vk::DescriptorType::STORAGE_BUFFER,
            BufferKind::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
        };
        Slot { set: buffer.set, binding: buffer.binding, ty }
    });
    let images = interface.images.iter().map(|image| {
        let ty = match image.kind {
            ImageKind::Storage => vk::DescriptorType::STORAGE_IMAGE,
            ImageKind::Sampled => vk::DescriptorType::SAMPLED_IMAGE,
            ImageKind::WithSampler => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        };
        Slot { set: image.set, binding: image.binding, ty }
    });
    let samplers = interface.samplers.iter().map(|sampler| {
        let ty = vk::DescriptorType::SAMPLER;
        Slot { set: sampler.set, binding: sampler.binding, ty }
    });
    let mut slots: Vec<Slot> = buffers.chain(images).chain(samplers).collect();
    slots.sort_by_key(|slot| (slot.set, slot.binding));
    slots
}

impl Pipelines {
    pub fn new(gpu: &Rc<Gpu>) -> Result<Pipelines> {
        let cache = DiskCache::open(gpu)?;
        let (loaded, by_hash) = (FxHashMap::default(), FxHashMap::default());
        Ok(Pipelines { gpu: gpu.clone(), loaded, next_id: 0, by_hash, cache })
    }

    pub fn load(&mut self, words: &[u32], options: &PipelineOptions) -> Result<PipelineId> {
        let hash = hash(words, options);
        for id in self.by_hash.get(&hash).into_iter().flatten() {
            let known = self.loaded.get_mut(id).expect("what is found by its hash is loaded");
            if *known.pipeline.words == *words && known.pipeline.options == *options {
                known.n_loads += 1;
                log::reused(known.pipeline.interface.name.as_deref());
                return Ok(*id);
            }
        }
        let pipeline = self.build(words, options)?;
        let id = PipelineId(self.next_id);
        self.next_id += 1;
        self.loaded.insert(id, Loaded { pipeline, n_loads: 1 });
        self.by_hash.entry(hash).or_default().push(id);
        Ok(id)
    }

    pub fn unload(&mut self, id: PipelineId) {
        let Some(loaded) = self.loaded.get_mut(&id) else { return };
        loaded.n_loads -= 1;
        if loaded.n_loads > 0 {
            return;
        }
        let hash = hash(&loaded.pipeline.words, &loaded.pipeline.options);
        self.loaded.remove(&id);
        if let Some(alike) = self.by_hash.get_mut(&hash) {
            alike.retain(|other| *other != id);
            if alike.is_empty() {
                self.by_hash.remove(&hash);
            }
        }
    }

    pub fn get(&self, id: PipelineId) -> Result<&Rc<Pipeline>> {
        let loaded = self.loaded.get(&id).ok_or(DeviceError::UnknownId { kind: "pipeline" })?;
        Ok(&loaded.pipeline)
    }

    /// Makes a pipeline that has no id.
    pub fn build(&mut self, words: &[u32], options: &PipelineOptions) -> Result<Rc<Pipeline>> {
        let began = Instant::now();
        let pipeline = Rc::new(self.create(words, options)?);
        log::compiled(pipeline.interface.name.as_deref(), began);
        Ok(pipeline)
    }

    fn create(&mut self, words: &[u32], options: &PipelineOptions) -> Result<Pipeline> {
        if options.instrument != Instrument::None {
            let message = "only the CPU device instruments kernels".to_owned();
            return Err(DeviceError::BadCommand { message });
        }
        let module = parse(words)?;
        let reflection = reflect(&module, options)?;
        requirements::check(&self.gpu.physical, &module)?;
        limits::check(&self.gpu.physical, &reflection)?;
        let words_in_order = in_host_order(words);
        validity::check(&self.gpu.physical, &words_in_order)?;
        let words_in_order = match options.origin {
            Origin::Compiler => words_in_order,
            Origin::External => {
                foreign::bounded(&self.gpu.physical, words_in_order, &module, &reflection.constants)?
            }
        };
        let interface = reflection.interface;
        let mut parts = Parts::new(&self.gpu);
        parts.shader(&words_in_order)?;
        let slots = slots(&interface);
        check_slots(&slots)?;
        let pushed_set = self.pushed_set(&slots);
        parts.set_layouts(&slots, pushed_set)?;
        let push_bytes = interface.push_constants.as_ref().map_or(0, |block| block.size.next_multiple_of(4));
        parts.layout(push_bytes)?;
        let handle = parts.pipeline(&interface, options, self.cache.handle)?;
        self.cache.grown = true;
        parts.name(handle, interface.name.as_deref().unwrap_or(&interface.entry_point));
        let (layout, sets) = parts.keep();
        Ok(Pipeline {
            gpu: self.gpu.clone(),
            handle,
            layout,
            sets,
            pushed_set,
            slots,
            interface: Arc::new(interface),
            push_bytes,
            words: words.into(),
            options: options.clone(),
        })
    }

    /// The only set, if push descriptors support its size.
    fn pushed_set(&self, slots: &[Slot]) -> Option<u32> {
        self.gpu.push_descriptors.as_ref()?;
        let set = slots.first()?.set;
        let alone = slots.iter().all(|slot| slot.set == set);
        let fits = slots.len() <= self.gpu.physical.max_push_descriptors as usize;
        (alone && fits).then_some(set)
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: recordings keep their pipelines alive until they have ended.
        unsafe {
            self.gpu.device.destroy_pipeline(self.handle, None);
            self.gpu.device.destroy_pipeline_layout(self.layout, None);
            self.sets.iter().for_each(|set| self.gpu.device.destroy_descriptor_set_layout(*set, None));
        }
    }
}

/// A binding is one resource: modules with two kinds at one binding are refused.
fn check_slots(slots: &[Slot]) -> Result<()> {
    match slots.windows(2).find(|pair| (pair[0].set, pair[0].binding) == (pair[1].set, pair[1].binding)) {
        None => Ok(()),
        Some(pair) => {
            let (set, binding) = (pair[0].set, pair[0].binding);
            let message = format!("set {set} binding {binding} is two different kinds of resource");
            Err(DeviceError::BadModule { message, line: None })
        }
    }
}

fn hash(words: &[u32], options: &PipelineOptions) -> u64 {
    let mut hasher = FxHasher::default();
    words.hash(&mut hasher);
    options.hash(&mut hasher);
    hasher.finish()
}

/// The objects of a pipeline. They are destroyed unless all were created.
struct Parts<'a> {
    gpu: &'a Gpu,
    shader: vk::ShaderModule,
    sets: Vec<vk::DescriptorSetLayout>,
    layout: vk::PipelineLayout,
}

impl<'a> Parts<'a> {
    fn new(gpu: &'a Gpu) -> Parts<'a> {
        Parts { gpu, shader: vk::ShaderModule::null(), sets: Vec::new(), layout: vk::PipelineLayout::null() }
    }

    fn shader(&mut self, words: &[u32]) -> Result<()> {
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the module was parsed, and needs nothing that the device lacks.
        self.shader = unsafe { self.gpu.device.create_shader_module(&info, None) }
            .map_err(|result| self.gpu.error("vkCreateShaderModule", result))?;
        Ok(())
    }

    fn set_layouts(&mut self, slots: &[Slot], pushed_set: Option<u32>) -> Result<()> {
        let n_sets = slots.iter().map(|slot| slot.set + 1).max().unwrap_or(0);
        for set in 0..n_sets {
            let bindings: Vec<_> = slots
                .iter()
                .filter(|slot| slot.set == set)
                .map(|slot| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(slot.binding)
                        .descriptor_type(slot.ty)
                        .descriptor_count(1)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect();
            let mut info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            if pushed_set == Some(set) {
                info = info.flags(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR);
            }
            // SAFETY: no binding exists twice, as reflection ensured.
            let layout = unsafe { self.gpu.device.create_descriptor_set_layout(&info, None) };
            self.sets.push(layout.map_err(|r| self.gpu.error("vkCreateDescriptorSetLayout", r))?);
        }
        Ok(())
    }

    fn layout(&mut self, push_bytes: u32) -> Result<()> {
        let range =
            vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(push_bytes);
        let ranges = [range];
        let ranges = if push_bytes > 0 { &ranges[..] } else { &[] };
        let info =
            vk::PipelineLayoutCreateInfo::default().set_layouts(&self.sets).push_constant_ranges(ranges);
        // SAFETY: the set layouts are alive, and the range is within the device's limit.
        self.layout = unsafe { self.gpu.device.create_pipeline_layout(&info, None) }
            .map_err(|result| self.gpu.error("vkCreatePipelineLayout", result))?;
        Ok(())
    }

    fn pipeline(
        &self,
        interface: &Interface,
        options: &PipelineOptions,
        cache: vk::PipelineCache,
    ) -> Result<vk::Pipeline> {
        let name = std::ffi::CString::new(interface.entry_point.as_str()).map_err(|_| {
            let message = "the entry point's name holds a zero byte".to_owned();
            DeviceError::BadModule { message, line: None }
        })?;
        let (entries, data) = specialisation(interface, options);
        let values = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(self.shader)
            .name(&name)
            .specialization_info(&values);
        let mut subgroups = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        if let Some(size) = limits::subgroup_size(&self.gpu.physical, options)? {
            subgroups = subgroups.required_subgroup_size(size);
            stage = stage.push_next(&mut subgroups);
        }
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(self.layout);
        // SAFETY: everything that `info` names is alive, and the layout has all bindings of the module.
        let made = unsafe { self.gpu.device.create_compute_pipelines(cache, &[info], None) };
        made.map(|pipelines| pipelines[0])
            .map_err(|(_, result)| self.gpu.error("vkCreateComputePipelines", result))
    }

    fn name(&self, pipeline: vk::Pipeline, kernel: &str) {
        let names = &self.gpu.names;
        names.set(pipeline, || format!("kernel `{kernel}`"));
        names.set(self.shader, || format!("module of kernel `{kernel}`"));
        names.set(self.layout, || format!("layout of kernel `{kernel}`"));
        for (at, set) in self.sets.iter().enumerate() {
            names.set(*set, || format!("set {at} of kernel `{kernel}`"));
        }
    }

    fn keep(mut self) -> (vk::PipelineLayout, Vec<vk::DescriptorSetLayout>) {
        (std::mem::take(&mut self.layout), std::mem::take(&mut self.sets))
    }
}

impl Drop for Parts<'_> {
    fn drop(&mut self) {
        // SAFETY: the parts were not used, or were taken out; destroying null does nothing.
        unsafe {
            self.gpu.device.destroy_shader_module(self.shader, None);
            self.gpu.device.destroy_pipeline_layout(self.layout, None);
            self.sets.iter().for_each(|set| self.gpu.device.destroy_descriptor_set_layout(*set, None));
        }
    }
}

/// The given values of the constants in the module.
fn specialisation(
    interface: &Interface,
    options: &PipelineOptions,
) -> (Vec<vk::SpecializationMapEntry>, Vec<u8>) {
    let (mut entries, mut data): (Vec<vk::SpecializationMapEntry>, _) = (Vec::new(), Vec::new());
    for constant in &interface.spec_constants {
        // Several constants may share one id, which has one value.
        if entries.last().is_some_and(|last| last.constant_id == constant.id) {
            continue;
        }
        let Some((_, bits)) = options.spec_constants.iter().find(|(id, _)| *id == constant.id) else {
            continue;
        };
        let size = match constant.scalar {
            // A boolean takes a word here.
            Scalar::Bool => 4,
            scalar => scalar.size(),
        };
        let bits = if constant.scalar == Scalar::Bool { u64::from(*bits != 0) } else { *bits };
        entries.push(vk::SpecializationMapEntry {
            constant_id: constant.id,
            offset: data.len() as u32,
            size,
        });
        data.extend_from_slice(&bits.to_le_bytes()[..size]);
    }
    (entries, data)
}
