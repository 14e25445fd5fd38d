//! The inputs and the output of a compilation: [`Signature`], [`Target`] and [`KernelModule`].
//!
//! A module depends only on the source, the signature and the target, on every machine. A signature is a key: a host
//! caches modules by it.

use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::ast::{FunctionDef, Name};
use kps_syntax::{Diagnostics, Location};

pub use crate::capability::{Capability, CapabilityUse};
use crate::constant::Constant;
use crate::env::{EnvModule, EnvValue, HelperFunction, Holder, KernelEnv};
use crate::index_range::IndexLimits;
use crate::launch::LaunchAssumptions;
use crate::matrices::Matrices;
pub use crate::options::{Form, KernelOptions};
use crate::stages::Stage;
use crate::template::KernelTemplate;
pub use crate::template::ParamType;
use crate::type_expr::TypeExpr;
pub use crate::type_expr::{ArrayParam, Reach, Width};
use crate::types::Type;
use crate::workarounds::rows::Workarounds;

/// The features of a device that a module may use beyond Vulkan 1.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// `scalarBlockLayout`: an array of vec3 has stride 12 as NumPy packs it.
    pub scalar_layout: bool,
    /// `robustBufferAccess2`: the device itself reads 0 out of range and drops such writes.
    pub robust_access: bool,
    /// 32-bit float controls: signed zeros, infinities and NaNs kept, rounding to even.
    pub float_controls: bool,
    /// For faults of the driver.
    pub workarounds: Workarounds,
    /// Atomic sums of f32 and of f64, in buffers and in shared memory. Elsewhere they compare and
    /// exchange until it fits.
    pub f32_atomic_add: bool,
    pub f64_atomic_add: bool,
    /// The products of cooperative matrices that the device supports. The others are emulated.
    pub matrices: Matrices,
    /// The invocation, by its global id, whose assignments are recorded one by one.
    pub trace: Option<[u32; 3]>,
    /// The device checks what the kernel does. The module reports each index, divisor and so on as the source has
    /// it; the device tests indices by itself.
    pub checks: bool,
    /// The module also reports the results of sums, products and functions.
    pub checks_results: bool,
    /// The module has debug information: the source's text, types, functions and variables.
    pub debug_info: bool,
}

impl Target {
    /// Runs on every device.
    pub const fn portable() -> Target {
        Target {
            scalar_layout: false,
            robust_access: false,
            float_controls: false,
            workarounds: Workarounds::NONE,
            f32_atomic_add: false,
            f64_atomic_add: false,
            matrices: Matrices::NONE,
            trace: None,
            checks: false,
            checks_results: false,
            debug_info: false,
        }
    }
}

impl Default for Target {
    fn default() -> Target {
        Target::portable()
    }
}

/// One specialisation of a kernel: equal signatures compile to equal modules.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    /// One for each parameter of the kernel, in order.
    pub params: Vec<ParamType>,
    /// Axes of the domain, 1 to 3: they choose the local size if the kernel has none.
    pub rank: u8,
    /// What the launches of the module promise.
    pub assumptions: LaunchAssumptions,
    captures: Vec<Capture>,
}

impl Signature {
    /// The captured names whose values are not known before the script runs.
    pub fn unknown_captures(&self) -> impl Iterator<Item = &Name> {
        let unknown = self.captures.iter().filter(|capture| capture.value == CaptureValue::Unknown);
        unknown.map(|capture| &capture.path)
    }

    /// The signature for these parameters and the current captures from `env`.
    pub fn new(template: &KernelTemplate, env: &dyn KernelEnv, params: Vec<ParamType>) -> Signature {
        let types = params.iter().filter_map(|param| match param {
            ParamType::Array(array) => Some(&array.element),
            ParamType::Scalar(ty) => Some(ty),
            // A function has its captures with it.
            ParamType::Const(_)
            | ParamType::Texture(_)
            | ParamType::Sampler
            | ParamType::Function(_)
            | ParamType::Input => None,
        });
        let captures = template.captures(env, types);
        Signature { params, rank: 1, assumptions: LaunchAssumptions::default(), captures }
    }

    /// For a domain of `rank` axes.
    pub fn with_rank(self, rank: u8) -> Signature {
        Signature { rank, ..self }
    }

    pub fn with_assumptions(self, assumptions: LaunchAssumptions) -> Signature {
        Signature { assumptions, ..self }
    }

    /// An equal signature that does not keep the functions of the script alive, for a cache.
    pub fn to_key(&self) -> Signature {
        let params = self.params.iter().map(|param| match param {
            ParamType::Function(function) => ParamType::Function(function.to_key()),
            param => param.clone(),
        });
        Signature { params: params.collect(), captures: self.captures.clone(), ..*self }
    }

    /// The functions of the script among the parameters.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &HelperFunction> {
        self.params.iter().filter_map(|param| match param {
            ParamType::Function(function) => match function.function()? {
                EnvValue::Function(function) => Some(function),
                _ => None,
            },
            _ => None,
        })
    }

    /// Whether an array has several axes, so that flat indices may overflow.
    pub fn has_arrays_of_several_axes(&self) -> bool {
        self.params.iter().any(|ty| matches!(ty, ParamType::Array(array) if array.rank > 1))
    }
}

/// The captured names of a kernel with their values at one time.
#[derive(Debug, PartialEq, Eq)]
pub struct Captures(Vec<Capture>);

impl KernelTemplate {
    /// The captures of a launch whose parameters have no structs.
    pub fn captures_now(&self, env: &dyn KernelEnv) -> Captures {
        Captures(self.captures(env, std::iter::empty()))
    }
}

