//! What a kernel is compiled for: the features of a device, and how it reaches its arrays there.

use kps_compute::Tensor;
use kps_device::{DeviceInfo, Feature, MatrixProduct, MatrixScope};
use kps_kernel::{ArrayParam, Matrices, ParamType, Product, Reach, Target, Width, Workarounds};

/// The compilation target for this device.
pub fn target_of(info: &DeviceInfo) -> Target {
    let has = |feature| info.features.contains(&feature);
    Target {
        scalar_layout: has(Feature::ScalarLayout),
        robust_access: has(Feature::RobustAccess) && !info.capabilities.prefers_tested_indices,
        float_controls: has(Feature::FloatControls),
        workarounds: workarounds(info),
        f32_atomic_add: has(Feature::FloatAtomicAdd),
        f64_atomic_add: has(Feature::DoubleAtomicAdd),
        matrices: matrices(info),
        ..Target::portable()
    }
}

fn workarounds(info: &DeviceInfo) -> Workarounds {
    let driver = info.vulkan_driver.as_ref();
    driver.map_or(Workarounds::NONE, |driver| Workarounds::of_vulkan_driver(driver.id, &driver.version))
}

/// The matrix products that a device computes natively. Their modules use the Vulkan memory model, and
/// bindings are aligned as lines of matrices require.
fn matrices(info: &DeviceInfo) -> Matrices {
    let is_fit = info.features.contains(&Feature::VulkanMemoryModel)
        && (info.capabilities.unaligned_matrices || info.limits.storage_offset_alignment.is_multiple_of(16));
    let products = info.matrices.iter().filter(|_| is_fit).filter_map(product);
    Matrices::new(products, info.limits.subgroup_size, info.limits.max_shared)
}

fn product(listed: &MatrixProduct) -> Option<Product> {
    let &MatrixProduct { m, n, k, a, b, c, result, scope, .. } = listed;
    let is_supported = a == b && c == result && scope == MatrixScope::Subgroup;
    is_supported.then_some(Product { m, n, k, factor: a, sum: c })
}

/// Chooses how the module addresses an array, and the type of its element counts.
pub fn reach(array: &mut ArrayParam, tensor: &Tensor, info: &DeviceInfo) {
    let n_bytes = tensor.n_bytes() as u64;
    array.counts = Width::of(n_bytes / u64::from(array.element.packed_size().max(1)));
    array.bytes = Width::of(n_bytes);
    let is_far = n_bytes > info.limits.max_storage_range
        || (array.counts == Width::Wide && !info.capabilities.wide_indices);
    if is_far && info.features.contains(&Feature::BufferDeviceAddress) {
        array.reach = Reach::Address;
    }
}

/// Passes the arrays beyond the number of bindings by address, if the device has addresses.
pub fn spare_bindings<'p>(params: impl Iterator<Item = &'p mut ParamType>, info: &DeviceInfo) {
    if !info.features.contains(&Feature::BufferDeviceAddress) {
        return;
    }
    // One binding is for the output of `print`.
    let n_bound = info.limits.max_storage_buffers.saturating_sub(1) as usize;
    let arrays = params.filter_map(|param| match param {
        ParamType::Array(array) => Some(array),
        _ => None,
    });
    let bound = arrays.filter(|array| array.reach == Reach::Binding);
    bound.skip(n_bound).for_each(|array| array.reach = Reach::Address);
}
