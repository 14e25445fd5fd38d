//! Images in the device's memory, and copies that have one on either side.
//!
//! An image is brought into the general layout before its first use, and leaves it only while it is copied:
//! storage images need it, sampled ones may be in it, and so no later command has to know what came before.
//! Since a copy changes the layout, it counts as writing the image even where it only reads. Bytes reach an
//! image by way of a buffer as long as the image.

use ash::vk;
use vk_mem::Alloc;

use super::gpu::Gpu;
use super::memory::{Buffer, Memory, Place};
use super::plan::bad_command;
use crate::{Access, Channel, DeviceError, Dimension, ImageInfo, Result, TexelFormat};

/// An image with the one view of it that there is.
#[derive(Clone, Copy)]
pub(super) struct Image {
    pub handle: vk::Image,
    pub view: vk::ImageView,
    pub info: ImageInfo,
    /// What the device can do with texels of its format.
    pub abilities: vk::FormatFeatureFlags,
}

const COLOR: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

const LAYERS: vk::ImageSubresourceLayers = vk::ImageSubresourceLayers {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    mip_level: 0,
    base_array_layer: 0,
    layer_count: 1,
};

pub(super) const LAYOUT: vk::ImageLayout = vk::ImageLayout::GENERAL;

impl Memory {
    /// An image of unknown content, in no layout.
    pub fn create_image(&self, info: &ImageInfo) -> Result<Buffer> {
        check_size(&self.gpu, info)?;
        let abilities = abilities(&self.gpu, info.format)?;
        let create = self.image_info(info, abilities);
        let preferred_flags = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let memory = vk_mem::AllocationCreateInfo { preferred_flags, ..Default::default() };
        // SAFETY: both structures are valid, and the image is destroyed with its allocation.
        let made = unsafe { self.allocator.create_image(&create, &memory) };
        let (handle, mut allocation) = made.map_err(|result| match result {
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
                let device = self.gpu.physical.info.name.clone();
                DeviceError::OutOfMemory { device, requested: info.n_bytes() }
            }
            result => self.gpu.error("vmaCreateImage", result),
        })?;
        match self.view(handle, info) {
            Ok(view) => {
                let image = Image { handle, view, info: *info, abilities };
                let (place, size) = (Place::Image(image), info.n_bytes());
                Ok(Buffer { place, allocation, size, mapped: None })
            }
            Err(error) => {
                // SAFETY: nobody else has seen the image.
                unsafe { self.allocator.destroy_image(handle, &mut allocation) };
                Err(error)
            }
        }
    }

    fn image_info(&self, info: &ImageInfo, abilities: vk::FormatFeatureFlags) -> vk::ImageCreateInfo<'_> {
        let mut usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
        if abilities.contains(vk::FormatFeatureFlags::STORAGE_IMAGE) {
            usage |= vk::ImageUsageFlags::STORAGE;
        }
        if abilities.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE) {
            usage |= vk::ImageUsageFlags::SAMPLED;
        }
        let [width, height, depth] = info.size;
        let create = vk::ImageCreateInfo::default()
            .image_type(image_type(info.dimension))
            .format(vulkan_format(info.format))
            .extent(vk::Extent3D { width, height, depth })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage)
            .initial_layout(vk::ImageLayout::UNDEFINED);
        match self.gpu.families.len() {
            0 | 1 => create,
            _ => create.sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(&self.gpu.families),
        }
    }

    fn view(&self, handle: vk::Image, info: &ImageInfo) -> Result<vk::ImageView> {
        let create = vk::ImageViewCreateInfo::default()
            .image(handle)
            .view_type(match info.dimension {
                Dimension::D1 => vk::ImageViewType::TYPE_1D,
                Dimension::D2 => vk::ImageViewType::TYPE_2D,
                Dimension::D3 => vk::ImageViewType::TYPE_3D,
            })
            .format(vulkan_format(info.format))
            .subresource_range(COLOR);
        // SAFETY: the image is alive and has this format.
        unsafe { self.gpu.device.create_image_view(&create, None) }
            .map_err(|result| self.gpu.error("vkCreateImageView", result))
    }

    /// The caller knows that nothing submitted names the image any more.
    pub fn destroy_image(&self, image: Image, mut allocation: vk_mem::Allocation) {
        // SAFETY: all three were made by `create_image` and are used by nothing.
        unsafe {
            self.gpu.device.destroy_image_view(image.view, None);
            self.allocator.destroy_image(image.handle, &mut allocation);
        }
    }
}

