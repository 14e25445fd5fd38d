//! Inference: a checked kernel and a signature in, a typed kernel out (`ir`).
//!
//! Every expression and variable gets its type here, names their meaning, and literals and implicit conversions are
//! made explicit. What the typed kernel says is what the script means: later phases change how it is computed, never
//! its types. Inference walks a function in source order, and again when a type that later statements determine is
//! another one than was assumed (`assumptions.rs`). Every mistake is reported. Its result is `Operand::Error`, which
//! causes no further reports.
//!
//! It never asks what a device can do, and adds nothing that the script does not say.

mod access_paths;
mod accessors;
mod argument_passing;
mod arith;
mod assign;
mod assigning_tests;
mod assignments;
mod assumptions;
mod atomics;
mod bits;
mod budget;
mod builtin_calls;
mod calls;
mod cast;
mod closures;
mod compare;
mod composite_ops;
mod conditional_expr;
mod conditional_strings;
mod coop;
mod coop_math;
mod dunders;
mod expr;
mod fold;
mod format_spec;
mod gather_scatter;
mod helpers;
mod index;
mod invocation_ids;
mod joins;
mod library_calls;
mod library_functions;
mod library_math;
mod lists;
mod loop_fixpoint;
mod loop_guesses;
mod loops;
mod match_stmt;
mod math;
mod math_of_sequences;
mod matrix;
mod matrix_parts;
mod operand;
mod outputs;
mod params;
mod ranges;
mod record;
mod reference_phis;
mod remarks;
mod reports;
mod returns;
mod selected_arrays;
mod sequences;
mod shape;
mod shared;
mod stages;
mod stmts;
mod store_conversion;
mod structs;
mod subgroup;
mod targets;
mod textures;
mod tiles;
mod tuples;
mod typing_rules;
mod unknown_values;
mod vars;
mod weak_types;

use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::ast::{FunctionDef, Lambda, Name};
use kps_syntax::{Diagnostic, Diagnostics, Location, Source, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use self::assumptions::Assumptions;
use self::budget::Budget;
use self::helpers::Functions;
pub(crate) use self::library_functions::LibraryFunctions;
use self::lists::Lists;
use self::loops::LoopState;
use self::operand::Facts;
use self::operand::Operand;
use self::outputs::Output;
pub(crate) use self::remarks::{Collect, FunctionTypes};
use self::returns::Results;
use self::selected_arrays::{ArraySets, FunctionChoices};
pub(crate) use self::shape::ATTRIBUTES as ARRAY_ATTRIBUTES;
use self::textures::TextureUses;
use self::tiles::MatrixNumbers;
use self::vars::{Var, Variables};
use self::weak_types::WeakNumbers;
use crate::env::KernelEnv;
use crate::errors;
use crate::index_range::IndexLimits;
use crate::ir::{
    Block, Buffer, CarryId, Conversions, Entry, Function, Kernel, LocalId, Port, SamplerParam, ScalarParam,
    Shared, Stmt, Texture, ends_control,
};
use crate::launch::LaunchAssumptions;
use crate::matrices::CoopUse;
use crate::push::PushLayout;
use crate::remark::Remark;
use crate::signature::{Form, Signature};
use crate::template::KernelTemplate;
use crate::types::Type;

/// Expressions and blocks of one function may nest this deep. SPIR-V allows control flow to nest 1023 deep.
/// This limit keeps every pass within a small stack.
const MAX_NESTING: u32 = 200;
/// Calls may nest this deep, as in Python.
const MAX_CALLS: usize = 1000;
/// About so many bytes of source text take a node.
const BYTES_OF_A_NODE: usize = 8;

/// The elements of all local arrays of one literal. An instruction has 65535 words, of which three are its
/// header.
const MAX_ARRAY_LEN: u32 = 0xffff - 3;

pub(crate) fn infer(
    template: &KernelTemplate,
    env: &dyn KernelEnv,
    signature: &Signature,
    collect: Collect,
) -> Inferred {
    let mut ctx = Ctx::new(template, env, signature, collect);
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
    let bare = Signature::new(template, env, Vec::new());
    let mut ctx = Ctx::new(template, env, signature.unwrap_or(&bare), collect);
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

/// A inferred kernel and its diagnostics. If there are mistakes, the kernel is incomplete.
pub(crate) struct Inferred {
    pub kernel: Kernel,
    pub mistakes: Diagnostics,
    pub warnings: Diagnostics,
    /// The last walk reached the end of the source.
    pub is_whole: bool,
    /// The table of types, if the caller asked for it.
    pub types: Vec<FunctionTypes>,
}

/// The state of the inference of a kernel.
pub(crate) struct Ctx<'a> {
    template: &'a KernelTemplate,
    local_size: [u32; 3],
    assumptions: LaunchAssumptions,
    /// The kernel has operations on cooperative matrices.
    uses_matrices: bool,
    matrix_numbers: MatrixNumbers,
    /// The types of the rows of cooperative matrices.
    coop_types: FxHashSet<Type>,
    /// The buffers of the parameters.
    buffers: Vec<Buffer>,
    array_sets: ArraySets,
    scalars: Vec<ScalarParam>,
    shared: Vec<Shared>,
    textures: Vec<Texture>,
    /// One for each texture.
    texture_uses: Vec<TextureUses>,
    samplers: Vec<SamplerParam>,
    /// The inputs and outputs of a vertex or fragment function.
    ports: Vec<Port>,
    outputs: Vec<Output>,
    functions: Functions,
    /// Methods that were checked, and whether they can be called.
    checked_methods: FxHashMap<*const FunctionDef, bool>,
    /// Each lambda in the source, as a function definition.
    lambdas: Vec<(Arc<Lambda>, Arc<FunctionDef>)>,
    /// The environment of the kernel itself.
    kernel_env: &'a dyn KernelEnv,
    /// There is no launch. What only a launch knows has no value, and the mistakes that `check` reported are
    /// not repeated.
    is_partial: bool,
    /// Of all active functions together.
    nesting: u32,
    budget: Budget,
    warnings: Diagnostics,
    /// The table of types so far, if it is collected.
    types: Option<Vec<FunctionTypes>>,
    /// The function being inferred.
    f: FunctionState<'a>,
}

/// The environment of a function.
#[derive(Clone)]
pub(crate) enum EnvRef<'a> {
    Kernel(&'a dyn KernelEnv),
    Helper(Rc<dyn KernelEnv>),
}

impl EnvRef<'_> {
    pub fn get(&self) -> &dyn KernelEnv {
        match self {
            EnvRef::Kernel(env) => *env,
            EnvRef::Helper(env) => &**env,
        }
    }
}

