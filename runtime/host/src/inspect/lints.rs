//! Lints for the ordinary code of a script: names without a binding, and modules and members that do not
//! exist.
//!
//! A tree goes in; warnings come out, because only a run determines whether control reaches a place. A name
//! counts as bound wherever the file binds it. Not covered are kernels, which are type-checked, and the body
//! of a `try`.

use std::collections::{HashMap, HashSet};

use kps_kernel::{EnvValue, KernelEnv};
use kps_syntax::ast::*;
use kps_syntax::{Diagnostics, Part, Source, Span};

use super::builtin::{self, is_builtin};
use super::decoration::is_kernel;
use super::names::StaticEnv;
use crate::{builtins, errors, modules};
use kps_syntax::suggest::{self, nearest};

pub(super) fn lint(module: &Module, env: &StaticEnv) -> Diagnostics {
    let mut bound = Bound::default();
    bound.block(&module.body);
    let mut linter = Linter {
        source: &module.source,
        env,
        bound,
        members: HashMap::new(),
        reported: HashSet::new(),
        depth: 0,
        found: Diagnostics::new(),
    };
    linter.block(&module.body);
    linter.found
}

/// How often the file binds each name, whatever the scope.
#[derive(Default)]
struct Bound {
    names: HashMap<Name, usize>,
    /// Names may be bound invisibly: `from module import *`, `globals()`.
    is_open: bool,
}

struct Linter<'s> {
    source: &'s Source,
    env: &'s StaticEnv,
    bound: Bound,
    /// The members of the modules looked up so far.
    members: HashMap<Name, Vec<Name>>,
    /// Names that nothing binds.
    reported: HashSet<Name>,
    /// The number of functions around the current place: their code may be meant for kernels.
    depth: usize,
    found: Diagnostics,
}

impl Bound {
    fn bind(&mut self, name: &Name) {
        *self.names.entry(name.clone()).or_default() += 1;
    }

    fn block(&mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            // This needs a name that is bound already.
            StmtKind::AugAssign { .. } => return stmt.each_expr(&mut |expr| self.expr(expr)),
            StmtKind::ImportFrom(ImportFrom { names: ImportedNames::Star(_), .. }) => self.is_open = true,
            StmtKind::Function(def) => {
                def.type_params.iter().for_each(|param| self.bind(&param.name.name));
                def.params.iter().for_each(|param| self.bind(&param.name.name));
                self.block(&def.body);
            }
            StmtKind::TypeAlias { type_params, .. } => {
                type_params.iter().for_each(|param| self.bind(&param.name.name));
            }
            StmtKind::Class(def) => {
                def.type_params.iter().for_each(|param| self.bind(&param.name.name));
                self.block(&def.body);
            }
            StmtKind::Error => self.is_open = true,
            _ => {}
        }
        stmt.each_part(&mut |part| self.part(part));
    }

    fn part(&mut self, part: Part) {
        match part {
            Part::Expr(expr) | Part::Place(expr) => self.expr(expr),
            // A function may bind a name by `global` that is bound nowhere else.
            Part::Name(name, _) => self.bind(name),
            Part::Block(body) => self.block(body),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Walrus { target, .. } => self.bind(&target.name),
            ExprKind::Lambda(lambda) => lambda.params.iter().for_each(|param| self.bind(&param.name.name)),
            ExprKind::ListComp { clauses, .. }
            | ExprKind::SetComp { clauses, .. }
            | ExprKind::Generator { clauses, .. }
            | ExprKind::DictComp { clauses, .. } => {
                clauses.iter().for_each(|clause| clause.target.each_target(&mut |part| self.part(part)));
            }
            ExprKind::Name(name) if &**name == "globals" => self.is_open = true,
            ExprKind::Error => self.is_open = true,
            _ => {}
        }
        expr.each_child(&mut |part| self.expr(part));
    }
}

