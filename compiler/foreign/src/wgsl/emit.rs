//! naga's module, checked, to SPIR-V words with one entry point.

use kps_syntax::{Diagnostics, Source};
use naga::back::spv::{self, SourceLanguage, WriterFlags, ZeroInitializeWorkgroupMemoryMode};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::{Module, ShaderStage};

use super::{
    atomics, barriers, comparisons, elements, guards, lines, members, memory, recipe, resources, specialise,
    unwritable, zeros,
};
use crate::wgsl::invalid::check;
use crate::wgsl::names::Names;
use crate::{Options, Stage, errors};

/// What the words call their entry point, whatever the text called it.
const ENTRY_POINT: &str = "main";

pub(crate) fn words(source: &Source, mut module: Module, options: &Options) -> Result<Vec<u32>, Diagnostics> {
    let info = check(source, Names { module: &module })
        .map_err(|found| specialise::explain(found, &module, &options.constants))?;
    members::load_alone(&mut module, &info);
    elements::copy_for_calls(&mut module, &info);
    choose_entry_point(source, &mut module, options)?;
    let constants = specialise::take_constants(source, &mut module, &options.constants)?;
    resources::compact(&mut module);
    zeros::store(source, &mut module);
    let info = check(source, Names { module: &module }).map_err(|found| constants.explain(found))?;
    unwritable::check(source, &module, &info)?;
    lines::note_variables(source, &mut module);
    let indices = atomics::indices(&module, &info);
    let words = spv::write_vec(&module, &info, &settings(source, indices), None)
        .map_err(|error| Diagnostics::from(errors::not_emitted(source, &error.to_string())))?;
    let words = comparisons::let_nan_differ(barriers::name_memory(constants.declare(words)));
    let words = memory::strip_layouts(guards::name(words, indices));
    let words = lines::carry_on(lines::strip_unknown(words));
    let words = lines::tell_variables(words);
    Ok(match constants.are_settled() {
        true => recipe::note(words, options, &constants.unset),
        false => words,
    })
}

/// Leaves the entry point that is meant, by the one name.
fn choose_entry_point(source: &Source, module: &mut Module, options: &Options) -> Result<(), Diagnostics> {
    let stage = match options.stage {
        Stage::Compute => ShaderStage::Compute,
        Stage::Vertex => ShaderStage::Vertex,
        Stage::Fragment => ShaderStage::Fragment,
    };
    let names: Vec<String> = module
        .entry_points
        .iter()
        .filter(|entry| entry.stage == stage)
        .map(|entry| entry.name.clone())
        .collect();
    let wanted = match (&options.entry_point, names.as_slice()) {
        (Some(name), names) => names.iter().find(|known| *known == name),
        (_, [only]) => Some(only),
        (_, names) => names.iter().find(|known| *known == ENTRY_POINT),
    };
    let Some(wanted) = wanted.cloned() else {
        let told = match names.len() {
            0 | 1 => errors::no_entry_point(source, stage_words(options.stage), &names),
            _ if options.entry_point.is_some() => {
                errors::no_entry_point(source, stage_words(options.stage), &names)
            }
            _ => errors::several_entry_points(source, &names),
        };
        return Err(told.into());
    };
    module.entry_points.retain(|entry| entry.stage == stage && entry.name == wanted);
    module.entry_points.iter_mut().for_each(|entry| entry.name = ENTRY_POINT.to_owned());
    Ok(())
}

fn stage_words(stage: Stage) -> &'static str {
    match stage {
        Stage::Compute => "compute",
        Stage::Vertex => "vertex",
        Stage::Fragment => "fragment",
    }
}

/// Buffers are kept within their bounds by the device; `index` is for local and shared memory, which are not.
fn settings<'s>(source: &'s Source, index: BoundsCheckPolicy) -> spv::Options<'s> {
    let debug_info = spv::DebugInfo {
        source_code: source.text(),
        file_name: source.name(),
        language: SourceLanguage::Unknown,
    };
    spv::Options {
        lang_version: (1, 3),
        flags: WriterFlags::DEBUG,
        // Without a map, resources keep the numbers that the text gives them.
        fake_missing_bindings: true,
        bounds_check_policies: BoundsCheckPolicies {
            index,
            buffer: BoundsCheckPolicy::Unchecked,
            image_load: BoundsCheckPolicy::Unchecked,
            binding_array: BoundsCheckPolicy::Restrict,
        },
        zero_initialize_workgroup_memory: ZeroInitializeWorkgroupMemoryMode::None,
        // A loop that does not end is for whoever runs it to end.
        force_loop_bounding: false,
        // Inputs and outputs of 16 bits are made of wider ones: compute shaders have none, and few devices do.
        use_storage_input_output_16: false,
        debug_info: Some(debug_info),
        ..spv::Options::default()
    }
}
