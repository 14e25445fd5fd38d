//! The codes of what the host reports, as rows of the page on error codes.

use kps_syntax::ErrorCode;

pub const ERROR_CODES: &[ErrorCode] = &[
    ErrorCode::new(
        "script/unknown-member",
        "A script takes a name from a module that does not have it.",
        "Correct the name: the help has the nearest one.",
    ),
    ErrorCode::new(
        "script/unknown-module",
        "A script imports a module that does not exist.",
        "Correct the name, or write the code that is needed.",
    ),
    ErrorCode::new(
        "script/unknown-name",
        "A script reads a name that nothing in its file gives a value.",
        "Correct the name, import it, or assign it.",
    ),
    ErrorCode::new(
        "kernel/option",
        "The decorator `@kernel` is given an option that it does not have, or a value that the option does not take.",
        "Write an option as the help shows it.",
    ),
    ErrorCode::new(
        "launch/idle-axes",
        "A launch has more axes than the kernel asks for, so invocations do the same work.",
        "Launch over fewer axes, or use `global_id.y`.",
    ),
    ErrorCode::new(
        "checked/conversion",
        "A float does not fit the int type that it is converted to.",
        "Test or clamp the number first.",
    ),
    ErrorCode::new(
        "checked/divergent-barrier",
        "Some invocations of a workgroup reach a barrier and others do not.",
        "Move the barrier to where all of them pass.",
    ),
    ErrorCode::new("checked/division-by-zero", "A number is divided by zero.", "Test the divisor first."),
    ErrorCode::new(
        "checked/nan",
        "A computation of finite numbers gives NaN or an infinity.",
        "Test or clamp the operands first.",
    ),
    ErrorCode::new(
        "checked/not-uniform",
        "`uniform(..)` is given a value that differs within the workgroup.",
        "Leave `uniform` out, or compute the value from what is the same for all.",
    ),
    ErrorCode::new(
        "checked/out-of-bounds",
        "An index or a texel lies outside its array or image.",
        "Test the index first, or launch fewer invocations.",
    ),
    ErrorCode::new(
        "checked/overflow",
        "The result of int arithmetic does not fit its type.",
        "Use a wider type.",
    ),
    ErrorCode::new(
        "checked/race",
        "Two invocations access one element, and one of them writes it.",
        "Put a `barrier()` between the accesses, use an atomic function, or let each write its own element.",
    ),
    ErrorCode::new(
        "checked/shift-amount",
        "A shift is by a negative amount, or by as many bits as the type has.",
        "Use a wider type, or limit the amount.",
    ),
    ErrorCode::new(
        "checked/uninitialised",
        "An element or a texel is read that nothing has written.",
        "Write it first, or give the tensor a value.",
    ),
    ErrorCode::new(
        "foreign/assembly",
        "The text is no assembly of SPIR-V.",
        "Correct the line that the label points to.",
    ),
    ErrorCode::new(
        "foreign/no-default",
        "A specialisation constant of a shader has no value: its text gives it none.",
        "Give the values of all constants in their order, `spec_consts=[..]`, or write a default in the text.",
    ),
    ErrorCode::new(
        "foreign/spirv",
        "The words are no valid SPIR-V module.",
        "Compile the module again, or correct what the validator reports.",
    ),
    ErrorCode::new("foreign/text", "The file of a shader is not UTF-8.", "Save it as UTF-8."),
    ErrorCode::new(
        "inspect/args",
        "The text after `--args` does not describe the arguments of a launch.",
        "Write a type or a number for each parameter: `f32, Array[f32]`, or `x=Array[f32], n=16`.",
    ),
];
