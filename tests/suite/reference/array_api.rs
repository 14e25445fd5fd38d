//! The page on the Python array API standard: every name of its version 2024.12, and what stands for it here.
//!
//! The rows are here, and the counts are made of them. Each entry of the second column is an expression that the
//! program must have, and a function must have the keywords of the standard.

use std::fmt::Write;

use super::printed;
use crate::Failure;
use crate::program::Program;

const HEAD: &str = "\
# The array API standard

You want to know whether a program for the Python array API standard runs with `kp`.
The [standard](https://data-apis.org/array-api/2024.12/) lists the functions that array libraries have in common.
This page has a row for each of its names in version 2024.12, so that you can look up what differs.
A test evaluates every expression of the second column, and compares the keywords of functions with the standard's.
`UPDATE=1` writes the page.
";

/// A table: a section of the standard.
struct Section {
    title: &'static str,
    head: &'static str,
    rows: &'static [Row],
}

/// A name of the standard.
struct Row {
    name: &'static str,
    /// What there is for it: an expression of a script. Empty if there is none.
    here: &'static str,
    /// The keywords that the standard gives it.
    keywords: &'static str,
    /// What differs, or why there is none.
    note: &'static str,
}

/// A function of `kp` under its own name.
macro_rules! function {
    ($name:literal) => {
        function!($name, "")
    };
    ($name:literal, $keywords:literal) => {
        function!($name, $keywords, "")
    };
    ($name:literal, $keywords:literal, $note:literal) => {
        Row { name: $name, here: concat!("kp.", $name), keywords: $keywords, note: $note }
    };
}

/// A function of an extension.
macro_rules! of {
    ($extension:literal, $name:literal, $keywords:literal) => {
        of!($extension, $name, $keywords, "")
    };
    ($extension:literal, $name:literal, $keywords:literal, $note:literal) => {
        Row { name: $name, here: concat!("kp.", $extension, ".", $name), keywords: $keywords, note: $note }
    };
}

/// A method, an attribute or an operator: an expression of the tensors `x` and `y`, or of the matrix `a`.
const fn written(name: &'static str, here: &'static str) -> Row {
    Row { name, here, keywords: "", note: "" }
}

const fn differs(name: &'static str, here: &'static str, note: &'static str) -> Row {
    Row { name, here, keywords: "", note }
}

const fn missing(name: &'static str, note: &'static str) -> Row {
    Row { name, here: "", keywords: "", note }
}

const SECTIONS: &[Section] = &[
    Section {
        title: "Creation",
        head: "A `device` is a `Manager`.",
        rows: &[
            function!("arange", "stop step dtype device"),
            function!("asarray", "dtype device copy", "Ints of a list are `int32`, floats `float32`."),
            function!("empty", "dtype device"),
            function!("empty_like", "dtype device"),
            function!("eye", "k dtype device"),
            missing("from_dlpack", "There is no DLPack: `kp.asarray(x.numpy())` copies."),
            function!("full", "fill_value dtype device"),
            function!("full_like", "fill_value dtype device"),
            function!("linspace", "num dtype device endpoint"),
            function!("meshgrid", "indexing"),
            function!("ones", "dtype device"),
            function!("ones_like", "dtype device"),
            function!("tril", "k"),
            function!("triu", "k"),
            function!("zeros", "dtype device"),
            function!("zeros_like", "dtype device"),
        ],
    },
    Section {
        title: "Constants",
        head: "",
        rows: &[function!("e"), function!("inf"), function!("nan"), function!("newaxis"), function!("pi")],
    },
    Section {
        title: "Types of elements",
        head: "There are also `float16` and `bfloat16`.",
        rows: &[
            function!("bool", "", "Also a member of `DataTypes`; it equals the type."),
            function!("int8"),
            function!("int16"),
            function!("int32", "", "The default of ints."),
            function!("int64"),
            function!("uint8"),
            function!("uint16"),
            function!("uint32"),
            function!("uint64"),
            function!("float32", "", "The default of floats."),
            function!("float64"),
            function!("complex64"),
            function!("complex128"),
        ],
    },
    Section {
        title: "Functions of types",
        head: "",
        rows: &[
            function!("astype", "dtype copy device"),
            function!("can_cast", "", "An int type can be cast to a float type, as operators do it."),
            function!("finfo"),
            function!("iinfo"),
            function!("isdtype"),
            function!("result_type", "", "An int and a float type have the float type in common."),
        ],
    },
    Section {
        title: "Functions of elements",
        head: "",
        rows: &[
            function!("abs"),
            function!("acos"),
            function!("acosh"),
            function!("add"),
            function!("asin"),
            function!("asinh"),
            function!("atan"),
            function!("atan2"),
            function!("atanh"),
            function!("bitwise_and"),
            function!("bitwise_left_shift", "", "The amount is taken modulo the bits of the type."),
            function!("bitwise_invert"),
            function!("bitwise_or"),
            function!("bitwise_right_shift", "", "The amount is taken modulo the bits of the type."),
            function!("bitwise_xor"),
            function!("ceil"),
            function!("clip", "min max"),
            function!("conj"),
            function!("copysign"),
            function!("cos"),
            function!("cosh"),
            function!("divide", "", "Of ints, a `float32`."),
            function!("equal"),
            function!("exp"),
            function!("expm1"),
            function!("floor"),
            function!("floor_divide", "", "Of ints by 0, 0."),
            function!("greater"),
            function!("greater_equal"),
            function!("hypot"),
            function!("imag"),
            function!("isfinite"),
            function!("isinf"),
            function!("isnan"),
            function!("less"),
            function!("less_equal"),
            function!("log"),
            function!("log1p"),
            function!("log2"),
            function!("log10"),
            function!("logaddexp"),
            function!("logical_and"),
            function!("logical_not"),
            function!("logical_or"),
            function!("logical_xor"),
            function!("maximum"),
            function!("minimum"),
            function!("multiply"),
            function!("negative"),
            function!("nextafter"),
            function!("not_equal"),
            function!("positive"),
            function!(
                "pow",
                "",
                "Of an int by a negative number, an error; by a negative element of an array, 0."
            ),
            function!("real"),
            function!("reciprocal"),
            function!("remainder", "", "Of ints by 0, 0."),
            function!("round"),
            function!("sign"),
            function!("signbit"),
            function!("sin"),
            function!("sinh"),
            function!("square"),
            function!("sqrt"),
            function!("subtract"),
            function!("tan"),
            function!("tanh"),
            function!("trunc"),
        ],
    },
    Section {
        title: "Indexing",
        head: "",
        rows: &[
            function!("take", "axis"),
            function!("take_along_axis", "axis"),
            differs("x[i, 1:3, ::2]", "a[0, 1:3]", "One int for each axis gives a number, not an array."),
            written("x[..., newaxis]", "a[..., kp.newaxis]"),
            differs("x[mask]", "x[x > 0]", "An index may mix slices, ints and masks, as in NumPy."),
            differs(
                "x[indices]",
                "a[[0, 1], kp.asarray([1, 0])]",
                "An index out of range reads 0 and writes nothing.",
            ),
        ],
    },
    Section {
        title: "Inspection",
        head: "",
        rows: &[
            function!("__array_namespace_info__"),
            written("capabilities", "kp.__array_namespace_info__().capabilities"),
            written("default_device", "kp.__array_namespace_info__().default_device"),
            differs(
                "default_dtypes",
                "kp.__array_namespace_info__().default_dtypes",
                "Indices are `int32`; those of extremes, and counts, are `int64`.",
            ),
            differs(
                "devices",
                "kp.__array_namespace_info__().devices",
                "The manager in use; `Manager.list_devices()` lists what can be opened.",
            ),
            written("dtypes", "kp.__array_namespace_info__().dtypes"),
        ],
    },
    Section {
        title: "Products",
        head: "",
        rows: &[
            function!("matmul"),
            function!("matrix_transpose"),
            function!("tensordot", "axes"),
            function!("vecdot", "axis"),
        ],
    },
    Section {
        title: "Shapes",
        head: "",
        rows: &[
            function!("broadcast_arrays"),
            function!("broadcast_to", "shape"),
            function!("concat", "axis"),
            function!("expand_dims", "axis"),
            function!("flip", "axis"),
            function!("moveaxis"),
            function!("permute_dims", "axes"),
            function!("repeat", "axis"),
            function!("reshape", "shape copy"),
            function!("roll", "shift axis"),
            function!("squeeze", "axis"),
            function!("stack", "axis"),
            function!("tile"),
            function!("unstack", "axis"),
        ],
    },
    Section {
        title: "Searching",
        head: "",
        rows: &[
            function!("argmax", "axis keepdims"),
            function!("argmin", "axis keepdims"),
            function!("count_nonzero", "axis keepdims"),
            function!("nonzero"),
            function!("searchsorted", "side sorter"),
            function!("where"),
        ],
    },
    Section {
        title: "Sets",
        head: "NaNs are one value, as in NumPy's `unique`; the standard counts each of them.",
        rows: &[
            function!("unique_all"),
            function!("unique_counts"),
            function!("unique_inverse"),
            function!("unique_values"),
        ],
    },
    Section {
        title: "Sorting",
        head: "Every sort is stable. A NaN is the largest number.",
        rows: &[function!("argsort", "axis descending stable"), function!("sort", "axis descending stable")],
    },
    Section {
        title: "Statistics",
        head: "",
        rows: &[
            function!("cumulative_prod", "axis dtype include_initial"),
            function!("cumulative_sum", "axis dtype include_initial"),
            function!("max", "axis keepdims"),
            function!("mean", "axis keepdims"),
            function!("min", "axis keepdims"),
            function!("prod", "axis dtype keepdims"),
            function!("std", "axis correction keepdims"),
            function!("sum", "axis dtype keepdims"),
            function!("var", "axis correction keepdims"),
        ],
    },
    Section {
        title: "Utilities",
        head: "",
        rows: &[
            function!("all", "axis keepdims"),
            function!("any", "axis keepdims"),
            function!("diff", "axis n prepend append"),
        ],
    },
    Section {
        title: "Attributes and methods",
        head: "`x` is a tensor.",
        rows: &[
            written("x.dtype", "x.dtype"),
            differs("x.device", "x.device", "The manager of the tensor."),
            written("x.mT", "a.mT"),
            written("x.ndim", "x.ndim"),
            written("x.shape", "x.shape"),
            differs(
                "x.size",
                "x.size()",
                "A method, as in Kompute; `kp.asarray(x).size()` counts a list's elements.",
            ),
            written("x.T", "a.T"),
            written("__array_namespace__", "x.__array_namespace__"),
            written("__bool__", "bool(kp.ones(()))"),
            missing("__complex__", "`x.item()` is the number of a tensor with one element."),
            missing("__dlpack__", "There is no DLPack."),
            missing("__dlpack_device__", "There is no DLPack."),
            written("__float__", "float(kp.ones(()))"),
            written("__getitem__", "x[0]"),
            written("__index__", "[5, 6][kp.asarray(1)]"),
            written("__int__", "int(kp.ones(()))"),
            written("__setitem__", "x[0] = 1"),
            differs("to_device", "x.to_device(x.device)", "Without `stream`."),
        ],
    },
    Section {
        title: "Operators",
        head: "Each has its reflected form, and all but comparisons the form in place.",
        rows: &[
            written("__abs__", "abs(x)"),
            written("__add__", "x + y"),
            written("__and__", "x & y"),
            written("__eq__", "x == y"),
            written("__floordiv__", "x // y"),
            written("__ge__", "x >= y"),
            written("__gt__", "x > y"),
            written("__invert__", "~x"),
            written("__le__", "x <= y"),
            written("__lshift__", "x << y"),
            written("__lt__", "x < y"),
            written("__matmul__", "a @ a"),
            written("__mod__", "x % y"),
            written("__mul__", "x * y"),
            written("__ne__", "x != y"),
            written("__neg__", "-x"),
            written("__or__", "x | y"),
            written("__pos__", "+x"),
            written("__pow__", "x ** y"),
            written("__rshift__", "x >> y"),
            written("__sub__", "x - y"),
            written("__truediv__", "x / y"),
            written("__xor__", "x ^ y"),
        ],
    },
    Section {
        title: "The extension `linalg`",
        head: "",
        rows: &[
            of!("linalg", "cholesky", "upper"),
            of!("linalg", "cross", "axis"),
            of!("linalg", "det", ""),
            of!("linalg", "diagonal", "offset"),
            of!("linalg", "eigh", ""),
            of!("linalg", "eigvalsh", ""),
            of!("linalg", "inv", ""),
            of!("linalg", "matmul", ""),
            of!("linalg", "matrix_norm", "keepdims ord"),
            of!("linalg", "matrix_power", ""),
            of!("linalg", "matrix_rank", "rtol"),
            of!("linalg", "matrix_transpose", ""),
            of!("linalg", "outer", ""),
            of!("linalg", "pinv", "rtol"),
            of!("linalg", "qr", "mode"),
            of!("linalg", "slogdet", ""),
            of!("linalg", "solve", ""),
            of!("linalg", "svd", "full_matrices"),
            of!("linalg", "svdvals", ""),
            of!("linalg", "tensordot", "axes"),
            of!("linalg", "trace", "offset dtype"),
            of!("linalg", "vecdot", "axis"),
            of!("linalg", "vector_norm", "axis keepdims ord"),
        ],
    },
    Section {
        title: "The extension `fft`",
        head: "",
        rows: &[
            of!("fft", "fft", "n axis norm"),
            of!("fft", "ifft", "n axis norm"),
            of!("fft", "fftn", "s axes norm"),
            of!("fft", "ifftn", "s axes norm"),
            of!("fft", "rfft", "n axis norm"),
            of!("fft", "irfft", "n axis norm"),
            of!("fft", "rfftn", "s axes norm"),
            of!("fft", "irfftn", "s axes norm"),
            of!("fft", "hfft", "n axis norm"),
            of!("fft", "ihfft", "n axis norm"),
            of!("fft", "fftfreq", "d dtype device"),
            of!("fft", "rfftfreq", "d dtype device"),
            of!("fft", "fftshift", "axes"),
            of!("fft", "ifftshift", "axes"),
        ],
    },
];

pub fn page() -> Result<String, Failure> {
    let rows = || SECTIONS.iter().flat_map(|section| section.rows);
    let n_there = rows().filter(|row| !row.here.is_empty()).count();
    let n = rows().count();
    if 10 * n_there < 9 * n {
        return Err(Failure(format!("{n_there} of {n} names are there, fewer than nine in ten")));
    }
    let mut page = format!("{HEAD}\n{n_there} of its {n} names are there.\n");
    for section in SECTIONS {
        write!(page, "\n## {}\n", section.title).expect("a string takes all");
        if !section.head.is_empty() {
            write!(page, "\n{}\n", section.head).expect("a string takes all");
        }
        page.push_str("\n| Standard | Here | Note |\n|---|---|---|\n");
        for row in section.rows {
            let here = if row.here.is_empty() { "no".to_owned() } else { cell(row.here) };
            writeln!(page, "| {} | {here} | {} |", cell(row.name), row.note).expect("a string takes all");
        }
    }
    Ok(page)
}

/// Code in a table.
fn cell(code: &str) -> String {
    format!("`{}`", code.replace('|', "\\|"))
}

/// Prints the parameters of a function of the program, or of one that is written in kps.
const PARAMETERS: &str = "\
import kp
def show(value):
    code = getattr(value, '__code__', None)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else ()
    print('is', getattr(value, '__text_signature__', None) or ' '.join(names))
x, y = kp.arange(4), kp.full(4, 2)
a = x.reshape(2, 2)
";

/// Every expression of the page has a value, and every function takes the keywords of the standard.
pub fn every_name_is_there(program: &Program) -> Result<(), Failure> {
    let rows = SECTIONS.iter().flat_map(|section| section.rows);
    let rows: Vec<&Row> = rows.filter(|row| !row.here.is_empty()).collect();
    let mut script = PARAMETERS.to_owned();
    for row in &rows {
        let tried = match row.here.contains(" = ") {
            true => format!("{}; show(None)", row.here),
            false => format!("show({})", row.here),
        };
        write!(script, "try:\n    {tried}\nexcept Exception as error:\n    print('no', error)\n")
            .expect("a string takes all");
    }
    let printed = printed(program, &script)?;
    let mut wrong = Vec::new();
    for (row, line) in rows.iter().zip(printed.lines()) {
        let Some(signature) = line.strip_prefix("is ") else {
            wrong.push(format!("`{}`: {line}", row.here));
            continue;
        };
        let names: Vec<&str> = signature.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let lacking = row.keywords.split_whitespace().filter(|keyword| !names.contains(keyword));
        wrong.extend(lacking.map(|keyword| format!("`{}{signature}` lacks `{keyword}`", row.here)));
    }
    match wrong.is_empty() && printed.lines().count() == rows.len() {
        true => Ok(()),
        false => Err(Failure(format!(
            "{} lines for {} rows\n{}",
            printed.lines().count(),
            rows.len(),
            wrong.join("\n")
        ))),
    }
}
