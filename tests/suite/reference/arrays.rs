//! The page on the functions of arrays, by what a reader wants to do.

use super::kp::{Section, Table, names};

pub const HEAD: &str = "\
# Functions of arrays

You want to look up a function that computes with tensors.
A test prints this page from the documentation of the names, which `help(kp.sum)` shows too.
`UPDATE=1` writes it.

Names and meanings are those of the [Python array API standard](https://data-apis.org/array-api/latest/), where it has the function.
`x` is a tensor, a NumPy array, a list or a number.
[Compute with tensors](../guide/arrays.md) is about the whole.
";

const fn functions(rows: &'static [&'static str]) -> Table {
    names("kp", "kp.", rows)
}

pub const SECTIONS: &[Section] = &[
    Section {
        title: "Make a tensor",
        head: "",
        tables: &[functions(&[
            "asarray", "zeros", "ones", "full", "empty", "zeros_like", "ones_like", "full_like", "empty_like", "arange",
            "linspace", "eye", "meshgrid", "tril", "triu",
        ])],
    },
    Section {
        title: "Random numbers",
        head: "The numbers depend on the seed and on the calls before, and are the same on every device.\n\
               Normals may differ in their last bits, as logarithms do.",
        tables: &[functions(&["seed", "rand", "uniform", "randn", "normal", "randint", "permutation"])],
    },
    Section {
        title: "Arithmetic",
        head: "The operators of tensors are these functions: `a + b` is `kp.add(a, b)`.",
        tables: &[functions(&[
            "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "pow", "negative", "positive",
            "abs", "sign", "square", "sqrt", "cbrt", "rsqrt", "reciprocal", "hypot", "maximum", "minimum", "clip",
            "floor", "ceil", "trunc", "round", "relu",
        ])],
    },
    Section {
        title: "Powers, logarithms and angles",
        head: "",
        tables: &[functions(&[
            "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp", "sigmoid", "sin", "cos", "tan", "asin",
            "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "degrees", "radians", "erf",
            "erfc", "gamma", "lgamma",
        ])],
    },
    Section {
        title: "Comparison and logic",
        head: "",
        tables: &[functions(&[
            "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or",
            "logical_xor", "logical_not", "where", "isnan", "isinf", "isfinite", "signbit", "isclose", "allclose",
            "array_equal", "isin",
        ])],
    },
    Section {
        title: "Bits",
        head: "",
        tables: &[functions(&[
            "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_invert", "bitwise_left_shift", "bitwise_right_shift",
            "copysign", "nextafter",
        ])],
    },
    Section {
        title: "Types",
        head: "",
        tables: &[functions(&["astype", "result_type"])],
    },
    Section {
        title: "Shapes",
        head: "A view shares the memory of its tensor.",
        tables: &[functions(&[
            "reshape", "permute_dims", "matrix_transpose", "moveaxis", "broadcast_to", "broadcast_arrays",
            "broadcast_shapes", "expand_dims", "squeeze", "flip", "roll", "concat concatenate", "stack", "unstack",
            "split", "tile", "repeat", "pad",
        ])],
    },
    Section {
        title: "Sums and extremes",
        head: "Without `axis`, all elements are reduced. An int is one axis, and a tuple several.",
        tables: &[functions(&[
            "sum", "prod", "min", "max", "mean", "var", "std", "any", "all", "argmin", "argmax", "count_nonzero",
            "logsumexp", "norm", "softmax", "log_softmax", "cumulative_sum cumsum", "cumulative_prod cumprod", "cummax",
            "cummin", "diff",
        ])],
    },
    Section {
        title: "Sort, search and count",
        head: "",
        tables: &[functions(&[
            "sort", "argsort", "topk", "searchsorted", "unique_values", "unique_counts", "unique_inverse", "unique_all",
            "nonzero", "flatnonzero", "argwhere", "compress", "take", "take_along_axis", "bincount", "histogram",
            "scatter_add", "segment_sum",
        ])],
    },
    Section {
        title: "Products",
        head: "`a @ b` is `kp.matmul(a, b)`.",
        tables: &[functions(&["matmul", "dot", "vecdot", "outer", "tensordot"])],
    },
    Section {
        title: "How expressions are computed",
        head: "",
        tables: &[functions(&["source", "evaluate", "eager"])],
    },
];
