//! Loops.

use std::rc::Rc;

use kps_syntax::ast::{Expr, ExprKind, Name, Stmt as AstStmt, StmtKind};
use kps_syntax::scope::{Assigns, assigned_names, root_name, walrus_names};
use kps_syntax::{Part, Span};
use rustc_hash::FxHashMap;

use super::{LoopParts, LoopState};
use crate::aliases::Event;
use crate::constant::{Constant, Literal};
use crate::errors;
use crate::infer::Ctx;
use crate::infer::control::sequences::{Sequence, Spanned};
use crate::infer::control::stmts::Condition;
use crate::infer::expressions::operand::{Operand, Static};
use crate::infer::places::vars::{Binding, FlowPath, Missing, Var, binding_span};
use crate::ir::{BinaryOp, Block, LocalId, Loop, NodeId, NodeKind, Stmt};
use crate::resolve::{assigned_literals, has_break, has_exit, mentions, receivers, receivers_in};
use crate::types::Type;

impl<'a> Ctx<'a> {
    pub fn break_stmt(&mut self, span: Span) {
        let Some(state) = self.f.loops.last() else {
            return self.error(errors::outside_loop(self.at(span), "break"));
        };
        if let Some(completed) = state.completed {
            let value = self.constant(Constant::bool(false), span);
            self.f.block.push(Stmt::Store { local: completed, value, span });
        }
        self.leave_loop(span);
    }

    /// Leaves the innermost loop.
    fn leave_loop(&mut self, span: Span) {
        let fork = self.f.loops.last().expect("the caller is in a loop").fork;
        let path = self.end_path(fork, Missing { span, text: "not when the loop is left here" });
        self.f.loops.last_mut().expect("checked above").breaks.push(path);
        self.f.block.push(Stmt::Break);
        self.f.live = false;
    }

    pub fn continue_stmt(&mut self, span: Span) {
        let Some(state) = self.f.loops.last() else {
            return self.error(errors::outside_loop(self.at(span), "continue"));
        };
        let fork = state.fork;
        let path = self.end_path(fork, Missing { span, text: "not when the round ends here" });
        self.f.loops.last_mut().expect("checked above").continues.push(path);
        self.f.block.push(Stmt::Continue);
        self.f.live = false;
    }

    pub fn while_stmt(&mut self, test: &Expr, body: &[AstStmt], orelse: &[AstStmt], span: Span) {
        let mut assigned = Vec::new();
        walrus_names(test, &mut |target| assigned.extend(self.f.vars.named(&target.name)));
        // A method may change the struct on which it is called.
        receivers_in(test, &mut |name| assigned.extend(self.struct_named(name)));
        if !assigned.is_empty() {
            return self.while_assigning(test, &assigned, body, orelse, span);
        }
        let missing = Missing { span: test.span, text: "not when this is false at once" };
        let may_be_dead = !matches!(test.kind, ExprKind::True) && !self.is_known_at_run_time(test);
        let parts = LoopParts {
            span,
            body,
            orelse,
            counter: None,
            may_be_dead,
            missing,
            runs_once: false,
            tests_itself: false,
        };
        let mut may_be_endless = false;
        self.nested(span, (), |ctx| {
            ctx.walk_loop(
                &parts,
                &[],
                |ctx| match ctx.condition(test) {
                    Condition::Known(true) => None,
                    // After a mistake, the code after the loop is inferred as well.
                    Condition::Known(false) | Condition::Error => {
                        Some(ctx.constant(Constant::bool(false), test.span))
                    }
                    Condition::Unknown => {
                        may_be_endless = !assigns_what_is_tested(body, test);
                        Some(ctx.constant(Constant::bool(false), test.span))
                    }
                    Condition::Node(node) => Some(node),
                },
                |_| {},
                |_| {},
            );
        });
        if may_be_endless {
            self.stop();
        }
    }

    /// The variable of this name, if it is a struct.
    fn struct_named(&self, name: &Name) -> Option<Var> {
        let var = self.f.vars.named(name)?;
        match &self.f.vars[var] {
            Binding::Bound { operand, .. } => match self.value_type(operand) {
                Some(Type::Struct(_)) => Some(var),
                _ => None,
            },
            _ => None,
        }
    }

