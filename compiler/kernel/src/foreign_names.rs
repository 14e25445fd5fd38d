//! Names from CUDA, OpenCL, GLSL, HLSL, WGSL, Numba, Taichi, NumPy and Python, each with what to write in a kernel.
//!
//! The rows of `builtins` have the functions that kernels know by another name. These tables are consulted only for
//! an unknown name, so a script may define any of them.

use crate::builtins;
use crate::types::{Scalar, Type};

/// What to write instead of an unknown name; `None` if no table has it.
pub(crate) fn instead(name: &str) -> Option<String> {
    let of_type = || type_named(name).map(|ty| format!("write `{ty}`"));
    find(NAMES, name).map(str::to_owned).or_else(of_type).or_else(|| builtins::instead(name))
}

/// The type with this name in another language.
pub(crate) fn type_named(name: &str) -> Option<Type> {
    TYPES.iter().find(|(names, _)| has(names, name)).map(|(_, ty)| ty.clone())
}

/// What to write instead of an attribute that kernels do not have.
pub(crate) fn instead_of_attribute(name: &str) -> Option<&'static str> {
    find(ATTRIBUTES, name)
}

/// The same for an array parameter.
pub(crate) fn instead_of_array_attribute(name: &str) -> Option<&'static str> {
    find(ARRAY_ATTRIBUTES, name).or_else(|| instead_of_attribute(name))
}

fn find(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    table.iter().find(|(names, _)| has(names, name)).map(|(_, help)| *help)
}

/// Whether a name is in a list of names that spaces separate.
fn has(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| known == name)
}

/// Types of C, CUDA, GLSL, HLSL, WGSL and NumPy.
const TYPES: &[(&str, Type)] = &[
    ("char int8", Type::Scalar(Scalar::I8)),
    ("short int16", Type::Scalar(Scalar::I16)),
    ("int32", Type::Scalar(Scalar::I32)),
    ("long int64", Type::Scalar(Scalar::I64)),
    ("uint8", Type::Scalar(Scalar::U8)),
    ("uint16", Type::Scalar(Scalar::U16)),
    ("uint unsigned uint32", Type::Scalar(Scalar::U32)),
    ("uint64", Type::Scalar(Scalar::U64)),
    ("half float16", Type::Scalar(Scalar::F16)),
    ("float32", Type::Scalar(Scalar::F32)),
    ("double double_ float64", Type::Scalar(Scalar::F64)),
    ("float2 make_float2 vec2f", Type::Vector(2, Scalar::F32)),
    ("float3 make_float3 vec3f", Type::Vector(3, Scalar::F32)),
    ("float4 make_float4 vec4f", Type::Vector(4, Scalar::F32)),
    ("int2 make_int2 vec2i", Type::Vector(2, Scalar::I32)),
    ("int3 make_int3 vec3i", Type::Vector(3, Scalar::I32)),
    ("int4 make_int4 vec4i", Type::Vector(4, Scalar::I32)),
    ("uint2 vec2u", Type::Vector(2, Scalar::U32)),
    ("uint3 vec3u dim3", Type::Vector(3, Scalar::U32)),
    ("uint4 vec4u", Type::Vector(4, Scalar::U32)),
    ("double2", Type::Vector(2, Scalar::F64)),
    ("double3", Type::Vector(3, Scalar::F64)),
    ("double4", Type::Vector(4, Scalar::F64)),
    ("float2x2", square_matrix(2, Scalar::F32)),
    ("float3x3", square_matrix(3, Scalar::F32)),
    ("float4x4", square_matrix(4, Scalar::F32)),
    ("dmat2 dmat2x2", square_matrix(2, Scalar::F64)),
    ("dmat3 dmat3x3", square_matrix(3, Scalar::F64)),
    ("dmat4 dmat4x4", square_matrix(4, Scalar::F64)),
    ("hmat2", square_matrix(2, Scalar::F16)),
    ("hmat3", square_matrix(3, Scalar::F16)),
    ("hmat4", square_matrix(4, Scalar::F16)),
];

