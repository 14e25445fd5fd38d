//! Mistakes about values and their types: literals, operands, conversions, conditions, matrices.

use kps_syntax::{Diagnostic, Location};

use super::parts::{advised, arguments, error};
use super::remedies::{cut_alike, fillers, first_components, how_to_call, how_to_convert};
use super::source_text::{
    arguments_of, as_operand, as_side, floor_divided, is_nested, list_as_floats, literal_items, operand_of,
    without_brackets,
};
use crate::constant::Literal;
use crate::found::{Found, one};
use crate::types::{ArrayType, Scalar, Type};

pub(crate) fn int_too_large(at: Location) -> Diagnostic {
    error("kernel/literal", at, "an int of more than 128 bits", "").help("the widest int in a kernel has 64")
}

/// A number that no int type holds.
pub(crate) fn int_of_no_type(at: Location, literal: Literal) -> Diagnostic {
    error("kernel/literal", at, format!("`{literal}` does not fit any int type"), "")
        .help(beyond_ints(literal))
}

/// Two ints, of which each fits a type of 64 bits, and no type both.
pub(crate) fn ints_of_no_type(least: (Location, Literal), most: (Location, Literal)) -> Diagnostic {
    let message = format!("no int type holds both `{}` and `{}`", least.1, most.1);
    let (ends, large) = (Scalar::I64.int_range(), Scalar::U64.int_range());
    let ((min, max), (_, most_of_all)) = ends.zip(large).expect("these are ints");
    error("kernel/literal", most.0, message, "").label(least.0, "").help(format!(
        "`i64` holds {min} to {max}, and `u64` 0 to {most_of_all}: take numbers that one of them holds, or floats"
    ))
}

fn beyond_ints(literal: Literal) -> String {
    format!(
        "the widest, `i64` and `u64`, end at 9223372036854775807 and 18446744073709551615: write a float, `{:e}`",
        literal.to_f64()
    )
}

/// A weakly typed number that is one of several ints.
pub(crate) fn may_not_fit(at: Location, text: &str, (literal, scalar): (Literal, Scalar)) -> Diagnostic {
    let message = format!("`{text}` may be `{literal}`, which does not fit `{scalar}`");
    let (min, max) = scalar.int_range().expect("it is an int type");
    let bits = scalar.bits();
    error("kernel/literal", at, message, "")
        .help(format!("`{scalar}` holds {min} to {max}: `{scalar}({text})` keeps the lowest {bits} bits"))
}

