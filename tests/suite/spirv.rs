//! Validates the modules that a run wrote, by a validator that is compiled into the suite.

use std::path::Path;

use kps_spirv_tools::{Options, TargetEnv};

use crate::Failure;

/// Validates every `.spv` file of a folder; a missing folder has none.
pub fn validate_all(folder: &Path) -> Result<(), Failure> {
    let Ok(entries) = folder.read_dir() else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        validate(&std::fs::read(&path)?).map_err(|text| Failure(format!("{}: {text}", path.display())))?;
    }
    Ok(())
}

fn validate(bytes: &[u8]) -> Result<(), String> {
    let (words, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err("its length is not a multiple of 4".to_owned());
    }
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    // Modules of launches are compiled for the current device; both have scalar block layout.
    let options =
        Options { scalar_block_layout: true, uniform_buffer_standard_layout: true, ..Options::default() };
    kps_spirv_tools::validate(&words, TargetEnv::Vulkan_1_2, options)
}
