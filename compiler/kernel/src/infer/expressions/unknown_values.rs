//! Values that only a launch knows, in a kernel that is inferred without one.
//!
//! A captured name without a value and a parameter without a type are `Operand::Error`, and cause no reports. A
//! launch may leave out a part of the kernel, depending on such a value. That part is inferred only for what it
//! assigns, and its mistakes are not reported. Never here: a kernel that is launched.

use kps_syntax::Span;
use kps_syntax::ast::{Argument, ArgumentKind, CompareOp as AstCompareOp, Expr, ExprKind, Name, UnaryOp};
use kps_syntax::scope::{Assigns, assigned_names};

use super::operand::Operand;
use crate::infer::Ctx;
use crate::infer::control::joins::same_static;
use crate::infer::control::stmts::Condition;
use crate::infer::places::vars::Binding;
use crate::ir::{CompareOp, NodeId, NodeKind};
use crate::template::{Param, ParamKind};
use crate::types::Type;

impl Ctx<'_> {
    /// The number of diagnostics so far, to ask later whether there are new ones.
    pub fn n_diagnostics(&self) -> usize {
        self.f.diagnostics.len()
    }

    /// Whether an operand has no value because only a launch knows it, and not because of a mistake.
    pub fn is_unknown(&self, operand: &Operand, n_diagnostics: usize) -> bool {
        self.is_partial && operand.has_error() && self.n_diagnostics() == n_diagnostics
    }

    /// A condition that only a launch knows. If it is computed in each invocation, both branches are compiled.
    pub fn unknown_condition(&mut self, test: &Expr) -> Condition {
        match self.tested_number(test) {
            Some(number) => Condition::Node(self.unknown_test(number, test.span)),
            None if self.tests_argument(test) => Condition::Error,
            None => Condition::Unknown,
        }
    }

    /// One operand of `and` or `or`. A bool stays as it is.
    pub fn truth(&mut self, test: &Expr) -> Operand {
        let n_diagnostics = self.n_diagnostics();
        let operand = self.expr(test);
        let number = if self.is_unknown(&operand, n_diagnostics) { self.tested_number(test) } else { None };
        number.map_or(operand, |number| Operand::Node(self.unknown_test(number, test.span)))
    }

    /// A placeholder for a comparison of `number`, which depends on it.
    fn unknown_test(&mut self, number: NodeId, span: Span) -> NodeId {
        self.node(NodeKind::Compare(CompareOp::NotEqual, number, number), Type::BOOL, span)
    }

    /// A number that is computed in each invocation and that the test compares.
    fn tested_number(&mut self, test: &Expr) -> Option<NodeId> {
        match &test.kind {
            // The first comparison decides whether the others are compiled.
            ExprKind::Compare { left, comparisons } => match &comparisons[..] {
                [first, ..] if is_of_numbers(first.op) => {
                    self.computed_number(left).or_else(|| self.computed_number(&first.right))
                }
                _ => None,
            },
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.tested_number(operand),
            ExprKind::Bool { values, .. } => self.tested_number(values.first()?),
            _ => None,
        }
    }

    /// Whether a test compares a number or array element that the launch passes, of any type.
    fn tests_argument(&self, test: &Expr) -> bool {
        match &test.kind {
            ExprKind::Compare { left, comparisons } => match &comparisons[..] {
                [first, ..] if is_of_numbers(first.op) => {
                    self.is_of_argument(left) || self.is_of_argument(&first.right)
                }
                _ => false,
            },
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.tests_argument(operand),
            ExprKind::Bool { values, .. } => values.first().is_some_and(|value| self.tests_argument(value)),
            _ => false,
        }
    }

    fn is_of_argument(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => self.is_argument(name),
            ExprKind::Subscript { value, .. } => {
                matches!(&value.kind, ExprKind::Name(name) if self.is_argument(name))
            }
            ExprKind::Binary { left, right, .. } => self.is_of_argument(left) || self.is_of_argument(right),
            _ => false,
        }
    }

    /// Whether it is a parameter of the kernel that the body does not assign.
    fn is_argument(&self, name: &Name) -> bool {
        let mut is_assigned = false;
        assigned_names(&self.template.def.body, &mut |assigned, assigns| {
            is_assigned |= assigned == name && matches!(assigns, Assigns::Name(_));
        });
        let is_given = |param: &Param| param.name.name == *name && matches!(param.kind, ParamKind::Untyped);
        self.f.is_kernel && !is_assigned && self.template.params.iter().any(is_given)
    }

    /// The value of an expression, or of a part from which it is computed.
    fn computed_number(&mut self, expr: &Expr) -> Option<NodeId> {
        let n_diagnostics = self.n_diagnostics();
        let operand = self.expr(expr);
        self.f.diagnostics.truncate(n_diagnostics);
        match (operand, &expr.kind) {
            (Operand::Node(node), _) => {
                let is_computed =
                    self.f.func.constant(node).is_none() && matches!(self.ty(node), Type::Scalar(_));
                is_computed.then_some(node)
            }
            (Operand::Error, ExprKind::Binary { left, right, .. }) => {
                self.computed_number(left).or_else(|| self.computed_number(right))
            }
            (Operand::Error, ExprKind::Unary { operand, .. }) => self.computed_number(operand),
            _ => None,
        }
    }

    /// `*xs` of something that may have any number of items.
    pub fn spreads_unknown(&mut self, arg: &Argument) -> bool {
        let ArgumentKind::Spread(value) = &arg.kind else { return false };
        let n_diagnostics = self.n_diagnostics();
        let is_unknown = self.expr(value).is_error();
        self.f.diagnostics.truncate(n_diagnostics);
        is_unknown
    }

    /// Builds code that a launch may skip. It causes no reports, and what it assigns is unknown after it. If it
    /// leaves the function or a loop, nothing is known of the rest.
    pub fn walk_maybe_skipped(&mut self, build: impl FnOnce(&mut Self)) {
        let (n_diagnostics, n_calls) = (self.n_diagnostics(), self.f.calls.len());
        let start = self.f.lists.record.now();
        let fork = self.fork();
        let (_, leaves) = self.sub_block(|ctx| {
            build(ctx);
            !ctx.f.live
        });
        self.f.diagnostics.truncate(n_diagnostics);
        self.f.calls.truncate(n_calls);
        let changes = self.changes_since(fork);
        self.rewind(fork);
        self.f.lists.record.mute_since(start);
        for (var, now) in changes {
            if !is_same(&self.f.vars[var], &now) {
                self.set(var, Binding::Error);
            }
        }
        self.f.live = true;
        if leaves {
            self.stop();
        }
    }

    /// From here on, a launch may have nothing left to compile.
    pub fn stop(&mut self) {
        self.f.stopped = true;
        self.f.live = false;
    }
}

fn is_of_numbers(op: AstCompareOp) -> bool {
    use AstCompareOp::{Eq, Greater, GreaterEq, Less, LessEq, NotEq};
    matches!(op, Eq | NotEq | Less | LessEq | Greater | GreaterEq)
}

/// Whether a variable has exactly the same binding.
fn is_same(before: &Binding, now: &Binding) -> bool {
    match (before, now) {
        (
            Binding::Bound { operand: Operand::Node(a), .. },
            Binding::Bound { operand: Operand::Node(b), .. },
        ) => a == b,
        (Binding::Bound { operand: a, .. }, Binding::Bound { operand: b, .. }) => same_static(a, b),
        (Binding::Items { items: a, of: in_a, .. }, Binding::Items { items: b, of: in_b, .. }) => {
            (a, in_a) == (b, in_b)
        }
        (Binding::Unset, Binding::Unset) => true,
        _ => false,
    }
}