fn check_size(gpu: &Gpu, info: &ImageInfo) -> Result<()> {
    if info.size.contains(&0) {
        return Err(bad_command("an image of no texels was asked for".to_owned()));
    }
    let limits = &gpu.physical.properties.limits;
    let limit = match info.dimension {
        Dimension::D1 => limits.max_image_dimension1_d,
        Dimension::D2 => limits.max_image_dimension2_d,
        Dimension::D3 => limits.max_image_dimension3_d,
    };
    match info.size.iter().find(|&&n| n > limit) {
        None => Ok(()),
        Some(&asked) => Err(DeviceError::LimitExceeded {
            what: "a side of an image",
            asked: asked.into(),
            limit: limit.into(),
            device: gpu.physical.info.name.clone(),
        }),
    }
}

/// What the device does with images of a format; some formats it does not have at all.
fn abilities(gpu: &Gpu, format: TexelFormat) -> Result<vk::FormatFeatureFlags> {
    let instance = &super::loader::get()?.instance;
    // SAFETY: the handle was given by this instance.
    let properties =
        unsafe { instance.get_physical_device_format_properties(gpu.physical.handle, vulkan_format(format)) };
    let abilities = properties.optimal_tiling_features;
    if abilities.intersects(vk::FormatFeatureFlags::STORAGE_IMAGE | vk::FormatFeatureFlags::SAMPLED_IMAGE) {
        return Ok(abilities);
    }
    let device = &gpu.physical.info.name;
    Err(bad_command(format!("device `{device}` has no images with texels of {}", format.name())))
}

fn image_type(dimension: Dimension) -> vk::ImageType {
    match dimension {
        Dimension::D1 => vk::ImageType::TYPE_1D,
        Dimension::D2 => vk::ImageType::TYPE_2D,
        Dimension::D3 => vk::ImageType::TYPE_3D,
    }
}

fn vulkan_format(format: TexelFormat) -> vk::Format {
    use vk::Format as F;
    let [one, two, four] = match format.channel {
        Channel::F32 => [F::R32_SFLOAT, F::R32G32_SFLOAT, F::R32G32B32A32_SFLOAT],
        Channel::F16 => [F::R16_SFLOAT, F::R16G16_SFLOAT, F::R16G16B16A16_SFLOAT],
        Channel::I32 => [F::R32_SINT, F::R32G32_SINT, F::R32G32B32A32_SINT],
        Channel::I16 => [F::R16_SINT, F::R16G16_SINT, F::R16G16B16A16_SINT],
        Channel::I8 => [F::R8_SINT, F::R8G8_SINT, F::R8G8B8A8_SINT],
        Channel::U32 => [F::R32_UINT, F::R32G32_UINT, F::R32G32B32A32_UINT],
        Channel::U16 => [F::R16_UINT, F::R16G16_UINT, F::R16G16B16A16_UINT],
        Channel::U8 => [F::R8_UINT, F::R8G8_UINT, F::R8G8B8A8_UINT],
        Channel::Unorm16 => [F::R16_UNORM, F::R16G16_UNORM, F::R16G16B16A16_UNORM],
        Channel::Unorm8 => [F::R8_UNORM, F::R8G8_UNORM, F::R8G8B8A8_UNORM],
        Channel::Snorm16 => [F::R16_SNORM, F::R16G16_SNORM, F::R16G16B16A16_SNORM],
        Channel::Snorm8 => [F::R8_SNORM, F::R8G8_SNORM, F::R8G8B8A8_SNORM],
    };
    match format.n_channels {
        1 => one,
        2 => two,
        _ => four,
    }
}

/// Brings a new image into its layout, its texels zero.
pub(super) fn clear(device: &ash::Device, commands: vk::CommandBuffer, image: &Image) {
    const TARGET: vk::ImageLayout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
    change_layout(device, commands, image, vk::ImageLayout::UNDEFINED, TARGET);
    let zero = vk::ClearColorValue::default();
    // SAFETY: `commands` is being recorded, and the image is alive and in this layout.
    unsafe { device.cmd_clear_color_image(commands, image.handle, TARGET, &zero, &[COLOR]) };
    change_layout(device, commands, image, TARGET, LAYOUT);
}

