//! Functions of arrays that are written in kps: modules of the standard library, imported at the first call.

use crate::ops::Side;
use crate::value::{Doc, Module, NativeFunction, Result, Value};
use crate::vm::Vm;

/// A function of a module of the library.
struct Function {
    name: &'static str,
    module: &'static str,
    doc: Doc,
}

const fn function(
    name: &'static str,
    module: &'static str,
    signature: &'static str,
    sentence: &'static str,
) -> Function {
    Function { name, module, doc: Doc { signature, sentence } }
}

const JOINING: &str = "kp.kernels.joining";
const DTYPES: &str = "kp.kernels.dtypes";
const MORE: &str = "kp.kernels.functions";
const FOURIER: &str = "kp.fft";
const EINSUM: &str = "kp.kernels.einsum";
const CONVOLUTION: &str = "kp.kernels.convolution";
const TUNED: &str = "_tuned";

#[rustfmt::skip]
static FUNCTIONS: &[Function] = &[
    function("concat",      JOINING, "(arrays, axis=0)",        "The arrays one behind the other along an axis."),
    function("concatenate", JOINING, "(arrays, axis=0)",        "As `concat`, under NumPy's name."),
    function("stack",       JOINING, "(arrays, axis=0)",        "The arrays along a new axis."),
    function("unstack",     JOINING, "(x, axis=0)",             "A tuple of views, one for each index of an axis."),
    function("split",       JOINING, "(x, parts, axis=0)",      "A list of views: so many equal parts, or parts that end at these indices."),
    function("tile",        JOINING, "(x, repetitions)",        "The array repeated along each axis."),
    function("repeat",      JOINING, "(x, repeats, axis=None)", "Each element repeated."),
    function("roll",        JOINING, "(x, shift, axis=None)",   "The elements moved along an axis; the last ones come first."),
    function("pad",         JOINING, "(x, width, value=0)",     "The array with a border of a number."),
    function("moveaxis",    JOINING, "(x, source, destination)", "A view with axes at other places."),
    function("broadcast_arrays", JOINING, "(*arrays)",          "Views of the arrays in their common shape."),
    function("broadcast_shapes", JOINING, "(*shapes)",          "The common shape of several."),
    function("meshgrid",    JOINING, "(*arrays, indexing=\"xy\")", "The coordinates of a grid, one array for each axis."),
    function("tril",        JOINING, "(x, k=0)",                "A matrix with zeros above its k-th diagonal."),
    function("triu",        JOINING, "(x, k=0)",                "A matrix with zeros below its k-th diagonal."),
    function("diff",        JOINING, "(x, n=1, axis=-1, prepend=None, append=None)", "The differences of neighbours along an axis."),

    function("isdtype",     DTYPES, "(dtype, kind)",            "Whether a type is of a kind, such as \"real floating\", or of one of several."),
    function("can_cast",    DTYPES, "(from_, to)",              "Whether a type is the common one of itself and another."),
    function("iinfo",       DTYPES, "(type)",                   "The limits of a type of ints: `bits`, `min` and `max`."),
    function("finfo",       DTYPES, "(type)",                   "The limits of a type of floats: `bits`, `eps`, `min`, `max` and `smallest_normal`."),
    function("__array_namespace_info__", DTYPES, "()",          "What the library offers: devices, types and capabilities."),

    function("cumulative_sum",  MORE, "(x, axis=None, dtype=None, include_initial=False)", "The sums of the elements up to each one."),
    function("cumulative_prod", MORE, "(x, axis=None, dtype=None, include_initial=False)", "The products of the elements up to each one."),
    function("cumsum",          MORE, "(x, axis=None, dtype=None)", "As `cumulative_sum`, under NumPy's name."),
    function("cumprod",         MORE, "(x, axis=None, dtype=None)", "As `cumulative_prod`, under NumPy's name."),
    function("cummax",          MORE, "(x, axis=None)",         "The largest of the elements up to each one."),
    function("cummin",          MORE, "(x, axis=None)",         "The smallest of the elements up to each one."),

    function("sort",            MORE, "(x, axis=-1, descending=False, stable=True)", "The elements along an axis in order; a NaN is the largest number."),
    function("argsort",         MORE, "(x, axis=-1, descending=False, stable=True)", "The indices that sort an axis."),
    function("topk",            MORE, "(x, k, axis=-1)",        "The k largest elements along an axis from the largest on, and their indices."),
    function("searchsorted",    MORE, "(x1, x2, side=\"left\", sorter=None)", "The places in a sorted array where elements keep it sorted."),
    function("unique_values",   MORE, "(x)",                    "The different elements, in order."),
    function("unique_counts",   MORE, "(x)",                    "The different elements, and how often each occurs."),
    function("unique_inverse",  MORE, "(x)",                    "The different elements, and which of them each element is."),
    function("unique_all",      MORE, "(x)",                    "The different elements, the index of the first of each, which one each element is, and their counts."),
    function("nonzero",         MORE, "(x)",                    "The indices of the elements that are not 0, one array for each axis."),
    function("flatnonzero",     MORE, "(x)",                    "The flat indices of the elements that are not 0."),
    function("argwhere",        MORE, "(x)",                    "The indices of the elements that are not 0, a row for each."),
    function("compress",        MORE, "(x, mask)",              "The elements where a mask of the same shape is true."),
    function("take",            MORE, "(x, indices, axis=None)", "The elements at these indices of an axis, or of the flat array."),
    function("take_along_axis", MORE, "(x, indices, axis=-1)",  "The elements at indices that differ from row to row."),
    function("isin",            MORE, "(x, values)",            "Whether each element is one of the values."),
    function("bincount",        MORE, "(x, weights=None, minlength=0)", "How often each int occurs, or the sums of the weights."),
    function("histogram",       MORE, "(x, bins=10, range=None)", "How many elements fall into each of some equal bins, and the edges of these."),
    function("scatter_add",     MORE, "(target, indices, values=None)", "Adds each value to the element of a flat tensor at its index; returns the target."),
    function("segment_sum",     MORE, "(values, offsets)",      "The sums of the pieces of a flat tensor that begin at these offsets; the last one is the end."),

    function("matmul",          MORE, "(a, b)",                 "The product of matrices, or of batches of them."),
    function("dot",             MORE, "(a, b)",                 "The sum of the products of two vectors; of matrices, their product."),
    function("vecdot",          MORE, "(a, b, axis=-1)",        "The sums of products along an axis, of the conjugates of `a` with `b`."),
    function("outer",           MORE, "(a, b)",                 "The products of each element of one vector with each of another."),
    function("tensordot",       MORE, "(a, b, axes=2)",         "The sums of products over some axes of both."),
    function("einsum",          EINSUM, "(subscripts, *operands)", "The sums of products over axes named by letters: `einsum(\"ij,jk->ik\", a, b)`."),
    function("cross",           MORE, "(a, b, axis=-1)",        "The vector product of vectors of 3 elements."),
    function("diagonal",        MORE, "(x, offset=0, axis1=0, axis2=1)", "The diagonal of two axes, as the last axis, that is `offset` columns to the right of the main one."),
    function("trace",           MORE, "(x, offset=0, axis1=0, axis2=1, dtype=None)", "The sum of a diagonal."),
    function("matrix_transpose", MORE, "(x)",                   "A view with the last two axes exchanged."),
    function("norm",            MORE, "(x, axis=None, keepdims=False, ord=2)", "The length of a vector."),

    function("fftconvolve",     FOURIER, "(a, b, mode=\"full\")", "The convolution of two arrays along all of their axes, by Fourier transforms."),
    function("conv1d",          CONVOLUTION, "(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1)", "The sums of products of a filter with each part of rows: PyTorch's layout, (batch, channel, position)."),
    function("conv2d",          CONVOLUTION, "(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1)", "The sums of products of a filter with each part of pictures: (batch, channel, row, column)."),
    function("max_pool2d",      CONVOLUTION, "(x, kernel_size, stride=None, padding=0, dilation=1)", "The largest element of each window of pictures."),
    function("avg_pool2d",      CONVOLUTION, "(x, kernel_size, stride=None, padding=0)", "The mean of each window of pictures; the padding counts as zeros."),

    function("softmax",         MORE, "(x, axis=-1)",           "The powers of e, divided by their sum along an axis."),
    function("log_softmax",     MORE, "(x, axis=-1)",           "The logarithm of `softmax`."),
    function("isclose",         MORE, "(a, b, rtol=1e-05, atol=1e-08)", "Whether numbers are equal but for a tolerance."),
    function("allclose",        MORE, "(a, b, rtol=1e-05, atol=1e-08)", "Whether all numbers are equal but for a tolerance: a bool."),
    function("array_equal",     MORE, "(a, b)",                 "Whether shapes and all elements are equal: a bool."),

    function("seed",            MORE, "(n)",                    "Starts the random numbers of `rand` and the like anew."),
    function("rand",            MORE, "(*shape, dtype=f32)",    "Random floats from 0 up to, but without, 1."),
    function("uniform",         MORE, "(low=0, high=1, shape=(), dtype=f32)", "Random floats from `low` up to, but without, `high`."),
    function("randn",           MORE, "(*shape, dtype=f32)",    "Random floats with a normal distribution."),
    function("normal",          MORE, "(mean=0, deviation=1, shape=(), dtype=f32)", "Random floats with this mean and deviation."),
    function("randint",         MORE, "(low, high, shape=(), dtype=i32)", "Random ints from `low` up to, but without, `high`."),
    function("permutation",     MORE, "(n)",                    "The ints below n, or the rows of an array, in random order."),
    function("shuffle",         MORE, "(x)",                    "Puts the rows of a tensor into random order, in place."),
    function("choice",          MORE, "(x, shape=(), replace=True)", "Random rows of an array, or ints below n; without `replace`, each at most once."),

    function("tuned",           TUNED, "(kernel, clear=False)", "The combinations of constants that a tuned kernel tried, with their times; `clear` forgets them."),
];

/// Adds the functions to the module `kp`.
pub fn add_to(module: &Module) {
    for known in FUNCTIONS {
        let mut function = NativeFunction::closure(known.name, |vm, args| {
            let function = found(vm, known.module, known.name)?;
            vm.call_with(&function, args)
        });
        function.doc = Some(known.doc);
        module.set(known.name, Value::NativeFunction(function.into()));
    }
}

/// A function of a module of the library.
fn found(vm: &mut Vm, module: &str, name: &str) -> Result {
    let function = vm.import(module)?.get(name);
    Ok(function.expect("the module has the function"))
}

/// `left @ right`, where `this` is the operand on `side`.
pub fn matmul(vm: &mut Vm, side: Side, this: &Value, other: &Value) -> Result<Option<Value>> {
    let pair = if side == Side::Left { [this.clone(), other.clone()] } else { [other.clone(), this.clone()] };
    call(vm, "matmul", &pair).map(Some)
}

/// Calls a function of the library.
pub fn call(vm: &mut Vm, name: &str, args: &[Value]) -> Result {
    let known = FUNCTIONS.iter().find(|function| function.name == name).expect("it is in the table");
    let function = found(vm, known.module, known.name)?;
    vm.call(&function, args)
}
