//! The products of cooperative matrices that a Vulkan device supports. Unknown component types are skipped.

use ash::vk;
use kps_scalar::Scalar;

use super::loader::Loader;
use crate::matrix::{MatrixProduct, MatrixScope};

/// The device must have the extension.
pub(super) fn products(loader: &Loader, device: vk::PhysicalDevice) -> Vec<MatrixProduct> {
    let functions = ash::khr::cooperative_matrix::Instance::new(&loader.entry, &loader.instance);
    // SAFETY: the handle came from this instance, and the device has the extension.
    let listed = unsafe { functions.get_physical_device_cooperative_matrix_properties(device) };
    listed.unwrap_or_default().iter().filter_map(product).collect()
}

/// Whether compute shaders support them.
pub(super) fn are_for_compute(loader: &Loader, device: vk::PhysicalDevice) -> bool {
    let mut matrices = vk::PhysicalDeviceCooperativeMatrixPropertiesKHR::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut matrices);
    // SAFETY: the chain holds only structures that the device knows, all alive.
    unsafe { loader.instance.get_physical_device_properties2(device, &mut all) };
    matrices.cooperative_matrix_supported_stages.contains(vk::ShaderStageFlags::COMPUTE)
}

fn product(listed: &vk::CooperativeMatrixPropertiesKHR) -> Option<MatrixProduct> {
    Some(MatrixProduct {
        m: listed.m_size,
        n: listed.n_size,
        k: listed.k_size,
        a: component(listed.a_type)?,
        b: component(listed.b_type)?,
        c: component(listed.c_type)?,
        result: component(listed.result_type)?,
        scope: scope(listed.scope)?,
        saturates: listed.saturating_accumulation == vk::TRUE,
    })
}

/// `VK_COMPONENT_TYPE_BFLOAT16_KHR`, which the bindings lack.
const BFLOAT16: vk::ComponentTypeKHR = vk::ComponentTypeKHR::from_raw(1_000_141_000);

fn component(ty: vk::ComponentTypeKHR) -> Option<Scalar> {
    Some(match ty {
        vk::ComponentTypeKHR::FLOAT16 => Scalar::F16,
        vk::ComponentTypeKHR::FLOAT32 => Scalar::F32,
        vk::ComponentTypeKHR::FLOAT64 => Scalar::F64,
        vk::ComponentTypeKHR::SINT8 => Scalar::I8,
        vk::ComponentTypeKHR::SINT16 => Scalar::I16,
        vk::ComponentTypeKHR::SINT32 => Scalar::I32,
        vk::ComponentTypeKHR::SINT64 => Scalar::I64,
        vk::ComponentTypeKHR::UINT8 => Scalar::U8,
        vk::ComponentTypeKHR::UINT16 => Scalar::U16,
        vk::ComponentTypeKHR::UINT32 => Scalar::U32,
        vk::ComponentTypeKHR::UINT64 => Scalar::U64,
        BFLOAT16 => Scalar::Bf16,
        _ => return None,
    })
}

fn scope(scope: vk::ScopeKHR) -> Option<MatrixScope> {
    Some(match scope {
        vk::ScopeKHR::DEVICE => MatrixScope::Device,
        vk::ScopeKHR::WORKGROUP => MatrixScope::Workgroup,
        vk::ScopeKHR::SUBGROUP => MatrixScope::Subgroup,
        vk::ScopeKHR::QUEUE_FAMILY => MatrixScope::QueueFamily,
        _ => return None,
    })
}