pub(crate) fn literal_does_not_fit(at: Location, literal: Literal, scalar: Scalar) -> Diagnostic {
    let message = match (literal, scalar.int_range()) {
        (Literal::Float(_), Some(_)) => {
            format!("the float `{literal}` is not an int, and `{scalar}` is wanted")
        }
        _ if scalar == Scalar::Bool => format!("the number `{literal}` is not a `bool`"),
        _ => format!("`{literal}` does not fit `{scalar}`"),
    };
    let text = at.source.slice(at.span).to_owned();
    let diagnostic = error("kernel/literal", at, message, "");
    let holds = |scalar: &Scalar| literal.fit(*scalar).is_some();
    match (literal, scalar.int_range()) {
        (Literal::Int(0), _) if scalar == Scalar::Bool => diagnostic.help("write `False`"),
        (Literal::Int(1), _) if scalar == Scalar::Bool => diagnostic.help("write `True`"),
        _ if scalar == Scalar::Bool => diagnostic.help("write `True`, `False` or a comparison: `x != 0`"),
        (Literal::Float(_), Some(_)) if let Some(divided) = floor_divided(&text) => {
            diagnostic.help(format!("`/` gives a float: write `{divided}`"))
        }
        (Literal::Float(value), Some((_, max))) if !value.is_finite() => {
            let lacking = if value.is_nan() { "NaN" } else { "infinity" };
            diagnostic.help(format!("ints have no {lacking}: use a number in its place, such as `{max}`"))
        }
        (Literal::Float(_), Some(_)) => diagnostic.help(format!("write `{scalar}({literal})` to cut it off")),
        (Literal::Int(value), Some((min @ 0, max))) if value < 0 && -value <= max / 2 + 1 => {
            let same_bits = value.rem_euclid(max + 1);
            let signed = if scalar.bits() < 32 { Scalar::I32 } else { Scalar::I64 };
            diagnostic.help(format!(
                "`{scalar}` holds {min} to {max}: make the other side signed, `{signed}(..)`, or, where bits are \
                 meant, write those of this number: `{same_bits:#X}`"
            ))
        }
        (Literal::Int(_), Some(_)) if !Scalar::ALL.iter().filter(|scalar| scalar.is_int()).any(holds) => {
            diagnostic.help(beyond_ints(literal))
        }
        (Literal::Int(_), Some((min, max))) => {
            let wider = [Scalar::I32, Scalar::I64].into_iter().find(holds).unwrap_or(Scalar::U64);
            diagnostic.help(format!("`{scalar}` holds {min} to {max}: {}", declared_wider(wider, literal)))
        }
        _ => {
            let wider = [Scalar::F32, Scalar::F64].into_iter().find(holds).unwrap_or(Scalar::F64);
            let (wider, (most, text)) = (declared_wider(wider, literal), greatest(scalar));
            diagnostic.help(match (literal.to_f64().abs() <= most, holds(&Scalar::F64)) {
                (true, true) => {
                    format!("`{scalar}` would round it: write `{literal}.0` if that may be, or {wider}")
                }
                (true, false) => format!("every float would round it: write `{literal}.0` if that may be"),
                (false, _) => format!("`{scalar}` holds -{text} to {text}: {wider}"),
            })
        }
    }
}

/// The largest number of a float type.
fn greatest(float: Scalar) -> (f64, &'static str) {
    match float {
        Scalar::F16 => (65504.0, "65504"),
        Scalar::F64 => (f64::MAX, "1.8e308"),
        _ => (f32::MAX.into(), "3.4e38"),
    }
}

/// The type of a stored number is fixed, so a cast helps only in arithmetic.
fn declared_wider(wider: Scalar, literal: Literal) -> String {
    format!("declare what is to hold it as `{wider}`; in arithmetic, write `{wider}({literal})`")
}

pub(crate) fn constant_division_by_zero(at: Location) -> Diagnostic {
    error("kernel/division-by-zero", at, "division by zero", "")
        .help("write the value that is meant: `math.inf`, `0`")
}

pub(crate) fn not_a_value(at: Location, what: &Found) -> Diagnostic {
    let text = at.source.slice(at.span).to_owned();
    let diagnostic =
        error("kernel/not-a-value", at, format!("{what} is not a number"), "a number is wanted here");
    match what {
        what if what.is_array() => diagnostic.help("take one element: `a[i]`"),
        Found::EnumMember(_) => diagnostic.help(format!("write its value: `{text}.value`")),
        Found::Function(_) | Found::Lambda => diagnostic.help(how_to_call(&text)),
        Found::Type(_) | Found::Generic(_) => diagnostic.help("make a value of it: `f32(x)`"),
        _ => diagnostic.help("write a number, or what gives one"),
    }
}

pub(crate) fn no_value(at: Location, text: &str) -> Diagnostic {
    error("kernel/no-value", at, format!("`{text}` gives no value"), "")
        .help("let the function return one, or call it on a line of its own")
}

/// A built-in function without a result; `changed` is the argument that it changes.
pub(crate) fn builtin_gives_no_value(at: Location, text: &str, changed: Option<&str>) -> Diagnostic {
    let line = format!("write `{text}` on a line of its own");
    error("kernel/no-value", at, format!("`{text}` gives no value"), "").help(match changed {
        Some(changed) => format!("{line}: it changes `{changed}`"),
        None => line,
    })
}

pub(crate) fn expected_type(at: Location, text: &str, wanted: &Type, found: &Found) -> Diagnostic {
    let mistake = error("kernel/type", at, format!("`{text}` is {found}, not `{wanted}`"), found);
    advised(mistake, how_to_convert(text, found, wanted))
}

