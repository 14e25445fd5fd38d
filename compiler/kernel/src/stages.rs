//! The stages of a graphics pipeline: the stage of a function, its inputs and its outputs.
//!
//! PyShader takes the stage from the function's name. A port is one value from the previous stage or the device, or to
//! the next stage. kps never runs such a stage: its module is for programs that draw.

use rspirv::spirv::BuiltIn;

use crate::capability::Capability;
use crate::types::{Scalar, Type};

/// The stage of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    Compute,
    Vertex,
    Fragment,
}

impl Stage {
    pub fn name(self) -> &'static str {
        match self {
            Stage::Compute => "compute",
            Stage::Vertex => "vertex",
            Stage::Fragment => "fragment",
        }
    }

    /// The stages that a function's name names, case aside; a function that names none is a kernel.
    pub(crate) fn named_in(function: &str) -> Vec<Stage> {
        let name = function.to_lowercase();
        let all = [Stage::Vertex, Stage::Fragment, Stage::Compute];
        all.into_iter().filter(|stage| name.contains(stage.name())).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    Input,
    Output,
}

impl Direction {
    pub fn name(self) -> &'static str {
        match self {
            Direction::Input => "input",
            Direction::Output => "output",
        }
    }
}

/// An input or an output of a stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    pub direction: Direction,
    pub slot: Slot,
    pub ty: Type,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Slot {
    /// Shared with the previous or the next stage.
    Location(u32),
    /// Known to the device.
    Builtin(&'static StageBuiltin),
}

/// One row of the tables of built-in inputs and outputs.
#[derive(Debug)]
pub struct StageBuiltin {
    pub name: &'static str,
    pub(crate) ty: BuiltinType,
    pub(crate) builtin: BuiltIn,
    pub(crate) capability: Option<Capability>,
}

impl PartialEq for StageBuiltin {
    fn eq(&self, other: &StageBuiltin) -> bool {
        self.name == other.name
    }
}

/// The types that a built-in port may be declared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuiltinType {
    /// `i32` or `u32`.
    Int,
    Float,
    Bool,
    Vec2,
    Vec4,
    /// `Array(n, f32)`.
    Floats,
    /// `Array(1, i32)`.
    Mask,
}

impl BuiltinType {
    pub fn takes(self, ty: &Type) -> bool {
        match (self, ty) {
            (BuiltinType::Int, ty) => matches!(ty, Type::Scalar(Scalar::I32 | Scalar::U32)),
            (BuiltinType::Float, ty) => *ty == Type::F32,
            (BuiltinType::Bool, ty) => *ty == Type::BOOL,
            (BuiltinType::Vec2, ty) => *ty == Type::Vector(2, Scalar::F32),
            (BuiltinType::Vec4, ty) => *ty == Type::Vector(4, Scalar::F32),
            (BuiltinType::Floats, Type::Array(array)) => array.element == Type::F32 && array.len <= 8,
            (BuiltinType::Mask, Type::Array(array)) => {
                array.len == 1 && matches!(array.element, Type::Scalar(Scalar::I32 | Scalar::U32))
            }
            _ => false,
        }
    }

    /// The type to write in messages.
    pub fn example(self) -> &'static str {
        match self {
            BuiltinType::Int => "i32",
            BuiltinType::Float => "f32",
            BuiltinType::Bool => "boolean",
            BuiltinType::Vec2 => "vec2",
            BuiltinType::Vec4 => "vec4",
            BuiltinType::Floats => "Array(1, f32)",
            BuiltinType::Mask => "Array(1, i32)",
        }
    }
}

const fn row(
    name: &'static str,
    ty: BuiltinType,
    builtin: BuiltIn,
    capability: Option<Capability>,
) -> StageBuiltin {
    StageBuiltin { name, ty, builtin, capability }
}

use BuiltinType as T;
use Capability as C;

/// Vulkan counts vertices and instances by the indices; PyShader knows them as ids, too.
static VERTEX_INPUTS: [StageBuiltin; 8] = [
    row("VertexIndex", T::Int, BuiltIn::VertexIndex, None),
    row("VertexId", T::Int, BuiltIn::VertexIndex, None),
    row("InstanceIndex", T::Int, BuiltIn::InstanceIndex, None),
    row("InstanceId", T::Int, BuiltIn::InstanceIndex, None),
    row("BaseVertex", T::Int, BuiltIn::BaseVertex, Some(C::DrawParameters)),
    row("BaseInstance", T::Int, BuiltIn::BaseInstance, Some(C::DrawParameters)),
    row("DrawIndex", T::Int, BuiltIn::DrawIndex, Some(C::DrawParameters)),
    row("ViewIndex", T::Int, BuiltIn::ViewIndex, Some(C::MultiView)),
];

