//! Errors of an entry point: its parameters, its result, and operations that its stage lacks.

use naga::valid::{EntryPointError as Error, VaryingError};
use naga::{BuiltIn, EntryPoint, Handle, Scalar, ShaderStage, Type, TypeInner, VectorSize};

use super::functions;
use super::report::{Report, report};
use crate::wgsl::names::{self, Names};

pub(super) fn describe(names: Names, entry: &EntryPoint, error: &Error) -> Option<Report> {
    Some(match error {
        Error::Function(error) => return functions::describe(names, &entry.function, error),
        Error::Argument(at, error) => {
            return unbound_parameter(names, entry, *at, error).or_else(|| varying(error));
        }
        Error::Result(error) => {
            return unbound_result(names, entry, error).or_else(|| varying(error));
        }
        Error::ForbiddenStageOperations => report("compute shaders have neither `discard` nor derivatives").help(
            "write `return;` for `discard`, and sample an image at a level: `textureSampleLevel(.., place, 0.0)`",
        ),
        Error::OutOfRangeWorkgroupSize => {
            report("a workgroup has 1 to 16384 invocations along each axis").help("write `@workgroup_size(64)`")
        }
        Error::BindingCollision(_) => {
            report("another resource has this binding: each has a number of its own").help("write the next number that is free: `@group(0) @binding(1)`")
        }
        Error::MoreThanOneImmediateUsed => {
            report("a shader has one block of push constants").help("put the members of both into one")
        }
        Error::MissingVertexOutputPosition => {
            report("a vertex function gives a position").help("return `@builtin(position) vec4<f32>`")
        }
        Error::InvalidGlobalUsage(handle, _) => {
            let variable = names.module.global_variables[*handle].name.clone().unwrap_or_default();
            report(format!("`{variable}` cannot be used in this way: it is read-only or write-only"))
                .help("write `read_write` where it is declared")
        }
        _ => return None,
    })
}

/// A parameter, or a member of one, that lacks a builtin or location.
fn unbound_parameter(names: Names, entry: &EntryPoint, at: u32, error: &VaryingError) -> Option<Report> {
    let parameter = entry.function.arguments.get(at as usize)?;
    let (name, ty) = match *error {
        VaryingError::MissingBinding => (parameter.name.as_deref()?, parameter.ty),
        VaryingError::MemberMissingBinding(at) => member(names, parameter.ty, at)?,
        _ => return None,
    };
    let message = report(format!("this entry point takes `{name}`, which does not say where it comes from"));
    let inner = &names.module.types[ty].inner;
    let is_id = *inner == TypeInner::Vector { size: VectorSize::Tri, scalar: Scalar::U32 };
    let is_number =
        matches!(inner, TypeInner::Scalar(_) | TypeInner::Vector { .. } | TypeInner::Matrix { .. });
    let ty = names.ty(ty);
    Some(message.help(match entry.stage {
        ShaderStage::Compute if is_id => format!("write `@builtin(global_invocation_id) {name}: {ty}`"),
        ShaderStage::Compute if is_number => format!(
            "take it from a push constant, `var<immediate> {name}: {ty};` outside of functions, or from a buffer"
        ),
        ShaderStage::Vertex | ShaderStage::Fragment if is_number => {
            format!("write `@location(0) {name}: {ty}`")
        }
        _ => format!("declare it outside of functions: `@group(0) @binding(0) var {name}: ..;`"),
    }))
}

/// A result, or a member of one, that lacks a builtin or location.
fn unbound_result(names: Names, entry: &EntryPoint, error: &VaryingError) -> Option<Report> {
    let result = entry.function.result.as_ref()?;
    let unbound = match *error {
        VaryingError::MissingBinding => names.ty(result.ty),
        VaryingError::MemberMissingBinding(at) => {
            let (name, ty) = member(names, result.ty, at)?;
            format!("{name}: {}", names.ty(ty))
        }
        _ => return None,
    };
    Some(match entry.stage {
        ShaderStage::Compute => report("a compute entry point returns nothing")
            .help("store to a buffer: `@group(0) @binding(0) var<storage, read_write> results: array<f32>;`"),
        ShaderStage::Vertex => report("the result of this entry point does not say where it goes to")
            .help(format!("write `@builtin(position)` for a position, or `@location(0) {unbound}`")),
        _ => report("the result of this entry point does not say where it goes to")
            .help(format!("write `@location(0) {unbound}`")),
    })
}

/// A member of a struct by its name and type.
fn member(names: Names<'_>, ty: Handle<Type>, at: u32) -> Option<(&str, Handle<Type>)> {
    let TypeInner::Struct { members, .. } = &names.module.types[ty].inner else { return None };
    let member = members.get(at as usize)?;
    Some((member.name.as_deref()?, member.ty))
}

fn varying(error: &VaryingError) -> Option<Report> {
    Some(match *error {
        VaryingError::InvalidBuiltInStage(built_in) => {
            report(format!("`{}` is not known in shaders of this stage", names::built_in(built_in)))
        }
        VaryingError::InvalidBuiltInType(built_in, _) => {
            let name = names::built_in(built_in);
            let message = report(format!("`{name}` is of another type"));
            match built_in_type(built_in) {
                Some(ty) => message.help(format!("write `@builtin({name}) name: {ty}`")),
                None => message,
            }
        }
        VaryingError::DuplicateBuiltIn(built_in) => {
            report(format!("`{}` is taken twice", names::built_in(built_in))).help("leave one of them out")
        }
        VaryingError::NotIOShareableType(_) | VaryingError::InvalidType(_) => {
            report("inputs and outputs are numbers and vectors of them")
                .help("use one for each column or member")
        }
        VaryingError::BindingCollision { location } => {
            report(format!("another input or output has the location {location}"))
                .help("write the next number that is free")
        }
        VaryingError::InvalidInterpolationForInteger => {
            report("integers are not interpolated").help("write `@interpolate(flat)` before it")
        }
        VaryingError::InvalidMultiDimensionalSubgroupBuiltIn => {
            report("subgroup indices exist only in workgroups with one axis")
                .help("write `@workgroup_size(64)`, and work out rows and columns of it")
        }
        _ => return None,
    })
}

/// The type of a built-in value of compute shaders in WGSL.
fn built_in_type(built_in: BuiltIn) -> Option<&'static str> {
    Some(match built_in {
        BuiltIn::GlobalInvocationId
        | BuiltIn::LocalInvocationId
        | BuiltIn::WorkGroupId
        | BuiltIn::NumWorkGroups => "vec3<u32>",
        BuiltIn::LocalInvocationIndex
        | BuiltIn::SubgroupId
        | BuiltIn::SubgroupSize
        | BuiltIn::SubgroupInvocationId
        | BuiltIn::NumSubgroups
        | BuiltIn::VertexIndex
        | BuiltIn::InstanceIndex => "u32",
        BuiltIn::Position { .. } => "vec4<f32>",
        BuiltIn::FragDepth => "f32",
        _ => return None,
    })
}
