//! Shared by the tests of devices: assembled modules, and the devices.

#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod devices;

use kps_spirv_tools::{Options, TargetEnv, validate};

/// The valid module `tests/modules/NAME.spvasm`. The current directory is that of this crate.
pub fn module(name: &str) -> Vec<u32> {
    let path = format!("tests/modules/{name}.spvasm");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    // The old style ended with SPIR-V 1.3.
    let env = if name == "old_style" { TargetEnv::Vulkan_1_0 } else { TargetEnv::Vulkan_1_3 };
    let words = assemble_for(env, &text);
    let options = Options { relax_logical_pointer: true, ..Options::default() };
    validate(&words, env, options).unwrap_or_else(|error| panic!("{name} is not valid: {error}"));
    words
}

pub fn assemble(text: &str) -> Vec<u32> {
    assemble_for(TargetEnv::Vulkan_1_2, text)
}

/// For SPIR-V 1.0, where storage buffers were a kind of uniform.
pub fn assemble_old(text: &str) -> Vec<u32> {
    assemble_for(TargetEnv::Vulkan_1_0, text)
}

pub fn assemble_for(env: TargetEnv, text: &str) -> Vec<u32> {
    kps_spirv_tools::assemble(text, env).expect("the module assembles")
}

/// Runs an ignored test of the calling file in its own process.
pub fn in_child(test: &str, environment: &[(&str, &str)]) {
    let program = std::env::current_exe().expect("this test is a program");
    let mut child = std::process::Command::new(program);
    child.args(["--exact", test, "--ignored", "--nocapture"]);
    child.env_remove("KPS_VALIDATION").envs(environment.iter().copied());
    let output = child.output().expect("it starts");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{environment:?}: {text}");
}
