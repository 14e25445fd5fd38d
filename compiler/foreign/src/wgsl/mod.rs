//! Compiles WGSL to SPIR-V, by naga.
//!
//! naga parses the text (`read`; `parse_errors` and `suggestions` reword its messages), validates the module
//! (`invalid`) and emits SPIR-V (`emit`). Each other file is a pass over naga's module or the SPIR-V that
//! corrects one deviation of naga.

use kps_syntax::{Diagnostics, Source};
use naga::front::wgsl::Frontend;

use crate::{EntryPoint, Options, Stage};

mod atomics;
mod barriers;
mod comparisons;
mod composite_comparisons;
mod constant_errors;
mod elements;
mod emit;
mod guards;
mod invalid;
mod lines;
mod members;
mod memory;
mod names;
mod panics;
mod parse_errors;
pub(crate) mod recipe;
mod resources;
mod specialise;
mod statements;
mod suggestions;
mod unwritable;
mod zeros;

pub(crate) fn compile(source: &Source, options: &Options) -> Result<Vec<u32>, Diagnostics> {
    panics::caught(source, || emit::words(source, read(source)?, options))
}

/// The entry points of a text, in its order.
pub(crate) fn entry_points(source: &Source) -> Result<Vec<EntryPoint>, Diagnostics> {
    let module = panics::caught(source, || read(source))?;
    let known = module.entry_points.into_iter().filter_map(|entry| {
        let stage = match entry.stage {
            naga::ShaderStage::Compute => Stage::Compute,
            naga::ShaderStage::Vertex => Stage::Vertex,
            naga::ShaderStage::Fragment => Stage::Fragment,
            _ => return None,
        };
        Some(EntryPoint { stage, name: entry.name })
    });
    Ok(known.collect())
}

fn read(source: &Source) -> Result<naga::Module, Diagnostics> {
    let text = without_enabled_subgroups(source.text());
    Frontend::new().parse(&text).map_err(|error| Diagnostics::from(parse_errors::diagnostic(source, &error)))
}

/// Blanks out `enable subgroups;`. naga refuses that line but has the operations of subgroups, which other
/// compilers offer only with it. Blanks keep all places unchanged.
fn without_enabled_subgroups(text: &str) -> String {
    const DIRECTIVE: &str = "enable subgroups;";
    text.replace(DIRECTIVE, &" ".repeat(DIRECTIVE.len()))
}
