//! What GLSL has and naga's front end for it does not, by name, each with what to write instead.

/// What to do instead of using a name; none for what is not known to be GLSL.
pub(super) fn instead_of(name: &str) -> Option<&'static str> {
    let starts = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    Some(match name {
        _ if starts(&["atomic", "imageAtomic", "gl_Scope", "gl_Semantics", "gl_Storage"]) => {
            "atomic operations are known in WGSL: write this shader in WGSL, or give it as SPIR-V"
        }
        _ if starts(&["subgroup", "gl_Subgroup"]) || name == "gl_NumSubgroups" => of_subgroups(name),
        _ if starts(&["coopmat", "coopMat", "gl_MatrixUse"]) => {
            "cooperative matrices are known in kernels, as `coop_matrix`, and in SPIR-V"
        }
        _ if starts(&["accelerationStructure", "rayQuery"]) => "no device here follows rays: leave them out",
        _ if starts(&["debugPrintf"]) => {
            "kernels have `print`; a shader can write what is of interest to a buffer"
        }
        _ => return function(name).or_else(|| ty(name)).or_else(|| qualifier(name)),
    })
}

/// What to do instead of an operation of subgroups, or of a value that tells where an invocation is in its own.
fn of_subgroups(name: &str) -> &'static str {
    match name {
        "subgroupElect" => {
            "write this shader in WGSL, where it is `lane == subgroupBroadcastFirst(lane)` with \
             `@builtin(subgroup_invocation_id) lane: u32`, or give it as SPIR-V"
        }
        "subgroupQuadBroadcast" => {
            "WGSL has it as `quadBroadcast`: write this shader in WGSL, or give it as SPIR-V"
        }
        "subgroupQuadSwapHorizontal" => {
            "WGSL has it as `quadSwapX`: write this shader in WGSL, or give it as SPIR-V"
        }
        "subgroupQuadSwapVertical" => {
            "WGSL has it as `quadSwapY`: write this shader in WGSL, or give it as SPIR-V"
        }
        "subgroupQuadSwapDiagonal" => {
            "WGSL has it as `quadSwapDiagonal`: write this shader in WGSL, or give it as SPIR-V"
        }
        _ if SUBGROUPS_OF_WGSL.split(' ').any(|known| known == name) => {
            "subgroup operations are known in WGSL: write this shader in WGSL, or give it as SPIR-V"
        }
        _ => "WGSL lacks it too: give this shader as SPIR-V",
    }
}

/// What GLSL has of subgroups and naga's front end for WGSL has as well, in the order of the alphabet.
const SUBGROUPS_OF_WGSL: &str = "\
    gl_NumSubgroups gl_SubgroupID gl_SubgroupInvocationID gl_SubgroupSize subgroupAdd subgroupAll subgroupAnd \
    subgroupAny subgroupBallot subgroupBarrier subgroupBroadcast subgroupBroadcastFirst subgroupExclusiveAdd \
    subgroupExclusiveMul subgroupInclusiveAdd subgroupInclusiveMul subgroupMax subgroupMin subgroupMul \
    subgroupOr subgroupShuffle subgroupShuffleDown subgroupShuffleUp subgroupShuffleXor subgroupXor";

fn function(name: &str) -> Option<&'static str> {
    Some(match name {
        "modf" | "frexp" => {
            "`modf` and `frexp` are known in WGSL: write this shader in WGSL, or give it as SPIR-V"
        }
        "uaddCarry" | "usubBorrow" | "umulExtended" | "imulExtended" => {
            "WGSL lacks it too: give this shader as SPIR-V, or work in halves of 16 bits"
        }
        "packDouble2x32" | "unpackDouble2x32" => "WGSL lacks it too: give this shader as SPIR-V",
        "ballotARB" => "WGSL has it as `subgroupBallot`: write this shader in WGSL, or give it as SPIR-V",
        "anyInvocation" | "anyInvocationARB" => {
            "WGSL has it as `subgroupAny`: write this shader in WGSL, or give it as SPIR-V"
        }
        "allInvocations" | "allInvocationsARB" => {
            "WGSL has it as `subgroupAll`: write this shader in WGSL, or give it as SPIR-V"
        }
        "readInvocationARB" => {
            "WGSL has it as `subgroupBroadcast`: write this shader in WGSL, or give it as SPIR-V"
        }
        "readFirstInvocationARB" => {
            "WGSL has it as `subgroupBroadcastFirst`: write this shader in WGSL, or give it as SPIR-V"
        }
        "matrixCompMult" => "multiply column by column: `a[0] * b[0]`",
        "lf" | "LF" => {
            "a double outside of functions is made of numbers and `+ - * /` here, `const double k = 0.1lf / 3;`: compute with it in a function"
        }
        "hf" | "HF" => "16-bit floats are known in WGSL, as `1.5h`, and in SPIR-V",
        _ => return None,
    })
}

