//! The built-in device.

use std::rc::Rc;

use crate::{Backend, Device, DeviceError, DeviceInfo, DeviceKind, Limits, Result};

pub fn open() -> Result<Rc<dyn Device>> {
    Err(DeviceError::Driver { call: "opening the built-in device", result: "it is not built yet".into() })
}

pub fn info() -> DeviceInfo {
    DeviceInfo {
        name: "CPU".into(),
        backend: Backend::Cpu,
        kind: DeviceKind::BuiltIn,
        driver: String::new(),
        limits: Limits {
            max_groups: [u32::MAX; 3],
            max_local_size: [1024; 3],
            max_invocations: 1024,
            max_shared: 65536,
            max_push_constants: 256,
            max_storage_range: u64::MAX,
            max_storage_buffers: 64,
            max_allocation: u64::MAX,
            storage_offset_alignment: 4,
            subgroup_size: 8,
            timestamp_period: Some(1.0),
        },
        features: Default::default(),
        queue_families: Vec::new(),
        queues: vec![0],
        memory: 0,
        lacks: Vec::new(),
    }
}
