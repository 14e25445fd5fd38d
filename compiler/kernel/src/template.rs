//! The template of a kernel, before its arguments are known: the checked definition, the declared parameters, and the
//! captured names.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::ast::{FunctionDef, Ident, Name};
use kps_syntax::{Diagnostics, Source, Span};
use rustc_hash::FxHashSet;

use crate::check::{declared_param, free_paths, is_constant};
use crate::env::{EnvValue, HelperFunction, KernelEnv};
use crate::signature::{ArrayParam, Capture, CaptureValue, Form, KernelOptions, ParamType};
use crate::stages::{Port, Stage};
use crate::textures::TextureType;
use crate::types::{Scalar, Type};

/// Made by [`crate::check`]; compiled by [`crate::specialize`].
#[derive(Debug)]
pub struct KernelTemplate {
    pub def: Arc<FunctionDef>,
    pub source: Source,
    pub options: KernelOptions,
    pub stage: Stage,
    pub params: Vec<Param>,
    /// Lint warnings of the kernel and of the functions that it calls.
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
    /// The first parameter whose declaration is too little for a signature: it has no type, or a constant without a
    /// value.
    pub fn undeclared(&self) -> Option<&Param> {
        let mut params = self.params.iter().enumerate();
        params.find(|(at, _)| declared_param(self, *at).is_none()).map(|(_, param)| param)
    }

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

    pub fn name(&self) -> &Name {
        &self.def.name.name
    }

    /// Every captured name with its value now, those of called functions and of the methods of these
    /// types included.
    pub(crate) fn captures<'t>(
        &self,
        env: &dyn KernelEnv,
        types: impl Iterator<Item = &'t Type>,
    ) -> Vec<Capture> {
        let mut captures = Vec::new();
        let mut seen = FxHashSet::from_iter([(Arc::as_ptr(&self.def), env.identity())]);
        // A list, not recursion: a chain of helpers may be of any length.
        let mut called: Vec<HelperFunction> = Vec::new();
        for ty in types {
            called.extend(ty.methods());
            capture_classes(ty, &mut captures);
        }
        self.capture_names(&self.def, env, &mut called, &mut captures);
        while let Some(function) = called.pop() {
            if seen.insert((Arc::as_ptr(&function.def), function.env.identity())) {
                self.capture_defaults(&function, &mut called, &mut captures);
                self.capture_names(&function.def, &*function.env, &mut called, &mut captures);
            }
        }
        captures
    }

    /// Whether the kernel, or a function that it may call, has operations of a whole workgroup or subgroup.
    pub(crate) fn is_collective(&self, env: &dyn KernelEnv) -> bool {
        let is_collective = |(name, _): &(Name, Span)| &**name == "barrier" || name.starts_with("coop_");
        let mut seen = FxHashSet::from_iter([Arc::as_ptr(&self.def)]);
        let (mut called, mut captures) = (Vec::new(), Vec::new());
        let mut is_there = self.free_paths(&self.def).iter().any(is_collective);
        self.capture_names(&self.def, env, &mut called, &mut captures);
        while let Some(function) = called.pop() {
            if seen.insert(Arc::as_ptr(&function.def)) {
                is_there |= self.free_paths(&function.def).iter().any(is_collective);
                self.capture_names(&function.def, &*function.env, &mut called, &mut captures);
            }
        }
        is_there
    }

    /// The captured names whose values are not known before the script runs.
    pub fn unknown_captures(&self, env: &dyn KernelEnv) -> Vec<Name> {
        let captures = self.captures(env, std::iter::empty()).into_iter();
        captures
            .filter(|capture| capture.value == CaptureValue::Unknown)
            .map(|capture| capture.path)
            .collect()
    }

    /// The defaults that were computed when the function was defined.
    fn capture_defaults(
        &self,
        function: &HelperFunction,
        called: &mut Vec<HelperFunction>,
        captures: &mut Vec<Capture>,
    ) {
        for param in function.def.params.iter() {
            let is_computed = param.default.as_ref().is_some_and(|default| !is_constant(default));
            let Some(value) = function.env.default_of(&param.name.name).filter(|_| is_computed) else {
                continue;
            };
            capture(Arc::clone(&param.name.name), value, called, captures);
        }
    }

    fn capture_names(
        &self,
        def: &Arc<FunctionDef>,
        env: &dyn KernelEnv,
        called: &mut Vec<HelperFunction>,
        captures: &mut Vec<Capture>,
    ) {
        for (path, _) in self.free_paths(def).iter() {
            // A name that the script does not define is built in, and never changes.
            let Some(value) = resolve(path, env) else { continue };
            capture(Arc::clone(path), value, called, captures);
        }
    }

    /// The names that the kernel, or a function that it calls, takes from outside, dotted, each with its first place.
    pub fn free_paths(&self, def: &Arc<FunctionDef>) -> Rc<[(Name, Span)]> {
        let mut free = self.free.borrow_mut();
        if let Some((_, paths)) = free.iter().find(|(known, _)| Arc::ptr_eq(known, def)) {
            return Rc::clone(paths);
        }
        let paths: Rc<[(Name, Span)]> = free_paths(def).into();
        free.push((Arc::clone(def), Rc::clone(&paths)));
        paths
    }
}

fn capture(path: Name, value: EnvValue, called: &mut Vec<HelperFunction>, captures: &mut Vec<Capture>) {
    functions_of(&value, called);
    types_of(&value, &mut |ty| capture_classes(ty, captures));
    captures.push(Capture { path, value: CaptureValue::of(value) });
}

/// The constants of the classes that a type leads to.
fn capture_classes(ty: &Type, captures: &mut Vec<Capture>) {
    let constants = ty.class_constants().into_iter();
    captures.extend(constants.map(|(path, value)| Capture { path, value: CaptureValue::of(value) }));
}

fn types_of(value: &EnvValue, found: &mut dyn FnMut(&Type)) {
    match value {
        EnvValue::Type(ty) | EnvValue::Numbers(ty, _) => found(ty),
        EnvValue::Tuple(items) | EnvValue::Named(_, items) | EnvValue::List(items) => {
            items.iter().for_each(|item| types_of(item, found));
        }
        _ => {}
    }
}

/// The functions that a captured value may lead to.
fn functions_of(value: &EnvValue, called: &mut Vec<HelperFunction>) {
    match value {
        EnvValue::Function(function) => called.push(function.clone()),
        EnvValue::Type(ty) | EnvValue::Numbers(ty, _) => called.extend(ty.methods()),
        EnvValue::Tuple(items) | EnvValue::Named(_, items) | EnvValue::List(items) => {
            items.iter().for_each(|item| functions_of(item, called));
        }
        _ => {}
    }
}

/// The value of a dotted path: `N`, `config.N`.
fn resolve(path: &str, env: &dyn KernelEnv) -> Option<EnvValue> {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    match env.get(name)? {
        EnvValue::Module(module) | EnvValue::Named(module, _) if !rest.is_empty() => {
            resolve(rest, &*module.members)
        }
        // A type has its constants with it.
        value => Some(value),
    }
}
