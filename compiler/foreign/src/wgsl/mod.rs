//! WGSL text to SPIR-V words, by naga.
//!
//! naga reads the text (`read`; its messages become ours in `told` and `limits`), checks the module (`invalid`) and
//! writes the words (`emit`). The other files are passes over the module or the words, one for each thing that naga
//! does otherwise than this project needs.

use kps_syntax::{Diagnostics, Source};
use naga::front::wgsl::Frontend;

use crate::{EntryPoint, Options, Stage};

mod atomics;
mod barriers;
mod comparisons;
mod elements;
mod emit;
mod evaluated;
mod guards;
mod invalid;
mod limits;
mod lines;
mod members;
mod memory;
mod names;
mod panics;
pub(crate) mod recipe;
mod resources;
mod specialise;
mod statements;
mod told;
mod unwritable;
mod wholes;
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
    Frontend::new().parse(&text).map_err(|error| Diagnostics::from(told::diagnostic(source, &error)))
}

/// naga has the operations of subgroups and refuses `enable subgroups;`, without which nobody else has them: blanks
/// stand in its place, so that all else keeps its own.
fn without_enabled_subgroups(text: &str) -> String {
    const DIRECTIVE: &str = "enable subgroups;";
    text.replace(DIRECTIVE, &" ".repeat(DIRECTIVE.len()))
}
