//! The features of a Vulkan device: queried, reduced to those that kps uses, enabled, and mapped to
//! [`Feature`]s and capabilities of SPIR-V.

use std::ffi::{CStr, c_void};

use ash::vk;
use rspirv::spirv::Capability;

use crate::{Feature, Features};

/// `VkPhysicalDeviceShaderBfloat16FeaturesKHR`, which the bindings lack.
#[repr(C)]
#[derive(Clone, Copy)]
struct Bfloat16Features {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    shader_bfloat16_type: vk::Bool32,
    shader_bfloat16_dot_product: vk::Bool32,
    shader_bfloat16_cooperative_matrix: vk::Bool32,
}

impl Default for Bfloat16Features {
    fn default() -> Bfloat16Features {
        Bfloat16Features {
            s_type: vk::StructureType::from_raw(1_000_141_000),
            p_next: std::ptr::null_mut(),
            shader_bfloat16_type: vk::FALSE,
            shader_bfloat16_dot_product: vk::FALSE,
            shader_bfloat16_cooperative_matrix: vk::FALSE,
        }
    }
}

const BFLOAT16: &CStr = c"VK_KHR_shader_bfloat16";

/// The extensions that kps uses if a device has them.
pub(super) const EXTENSIONS: [&CStr; 10] = [
    ash::khr::push_descriptor::NAME,
    ash::ext::memory_budget::NAME,
    ash::ext::external_memory_host::NAME,
    ash::ext::robustness2::NAME,
    ash::ext::shader_atomic_float::NAME,
    ash::khr::cooperative_matrix::NAME,
    BFLOAT16,
    // Where a device is plugged in.
    ash::ext::pci_bus_info::NAME,
    // Instructions for debuggers.
    ash::khr::shader_non_semantic_info::NAME,
    // Required on devices that have it, which are not fully conformant.
    ash::khr::portability_subset::NAME,
];

/// Feature structures of one device. They are linked into a chain for each call.
#[derive(Clone, Copy, Default)]
pub(super) struct FeatureChain {
    core: vk::PhysicalDeviceFeatures,
    v11: vk::PhysicalDeviceVulkan11Features<'static>,
    v12: vk::PhysicalDeviceVulkan12Features<'static>,
    v13: vk::PhysicalDeviceVulkan13Features<'static>,
    robustness2: vk::PhysicalDeviceRobustness2FeaturesEXT<'static>,
    atomic_float: vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT<'static>,
    cooperative_matrix: vk::PhysicalDeviceCooperativeMatrixFeaturesKHR<'static>,
    bfloat16: Bfloat16Features,
}

/// Which structures a device knows.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub api: u32,
    pub extensions: &'a [&'static CStr],
}

impl Known<'_> {
    fn has(&self, extension: &CStr) -> bool {
        self.extensions.contains(&extension)
    }
}

macro_rules! copy {
    ($to:expr, $from:expr, $($field:ident)*) => { $( $to.$field = $from.$field; )* };
}

impl FeatureChain {
    /// Passes the chain of the structures that the device knows to `call`.
    pub fn with_link<R>(
        &mut self,
        known: Known,
        call: impl FnOnce(&mut vk::PhysicalDeviceFeatures2) -> R,
    ) -> R {
        let mut first = vk::PhysicalDeviceFeatures2::default().features(self.core);
        let mut last: &mut *mut c_void = &mut first.p_next;
        macro_rules! link {
            ($field:ident) => {
                self.$field.p_next = std::ptr::null_mut();
                *last = (&raw mut self.$field).cast();
                last = &mut self.$field.p_next;
            };
        }
        link!(v11);
        link!(v12);
        if known.api >= vk::API_VERSION_1_3 {
            link!(v13);
        }
        if known.has(ash::ext::robustness2::NAME) {
            link!(robustness2);
        }
        if known.has(ash::ext::shader_atomic_float::NAME) {
            link!(atomic_float);
        }
        if known.has(ash::khr::cooperative_matrix::NAME) {
            link!(cooperative_matrix);
        }
        if known.has(BFLOAT16) {
            link!(bfloat16);
        }
        *last = std::ptr::null_mut();
        let result = call(&mut first);
        self.core = first.features;
        result
    }

    /// The features that kps uses.
    pub fn used(&self) -> FeatureChain {
        let mut used = FeatureChain::default();
        copy!(used.core, self.core, shader_float64 shader_int64 shader_int16 robust_buffer_access
            shader_storage_image_extended_formats shader_storage_image_read_without_format
            shader_storage_image_write_without_format);
        copy!(used.v11, self.v11, storage_buffer16_bit_access uniform_and_storage_buffer16_bit_access
            storage_push_constant16 variable_pointers_storage_buffer variable_pointers);
        copy!(used.v12, self.v12, storage_buffer8_bit_access uniform_and_storage_buffer8_bit_access
            storage_push_constant8 shader_buffer_int64_atomics shader_shared_int64_atomics shader_float16
            shader_int8 scalar_block_layout uniform_buffer_standard_layout shader_subgroup_extended_types
            timeline_semaphore buffer_device_address vulkan_memory_model vulkan_memory_model_device_scope);
        copy!(used.v13, self.v13, robust_image_access subgroup_size_control compute_full_subgroups maintenance4
            shader_zero_initialize_workgroup_memory shader_integer_dot_product);
        copy!(used.robustness2, self.robustness2, robust_buffer_access2 robust_image_access2);
        copy!(used.atomic_float, self.atomic_float, shader_buffer_float32_atomics
            shader_buffer_float32_atomic_add shader_buffer_float64_atomics shader_buffer_float64_atomic_add
            shader_shared_float32_atomics shader_shared_float32_atomic_add shader_shared_float64_atomics
            shader_shared_float64_atomic_add);
        copy!(used.cooperative_matrix, self.cooperative_matrix, cooperative_matrix);
        copy!(used.bfloat16, self.bfloat16, shader_bfloat16_type shader_bfloat16_dot_product
            shader_bfloat16_cooperative_matrix);
        // The stronger form requires the weaker one.
        used.core.robust_buffer_access |= used.robustness2.robust_buffer_access2;
        used
    }

