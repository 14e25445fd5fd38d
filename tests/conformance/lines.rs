//! The lines of the table for one type, with the checks of their cells.

use kps_kernel::intrinsics::{Intrinsic, intrinsic};
use kps_kernel::names::functions;

use crate::casts;
use crate::columns::{Cell, Column, Printed};
use crate::judge::Judge;
use crate::library;
use crate::number::{Float, Number, Triple, bools, floats, int_range, ints, python};
use crate::rows::{
    BOOL_TESTS, EQUIVALENT_CALLS, FLOAT_TESTS, FLOATS, FloatRow, Host, INT_TESTS, INTS, IntRow, SIGNED_INTS,
    Test,
};

/// The type of a line's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    Bool,
    Number(Number),
}

impl Output {
    /// Its name in kernels.
    pub fn name(self) -> String {
        match self {
            Output::Bool => "bool".to_owned(),
            Output::Number(number) => number.name(),
        }
    }

    /// Its name in NumPy.
    pub fn dtype(self) -> String {
        match self {
            Output::Bool => "bool".to_owned(),
            Output::Number(number) => number.dtype(),
        }
    }
}

/// Returns a complaint for each wrong cell of a line.
type Check = Box<dyn Fn(&[Cell]) -> Vec<String>>;

pub struct Line {
    pub call: &'static str,
    /// The host's call, if it has one.
    pub host: Option<&'static str>,
    pub output: Output,
    pub check: Check,
}

pub struct Lines {
    /// The arguments of every line, in Python's notation.
    pub args: Vec<Triple<String>>,
    pub lines: Vec<Line>,
}

/// The lines of a type for vectors of length `width`; 1 is scalars.
pub fn lines(number: Number, width: usize, column: Column) -> Lines {
    match number {
        Number::Bool => {
            let args = whole(bools(), width);
            let mut lines: Vec<Line> = BOOL_TESTS.iter().map(|test| test_line(test, &args)).collect();
            if width == 1 {
                lines.extend(casts::of_bools(column, &args));
            }
            let text = |of: &bool| if *of { "True".to_owned() } else { "False".to_owned() };
            Lines { args: write(&args, text), lines: vector_lines(lines, width) }
        }
        Number::Int { bits, signed } => {
            let args = whole(ints(bits, signed), width);
            let rows = INTS.iter().chain(SIGNED_INTS.iter().filter(|_| signed));
            let line = |row| int_line(row, number, (bits, signed), &args);
            let mut lines: Vec<Line> = rows.map(line).collect();
            lines.extend(equivalent_calls().filter_map(|(call, meant)| {
                let row = INTS.iter().find(|row| row.call == meant)?;
                Some(Line { call, host: None, ..line(row) })
            }));
            lines.extend(INT_TESTS.iter().map(|test| test_line(test, &args)));
            lines.push(quotient_line(number.as_float(), column, &args));
            if width == 1 {
                lines.extend(library::INTS.iter().map(line));
                let fitting = |row| fitting_line(row, number, (bits, signed), &args);
                lines.extend(library::FITTING_INTS.iter().map(fitting));
                lines.extend(casts::of_ints(column, bits, &args));
            }
            Lines { args: write(&args, |int| int.to_string()), lines: vector_lines(lines, width) }
        }
        Number::Float(float) => {
            let args = whole(floats(float), width);
            let line = |row| float_line(row, promised(row), float, column, &args);
            let numbers = if width == 1 { library::FLOATS_OF_NUMBERS } else { &[] };
            let rows = FLOATS.iter().chain(library::FLOATS).chain(numbers);
            let mut lines: Vec<Line> = rows.map(line).collect();
            lines.extend(equivalent_calls().filter_map(|(call, meant)| {
                let row = FLOATS.iter().find(|row| row.call == meant)?;
                Some(Line { call, host: None, ..line(row) })
            }));
            // Flushed numbers compare as zeros do.
            let flushes = column == Column::Vulkan;
            let library_tests = if width == 1 { library::FLOAT_TESTS } else { &[] };
            lines.extend(FLOAT_TESTS.iter().chain(library_tests).map(|test| match flushes {
                true => flushing_test_line(test, float, &args),
                false => test_line(test, &args),
            }));
            if width == 1 {
                lines.extend(casts::of_floats(column, float, &args));
            }
            Lines { args: write(&args, |float| python(*float)), lines: vector_lines(lines, width) }
        }
    }
}

