//! The properties and limits of the CPU device.

use kps_scalar::Scalar;

use crate::{
    Backend, Capabilities, DeviceInfo, DeviceKind, Feature, Features, Limits, MatrixProduct, MatrixScope,
};

use super::lower::pointers::MAX_SHARED;

pub const NAME: &str = "Built-in CPU";
/// Alignment of a binding's offset, which keeps atomics aligned.
pub const OFFSET_ALIGNMENT: u64 = 4;
pub const MAX_GROUPS: u32 = 0x7fff_ffff;
/// The default subgroup size, and the sizes to choose from.
pub const SUBGROUP_SIZE: u32 = 8;
pub const SUBGROUP_SIZES: [u32; 5] = [4, 8, 16, 32, 64];
pub const MAX_INVOCATIONS: u32 = 1024;

pub fn info() -> DeviceInfo {
    DeviceInfo {
        name: NAME.to_owned(),
        backend: Backend::Cpu,
        kind: DeviceKind::BuiltIn,
        driver: String::new(),
        vulkan_driver: None,
        limits: limits(),
        features: features(),
        capabilities: Capabilities {
            checks: true,
            interrupts_submissions: true,
            uses_program_allocator: true,
            // Loads that the kernel has tested become vector loads.
            prefers_tested_indices: true,
            wide_indices: true,
            unaligned_matrices: true,
            collects_submissions: false,
        },
        matrices: matrices(),
        queue_families: Vec::new(),
        queues: vec![0],
        memory: memory(),
        uuid: None,
        pci: None,
        lacks: Vec::new(),
    }
}

fn limits() -> Limits {
    Limits {
        max_groups: [MAX_GROUPS; 3],
        max_local_size: [MAX_INVOCATIONS; 3],
        max_invocations: MAX_INVOCATIONS,
        max_shared: MAX_SHARED as u32,
        max_push_constants: 256,
        max_storage_range: isize::MAX as u64,
        max_storage_buffers: 1024,
        max_allocation: isize::MAX as u64,
        storage_offset_alignment: OFFSET_ALIGNMENT,
        subgroup_size: SUBGROUP_SIZE,
        timestamp_period: Some(1.0),
    }
}

fn features() -> Features {
    [
        Feature::Float16,
        Feature::Float64,
        Feature::Int8,
        Feature::Int16,
        Feature::Int64,
        Feature::Storage8,
        Feature::Storage16,
        Feature::Bfloat16,
        Feature::CooperativeMatrix,
        Feature::Int64Atomics,
        Feature::FloatAtomicAdd,
        Feature::DoubleAtomicAdd,
        Feature::SubgroupExtendedTypes,
        Feature::SubgroupSizeControl,
        Feature::ScalarLayout,
        Feature::RobustAccess,
        Feature::BufferDeviceAddress,
        Feature::VulkanMemoryModel,
        Feature::FloatControls,
        Feature::NonSemanticInfo,
    ]
    .into()
}

/// The device multiplies matrices of any size. It lists the sizes that GPUs have.
fn matrices() -> Vec<MatrixProduct> {
    const BYTES: [(u32, u32, u32); 4] = [(16, 16, 32), (16, 16, 16), (16, 8, 32), (8, 8, 32)];
    const OTHERS: [(u32, u32, u32); 4] = [(16, 16, 16), (16, 8, 16), (16, 8, 8), (8, 8, 8)];
    let kinds = [
        (Scalar::F16, Scalar::F16, OTHERS),
        (Scalar::F16, Scalar::F32, OTHERS),
        (Scalar::Bf16, Scalar::F32, OTHERS),
        (Scalar::F32, Scalar::F32, OTHERS),
        (Scalar::I8, Scalar::I32, BYTES),
        (Scalar::U8, Scalar::U32, BYTES),
    ];
    let products = kinds.into_iter().flat_map(|(factor, sum, sizes)| {
        sizes.map(|(m, n, k)| MatrixProduct {
            m,
            n,
            k,
            a: factor,
            b: factor,
            c: sum,
            result: sum,
            scope: MatrixScope::Subgroup,
            saturates: false,
        })
    });
    products.collect()
}

/// Memory of the machine in bytes; 0 where it is unknown.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
