//! Why there is no GPU to run on: what was tried, and how it ended.

use std::fmt;

use crate::{DeviceError, DeviceInfo, vulkan};

/// One reason. Where several hold, a machine needs all of them mended.
#[derive(Clone, Debug, PartialEq)]
pub enum NoGpu {
    /// The system's Vulkan loader is not installed, or it is broken.
    NoLoader { error: String },
    /// The loader is there, and the version that it has is not enough.
    OldLoader,
    /// The loader found no driver that starts.
    NoInstance { error: String },
    /// Drivers started and would not list their devices.
    NoList { error: String },
    /// Anything else that the loader was asked for and did not do.
    Failed(DeviceError),
    /// A GPU that is below what kps needs.
    BelowFloor { device: String, lacks: Vec<String> },
    /// The kernel shows a GPU by a device file, and no Vulkan driver does.
    NoDriver { file: &'static str },
    /// The kernel shows no GPU: it has none, or the container or virtual machine was given none.
    NoDeviceFile,
    /// Vulkan's drivers show no GPU.
    NotListed,
}

impl fmt::Display for NoGpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoGpu::NoLoader { error } => write!(f, "the Vulkan loader cannot be loaded: {error}"),
            NoGpu::OldLoader => f.write_str("the Vulkan loader is of Vulkan 1.0, and 1.2 is needed"),
            NoGpu::NoInstance { error } => write!(f, "no Vulkan driver starts: {error}"),
            NoGpu::NoList { error } => write!(f, "Vulkan's drivers list no devices: {error}"),
            NoGpu::Failed(error) => error.fmt(f),
            NoGpu::BelowFloor { device, lacks } => write!(f, "`{device}` lacks {}", lacks.join(", ")),
            NoGpu::NoDriver { file } => {
                write!(
                    f,
                    "there is `{file}`, and no Vulkan driver shows a GPU: is its Vulkan driver installed?"
                )
            }
            NoGpu::NoDeviceFile => {
                let files = vulkan::GPU_FILES.join("`, `");
                write!(f, "the system shows none: there is none of `{files}`")
            }
            NoGpu::NotListed => f.write_str("no Vulkan driver shows one"),
        }
    }
}

/// The reasons, given the list of devices; empty where a GPU can be used.
pub(crate) fn reasons(infos: &[DeviceInfo]) -> Vec<NoGpu> {
    let mut gpus = infos.iter().filter(|info| info.kind.is_gpu()).peekable();
    let is_listed = gpus.peek().is_some();
    let mut reasons = Vec::new();
    for gpu in gpus {
        if gpu.lacks.is_empty() {
            return Vec::new();
        }
        reasons.push(NoGpu::BelowFloor { device: gpu.name.clone(), lacks: gpu.lacks.clone() });
    }
    reasons.extend(vulkan::failure());
    if is_listed {
        return reasons;
    }
    match vulkan::gpu_file() {
        Some(file) => reasons.push(NoGpu::NoDriver { file }),
        None if cfg!(target_os = "linux") => reasons.push(NoGpu::NoDeviceFile),
        None if reasons.is_empty() => reasons.push(NoGpu::NotListed),
        None => {}
    }
    reasons
}
