//! Which devices there are and which one is meant.
//!
//! The list is the same for `kps devices`, `--device` and `Manager(i)`: GPUs from best to worst, then
//! the built-in CPU device, then software Vulkan drivers, then Vulkan devices below the floor.

use std::rc::Rc;

use crate::{Device, DeviceInfo, Result};

/// Which device is meant, as written after `--device` or in `KPS_DEVICE`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Selector {
    /// The best GPU, else the built-in CPU device.
    #[default]
    Best,
    /// `cpu`.
    Cpu,
    /// `vulkan` or `vulkan:1`: the n-th Vulkan device of the list, software drivers included.
    Vulkan(u32),
    /// The n-th of the whole list.
    Index(u32),
    /// A part of its name, in any case.
    Name(String),
}

/// How to open it.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// One queue of each of these families; empty is one queue of the best compute family.
    /// A family that is missing or cannot compute falls back to that one, with a warning in
    /// [`Opened::warnings`].
    pub queue_families: Vec<u32>,
    /// Vulkan extensions to enable beside those we use.
    pub extensions: Vec<String>,
}

pub struct Opened {
    pub device: Rc<dyn Device>,
    pub warnings: Vec<String>,
}

/// Every device of this machine, in the order in which they are counted. Loads Vulkan where it exists.
pub fn list() -> Vec<DeviceInfo> {
    Vec::new()
}

/// Opens the device that `selector` means.
pub fn open(selector: &Selector, _options: &OpenOptions) -> Result<Opened> {
    Err(crate::DeviceError::NoSuchDevice { asked: format!("{selector:?}"), available: Vec::new() })
}
