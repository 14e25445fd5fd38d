//! Which indices cannot overflow.
//!
//! The number of an element in an array of several axes may overflow its int type, and so may its byte offset.
//! Here it is decided for each access: from the limits of the launch that the module assumes (`limits.rs`), and from
//! what an index is made of (`counted.rs`). The limits that a number needs become limits of the module, which the
//! host asks before each launch.

use super::counted::Counted;
use super::decisions::{Decision, Decisions};
use super::limits::Limits;
use crate::index_range::{IndexLimits, IndexRange, Limit};
use crate::ir::{
    AtomicPlace, BufferId, CallArg, ElementIndex, Function, FunctionId, Kernel, NodeId, NodeKind, NumberFact,
    Stmt, walk,
};
use crate::types::Scalar;

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
    /// `None` where no array has several axes, or no index is assumed to be in range.
    limits: Option<Limits<'a>>,
    counted: Counted<'a>,
    index_limits: &'a mut IndexLimits,
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
    let Decisions { nodes, stmts, ranges } = decisions;
    let has_limits = kernel.assumptions.index_range == IndexRange::Assumed
        && kernel.buffers.iter().any(|buffer| buffer.rank > 1);
    let mut overflow = Overflow {
        kernel,
        function,
        limits: has_limits.then(|| Limits::of(kernel, function, &args.limits, ranges)),
        counted: Counted::of(function, kernel.assumptions.ints, &args.counted),
        index_limits,
    };
    let mut stmts = stmts.iter_mut();
    walk(&function.body, &mut |stmt| match stmt {
        Stmt::Eval(node) => {
            overflow.node(*node, &mut nodes[node.idx()]);
            calls.extend(overflow.call(*node));
        }
        Stmt::BufferStore { buffer, index, .. } => {
            if let Some(decision) = stmts.next() {
                overflow.access(*buffer, index, decision);
            }
        }
        Stmt::StoreElement { .. } | Stmt::Index(_) => drop(stmts.next()),
        _ => {}
    });
    calls
}

impl Overflow<'_> {
    fn node(&mut self, node: NodeId, decision: &mut Decision) {
        let function = self.function;
        match &function.node(node).kind {
            NodeKind::BufferLoad { buffer, index, .. } => self.access(*buffer, index, decision),
            NodeKind::Atomic(atomic) => {
                if let AtomicPlace::Buffer { buffer, index, .. } = &atomic.place {
                    self.access(*buffer, index, decision);
                }
            }
            _ => {}
        }
    }

    fn access(&mut self, buffer: BufferId, index: &ElementIndex, decision: &mut Decision) {
        if decision.number == NumberFact::InRange || !self.is_exact(buffer, index.indices()) {
            return;
        }
        let element = u64::from(self.kernel.buffers[buffer.idx()].element.packed_size());
        let is_near = self.counted.holds_of_element(self.function, index.indices(), element);
        decision.number = match index {
            _ if is_near => NumberFact::Near,
            ElementIndex::Axes(_) => NumberFact::Exact,
            // It is the index, which is no sum.
            _ => decision.number,
        };
    }

    /// What a call passes.
    fn call(&mut self, node: NodeId) -> Option<(FunctionId, Args)> {
        let function = self.function;
        let NodeKind::Call { function: callee, args } = &function.node(node).kind else { return None };
        let mut passed = Args::default();
        for arg in args {
            let (limit, is_counted) = match arg {
                CallArg::Value(value) => {
                    let limit = self.limits.as_mut().and_then(|limits| limits.node(*value));
                    (limit, self.counted.holds(function, *value, 1))
                }
                CallArg::Reference(_) => (None, true),
            };
            passed.limits.push(limit);
            passed.counted.push(is_counted);
        }
        Some((*callee, passed))
    }

    /// Whether the number of an element does not overflow in any launch of this module.
    fn is_exact(&mut self, buffer: BufferId, indices: &[NodeId]) -> bool {
        let array = &self.kernel.buffers[buffer.idx()];
        if indices.len() == 1 {
            return true;
        }
        if array.number_type(self.function, indices) == Scalar::I64 {
            // The offset of an index of 32 bits needs no more than 64 bits.
            let function = self.function;
            let is_small =
                |index: &NodeId| !function.is_wide(*index) || self.counted.holds(function, *index, 1);
            return indices.iter().all(is_small);
        }
        let limits = self.limits.as_mut().and_then(|limits| limits.of_element(indices));
        let Some(limits) = limits else { return false };
        for (axis, limit) in limits {
            self.index_limits.add(array, axis, limit);
        }
        true
    }
}
