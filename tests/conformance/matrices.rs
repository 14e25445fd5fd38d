//! Square matrices of ordinary floats, some with a NaN: operators, products, transposes, determinants and
//! inverses of two to four rows, on both devices, against results computed here. `steps.rs` tests other
//! shapes and numbers.
//!
//! Sums, negations, scalings and transposes are rounded correctly in every element. A sum of products may be
//! off by [`PRODUCT`] units of each product's magnitude. Determinants and inverses are computed by cofactors,
//! and may be off by [`COFACTORS`] times the rounding errors of those formulas. The page of intrinsics has
//! the same bounds.

use std::fmt::Write as _;

use crate::columns::{Column, Printed, cells, run};
use crate::number::{Float, Number, python};

/// Units in the last place of the sum of the products' magnitudes, for each product.
const PRODUCT: f64 = 1.0;
/// The same for each product in the formula of a determinant or an inverse.
const COFACTORS: f64 = 4.0;

type Matrix = Vec<Vec<f64>>;

/// Numbers of different magnitudes and signs, whose products do not overflow.
const NUMBERS: [f64; 13] = [2.0, -0.5, 0.1, 3.0, 0.0, 1.5, -7.25, 100.3, -1.0, 1e-3, 0.3, -33.0, 12.0];
/// For a type with a small exponent range.
const NEAR: [f64; 13] = [2.0, -0.5, 0.4, 3.0, 0.0, 1.5, -6.25, 5.3, -1.0, 0.7, 0.3, -3.3, 2.2];

/// Pairs of matrices for every row, and how many of them, at the end, have a NaN.
const N_PAIRS: usize = 52;
const N_WITH_NAN: usize = 12;

/// A row: the kernel's expression, the true elements, and the error bound of each.
struct Row {
    call: &'static str,
    exact: fn(&Matrix, &Matrix) -> Vec<f64>,
    off: fn(&Matrix, &Matrix, f64) -> Vec<f64>,
}

const ROWS: [Row; 8] = [
    Row {
        call: "a + b",
        exact: |a, b| zip(a, b, |x, y| x + y),
        off: |a, b, unit| halves(a, b, unit, |x, y| x + y),
    },
    Row {
        call: "a - b",
        exact: |a, b| zip(a, b, |x, y| x - y),
        off: |a, b, unit| halves(a, b, unit, |x, y| x - y),
    },
    Row {
        call: "-a * 0.3",
        exact: |a, b| zip(a, b, |x, _| x * -0.3),
        off: |a, b, unit| zip(a, b, |x, _| 2.0 * unit * x.abs()),
    },
    Row {
        call: "a @ b",
        exact: product,
        off: |a, b, unit| scaled(&product(&sizes(a), &sizes(b)), unit * PRODUCT * a.len() as f64),
    },
    Row {
        call: "transpose(a)",
        exact: |a, _| transposed(a).concat(),
        off: |a, _, _| vec![0.0; a.len() * a.len()],
    },
    Row {
        call: "a.T @ a",
        exact: |a, _| product(&transposed(a), a),
        off: |a, _, unit| {
            scaled(&product(&transposed(&sizes(a)), &sizes(a)), unit * PRODUCT * a.len() as f64)
        },
    },
    Row {
        call: "determinant(a)",
        exact: |a, _| vec![determinant(a)],
        off: |a, _, unit| vec![unit * COFACTORS * a.len() as f64 * permanent(a)],
    },
    Row { call: "inverse(a)", exact: |a, _| inverse(a), off: inverse_off },
];

