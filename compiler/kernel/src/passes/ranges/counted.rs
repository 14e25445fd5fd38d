//! Which indices are computed only from counters, sizes, ids, and scalars that a launch promises to be modest.
//!
//! Such an index without large steps stays within gigabytes of its array, so it needs no clamp. A clamp would keep
//! drivers from strength-reducing addresses. A local qualifies if all its stores do, unless rounds of a loop multiply
//! it, and an argument if all calls pass such values. How an index is tested is never here.

use rustc_hash::FxHashMap;

use crate::ir::{BinaryOp, CallArg, Function, Home, LocalId, NodeId, NodeKind, Stmt, walk};
use crate::launch::Ints;
use crate::types::Type;

/// The largest number of nodes that the analysis visits for an index.
const MAX_COUNTED: usize = 32;

/// The largest stride of a counter or an id in bytes: a line of [`Ints::MAX_MODEST`] vectors. That many lines do not
/// wrap around on a device that computes addresses in 32 bits.
const MAX_STRIDE: u64 = 16 * Ints::MAX_MODEST as u64;

/// The largest offset in bytes from constants and scalars alone.
const MAX_OFFSET: u64 = 1 << 28;

/// For each local of a function, whether all its stores are counted.
pub(crate) struct Counted<'a> {
    locals: Vec<bool>,
    args: &'a [bool],
    scalars: Ints,
}

