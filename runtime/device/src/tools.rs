//! The SPIR-V tools: validation and assembly. They need no device, and do not load Vulkan.

pub use kps_spirv_tools::AssemblyError;
use kps_spirv_tools::{Options, TargetEnv};

use crate::{DeviceError, Result, offsets};

/// Refuses a module that breaks a rule of SPIR-V or of the newest Vulkan.
pub fn validate(words: &[u32]) -> Result<()> {
    check_rules(words).map_err(bad_module)
}

/// The same, with the rule alone, in the words of the validator.
pub fn check_rules(words: &[u32]) -> std::result::Result<(), String> {
    let options =
        Options { scalar_block_layout: true, uniform_buffer_standard_layout: true, ..Options::default() };
    check_rules_by(TargetEnv::Vulkan_1_3, options, words)
}

/// Validates by the rules of an environment, with some options.
pub(crate) fn validate_by(env: TargetEnv, options: Options, words: &[u32]) -> Result<()> {
    check_rules_by(env, options, words).map_err(bad_module)
}

fn check_rules_by(env: TargetEnv, options: Options, words: &[u32]) -> std::result::Result<(), String> {
    offsets::check(words)?;
    kps_spirv_tools::validate(words, env, options)
        // The other lines print the instruction.
        .map_err(|reason| reason.lines().next().unwrap_or_default().trim().to_owned())
}

fn bad_module(rule: String) -> DeviceError {
    DeviceError::BadModule { message: format!("the module is not valid SPIR-V: {rule}"), line: None }
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