impl Linter<'_> {
    fn block(&mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            // The script may handle a missing name there.
            StmtKind::Try(of) => return self.block(&of.finally),
            StmtKind::Import(imports) => imports.iter().for_each(|import| self.import(import)),
            StmtKind::ImportFrom(import) => self.import_from(import),
            StmtKind::Function(def) => {
                def.decorators.iter().for_each(|decorator| self.expr(decorator));
                def.params
                    .iter()
                    .filter_map(|param| param.default.as_ref())
                    .for_each(|value| self.expr(value));
                // PyShader declares its parameters by tuples.
                if !def.decorators.iter().any(is_kernel) {
                    self.depth += 1;
                    self.block(&def.body);
                    self.depth -= 1;
                }
            }
            StmtKind::Class(def) => {
                def.decorators.iter().for_each(|decorator| self.expr(decorator));
                def.arguments.iter().map(Argument::value).for_each(|base| self.expr(base));
                self.block(&def.body);
            }
            // Annotations are not evaluated.
            StmtKind::AnnAssign { target, value, .. } => {
                [target].into_iter().chain(value).for_each(|expr| self.expr(expr));
            }
            StmtKind::TypeAlias { .. } => {}
            _ => stmt.each_expr(&mut |expr| self.expr(expr)),
        }
        stmt.blocks().into_iter().for_each(|block| self.block(block));
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => self.name(name, expr.span),
            ExprKind::Attribute { value, attr } => {
                if let ExprKind::Name(module) = &value.kind {
                    self.attribute(module, attr);
                }
            }
            _ => {}
        }
        // Kernels may call lambdas, as they call functions.
        let is_lambda = matches!(expr.kind, ExprKind::Lambda(_));
        self.depth += usize::from(is_lambda);
        expr.each_child(&mut |part| self.expr(part));
        self.depth -= usize::from(is_lambda);
    }

    fn name(&mut self, name: &Name, span: Span) {
        let is_known = self.bound.names.contains_key(name) || builtins::names().any(|known| *known == **name);
        let is_for_kernels = kps_kernel::is_name(name);
        if is_known || self.bound.is_open || name.starts_with("__") || is_for_kernels && self.depth > 0 {
            return;
        }
        // Once is enough.
        if !self.reported.insert(name.clone()) {
            return;
        }
        let nearest = self.nearest(name);
        let of_name = || match (is_for_kernels, &nearest) {
            (true, _) if kps_kernel::stdlib().any(|(known, _)| *known == **name) => {
                format!("kernels have it; ordinary code writes `import math` and `math.{name}`")
            }
            (true, _) => "only kernels, and the functions that they call, have it".to_owned(),
            (false, Some(nearest)) => format!("did you mean `{nearest}`?"),
            (false, None) => "assign it before this, or import it".to_owned(),
        };
        let help = errors::absent(name).map_or_else(of_name, str::to_owned);
        self.found.push(errors::nothing_binds(self.source.at(span), name, help));
    }

    /// The name that is meant, of those that the file or the language has.
    fn nearest(&self, name: &str) -> Option<String> {
        if self.reported.len() > suggest::MOST {
            return None;
        }
        let own = self.bound.names.keys().map(|name| &**name);
        nearest(name, own.chain(builtins::names().map(|known| -> &str { known }))).map(str::to_owned)
    }

    fn import(&mut self, import: &ImportName) {
        let first = &import.path[0];
        if self.env.lacks_module(&first.name) {
            let nearest = nearest(&first.name, modules::names());
            self.found.push(errors::no_module(self.source.at(first.span), &first.name, nearest));
        }
    }

    fn import_from(&mut self, import: &ImportFrom) {
        let Some(first) = import.path.first().filter(|_| import.level == 0) else { return };
        if self.env.lacks_module(&first.name) {
            let nearest = nearest(&first.name, modules::names());
            return self.found.push(errors::no_module(self.source.at(first.span), &first.name, nearest));
        }
        if let ImportedNames::Names(names) = &import.names {
            let module = dotted(&import.path);
            names.iter().for_each(|of| self.member(&module, &of.path[0]));
        }
    }

    /// `math.squareroot`, if nothing else is called `math`.
    fn attribute(&mut self, name: &Name, attr: &Ident) {
        if self.bound.names.get(name) != Some(&1) {
            return;
        }
        if let Some(EnvValue::Module(module)) = self.env.get(name) {
            self.member(&module.name, attr);
        }
    }

    fn member(&mut self, module: &str, member: &Ident) {
        let name = &member.name;
        let submodule = format!("{module}.{name}");
        let is_submodule = is_builtin(&submodule) || kps_stdlib::source(&submodule).is_some();
        if !is_builtin(module) || is_submodule || name.starts_with("__") {
            return;
        }
        let members = self.members.entry(module.into()).or_insert_with(|| builtin::members_of(module));
        if !members.is_empty() && !members.contains(name) {
            let nearest = nearest(name, members.iter().map(|known| &**known));
            self.found.push(errors::no_member(self.source.at(member.span), module, name, nearest));
        }
    }
}
