//! Checks kernels that a function creates, `def make(n): @kernel def k(..): ..; return k`, with the values of
//! a call.
//!
//! A script goes in; out come the kernels of each top-level call that gives its function some literal values.
//! The call is evaluated as far as these values determine it: through unconditional statements, and into the
//! branch of an `if` that they select. Calls inside of functions are not evaluated, for they depend on their
//! callers.

use std::sync::Arc;

use kps_kernel::EnvValue;
use kps_syntax::ast::*;
use kps_syntax::{Source, Span};

use super::StaticKernel;
use super::decoration::decoration;
use super::names::StaticEnv;
use super::values::{truth_of, value_of};

/// The kernels of the calls in a script, each with the call that creates it.
pub(super) fn made_kernels(module: &Module, env: &StaticEnv) -> Vec<StaticKernel> {
    let mut makers = Makers { source: &module.source, env, made: Vec::new() };
    module.body.iter().for_each(|stmt| makers.stmt(stmt));
    makers.made
}

struct Makers<'s> {
    source: &'s Source,
    env: &'s StaticEnv,
    made: Vec<StaticKernel>,
}

/// Whether control continues after a statement.
#[derive(PartialEq, Eq)]
enum Flow {
    On,
    /// It leaves, or may.
    Off,
}

impl Makers<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        // A statement under a condition may never run.
        if stmt.blocks().is_empty() {
            stmt.each_expr(&mut |expr| self.expr(expr));
        }
    }

    fn expr(&mut self, expr: &Expr) {
        let is_conditional = matches!(expr.kind, ExprKind::Bool { .. } | ExprKind::IfElse { .. });
        let is_later = matches!(
            expr.kind,
            ExprKind::Lambda(_)
                | ExprKind::ListComp { .. }
                | ExprKind::SetComp { .. }
                | ExprKind::DictComp { .. }
                | ExprKind::Generator { .. }
        );
        if is_conditional || is_later {
            return;
        }
        if let ExprKind::Call { func, args } = &expr.kind
            && let Some((def, env)) = self.env.function(func)
        {
            let given = given(&def, args, self.env);
            if given.iter().any(|(_, value)| !matches!(value, EnvValue::Unknown)) {
                self.called(&def.body, &env.of_call(&def, &given), expr.span);
            }
        }
        expr.each_child(&mut |part| self.expr(part));
    }

    /// The body of a function that is called.
    fn called(&mut self, body: &[Stmt], env: &StaticEnv, call: Span) -> Flow {
        for stmt in body {
            let flow = match &stmt.kind {
                StmtKind::Function(def) => {
                    self.define(def, env, call);
                    Flow::On
                }
                StmtKind::If { branches, orelse } => self.branch(branches, orelse, env, call),
                StmtKind::With { body, .. } => self.called(body, env, call),
                _ if leaves(stmt) => Flow::Off,
                _ => Flow::On,
            };
            if flow == Flow::Off {
                return Flow::Off;
            }
        }
        Flow::On
    }

    fn branch(&mut self, branches: &[Branch], orelse: &[Stmt], env: &StaticEnv, call: Span) -> Flow {
        for (at, branch) in branches.iter().enumerate() {
            match truth_of(&branch.test, &env.until(branch.span.start)) {
                Some(true) => return self.called(&branch.body, env, call),
                Some(false) => {}
                None => {
                    let mut rest = branches[at..].iter().flat_map(|branch| &branch.body).chain(orelse);
                    return if rest.any(leaves) { Flow::Off } else { Flow::On };
                }
            }
        }
        self.called(orelse, env, call)
    }

    fn define(&mut self, def: &Arc<FunctionDef>, env: &StaticEnv, call: Span) {
        let env = env.until(def.header.start);
        let mut decorators = def.decorators.iter();
        if let Some(decoration) = decorators.find_map(|expr| decoration(expr, env.source(), &env)) {
            let (def, source) = (Arc::clone(def), env.source().clone());
            let made_by = Some(self.source.at(call));
            let around = String::new();
            self.made.push(StaticKernel { def, decoration, source, env, around, made_by });
        }
    }
}

/// Whether a statement may return from its function.
fn leaves(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Return(_) | StmtKind::Raise { .. })
        || stmt.blocks().into_iter().flatten().any(leaves)
}

/// The arguments of a call by parameter: a value, or [`EnvValue::Unknown`].
fn given(def: &FunctionDef, args: &[Argument], env: &StaticEnv) -> Vec<(Name, EnvValue)> {
    let positional: Vec<&Param> = def.params.positional_only.iter().chain(&def.params.regular).collect();
    let defaults = def.params.iter().filter_map(|param| {
        let value = value_of(param.default.as_ref()?, env);
        Some((param.name.name.clone(), value))
    });
    let mut given: Vec<(Name, EnvValue)> = Vec::new();
    let mut is_spread = false;
    for (at, arg) in args.iter().enumerate() {
        match &arg.kind {
            ArgumentKind::Positional(value) if !is_spread => {
                given.extend(positional.get(at).map(|param| (param.name.name.clone(), value_of(value, env))));
            }
            ArgumentKind::Keyword(name, value) => given.push((name.name.clone(), value_of(value, env))),
            // The parameters of these arguments are only known at run time.
            _ => is_spread = true,
        }
    }
    if !is_spread {
        given.extend(defaults);
    }
    given
}
