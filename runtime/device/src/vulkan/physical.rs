//! The Vulkan devices of the machine, as they describe themselves. Nothing is created here.

use std::ffi::CStr;

use ash::vk;
use kps_scalar::Scalar;
use rspirv::spirv::Capability;

use super::features::{EXTENSIONS, FeatureChain, Known};
use super::loader::{self, Loader};
use super::matrices;
use crate::{
    Backend, Capabilities, DeviceInfo, DeviceKind, Feature, Limits, MatrixProduct, NoGpu, QueueFamily,
    Result, VulkanDriver,
};

const FLOOR: u32 = vk::API_VERSION_1_2;

#[derive(Clone)]
pub(crate) struct Physical {
    pub info: DeviceInfo,
    pub(super) handle: vk::PhysicalDevice,
    /// The newest Vulkan version of both device and instance.
    pub(super) api: u32,
    pub(super) properties: vk::PhysicalDeviceProperties,
    pub(super) memory: vk::PhysicalDeviceMemoryProperties,
    /// The extensions that kps uses and the device has.
    pub(super) extensions: Vec<&'static CStr>,
    /// The features that are enabled at opening.
    pub(super) enabled: FeatureChain,
    pub(super) subgroup_operations: vk::SubgroupFeatureFlags,
    /// The minimum and maximum subgroup size for compute.
    pub(super) subgroup_sizes: [u32; 2],
    pub(super) float_controls: FloatControls,
    pub(super) max_push_descriptors: u32,
    /// Alignment of imported host memory, if any can be imported.
    pub(super) import_alignment: Option<usize>,
    /// Mesa's software driver, for which `foreign` has workarounds.
    pub(super) is_llvmpipe: bool,
    pub(super) timestamp_bits: Vec<u32>,
}

/// The guarantees for 32-bit floats that a module may request.
#[derive(Clone, Copy, Default)]
pub(super) struct FloatControls {
    pub preserves: bool,
    pub rounds_to_even: bool,
    pub rounds_to_zero: bool,
    pub keeps_denormals: bool,
    pub flushes_denormals: bool,
}

/// Every Vulkan device, in the driver's order; empty without Vulkan.
pub(crate) fn devices() -> Result<Vec<Physical>> {
    let loader = loader::get()?;
    // SAFETY: the instance lives as long as the process.
    match unsafe { loader.instance.enumerate_physical_devices() } {
        Ok(handles) => Ok(handles.into_iter().map(|handle| describe(loader, handle)).collect()),
        // A driver that fails to start counts as missing.
        Err(_) => Ok(Vec::new()),
    }
}

/// The reason if the drivers list no devices.
pub(super) fn list_failure(loader: &Loader) -> Option<NoGpu> {
    // SAFETY: the instance lives as long as the process.
    let listed = unsafe { loader.instance.enumerate_physical_devices() };
    listed.err().map(|result| NoGpu::NoList { error: result.to_string() })
}

fn describe(loader: &Loader, handle: vk::PhysicalDevice) -> Physical {
    let instance = &loader.instance;
    // SAFETY: the handle just came from this instance.
    let properties = unsafe { instance.get_physical_device_properties(handle) };
    // SAFETY: as above.
    let memory = unsafe { instance.get_physical_device_memory_properties(handle) };
    // SAFETY: as above.
    let families = unsafe { instance.get_physical_device_queue_family_properties(handle) };
    let api = properties.api_version.min(loader.version);
    let mut physical = Physical {
        info: basic_info(&properties, &memory, &families),
        handle,
        api,
        properties,
        memory,
        extensions: Vec::new(),
        enabled: FeatureChain::default(),
        subgroup_operations: vk::SubgroupFeatureFlags::empty(),
        subgroup_sizes: [0; 2],
        float_controls: FloatControls::default(),
        max_push_descriptors: 0,
        import_alignment: None,
        is_llvmpipe: false,
        timestamp_bits: families.iter().map(|family| family.timestamp_valid_bits).collect(),
    };
    if api < FLOOR {
        physical.info.lacks.push(format!("Vulkan 1.2 (it has {})", version_words(properties.api_version)));
        return physical;
    }
    physical.extensions = our_extensions(instance, handle);
    physical.query_features(instance);
    physical.query_properties(instance);
    let features = &physical.info.features;
    if features.contains(&Feature::CooperativeMatrix) && matrices::are_for_compute(loader, handle) {
        let has_bfloats = physical.enabled.allows(Capability::BFloat16CooperativeMatrixKHR) == Some(true);
        let is_known = |product: &MatrixProduct| has_bfloats || !product.has(Scalar::Bf16);
        physical.info.matrices = matrices::products(loader, handle).into_iter().filter(is_known).collect();
    }
    physical.find_lacks();
    physical
}

