//! The conformance table: every operator and every math function, on every type, over a grid of boundary
//! values, on the host, on the CPU device and on Vulkan, compared with the true result.
//!
//! Ints, tests and correctly rounded results must agree bit for bit; others must keep the bound in the table
//! of intrinsics. Host code must print what CPython prints, if that is installed. `UPDATE=1` writes
//! `docs/src/reference/accuracy.md` from the table.

mod casts;
mod columns;
mod findings;
mod judge;
mod library;
mod lines;
mod matrices;
mod number;
mod page;
mod rows;
mod steps;
mod table;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use columns::Column;
use number::{Float, NUMBERS, Number};

fn main() -> ExitCode {
    kps::device::vulkan::request_validation();
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for number in NUMBERS {
        let name = number.name();
        trials.push(trial(format!("{name} on the host"), move || table::on_host(number)));
        for column in [Column::BuiltIn, Column::Vulkan] {
            trials.push(trial(format!("{name} on {}", column.name()), move || {
                table::on_device(number, 1, column)
            }));
            trials.push(trial(format!("vectors of {name} on {}", column.name()), move || {
                table::on_device(number, 3, column)
            }));
        }
    }
    for float in [Float::F16, Float::Bf16, Float::F32, Float::F64] {
        let name = Number::Float(float).name();
        for column in [Column::BuiltIn, Column::Vulkan] {
            trials.push(trial(format!("matrices of {name} on {}", column.name()), move || {
                matrices::on_device(float, column)
            }));
            trials
                .push(trial(format!("matrices of {name}, step by step, on {}", column.name()), move || {
                    steps::on_device(float, column)
                }));
        }
    }
    trials.push(trial("every call has a true result".to_owned(), table::every_call_has_a_true_result));
    trials.push(trial("the page of intrinsics is true".to_owned(), page::is_true));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(name: String, run: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
    Trial::test(name, move || Ok(run()?))
}
