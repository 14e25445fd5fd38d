//! Suggestions of what to write instead, by the text at the error.

/// The extension that declares a type or a function. Without it glslang reports an unknown name.
pub(super) fn extension(name: &str) -> Option<&'static str> {
    const NARROW_AND_WIDE: [(&str, &str); 9] = [
        ("int8", "GL_EXT_shader_explicit_arithmetic_types_int8"),
        ("int16", "GL_EXT_shader_explicit_arithmetic_types_int16"),
        ("int64", "GL_EXT_shader_explicit_arithmetic_types_int64"),
        ("float16", "GL_EXT_shader_explicit_arithmetic_types_float16"),
        ("i8vec", "GL_EXT_shader_explicit_arithmetic_types_int8"),
        ("i16vec", "GL_EXT_shader_explicit_arithmetic_types_int16"),
        ("i64vec", "GL_EXT_shader_explicit_arithmetic_types_int64"),
        ("f16vec", "GL_EXT_shader_explicit_arithmetic_types_float16"),
        ("f16mat", "GL_EXT_shader_explicit_arithmetic_types_float16"),
    ];
    let signed = match name.strip_prefix('u') {
        Some(rest) if rest.starts_with("int") => rest.to_owned(),
        Some(rest) if rest.contains("vec") => format!("i{rest}"),
        _ => name.to_owned(),
    };
    let narrow = NARROW_AND_WIDE.iter().find(|(start, _)| signed.starts_with(start));
    Some(match name {
        _ if narrow.is_some() && (name.ends_with("_t") || name.contains("vec") || name.contains("mat")) => {
            narrow?.1
        }
        "coopmat" | "coopMatLoad" | "coopMatStore" | "coopMatMulAdd" => "GL_KHR_cooperative_matrix",
        "debugPrintfEXT" => "GL_EXT_debug_printf",
        "bfloat16_t" => "GL_EXT_bfloat16",
        _ => return None,
    })
}

/// What GLSL has in place of a name from another language.
pub(super) fn of_other_languages(name: &str) -> Option<&'static str> {
    Some(match name {
        "elif" | "elseif" | "elsif" => "write `else if`",
        "and" => "write `&&`",
        "or" => "write `||`",
        "not" => "write `!`",
        "threadIdx" => "write `gl_LocalInvocationID`",
        "blockIdx" => "write `gl_WorkGroupID`",
        "blockDim" => "write `gl_WorkGroupSize`",
        "gridDim" => "write `gl_NumWorkGroups`",
        "fn" => "this is WGSL: name its file `.wgsl`",
        "def" | "import" => "this is Python: a kernel of kps has `@kernel` before it",
        "let" | "var" | "auto" => "write the type: `float x = 1.0;`",
        "float2" | "float3" | "float4" => "write `vec2`, `vec3` or `vec4`",
        "int2" | "int3" | "int4" => "write `ivec2`, `ivec3` or `ivec4`",
        "uint2" | "uint3" | "uint4" => "write `uvec2`, `uvec3` or `uvec4`",
        "float2x2" | "float3x3" | "float4x4" => "write `mat2`, `mat3` or `mat4`",
        "f32" => "write `float`",
        "i32" => "write `int`",
        "u32" | "uint32" | "size_t" | "dword" | "unsigned" => "write `uint`",
        "long" | "short" => "write `int`, which has 32 bits",
        "half" | "f16" => {
            "write `float16_t`, with `#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require`"
        }
        "char" | "string" => "shaders have no strings: use numbers instead",
        "static" | "__shared__" | "groupshared" => "write `shared` for the memory of a workgroup",
        "True" => "write `true`",
        "False" => "write `false`",
        "null" | "NULL" | "nullptr" | "None" => "every value of GLSL is there: use a number that means none",
        "goto" => "write a loop with `break` and `continue`",
        "typedef" => "write the type itself, or a `#define`",
        "sizeof" => "`.length()` is the number of elements of an array",
        "printf" | "print" => {
            "write `debugPrintfEXT(\"x is %f\", x)`, with `#extension GL_EXT_debug_printf : require`"
        }
        "assert" => "kernels have `assert`; a shader can write what is of interest to a buffer",
        "saturate" => "write `clamp(x, 0.0, 1.0)`",
        "lerp" => "write `mix`",
        "frac" => "write `fract`",
        "rsqrt" => "write `inversesqrt`",
        "fmod" => "write `mod`",
        "mul" => "write `a * b`",
        "atan2" => "write `atan(y, x)`",
        "fabs" | "fabsf" => "write `abs`",
        "sqrtf" => "write `sqrt`",
        "powf" => "write `pow`",
        "__syncthreads" | "GroupMemoryBarrierWithGroupSync" => "write `barrier()`",
        "InterlockedAdd" => "write `atomicAdd`",
        "gl_FragColor" => "declare an output: `layout(location = 0) out vec4 color;`",
        "texture2D" | "texture3D" | "textureCube" => "write `texture(sampler2D(image, look), place)`",
        "ballotARB" => "write `subgroupBallot`",
        "anyInvocation" | "anyInvocationARB" => "write `subgroupAny`",
        "allInvocations" | "allInvocationsARB" => "write `subgroupAll`",
        "readInvocationARB" => "write `subgroupBroadcast`",
        "readFirstInvocationARB" => "write `subgroupBroadcastFirst`",
        "varying" | "attribute" => "declare it `in` or `out`, with a location",
        _ => return None,
    })
}

