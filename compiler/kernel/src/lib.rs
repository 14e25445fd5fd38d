//! The kernel compiler: the syntax tree of a kernel in, SPIR-V out.
//!
//! [`check`] finds the mistakes that need no argument types, and gives a [`KernelTemplate`].
//! [`specialize`] compiles a template for a [`Signature`], the types of one launch, and a [`Target`], the abilities of
//! a device. Its result is a [`KernelModule`]: SPIR-V words, and what a launch must bind.
//! [`explain`] returns remarks for each line: types, conversions, tested indices. [`types_of`] returns the types of a
//! kernel that may have mistakes.
//!
//! ```text
//! FunctionDef --resolve, check--> KernelTemplate
//! KernelTemplate --specialize--> KernelModule
//!     infer        syntax tree -> typed IR         `ir` describes the IR
//!     lower        IR -> IR of primitive operations
//!     passes       IR -> IR                        rewrites what the target lacks, adds what it reports
//!     verify       IR -> Verified<Kernel>          `verify/` lists the rules
//!     analysis     finds barriers in control flow that diverges
//!     workarounds  Verified<Kernel> -> the same    for faults of the target's driver
//!     emit         Verified<Kernel> -> words
//! ```
//!
//! ```
//! use kps_kernel::{ArrayParam, KernelOptions, MapEnv, ParamType, Scalar, Signature, Target, Type};
//! use kps_syntax::ast::StmtKind;
//! use kps_syntax::{Source, parse};
//!
//! let source = Source::new("double.kps", "def double(x: Array[f32]):\n    x[global_id.x] *= 2\n");
//! let (module, _) = parse(&source);
//! let StmtKind::Function(def) = &module.body[0].kind else { panic!("it is a function") };
//!
//! let env = MapEnv::new();
//! let template = kps_kernel::check(def, &source, &env, KernelOptions::kernel())?;
//! let x = ParamType::Array(ArrayParam::new(Type::Scalar(Scalar::F32), 1));
//! let signature = Signature::new(&template, &env, vec![x]);
//! let module = kps_kernel::specialize(&template, &env, &signature, &Target::portable())?;
//! assert_eq!(module.words[0], 0x0723_0203);
//! assert_eq!(module.bindings.len(), 1);
//! # Ok::<(), kps_syntax::Diagnostics>(())
//! ```
//!
//! A kernel reads names of the script through a [`KernelEnv`]. Nothing here reads a file, a clock or a device.

// Errors are rare and pass few functions: boxing them would not help.
#![allow(clippy::result_large_err)]

mod aliases;
mod analysis;
mod builtins;
mod capability;
mod check;
mod constant;
mod disassembly;
mod emit;
mod env;
mod errors;
mod explain;
mod foreign_names;
mod found;
mod function_param;
mod index_range;
mod infer;
pub mod intrinsics;
pub mod ir;
mod kernel_types;
mod launch;
mod library;
mod lower;
mod matrices;
mod options;
mod passes;
mod phases;
mod pipeline;
mod push;
mod remark;
mod resolve;
mod signature;
mod stack;
mod stages;
mod structs;
mod template;
mod textures;
mod type_expr;
mod types;
mod verify;
pub mod workarounds;

use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::ast::{ClassDef, Expr, FunctionDef};
use kps_syntax::{Diagnostics, Source};

pub use builtins::stdlib;
pub use constant::{Constant, Literal, LiteralKind};
pub use disassembly::disassemble;
pub use env::{EnvModule, EnvValue, HelperFunction, Holder, KernelEnv, MAX_PARTS, MAX_TABLE, MapEnv};
pub use errors::ERROR_CODES;
pub use explain::{Explanation, assembly_of_line};
pub use function_param::FunctionParam;
pub use index_range::{IndexLimits, IndexRange, LaunchSize};
pub use kernel_types::KernelTypes;
pub use launch::{BoundaryTest, Dispatches, Ints, LaunchAssumptions, Memory};
pub use matrices::{CoopType, CoopUse, Matrices, Product};
pub use phases::Phase;
pub use remark::{ExplainedFunction, IndexTest, Remark, RemarkKind, RemarkType};
pub use signature::{
    ArrayParam, Binding, BindingPlace, Capability, CapabilityUse, Captures, Form, KernelModule,
    KernelOptions, ParamType, Reach, Signature, Target, Width,
};
pub use stages::{Direction, Port, Slot, Stage, StageBuiltin};
pub use structs::{ClassConstants, MAX_STRUCT_BYTES, Member, Method, MethodKind, StructType};
pub use template::{Input, KernelTemplate, Param, ParamKind};
pub use textures::{TextureMistake, TextureType};
pub use type_expr::TypeExpr;
pub use types::{ArrayType, Kind, Scalar, Type};
pub use verify::Verified;
pub use workarounds::Workarounds;

/// The code of a diagnostic that is no mistake: the script must run before the kernel can be checked.
pub const KNOWN_LATER: &str = "kernel/known-later";

/// The code of the error after [`KernelEnv::is_cancelled`].
pub const CANCELLED: &str = "kernel/cancelled";

/// Checks a definition as far as no argument types are needed: declarations of parameters, unknown names, and
/// unsupported constructs.
pub fn check(
    def: &Arc<FunctionDef>,
    source: &Source,
    env: &dyn KernelEnv,
    options: KernelOptions,
) -> Result<KernelTemplate, Diagnostics> {
    pipeline::check(def, source, env, options)
}