/// Equivalent calls, with those by the other names of functions.
fn equivalent_calls() -> impl Iterator<Item = (&'static str, &'static str)> {
    let aliases = functions().flat_map(|function| {
        let row = function.row();
        let calls: Vec<&str> =
            row.floats.iter().map(|intrinsic| intrinsic.call).chain(row.exact.iter().copied()).collect();
        let renamed = |name: &str, call: &str| call.replacen(row.name(), name, 1);
        let of_name = move |name: &'static str| {
            calls.iter().map(|call| (renamed(name, call), *call)).collect::<Vec<_>>()
        };
        row.names[1..].iter().flat_map(move |name| of_name(name))
    });
    let aliases = aliases.map(|(call, meant)| -> (&'static str, _) { (call.leak(), meant) });
    EQUIVALENT_CALLS.iter().copied().chain(aliases)
}

fn vector_lines(mut lines: Vec<Line>, width: usize) -> Vec<Line> {
    // Constructors of vectors, and functions of a single number or bool, take no vectors.
    const OF_NUMBERS: [&str; 11] = [
        "vec",
        "bool(",
        " and ",
        " or ",
        "not ",
        " in ",
        " if ",
        "x < y < z",
        "((x < y",
        "refract",
        "x.bit_",
    ];
    lines.retain(|line| width == 1 || !OF_NUMBERS.iter().any(|part| line.call.contains(part)));
    lines
}

/// Pads the arguments to whole vectors.
fn whole<T>(mut args: Vec<Triple<T>>, width: usize) -> Vec<Triple<T>> {
    args.truncate(args.len() / width * width);
    args
}

fn write<T>(args: &[Triple<T>], text: impl Fn(&T) -> String) -> Vec<Triple<String>> {
    args.iter().map(|Triple([x, y, z])| Triple([text(x), text(y), text(z)])).collect()
}

fn host(host: Host, call: &'static str) -> Option<&'static str> {
    match host {
        Host::Same => Some(call),
        Host::Other(call) => Some(call),
        Host::None => None,
    }
}

fn int_line(
    row: &'static IntRow,
    number: Number,
    (bits, signed): (u32, bool),
    args: &[Triple<i128>],
) -> Line {
    let args = args.to_vec();
    let check = move |cells: &[Cell]| {
        let wrong = args.iter().zip(cells).filter_map(|(Triple([x, y, z]), cell)| {
            let wanted = wrap((row.exact)(bits, *x, *y, *z), bits, signed);
            let found = match (*cell)? {
                Printed::Int(int) => wrap(int, bits, signed),
                Printed::Float(float) => return Some(format!("({x}, {y}, {z}) gives the float {float}")),
            };
            (found != wanted).then(|| format!("({x}, {y}, {z}) gives {found}, and {wanted} is right"))
        });
        wrong.collect()
    };
    let output = Output::Number(number);
    Line { call: row.call, host: host(row.host, row.call), output, check: Box::new(check) }
}

/// Without the cells whose results do not fit the type, where the result is unspecified.
fn fitting_line(
    row: &'static IntRow,
    number: Number,
    (bits, signed): (u32, bool),
    args: &[Triple<i128>],
) -> Line {
    let (low, high) = int_range(bits, signed);
    let fits = |Triple([x, y, z]): &Triple<i128>| (low..=high).contains(&(row.exact)(bits, *x, *y, *z));
    let is_included: Vec<bool> = args.iter().map(fits).collect();
    let fitting_args: Vec<Triple<i128>> = args.iter().filter(|args| fits(args)).copied().collect();
    filtered(int_line(row, number, (bits, signed), &fitting_args), is_included)
}

pub fn wrap(value: i128, bits: u32, signed: bool) -> i128 {
    let (low, _) = int_range(bits, signed);
    value.wrapping_sub(low).rem_euclid(1 << bits) + low
}

/// `/` of ints, which is a float.
fn quotient_line(float: Float, column: Column, args: &[Triple<i128>]) -> Line {
    let row = FLOATS.iter().find(|row| row.call == "x / y").expect("floats are divided");
    // Ints become floats first.
    let args: Vec<Triple<f64>> =
        args.iter().map(|Triple(args)| Triple(args.map(|arg| float.round(arg as f64)))).collect();
    // The host rounds only the quotient.
    Line { host: None, ..float_line(row, promised(row), float, column, &args) }
}

/// The entry of a row in the table of intrinsics.
fn promised(row: &FloatRow) -> &'static Intrinsic {
    intrinsic(row.call).expect("a test of its own holds the two tables together")
}

fn float_line(
    row: &'static FloatRow,
    promise: &Intrinsic,
    float: Float,
    column: Column,
    args: &[Triple<f64>],
) -> Line {
    let args = args.to_vec();
    let judge = Judge::new(row, promise, float, column);
    let check = move |cells: &[Cell]| {
        let wrong = args.iter().zip(cells).filter_map(|(Triple(args), cell)| match (*cell)? {
            Printed::Float(found) => judge.complaint(found, *args),
            Printed::Int(found) => Some(format!("{args:?} gives the int {found}")),
        });
        wrong.collect()
    };
    let output = Output::Number(Number::Float(float));
    Line { call: row.call, host: host(row.host, row.call), output, check: Box::new(check) }
}

fn test_line<T: Copy + std::fmt::Debug + 'static>(test: &'static Test<T>, args: &[Triple<T>]) -> Line {
    let args = args.to_vec();
    let check = move |cells: &[Cell]| {
        let wrong = args.iter().zip(cells).filter_map(|(Triple([x, y, z]), cell)| {
            let wanted = (test.exact)(*x, *y, *z);
            let is_right = (*cell)? == Printed::Int(i128::from(wanted));
            (!is_right).then(|| format!("({x:?}, {y:?}, {z:?}) is not {wanted}"))
        });
        wrong.collect()
    };
    Line { call: test.call, host: host(test.host, test.call), output: Output::Bool, check: Box::new(check) }
}

/// Without the cells with subnormal arguments.
fn flushing_test_line(test: &'static Test<f64>, float: Float, args: &[Triple<f64>]) -> Line {
    let least = float.format().least_normal();
    let is_flushed = |arg: &f64| *arg != 0.0 && arg.abs() < least;
    let is_compared = |Triple(args): &Triple<f64>| !args.iter().any(is_flushed);
    let is_included: Vec<bool> = args.iter().map(is_compared).collect();
    let fitting_args: Vec<Triple<f64>> = args.iter().filter(|args| is_compared(args)).copied().collect();
    filtered(test_line(test, &fitting_args), is_included)
}

/// A line with some of its cells only.
fn filtered(line: Line, is_included: Vec<bool>) -> Line {
    let check = move |cells: &[Cell]| {
        let cells: Vec<Cell> = cells
            .iter()
            .zip(&is_included)
            .filter(|(_, is_included)| **is_included)
            .map(|(cell, _)| *cell)
            .collect();
        (line.check)(&cells)
    };
    Line { check: Box::new(check), ..line }
}
