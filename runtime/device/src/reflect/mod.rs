//! SPIR-V words in, the [`Interface`] of one entry point out.
//!
//! `parse` checks that the words are a module at all; then the entry point is chosen, the
//! constants are computed with the specialisation applied, what the entry point's functions reach is
//! gathered, and each resource among it gets its layout and its access. Whatever the words are, nothing
//! here panics, recurses without bound or takes more than time proportional to them; what cannot be
//! bound by this crate (cube images, arrays of buffers) is an error that names the binding.

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

/// What a parsed module tells of one entry point.
pub(crate) struct Reflection {
    pub interface: Interface,
    /// Bytes of memory that the invocations of a workgroup share.
    pub shared_bytes: u64,
    /// With the specialisation applied.
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

/// Whether the translator of a shader says so.
fn is_specialised(module: &rspirv::dr::Module) -> bool {
    module.debug_module_processed.iter().any(|instruction| {
        let text = instruction.operands.first();
        matches!(text, Some(rspirv::dr::Operand::LiteralString(text)) if text.starts_with(interface::SPECIALISED))
    })
}

/// The texts of the places that tell the host something.
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
