//! What a device is and can do.

use std::collections::BTreeSet;

use crate::matrix::MatrixProduct;

#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// As the driver gives it.
    pub name: String,
    /// For people who choose a device. What a device can do, `features` and `capabilities` say.
    pub backend: Backend,
    pub kind: DeviceKind,
    /// API and driver version in the driver's own words; empty for the built-in device.
    pub driver: String,
    /// Which driver it is; `None` for the built-in device, and below Vulkan 1.2.
    pub vulkan_driver: Option<VulkanDriver>,
    pub limits: Limits,
    pub features: Features,
    pub capabilities: Capabilities,
    /// Products of cooperative matrices that it makes by itself.
    pub matrices: Vec<MatrixProduct>,
    /// Empty where the device has one anonymous queue.
    pub queue_families: Vec<QueueFamily>,
    /// The queues that it was opened with: the family of each.
    pub queues: Vec<u32>,
    /// Bytes of the device's own memory.
    pub memory: u64,
    /// Why it cannot be used, where it is below the floor (Vulkan 1.2 with timeline semaphores).
    pub lacks: Vec<String>,
}

/// A Vulkan driver, as it describes itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VulkanDriver {
    /// `VkDriverId`.
    pub id: i32,
    /// In its own words, such as `Mesa 22.3.6 (LLVM 15.0.6)`.
    pub version: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    Vulkan,
    Cpu,
}

/// ORDER: from the best default to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeviceKind {
    Discrete,
    Integrated,
    Virtual,
    /// The built-in device.
    BuiltIn,
    /// A Vulkan driver that runs on the CPU.
    Software,
    Other,
}

impl DeviceKind {
    /// Chosen without being asked for by name.
    pub fn is_gpu(self) -> bool {
        self <= DeviceKind::Virtual
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Workgroups of one dispatch along x, y and z.
    pub max_groups: [u32; 3],
    /// Invocations of a workgroup along x, y and z.
    pub max_local_size: [u32; 3],
    /// Invocations of a workgroup in all.
    pub max_invocations: u32,
    /// Bytes of shared memory of a workgroup.
    pub max_shared: u32,
    /// Bytes of push constants.
    pub max_push_constants: u32,
    /// Bytes of one storage buffer binding.
    pub max_storage_range: u64,
    /// Storage buffers of one pipeline.
    pub max_storage_buffers: u32,
    /// Bytes of one allocation.
    pub max_allocation: u64,
    /// Bytes that a binding's offset must be a multiple of.
    pub storage_offset_alignment: u64,
    pub subgroup_size: u32,
    /// Nanoseconds of one timestamp tick; `None` where there are no timestamps.
    pub timestamp_period: Option<f64>,
}

/// What a kernel may need beyond the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Feature {
    Float16,
    Float64,
    Int8,
    Int16,
    Int64,
    Storage8,
    Storage16,
    Int64Atomics,
    /// In buffers and in shared memory, as the next.
    FloatAtomicAdd,
    DoubleAtomicAdd,
    /// Subgroup operations on numbers of 8, 16 and 64 bits.
    SubgroupExtendedTypes,
    ScalarLayout,
    /// Out-of-range descriptor accesses read zero and drop writes.
    RobustAccess,
    BufferDeviceAddress,
    VulkanMemoryModel,
    SubgroupSizeControl,
    CooperativeMatrix,
    Bfloat16,
    PushDescriptors,
    FloatControls,
    /// Modules may say what only debuggers read.
    NonSemanticInfo,
}

impl Feature {
    /// As Vulkan names it.
    pub fn name(self) -> &'static str {
        match self {
            Feature::Float16 => "shaderFloat16",
            Feature::Float64 => "shaderFloat64",
            Feature::Int8 => "shaderInt8",
            Feature::Int16 => "shaderInt16",
            Feature::Int64 => "shaderInt64",
            Feature::Storage8 => "storageBuffer8BitAccess",
            Feature::Storage16 => "storageBuffer16BitAccess",
            Feature::Int64Atomics => "shaderBufferInt64Atomics",
            Feature::FloatAtomicAdd => "shaderBufferFloat32AtomicAdd",
            Feature::DoubleAtomicAdd => "shaderBufferFloat64AtomicAdd",
            Feature::SubgroupExtendedTypes => "shaderSubgroupExtendedTypes",
            Feature::ScalarLayout => "scalarBlockLayout",
            Feature::RobustAccess => "robustBufferAccess2",
            Feature::BufferDeviceAddress => "bufferDeviceAddress",
            Feature::VulkanMemoryModel => "vulkanMemoryModel",
            Feature::SubgroupSizeControl => "subgroupSizeControl",
            Feature::CooperativeMatrix => "cooperativeMatrix",
            Feature::Bfloat16 => "shaderBFloat16Type",
            Feature::PushDescriptors => "VK_KHR_push_descriptor",
            Feature::FloatControls => "shaderSignedZeroInfNanPreserveFloat32",
            Feature::NonSemanticInfo => "VK_KHR_shader_non_semantic_info",
        }
    }
}

pub type Features = BTreeSet<Feature>;

/// What a host can count on beyond the features of kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Kernels can be run with checks ([`Check`](crate::Check)).
    pub checks: bool,
    /// A wait that the interrupt flag ends has ended its submission too. Elsewhere the submission goes on.
    pub interrupts_submissions: bool,
    /// Its memory comes from the allocator of this program, which counts it already.
    pub uses_program_allocator: bool,
    /// Kernels are faster where they test indices themselves than where they leave that to
    /// [`Feature::RobustAccess`].
    pub prefers_tested_indices: bool,
    /// Buffers that are bound by a descriptor take indices of 64 bits.
    pub wide_indices: bool,
    /// Rows of cooperative matrices may begin at any element of a binding with any offset.
    pub unaligned_matrices: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueFamily {
    pub n_queues: u32,
    pub graphics: bool,
    pub compute: bool,
    pub transfer: bool,
}
