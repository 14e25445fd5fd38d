//! What can be said of a script without running it, and without any device: its mistakes, its kernels.

mod names;

use std::sync::Arc;

pub use crate::foreign::{compile_file as compile_shader, is_foreign as is_shader};
pub use kps_kernel::Target;
use kps_kernel::{KernelEnv, KernelModule, KernelOptions, KernelTemplate, Signature};
use kps_syntax::ast::*;
use kps_syntax::{Diagnostic, Diagnostics, Source};
use num_traits::ToPrimitive;

use names::StaticEnv;

/// Every mistake that can be found without running: in the syntax, in names, and in kernels, as far as
/// their parameters are annotated; and warnings about what is most likely a slip.
pub fn check(source: &Source) -> Diagnostics {
    let (module, mut diagnostics) = kps_syntax::parse(source);
    if diagnostics.has_errors() {
        return diagnostics;
    }
    if let Err(found) = kps_bytecode::compile(&module) {
        diagnostics.extend(found);
    }
    for kernel in find_kernels(&module) {
        match kernel.template() {
            Ok(template) => {
                let compiled = kernel.compile_template(&template, &Target::portable());
                // Kernels may share functions, and their slips.
                let is_new = |warning: &Diagnostic| {
                    let at = |found: &Diagnostic| found.location().map(|at| (at.source.clone(), at.span));
                    !diagnostics.iter().any(|known| at(known) == at(warning))
                };
                let warnings: Vec<Diagnostic> = template.warnings.into_iter().filter(is_new).collect();
                diagnostics.extend(warnings);
                diagnostics.extend(compiled.err().into_iter().flatten());
            }
            Err(found) => diagnostics.extend(found),
        }
    }
    diagnostics
}

/// A kernel of a script that was only read.
pub struct StaticKernel {
    pub def: Arc<FunctionDef>,
    options: KernelOptions,
    source: Source,
    env: StaticEnv,
}

/// What became of a kernel that was compiled from its text alone.
pub enum Compiled {
    Module(Box<KernelModule>),
    /// It needs what only running the script can tell; the reason, as a sentence.
    NeedsRun(String),
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

    /// Checks the kernel, and compiles it where its annotations say all there is to know.
    pub fn compile(&self, target: &Target) -> Result<Compiled, Diagnostics> {
        self.compile_template(&self.template()?, target)
    }

    fn template(&self) -> Result<KernelTemplate, Diagnostics> {
        kps_kernel::check(&self.def, &self.source, &self.env, self.options)
    }

    fn compile_template(&self, template: &KernelTemplate, target: &Target) -> Result<Compiled, Diagnostics> {
        if let Some(name) = self.unknown_capture(template) {
            return Ok(Compiled::NeedsRun(format!("`{name}` is known only when the script runs")));
        }
        let Some(signature) = Signature::declared(template, &self.env) else {
            return Ok(Compiled::NeedsRun("not every parameter has an annotation".to_owned()));
        };
        let module = kps_kernel::specialize(template, &self.env, &signature, target)?;
        Ok(Compiled::Module(Box::new(module)))
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
    match def.decorators.iter().find_map(|decorator| kernel_options(decorator, env)) {
        Some(options) => {
            kernels.push(StaticKernel {
                def: Arc::clone(def),
                options,
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

/// What `@kernel`, `@kernel(..)`, `@kp.kernel` or `@python2shader` says; `None` for other decorators.
fn kernel_options(decorator: &Expr, env: &StaticEnv) -> Option<KernelOptions> {
    match &decorator.kind {
        ExprKind::Call { func, args } => {
            let mut options = kernel_options(func, env)?;
            args.iter().for_each(|argument| set_option(&mut options, argument));
            Some(options)
        }
        ExprKind::Attribute { attr, .. } => by_name(&attr.name),
        ExprKind::Name(name) => match env.get(name) {
            // A function of the user's own by that name hides ours.
            Some(kps_kernel::EnvValue::Function(_)) => None,
            _ => by_name(name),
        },
        _ => None,
    }
}

fn by_name(name: &str) -> Option<KernelOptions> {
    match name {
        "kernel" => Some(KernelOptions::kernel()),
        "python2shader" => Some(KernelOptions::python2shader()),
        _ => None,
    }
}

/// What is wrong in an option is told when the script runs.
fn set_option(options: &mut KernelOptions, argument: &Argument) {
    let ArgumentKind::Keyword(name, value) = &argument.kind else { return };
    match (&*name.name, &value.kind) {
        ("precise", ExprKind::True) => options.precise = true,
        ("local_size", ExprKind::Tuple(sizes)) => {
            let mut local_size = [1; 3];
            for (axis, size) in sizes.iter().take(3).enumerate() {
                local_size[axis] = int(size).unwrap_or(1);
            }
            options.local_size = Some(local_size);
        }
        ("local_size", _) => options.local_size = int(value).map(|size| [size, 1, 1]),
        _ => {}
    }
}

fn int(expr: &Expr) -> Option<u32> {
    match &expr.kind {
        ExprKind::Int(value) => value.to_u32(),
        _ => None,
    }
}
