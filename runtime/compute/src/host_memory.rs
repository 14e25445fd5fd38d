//! The memory of the host that tensors take, for a program that bounds it.
//!
//! The memory of a driver that works in the host's memory comes from no allocator of the program, so it is counted
//! here. That of a GPU of its own is not the host's, and counts nowhere.

use std::sync::OnceLock;

use kps_device::{DeviceInfo, DeviceKind};

use crate::error::{ComputeError, Result};

/// How a program bounds the memory of what runs on a thread.
pub struct Bound {
    /// Whether so many bytes more may be taken.
    pub grants: fn(usize) -> bool,
    /// Bytes that no allocator of the program counts were taken, or given back where negative.
    pub count: fn(isize),
}

static BOUND: OnceLock<Bound> = OnceLock::new();

/// Bounds the memory of all tensors of the program from now on; the first bound stays.
pub fn bound(bound: Bound) {
    let _ = BOUND.set(bound);
}

/// Asks for memory of the host.
pub(crate) fn ask(bytes: usize) -> Result<()> {
    match BOUND.get() {
        Some(bound) if !(bound.grants)(bytes) => Err(ComputeError::HostMemory { bytes }),
        _ => Ok(()),
    }
}

/// Bytes of a driver, counted until this is dropped.
pub(crate) struct Taken(isize);

impl Taken {
    /// Asks for memory that a device is to take for a tensor.
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