impl Physical {
    fn query_features(&mut self, instance: &ash::Instance) {
        let mut have = FeatureChain::default();
        let known = Known { api: self.api, extensions: &self.extensions };
        have.with_link(known, |first| {
            // SAFETY: the chain holds only structures that the device knows, all alive.
            unsafe { instance.get_physical_device_features2(self.handle, first) }
        });
        self.enabled = have.used();
        self.info.features = self.enabled.features();
        if self.extensions.contains(&ash::khr::push_descriptor::NAME) {
            self.info.features.insert(Feature::PushDescriptors);
        }
        if self.extensions.contains(&ash::khr::shader_non_semantic_info::NAME) {
            self.info.features.insert(Feature::NonSemanticInfo);
        }
    }

    fn query_properties(&mut self, instance: &ash::Instance) {
        let mut v11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut v12 = vk::PhysicalDeviceVulkan12Properties::default();
        let mut sizes = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
        let mut push = vk::PhysicalDevicePushDescriptorPropertiesKHR::default();
        let mut buffers = vk::PhysicalDeviceMaintenance4Properties::default();
        let mut pci = vk::PhysicalDevicePCIBusInfoPropertiesEXT::default();
        let mut host_memory = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
        let imports = self.extensions.contains(&ash::ext::external_memory_host::NAME);
        let has_pci = self.extensions.contains(&ash::ext::pci_bus_info::NAME);
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut v11).push_next(&mut v12);
        if has_pci {
            all = all.push_next(&mut pci);
        }
        if imports {
            all = all.push_next(&mut host_memory);
        }
        if self.info.features.contains(&Feature::PushDescriptors) {
            all = all.push_next(&mut push);
        }
        if self.info.features.contains(&Feature::SubgroupSizeControl) {
            all = all.push_next(&mut sizes);
        }
        if self.enabled.has_buffer_sizes() {
            all = all.push_next(&mut buffers);
        }
        // SAFETY: the chain holds only structures that the device knows, all alive.
        unsafe { instance.get_physical_device_properties2(self.handle, &mut all) };
        self.max_push_descriptors = push.max_push_descriptors;
        self.import_alignment = imports.then_some(host_memory.min_imported_host_pointer_alignment as usize);
        self.info.uuid = Some(v11.device_uuid);
        self.info.pci = has_pci.then_some([pci.pci_domain, pci.pci_bus, pci.pci_device, pci.pci_function]);
        if v11.subgroup_supported_stages.contains(vk::ShaderStageFlags::COMPUTE) {
            self.subgroup_operations = v11.subgroup_supported_operations;
        }
        self.info.limits.subgroup_size = v11.subgroup_size;
        self.subgroup_sizes = [v11.subgroup_size; 2];
        if sizes.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE) {
            self.subgroup_sizes = [sizes.min_subgroup_size, sizes.max_subgroup_size];
        }
        // A safe lower bound. A larger allocation may succeed on a GPU, or fail then.
        self.info.limits.max_allocation = match self.info.kind {
            DeviceKind::Software => v11.max_memory_allocation_size,
            _ => v11.max_memory_allocation_size.max(buffers.max_buffer_size),
        };
        self.is_llvmpipe = v12.driver_id == vk::DriverId::MESA_LLVMPIPE;
        self.float_controls = FloatControls {
            preserves: v12.shader_signed_zero_inf_nan_preserve_float32 == vk::TRUE,
            rounds_to_even: v12.shader_rounding_mode_rte_float32 == vk::TRUE,
            rounds_to_zero: v12.shader_rounding_mode_rtz_float32 == vk::TRUE,
            keeps_denormals: v12.shader_denorm_preserve_float32 == vk::TRUE,
            flushes_denormals: v12.shader_denorm_flush_to_zero_float32 == vk::TRUE,
        };
        if self.float_controls.preserves {
            self.info.features.insert(Feature::FloatControls);
        }
        let words = |text: &[std::ffi::c_char]| {
            let bytes: Vec<u8> = text.iter().map(|&c| c as u8).take_while(|&c| c != 0).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let version = words(&v12.driver_info);
        let driver = format!("{} {version}", words(&v12.driver_name));
        self.info.vulkan_driver = Some(VulkanDriver { id: v12.driver_id.as_raw(), version });
        self.info.driver =
            format!("Vulkan {}, {}", version_words(self.properties.api_version), driver.trim());
    }

    fn find_lacks(&mut self) {
        if !self.enabled.has_timelines() {
            self.info.lacks.push("timelineSemaphore".to_owned());
        }
        if best_family(&self.info.queue_families).is_none() {
            self.info.lacks.push("a queue that computes".to_owned());
        }
    }
}