pub(crate) fn stored_type(
    value: Location,
    target: Location,
    (value_text, found): (&str, &Found),
    (target_text, wanted): (&str, &Type),
) -> Diagnostic {
    let message = format!("cannot store {found} in `{target_text}`, which is `{wanted}`");
    let mistake = error("kernel/type", value, message, found).label(target, format!("`{wanted}`"));
    advised(mistake, how_to_convert(value_text, found, wanted))
}

/// For an f64 from the script's array `array`.
pub(crate) fn captured_f64(mistake: Diagnostic, array: &str) -> Diagnostic {
    mistake.help(format!(
        "`{array}` is an array of f64, as NumPy's are where nothing is said: make it f32, `{array}.astype(np.float32)`, or \
         a list, whose numbers take the type that they meet"
    ))
}

/// For `a += b`: `target` and `symbol` are on its left, `value` on its right.
pub(crate) fn augmented_type(
    (target_at, target, wanted): (Location, &str, &Type),
    symbol: &str,
    (value_at, value, found): (Location, &str, &Found),
) -> Diagnostic {
    let result = format!("{target} {symbol} {}", as_operand(value));
    let message = format!("`{target}` is `{wanted}`, and `{result}` is {found}");
    let diagnostic = error("kernel/type", value_at, message, "").label(target_at, format!("`{wanted}`"));
    match wanted.scalar().is_some_and(Scalar::is_int) && symbol == "/" {
        true => diagnostic.help(format!("`/` gives a float: write `{target} //= {value}`")),
        false if wanted.scalar().is_some() && !wanted.is_vector() && is_row(found) => {
            advised(diagnostic, how_to_convert(&format!("({result})"), found, wanted))
        }
        false => diagnostic.help(format!("cast it: `{target} = {wanted}({result})`")),
    }
}

/// `items` is the text of a list of ints, as it may be of numbers times how many.
pub(crate) fn begin_with_floats(name: &str, items: &str) -> String {
    format!("begin with floats: `{name} = {}`", list_as_floats(items))
}

/// Of `for a[i] in ..` and `a[i], b[i] = f(..)`.
pub(crate) fn item_type(at: Location, target: &str, wanted: &Type, found: &Found) -> Diagnostic {
    let mistake =
        error("kernel/type", at, format!("`{target}` is `{wanted}`, and is given {found} here"), "");
    match how_to_convert("item", found, wanted).and_then(|remedy| remedy.converted) {
        Some(converted) => mistake.help(format!(
            "give the item a name in place of `{target}`, and store it converted: `{target} = {converted}`"
        )),
        None => mistake,
    }
}

pub(crate) fn operand_types(
    at: Location,
    symbol: &str,
    left: (Location, &Found),
    right: (Location, &Found),
    cast: Option<String>,
) -> Diagnostic {
    let message = format!("`{symbol}` does not take {} and {}", left.1, right.1);
    if symbol == "^" && left.1.is_float() {
        let diagnostic = error("kernel/operand-types", at, message, "");
        let [base, exponent] = [&left.0, &right.0].map(|at| at.source.slice(at.span).to_owned());
        return diagnostic
            .label(left.0, left.1)
            .label(right.0, right.1)
            .help(format!("powers are written `**`: `{base} ** {exponent}`"));
    }
    with_operands(error("kernel/operand-types", at, message, ""), symbol, left, right, cast)
}

pub(crate) fn tuples_have_no_order(at: Location) -> Diagnostic {
    error("kernel/operand-types", at, "tuples have no order in kernels", "")
        .help("compare with `==` or `!=`, or compare a part: `a[0] < b[0]`")
}

pub(crate) fn compare_types(
    at: Location,
    symbol: &str,
    left: (Location, &Found),
    right: (Location, &Found),
    cast: Option<String>,
) -> Diagnostic {
    let message = format!("`{symbol}` cannot compare {} with {}", left.1, right.1);
    with_operands(error("kernel/operand-types", at, message, ""), symbol, left, right, cast)
}

