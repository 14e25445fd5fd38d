//! Limits of a pipeline on a Vulkan device: invocations, memory, bindings, and subgroup sizes.

use crate::interface::{BufferKind, ImageKind};
use crate::reflect::Reflection;
use crate::{DeviceError, Limit, PipelineOptions, Result};

use super::physical::Physical;
use super::pipelines::slots;

const MAX_BINDING: u64 = 0xffff;

pub(super) fn check(
    physical: &Physical,
    Reflection { interface, shared_bytes, .. }: &Reflection,
) -> Result<()> {
    let limits = &physical.info.limits;
    let check = |what, asked: u64, limit: u64| match asked <= limit {
        true => Ok(()),
        false => {
            let device = physical.info.name.clone();
            Err(DeviceError::LimitExceeded { what, asked, limit, device })
        }
    };
    const ALONG: [&str; 3] =
        ["the workgroup's size along x", "the workgroup's size along y", "the workgroup's size along z"];
    for (axis, what) in ALONG.into_iter().enumerate() {
        let size = u64::from(interface.local_size[axis]);
        check(Limit::LocalSize(what), size, u64::from(limits.max_local_size[axis]))?;
    }
    let invocations = interface.local_size.iter().fold(1_u64, |n, &size| n.saturating_mul(size.into()));
    check(
        Limit::LocalSize("the number of invocations of a workgroup"),
        invocations,
        limits.max_invocations.into(),
    )?;
    check(Limit::SharedMemory, *shared_bytes, limits.max_shared.into())?;
    let push = interface.push_constants.as_ref().map_or(0, |block| block.size);
    check(Limit::Other("the size of the push constants"), push.into(), limits.max_push_constants.into())?;
    let storage = interface.buffers.iter().filter(|buffer| buffer.kind == BufferKind::Storage).count();
    check(Limit::Other("the number of storage buffers"), storage as u64, limits.max_storage_buffers.into())?;
    let vulkan = &physical.properties.limits;
    let uniform = (interface.buffers.len() - storage) as u64;
    check(
        Limit::Other("the number of uniform buffers"),
        uniform,
        vulkan.max_per_stage_descriptor_uniform_buffers.into(),
    )?;
    let of_kind = |kind| interface.images.iter().filter(|image| image.kind == kind).count() as u64;
    let n_storage = of_kind(ImageKind::Storage);
    check(
        Limit::Other("the number of storage images"),
        n_storage,
        vulkan.max_per_stage_descriptor_storage_images.into(),
    )?;
    let n_sampled = interface.images.len() as u64 - n_storage;
    check(
        Limit::Other("the number of textures"),
        n_sampled,
        vulkan.max_per_stage_descriptor_sampled_images.into(),
    )?;
    let n_samplers = interface.samplers.len() as u64 + of_kind(ImageKind::WithSampler);
    check(
        Limit::Other("the number of samplers"),
        n_samplers,
        vulkan.max_per_stage_descriptor_samplers.into(),
    )?;
    let slots = slots(interface);
    let sets = slots.iter().map(|slot| u64::from(slot.set) + 1).max().unwrap_or(0);
    // Drivers have tables as long as the largest binding number.
    let binding = slots.iter().map(|slot| slot.binding).max().unwrap_or(0);
    check(Limit::Other("the number of a binding"), binding.into(), MAX_BINDING)?;
    check(Limit::Other("the number of descriptor sets"), sets, vulkan.max_bound_descriptor_sets.into())
}

/// The subgroup size to pass to the driver.
pub(super) fn subgroup_size(physical: &Physical, options: &PipelineOptions) -> Result<Option<u32>> {
    let [least, most] = physical.subgroup_sizes;
    match options.subgroup_size {
        None => Ok(None),
        Some(size) if least == most && size == least => Ok(None),
        Some(size) if size.is_power_of_two() && (least..=most).contains(&size) => Ok(Some(size)),
        Some(size) => {
            let name = &physical.info.name;
            let has = match least == most {
                true => format!("{least}"),
                false => format!("{least} to {most}"),
            };
            let message =
                format!("subgroups of {size} invocations were asked for, {name} has those of {has}");
            Err(DeviceError::BadCommand { message })
        }
    }
}
