//! The features of a device that a module may need, with the places that need them.

use kps_syntax::Location;

/// A feature that not every device has, tied to the lines that need it.
#[derive(Clone, Debug)]
pub struct CapabilityUse {
    pub capability: Capability,
    /// One or more, in the order of the module.
    pub places: Vec<Location>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Capability {
    Int64,
    Float64,
    Int8,
    Int16,
    Float16,
    StorageBuffer8BitAccess,
    StorageBuffer16BitAccess,
    GroupNonUniform,
    GroupNonUniformVote,
    GroupNonUniformArithmetic,
    GroupNonUniformBallot,
    GroupNonUniformShuffle,
    Int64Atomics,
    AtomicFloat32AddEXT,
    AtomicFloat64AddEXT,
    Image1D,
    Sampled1D,
    StorageImageExtendedFormats,
    ImageQuery,
    PhysicalStorageBufferAddresses,
    CooperativeMatrixKHR,
    BFloat16TypeKHR,
    BFloat16CooperativeMatrixKHR,
    VulkanMemoryModel,
    StorageInputOutput16,
    DrawParameters,
    MultiView,
    Geometry,
    SampleRateShading,
    ShaderLayer,
    ShaderViewportIndex,
    ClipDistance,
    CullDistance,
}

impl Capability {
    /// The extension of SPIR-V that brings it, where it is not in the core.
    pub(crate) fn extension(self) -> Option<&'static str> {
        match self {
            Capability::AtomicFloat32AddEXT | Capability::AtomicFloat64AddEXT => {
                Some("SPV_EXT_shader_atomic_float_add")
            }
            Capability::PhysicalStorageBufferAddresses => Some("SPV_KHR_physical_storage_buffer"),
            Capability::CooperativeMatrixKHR => Some("SPV_KHR_cooperative_matrix"),
            Capability::BFloat16TypeKHR | Capability::BFloat16CooperativeMatrixKHR => {
                Some("SPV_KHR_bfloat16")
            }
            _ => None,
        }
    }

    /// As SPIR-V names it.
    pub fn name(self) -> &'static str {
        match self {
            Capability::Int64 => "Int64",
            Capability::Float64 => "Float64",
            Capability::Int8 => "Int8",
            Capability::Int16 => "Int16",
            Capability::Float16 => "Float16",
            Capability::StorageBuffer8BitAccess => "StorageBuffer8BitAccess",
            Capability::StorageBuffer16BitAccess => "StorageBuffer16BitAccess",
            Capability::GroupNonUniform => "GroupNonUniform",
            Capability::GroupNonUniformVote => "GroupNonUniformVote",
            Capability::GroupNonUniformArithmetic => "GroupNonUniformArithmetic",
            Capability::GroupNonUniformBallot => "GroupNonUniformBallot",
            Capability::GroupNonUniformShuffle => "GroupNonUniformShuffle",
            Capability::Int64Atomics => "Int64Atomics",
            Capability::AtomicFloat32AddEXT => "AtomicFloat32AddEXT",
            Capability::AtomicFloat64AddEXT => "AtomicFloat64AddEXT",
            Capability::Image1D => "Image1D",
            Capability::Sampled1D => "Sampled1D",
            Capability::StorageImageExtendedFormats => "StorageImageExtendedFormats",
            Capability::ImageQuery => "ImageQuery",
            Capability::PhysicalStorageBufferAddresses => "PhysicalStorageBufferAddresses",
            Capability::CooperativeMatrixKHR => "CooperativeMatrixKHR",
            Capability::BFloat16TypeKHR => "BFloat16TypeKHR",
            Capability::BFloat16CooperativeMatrixKHR => "BFloat16CooperativeMatrixKHR",
            Capability::VulkanMemoryModel => "VulkanMemoryModel",
            Capability::StorageInputOutput16 => "StorageInputOutput16",
            Capability::DrawParameters => "DrawParameters",
            Capability::MultiView => "MultiView",
            Capability::Geometry => "Geometry",
            Capability::SampleRateShading => "SampleRateShading",
            Capability::ShaderLayer => "ShaderLayer",
            Capability::ShaderViewportIndex => "ShaderViewportIndex",
            Capability::ClipDistance => "ClipDistance",
            Capability::CullDistance => "CullDistance",
        }
    }
}