/// `symbol` is the operator between two arrays.
fn element_by_element(symbol: &str) -> String {
    match symbol {
        "@" => "sum the products in a loop: `total += a[i, k] * b[k, j]`".to_owned(),
        "dot" => "sum the products in a loop: `total += a[i] * b[i]`".to_owned(),
        symbol => format!("a kernel works on one element at a time: `out[i] = a[i] {symbol} b[i]`"),
    }
}

fn with_operands(
    diagnostic: Diagnostic,
    symbol: &str,
    left: (Location, &Found),
    right: (Location, &Found),
    cast: Option<String>,
) -> Diagnostic {
    let [left_text, right_text] =
        [&left.0, &right.0].map(|at| without_brackets(at.source.slice(at.span)).to_owned());
    let diagnostic = diagnostic.label(left.0, left.1).label(right.0, right.1);
    let (left, right) = (left.1, right.1);
    let any = |is_so: fn(&Found) -> bool| is_so(left) || is_so(right);
    let all = |is_so: fn(&Found) -> bool| is_so(left) && is_so(right);
    match cast {
        // `vec3<f32>(..)`
        _ if symbol == "<" && left.is_type() => {
            diagnostic.help(format!("a type takes no `<..>` here: write `{left_text}(..)`"))
        }
        _ if left.is_struct() && let Some(method) = operator_method(symbol) => {
            diagnostic.help(format!("give the struct a method for it, `def {method}(self, other):`"))
        }
        _ if matches!(symbol, "@" | "dot") && !any(is_row) && !any(Found::is_array) => {
            diagnostic.help(of_rows(symbol, "numbers"))
        }
        _ if matches!(symbol, "&" | "|") && any(Found::is_float) => {
            let word = if symbol == "&" { "and" } else { "or" };
            diagnostic.help(format!(
                "conditions are joined by `{word}`, as `{symbol}` comes before comparisons; \
                 bits are those of ints: `i32(x)`, or `bitcast(u32, x)`"
            ))
        }
        Some(cast) => diagnostic.help(format!("cast one of them: `{cast}`")),
        None if any(|found| matches!(found, Found::EnumMember(_))) => {
            let number = |text: &str, found: &Found| match found {
                Found::EnumMember(_) => format!("{text}.value"),
                _ => text.to_owned(),
            };
            let (left, right) = (number(&left_text, left), number(&right_text, right));
            diagnostic.help(format!("write their values: `{left} {symbol} {right}`"))
        }
        None if symbol == "+" && all(Found::is_list) => diagnostic
            .help(format!("write `[*{left_text}, *{right_text}]` to have one behind the other; numbers are added one at a time")),
        None if any(Found::is_array) => diagnostic.help(element_by_element(symbol)),
        None if any(Found::is_matrix) && any(Found::is_vector) => {
            diagnostic.help(format!("take one row of the matrix: `m[0] {symbol} v`"))
        }
        None if symbol == "dot" && all(Found::is_matrix) => {
            diagnostic.help(of_rows(symbol, "matrices"))
        }
        None if matches!(symbol, "@" | "dot") && !all(Found::is_vector) => {
            diagnostic.help(of_rows(symbol, "numbers"))
        }
        None if any(Found::is_vector) => {
            let cut = cut_alike((&left_text, left), (&right_text, right));
            let cut = cut.unwrap_or_else(|| "v.xy".to_owned());
            diagnostic.help(format!("take as many components of both: `{cut}`"))
        }
        None if matches!(symbol, "<<" | ">>") && any(Found::is_float) => {
            diagnostic.help("bits are those of ints: `i32(x)`, or `bitcast(u32, x)`")
        }
        None if any(Found::is_tuple) => {
            let item = |text: &str, found: &Found| match found.is_tuple() {
                true => format!("{}[0]", as_operand(text)),
                false => text.to_owned(),
            };
            let (left, right) = (item(&left_text, left), item(&right_text, right));
            diagnostic.help(format!("take an item of it: `{left} {symbol} {right}`"))
        }
        None if any(Found::is_matrix) => diagnostic.help(of_matrices(symbol)),
        None if left.is_struct() => diagnostic.help("take one of its members"),
        None if left.is_function() => diagnostic.help(how_to_call(&left_text)),
        None if right.is_function() => diagnostic.help(how_to_call(&right_text)),
        None => diagnostic.help("write numbers on both sides"),
    }
}

