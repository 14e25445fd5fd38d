//! Inference of a whole kernel: its parameters, its body, and what the walks found.

use std::sync::Arc;

use kps_syntax::ast::FunctionDef;
use kps_syntax::{Diagnostic, Diagnostics, Location, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::env::KernelEnv;
use crate::errors;
use crate::index_range::IndexLimits;
use crate::infer::budget::Budget;
use crate::infer::calls::helpers::Functions;
use crate::infer::expressions::operand::Operand;
use crate::infer::interface::Interface;
use crate::infer::places::selected_arrays::ArraySets;
use crate::infer::remarks::{Collect, FunctionTypes};
use crate::infer::{Ctx, FunctionState, MAX_NESTING};
use crate::ir::{Conversions, Entry, Kernel, Stmt, ends_control};
use crate::launch::LaunchAssumptions;
use crate::push::PushLayout;
use crate::signature::{Form, Signature};
use crate::template::KernelTemplate;

pub(crate) fn infer(
    template: &KernelTemplate,
    env: &dyn KernelEnv,
    signature: &Signature,
    collect: Collect,
) -> Inferred {
    let mut ctx = Ctx::new(template, env, (signature.rank, signature.assumptions), collect);
    ctx.walk_kernel(signature);
    ctx.finish()
}

/// Infers a kernel without a launch, to find the mistakes that it has with any arguments. The parameters have their
/// declared types, or the types of `signature` if there is one.
pub(crate) fn infer_partial(
    template: &KernelTemplate,
    env: &dyn KernelEnv,
    signature: Option<&Signature>,
    collect: Collect,
) -> Inferred {
    let of_launch = |signature: &Signature| (signature.rank, signature.assumptions);
    let launch = signature.map_or((1, LaunchAssumptions::default()), of_launch);
    let mut ctx = Ctx::new(template, env, launch, collect);
    ctx.is_partial = true;
    for (param_idx, param) in template.params.iter().enumerate() {
        let given = signature.and_then(|signature| signature.params.get(param_idx).cloned());
        match given.or_else(|| param.kind.declared()) {
            Some(ty) => ctx.bind_declared(param_idx, param, &ty),
            None => ctx.assign_param(param, Operand::Error),
        }
    }
    ctx.walk_body(&template.def);
    ctx.resolve_textures();
    ctx.finish()
}

/// An inferred kernel and its diagnostics. If there are mistakes, the kernel is incomplete.
pub(crate) struct Inferred {
    pub kernel: Kernel,
    pub mistakes: Diagnostics,
    pub warnings: Diagnostics,
    /// The last walk reached the end of the source.
    pub is_whole: bool,
    /// The table of types, if the caller asked for it.
    pub types: Vec<FunctionTypes>,
}

impl<'a> Ctx<'a> {
    pub(super) fn new(
        template: &'a KernelTemplate,
        env: &'a dyn KernelEnv,
        (rank, assumptions): (u8, LaunchAssumptions),
        collect: Collect,
    ) -> Ctx<'a> {
        let def = &template.def;
        Ctx {
            template,
            local_size: template.local_size(rank),
            assumptions,
            coop_types: FxHashSet::default(),
            interface: Interface::default(),
            array_sets: ArraySets::default(),
            outputs: Vec::new(),
            functions: Functions::of_kernel(def, env, template.source.at(def.name.span)),
            checked_methods: FxHashMap::default(),
            lambdas: Vec::new(),
            kernel_env: env,
            passed_functions: Vec::new(),
            is_partial: false,
            nesting: 0,
            budget: Budget::default(),
            warnings: Diagnostics::new(),
            types: (collect == Collect::Types).then(Vec::new),
            f: FunctionState::kernel(def, &template.source, env),
        }
    }

    pub(super) fn at(&self, span: Span) -> Location {
        self.f.source.at(span)
    }

    /// Adds a warning. Code that is walked several times is reported once.
    pub(super) fn warn(&mut self, warning: Diagnostic) {
        let is_same =
            |known: &Diagnostic| (known.code, known.location()) == (warning.code, warning.location());
        if self.f.func.called_for.is_none() && !self.warnings.iter().any(is_same) {
            self.warnings.push(warning);
        }
    }

    pub(super) fn error(&mut self, diagnostic: Diagnostic) {
        self.f.diagnostics.push(diagnostic);
    }

    /// Runs `build` one level deeper. Beyond the limit, reports an error instead.
    pub(super) fn nested<R>(&mut self, span: Span, otherwise: R, build: impl FnOnce(&mut Self) -> R) -> R {
        if !self.spend(1, span) {
            return otherwise;
        }
        if self.nesting - self.f.call_nesting >= MAX_NESTING {
            self.error(errors::nested_too_deep(self.at(span), MAX_NESTING));
            return otherwise;
        }
        self.nesting += 1;
        let result = build(self);
        self.nesting -= 1;
        result
    }

    fn walk_kernel(&mut self, signature: &Signature) {
        self.bind_params(signature);
        self.walk_body(&self.template.def);
        self.resolve_textures();
    }

    fn walk_body(&mut self, def: &Arc<FunctionDef>) {
        self.walk_until_right(|ctx| {
            ctx.make_tables(def);
            ctx.block(&def.body);
            if ctx.f.live {
                ctx.store_outputs(None);
            }
            // If no `break` is reachable, code after the `else` of a loop looks reachable.
            if ctx.f.live || !ctx.f.block.last().is_some_and(ends_control) {
                ctx.f.block.push(Stmt::Return(None, def.span));
            }
        });
        self.finish_body();
    }

    /// Makes the current block the body of the function.
    pub(super) fn finish_body(&mut self) {
        let mut body = std::mem::take(&mut self.f.block);
        self.place_at_path_ends(&mut body);
        self.f.func.body = body;
        self.check_aliases();
    }

    fn finish(mut self) -> Inferred {
        let mistakes = self.all_diagnostics();
        let remarks = std::mem::take(&mut self.f.remarks);
        let of_kernel = (&self.f.func, &self.f.diagnostics[..]);
        let of_kernel = self.function_types(&self.template.def, of_kernel, remarks, None);
        self.keep_types(of_kernel, Some(self.functions.next_id()));
        let types = self.take_types();
        let mut functions = self.functions.into_complete();
        functions.push(self.f.func);
        let options = &self.template.options;
        let mut kernel = Kernel {
            stage: self.template.stage,
            local_size: self.local_size,
            has_domain: options.form == Form::Kernel,
            assumptions: self.assumptions,
            index_limits: IndexLimits::default(),
            whole_groups: false,
            precise: options.precise,
            subgroup_size: options.subgroup_size,
            entry: Entry::Kernel,
            conversions: Conversions::PLAIN,
            buffers: Vec::new(),
            shared: Vec::new(),
            scalars: Vec::new(),
            push: PushLayout::default(),
            textures: Vec::new(),
            samplers: Vec::new(),
            ports: Vec::new(),
            functions,
        };
        self.interface.give_to(&mut kernel);
        kernel.whole_groups = kernel.has_barrier();
        Inferred { kernel, mistakes, warnings: self.warnings, is_whole: self.budget.end.is_none(), types }
    }
}
