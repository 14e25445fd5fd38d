//! Functions that are only members of `math`.

use super::row::{
    FUNCTION, Gives, Kind, Known, Row, any, float, items, number, one_number, rest, whole_number,
};
use super::section::{ALONE, Rows, Section};
use super::typing::{LibraryRule, NumberRule, Typing, ValueRule, library, library_of};
use crate::intrinsics::bound::Bound::{self, Exact, Growing, Steps, Ulp, UlpOrNear};
use crate::intrinsics::bound::Domain::{Everywhere, Numbers};
use crate::intrinsics::rows::Source::Formula;
use crate::intrinsics::rows::{in_library, in_library_within, within};
use crate::intrinsics::steps;
use crate::ir::Format;

pub static SECTION: Section = Section {
    title: "Only in `math`",
    about: "The modules `math` and `stdlib` also have all functions above that take numbers: `math.sin`, `stdlib.sin`.\n\
            Kernels know both modules without an import.",
    rows: Rows::Functions(ROWS),
    setup: ALONE,
};

const MEMBER: Row = Row { known: Known::Member, ..FUNCTION };
const NUMBERS: Row = Row { known: Known::Math, ..FUNCTION };

/// A factor for each unit by which `x` exceeds 2.
const GAMMA: Bound = Growing { units: 6.0, times: 1.0 };
/// Two terms cancel where the function crosses zero between its poles.
const LOG_GAMMA_ROUGH: Bound = UlpOrNear { units: 12.0, near: (-20.0, 8.0), absolute: 1.0 / 16384.0 };
const LOG_GAMMA: Bound = UlpOrNear { units: 8.0, near: (-20.0, -2.0), absolute: 1.0 / 65536.0 };
const LOG_GAMMA_OF_DOUBLES: Bound =
    UlpOrNear { units: 8.0, near: (-40.0, -2.0), absolute: 1.0 / (1u64 << 42) as f64 };