const fn square_matrix(n: u8, scalar: Scalar) -> Type {
    Type::Matrix { columns: n, rows: n, scalar }
}

const NAMES: &[(&str, &str)] = &[
    (
        "Tensor Image",
        "make it on the host, and pass it as a parameter, `y: Array[f32]`; of its own a kernel has lists, `[0.0] * 8`",
    ),
    // CUDA, and Numba's and CuPy's forms of it.
    (
        "threadIdx",
        "write `local_id`, of which `.x`, `.y` and `.z` count; `global_id.x` counts over all workgroups",
    ),
    (
        "blockIdx",
        "write `group_id`, of which `.x`, `.y` and `.z` count; `global_id.x` counts over all workgroups",
    ),
    ("blockDim", "write `local_size`: `local_size.x`"),
    ("gridDim", "write `num_groups`: `num_groups.x`"),
    ("grid", "write `global_id.x`, and `global_id.y` for the second axis"),
    ("gridsize", "write `global_size.x`"),
    ("warpSize warp_size", "write `subgroup_size`"),
    ("warp_id", "write `subgroup_id`"),
    ("CLK_LOCAL_MEM_FENCE CLK_GLOBAL_MEM_FENCE", "leave it out: `barrier()` is for all memory"),
    ("__fdividef", "write `a / b`"),
    (
        "cuda jit",
        "kernels need no `cuda.`: `global_id.x` is `cuda.grid(1)`, `barrier()` waits, `shared(f32, 64)` is in common, \
         and `[0.0] * 4` an invocation's own",
    ),
    ("__ldg __restrict__", "leave it out: arrays that a kernel only reads are known to be"),
    ("clock clock64", "measure the launch: `kps run --profile`, or time it on the host"),
    ("laneid laneId lane_id", "write `subgroup_lane`"),
    ("numthreads", "write `@kernel(local_size=64)`, and `local_size.x` for the number"),
    // OpenCL.
    ("get_global_id", "write `global_id.x` for `get_global_id(0)`, `global_id.y` for `get_global_id(1)`"),
    ("get_local_id", "write `local_id.x` for `get_local_id(0)`, `local_id.y` for `get_local_id(1)`"),
    ("get_group_id", "write `group_id.x` for `get_group_id(0)`, `group_id.y` for `get_group_id(1)`"),
    (
        "get_global_size",
        "write `global_size.x` for `get_global_size(0)`, `global_size.y` for `get_global_size(1)`",
    ),
    (
        "get_local_size",
        "write `local_size.x` for `get_local_size(0)`, `local_size.y` for `get_local_size(1)`",
    ),
    ("__global __local __kernel", "annotate parameters as `a: Array[f32]`, and decorate with `@kernel`"),
    // GLSL, WGSL and HLSL.
    (
        "gl_GlobalInvocationID GlobalInvocationId GlobalInvocationID global_invocation_id \
         invocation_id SV_DispatchThreadID thread_position_in_grid DTid",
        "write `global_id`",
    ),
    ("gl_LocalInvocationID LocalInvocationId local_invocation_id SV_GroupThreadID", "write `local_id`"),
    (
        "gl_LocalInvocationIndex local_invocation_index SV_GroupIndex",
        "write `local_id.x + local_size.x * local_id.y`; with one axis it is `local_id.x`",
    ),
    ("gl_SubgroupInvocationID subgroup_invocation_id WaveGetLaneIndex", "write `subgroup_lane`"),
    ("gl_WorkGroupID WorkgroupId workgroup_id SV_GroupID block_id block_idx", "write `group_id`"),
    ("gl_NumWorkGroups NumWorkgroups num_workgroups", "write `num_groups`"),
    ("gl_WorkGroupSize WorkgroupSize WorkGroupSize", "write `local_size`"),
    ("square", "write `x * x`"),
    ("logical_and logical_or logical_not", "write `a and b`, `a or b` or `not a`"),
    ("select", "write `a if condition else b`"),
    (
        "Texture Texture2D RWTexture2D image2D sampler2D",
        "write `Image[\"2d r32f\"]`, with the format that is read and written",
    ),
    ("imageLoad", "declare an image, `img: Image[\"2d r32f\"]`, and write `img.read(ivec2(x, y))`"),
    ("imageStore", "declare an image, `img: Image[\"2d r32f\"]`, and write `img.write(ivec2(x, y), value)`"),
    ("read write sample", "an image has them: `img.read(ivec2(x, y))`, `img.write(ivec2(x, y), value)`"),
    ("dFdx dFdy discard", "compute kernels draw no pixels: compute it from the elements beside this one"),
    // C.
    ("true", "write `True`"),
    ("false", "write `False`"),
    ("null NULL nullptr nil", "kernels have no null: use a number that says \"nothing\", such as `-1`"),
    ("const", "write `const[i32]`, with the type of the number"),
    ("void auto const_cast", "leave it out: variables take the type of their value"),
    ("PI M_PI", "write `math.pi`"),
    ("INFINITY FLT_MAX inf Inf infinity", "write `math.inf`"),
    ("NAN nan NaN", "write `math.nan`; `isnan(x)` tests for it"),
    ("printf", "write `print` with an f-string: `print(f\"{value:.2f}\")`"),
    ("arrayLength", "write `len(a)`"),
    ("malloc new", "make a list of constant length, `xs = [0.0] * 16`, or pass an array"),
    ("sizeof size", "write `len(a)` for the number of elements"),
    ("shape", "an array has it: `a.shape[0]`, and `len(a)` is the number of its rows"),
    // Taichi, Triton and other frameworks.
    (
        "ti taichi",
        "a kernel needs no `ti.`: write `@kernel`, `range(..)`, `f32`, and `const[i32]` for `ti.static`",
    ),
    ("wp warp", "a kernel needs no `wp.`: write `@kernel`, and `global_id.x` for `wp.tid()`"),
    (
        "tl triton program_id num_programs",
        "write for one element, `i = global_id.x`, instead of a block of them",
    ),
    ("torch jnp jax tf cp cupy", "compute element by element: `out[i] = sqrt(a[i])`, with `i = global_id.x`"),
    ("prange", "write `range(..)`, or let each invocation do one round: `i = global_id.x`"),
    // Python and NumPy.
    ("np numpy", "import it outside; inside, `sqrt`, `sin` and the like need no module"),
    ("map filter", "write a loop: `for x in xs: ..`"),
    ("sorted", "sort the list in place with a loop, or sort the array before the launch"),
    ("iter next", "write a `for` loop"),
    ("str repr format chr ord hex bin oct ascii", "kernels have no strings: format on the host"),
    ("list", "write the elements, `[0.0, 1.0]`, or a number of equal ones, `[0.0] * 16`"),
    ("dict", "keep the values in a list and index it"),
    ("set frozenset", "test against a tuple: `x in (1, 2, 3)`"),
    ("tuple", "write the items: `(a, b)`"),
    ("isinstance issubclass type", "types are known when a kernel is compiled: write a function for each"),
    ("hasattr getattr setattr", "name the attribute itself: `p.x`"),
    (
        "random rand randn randint uniform curand curand_uniform",
        "fill an array with random numbers before the launch, and pass it",
    ),
    ("time perf_counter", "measure on the host, around the launch"),
    ("open input", "read before the launch, and pass an array"),
    ("id hash", "kernels have values only: number what you need to tell apart"),
    ("exit quit", "write `return`"),
    ("exec eval compile", "write the code itself"),
    ("self cls", "a kernel has no object around it: pass what it needs as parameters"),
    ("complex", "keep the two parts in a `vec2`"),
    ("xrange", "write `range(..)`"),
    (
        "breakpoint set_trace",
        "kernels do not stop: `print(x[i])` works here, and `print(k.trace(x, at=3))`, on the host, follows one \
         invocation",
    ),
    (
        "zeros empty zeros_like",
        "write a list of the kernel's own, `[0.0] * 4`, or make the array before the launch, and pass it",
    ),
    (
        "ones full ones_like",
        "write a list of the kernel's own, `[1.0] * 4`, or make the array before the launch, and pass it",
    ),
    ("linspace array asarray", "make the array before the launch, and pass it"),
    ("arange", "in a loop write `range(..)`; an array is made before the launch, and passed"),
    ("static_range", "write `range(..)`"),
    (
        "ndrange grouped",
        "write a loop over `range(..)` for each axis, or launch over a domain: `k[height, width](x)`",
    ),
    ("global_thread_idx", "write `global_id.x`"),
    ("cast", "write the type as a function: `f32(x)`, `i32(x)`"),
    ("where", "write `a if condition else b`"),
    ("dot matmul", "sum the products in a loop: `total += a[i, k] * b[k, j]`"),
    ("mean cumsum median argmin argmax", "compute it in a loop over the elements"),
];

