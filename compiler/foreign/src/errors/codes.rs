//! The codes of mistakes in shaders, as rows of the page on error codes.

use kps_syntax::ErrorCode;

pub const ERROR_CODES: &[ErrorCode] = &[
    ErrorCode::new(
        "foreign/emit",
        "The shader is valid and has something that cannot be written as SPIR-V.",
        "Write that part in another way, or give the module as SPIR-V.",
    ),
    ErrorCode::new(
        "foreign/function",
        "The HLSL calls a function that the translator knows by name alone.",
        "Write a function of another name that does the same.",
    ),
    ErrorCode::new(
        "foreign/glsl",
        "glslang found a mistake in GLSL or HLSL.",
        "Correct it where the label points; the help shows what to write where that is known.",
    ),
    ErrorCode::new(
        "foreign/image",
        "The WGSL has a kind of image that cannot be bound or loaded here.",
        "Use a texture or a format that the help names.",
    ),
    ErrorCode::new(
        "foreign/invalid",
        "The WGSL can be read and breaks a rule of the language.",
        "Correct it where the label points.",
    ),
    ErrorCode::new(
        "foreign/language",
        "The text is in another language than GLSL, HLSL or WGSL.",
        "Give the text to the function for its language, or translate it first.",
    ),
    ErrorCode::new(
        "foreign/no-entry-point",
        "The shader has no entry point of the wanted stage and name.",
        "Mark the function that is to run with its stage, or name it: `entry_point=\"..\"`.",
    ),
    ErrorCode::new(
        "foreign/not-finite",
        "A specialisation constant is NaN or infinite.",
        "Give the number in a buffer or as a push constant.",
    ),
    ErrorCode::new(
        "foreign/push-constants",
        "The push constants are larger than devices take.",
        "Bind a buffer for what is larger than 128 bytes.",
    ),
    ErrorCode::new(
        "foreign/several-entry-points",
        "The shader has several entry points, and nothing says which one is meant.",
        "Name it: `entry_point=\"..\"`.",
    ),
    ErrorCode::new(
        "foreign/too-deep",
        "Brackets of the shader are nested too deep.",
        "Give the inner parts names of their own.",
    ),
    ErrorCode::new(
        "foreign/translator",
        "The translator of shaders failed on the text.",
        "Write the shader in another way, or give it as SPIR-V.",
    ),
    ErrorCode::new(
        "foreign/wgsl",
        "naga cannot read the WGSL.",
        "Correct it where the label points; the help shows what to write where that is known.",
    ),
    ErrorCode::new(
        "foreign/wide-math",
        "A function has no form for 64-bit floats in SPIR-V.",
        "Convert the argument to 32 bits, or write a kernel, which has it.",
    ),
    ErrorCode::new(
        "foreign/workgroup-size",
        "The size of the workgroup is 0, negative or more than any device has.",
        "Write a size such as `@workgroup_size(64)`.",
    ),
];
