//! Static analysis of a script, without running it and without a device: its mistakes and its kernels.

mod arrays;
mod bindings;
mod broken;
mod builtin;
mod changes;
mod classes;
mod declared;
mod decoration;
mod enums;
mod find;
mod imports;
mod lints;
mod makers;
mod members;
mod names;
mod values;

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

pub use crate::foreign::{
    check_file as check_shader, compile_file as compile_shader, disassemble, entry_point, entry_points,
    is_foreign as is_shader, specialise as specialise_shader,
};
pub use kps_array::target::target_of;
pub use kps_kernel::{
    BindingPlace, Capability, ExplainedFunction, Explanation, IndexTest, KernelModule, KernelTypes,
    LiteralKind, Phase, Remark, RemarkKind, RemarkType, Stage, Target, assembly_of_line,
};
use kps_kernel::{KernelEnv, KernelTemplate, ParamKind, Signature, Verified, ir};
pub use kps_syntax::ErrorCode;
use kps_syntax::ast::*;
pub use kps_syntax::suggest::nearest;
use kps_syntax::{Diagnostic, Diagnostics, Location, Severity, Source, Span};

use crate::errors;
use broken::Broken;
use decoration::Decoration;
use find::Found;
pub(crate) use members::members;
use names::StaticEnv;

/// Every code that a diagnostic may have, with what it means and what to do. Exceptions of a script have the name of
/// their class instead.
pub fn error_codes() -> impl Iterator<Item = &'static ErrorCode> {
    let tables = [
        kps_syntax::ERROR_CODES,
        kps_bytecode::ERROR_CODES,
        kps_kernel::ERROR_CODES,
        kps_foreign::ERROR_CODES,
        errors::ERROR_CODES,
    ];
    tables.into_iter().flatten()
}

/// A type that a module of the library defines. The module is read, and not run.
pub(crate) fn library_type(module: &str, name: &str) -> Option<kps_kernel::Type> {
    let source = Source::new(format!("<{module}>"), kps_stdlib::source(module)?);
    let (module, _) = kps_syntax::parse(&source);
    match StaticEnv::of_script(&module).get(name)? {
        kps_kernel::EnvValue::Type(ty) => Some(ty),
        _ => None,
    }
}

/// Every mistake that can be found without running: in the syntax, in names, and in kernels, as far as their
/// parameters are annotated; and lint warnings. In the order of the source.
pub fn check(source: &Source) -> Diagnostics {
    let (mut module, mut diagnostics) = kps_syntax::parse(source);
    let is_broken = diagnostics.has_errors();
    let broken = Broken::take_out(&mut module, &diagnostics, source);
    let mut host = kps_bytecode::compile(&module).err().unwrap_or_default();
    host.0.retain(|mistake| !broken.is_of_a_part(mistake));
    let Found { kernels, structs, types, made, .. } = Found::of(&module);
    let of_types = types.iter().map(|of| (of.expr.span, of.check()));
    let of_structs = structs.iter().map(|of| (of.span, of.check()));
    let of_kernels = kernels.iter().chain(&made).map(|kernel| (kernel.def.span, kernel.check()));
    let mut reported = Reported::default();
    diagnostics.iter().for_each(|mistake| reported.insert(mistake));
    for (span, found) in of_types.chain(of_structs).chain(of_kernels) {
        if found.has_errors() {
            // As host code it may be wrong for the same reasons.
            host.0.retain(|mistake| !is_in(mistake, source, span));
        }
        let is_known = |mistake: &Diagnostic| {
            let is_warning = mistake.severity != Severity::Error && broken.is_of_a_part(mistake);
            !is_warning && !broken.may_explain(mistake) && mistake.code != kps_kernel::KNOWN_LATER
        };
        // Kernels may share functions, and their lint warnings.
        let is_new = |mistake: &Diagnostic| is_known(mistake) && !reported.contains(mistake);
        let new: Vec<Diagnostic> = found.into_iter().filter(is_new).collect();
        new.iter().for_each(|mistake| reported.insert(mistake));
        diagnostics.extend(new);
    }
    diagnostics.extend(host);
    // A broken statement may bind what the others need.
    if !is_broken {
        diagnostics.extend(lints::lint(&module, &StaticEnv::of_script(&module)));
    }
    diagnostics.in_order()
}

