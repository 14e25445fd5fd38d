//! Any Vulkan 1.2 device.
