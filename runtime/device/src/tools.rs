//! What the SPIR-V tools know: whether words are a valid module, and the words of assembly.
//! No device is needed, and nothing of Vulkan is loaded.

use spirv_tools::TargetEnv;
use spirv_tools::assembler::{self, Assembler, AssemblerOptions};
use spirv_tools::val::{self, Validator, ValidatorOptions};

use crate::{DeviceError, Result, offsets};

/// Refuses a module that breaks a rule of SPIR-V or of the newest Vulkan.
pub fn validate(words: &[u32]) -> Result<()> {
    let options = ValidatorOptions {
        scalar_block_layout: true,
        uniform_buffer_standard_layout: true,
        ..ValidatorOptions::default()
    };
    validate_by(TargetEnv::Vulkan_1_3, options, words)
}

/// The same by the rules of some Vulkan with some options.
pub(crate) fn validate_by(env: TargetEnv, options: ValidatorOptions, words: &[u32]) -> Result<()> {
    offsets::check(words)?;
    val::create(Some(env)).validate(words, Some(options)).map_err(|error| {
        let said = error.diagnostic.map_or(error.inner.to_string(), |diagnostic| diagnostic.message);
        // The rest shows the instruction.
        let said = said.lines().next().unwrap_or_default().trim();
        DeviceError::BadModule { message: format!("the module is not valid SPIR-V: {said}"), line: None }
    })
}

/// The words of assembly, of the version that its header says or else the newest. An error says the line,
/// which counts from 1.
pub fn assemble(text: &str) -> std::result::Result<Vec<u32>, (String, u32)> {
    let words = assembler::create(Some(TargetEnv::Vulkan_1_3)).assemble(text, AssemblerOptions::default());
    match words {
        Ok(words) => {
            let mut words = AsRef::<[u32]>::as_ref(&words).to_vec();
            if let (Some(version), Some(place)) = (stated_version(text), words.get_mut(1)) {
                *place = version;
            }
            Ok(words)
        }
        Err(error) => Err(match error.diagnostic {
            Some(diagnostic) => (diagnostic.message, diagnostic.line as u32 + 1),
            None => (error.inner.to_string(), 1),
        }),
    }
}

/// What `; Version: 1.3`, one of the comments that a disassembly begins with, says.
fn stated_version(text: &str) -> Option<u32> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let header = lines.map_while(|line| line.strip_prefix(';'));
    let version = header.filter_map(|line| line.trim().strip_prefix("Version:")).next()?;
    let (major, minor) = version.split_whitespace().next()?.split_once('.')?;
    Some(u32::from(major.parse::<u8>().ok()?) << 16 | u32::from(minor.parse::<u8>().ok()?) << 8)
}
