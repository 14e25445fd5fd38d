//! The devices that cases run on: the built-in one, and Vulkan under its validation layer.

use std::process::Command;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TestDevice {
    Cpu,
    Vulkan,
}

impl TestDevice {
    pub const ALL: [TestDevice; 2] = [TestDevice::Cpu, TestDevice::Vulkan];

    /// As written after `--device`.
    pub fn selector(self) -> &'static str {
        match self {
            TestDevice::Cpu => "cpu",
            TestDevice::Vulkan => "vulkan",
        }
    }

    /// Makes a command run on this device. With validation on, the program fails on any message of the
    /// layer, and when the layer is missing.
    pub fn choose(self, command: &mut Command) {
        command.env("KPS_DEVICE", self.selector());
        if self == TestDevice::Vulkan {
            command.env("KPS_VALIDATION", "1");
        }
    }
}
