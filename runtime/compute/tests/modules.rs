//! The modules that the tests of this crate run are valid SPIR-V.

mod common;

use common::kernels::{self, Of};
use kps_spirv_tools::{Options, TargetEnv, validate};

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
        assert_eq!(validate(&words, TargetEnv::Vulkan_1_2, Options::default()), Ok(()), "{name}");
    }
}
