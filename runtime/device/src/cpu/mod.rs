//! The built-in device.