/// Values that are tried for `const` parameters: sizes of vectors, of tiles and of workgroups.
const SUPPOSED: [i128; 6] = [1, 2, 3, 4, 16, 64];

/// Mistakes by their codes and places.
#[derive(Default)]
struct Reported(HashMap<(&'static str, Span), Vec<Source>>);

impl Reported {
    fn insert(&mut self, mistake: &Diagnostic) {
        if let Some(Location { source, span }) = mistake.location() {
            self.0.entry((mistake.code, *span)).or_default().push(source.clone());
        }
    }

    fn contains(&self, mistake: &Diagnostic) -> bool {
        mistake.location().is_some_and(|Location { source, span }| {
            self.0.get(&(mistake.code, *span)).is_some_and(|sources| sources.contains(source))
        })
    }
}

fn is_same(a: &Diagnostic, b: &Diagnostic) -> bool {
    a.code == b.code && a.location() == b.location()
}

fn is_in(found: &Diagnostic, source: &Source, span: Span) -> bool {
    found
        .location()
        .is_some_and(|at| at.source == *source && span.start <= at.span.start && at.span.start <= span.end)
}

/// A kernel of a script that was only read.
pub struct StaticKernel {
    pub def: Arc<FunctionDef>,
    decoration: Decoration,
    source: Source,
    env: StaticEnv,
    /// The classes and functions that it is defined in, with dots between them.
    around: String,
    /// The call of the enclosing function that determines the captured values.
    made_by: Option<Location>,
}

/// A struct of such a script.
struct StaticStruct {
    def: Arc<ClassDef>,
    /// Of the definition, decorators included.
    span: Span,
    source: Source,
    env: StaticEnv,
}

impl StaticStruct {
    /// The errors of its members, whether or not a kernel uses them.
    fn check(&self) -> Diagnostics {
        let env: Rc<dyn KernelEnv> = Rc::new(self.env.clone());
        kps_kernel::read_struct(&self.def, &self.source, &env).err().unwrap_or_default()
    }
}

/// The result of compiling a kernel from its text alone.
pub enum Compiled<T> {
    Done(T),
    /// It needs facts that are only known at run time; the reason, as a sentence.
    NeedsRun(String),
    /// It needs the types of a launch's arguments; the reason, as a sentence.
    NeedsArgs(String),
}

/// The arguments of a launch, written as types: `f32, Array[f32], n=16`.
pub struct GivenTypes {
    source: Source,
    args: Vec<Argument>,
}

impl GivenTypes {
    /// Reads the text of the option `--args`.
    pub fn parse(text: &str) -> Result<GivenTypes, Diagnostics> {
        let source = Source::new("--args", format!("args({text})\n"));
        let (module, diagnostics) = kps_syntax::parse(&source);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        match &module.body[..] {
            [Stmt { kind: StmtKind::Expr(Expr { kind: ExprKind::Call { args, .. }, .. }), .. }] => {
                Ok(GivenTypes { args: args.clone(), source })
            }
            _ => Err(errors::given_types(source.at(Span::new(0, source.text().len() as u32 - 1))).into()),
        }
    }
}

/// The kernels of a script, in its order.
pub fn kernels(source: &Source) -> Result<Vec<StaticKernel>, Diagnostics> {
    let (module, diagnostics) = kps_syntax::parse(source);
    match diagnostics.has_errors() {
        true => Err(diagnostics),
        false => Ok(Found::of(&module).kernels),
    }
}

impl StaticKernel {
    pub fn name(&self) -> &str {
        &self.def.name.name
    }

    /// The name with the classes and functions in front that it is defined in: `Class.kernel`.
    pub fn path(&self) -> String {
        match &*self.around {
            "" => self.name().to_owned(),
            around => format!("{around}.{}", self.name()),
        }
    }

    /// The errors and lint warnings of the kernel.
    fn check(&self) -> Diagnostics {
        let mut found = self.decoration.mistakes.clone();
        let template = match self.template() {
            Ok(template) => template,
            Err(mistakes) => {
                found.extend(mistakes);
                return found;
            }
        };
        let compiled = self.with_signature(&template, None, &Target::portable(), kps_kernel::specialize);
        found.extend(match compiled {
            Ok(Compiled::NeedsRun(_) | Compiled::NeedsArgs(_)) => self.mistakes_of_any(&template),
            Ok(Compiled::Done(module)) => module.warnings,
            Err(mistakes) => mistakes,
        });
        if let Some(call) = &self.made_by {
            let made = |mistake: Diagnostic| mistake.label(call.clone(), "made by this call");
            found = Diagnostics(found.into_iter().map(made).collect());
        }
        found.extend(template.warnings);
        found
    }

    /// The errors that are independent of a launch. If only `const` parameters are open, the errors of a few
    /// values.
    fn mistakes_of_any(&self, template: &KernelTemplate) -> Diagnostics {
        let is_open = |kind: &ParamKind| matches!(kind, ParamKind::Untyped);
        if self.needs_run(template).is_some() || template.params.iter().any(|param| is_open(&param.kind)) {
            return kps_kernel::mistakes_of_any(template, &self.env);
        }
        let supposed = |value: i128| {
            let signature = Signature::supposing(template, &self.env, value)?;
            kps_kernel::specialize(template, &self.env, &signature, &Target::portable()).err()
        };
        let mut values = SUPPOSED.into_iter();
        let first = values.next().and_then(supposed).unwrap_or_default();
        values.fold(first, |mut common, value| {
            let found = if common.is_empty() { None } else { supposed(value) };
            let found = found.unwrap_or_default();
            common.0.retain(|mistake| found.iter().any(|other| is_same(mistake, other)));
            common
        })
    }

    /// Checks the kernel, and compiles it for every device if its annotations and `given` determine all
    /// types.
    pub fn compile(&self, given: Option<&GivenTypes>) -> Result<Compiled<KernelModule>, Diagnostics> {
        self.compile_for(&Target::portable(), given)
    }

    /// The same for the device that `target` describes.
    pub fn compile_for(
        &self,
        target: &Target,
        given: Option<&GivenTypes>,
    ) -> Result<Compiled<KernelModule>, Diagnostics> {
        self.with_signature(&self.template()?, given, target, kps_kernel::specialize)
    }

    /// The same for any device, with remarks on its source. Only matrices depend on `target`.
    pub fn explain(
        &self,
        given: Option<&GivenTypes>,
        target: &Target,
    ) -> Result<Compiled<Explanation>, Diagnostics> {
        let target = Target { matrices: target.matrices, ..Target::portable() };
        self.with_signature(&self.template()?, given, &target, kps_kernel::explain)
    }

    /// The kernel after a phase of the compiler, as text.
    pub fn text_after(
        &self,
        phase: Phase,
        given: Option<&GivenTypes>,
        target: &Target,
    ) -> Result<Compiled<String>, Diagnostics> {
        self.with_signature(&self.template()?, given, target, |template, env, signature, target| {
            kps_kernel::text_after(phase, template, env, signature, target)
        })
    }

    /// The types in the kernel, with all its mistakes, as far as the text and `given` determine them; and whether they
    /// determine all.
    pub fn types(&self, given: Option<&GivenTypes>) -> Result<(KernelTypes, Compiled<()>), Diagnostics> {
        let template = self.read();
        let (signature, whole) = match self.signature(&template, given)? {
            Compiled::Done(signature) => (Some(signature), Compiled::Done(())),
            Compiled::NeedsRun(reason) => (self.given(&template, given)?, Compiled::NeedsRun(reason)),
            Compiled::NeedsArgs(reason) => (None, Compiled::NeedsArgs(reason)),
        };
        let mut types = kps_kernel::types_of(&template, &self.env, signature.as_ref());
        types.mistakes.extend(self.decoration.mistakes.clone());
        types.mistakes = types.mistakes.in_order();
        Ok((types, whole))
    }

    /// The value that `--args` needs, with `TYPE` and `NUMBER` for unknown parts.
    pub fn wanted_args(&self) -> Vec<String> {
        let params = self.read().params;
        let defs = self.def.params.iter();
        let wanted = params.iter().zip(defs).filter_map(|(param, def)| match param.kind {
            ParamKind::Untyped => Some(format!("{}=TYPE", param.name.name)),
            ParamKind::Const(_) if def.default.is_none() => Some(format!("{}=NUMBER", param.name.name)),
            _ => None,
        });
        wanted.collect()
    }

    /// The call that explains it in a script: with the arguments of a launch, if types are missing.
    pub fn explain_call(&self) -> String {
        let names: Vec<&str> = match self.wanted_args().is_empty() {
            true => Vec::new(),
            false => self.def.params.iter().map(|param| &*param.name.name).collect(),
        };
        format!("{}.explain({})", self.name(), names.join(", "))
    }

    /// The SPIR-V for the device that `target` describes, and the typed IR behind it.
    pub fn compile_typed(
        &self,
        target: &Target,
    ) -> Result<Compiled<(KernelModule, Verified<ir::Kernel>)>, Diagnostics> {
        self.with_signature(&self.template()?, None, target, |template, env, signature, target| {
            let module = kps_kernel::specialize(template, env, signature, target)?;
            Ok((module, kps_kernel::typed(template, env, signature, target)?))
        })
    }

    /// The template, which may have mistakes.
    fn read(&self) -> KernelTemplate {
        kps_kernel::read(&self.def, &self.source, &self.env, self.decoration.options)
    }

    fn template(&self) -> Result<KernelTemplate, Diagnostics> {
        kps_kernel::check(&self.def, &self.source, &self.env, self.decoration.options)
    }

    /// Compiles a kernel by one of the compiler's entry points.
    fn with_signature<T>(
        &self,
        template: &KernelTemplate,
        given: Option<&GivenTypes>,
        target: &Target,
        compile: impl FnOnce(&KernelTemplate, &dyn KernelEnv, &Signature, &Target) -> Result<T, Diagnostics>,
    ) -> Result<Compiled<T>, Diagnostics> {
        Ok(match self.signature(template, given)? {
            Compiled::Done(signature) => Compiled::Done(compile(template, &self.env, &signature, target)?),
            Compiled::NeedsRun(reason) => Compiled::NeedsRun(reason),
            Compiled::NeedsArgs(reason) => Compiled::NeedsArgs(reason),
        })
    }

    /// The signature that the text and `given` determine.
    fn signature(
        &self,
        template: &KernelTemplate,
        given: Option<&GivenTypes>,
    ) -> Result<Compiled<Signature>, Diagnostics> {
        let declared = given.is_none().then(|| Signature::declared(template, &self.env)).flatten();
        let reason = match &declared {
            Some(signature) => self.needs_run_for(signature.unknown_captures().next()),
            None => self.needs_run(template),
        };
        if let Some(reason) = reason {
            return Ok(Compiled::NeedsRun(reason));
        }
        Ok(match declared.map_or_else(|| self.given(template, given), |declared| Ok(Some(declared)))? {
            Some(signature) => Compiled::Done(signature),
            None => Compiled::NeedsArgs(lacking(template, &self.env).to_owned()),
        })
    }

    /// The signature for the types in `given`, if there are any.
    fn given(
        &self,
        template: &KernelTemplate,
        given: Option<&GivenTypes>,
    ) -> Result<Option<Signature>, Diagnostics> {
        let signature =
            |given: &GivenTypes| Signature::given(template, &self.env, &given.args, &given.source);
        given.map(signature).transpose()
    }

    /// Why no arguments would be enough to compile it.
    fn needs_run(&self, template: &KernelTemplate) -> Option<String> {
        self.needs_run_for(template.unknown_captures(&self.env).first())
    }

    /// The same, if this captured name is unknown.
    fn needs_run_for(&self, unknown: Option<&Name>) -> Option<String> {
        if let Some(option) = &self.decoration.unknown {
            return Some(format!("its `{option}` is known only when the script runs"));
        }
        unknown.map(|name| format!("`{name}` is known only when the script runs"))
    }
}

/// What the parameters' declarations leave open.
fn lacking(template: &KernelTemplate, env: &StaticEnv) -> &'static str {
    match template.undeclared(env).map(|param| &param.kind) {
        Some(ParamKind::Const(_)) => "not every `const` parameter has a default that is written out",
        _ => "not every parameter has an annotation",
    }
}
