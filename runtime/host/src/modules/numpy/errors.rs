//! The errors of scripts with arrays, each worded once, as NumPy words it.

use kps_compute::{ComputeError, DType};

use super::casting::Casting;
use super::print::shape_text;
use crate::errors::{index_error, memory_error, overflow_error, type_error, value_error};
use crate::modules::kp;
use crate::value::{Raise, Value};

pub fn storage(error: ComputeError) -> Raise {
    kp::compute(error)
}

pub fn not_broadcast(shapes: &[&[usize]]) -> Raise {
    let shapes: Vec<String> = shapes.iter().map(|shape| tight_shape(shape)).collect();
    value_error(format!("operands could not be broadcast together with shapes {} ", shapes.join(" ")))
}

pub fn not_assigned(from: &[usize], to: &[usize]) -> Raise {
    let (from, to) = (tight_shape(from), tight_shape(to));
    value_error(format!("could not broadcast input array from shape {from} into shape {to}"))
}

pub fn bad_output_shape(output: &[usize], result: &[usize]) -> Raise {
    let (output, result) = (tight_shape(output), tight_shape(result));
    value_error(format!(
        "non-broadcastable output operand with shape {output} doesn't match the broadcast shape {result}"
    ))
}

pub fn not_broadcast_to(from: &[usize], to: &[usize]) -> Raise {
    let (from, to) = (tight_shape(from), tight_shape(to));
    value_error(format!(
        "operands could not be broadcast together with remapped shapes [original->remapped]: {from}  and requested shape {to}"
    ))
}

/// A shape as NumPy's C code writes it: `(2,3)`.
fn tight_shape(shape: &[usize]) -> String {
    shape_text(shape).replace(", ", ",")
}

pub fn index_out_of_bounds(index: i64, axis: usize, len: usize) -> Raise {
    index_error(format!("index {index} is out of bounds for axis {axis} with size {len}"))
}

pub fn flat_index_out_of_bounds(index: i64, len: usize) -> Raise {
    index_error(format!("index {index} is out of bounds for size {len}"))
}

pub fn too_many_indices(n_axes: usize, n_indices: usize) -> Raise {
    index_error(format!(
        "too many indices for array: array is {n_axes}-dimensional, but {n_indices} were indexed"
    ))
}

pub fn bad_index() -> Raise {
    index_error(
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices",
    )
}

pub fn two_ellipses() -> Raise {
    index_error("an index can only have a single ellipsis ('...')")
}

pub fn mask_mismatch(axis: usize, len: usize, mask_len: usize) -> Raise {
    index_error(format!(
        "boolean index did not match indexed array along axis {axis}; size of axis is {len} but size of corresponding boolean axis is {mask_len}"
    ))
}

pub fn indices_not_broadcast(shapes: &[&[usize]]) -> Raise {
    let shapes: Vec<String> = shapes.iter().map(|shape| tight_shape(shape)).collect();
    index_error(format!(
        "shape mismatch: indexing arrays could not be broadcast together with shapes {} ",
        shapes.join(" ")
    ))
}

pub fn axis_out_of_bounds(axis: i64, n_axes: usize) -> Raise {
    value_error(format!("axis {axis} is out of bounds for array of dimension {n_axes}"))
}

pub fn duplicate_axis() -> Raise {
    value_error("duplicate value in 'axis'")
}

pub fn read_only() -> Raise {
    value_error("assignment destination is read-only")
}

pub fn ambiguous_truth() -> Raise {
    value_error("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")
}

pub fn empty_truth() -> Raise {
    value_error(
        "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty.",
    )
}

pub fn not_one_element() -> Raise {
    value_error("can only convert an array of size 1 to a Python scalar")
}

pub fn not_zero_axes() -> Raise {
    type_error("only 0-dimensional arrays can be converted to Python scalars")
}

pub fn not_an_index() -> Raise {
    type_error("only integer scalar arrays can be converted to a scalar index")
}

pub fn no_identity(name: &str) -> Raise {
    value_error(format!("zero-size array to reduction operation {name} which has no identity"))
}

pub fn empty_argument(name: &str) -> Raise {
    value_error(format!("attempt to get {name} of an empty sequence"))
}

pub fn not_reshaped(size: usize, shape: &[i64]) -> Raise {
    // NumPy leaves out an open axis in front, and calls one further back by another name.
    let axes = shape.iter().skip_while(|len| **len < 0);
    let axes: Vec<String> =
        axes.map(|len| if *len < 0 { "newaxis".to_owned() } else { len.to_string() }).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let shape = format!("({}{comma})", axes.join(","));
    value_error(format!("cannot reshape array of size {size} into shape {shape}"))
}

