//! Python's built-in functions.

use super::row::{Effect, Fold, Gives, Kind, Known, Lists, Lowering, Row, Stages};
use super::row::{FUNCTION, any, number, rest};
use super::{ALONE, Rows, Section};
use crate::infer::{ROUND, fold_abs, fold_extreme};
use crate::intrinsics::{Bound, Domain, Source, exact, within};
use crate::ir::CompareOp;

pub static SECTION: Section =
    Section { title: "Python's functions", about: "", rows: Rows::Functions(ROWS), setup: ALONE };

const BARE: Row = Row { known: Known::Bare, ..FUNCTION };

const ROWS: &[Row] = &[
    Row {
        names: &["range"],
        params: &[any("start").sample("n"), any("stop").optional(), any("step").optional()],
        result: Gives::Other("the counter of a loop"),
        lowering: Lowering::Value(|ctx, call| ctx.range_call(call)),
        lists: Lists::Counts,
        doc: "The ints from `start` up to, but without, `stop`.",
        example: "len(range(2, 10, 3))",
        ..BARE
    },
    Row {
        names: &["enumerate"],
        params: &[any("xs"), any("start").optional().named()],
        result: Gives::Other("pairs for a loop"),
        lowering: Lowering::Value(|ctx, call| ctx.enumerate(call)),
        lists: Lists::Walks,
        doc: "The elements of an array, a list, a tuple or a vector, each with its number.",
        example: "for i, x in enumerate((5, 6)): print(i, x)",
        ..BARE
    },
    Row {
        names: &["zip"],
        params: &[any("xs"), rest(Kind::Any)],
        result: Gives::Other("tuples for a loop"),
        lowering: Lowering::Value(|ctx, call| ctx.zip(call)),
        lists: Lists::Walks,
        doc: "The first elements of all arguments, then the second ones, up to the end of the shortest.",
        example: "for a, b in zip((1, 2), (3, 4)): print(a, b)",
        ..BARE
    },
    Row {
        names: &["reversed"],
        params: &[any("xs")],
        result: Gives::Other("elements for a loop"),
        lowering: Lowering::Value(|ctx, call| ctx.reversed(call)),
        lists: Lists::Walks,
        doc: "The elements from the last to the first.",
        example: "for x in reversed((1, 2, 3)): print(x)",
        ..BARE
    },
    Row {
        names: &["len"],
        params: &[any("xs")],
        result: Gives::Int,
        lowering: Lowering::Value(|ctx, call| ctx.len(call)),
        method: Some("__len__"),
        lists: Lists::Consumes,
        doc: "The number of elements.",
        example: "len((5, 6, 7))",
        ..BARE
    },
    Row {
        names: &["sum"],
        params: &[any("xs"), any("start").optional().named()],
        result: Gives::Scalar,
        lowering: Lowering::Value(|ctx, call| ctx.sum(call)),
        lists: Lists::Consumes,
        floats: &[within(
            "sum((x, y, z))",
            Domain::Numbers,
            Bound::Steps("x + y + z", |[x, y, z]| x + y + z),
            Source::Formula,
            Bound::Exact,
        )],
        exact: &["sum((x, y, z))"],
        doc: "The sum of a list, a tuple, a vector or an array, from the first element to the last.",
        example: "sum((1, 2, 3))",
        ..BARE
    },
    Row {
        names: &["min"],
        params: &[number("a"), number("b"), rest(Kind::Number)],
        lowering: Lowering::NumbersOrItems(
            |ctx, call| ctx.choose(CompareOp::Less, call.args, call.name, call.span),
            |ctx, call| ctx.extreme(CompareOp::Less, call),
        ),
        fold: Fold::Literals(|args| fold_extreme(args, std::cmp::Ordering::is_lt)),
        lists: Lists::Consumes,
        floats: &[exact("min(x, y)")],
        exact: &["min(x, y)", "min(x, y, z)", "min((x, y, z))"],
        external: &[
            (&["minimum", "fminimum"], ""),
            (&["fminf", "fmaxf", "fmin", "fmax"], "write `min(a, b)` or `max(a, b)`"),
        ],
        doc: "The smallest of its arguments, or of the elements of one.",
        example: "min(3, 1, 2)",
        ..FUNCTION
    },
    Row {
        names: &["max"],
        params: &[number("a"), number("b"), rest(Kind::Number)],
        lowering: Lowering::NumbersOrItems(
            |ctx, call| ctx.choose(CompareOp::Greater, call.args, call.name, call.span),
            |ctx, call| ctx.extreme(CompareOp::Greater, call),
        ),
        fold: Fold::Literals(|args| fold_extreme(args, std::cmp::Ordering::is_gt)),
        lists: Lists::Consumes,
        floats: &[exact("max(x, y)")],
        exact: &["max(x, y)", "max(x, y, z)", "max((x, y, z))"],
        external: &[(&["maximum", "fmaximum"], "")],
        doc: "The largest of its arguments, or of the elements of one.",
        example: "max(3, 1, 2)",
        ..FUNCTION
    },
    Row {
        names: &["abs", "fabs"],
        params: &[number("x")],
        lowering: Lowering::Numbers(|ctx, call| ctx.abs(call)),
        fold: Fold::Literals(fold_abs),
        method: Some("__abs__"),
        floats: &[exact("abs(x)")],
        exact: &["abs(x)"],
        external: &[(&["fabsf", "absolute"], "")],
        doc: "The size of a number.",
        example: "abs(-2.5)",
        ..FUNCTION
    },
    Row {
        names: &["all"],
        params: &[any("xs")],
        result: Gives::Bool,
        lowering: Lowering::Value(|ctx, call| ctx.all(call)),
        lists: Lists::Consumes,
        exact: &["all((x < y, y < z))"],
        doc: "Whether all bools of a vector, a list or a tuple are true.",
        example: "all((True, False))",
        ..BARE
    },
    Row {
        names: &["any"],
        params: &[any("xs")],
        result: Gives::Bool,
        lowering: Lowering::Value(|ctx, call| ctx.any(call)),
        lists: Lists::Consumes,
        exact: &["any((x < y, y < z))"],
        doc: "Whether a bool of a vector, a list or a tuple is true.",
        example: "any((True, False))",
        ..BARE
    },
    Row {
        names: &["divmod"],
        params: &[any("a"), any("b")],
        result: Gives::Other("a tuple of two numbers"),
        lowering: Lowering::Value(|ctx, call| ctx.divmod(call)),
        exact: &["divmod(x, y)[0]", "divmod(x, y)[1]"],
        doc: "The quotient `a // b` and the remainder `a % b`.",
        example: "divmod(7, 2)",
        ..BARE
    },
    Row {
        names: &["pow"],
        params: &[any("x"), any("y"), any("mod").optional().named()],
        lowering: Lowering::Value(|ctx, call| ctx.pow(call)),
        fold: Fold::Of2(libm::pow),
        exact: &["pow(x, y)", "pow(x, 5, y)"],
        external: &[(&["power", "float_power"], "write `a ** b`")],
        doc: "The power `x ** y`, or its remainder by `mod`.",
        example: "pow(3, 4, 5)",
        ..FUNCTION
    },
    Row {
        names: &["round", "round_even"],
        params: &[number("x"), any("ndigits").optional().named()],
        lowering: Lowering::Numbers(|ctx, call| match call.args {
            [_] => ctx.floats_call(ROUND, call),
            _ => ctx.round_digits(call),
        }),
        floats: &[
            exact("round(x)"),
            within("round(x, 2)", Domain::Numbers, Bound::Ulp(4.0), Source::Formula, Bound::Ulp(1.0)),
        ],
        exact: &["round(x, -1)"],
        doc: "The nearest whole number, or the nearest one of so many digits; half to even.",
        example: "round(2.675, 1)",
        ..FUNCTION
    },
    Row {
        names: &["print"],
        params: &[rest(Kind::Any)],
        result: Gives::Nothing,
        lowering: Lowering::Tree(|ctx, call| ctx.print_call(call.args, call.span)),
        effect: Effect::Group,
        stages: Stages::Compute,
        doc: "[Prints](../guide/printing.md) its arguments.",
        example: "print(1, 2.5)",
        ..BARE
    },
];
