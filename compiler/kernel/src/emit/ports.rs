//! The inputs and outputs of vertex and fragment functions: their variables, with locations and builtins.

use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass, Word};

use super::function::FunctionEmitter;
use super::module::{Module, Operand};
use crate::ir::{Kernel, NodeId, Port, PortId};
use crate::signature::Capability;
use crate::stages::{self, Direction, Slot, Stage};
use crate::types::Type;

/// One variable for each port.
pub(crate) struct Ports(Vec<Word>);

impl Ports {
    pub fn new(kernel: &Kernel, module: &mut Module) -> Ports {
        Ports(kernel.ports.iter().map(|port| variable(port, kernel.stage, module)).collect())
    }
}

fn variable(port: &Port, stage: Stage, module: &mut Module) -> Word {
    module.set_span(port.span);
    let (ty, direction) = (&port.port.ty, port.port.direction);
    let value = module.ty(ty);
    let id = module.variable(class_of(direction), value);
    module.name(id, &port.name);
    match port.port.slot {
        Slot::Location(location) => {
            module.decorate(id, Decoration::Location, &[location]);
            if ty.numbers().iter().any(|(_, scalar)| scalar.bits() == 16) {
                module.need(Capability::StorageInputOutput16);
            }
        }
        Slot::Builtin(builtin) => {
            module.decorate_builtin(id, builtin.builtin);
            builtin.capability.iter().for_each(|capability| module.need(*capability));
        }
    }
    // A flat value is decorated in both stages.
    let is_between = (stage, direction) == (Stage::Fragment, Direction::Input)
        || (stage == Stage::Vertex
            && matches!((direction, port.port.slot), (Direction::Output, Slot::Location(_))));
    if is_between && stages::is_flat(ty) {
        module.decorate(id, Decoration::Flat, &[]);
    }
    id
}

fn class_of(direction: Direction) -> StorageClass {
    match direction {
        Direction::Input => StorageClass::Input,
        Direction::Output => StorageClass::Output,
    }
}

/// Whether a fragment function writes the depth.
pub(crate) fn replaces_depth(kernel: &Kernel) -> bool {
    let is_depth = |port: &Port| match port.port.slot {
        Slot::Builtin(builtin) => builtin.builtin == BuiltIn::FragDepth,
        Slot::Location(_) => false,
    };
    kernel.ports.iter().any(is_depth)
}

impl FunctionEmitter<'_> {
    pub fn load_port(&mut self, port: PortId, ty: &Type) -> Word {
        let variable = self.interface.ports.0[port.idx()];
        self.ids(Op::Load, ty, &[variable])
    }

    pub fn store_port(&mut self, port: PortId, value: NodeId) {
        let variable = self.interface.ports.0[port.idx()];
        let value = self.value(value);
        self.effect(Op::Store, &[Operand::IdRef(variable), Operand::IdRef(value)]);
    }
}