/// The method of a struct by which an operator is called.
fn operator_method(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        "+" => "__add__",
        "-" => "__sub__",
        "*" => "__mul__",
        "/" => "__truediv__",
        "//" => "__floordiv__",
        "%" => "__mod__",
        "**" => "__pow__",
        "@" => "__matmul__",
        "==" | "!=" => "__eq__",
        "<" => "__lt__",
        "<=" => "__le__",
        ">" => "__gt__",
        ">=" => "__ge__",
        _ => return None,
    })
}

fn of_matrices(symbol: &str) -> &'static str {
    match symbol {
        "**" => "a power of a matrix is a product: `m @ m`",
        "/" => "divide by a number, or write `a @ inverse(b)`",
        "==" | "!=" => "compare them column by column, or element by element: `a[0, 0] == b[0, 0]`",
        "+" | "-" => "both have as many columns and rows, and one type",
        _ => "matrices are added, subtracted and multiplied, `a @ b`; else take their elements: `m[0, 0]`",
    }
}

pub(crate) fn unary_type(at: Location, symbol: &str, what: &Found) -> Diagnostic {
    let operand = without_brackets(operand_of(at.source.slice(at.span), symbol)).to_owned();
    let diagnostic = error("kernel/operand-types", at, format!("`{symbol}` does not take {what}"), what);
    match (symbol, what) {
        ("~", Found::Value(Type::BOOL)) => diagnostic.help(format!("write `not {operand}`")),
        (_, what) if what.is_array() => diagnostic.help(format!("take one element: `{symbol}{operand}[i]`")),
        ("-" | "+" | "~", what) if what.is_struct() => {
            let method = match symbol {
                "-" => "__neg__",
                "+" => "__pos__",
                _ => "__invert__",
            };
            diagnostic.help(format!("give the struct a method for it, `def {method}(self):`"))
        }
        ("~", Found::Value(Type::Scalar(_))) => {
            diagnostic.help(format!("bits are those of ints: `~i32({operand})`"))
        }
        ("~", _) => diagnostic.help("bits are those of ints: `~i32(x)`"),
        _ => diagnostic.help("write a number"),
    }
}

pub(crate) fn negative_power(at: Location, base: &str, exponent: i128, scalar: Scalar) -> Diagnostic {
    error("kernel/negative-power", at, format!("a negative power of an `{scalar}` is not an int"), "")
        .help(format!("it is a fraction: write `f32({base}) ** {exponent}`, and keep it in a float"))
}

pub(crate) fn bitcast_type(at: Location, what: &Found) -> Diagnostic {
    error("kernel/bitcast", at, format!("`bitcast` makes a number of bits, not {what}"), what)
        .help("name the type first: `bitcast(u32, x)`")
}

pub(crate) fn bitcast_width(at: Location, from: &Found, to: &Type) -> Diagnostic {
    error("kernel/bitcast", at, format!("{from} has other bits than {}", one(to)), from)
        .help("both have the same number of bits: `bitcast(u32, x)` of an `f32`")
}

/// Of a vector, a list or a tuple of bools.
pub(crate) fn condition_of_bools(at: Location, text: &str, what: &Found) -> Diagnostic {
    error("kernel/condition", at, format!("a condition is a bool, not {what}"), what)
        .help(format!("write `all({text})` or `any({text})`"))
}

