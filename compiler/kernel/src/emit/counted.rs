//! Which indices are worked out from counters, sizes and ids alone, and from scalars that a launch promises to
//! be modest.
//!
//! Such a one does not leave its array by gigabytes, and what is added to it would keep drivers from stepping
//! along addresses. A local counts as long as nothing else is ever stored to it. Never here: how an index is
//! tested.

use super::values::is_float;
use crate::ir::{CallArg, Function, Home, LocalId, NodeId, NodeKind, Stmt, walk};
use crate::signature::Ints;

/// Of the nodes behind an index, more than these are not looked at.
const MAX_COUNTED: usize = 32;

/// For each local of a function, whether all that is stored to it is counted.
pub(crate) struct Counted {
    locals: Vec<bool>,
    scalars: Ints,
}

impl Counted {
    /// Takes locals for counted until a store says otherwise, again and again while that changes anything.
    pub fn of(function: &Function, scalars: Ints) -> Counted {
        let mut counted = Counted { locals: vec![true; function.locals.len()], scalars };
        let stores = stores(function, &mut counted);
        let mut is_settled = false;
        while !is_settled {
            is_settled = true;
            for (local, value) in &stores {
                if counted.locals[local.idx()] && !counted.holds(function, *value) {
                    counted.locals[local.idx()] = false;
                    is_settled = false;
                }
            }
        }
        counted
    }

    pub fn holds(&self, function: &Function, index: NodeId) -> bool {
        let mut open = vec![index];
        for _ in 0..MAX_COUNTED {
            let Some(node) = open.pop() else { return true };
            match &function.node(node).kind {
                // A large one may lead out of any array by itself.
                NodeKind::Constant(constant) => match constant.as_int() {
                    Some(value) if Ints::of([value]) == Ints::Modest => {}
                    _ => return false,
                },
                NodeKind::Load(local) if self.locals[local.idx()] => {}
                NodeKind::Scalar(_) if self.scalars == Ints::Modest => {}
                NodeKind::Input(_)
                | NodeKind::Domain
                | NodeKind::Proven(_)
                | NodeKind::BufferLen(_)
                | NodeKind::BufferAxis { .. }
                | NodeKind::TextureSize(_) => {}
                NodeKind::Unary(_, a) | NodeKind::Bitcast(a) | NodeKind::Extract(a, _) => open.push(*a),
                NodeKind::Convert(a) if !is_float(function.ty(*a)) => open.push(*a),
                NodeKind::Binary(_, a, b) => open.extend([*a, *b]),
                NodeKind::Select { then, orelse, .. } => open.extend([*then, *orelse]),
                _ => return false,
            }
        }
        false
    }
}

/// What is stored to each local as a whole. Those that others can change are not counted.
fn stores(function: &Function, counted: &mut Counted) -> Vec<(LocalId, NodeId)> {
    for (local, is_counted) in function.locals.iter().zip(&mut counted.locals) {
        *is_counted = local.home == Home::Own;
    }
    for node in &function.nodes {
        let NodeKind::Call { args, .. } = &node.kind else { continue };
        for arg in args {
            if let CallArg::Reference(local) = arg {
                counted.locals[local.idx()] = false;
            }
        }
    }
    let mut stores = Vec::new();
    walk(&function.body, &mut |stmt| match stmt {
        Stmt::Store { local, value, .. } => stores.push((*local, *value)),
        Stmt::StoreElement { local, .. } => counted.locals[local.idx()] = false,
        Stmt::Carry(carry) => stores.extend(&function.carries[carry.idx()]),
        _ => {}
    });
    stores
}
