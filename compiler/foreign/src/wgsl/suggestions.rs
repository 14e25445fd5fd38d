//! Suggestions for people who know GLSL, HLSL or an older WGSL.

use crate::Language;

/// A suggestion for text that is not understood; `before` is the text before it.
pub(super) fn instead_of(found: &str, before: &str) -> Option<String> {
    let before = before.trim_end();
    let word = before.rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or("");
    let is_name = found.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
    Some(match found {
        "?" => "write `select(if_false, if_true, condition)`, or an `if`".to_owned(),
        "[" if before.is_empty() || before.ends_with([';', '}']) => {
            "attributes are written with `@`: `@group(0) @binding(0)`, `@compute @workgroup_size(64)`"
                .to_owned()
        }
        "=" if is_test(before) => "a comparison is written `==`".to_owned(),
        "++" | "--" => "it is a statement of its own: `i++;`".to_owned(),
        "{" if word == "else" => "`else` comes directly after the `}` of its `if`".to_owned(),
        _ if is_name && word == "override" => {
            "overrides are declared outside of functions; here, write `let` or `const`".to_owned()
        }
        "[" => "an array is written `array(1.0, 2.0)`".to_owned(),
        "(" if word == "length" => "write `arrayLength(&name)`".to_owned(),
        ";" if word == "fallthrough" => {
            "cases do not fall through: write the values of a case together, `case 0, 1`".to_owned()
        }
        _ if is_name && is_cast(before) => "a conversion is written `f32(x)`".to_owned(),
        _ if is_name && word == "mut" => format!("write `var {found} = ..`"),
        _ if is_name && ["elif", "elseif", "elsif"].contains(&word) => "write `else if`".to_owned(),
        _ if is_name && word == "fn" && before.matches('{').count() > before.matches('}').count() => {
            "functions are written outside of others".to_owned()
        }
        _ if is_name && is_head(before) => format!("write `-> {found}` for what the function returns"),
        _ if is_name && ty(word).is_some() => {
            let ty = ty(word)?;
            format!("write `var {found}: {ty} = ..`, or `let {found} = ..` for what stays as it is")
        }
        _ => return name(found),
    })
}

/// Whether a text ends in the condition of `if` or `while`.
fn is_test(before: &str) -> bool {
    let line = before.lines().last().unwrap_or_default();
    line.split(|letter: char| !letter.is_alphanumeric()).any(|word| ["if", "while"].contains(&word))
}

/// Whether a text ends in a type in parentheses: `(f32) x`.
fn is_cast(before: &str) -> bool {
    let inside = before.strip_suffix(')').and_then(|text| text.rsplit('(').next());
    inside.is_some_and(|ty| ["f32", "i32", "u32", "bool", "f16"].contains(&ty.trim()))
}

/// Whether a text ends after the parameters of a function.
fn is_head(before: &str) -> bool {
    let line = before.lines().last().unwrap_or_default();
    before.ends_with(')') && line.trim_start().starts_with("fn ")
}

/// A suggestion for a word that begins a declaration in other languages.
pub(super) fn declaration_in_other_languages(text: &str, found: &str) -> Option<&'static str> {
    Some(match found {
        "}" => "leave it out, or write a `{` before",
        "let" => "outside of functions it is `const`, or `var<private>`",
        "type" | "typedef" => "write `alias`",
        "#" => "WGSL has no preprocessor: write `const`, or put the other text in its place",
        "import" | "use" => "WGSL is one text: put the other one in its place",
        "uniform" | "buffer" => "write `@group(0) @binding(0) var<uniform> name: type;`",
        "void" if Language::of_text(text) == Language::Wgsl => "a function is written `fn main(..) { .. }`",
        "layout" | "void" | "in" | "out" | "shared" => "this is GLSL: name its file `.comp`",
        "def" => "this is Python: a kernel of kps has `@kernel` before it",
        _ => {
            "only declarations are allowed outside of functions: `fn`, `var`, `const`, `override`, `struct`, `alias`"
        }
    })
}

/// A suggestion for an error whose message from naga has none.
pub(super) fn about(message: &str) -> Option<String> {
    if message.contains("pointer to a non-atomic") {
        return Some("declare it to be one: `array<atomic<u32>>`, `atomic<i32>`".to_owned());
    }
    message
        .starts_with("atomic variables cannot be accessed directly")
        .then(|| "write `atomicLoad(&name)`, or `atomicStore(&name, value)`".to_owned())
}

/// A call of a builtin function, as it is written.
pub(super) fn call(name: &str, n_arguments: &str) -> Option<String> {
    let arguments = match name {
        "textureLoad" => "image, vec2<i32>(x, y), level",
        "textureStore" => "image, vec2<i32>(x, y), texel",
        "textureSample" => "image, sampler, place",
        "textureSampleLevel" => "image, sampler, place, level",
        _ => match n_arguments {
            "0" => "",
            "1" => "x",
            "2" => "x, y",
            "3" => "x, y, z",
            "4" => "x, y, z, w",
            _ => return None,
        },
    };
    Some(format!("write `{name}({arguments})`"))
}

/// A type with its arguments between `<` and `>`, for one that lacks them.
pub(super) fn whole_type(name: &str) -> String {
    let inside = match name {
        "array" => "f32, 4",
        "ptr" => "function, f32",
        "atomic" => "u32",
        _ if name.starts_with("texture_storage") => "rgba8unorm, write",
        _ => "f32",
    };
    format!("write `{name}<{inside}>`")
}

