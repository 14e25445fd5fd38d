//! The host memory of tensors, for programs that limit it.
//!
//! Memory of a driver that works in host memory does not come from the program's allocator, so it is counted
//! here. Memory of a discrete GPU is not host memory, and is not counted.

use std::sync::OnceLock;

use kps_device::{DeviceInfo, DeviceKind};

use crate::error::{ComputeError, Result};

/// The hooks of a program that limits the memory of a thread.
pub struct Bound {
    /// Whether so many more bytes may be allocated.
    pub grants: fn(usize) -> bool,
    /// Counts bytes outside of the program's allocator; negative when they are freed.
    pub count: fn(isize),
}

static BOUND: OnceLock<Bound> = OnceLock::new();

/// Limits the memory of all tensors of the program from now on. Only the first call has an effect.
pub fn bound(bound: Bound) {
    let _ = BOUND.set(bound);
}

/// Requests host memory.
pub(crate) fn ask(bytes: usize) -> Result<()> {
    match BOUND.get() {
        Some(bound) if !(bound.grants)(bytes) => Err(ComputeError::HostMemory { bytes }),
        _ => Ok(()),
    }
}

/// Driver memory that is counted until this is dropped.
pub(crate) struct Taken(isize);

impl Taken {
    /// Requests memory that a device allocates for a tensor.
    pub fn on(device: &DeviceInfo, bytes: usize) -> Result<Taken> {
        if device.kind == DeviceKind::Discrete {
            return Ok(Taken(0));
        }
        ask(bytes)?;
        let taken = Taken(if device.capabilities.uses_program_allocator { 0 } else { bytes as isize });
        count(taken.0);
        Ok(taken)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        count(-self.0);
    }
}

fn count(bytes: isize) {
    if let Some(bound) = BOUND.get() {
        (bound.count)(bytes);
    }
}
