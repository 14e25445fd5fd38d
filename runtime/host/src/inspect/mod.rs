//! What can be said of a script without running it, and without any device: its mistakes, its kernels.

mod decoration;
mod names;

use std::sync::Arc;

pub use crate::foreign::{compile_file as compile_shader, is_foreign as is_shader};
pub use crate::modules::kernels::target_of;
pub use crate::suggest::nearest;
pub use kps_kernel::{
    BindingPlace, Capability, ExplainedFunction, Explanation, IndexTest, Remark, RemarkKind, Target,
    assembly_of_line,
};
use kps_kernel::{KernelEnv, KernelModule, KernelTemplate, ParamKind, Signature, Verified, ir};
use kps_syntax::ast::*;
use kps_syntax::{Diagnostic, Diagnostics, Source, Span};

use crate::errors;
use decoration::{Decoration, decoration};
use names::StaticEnv;

/// Every mistake that can be found without running: in the syntax, in names, and in kernels, as far as
/// their parameters are annotated; and warnings about what is most likely a slip. In the order of the
/// source.
pub fn check(source: &Source) -> Diagnostics {
    let (mut module, mut diagnostics) = kps_syntax::parse(source);
    let is_broken = diagnostics.has_errors();
    // A mended statement is not what its author meant: nothing more is said about it.
    module.body.retain(|stmt| !diagnostics.iter().any(|found| lies_in(found, source, stmt.span)));
    let mut host = kps_bytecode::compile(&module).err().unwrap_or_default();
    for kernel in find_kernels(&module) {
        let found = kernel.check();
        if found.has_errors() {
            // As host code it may be wrong for the same reasons.
            host.0.retain(|mistake| !lies_in(mistake, source, kernel.def.span));
        }
        // Kernels may share functions, and their slips.
        let is_told = |mistake: &Diagnostic| {
            diagnostics
                .iter()
                .any(|known| known.code == mistake.code && known.location() == mistake.location())
        };
        // What a kernel does not know, a broken statement may define.
        let is_known = |mistake: &Diagnostic| !is_broken || mistake.code != "kernel/unknown-name";
        let new = found.into_iter().filter(|mistake| is_known(mistake) && !is_told(mistake));
        let new: Vec<Diagnostic> = new.collect();
        diagnostics.extend(new);
    }
    diagnostics.extend(host);
    diagnostics.in_order()
}

fn lies_in(found: &Diagnostic, source: &Source, span: Span) -> bool {
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
}

/// What became of a kernel that was compiled from its text alone.
pub enum Compiled<T> {
    Done(T),
    /// It needs what only running the script can tell; the reason, as a sentence.
    NeedsRun(String),
}

/// What a launch would pass, written as types: `f32, Array[f32], n=16`.
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
        false => Ok(find_kernels(&module)),
    }
}

impl StaticKernel {
    pub fn name(&self) -> &str {
        &self.def.name.name
    }

    /// What is wrong with the kernel, and what is most likely a slip.
    fn check(&self) -> Diagnostics {
        let template = match self.template() {
            Ok(template) => template,
            Err(found) => return found,
        };
        let compiled = self.with_signature(&template, None, &Target::portable(), kps_kernel::specialize);
        let mut found = template.warnings;
        found.extend(compiled.err().into_iter().flatten());
        found
    }

    /// Checks the kernel, and compiles it for every device where its annotations and `given` say all there is
    /// to know.
    pub fn compile(&self, given: Option<&GivenTypes>) -> Result<Compiled<KernelModule>, Diagnostics> {
        self.compile_for(&Target::portable(), given)
    }

    /// The same for what `target` says.
    pub fn compile_for(
        &self,
        target: &Target,
        given: Option<&GivenTypes>,
    ) -> Result<Compiled<KernelModule>, Diagnostics> {
        self.with_signature(&self.template()?, given, target, kps_kernel::specialize)
    }

    /// The same for any device, with what there is to say about its source; but for matrices, which are as `target`
    /// has them.
    pub fn explain(
        &self,
        given: Option<&GivenTypes>,
        target: &Target,
    ) -> Result<Compiled<Explanation>, Diagnostics> {
        let target = Target { matrices: target.matrices, ..Target::portable() };
        self.with_signature(&self.template()?, given, &target, kps_kernel::explain)
    }

    /// What `--args` would have to say, with `TYPE` and `NUMBER` for what is not known.
    pub fn wanted_args(&self) -> Vec<String> {
        let params = self.template().map(|template| template.params).unwrap_or_default();
        let defs = self.def.params.iter();
        let wanted = params.iter().zip(defs).filter_map(|(param, def)| match param.kind {
            ParamKind::Untyped => Some(format!("{}=TYPE", param.name.name)),
            ParamKind::Const(_) if def.default.is_none() => Some(format!("{}=NUMBER", param.name.name)),
            _ => None,
        });
        wanted.collect()
    }