/// The state of the function being inferred.
#[derive(Clone)]
pub(crate) struct FunctionState<'a> {
    source: Source,
    env: EnvRef<'a>,
    /// The nesting at its call.
    call_nesting: u32,
    func: Function,
    /// One for each node.
    facts: Vec<Facts>,
    /// The statements so far of the current block.
    block: Block,
    /// Whether control reaches this point.
    live: bool,
    /// Nothing is known of the rest, not even whether a launch compiles it.
    stopped: bool,
    /// The last expression statement.
    expr_stmt: Option<Span>,
    vars: Variables,
    choices: FunctionChoices,
    /// Locals for arrays of the workgroup, by their position in the source.
    shared: FxHashMap<u32, LocalId>,
    weak: WeakNumbers,
    /// Statements that paths execute at their ends, before their stores.
    at_path_ends: Vec<(CarryId, Stmt)>,
    /// The definition in the script. `None` for a library function.
    def: Option<Arc<FunctionDef>>,
    lists: Lists,
    /// The uses of cooperative matrices.
    coops: FxHashMap<LocalId, CoopUse>,
    loops: Vec<LoopState>,
    assumed: Assumptions,
    results: Results,
    is_kernel: bool,
    /// The state of `self` in a method.
    method: Option<structs::MethodState>,
    diagnostics: Vec<Diagnostic>,
    /// Conditions that are arrays or lists, which were reported.
    array_conditions: Vec<Span>,
    remarks: Vec<Remark>,
    /// Instances of functions that were called.
    calls: Vec<usize>,
}