/// Every row for one type, in one column.
pub fn on_device(float: Float, column: Column) -> Result<(), String> {
    let name = &Number::Float(float).name();
    let mut wrong = Vec::new();
    for n in 2..=4 {
        let pairs: Vec<(Matrix, Matrix)> =
            (0..N_PAIRS).map(|at| (matrix(n, at, float), matrix(n, at + 7, float))).collect();
        let printed = cells(&run(column.selector(), &script(name, float, n, &pairs))?)?;
        for (row, line) in ROWS.iter().zip(&printed) {
            let per_pair = line.len() / pairs.len();
            for ((a, b), found) in pairs.iter().zip(line.chunks(per_pair)) {
                wrong.extend(complaint(row, (a, b), found, float).map(|text| format!("{n} rows: {text}")));
            }
        }
    }
    let messages = kps::device::vulkan::validation_messages();
    wrong.extend(messages.into_iter().map(|message| format!("the validation layer says: {message}")));
    match wrong.len() {
        0 => Ok(()),
        n => Err(format!("{} of {name} on {}:\n{}", n, column.name(), wrong[..n.min(6)].join("\n"))),
    }
}

fn complaint(
    row: &Row,
    (a, b): (&Matrix, &Matrix),
    found: &[Option<Printed>],
    float: Float,
) -> Option<String> {
    let unit = float.format().unit(1.0);
    let (exact, off) = ((row.exact)(a, b), (row.off)(a, b, unit));
    // A NaN is in a product of every determinant, and so in every element of an inverse.
    let is_nan = |cell: &Option<Printed>| matches!(cell, Some(Printed::Float(found)) if found.is_nan());
    let of_all = row.call.starts_with("determinant") || row.call.starts_with("inverse");
    if of_all && a.concat().iter().any(|number| number.is_nan()) {
        return (!found.iter().all(is_nan)).then(|| format!("{} of {a:?} gives {found:?}", row.call));
    }
    // Unrepresentable results are unspecified, such as the inverse of a singular matrix.
    if exact.iter().chain(&off).any(|number| !number.is_finite()) {
        return None;
    }
    let numbers: Vec<f64> = found
        .iter()
        .map(|cell| match cell {
            Some(Printed::Float(found)) => *found,
            Some(Printed::Int(found)) => *found as f64,
            None => f64::NAN,
        })
        .collect();
    let is_near = |((found, exact), off): ((&f64, &f64), &f64)| {
        (found - exact).abs() <= off + float.format().least_normal()
    };
    let is_right = numbers.len() == exact.len() && numbers.iter().zip(&exact).zip(&off).all(is_near);
    (!is_right).then(|| format!("{} of {a:?} and {b:?} gives {numbers:?}, and {exact:?} is right", row.call))
}

/// A kernel for each row: it takes whole matrices, and outputs numbers row by row.
fn script(name: &str, float: Float, n: usize, pairs: &[(Matrix, Matrix)]) -> String {
    let dtype = Number::Float(float).dtype();
    let list = |of: fn(&(Matrix, Matrix)) -> &Matrix| {
        let numbers: Vec<String> = pairs.iter().flat_map(|pair| of(pair).concat()).map(python).collect();
        format!("Tensor(np.array([{}], dtype='{dtype}'))", numbers.join(", "))
    };
    let mut script = format!(
        "import numpy as np\nnan = float('nan')\np, q = {}, {}\n",
        list(|pair| &pair.0),
        list(|pair| &pair.1)
    );
    for (at, row) in ROWS.iter().enumerate() {
        let is_number = row.call.starts_with("determinant");
        let (result, len) = match is_number {
            true => (name.to_owned(), 1),
            false => (format!("Matrix({n}, {n}, {name})"), n * n),
        };
        writeln!(
            script,
            "@kernel(precise=True)\n\
             def row{at}(p: Array(Matrix({n}, {n}, {name})), q: Array(Matrix({n}, {n}, {name})), out: Array({result})):\n    \
                 i = global_id.x\n    a, b = p[i], q[i]\n    out[i] = {}\n\
             out = Tensor(np.zeros({}, dtype='{dtype}'))\nrow{at}[{}](p, q, out)\nprint(*out.data().tolist())",
            row.call,
            pairs.len() * len,
            pairs.len(),
        )
        .expect("a string takes all");
    }
    script
}

