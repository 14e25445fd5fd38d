//! The template of a kernel, before its arguments are known: the checked definition, the declared parameters, and the
//! captured names.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::ast::{FunctionDef, Ident, Name};
use kps_syntax::{Diagnostics, Source, Span};

use crate::constant::Constant;
use crate::function_param::FunctionParam;
use crate::options::{Form, KernelOptions};
use crate::stages::{Port, Stage};
use crate::textures::TextureType;
use crate::type_expr::ArrayParam;
use crate::types::{Scalar, Type};

/// Made by `kps_kernel::check`; compiled by `kps_kernel::specialize`.
#[derive(Debug)]
pub struct KernelTemplate {
    pub def: Arc<FunctionDef>,
    pub source: Source,
    pub options: KernelOptions,
    pub stage: Stage,
    pub params: Vec<Param>,
    /// Lint warnings of the kernel and of the functions that it calls. Its mistakes, too, if [`crate::read`] made it.
    pub warnings: Diagnostics,
    /// The free names of the kernel and of every function it was seen to call.
    free: RefCell<Vec<FreeNames>>,
}

/// A function with the names that it takes from outside and their places; holding it keeps its address.
type FreeNames = (Arc<FunctionDef>, Rc<[(Name, Span)]>);

/// A parameter as it was declared.
#[derive(Clone, Debug)]
pub struct Param {
    pub name: Ident,
    pub kind: ParamKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ParamKind {
    /// Typed at launch.
    Untyped,
    /// `Array[f32]`, `Array[f32, 2]`.
    Array(ArrayParam),
    Scalar(Type),
    /// `const[i32]`.
    Const(Scalar),
    /// PyShader's `("input", "GlobalInvocationId", ivec3)`.
    Input {
        input: Input,
        ty: Type,
    },
    /// PyShader's `("input", 0, vec2)` and `("output", "Position", vec4)` of a vertex or fragment function.
    Port(Port),
    /// PyShader's `("uniform", 0, vec4)`: one value in a buffer, which the kernel only reads.
    Uniform {
        set: u32,
        binding: u32,
        ty: Type,
    },
    /// PyShader's `("buffer", 0, Array(f32))`.
    Buffer {
        set: u32,
        binding: u32,
        element: Type,
    },
    /// PyShader's `("buffer", 0, Struct(..))`: one struct, which the kernel may change.
    Cell {
        set: u32,
        binding: u32,
        ty: Type,
    },
    /// `Image["2d r32f"]`, and PyShader's `("texture", 0, "2d r32f")` with its slot.
    Texture {
        slot: Option<(u32, u32)>,
        ty: TextureType,
    },
    /// `Sampler`, and PyShader's `("sampler", 0, "")` with its slot.
    Sampler {
        slot: Option<(u32, u32)>,
    },
}

impl ParamKind {
    /// The type that the declaration alone gives; `None` if it needs an argument.
    pub fn declared(&self) -> Option<ParamType> {
        Some(match self {
            ParamKind::Untyped | ParamKind::Const(_) => return None,
            ParamKind::Array(array) => ParamType::Array(array.clone()),
            ParamKind::Uniform { ty, .. } | ParamKind::Cell { ty, .. } => {
                ParamType::Array(ArrayParam::flat(ty.clone()))
            }
            ParamKind::Buffer { element, .. } => ParamType::Array(ArrayParam::flat(element.clone())),
            ParamKind::Scalar(ty) => ParamType::Scalar(ty.clone()),
            ParamKind::Texture { ty, .. } => ParamType::Texture(*ty),
            ParamKind::Sampler { .. } => ParamType::Sampler,
            ParamKind::Input { .. } | ParamKind::Port(_) => ParamType::Input,
        })
    }
}

/// The type of one parameter, or the value of a constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ParamType {
    Array(ArrayParam),
    Scalar(Type),
    Const(Constant),
    Texture(TextureType),
    Sampler,
    /// A function that the kernel calls.
    Function(FunctionParam),
    /// An input from the device or the previous stage, or an output to the next one: PyShader's `("input", ..)` and
    /// `("output", ..)`.
    Input,
}

