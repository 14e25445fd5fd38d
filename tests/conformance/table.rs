//! Computes the cells of the table, and checks them.

use kps_kernel::intrinsics::{INTRINSICS, intrinsic};

use crate::columns::{Batch, Column, HostRows, cells};
use crate::findings::Findings;
use crate::library;
use crate::lines::{Line, Lines, Output, lines};
use crate::number::{Float, Number};
use crate::rows::{EQUIVALENT_CALLS, FLOAT_TESTS, FLOATS, INTS};

/// Limit of differences from CPython that are shown.
const MAX_EXAMPLES: usize = 3;

/// Functions without rows in this table: casts and matrices have tables of their own; images and `discard`
/// have no numeric result.
const NOT_IN_TABLE: [&str; 11] = [
    "bitcast",
    "transpose",
    "determinant",
    "inverse",
    "matrix_inverse",
    "read",
    "imageLoad",
    "write",
    "imageStore",
    "sample",
    "discard",
];

pub fn every_intrinsic_has_a_row() -> Result<(), String> {
    let rows: Vec<&str> = FLOATS.iter().map(|row| row.call).collect();
    let missing = INTRINSICS.iter().filter(|intrinsic| !rows.contains(&intrinsic.call)).map(|row| row.call);
    let unknown = rows.iter().copied().filter(|call| intrinsic(call).is_none());
    let odd: Vec<&str> = missing.chain(unknown).collect();
    if odd.is_empty() { Ok(()) } else { Err(format!("in one of the two tables alone: {}", odd.join(", "))) }
}

/// Checks that every function which kernels know by a name of Python's `math`, GLSL's or PyShader's has a
/// row, library functions included.
pub fn every_function_has_a_row() -> Result<(), String> {
    let calls: Vec<&str> = INTS
        .iter()
        .map(|row| row.call)
        .chain(FLOATS.iter().map(|row| row.call))
        .chain(FLOAT_TESTS.iter().map(|row| row.call))
        .chain(EQUIVALENT_CALLS.iter().map(|(call, _)| *call))
        .chain(library::calls())
        .collect();
    let functions = kps_kernel::stdlib().filter(|(_, value)| value.is_none()).map(|(name, _)| name);
    let missing: Vec<&str> = functions
        .chain(library::functions())
        .filter(|name| !NOT_IN_TABLE.contains(name) && !calls.iter().any(|call| is_called(name, call)))
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("no row calls {}", missing.join(", "))) }
}

fn is_called(name: &str, call: &str) -> bool {
    call.match_indices(name).any(|(at, _)| {
        let is_part = call[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
        !is_part && call[at + name.len()..].starts_with('(')
    })
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