fn ty(name: &str) -> Option<&'static str> {
    const KINDS: [&str; 3] = ["", "i", "u"];
    let is_kind_of = |what: &str| {
        name.strip_suffix(what).is_some_and(|kind| KINDS.contains(&kind))
            || name.strip_suffix(&format!("{what}Array")).is_some_and(|kind| KINDS.contains(&kind))
    };
    let starts = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    Some(match name {
        "int64_t" | "uint64_t" => "64-bit integers are known in WGSL, as `i64` and `u64`, and in SPIR-V",
        _ if starts(&["i64vec", "u64vec"]) => {
            "64-bit integers are known in WGSL, as `vec2<i64>`, and in SPIR-V"
        }
        "float16_t" => "16-bit floats are known in WGSL, as `f16`, and in SPIR-V",
        _ if starts(&["f16vec", "f16mat"]) => {
            "16-bit floats are known in WGSL, as `vec2<f16>`, and in SPIR-V"
        }
        "int8_t" | "uint8_t" | "int16_t" | "uint16_t" => "narrow integers are known in SPIR-V alone",
        _ if starts(&["i8vec", "u8vec", "i16vec", "u16vec"]) => "narrow integers are known in SPIR-V alone",
        "unsigned" => "write `uint`",
        "long" | "short" => "write `int`, which has 32 bits",
        _ if is_kind_of("imageCube") => {
            "images of cubes cannot be stored to here: use an `image2DArray`, with a layer for each face"
        }
        _ if is_kind_of("image2DMS") => "use an image that has one sample for each texel",
        _ if ["imageBuffer", "textureBuffer", "samplerBuffer"].iter().any(|one| is_kind_of(one)) => {
            "use an array in a `buffer` block"
        }
        _ if is_kind_of("image2DRect") || is_kind_of("sampler2DRect") => "use an image of two dimensions",
        _ if starts(&["sampler", "isampler", "usampler"]) => {
            "declare the image and the sampler apart, `uniform texture2D image;` and `uniform sampler look;`, and \
             put them together where they are used: `sampler2D(image, look)`"
        }
        _ => return None,
    })
}

fn qualifier(name: &str) -> Option<&'static str> {
    Some(match name {
        "precise" => "kernels have `@kernel(precise=True)`; leave it out, or give this shader as SPIR-V",
        "coherent" | "volatile" => "leave it out: `barrier()` makes what was written be seen",
        "highp" | "mediump" | "lowp" => "leave it out: every `float` has 32 bits here",
        "row_major" => "leave it out: matrices lie by columns, and `transpose` turns what is read",
        "scalar" => {
            "leave it out, and write an array of `float` where vectors of three are to lie without gaps"
        }
        "local_size_x_id" | "local_size_y_id" | "local_size_z_id" => {
            "write the size as a number, `local_size_x = 64`"
        }
        "buffer_reference" | "buffer_reference_align" => {
            "addresses of buffers are known in SPIR-V: bind the buffer instead"
        }
        _ => return None,
    })
}

