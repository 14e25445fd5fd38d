//! Matrices and vectors of any shape, of every float type, over boundary values.
//!
//! A precise kernel computes chains of sums and products in the order of the language, each rounded
//! correctly. So the results are computed here step by step, and must agree bit for bit. A device that
//! flushes subnormal numbers may do so at each step.

use std::fmt::Write as _;

use crate::columns::{Column, Printed, cells, run};
use crate::number::{Float, Number, python};

/// Rows, columns, and the columns of the right factor.
const SHAPES: [(usize, usize, usize); 9] =
    [(2, 2, 2), (3, 3, 3), (4, 4, 4), (2, 3, 4), (3, 4, 2), (4, 2, 3), (2, 4, 3), (3, 2, 4), (4, 3, 2)];

/// Invocations of a kernel, each with its own numbers.
const N_TRIES: usize = 96;

/// A matrix; a vector is a single column, and a number a single element.
#[derive(Clone, Debug)]
struct Matrix {
    columns: usize,
    /// Row by row.
    numbers: Vec<f64>,
}

impl Matrix {
    fn rows(&self) -> usize {
        self.numbers.len() / self.columns
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.numbers[row * self.columns + column]
    }

    fn made(rows: usize, columns: usize, number: impl Fn(usize, usize) -> f64) -> Matrix {
        let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        Matrix { columns, numbers: places.map(|(row, column)| number(row, column)).collect() }
    }

    fn transposed(&self) -> Matrix {
        Matrix::made(self.columns, self.rows(), |row, column| self.at(column, row))
    }
}

/// The arithmetic of a type on a device.
#[derive(Clone, Copy)]
struct Steps {
    float: Float,
    flushes: bool,
}

impl Steps {
    fn flushed(self, number: f64) -> f64 {
        let is_flushed = self.flushes && number.abs() < self.float.least_normal();
        if is_flushed { 0f64.copysign(number) } else { number }
    }

    /// An operation on numbers of the type, for which f64 is exact enough.
    fn step(self, a: f64, b: f64, operation: fn(f64, f64) -> f64) -> f64 {
        self.flushed(self.float.round(operation(self.flushed(a), self.flushed(b))))
    }

    fn zip(self, a: &Matrix, b: &Matrix, operation: fn(f64, f64) -> f64) -> Matrix {
        let pairs = a.numbers.iter().zip(&b.numbers);
        Matrix { columns: a.columns, numbers: pairs.map(|(a, b)| self.step(*a, *b, operation)).collect() }
    }

    fn scaled(self, a: &Matrix, by: &Matrix, operation: fn(f64, f64) -> f64) -> Matrix {
        let numbers = a.numbers.iter().map(|number| self.step(*number, by.numbers[0], operation)).collect();
        Matrix { columns: a.columns, numbers }
    }

    /// Products are added from the first to the last.
    fn product(self, a: &Matrix, b: &Matrix) -> Matrix {
        Matrix::made(a.rows(), b.columns, |row, column| {
            let mut terms = (0..a.columns).map(|k| self.step(a.at(row, k), b.at(k, column), |x, y| x * y));
            let first = terms.next().expect("a matrix has columns");
            terms.fold(first, |sum, term| self.step(sum, term, |x, y| x + y))
        })
    }
}

/// The operands of a try: two matrices of a shape, a right factor, a vector for each side, a number.
struct Given {
    a: Matrix,
    c: Matrix,
    b: Matrix,
    v: Matrix,
    w: Matrix,
    s: Matrix,
}

struct Row {
    call: &'static str,
    exact: fn(Steps, &Given) -> Matrix,
    /// Error bound on a Vulkan device in units, from Vulkan's table.
    units: f64,
}

const fn row(call: &'static str, exact: fn(Steps, &Given) -> Matrix) -> Row {
    Row { call, exact, units: 0.0 }
}