impl<'a> Counted<'a> {
    /// Assumes that all locals are counted, and removes the others until a fixpoint.
    pub fn of(function: &Function, scalars: Ints, args: &'a [bool]) -> Counted<'a> {
        let mut counted = Counted { locals: vec![true; function.locals.len()], args, scalars };
        let stores = stores(function, &mut counted);
        let loads = Loads::of(function, &stores);
        for (local, value) in &stores {
            let growth = |is_same: &dyn Fn(LocalId) -> bool| {
                counted.growth(function, *value, is_same, &mut { MAX_COUNTED })
            };
            if growth(&|_| true) > 1.0 && growth(&|loaded| loads.lead(loaded, *local)) > 1.0 {
                counted.locals[local.idx()] = false;
            }
        }
        let mut is_fixpoint = false;
        while !is_fixpoint {
            is_fixpoint = true;
            for (local, value) in &stores {
                if counted.locals[local.idx()] && !counted.holds(function, *value, 1) {
                    counted.locals[local.idx()] = false;
                    is_fixpoint = false;
                }
            }
        }
        counted
    }

    /// Whether the number of an element of so many bytes is counted, which has these indices along the array's axes.
    pub fn holds_of_element(&self, function: &Function, indices: &[NodeId], element: u64) -> bool {
        let [outer @ .., last] = indices else { return true };
        // The length of the last axis multiplies all outer indices.
        let is_small = |index: &NodeId| match self.factor(function, *index) {
            Some(factor) => element.saturating_mul(factor) <= MAX_STRIDE,
            None => self.holds(function, *index, element),
        };
        outer.iter().all(is_small) && self.holds(function, *last, element)
    }

    /// Whether an index of elements of so many bytes is counted.
    pub fn holds(&self, function: &Function, index: NodeId, element: u64) -> bool {
        // Nodes with their strides in bytes.
        let mut open = vec![(index, element.max(1))];
        for _ in 0..MAX_COUNTED {
            let Some((node, stride)) = open.pop() else { return true };
            match &function.node(node).kind {
                // A large constant alone may exceed any array.
                NodeKind::Constant(_) | NodeKind::Scalar(_) => match self.factor(function, node) {
                    Some(value) if value.saturating_mul(stride) <= MAX_OFFSET => {}
                    _ => return false,
                },
                NodeKind::Load(local) if !self.locals[local.idx()] => return false,
                NodeKind::Arg(at) if self.args.get(*at as usize) != Some(&true) => return false,
                NodeKind::Load(_)
                | NodeKind::Arg(_)
                | NodeKind::Input(_)
                | NodeKind::Domain
                | NodeKind::Proven(..)
                | NodeKind::BufferLen(_)
                | NodeKind::BufferAxis { .. }
                | NodeKind::TextureSize(_) => {
                    if stride > MAX_STRIDE {
                        return false;
                    }
                }
                NodeKind::Unary(_, a) | NodeKind::Bitcast(a) | NodeKind::Extract(a, _) => {
                    open.push((*a, stride));
                }
                NodeKind::Convert(a) if is_int(function.ty(*a)) => open.push((*a, stride)),
                NodeKind::Binary(BinaryOp::Mul, a, b) => {
                    match (self.factor(function, *a), self.factor(function, *b)) {
                        (_, Some(factor)) => open.push((*a, stride.saturating_mul(factor))),
                        (Some(factor), None) => open.push((*b, stride.saturating_mul(factor))),
                        (None, None) => open.extend([(*a, stride), (*b, stride)]),
                    }
                }
                NodeKind::Binary(BinaryOp::ShiftLeft, a, b) => match self.factor(function, *b) {
                    Some(amount @ 0..32) => open.push((*a, stride << amount)),
                    _ => return false,
                },
                NodeKind::Binary(_, a, b) => open.extend([(*a, stride), (*b, stride)]),
                NodeKind::Select { then, orelse, .. } => open.extend([(*then, stride), (*orelse, stride)]),
                _ => return false,
            }
        }
        false
    }

    /// How many times the locals that `is_same` is true of a value contains, at most: 2.0 of `x + x`, `x * 2` and
    /// `x << 1`. Infinite if it has more than so many nodes.
    fn growth(
        &self,
        function: &Function,
        value: NodeId,
        is_same: &dyn Fn(LocalId) -> bool,
        n_nodes: &mut usize,
    ) -> f64 {
        if *n_nodes == 0 {
            return f64::INFINITY;
        }
        *n_nodes -= 1;
        let mut growth = |value: NodeId| self.growth(function, value, is_same, n_nodes);
        let factor = |node: NodeId| self.factor(function, node).map(|factor| factor as f64);
        match &function.node(value).kind {
            NodeKind::Load(local) if is_same(*local) => 1.0,
            NodeKind::Unary(_, a) | NodeKind::Bitcast(a) | NodeKind::Extract(a, _) | NodeKind::Convert(a) => {
                growth(*a)
            }
            NodeKind::Binary(op, a, b) => match (op, growth(*a), growth(*b)) {
                (_, 0.0, 0.0) => 0.0,
                (BinaryOp::Mul, of_a, 0.0) => of_a * factor(*b).unwrap_or(f64::INFINITY),
                (BinaryOp::Mul, 0.0, of_b) => of_b * factor(*a).unwrap_or(f64::INFINITY),
                (BinaryOp::Mul, ..) => f64::INFINITY,
                (BinaryOp::ShiftLeft, of_a, _) => of_a * factor(*b).map_or(f64::INFINITY, f64::exp2),
                (BinaryOp::ShiftRight, of_a, _) => of_a / factor(*b).map_or(1.0, f64::exp2),
                (BinaryOp::FloorDiv | BinaryOp::PlainDiv | BinaryOp::TruncDiv, of_a, _) => {
                    of_a / factor(*b).unwrap_or(1.0).max(1.0)
                }
                (_, of_a, of_b) => of_a + of_b,
            },
            NodeKind::Select { then, orelse, .. } => growth(*then).max(growth(*orelse)),
            _ => 0.0,
        }
    }

    /// The most that a constant or a scalar multiplies by, of which the sign does not matter.
    fn factor(&self, function: &Function, node: NodeId) -> Option<u64> {
        match &function.node(node).kind {
            NodeKind::Constant(constant) => u64::try_from(constant.as_int()?.unsigned_abs()).ok(),
            NodeKind::Scalar(_) if self.scalars == Ints::Modest => Some(Ints::MAX_MODEST as u64),
            NodeKind::Convert(a) | NodeKind::Bitcast(a) if is_int(function.ty(*a)) => {
                self.factor(function, *a)
            }
            _ => None,
        }
    }
}

/// The locals of which each local is computed.
struct Loads(FxHashMap<LocalId, Vec<LocalId>>);

impl Loads {
    fn of(function: &Function, stores: &[(LocalId, NodeId)]) -> Loads {
        let mut loads = Loads(FxHashMap::default());
        for (local, value) in stores {
            let mut open = vec![*value];
            for _ in 0..MAX_COUNTED {
                let Some(node) = open.pop() else { break };
                match &function.node(node).kind {
                    NodeKind::Load(loaded) => loads.0.entry(*local).or_default().push(*loaded),
                    kind => kind.operands(&mut |operand| open.push(operand)),
                }
            }
        }
        loads
    }

    /// Whether the first local is computed of the second one, or is it, or that takes long to say.
    fn lead(&self, from: LocalId, to: LocalId) -> bool {
        let mut seen = vec![from];
        let mut at = 0;
        while at < seen.len() && seen.len() < MAX_COUNTED {
            for loaded in self.0.get(&seen[at]).into_iter().flatten() {
                if !seen.contains(loaded) {
                    seen.push(*loaded);
                }
            }
            at += 1;
        }
        seen.len() >= MAX_COUNTED || seen.contains(&to)
    }
}

/// The stores to whole locals. Locals that other functions can change are not counted.
fn stores(function: &Function, counted: &mut Counted<'_>) -> Vec<(LocalId, NodeId)> {
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

fn is_int(ty: &Type) -> bool {
    ty.scalar().is_some_and(|scalar| !scalar.is_float())
}
