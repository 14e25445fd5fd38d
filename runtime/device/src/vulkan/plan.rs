//! Checks commands against the device, their pipelines, buffers and images, and computes their uses. Only
//! checked commands are recorded.

use ash::vk;

use super::buffers::Buffers;
use super::gpu::Gpu;
use super::hazards::{Use, merge};
use super::images;
use super::pipelines::{Pipeline, Pipelines};
use crate::command::{addressed_at, shown};
use crate::image::{misfit, unfilterable};
use crate::interface::{AddressedArray, BufferBinding, BufferKind, ImageBinding, ImageKind};
use crate::{
    Access, Addressed, Binding, BufferId, Command, DeviceError, Dispatch, Filter, Limit, Result,
    SamplerBinding,
};

/// The uses of a list of commands.
#[derive(Default)]
pub(super) struct Plan {
    /// Those of one command after the other.
    uses: Vec<Use>,
    /// Where the uses of each command end.
    ends: Vec<usize>,
    pub merged: Vec<Use>,
    pub n_timestamps: u32,
    /// Whether they write memory that the host may read.
    pub writes_host_memory: bool,
}

impl Plan {
    /// The uses of each command.
    pub fn by_command(&self) -> impl Iterator<Item = &[Use]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.uses[start..*end])
    }

    fn clear(&mut self) {
        let Plan { uses, ends, merged, n_timestamps, writes_host_memory } = self;
        (*n_timestamps, *writes_host_memory) = (0, false);
        uses.clear();
        ends.clear();
        merged.clear();
    }
}

pub(super) struct Checker<'a> {
    pub gpu: &'a Gpu,
    pub buffers: &'a Buffers,
    pub pipelines: &'a Pipelines,
    /// Significant bits of the queue's timestamps.
    pub timestamp_bits: u32,
}

impl Checker<'_> {
    /// Replaces the plan by that of these commands. The memory of the old one is reused.
    pub fn plan(&self, commands: &[Command], plan: &mut Plan) -> Result<()> {
        plan.clear();
        for command in commands {
            self.command(command, &mut plan.uses)?;
            plan.ends.push(plan.uses.len());
            plan.n_timestamps += u32::from(*command == Command::Timestamp);
        }
        merge(&plan.uses, &mut plan.merged);
        let is_mapped =
            |used: &Use| self.buffers.get(used.buffer).is_ok_and(|entry| entry.buffer.mapped.is_some());
        plan.writes_host_memory = plan.merged.iter().any(|used| used.access.writes() && is_mapped(used));
        Ok(())
    }

    fn command(&self, command: &Command, uses: &mut Vec<Use>) -> Result<()> {
        match command {
            Command::Dispatch(dispatch) => self.dispatch(dispatch, uses),
            Command::Timestamp if self.timestamp_bits == 0 => {
                let name = &self.gpu.physical.info.name;
                Err(bad_command(format!("the queue of device `{name}` has no timestamps")))
            }
            Command::Timestamp => Ok(()),
            Command::Copy { from, from_offset, to, to_offset, size } => {
                let reading = images::reading(&self.buffers.get(*from)?.buffer);
                let read = self.range(*from, *from_offset, *size, reading)?;
                let write = self.range(*to, *to_offset, *size, Access::Write)?;
                let overlap = read.bytes.start < write.bytes.end && write.bytes.start < read.bytes.end;
                if from == to && overlap {
                    return Err(bad_command("a copy within one buffer overlaps itself".to_owned()));
                }
                let (source, target) = (self.buffers.get(*from)?, self.buffers.get(*to)?);
                images::check_copy((&source.buffer, *from_offset), (&target.buffer, *to_offset), *size)?;
                if *size > 0 {
                    uses.extend([read, write]);
                }
                Ok(())
            }
        }
    }

    /// A use of a range, which must be inside the buffer.
    fn range(&self, buffer: BufferId, offset: u64, size: u64, access: Access) -> Result<Use> {
        check_range(self.buffers.get(buffer)?.buffer.size, offset, size)?;
        Ok(Use { buffer, bytes: offset..offset + size, access })
    }

    fn dispatch(&self, dispatch: &Dispatch, uses: &mut Vec<Use>) -> Result<()> {
        const ALONG: [&str; 3] =
            ["the number of groups along x", "the number of groups along y", "the number of groups along z"];
        let pipeline = self.pipelines.get(dispatch.pipeline)?;
        for (axis, what) in ALONG.into_iter().enumerate() {
            let limit = self.gpu.physical.info.limits.max_groups[axis];
            self.check_limit(what, dispatch.groups[axis].into(), limit.into())?;
        }
        check_push_constants(pipeline, dispatch)?;
        let n_before = uses.len();
        for wanted in &pipeline.interface.buffers {
            let binding = binding_at((wanted.set, wanted.binding), wanted.name.as_deref(), dispatch)?;
            uses.push(self.binding(wanted, binding)?);
        }
        for wanted in &pipeline.interface.addresses {
            uses.push(self.addressed(wanted, dispatch)?);
        }
        for wanted in &pipeline.interface.images {
            uses.push(self.image(wanted, dispatch)?);
        }
        for wanted in &pipeline.interface.samplers {
            sampler_at((wanted.set, wanted.binding), wanted.name.as_deref(), dispatch)?;
        }
        if is_empty(dispatch) {
            uses.truncate(n_before);
        }
        Ok(())
    }

    fn binding(&self, wanted: &BufferBinding, binding: &Binding) -> Result<Use> {
        let shown = |wanted: &BufferBinding| shown((wanted.set, wanted.binding), wanted.name.as_deref());
        if self.buffers.get(binding.buffer)?.buffer.image().is_some() {
            return Err(bad_command(format!("{} needs a buffer, not an image", shown(wanted))));
        }
        let limits = &self.gpu.physical.properties.limits;
        let (range_limit, alignment) = match wanted.kind {
            BufferKind::Storage => {
                (limits.max_storage_buffer_range, limits.min_storage_buffer_offset_alignment)
            }
            BufferKind::Uniform => {
                (limits.max_uniform_buffer_range, limits.min_uniform_buffer_offset_alignment)
            }
        };
        if binding.size == 0 {
            return Err(bad_command(format!("{} is bound to no bytes", shown(wanted))));
        }
        if !binding.offset.is_multiple_of(alignment.max(1)) {
            return Err(bad_command(format!(
                "{} is bound at byte {}, which is no multiple of {alignment}",
                shown(wanted),
                binding.offset
            )));
        }
        self.check_limit("the number of bytes of a binding", binding.size, range_limit.into())?;
        let access = binding.access.and(wanted.access);
        self.range(binding.buffer, binding.offset, binding.size, access)
    }

    fn addressed(&self, wanted: &AddressedArray, dispatch: &Dispatch) -> Result<Use> {
        let Addressed { buffer, offset, size, access, .. } = *addressed_at(wanted, dispatch)?;
        if self.buffers.get(buffer)?.buffer.image().is_some() {
            return Err(bad_command(format!("`{}` needs a buffer, not an image", wanted.name)));
        }
        self.range(buffer, offset, size, access.and(wanted.access))
    }

    fn image(&self, wanted: &ImageBinding, dispatch: &Dispatch) -> Result<Use> {
        let (at, name) = ((wanted.set, wanted.binding), wanted.name.as_deref());
        let binding = binding_at(at, name, dispatch)?;
        let buffer = &self.buffers.get(binding.buffer)?.buffer;
        let wrong = |what: &str| bad_command(format!("{} {what}", shown(at, name)));
        let Some(image) = buffer.image() else { return Err(wrong("needs an image, not a buffer")) };
        let unfit =
            misfit(wanted, &image.info).or_else(|| unfilterable(wanted, &image.info, &dispatch.samplers));
        if let Some(unfit) = unfit {
            return Err(wrong(&unfit));
        }
        let format = image.info.format.name();
        let device = &self.gpu.physical.info.name;
        let ability = match wanted.kind {
            ImageKind::Storage => vk::FormatFeatureFlags::STORAGE_IMAGE,
            ImageKind::Sampled | ImageKind::WithSampler => vk::FormatFeatureFlags::SAMPLED_IMAGE,
        };
        if !image.abilities.contains(ability) {
            return Err(wrong(&format!(
                "has texels of {format}: device `{device}` cannot do that with them"
            )));
        }
        if wanted.kind == ImageKind::WithSampler {
            let sampler = sampler_at(at, name, dispatch)?.sampler;
            let linear = vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR;
            if sampler.filter == Filter::Linear && !image.abilities.contains(linear) {
                return Err(wrong(&format!("has texels of {format}, between which nothing is linear")));
            }
        }
        self.range(binding.buffer, 0, image.info.n_bytes(), binding.access.and(wanted.access))
    }

    fn check_limit(&self, what: &'static str, asked: u64, limit: u64) -> Result<()> {
        if asked <= limit {
            return Ok(());
        }
        let what = Limit::Other(what);
        Err(DeviceError::LimitExceeded { what, asked, limit, device: self.gpu.physical.info.name.clone() })
    }
}