    /// `while (x := f()) > 0`: a variable that the test assigns has a value after the loop. So the test is the
    /// first statement of the body, and exits from there.
    fn while_assigning(
        &mut self,
        test: &Expr,
        assigned: &[Var],
        body: &[AstStmt],
        orelse: &[AstStmt],
        span: Span,
    ) {
        let missing = Missing { span: test.span, text: "not when this is false at once" };
        // The `else` is placed at the exit of the test, where the assigned variables are known. If it contains
        // a `break` or `continue`, which belongs to an outer loop, it is placed after the loop.
        let is_about_another = has_exit(orelse, |exit| matches!(exit, StmtKind::Break | StmtKind::Continue));
        let (inside, after) = if is_about_another { (&[][..], orelse) } else { (orelse, &[][..]) };
        let parts = LoopParts {
            span,
            body,
            orelse: after,
            counter: None,
            may_be_dead: true,
            missing,
            runs_once: true,
            tests_itself: true,
        };
        let mut changed = assigned.to_vec();
        assigned_names(inside, &mut |name, _| changed.extend(self.f.vars.named(name)));
        self.nested(span, (), |ctx| {
            ctx.walk_loop(
                &parts,
                &changed,
                |_| None,
                |ctx| {
                    let condition = ctx.condition(test);
                    let leave = |ctx: &mut Self| {
                        ctx.block(inside);
                        if ctx.f.live {
                            ctx.leave_loop(test.span);
                        }
                    };
                    ctx.branch(&condition, test.span, |_| {}, leave);
                },
                |_| {},
            );
        });
    }

    pub fn for_stmt(&mut self, target: &Expr, iter: &Expr, body: &[AstStmt], orelse: &[AstStmt], span: Span) {
        self.nested(span, (), |ctx| {
            let iterable = ctx.expr(iter);
            if let Operand::Static(Static::Sequence(sequence)) = &iterable {
                match &**sequence {
                    Sequence::Range(bounds, at) => {
                        return ctx.for_range(target, bounds, *at, body, orelse, span);
                    }
                    Sequence::Unroll(of) => return ctx.for_unrolled(target, of, body, orelse, span),
                    _ => {}
                }
            }
            ctx.for_elements(target, &(iterable, iter.span), body, orelse, span);
        });
    }

    fn for_range(
        &mut self,
        target: &Expr,
        bounds: &[Spanned; 3],
        iter_span: Span,
        body: &[AstStmt],
        orelse: &[AstStmt],
        span: Span,
    ) {
        let Some(range) = self.range(bounds, iter_span) else {
            return self.for_unknown(target, body, orelse, span);
        };
        let missing = Missing { span: iter_span, text: "not when this range is empty" };
        let targets = target_vars(self, target);
        let parts = LoopParts {
            span,
            body,
            orelse,
            counter: targets.first().copied(),
            may_be_dead: false,
            missing,
            runs_once: range.n_rounds.is_some_and(|n| n > 0),
            tests_itself: false,
        };
        let counter = self.new_local("kps.round", range.ty.into(), iter_span);
        self.f.block.push(Stmt::Store { local: counter, value: range.first, span: iter_span });
        let ty = Type::from(range.ty);
        self.walk_loop(
            &parts,
            &targets,
            |ctx| {
                let now = ctx.node(NodeKind::Load(counter), ty.clone(), iter_span);
                Some(ctx.node(NodeKind::Compare(range.test, now, range.end), Type::BOOL, iter_span))
            },
            |ctx| {
                let now = ctx.node(NodeKind::Load(counter), ty.clone(), iter_span);
                let value = range.value_of(ctx, now, iter_span);
                ctx.assign_target(target, Operand::Node(value), target.span);
            },
            |ctx| {
                let now = ctx.node(NodeKind::Load(counter), ty.clone(), iter_span);
                let one = ctx.constant(Constant::int(range.ty, range.increment), iter_span);
                let next = ctx.node(NodeKind::Binary(BinaryOp::Add, now, one), ty.clone(), iter_span);
                ctx.f.block.push(Stmt::Store { local: counter, value: next, span: iter_span });
            },
        );
    }