/// A matrix of numbers in the type.
fn matrix(n: usize, at: usize, float: Float) -> Matrix {
    let number = |row: usize, column: usize| {
        let place = at * 5 + row * (at % 4 + 1) + column * 3 + row * column * at;
        let numbers = if float == Float::F16 { NEAR } else { NUMBERS };
        float.round(numbers[place % numbers.len()])
    };
    let mut matrix: Matrix = (0..n).map(|row| (0..n).map(|column| number(row, column)).collect()).collect();
    if (N_PAIRS - N_WITH_NAN..N_PAIRS).contains(&at) {
        matrix[at % n][at / n % n] = f64::NAN;
    }
    matrix
}

fn zip(a: &Matrix, b: &Matrix, f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    a.concat().iter().zip(b.concat()).map(|(x, y)| f(*x, y)).collect()
}

/// Half a unit of each element.
fn halves(a: &Matrix, b: &Matrix, unit: f64, f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    zip(a, b, |x, y| 0.5 * unit * f(x, y).abs())
}

fn scaled(numbers: &[f64], by: f64) -> Vec<f64> {
    numbers.iter().map(|number| number * by).collect()
}

fn sizes(a: &Matrix) -> Matrix {
    a.iter().map(|row| row.iter().map(|number| number.abs()).collect()).collect()
}

fn transposed(a: &Matrix) -> Matrix {
    (0..a.len()).map(|column| a.iter().map(|row| row[column]).collect()).collect()
}

fn product(a: &Matrix, b: &Matrix) -> Vec<f64> {
    let columns = transposed(b);
    a.iter().flat_map(|row| columns.iter().map(move |column| dot(row, column))).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The matrix without one row and one column.
fn minor(a: &Matrix, row: usize, column: usize) -> Matrix {
    let rows = a.iter().enumerate().filter(|(at, _)| *at != row);
    let without =
        |row: &Vec<f64>| row.iter().enumerate().filter(|(at, _)| *at != column).map(|(_, x)| *x).collect();
    rows.map(|(_, row)| without(row)).collect()
}

/// Expands along the first row. `sign` is -1 for a determinant, and 1 for the sum of all products.
fn expanded(a: &Matrix, sign: f64) -> f64 {
    if a.is_empty() {
        return 1.0;
    }
    let term = |column: usize| sign.powi(column as i32) * a[0][column] * expanded(&minor(a, 0, column), sign);
    (0..a.len()).map(term).sum()
}

fn determinant(a: &Matrix) -> f64 {
    expanded(a, -1.0)
}

/// The sum of the magnitudes of a determinant's products.
fn permanent(a: &Matrix) -> f64 {
    expanded(&sizes(a), 1.0)
}

fn inverse(a: &Matrix) -> Vec<f64> {
    let det = determinant(a);
    let element = |row: usize, column: usize| {
        (-1f64).powi((row + column) as i32) * determinant(&minor(a, column, row)) / det
    };
    (0..a.len())
        .flat_map(|row| (0..a.len()).map(move |column| (row, column)))
        .map(|(row, column)| element(row, column))
        .collect()
}

/// The possible rounding error of a cofactor, the determinant and their quotient.
fn inverse_off(a: &Matrix, _: &Matrix, unit: f64) -> Vec<f64> {
    let (n, det) = (a.len(), determinant(a).abs());
    // So ill-conditioned that no digit is significant.
    if permanent(a) * unit * 64.0 > det {
        return vec![f64::INFINITY; n * n];
    }
    let element = |row: usize, column: usize| {
        let cofactor = minor(a, column, row);
        let own = permanent(&cofactor) / det;
        let of_determinant = determinant(&cofactor).abs() / det * permanent(a) / det;
        unit * COFACTORS * n as f64 * (own + of_determinant)
    };
    (0..n)
        .flat_map(|row| (0..n).map(move |column| (row, column)))
        .map(|(row, column)| element(row, column))
        .collect()
}