/// A captured name with its value, as part of a signature.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Capture {
    pub path: Name,
    pub value: CaptureValue,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CaptureValue {
    Int(i128),
    /// The bits, so that -0.0 and 0.0 are two values.
    Float(u64),
    Bool(bool),
    Range([i128; 3]),
    Constant(Constant),
    Type(Type),
    Function(DefIdentity),
    /// A function that was found before, by its place among those that were found.
    Again(usize),
    Builtin(Name),
    Str(Name),
    Declared(TypeExpr),
    Items(Box<[CaptureValue]>),
    Numbers(Type, Rc<[Constant]>),
    Module(Name),
    /// A class or an object that is captured as a whole, with its members.
    Holder(Name, Vec<Capture>),
    Unknown,
    Other(String),
}

impl CaptureValue {
    pub(crate) fn of(value: EnvValue) -> CaptureValue {
        match value {
            EnvValue::Int(value) => CaptureValue::Int(value),
            EnvValue::Float(value) => CaptureValue::Float(value.to_bits()),
            EnvValue::Bool(value) => CaptureValue::Bool(value),
            EnvValue::Range(bounds) => CaptureValue::Range(bounds),
            EnvValue::Constant(constant) => CaptureValue::Constant(constant),
            EnvValue::Type(ty) => CaptureValue::Type(ty),
            EnvValue::Declared(declared) => CaptureValue::Declared(declared),
            EnvValue::Function(function) => CaptureValue::Function(DefIdentity(function.def)),
            EnvValue::Builtin(name) => CaptureValue::Builtin(name),
            EnvValue::Str(text) => CaptureValue::Str(text),
            EnvValue::Tuple(items) | EnvValue::Named(_, items) | EnvValue::List(items) => {
                CaptureValue::Items(items.iter().cloned().map(CaptureValue::of).collect())
            }
            EnvValue::Numbers(ty, numbers) => CaptureValue::Numbers(ty, numbers),
            EnvValue::Module(module) => CaptureValue::of_holder(module, MAX_CAPTURE_DEPTH),
            EnvValue::Unknown => CaptureValue::Unknown,
            EnvValue::Other { type_name } => CaptureValue::Other(type_name),
        }
    }
}

/// Objects within objects further in than this are known by their class alone.
const MAX_CAPTURE_DEPTH: u32 = 3;

impl CaptureValue {
    /// A module is known by its name: its members are captured one by one.
    fn of_holder(module: EnvModule, depth: u32) -> CaptureValue {
        if module.kind == Holder::Module || depth == 0 {
            return CaptureValue::Module(module.name);
        }
        let mut names = module.members.names();
        names.sort();
        let capture = |path: Name| {
            let value = match module.members.get(&path)? {
                EnvValue::Module(inner) => CaptureValue::of_holder(inner, depth - 1),
                value => CaptureValue::of(value),
            };
            Some(Capture { path, value })
        };
        CaptureValue::Holder(module.name.clone(), names.into_iter().filter_map(capture).collect())
    }
}

/// A function by which one it is: two with the same text are two. Holding it keeps its address.
#[derive(Clone, Debug)]
pub(crate) struct DefIdentity(pub Arc<FunctionDef>);

impl PartialEq for DefIdentity {
    fn eq(&self, other: &DefIdentity) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for DefIdentity {}

impl Hash for DefIdentity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

/// A compiled kernel.
#[derive(Clone, Debug)]
pub struct KernelModule {
    pub words: Vec<u32>,
    pub stage: Stage,
    pub local_size: [u32; 3],
    /// The module may read the domain from the push constant `kps.domain`.
    pub has_domain: bool,
    /// The module has barriers: the domain of a launch must be whole workgroups.
    pub whole_groups: bool,
    /// In the order of the kernel's parameters, inputs and constants left out.
    pub bindings: Vec<Binding>,
    /// Bytes of the push-constant block; 0 where there is none.
    pub push_constant_size: u32,
    /// Bytes of the uniform buffer; 0 where there is none.
    pub uniform_size: u32,
    /// The limits that a launch must meet, for [`IndexRange::Assumed`](crate::IndexRange::Assumed).
    pub index_limits: IndexLimits,
    /// The capabilities beyond the baseline, with the places that need them.
    pub capabilities: Vec<CapabilityUse>,
    /// The declarations of shared memory, in the order of the source, with their bytes.
    pub shared: Vec<(Location, u64)>,
    /// Lint warnings that need the types of a launch; the template has the others.
    pub warnings: Diagnostics,
}

impl KernelModule {
    /// The module as little-endian bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// The place of an argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The parameter's place in the kernel's list.
    pub param_idx: usize,
    pub name: Name,
    pub place: BindingPlace,
}

#[derive(Clone, Debug, PartialEq)]
pub enum BindingPlace {
    Buffer {
        set: u32,
        binding: u32,
        element: Type,
        reads: bool,
        writes: bool,
    },
    Texture {
        set: u32,
        binding: u32,
        reads: bool,
        writes: bool,
    },
    Sampler {
        set: u32,
        binding: u32,
    },
    /// In the push-constant block, with the type `Type::in_push_constants`; a bool is 0 or 1 there.
    PushConstant {
        offset: u32,
        ty: Type,
    },
    /// The same in the uniform buffer for parameters that do not fit the push constants: binding 0 of set 1.
    Uniform {
        offset: u32,
        ty: Type,
    },
}