const ROWS: [Row; 13] = [
    row("a + c", |steps, given| steps.zip(&given.a, &given.c, |x, y| x + y)),
    row("a - c", |steps, given| steps.zip(&given.a, &given.c, |x, y| x - y)),
    row("a * s", |steps, given| steps.scaled(&given.a, &given.s, |x, y| x * y)),
    row("s * a", |steps, given| steps.scaled(&given.a, &given.s, |x, y| x * y)),
    Row { call: "a / s", exact: |steps, given| steps.scaled(&given.a, &given.s, |x, y| x / y), units: 2.5 },
    row("-a", |steps, given| {
        let numbers = given.a.numbers.iter().map(|number| -steps.flushed(*number)).collect();
        Matrix { columns: given.a.columns, numbers }
    }),
    row("a @ b", |steps, given| steps.product(&given.a, &given.b)),
    row("a @ v", |steps, given| steps.product(&given.a, &given.v)),
    row("w @ a", |steps, given| steps.product(&given.w.transposed(), &given.a)),
    row("transpose(a)", |_, given| given.a.transposed()),
    row("a.T @ c", |steps, given| steps.product(&given.a.transposed(), &given.c)),
    row("a @ c.T", |steps, given| steps.product(&given.a, &given.c.transposed())),
    row("a @ b @ b.T", |steps, given| {
        steps.product(&steps.product(&given.a, &given.b), &given.b.transposed())
    }),
];

/// Every shape of one type, in one column.
pub fn on_device(float: Float, column: Column) -> Result<(), String> {
    let name = Number::Float(float).name();
    let mut wrong = Vec::new();
    for shape in SHAPES {
        let tries: Vec<Given> = (0..N_TRIES).map(|at| given(float, shape, at)).collect();
        let printed = cells(&run(column.selector(), &script(float, shape, &tries))?)?;
        if printed.len() != ROWS.len() {
            return Err("the kernel gave another number of results than it was asked for".to_owned());
        }
        for (row, found) in ROWS.iter().zip(&printed) {
            let found: Vec<f64> = found.iter().map(|cell| cell.map_or(f64::NAN, number)).collect();
            let per_try = found.len() / tries.len();
            let complaints = tries
                .iter()
                .zip(found.chunks(per_try))
                .filter_map(|(given, found)| complaint(row, given, found, (float, column)));
            wrong.extend(complaints.map(|text| format!("{} x {}: {text}", shape.0, shape.1)));
        }
    }
    let messages = kps::device::vulkan::validation_messages();
    wrong.extend(messages.into_iter().map(|message| format!("the validation layer says: {message}")));
    match wrong.len() {
        0 => Ok(()),
        n => Err(format!("{n} of {name} on {}:\n{}", column.name(), wrong[..n.min(6)].join("\n"))),
    }
}

fn number(printed: Printed) -> f64 {
    match printed {
        Printed::Float(found) => found,
        Printed::Int(found) => found as f64,
    }
}

fn complaint(row: &Row, given: &Given, found: &[f64], (float, column): (Float, Column)) -> Option<String> {
    let exact = (row.exact)(Steps { float, flushes: false }, given).numbers;
    let flushed = (row.exact)(Steps { float, flushes: true }, given).numbers;
    let units = if column == Column::Vulkan { row.units } else { 0.0 };
    if units > 0.0 && !is_divisor(given.s.numbers[0], float) {
        return None;
    }
    let is_right = |((found, exact), flushed): ((&f64, &f64), &f64)| {
        let may_flush = column == Column::Vulkan && (found == flushed || found.is_nan() && flushed.is_nan());
        let off = units * float.format().unit(*exact) + if units > 0.0 { float.least_normal() } else { 0.0 };
        found.to_bits() == exact.to_bits()
            || found.is_nan() && exact.is_nan()
            || (found - exact).abs() <= off && off > 0.0
            || may_flush
    };
    let all_right = found.len() == exact.len() && found.iter().zip(&exact).zip(&flushed).all(is_right);
    let Given { a, c, b, v, w, s } = given;
    (!all_right).then(|| {
        format!("{} gives {found:?}, and {exact:?} is right\n    {a:?}\n    {c:?}\n    {b:?}\n    {v:?}\n    {w:?}\n    {s:?}", row.call)
    })
}

/// Where Vulkan bounds the error of quotients.
fn is_divisor(number: f64, float: Float) -> bool {
    (float.least_normal()..=1.0 / float.least_normal()).contains(&number.abs())
}