/// WGSL's name of a type of GLSL's.
fn ty(name: &str) -> Option<&'static str> {
    Some(match name {
        "float" => "f32",
        "int" => "i32",
        "uint" => "u32",
        "double" => "f64",
        "bool" => "bool",
        "vec2" | "float2" => "vec2<f32>",
        "vec3" | "float3" => "vec3<f32>",
        "vec4" | "float4" => "vec4<f32>",
        "ivec2" | "int2" => "vec2<i32>",
        "ivec3" | "int3" => "vec3<i32>",
        "ivec4" | "int4" => "vec4<i32>",
        "uvec2" | "uint2" => "vec2<u32>",
        "uvec3" | "uint3" => "vec3<u32>",
        "uvec4" | "uint4" => "vec4<u32>",
        _ => return None,
    })
}

fn name(name: &str) -> Option<String> {
    if let Some(ty) = ty(name) {
        return (ty != name).then(|| format!("write `{ty}`"));
    }
    let builtin =
        |input: &str, of: &str| Some(format!("take it as a parameter: `@builtin({input}) name: {of}`"));
    match name {
        "gl_GlobalInvocationID" => builtin("global_invocation_id", "vec3<u32>"),
        "gl_LocalInvocationID" => builtin("local_invocation_id", "vec3<u32>"),
        "gl_LocalInvocationIndex" => builtin("local_invocation_index", "u32"),
        "gl_WorkGroupID" => builtin("workgroup_id", "vec3<u32>"),
        "gl_NumWorkGroups" => builtin("num_workgroups", "vec3<u32>"),
        "i8" | "u8" | "i16" | "u16" => Some("narrow integers are only supported in SPIR-V".to_owned()),
        "mod" | "fmod" => Some("the rest of a division is `a % b`".to_owned()),
        "and" => Some("write `&&`".to_owned()),
        "or" => Some("write `||`".to_owned()),
        "not" => Some("write `!x`".to_owned()),
        "rsqrt" | "inversesqrt" => Some("write `inverseSqrt`".to_owned()),
        "lerp" => Some("write `mix`".to_owned()),
        "frac" => Some("write `fract`".to_owned()),
        "mad" => Some("write `fma`".to_owned()),
        "fabs" => Some("write `abs`".to_owned()),
        "roundEven" => Some("write `round`, which takes the even one of two".to_owned()),
        "dFdx" | "ddx" => Some("write `dpdx`".to_owned()),
        "dFdy" | "ddy" => Some("write `dpdy`".to_owned()),
        "bitCount" | "popcount" | "countbits" => Some("write `countOneBits`".to_owned()),
        "bitfieldReverse" | "reversebits" => Some("write `reverseBits`".to_owned()),
        "bitfieldExtract" => Some("write `extractBits`".to_owned()),
        "bitfieldInsert" => Some("write `insertBits`".to_owned()),
        "findMSB" | "firstbithigh" => Some("write `firstLeadingBit`".to_owned()),
        "findLSB" | "firstbitlow" => Some("write `firstTrailingBit`".to_owned()),
        "floatBitsToInt" | "asint" => Some("write `bitcast<i32>(x)`".to_owned()),
        "floatBitsToUint" | "asuint" => Some("write `bitcast<u32>(x)`".to_owned()),
        "intBitsToFloat" | "uintBitsToFloat" | "asfloat" => Some("write `bitcast<f32>(x)`".to_owned()),
        "isnan" => Some("a number that is not one is not itself: `x != x`".to_owned()),
        "isinf" => Some("compare its size: `abs(x) > 3.4028234e38`".to_owned()),
        "imageLoad" | "texelFetch" => Some("write `textureLoad`".to_owned()),
        "imageStore" => Some("write `textureStore`".to_owned()),
        "imageSize" | "textureSize" => Some("write `textureDimensions`".to_owned()),
        "texture" | "textureLod" => Some("write `textureSampleLevel(t, s, coords, 0.0)`".to_owned()),
        "atomicExch" => Some("write `atomicExchange`".to_owned()),
        "atomicCompSwap" | "atomicCAS" => Some("write `atomicCompareExchangeWeak`".to_owned()),
        "memoryBarrierBuffer" | "memoryBarrier" => Some("write `storageBarrier()`".to_owned()),
        "__syncthreads" | "groupMemoryBarrier" | "GroupMemoryBarrierWithGroupSync" => {
            Some("write `workgroupBarrier()`".to_owned())
        }
        "subgroupAllEqual" => Some("write `subgroupAll(x == subgroupBroadcastFirst(x))`".to_owned()),
        "atan2f" => Some("write `atan2`".to_owned()),
        "barrier" => Some("write `workgroupBarrier()`".to_owned()),
        "push_constant" => Some("write `var<immediate>`".to_owned()),
        "print" => {
            Some("kernels have `print`; a shader can write what is of interest to a buffer".to_owned())
        }
        "subgroupElect" => Some("write `lane == subgroupBroadcastFirst(lane)`".to_owned()),
        _ if name.starts_with("texture_storage_cube") => {
            Some("use a `texture_storage_2d_array`, with a layer for each face".to_owned())
        }
        _ => None,
    }
}
