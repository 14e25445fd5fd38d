//! Which indices cannot overflow.
//!
//! A flat index into an array of several axes may overflow an int of 32 bits, and so may the byte offset of an element.
//! Here it is decided for each access: from the limits of the launch that the module assumes (`limits.rs`), and from
//! what an index is made of (`counted.rs`). The limits that a flat index needs become limits of the module, which the
//! host asks before each launch.

use rustc_hash::FxHashSet;

use super::counted::Counted;
use super::decisions::{Decision, Decisions};
use super::limits::Limits;
use crate::index_range::{IndexLimits, IndexRange, Limit};
use crate::ir::{
    AtomicPlace, BufferId, CallArg, Extent, Function, FunctionId, Kernel, NodeId, NodeKind, Stmt, walk,
};

/// What the calls of a function pass to it.
#[derive(Default)]
pub(super) struct Args {
    limits: Vec<Option<Limit>>,
    counted: Vec<bool>,
}

impl Args {
    /// Adds a call.
    pub fn join(&mut self, other: Args) {
        if self.limits.is_empty() {
            return *self = other;
        }
        for (known, given) in self.limits.iter_mut().zip(other.limits) {
            *known = known.take().zip(given).map(|(a, b)| a.or(&b));
        }
        for (known, given) in self.counted.iter_mut().zip(other.counted) {
            *known &= given;
        }
    }
}

/// The questions about one function.
struct Overflow<'a> {
    kernel: &'a Kernel,
    function: &'a Function,
    /// `None` where no flat index matters, or none is assumed to be in range.
    limits: Option<Limits<'a>>,
    counted: Counted<'a>,
    index_limits: &'a mut IndexLimits,
    /// The flat indices that do not overflow.
    exact: FxHashSet<NodeId>,
}

/// Decides about all accesses that are not proven in range. Gives what the function passes to others.
pub(super) fn decide(
    kernel: &Kernel,
    function: &Function,
    args: &Args,
    decisions: &mut Decisions,
    index_limits: &mut IndexLimits,
) -> Vec<(FunctionId, Args)> {
    let mut calls = Vec::new();
    let Decisions { nodes, stmts, ranges, exact } = decisions;
    let has_limits = kernel.assumptions.index_range == IndexRange::Assumed
        && kernel.buffers.iter().any(|buffer| buffer.rank > 1);
    let mut overflow = Overflow {
        kernel,
        function,
        limits: has_limits.then(|| Limits::of(kernel, function, &args.limits, ranges)),
        counted: Counted::of(function, kernel.assumptions.ints, &args.counted),
        index_limits,
        exact: FxHashSet::default(),
    };
    let mut stmts = stmts.iter_mut();
    walk(&function.body, &mut |stmt| match stmt {
        Stmt::Eval(node) => {
            overflow.node(*node, &mut nodes[node.idx()]);
            calls.extend(overflow.call(*node));
        }
        Stmt::BufferStore { buffer, index, .. } => {
            if let Some(decision) = stmts.next() {
                overflow.access(*buffer, *index, decision);
            }
        }
        Stmt::StoreElement { .. } | Stmt::Index(_) => drop(stmts.next()),
        _ => {}
    });
    *exact = overflow.exact;
    calls
}

impl Overflow<'_> {
    fn node(&mut self, node: NodeId, decision: &mut Decision) {
        let function = self.function;
        match &function.node(node).kind {
            NodeKind::BufferLoad { buffer, index, .. }
            | NodeKind::IsInside { of: Extent::Elements(buffer), index } => {
                self.access(*buffer, *index, decision);
            }
            NodeKind::Atomic(atomic) => {
                if let AtomicPlace::Buffer { buffer, index, .. } = &atomic.place {
                    self.access(*buffer, *index, decision);
                }
            }
            _ => {}
        }
    }

    fn access(&mut self, buffer: BufferId, index: NodeId, decision: &mut Decision) {
        if decision.holds {
            return;
        }
        let is_exact = self.is_exact(index);
        // A device that checks reports the index along each axis.
        let is_reported = self.function.axes.contains_key(&index);
        let element = u64::from(self.kernel.buffers[buffer.idx()].element.packed_size());
        decision.is_near = is_exact && !is_reported && self.counted.holds(self.function, index, element);
    }

    /// What a call passes.
    fn call(&mut self, node: NodeId) -> Option<(FunctionId, Args)> {
        let function = self.function;
        let NodeKind::Call { function: callee, args } = &function.node(node).kind else { return None };
        let mut passed = Args::default();
        for arg in args {
            let (limit, is_counted) = match arg {
                CallArg::Value(value) => {
                    self.is_exact(*value);
                    let limit = self.limits.as_mut().and_then(|limits| limits.given(*value));
                    (limit, self.counted.holds(function, *value, 1))
                }
                CallArg::Reference(_) => (None, true),
            };
            passed.limits.push(limit);
            passed.counted.push(is_counted);
        }
        Some((*callee, passed))
    }

    /// Whether a flat index does not overflow in any launch of this module.
    fn is_exact(&mut self, index: NodeId) -> bool {
        let Some(flat) = self.function.flats.get(&index) else { return true };
        let limits = self.limits.as_mut().and_then(|limits| limits.of_axes(flat));
        let Some(limits) = limits else { return false };
        let buffer = &self.kernel.buffers[flat.buffer.idx()];
        for (axis, limit) in limits {
            self.index_limits.add(buffer, axis, limit);
        }
        self.exact.insert(index);
        true
    }
}
