//! Python's built-in functions.

use super::fold::{fold_abs, fold_extreme};
use super::row::{Effect, FUNCTION, Fold, Gives, Kind, Known, Lists, Row, Stages, any, number, rest};
use super::section::{ALONE, Rows, Section};
use super::typing::{NumberRule, TreeRule, Typing, ValueRule};
use crate::intrinsics::bound::{Bound, Domain};
use crate::intrinsics::rows::{Source, exact, within};
use crate::ir::CompareOp;

pub static SECTION: Section =
    Section { title: "Python's functions", about: "", rows: Rows::Functions(ROWS), setup: ALONE };

const BARE: Row = Row { known: Known::Bare, ..FUNCTION };

const ROWS: &[Row] = &[
    Row {
        names: &["range"],
        params: &[any("start").sample("n"), any("stop").optional(), any("step").optional()],
        result: Gives::Other("the counter of a loop"),
        typing: Typing::Value(ValueRule::Range),
        lists: Lists::Counts,
        doc: "The ints from `start` up to, but without, `stop`.",
        example: "len(range(2, 10, 3))",
        ..BARE
    },
    Row {
        names: &["enumerate"],
        params: &[any("xs"), any("start").optional().named()],
        result: Gives::Other("pairs for a loop"),
        typing: Typing::Value(ValueRule::Enumerate),
        lists: Lists::Walks,
        doc: "The elements of an array, a list, a tuple or a vector, each with its number.",
        example: "for i, x in enumerate((5, 6)): print(i, x)",
        ..BARE
    },
    Row {
        names: &["zip"],
        params: &[any("xs"), rest(Kind::Any)],
        result: Gives::Other("tuples for a loop"),
        typing: Typing::Value(ValueRule::Zip),
        lists: Lists::Walks,
        doc: "The first elements of all arguments, then the second ones, up to the end of the shortest.",
        example: "for a, b in zip((1, 2), (3, 4)): print(a, b)",
        ..BARE
    },
    Row {
        names: &["reversed"],
        params: &[any("xs")],
        result: Gives::Other("elements for a loop"),
        typing: Typing::Value(ValueRule::Reversed),
        lists: Lists::Walks,
        doc: "The elements from the last to the first.",
        example: "for x in reversed((1, 2, 3)): print(x)",
        ..BARE
    },
    Row {
        names: &["unroll"],
        params: &[any("xs")],
        result: Gives::Other("elements for a loop"),
        typing: Typing::Value(ValueRule::Unroll),
        lists: Lists::Walks,
        doc: "The elements of `xs` for a loop that is repeated as code, so that a counter is a constant in each round.",
        example: "for i in unroll(range(4)): print(i)",
        ..BARE
    },
    Row {
        names: &["len"],
        params: &[any("xs")],
        result: Gives::Int,
        typing: Typing::Value(ValueRule::Len),
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
        typing: Typing::Value(ValueRule::Sum),
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
        typing: Typing::NumbersOrItems(
            NumberRule::Choose(CompareOp::Less),
            ValueRule::Extreme(CompareOp::Less),
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
        typing: Typing::NumbersOrItems(
            NumberRule::Choose(CompareOp::Greater),
            ValueRule::Extreme(CompareOp::Greater),
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
        typing: Typing::Numbers(NumberRule::Abs),
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
        typing: Typing::Value(ValueRule::All),
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
        typing: Typing::Value(ValueRule::Any),
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
        typing: Typing::Value(ValueRule::Divmod),
        exact: &["divmod(x, y)[0]", "divmod(x, y)[1]"],
        doc: "The quotient `a // b` and the remainder `a % b`.",
        example: "divmod(7, 2)",
        ..BARE
    },
    Row {
        names: &["pow"],
        params: &[any("x"), any("y"), any("mod").optional().named()],
        typing: Typing::Value(ValueRule::Pow),
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
        typing: Typing::Numbers(NumberRule::Round),
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
        typing: Typing::Tree(TreeRule::Print),
        effect: Effect::Group,
        stages: Stages::Compute,
        doc: "[Prints](../guide/printing.md) its arguments.",
        example: "print(1, 2.5)",
        ..BARE
    },
];
