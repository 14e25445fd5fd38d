//! Resolution: what the names and declarations of a kernel mean, as far as no argument types are needed.
//!
//! In goes a decorated function with its environment; out comes a [`KernelTemplate`] with the kinds of its parameters,
//! and all mistakes that the text alone shows: unknown names, syntax that kernels do not have, declarations. The
//! functions that a kernel calls are resolved with it. Types of expressions are never here.

mod annotations;
mod below;
mod captured;
mod captures;
mod cycles;
mod defaults;
mod depths;
mod formatted;
mod free;
mod given;
mod lints;
mod literals;
mod params;
mod ports;
mod structs;
mod types;
mod unsupported;
mod walk;

use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::ast::FunctionDef;
use kps_syntax::{Diagnostics, Source};

use crate::env::{HelperFunction, KernelEnv};
use crate::errors;
use crate::signature::{Form, KernelOptions};
use crate::stages::Stage;
use crate::template::{KernelTemplate, Param, ParamKind};

pub(crate) use depths::reading_depths;
pub(crate) use free::{captured_names, mentions, passed_members, receivers, receivers_in};
pub(crate) use lints::{has_break, has_exit, is_test_with_text};
pub(crate) use literals::assigned_literals;
pub(crate) use params::is_constant;
pub(crate) use structs::read_struct;
pub(crate) use types::{NO_INTS, TypeReader, int_literal, type_of_text};
pub(crate) use walk::float_of_text;

/// The template has the mistakes among its warnings.
pub(crate) fn resolve(
    def: &Arc<FunctionDef>,
    source: &Source,
    env: &dyn KernelEnv,
    options: KernelOptions,
) -> KernelTemplate {
    let mut diagnostics = Diagnostics::new();
    check_options(def, source, &options, &mut diagnostics);
    let stage = stage_of(def, source, options.form, &mut diagnostics);
    let params = params::kernel_params(def, source, env, (options.form, stage), &mut diagnostics);
    if stage == Stage::Vertex {
        diagnostics.extend(ports::missing_position(def, source, &params));
    }
    check_bodies(def, source, env, &mut diagnostics);
    diagnostics.extend(lints::rebound(def, &arrays(&params), source));
    KernelTemplate::new(def, source, (options, stage), params, diagnostics)
}

/// Checks one function. A method is checked at its first call from a kernel: lookup of methods needs types, and methods
/// that only the host calls may use anything.
pub(crate) fn check_method(function: &HelperFunction) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let HelperFunction { def, source, env } = function;
    params::helper_params(def, source, &**env, &mut diagnostics);
    check_bodies(def, source, &**env, &mut diagnostics);
    diagnostics
}

/// The body of a function and of every function that it is seen to call.
fn check_bodies(def: &Arc<FunctionDef>, source: &Source, env: &dyn KernelEnv, diagnostics: &mut Diagnostics) {
    let mut unknown = walk::Unknown::after(diagnostics);
    let mut calls = walk::check_function(def, source, env, diagnostics, &mut unknown);
    let mut graph = cycles::CallGraph::default();
    graph.add(def, env.identity(), &calls);
    while let Some(call) = calls.pop() {
        if env.is_cancelled() {
            return diagnostics.push(errors::cancelled(call.location));
        }
        let function = call.callee;
        if graph.contains(&function) {
            continue;
        }
        let further_env: Rc<dyn KernelEnv> = Rc::clone(&function.env);
        // The script cannot repair a mistake in the host's library.
        if let (None, Some(module)) = (env.library(), further_env.library())
            && check_method(&function).has_errors()
        {
            diagnostics.push(errors::of_the_host(call.location, &module));
            continue;
        }
        params::helper_params(&function.def, &function.source, &*further_env, diagnostics);
        let HelperFunction { def, source, .. } = &function;
        let further = walk::check_function(def, source, &*further_env, diagnostics, &mut unknown);
        graph.add(&function.def, function.env.identity(), &further);
        calls.extend(further);
    }
    diagnostics.extend(graph.find_cycle());
}

fn check_options(def: &FunctionDef, source: &Source, options: &KernelOptions, diagnostics: &mut Diagnostics) {
    if let Some(local_size) = options.local_size
        && local_size.contains(&0)
    {
        diagnostics.push(errors::zero_local_size(source.at(def.header), local_size));
    }
    if def.is_async {
        diagnostics.push(errors::async_kernel(source.at(def.header)));
    }
    if let Some(param) = def.type_params.first() {
        diagnostics.push(errors::not_yet(source.at(param.span), "type parameters"));
    }
}

/// The names of the parameters that are declared as arrays.
fn arrays(params: &[Param]) -> Vec<&str> {
    let is_array = |param: &&Param| matches!(param.kind, ParamKind::Array(_) | ParamKind::Buffer { .. });
    params.iter().filter(is_array).map(|param| &*param.name.name).collect()
}

/// PyShader's functions say their stage by their name; every other kernel computes.
fn stage_of(def: &FunctionDef, source: &Source, form: Form, diagnostics: &mut Diagnostics) -> Stage {
    if form == Form::Kernel {
        return Stage::Compute;
    }
    match Stage::named_in(&def.name.name)[..] {
        [] => Stage::Compute,
        [stage] => stage,
        [first, second, ..] => {
            let at = source.at(def.name.span);
            diagnostics.push(errors::ambiguous_stage(at, &def.name.name, first, second));
            first
        }
    }
}
