//! Why no GPU can be used: what was tried, and the result.

use std::fmt;

use crate::{DeviceError, DeviceInfo, vulkan};

/// One reason. If there are several, all of them must be fixed.
#[derive(Clone, Debug, PartialEq)]
pub enum NoGpu {
    /// The system's Vulkan loader is not installed, or it is broken.
    NoLoader { error: String },
    /// The loader is too old.
    OldLoader,
    /// The loader found no driver that starts.
    NoInstance { error: String },
    /// Drivers started, but did not list their devices.
    NoList { error: String },
    /// Any other failure of the loader.
    Failed(DeviceError),
    /// A GPU below the minimum requirements.
    BelowFloor { device: String, lacks: Vec<String> },
    /// The kernel lists a device file of a GPU, but no Vulkan driver does.
    NoDriver { file: &'static str },
    /// The kernel lists no GPU. There is none, or the container or virtual machine has no access to one.
    NoDeviceFile,
    /// No Vulkan driver lists a GPU.
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

/// The reasons for a list of devices; empty if a GPU can be used.
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