static VERTEX_OUTPUTS: [StageBuiltin; 6] = [
    row("Position", T::Vec4, BuiltIn::Position, None),
    row("PointSize", T::Float, BuiltIn::PointSize, None),
    row("ClipDistance", T::Floats, BuiltIn::ClipDistance, Some(C::ClipDistance)),
    row("CullDistance", T::Floats, BuiltIn::CullDistance, Some(C::CullDistance)),
    row("Layer", T::Int, BuiltIn::Layer, Some(C::ShaderLayer)),
    row("ViewportIndex", T::Int, BuiltIn::ViewportIndex, Some(C::ShaderViewportIndex)),
];

static FRAGMENT_INPUTS: [StageBuiltin; 13] = [
    row("FragCoord", T::Vec4, BuiltIn::FragCoord, None),
    row("FrontFacing", T::Bool, BuiltIn::FrontFacing, None),
    row("PointCoord", T::Vec2, BuiltIn::PointCoord, None),
    row("HelperInvocation", T::Bool, BuiltIn::HelperInvocation, None),
    row("PrimitiveId", T::Int, BuiltIn::PrimitiveId, Some(C::Geometry)),
    row("SampleId", T::Int, BuiltIn::SampleId, Some(C::SampleRateShading)),
    row("SamplePosition", T::Vec2, BuiltIn::SamplePosition, Some(C::SampleRateShading)),
    row("SampleMask", T::Mask, BuiltIn::SampleMask, None),
    row("ClipDistance", T::Floats, BuiltIn::ClipDistance, Some(C::ClipDistance)),
    row("CullDistance", T::Floats, BuiltIn::CullDistance, Some(C::CullDistance)),
    row("Layer", T::Int, BuiltIn::Layer, Some(C::ShaderLayer)),
    row("ViewportIndex", T::Int, BuiltIn::ViewportIndex, Some(C::ShaderViewportIndex)),
    row("ViewIndex", T::Int, BuiltIn::ViewIndex, Some(C::MultiView)),
];

static FRAGMENT_OUTPUTS: [StageBuiltin; 2] = [
    row("FragDepth", T::Float, BuiltIn::FragDepth, None),
    row("SampleMask", T::Mask, BuiltIn::SampleMask, None),
];

/// The built-in inputs or outputs of a stage. Those of compute kernels are `template::Input`.
pub(crate) fn builtins(stage: Stage, direction: Direction) -> &'static [StageBuiltin] {
    match (stage, direction) {
        (Stage::Compute, _) => &[],
        (Stage::Vertex, Direction::Input) => &VERTEX_INPUTS,
        (Stage::Vertex, Direction::Output) => &VERTEX_OUTPUTS,
        (Stage::Fragment, Direction::Input) => &FRAGMENT_INPUTS,
        (Stage::Fragment, Direction::Output) => &FRAGMENT_OUTPUTS,
    }
}

pub(crate) fn builtin(stage: Stage, direction: Direction, name: &str) -> Option<&'static StageBuiltin> {
    builtins(stage, direction).iter().find(|row| row.name == name)
}

/// The number of locations of a value, each of 16 bytes; `None` for types that cannot pass between stages.
pub(crate) fn n_locations(ty: &Type) -> Option<u32> {
    let scalar = |scalar: Scalar| !matches!(scalar, Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::Bf16);
    match ty {
        Type::Scalar(of) => scalar(*of).then_some(1),
        Type::Vector(n, of) => scalar(*of).then_some(if *n > 2 && of.bits() == 64 { 2 } else { 1 }),
        Type::Matrix { columns, rows, scalar } => {
            Some(u32::from(*columns) * n_locations(&Type::Vector(*rows, *scalar))?)
        }
        Type::Array(array) => Some(array.len.saturating_mul(n_locations(&array.element)?)),
        Type::Struct(of) => {
            of.members.iter().try_fold(0u32, |sum, member| Some(sum.saturating_add(n_locations(&member.ty)?)))
        }
        Type::Tuple(_) | Type::Coop(_) | Type::Void | Type::Error => None,
    }
}

/// Ints and doubles are not interpolated between vertices.
pub(crate) fn is_flat(ty: &Type) -> bool {
    ty.numbers().iter().any(|(_, scalar)| scalar.is_int() || *scalar == Scalar::F64)
}