/// An input that the device gives each invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    GlobalInvocationId,
    LocalInvocationId,
    LocalInvocationIndex,
    WorkgroupId,
    NumWorkgroups,
    WorkgroupSize,
    NumSubgroups,
    SubgroupId,
    SubgroupLocalInvocationId,
    SubgroupSize,
}

impl Input {
    pub const ALL: [Input; 10] = [
        Input::GlobalInvocationId,
        Input::LocalInvocationId,
        Input::LocalInvocationIndex,
        Input::WorkgroupId,
        Input::NumWorkgroups,
        Input::WorkgroupSize,
        Input::NumSubgroups,
        Input::SubgroupId,
        Input::SubgroupLocalInvocationId,
        Input::SubgroupSize,
    ];

    /// As PyShader and SPIR-V name it.
    pub fn name(self) -> &'static str {
        match self {
            Input::GlobalInvocationId => "GlobalInvocationId",
            Input::LocalInvocationId => "LocalInvocationId",
            Input::LocalInvocationIndex => "LocalInvocationIndex",
            Input::WorkgroupId => "WorkgroupId",
            Input::NumWorkgroups => "NumWorkgroups",
            Input::WorkgroupSize => "WorkgroupSize",
            Input::NumSubgroups => "NumSubgroups",
            Input::SubgroupId => "SubgroupId",
            Input::SubgroupLocalInvocationId => "SubgroupLocalInvocationId",
            Input::SubgroupSize => "SubgroupSize",
        }
    }

    pub fn is_of_subgroups(self) -> bool {
        matches!(
            self,
            Input::NumSubgroups | Input::SubgroupId | Input::SubgroupLocalInvocationId | Input::SubgroupSize
        )
    }

    pub fn n_components(self) -> u8 {
        match self {
            Input::LocalInvocationIndex
            | Input::NumSubgroups
            | Input::SubgroupId
            | Input::SubgroupLocalInvocationId
            | Input::SubgroupSize => 1,
            _ => 3,
        }
    }
}

impl KernelTemplate {
    pub(crate) fn new(
        def: &Arc<FunctionDef>,
        source: &Source,
        (options, stage): (KernelOptions, Stage),
        params: Vec<Param>,
        warnings: Diagnostics,
    ) -> KernelTemplate {
        let (def, source) = (Arc::clone(def), source.clone());
        KernelTemplate { def, source, options, stage, params, warnings, free: RefCell::default() }
    }

    /// Invocations of a workgroup: as the kernel says, else by the axes of the domain, the same on every
    /// device. Whole rows of a warp, and square tiles.
    pub fn local_size(&self, rank: u8) -> [u32; 3] {
        let [line, plane, space] = self.local_sizes_by_rank().unwrap_or([[1, 1, 1]; 3]);
        let by_rank = match rank {
            0 | 1 => line,
            2 => plane,
            _ => space,
        };
        self.options.local_size.unwrap_or(by_rank)
    }

    /// Those for domains of one, two and three axes; `None` where they are the same for all.
    pub fn local_sizes_by_rank(&self) -> Option<[[u32; 3]; 3]> {
        // With workgroups of one invocation nothing diverges, so no barrier is refused for an unknown size.
        let is_fixed = self.options.local_size.is_some() || self.options.sized_later;
        let is_by_rank = self.options.form == Form::Kernel && !is_fixed;
        is_by_rank.then_some([[256, 1, 1], [16, 16, 1], [8, 8, 4]])
    }

    /// Whether the definition has mistakes, so that the kernel cannot be compiled.
    pub fn has_mistakes(&self) -> bool {
        self.warnings.has_errors()
    }

    pub fn name(&self) -> &Name {
        &self.def.name.name
    }

    /// The free names of a function that the kernel calls: computed once.
    pub(crate) fn free_names(
        &self,
        def: &Arc<FunctionDef>,
        compute: impl FnOnce() -> Rc<[(Name, Span)]>,
    ) -> Rc<[(Name, Span)]> {
        let mut free = self.free.borrow_mut();
        if let Some((_, names)) = free.iter().find(|(known, _)| Arc::ptr_eq(known, def)) {
            return Rc::clone(names);
        }
        let names = compute();
        free.push((Arc::clone(def), Rc::clone(&names)));
        names
    }
}
