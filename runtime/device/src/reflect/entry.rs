//! Finds the entry point and the size of its workgroups.

use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, ExecutionModel, StorageClass};

use super::bad_module;
use super::constants::Constants;
use super::ids::{Ids, id_at, literal_at};
use crate::Result;

#[derive(Clone, Copy)]
pub(super) struct Entry<'m> {
    name: &'m str,
    pub function: u32,
    /// Its inputs and outputs, and since SPIR-V 1.4 all global variables that it uses.
    variables: &'m [Operand],
}

/// The compute shader of this name.
pub(super) fn find<'m>(module: &'m Module, name: &str) -> Result<Entry<'m>> {
    let all: Vec<_> = module.entry_points.iter().filter_map(declared).collect();
    let named: Vec<_> = all.iter().filter(|(_, entry)| entry.name == name).collect();
    if let Some((_, entry)) = named.iter().find(|(model, _)| *model == ExecutionModel::GLCompute) {
        return Ok(Entry { ..*entry });
    }
    if let Some((model, _)) = named.first() {
        return Err(bad_module(format!("entry point `{name}` is a {model:?} shader, not a compute shader")));
    }
    if all.is_empty() {
        return Err(bad_module(format!("entry point `{name}` not found; the module has none")));
    }
    let names: Vec<_> = all.iter().map(|(_, entry)| format!("`{}`", entry.name)).collect();
    Err(bad_module(format!("entry point `{name}` not found; the module has: {}", names.join(", "))))
}

fn declared(instruction: &Instruction) -> Option<(ExecutionModel, Entry<'_>)> {
    match instruction.operands.as_slice() {
        [
            Operand::ExecutionModel(model),
            Operand::IdRef(function),
            Operand::LiteralString(name),
            variables @ ..,
        ] => Some((*model, Entry { name, function: *function, variables })),
        _ => None,
    }
}

impl Entry<'_> {
    /// Refuses inputs and outputs of other stages, and non-built-in inputs: drivers crash on them in compute
    /// shaders.
    pub fn check_variables(&self, module: &Module, ids: &Ids) -> Result<()> {
        self.check_locations(module, ids)?;
        let inputs = self.variables.iter().filter_map(Operand::id_ref_any);
        inputs.into_iter().try_for_each(|id| check_input(id, ids))
    }

    fn check_locations(&self, module: &Module, ids: &Ids) -> Result<()> {
        let located = module.annotations.iter().filter_map(|inst| match &inst.operands[..] {
            [Operand::IdRef(id), Operand::Decoration(Decoration::Location), ..] => Some(*id),
            _ => None,
        });
        let mut located = located.filter(|id| self.variables.contains(&Operand::IdRef(*id)));
        match located.next() {
            None => Ok(()),
            Some(id) => {
                let name = named(id, ids, "an input or output");
                let message =
                    format!("{name} has a location, which compute shaders have none of: bind a buffer");
                Err(bad_module(message))
            }
        }
    }

    /// Whether an input differs between workgroups.
    pub fn depends_on_group(&self, ids: &Ids) -> bool {
        let inputs = self.variables.iter().filter_map(Operand::id_ref_any);
        inputs.filter_map(|id| ids.built_in_of(id)).any(|built_in| {
            matches!(built_in, BuiltIn::GlobalInvocationId | BuiltIn::WorkgroupId | BuiltIn::NumWorkgroups)
        })
    }

    /// The constant decorated `WorkgroupSize` overrides `LocalSizeId`, which overrides `LocalSize`.
    pub fn local_size(&self, module: &Module, ids: &Ids, constants: &Constants) -> Result<[u32; 3]> {
        let size = match ids.built_in(BuiltIn::WorkgroupSize) {
            Some(id) => constants.composite(id),
            None => self.declared_size(module, constants),
        };
        match size {
            Some(size) if size.iter().all(|&n| n > 0) => Ok(size),
            Some([x, y, z]) => Err(bad_module(format!(
                "the workgroup of entry point `{}` is {x} x {y} x {z}: it has no invocations",
                self.name
            ))),
            None => Err(bad_module(format!("entry point `{}` does not say its workgroup's size", self.name))),
        }
    }

    fn declared_size(&self, module: &Module, constants: &Constants) -> Option<[u32; 3]> {
        let mode = |wanted| {
            module.execution_modes.iter().find(|mode| {
                id_at(mode, 0) == Some(self.function)
                    && mode.operands.get(1) == Some(&Operand::ExecutionMode(wanted))
            })
        };
        if let Some(mode) = mode(ExecutionMode::LocalSizeId) {
            let size = |index| constants.u32(id_at(mode, index)?);
            return Some([size(2)?, size(3)?, size(4)?]);
        }
        let mode = mode(ExecutionMode::LocalSize)?;
        Some([literal_at(mode, 2)?, literal_at(mode, 3)?, literal_at(mode, 4)?])
    }
}

fn named(id: u32, ids: &Ids, otherwise: &str) -> String {
    ids.name(id).map_or_else(|| otherwise.to_owned(), |name| format!("`{name}`"))
}

/// An input must be a built-in of the right type.
fn check_input(id: u32, ids: &Ids) -> Result<()> {
    let Some(variable) = ids.definition(id) else { return Ok(()) };
    if variable.operands.first() != Some(&Operand::StorageClass(StorageClass::Input)) {
        return Ok(());
    }
    let name = named(id, ids, "an input");
    let Some(built_in) = ids.built_in_of(id) else {
        let message =
            format!("{name} is no built-in, which all inputs of compute shaders are: bind a buffer");
        return Err(bad_module(message));
    };
    let n_components = match built_in {
        BuiltIn::GlobalInvocationId
        | BuiltIn::LocalInvocationId
        | BuiltIn::WorkgroupId
        | BuiltIn::NumWorkgroups => 3,
        BuiltIn::LocalInvocationIndex
        | BuiltIn::SubgroupSize
        | BuiltIn::SubgroupLocalInvocationId
        | BuiltIn::NumSubgroups
        | BuiltIn::SubgroupId => 1,
        _ => return Ok(()),
    };
    if ids.n_ints(variable) == Some(n_components) {
        return Ok(());
    }
    let ty = if n_components == 1 { "one 32-bit int" } else { "three 32-bit ints" };
    Err(bad_module(format!("{name} is the built-in `{built_in:?}`, which is {ty}, and has another type")))
}
