//! Emits naga's validated module as SPIR-V with one entry point.

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

/// The entry point's name in the module, whatever name the text has for it.
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
    lines::encode_variable_lines(source, &mut module);
    let indices = atomics::indices(&module, &info);
    let words = spv::write_vec(&module, &info, &settings(source, indices), None)
        .map_err(|error| Diagnostics::from(errors::not_emitted(source, &error.to_string())))?;
    let words = comparisons::let_nan_differ(barriers::name_memory(constants.declare(words)));
    let words = memory::strip_layouts(guards::name(words, indices));
    let words = lines::carry_on(lines::strip_unknown(words));
    let words = lines::emit_variable_lines(words);
    Ok(match constants.are_specialised() {
        true => recipe::note(words, options, &constants.unset),
        false => words,
    })
}

/// Keeps only the requested entry point, and renames it.
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
        let diagnostic = match names.len() {
            0 | 1 => errors::no_entry_point(source, stage_words(options.stage), &names),
            _ if options.entry_point.is_some() => {
                errors::no_entry_point(source, stage_words(options.stage), &names)
            }
            _ => errors::several_entry_points(source, &names),
        };
        return Err(diagnostic.into());
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

/// Devices bound the accesses to buffers. `index` is the policy for local and shared memory.
fn settings<'s>(source: &'s Source, index: BoundsCheckPolicy) -> spv::Options<'s> {
    let debug_info = spv::DebugInfo {
        source_code: source.text(),
        file_name: source.name(),
        language: SourceLanguage::Unknown,
    };
    spv::Options {
        lang_version: (1, 3),
        flags: WriterFlags::DEBUG,
        // Without a map, resources keep the bindings of the text.
        fake_missing_bindings: true,
        bounds_check_policies: BoundsCheckPolicies {
            index,
            buffer: BoundsCheckPolicy::Unchecked,
            image_load: BoundsCheckPolicy::Unchecked,
            binding_array: BoundsCheckPolicy::Restrict,
        },
        zero_initialize_workgroup_memory: ZeroInitializeWorkgroupMemoryMode::None,
        // Whoever runs a loop that does not end stops it.
        force_loop_bounding: false,
        // It implements 16-bit inputs and outputs by wider ones. Compute shaders have none, and few devices
        // do.
        use_storage_input_output_16: false,
        debug_info: Some(debug_info),
        ..spv::Options::default()
    }
}
