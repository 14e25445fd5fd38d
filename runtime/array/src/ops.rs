//! The operations on elements: one table with their names, their types and their form in a kernel.
//!
//! Names and meanings are those of the Python array API standard. A form is chosen by the type in which the
//! operation computes; where there is none, the operation does not take that type. Functions that kernels do not
//! know by name are in the chapters `elementwise.kps` and `complex.kps` of `stdlib/src/kernels`.

use kps_scalar::{Kind, Scalar};

use crate::element::ElementType;
use crate::errors::{self, Result};
use crate::promote;

/// How a kernel writes an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `a + b`.
    Infix(&'static str, Precedence),
    /// `-a`.
    Prefix(&'static str, Precedence),
    /// `sin(a)`.
    Call(&'static str),
    /// `b if a else c`.
    Choice,
    /// The operand itself.
    Operand,
    /// The same for any operand: `False`.
    Always(&'static str),
}

/// How tightly an operator binds, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precedence {
    Choice,
    Or,
    And,
    Not,
    Compare,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Sum,
    Product,
    Sign,
    Power,
    Atom,
}

/// The types of operands and result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Operands are converted to their common type, which is also the result's.
    Common,
    /// As `Common`, for floats: ints are converted first.
    Float,
    /// Operands are converted to their common type; the result is a bool.
    Test,
    /// Operands are true unless they are 0; the result is a bool.
    Truth,
    /// The first operand is a condition; the common type of the others is the result's.
    Choice,
    /// As `Common`; the result of complex numbers is real.
    Part,
    /// As `Part`, for floats.
    FloatPart,
    /// Operands are converted to a common float type; the result has the complex numbers of such parts.
    Pair,
}

/// Whether computing a result again is cheaper than to store and load it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    Cheap,
    Dear,
}

/// One operation.
#[derive(Debug)]
pub struct Op {
    pub name: &'static str,
    pub meaning: &'static str,
    pub n_inputs: usize,
    pub cost: Cost,
    rule: Rule,
    of_bools: Option<Form>,
    of_ints: Option<Form>,
    of_floats: Option<Form>,
}

/// The types of one use of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typed {
    /// The type that operands are converted to; the condition of a choice is a bool.
    pub operand: ElementType,
    pub result: ElementType,
    pub form: Form,
}

impl Op {
    /// The operation with this name.
    pub fn named(name: &str) -> Option<&'static Op> {
        TABLE.iter().find(|op| op.name == name)
    }

    /// The types and the form for operands with this common type.
    pub fn typed(&self, common: ElementType) -> Result<Typed> {
        let operand = match self.rule {
            Float | FloatPart => promote::as_float(common),
            Truth => Scalar::Bool.into(),
            Common | Test | Choice | Part => common,
            Pair => promote::as_part(common)?.into(),
        };
        let form = match operand.kind() {
            Some(Kind::Bool) => self.of_bools,
            Some(Kind::Signed | Kind::Unsigned) => self.of_ints,
            Some(Kind::Float) => self.of_floats,
            None => self.of_complex(),
        };
        let result = match self.rule {
            Test | Truth => Scalar::Bool.into(),
            Common | Float | Choice => operand,
            Part | FloatPart => operand.part().into(),
            Pair => ElementType::complex_of(operand.part()),
        };
        let form = match self.rule {
            Pair => Some(Form::Call(result.in_kernels())),
            _ => form,
        };
        let form = form.ok_or_else(|| errors::not_for(self.name, common))?;
        Ok(Typed { operand, result, form })
    }

    /// The form of complex numbers.
    fn of_complex(&self) -> Option<Form> {
        OF_COMPLEX.iter().find(|(name, _)| *name == self.name).map(|(_, form)| *form)
    }

    /// Whether the first operand is a condition.
    pub fn chooses(&self) -> bool {
        self.rule == Choice
    }
}

const fn infix(symbol: &'static str, precedence: Precedence) -> Option<Form> {
    Some(Form::Infix(symbol, precedence))
}

const fn call(name: &'static str) -> Option<Form> {
    Some(Form::Call(name))
}

const OR: Option<Form> = infix("or", Precedence::Or);
const AND: Option<Form> = infix("and", Precedence::And);
const NOT: Option<Form> = Some(Form::Prefix("not ", Precedence::Not));
const DIFFER: Option<Form> = infix("!=", Precedence::Compare);
const SAME: Option<Form> = Some(Form::Operand);
const FALSE: Option<Form> = Some(Form::Always("False"));
const TRUE: Option<Form> = Some(Form::Always("True"));
const ZERO: Option<Form> = Some(Form::Always("0"));
const NONE: Option<Form> = None;