/// The template of a definition that may have mistakes: they are among its warnings. [`types_of`] takes it as it is.
/// To compile it gives these mistakes.
pub fn read(
    def: &Arc<FunctionDef>,
    source: &Source,
    env: &dyn KernelEnv,
    options: KernelOptions,
) -> KernelTemplate {
    check::check(def, source, env, options)
}

/// The struct that a class decorated with `@struct` defines, without running it: a default is known
/// where it is written out.
pub fn read_struct(
    def: &ClassDef,
    source: &Source,
    env: &Rc<dyn KernelEnv>,
) -> Result<StructType, Diagnostics> {
    resolve::read_struct(def, source, env)
}

/// The type of an expression such as `Struct(a=f32)`, `vec3` or `Array[f32]`.
pub fn read_type(expr: &Expr, source: &Source, env: &dyn KernelEnv) -> Result<TypeExpr, Diagnostics> {
    resolve::TypeReader { source, env, ints: resolve::NO_INTS }.read(expr).map_err(Diagnostics::from)
}

/// The mistakes in such an expression; arrays of any length are allowed.
pub fn check_type(expr: &Expr, source: &Source, env: &dyn KernelEnv) -> Diagnostics {
    read_type(expr, source, env).err().unwrap_or_default()
}

/// The type of a value that a text such as `"vec3"` or `"Array(12, i16)"` names, case and spaces aside.
pub fn type_named(text: &str) -> Option<Type> {
    resolve::type_of_text(text)
}

/// The table of all built-in names, for completion, help and the reference pages.
pub mod names {
    pub use crate::builtins::{
        Constant, Function, Gives, Known, Name, Param, Row, Rows, SECTIONS, Section, Setup, constants,
        functions, help, member_names, names,
    };
}

/// Whether a name is built in: `global_id`, `f32`, `sin`.
pub fn is_name(name: &str) -> bool {
    name == "Array" || builtins::lookup(name).is_some()
}

/// Whether a name is an invocation's place or a size of the launch: `global_id`, `num_groups`.
pub fn is_place(name: &str) -> bool {
    matches!(builtins::lookup(name), Some(builtins::Builtin::Place(_)))
}

/// Compiles a kernel for one signature.
pub fn specialize(
    template: &KernelTemplate,
    env: &dyn KernelEnv,
    signature: &Signature,
    target: &Target,
) -> Result<KernelModule, Diagnostics> {
    pipeline::specialize(template, env, signature, target)
}

/// The mistakes of a kernel that do not depend on its parameters, its `const`s or the values of captured names.
pub fn mistakes_of_any(template: &KernelTemplate, env: &dyn KernelEnv) -> Diagnostics {
    pipeline::mistakes_of_any(template, env)
}

/// The types in a kernel, with its mistakes: what is known although it cannot be compiled. Without a signature the
/// parameters have their declared types, and others none.
///
/// ```
/// use kps_kernel::{KernelOptions, MapEnv, Signature};
/// use kps_syntax::ast::StmtKind;
/// use kps_syntax::{Source, parse};
///
/// let text = "def k(x: Array[f32], n):\n    v = vec2(x[0], 1)\n    x[0] = v.x + unknown\n";
/// let source = Source::new("k.kps", text);
/// let (module, _) = parse(&source);
/// let StmtKind::Function(def) = &module.body[0].kind else { panic!("it is a function") };
///
/// let env = MapEnv::new();
/// let template = kps_kernel::read(def, &source, &env, KernelOptions::kernel());
/// let types = kps_kernel::types_of(&template, &env, None);
/// let type_at = |code: &str| {
///     let at = text.find(code).expect("it is in the text") as u32;
///     types.type_at(&source, at).map(|(_, ty)| ty.to_string())
/// };
/// assert_eq!(type_at("v.x"), Some("vec2".to_owned()));
/// assert_eq!(type_at(".x"), Some("f32".to_owned()));
/// assert_eq!(type_at("n)"), None);
/// assert_eq!(types.mistakes.0[0].code, "kernel/unknown-name");
/// ```
pub fn types_of(
    template: &KernelTemplate,
    env: &dyn KernelEnv,
    signature: Option<&Signature>,
) -> KernelTypes {
    kernel_types::types_of(template, env, signature)
}

/// Compiles a kernel for one signature, with remarks on the source: types, conversions, tests and needed features.
pub fn explain(
    template: &KernelTemplate,
    env: &dyn KernelEnv,
    signature: &Signature,
    target: &Target,
) -> Result<Explanation, Diagnostics> {
    explain::explain(template, env, signature, target)
}

/// A kernel after one phase of the compiler, as text for a reader.
pub fn text_after(
    phase: Phase,
    template: &KernelTemplate,
    env: &dyn KernelEnv,
    signature: &Signature,
    target: &Target,
) -> Result<String, Diagnostics> {
    phases::text_after(phase, template, env, signature, target)
}

/// The typed form of a kernel for one signature, without workarounds for drivers: for tools that run it or look at it.
pub fn typed(
    template: &KernelTemplate,
    env: &dyn KernelEnv,
    signature: &Signature,
    target: &Target,
) -> Result<Verified<ir::Kernel>, Diagnostics> {
    pipeline::typed(template, env, signature, target)
}