impl<'a> FunctionState<'a> {
    /// `captured` are the names in a nested function's scope that belong to enclosing functions.
    fn new(
        def: &Arc<FunctionDef>,
        source: &Source,
        env: EnvRef<'a>,
        captured: &[(Name, Span)],
    ) -> FunctionState<'a> {
        let mut scope = def.scope();
        let n_own = scope.names().len() as Var;
        if !captured.is_empty() {
            let scope = Arc::make_mut(&mut scope);
            captured.iter().for_each(|(name, _)| scope.add(name));
        }
        let mut state = FunctionState::bare(&def.name.name, source, env, def.name.span);
        let n_nodes = def.span.range().len() / BYTES_OF_A_NODE;
        state.func.nodes.reserve(n_nodes);
        state.facts.reserve(n_nodes);
        state.block.reserve(n_nodes / 2);
        state.def = Some(Arc::clone(def));
        state.vars = Variables::of(scope, n_own);
        state
    }

    /// The state of the kernel itself.
    fn kernel(def: &Arc<FunctionDef>, source: &Source, env: &'a dyn KernelEnv) -> FunctionState<'a> {
        let mut state = FunctionState::new(def, source, EnvRef::Kernel(env), &[]);
        state.is_kernel = true;
        state
    }

    /// A state without names of its own.
    fn bare(name: &str, source: &Source, env: EnvRef<'a>, span: Span) -> FunctionState<'a> {
        FunctionState {
            source: source.clone(),
            env,
            call_nesting: 0,
            func: Function::new(name.into(), source.clone(), span),
            facts: Vec::new(),
            block: Vec::new(),
            live: true,
            stopped: false,
            expr_stmt: None,
            vars: Variables::default(),
            choices: FunctionChoices::default(),
            shared: FxHashMap::default(),
            weak: WeakNumbers::default(),
            at_path_ends: Vec::new(),
            def: None,
            lists: Lists::default(),
            coops: FxHashMap::default(),
            loops: Vec::new(),
            assumed: Assumptions::default(),
            results: Results::default(),
            is_kernel: false,
            method: None,
            diagnostics: Vec::new(),
            array_conditions: Vec::new(),
            remarks: Vec::new(),
            calls: Vec::new(),
        }
    }
}

impl<'a> Ctx<'a> {
    fn new(
        template: &'a KernelTemplate,
        env: &'a dyn KernelEnv,
        signature: &Signature,
        collect: Collect,
    ) -> Ctx<'a> {
        let def = &template.def;
        Ctx {
            template,
            local_size: template.local_size(signature.rank),
            assumptions: signature.assumptions,
            uses_matrices: false,
            matrix_numbers: MatrixNumbers::new(),
            coop_types: FxHashSet::default(),
            buffers: Vec::new(),
            array_sets: ArraySets::default(),
            scalars: Vec::new(),
            shared: Vec::new(),
            textures: Vec::new(),
            texture_uses: Vec::new(),
            samplers: Vec::new(),
            ports: Vec::new(),
            outputs: Vec::new(),
            functions: Functions::of_kernel(def, env, template.source.at(def.name.span)),
            checked_methods: FxHashMap::default(),
            lambdas: Vec::new(),
            kernel_env: env,
            is_partial: false,
            nesting: 0,
            budget: Budget::default(),
            warnings: Diagnostics::new(),
            types: (collect == Collect::Types).then(Vec::new),
            f: FunctionState::kernel(def, &template.source, env),
        }
    }

    fn at(&self, span: Span) -> Location {
        self.f.source.at(span)
    }

    /// Adds a warning. Code that is walked several times is reported once.
    fn warn(&mut self, warning: Diagnostic) {
        let is_same =
            |known: &Diagnostic| (known.code, known.location()) == (warning.code, warning.location());
        if self.f.func.called_for.is_none() && !self.warnings.iter().any(is_same) {
            self.warnings.push(warning);
        }
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        self.f.diagnostics.push(diagnostic);
    }

    /// Runs `build` one level deeper. Beyond the limit, reports an error instead.
    fn nested<R>(&mut self, span: Span, otherwise: R, build: impl FnOnce(&mut Self) -> R) -> R {
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
        self.write_numbers(self.template.def.name.span);
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
    fn finish_body(&mut self) {
        let mut body = std::mem::take(&mut self.f.block);
        self.place_at_path_ends(&mut body);
        self.f.func.body = body;
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
            uses_matrices: self.uses_matrices,
            entry: Entry::Kernel,
            conversions: Conversions::PLAIN,
            buffers: self.buffers,
            shared: self.shared,
            scalars: self.scalars,
            push: PushLayout::default(),
            textures: self.textures,
            samplers: self.samplers,
            ports: self.ports,
            functions,
        };
        kernel.whole_groups = kernel.has_barrier();
        Inferred { kernel, mistakes, warnings: self.warnings, is_whole: self.budget.end.is_none(), types }
    }
}