const ROWS: &[Row] = &[
    Row {
        names: &["erf"],
        params: &[number("x")],
        typing: library("erf_single", "erf"),
        floats: &[in_library("math.erf(x)", Numbers, Ulp(6.0), Formula, 2.0, 2.0)],
        doc: "The error function.",
        example: "math.erf(0.5)",
        ..MEMBER
    },
    Row {
        names: &["erfc"],
        params: &[number("x")],
        typing: library("erfc_single", "erfc"),
        floats: &[in_library("math.erfc(x)", Numbers, steps::ERFC, Formula, 8.0, 6.0)],
        doc: "The error function's complement, `1 - erf(x)`.",
        example: "math.erfc(0.5)",
        ..MEMBER
    },
    Row {
        names: &["gamma"],
        params: &[number("x")],
        typing: library("gamma_single", "gamma"),
        floats: &[in_library_within("math.gamma(x)", Numbers, GAMMA, GAMMA, Ulp(8.0))],
        doc: "The gamma function.",
        example: "math.gamma(5.0)",
        ..MEMBER
    },
    Row {
        names: &["lgamma"],
        params: &[number("x")],
        typing: library("lgamma_single", "lgamma"),
        floats: &[in_library_within(
            "math.lgamma(x)",
            Numbers,
            LOG_GAMMA_ROUGH,
            LOG_GAMMA,
            LOG_GAMMA_OF_DOUBLES,
        )],
        doc: "The logarithm of the size of the gamma function.",
        example: "math.lgamma(5.0)",
        ..MEMBER
    },
    Row {
        names: &["remainder"],
        params: &[number("x"), number("y")],
        typing: library("remainder", "remainder"),
        floats: &[within(
            "math.remainder(x, y)",
            Numbers,
            Steps("x - y * round(x / y)", steps::remainder),
            Formula,
            Exact,
        )],
        doc: "The IEEE remainder, `x - y * round(x / y)`.",
        example: "math.remainder(7.0, 4.0)",
        ..MEMBER
    },
    Row {
        names: &["nextafter"],
        params: &[number("x"), number("y")],
        typing: library_of("nextafter", Format::Bits),
        floats: &[within("math.nextafter(x, y)", Everywhere, Exact, Formula, Exact)],
        doc: "The next float from `x` toward `y`.",
        example: "math.nextafter(1.0, 2.0)",
        ..MEMBER
    },
    Row {
        names: &["ulp"],
        params: &[number("x")],
        typing: library_of("ulp", Format::NarrowFloat),
        floats: &[within("math.ulp(x)", Everywhere, Exact, Formula, Exact)],
        doc: "The unit in the last place of `x`.",
        example: "math.ulp(1.0)",
        ..MEMBER
    },
    Row {
        names: &["frexp"],
        params: &[number("x")],
        result: Gives::Other("a tuple of a float and an `i32`"),
        typing: Typing::Value(ValueRule::Frexp),
        floats: &[
            within("math.frexp(x)[0]", Everywhere, Exact, Formula, Exact),
            within("T(math.frexp(x)[1])", Everywhere, Exact, Formula, Exact),
        ],
        doc: "The mantissa and the exponent of `x`.",
        example: "math.frexp(10.0)",
        ..MEMBER
    },
    Row {
        names: &["ldexp"],
        params: &[number("x"), any("n")],
        typing: Typing::Numbers(NumberRule::Ldexp),
        floats: &[
            within("math.ldexp(x, 3)", Everywhere, Exact, Formula, Exact),
            within("math.ldexp(x, -140)", Everywhere, Exact, Formula, Exact),
        ],
        doc: "The product `x * 2 ** n`.",
        example: "math.ldexp(0.75, 4)",
        ..MEMBER
    },
    Row {
        names: &["gcd"],
        params: &[whole_number("a"), rest(Kind::WholeNumber)],
        typing: Typing::Library("gcd", LibraryRule::Plain),
        exact: &["math.gcd(x, y)", "math.gcd(x, y, z)"],
        doc: "The greatest common divisor.",
        example: "math.gcd(12, 18)",
        ..NUMBERS
    },
    Row {
        names: &["lcm"],
        params: &[whole_number("a"), rest(Kind::WholeNumber)],
        typing: Typing::Library("lcm", LibraryRule::Plain),
        exact: &["math.lcm(x, y)", "math.lcm(x, y, z)"],
        doc: "The least common multiple.",
        example: "math.lcm(4, 6)",
        ..NUMBERS
    },
    Row {
        names: &["isqrt"],
        params: &[whole_number("n")],
        typing: Typing::Library("isqrt", LibraryRule::Plain),
        exact: &["math.isqrt(x)"],
        doc: "The whole part of the square root.",
        example: "math.isqrt(17)",
        ..NUMBERS
    },
    Row {
        names: &["factorial"],
        params: &[whole_number("n")],
        typing: Typing::Library("factorial", LibraryRule::Plain),
        exact: &["math.factorial(x % 40)"],
        doc: "The product of the ints from 1 to `n`.",
        example: "math.factorial(5)",
        ..NUMBERS
    },
    Row {
        names: &["comb"],
        params: &[whole_number("n"), whole_number("k")],
        typing: Typing::Library("comb", LibraryRule::Plain),
        exact: &["math.comb(x % 64, y % 64)", "math.comb(x, y % 4)"],
        doc: "The number of ways to choose `k` of `n` things.",
        example: "math.comb(5, 2)",
        ..NUMBERS
    },
    Row {
        names: &["perm"],
        params: &[whole_number("n"), whole_number("k").optional()],
        typing: Typing::Library("perm", LibraryRule::Plain),
        exact: &["math.perm(x % 40)", "math.perm(x % 40, y % 40)", "math.perm(x, y % 8)"],
        doc: "The number of ways to put `k` of `n` things in order.",
        example: "math.perm(5, 2)",
        ..NUMBERS
    },
    Row {
        names: &["dist"],
        params: &[any("p"), any("q")],
        typing: Typing::Library("dist", LibraryRule::Dist),
        floats: &[
            // As exact as `hypot`, of differences that are rounded right.
            within(
                "math.dist((x, y), (y, z))",
                Numbers,
                Steps("hypot(x - y, y - z)", steps::dist),
                Formula,
                Ulp(3.0),
            ),
        ],
        doc: "The distance of two points, which are tuples, lists or vectors.",
        example: "math.dist((1.0, 1.0), (4.0, 5.0))",
        ..NUMBERS
    },
    Row {
        names: &["modf"],
        params: &[float("x")],
        result: Gives::Other("a tuple of two floats"),
        typing: Typing::Library("modf", LibraryRule::Plain),
        floats: &[
            within("math.modf(x)[0]", Everywhere, Exact, Formula, Exact),
            within("math.modf(x)[1]", Everywhere, Exact, Formula, Exact),
        ],
        doc: "The part behind the point and the whole part, both with the sign of `x`.",
        example: "math.modf(-2.25)",
        ..NUMBERS
    },
    Row {
        names: &["isclose"],
        params: &[
            one_number("a"),
            one_number("b"),
            one_number("rel_tol").keyword(),
            one_number("abs_tol").keyword(),
        ],
        result: Gives::Bool,
        typing: Typing::Library("isclose", LibraryRule::IsClose),
        exact: &[
            "math.isclose(x, y)",
            "math.isclose(x, y, rel_tol=0.25)",
            "math.isclose(x, y, rel_tol=0.0, abs_tol=1.75)",
        ],
        doc: "Whether two numbers are equal but for a tolerance.",
        example: "math.isclose(1.0, 1.0000001, rel_tol=1e-6)",
        ..NUMBERS
    },
    Row {
        names: &["prod"],
        params: &[items("xs"), any("start").keyword()],
        result: Gives::Scalar,
        typing: Typing::Library("prod", LibraryRule::Prod),
        floats: &[
            within(
                "math.prod((x, y, z))",
                Numbers,
                Steps("x * y * z", |[x, y, z]| x * y * z),
                Formula,
                Exact,
            ),
            within(
                "math.prod((x, y), start=z)",
                Numbers,
                Steps("z * x * y", |[x, y, z]| z * x * y),
                Formula,
                Exact,
            ),
        ],
        exact: &["math.prod((x, y, z))", "math.prod((x, y), start=z)"],
        doc: "The product of a list, a tuple, a vector or an array.",
        example: "math.prod((2, 3, 4))",
        ..NUMBERS
    },
    Row {
        names: &["fsum"],
        params: &[items("xs")],
        result: Gives::Scalar,
        typing: Typing::Library("fsum", LibraryRule::Fsum),
        floats: &[within("math.fsum((x, y, z))", Everywhere, Exact, Formula, Exact)],
        doc: "The true sum, rounded once.",
        example: "math.fsum((0.1, 0.2, 0.3))",
        ..NUMBERS
    },
    Row {
        names: &["sumprod"],
        params: &[items("xs"), items("ys")],
        result: Gives::Scalar,
        typing: Typing::Library("sumprod", LibraryRule::Sumprod),
        floats: &[within(
            "math.sumprod((x, y), (y, z))",
            Numbers,
            Steps("x * y + y * z", |[x, y, z]| x * y + y * z),
            Formula,
            Exact,
        )],
        exact: &["T(math.sumprod((x, y), (y, z)))"],
        doc: "The sum of the products of the elements of two lists.",
        example: "math.sumprod((1, 2), (3, 4))",
        ..NUMBERS
    },
];
