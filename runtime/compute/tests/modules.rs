//! The modules that the tests of this crate run are valid SPIR-V.

mod common;

use common::kernels::{self, Of};
use spirv_tools::TargetEnv;
use spirv_tools::val::Validator;

#[test]
fn every_module_is_valid() {
    let modules = [
        ("multiply", kernels::multiply()),
        ("add", kernels::add()),
        ("increment", kernels::increment()),
        ("add_push", kernels::add_push(Of::F32)),
        ("add_push of ints", kernels::add_push(Of::I32)),
        ("scale", kernels::scale()),
    ];
    for (name, words) in modules {
        let validator = spirv_tools::val::create(Some(TargetEnv::Vulkan_1_2));
        assert_eq!(validator.validate(&words, None).map_err(|error| error.to_string()), Ok(()), "{name}");
    }
}