/// Attributes of array parameters. They take precedence over the attributes of any value.
const ARRAY_ATTRIBUTES: &[(&str, &str)] = &[
    (
        "append extend insert push",
        "an array keeps its length: assign an element, `a[i] = x`, where `i = atomic_add(count, 0, 1)` counts them",
    ),
    ("pop remove clear", "an array keeps its length: mark the elements that do not count"),
    ("copy clone", "copy the tensor before the launch: `y = Tensor(x.data())`"),
    ("len length", "write `len(a)`"),
    (
        "sum",
        "each invocation would add up all of it: on the host `np.sum(a)` does that once; for a sum on the device \
         each workgroup adds up a part, as examples/block_reduction.kps does",
    ),
    (
        "abs sqrt sin cos tan exp log floor ceil round clip",
        "compute it for one element: `out[i] = abs(a[i])`, `out[i] = sqrt(a[i])`",
    ),
];

const ATTRIBUTES: &[(&str, &str)] = &[
    (
        "append extend insert pop remove clear push",
        "a list in a kernel keeps its length: make it long enough, `xs = [0.0] * 16`, and assign elements",
    ),
    ("sort reverse", "swap elements in a loop: `xs[i], xs[j] = xs[j], xs[i]`"),
    ("index count find", "compare the elements in a loop"),
    ("sum", "it is a function here: `sum(..)`"),
    ("mean prod std var min max argmin argmax any all dot", "compute it in a loop over the elements"),
    ("astype cast", "cast one number, by the name of its type: `f64(x)`, `i32(x)`"),
    ("copy clone", "assigning a value copies it; a list is copied by `[*a]`"),
    ("fill", "assign the elements in a loop"),
    ("T transpose", "swap its indices: `a[column, row]`"),
    ("reshape flatten ravel", "compute the index of the element: `a[row * width + column]`"),
    (
        "view",
        "the bits of a number as another type are `bitcast(i32, x)`; of an array compute the index, `a[row * width + column]`",
    ),
    ("dtype", "the type is known here: write it"),
    ("value", "a member of an `IntEnum` is an int in a kernel: leave `.value` out"),
    ("is_integer", "compare it: `x == floor(x)`"),
    ("real", "leave it out: numbers of kernels are real"),
    ("imag conjugate", "numbers of kernels are real: keep the two parts in a `vec2`"),
    ("to", "cast it, by the name of its type: `f64(x)`, `i32(x)`"),
    ("bit_count bit_length", "ints have it: cast it, `i32(x).bit_count()`"),
    ("item tolist numpy cpu", "index one element: `a[i]`"),
    ("items keys values get", "kernels have no dicts: keep the values in a list and index it"),
    ("join split strip format upper lower", "kernels have no strings: format on the host"),
    ("shape size ndim", "it belongs to array parameters; `len(x)` counts the elements of a list"),
];
