//! Validates modules as SPIR-V for Vulkan. Drivers crash on invalid modules, so no driver gets a module
//! before this check.

use ash::vk;
use kps_spirv_tools::{Options, TargetEnv};

use super::physical::Physical;
use crate::{Feature, Result, tools};

/// Refuses a module that breaks a rule of SPIR-V or of Vulkan.
pub(super) fn check(physical: &Physical, words: &[u32]) -> Result<()> {
    let env = match physical.api >= vk::API_VERSION_1_3 {
        true => TargetEnv::Vulkan_1_3,
        false => TargetEnv::Vulkan_1_2,
    };
    let has_scalar_layout = physical.info.features.contains(&Feature::ScalarLayout);
    let options = Options {
        scalar_block_layout: has_scalar_layout,
        uniform_buffer_standard_layout: has_scalar_layout,
        ..Options::default()
    };
    tools::validate_by(env, options, words)
}