    /// Whether the device reports a maximum buffer size.
    pub fn has_buffer_sizes(&self) -> bool {
        self.v13.maintenance4 == vk::TRUE
    }

    pub fn has_timelines(&self) -> bool {
        self.v12.timeline_semaphore == vk::TRUE
    }

    pub fn has_buffer_addresses(&self) -> bool {
        self.v12.buffer_device_address == vk::TRUE
    }

    /// Whether workgroup sizes may be ids of constants.
    pub fn has_local_size_id(&self) -> bool {
        self.v13.maintenance4 == vk::TRUE
    }

    /// The features for kernels.
    pub fn features(&self) -> Features {
        let FeatureChain { core, v11, v12, v13, robustness2, atomic_float, .. } = self;
        let all = [
            (Feature::Float16, v12.shader_float16),
            (Feature::Float64, core.shader_float64),
            (Feature::Int8, v12.shader_int8),
            (Feature::Int16, core.shader_int16),
            (Feature::Int64, core.shader_int64),
            (Feature::Storage8, v12.storage_buffer8_bit_access),
            (Feature::Storage16, v11.storage_buffer16_bit_access),
            (Feature::Int64Atomics, v12.shader_buffer_int64_atomics),
            (
                Feature::FloatAtomicAdd,
                atomic_float.shader_buffer_float32_atomic_add & atomic_float.shader_shared_float32_atomic_add,
            ),
            (
                Feature::DoubleAtomicAdd,
                atomic_float.shader_buffer_float64_atomic_add & atomic_float.shader_shared_float64_atomic_add,
            ),
            (Feature::SubgroupExtendedTypes, v12.shader_subgroup_extended_types),
            (Feature::ScalarLayout, v12.scalar_block_layout),
            (Feature::RobustAccess, robustness2.robust_buffer_access2),
            (Feature::BufferDeviceAddress, v12.buffer_device_address),
            (Feature::VulkanMemoryModel, v12.vulkan_memory_model),
            (Feature::SubgroupSizeControl, v13.subgroup_size_control),
            (Feature::CooperativeMatrix, self.cooperative_matrix.cooperative_matrix),
            (Feature::Bfloat16, self.bfloat16.shader_bfloat16_type),
        ];
        all.into_iter().filter(|(_, has)| *has == vk::TRUE).map(|(feature, _)| feature).collect()
    }

    /// Whether these features allow a module to declare `capability`; `None` if it depends on other features.
    pub fn allows(&self, capability: Capability) -> Option<bool> {
        let FeatureChain { core, v11, v12, v13, atomic_float, bfloat16, .. } = self;
        let has = match capability {
            Capability::Float64 => core.shader_float64,
            Capability::Int64 => core.shader_int64,
            Capability::Int16 => core.shader_int16,
            Capability::StorageImageExtendedFormats => core.shader_storage_image_extended_formats,
            Capability::StorageImageReadWithoutFormat => core.shader_storage_image_read_without_format,
            Capability::StorageImageWriteWithoutFormat => core.shader_storage_image_write_without_format,
            Capability::Float16 => v12.shader_float16,
            Capability::Int8 => v12.shader_int8,
            Capability::Int64Atomics => v12.shader_buffer_int64_atomics,
            Capability::StorageBuffer8BitAccess => v12.storage_buffer8_bit_access,
            Capability::UniformAndStorageBuffer8BitAccess => v12.uniform_and_storage_buffer8_bit_access,
            Capability::StoragePushConstant8 => v12.storage_push_constant8,
            Capability::StorageBuffer16BitAccess => v11.storage_buffer16_bit_access,
            Capability::UniformAndStorageBuffer16BitAccess => v11.uniform_and_storage_buffer16_bit_access,
            Capability::StoragePushConstant16 => v11.storage_push_constant16,
            Capability::VariablePointersStorageBuffer => v11.variable_pointers_storage_buffer,
            Capability::VariablePointers => v11.variable_pointers,
            Capability::PhysicalStorageBufferAddresses => v12.buffer_device_address,
            Capability::VulkanMemoryModel => v12.vulkan_memory_model,
            Capability::VulkanMemoryModelDeviceScope => v12.vulkan_memory_model_device_scope,
            Capability::AtomicFloat32AddEXT => {
                atomic_float.shader_buffer_float32_atomic_add | atomic_float.shader_shared_float32_atomic_add
            }
            Capability::AtomicFloat64AddEXT => {
                atomic_float.shader_buffer_float64_atomic_add | atomic_float.shader_shared_float64_atomic_add
            }
            Capability::CooperativeMatrixKHR => self.cooperative_matrix.cooperative_matrix,
            Capability::BFloat16TypeKHR => bfloat16.shader_bfloat16_type,
            Capability::BFloat16DotProductKHR => bfloat16.shader_bfloat16_dot_product,
            Capability::BFloat16CooperativeMatrixKHR => bfloat16.shader_bfloat16_cooperative_matrix,
            Capability::DotProduct
            | Capability::DotProductInput4x8Bit
            | Capability::DotProductInput4x8BitPacked
            | Capability::DotProductInputAll => v13.shader_integer_dot_product,
            _ => return None,
        };
        Some(has == vk::TRUE)
    }
}