/// A parameter's name and type, and its values in a try.
type Input = (&'static str, String, fn(&Given) -> &Matrix);

/// A kernel with all rows, each with its own output array: it takes whole matrices, and outputs numbers.
fn script(float: Float, (rows, columns, others): (usize, usize, usize), tries: &[Given]) -> String {
    let (name, dtype) = (Number::Float(float).name(), Number::Float(float).dtype());
    let matrix = |rows: usize, columns: usize| format!("Matrix({columns}, {rows}, {name})");
    let inputs: [Input; 6] = [
        ("a", matrix(rows, columns), |given| &given.a),
        ("c", matrix(rows, columns), |given| &given.c),
        ("b", matrix(columns, others), |given| &given.b),
        ("v", format!("Vector({columns}, {name})"), |given| &given.v),
        ("w", format!("Vector({rows}, {name})"), |given| &given.w),
        ("s", name.clone(), |given| &given.s),
    ];
    let mut script = "import numpy as np\nnan, inf = float('nan'), float('inf')\n".to_owned();
    let (mut params, mut body, mut arguments, mut shown) =
        (String::new(), String::new(), String::new(), String::new());
    for (letter, ty, of) in &inputs {
        let numbers: Vec<String> =
            tries.iter().flat_map(|given| &of(given).numbers).map(|number| python(*number)).collect();
        writeln!(script, "{letter}_all = Tensor(np.array([{}], dtype='{dtype}'))", numbers.join(", "))
            .expect("a string takes all");
        write!(params, "{letter}_all: Array({ty}), ").expect("a string takes all");
        writeln!(body, "    {letter} = {letter}_all[i]").expect("a string takes all");
        write!(arguments, "{letter}_all, ").expect("a string takes all");
    }
    for (at, row) in ROWS.iter().enumerate() {
        let result = (row.exact)(Steps { float, flushes: false }, &tries[0]);
        let ty = match (result.rows(), result.columns) {
            (n, 1) | (1, n) => format!("Vector({n}, {name})"),
            (rows, columns) => matrix(rows, columns),
        };
        let n = tries.len() * result.numbers.len();
        writeln!(script, "out{at} = Tensor(np.zeros({n}, dtype='{dtype}'))").expect("a string takes all");
        write!(params, "out{at}: Array({ty}), ").expect("a string takes all");
        writeln!(body, "    out{at}[i] = {}", row.call).expect("a string takes all");
        write!(arguments, "out{at}, ").expect("a string takes all");
        writeln!(shown, "print(*out{at}.data().tolist())").expect("a string takes all");
    }
    let n = tries.len();
    script
        + &format!(
            "@kernel(precise=True)\ndef every_row({params}):\n    i = global_id.x\n{body}every_row[{n}]({arguments})\n{shown}"
        )
}

/// Ordinary numbers with a few boundary values; in some tries, all may be boundary values.
fn given(float: Float, (rows, columns, others): (usize, usize, usize), at: usize) -> Given {
    let format = float.format();
    let edges = [
        0.0,
        -0.0,
        format.unit(0.0),
        -format.least_normal(),
        format.least_normal() - format.unit(0.0),
        format.largest(),
        -format.largest(),
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1.0 + format.unit(1.0),
        -1.0 + 0.5 * format.unit(1.0),
    ];
    let ordinary = [2.0, -0.5, 0.1, 3.0, 1.5, -7.25, 100.3, -1.0, 1e-3, 0.3, -33.0];
    let every = [2, 5, 11, 40][at % 4];
    let number = |which: usize, place: usize| {
        let mixed = (at * 977 + which * 131 + place * 31 + 7) * 2_654_435_761 % 1_000_003;
        let number = match mixed % every {
            0 => edges[mixed / every % edges.len()],
            _ => ordinary[mixed / every % ordinary.len()],
        };
        float.round(number)
    };
    let matrix = |which: usize, rows: usize, columns: usize| {
        Matrix::made(rows, columns, |row, column| number(which, row * columns + column))
    };
    Given {
        a: matrix(0, rows, columns),
        c: matrix(1, rows, columns),
        b: matrix(2, columns, others),
        v: matrix(3, columns, 1),
        w: matrix(4, rows, 1),
        s: matrix(5, 1, 1),
    }
}
