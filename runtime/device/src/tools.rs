//! The SPIR-V tools: validation and assembly. They need no device, and do not load Vulkan.

pub use kps_spirv_tools::AssemblyError;
use kps_spirv_tools::{Options, TargetEnv};

use crate::{DeviceError, Result, offsets};

/// Refuses a module that breaks a rule of SPIR-V or of the newest Vulkan.
pub fn validate(words: &[u32]) -> Result<()> {
    let options =
        Options { scalar_block_layout: true, uniform_buffer_standard_layout: true, ..Options::default() };
    validate_by(TargetEnv::Vulkan_1_3, options, words)
}

/// Validates by the rules of an environment, with some options.
pub(crate) fn validate_by(env: TargetEnv, options: Options, words: &[u32]) -> Result<()> {
    offsets::check(words)?;
    kps_spirv_tools::validate(words, env, options).map_err(|reason| {
        // The other lines print the instruction.
        let reason = reason.lines().next().unwrap_or_default().trim();
        DeviceError::BadModule { message: format!("the module is not valid SPIR-V: {reason}"), line: None }
    })
}

/// Assembles SPIR-V of the version in its header comment, or else the newest.
pub fn assemble(text: &str) -> std::result::Result<Vec<u32>, AssemblyError> {
    let mut words = kps_spirv_tools::assemble(text, TargetEnv::Vulkan_1_3)?;
    if let (Some(version), Some(place)) = (stated_version(text), words.get_mut(1)) {
        *place = version;
    }
    Ok(words)
}

/// The version in the comment `; Version: 1.3`, with which a disassembly begins.
fn stated_version(text: &str) -> Option<u32> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let header = lines.map_while(|line| line.strip_prefix(';'));
    let version = header.filter_map(|line| line.trim().strip_prefix("Version:")).next()?;
    let (major, minor) = version.split_whitespace().next()?.split_once('.')?;
    Some(u32::from(major.parse::<u8>().ok()?) << 16 | u32::from(minor.parse::<u8>().ok()?) << 8)
}
