//! A short run of `tests/soak`: random operations from a fixed seed, whose results and memory the script checks.

use crate::device::TestDevice;
use crate::program::{self, Program};
use crate::{Failure, root};

pub fn run(program: &Program, device: TestDevice) -> Result<(), Failure> {
    let mut command = program.command();
    command.arg("run").arg(root().join("tests/soak/soak.kps"));
    // Neither time nor speed decides what runs.
    command.args(["seed=1", "operations=2500", "seconds=300"]);
    device.choose(&mut command);
    let output = program::run(command, "")?;
    match output.status.success() {
        true => Ok(()),
        false => Err(Failure(format!("{}{}", output.stdout, output.stderr))),
    }
}
