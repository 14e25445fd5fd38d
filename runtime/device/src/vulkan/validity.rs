//! Whether a module is valid SPIR-V for Vulkan. Drivers take that for granted and crash where it is not so,
//! so nothing reaches them that was not looked at here.

use ash::vk;
use spirv_tools::TargetEnv;
use spirv_tools::val::{self, Validator, ValidatorOptions};

use super::physical::Physical;
use crate::{DeviceError, Feature, Result};

/// Refuses a module that breaks a rule of SPIR-V or of Vulkan.
pub(super) fn check(physical: &Physical, words: &[u32]) -> Result<()> {
    let env = match physical.api >= vk::API_VERSION_1_3 {
        true => TargetEnv::Vulkan_1_3,
        false => TargetEnv::Vulkan_1_2,
    };
    let has_scalar_layout = physical.info.features.contains(&Feature::ScalarLayout);
    let options = ValidatorOptions {
        scalar_block_layout: has_scalar_layout,
        uniform_buffer_standard_layout: has_scalar_layout,
        ..ValidatorOptions::default()
    };
    val::create(Some(env)).validate(words, Some(options)).map_err(|error| {
        let said = error.diagnostic.map_or(error.inner.to_string(), |diagnostic| diagnostic.message);
        // The rest shows the instruction.
        let said = said.lines().next().unwrap_or_default().trim();
        DeviceError::BadModule { message: format!("the module is not valid SPIR-V: {said}"), line: None }
    })
}