pub(crate) fn condition_not_bool(at: Location, text: &str, what: &Found) -> Diagnostic {
    let diagnostic = error("kernel/condition", at, format!("a condition is a bool, not {what}"), what);
    match what {
        what if let Some(element) = what.element() => {
            let test = if *element == Type::BOOL { "" } else { " != 0" };
            diagnostic.help(format!("test one element, `{text}[i]{test}`, or the length, `len({text}) > 0`"))
        }
        Found::Value(Type::Vector(..)) => diagnostic.help(format!("write `any({} != 0)`", as_side(text))),
        what if what.is_float() => diagnostic.help(format!("write `{} != 0.0`", as_side(text))),
        Found::Literal(_) if text.parse::<f64>().is_ok() => diagnostic.help(match text {
            "0" | "0.0" => format!("write `False`, or compare it with something: `n == {text}`"),
            "1" | "1.0" => format!("write `True`, or compare it with something: `n == {text}`"),
            _ => format!("compare it with something: `n == {text}`, `n == 1 or n == {text}`"),
        }),
        Found::Function(_) | Found::Lambda => diagnostic.help(how_to_call(text)),
        Found::Value(Type::Struct(_)) => {
            diagnostic.help("ask for one of its members, or give the struct a method, `def __bool__(self):`")
        }
        _ => diagnostic.help(format!("write `{} != 0`", as_side(text))),
    }
}

/// `x == 1 or 2`
pub(crate) fn compare_again(left: &str, symbol: &str, value: &str) -> String {
    format!("each side is a comparison of its own: write `{left} {symbol} {value}`")
}

/// `a or b` of numbers, which gives one of them in Python.
pub(crate) fn choice_by_or(a: &str, b: &str) -> String {
    let test = format!("{} != 0", as_side(a));
    format!("compare it, `{test}`; to choose one of the two, write `{a} if {test} else {b}`")
}

/// `a and b` of numbers, which gives one of them in Python.
pub(crate) fn choice_by_and(a: &str, b: &str) -> String {
    let test = format!("{} != 0", as_side(a));
    format!("compare it, `{test}`; to choose one of the two, write `{b} if {test} else {a}`")
}

/// `test and a or b`, which gives one of the two in Python.
pub(crate) fn choice_by_test(test: &str, a: &str, b: &str) -> String {
    format!("compare it, `{} != 0`; to choose one of two, write `{a} if {test} else {b}`", as_side(a))
}

/// `cast` is the conversion that makes both sides equal in type.
pub(crate) fn ternary_types(
    then: (Location, &Found),
    orelse: (Location, &Found),
    cast: Option<String>,
) -> Diagnostic {
    let message = match then.1 == orelse.1 {
        true => {
            let one = then.1.without_article();
            format!("the two sides of `if .. else` are one {one} and another")
        }
        false => format!("the two sides of `if .. else` are {} and {}", then.1, orelse.1),
    };
    let any = |is_so: fn(&Found) -> bool| is_so(then.1) || is_so(orelse.1);
    let help = if then.1.is_array() && orelse.1.is_array() {
        match then.1 == orelse.1 {
            true => ROWS_CHOSEN,
            false => ARRAYS_CHOSEN,
        }
    } else if any(Found::is_array) {
        "take one element of the array: `a[i]`"
    } else if any(Found::is_function) {
        "a function is chosen when the kernel is compiled: call both, `f(x) if c else g(x)`, or let a \
         `const[bool]` parameter choose"
    } else if any(|found| matches!(found, Found::Texture(_))) {
        "a texture is chosen before the launch: choose what is read of them, `a.read(at) if c else b.read(at)`"
    } else {
        let mistake = error("kernel/choice-types", then.0, message, then.1).label(orelse.0, orelse.1);
        return mistake.help(cast_one(cast));
    };
    error("kernel/choice-types", then.0, message, then.1).label(orelse.0, orelse.1).help(help)
}

/// `cast` is the conversion that makes two values equal in type, if one line does it.
pub(super) fn cast_one(cast: Option<String>) -> String {
    match cast {
        Some(cast) => format!("cast one of them: `{cast}`"),
        None => "make both of one type".to_owned(),
    }
}

/// A vector or a matrix.
fn is_row(found: &Found) -> bool {
    found.is_vector() || found.is_matrix()
}

