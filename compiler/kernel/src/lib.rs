//! The kernel compiler: the syntax tree of a kernel in, SPIR-V out.
//!
//! [`check`] finds the mistakes that need no argument types, and gives a [`KernelTemplate`].
//! [`specialize`] compiles a template for a [`Signature`], the types of one launch, and a [`Target`], the abilities of
//! a device. Its result is a [`KernelModule`]: SPIR-V words, and what a launch must bind.
//! [`explain`] returns remarks for each line: types, conversions, tested indices.
//!
//! ```text
//! FunctionDef --resolve, check--> KernelTemplate
//! KernelTemplate --specialize--> KernelModule
//!     infer        syntax tree -> typed IR         `ir` describes the IR
//!     passes       IR -> IR                        rewrites what the target lacks, adds what it reports
//!     verify       IR -> Verified<Kernel>          `verify.rs` lists the rules
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

mod analysis;
mod builtins;
mod check;
mod constant;
mod disassembly;
mod emit;
mod env;
mod errors;
mod explain;
mod foreign_names;
mod index_range;
mod infer;
pub mod intrinsics;
pub mod ir;
mod launch;
mod library;
mod matrices;
mod passes;
mod phases;
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
pub use explain::{ExplainedFunction, Explanation, assembly_of_line};
pub use index_range::{IndexLimits, IndexRange, LaunchSize};
pub use launch::{BoundaryTest, Dispatches, Ints, LaunchAssumptions, Memory};
pub use matrices::{CoopType, CoopUse, Matrices, Product};
pub use phases::Phase;
pub use remark::{IndexTest, Remark, RemarkKind, RemarkType};
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
    let mut inferred = infer::infer(template, env, signature, target);
    let warnings = std::mem::take(&mut inferred.warnings);
    let (kernel, _) = verified(inferred, template, target)?;
    ensure_not_cancelled(template, env)?;
    let kernel = workarounds::apply(kernel, target.workarounds)?;
    let mut module = emit::emit(&kernel, target);
    ensure_not_cancelled(template, env)?;
    module.warnings = warnings.in_order();
    Ok(module)
}

/// The mistakes of a kernel that do not depend on its parameters, its `const`s or the values of captured names.
pub fn mistakes_of_any(template: &KernelTemplate, env: &dyn KernelEnv) -> Diagnostics {
    let mut inferred = infer::infer_partial(template, env);
    run_passes(&mut inferred, template, &Target::portable());
    mistakes(inferred)
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
    let (kernel, _) = verified(infer::infer(template, env, signature, target), template, target)?;
    ensure_not_cancelled(template, env)?;
    Ok(kernel)
}

/// Between two passes: an error if the host has cancelled the compilation.
fn ensure_not_cancelled(template: &KernelTemplate, env: &dyn KernelEnv) -> Result<(), Diagnostics> {
    match env.is_cancelled() {
        true => Err(errors::cancelled(template.source.at(template.def.name.span)).into()),
        false => Ok(()),
    }
}

fn run_passes(
    inferred: &mut infer::Inferred,
    template: &KernelTemplate,
    target: &Target,
) -> Vec<passes::FunctionRemark> {
    let header = template.source.at(template.def.header);
    passes::run(&mut inferred.kernel, target, header, &mut inferred.mistakes)
}

/// Runs the passes on a inferred kernel and verifies it. Gives the remarks of the passes, too.
fn verified(
    mut inferred: infer::Inferred,
    template: &KernelTemplate,
    target: &Target,
) -> Result<(Verified<ir::Kernel>, Vec<passes::FunctionRemark>), Diagnostics> {
    let remarks = run_passes(&mut inferred, template, target);
    if !inferred.mistakes.is_empty() {
        return Err(mistakes(inferred));
    }
    let kernel = verify::verify(inferred.kernel)?;
    analysis::check(kernel.get())?;
    Ok((kernel, remarks))
}

/// The mistakes that inference and the passes found, and those that the analysis finds in the rest of the kernel.
fn mistakes(inferred: infer::Inferred) -> Diagnostics {
    let infer::Inferred { kernel, mut mistakes, is_whole, .. } = inferred;
    // The rest of a kernel with mistakes need not be well-formed.
    if is_whole
        && let Ok(kernel) = verify::verify(kernel)
        && let Err(found) = analysis::check(kernel.get())
    {
        mistakes.extend(found);
    }
    mistakes.in_order()
}