/// The default family for compute: one that does nothing else has the lowest latency.
pub(super) fn best_family(families: &[QueueFamily]) -> Option<u32> {
    let index = |pick: fn(&QueueFamily) -> bool| families.iter().position(pick).map(|index| index as u32);
    index(|family| family.compute && !family.graphics).or_else(|| index(|family| family.compute))
}

fn basic_info(
    properties: &vk::PhysicalDeviceProperties,
    memory: &vk::PhysicalDeviceMemoryProperties,
    families: &[vk::QueueFamilyProperties],
) -> DeviceInfo {
    let name = properties.device_name_as_c_str().unwrap_or(c"a device without a name");
    let families: Vec<QueueFamily> = families.iter().map(family).collect();
    DeviceInfo {
        name: name.to_string_lossy().into_owned(),
        backend: Backend::Vulkan,
        kind: kind(properties.device_type),
        driver: format!("Vulkan {}", version_words(properties.api_version)),
        vulkan_driver: None,
        limits: limits(&properties.limits),
        features: Default::default(),
        capabilities: Capabilities { collects_submissions: true, ..Capabilities::default() },
        matrices: Vec::new(),
        queues: best_family(&families).into_iter().collect(),
        queue_families: families,
        memory: memory.memory_heaps_as_slice().iter().filter(is_local).map(|heap| heap.size).sum(),
        uuid: None,
        pci: None,
        lacks: Vec::new(),
    }
}

fn is_local(heap: &&vk::MemoryHeap) -> bool {
    heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL)
}

fn kind(ty: vk::PhysicalDeviceType) -> DeviceKind {
    match ty {
        vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::Discrete,
        vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::Integrated,
        vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceKind::Virtual,
        vk::PhysicalDeviceType::CPU => DeviceKind::Software,
        _ => DeviceKind::Other,
    }
}

fn family(properties: &vk::QueueFamilyProperties) -> QueueFamily {
    let has = |flag| properties.queue_flags.contains(flag);
    let (graphics, compute) = (has(vk::QueueFlags::GRAPHICS), has(vk::QueueFlags::COMPUTE));
    // Graphics and compute queues can copy, even if the flag is missing.
    let transfer = graphics || compute || has(vk::QueueFlags::TRANSFER);
    QueueFamily { n_queues: properties.queue_count, graphics, compute, transfer }
}

fn limits(limits: &vk::PhysicalDeviceLimits) -> Limits {
    Limits {
        max_groups: limits.max_compute_work_group_count,
        max_local_size: limits.max_compute_work_group_size,
        max_invocations: limits.max_compute_work_group_invocations,
        max_shared: limits.max_compute_shared_memory_size,
        max_push_constants: limits.max_push_constants_size,
        max_storage_range: u64::from(limits.max_storage_buffer_range),
        max_storage_buffers: limits.max_per_stage_descriptor_storage_buffers,
        max_allocation: u64::from(u32::MAX),
        storage_offset_alignment: limits.min_storage_buffer_offset_alignment,
        subgroup_size: 1,
        timestamp_period: (limits.timestamp_period > 0.0).then_some(f64::from(limits.timestamp_period)),
    }
}

fn our_extensions(instance: &ash::Instance, handle: vk::PhysicalDevice) -> Vec<&'static CStr> {
    // SAFETY: the handle came from this instance.
    let there = unsafe { instance.enumerate_device_extension_properties(handle) }.unwrap_or_default();
    let has = |name: &&&CStr| there.iter().any(|extension| extension.extension_name_as_c_str() == Ok(**name));
    EXTENSIONS.iter().filter(has).copied().collect()
}

fn version_words(version: u32) -> String {
    format!(
        "{}.{}.{}",
        vk::api_version_major(version),
        vk::api_version_minor(version),
        vk::api_version_patch(version)
    )
}