    /// A loop over something that was reported. Its body is inferred to find mistakes in it.
    pub fn for_unknown(&mut self, target: &Expr, body: &[AstStmt], orelse: &[AstStmt], span: Span) {
        let missing = Missing { span, text: "not when there is nothing to loop over" };
        // Variables of the body are not reported as maybe unset.
        let parts = LoopParts {
            span,
            body,
            orelse,
            counter: None,
            may_be_dead: true,
            missing,
            runs_once: true,
            tests_itself: false,
        };
        let targets = target_vars(self, target);
        self.walk_loop(
            &parts,
            &targets,
            |ctx| Some(ctx.constant(Constant::bool(false), span)),
            |ctx| ctx.assign_target(target, Operand::Error, target.span),
            |_| {},
        );
    }

    /// Builds a loop and the code after it.
    pub fn walk_loop(
        &mut self,
        parts: &LoopParts,
        targets: &[Var],
        test: impl FnOnce(&mut Self) -> Option<NodeId>,
        start_body: impl FnOnce(&mut Self),
        step: impl FnOnce(&mut Self),
    ) {
        let (changed, set_in_rounds) = self.changed_by_loop(parts, targets);
        let constants = self.loop_literals(parts.body, targets);
        let (n_diagnostics, n_calls) = (self.f.diagnostics.len(), self.f.calls.len());
        let start = self.f.lists.record.now();
        let has_completed = !parts.orelse.is_empty() && has_break(parts.body);
        let completed = has_completed.then(|| self.completed_flag(parts.span));
        let (heads, head) = self.enter_head(&changed, &constants, parts);
        let fork = self.fork();
        self.f.loops.push(LoopState {
            fork,
            breaks: Vec::new(),
            continues: Vec::new(),
            completed,
            set_in_rounds,
            header: parts.missing.span,
        });
        let (test_block, condition) = self.sub_block(test);
        let (body, ()) = self.sub_block(|ctx| {
            start_body(ctx);
            ctx.block(parts.body);
            if ctx.f.live {
                let path = ctx.end_path(fork, parts.missing);
                ctx.f.loops.last_mut().expect("pushed above").continues.push(path);
            }
        });
        let (step_block, ()) = self.sub_block(step);
        let state = self.f.loops.pop().expect("pushed above");
        self.rewind(fork);
        if self.f.stopped || self.budget.is_spent() {
            // The values of its variables in other rounds are not known.
            self.f.diagnostics.truncate(n_diagnostics);
            self.f.calls.truncate(n_calls);
            self.f.lists.record.mute_since(start);
            return self.stop();
        }
        let leaving = match condition {
            Some(_) if !parts.runs_once => &state.breaks[..],
            _ => &[],
        };
        self.f.lists.record.end_loop(head, state.continues.iter().map(|path| path.end).collect());
        self.close_rounds(&heads, &state.continues, leaving, parts.span);
        self.finish_loop(parts, &changed, state, (test_block, condition, body, step_block));
    }

    /// The variables that the rounds change, and those without a value before that a round assigns.
    fn changed_by_loop(&self, parts: &LoopParts, targets: &[Var]) -> (Vec<Var>, Rc<[(Var, Span)]>) {
        let mut changed = targets.to_vec();
        let mut set_in_rounds = Vec::new();
        assigned_names(parts.body, &mut |name, assigns| {
            let Some(var) = self.f.vars.named(name) else { return };
            changed.push(var);
            if let (Assigns::Name(span), Binding::Unset) = (assigns, &self.f.vars[var]) {
                set_in_rounds.push((var, span));
            }
        });
        // A method may change the struct on which it is called.
        receivers(parts.body, &mut |name| changed.extend(self.f.vars.named(name)));
        let mut changed = self.with_items(&changed);
        changed.sort_unstable();
        changed.dedup();
        (changed, set_in_rounds.into())
    }