pub fn two_unknown_axes() -> Raise {
    value_error("can only specify one unknown dimension")
}

pub fn negative_axis() -> Raise {
    value_error("negative dimensions are not allowed")
}

pub fn too_many_axes() -> Raise {
    value_error("maximum supported dimension for an ndarray is currently 64")
}

pub fn inhomogeneous(found: &[usize]) -> Raise {
    let n = found.len();
    let found = shape_text(found);
    value_error(format!(
        "setting an array element with a sequence. The requested array has an inhomogeneous shape after {n} dimensions. The detected shape was {found} + inhomogeneous part."
    ))
}

pub fn too_deep() -> Raise {
    value_error(
        "setting an array element with a sequence. The requested array would exceed the maximum number of dimension of 64.",
    )
}

pub fn not_a_number(value: &Value) -> Raise {
    let raise = type_error(format!("an array of numbers cannot hold a '{}' object", value.type_name()));
    raise.help("arrays of objects and of text are left out; use a list")
}

pub fn int_out_of_bounds(int: impl std::fmt::Display, dtype: DType) -> Raise {
    overflow_error(format!("Python integer {int} out of bounds for {}", dtype.numpy_name()))
}

pub fn int_too_large() -> Raise {
    overflow_error("Python int too large to convert to C long")
}

pub fn not_an_output() -> Raise {
    type_error("return arrays must be of ArrayType")
}

pub fn no_complex_arrays(name: &str) -> Raise {
    type_error(format!("real numbers are expected here, not {name}"))
        .help("`z.real` and `z.imag` are views of the parts")
}

pub fn no_real_numbers() -> Raise {
    type_error("complex numbers do not become real ones").help("take a part: `z.real`, `z.imag`, `abs(z)`")
}

pub fn unknown_dtype(name: &str) -> Raise {
    let raise = type_error(format!("data type '{name}' not understood"));
    raise.help("the types are bool, int8 to int64, uint8 to uint64, float16, float32, float64")
}

pub fn not_a_dtype(value: &Value) -> Raise {
    type_error(format!("Cannot interpret '{}' object as a data type", value.type_name()))
}

pub fn no_loop(ufunc: &str) -> Raise {
    type_error(format!(
        "ufunc '{ufunc}' not supported for the input types, and the inputs could not be safely coerced to any supported types according to the casting rule ''safe''"
    ))
}

pub fn bool_subtract() -> Raise {
    type_error(
        "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the logical_xor function instead.",
    )
}

pub fn bool_negative() -> Raise {
    type_error(
        "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or the logical_not function instead.",
    )
}

pub fn negative_power() -> Raise {
    value_error("Integers to negative integer powers are not allowed.")
}

pub fn output_not_cast(ufunc: &str, from: DType, to: DType, casting: Casting) -> Raise {
    not_cast(&format!("ufunc '{ufunc}' output"), from, to, casting)
}

pub fn input_not_cast(ufunc: &str, at: usize, from: DType, to: DType, casting: Casting) -> Raise {
    not_cast(&format!("ufunc '{ufunc}' input {at}"), from, to, casting)
}

fn not_cast(what: &str, from: DType, to: DType, casting: Casting) -> Raise {
    let (from, to, casting) = (from.numpy_name(), to.numpy_name(), casting.name());
    type_error(format!(
        "Cannot cast {what} from dtype('{from}') to dtype('{to}') with casting rule '{casting}'"
    ))
}

pub fn data_not_cast(from: DType, to: DType, casting: Casting) -> Raise {
    let (from, to, casting) = (from.numpy_name(), to.numpy_name(), casting.name());
    type_error(format!(
        "Cannot cast array data from dtype('{from}') to dtype('{to}') according to the rule '{casting}'"
    ))
}

pub fn bad_casting(casting: &str) -> Raise {
    value_error(format!(
        "casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' (got '{casting}')"
    ))
}

pub fn casting_not_text(value: &Value) -> Raise {
    type_error(format!("casting must be a string, not {}", value.type_name()))
}

pub fn bad_order(order: &str) -> Raise {
    value_error(format!("order must be one of 'C', 'F', 'A', or 'K' (got '{order}')"))
}