/// The operands of products of rows.
fn of_rows(symbol: &str, others: &str) -> String {
    let of = if symbol == "@" { "vectors and matrices" } else { "two vectors" };
    let by = if others == "matrices" { "@" } else { "*" };
    format!("`{symbol}` is of {of}: {others} are multiplied by `{by}`")
}

/// `to` is the type of one number, and `made` the type of the whole.
pub(crate) fn cast_type(at: Location, what: &Found, made: &Type, to: &Type) -> Diagnostic {
    let text = at.source.slice(at.span).to_owned();
    error("kernel/cast", at, format!("cannot make {} of {what}", one(made)), what).help(match what {
        _ if made.n_parts().is_some()
            && let Some(items) = literal_items(&text) =>
        {
            match is_nested(items) {
                true => "a matrix is made of its columns: `mat2(vec2(1.0, 0.0), vec2(0.0, 1.0))`".to_owned(),
                false => format!("leave the brackets out: `{items}`"),
            }
        }
        what if what.is_array() => format!("take one element: `{to}({}[0])`", as_operand(&text)),
        Found::EnumMember(_) => format!("write its value: `{to}({text}.value)`"),
        Found::Value(Type::Vector(..)) => format!("take one component: `{to}({}.x)`", as_operand(&text)),
        Found::Function(_) | Found::Lambda => how_to_call(&text).into(),
        Found::Tuple(_) => format!("take one of its items: `{to}({}[0])`", as_operand(&text)),
        _ => format!("give it a number: `{to}(1)`"),
    })
}

pub(crate) fn vector_parts(at: Location, ty: &Type, given: usize) -> Diagnostic {
    let n = ty.n_components();
    let text = at.source.slice(at.span).to_owned();
    let mistake =
        error("kernel/vector-parts", at, format!("{} has {n} components, not {given}", one(ty)), "");
    match arguments_of(&text).as_deref() {
        Some([]) | Some([""]) | None => {
            mistake.help(format!("give {n} numbers, or one for all of them: `{ty}(0)`"))
        }
        Some(args) if given < usize::from(n) => {
            mistake.help(format!("give {n} numbers: `{ty}({}{})`", args.join(", "), fillers(given, ty)))
        }
        Some([vector]) => {
            mistake.help(format!("take as many components: `{ty}({})`", first_components(vector, n)))
        }
        Some(_) => mistake.help(format!("give {n} numbers, or one for all of them: `{ty}(0)`")),
    }
}

pub(crate) fn array_elements(at: Location, array: &ArrayType, given: usize) -> Diagnostic {
    let ArrayType { len, element, .. } = array;
    error(
        "kernel/array-elements",
        at,
        format!("an `Array({len}, {element})` has {len} elements, not {given}"),
        "",
    )
    .help(format!("give {len} elements, or none for zeros: `Array({len}, {element})()`"))
}

pub(crate) fn array_element(at: Location, what: &Found, element: &Type) -> Diagnostic {
    error("kernel/array-element", at, format!("an element is {}, not {what}", one(element)), "")
        .help(format!("convert it: `{element}(..)`"))
}

pub(crate) fn match_subject(at: Location, what: &Found) -> Diagnostic {
    error("kernel/match", at, format!("`match` takes numbers, bools and tuples of them, not {what}"), "")
        .help("match its parts, `match (v.x, v.y):`, or write `if` and `elif`")
}

/// A number where a bool is matched; `stands_for` is the bool that it is meant for.
pub(crate) fn bool_case(at: Location, stands_for: bool) -> Diagnostic {
    let word = if stands_for { "True" } else { "False" };
    error("kernel/match", at, "a bool is matched, and this is a number", "")
        .help(format!("write `case {word}:`"))
}

pub(crate) fn match_parts(at: Location, what: &Found) -> Diagnostic {
    error("kernel/match", at, format!("this pattern has parts, and {what} has none"), "")
        .help("match several values at once: `match (x, y):` with `case (0, 1):`")
}

pub(crate) fn vector_type(at: Location, text: &str) -> Diagnostic {
    error("kernel/vector", at, format!("`{text}` is not a vector"), "")
        .help("2 to 4 numbers of one type: `Vector(3, f32)`")
}

