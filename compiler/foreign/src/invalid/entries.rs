//! What is wrong with an entry point: what it is given and gives, and what it may not do.

use naga::valid::{EntryPointError as Error, VaryingError};
use naga::{BuiltIn, EntryPoint};

use super::functions;
use super::told::{Told, told};
use crate::Language;
use crate::names::Names;

pub(super) fn told_of(names: Names, entry: &EntryPoint, error: &Error) -> Option<Told> {
    Some(match error {
        Error::Function(error) => return functions::told_of(names, &entry.function, error),
        Error::Argument(_, error) | Error::Result(error) => return varying(names, error),
        Error::ForbiddenStageOperations => told(
            "compute shaders have neither `discard` nor derivatives: sample an image at a level, with `textureLod`, or \
             `textureSampleLevel` in WGSL",
        ),
        Error::OutOfRangeWorkgroupSize => told("a workgroup has 1 to 16384 invocations along each axis"),
        Error::BindingCollision(_) => told("another resource has this binding: each has a number of its own"),
        Error::MoreThanOneImmediateUsed => {
            told("a shader has one block of push constants").help("put the members of both into one")
        }
        Error::MissingVertexOutputPosition => {
            told("a vertex function gives a position").help("return `@builtin(position) vec4<f32>`")
        }
        Error::InvalidGlobalUsage(handle, _) => {
            let variable = names.module.global_variables[*handle].name.clone().unwrap_or_default();
            told(format!("`{variable}` cannot be used in this way: it is for reading, or for writing, alone"))
        }
        _ => return None,
    })
}

fn varying(names: Names, error: &VaryingError) -> Option<Told> {
    Some(match *error {
        VaryingError::InvalidBuiltInStage(built_in) => {
            told(format!("`{}` is not known in shaders of this stage", names.built_in(built_in)))
        }
        VaryingError::InvalidBuiltInType(built_in, _) => {
            let name = names.built_in(built_in);
            let message = told(format!("`{name}` is of another type"));
            match built_in_type(built_in) {
                Some(ty) => message.help(format!("write `@builtin({name}) name: {ty}`")),
                None => message,
            }
        }
        VaryingError::DuplicateBuiltIn(built_in) => {
            told(format!("`{}` is taken twice", names.built_in(built_in)))
        }
        VaryingError::MissingBinding | VaryingError::MemberMissingBinding(_) => {
            told("what an entry point takes and returns says where it comes from and goes to").help(
                "write `@builtin(global_invocation_id) id: vec3<u32>`; numbers come in buffers and push constants",
            )
        }
        VaryingError::NotIOShareableType(_) | VaryingError::InvalidType(_) => {
            told("inputs and outputs are numbers and vectors of them").help("use one for each column or member")
        }
        VaryingError::BindingCollision { location } => {
            told(format!("another input or output has the location {location}"))
        }
        VaryingError::InvalidInterpolationForInteger => told("integers are not interpolated").help(
            match names.language {
                Language::Glsl => "write `flat` before it",
                Language::Wgsl => "write `@interpolate(flat)` before it",
            },
        ),
        VaryingError::InvalidMultiDimensionalSubgroupBuiltIn => {
            told("numbers in subgroups are known in workgroups with one axis alone")
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