/// What to write instead of a word that people bring along from other languages.
pub(super) fn of_other_languages(name: &str) -> Option<&'static str> {
    Some(match name {
        "elif" | "elseif" | "elsif" => "write `else if`",
        "and" => "write `&&`",
        "or" => "write `||`",
        "not" => "write `!`",
        "threadIdx" => "write `gl_LocalInvocationID`",
        "blockIdx" => "write `gl_WorkGroupID`",
        "blockDim" => "write `gl_WorkGroupSize`",
        "fn" => "this is WGSL: name its file `.wgsl`",
        "def" | "import" => "this is Python: a kernel of kps has `@kernel` before it",
        "let" | "var" | "auto" => "write the type: `float x = 1.0;`",
        "float2" | "float3" | "float4" => "write `vec2`, `vec3` and `vec4`",
        "int2" | "int3" | "int4" => "write `ivec2`, `ivec3` and `ivec4`",
        "f32" => "write `float`",
        "i32" => "write `int`",
        "u32" | "uint32" | "size_t" | "dword" => "write `uint`",
        "half" => "16-bit floats are known in WGSL, as `f16`, and in SPIR-V",
        "char" | "string" => "shaders have no texts: take numbers for what is to be told apart",
        "static" | "__shared__" | "groupshared" => "write `shared` for the memory of a workgroup",
        "True" => "write `true`",
        "False" => "write `false`",
        "null" | "NULL" | "nullptr" | "None" => {
            "nothing in GLSL is without a value: write a number that means it"
        }
        "goto" => "write a loop with `break` and `continue`",
        "typedef" => "write the type itself, or a `#define`",
        "sizeof" => "`.length()` gives how many elements an array has",
        "printf" | "print" => "kernels have `print`; a shader can write what is of interest to a buffer",
        "assert" => "kernels have `assert`; a shader can write what is of interest to a buffer",
        "saturate" => "write `clamp(x, 0.0, 1.0)`",
        "lerp" => "write `mix`",
        "frac" => "write `fract`",
        "rsqrt" => "write `inversesqrt`",
        "fmod" => "write `mod`",
        "atan2" => "write `atan(y, x)`",
        "fabs" | "fabsf" => "write `abs`",
        "sqrtf" => "write `sqrt`",
        "powf" => "write `pow`",
        "__syncthreads" => "write `barrier()`",
        "gl_FragColor" => "declare an output: `layout(location = 0) out vec4 color;`",
        "varying" | "attribute" => "declare it `in` or `out`, with a location",
        _ => return None,
    })
}

/// What to write instead of a word of GLSL that naga does not take at some places.
pub(super) fn instead_of_here(word: &str) -> Option<&'static str> {
    Some(match word {
        "layout" => {
            "members lie where the layout of the block puts them: leave `layout` out, and add members that fill the \
             gaps"
        }
        "in" => "write one of `in float x` and `const float x`",
        _ => return None,
    })
}

/// Whether naga has a function of GLSL's own by this name, for some arguments.
pub(super) fn is_function(name: &str) -> bool {
    FUNCTIONS.split(' ').any(|known| known == name)
}

/// In the order of the alphabet.
const FUNCTIONS: &str = "\
    abs acos acosh all any asin asinh atan atanh bitCount bitfieldExtract bitfieldInsert bitfieldReverse \
    ceil clamp cos cosh cross dFdx dFdxCoarse dFdxFine dFdy dFdyCoarse dFdyFine degrees determinant distance \
    dot equal exp exp2 faceforward findLSB findMSB floatBitsToInt floatBitsToUint floor fma fract fwidth \
    fwidthCoarse fwidthFine greaterThan greaterThanEqual imageLoad imageSize imageStore intBitsToFloat \
    inverse inversesqrt isinf isnan ldexp length lessThan lessThanEqual log log2 max min mix mod normalize \
    not notEqual outerProduct packHalf2x16 packSnorm2x16 packSnorm4x8 packUnorm2x16 packUnorm4x8 pow radians \
    reflect refract round roundEven sampler1D sampler2D sampler2DArray sampler2DShadow sampler3D samplerCube \
    samplerCubeArray sign sin sinh smoothstep sqrt step tan tanh texelFetch texelFetchOffset texture \
    textureGrad textureGradOffset textureLod textureLodOffset textureOffset textureProj textureProjGrad \
    textureProjLod textureQueryLevels textureSize transpose trunc uintBitsToFloat unpackHalf2x16 \
    unpackSnorm2x16 unpackSnorm4x8 unpackUnorm2x16 unpackUnorm4x8";