    /// The words for a device that has what `target` says, and the typed form that they were made of.
    pub fn compile_typed(
        &self,
        target: &Target,
    ) -> Result<Compiled<(KernelModule, Verified<ir::Kernel>)>, Diagnostics> {
        self.with_signature(&self.template()?, None, target, |template, env, signature, target| {
            let module = kps_kernel::specialize(template, env, signature, target)?;
            Ok((module, kps_kernel::typed(template, env, signature, target)?))
        })
    }

    fn template(&self) -> Result<KernelTemplate, Diagnostics> {
        kps_kernel::check(&self.def, &self.source, &self.env, self.decoration.options)
    }

    /// Compiles a kernel, in one of the ways to do it.
    fn with_signature<T>(
        &self,
        template: &KernelTemplate,
        given: Option<&GivenTypes>,
        target: &Target,
        compile: impl FnOnce(&KernelTemplate, &dyn KernelEnv, &Signature, &Target) -> Result<T, Diagnostics>,
    ) -> Result<Compiled<T>, Diagnostics> {
        if self.decoration.has_unknown_size {
            return Ok(Compiled::NeedsRun("its `local_size` is known only when the script runs".to_owned()));
        }
        if let Some(name) = self.unknown_capture(template) {
            return Ok(Compiled::NeedsRun(format!("`{name}` is known only when the script runs")));
        }
        let signature = match given {
            Some(GivenTypes { source, args }) => Signature::given(template, &self.env, args, source)?,
            None => match Signature::declared(template, &self.env) {
                Some(signature) => signature,
                None => return Ok(Compiled::NeedsRun("not every parameter has an annotation".to_owned())),
            },
        };
        compile(template, &self.env, &signature, target).map(Compiled::Done)
    }

    fn unknown_capture(&self, template: &KernelTemplate) -> Option<Name> {
        template.unknown_captures(&self.env).into_iter().next()
    }
}

/// The assembly of a module, as the SPIR-V tools write it.
pub fn disassemble(words: &[u32]) -> String {
    kps_kernel::disassemble(words)
}

fn find_kernels(module: &Module) -> Vec<StaticKernel> {
    let env = StaticEnv::new(&module.source, &module.body, &[], None);
    let mut kernels = vec![];
    find_in_block(&module.source, &module.body, &env, &mut kernels);
    kernels
}

fn find_in_block(source: &Source, body: &[Stmt], env: &StaticEnv, kernels: &mut Vec<StaticKernel>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Function(def) => find_in_function(source, def, env, kernels),
            StmtKind::Class(class) => find_in_block(source, &class.body, env, kernels),
            StmtKind::If { branches, orelse } => {
                branches.iter().for_each(|branch| find_in_block(source, &branch.body, env, kernels));
                find_in_block(source, orelse, env, kernels);
            }
            StmtKind::For { body, orelse, .. } | StmtKind::While { body, orelse, .. } => {
                find_in_block(source, body, env, kernels);
                find_in_block(source, orelse, env, kernels);
            }
            StmtKind::With { body, .. } => find_in_block(source, body, env, kernels),
            StmtKind::Try(try_stmt) => {
                let handlers = try_stmt.handlers.iter().map(|handler| &handler.body);
                for block in [&try_stmt.body, &try_stmt.orelse, &try_stmt.finally].into_iter().chain(handlers)
                {
                    find_in_block(source, block, env, kernels);
                }
            }
            StmtKind::Match { cases, .. } => {
                cases.iter().for_each(|case| find_in_block(source, &case.body, env, kernels));
            }
            _ => {}
        }
    }
}

fn find_in_function(
    source: &Source,
    def: &Arc<FunctionDef>,
    env: &StaticEnv,
    kernels: &mut Vec<StaticKernel>,
) {
    match def.decorators.iter().find_map(|decorator| decoration(decorator, env)) {
        Some(decoration) => {
            kernels.push(StaticKernel {
                def: Arc::clone(def),
                decoration,
                source: source.clone(),
                env: env.clone(),
            });
        }
        None => {
            let params: Vec<Name> = def.params.iter().map(|param| Arc::clone(&param.name.name)).collect();
            let inner = StaticEnv::new(source, &def.body, &params, Some(env.clone()));
            find_in_block(source, &def.body, &inner, kernels);
        }
    }
}