const fn row(
    name: &'static str,
    meaning: &'static str,
    n_inputs: usize,
    cost: Cost,
    rule: Rule,
    [of_bools, of_ints, of_floats]: [Option<Form>; 3],
) -> Op {
    Op { name, meaning, n_inputs, cost, rule, of_bools, of_ints, of_floats }
}

/// A function of floats.
const fn function(name: &'static str, meaning: &'static str, n_inputs: usize, form: &'static str) -> Op {
    row(name, meaning, n_inputs, Dear, Float, [NONE, NONE, call(form)])
}

/// An operator of ints, floats, or both.
const fn operator(
    name: &'static str,
    meaning: &'static str,
    symbol: &'static str,
    precedence: Precedence,
    of_bools: Option<Form>,
) -> Op {
    let form = infix(symbol, precedence);
    row(name, meaning, 2, Cheap, Common, [of_bools, form, form])
}

const fn comparison(
    name: &'static str,
    meaning: &'static str,
    symbol: &'static str,
    of_bools: Option<Form>,
) -> Op {
    let form = infix(symbol, Precedence::Compare);
    row(name, meaning, 2, Cheap, Test, [of_bools, form, form])
}

const fn bitwise(
    name: &'static str,
    meaning: &'static str,
    symbol: &'static str,
    precedence: Precedence,
    of_bools: Option<Form>,
) -> Op {
    row(name, meaning, 2, Cheap, Common, [of_bools, infix(symbol, precedence), NONE])
}

/// A function whose result is a whole number, so that ints stay as they are.
const fn rounding(name: &'static str, meaning: &'static str) -> Op {
    row(name, meaning, 1, Cheap, Common, [NONE, SAME, call(name)])
}

const fn test(name: &'static str, meaning: &'static str, of_ints: Option<Form>) -> Op {
    row(name, meaning, 1, Cheap, Test, [of_ints, of_ints, call(name)])
}

use Cost::{Cheap, Dear};
use Precedence::{BitAnd, BitOr, BitXor, Power, Product, Shift, Sign, Sum};
use Rule::{Choice, Common, Float, FloatPart, Pair, Part, Test, Truth};

