//! Definite assignment in tests: `a and (w := f()) > 1` assigns `w` if it is true, and maybe not if it is
//! false.
//!
//! In: such a test, with the path through its right side. After it the variable may be unset, but keeps the
//! binding that it has if the test has that result. Out: that binding, in the branch that the result leads to.
//! Never here: a variable that another path assigned since. It forgets the test.

use std::rc::Rc;

use kps_syntax::ast::BoolOp;

use super::joins::same_static;
use super::reference_phis::is_fixed;
use crate::infer::Ctx;
use crate::infer::places::vars::{AssignedWhen, Binding, FlowPath};
use crate::ir::{BinaryOp, NodeId, NodeKind, UnaryOp};

impl Ctx<'_> {
    /// Called after a test whose value is `holds` only if `path` was taken.
    pub fn remember_assigned(&mut self, test: NodeId, holds: bool, path: &FlowPath) {
        for (var, _) in &path.changes {
            let Binding::Maybe { assigned, missing, .. } = self.f.vars[*var] else { continue };
            let binding = self.join(*var, std::slice::from_ref(path));
            if !matches!(binding, Binding::Unset | Binding::Maybe { .. }) {
                let assigned_when = Some(Rc::new(AssignedWhen { test, holds, binding }));
                self.set(*var, Binding::Maybe { assigned, missing, assigned_when });
            }
        }
    }

    /// Called where the result of `test` is known.
    pub fn learn_assigned(&mut self, test: NodeId, holds: bool) {
        match self.f.func.nodes[test.idx()].kind {
            NodeKind::Unary(UnaryOp::Not, inner) => self.learn_assigned(inner, !holds),
            NodeKind::Binary(BinaryOp::And, a, b) if holds => {
                self.learn_assigned(a, true);
                self.learn_assigned(b, true);
            }
            NodeKind::Binary(BinaryOp::Or, a, b) if !holds => {
                self.learn_assigned(a, false);
                self.learn_assigned(b, false);
            }
            NodeKind::Load(_) => {
                if let Some((op, sides)) = self.f.tests.sides_of(test)
                    && holds == (op == BoolOp::And)
                {
                    sides.into_iter().for_each(|side| self.learn_assigned(side, holds));
                }
                self.apply_test(test, holds);
            }
            _ => {}
        }
    }

    fn apply_test(&mut self, test: NodeId, holds: bool) {
        let decided = self.f.vars.iter().filter_map(|(var, binding)| match binding {
            Binding::Maybe { assigned_when: Some(assigned_when), .. }
                if (assigned_when.test, assigned_when.holds) == (test, holds) =>
            {
                Some((var, assigned_when.binding.clone()))
            }
            _ => None,
        });
        for (var, binding) in decided.collect::<Vec<_>>() {
            self.set(var, binding);
        }
    }
}

/// The condition that remains true at a join: each path kept it, or has the binding that it implies.
pub(crate) fn common_assigned_when(
    assigned_when: &Rc<AssignedWhen>,
    bindings: &[Binding],
) -> Option<Rc<AssignedWhen>> {
    let keeps = |binding: &Binding| match binding {
        Binding::Maybe { assigned_when: Some(kept), .. } => Rc::ptr_eq(kept, assigned_when),
        binding => is_same(binding, &assigned_when.binding),
    };
    bindings.iter().all(keeps).then(|| Rc::clone(assigned_when))
}

/// For the head of a loop whose rounds assign the variable again.
pub(crate) fn without_assigned_when(binding: &Binding) -> Binding {
    match binding {
        Binding::Maybe { assigned, missing, .. } => {
            Binding::Maybe { assigned: *assigned, missing: *missing, assigned_when: None }
        }
        binding => binding.clone(),
    }
}

fn is_same(a: &Binding, b: &Binding) -> bool {
    match (a, b) {
        (Binding::Stored { local: a, .. }, Binding::Stored { local: b, .. }) => a == b,
        (Binding::Bound { operand: a, .. }, Binding::Bound { operand: b, .. }) => {
            is_fixed(a) && same_static(a, b)
        }
        (Binding::Items { items: a, of: in_a, .. }, Binding::Items { items: b, of: in_b, .. }) => {
            (a, in_a) == (b, in_b)
        }
        _ => false,
    }
}
