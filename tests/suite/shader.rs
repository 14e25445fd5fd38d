//! One shader in GLSL or WGSL with the content of its tensors after it ran: `NAME.comp.out`, `NAME.wgsl.out`.
//!
//! The script `run.kps` beside it runs it. It reads from the shader's first line what to bind.

use std::path::Path;

use crate::device::TestDevice;
use crate::program::{self, Program};
use crate::{Failure, compare};

pub fn run(program: &Program, shader: &Path, device: TestDevice) -> Result<(), Failure> {
    let mut command = program.command();
    command.arg("run").arg(shader.with_file_name("run.kps")).arg(shader);
    device.choose(&mut command);
    let output = program::run(command, "")?;
    match output.status.success() {
        true => compare(&expected(shader), &output.stdout),
        false => Err(Failure(output.stderr)),
    }
}

fn expected(shader: &Path) -> std::path::PathBuf {
    let mut name = shader.file_name().unwrap_or_default().to_owned();
    name.push(".out");
    shader.with_file_name(name)
}