    fn finish_loop(
        &mut self,
        parts: &LoopParts,
        changed: &[Var],
        state: LoopState,
        (test, condition, body, step): (Block, Option<NodeId>, Block, Block),
    ) {
        let span = parts.span;
        self.f.block.push(Stmt::Loop(Box::new(Loop { test, condition, body, step, span })));
        self.confirm_types(changed);
        let LoopState { breaks, continues, completed, .. } = state;
        match (condition, completed) {
            (None, flag) => {
                self.merge(&breaks);
                if self.f.live && parts.tests_itself {
                    match flag {
                        Some(flag) => {
                            let completed = self.node(NodeKind::Load(flag), Type::BOOL, span);
                            let orelse = |ctx: &mut Self| ctx.block(parts.orelse);
                            self.branch(&Condition::Node(completed), span, orelse, |_| {});
                        }
                        None => self.block(parts.orelse),
                    }
                }
            }
            (Some(_), Some(flag)) => {
                let otherwise = self.else_after_flag(parts, flag, changed, &continues);
                let paths: Vec<FlowPath> = breaks.into_iter().chain(otherwise).collect();
                self.merge(&paths);
            }
            (Some(_), None) => {
                let mut paths = breaks;
                if parts.runs_once {
                    // The loop ends only after a round, with the variables that the round assigned.
                    paths.extend(continues);
                } else {
                    // The variables that the loop carries are in locals already.
                    let changes = self.unset_without_rounds(parts, changed, &continues);
                    let end = self.f.lists.record.push(Event::PathEnd);
                    paths.push(FlowPath { changes, carry: None, missing: parts.missing, end });
                }
                self.merge(&paths);
                if self.f.live {
                    self.block(parts.orelse);
                }
            }
        }
        self.confirm_types(changed);
    }

    /// Variables that only the body assigns have no value if it never runs.
    fn unset_without_rounds(
        &self,
        parts: &LoopParts,
        changed: &[Var],
        continues: &[FlowPath],
    ) -> Vec<(Var, Binding)> {
        let unset = changed.iter().filter(|var| matches!(self.f.vars[**var], Binding::Unset));
        let maybe = unset.filter_map(|var| {
            let bindings = continues.iter().filter_map(|path| path.changed(*var));
            if bindings.clone().any(|binding| matches!(binding, Binding::Error)) {
                return Some((*var, Binding::Error));
            }
            let assigned = bindings.map(binding_span).find(|span| !span.is_empty())?;
            Some((*var, Binding::Maybe { assigned, missing: parts.missing, assigned_when: None }))
        });
        maybe.collect()
    }

    /// `else` runs if no `break` cleared the flag.
    fn else_after_flag(
        &mut self,
        parts: &LoopParts,
        flag: LocalId,
        changed: &[Var],
        continues: &[FlowPath],
    ) -> Option<FlowPath> {
        let span = parts.span;
        let condition = self.node(NodeKind::Load(flag), Type::BOOL, span);
        let fork = self.fork();
        self.f.live = true;
        let (then, path) = self.sub_block(|ctx| {
            // If `break` left it, no round stored values for the next one.
            if parts.runs_once {
                ctx.merge(continues);
            } else {
                let unset = ctx.unset_without_rounds(parts, changed, continues);
                unset.into_iter().for_each(|(var, binding)| ctx.set(var, binding));
            }
            if ctx.f.live {
                ctx.block(parts.orelse);
            }
            ctx.f.live.then(|| ctx.end_path(fork, parts.missing))
        });
        self.rewind(fork);
        self.f.block.push(Stmt::If { condition, then, orelse: Vec::new(), span });
        path
    }

    /// The variables to which the rounds assign only literals, with those literals.
    fn loop_literals(&self, body: &[AstStmt], targets: &[Var]) -> FxHashMap<Var, Vec<Literal>> {
        let by_name = assigned_literals(body).into_iter();
        let by_var = by_name.filter_map(|(name, literals)| Some((self.f.vars.named(name)?, literals)));
        by_var.filter(|(var, _)| !targets.contains(var)).collect()
    }

    fn completed_flag(&mut self, span: Span) -> LocalId {
        let flag = self.new_local("kps.completed", Type::BOOL, span);
        let value = self.constant(Constant::bool(true), span);
        self.f.block.push(Stmt::Store { local: flag, value, span });
        flag
    }
}

/// The variables that a `for` target assigns, completely or in part.
pub(crate) fn target_vars(ctx: &Ctx, target: &Expr) -> Vec<Var> {
    let mut vars = Vec::new();
    target.each_target(&mut |part| {
        let name = match part {
            Part::Name(name, _) => Some(name),
            Part::Place(place) => root_name(place),
            Part::Expr(_) | Part::Block(_) => None,
        };
        vars.extend(name.and_then(|name| ctx.f.vars.named(name)));
    });
    vars
}

/// Whether rounds change what the test reads. Then the test is computed before each round.
fn assigns_what_is_tested(body: &[AstStmt], test: &Expr) -> bool {
    let mut is_assigned = false;
    assigned_names(body, &mut |name, _| is_assigned |= mentions(test, name));
    is_assigned
}
