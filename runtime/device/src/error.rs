//! The errors of devices. They are typed, and the host converts them to diagnostics.

use std::fmt;

use crate::info::Feature;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DeviceError {
    #[error("no device matches `{asked}`")]
    NoSuchDevice { asked: String, available: Vec<String> },

    #[error("device `{device}` cannot be used: it lacks {}", .lacks.join(", "))]
    BelowFloor { device: String, lacks: Vec<String> },

    /// `free` and `limit` are those of the device's memory for this process.
    #[error(
        "device `{device}` is out of memory: {requested} bytes were asked for, {free} of {limit} are free"
    )]
    OutOfMemory { device: String, requested: u64, free: u64, limit: u64 },

    /// A call of the driver had too little memory for itself.
    #[error("device `{device}` is out of memory: {call} failed")]
    NoMemoryFor { call: &'static str, device: String },

    /// Only the CPU device can profile.
    #[error("device `{device}` cannot profile kernels")]
    CannotProfile { device: String },

    /// The device does not accept the module: it is not SPIR-V, invalid, or unsupported.
    #[error("{message}")]
    BadModule { message: String, line: Option<SourceLine> },

    /// The module accesses memory in a way that the device cannot bound.
    #[error("the module reaches {what}, which nothing bounds on device `{device}`")]
    Unbounded { what: &'static str, device: String, line: Option<SourceLine> },

    #[error("device `{device}` lacks `{}`", .feature.name())]
    MissingFeature { feature: Feature, device: String, line: Option<SourceLine> },

    #[error("{what} is {asked}, the most that device `{device}` takes is {limit}")]
    LimitExceeded { what: Limit, asked: u64, limit: u64, device: String },

    /// A command does not fit its pipeline or its buffers.
    #[error("{message}")]
    BadCommand { message: String },

    #[error("unknown {kind} id")]
    UnknownId { kind: &'static str },

    /// Interrupted by the flag, at this line of the kernel if it is known.
    #[error("interrupted")]
    Interrupted { line: Option<SourceLine> },

    #[error("{0}")]
    Fault(Fault),

    #[error("device `{device}` was lost")]
    Lost { device: String },

    #[error("{call} failed: {result}")]
    Driver { call: &'static str, result: String },
}

/// A resource that a device limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The size of a workgroup, or a side of it.
    LocalSize(&'static str),
    SharedMemory,
    Other(&'static str),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::LocalSize(what) | Limit::Other(what) => what,
            Limit::SharedMemory => "the workgroup's shared memory in bytes",
        })
    }
}

/// A fault of a kernel at run time.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub message: String,
    pub line: Option<SourceLine>,
    /// Global id of the first invocation with the fault.
    pub invocation: [u32; 3],
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A position from `OpLine`; line and column count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceLine {
    pub file: String,
    pub line: u32,
    pub column: u32,
}