/// The buffer or image of the dispatch for a binding of the module.
pub(super) fn binding_at<'d>(
    at: (u32, u32),
    name: Option<&str>,
    dispatch: &'d Dispatch,
) -> Result<&'d Binding> {
    the_one(dispatch.bindings.iter().filter(|b| (b.set, b.binding) == at), at, name)
}

/// The sampler of the dispatch for a binding of the module.
pub(super) fn sampler_at<'d>(
    at: (u32, u32),
    name: Option<&str>,
    dispatch: &'d Dispatch,
) -> Result<&'d SamplerBinding> {
    the_one(dispatch.samplers.iter().filter(|b| (b.set, b.binding) == at), at, name)
}

fn the_one<T>(mut found: impl Iterator<Item = T>, at: (u32, u32), name: Option<&str>) -> Result<T> {
    match (found.next(), found.next()) {
        (Some(binding), None) => Ok(binding),
        (None, _) => Err(bad_command(format!("{} is not bound", shown(at, name)))),
        (Some(_), Some(_)) => Err(bad_command(format!("{} is bound twice", shown(at, name)))),
    }
}

/// A dispatch without workgroups does nothing.
pub(super) fn is_empty(dispatch: &Dispatch) -> bool {
    dispatch.groups.contains(&0)
}

pub(super) fn check_range(buffer_size: u64, offset: u64, size: u64) -> Result<()> {
    match offset.checked_add(size) {
        Some(end) if end <= buffer_size => Ok(()),
        _ => Err(bad_command(format!(
            "{size} bytes at byte {offset} are not within a buffer of {buffer_size} bytes"
        ))),
    }
}

fn check_push_constants(pipeline: &Pipeline, dispatch: &Dispatch) -> Result<()> {
    let wanted = pipeline.interface.push_constants.as_ref().map_or(0, |block| block.size);
    let given = dispatch.push_constants.len();
    if given == wanted as usize {
        return Ok(());
    }
    Err(bad_command(format!("the push constants are {given} bytes, the module has {wanted}")))
}

pub(super) fn bad_command(message: String) -> DeviceError {
    DeviceError::BadCommand { message }
}