/// A suggestion for an unexpected token, by the token, by the text before it, and by the expected tokens.
pub(super) fn instead_of(found: &str, before: &str, expected: &[&str]) -> Option<&'static str> {
    let known = before.trim_end();
    let word = known.rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or("");
    let could_be = |wanted: &str| expected.contains(&wanted);
    let is_first_of_value = known.ends_with(['=', '(', ',', '+', '-', '*', '/', '<', '>', '?', ':']);
    Some(match found {
        "*" if known.ends_with('*') => "a power is `pow(x, y)`",
        "&" if could_be("`)`") => {
            "GLSL has no pointers: a parameter that a function changes is `inout float x`"
        }
        "*" if could_be("`;`") => "GLSL has no pointers: name the array and an index",
        "{" if could_be("`;`") => "define functions outside of others",
        "[" if known.ends_with('=') => "an array is written `float[](1.0, 2.0)`",
        "else" => "`else` follows the one statement of its `if`: put several into `{ .. }`",
        "\"" => "shaders have no strings, except the first argument of `debugPrintfEXT`",
        "=" if is_in_struct(before) => "members have no values of their own: give them in `S(1.0)`",
        "=" if could_be("`;`") => "only a variable, an element or a member is allowed left of `=`",
        _ if known.ends_with(',') && is_in_struct(before) => {
            "members of a struct end with `;`: `float x; float y;`"
        }
        _ if could_be("`(`") && ["if", "while", "for", "switch"].contains(&word) => {
            "a condition is written in parentheses: `if (x < y)`"
        }
        _ if could_be("`;`") && is_in_head_of_for(known) => {
            "the parts of a `for` end with `;`: `for (int i = 0; i < n; i++)`"
        }
        _ if of_other_languages(found).is_some() => return of_other_languages(found),
        _ if of_other_languages(word).is_some() => return of_other_languages(word),
        "}" if known.is_empty() || is_balanced(known) => "leave it out, or write a `{` before",
        "}" if could_be("`;`") => "a statement ends with `;`",
        _ if could_be("a name") && is_keyword(found) => "GLSL reserves this word: choose another name",
        _ if could_be("`;`") && is_reserved(found) => "GLSL reserves this word: choose another name",
        _ if could_be("`;`") => "end the statement before it with `;`",
        _ if could_be("`]`") => "close the index: `a[i]`",
        _ if could_be("`)`") => "close the parentheses",
        _ if is_first_of_value => "a value belongs here",
        _ => return None,
    })
}

/// Reserved words that people choose as names.
fn is_reserved(word: &str) -> bool {
    const WORDS: &str = "active asm buffer cast centroid class common enum extern external filter fixed flat half input \
        interface inline long namespace noinline output partition patch public resource sample sampler shared \
        short sizeof smooth static subroutine superp template this texture typedef uniform union unsigned using";
    WORDS.split_whitespace().any(|known| known == word)
}

fn is_keyword(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_alphabetic())
}

/// Whether all brackets in a text are balanced.
fn is_balanced(text: &str) -> bool {
    text.matches('{').count() <= text.matches('}').count()
}

/// Whether the innermost brace that is open at the end of a text belongs to a struct.
fn is_in_struct(before: &str) -> bool {
    let mut open = Vec::new();
    for (at, letter) in before.char_indices() {
        match letter {
            '{' => open.push(at),
            '}' => drop(open.pop()),
            _ => {}
        }
    }
    let head = open.last().map(|at| before[..*at].trim_end());
    head.and_then(|head| head.rsplit([';', '}', '\n']).next()).is_some_and(|head| head.contains("struct"))
}

/// Whether a text ends in the parentheses of a `for`.
fn is_in_head_of_for(before: &str) -> bool {
    before.rfind("for").is_some_and(|at| {
        let behind = before[at + 3..].trim_start();
        behind.starts_with('(') && behind.matches('(').count() > behind.matches(')').count()
    })
}
