//! Cooperative matrices.

use super::row::{Effect, FUNCTION, Gives, Known, Row, Stages, any};
use super::section::{Rows, Section, Setup};
use super::typing::{TreeRule, Typing, ValueRule};

pub static SECTION: Section = Section {
    title: "Cooperative matrices",
    about: "See [Cooperative matrices](../guide/cooperative-matrices.md).\n\
            In the examples `m`, `b` and `c` are matrices of `f32` with 4 rows and 4 columns, for each use.",
    rows: Rows::Functions(ROWS),
    setup: Setup {
        params: "x: Array[f32]",
        args: "Tensor([1.0] * 16)",
        lines: &[
            "m = coop_matrix(f32, 4, 4, \"a\")",
            "b = coop_matrix(f32, 4, 4, \"b\")",
            "c = coop_matrix(f32, 4, 4, \"accumulator\")",
        ],
        local_size: 4,
        printing: "local_id.x == 0",
    },
};

const MATRIX: Row = Row {
    known: Known::Bare,
    result: Gives::Nothing,
    effect: Effect::Group,
    stages: Stages::Compute,
    ..FUNCTION
};

const ROWS: &[Row] = &[
    Row {
        names: &["coop_matrix"],
        params: &[
            any("T").sample("f16"),
            any("rows").sample("16"),
            any("columns").sample("16"),
            any("use").sample("\"a\""),
        ],
        result: Gives::Other("a matrix"),
        typing: Typing::Tree(TreeRule::CoopMatrix),
        doc: "A matrix of zeros for one use: `\"a\"` and `\"b\"` are factors, `\"accumulator\"` is a sum.",
        example: "len(coop_matrix(f32, 16, 8, \"a\"))",
        ..MATRIX
    },
    Row {
        names: &["coop_load"],
        params: &[
            any("m").changed(),
            any("array"),
            any("start"),
            any("stride"),
            any("column_major").keyword(),
        ],
        typing: Typing::Value(ValueRule::CoopLoad),
        doc: "Loads the matrix from an array, row by row; `column_major=True` takes column by column.",
        example: "coop_load(m, x, 0, 4)",
        ..MATRIX
    },
    Row {
        names: &["coop_store"],
        params: &[
            any("m"),
            any("array").changed(),
            any("start"),
            any("stride"),
            any("column_major").keyword(),
        ],
        typing: Typing::Value(ValueRule::CoopStore),
        doc: "Stores the matrix in an array, row by row; `column_major=True` takes column by column.",
        example: "coop_store(m, x, 0, 4)",
        ..MATRIX
    },
    Row {
        names: &["coop_fill"],
        params: &[any("m").changed(), any("value")],
        typing: Typing::Value(ValueRule::CoopFill),
        external: &[(
            &["coop_zero", "coop_zeros"],
            "write `coop_fill(m, 0.0)`; a new matrix is zeros already",
        )],
        doc: "Sets every element.",
        example: "coop_fill(m, 2.0)",
        ..MATRIX
    },
    Row {
        names: &["coop_multiply_add"],
        params: &[any("c").changed(), any("a"), any("b")],
        typing: Typing::Value(ValueRule::CoopMultiplyAdd),
        external: &[(
            &[
                "coop_mul_add",
                "coop_mma",
                "coop_matmul",
                "coop_mul",
                "coop_multiply",
                "coop_multiplyadd",
                "coop_mad",
                "coopMatMulAdd",
                "mma_sync",
            ],
            "write `coop_multiply_add(c, a, b)`, which adds the product to `c`",
        )],
        doc: "Adds the product of `a` and `b` to `c`.",
        example: "coop_multiply_add(c, m, b)",
        ..MATRIX
    },
];