#[rustfmt::skip]
static TABLE: &[Op] = &[
    operator("add",          "The sum.",                                             "+",  Sum,     OR),
    operator("subtract",     "The difference.",                                      "-",  Sum,     NONE),
    operator("multiply",     "The product.",                                         "*",  Product, AND),
    row("divide",            "The quotient, a float.",                         2, Cheap, Float,  [NONE, NONE, infix("/", Product)]),
    row("floor_divide",      "The quotient, rounded down.",                    2, Cheap, Common, [NONE, infix("//", Product), call("floor_divide")]),
    row("remainder",         "The remainder, with the sign of the divisor.",   2, Cheap, Common, [NONE, infix("%", Product), call("remainder")]),
    row("pow",               "The power.",                                     2, Dear,  Common, [NONE, infix("**", Power), infix("**", Power)]),
    row("negative",          "The opposite number.",                           1, Cheap, Common, [NONE, Some(Form::Prefix("-", Sign)), Some(Form::Prefix("-", Sign))]),
    row("positive",          "The same number.",                               1, Cheap, Common, [NONE, SAME, SAME]),
    row("abs",               "The size of a number.",                          1, Cheap, Part,   [SAME, call("abs"), call("abs")]),
    row("sign",              "-1, 0 or 1, with the sign of the number.",       1, Cheap, Common, [NONE, call("sign"), call("sign_or_nan")]),
    row("square",            "The number times itself.",                       1, Cheap, Common, [NONE, call("square"), call("square")]),
    row("maximum",           "The larger number; a NaN if there is one.",      2, Cheap, Common, [OR,  call("max"), call("maximum")]),
    row("minimum",           "The smaller number; a NaN if there is one.",     2, Cheap, Common, [AND, call("min"), call("minimum")]),
    row("fmod",              "The remainder, with the sign of the dividend.",  2, Cheap, Common, [NONE, call("trem"), call("fmod")]),

    comparison("equal",         "Whether the numbers are equal.",          "==", infix("==", Precedence::Compare)),
    comparison("not_equal",     "Whether the numbers differ.",             "!=", DIFFER),
    comparison("less",          "Whether the first number is smaller.",    "<",  call("less_of_bools")),
    comparison("less_equal",    "Whether the first number is not larger.", "<=", call("less_equal_of_bools")),
    comparison("greater",       "Whether the first number is larger.",     ">",  call("greater_of_bools")),
    comparison("greater_equal", "Whether the first number is not smaller.", ">=", call("greater_equal_of_bools")),

    row("logical_and", "Whether both are true.",            2, Cheap, Truth, [AND, NONE, NONE]),
    row("logical_or",  "Whether one or both are true.",     2, Cheap, Truth, [OR, NONE, NONE]),
    row("logical_xor", "Whether exactly one is true.",      2, Cheap, Truth, [DIFFER, NONE, NONE]),
    row("logical_not", "Whether the operand is false.",     1, Cheap, Truth, [NOT, NONE, NONE]),

    bitwise("bitwise_and",         "The bits that both have.",              "&",  BitAnd, AND),
    bitwise("bitwise_or",          "The bits that one or both have.",       "|",  BitOr,  OR),
    bitwise("bitwise_xor",         "The bits that exactly one has.",        "^",  BitXor, DIFFER),
    bitwise("bitwise_left_shift",  "The bits, moved up.",                   "<<", Shift,  NONE),
    bitwise("bitwise_right_shift", "The bits, moved down; the sign stays.", ">>", Shift,  NONE),
    row("bitwise_invert",          "The bits that the number lacks.", 1, Cheap, Common, [NOT, Some(Form::Prefix("~", Sign)), NONE]),

    rounding("floor", "The nearest whole number that is not larger."),
    rounding("ceil",  "The nearest whole number that is not smaller."),
    rounding("trunc", "The whole part, rounded toward zero."),
    rounding("round", "The nearest whole number; half to even."),

    test("isnan",    "Whether the number is a NaN.",                     FALSE),
    test("isinf",    "Whether the number is infinite.",                  FALSE),
    test("isfinite", "Whether the number is neither infinite nor a NaN.", TRUE),
    row("signbit",   "Whether the sign is a minus.", 1, Cheap, Test, [FALSE, call("is_negative"), call("signbit")]),

    function("sqrt",  "The square root.",                                        1, "sqrt"),
    function("cbrt",  "The cube root.",                                          1, "cbrt"),
    function("rsqrt", "The reciprocal of the square root.",                      1, "rsqrt"),
    row("reciprocal", "1 divided by the number.", 1, Cheap, Float, [NONE, NONE, call("reciprocal")]),
    function("exp",   "A power of e.",                                           1, "exp"),
    function("exp2",  "A power of 2.",                                           1, "exp2"),
    function("expm1", "`exp(x) - 1`, exact near 0.",                             1, "expm1"),
    function("log",   "The natural logarithm.",                                  1, "log"),
    function("log2",  "The logarithm of base 2.",                                1, "log2"),
    function("log10", "The logarithm of base 10.",                               1, "log10"),
    function("log1p", "`log(1 + x)`, exact near 0.",                             1, "log1p"),
    function("logaddexp", "`log(exp(a) + exp(b))`, without overflow.",           2, "logaddexp"),
    function("hypot", "The root of the sum of the squares.",                     2, "hypot"),
    function("sin",   "The sine of an angle in radians.",                        1, "sin"),
    function("cos",   "The cosine of an angle in radians.",                      1, "cos"),
    function("tan",   "The tangent of an angle in radians.",                     1, "tan"),
    function("asin",  "The angle of a sine.",                                    1, "asin"),
    function("acos",  "The angle of a cosine.",                                  1, "acos"),
    function("atan",  "The angle of a tangent.",                                 1, "atan"),
    function("atan2", "The angle of a point: `atan2(y, x)`.",                    2, "atan2"),
    function("sinh",  "The hyperbolic sine.",                                    1, "sinh"),
    function("cosh",  "The hyperbolic cosine.",                                  1, "cosh"),
    function("tanh",  "The hyperbolic tangent.",                                 1, "tanh"),
    function("asinh", "The inverse of `sinh`.",                                  1, "asinh"),
    function("acosh", "The inverse of `cosh`.",                                  1, "acosh"),
    function("atanh", "The inverse of `tanh`.",                                  1, "atanh"),
    function("erf",   "The error function.",                                     1, "math.erf"),
    function("erfc",  "`1 - erf(x)`, exact where that is small.",                1, "math.erfc"),
    function("gamma", "The gamma function.",                                     1, "math.gamma"),
    function("lgamma", "The logarithm of the size of the gamma function.",       1, "math.lgamma"),
    function("sigmoid", "The logistic function, `1 / (1 + exp(-x))`.",           1, "sigmoid"),
    function("nextafter", "The next float from `a` toward `b`.",                 2, "math.nextafter"),
    row("copysign", "The size of `a` with the sign of `b`.", 2, Cheap, Float, [NONE, NONE, call("copysign")]),
    row("degrees",  "An angle in radians, in degrees.",      1, Cheap, Float, [NONE, NONE, call("degrees")]),
    row("radians",  "An angle in degrees, in radians.",      1, Cheap, Float, [NONE, NONE, call("radians")]),
    row("relu",     "The number, or 0 if it is negative.",   1, Cheap, Common, [NONE, call("relu"), call("relu")]),

    row("complex", "The complex number with these parts.",         2, Cheap, Pair,      [NONE, NONE, NONE]),
    row("real",    "The real part.",                               1, Cheap, Part,      [SAME, SAME, SAME]),
    row("imag",    "The imaginary part: 0 of a real number.",      1, Cheap, Part,      [FALSE, ZERO, ZERO]),
    row("conj",    "The number with the opposite imaginary part.", 1, Cheap, Common,    [SAME, SAME, SAME]),
    row("angle",   "The angle of a complex number in radians.",    1, Dear,  FloatPart, [NONE, NONE, call("angle_of_real")]),

    row("where", "The second operand where the first is true, else the third.", 3, Cheap, Choice,
        [Some(Form::Choice), Some(Form::Choice), Some(Form::Choice)]),
];

