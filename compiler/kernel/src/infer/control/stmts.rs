//! Statements: branches and the joins after them, `return`.

use kps_syntax::ast::{Branch, Expr, ExprKind, Name, Stmt, StmtKind};
use kps_syntax::scope::{Assigns, assigned_names};
use kps_syntax::{Diagnostic, Span};

use crate::constant::Constant;
use crate::errors;
use crate::infer::Ctx;
use crate::infer::expressions::operand::{Operand, Static};
use crate::infer::places::vars::{FlowPath, Missing};
use crate::ir::{self, Block, NodeId};
use crate::stages::Stage;
use crate::types::Type;

/// A condition: known now, or computed.
pub(crate) enum Condition {
    Known(bool),
    Node(NodeId),
    /// A mistake was reported. Both sides are inferred, to report their mistakes.
    Error,
    /// Only a launch knows, and may compile just one side.
    Unknown,
}

impl Ctx<'_> {
    /// Builds statements in order. Unreachable ones are skipped.
    pub fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            if !self.f.live || self.f.stopped || !self.spend(1, stmt.span) {
                return self.f.live = false;
            }
            self.stmt(stmt);
        }
    }

    /// A block of its own, filled by `fill`.
    pub fn sub_block<R>(&mut self, fill: impl FnOnce(&mut Self) -> R) -> (Block, R) {
        let outer = std::mem::take(&mut self.f.block);
        let result = fill(self);
        (std::mem::replace(&mut self.f.block, outer), result)
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Expr(Expr { kind: ExprKind::Str(_), .. }) | StmtKind::Pass | StmtKind::Error => {}
            StmtKind::Expr(expr) => {
                self.f.expr_stmt = Some(expr.span);
                self.expr(expr);
            }
            StmtKind::Assign { targets, value } => self.assign(targets, value),
            StmtKind::AugAssign { target, op, op_span, value } => {
                self.aug_assign(target, *op, *op_span, value, span);
            }
            StmtKind::AnnAssign { target, annotation, value } => {
                self.ann_assign(target, annotation, value.as_ref());
            }
            StmtKind::Return(value) => self.return_stmt(value.as_ref(), span),
            StmtKind::Break => self.break_stmt(span),
            StmtKind::Continue => self.continue_stmt(span),
            StmtKind::If { branches, orelse } => self.if_chain(branches, orelse),
            StmtKind::While { test, body, orelse } => self.while_stmt(test, body, orelse, span),
            StmtKind::For { target, iter, body, orelse, .. } => {
                self.for_stmt(target, iter, body, orelse, span);
            }
            StmtKind::Match { subject, cases } => self.match_stmt(subject, cases),
            StmtKind::Function(def) => {
                let function = self.closure(def);
                let var = self.f.vars.named(&def.name.name).expect("a function that is defined has a name");
                self.assign_var(var, function, def.name.span);
            }
            StmtKind::Assert { .. } => self.assert_stmt(stmt),
            _ => self.refused(stmt),
        }
    }

    /// A statement that kernels do not support, which `check` reported. Names that it binds cause no more
    /// reports.
    fn refused(&mut self, stmt: &Stmt) {
        self.error(errors::unsupported(
            self.at(stmt.span),
            "this statement",
            "write it with assignments, `if` and loops",
        ));
        let mut names = Vec::new();
        assigned_names(std::slice::from_ref(stmt), &mut |name, assigns| match assigns {
            Assigns::Name(_) => names.push(name.clone()),
            Assigns::Part => {}
        });
        names.iter().for_each(|name| self.poison(name, stmt.span));
    }

    pub fn poison(&mut self, name: &Name, span: Span) {
        if let Some(var) = self.f.vars.named(name) {
            self.assign_var(var, Operand::Error, span);
        }
    }

    /// A condition must be a bool.
    pub fn condition(&mut self, test: &Expr) -> Condition {
        let n_diagnostics = self.n_diagnostics();
        let operand = self.operand_value(test);
        match self.is_unknown(&operand, n_diagnostics) {
            true => self.unknown_condition(test),
            false => self.condition_of(&operand, test.span),
        }
    }

    pub fn condition_of(&mut self, operand: &Operand, span: Span) -> Condition {
        match operand {
            Operand::Error => Condition::Error,
            Operand::Node(node) if *self.ty(*node) == Type::BOOL => match self.f.func.constant(*node) {
                Some(constant) => Condition::Known(constant == Constant::bool(true)),
                None => Condition::Node(*node),
            },
            operand if self.struct_method(operand, "__bool__") => {
                let truth = self.struct_truth(operand, span).unwrap_or(Operand::Error);
                self.condition_of(&truth, span)
            }
            operand => {
                let text = self.f.source.slice(span).to_owned();
                let what = self.describe(operand);
                let ty = self.value_type(operand);
                let is_of_bools = ty.as_ref().is_some_and(is_of_bools);
                let error = match is_of_bools {
                    true => errors::condition_of_bools(self.at(span), &text, &what),
                    false => errors::condition_not_bool(self.at(span), &text, &what),
                };
                if what.is_array() {
                    self.f.array_conditions.push(span);
                }
                let is_whole = ty.is_some_and(|ty| ty.is_aggregate() && !matches!(ty, Type::Struct(_)));
                self.error(if is_whole && !is_of_bools { Diagnostic { help: None, ..error } } else { error });
                Condition::Error
            }
        }
    }

    fn if_chain(&mut self, branches: &[Branch], orelse: &[Stmt]) {
        let [branch, rest @ ..] = branches else { return self.block(orelse) };
        let condition = self.condition(&branch.test);
        self.nested(branch.span, (), |ctx| {
            ctx.branch(
                &condition,
                branch.test.span,
                |ctx| ctx.block(&branch.body),
                |ctx| ctx.if_chain(rest, orelse),
            );
        });
    }

    /// Builds two branches and their join.
    pub fn branch(
        &mut self,
        condition: &Condition,
        span: Span,
        then: impl FnOnce(&mut Self),
        orelse: impl FnOnce(&mut Self),
    ) {
        let condition = match condition {
            Condition::Known(true) => return then(self),
            Condition::Known(false) => return orelse(self),
            Condition::Node(node) => Some(*node),
            Condition::Error => None,
            Condition::Unknown => {
                self.walk_maybe_skipped(then);
                return self.walk_maybe_skipped(orelse);
            }
        };
        let when_true = Missing { span, text: "not when this is true" };
        let when_false = Missing { span, text: "not when this is false" };
        let learned = |holds: bool| {
            move |ctx: &mut Self| condition.iter().for_each(|test| ctx.learn_assigned(*test, holds))
        };
        let (then_block, then_path) = self.arm(when_true, |ctx| {
            learned(true)(ctx);
            then(ctx);
        });
        let (else_block, else_path) = self.arm(when_false, |ctx| {
            learned(false)(ctx);
            orelse(ctx);
        });
        if let Some(condition) = condition {
            self.f.block.push(ir::Stmt::If { condition, then: then_block, orelse: else_block, span });
        }
        // After `if i >= len(a): return`, the opposite holds.
        match (&then_path, &else_path) {
            (None, Some(_)) => learned(false)(self),
            (Some(_), None) => learned(true)(self),
            _ => {}
        }
        let paths: Vec<FlowPath> = [then_path, else_path].into_iter().flatten().collect();
        self.merge(&paths);
    }

    /// One branch. Its changes are undone, and returned if control reaches its end.
    fn arm(&mut self, missing: Missing, fill: impl FnOnce(&mut Self)) -> (Block, Option<FlowPath>) {
        let fork = self.fork();
        self.f.live = true;
        let (block, path) = self.sub_block(|ctx| {
            fill(ctx);
            ctx.f.live.then(|| ctx.end_path(fork, missing))
        });
        self.rewind(fork);
        (block, path)
    }

    fn return_stmt(&mut self, value: Option<&Expr>, span: Span) {
        let value = value.filter(|value| !matches!(value.kind, ExprKind::None));
        let operand = match value {
            Some(value) => self.expr(value),
            None => Operand::Static(Static::None),
        };
        let span = value.map_or(span, |value| value.span);
        if !self.f.is_kernel {
            self.mark_name(&"return".into(), &operand, span);
            self.return_value(operand, span);
        } else {
            let is_value = match operand.has_error() {
                true => self.is_partial && value.is_some_and(is_number_if_right),
                false => value.is_some() && !matches!(operand, Operand::Static(Static::None)),
            };
            if is_value {
                self.error(match self.template.stage {
                    Stage::Compute => match operand {
                        Operand::Place(_) | Operand::Buffer(_) | Operand::Row(_) => {
                            errors::kernel_returns_array(self.at(span))
                        }
                        _ => errors::kernel_returns(self.at(span)),
                    },
                    stage => errors::stage_returns(self.at(span), stage),
                });
            }
            self.end_of_kernel(span);
        }
        self.f.live = false;
    }

    /// In PyShader's fragment functions, `return` discards the fragment.
    fn end_of_kernel(&mut self, span: Span) {
        let end = match self.template.stage {
            Stage::Fragment => ir::Stmt::End(span),
            Stage::Compute | Stage::Vertex => {
                self.store_outputs(Some(span));
                ir::Stmt::Return(None, span)
            }
        };
        self.f.block.push(end);
    }
}

/// Whether the value is a number if it is valid. A call may have no result.
fn is_number_if_right(value: &Expr) -> bool {
    matches!(value.kind, ExprKind::Subscript { .. } | ExprKind::Binary { .. } | ExprKind::Compare { .. })
}

/// Whether `all` and `any` accept the type.
fn is_of_bools(ty: &Type) -> bool {
    let n_parts = ty.n_parts().filter(|_| matches!(ty, Type::Vector(..) | Type::Array(_) | Type::Tuple(_)));
    n_parts.is_some_and(|n| (0..n).all(|at| ty.part(at) == Some(Type::BOOL)))
}
