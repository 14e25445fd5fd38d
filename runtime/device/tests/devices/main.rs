//! Behaviour that all devices share: memory, order of commands, hazards, errors.

mod commands;
#[path = "../common/mod.rs"]
mod common;
mod foreign;
mod memory;
mod refusals;

use std::rc::Rc;

use kps_device::{Access, Binding, BufferId, Command, Device, DeviceError, Dispatch, PipelineId};

const READ: Access = Access::Read;
const WRITE: Access = Access::Write;
const BOTH: Access = Access::ReadWrite;

fn copy(from: BufferId, from_offset: u64, to: BufferId, to_offset: u64, size: u64) -> Command {
    Command::Copy { from, from_offset, to, to_offset, size }
}

fn scale(
    device: &Rc<dyn Device>,
    a: BufferId,
    kernel: PipelineId,
    factor: f32,
    n: u32,
    groups: u32,
) -> Command {
    let interface = device.interface(kernel).expect("it is loaded");
    assert_eq!(interface.push_constants.as_ref().map(|block| block.size), Some(8));
    Command::Dispatch(Dispatch {
        pipeline: kernel,
        bindings: vec![Binding { set: 0, binding: 0, buffer: a, offset: 0, size: 32, access: BOTH }],
        samplers: Vec::new(),
        push_constants: [factor.to_le_bytes(), n.to_le_bytes()].concat(),
        addressed: Vec::new(),
        groups: [groups, 1, 1],
    })
}

/// The error for a command that does not fit.
fn refused_command<T: std::fmt::Debug>(result: Result<T, DeviceError>) -> String {
    match result {
        Err(DeviceError::BadCommand { message }) => message,
        other => panic!("{other:?} is no refusal of a command"),
    }
}
