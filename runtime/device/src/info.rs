//! Properties and limits of a device.

use std::collections::BTreeSet;

use crate::matrix::MatrixProduct;

#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// From the driver.
    pub name: String,
    /// For people who choose a device. Programs use `features` and `capabilities`.
    pub backend: Backend,
    pub kind: DeviceKind,
    /// API and driver version from the driver; empty for the CPU device.
    pub driver: String,
    /// The driver; `None` for the CPU device, and below Vulkan 1.2.
    pub vulkan_driver: Option<VulkanDriver>,
    pub limits: Limits,
    pub features: Features,
    pub capabilities: Capabilities,
    /// The products of cooperative matrices that it supports.
    pub matrices: Vec<MatrixProduct>,
    /// Empty if the device has one anonymous queue.
    pub queue_families: Vec<QueueFamily>,
    /// The family of each queue with which it was opened.
    pub queues: Vec<u32>,
    /// Size of the device's own memory in bytes.
    pub memory: u64,
    /// The same for the same device in every process; `None` for the CPU device.
    pub uuid: Option<[u8; 16]>,
    /// Domain, bus, device and function, if the driver gives them.
    pub pci: Option<[u32; 4]>,
    /// Missing minimum requirements (Vulkan 1.2 with timeline semaphores). If there are any, it cannot be
    /// used.
    pub lacks: Vec<String>,
}

/// A Vulkan driver, as it describes itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VulkanDriver {
    /// `VkDriverId`.
    pub id: i32,
    /// The driver's text, such as `Mesa 22.3.6 (LLVM 15.0.6)`.
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
    /// The CPU device.
    BuiltIn,
    /// A Vulkan driver that runs on the CPU.
    Software,
    Other,
}

impl DeviceKind {
    /// Whether it is a default choice.
    pub fn is_gpu(self) -> bool {
        self <= DeviceKind::Virtual
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Maximum number of workgroups of a dispatch along x, y and z.
    pub max_groups: [u32; 3],
    /// Maximum size of a workgroup along x, y and z.
    pub max_local_size: [u32; 3],
    /// Maximum number of invocations of a workgroup.
    pub max_invocations: u32,
    /// Shared memory of a workgroup in bytes.
    pub max_shared: u32,
    /// Size of push constants in bytes.
    pub max_push_constants: u32,
    /// Size of one storage buffer binding in bytes.
    pub max_storage_range: u64,
    /// Number of storage buffers of one pipeline.
    pub max_storage_buffers: u32,
    /// Size of one allocation in bytes.
    pub max_allocation: u64,
    /// Required alignment of a binding's offset in bytes.
    pub storage_offset_alignment: u64,
    pub subgroup_size: u32,
    /// Nanoseconds of one timestamp tick; `None` without timestamps.
    pub timestamp_period: Option<f64>,
}

/// A feature beyond the minimum that a kernel may need.
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
    /// In buffers and in shared memory, as is the next.
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
    /// Modules may have instructions for debuggers.
    NonSemanticInfo,
}

impl Feature {
    /// Vulkan's name.
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

/// Properties of a device beyond the features of kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Kernels can be run with checks ([`Check`](crate::Check)).
    pub checks: bool,
    /// An interrupted wait also ends its submission. Otherwise the submission continues.
    pub interrupts_submissions: bool,
    /// Its memory comes from the allocator of this process, which counts it already.
    pub uses_program_allocator: bool,
    /// Kernels run faster if they check indices themselves than with [`Feature::RobustAccess`].
    pub prefers_tested_indices: bool,
    /// Bound buffers accept 64-bit indices.
    pub wide_indices: bool,
    /// Rows of cooperative matrices may begin at any element, and at any offset of the binding.
    pub unaligned_matrices: bool,
    /// Submissions may wait for further ones, to be started together:
    /// [`Device::start_older`](crate::Device::start_older).
    pub collects_submissions: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueFamily {
    pub n_queues: u32,
    pub graphics: bool,
    pub compute: bool,
    pub transfer: bool,
}
