//! Reflects the [`Interface`] of one entry point from a SPIR-V binary.
//!
//! `parse` checks that the binary is a module. Then reflection selects the entry point, computes the constants
//! with specialisation applied, and finds the variables that the entry point's functions use. Each resource
//! among them gets its layout and its access.
//!
//! For any binary, nothing here panics, recurses without bound or takes more than linear time. Resources that
//! this crate cannot bind (cube images, arrays of buffers) are errors that name the binding.

mod access;
mod addresses;
mod constants;
mod entry;
mod ids;
mod images;
mod layout;
mod parse;
mod pointers;
mod resources;
mod shared;
mod sources;

use crate::interface::{self, Interface};
use crate::{DeviceError, PipelineOptions, Result};

pub(crate) use constants::Constants;
pub(crate) use parse::{in_host_order, parse};
pub use sources::{SourceText, source_texts};

impl Interface {
    /// What `options.entry_point` of the module binds, with `options.spec_constants` applied.
    pub fn reflect(words: &[u32], options: &PipelineOptions) -> Result<Interface> {
        Ok(reflect(&parse(words)?, options)?.interface)
    }
}

/// The reflection of one entry point.
pub(crate) struct Reflection {
    pub interface: Interface,
    /// Size of the workgroup's shared memory in bytes.
    pub shared_bytes: u64,
    /// With specialisation applied.
    pub constants: Constants,
}

pub(crate) fn reflect(module: &rspirv::dr::Module, options: &PipelineOptions) -> Result<Reflection> {
    let ids = ids::Ids::of(module);
    let entry = entry::find(module, &options.entry_point)?;
    entry.check_variables(module, &ids)?;
    pointers::refuse_as_values(module)?;
    let constants = Constants::evaluate(module, &ids, &options.spec_constants);
    let reached = access::Reached::from_entry(module, &ids, entry.function);
    images::refuse_depth_comparison(module)?;
    let (images, samplers) = images::images(module, &ids, &reached)?;
    let interface = Interface {
        entry_point: options.entry_point.clone(),
        name: ids.name(entry.function).map(str::to_owned),
        local_size: entry.local_size(module, &ids, &constants)?,
        n_declared: resources::n_declared(module, &ids),
        buffers: resources::buffers(module, &ids, &constants, &reached)?,
        images,
        samplers,
        push_constants: resources::push_constants(module, &ids, &constants, &reached)?,
        addresses: addresses::addresses(module, &ids, &constants, &reached)?,
        spec_constants: constants.specialisable(module, &ids)?,
        depends_on_group: entry.depends_on_group(&ids),
        specialised: is_specialised(module),
        records: records(module),
    };
    let shared_bytes = shared::bytes(module, &constants, &reached);
    Ok(Reflection { interface, shared_bytes, constants })
}

/// Whether the translator of a shader has marked the module.
fn is_specialised(module: &rspirv::dr::Module) -> bool {
    module.debug_module_processed.iter().any(|instruction| {
        let text = instruction.operands.first();
        matches!(text, Some(rspirv::dr::Operand::LiteralString(text)) if text.starts_with(interface::SPECIALISED))
    })
}

/// The texts of places with records for the host.
fn records(module: &rspirv::dr::Module) -> Vec<String> {
    let texts = module.debug_string_source.iter().filter_map(|instruction| match &instruction.operands[..] {
        [rspirv::dr::Operand::LiteralString(text)] if text.starts_with(interface::RECORD) => {
            Some(text.clone())
        }
        _ => None,
    });
    texts.collect()
}

fn bad_module(message: impl Into<String>) -> DeviceError {
    DeviceError::BadModule { message: message.into(), line: None }
}
