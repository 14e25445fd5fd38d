//! Checks the reference pages of the book against the program.
//!
//! The pages are generated from the program and its sources: `UPDATE=1` writes them.

mod array_api;
mod arrays;
mod command_line;
mod error_codes;
mod kernel_functions;
mod kp;
mod modules;

use std::collections::BTreeSet;
use std::path::PathBuf;

use libtest_mimic::Trial;

use crate::program::{self, Program};
use crate::{Failure, compare, root};

pub fn trials(program: &Program) -> Vec<Trial> {
    let trial = |title: &str, check: fn(&Program) -> Result<(), Failure>| {
        let program = program.clone();
        Trial::test(format!("reference/{title}"), move || Ok(check(&program)?))
    };
    vec![
        trial("the command line", |program| compare(&page("command-line.md"), &command_line::page(program)?)),
        trial("error codes", |_| compare(&page("errors.md"), &error_codes::page()?)),
        trial("every error code has a row", |_| error_codes::every_code_has_a_row()),
        trial("modules of scripts", |program| compare(&page("modules.md"), &modules::page(program)?)),
        trial("kernel functions", |program| {
            compare(&page("kernel-functions.md"), &kernel_functions::page(program)?)
        }),
        trial("the module kp", |program| compare(&page("kp.md"), &kp::page(program)?)),
        trial("functions of arrays", |program| compare(&page("arrays.md"), &kp::arrays_page(program)?)),
        trial("the array API standard", |_| compare(&page("array-api.md"), &array_api::page()?)),
        trial("every name of the array API standard is there", array_api::every_name_is_there),
        trial("every name of kp is documented", kp::every_name_is_documented),
    ]
}

fn page(name: &str) -> PathBuf {
    root().join("docs/src/reference").join(name)
}

/// The output of a script.
fn printed(program: &Program, script: &str) -> Result<String, Failure> {
    let mut command = program.command();
    command.args(["run", "-"]).env("KPS_DEVICE", "cpu");
    let output = program::run(command, script)?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(Failure(output.stderr)),
    }
}

/// Every name that is public in a module or a class, in order.
fn members(program: &Program, module: &str, object: &str) -> Result<BTreeSet<String>, Failure> {
    let script = format!(
        "import {module}\nfor name in dir({object}):\n    if not name.startswith('_'):\n        print(name)\n"
    );
    Ok(printed(program, &script)?.lines().map(str::to_owned).collect())
}
