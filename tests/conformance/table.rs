//! Computes the cells of the table, and checks them.

use kps_kernel::intrinsics::{intrinsic, intrinsics};
use kps_kernel::names::functions;

use crate::columns::{Batch, Column, HostRows, cells};
use crate::findings::Findings;
use crate::library;
use crate::lines::{Line, Lines, Output, lines};
use crate::number::{Float, Number};
use crate::rows::{EQUIVALENT_CALLS, FLOAT_TESTS, FLOATS, INT_TESTS, INTS};

/// Limit of differences from CPython that are shown.
const MAX_EXAMPLES: usize = 3;

/// Every bound belongs to a call with a true result, and every call of a row of a kernel function has one.
pub fn every_call_has_a_true_result() -> Result<(), String> {
    let floats: Vec<&str> =
        FLOATS.iter().chain(library::FLOATS).chain(library::FLOATS_OF_NUMBERS).map(|row| row.call).collect();
    let ints = INTS.iter().chain(library::INTS).chain(library::FITTING_INTS).map(|row| row.call);
    let tests = FLOAT_TESTS.iter().chain(library::FLOAT_TESTS).map(|test| test.call);
    let tests = tests.chain(INT_TESTS.iter().map(|test| test.call));
    let exact: Vec<&str> = ints.chain(tests).chain(EQUIVALENT_CALLS.iter().map(|(call, _)| *call)).collect();
    let mut mistakes = Vec::new();
    let of_floats = intrinsics().map(|intrinsic| intrinsic.call).filter(|call| !floats.contains(call));
    mistakes.extend(
        of_floats.map(|call| {
            format!("`{call}` has no true result: write it in FLOATS of tests/conformance/rows.rs")
        }),
    );
    let of_rows = functions().flat_map(|function| function.row().exact).filter(|call| !exact.contains(call));
    mistakes.extend(of_rows.map(|call| {
        format!("`{call}` has no true result: write it in INTS or FLOAT_TESTS of tests/conformance/rows.rs")
    }));
    mistakes.extend(floats.iter().filter(|call| intrinsic(call).is_none()).map(|call| {
        format!("`{call}` has no bound: write it in the row of the function, in compiler/kernel/src/builtins")
    }));
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes.join("\n")) }
}

/// Compares kernels with the true results.
pub fn on_device(number: Number, width: usize, column: Column) -> Result<(), String> {
    let Lines { args, lines } = lines(number, width, column);
    let ty = if width == 1 { number.name() } else { format!("vectors of {}", number.name()) };
    let mut findings = Findings::new(ty, column);
    let mut outputs: Vec<Output> = Vec::new();
    for line in &lines {
        if !outputs.contains(&line.output) {
            outputs.push(line.output);
        }
    }
    for output in outputs {
        let of_output: Vec<&Line> = lines.iter().filter(|line| line.output == output).collect();
        let calls = of_output.iter().map(|line| line.call).collect();
        let batch = Batch { number, output, calls, width, args: &args };
        for (line, cells) in of_output.iter().zip(&batch.on_device(column)?) {
            findings.add(line.call, &(line.check)(cells));
        }
    }
    let messages = kps::device::vulkan::validation_messages();
    if !messages.is_empty() {
        return Err(format!("the validation layer says:\n{}", messages.join("\n")));
    }
    findings.end()
}

/// Compares host code with the true results, and with CPython.
pub fn on_host(number: Number) -> Result<(), String> {
    let Lines { args, lines } = lines(number, 1, Column::Machine);
    let lines: Vec<(&Line, &str)> = lines
        .iter()
        .filter_map(|line| Some((line, line.host?)))
        .filter(|(_, call)| means_the_same(number, call))
        .collect();
    let (prelude, make) = match number {
        Number::Int { bits, .. } => (format!("BITS = {bits}"), "int"),
        Number::Bool => (String::new(), "bool"),
        Number::Float(Float::F64) => (String::new(), "float"),
        Number::Float(Float::F32) => ("import numpy as np".to_owned(), "np.float32"),
        Number::Float(Float::F16 | Float::Bf16) => ("import numpy as np".to_owned(), "np.float16"),
    };
    let calls = lines.iter().map(|(_, call)| *call).collect();
    let host = HostRows { calls, args, prelude, make, bits: number.bits() };
    let printed = host.on_machine()?;
    let mut findings = Findings::new(number.name(), Column::Machine);
    for ((line, _), cells) in lines.iter().zip(&cells(&printed)?) {
        findings.add(line.call, &(line.check)(cells));
    }
    findings.end()?;
    same_as_cpython(&host, &printed)
}

/// The math module computes in f64, and NumPy's scalars do not raise on division by zero.
fn means_the_same(number: Number, call: &str) -> bool {
    match number {
        Number::Float(Float::F16 | Float::F32) => {
            !["math.", "round", "/", "%", "**", "1"].iter().any(|part| call.contains(part))
        }
        Number::Float(Float::Bf16) => false,
        Number::Float(Float::F64) | Number::Int { .. } | Number::Bool => true,
    }
}

/// Compares the text, except for functions whose last digit is unspecified.
fn same_as_cpython(host: &HostRows, printed: &str) -> Result<(), String> {
    let Some(wanted) = host.on_cpython()? else { return Ok(()) };
    let mut rows = Vec::new();
    for (call, (found, wanted)) in host.calls.iter().zip(printed.lines().zip(wanted.lines())) {
        let is_rough = call.contains("math.");
        let cells = found.split_whitespace().zip(wanted.split_whitespace()).zip(&host.args);
        let differ =
            cells.filter(|((found, wanted), _)| found != wanted && !(is_rough && is_near(found, wanted)));
        let differences: Vec<String> = differ
            .map(|((found, wanted), args)| {
                format!("({}) gives {found}, and {wanted} in CPython", args.0.join(", "))
            })
            .collect();
        if !differences.is_empty() {
            let examples = differences[..differences.len().min(MAX_EXAMPLES)].join("\n    ");
            rows.push(format!("{call}\n    {examples}\n    {} in all", differences.len()));
        }
    }
    if rows.is_empty() { Ok(()) } else { Err(format!("CPython differs:\n{}", rows.join("\n"))) }
}

/// Whether at most one float is between two: each may be a unit off.
fn is_near(a: &str, b: &str) -> bool {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a >= b.next_down().next_down() && a <= b.next_up().next_up(),
        _ => false,
    }
}