/// The operations that take complex numbers. The others have no meaning for them, as comparisons of size.
#[rustfmt::skip]
static OF_COMPLEX: &[(&str, Form)] = &[
    ("add",        Form::Infix("+", Sum)),
    ("subtract",   Form::Infix("-", Sum)),
    ("multiply",   Form::Call("times")),
    ("divide",     Form::Call("over")),
    ("pow",        Form::Call("cpow")),
    ("negative",   Form::Prefix("-", Sign)),
    ("positive",   Form::Operand),
    ("abs",        Form::Call("cabs")),
    ("sign",       Form::Call("csign")),
    ("square",     Form::Call("csquare")),
    ("equal",      Form::Call("is_equal")),
    ("not_equal",  Form::Call("is_not_equal")),
    ("round",      Form::Call("cround")),
    ("isnan",      Form::Call("is_nan")),
    ("isinf",      Form::Call("is_infinite")),
    ("isfinite",   Form::Call("is_finite")),
    ("sqrt",       Form::Call("csqrt")),
    ("reciprocal", Form::Call("creciprocal")),
    ("exp",        Form::Call("cexp")),
    ("exp2",       Form::Call("cexp2")),
    ("expm1",      Form::Call("cexpm1")),
    ("log",        Form::Call("clog")),
    ("log2",       Form::Call("clog2")),
    ("log10",      Form::Call("clog10")),
    ("log1p",      Form::Call("clog1p")),
    ("sin",        Form::Call("csin")),
    ("cos",        Form::Call("ccos")),
    ("tan",        Form::Call("ctan")),
    ("asin",       Form::Call("casin")),
    ("acos",       Form::Call("cacos")),
    ("atan",       Form::Call("catan")),
    ("sinh",       Form::Call("csinh")),
    ("cosh",       Form::Call("ccosh")),
    ("tanh",       Form::Call("ctanh")),
    ("asinh",      Form::Call("casinh")),
    ("acosh",      Form::Call("cacosh")),
    ("atanh",      Form::Call("catanh")),
    ("real",       Form::Call("creal")),
    ("imag",       Form::Call("cimag")),
    ("conj",       Form::Call("conj")),
    ("angle",      Form::Call("carg")),
    ("where",      Form::Choice),
];

/// Every operation.
pub fn all() -> impl Iterator<Item = &'static Op> {
    TABLE.iter()
}

/// An operation that this crate uses itself.
pub(crate) fn known(name: &str) -> &'static Op {
    Op::named(name).expect("the operation is in the table")
}
