//! Why this device refuses a module or a command: one constructor per kind of mistake.

use rspirv::spirv::Op;

use crate::{DeviceError, Fault, Invocation, Limit, SourceLine};

/// The module breaks a rule of SPIR-V.
pub fn malformed(message: impl Into<String>, line: Option<SourceLine>) -> DeviceError {
    DeviceError::BadModule { message: format!("malformed SPIR-V: {}", message.into()), line }
}

/// An instruction breaks a rule of SPIR-V.
pub fn malformed_at(op: Op, message: impl Into<String>, line: Option<SourceLine>) -> DeviceError {
    malformed(format!("`Op{op:?}`: {}", message.into()), line)
}

/// Valid SPIR-V that this device does not support.
pub fn unsupported(op: Op, message: impl Into<String>, line: Option<SourceLine>) -> DeviceError {
    let message = format!("the built-in CPU device does not take `Op{op:?}`: {}", message.into());
    DeviceError::BadModule { message, line }
}

/// An instruction that this device does not know.
pub fn unknown_instruction(op: Op, line: Option<SourceLine>) -> DeviceError {
    let message = format!("the built-in CPU device does not know the instruction `Op{op:?}`");
    DeviceError::BadModule { message, line }
}

/// Something exceeds a limit of this device.
pub fn too_large(what: impl Into<String>, line: Option<SourceLine>) -> DeviceError {
    DeviceError::BadModule { message: format!("the kernel is too large: {}", what.into()), line }
}

/// An invocation has more variables than its memory can hold.
pub fn too_many_variables(limit: u64, line: Option<SourceLine>) -> DeviceError {
    too_large(format!("the variables of an invocation take more than {limit} bytes"), line)
}

/// A workgroup declares more shared memory than there is.
pub fn too_much_shared(asked: u64, limit: u64) -> DeviceError {
    let device = super::info::NAME.to_owned();
    DeviceError::LimitExceeded { what: Limit::SharedMemory, asked, limit, device }
}

/// A command does not fit its pipeline or its buffers.
pub fn bad_command(message: impl Into<String>) -> DeviceError {
    DeviceError::BadCommand { message: message.into() }
}

/// A dispatch leaves out what its pipeline uses.
pub fn nothing_bound(set: u32, binding: u32) -> DeviceError {
    bad_command(format!("nothing is bound at set {set} binding {binding}"))
}

/// The code generator does not know this machine.
pub fn no_compiler(message: &str) -> DeviceError {
    DeviceError::Driver { call: "opening the code generator", result: message.to_owned() }
}

/// Lanes of a workgroup wait at different barriers, or some have ended. `line` is the barrier of one lane,
/// and `other` is where a diverged lane waits.
pub fn diverged(line: Option<SourceLine>, other: Option<SourceLine>, invocation: Invocation) -> DeviceError {
    let mut message = "not every invocation of the workgroup comes to this barrier".to_owned();
    if let Some(other) = other {
        message += &format!(": another waits at line {}", other.line);
    }
    DeviceError::Fault(Fault { message, line, invocation: invocation.global })
}