pub(crate) fn matrix_type(at: Location, text: &str) -> Diagnostic {
    error("kernel/matrix", at, format!("`{text}` is not a matrix"), "")
        .help("2 to 4 columns and rows of floats: `Matrix(3, 2, f64)`")
}

/// `*` between two matrices, or a matrix and a vector.
/// For rows whose array is not known.
pub(super) const ROWS_CHOSEN: &str =
    "choose the array or the index, then take the row: `t = a if c else b`, `row = t[i]`";

/// For arrays that one name cannot refer to.
pub(super) const ARRAYS_CHOSEN: &str = "only parameters with one type of elements and as many axes can be chosen between; else choose elements: `a[i] if c else b[i]`";

pub(crate) fn matrix_times(at: Location, left: (Location, &Found), right: (Location, &Found)) -> Diagnostic {
    let message = format!("`*` does not take {} and {}", left.1, right.1);
    let both = format!("{} @ {}", left.0.source.slice(left.0.span), right.0.source.slice(right.0.span));
    error("kernel/matrix", at, message, "")
        .label(left.0, left.1)
        .label(right.0, right.1)
        .help(format!("the matrix product is `@`: `{both}`"))
}

pub(crate) fn matrix_sizes(
    at: Location,
    symbol: &str,
    left: (Location, &Found),
    right: (Location, &Found),
) -> Diagnostic {
    error("kernel/matrix", at, format!("`{symbol}` does not take {} and {}", left.1, right.1), "")
        .label(left.0, left.1)
        .label(right.0, right.1)
        .help(
            "the left side has as many columns as the right side has rows; `matCxR` has C columns and R rows",
        )
}

pub(crate) fn matrix_parts(at: Location, ty: &Type, given: usize) -> Diagnostic {
    let (columns, rows) = match ty {
        Type::Matrix { columns, rows, .. } => (*columns, *rows),
        _ => (0, 0),
    };
    let numbers = usize::from(columns) * usize::from(rows);
    error("kernel/matrix", at, format!("{} is not made of {}", one(ty), arguments(given)), "").help(format!(
        "give it {columns} columns of {rows} components, {numbers} numbers column by column, or one for the diagonal"
    ))
}

pub(crate) fn matrix_column(at: Location, wanted: &Type, found: &Found) -> Diagnostic {
    error("kernel/matrix", at, format!("a column of this matrix is {}, not {found}", one(wanted)), found)
        .help(format!(
            "write each column as `{wanted}(..)`, or all numbers one after the other, column by column"
        ))
}

pub(crate) fn matrix_wanted(at: Location, name: &str, what: &Found) -> Diagnostic {
    error("kernel/matrix", at, format!("`{name}` takes a matrix, not {what}"), what)
        .help(format!("give it one: `{name}(mat2(1, 0, 0, 1))`"))
}

pub(crate) fn matrix_not_square(at: Location, name: &str, ty: &Type) -> Diagnostic {
    error("kernel/matrix", at, format!("`{name}` takes a square matrix, not {}", one(ty)), "")
        .help("use `mat2`, `mat3` or `mat4`")
}

pub(crate) fn matrix_index_count(at: Location, name: &str, n_indices: usize) -> Diagnostic {
    error("kernel/matrix", at, format!("a matrix has two axes, and {n_indices} indices are given"), "")
        .help(format!("`{name}[row, column]`, `{name}[row]`, or `{name}[:, column]`"))
}

pub(crate) fn whole_axis(at: Location) -> Diagnostic {
    error("kernel/slice", at, "`:` selects a whole axis of a matrix only", "")
        .help("a kernel works on one element at a time: `x[i] = y[i]`, with `i = global_id.x`")
}

pub(crate) fn assign_uniform(at: Location, name: &str) -> Diagnostic {
    error("kernel/uniform", at, format!("`{name}` is a uniform, which kernels only read"), "a uniform")
        .help(format!("work on a variable of your own: `mine = {name}`"))
}
