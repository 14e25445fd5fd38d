//! Errors of a type, a constant or a variable outside of functions.

use naga::valid::{
    ConstExpressionError, ConstantError, Disalignment, GlobalVariableError as Error, OverrideError,
    TypeError, TypeFlags,
};
use naga::{AddressSpace, GlobalVariable};

use super::expressions::literal;
use super::report::{Report, report};
use crate::wgsl::names::Names;

const NO_ARRAYS_OF_RESOURCES: &str = "arrays of buffers, images and samplers are not known here";

pub(super) fn variable(names: Names, variable: &GlobalVariable, error: &Error) -> Option<Report> {
    let name = variable.name.as_deref().unwrap_or("this");
    Some(match *error {
        Error::MissingTypeFlags { required, seen } => of_missing(name, variable, required - seen),
        Error::InvalidType(AddressSpace::Handle) | Error::InvalidUsage(_) => {
            report(format!("`{name}` has no address space"))
                .help("write `var<private>`, `var<workgroup>`, `var<uniform>` or `var<storage, read_write>`")
        }
        Error::InvalidType(_) => {
            report(format!("a `{}` is not allowed in this address space", names.ty(variable.ty)))
        }
        Error::InvalidBindingArray(_) => report(NO_ARRAYS_OF_RESOURCES),
        Error::InvalidBinding if variable.binding.is_some() => {
            report(format!("`{name}` is memory of the shader's own, which is not bound"))
                .help("leave out `@group` and `@binding`")
        }
        Error::InvalidBinding => report(format!("`{name}` does not say where it is bound"))
            .help("write `@group(0) @binding(0)` before it"),
        Error::StorageAddressSpaceWriteOnlyNotSupported => {
            report("a buffer that is written can be read, too").help("write `var<storage, read_write>`")
        }
        Error::InitializerNotAllowed(_) => report("this memory has no value from the start")
            .help("store one at the start of the function, and write `workgroupBarrier();` after it"),
        Error::InitializerType => {
            let ty = names.ty(variable.ty);
            report(format!("`{name}` is a `{ty}`, and its value is not"))
                .help(format!("convert the value: `{ty}(..)`"))
        }
        Error::InitializerExprType => report(format!("`{name}` begins with a constant")),
        Error::InvalidImmediateType(_) => report("push constants are numbers, vectors and structs of them")
            .help("bind a buffer for what is none"),
        Error::Alignment(space, _, ref disalignment) => laid(space, disalignment),
        _ => return None,
    })
}

/// A variable's type lacks a required property.
fn of_missing(name: &str, variable: &GlobalVariable, missing: TypeFlags) -> Report {
    if missing.contains(TypeFlags::HOST_SHAREABLE) {
        return report(format!("`{name}` has a `bool` in it, which no memory outside of the shader has"))
            .help("use a number that is 0 or 1, and compare it: `x != 0`");
    }
    if missing.contains(TypeFlags::SIZED) {
        return report(format!("`{name}` has no known length")).help("write the length of the array");
    }
    match variable.space {
        AddressSpace::Private => report(format!("`{name}` is not allowed in an invocation's private memory"))
            .help("atomics are allowed in `var<workgroup>` and `var<storage, read_write>`"),
        _ => report(format!("`{name}` is not allowed in this address space")),
    }
}

fn laid(space: AddressSpace, disalignment: &Disalignment) -> Report {
    match *disalignment {
        Disalignment::ArrayStride { alignment, .. }
            if space == AddressSpace::Uniform && alignment.to_string() == "16" =>
        {
            report("elements of an array in a uniform are 16 bytes apart").help(
                "make them vectors of four, `array<vec4<f32>, n>`, or use a buffer, `var<storage, read>`",
            )
        }
        Disalignment::ArrayStride { stride, alignment } => {
            report(format!("elements are {stride} bytes apart, which is no multiple of {alignment}"))
                .help("add members to the elements that fill them up, or use a buffer")
        }
        Disalignment::StructSpan { span, alignment } => {
            report(format!("a struct has {span} bytes, which is no multiple of {alignment}"))
                .help("add members that fill it up, or use a buffer")
        }
        Disalignment::MemberOffset { index, offset, alignment } => {
            report(format!("member {} is at byte {offset}, which is no multiple of {alignment}", index + 1))
                .help("add members before it that fill the gap, or use a buffer")
        }
        Disalignment::MemberOffsetAfterStruct { index, expected, .. } => {
            report(format!("member {} follows a struct, and cannot be before byte {expected}", index + 1))
                .help("add members before it that fill the gap, or use a buffer")
        }
        Disalignment::UnsizedMember { .. } => {
            report("a uniform has a known length").help("write the length of the array, or use a buffer")
        }
        Disalignment::NonHostShareable => report("no memory outside of the shader has a `bool`")
            .help("use a number that is 0 or 1, and compare it: `x != 0`"),
    }
}

pub(super) fn ty(error: &TypeError) -> Option<Report> {
    Some(match *error {
        TypeError::InvalidArrayBaseType(_)
        | TypeError::BindingArrayBaseTypeNotStruct(_)
        | TypeError::BindingArrayBaseExternalTextures => report(NO_ARRAYS_OF_RESOURCES),
        TypeError::InvalidDynamicArray(ref name, _) => {
            report(format!("`{name}` has no known length, but is not the last member"))
                .help("put it at the end of the block, or write its length")
        }
        TypeError::EmptyStruct => report("a struct has at least one member").help("write one: `x: f32`"),
        TypeError::InvalidArraySize(_) => {
            report("an array has at least one element").help("write a length of 1 or more")
        }
        TypeError::UnsupportedImageType { .. } => report("images of this kind are not known here"),
        TypeError::MatrixElementNotFloat => report("matrices are of floats").help("write `mat2x2<f32>`"),
        TypeError::InvalidAtomicWidth(..) => report("atomics of this type are not known here")
            .help("those of `i32`, `u32`, `i64`, `u64` and `f32` are"),
        TypeError::InvalidData(_) => report("an image or a sampler cannot be a member of a struct")
            .help("declare it by itself, with `var`"),
        TypeError::InvalidPointerToUnsized { .. } => {
            report("an array without a known length is only allowed in buffers")
                .help("write the length of the array")
        }
        _ => return None,
    })
}

pub(super) fn specialised(error: &OverrideError) -> Option<Report> {
    Some(match error {
        OverrideError::DuplicateID => report("another specialisation constant has this id"),
        OverrideError::InvalidType => report("the value is of another type than the specialisation constant"),
        OverrideError::TypeNotScalar | OverrideError::NonConstructibleType => {
            report("a specialisation constant has one value, of at most 32 bits or a 64-bit float")
                .help("make one for each component, and put them together in the function")
        }
        OverrideError::InitializerExprType => report("the value of a specialisation constant is a constant"),
        OverrideError::ConstExpression { source, .. } => return constant_expression(source),
        _ => return None,
    })
}

pub(super) fn constant(error: &ConstantError) -> Option<Report> {
    Some(match error {
        ConstantError::InitializerExprType => report("the value of a constant is a constant"),
        ConstantError::InvalidType => report("the value is of another type than the constant"),
        ConstantError::NonConstructibleType => report("a constant cannot have this type"),
    })
}

pub(super) fn constant_expression(error: &ConstExpressionError) -> Option<Report> {
    Some(match error {
        ConstExpressionError::NonConstOrOverride | ConstExpressionError::NonFullyEvaluatedConst => {
            report("this is not known before the shader runs")
        }
        ConstExpressionError::Literal(error) => literal(error),
        _ => return None,
    })
}
