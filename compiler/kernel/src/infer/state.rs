//! The state of inference: of the kernel, and of the function being inferred.
//!
//! Its parts are in the chapters that own them. A chapter with state has it in a file of its own, behind private fields
//! where it has invariants, and what inference does with it in the file `inference.rs` below: so no part imports a
//! chapter that uses the state.

use std::sync::Arc;

use kps_syntax::ast::{FunctionDef, Lambda, Name};
use kps_syntax::{Diagnostic, Diagnostics, Source, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::env::{HelperFunction, KernelEnv};
use crate::infer::assumptions::Assumptions;
use crate::infer::budget::Budget;
use crate::infer::calls::helpers::Functions;
use crate::infer::control::loops::LoopState;
use crate::infer::control::returns::Results;
use crate::infer::env_ref::EnvRef;
use crate::infer::expressions::operand::Facts;
use crate::infer::expressions::weak_types::WeakNumbers;
use crate::infer::interface::Interface;
use crate::infer::interface::outputs::Output;
use crate::infer::places::lists::Lists;
use crate::infer::places::selected_arrays::{ArraySets, FunctionChoices};
use crate::infer::places::vars::{Tests, Var, Variables};
use crate::infer::remarks::FunctionTypes;
use crate::infer::structs::MethodState;
use crate::ir::{Block, CarryId, Function, LocalId, Stmt};
use crate::launch::LaunchAssumptions;
use crate::matrices::CoopUse;
use crate::remark::Remark;
use crate::template::KernelTemplate;
use crate::types::Type;

/// About so many bytes of source text take a node.
const BYTES_OF_A_NODE: usize = 8;

/// The state of the inference of a kernel.
pub(crate) struct Ctx<'a> {
    pub(super) template: &'a KernelTemplate,
    pub(super) local_size: [u32; 3],
    pub(super) assumptions: LaunchAssumptions,
    /// The types of the rows of cooperative matrices.
    pub(super) coop_types: FxHashSet<Type>,
    pub(super) interface: Interface,
    pub(super) array_sets: ArraySets,
    pub(super) outputs: Vec<Output>,
    pub(super) functions: Functions,
    /// Methods that were checked, and whether they can be called.
    pub(super) checked_methods: FxHashMap<*const FunctionDef, bool>,
    /// Each lambda in the source, as a function definition.
    pub(super) lambdas: Vec<(Arc<Lambda>, Arc<FunctionDef>)>,
    /// The environment of the kernel itself.
    pub(super) kernel_env: &'a dyn KernelEnv,
    /// The functions of the script that the launch passes.
    pub(super) passed_functions: Vec<HelperFunction>,
    /// There is no launch. What only a launch knows has no value, and the mistakes that `check` reported are
    /// not repeated.
    pub(super) is_partial: bool,
    /// Of all active functions together.
    pub(super) nesting: u32,
    pub(super) budget: Budget,
    pub(super) warnings: Diagnostics,
    /// The table of types so far, if it is collected.
    pub(super) types: Option<Vec<FunctionTypes>>,
    /// The function being inferred.
    pub(super) f: FunctionState<'a>,
}

/// The state of the function being inferred.
#[derive(Clone)]
pub(crate) struct FunctionState<'a> {
    pub(super) source: Source,
    pub(super) env: EnvRef<'a>,
    /// The nesting at its call.
    pub(super) call_nesting: u32,
    pub(super) func: Function,
    /// One for each node.
    pub(super) facts: Vec<Facts>,
    /// The statements so far of the current block.
    pub(super) block: Block,
    /// Whether control reaches this point.
    pub(super) live: bool,
    /// Nothing is known of the rest, not even whether a launch compiles it.
    pub(super) stopped: bool,
    /// The last expression statement.
    pub(super) expr_stmt: Option<Span>,
    pub(super) vars: Variables,
    pub(super) choices: FunctionChoices,
    pub(super) tests: Tests,
    /// Locals for arrays of the workgroup, by their position in the source.
    pub(super) shared: FxHashMap<u32, LocalId>,
    pub(super) weak: WeakNumbers,
    /// Statements that paths execute at their ends, before their stores.
    pub(super) at_path_ends: Vec<(CarryId, Stmt)>,
    /// The definition in the script. `None` for a library function.
    pub(super) def: Option<Arc<FunctionDef>>,
    pub(super) lists: Lists,
    /// The uses of cooperative matrices.
    pub(super) coops: FxHashMap<LocalId, CoopUse>,
    pub(super) loops: Vec<LoopState>,
    pub(super) assumed: Assumptions,
    pub(super) results: Results,
    pub(super) is_kernel: bool,
    /// The state of `self` in a method.
    pub(super) method: Option<MethodState>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Conditions that are arrays or lists, which were reported.
    pub(super) array_conditions: Vec<Span>,
    pub(super) remarks: Vec<Remark>,
    /// Instances of functions that were called.
    pub(super) calls: Vec<usize>,
}

impl<'a> FunctionState<'a> {
    /// `captured` are the names in a nested function's scope that belong to enclosing functions.
    pub(super) fn new(
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
    pub(super) fn kernel(
        def: &Arc<FunctionDef>,
        source: &Source,
        env: &'a dyn KernelEnv,
    ) -> FunctionState<'a> {
        let mut state = FunctionState::new(def, source, EnvRef::Kernel(env), &[]);
        state.is_kernel = true;
        state
    }

    /// A state without names of its own.
    pub(super) fn bare(name: &str, source: &Source, env: EnvRef<'a>, span: Span) -> FunctionState<'a> {
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
            tests: Tests::default(),
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
