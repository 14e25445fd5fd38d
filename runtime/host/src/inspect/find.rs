//! Finds the kernels, structs and types of a script, wherever they are defined, each with its environment.

use std::sync::Arc;

use kps_kernel::{EnvValue, KernelEnv};
use kps_syntax::Source;
use kps_syntax::ast::*;

use super::declared::{StaticType, is_type};
use super::decoration::{decoration, is_struct};
use super::makers::made_kernels;
use super::names::StaticEnv;
use super::{StaticKernel, StaticStruct};

/// In the order of the script.
pub(super) struct Found {
    source: Source,
    pub kernels: Vec<StaticKernel>,
    pub structs: Vec<StaticStruct>,
    pub types: Vec<StaticType>,
    /// Those of functions that the script calls with values, once more for each call.
    pub made: Vec<StaticKernel>,
    /// The classes and functions around the current place.
    around: Vec<Name>,
}

impl Found {
    pub fn of(module: &Module) -> Found {
        let env = StaticEnv::of_script(module);
        let source = module.source.clone();
        let made = made_kernels(module, &env);
        let (kernels, structs, types) = (Vec::new(), Vec::new(), Vec::new());
        let mut found = Found { source, kernels, structs, types, made, around: Vec::new() };
        found.in_block(&module.body, &env);
        found
    }

    fn in_block(&mut self, body: &[Stmt], env: &StaticEnv) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Function(def) => self.in_function(def, env),
                StmtKind::Class(def) => {
                    if is_struct(def) || is_named_struct(def, env) {
                        let (def, source) = (Arc::clone(def), self.source.clone());
                        self.structs.push(StaticStruct { def, span: stmt.span, source, env: env.clone() });
                    }
                    self.inside(&def.name.name, &def.body, env);
                }
                StmtKind::Assign { value, .. } if is_type(value) => {
                    let (expr, source) = (value.clone(), self.source.clone());
                    self.types.push(StaticType { expr, source, env: env.clone() });
                }
                StmtKind::For { .. } | StmtKind::While { .. } => {
                    let env = env.until(stmt.span.end);
                    stmt.blocks().into_iter().for_each(|block| self.in_block(block, &env));
                }
                _ => stmt.blocks().into_iter().for_each(|block| self.in_block(block, env)),
            }
        }
    }

    fn inside(&mut self, name: &Name, body: &[Stmt], env: &StaticEnv) {
        self.around.push(name.clone());
        self.in_block(body, env);
        self.around.pop();
    }

    fn in_function(&mut self, def: &Arc<FunctionDef>, env: &StaticEnv) {
        let mut decorators = def.decorators.iter();
        match decorators.find_map(|decorator| decoration(decorator, &self.source, env)) {
            Some(decoration) => {
                let (def, source) = (Arc::clone(def), self.source.clone());
                let env = env.until(def.header.start);
                let around = self.around.join(".");
                self.kernels.push(StaticKernel { def, decoration, source, env, around, made_by: None });
            }
            None if defines(&def.body) => self.inside(&def.name.name, &def.body, &env.of_function(def)),
            None => {}
        }
    }
}

/// Whether a function's body may define one of them: only then are its bindings needed.
fn defines(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Function(_) | StmtKind::Class(_) => true,
        StmtKind::Assign { value, .. } => is_type(value),
        _ => stmt.blocks().into_iter().any(defines),
    })
}

/// `@struct` by another name: `from kp import struct as record`.
fn is_named_struct(class: &ClassDef, env: &StaticEnv) -> bool {
    let is_struct_decorator =
        |value: EnvValue| matches!(value, EnvValue::Builtin(name) if &*name == "struct");
    class.decorators.iter().any(|decorator| match &decorator.kind {
        ExprKind::Name(name) => env.get(name).is_some_and(is_struct_decorator),
        _ => false,
    })
}