pub fn order_not_text(value: &Value) -> Raise {
    type_error(format!("order must be str, not {}", value.type_name()))
}

pub fn only_rows_first() -> Raise {
    value_error("arrays of structs are reshaped only in the order 'C'")
}

pub fn no_such_loop(ufunc: &str) -> Raise {
    type_error(format!("No loop matching the specified signature and casting was found for ufunc {ufunc}"))
}

pub fn reduction_output_shape(name: &str, output: &[usize], result: &[usize]) -> Raise {
    if output.len() != result.len() {
        return value_error(format!(
            "output parameter for reduction operation {name} has the wrong number of dimensions: Found {} but expected {}",
            output.len(),
            result.len()
        ));
    }
    bad_output_shape(output, result)
}

pub fn masked_without_identity(name: &str) -> Raise {
    value_error(format!(
        "reduction operation '{name}' does not have an identity, so to use a where mask one has to specify 'initial'"
    ))
}

pub fn no_room(n_bytes: usize) -> Raise {
    memory_error(format!("Unable to allocate {n_bytes} bytes"))
}

pub fn too_large(shape: &[usize], dtype: DType) -> Raise {
    memory_error(format!(
        "Unable to allocate an array with shape {} and data type {}",
        shape_text(shape),
        dtype.numpy_name()
    ))
}

pub fn matmul_scalar(operand: usize) -> Raise {
    value_error(format!(
        "matmul: Input operand {operand} does not have enough dimensions (has 0, gufunc core with signature (n?,k),(k,m?)->(n?,m?) requires 1)"
    ))
}

pub fn matmul_mismatch(left: usize, right: usize) -> Raise {
    value_error(format!(
        "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n?,k),(k,m?)->(n?,m?) (size {right} is different from {left})"
    ))
}

pub fn dot_mismatch(left: &[usize], right: &[usize], axes: (usize, usize)) -> Raise {
    let (left_text, right_text) = (tight_shape(left), tight_shape(right));
    value_error(format!(
        "shapes {left_text} and {right_text} not aligned: {} (dim {}) != {} (dim {})",
        left[axes.0], axes.0, right[axes.1], axes.1
    ))
}

pub fn nothing_to_concatenate() -> Raise {
    value_error("need at least one array to concatenate")
}

pub fn nothing_to_stack() -> Raise {
    value_error("need at least one array to stack")
}

pub fn stack_mismatch() -> Raise {
    value_error("all input arrays must have the same shape")
}

pub fn concatenate_axes(at: usize, first: usize, other: usize) -> Raise {
    value_error(format!(
        "all the input arrays must have same number of dimensions, but the array at index 0 has {first} dimension(s) and the array at index {at} has {other} dimension(s)"
    ))
}

pub fn concatenate_lengths(axis: usize, first: usize, at: usize, other: usize) -> Raise {
    value_error(format!(
        "all the input array dimensions except for the concatenation axis must match exactly, but along dimension {axis}, the array at index 0 has size {first} and the array at index {at} has size {other}"
    ))
}

pub fn concatenate_zero_axes() -> Raise {
    value_error("zero-dimensional arrays cannot be concatenated")
}

pub fn axes_do_not_match() -> Raise {
    value_error("axes don't match array")
}

pub fn not_squeezed() -> Raise {
    value_error("cannot select an axis to squeeze out which has size not equal to one")
}

pub fn unsized_array() -> Raise {
    type_error("len() of unsized object")
}

pub fn not_iterated() -> Raise {
    type_error("iteration over a 0-d array")
}

pub fn bad_buffer() -> Raise {
    value_error("buffer size must be a multiple of element size")
}

pub fn bad_file(what: &str) -> Raise {
    value_error(format!("the file is not an array in .npy format: {what}"))
}

pub fn no_field(of: &kps_kernel::StructType, name: &str) -> Raise {
    let names: Vec<&str> = of.members.iter().map(|member| &*member.name).collect();
    value_error(format!("no field of name {name}")).help(format!("it has {}", names.join(", ")))
}

pub fn record_count(given: usize, n: usize) -> Raise {
    value_error(format!("cannot assign {given} structs to a slice of {n}"))
}

pub fn bad_field() -> Raise {
    type_error("a field is a tuple of its name, its type and, where it has one, its shape")
        .help("such as (\"pos\", np.float32, 3)")
}

pub fn unaligned_fields() -> Raise {
    value_error("these fields do not have C's layout, which kernels use for structs")
        .help("write np.dtype([..], align=True)")
}