/// Everything before it has ended when the layout changes, and everything after it waits for the change.
fn change_layout(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    image: &Image,
    from: vk::ImageLayout,
    to: vk::ImageLayout,
) {
    let stages = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
    let barrier = vk::ImageMemoryBarrier::default()
        .image(image.handle)
        .subresource_range(COLOR)
        .old_layout(from)
        .new_layout(to)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .src_access_mask(vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(
            vk::AccessFlags::SHADER_READ
                | vk::AccessFlags::SHADER_WRITE
                | vk::AccessFlags::TRANSFER_READ
                | vk::AccessFlags::TRANSFER_WRITE,
        );
    // SAFETY: `commands` is being recorded, and the image is alive.
    unsafe {
        device.cmd_pipeline_barrier(commands, stages, stages, Default::default(), &[], &[], &[barrier])
    };
}

/// Copies `size` bytes. An image is copied as a whole, to or from as many bytes: `check_copy` saw to it.
pub(super) fn copy(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    (from, from_offset): (&Place, u64),
    (to, to_offset): (&Place, u64),
    size: u64,
) {
    const SOURCE: vk::ImageLayout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
    const TARGET: vk::ImageLayout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
    if let Place::Image(image) = from {
        change_layout(device, commands, image, LAYOUT, SOURCE);
    }
    if let Place::Image(image) = to {
        change_layout(device, commands, image, LAYOUT, TARGET);
    }
    // SAFETY: `commands` is being recorded, the ranges were checked against both sides and do not overlap,
    // and images are in their layouts.
    unsafe {
        match (from, to) {
            (Place::Buffer(from), Place::Buffer(to)) => {
                let region = vk::BufferCopy { src_offset: from_offset, dst_offset: to_offset, size };
                device.cmd_copy_buffer(commands, *from, *to, &[region]);
            }
            (Place::Buffer(from), Place::Image(to)) => {
                let region = whole(&to.info, from_offset);
                device.cmd_copy_buffer_to_image(commands, *from, to.handle, TARGET, &[region]);
            }
            (Place::Image(from), Place::Buffer(to)) => {
                let region = whole(&from.info, to_offset);
                device.cmd_copy_image_to_buffer(commands, from.handle, SOURCE, *to, &[region]);
            }
            (Place::Image(from), Place::Image(to)) => {
                let region = vk::ImageCopy::default()
                    .src_subresource(LAYERS)
                    .dst_subresource(LAYERS)
                    .extent(extent(&from.info));
                device.cmd_copy_image(commands, from.handle, SOURCE, to.handle, TARGET, &[region]);
            }
        }
    }
    if let Place::Image(image) = from {
        change_layout(device, commands, image, SOURCE, LAYOUT);
    }
    if let Place::Image(image) = to {
        change_layout(device, commands, image, TARGET, LAYOUT);
    }
}

/// What a copy does to what it reads.
pub(super) fn reading(from: &Buffer) -> Access {
    if from.image().is_some() { Access::ReadWrite } else { Access::Read }
}

fn whole(info: &ImageInfo, offset: u64) -> vk::BufferImageCopy {
    vk::BufferImageCopy::default().buffer_offset(offset).image_subresource(LAYERS).image_extent(extent(info))
}

fn extent(info: &ImageInfo) -> vk::Extent3D {
    let [width, height, depth] = info.size;
    vk::Extent3D { width, height, depth }
}

/// Whether a copy between these can be made.
pub(super) fn check_copy(from: (&Buffer, u64), to: (&Buffer, u64), size: u64) -> Result<()> {
    for ((one, offset), (_, other_offset)) in [(from, to), (to, from)] {
        let Place::Image(image) = &one.place else { continue };
        if offset != 0 || size != one.size {
            return Err(bad_command("an image is copied as a whole".to_owned()));
        }
        let grain = u64::from(image.info.format.size().max(4));
        if !other_offset.is_multiple_of(grain) {
            return Err(bad_command(format!(
                "an image is copied to or from byte {other_offset}, which is no multiple of {grain}"
            )));
        }
    }
    match (&from.0.place, &to.0.place) {
        (Place::Image(from), Place::Image(to)) if from.info != to.info => {
            Err(bad_command("images of different formats or sizes are copied".to_owned()))
        }
        _ => Ok(()),
    }
}
