//! Images in the device's memory, and copies from or to them.
//!
//! An image gets the general layout before its first use, and leaves it only during copies. Storage images
//! require this layout, and sampled ones may have it, so commands need not track layouts. A copy changes the
//! layout, so it counts as a write of the image even if it only reads. The host copies bytes through a buffer
//! of the image's size.

use ash::vk;
use vk_mem::Alloc;

use super::gpu::Gpu;
use super::memory::{Backing, Buffer, Memory, Place};
use super::plan::bad_command;
use crate::{Access, Channel, DeviceError, Dimension, ImageInfo, Limit, MemoryUsage, Result, TexelFormat};

/// An image with its only view.
#[derive(Clone, Copy)]
pub(super) struct Image {
    pub handle: vk::Image,
    pub view: vk::ImageView,
    pub info: ImageInfo,
    /// What the device supports for the format.
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
    /// Creates an image with undefined content and layout.
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
                self.out_of_memory(info.n_bytes())
            }
            result => self.gpu.error("vmaCreateImage", result),
        })?;
        match self.view(handle, info) {
            Ok(view) => {
                let image = Image { handle, view, info: *info, abilities };
                let (place, size) = (Place::Image(image), info.n_bytes());
                let (backing, usage) = (Backing::Allocated(allocation), MemoryUsage::Device);
                Ok(Buffer { place, backing, size, capacity: size, usage, mapped: None })
            }
            Err(error) => {
                // SAFETY: no other reference to the image exists.
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

    /// The caller knows that no submission names the image any more.
    pub fn destroy_image(&self, image: Image, mut allocation: vk_mem::Allocation) {
        // SAFETY: `create_image` made all three, and nothing uses them.
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
            what: Limit::Other("a side of an image"),
            asked: asked.into(),
            limit: limit.into(),
            device: gpu.physical.info.name.clone(),
        }),
    }
}

/// What the device supports for a format; some formats are unsupported.
fn abilities(gpu: &Gpu, format: TexelFormat) -> Result<vk::FormatFeatureFlags> {
    let instance = &super::loader::get()?.instance;
    // SAFETY: the handle came from this instance.
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

/// Changes a new image to the general layout, and zeroes its texels.
pub(super) fn clear(device: &ash::Device, commands: vk::CommandBuffer, image: &Image) {
    const TARGET: vk::ImageLayout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
    change_layout(device, commands, image, vk::ImageLayout::UNDEFINED, TARGET);
    let zero = vk::ClearColorValue::default();
    // SAFETY: `commands` is being recorded, and the image is alive and in this layout.
    unsafe { device.cmd_clear_color_image(commands, image.handle, TARGET, &zero, &[COLOR]) };
    change_layout(device, commands, image, TARGET, LAYOUT);
}

/// All earlier commands end before the layout changes, and all later ones wait for it.
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

/// Copies `size` bytes. An image is copied as a whole, from or to as many bytes, as `check_copy` ensured.
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

/// How a copy accesses its source.
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

/// Checks that a copy between these is possible.
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
